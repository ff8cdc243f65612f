/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mirror of the control socket, asked as dpdk-telemetry.py does: over the
 * SOCK_SEQPACKET socket in EAL's runtime directory.
 */
#include "cmocka_all.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>

#include "weir_base.h"
#include "weir_base_ctl.h"

static char name[40];
static struct weir_base_ctl *ctl;
static int client = -1;

/* What the command under test answers: JSON text, and an error or 0. */
static const char *reply = "{}";
static int reply_error;
static json_t *reply_json; /* instead of the text, when not NULL */

static int
answer(void *arg, const json_t *args, json_t **result)
{
	*result = reply_json != NULL ? json_incref(reply_json)
				     : json_loads(reply, JSON_DECODE_ANY, NULL);
	assert_non_null(*result);
	return reply_error;
}

static int
show_args(void *arg, const json_t *args, json_t **result)
{
	*result = args != NULL ? json_deep_copy(args) : json_string("none");
	return 0;
}

static void
receive(char *text, size_t size)
{
	struct pollfd polled = {.fd = client, .events = POLLIN};
	ssize_t got;

	assert_int_equal(poll(&polled, 1, 5000), 1);
	got = recv(client, text, size - 1, 0);
	assert_true(got >= 0);
	text[got] = '\0';
}

/* What telemetry answers to a command, which stands as the one key of it. */
static json_t *
ask(const char *command)
{
	static char text[100000];
	json_t *all, *one;
	json_error_t error;

	assert_int_equal(send(client, command, strlen(command), 0), strlen(command));
	receive(text, sizeof(text));
	assert_true(strlen(text) < 16384);
	all = json_loads(text, 0, &error);
	if (all == NULL)
		fail_msg("not JSON: %s: %s", error.text, text);
	one = json_incref(json_object_iter_value(json_object_iter(all)));
	json_decref(all);
	return one;
}

/* The reply as given comes out as expected. */
static void
check_reply(const char *given, const char *expected)
{
	json_t *got, *wanted = json_loads(expected, JSON_DECODE_ANY, NULL);
	char *text;

	assert_non_null(wanted);
	reply = given;
	got = ask("/weir/test/answer");
	text = json_dumps(got, JSON_ENCODE_ANY);
	if (!json_equal(got, wanted))
		fail_msg("%s came out as %s, not %s", given, text, expected);
	free(text);
	json_decref(got);
	json_decref(wanted);
}

static void
commands_are_listed(void **state)
{
	json_t *list = ask("/"), *item;
	unsigned int found = 0, hidden = 0;
	size_t i;

	json_array_foreach (list, i, item) {
		found += strcmp(json_string_value(item), "/weir/test/answer") == 0;
		found += strcmp(json_string_value(item), "/weir/help") == 0;
		/* Telemetry is read only. */
		hidden += strcmp(json_string_value(item), "/weir/test/change") == 0;
	}
	assert_int_equal(found, 2);
	assert_int_equal(hidden, 0);
	json_decref(list);
}

static void
plain_answers_are_as_they_were(void **state)
{
	check_reply("{\"a\": 1, \"b\": \"text\", \"c\": {\"d\": 2, \"e\": {\"f\": \"g\"}}}",
		"{\"a\": 1, \"b\": \"text\", \"c\": {\"d\": 2, \"e\": {\"f\": \"g\"}}}");
	check_reply("{\"big\": 9223372036854775807}", "{\"big\": 9223372036854775807}");
	check_reply("{\"list\": [1, 2, 3], \"names\": [\"a\", \"b\"], \"none\": []}",
		"{\"list\": [1, 2, 3], \"names\": [\"a\", \"b\"], \"none\": []}");
	check_reply("[1, 2, 3]", "[1, 2, 3]");
	check_reply("[\"a\", \"b\"]", "[\"a\", \"b\"]");
	check_reply(
		"\"digraph {\\n\\\"a\\\" -> b;\\n}\\n\"", "\"digraph {\\n\\\"a\\\" -> b;\\n}\\n\"");
	check_reply("{}", "{}");
}

