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
		assert_int_equal(
			weir_base_ctl_call(name, "test/echo", NULL, PATIENCE_MS, &result), 0);
		json_decref(result);
	}
	for (i = 0; i < 4; i++)
		close(slow[i]);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, PATIENCE_MS, &result), 0);
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
	while (__atomic_load_n(&nb_fills, __ATOMIC_SEQ_CST) == 0)
		pause_ms(1);
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

/* An answer, taken while the server is closed. @return whether all of it came; *longest_ns: so long it took nothing, at most */
static bool
take_while_closing(uint64_t *longest_ns)
{
	struct weir_base_ctl *ctl = open_server();
	size_t size = strlen("{\"ok\":true,\"result\":\"\"}\n") + 20000000, used = 0;
	char *line = malloc(size);
	int fd = connect_raw();
	uint64_t last_ns, now_ns;
	pthread_t thread;
	ssize_t got = 1;

	nb_fills = 0;
	*longest_ns = 0;
	send_text(fd, "{\"command\":\"test/fill\",\"args\":{\"size\":20000000}}\n");
	while (__atomic_load_n(&nb_fills, __ATOMIC_SEQ_CST) == 0)
		pause_ms(1);
	last_ns = weir_base_time_ns();
	assert_int_equal(pthread_create(&thread, NULL, close_server, ctl), 0);
	pause_ms(100);
	for (; used < size && got > 0; last_ns = now_ns) {
		got = recv(fd, line + used, size - used, 0);
		used += got > 0 ? (size_t)got : 0;
		now_ns = weir_base_time_ns();
		if (now_ns - last_ns > *longest_ns)
			*longest_ns = now_ns - last_ns;
	}
	pthread_join(thread, NULL);
	free(line);
	close(fd);
	return used == size;
}

/* Who takes nothing for half a second is left alone, for which a busy machine may be to blame: not each time. */
static void
closing_lets_clients_take_their_answers(void **state)
{
	uint64_t longest_ns = UINT64_MAX;
	bool complete = false;

	for (int tries = 0; tries < 50 && !complete && longest_ns >= 450000000; tries++)
		complete = take_while_closing(&longest_ns);
	assert_true(complete);
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
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, PATIENCE_MS, &result), 0);
	json_decref(result);
	weir_base_ctl_close(ctl);
}

/* The server's clock, when it is the test's: it stands still but for what the test adds. This thread, which asks, has the machine's. */
static uint64_t server_ns; /* atomic; 0: the machine's */
static pthread_t asker;

uint64_t __real_weir_base_time_ns(void);
uint64_t __wrap_weir_base_time_ns(void);

uint64_t
__wrap_weir_base_time_ns(void)
{
	const uint64_t ns = __atomic_load_n(&server_ns, __ATOMIC_SEQ_CST);

	return ns == 0 || pthread_equal(pthread_self(), asker) ? __real_weir_base_time_ns() : ns;
}

static void
pass_ms(uint64_t ms)
{
	__atomic_add_fetch(&server_ns, ms * 1000000, __ATOMIC_SEQ_CST);
}

#define SECOND_MS 1000
#define NB_PLACES 256

static struct weir_base_ctl *
open_server_out_of_time(void)
{
	asker = pthread_self();
	__atomic_store_n(&server_ns, 0, __ATOMIC_SEQ_CST);
	pass_ms(SECOND_MS);
	return open_server();
}

static void
close_server_out_of_time(struct weir_base_ctl *ctl)
{
	__atomic_store_n(&server_ns, 0, __ATOMIC_SEQ_CST);
	weir_base_ctl_close(ctl);
}

static void
more_clients_than_places(void **state)
{
	struct weir_base_ctl *ctl = open_server_out_of_time();
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
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, PATIENCE_MS, &result), 0);
	json_decref(result);
	close_server_out_of_time(ctl);
}

/* Clients of which each came, and said the beginning of a request, a millisecond after the one before; and one that speaks, the first of all. */
struct clients {
	int speaker, silent[300];
};

/* Twice: what was there before the first is seen in the second at the latest. */
static void
speak(const struct clients *clients)
{
	for (int i = 0; i < 2; i++)
		check_answer(clients->speaker, "{\"command\":\"test/nothing\"}\n",
			"{\"ok\":true,\"result\":null}");
}

static void
come(struct clients *clients)
{
	clients->speaker = connect_raw();
	speak(clients);
	for (int i = 0; i < 300; i++) {
		clients->silent[i] = connect_raw();
		send_text(clients->silent[i], "{\"command\":");
		speak(clients);
		pass_ms(1);
	}
}

/* The first @nb have lost their places, and nobody else has. */
static void
check_gone(const struct clients *clients, int nb)
{
	char rest;

	for (int i = 0; i < 300; i++)
		assert_int_equal(recv(clients->silent[i], &rest, 1, MSG_DONTWAIT), i < nb ? 0 : -1);
}

