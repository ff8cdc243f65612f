/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control socket tells, and what is printed for people. */
#include "em_test.h"

#include "../base/ctl_ask.h"

#include "weir_em_ctl.h"
#include "weir_em_event_group.h"
#include "weir_em_timer.h"

static struct et_sink sink;

static void
begin(void)
{
	et_make((struct weir_em_config){.nb_queues = 64, .nb_producers = 1, .nb_reserved = 8});
	assert_true(ctl_up("em"));
	assert_int_equal(weir_em_ctl_register(et_em, ctl), 0);
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 8);
	for (uint64_t i = 0; i < 5; i++)
		et_send(sink.queue, i);
	et_run();
	et_send(et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0), 1);
	et_send(et_queue("nobody's", WEIR_EM_QUEUE_ATOMIC, 0), 1);
	et_run();
}

static int
end(void **state)
{
	if (ctl != NULL && et_em != NULL)
		weir_em_ctl_unregister(et_em, ctl);
	ctl_down();
	return et_teardown(state);
}

/* All that came in went into one of them, and all has come out. */
static void
check_scheduler_queues(const json_t *list, json_int_t nb)
{
	json_int_t nb_enqueued = 0;
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one) {
		assert_string_equal(text(one, "group"), "default");
		assert_int_equal(number(one, "dequeued"), number(one, "enqueued"));
		assert_int_equal(number(one, "waiting"), 0);
		nb_enqueued += number(one, "enqueued");
	}
	assert_int_equal(nb_enqueued, nb);
}

static void
counters(void **state)
{
	json_t *stats, *cores;

	begin();
	stats = ask("em/stats", NULL, 0);
	assert_string_equal(text(stats, "name"), "test");
	assert_int_equal(number(stats, "sent"), 7);
	assert_int_equal(number(stats, "received"), 5);
	assert_int_equal(number(json_object_get(stats, "dropped"), "detached"), 1);
	assert_int_equal(
		number(json_object_get(json_object_get(stats, "types"), "atomic"), "sent"), 6);
	assert_int_equal(
		number(json_object_get(json_object_get(stats, "types"), "unscheduled"), "received"),
		0);
	assert_int_equal(number(json_object_get(stats, "scheduler"), "new"), 6);
	check_scheduler_queues(json_object_get(stats, "scheduler_queues"), 6);
	json_decref(stats);
	cores = ask("em/cores", NULL, 0);
	stats = json_object_get(cores, "cores");
	assert_int_equal(json_array_size(stats), 2);
	assert_string_equal(text(json_array_get(stats, 0), "state"), "attached");
	assert_string_equal(text(json_array_get(stats, 1), "state"), "detached");
	assert_int_equal(number(json_array_get(stats, 0), "received"), 5);
	json_decref(cores);
}

static void
things(void **state)
{
	json_t *answer, *list, *one;

	begin();
	assert_int_not_equal(weir_em_pool_create(et_em,
				     &(struct weir_em_pool_config){.name = "buffers", .nb = 31}),
		WEIR_EM_NONE);
	answer = ask("em/objects", NULL, 0);
	list = json_object_get(answer, "objects");
	assert_int_equal(json_array_size(list), 1);
	one = json_array_get(list, 0);
	assert_string_equal(text(one, "name"), "sink");
	assert_string_equal(text(one, "state"), "running");
	assert_int_equal(number(one, "queues"), 1);
	assert_int_equal(number(one, "received"), 5);
	json_decref(answer);
	answer = ask("em/groups", NULL, 0);
	list = json_object_get(answer, "groups");
	assert_int_equal(json_array_size(list), 1);
	one = json_array_get(list, 0);
	assert_string_equal(text(one, "name"), "default");
	assert_int_equal(number(one, "queues"), 2);
	assert_int_equal(json_array_size(json_object_get(one, "cores")), 1);
	json_decref(answer);
	answer = ask("em/pools", NULL, 0);
	list = json_object_get(answer, "pools");
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(number(json_array_get(list, 0), "free"), 31);
	json_decref(answer);
}

