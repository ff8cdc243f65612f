/* SPDX-License-Identifier: BSD-3-Clause */

/* The thread that empties queues, on a CPU of its own where there is one. */

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_pause.h>

#include "readout_bench.h"

static struct {
	pthread_t thread;
	bool started;
	uint32_t (*sweep)(void *arg); /* NULL: end */
	void *arg;
	uint64_t cycles;
	/* Numbers of turns: that were begun by the producer, are swept, were ended by the producer, by the consumer. */
	unsigned int begun __attribute__((aligned(64)));
	unsigned int ended;
	unsigned int sweeping __attribute__((aligned(64)));
	unsigned int done;
} consumer;

bool readout_crowded;

static void
relax(void)
{
	if (readout_crowded)
		sched_yield();
	else
		rte_pause();
}

static void
wait_for(const unsigned int *turn, unsigned int number)
{
	while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != number)
		relax();
}

/* Nothing is there. @return cycles until something is, or will not be any more */
static uint64_t
wait_for_more(unsigned int turn, uint64_t *nb_moved)
{
	const uint64_t from = weir_base_cycles();
	uint64_t now;
	bool last;

	do {
		last = __atomic_load_n(&consumer.ended, __ATOMIC_ACQUIRE) == turn;
		relax();
		now = weir_base_cycles();
		*nb_moved = consumer.sweep(consumer.arg);
	} while (*nb_moved == 0 && !last);
	return now - from;
}

/* @return cycles of sweeps that moved something */
static uint64_t
consume(unsigned int turn)
{
	uint64_t begin = weir_base_cycles(), waited = 0, nb;

	do {
		while (consumer.sweep(consumer.arg) > 0)
			;
		waited += wait_for_more(turn, &nb);
	} while (nb > 0);
	return weir_base_cycles() - begin - waited;
}

static void *
thread_main(void *unused)
{
	(void)unused;
	rte_thread_register();
	for (unsigned int turn = 1;; turn++) {
		wait_for(&consumer.begun, turn);
		if (consumer.sweep == NULL)
			break;
		__atomic_store_n(&consumer.sweeping, turn, __ATOMIC_RELEASE);
		consumer.cycles = consume(turn);
		__atomic_store_n(&consumer.done, turn, __ATOMIC_RELEASE);
	}
	rte_thread_unregister();
	return NULL;
}

/* The last CPU that is not the caller's. */
static int
choose_cpu(const cpu_set_t *allowed)
{
	const int own = sched_getcpu();
	int cpu = own;

	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, allowed) && i != own)
			cpu = i;
	readout_crowded = cpu == own;
	return cpu;
}

int
readout_consumer_start(const cpu_set_t *allowed)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	CPU_ZERO(&set);
	CPU_SET(choose_cpu(allowed), &set);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	rc = pthread_create(&consumer.thread, &attr, thread_main, NULL);
	pthread_attr_destroy(&attr);
	if (rc != 0)
		fprintf(stderr, "weir bench readout: no thread: %s\n", strerror(rc));
	consumer.started = rc == 0;
	return -rc;
}

static void
begin(uint32_t (*sweep)(void *arg), void *arg)
{
	consumer.sweep = sweep;
	consumer.arg = arg;
	__atomic_store_n(&consumer.begun, consumer.begun + 1, __ATOMIC_RELEASE);
}

void
readout_consumer_stop(void)
{
	if (!consumer.started)
		return;
	begin(NULL, NULL);
	pthread_join(consumer.thread, NULL);
	consumer.started = false;
}

void
readout_consumer_begin(uint32_t (*sweep)(void *arg), void *arg)
{
	begin(sweep, arg);
	wait_for(&consumer.sweeping, consumer.begun);
}

uint64_t
readout_consumer_end(void)
{
	__atomic_store_n(&consumer.ended, consumer.begun, __ATOMIC_RELEASE);
	wait_for(&consumer.done, consumer.begun);
	return consumer.cycles;
}
