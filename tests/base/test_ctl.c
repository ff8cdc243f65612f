/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket: requests and answers, commands that come and go. */
#include "cmocka_all.h"

#include "ctl_util.h"

static void
questions_are_answered(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	json_t *args = json_pack("{s:s, s:[i, n]}", "a", "\xc3\xa9\n", "b", 7), *result;

	assert_int_equal(weir_base_ctl_call(name, "test/echo", args, PATIENCE_MS, &result), 0);
	assert_true(json_equal(args, result));
	json_decref(result);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, -1, &result), 0);
	assert_string_equal(json_string_value(result), "nothing");
	json_decref(result);
	assert_int_equal(weir_base_ctl_call(name, "test/nothing", NULL, PATIENCE_MS, &result), 0);
	assert_true(json_is_null(result));
	json_decref(result);
	json_decref(args);
	weir_base_ctl_close(ctl);
}

static void
errors_come_with_a_reason(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	json_t *args = json_object(), *result;

	assert_int_equal(
		weir_base_ctl_call(name, "test/refuse", args, PATIENCE_MS, &result), -EBUSY);
	assert_string_equal(json_string_value(result), "not today");
	json_decref(result);
	assert_int_equal(
		weir_base_ctl_call(name, "test/refuse", NULL, PATIENCE_MS, &result), -EBUSY);
	assert_string_equal(json_string_value(result), strerror(EBUSY));
	json_decref(result);
	assert_int_equal(
		weir_base_ctl_call(name, "test/none", NULL, PATIENCE_MS, &result), -ENOENT);
	assert_string_equal(json_string_value(result), "no command 'test/none'; 'help' lists them");
	json_decref(result);
	json_decref(args);
	weir_base_ctl_close(ctl);
	assert_int_equal(
		weir_base_ctl_call(name, "test/echo", NULL, PATIENCE_MS, &result), -ENOENT);
	assert_non_null(strstr(json_string_value(result), "no instance"));
	json_decref(result);
	assert_int_equal(
		weir_base_ctl_call("a/b", "test/echo", NULL, PATIENCE_MS, &result), -EINVAL);
	json_decref(result);
}

static void
help_lists_all(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	json_t *result, *expected;

	assert_int_equal(weir_base_ctl_call(name, "help", NULL, PATIENCE_MS, &result), 0);
	expected = json_pack(
		"{s:s, s:s, s:b}", "name", "test/echo", "help", "say it again", "read_only", 1);
	assert_int_equal(json_array_size(result), 5);
	assert_true(json_equal(json_array_get(result, 1), expected));
	json_decref(expected);
	json_decref(result);
	weir_base_ctl_close(ctl);
}

static void
bad_requests_get_an_error(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	int fd = connect_raw();
	char line[1000];

	send_text(fd, "{\"command\": \n");
	receive_line(fd, line, sizeof(line));
	assert_non_null(strstr(line, "{\"ok\":false,\"error\":\"not valid JSON: column "));
	send_text(fd, "\xff\xfe\n");
	receive_line(fd, line, sizeof(line));
	assert_non_null(strstr(line, "not valid JSON"));
	check_answer(fd, "[1]\n",
		"{\"ok\":false,\"error\":\"expected an object {\\\"command\\\": ..., "
		"\\\"args\\\": {...}}\",\"errno\":22}");
	check_answer(fd, "{}\n", "{\"ok\":false,\"error\":\"'command' is missing\",\"errno\":22}");
	check_answer(fd, "{\"command\": 5}\n",
		"{\"ok\":false,\"error\":\"'command' is not a string\",\"errno\":22}");
	check_answer(fd, "{\"command\": \"help\", \"args\": [1]}\n",
		"{\"ok\":false,\"error\":\"'args' is not an object\",\"errno\":22}");
	check_answer(fd, "{\"command\": \"help\", \"arg\": {}}\n",
		"{\"ok\":false,\"error\":\"unknown key 'arg'; expected command, "
		"args\",\"errno\":22}");
	send_text(fd, "{\"command\": \"help\", \"command\": \"help\"}\n");
	receive_line(fd, line, sizeof(line));
	assert_non_null(strstr(line, "duplicate"));
	/* The connection is as good as before. */
	check_answer(fd, "\n \r\n{\"command\": \"test/nothing\", \"args\": null}\r\n",
		"{\"ok\":true,\"result\":null}");
	close(fd);
	weir_base_ctl_close(ctl);
}

