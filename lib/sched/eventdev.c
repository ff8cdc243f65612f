/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The backend over DPDK's event devices: configuration, start, stop.
 *
 * What devices fall short of, and this layer cannot mend:
 *
 *   all but event_dsw  take what is forwarded or released for the oldest event that the port holds. Events given up in
 *                      another order wait here for those that were dequeued before them
 *   event_dsw          a port that is not called holds up the migration of flows, and keeps the events of those that it
 *                      served; a parallel queue puts numbers of its own in flow_id
 *   event_sw           a port that is taken out of a group gets what was scheduled to it before, and the flows that it holds
 *                      events of. The groups of ordered queues cannot change while it runs: it would forget whose turn it is
 *   event_opdl         queues are passed in the order of their numbers, a port has one of them, or is a producer; of what is
 *                      forwarded only flow_id and u64 are sure to be changed
 */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_event_ring.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_service.h>

#include <weir_base_event_device.h>

#include "eventdev_private.h"

/* event_dsw started again deals all flows to ports anew, but its ports remember which flows they had and move those: two ports
 * have a flow then. So it is configured anew as well. */
static const struct eventdev_traits traits[] = {
	{.driver = WEIR_BASE_EVENT_DSW,
		.credits_per_port = WEIR_BASE_EVENT_DSW_LENT,
		.out_of_order = true,
		.no_ordered = true,
		.no_ports = true,
		.no_restart = true},
	{.driver = WEIR_BASE_EVENT_SW,
		.credits_per_port = WEIR_BASE_EVENT_SW_LENT,
		.fixed_ordered = true},
	{.driver = WEIR_BASE_EVENT_OPDL, .pipeline = true, .no_restart = true},
	{.driver = "", .credits_per_port = 64}, /* any other */
};

static uint8_t in_use[RTE_EVENT_MAX_DEVS];

static const struct eventdev_traits *
find_traits(const char *driver)
{
	size_t i = 0;

	while (traits[i].driver[0] != '\0' && strcmp(traits[i].driver, driver) != 0)
		i++;
	return &traits[i];
}

/* Numbers, against what the device can. */
static int
check_numbers(struct weir_sched *sched, struct eventdev *ed, const struct rte_event_dev_info *info)
{
	const struct weir_sched_config *config = &sched->config;
	uint32_t loaned;

	ed->nb_device_ports = config->nb_ports + (config->nb_reserved > 0);
	if (ed->nb_device_ports > info->max_event_ports) {
		SCHED_LOG(ERROR, "%s: %s has at most %u ports; %u are needed%s", sched->name,
			info->driver_name, info->max_event_ports, ed->nb_device_ports,
			config->nb_reserved > 0 ? ", one of them for reserved credit" : "");
		return -ENOTSUP;
	}
	if (config->nb_queues > info->max_event_queues) {
		SCHED_LOG(ERROR, "%s: %s has at most %u queues", sched->name, info->driver_name,
			info->max_event_queues);
		return -ENOTSUP;
	}
	if (config->starvation_bound != 0 && eventdev_can(ed, RTE_EVENT_DEV_CAP_QUEUE_QOS)) {
		SCHED_LOG(ERROR, "%s: %s has no starvation bound", sched->name, info->driver_name);
		return -ENOTSUP;
	}
	if (config->priority_slack_ns != 0 || config->idle_sleep_us != 0) {
		SCHED_LOG(ERROR, "%s: %s has no slack of priorities, and does not sleep when idle",
			sched->name, info->driver_name);
		return -ENOTSUP;
	}
	ed->nb_events = config->nb_events;
	ed->nb_reserved = config->nb_reserved;
	ed->threshold = config->new_threshold;
	ed->device_events = -1; /* an open system */
	if (info->max_num_events >= 0) {
		loaned = ed->traits->credits_per_port * ed->nb_device_ports;
		ed->device_events =
			RTE_MIN((uint32_t)info->max_num_events, config->nb_events + loaned);
		if (ed->device_events < (int32_t)(loaned + ed->nb_reserved + 1)) {
			SCHED_LOG(ERROR,
				"%s: %s has %d credits, of which %u may be on loan to ports: too "
				"few",
				sched->name, info->driver_name, info->max_num_events, loaned);
			return -ENOTSUP;
		}
		ed->nb_events = RTE_MIN(ed->nb_events, ed->device_events - loaned);
		if (ed->threshold > ed->nb_events - ed->nb_reserved) {
			ed->threshold = ed->nb_events - ed->nb_reserved;
			SCHED_LOG(INFO,
				"%s: %s has no room for more: NEW is refused from %u events on",
				sched->name, info->driver_name, ed->threshold);
		}
	}
	sched->config.new_threshold = ed->threshold;
	/* Ports keep an eighth at most. Few are not worth it. */
	ed->cache_max = RTE_MIN(ed->threshold / (8 * config->nb_ports), 64U);
	if (ed->cache_max < 8)
		ed->cache_max = 0;
	return 0;
}