static void
queues(void **state)
{
	static const char *const parted[] = {"em/queues", "em/event_groups"};
	json_t *answer, *list;

	begin();
	answer = ask("em/queues", NULL, 0);
	list = json_object_get(answer, "queues");
	assert_int_equal(json_array_size(list), 3);
	assert_int_equal(number(answer, "left"), 0);
	assert_string_equal(text(json_array_get(list, 0), "name"), "sink");
	assert_string_equal(text(json_array_get(list, 0), "object"), "sink");
	assert_string_equal(text(json_array_get(list, 0), "group"), "default");
	assert_string_equal(text(json_array_get(list, 1), "type"), "unscheduled");
	assert_int_equal(number(json_array_get(list, 2), "dropped"), 1);
	json_decref(answer);
	answer = ask("em/queues", "{'object': 'sink'}", 0);
	assert_int_equal(json_array_size(json_object_get(answer, "queues")), 1);
	json_decref(answer);
	answer = ask("em/queues", "{'first': 1, 'max': 1}", 0);
	assert_int_equal(json_array_size(json_object_get(answer, "queues")), 1);
	assert_int_equal(number(answer, "left"), 1);
	json_decref(answer);
	for (size_t i = 0; i < RTE_DIM(parted); i++) {
		json_decref(ask(parted[i], "{'first': -1}", -EINVAL));
		json_decref(ask(parted[i], "{'first': '1'}", -EINVAL));
		json_decref(ask(parted[i], "{'max': 'many'}", -EINVAL));
	}
	json_decref(ask("em/queues", "{'object': 'none'}", -ENOENT));
	json_decref(ask("em/queues", "{'object': 5}", -EINVAL));
}

/* Three, of which one counts, one has counted, and one has done nothing yet. */
static weir_em_event_group
make_event_groups(void)
{
	const struct weir_em_notification notification = {
		.queue = sink.queue, .event = weir_em_event_u64(1)};
	weir_em_event_group groups[3];

	for (unsigned int i = 0; i < 3; i++) {
		groups[i] = weir_em_event_group_create(et_em);
		assert_int_not_equal(groups[i], WEIR_EM_NONE);
	}
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(
			weir_em_event_group_apply(et_em, groups[i], 5, &notification, 1), 0);
	assert_int_equal(weir_em_event_group_abort(et_em, groups[1], NULL, 0, NULL), 0);
	return groups[0];
}

static void
event_groups(void **state)
{
	char handle[32];
	json_t *answer, *list, *one;

	begin();
	answer = ask("em/event_groups", NULL, 0);
	assert_int_equal(json_array_size(part(answer, "event_groups")), 0);
	assert_int_equal(number(part(answer, "totals"), "groups"), 0);
	json_decref(answer);
	snprintf(handle, sizeof(handle), "%#" PRIx64, make_event_groups());
	answer = ask("em/event_groups", NULL, 0);
	list = json_object_get(answer, "event_groups");
	assert_int_equal(json_array_size(list), 3);
	one = json_array_get(list, 0);
	assert_string_equal(text(one, "handle"), handle);
	assert_string_equal(text(one, "state"), "counting");
	assert_int_equal(number(one, "count"), 5);
	assert_int_equal(number(one, "notifications"), 1);
	assert_string_equal(text(json_array_get(list, 1), "state"), "ready");
	assert_int_equal(number(json_array_get(list, 1), "count"), 0);
	assert_int_not_equal(number(json_array_get(list, 1), "cycle"), 0);
	assert_int_equal(number(part(answer, "totals"), "groups"), 3);
	assert_int_equal(number(part(answer, "totals"), "cycles"), 2);
	assert_int_equal(number(part(answer, "totals"), "aborted"), 1);
	json_decref(answer);
	answer = ask("em/event_groups", "{'first': 1, 'max': 1}", 0);
	list = json_object_get(answer, "event_groups");
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(text(json_array_get(list, 0), "state"), "ready");
	assert_int_equal(number(answer, "left"), 1);
	json_decref(answer);
}

