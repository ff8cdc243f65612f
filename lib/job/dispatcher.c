/* SPDX-License-Identifier: BSD-3-Clause */

/* Events of DPDK's dispatcher become jobs. */

#include "job_private.h"
#include "weir_job_dispatcher.h"

/* Where it is there: is the function what it calls? */
#if __has_include(<rte_dispatcher.h>)
#include <rte_dispatcher.h>
_Static_assert(__builtin_types_compatible_p(
		       rte_dispatcher_process_t, __typeof__(&weir_job_dispatcher_process)),
	"what rte_dispatcher calls has another type");
#endif

static void
refuse(struct weir_job_dispatcher_handler *handler, const struct rte_event *event)
{
	__atomic_fetch_add(&handler->nb_refused, 1, __ATOMIC_RELAXED);
	if (handler->refused != NULL)
		handler->refused(handler->refused_arg, event);
}

void
weir_job_dispatcher_process(
	uint8_t device, uint8_t port, struct rte_event *events, uint16_t nb, void *arg)
{
	struct weir_job_dispatcher_handler *handler = arg;
	struct weir_job_options options;

	if (handler == NULL || events == NULL)
		return;
	options = handler->options;
	if (handler->by_flow)
		options.flags |= WEIR_JOB_KEY;
	for (uint16_t i = 0; i < nb; i++) {
		if (handler->by_flow)
			options.key = (uint64_t)events[i].queue_id << 32 | events[i].flow_id;
		if (weir_job_spawn(handler->service, handler->fn, &events[i], sizeof(events[i]),
			    &options) != WEIR_JOB_NONE)
			__atomic_fetch_add(&handler->nb_begun, 1, __ATOMIC_RELAXED);
		else
			refuse(handler, &events[i]);
	}
}
