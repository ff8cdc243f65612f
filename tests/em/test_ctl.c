/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control socket tells, and what is printed for people. */
#include <unistd.h>

#include "em_test.h"
#include "weir_base_ctl.h"
#include "weir_em_ctl.h"

static struct weir_base_ctl *ctl;
static struct et_sink sink;
static char name[64];

static json_t *
ask(const char *command, const char *args, int expected)
{
	json_t *json = args == NULL ? NULL : json_loads(args, 0, NULL), *result = NULL;

	assert_true(args == NULL || json != NULL);
	assert_int_equal(weir_base_ctl_call(name, command, json, 10000, &result), expected);
	json_decref(json);
	assert_non_null(result);
	return result;
}

static long long
number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return (long long)json_integer_value(value);
}

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	assert_non_null(value);
	return value;
}

static void
begin(void)
{
	snprintf(name, sizeof(name), "em-test-%ld", (long)getpid());
	et_make((struct weir_em_config){.nb_queues = 64, .nb_producers = 1});
	ctl = weir_base_ctl_open(name);
	assert_non_null(ctl);
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
	weir_base_ctl_close(ctl);
	ctl = NULL;
	return et_teardown(state);
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
	answer = ask("em/queues", "{\"object\": \"sink\"}", 0);
	assert_int_equal(json_array_size(json_object_get(answer, "queues")), 1);
	json_decref(answer);
	answer = ask("em/queues", "{\"first\": 1, \"max\": 1}", 0);
	assert_int_equal(json_array_size(json_object_get(answer, "queues")), 1);
	assert_int_equal(number(answer, "left"), 1);
	json_decref(answer);
	json_decref(ask("em/queues", "{\"object\": \"none\"}", -ENOENT));
	json_decref(ask("em/queues", "{\"object\": 5}", -EINVAL));
	json_decref(ask("em/queues", "{\"first\": -1}", -EINVAL));
	json_decref(ask("em/queues", "{\"max\": \"many\"}", -EINVAL));
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
	weir_em_dump(et_em, file, 2);
	weir_em_dump(NULL, file, 2);
	fclose(file);
	assert_non_null(strstr(printed, "test: 7 sent"));
	assert_non_null(strstr(printed, "dropped, detached: 1"));
	assert_non_null(strstr(printed, "sink"));
	assert_non_null(strstr(printed, "ring"));
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
		TEST_CTL(registered_once),
		TEST_CTL(printed_for_people),
	};

	return ST_RUN("em-ctl", tests);
}