/* One timeout is armed, one was cancelled, one has fired. */
static void
make_timeouts(void)
{
	const struct rte_event event = weir_em_event_u64(0);
	weir_em_timer timer =
		weir_em_timer_create(et_em, &(struct weir_em_timer_config){.name = "ticks"});
	weir_em_timeout timeouts[3];
	struct rte_event back;

	for (unsigned int i = 0; i < 3; i++) {
		timeouts[i] = weir_em_timeout_create(et_em, timer, sink.queue);
		assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeouts[i],
					 i < 2 ? UINT64_C(3600000000000) : 1, &event),
			0);
	}
	assert_int_equal(weir_em_timeout_cancel(et_em, timeouts[1], &back), 0);
	for (int i = 0; i < 1000 && sink.nb < 6; i++)
		et_run();
	assert_int_equal(sink.nb, 6);
}

static void
timers(void **state)
{
	json_t *answer, *one;

	begin();
	answer = ask("em/timers", NULL, 0);
	assert_int_equal(json_array_size(part(answer, "timers")), 0);
	json_decref(answer);
	make_timeouts();
	answer = ask("em/timers", NULL, 0);
	assert_int_equal(json_array_size(part(answer, "timers")), 1);
	one = json_array_get(part(answer, "timers"), 0);
	assert_string_equal(text(one, "name"), "ticks");
	assert_in_range(number(one, "resolution_ns"), 1, 1000);
	assert_int_equal(number(one, "timeouts"), 3);
	assert_int_equal(number(one, "armed_now"), 1);
	assert_int_equal(number(one, "armed"), 3);
	assert_int_equal(number(one, "cancelled"), 1);
	assert_int_equal(number(one, "fired"), 1);
	assert_int_equal(number(one, "overruns"), 0);
	assert_int_equal(number(one, "undeliverable"), 0);
	assert_int_equal(number(part(one, "late_ns"), "count"), 1);
	assert_true(number(part(one, "late_ns"), "max") > 0);
	json_decref(answer);
}

static void
registered_once(void **state)
{
	begin();
	assert_int_equal(weir_em_ctl_register(et_em, ctl), -EEXIST);
	assert_int_equal(weir_em_ctl_register(NULL, ctl), -EINVAL);
	json_decref(ask("em/stats", NULL, 0)); /* it is there still */
	weir_em_ctl_unregister(et_em, ctl);
	json_decref(ask("em/stats", NULL, -ENOENT));
	assert_int_equal(weir_em_ctl_register(et_em, ctl), 0);
}

static void
printed_for_people(void **state)
{
	char *printed = NULL;
	size_t size;
	FILE *file = open_memstream(&printed, &size);

	begin();
	make_event_groups();
	make_timeouts();
	weir_em_dump(et_em, file, 2);
	weir_em_dump(NULL, file, 2);
	fclose(file);
	assert_non_null(strstr(printed, "test: 8 sent"));
	assert_non_null(strstr(printed, "dropped, detached: 1"));
	assert_non_null(strstr(printed, "sink"));
	assert_non_null(strstr(printed, "ring"));
	assert_non_null(
		strstr(printed, "event groups: 3; cycles: 2 begun, 0 completed, 1 aborted"));
	assert_non_null(strstr(printed, "counting count        5, 1 notifications"));
	assert_non_null(strstr(printed, "ticks"));
	assert_null(strstr(printed, "nobody's")); /* more than were asked for */
	free(printed);
}

#define TEST_CTL(f) cmocka_unit_test_teardown(f, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_CTL(counters),
		TEST_CTL(things),
		TEST_CTL(queues),
		TEST_CTL(event_groups),
		TEST_CTL(timers),
		TEST_CTL(registered_once),
		TEST_CTL(printed_for_people),
	};

	return ST_RUN("em-ctl", tests);
}