static void
deeply_nested_requests(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	size_t size = 100000;
	char *text = malloc(size + 2), line[1000];
	int fd = connect_raw();

	memset(text, '[', size);
	strcpy(text + size, "\n");
	send_text(fd, text);
	receive_line(fd, line, sizeof(line));
	assert_non_null(strstr(line, "not valid JSON"));
	free(text);
	close(fd);
	weir_base_ctl_close(ctl);
}

static void
requests_in_pieces_and_in_bunches(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	const char *request = "{\"command\": \"test/echo\", \"args\": {\"n\": 1}}\n";
	char bunch[10000] = "", line[100];
	int fd = connect_raw(), i;

	for (i = 0; request[i] != '\0'; i++) {
		char piece[2] = {request[i], '\0'};

		send_text(fd, piece);
		if (i % 7 == 0)
			pause_ms(1);
	}
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, "{\"ok\":true,\"result\":{\"n\":1}}");
	for (i = 0; i < 100; i++)
		sprintf(bunch + strlen(bunch), "{\"command\":\"test/echo\",\"args\":{\"n\":%d}}\n",
			i);
	send_text(fd, bunch);
	/* Answered in order. */
	for (i = 0; i < 100; i++) {
		char expected[100];

		receive_line(fd, line, sizeof(line));
		sprintf(expected, "{\"ok\":true,\"result\":{\"n\":%d}}", i);
		assert_string_equal(line, expected);
	}
	close(fd);
	weir_base_ctl_close(ctl);
}

static void
last_request_needs_no_newline(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	int fd = connect_raw();
	char line[100];

	send_text(fd, "{\"command\": \"test/nothing\"}\n{\"command\": \"test/nothing\"}");
	shutdown(fd, SHUT_WR);
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, "{\"ok\":true,\"result\":null}");
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, "{\"ok\":true,\"result\":null}");
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, "");
	close(fd);
	weir_base_ctl_close(ctl);
}

static void
lines_of_any_size(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	size_t size = 20 << 20;
	char *text = malloc(size + 1);
	json_t *args, *result;

	memset(text, 'y', size);
	text[size] = '\0';
	args = json_pack("{s:s}", "text", text);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", args, PATIENCE_MS, &result), 0);
	assert_true(json_equal(args, result));
	json_decref(args);
	json_decref(result);
	free(text);
	weir_base_ctl_close(ctl);
}

/* A request of so many bytes without its newline. */
static char *
request_of(size_t size)
{
	static const char start[] = "{\"command\":\"test/nothing\"";
	char *text = malloc(size + 2);

	memset(text, ' ', size);
	memcpy(text, start, strlen(start));
	strcpy(text + size - 1, "}");
	return text;
}

#define GOOD_ANSWER "{\"ok\":true,\"result\":null}"

static void
expect_refusal(int fd, const char *limit)
{
	char line[1000], expected[100];

	receive_line(fd, line, sizeof(line));
	snprintf(expected, sizeof(expected), "the limit of %s bytes; expected", limit);
	assert_non_null(strstr(line, "{\"ok\":false,\"error\":\""));
	assert_non_null(strstr(line, expected));
	assert_non_null(strstr(line, "\"errno\":90"));
	/* And the end. */
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, "");
	close(fd);
}

static void
a_request_may_be_as_long_as_the_limit(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	char *fits = request_of(1000), *longer = request_of(1001), line[100], all[3000];
	int fd;

	weir_base_ctl_limit_requests(ctl, 1000);
	strcat(fits, "\n");
	/* The long one with its newline; without, and with more to come; and as the last one. */
	for (int end = 0; end < 3; end++) {
		fd = connect_raw();
		send_text(fd, fits);
		receive_line(fd, line, sizeof(line));
		assert_string_equal(line, GOOD_ANSWER);
		snprintf(all, sizeof(all), "%s%s%s", fits, longer, end == 0 ? "\n" : "");
		send_text(fd, all);
		if (end == 2)
			shutdown(fd, SHUT_WR);
		receive_line(fd, line, sizeof(line));
		assert_string_equal(line, GOOD_ANSWER);
		expect_refusal(fd, "1000");
	}
	weir_base_ctl_limit_requests(ctl, 1001);
	fd = connect_raw();
	strcat(longer, "\n");
	send_text(fd, longer);
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, GOOD_ANSWER);
	close(fd);
	free(fits);
	free(longer);
	weir_base_ctl_close(ctl);
}

