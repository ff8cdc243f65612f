/* SPDX-License-Identifier: BSD-3-Clause */

/* Credits of the backend over event devices, that ports take and give in lots, and that are reserved: in every order of their steps. */

#define ALLOW_EXPERIMENTAL_API /* rte_event_maintain() */

#include "sched_test.h"

#include "../base/interleave.h"

#include "../../lib/sched/eventdev_port.c"

#define NB_EVENTS   6
#define NB_RESERVED 2
#define THRESHOLD   (NB_EVENTS - NB_RESERVED)

static struct eventdev ed;
static struct weir_sched sched = {.own = &ed};
static struct eventdev_port ports[2];
static unsigned int nb_inside, nb_granted; /* of events NEW; granted and not yet used */

static void
init(void)
{
	memset(&ed, 0, sizeof(ed));
	ed.nb_events = NB_EVENTS;
	ed.nb_reserved = NB_RESERVED;
	ed.threshold = THRESHOLD;
	ed.cache_max = 2;
	for (unsigned int i = 0; i < 2; i++) {
		memset(&ports[i], 0, sizeof(ports[i]));
		ports[i].ed = &ed;
		ed.ports[i] = &ports[i];
	}
	nb_inside = nb_granted = 0;
}

/* No more than there are, whoever is where. */
static void
look(void)
{
	CHECK(nb_inside <= NB_EVENTS);
	CHECK(nb_granted <= NB_RESERVED);
	CHECK(nb_inside + nb_granted <= NB_EVENTS);
	CHECK(ed.used <= NB_EVENTS);
}

static void
use(struct eventdev_port *port, unsigned int nb)
{
	unsigned int got = take_credits(port, nb);

	CHECK(got <= nb);
	nb_inside += got;
	look();
	nb_inside -= got;
	give_credits(port, got);
	look();
}

static void
use_0(void)
{
	use(&ports[0], 3);
	eventdev_port_return_credits(&ports[0]);
}

static void
use_1(void)
{
	use(&ports[1], 4);
	use(&ports[1], 1);
}

/* What is granted can be used, whatever is inside. */
static void
reserve(void)
{
	uint32_t nb = eventdev_reserve(&sched, 2);

	nb_granted += nb;
	look();
	if (nb > 0) {
		CHECK(take_granted(&ed, 1) == 1);
		nb_granted--;
		nb_inside++; /* its credit is in ed.used, and stays there */
		look();
	}
	if (nb > 1) {
		nb_granted--;
		eventdev_unreserve(&sched, 1);
	}
	look();
}

/* Every credit is somewhere. */
static void
check(void)
{
	CHECK(ed.granted == 0);
	CHECK(ed.used == ports[0].credits + ports[1].credits + nb_inside);
	CHECK(eventdev_nb_inside(&ed) == nb_inside);
}

static void
two_ports(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {use_0, use_1},
		.check = check,
		.least = 101};

	interleave_all(&interleave);
}

static void
port_and_reserve(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {use_1, reserve},
		.check = check,
		.least = 101};

	interleave_all(&interleave);
}

static void
two_reserve(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {reserve, reserve},
		.check = check,
		.least = 101};

	interleave_all(&interleave);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(two_ports),
		cmocka_unit_test(port_and_reserve), cmocka_unit_test(two_reserve)};

	return cmocka_run_group_tests_name("sched-interleave-credit", tests, NULL, NULL);
}
