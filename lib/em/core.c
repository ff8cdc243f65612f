/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads become cores of an instance, and leave. */

#include <limits.h>
#include <sched.h>

#include <rte_pause.h>

#include "event.h"

#define QUIET_ROUNDS 64     /* without an event: there will be none for who is in no group */
#define LEAVE_ROUNDS 100000 /* at most, or a local queue that feeds itself would keep the core */

struct weir_em_core *
em_control_get(struct weir_em *em, struct weir_em_core *core)
{
	if (core != NULL)
		return core;
	pthread_mutex_lock(&em->control_lock);
	return &em->cores[em->nb_ports - 1];
}

void
em_control_put(struct weir_em *em, struct weir_em_core *core)
{
	if (core == NULL)
		pthread_mutex_unlock(&em->control_lock);
}

void
em_look_after_ports(struct weir_em_core *core)
{
	struct weir_em *em = core->em;

	if (pthread_mutex_trylock(&em->control_lock) != 0)
		return;
	for (unsigned int id = 0; id < em->nb_ports; id++)
		if (id == em->nb_ports - 1 || !em->cores[id].attached)
			weir_sched_dequeue(em->cores[id].port, em->cores[id].events, 0);
	pthread_mutex_unlock(&em->control_lock);
}

/* The control lock, for a core: who has it may be waiting for what the core is to do. */
static void
control_of_core(struct weir_em_core *core)
{
	em_attend(core);
	while (pthread_mutex_trylock(&core->em->control_lock) != 0) {
		sched_yield();
		em_attend(core);
	}
}

/* Under the lock. */
static int
join_groups(struct weir_em *em, unsigned int id)
{
	uint64_t bit = (uint64_t)1 << id;
	int rc;

	__atomic_fetch_or(&em->attached, bit, __ATOMIC_RELAXED);
	rc = em_groups_apply(em);
	if (rc < 0) {
		__atomic_fetch_and(&em->attached, ~bit, __ATOMIC_RELAXED);
		em_groups_apply(em);
	}
	return rc;
}

/* From now on calls are for it, too. */
static int
claim(struct weir_em_core *core)
{
	struct weir_em *em = core->em;
	int rc = 0;

	pthread_mutex_lock(&em->control_lock);
	em_lock(em);
	if (core->attached) {
		rc = -EBUSY;
	} else {
		core->attached = true;
		__atomic_store_n(&core->stop, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&core->attention, 1, __ATOMIC_RELAXED);
	}
	em_unlock(em);
	pthread_mutex_unlock(&em->control_lock);
	return rc;
}

/* Nothing comes to it any more. What it started it stops, what it was called for it does. */
static void
end(struct weir_em_core *core)
{
	struct weir_em *em = core->em;
	bool gone = false;

	/* What starts from now on, does not start here. */
	em_lock(em);
	core->leaving = true;
	em_unlock(em);
	em_stop_core(core);
	do {
		/* its port is anybody's from now on */
		control_of_core(core);
		em_lock(em);
		gone = core->calls == NULL;
		if (gone)
			core->attached = core->leaving = false;
		em_unlock(em);
		pthread_mutex_unlock(&em->control_lock);
	} while (!gone);
	em_attention(em); /* what waits for others */
}

/* Objects that run are started before anything comes to it. */
static int
begin(struct weir_em_core *core)
{
	struct weir_em *em = core->em;
	int rc = em_start_core(core);

	if (rc == 0) {
		control_of_core(core);
		em_lock(em);
		rc = join_groups(em, core->id);
		em_unlock(em);
		pthread_mutex_unlock(&em->control_lock);
	}
	if (rc < 0)
		end(core);
	return rc;
}

struct weir_em_core *
weir_em_core_attach(struct weir_em *em, unsigned int id)
{
	struct weir_em_core *core;
	int rc;

	if (em == NULL || id >= em->nb_cores) {
		rte_errno = EINVAL;
		return NULL;
	}
	core = &em->cores[id];
	rc = claim(core);
	if (rc < 0)
		EM_LOG(ERROR, "%s: core %u: it is attached already", em->name, id);
	else if ((rc = begin(core)) < 0)
		EM_LOG(ERROR, "%s: core %u is not attached: %s", em->name, id, strerror(-rc));
	if (rc == 0)
		return core;
	rte_errno = -rc;
	return NULL;
}