/* Those that are silent for two seconds give way to others, the longest silent ones first; not those that speak, even if they came first. */
static void
silent_clients_give_way(void **state)
{
	struct weir_base_ctl *ctl = open_server_out_of_time();
	const int nb_waiting = 300 + 1 - NB_PLACES;
	struct clients clients;
	json_t *result;

	come(&clients);
	check_gone(&clients, 0);
	/* The first one came 300 ms ago. */
	pass_ms(2 * SECOND_MS - 300 - 1);
	speak(&clients);
	check_gone(&clients, 0);
	for (int nb = 1; nb <= nb_waiting; nb++) {
		pass_ms(1);
		speak(&clients);
		check_gone(&clients, nb);
		check_answer(clients.silent[300 - nb_waiting + nb - 1], "\"test/nothing\"}\n",
			"{\"ok\":true,\"result\":null}");
	}
	/* Nobody else wants a place, but who asks. */
	pass_ms(1);
	speak(&clients);
	check_gone(&clients, nb_waiting);
	assert_int_equal(weir_base_ctl_call(name, "test/echo", NULL, PATIENCE_MS, &result), 0);
	json_decref(result);
	check_gone(&clients, nb_waiting + 1);
	pass_ms(3600 * SECOND_MS);
	speak(&clients);
	check_gone(&clients, nb_waiting + 1);
	for (int i = 0; i < 300; i++)
		close(clients.silent[i]);
	close(clients.speaker);
	close_server_out_of_time(ctl);
}

