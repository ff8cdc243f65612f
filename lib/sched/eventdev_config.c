/* SPDX-License-Identifier: BSD-3-Clause */

/* How an event device is configured: queues, ports, and the links between them. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "eventdev_private.h"

/* Wait until the device has acted on unlinking. */
static void
await_unlink(struct eventdev *ed, unsigned int port)
{
	uint64_t end = rte_get_timer_cycles() + EVENTDEV_PATIENCE * rte_get_timer_hz();

	while (rte_event_port_unlinks_in_progress(ed->device, port) > 0 &&
		rte_get_timer_cycles() < end) {
		if (ed->runs_service && rte_lcore_id() != LCORE_ID_ANY)
			eventdev_run_service(ed);
		rte_pause();
	}
}

/* Link or unlink one queue, unless it is so already. */
int
eventdev_set_link(struct weir_sched *sched, unsigned int port, uint8_t queue, bool link)
{
	struct eventdev *ed = sched->own;
	uint64_t *word = &ed->linked[port][queue / 64], bit = UINT64_C(1) << queue % 64;
	int nb;

	if (((*word & bit) != 0) == link)
		return 0;
	nb = link ? rte_event_port_link(ed->device, port, &queue, NULL, 1)
		  : rte_event_port_unlink(ed->device, port, &queue, 1);
	if (nb != 1) {
		SCHED_LOG(ERROR, "%s: the event device did not %s queue %u and port %u",
			sched->name, link ? "link" : "unlink", queue, port);
		return -ENOTSUP;
	}
	*word ^= bit;
	if (!link && sched->running)
		await_unlink(ed, port);
	return 0;
}

/* Link as groups are now: first what is added, so that no queue is without ports in between. */
int
eventdev_link_queue(struct weir_sched *sched, unsigned int queue)
{
	uint64_t ports = weir_sched_queue_ports(sched, queue);
	int rc = 0;

	for (unsigned int i = 0; i < 2 * sched->config.nb_ports && rc == 0; i++) {
		unsigned int port = i % sched->config.nb_ports;
		bool link = i < sched->config.nb_ports;

		if ((ports >> port & 1) == link)
			rc = eventdev_set_link(sched, port, queue, link);
	}
	return rc;
}

/* event_opdl: every queue has ports, every port that is no producer one queue. */
static int
check_pipeline(const struct weir_sched *sched)
{
	unsigned int nb[WEIR_SCHED_PORTS_MAX] = {0}, nb_producers = 0;

	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
		for (unsigned int port = 0; port < sched->config.nb_ports; port++)
			nb[port] += weir_sched_queue_ports(sched, queue) >> port & 1;
	for (unsigned int port = 0; port < sched->config.nb_ports; port++) {
		nb_producers += sched->ports_config[port].producer;
		if (!sched->ports_config[port].producer && nb[port] != 1) {
			SCHED_LOG(ERROR,
				"%s: port %u gets events of %u queues; with event_opdl it must be "
				"one, "
				"or the port a producer",
				sched->name, port, nb[port]);
			return -ENOTSUP;
		}
	}
	/* one for reserved credit alone would do as well */
	if (nb_producers == 0 && sched->config.nb_reserved == 0) {
		SCHED_LOG(ERROR,
			"%s: no port is a producer; with event_opdl others cannot send NEW",
			sched->name);
		return -ENOTSUP;
	}
	return 0;
}

int
eventdev_check_links(const struct weir_sched *sched)
{
	const struct eventdev *ed = sched->own;

	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
		if (weir_sched_queue_ports(sched, queue) == 0 &&
			!eventdev_can(ed, RTE_EVENT_DEV_CAP_RUNTIME_PORT_LINK)) {
			SCHED_LOG(ERROR, "%s: queue %u has no ports; the event device wants one",
				sched->name, queue);
			return -ENOTSUP;
		}
	return ed->traits->pipeline ? check_pipeline(sched) : 0;
}