static void
what_telemetry_has_no_type_for(void **state)
{
	check_reply("{\"t\": true, \"f\": false, \"n\": null, \"r\": 1.5, \"m\": -7}",
		"{\"t\": \"true\", \"f\": \"false\", \"n\": \"null\", \"r\": \"1.5\", \"m\": "
		"\"-7\"}");
	check_reply("7", "{\"value\": 7}");
	check_reply("null", "{\"value\": \"null\"}");
}

static void
names_are_spelled(void **state)
{
	check_reply("{\"ethdev_rx-0-1\": 1, \"a.b\": {\"c d\": 2}}",
		"{\"ethdev_rx_0_1\": 1, \"a_b\": {\"c_d\": 2}}");
	check_reply("{\"\": 1, \"\\u00e9\": 2}", "{\"_\": 1, \"__\": 2}");
	/* Those that become the same are told apart. */
	check_reply(
		"{\"a-b\": 1, \"a_b\": 2, \"a.b\": 3}", "{\"a_b\": 1, \"a_b_2\": 2, \"a_b_3\": 3}");
}

static void
lists_of_maps_become_maps(void **state)
{
	check_reply("[{\"name\": \"rx-0\", \"n\": 1}, {\"name\": \"tx\", \"n\": 2}]",
		"{\"rx_0\": {\"name\": \"rx-0\", \"n\": 1}, \"tx\": {\"name\": \"tx\", \"n\": 2}}");
	check_reply("{\"nodes\": [{\"n\": 1}, {\"name\": \"x\"}, {\"name\": \"x\"}]}",
		"{\"nodes\": {\"0\": {\"n\": 1}, \"x\": {\"name\": \"x\"}, \"x_2\": {\"name\": "
		"\"x\"}}}");
	check_reply("[[1, 2], [\"a\"]]", "{\"0\": [1, 2], \"1\": [\"a\"]}");
	check_reply("[1, \"a\", {\"b\": 2}]", "{\"0\": 1, \"1\": \"a\", \"2\": {\"b\": 2}}");
	check_reply("[1.5, -2]", "{\"0\": \"1.5\", \"1\": \"-2\"}");
}

/* Leaves of what arrived, without weir_cut. */
static unsigned int
count(const json_t *json)
{
	unsigned int nb = 0;
	const char *key;
	json_t *value;
	size_t i;

	if (!json_is_object(json) && !json_is_array(json))
		return 1;
	json_object_foreach ((json_t *)(uintptr_t)json, key, value)
		nb += strcmp(key, "weir_cut") == 0 ? 0 : count(value);
	json_array_foreach (json, i, value)
		nb += count(value);
	return nb;
}

/* A long reply arrives in part, and says exactly how much is missing. */
static void
check_cut(json_t *given, unsigned int nb_values, unsigned int least)
{
	json_int_t missing;
	json_t *got;

	reply_json = given;
	got = ask("/weir/test/answer");
	reply_json = NULL;
	assert_true(json_is_object(got));
	missing = json_integer_value(json_object_get(got, "weir_cut"));
	assert_true(missing > 0);
	assert_int_equal(count(got) + missing, nb_values);
	assert_true(count(got) >= least);
	json_decref(got);
	json_decref(given);
}

static void
long_answers_say_what_is_missing(void **state)
{
	json_t *json = json_object(), *inner;
	char key[40];
	int i, j;

	/* More entries than a map of telemetry has: 256. */
	for (i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		json_object_set_new(json, key, json_integer(i));
	}
	check_cut(json, 1000, 255);
	/* More items than a list has: 512. */
	json = json_array();
	for (i = 0; i < 1000; i++)
		json_array_append_new(json, json_integer(i));
	check_cut(json, 1000, 512);
	/* More bytes than an answer has. */
	json = json_array();
	for (i = 0; i < 200; i++) {
		inner = json_object();
		snprintf(key, sizeof(key), "node-%d", i);
		json_object_set_new(inner, "name", json_string(key));
		for (j = 0; j < 20; j++) {
			snprintf(key, sizeof(key), "counter_%d", j);
			json_object_set_new(inner, key, json_integer(i * j + 1000000));
		}
		json_array_append_new(json, inner);
	}
	check_cut(json, 200 * 21, 300);
	/* Signs that take six bytes each as JSON. */
	json = json_object();
	for (i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		json_object_set_new(json, key,
			json_string("\x01\x02\x03\x04\x05\x06\x07\x01\x02\x03\x04\x05\x06\x07"
				    "\x01\x02\x03\x04\x05\x06\x07\x01\x02\x03\x04\x05\x06\x07"));
	}
	check_cut(json, 100, 50);
}