static void
free_all(struct weir_sched *sched)
{
	struct eventdev *ed = sched->own;

	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		rte_free(ed->ports[i]);
		sched->ports[i] = NULL;
	}
	rte_free(ed->reserved.ring);
	__atomic_store_n(&in_use[ed->device], 0, __ATOMIC_RELAXED);
	rte_free(ed);
	sched->own = NULL;
}

static int
make_ports(struct weir_sched *sched, struct eventdev *ed, int socket)
{
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		struct eventdev_port *port = rte_zmalloc_socket(
			"weir_sched", sizeof(*port), RTE_CACHE_LINE_SIZE, socket);

		if (port == NULL)
			return -ENOMEM;
		port->port = (struct weir_sched_port){
			.ops = &sched_resting_ops, .sched = sched, .id = i};
		port->ed = ed;
		port->device = ed->device;
		port->id = i;
		port->in_order = !ed->traits->out_of_order;
		port->pipeline = ed->traits->pipeline;
		port->releases = !eventdev_can(ed, RTE_EVENT_DEV_CAP_IMPLICIT_RELEASE_DISABLE) &&
				 !port->pipeline;
		port->maintain = !eventdev_can(ed, RTE_EVENT_DEV_CAP_MAINTENANCE_FREE);
		ed->ports[i] = port;
		sched->ports[i] = &port->port;
	}
	if (ed->nb_reserved == 0)
		return 0;
	ed->reserved.port = sched->config.nb_ports;
	ed->reserved.mask = sched->config.nb_events - 1;
	ed->reserved.ring = rte_zmalloc_socket("weir_sched",
		sched->config.nb_events * sizeof(struct rte_event), RTE_CACHE_LINE_SIZE, socket);
	return ed->reserved.ring == NULL ? -ENOMEM : 0;
}

static int
create(struct weir_sched *sched, const char *name)
{
	int device = name != NULL && name[0] != '\0' ? rte_event_dev_get_dev_id(name) : -ENODEV;
	int socket = sched->config.socket_id < 0 ? SOCKET_ID_ANY : sched->config.socket_id, rc;
	struct rte_event_dev_info info;
	struct eventdev *ed;

	if (device < 0 || rte_event_dev_info_get(device, &info) < 0) {
		SCHED_LOG(ERROR,
			"%s: no event device '%s'; they are made by EAL's --vdev, such as "
			"event_dsw0",
			sched->name, name == NULL ? "" : name);
		return -ENODEV;
	}
	if (__atomic_exchange_n(&in_use[device], 1, __ATOMIC_RELAXED) != 0) {
		SCHED_LOG(ERROR, "%s: another scheduler has event device '%s'", sched->name, name);
		return -EBUSY;
	}
	ed = rte_zmalloc_socket("weir_sched", sizeof(*ed), RTE_CACHE_LINE_SIZE, socket);
	if (ed == NULL) {
		__atomic_store_n(&in_use[device], 0, __ATOMIC_RELAXED);
		return -ENOMEM;
	}
	ed->device = device;
	ed->caps = info.event_dev_cap;
	ed->traits = find_traits(info.driver_name);
	ed->has_service = rte_event_dev_service_id_get(device, &ed->service) == 0;
	rte_spinlock_init(&ed->reserved.lock);
	sched->own = ed;
	rc = check_numbers(sched, ed, &info);
	if (rc == 0)
		rc = make_ports(sched, ed, socket);
	if (rc < 0)
		free_all(sched);
	return rc;
}

