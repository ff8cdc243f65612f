/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket: asking, commands that come and go, many clients at once. */
#include "cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "weir_base.h"
#include "weir_base_ctl.h"

static char name[40];

/* What handlers were seen to do. */
static int nb_inside, nb_overlaps, nb_fills;

static void
pause_ms(long ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

static int
echo(void *arg, const json_t *args, json_t **result)
{
	if (__atomic_add_fetch(&nb_inside, 1, __ATOMIC_SEQ_CST) != 1)
		__atomic_add_fetch(&nb_overlaps, 1, __ATOMIC_SEQ_CST);
	*result = args != NULL ? json_deep_copy(args) : json_string("nothing");
	__atomic_sub_fetch(&nb_inside, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int
refuse(void *arg, const json_t *args, json_t **result)
{
	if (args != NULL)
		*result = json_string("not today");
	return -EBUSY;
}

static int
nothing(void *arg, const json_t *args, json_t **result)
{
	return 0;
}

static int
dawdle(void *arg, const json_t *args, json_t **result)
{
	__atomic_store_n((int *)arg, 1, __ATOMIC_SEQ_CST);
	pause_ms(300);
	__atomic_store_n((int *)arg, 2, __ATOMIC_SEQ_CST);
	return 0;
}

/* A text of as many bytes as asked for. */
static int
fill(void *arg, const json_t *args, json_t **result)
{
	size_t size = (size_t)json_integer_value(json_object_get(args, "size"));
	char *text = malloc(size + 1);

	__atomic_add_fetch(&nb_fills, 1, __ATOMIC_SEQ_CST);
	memset(text, 'x', size);
	text[size] = '\0';
	*result = json_string(text);
	free(text);
	return 0;
}

static struct weir_base_ctl *
open_server(void)
{
	struct weir_base_ctl *ctl = weir_base_ctl_open(name);

	assert_non_null(ctl);
	assert_int_equal(weir_base_ctl_register(ctl, "test/echo", "say it again",
				 WEIR_BASE_CTL_READ_ONLY, echo, NULL),
		0);
	assert_int_equal(weir_base_ctl_register(ctl, "test/refuse", "no", 0, refuse, NULL), 0);
	assert_int_equal(weir_base_ctl_register(ctl, "test/nothing", "no", 0, nothing, NULL), 0);
	assert_int_equal(weir_base_ctl_register(ctl, "test/fill", "x", 0, fill, NULL), 0);
	return ctl;
}

static int
connect_raw(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(weir_base_ctl_path(name, address.sun_path, sizeof(address.sun_path)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void
send_text(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* One line, waited for at most 5 s; an empty text at the end of input. */
static void
receive_line(int fd, char *line, size_t size)
{
	size_t used = 0;

	while (used < size - 1) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};

		assert_int_equal(poll(&polled, 1, 5000), 1);
		if (read(fd, line + used, 1) != 1 || line[used] == '\n')
			break;
		used++;
	}
	line[used] = '\0';
}

static void
check_answer(int fd, const char *request, const char *expected)
{
	char line[1000];

	send_text(fd, request);
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, expected);
}

static void
questions_are_answered(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	json_t *args = json_pack("{s:s, s:[i, n]}", "a", "\xc3\xa9\n", "b", 7), *result;

	assert_int_equal(weir_base_ctl_call(name, "test/echo", args, 2000, &result), 0);
	assert_true(json_equal(args, result));
	json_decref(result);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, -1, &result), 0);
	assert_string_equal(json_string_value(result), "nothing");
	json_decref(result);
	assert_int_equal(weir_base_ctl_call(name, "test/nothing", NULL, 2000, &result), 0);
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

	assert_int_equal(weir_base_ctl_call(name, "test/refuse", args, 2000, &result), -EBUSY);
	assert_string_equal(json_string_value(result), "not today");
	json_decref(result);
	assert_int_equal(weir_base_ctl_call(name, "test/refuse", NULL, 2000, &result), -EBUSY);
	assert_string_equal(json_string_value(result), strerror(EBUSY));
	json_decref(result);
	assert_int_equal(weir_base_ctl_call(name, "test/none", NULL, 2000, &result), -ENOENT);
	assert_string_equal(json_string_value(result), "no command 'test/none'; 'help' lists them");
	json_decref(result);
	json_decref(args);
	weir_base_ctl_close(ctl);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, 2000, &result), -ENOENT);
	assert_non_null(strstr(json_string_value(result), "no instance"));
	json_decref(result);
	assert_int_equal(weir_base_ctl_call("a/b", "test/echo", NULL, 2000, &result), -EINVAL);
	json_decref(result);
}