/* A client that never ends its line: it must not get all memory, nor go without an answer. */
static void
a_line_without_end(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	const size_t size = 1 << 20;
	size_t sent = 0;
	char *text = malloc(size);
	int fd = connect_raw();
	json_t *result;

	memset(text, 'y', size);
	while (sent < 4 * (size_t)WEIR_BASE_CTL_REQUEST_MAX) {
		ssize_t n = send(fd, text, size, MSG_NOSIGNAL);

		if (n < 0)
			break;
		sent += (size_t)n;
	}
	assert_in_range(sent, WEIR_BASE_CTL_REQUEST_MAX, WEIR_BASE_CTL_REQUEST_MAX + 4 * size);
	expect_refusal(fd, "67108864");
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, PATIENCE_MS, &result), 0);
	json_decref(result);
	free(text);
	weir_base_ctl_close(ctl);
}

static void
a_call_is_told_of_the_limit(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	const size_t size = 3 << 20;
	char *text = malloc(size + 1);
	json_t *args, *result;

	memset(text, 'y', size);
	text[size] = '\0';
	args = json_pack("{s:s}", "text", text);
	weir_base_ctl_limit_requests(ctl, 1 << 20);
	assert_int_equal(
		weir_base_ctl_call(name, "test/echo", args, PATIENCE_MS, &result), -EMSGSIZE);
	assert_non_null(strstr(json_string_value(result), "the limit of 1048576 bytes"));
	json_decref(result);
	/* Answers have none. */
	json_decref(args);
	args = json_pack("{s:i}", "size", 3000000);
	assert_int_equal(weir_base_ctl_call(name, "test/fill", args, PATIENCE_MS, &result), 0);
	assert_int_equal(json_string_length(result), 3000000);
	json_decref(result);
	json_decref(args);
	free(text);
	weir_base_ctl_close(ctl);
}

static void
all_of_several_commands_or_none(void **state)
{
	static const struct weir_base_ctl_entry some[] = {
		{"some/first", "first", NULL, 0, echo}, {"some/second", "second", NULL, 0, echo}};
	static const struct weir_base_ctl_entry one_is_taken[] = {
		{"other/first", "first", NULL, 0, echo}, {"some/second", "second", NULL, 0, echo}};
	struct weir_base_ctl *ctl = open_server();

	assert_int_equal(weir_base_ctl_register_all(ctl, some, 2, NULL), 0);
	assert_int_equal(weir_base_ctl_register_all(ctl, one_is_taken, 2, NULL), -EEXIST);
	assert_int_equal(weir_base_ctl_unregister(ctl, "other/first"), -ENOENT);
	weir_base_ctl_unregister_all(ctl, some, 2);
	assert_int_equal(weir_base_ctl_unregister(ctl, "some/first"), -ENOENT);
	assert_int_equal(weir_base_ctl_unregister(ctl, "some/second"), -ENOENT);
	weir_base_ctl_close(ctl);
}

/* Why a request with one argument of that key is refused; NULL: it is not. To be freed. */
static json_t *
why_refused(const char *command, const char *key)
{
	json_t *args = json_pack("{s:i}", key, 1), *result = NULL;
	int rc = weir_base_ctl_call(name, command, args, PATIENCE_MS, &result);

	json_decref(args);
	if (rc == 0) {
		json_decref(result);
		return NULL;
	}
	assert_int_equal(rc, -EINVAL);
	assert_true(json_is_string(result));
	return result;
}