struct weir_em_core *
weir_em_producer_attach(struct weir_em *em)
{
	struct weir_em_core *core = NULL;

	if (em == NULL) {
		rte_errno = EINVAL;
		return NULL;
	}
	pthread_mutex_lock(&em->control_lock);
	em_lock(em);
	for (unsigned int i = 0; i < em->nb_producers && core == NULL; i++)
		if (!em->cores[em->nb_cores + i].attached)
			core = &em->cores[em->nb_cores + i];
	if (core != NULL)
		core->attached = true;
	em_unlock(em);
	pthread_mutex_unlock(&em->control_lock);
	if (core == NULL) {
		EM_LOG(ERROR, "%s: there are %u producers already", em->name, em->nb_producers);
		rte_errno = ENOSPC;
	}
	return core;
}

int
weir_em_producer_tend(struct weir_em_core *producer)
{
	if (producer == NULL || !producer->producer || !producer->attached)
		return -EINVAL;
	if (!producer->em->by_event)
		weir_sched_dequeue(producer->port, producer->events, 0);
	return 0;
}

/* What was on its way to it. Others get what comes now. */
static void
empty(struct weir_em_core *core)
{
	unsigned int quiet = 0;

	__atomic_store_n(&core->dispatching, true, __ATOMIC_RELAXED);
	em_light_fence(core->em);
	for (unsigned int i = 0; i < LEAVE_ROUNDS && quiet < QUIET_ROUNDS; i++) {
		weir_sched_wake(
			core->em->sched, (uint64_t)1 << core->id); /* it does not sleep now */
		quiet = em_round(core, 32) == 0 ? quiet + 1 : 0;
	}
	weir_sched_dequeue(core->port, core->events, 0); /* what it held */
	em_local_drop(core);
	__atomic_store_n(&core->dispatching, false, __ATOMIC_RELEASE);
}

static void
leave(struct weir_em_core *core)
{
	struct weir_em *em = core->em;

	em_lock(em);
	__atomic_fetch_and(&em->attached, ~((uint64_t)1 << core->id), __ATOMIC_RELAXED);
	em_groups_apply(em);
	em_unlock(em);
	empty(core);
	end(core);
}

int
weir_em_core_detach(struct weir_em_core *core)
{
	struct weir_em *em;

	if (core == NULL || !core->attached)
		return -EINVAL;
	if (core->dispatching || core->nb_holds > 0 || core->object != WEIR_EM_NONE ||
		core->op != NULL)
		return -EBUSY;
	em = core->em;
	if (!core->producer) {
		leave(core);
		return 0;
	}
	pthread_mutex_lock(&em->control_lock);
	em_lock(em);
	core->attached = false;
	em_unlock(em);
	pthread_mutex_unlock(&em->control_lock);
	return 0;
}

uint32_t *
weir_em_core_holds(struct weir_em_core *core)
{
	return &core->nb_holds;
}

unsigned int
weir_em_core_id(const struct weir_em_core *core)
{
	return core != NULL ? core->id : UINT_MAX;
}

struct weir_em *
weir_em_core_em(const struct weir_em_core *core)
{
	return core != NULL ? core->em : NULL;
}

uint64_t
weir_em_core_mask(const struct weir_em *em)
{
	return em != NULL ? __atomic_load_n(&em->attached, __ATOMIC_RELAXED) : 0;
}

void
weir_em_stop(struct weir_em *em)
{
	if (em == NULL)
		return;
	__atomic_store_n(&em->stop, 1, __ATOMIC_RELAXED);
	weir_sched_wake(em->sched, UINT64_MAX);
}

void
weir_em_resume(struct weir_em *em)
{
	if (em != NULL)
		__atomic_store_n(&em->stop, 0, __ATOMIC_RELAXED);
}

void
weir_em_core_stop(struct weir_em_core *core)
{
	if (core == NULL)
		return;
	__atomic_store_n(&core->stop, 1, __ATOMIC_RELAXED);
	weir_sched_wake(core->em->sched, (uint64_t)1 << core->id);
}