static void *
ask_often(void *arg)
{
	unsigned int *nb_good = arg;
	int i;

	for (i = 0; i < 100; i++) {
		json_t *args = json_pack("{s:i, s:i}", "n", i, "me", (int)(uintptr_t)arg);
		json_t *result = NULL;

		if (weir_base_ctl_call(name, "test/echo", args, PATIENCE_MS, &result) == 0 &&
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

/* A command whose answer is deferred: "finished" says how often it was finished. */
struct later {
	struct weir_base_ctl *ctl;
	struct weir_base_ctl_deferred *deferred; /* atomic: there is one to resume */
	int nb_finished;                         /* atomic */
	int nb_gone;                             /* atomic: told that the client has */
	bool at_once;                            /* atomic: the handler resumes it itself */
};

static int
finish_later(void *arg, json_t **result)
{
	struct later *later = arg;

	__atomic_store_n(&later->deferred, NULL, __ATOMIC_RELEASE);
	*result = json_integer(__atomic_add_fetch(&later->nb_finished, 1, __ATOMIC_ACQ_REL));
	return 0;
}

static void
gone_before(void *arg)
{
	struct later *later = arg;

	__atomic_add_fetch(&later->nb_gone, 1, __ATOMIC_ACQ_REL);
}

static int
answer_later(void *arg, const json_t *args, json_t **result)
{
	struct later *later = arg;
	struct weir_base_ctl_deferred *deferred =
		weir_base_ctl_defer(later->ctl, finish_later, later);

	if (deferred == NULL || weir_base_ctl_defer(later->ctl, finish_later, later) != NULL)
		return -EIO;
	weir_base_ctl_when_gone(deferred, gone_before);
	if (__atomic_load_n(&later->at_once, __ATOMIC_ACQUIRE))
		weir_base_ctl_resume(deferred);
	else
		__atomic_store_n(&later->deferred, deferred, __ATOMIC_RELEASE);
	return -EINPROGRESS;
}

static struct weir_base_ctl *
open_later(struct later *later)
{
	*later = (struct later){.ctl = open_server()};
	assert_int_equal(
		weir_base_ctl_register(later->ctl, "test/later", "", 0, answer_later, later), 0);
	return later->ctl;
}

static struct weir_base_ctl_deferred *
wait_for_deferred(struct later *later)
{
	struct weir_base_ctl_deferred *deferred;

	while ((deferred = __atomic_load_n(&later->deferred, __ATOMIC_ACQUIRE)) == NULL)
		pause_ms(1);
	return deferred;
}

#define ASK_LATER "{\"command\":\"test/later\"}\n"
#define ASK_ECHO  "{\"command\":\"test/echo\"}\n"
#define ECHO      "{\"ok\":true,\"result\":\"nothing\"}"
#define FIRST     "{\"ok\":true,\"result\":1}"

static void
expect_line(int fd, const char *expected)
{
	char line[100];

	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, expected);
}

static void
a_deferred_answer_keeps_nobody_else_waiting(void **state)
{
	struct later later;
	struct weir_base_ctl *ctl = open_later(&later);
	struct weir_base_ctl_deferred *deferred;
	int waits = connect_raw(), other = connect_raw();

	/* The second one of this client's is answered after the first one. */
	send_text(waits, ASK_LATER ASK_ECHO);
	deferred = wait_for_deferred(&later);
	for (int i = 0; i < 3; i++)
		check_answer(other, ASK_ECHO, ECHO);
	assert_int_equal(recv(waits, &(char){0}, 1, MSG_DONTWAIT), -1);
	assert_int_equal(later.nb_finished, 0);
	weir_base_ctl_resume(deferred);
	expect_line(waits, FIRST);
	expect_line(waits, ECHO);
	/* One that is there before its handler returns. */
	__atomic_store_n(&later.at_once, true, __ATOMIC_RELEASE);
	check_answer(waits, ASK_LATER, "{\"ok\":true,\"result\":2}");
	check_answer(waits, ASK_ECHO, ECHO);
	close(waits);
	close(other);
	weir_base_ctl_close(ctl);
}

static void
deferred_answers_for_who_has_gone_are_finished(void **state)
{
	struct later later;
	struct weir_base_ctl *ctl = open_later(&later);
	int gone = connect_raw(), silent = connect_raw(), other = connect_raw();

	send_text(gone, ASK_LATER ASK_ECHO);
	wait_for_deferred(&later);
	close(gone);
	while (__atomic_load_n(&later.nb_gone, __ATOMIC_ACQUIRE) == 0)
		pause_ms(1);
	assert_int_equal(later.nb_finished, 0);
	weir_base_ctl_resume(later.deferred);
	while (__atomic_load_n(&later.nb_finished, __ATOMIC_ACQUIRE) == 0)
		pause_ms(1);
	/* Who says no more, but listens, gets it. */
	send_text(silent, ASK_LATER);
	shutdown(silent, SHUT_WR);
	wait_for_deferred(&later);
	check_answer(other, ASK_ECHO, ECHO);
	weir_base_ctl_resume(later.deferred);
	expect_line(silent, "{\"ok\":true,\"result\":2}");
	expect_line(silent, "");
	assert_int_equal(later.nb_gone, 1);
	close(silent);
	close(other);
	weir_base_ctl_close(ctl);
}

/* By who takes the command back, or closes the server. */
static void
deferred_answers_do_not_outlive_their_command(void **state)
{
	for (int close_only = 0; close_only < 2; close_only++) {
		struct later later;
		struct weir_base_ctl *ctl = open_later(&later);
		int fd = connect_raw();

		send_text(fd, ASK_LATER);
		wait_for_deferred(&later);
		if (!close_only) {
			assert_int_equal(weir_base_ctl_unregister(ctl, "test/later"), 0);
			assert_int_equal(later.nb_finished, 1);
			expect_line(fd, FIRST);
			check_answer(fd, ASK_ECHO, ECHO);
		}
		weir_base_ctl_close(ctl);
		assert_int_equal(later.nb_finished, 1);
		if (close_only)
			expect_line(fd, FIRST);
		close(fd);
	}
}

static void *
resume_later(void *arg)
{
	weir_base_ctl_resume(wait_for_deferred(arg));
	return NULL;
}

static void
deferred_answers_are_waited_for_within_the_process(void **state)
{
	struct later later;
	struct weir_base_ctl *ctl = open_later(&later);
	pthread_t thread;
	json_t *result;

	assert_null(weir_base_ctl_defer(ctl, finish_later, &later)); /* in no handler */
	assert_int_equal(pthread_create(&thread, NULL, resume_later, &later), 0);
	assert_int_equal(weir_base_ctl_run(ctl, "test/later", NULL, &result), 0);
	assert_int_equal(json_integer_value(result), 1);
	json_decref(result);
	pthread_join(thread, NULL);
	weir_base_ctl_close(ctl);
}

/*
 * A folder of our own for control sockets, as users have one who are not root. In root's there are others: who looks which instances there are
 * connects to each, and takes a place.
 */
static uid_t user;
static char folder[] = "/tmp/weir-test-clients-XXXXXX", sockets[sizeof(folder) + 5];

uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);

uid_t
__wrap_geteuid(void)
{
	return user;
}

static int
make_folder(void **state)
{
	user = __real_geteuid();
	if (mkdtemp(folder) == NULL || setenv("XDG_RUNTIME_DIR", folder, 1) != 0)
		return -1;
	snprintf(sockets, sizeof(sockets), "%s/weir", folder);
	if (mkdir(sockets, 0700) != 0)
		return -1;
	if (user == 0) {
		user = 65534;
		if (chown(sockets, user, (gid_t)-1) != 0)
			return -1;
	}
	return set_name(state);
}

static int
remove_folder(void **state)
{
	return rmdir(sockets) != 0 || rmdir(folder) != 0 ? -1 : 0;
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
		cmocka_unit_test(silent_clients_give_way),
		cmocka_unit_test(many_ask_and_handlers_run_one_at_a_time),
		cmocka_unit_test(a_deferred_answer_keeps_nobody_else_waiting),
		cmocka_unit_test(deferred_answers_for_who_has_gone_are_finished),
		cmocka_unit_test(deferred_answers_do_not_outlive_their_command),
		cmocka_unit_test(deferred_answers_are_waited_for_within_the_process),
	};

	weir_base_log_set_level(WEIR_BASE_LOG_ERROR);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
