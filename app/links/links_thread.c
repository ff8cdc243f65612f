/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a readout. */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "links_thread.h"

void
links_thread_init(struct links_thread *thread)
{
	*thread = (struct links_thread){.started = false};
	pthread_mutex_init(&thread->lock, NULL);
}

int
links_thread_start(
	struct links_thread *thread, const char *name, void *(*run)(void *arg), void *arg)
{
	int error = pthread_create(&thread->id, NULL, run, arg);

	if (error != 0)
		return -error;
	thread->started = true;
	pthread_setname_np(thread->id, name);
	return 0;
}

void
links_thread_abandon(struct links_thread *thread)
{
	if (!thread->started)
		__atomic_store_n(&thread->finished, true, __ATOMIC_RELEASE);
}

void
links_thread_join(struct links_thread *thread)
{
	if (thread->started)
		pthread_join(thread->id, NULL);
	thread->started = false;
}

void
links_thread_look(struct links_thread *thread, bool begun)
{
	uint64_t number = __atomic_add_fetch(&thread->asked, 1, __ATOMIC_RELEASE);

	while (begun && !links_thread_is_finished(thread) &&
		__atomic_load_n(&thread->shown, __ATOMIC_ACQUIRE) < number)
		links_thread_rest();
	pthread_mutex_lock(&thread->lock);
}

void
links_thread_release(struct links_thread *thread)
{
	pthread_mutex_unlock(&thread->lock);
}

static void
copy(struct links_thread *thread, void (*look)(void *arg), void *arg)
{
	pthread_mutex_lock(&thread->lock);
	look(arg);
	pthread_mutex_unlock(&thread->lock);
}

void
links_thread_show(struct links_thread *thread, void (*look)(void *arg), void *arg)
{
	uint64_t number = __atomic_load_n(&thread->asked, __ATOMIC_ACQUIRE);

	if (number == thread->shown)
		return;
	copy(thread, look, arg);
	__atomic_store_n(&thread->shown, number, __ATOMIC_RELEASE);
}

void
links_thread_finish(struct links_thread *thread, void (*look)(void *arg), void *arg)
{
	copy(thread, look, arg);
	__atomic_store_n(&thread->finished, true, __ATOMIC_RELEASE);
}

bool
links_thread_is_finished(const struct links_thread *thread)
{
	return __atomic_load_n(&thread->finished, __ATOMIC_ACQUIRE);
}

int
links_thread_pin(const struct links_thread *thread, struct weir_base_doc *doc,
	const struct weir_base_doc_value *cpu, const char *kind, const char *name)
{
	const int number = (int)weir_base_doc_u64(cpu);
	cpu_set_t set;
	int error;

	if (cpu == NULL)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(number, &set);
	error = pthread_setaffinity_np(thread->id, sizeof(set), &set);
	if (error != 0)
		weir_base_doc_error_add(doc, cpu,
			"%s '%s' cannot run on CPU %d: %s; expected one that is there, and that "
			"this program may use",
			kind, name, number, strerror(error));
	return -error;
}

void
links_thread_rest(void)
{
	links_thread_rest_ns(LINKS_THREAD_REST_NS);
}

void
links_thread_rest_ns(uint64_t ns)
{
	const struct timespec time = {
		.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	if (ns > 0)
		nanosleep(&time, NULL);
}
