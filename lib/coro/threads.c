/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The threads that coroutines run on, for those who look at them from outside: the watchdog and the ticker. What is kept
 * of a thread is in its own memory, and in the list until it ends.
 */

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coro_private.h"

/* A ticker takes it all the time: not beside what workers read. */
pthread_mutex_t coro_threads_lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
struct coro_thread *coro_threads;

static __thread struct coro_thread self;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int key_rc;

static void
list_self(void)
{
	self.tid = (int)syscall(SYS_gettid);
	self.next = coro_threads;
	self.link = &coro_threads;
	if (self.next != NULL)
		self.next->link = &self.next;
	coro_threads = &self;
}

static void
thread_ends(void *arg)
{
	struct coro_thread *thread = arg;

	pthread_mutex_lock(&coro_threads_lock);
	*thread->link = thread->next;
	if (thread->next != NULL)
		thread->next->link = thread->link;
	thread->listed = false;
	thread->ends = true;
	pthread_mutex_unlock(&coro_threads_lock);
}

/* A child has only the thread that forked: no watchdog, no ticker. */
static void
before_fork(void)
{
	coro_classes_before_fork();
	pthread_mutex_lock(&coro_threads_lock);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&coro_threads_lock);
	coro_classes_after_fork();
}

static void
in_child(void)
{
	pthread_mutex_unlock(&coro_threads_lock);
	coro_classes_after_fork();
	coro_threads = NULL;
	if (self.listed)
		list_self();
	coro_watchdog_forked();
	coro_ticker_forked();
}

static void
make_key(void)
{
	key_rc = pthread_key_create(&key, thread_ends);
	if (key_rc == 0)
		key_rc = pthread_atfork(before_fork, in_parent, in_child);
}

int
coro_threads_init(void)
{
	pthread_once(&once, make_key);
	return -key_rc;
}

int
weir_coro_attach(void)
{
	int rc;

	if (self.listed || self.ends)
		return 0;
	rc = coro_threads_init();
	if (rc == 0)
		rc = -pthread_setspecific(key, &self);
	if (rc < 0)
		return rc;
	self.fast = weir_coro_thread_now();
	self.pthread = pthread_self();
	self.watched = coro_watched_self();
	self.ticked = coro_ticked_self();
	pthread_mutex_lock(&coro_threads_lock);
	self.listed = true;
	list_self();
	coro_ticker_greets(&self);
	pthread_mutex_unlock(&coro_threads_lock);
	return 0;
}

int
coro_thread_start(pthread_t *thread, const char *name, void *(*run)(void *arg), int cpu)
{
	sigset_t all, mask;
	cpu_set_t cpus;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	if (cpu >= 0) {
		pthread_attr_t attributes;

		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
		pthread_attr_init(&attributes);
		pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
		rc = pthread_create(thread, &attributes, run, NULL);
		pthread_attr_destroy(&attributes);
	} else {
		rc = pthread_create(thread, NULL, run, NULL);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (rc == 0)
		pthread_setname_np(*thread, name);
	return -rc;
}