static void
unknown_arguments_are_told(void **state)
{
	static const struct weir_base_ctl_entry some[] = {
		{"some/with", "with", "path max_frames", 0, echo},
		{"some/without", "without", NULL, 0, echo}};
	static const char *const others[] = {
		"pathh", "pat", "", " ", "path max_frames", "max", "frames", "Path"};
	struct weir_base_ctl *ctl = open_server();
	json_t *why;

	assert_int_equal(weir_base_ctl_register_all(ctl, some, 2, NULL), 0);
	assert_null(why_refused("some/with", "path"));
	assert_null(why_refused("some/with", "max_frames"));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char expected[100];

		snprintf(expected, sizeof(expected),
			"unknown argument '%s'; expected one of: path max_frames", others[i]);
		why = why_refused("some/with", others[i]);
		assert_string_equal(json_string_value(why), expected);
		json_decref(why);
	}
	why = why_refused("some/without", "path");
	assert_string_equal(json_string_value(why), "unknown argument 'path'; expected none");
	json_decref(why);
	why = why_refused("help", "path");
	assert_string_equal(json_string_value(why), "unknown argument 'path'; expected none");
	json_decref(why);
	/* One that was not told what it knows gets all. */
	assert_null(why_refused("test/echo", "whatever"));
	weir_base_ctl_unregister_all(ctl, some, 2);
	weir_base_ctl_close(ctl);
}

static void
commands_come_and_go(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	json_t *result;

	assert_int_equal(weir_base_ctl_register(ctl, "test/echo", "again", 0, echo, NULL), -EEXIST);
	assert_int_equal(weir_base_ctl_register(ctl, "", "none", 0, echo, NULL), -EINVAL);
	assert_int_equal(weir_base_ctl_register(ctl, "x", "none", 0, NULL, NULL), -EINVAL);
	assert_int_equal(weir_base_ctl_unregister(ctl, "test/echo"), 0);
	assert_int_equal(weir_base_ctl_unregister(ctl, "test/echo"), -ENOENT);
	assert_int_equal(
		weir_base_ctl_call(name, "test/echo", NULL, PATIENCE_MS, &result), -ENOENT);
	json_decref(result);
	assert_int_equal(weir_base_ctl_register(ctl, "test/echo", "again", 0, echo, NULL), 0);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, PATIENCE_MS, &result), 0);
	json_decref(result);
	weir_base_ctl_close(ctl);
}

static void
unregistering_waits_for_the_handler(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	int step = 0, fd = connect_raw();

	weir_base_ctl_register(ctl, "test/dawdle", "slow", 0, dawdle, &step);
	send_text(fd, "{\"command\": \"test/dawdle\"}\n");
	while (__atomic_load_n(&step, __ATOMIC_SEQ_CST) == 0)
		pause_ms(1);
	assert_int_equal(weir_base_ctl_unregister(ctl, "test/dawdle"), 0);
	assert_int_equal(__atomic_load_n(&step, __ATOMIC_SEQ_CST), 2);
	close(fd);
	weir_base_ctl_close(ctl);
}

static void
closing_waits_and_the_answer_arrives(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	int step = 0, fd = connect_raw();
	char line[100];

	weir_base_ctl_register(ctl, "test/dawdle", "slow", 0, dawdle, &step);
	send_text(fd, "{\"command\": \"test/dawdle\"}\n");
	while (__atomic_load_n(&step, __ATOMIC_SEQ_CST) == 0)
		pause_ms(1);
	weir_base_ctl_close(ctl);
	assert_int_equal(step, 2);
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, "{\"ok\":true,\"result\":null}");
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, "");
	close(fd);
}

/* However long the handler takes: who waited for that would wait for ever. */
static void
a_call_has_its_time(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	bool over = false;
	uint64_t start;
	json_t *result;

	weir_base_ctl_register(ctl, "test/stay", "slow", 0, stay, &over);
	start = weir_base_time_ns();
	assert_int_equal(weir_base_ctl_call(name, "test/stay", NULL, 50, &result), -ETIMEDOUT);
	assert_true(weir_base_time_ns() - start >= 50000000);
	json_decref(result);
	__atomic_store_n(&over, true, __ATOMIC_SEQ_CST);
	weir_base_ctl_close(ctl);
}