static int
queue_setup(struct weir_sched *sched, unsigned int queue)
{
	const struct weir_sched_queue_config *config = &sched->queues[queue];
	const struct eventdev *ed = sched->own;
	const char *lack = NULL;

	if (config->type == WEIR_SCHED_TYPE_BY_EVENT &&
		!eventdev_can(ed, RTE_EVENT_DEV_CAP_QUEUE_ALL_TYPES))
		lack = "queues whose events have types of their own";
	else if (config->type == RTE_SCHED_TYPE_ORDERED && ed->traits->no_ordered)
		lack = "ordered queues";
	else if (config->priority == WEIR_SCHED_PRIORITY_BY_EVENT &&
		 !eventdev_can(ed, RTE_EVENT_DEV_CAP_EVENT_QOS))
		lack = "queues whose events have priorities of their own";
	else if (config->priority != WEIR_SCHED_PRIORITY_BY_EVENT && config->priority != 0 &&
		 !eventdev_can(ed, RTE_EVENT_DEV_CAP_QUEUE_QOS))
		lack = "priorities";
	if (lack == NULL)
		return 0;
	SCHED_LOG(ERROR, "%s: queue %u: the event device (%s) has no %s", sched->name, queue,
		ed->traits->driver[0] == '\0' ? "of another driver" : ed->traits->driver, lack);
	return -ENOTSUP;
}

static int
port_setup(struct weir_sched *sched, unsigned int port)
{
	const struct eventdev *ed = sched->own;

	if (!sched->ports_config[port].no_implicit_release ||
		eventdev_can(ed, RTE_EVENT_DEV_CAP_IMPLICIT_RELEASE_DISABLE))
		return 0;
	SCHED_LOG(ERROR, "%s: port %u: the event device cannot do without implicit release",
		sched->name, port);
	return -ENOTSUP;
}

static int
group_set(struct weir_sched *sched, unsigned int group)
{
	struct eventdev *ed = sched->own;
	int rc = 0;

	if (sched->running && !eventdev_can(ed, RTE_EVENT_DEV_CAP_RUNTIME_PORT_LINK)) {
		SCHED_LOG(ERROR, "%s: group %u: the event device cannot change links while it runs",
			sched->name, group);
		return -ENOTSUP;
	}
	if (!sched->running) /* start() links */
		return 0;
	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
		if (sched->queues[queue].group == group && ed->traits->fixed_ordered &&
			sched->queues[queue].type == RTE_SCHED_TYPE_ORDERED) {
			SCHED_LOG(ERROR,
				"%s: group %u: %s cannot change the ports of an ordered queue, %u, "
				"while it runs",
				sched->name, group, ed->traits->driver, queue);
			return -ENOTSUP;
		}
	for (unsigned int queue = 0; queue < sched->config.nb_queues && rc == 0; queue++)
		if (sched->queues[queue].group == group)
			rc = eventdev_link_queue(sched, queue);
	return rc;
}

void
eventdev_run_service(struct eventdev *ed)
{
	if (rte_lcore_id() != LCORE_ID_ANY) {
		/* one thread at a time: others get EBUSY and need not wait */
		rte_service_run_iter_on_app_lcore(ed->service, 1);
		return;
	}
	if (!__atomic_exchange_n(&ed->warned, true, __ATOMIC_RELAXED))
		SCHED_LOG(WARNING,
			"device %u: a thread that is not an lcore of EAL's cannot run its "
			"scheduler; "
			"register the thread, or give EAL a service core",
			ed->device);
}

/* A service core, or ports that run it themselves. */
static void
start_service(struct eventdev *ed)
{
	uint32_t lcores[RTE_MAX_LCORE];
	int32_t nb;

	if (!ed->has_service)
		return;
	nb = rte_service_lcore_list(lcores, RTE_MAX_LCORE);
	ed->runs_service = nb <= 0;
	for (int32_t i = 0; i < nb; i++)
		if (rte_service_map_lcore_get(ed->service, lcores[i]) == 1)
			nb = 0; /* somebody has chosen one */
	if (nb > 0) {
		rte_service_map_lcore_set(ed->service, lcores[0], 1);
		rte_service_lcore_start(lcores[0]);
	}
	rte_service_set_runstate_mapped_check(ed->service, !ed->runs_service);
	rte_service_runstate_set(ed->service, 1);
}

static void
setup_port(struct weir_sched *sched, struct eventdev_port *port)
{
	const struct weir_sched_port_config *config = &sched->ports_config[port->id];

	port->max_held = config->nb_held;
	port->keep = config->no_implicit_release;
	port->last = port->pipeline &&
		     (weir_sched_queue_ports(sched, sched->config.nb_queues - 1) >> port->id & 1);
}

/* Drivers that are only an example have none (event_skeleton). */
static bool
has_functions(uint8_t device)
{
	const struct rte_event_fp_ops *ops = &rte_event_fp_ops[device];

	return ops->enqueue_burst != NULL && ops->enqueue_new_burst != NULL &&
	       ops->enqueue_forward_burst != NULL && ops->dequeue_burst != NULL;
}