static void
help_lists_all(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	json_t *result, *expected;

	assert_int_equal(weir_base_ctl_call(name, "help", NULL, 2000, &result), 0);
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
	assert_int_equal(weir_base_ctl_call(name, "test/echo", args, 20000, &result), 0);
	assert_true(json_equal(args, result));
	json_decref(args);
	json_decref(result);
	free(text);
	weir_base_ctl_close(ctl);
}

static void
slow_clients_do_not_block_others(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	int slow[4], i;
	json_t *result;

	/* These ask for much more than a socket buffers, and never read; one stops in a request. */
	for (i = 0; i < 4; i++) {
		slow[i] = connect_raw();
		if (i == 3)
			send_text(slow[i], "{\"command\": \"te");
		else
			send_text(slow[i],
				"{\"command\":\"test/fill\",\"args\":{\"size\":3000000}}\n"
				"{\"command\":\"test/fill\",\"args\":{\"size\":3000000}}\n");
	}
	for (i = 0; i < 20; i++) {
		assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, 2000, &result), 0);
		json_decref(result);
	}
	for (i = 0; i < 4; i++)
		close(slow[i]);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, 2000, &result), 0);
	json_decref(result);
	weir_base_ctl_close(ctl);
}

static void
a_slow_client_gets_all_in_the_end(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	int fd = connect_raw(), i;
	size_t size = strlen("{\"ok\":true,\"result\":\"\"}\n") + 3000000, used;
	char *line = malloc(size);

	for (i = 0; i < 5; i++)
		send_text(fd, "{\"command\":\"test/fill\",\"args\":{\"size\":3000000}}\n");
	pause_ms(200);
	for (i = 0; i < 5; i++) {
		for (used = 0; used < size;) {
			ssize_t got = recv(fd, line + used, size - used, 0);

			assert_true(got > 0);
			used += (size_t)got;
		}
		assert_int_equal(line[0], '{');
		assert_memory_equal(line + size - 4, "x\"}\n", 4);
	}
	free(line);
	close(fd);
	weir_base_ctl_close(ctl);
}

static void
answers_do_not_pile_up(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	int fd = connect_raw(), i;

	nb_fills = 0;
	for (i = 0; i < 50; i++)
		send_text(fd, "{\"command\":\"test/fill\",\"args\":{\"size\":3000000}}\n");
	pause_ms(300);
	/* Who does not read is not answered further. */
	assert_in_range(__atomic_load_n(&nb_fills, __ATOMIC_SEQ_CST), 1, 3);
	close(fd);
	weir_base_ctl_close(ctl);
}

static void *
close_server(void *arg)
{
	weir_base_ctl_close(arg);
	return NULL;
}

static void
closing_lets_clients_take_their_answers(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	size_t size = strlen("{\"ok\":true,\"result\":\"\"}\n") + 20000000, used = 0;
	char *line = malloc(size);
	int fd = connect_raw();
	pthread_t thread;
	ssize_t got;

	nb_fills = 0;
	send_text(fd, "{\"command\":\"test/fill\",\"args\":{\"size\":20000000}}\n");
	while (__atomic_load_n(&nb_fills, __ATOMIC_SEQ_CST) == 0)
		pause_ms(1);
	assert_int_equal(pthread_create(&thread, NULL, close_server, ctl), 0);
	pause_ms(100);
	while (used < size && (got = recv(fd, line + used, size - used, 0)) > 0)
		used += (size_t)got;
	assert_int_equal(used, size);
	pthread_join(thread, NULL);
	free(line);
	close(fd);
}

