/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: levels, sinks, standard error, threads. */
#include "cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weir_base.h"

struct heard {
	int count;
	enum weir_base_log_level level;
	char module[32];
	char message[4096];
	bool nested; /* log from within the sink */
	int inside;  /* calls that are in the sink at this moment */
	int overlaps;
};

static void
hear(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	struct heard *heard = arg;

	if (__atomic_add_fetch(&heard->inside, 1, __ATOMIC_SEQ_CST) != 1)
		heard->overlaps++;
	heard->count++;
	heard->level = level;
	snprintf(heard->module, sizeof(heard->module), "%s", module);
	snprintf(heard->message, sizeof(heard->message), "%s", message);
	errno = EIO; /* as any call in here may do */
	if (heard->nested)
		weir_base_log(WEIR_BASE_LOG_INFO, "test", "said from within the sink");
	__atomic_sub_fetch(&heard->inside, 1, __ATOMIC_SEQ_CST);
}

static int
restore(void **state)
{
	weir_base_log_set_sink(NULL, NULL);
	weir_base_log_set_level(WEIR_BASE_LOG_INFO);
	return 0;
}

static void
sink_hears_all_of_it(void **state)
{
	struct heard heard = {0};

	weir_base_log_set_sink(hear, &heard);
	weir_base_log(WEIR_BASE_LOG_WARNING, "graph", "%d of %s", 3, "four");
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.level, WEIR_BASE_LOG_WARNING);
	assert_string_equal(heard.module, "graph");
	assert_string_equal(heard.message, "3 of four");
}

static void
level_decides_what_is_shown(void **state)
{
	struct heard heard = {0};
	int level, shown;

	weir_base_log_set_sink(hear, &heard);
	for (shown = WEIR_BASE_LOG_ERROR; shown <= WEIR_BASE_LOG_DEBUG; shown++) {
		weir_base_log_set_level((enum weir_base_log_level)shown);
		heard.count = 0;
		for (level = WEIR_BASE_LOG_ERROR; level <= WEIR_BASE_LOG_DEBUG; level++)
			weir_base_log((enum weir_base_log_level)level, "test", "x");
		assert_int_equal(heard.count, shown + 1);
	}
}

static void
debug_is_not_shown_by_default(void **state)
{
	struct heard heard = {0};

	weir_base_log_set_sink(hear, &heard);
	weir_base_log(WEIR_BASE_LOG_DEBUG, "test", "x");
	assert_int_equal(heard.count, 0);
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "x");
	assert_int_equal(heard.count, 1);
}

static void
long_messages_are_whole(void **state)
{
	struct heard heard = {0};
	char text[3001];

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	weir_base_log_set_sink(hear, &heard);
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "%s", text);
	assert_string_equal(heard.message, text);
	/* At the border between the short buffer and the long one. */
	for (text[514] = '\0'; strlen(text) > 508; text[strlen(text) - 1] = '\0') {
		weir_base_log(WEIR_BASE_LOG_INFO, "test", "%s", text);
		assert_string_equal(heard.message, text);
	}
}

static void
trailing_newlines_go(void **state)
{
	struct heard heard = {0};

	weir_base_log_set_sink(hear, &heard);
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "line\n");
	assert_string_equal(heard.message, "line");
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "\n");
	assert_string_equal(heard.message, "");
}

static void
errno_stays(void **state)
{
	struct heard heard = {0};

	weir_base_log_set_sink(hear, &heard);
	errno = ENOSPC;
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "%m");
	assert_int_equal(errno, ENOSPC);
	assert_string_equal(heard.message, strerror(ENOSPC));
}

/* What the log writes to standard error while it is given these messages. */
static void
capture(char *text, size_t size, void (*speak)(void))
{
	int saved = dup(STDERR_FILENO), ends[2];
	ssize_t got;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	speak();
	dup2(saved, STDERR_FILENO);
	close(saved);
	got = read(ends[0], text, size - 1);
	close(ends[0]);
	assert_true(got >= 0);
	text[got] = '\0';
}

static void
speak_all(void)
{
	weir_base_log_set_level(WEIR_BASE_LOG_DEBUG);
	weir_base_log(WEIR_BASE_LOG_ERROR, "graph", "no node '%s'", "x");
	weir_base_log(WEIR_BASE_LOG_WARNING, "node", "slow");
	weir_base_log(WEIR_BASE_LOG_INFO, "base", "ready");
	weir_base_log(WEIR_BASE_LOG_DEBUG, "base", "details");
}

