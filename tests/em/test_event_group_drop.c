/* SPDX-License-Identifier: BSD-3-Clause */

/* Event groups: events that never come to their queue count all the same. */

#include "event_group_fixture.h"

/* Where a start function's events do not go: it fails, or ends their queue. */
static bool start_fails;
static unsigned int nb_taken;

static int
start_sends(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	const weir_em_queue to = *(const weir_em_queue *)context;
	struct rte_event events[] = {buffer(1), buffer(2)};

	assert_int_equal(weir_em_event_group_send(core, to, events, 2, group), 2);
	if (start_fails)
		return -EIO;
	assert_int_equal(weir_em_queue_delete(et_em, to), 0);
	return 0;
}

/* Every other one is the handler's to free. */
static int
take_some(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	if (error->kind != WEIR_EM_ERROR_DROP || VALUE(error->event->mbuf) % 2 == 0)
		return error->code;
	nb_taken++;
	weir_em_free(em, core, error->event->mbuf);
	return WEIR_EM_TAKEN;
}

static void
starts_in_vain(bool knows_core, bool fails, enum weir_em_drop reason)
{
	weir_em_object object;
	weir_em_queue queue;

	make(1);
	queue = et_queue("in vain", WEIR_EM_QUEUE_ATOMIC, 0);
	object = weir_em_object_create(
		et_em, &(struct weir_em_object_config){
			       .receive = work, .start = start_sends, .context = &queue});
	weir_em_error_handler_set(et_em, take_some, NULL);
	start_fails = fails;
	for (unsigned int i = 1; i <= 3; i++) {
		nb_taken = 0;
		apply(2, i);
		assert_int_equal(
			weir_em_object_start(et_em, knows_core ? et_core : NULL, object, NULL),
			fails ? -EIO : 0);
		et_run();
		assert_int_equal(et_stats().nb_dropped[reason], 2 * i);
		assert_int_equal(nb_taken, 1);
		assert_int_equal(joined.nb, i);
		if (!fails) {
			assert_int_equal(weir_em_object_stop(et_em, et_core, object, NULL), 0);
			queue = et_queue("in vain", WEIR_EM_QUEUE_ATOMIC, 0);
		}
	}
	assert_int_equal(nb_worked, 0);
	assert_int_equal(stats_now().nb_events, 6);
	/* what they take over is theirs: no other errors than these */
	assert_int_equal(et_stats().nb_errors, 6);
	nothing_is_left();
}

static void
events_of_a_start_that_fails_count(void **state)
{
	starts_in_vain(true, true, WEIR_EM_DROP_DISABLED);
}

/* By a thread that does not say which core it is. */
static void
events_of_nobodys_start_count(void **state)
{
	starts_in_vain(false, true, WEIR_EM_DROP_DISABLED);
}

static void
events_to_a_queue_that_a_start_deletes_count(void **state)
{
	starts_in_vain(true, false, WEIR_EM_DROP_DELETED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(events_of_a_start_that_fails_count),
		ET_TEST(events_of_nobodys_start_count),
		ET_TEST(events_to_a_queue_that_a_start_deletes_count),
	};

	return ST_RUN("em-event_group_drop", tests);
}
