/* SPDX-License-Identifier: BSD-3-Clause */

/* Builds with -Dem_checks=true: what is done with buffers that are not the caller's. */

#include "check.h"

#ifdef WEIR_EM_CHECKS

static void
tell(struct weir_em *em, struct weir_em_core *core, enum weir_em_error_kind kind,
	weir_em_queue queue, struct rte_event *event, const char *where)
{
	struct weir_em_error error = {
		.kind = kind, .code = -EFAULT, .queue = queue, .where = where, .event = event};

	em_error(em, core, &error);
}

/* 0: it is marked as sent. */
static int
mark_sent(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue,
	struct rte_event *event, const char *where)
{
	struct em_meta *meta = em_meta(em, event->mbuf);
	uint32_t before = EM_BUFFER_OWNED;
	enum weir_em_error_kind kind = WEIR_EM_ERROR_SEND_FREED;

	if (__atomic_compare_exchange_n(&meta->state, &before, EM_BUFFER_SENT, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&meta->owner, em_handle_number(queue), __ATOMIC_RELAXED);
		return 0;
	}
	if (before == EM_BUFFER_SENT)
		kind = WEIR_EM_ERROR_SEND_TWICE;
	tell(em, core, kind, queue, event, where);
	rte_errno = EFAULT;
	return -EFAULT;
}

uint16_t
em_check_send(struct weir_em_core *core, weir_em_queue queue, struct rte_event *events, uint16_t nb,
	const char *where)
{
	for (uint16_t i = 0; i < nb; i++)
		if (em_is_buffer(&events[i]) &&
			mark_sent(core->em, core, queue, &events[i], where) < 0)
			return i;
	return nb;
}

int
em_check_keep(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue,
	const struct rte_event *event, const char *where)
{
	struct rte_event copy = *event;

	return mark_sent(em, core, queue, &copy, where);
}

bool
em_check_free(struct weir_em *em, struct weir_em_core *core, struct rte_mbuf *mbuf)
{
	struct em_meta *meta = em_meta(em, mbuf);
	struct rte_event event = weir_em_event_buffer(mbuf);
	uint32_t before = EM_BUFFER_OWNED;
	weir_em_queue queue;

	/* one that is not known is not judged */
	if (__atomic_compare_exchange_n(&meta->state, &before, EM_BUFFER_FREE, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		(before != EM_BUFFER_FREE && before != EM_BUFFER_SENT))
		return true;
	queue = em->queues[__atomic_load_n(&meta->owner, __ATOMIC_RELAXED) % em->nb_queues]
			.last_handle;
	tell(em, core,
		before == EM_BUFFER_FREE ? WEIR_EM_ERROR_DOUBLE_FREE : WEIR_EM_ERROR_FREE_SENT,
		queue, &event, "weir_em_free");
	return false;
}

#endif
