/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: one line per message, to standard error or to the program's own sink. */
#include "weir_base.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SHORT_MESSAGE 512

/* So long who forks waits for another thread's message. */
#define FORK_PATIENCE_S 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weir_base_log_sink_t sink;
static void *sink_arg;
static int shown_level = WEIR_BASE_LOG_INFO;

/* Set while this thread is inside the sink: a sink that logs must not wait for itself. */
static __thread bool in_sink;

/*
 * A child has none but the thread that forks: nobody would give the lock back that another thread has. So that one is waited for,
 * and what the sink keeps is whole. Not for ever, as the sink may be waiting for a lock which this thread took to fork: then
 * the child's is made anew. Who forks in the sink, in the child too, has the lock and gives it back.
 */
static __thread bool locked_to_fork;

static void
before_fork(void)
{
	struct timespec due;

	if (in_sink)
		return;
	clock_gettime(CLOCK_REALTIME, &due);
	due.tv_sec += FORK_PATIENCE_S;
	locked_to_fork = pthread_mutex_timedlock(&lock, &due) == 0;
}

static void
give_back(void)
{
	if (locked_to_fork)
		pthread_mutex_unlock(&lock);
	locked_to_fork = false;
}

static void
in_child(void)
{
	if (!in_sink && !locked_to_fork)
		pthread_mutex_init(&lock, NULL);
	give_back();
}

/* First of all, so that the lock is taken last: who has locks of his own for a fork may log while he has them. */
__attribute__((constructor)) static void
handle_forks(void)
{
	(void)pthread_atfork(before_fork, give_back, in_child);
}

static void
to_stderr(enum weir_base_log_level level, const char *module, const char *message)
{
	static const char *const weight[] = {"error: ", "warning: ", "", "debug: "};

	const char *const parts[] = {"weir: ", module, ": ", weight[level], message, "\n"};
	struct iovec line[sizeof(parts) / sizeof(parts[0])];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		line[i] = (struct iovec){(void *)(uintptr_t)parts[i], strlen(parts[i])};
	/*
	 * One call, so that lines of several processes do not mix. And not by stdio, which puts a buffer of 8 KiB on
	 * the stack when it writes to standard error: messages may come from coroutines with small ones.
	 */
	while (writev(STDERR_FILENO, line, sizeof(parts) / sizeof(parts[0])) < 0 && errno == EINTR)
		;
}

static void
deliver(enum weir_base_log_level level, const char *module, char *message)
{
	size_t length = strlen(message);

	while (length > 0 && message[length - 1] == '\n')
		message[--length] = '\0';
	if (in_sink) {
		to_stderr(level, module, message);
		return;
	}
	pthread_mutex_lock(&lock);
	if (sink != NULL) {
		in_sink = true;
		sink(sink_arg, level, module, message);
		in_sink = false;
	} else {
		to_stderr(level, module, message);
	}
	pthread_mutex_unlock(&lock);
}

void
weir_base_log(enum weir_base_log_level level, const char *module, const char *format, ...)
{
	char text[SHORT_MESSAGE], *message = text;
	int saved_errno = errno;
	va_list args;
	int length;

	if ((int)level > __atomic_load_n(&shown_level, __ATOMIC_RELAXED))
		return;
	if ((int)level < WEIR_BASE_LOG_ERROR || (int)level > WEIR_BASE_LOG_DEBUG)
		level = WEIR_BASE_LOG_ERROR;
	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length < 0) {
		snprintf(text, sizeof(text), "(a message that could not be formatted: %s)", format);
	} else if ((size_t)length >= sizeof(text)) {
		/* Out of memory: the first part is better than nothing. */
		message = malloc((size_t)length + 1);
		if (message == NULL) {
			message = text;
		} else {
			errno = saved_errno;
			va_start(args, format);
			vsnprintf(message, (size_t)length + 1, format, args);
			va_end(args);
		}
	}
	deliver(level, module != NULL ? module : "?", message);
	if (message != text)
		free(message);
	errno = saved_errno;
}

void
weir_base_log_set_level(enum weir_base_log_level level)
{
	__atomic_store_n(&shown_level, (int)level, __ATOMIC_RELAXED);
}

void
weir_base_log_set_sink(weir_base_log_sink_t new_sink, void *arg)
{
	/* From within the sink the lock is ours already. */
	bool nested = in_sink;

	if (!nested)
		pthread_mutex_lock(&lock);
	sink = new_sink;
	sink_arg = arg;
	if (!nested)
		pthread_mutex_unlock(&lock);
}
