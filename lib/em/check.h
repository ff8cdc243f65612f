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

#include "em_private.h"

#ifdef WEIR_EM_CHECKS

enum em_buffer_state {
	EM_BUFFER_FOREIGN = 0, /* not known to the event machine */
	EM_BUFFER_OWNED = 0x6f776e65,
	EM_BUFFER_SENT = 0x73656e74,
	EM_BUFFER_FREE = 0x66726565,
};

static inline bool
em_check_is_buffer(const struct rte_event *event)
{
	return event->event_type == WEIR_EM_EVENT_BUFFER && event->mbuf != NULL;
}

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
		if (em_check_is_buffer(&events[i]))
			em_check_own(em, events[i].mbuf);
}

/* Those that may be sent are marked so. @return how many, from the first on; error handlers were told of the next one */
uint16_t em_check_send(struct weir_em_core *core, weir_em_queue queue, struct rte_event *events,
	uint16_t nb, const char *where);

/* The event machine keeps it, until it is sent or given back. */
static inline void
em_check_keep(const struct weir_em *em, struct rte_mbuf *mbuf)
{
	__atomic_store_n(&em_meta(em, mbuf)->state, EM_BUFFER_SENT, __ATOMIC_RELEASE);
}

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

static inline void
em_check_keep(const struct weir_em *em, struct rte_mbuf *mbuf)
{
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

/* An event that is to be sent later, in no group. */
static inline void
em_keep(const struct weir_em *em, const struct rte_event *event)
{
	if (event->event_type != WEIR_EM_EVENT_BUFFER || event->mbuf == NULL)
		return;
	em_meta(em, event->mbuf)->group = WEIR_EM_NONE;
	em_check_keep(em, event->mbuf);
}

#endif
