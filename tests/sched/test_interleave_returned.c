/* SPDX-License-Identifier: BSD-3-Clause */

/* Flows that a shard's home port gives back without the lock, and who has that takes back: in every order of their steps. */

#include "sched_test.h"

#include "../base/interleave.h"

#include "returned.h"

#define NB 4

struct lane {
	unsigned int nb_back; /* so often was it taken back */
};

static struct lane lanes[NB];
static struct returned returned;
static unsigned int nb_back;
static uint32_t start; /* of its counters: they wrap */

static void
init(void)
{
	memset(lanes, 0, sizeof(lanes));
	memset(returned.lanes, 0, sizeof(returned.lanes));
	returned.tail = returned.head = start;
	nb_back = 0;
}

static void
give_back(void)
{
	for (unsigned int i = 0; i < NB; i++)
		returned_put(&returned, &lanes[i]);
}

/* All that there are, in their order. @return were there any? */
static bool
take_back(void)
{
	const uint32_t nb = returned_count(&returned);

	CHECK(nb <= NB - nb_back);
	for (uint32_t i = 0; i < nb; i++) {
		CHECK(returned_peek(&returned, i) == &lanes[nb_back]);
		lanes[nb_back++].nb_back++;
	}
	returned_take(&returned, nb);
	return nb > 0;
}

static void
take_back_all(void)
{
	take_back();
	while (nb_back < NB)
		if (!take_back())
			rte_pause();
	CHECK(returned_seems_empty(&returned));
}

static void
check(void)
{
	for (unsigned int i = 0; i < NB; i++)
		CHECK(lanes[i].nb_back == 1);
	CHECK(returned.head == start + NB && returned.tail == start + NB);
}

static void
in_every_order(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {give_back, take_back_all},
		.check = check,
		.most_interruptions = 4,
		.least = 100};
	const uint32_t starts[] = {0, RETURNED_MAX - 2, UINT32_MAX - 1};

	for (unsigned int i = 0; i < RTE_DIM(starts); i++) {
		start = starts[i];
		interleave_all(&interleave);
	}
}

/* As many as there is room for. */
static void
all_at_once(void **state)
{
	static struct lane many[RETURNED_MAX];

	start = UINT32_MAX - 10;
	init();
	for (unsigned int i = 0; i < RETURNED_MAX; i++)
		returned_put(&returned, &many[i]);
	CHECK(!returned_seems_empty(&returned));
	CHECK(returned_count(&returned) == RETURNED_MAX);
	for (unsigned int i = 0; i < RETURNED_MAX; i++)
		CHECK(returned_peek(&returned, i) == &many[i]);
	returned_take(&returned, RETURNED_MAX);
	CHECK(returned_seems_empty(&returned));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_every_order), cmocka_unit_test(all_at_once)};

	return cmocka_run_group_tests_name("sched-interleave-returned", tests, NULL, NULL);
}