static void
long_texts(void **state)
{
	json_t *got, *lines;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i;

	for (i = 0; i < 2000; i++)
		fprintf(out, "node%d -> node%d;\n", i, i + 1);
	fclose(out);
	reply_json = json_string(text);
	got = ask("/weir/test/answer");
	lines = json_object_get(got, "lines");
	assert_string_equal(json_string_value(json_array_get(lines, 7)), "node7 -> node8;");
	assert_int_equal(json_array_size(lines) +
				 (size_t)json_integer_value(json_object_get(got, "weir_cut")),
		2000);
	json_decref(got);
	json_decref(reply_json);
	/* One value that telemetry has no room for is cut, and counted. */
	text[300] = '\0';
	reply_json = json_pack("{s:s, s:i}", "a", text, "b", 1);
	got = ask("/weir/test/answer");
	assert_int_equal(json_integer_value(json_object_get(got, "weir_cut")), 1);
	assert_int_equal(json_string_length(json_object_get(got, "a")), 127);
	assert_int_equal(json_integer_value(json_object_get(got, "b")), 1);
	json_decref(got);
	json_decref(reply_json);
	reply_json = json_pack("{s:[s, s, s]}", "list", text, "short", text);
	got = ask("/weir/test/answer");
	assert_int_equal(json_integer_value(json_object_get(got, "weir_cut")), 2);
	assert_int_equal(json_array_size(json_object_get(got, "list")), 3);
	json_decref(got);
	json_decref(reply_json);
	reply_json = NULL;
	free(text);
}

static void
deep_answers(void **state)
{
	json_t *json = json_integer(1);
	int i;

	for (i = 0; i < 40; i++)
		json = json_pack("{s:o, s:i}", "in", json, "n", i);
	check_cut(json, 41, 5);
}

static void
parameters_become_args(void **state)
{
	json_t *got = ask("/weir/test/args,worker-1"), *expected;

	expected = json_pack("{s:s}", "name", "worker-1");
	assert_true(json_equal(got, expected));
	json_decref(got);
	json_decref(expected);
	got = ask("/weir/test/args");
	assert_string_equal(json_string_value(got), "none");
	json_decref(got);
	got = ask("/weir/test/args,a,b");
	assert_string_equal(json_string_value(json_object_get(got, "name")), "a,b");
	json_decref(got);
}

static void
errors_are_told(void **state)
{
	reply_error = -EBUSY;
	check_reply("\"not today\"", "{\"error\": \"not today\"}");
	check_reply("7", "{\"error\": \"Device or resource busy\"}");
	reply_error = 0;
}

static void
later_commands_are_mirrored_too(void **state)
{
	json_t *got;

	assert_int_equal(weir_base_ctl_register(ctl, "test/late-one", "late",
				 WEIR_BASE_CTL_READ_ONLY, show_args, NULL),
		0);
	got = ask("/weir/test/late_one");
	assert_string_equal(json_string_value(got), "none");
	json_decref(got);
	assert_int_equal(weir_base_ctl_unregister(ctl, "test/late-one"), 0);
	got = ask("/weir/test/late_one");
	assert_non_null(json_object_get(got, "error"));
	json_decref(got);
}

static int
open_mirrored(void)
{
	ctl = weir_base_ctl_open(name);
	if (ctl == NULL)
		return -1;
	weir_base_ctl_register(
		ctl, "test/answer", "as told", WEIR_BASE_CTL_READ_ONLY, answer, NULL);
	weir_base_ctl_register(ctl, "test/change", "changes", 0, answer, NULL);
	if (weir_base_ctl_mirror_telemetry(ctl) != 0)
		return -1;
	/* After the mirror was made. */
	return weir_base_ctl_register(
		ctl, "test/args", "what it got", WEIR_BASE_CTL_READ_ONLY, show_args, NULL);
}