int
eventdev_fail(const struct weir_sched *sched, const char *what, unsigned int which, int rc)
{
	SCHED_LOG(ERROR, "%s: the event device refuses %s %u: %s", sched->name, what, which,
		rte_strerror(-rc));
	return rc;
}

static int
configure_queues(struct weir_sched *sched, uint32_t nb_flows)
{
	struct eventdev *ed = sched->own;

	for (unsigned int i = 0; i < sched->config.nb_queues; i++) {
		const struct weir_sched_queue_config *queue = &sched->queues[i];
		struct rte_event_queue_conf conf = {
			.nb_atomic_flows = nb_flows,
			.nb_atomic_order_sequences = nb_flows,
			.schedule_type = queue->type,
			.priority = RTE_EVENT_DEV_PRIORITY_NORMAL,
		};
		int rc;

		if (queue->type == WEIR_SCHED_TYPE_BY_EVENT) {
			conf.schedule_type = RTE_SCHED_TYPE_ATOMIC;
			conf.event_queue_cfg = RTE_EVENT_QUEUE_CFG_ALL_TYPES;
		}
		if (queue->priority != WEIR_SCHED_PRIORITY_BY_EVENT)
			conf.priority = queue->priority * (256 / WEIR_SCHED_PRIORITIES);
		rc = rte_event_queue_setup(ed->device, i, &conf);
		if (rc < 0)
			return eventdev_fail(sched, "queue", i, rc);
	}
	return 0;
}

static int
configure_ports(struct weir_sched *sched, const struct rte_event_dev_config *device)
{
	struct eventdev *ed = sched->own;

	for (unsigned int i = 0; i < ed->nb_device_ports; i++) {
		struct rte_event_port_conf conf = {
			/* refused here, not there */
			.new_event_threshold = device->nb_events_limit,
			.dequeue_depth = device->nb_event_port_dequeue_depth,
			.enqueue_depth = device->nb_event_port_enqueue_depth,
		};
		int rc;

		/* Released is by us alone then: what the device has no room for yet can wait. */
		if (eventdev_can(ed, RTE_EVENT_DEV_CAP_IMPLICIT_RELEASE_DISABLE))
			conf.event_port_cfg |= RTE_EVENT_PORT_CFG_DISABLE_IMPL_REL;
		if (i >= sched->config.nb_ports || sched->ports_config[i].producer)
			conf.event_port_cfg |= RTE_EVENT_PORT_CFG_HINT_PRODUCER;
		rc = rte_event_port_setup(ed->device, i, &conf);
		if (rc < 0)
			return eventdev_fail(sched, "port", i, rc);
	}
	return 0;
}

int
eventdev_configure(struct weir_sched *sched)
{
	struct eventdev *ed = sched->own;
	struct rte_event_dev_info info;
	struct rte_event_dev_config conf = {
		.nb_event_queues = sched->config.nb_queues,
		.nb_event_ports = ed->nb_device_ports,
		.nb_events_limit = ed->device_events,
	};
	int rc;

	rte_event_dev_info_get(ed->device, &info);
	conf.dequeue_timeout_ns = info.min_dequeue_timeout_ns;
	conf.nb_event_queue_flows = RTE_MIN(sched->config.nb_flows, info.max_event_queue_flows);
	conf.nb_event_port_dequeue_depth =
		RTE_MIN(info.max_event_port_dequeue_depth, EVENTDEV_BURST);
	conf.nb_event_port_enqueue_depth =
		RTE_MIN(info.max_event_port_enqueue_depth, (uint32_t)EVENTDEV_BURST);
	rc = rte_event_dev_configure(ed->device, &conf);
	if (rc < 0)
		return eventdev_fail(sched, "its configuration; events", conf.nb_events_limit, rc);
	memset(ed->linked, 0, sizeof(ed->linked));
	rc = configure_queues(sched, conf.nb_event_queue_flows);
	if (rc == 0)
		rc = configure_ports(sched, &conf);
	ed->configured = true;
	return rc;
}
