/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TLS_PROBE_H
#define TLS_PROBE_H

/* A shared object for test_dpdk.c, as a plug-in would be: coroutines that look at the thread that they run on. */

#include <stdbool.h>
#include <stdint.h>

#include "weir_coro.h"

/* A thread, as it knows itself. */
struct probe_thread {
	uint64_t number;
	unsigned int lcore_id;
	int *errno_address;
	int *rte_errno_address;
	int error;     /* what errno is when it resumes a coroutine */
	int rte_error; /* and rte_errno */
};

/* Parameters of the coroutine: who resumes it now. */
struct probe_param {
	const struct probe_thread *thread;
	struct weir_coro *self;
	unsigned int moves;
	unsigned int wrong; /* first line where something was another thread's */
};

#define PROBE_TURNS 60

/* The calling thread's own variables of the plug-in. */
void probe_begin(struct probe_thread *thread, uint64_t number);

/* Coroutines: thread-locals read and written in place; and by the functions that there are for it. */
void probe_in_place(void);
void probe_asked(void);

#endif