static int
start(struct weir_sched *sched)
{
	struct eventdev *ed = sched->own;
	int rc = eventdev_check_links(sched);

	if (rc == 0 && (!ed->configured || ed->traits->no_restart))
		rc = eventdev_configure(sched);
	for (unsigned int queue = 0; queue < sched->config.nb_queues && rc == 0; queue++) {
		/* devices want a port to start with */
		if (weir_sched_queue_ports(sched, queue) == 0)
			rc = eventdev_set_link(sched, 0, queue, true);
		else
			rc = eventdev_link_queue(sched, queue);
	}
	if (rc < 0)
		return rc;
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		setup_port(sched, ed->ports[i]);
	start_service(ed);
	rc = rte_event_dev_start(ed->device);
	if (rc < 0)
		return eventdev_fail(sched, "to start as device", ed->device, rc);
	if (!has_functions(ed->device)) {
		SCHED_LOG(ERROR,
			"%s: the event device has no functions to enqueue and dequeue, as DPDK's "
			"event_skeleton; expected another one",
			sched->name);
		rte_event_dev_stop(ed->device);
		return -ENOTSUP;
	}
	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
		if (weir_sched_queue_ports(sched, queue) == 0)
			eventdev_link_queue(sched, queue);
	return 0;
}

static void
drain_last(uint8_t device, struct rte_event event, void *arg)
{
	struct eventdev *ed = arg;

	if (ed != NULL && ed->drain != NULL && event.op != RTE_EVENT_OP_RELEASE)
		ed->drain(ed->drain_arg, &event);
}

/* Dequeue and release what a port can get. */
static uint32_t
drain_port(struct eventdev *ed, struct eventdev_port *port)
{
	struct rte_event events[EVENTDEV_BURST];
	uint32_t nb = 0;
	uint16_t n;

	do {
		n = eventdev_port_ops.dequeue(&port->port, events, EVENTDEV_BURST);
		for (uint16_t i = 0; i < n; i++) {
			ed->drain(ed->drain_arg, &events[i]);
			port->queues[events[i].queue_id].nb_dequeued--; /* draining is no work */
		}
		nb += n;
		eventdev_port_release(port);
	} while (n > 0);
	return nb;
}

/* Until nothing is inside, or nothing comes out any more. */
static void
drain_all(struct weir_sched *sched)
{
	struct eventdev *ed = sched->own;
	uint64_t patience = EVENTDEV_PATIENCE * rte_get_timer_hz(),
		 end = rte_get_timer_cycles() + patience;

	while (eventdev_nb_inside(ed) > 0 && rte_get_timer_cycles() < end) {
		uint32_t nb = 0;

		if (ed->nb_reserved > 0)
			eventdev_reserved_push(ed);
		for (unsigned int i = 0; i < sched->config.nb_ports; i++)
			nb += drain_port(ed, ed->ports[i]);
		if (nb > 0)
			end = rte_get_timer_cycles() + patience;
	}
	/* what was released last is to be seen by the device's scheduler too */
	for (unsigned int i = 0; i < 16 && ed->runs_service; i++)
		eventdev_run_service(ed);
}

static void
empty_port(struct weir_sched *sched, struct eventdev_port *port)
{
	struct eventdev *ed = sched->own;

	/* on its way to the device, and never got there */
	for (uint16_t i = 0; i < port->nb_out; i++) {
		uint8_t place = port->out_tail + i;

		if (port->out_state[place] == OUT_READY &&
			port->out[place].op != RTE_EVENT_OP_RELEASE)
			ed->drain(ed->drain_arg, &port->out[place]);
		port->out_state[place] = OUT_WAITS;
	}
	for (unsigned int i = 0; i < EVENTDEV_SLOTS; i++)
		port->slots[i].held = false;
	port->nb_held = port->nb_out = port->nb_last = 0;
	port->out_tail = port->next_slot = port->first = 0;
	port->credits = 0;
}

/* Of event_dsw, a port is given back once only if the device is made smaller; the one that stays is given back by closing, or, by
 * older versions, not at all: the names of its rings would be in the way of the next port_setup(). */