static int
run_another(void *arg, const json_t *args, json_t **result)
{
	/* A handler may run and register commands. */
	weir_base_ctl_register(arg, "test/late", "late", 0, nothing, NULL);
	return weir_base_ctl_run(arg, "test/echo", args, result);
}

static void
handlers_may_use_the_server(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	json_t *result;

	weir_base_ctl_register(ctl, "test/run", "run", 0, run_another, ctl);
	assert_int_equal(weir_base_ctl_call(name, "test/run", NULL, PATIENCE_MS, &result), 0);
	assert_string_equal(json_string_value(result), "nothing");
	json_decref(result);
	assert_int_equal(weir_base_ctl_call(name, "test/late", NULL, PATIENCE_MS, &result), 0);
	json_decref(result);
	weir_base_ctl_close(ctl);
}

/* Each number of bytes, each value of each, there and back; and what is no base64. */
static void
bytes_as_text(void **state)
{
	static const char *const known[] = {
		"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
	static const char *const wrong[] = {
		"Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zg=a", "Z!==", "Zm9\xc3\xa9"};
	uint8_t bytes[256 + 2];
	json_t *object = json_object(), *text;
	size_t nb;
	void *back;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t i = 0; i <= sizeof(bytes); i++) {
		weir_base_ctl_set_bytes(object, "data", bytes, i);
		back = weir_base_ctl_bytes(json_object_get(object, "data"), &nb);
		assert_non_null(back);
		assert_int_equal(nb, i);
		assert_memory_equal(back, bytes, i);
		free(back);
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		weir_base_ctl_set_bytes(object, "data", "foobar", i);
		assert_string_equal(json_string_value(json_object_get(object, "data")), known[i]);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		text = json_string(wrong[i]);
		assert_null(weir_base_ctl_bytes(text, &nb));
		json_decref(text);
	}
	assert_null(weir_base_ctl_bytes(NULL, &nb));
	json_decref(object);
}

static void
values_of_answers(void **state)
{
	json_t *object = json_object();

	weir_base_ctl_set(object, "number", 5);
	weir_base_ctl_set_name(object, "name", "link");
	weir_base_ctl_set_name(object, "bad", "\xff");
	weir_base_ctl_set_name(object, "none", NULL);
	weir_base_ctl_set_hex(object, "hex", UINT64_MAX);
	weir_base_ctl_set_decimal(object, "decimal", UINT64_MAX);
	assert_int_equal(json_integer_value(json_object_get(object, "number")), 5);
	assert_string_equal(json_string_value(json_object_get(object, "name")), "link");
	assert_string_equal(json_string_value(json_object_get(object, "bad")), "?");
	assert_string_equal(json_string_value(json_object_get(object, "none")), "?");
	assert_string_equal(
		json_string_value(json_object_get(object, "hex")), "0xffffffffffffffff");
	assert_string_equal(
		json_string_value(json_object_get(object, "decimal")), "18446744073709551615");
	json_decref(object);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_are_answered),
		cmocka_unit_test(errors_come_with_a_reason),
		cmocka_unit_test(help_lists_all),
		cmocka_unit_test(bad_requests_get_an_error),
		cmocka_unit_test(deeply_nested_requests),
		cmocka_unit_test(requests_in_pieces_and_in_bunches),
		cmocka_unit_test(last_request_needs_no_newline),
		cmocka_unit_test(lines_of_any_size),
		cmocka_unit_test(a_request_may_be_as_long_as_the_limit),
		cmocka_unit_test(a_line_without_end),
		cmocka_unit_test(a_call_is_told_of_the_limit),
		cmocka_unit_test(all_of_several_commands_or_none),
		cmocka_unit_test(unknown_arguments_are_told),
		cmocka_unit_test(commands_come_and_go),
		cmocka_unit_test(unregistering_waits_for_the_handler),
		cmocka_unit_test(closing_waits_and_the_answer_arrives),
		cmocka_unit_test(a_call_has_its_time),
		cmocka_unit_test(handlers_may_use_the_server),
		cmocka_unit_test(bytes_as_text),
		cmocka_unit_test(values_of_answers),
	};

	weir_base_log_set_level(WEIR_BASE_LOG_ERROR);
	return cmocka_run_group_tests(tests, set_name, NULL);
}