static void
closed_servers_answer_with_an_error(void **state)
{
	json_t *got;

	weir_base_ctl_close(ctl);
	got = ask("/weir/test/answer");
	assert_string_equal(json_string_value(json_object_get(got, "error")), strerror(ENOTCONN));
	json_decref(got);
	/* A new server takes its commands over. */
	assert_int_equal(open_mirrored(), 0);
	check_reply("{\"a\": 1}", "{\"a\": 1}");
}

static int step; /* of the slow command: begun, ended */

static int
dawdle(void *arg, const json_t *args, json_t **result)
{
	struct timespec pause = {.tv_nsec = 200000000};

	__atomic_store_n(&step, 1, __ATOMIC_SEQ_CST);
	nanosleep(&pause, NULL);
	__atomic_store_n(&step, 2, __ATOMIC_SEQ_CST);
	*result = json_string("done");
	return 0;
}

static void
closing_waits_for_telemetry(void **state)
{
	const char *command = "/weir/test/dawdle";
	char text[200];

	assert_int_equal(weir_base_ctl_register(
				 ctl, "test/dawdle", "slow", WEIR_BASE_CTL_READ_ONLY, dawdle, NULL),
		0);
	assert_int_equal(send(client, command, strlen(command), 0), strlen(command));
	while (__atomic_load_n(&step, __ATOMIC_SEQ_CST) == 0)
		usleep(1000);
	weir_base_ctl_close(ctl);
	assert_int_equal(__atomic_load_n(&step, __ATOMIC_SEQ_CST), 2);
	receive(text, sizeof(text));
	assert_non_null(strstr(text, "done"));
	assert_int_equal(open_mirrored(), 0);
}

static bool stop;

static void *
ask_on(void *arg)
{
	unsigned int *nb = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
		json_decref(ask("/weir/test/args,x"));
		__atomic_fetch_add(nb, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void
servers_close_while_asked(void **state)
{
	unsigned int nb_asked = 0;
	pthread_t thread;
	int i;

	assert_int_equal(pthread_create(&thread, NULL, ask_on, &nb_asked), 0);
	for (i = 0; i < 50 || __atomic_load_n(&nb_asked, __ATOMIC_RELAXED) == 0; i++) {
		struct timespec pause = {.tv_nsec = 1000000};

		nanosleep(&pause, NULL);
		weir_base_ctl_close(ctl);
		assert_int_equal(open_mirrored(), 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
}

static int
start(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char prefix[60], greeting[2000];
	cpu_set_t cpus;
	char *argv[] = {"test", "--no-huge", "--no-pci", "-m", "64", "-l", "0", prefix, NULL};

	snprintf(name, sizeof(name), "weirtest%d", (int)getpid());
	snprintf(prefix, sizeof(prefix), "--file-prefix=%s", name);
	/* EAL ties this thread to one CPU, which may be another program's, too. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || rte_eal_init(8, argv) < 0 ||
		sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		return -1;
	if (open_mirrored() != 0)
		return -1;
	client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	if (connect(client, (struct sockaddr *)&address, sizeof(address)) != 0)
		return -1;
	receive(greeting, sizeof(greeting));
	return strstr(greeting, "\"max_output_len\"") != NULL ? 0 : -1;
}

static int
remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	return remove(path);
}

static int
finish(void **state)
{
	char folder[200];
	int error;

	snprintf(folder, sizeof(folder), "%s", rte_eal_get_runtime_dir());
	close(client);
	weir_base_ctl_close(ctl);
	error = rte_eal_cleanup();
	/* EAL leaves its files behind. */
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return error;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_listed),
		cmocka_unit_test(plain_answers_are_as_they_were),
		cmocka_unit_test(what_telemetry_has_no_type_for),
		cmocka_unit_test(names_are_spelled),
		cmocka_unit_test(lists_of_maps_become_maps),
		cmocka_unit_test(long_answers_say_what_is_missing),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(deep_answers),
		cmocka_unit_test(parameters_become_args),
		cmocka_unit_test(errors_are_told),
		cmocka_unit_test(later_commands_are_mirrored_too),
		cmocka_unit_test(closed_servers_answer_with_an_error),
		cmocka_unit_test(closing_waits_for_telemetry),
		cmocka_unit_test(servers_close_while_asked),
	};

	return cmocka_run_group_tests(tests, start, finish);
}
