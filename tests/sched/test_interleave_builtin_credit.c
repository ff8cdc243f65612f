/* SPDX-License-Identifier: BSD-3-Clause */

/* The builtin scheduler's credits, that ports take and give back some at a time, and those that are reserved: in every order of their steps. */

#include "sched_test.h"

#include "builtin.h"

#include "../base/interleave.h"

#include "../../lib/sched/credit.c"

#define THRESHOLD   4
#define NB_RESERVED 2

static struct builtin builtin;
static struct weir_sched sched = {
	.own = &builtin, .config = {.new_threshold = THRESHOLD, .nb_reserved = NB_RESERVED}};
static struct builtin_port ports[2];
static int32_t may_lie, nb_inside, nb_granted,
	nb_reserved_inside; /* of events; granted and not yet used */

static void
init(void)
{
	memset(&builtin, 0, sizeof(builtin));
	memset(ports, 0, sizeof(ports));
	builtin.sched = &sched;
	builtin.may_lie = builtin.may_lie_left = may_lie;
	builtin.reserved = NB_RESERVED;
	ports[0].builtin = ports[1].builtin = &builtin;
	nb_inside = nb_granted = nb_reserved_inside = 0;
}

/* No more than there are, whoever is where. */
static void
look(void)
{
	const int32_t threshold = (int32_t)sched.config.new_threshold;

	CHECK(nb_inside <= threshold);
	CHECK(builtin.inside <= threshold && nb_inside <= builtin.inside);
	CHECK(nb_granted + nb_reserved_inside <= NB_RESERVED);
	CHECK(credits_left(&builtin) <= NB_RESERVED);
	CHECK(builtin.reserved >> CREDITS_GRANTED <= NB_RESERVED);
	CHECK(ports[0].most_credits + ports[1].most_credits + builtin.may_lie_left <= may_lie);
	for (unsigned int i = 0; i < 2; i++)
		CHECK(ports[i].credits <= ports[i].most_credits);
}

/* As enqueue does. */
static bool
enter(struct builtin_port *port)
{
	if (port->credits > 0)
		port_set_credits(port, port->credits - 1);
	else if (!credit_take(port))
		return false;
	nb_inside++;
	look();
	return true;
}

static void
leave(struct builtin_port *port)
{
	nb_inside--;
	credits_put(port, 1, false);
	look();
}

static void
use(struct builtin_port *port, unsigned int nb)
{
	unsigned int got = 0;

	while (got < nb && enter(port))
		got++;
	/* Nobody is refused what is there: others hold no more than what they may keep, and what is inside. */
	CHECK(got > 0 || builtin.inside > 0);
	while (got-- > 0)
		leave(port);
}

static void
use_0(void)
{
	use(&ports[0], THRESHOLD);
	credit_flush(&ports[0]);
}

static void
use_1(void)
{
	use(&ports[1], 2);
}

/* So little that every order can be tried. */
static void
use_one_0(void)
{
	use(&ports[0], 1);
	credit_flush(&ports[0]);
}

static void
use_one_1(void)
{
	use(&ports[1], 1);
}

/* What is granted can be used, whatever is inside. */
static void
reserve(void)
{
	int32_t nb = (int32_t)builtin_reserve(&sched, 2);

	nb_granted += nb;
	look();
	if (nb > 0) {
		CHECK(credit_use_reserved(&builtin));
		nb_granted--;
		nb_reserved_inside++;
		look();
		nb_reserved_inside--;
		credits_put(&ports[0], 1, true);
	}
	if (nb > 1) {
		nb_granted--;
		builtin_unreserve(&sched, 1);
	}
	look();
}

/* Every credit is somewhere. */
static void
check(void)
{
	CHECK(nb_inside == 0 && builtin.inside == ports[0].credits + ports[1].credits);
	CHECK(ports[0].most_credits + ports[1].most_credits + builtin.may_lie_left == may_lie);
	CHECK(builtin.reserved == NB_RESERVED);
}

static void
run_some(unsigned int most_interruptions, int32_t most, void (*one)(void), void (*other)(void))
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {one, other},
		.check = check,
		.least = 10,
		.most_interruptions = most_interruptions};

	may_lie = most;
	interleave_all(&interleave);
}

static void
run(int32_t most, void (*one)(void), void (*other)(void))
{
	run_some(0, most, one, other);
}

static void
two_ports(void **state)
{
	static const int32_t most[] = {0, 4, 8, 12}; /* 4: one may keep that, two nothing */

	for (unsigned int i = 0; i < RTE_DIM(most); i++) {
		run(most[i], use_one_0, use_one_1);
		run_some(6, most[i], use_0, use_1);
	}
}

static void
port_and_reserve(void **state)
{
	run(8, use_1, reserve);
}

static void
two_reserve(void **state)
{
	run(8, reserve, reserve);
}

/* It was stopped while one was inside; who has others gives them back meanwhile. */
static void
init_granted(void)
{
	init();
	builtin.reserved = (uint64_t)(NB_RESERVED - 1) << CREDITS_GRANTED;
}

static void
gives_back(void)
{
	for (unsigned int i = 0; i < NB_RESERVED - 1; i++)
		builtin_unreserve(&sched, 1);
}

static void
is_stopped(void)
{
	credit_reset_reserved(&builtin);
}

static void
stop_and_unreserve(void **state)
{
	const struct interleave interleave = {.init = init_granted,
		.nb_actors = 2,
		.actors = {gives_back, is_stopped},
		.check = check,
		.least = 3};

	interleave_all(&interleave);
}

/* Events go in, and out again. */
static void
use_often(struct builtin_port *port)
{
	for (unsigned int i = 0; i < 1000; i++)
		use(port, 1);
	for (unsigned int i = 0; i < 100; i++) {
		nb_inside++;
		builtin.inside++;
		leave(port); /* that another one had put in */
	}
}

/* Ports have their part of what may lie with them only while they use it; who used little keeps little. */
static void
parts_are_fair(void **state)
{
	may_lie = 100;
	init();
	sched.config.new_threshold = 4096;
	use(&ports[1], 1);
	assert_true(ports[1].most_credits <= 8);
	use_often(&ports[0]);
	assert_int_equal(ports[0].most_credits, 50);
	use_often(&ports[1]);
	assert_int_equal(ports[1].most_credits, 50);
	assert_int_equal(builtin.may_lie_left, 0);
	init();
	use_often(&ports[0]);
	assert_int_equal(ports[0].most_credits, 100);
	use_often(&ports[1]);
	assert_int_equal(ports[1].most_credits, 0); /* nothing is left, until that one comes */
	use_often(&ports[0]);
	use_often(&ports[1]);
	assert_int_equal(ports[0].most_credits, 50);
	assert_int_equal(ports[1].most_credits, 50);
	/* And never more than that, however much may lie. */
	may_lie = 4 * LIE_MOST;
	init();
	sched.config.new_threshold = 4 * (uint32_t)may_lie;
	for (unsigned int i = 0; i < 20; i++)
		use_often(&ports[0]);
	assert_int_equal(ports[0].most_credits, LIE_MOST);
	sched.config.new_threshold = THRESHOLD;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(two_ports),
		cmocka_unit_test(port_and_reserve), cmocka_unit_test(two_reserve),
		cmocka_unit_test(stop_and_unreserve), cmocka_unit_test(parts_are_fair)};

	return cmocka_run_group_tests_name("sched-interleave-builtin-credit", tests, NULL, NULL);
}