static void
close_dsw(struct eventdev *ed)
{
	struct rte_event_dev_config conf;
	struct rte_event_dev_info info;
	char name[RTE_RING_NAMESIZE];

	rte_event_dev_info_get(ed->device, &info);
	conf = (struct rte_event_dev_config){
		.dequeue_timeout_ns = info.min_dequeue_timeout_ns,
		.nb_events_limit = info.max_num_events,
		.nb_event_queues = 1,
		.nb_event_ports = 1,
		.nb_event_queue_flows = 1,
		.nb_event_port_dequeue_depth = 1,
		.nb_event_port_enqueue_depth = 1,
	};
	rte_event_dev_configure(ed->device, &conf);
	rte_event_dev_close(ed->device);
	snprintf(name, sizeof(name), "dsw%u_p0", ed->device);
	rte_event_ring_free(rte_event_ring_lookup(name));
	snprintf(name, sizeof(name), "dswctl%u_p0", ed->device);
	rte_ring_free(rte_ring_lookup(name));
}

/* event_opdl, closed, takes what it never set up for queues: it is made anew instead. */
static void
replug(struct weir_sched *sched)
{
	struct eventdev *ed = sched->own;
	struct rte_event_dev_info info;
	char name[RTE_DEV_NAME_MAX_LEN], args[256] = "";
	const struct rte_devargs *devargs;
	int device;

	if (rte_event_dev_info_get(ed->device, &info) < 0 || info.dev == NULL)
		return;
	devargs = rte_dev_devargs(info.dev);
	snprintf(name, sizeof(name), "%s", rte_dev_name(info.dev));
	if (devargs != NULL && devargs->args != NULL)
		snprintf(args, sizeof(args), "%s", devargs->args);
	rte_eal_hotplug_remove("vdev", name);
	if (rte_eal_hotplug_add("vdev", name, args) < 0 ||
		(device = rte_event_dev_get_dev_id(name)) < 0) {
		SCHED_LOG(ERROR, "%s: %s was not to be had again", sched->name, name);
		return;
	}
	__atomic_store_n(&in_use[ed->device], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&in_use[device], 1, __ATOMIC_RELAXED);
	ed->device = device;
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		ed->ports[i]->device = device;
}

static void
unconfigure(struct weir_sched *sched)
{
	struct eventdev *ed = sched->own;

	if (!ed->configured)
		return;
	ed->configured = false;
	if (ed->traits->no_ports) {
		close_dsw(ed);
		return;
	}
	rte_event_dev_close(ed->device);
	if (ed->traits->no_restart)
		replug(sched);
}

/* What draining counted. Others may read it meanwhile. */
static void
put_back(struct weir_sched_stats *stats, const struct weir_sched_stats *before)
{
	__atomic_store_n(&stats->nb_dequeued, before->nb_dequeued, __ATOMIC_RELAXED);
	__atomic_store_n(&stats->nb_released, before->nb_released, __ATOMIC_RELAXED);
}

static void
stop(struct weir_sched *sched, void (*drain)(void *arg, const struct rte_event *event), void *arg)
{
	struct eventdev *ed = sched->own;
	struct weir_sched_stats stats[WEIR_SCHED_PORTS_MAX];

	ed->drain = drain;
	ed->drain_arg = arg;
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		eventdev_port_release(ed->ports[i]);
		stats[i] = ed->ports[i]->stats;
		ed->ports[i]->keep = false;
	}
	drain_all(sched);
	rte_event_dev_stop_flush_callback_register(ed->device, drain_last, ed);
	rte_event_dev_stop(ed->device);
	rte_event_dev_stop_flush_callback_register(ed->device, NULL, NULL);
	if (ed->has_service)
		rte_service_runstate_set(ed->service, 0);
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		empty_port(sched, ed->ports[i]);
		put_back(&ed->ports[i]->stats, &stats[i]); /* draining is no work */
	}
	for (; ed->reserved.tail != ed->reserved.head; ed->reserved.tail++)
		drain(arg, &ed->reserved.ring[ed->reserved.tail & ed->reserved.mask]);
	ed->used = ed->granted;
	ed->drain = NULL;
	if (ed->traits->no_restart)
		unconfigure(sched);
}

static void
destroy(struct weir_sched *sched)
{
	unconfigure(sched);
	free_all(sched);
}

const struct sched_backend sched_eventdev = {
	.name = "eventdev",
	.create = create,
	.destroy = destroy,
	.queue_setup = queue_setup,
	.port_setup = port_setup,
	.group_set = group_set,
	.start = start,
	.stop = stop,
	.reserve = eventdev_reserve,
	.unreserve = eventdev_unreserve,
	.enqueue_reserved = eventdev_enqueue_reserved,
	.stats = eventdev_stats,
	.queue_counts = eventdev_queue_counts,
	.xstats = eventdev_xstats,
	.dump = eventdev_dump,
	.port_ops = &eventdev_port_ops,
};
