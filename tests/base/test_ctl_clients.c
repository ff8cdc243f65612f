/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket with many clients, slow ones, and ones that vanish. */
#include "cmocka_all.h"

#include "ctl_util.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_clients_do_not_block_others),
		cmocka_unit_test(a_slow_client_gets_all_in_the_end),
		cmocka_unit_test(answers_do_not_pile_up),
		cmocka_unit_test(closing_lets_clients_take_their_answers),
		cmocka_unit_test(clients_that_vanish),
		cmocka_unit_test(more_clients_than_places),
		cmocka_unit_test(many_ask_and_handlers_run_one_at_a_time),
	};

	weir_base_log_set_level(WEIR_BASE_LOG_ERROR);
	return cmocka_run_group_tests(tests, set_name, NULL);
}