static void
standard_error_without_sink(void **state)
{
	char text[1000];

	capture(text, sizeof(text), speak_all);
	assert_string_equal(text, "weir: graph: error: no node 'x'\n"
				  "weir: node: warning: slow\n"
				  "weir: base: ready\n"
				  "weir: base: debug: details\n");
}

static struct heard nested_heard;

static void
speak_nested(void)
{
	nested_heard.nested = true;
	weir_base_log_set_sink(hear, &nested_heard);
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "outer");
}

static void
sink_may_log(void **state)
{
	char text[1000];

	capture(text, sizeof(text), speak_nested);
	assert_int_equal(nested_heard.count, 1);
	assert_string_equal(text, "weir: test: said from within the sink\n");
}

static void *
speak_often(void *arg)
{
	int i;

	for (i = 0; i < 2000; i++)
		weir_base_log(WEIR_BASE_LOG_INFO, "test", "%d", i);
	return NULL;
}

static void
sink_is_called_by_one_at_a_time(void **state)
{
	struct heard heard = {0};
	pthread_t threads[4];
	int i;

	weir_base_log_set_sink(hear, &heard);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, speak_often, NULL), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(heard.count, 8000);
	assert_int_equal(heard.overlaps, 0);
}

static bool in_sink, was_in_sink, may_leave;

/* A child of fork(2) that logs, and is ended if it hangs. @return 0; 2: it began while another thread was in the sink */
static int
child_logs(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(10);
		weir_base_log(WEIR_BASE_LOG_INFO, "test", "said by a child");
		weir_base_log_set_sink(NULL, NULL);
		/* Not by _exit(): TSan would look for who joins the parent's other thread. */
		syscall(SYS_exit_group, in_sink ? 2 : 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The first one stays for a while: 10 ms, or until it may leave. */
static void
hear_slowly(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	if (strcmp(message, "stay") != 0)
		return;
	__atomic_store_n(&in_sink, true, __ATOMIC_RELEASE);
	__atomic_store_n(&was_in_sink, true, __ATOMIC_RELEASE);
	do
		usleep(10000);
	while (!__atomic_load_n(&may_leave, __ATOMIC_ACQUIRE));
	__atomic_store_n(&in_sink, false, __ATOMIC_RELEASE);
}

static void *
stay_in_sink(void *arg)
{
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "stay");
	return NULL;
}

static int
fork_beside(bool leaves)
{
	pthread_t thread;
	int rc;

	may_leave = leaves;
	was_in_sink = false;
	weir_base_log_set_sink(hear_slowly, NULL);
	assert_int_equal(pthread_create(&thread, NULL, stay_in_sink, NULL), 0);
	while (!__atomic_load_n(&was_in_sink, __ATOMIC_ACQUIRE))
		usleep(100);
	rc = child_logs();
	__atomic_store_n(&may_leave, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return rc;
}

/* It is waited for. */
static void
forks_beside_a_thread_that_logs(void **state)
{
	unsigned int nb_waited = 0;

	for (unsigned int i = 0; i < 20; i++)
		nb_waited += fork_beside(true) == 0;
	/* Not by all on a machine that lets one stand still. */
	assert_in_range(nb_waited, 15, 20);
}

/* But not for ever: it may be waiting for something that the forking thread has. */
static void
forks_beside_a_sink_that_hangs(void **state)
{
	assert_int_equal(fork_beside(false), 2);
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "the parent goes on");
}

static void
fork_here(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	int *nb = arg;

	(*nb)++;
	assert_int_equal(child_logs(), 0);
}

static void
sink_may_fork(void **state)
{
	int nb = 0;

	weir_base_log_set_sink(fork_here, &nb);
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "x");
	weir_base_log(WEIR_BASE_LOG_INFO, "test", "x");
	assert_int_equal(nb, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(sink_hears_all_of_it, restore),
		cmocka_unit_test_teardown(level_decides_what_is_shown, restore),
		cmocka_unit_test_teardown(debug_is_not_shown_by_default, restore),
		cmocka_unit_test_teardown(long_messages_are_whole, restore),
		cmocka_unit_test_teardown(trailing_newlines_go, restore),
		cmocka_unit_test_teardown(errno_stays, restore),
		cmocka_unit_test_teardown(standard_error_without_sink, restore),
		cmocka_unit_test_teardown(sink_may_log, restore),
		cmocka_unit_test_teardown(sink_is_called_by_one_at_a_time, restore),
		cmocka_unit_test_teardown(forks_beside_a_thread_that_logs, restore),
		cmocka_unit_test_teardown(forks_beside_a_sink_that_hangs, restore),
		cmocka_unit_test_teardown(sink_may_fork, restore),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