static void
clients_that_vanish(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	json_t *result;
	int i;

	for (i = 0; i < 100; i++) {
		int fd = connect_raw();

		/* SIGPIPE would end the program here. */
		if (i % 3 != 0)
			send_text(fd, "{\"command\":\"test/fill\",\"args\":{\"size\":100000}}\n"
				      "{\"command\":\"test/fill\",\"args\":{\"size\":100000}}\n");
		if (i % 3 == 2)
			shutdown(fd, SHUT_WR);
		close(fd);
	}
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, 5000, &result), 0);
	json_decref(result);
	weir_base_ctl_close(ctl);
}

static void
more_clients_than_places(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	int fds[300], i;
	json_t *result;

	for (i = 0; i < 300; i++)
		fds[i] = connect_raw();
	/* They wait in the backlog, and are served when others go. */
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, 200, &result), -ETIMEDOUT);
	assert_string_equal(json_string_value(result), "no answer within 200 ms");
	json_decref(result);
	for (i = 0; i < 300; i++)
		close(fds[i]);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, 5000, &result), 0);
	json_decref(result);
	weir_base_ctl_close(ctl);
}

static void *
ask_often(void *arg)
{
	unsigned int *nb_good = arg;
	int i;

	for (i = 0; i < 100; i++) {
		json_t *args = json_pack("{s:i, s:i}", "n", i, "me", (int)(uintptr_t)arg);
		json_t *result = NULL;

		if (weir_base_ctl_call(name, "test/echo", args, 20000, &result) == 0 &&
			json_equal(args, result))
			++*nb_good;
		json_decref(args);
		json_decref(result);
	}
	return NULL;
}

static void
many_ask_and_handlers_run_one_at_a_time(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	unsigned int nb_good[4] = {0}, i;
	pthread_t threads[4];
	json_t *result;

	nb_overlaps = 0;
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &nb_good[i]), 0);
	/* From this process, too. */
	for (i = 0; i < 2000; i++) {
		assert_int_equal(weir_base_ctl_run(ctl, "test/echo", NULL, &result), 0);
		json_decref(result);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(nb_good[i], 100);
	}
	assert_int_equal(nb_overlaps, 0);
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
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, 2000, &result), -ENOENT);
	json_decref(result);
	assert_int_equal(weir_base_ctl_register(ctl, "test/echo", "again", 0, echo, NULL), 0);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, 2000, &result), 0);
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

static void
a_call_has_its_time(void **state)
{
	struct weir_base_ctl *ctl = open_server();
	uint64_t start;
	int step = 0;
	json_t *result;

	weir_base_ctl_register(ctl, "test/dawdle", "slow", 0, dawdle, &step);
	start = weir_base_time_ns();
	assert_int_equal(weir_base_ctl_call(name, "test/dawdle", NULL, 50, &result), -ETIMEDOUT);
	assert_in_range((weir_base_time_ns() - start) / 1000000, 50, 280);
	json_decref(result);
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
	assert_int_equal(weir_base_ctl_call(name, "test/run", NULL, 2000, &result), 0);
	assert_string_equal(json_string_value(result), "nothing");
	json_decref(result);
	assert_int_equal(weir_base_ctl_call(name, "test/late", NULL, 2000, &result), 0);
	json_decref(result);
	weir_base_ctl_close(ctl);
}

static int
set_name(void **state)
{
	snprintf(name, sizeof(name), "test-%d", (int)getpid());
	return 0;
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
		cmocka_unit_test(slow_clients_do_not_block_others),
		cmocka_unit_test(a_slow_client_gets_all_in_the_end),
		cmocka_unit_test(answers_do_not_pile_up),
		cmocka_unit_test(closing_lets_clients_take_their_answers),
		cmocka_unit_test(clients_that_vanish),
		cmocka_unit_test(more_clients_than_places),
		cmocka_unit_test(many_ask_and_handlers_run_one_at_a_time),
		cmocka_unit_test(commands_come_and_go),
		cmocka_unit_test(unregistering_waits_for_the_handler),
		cmocka_unit_test(closing_waits_and_the_answer_arrives),
		cmocka_unit_test(a_call_has_its_time),
		cmocka_unit_test(handlers_may_use_the_server),
	};

	weir_base_log_set_level(WEIR_BASE_LOG_ERROR);
	return cmocka_run_group_tests(tests, set_name, NULL);
}
