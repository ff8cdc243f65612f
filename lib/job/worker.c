/* SPDX-License-Identifier: BSD-3-Clause */

/* Cores come and go; what each does in a round. */

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "job_private.h"

static __thread struct job_thread thread __attribute__((tls_model("initial-exec")));

/* Not inlined when linked either, and never the same to the compiler. */
__attribute__((noinline)) struct job_thread *
job_thread(void)
{
	struct job_thread *address = &thread;

	__asm__ volatile("" : "+r"(address) : : "memory");
	return address;
}

bool
job_barrier_register(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void
job_barrier(const struct weir_job_service *service)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!service->needs_fence)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

int
job_core_start(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	struct weir_job_service *service = context;
	struct job_worker *worker = &service->workers[weir_em_core_id(core)];

	worker->core = core;
	worker->holds = weir_em_core_holds(core);
	worker->next = job_thread()->workers;
	job_thread()->workers = worker;
	worker->attached = true;
	return 0;
}

int
job_core_stop(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	struct weir_job_service *service = context;
	struct job_worker *worker = &service->workers[weir_em_core_id(core)];
	struct job_worker **at = &job_thread()->workers;

	while (*at != NULL && *at != worker)
		at = &(*at)->next;
	if (*at != NULL)
		*at = worker->next;
	worker->attached = false;
	job_slots_flush(worker);
	return 0;
}

void
job_poll(struct weir_em_core *core, void *arg)
{
	struct weir_job_service *service = arg;
	struct job_worker *worker = &service->workers[weir_em_core_id(core)];

	if (unlikely(!worker->attached))
		return;
	job_lanes_poll(worker);
	job_feed(worker);
}
