/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EM_CHECK_H
#define EM_CHECK_H

/*
 * The state of buffers, in builds with -Dem_checks=true: whose they are. In others all of this is nothing.
 *
 *     alloc --> application's --> sent --> application's --> free
 *                 ^                            |
 *                 '----------------------------'
 */

#include "event.h"

#ifdef WEIR_EM_CHECKS

enum em_buffer_state {
	EM_BUFFER_FOREIGN = 0, /* not known to the event machine */
	EM_BUFFER_OWNED = 0x6f776e65,
	EM_BUFFER_SENT = 0x73656e74,
	EM_BUFFER_FREE = 0x66726565,
};

/* It is the application's from now on. */
static inline void
em_check_own(const struct weir_em *em, struct rte_mbuf *mbuf)
{
	__atomic_store_n(&em_meta(em, mbuf)->state, EM_BUFFER_OWNED, __ATOMIC_RELEASE);
}

static inline void
em_check_own_events(const struct weir_em *em, const struct rte_event *events, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++)
		if (em_is_buffer(&events[i]))
			em_check_own(em, events[i].mbuf);
}

/* Those that may be sent are marked so. @return how many, from the first on; error handlers were told of the next one */
uint16_t em_check_send(struct weir_em_core *core, weir_em_queue queue, struct rte_event *events,
	uint16_t nb, const char *where);

/* The event machine keeps it, until it is sent or given back. @return 0; -EFAULT: it is not the caller's, error handlers were told */
int em_check_keep(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue,
	const struct rte_event *event, const char *where);

/* May it be freed? It is marked so; error handlers were told if not. */
bool em_check_free(struct weir_em *em, struct weir_em_core *core, struct rte_mbuf *mbuf);

/* It is no event any more. */
static inline void
em_check_forget(const struct weir_em *em, struct rte_mbuf *mbuf)
{
	__atomic_store_n(&em_meta(em, mbuf)->state, EM_BUFFER_FOREIGN, __ATOMIC_RELEASE);
}

#else

static inline void
em_check_own(const struct weir_em *em, struct rte_mbuf *mbuf)
{
}

static inline void
em_check_own_events(const struct weir_em *em, const struct rte_event *events, uint16_t nb)
{
}

static inline uint16_t
em_check_send(struct weir_em_core *core, weir_em_queue queue, struct rte_event *events, uint16_t nb,
	const char *where)
{
	return nb;
}

static inline int
em_check_keep(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue,
	const struct rte_event *event, const char *where)
{
	return 0;
}

static inline bool
em_check_free(struct weir_em *em, struct weir_em_core *core, struct rte_mbuf *mbuf)
{
	return true;
}

static inline void
em_check_forget(const struct weir_em *em, struct rte_mbuf *mbuf)
{
}

#endif

/* An event that is to be sent later, to a queue, in no group. @return 0; -EFAULT: as em_check_keep() */
static inline int
em_keep(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue,
	const struct rte_event *event, const char *where)
{
	int rc;

	if (!em_is_buffer(event))
		return 0;
	rc = em_check_keep(em, core, queue, event, where);
	if (rc == 0)
		em_meta(em, event->mbuf)->group = WEIR_EM_NONE;
	return rc;
}

#endif
