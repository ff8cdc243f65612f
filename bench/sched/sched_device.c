/* SPDX-License-Identifier: BSD-3-Clause */

/* Schedulers in the shape that a case wants: ours, and DPDK's event devices as they are. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_event_ring.h>
#include <rte_service.h>

#include "sched_bench.h"

#define DEPTH 16 /* of dequeue and enqueue: dpdk-test-eventdev's */

static const struct {
	const char *name, *driver;
} kinds[] = {
	[SCHED_OURS] = {"ours", NULL},
	[SCHED_ATOMIC] = {"ours, atomic", NULL},
	[SCHED_APART] = {"ours, apart", NULL},
	[SCHED_LAYER] = {"ours over event_dsw", "event_dsw"},
	[SCHED_DSW] = {"event_dsw", "event_dsw"},
	[SCHED_SW] = {"event_sw", "event_sw"},
	[SCHED_OPDL] = {"event_opdl", "event_opdl"},
	[SCHED_FREE] = {"at no cost", NULL},
};

static unsigned int nb_made; /* devices, for their names */

const char *
sched_kind_name(enum sched_kind kind)
{
	return kinds[kind].name;
}

static int
fail(const struct sched_side *side, const char *what, int rc)
{
	fprintf(stderr, "weir bench sched: %s: %s: %s\n", side->name, what, rte_strerror(-rc));
	return rc;
}

static int
make_device(struct sched_side *side)
{
	int rc;

	snprintf(side->device_name, sizeof(side->device_name), "%s%u", kinds[side->kind].driver,
		nb_made++);
	rc = rte_eal_hotplug_add("vdev", side->device_name, "");
	if (rc < 0) {
		side->device_name[0] = '\0';
		return fail(side, "the device cannot be made", rc);
	}
	side->device = rte_event_dev_get_dev_id(side->device_name);
	return side->device < 0 ? fail(side, "the device is not there", side->device) : 0;
}

/* One for some of the workers, from the first one on, and with a producer, unless there is one for each worker. */
static int
create_one(struct sched_side *side, const char *backend, struct weir_sched **sched,
	unsigned int first, unsigned int nb_workers)
{
	const struct sched_shape *shape = &side->shape;
	const bool apart = side->kind == SCHED_APART;
	const struct weir_sched_config config = {
		.backend = backend,
		.nb_ports = nb_workers + !apart + shape->nb_idle,
		.nb_queues = shape->nb_queues,
		.nb_flows = SCHED_FLOWS,
		.nb_events = SCHED_EVENTS,
		.priority_slack_ns = shape->slack_ns,
		.socket_id = -1,
	};
	const struct weir_sched_port_config producer = {.producer = true};
	int rc = 0;

	*sched = weir_sched_create("bench", &config);
	if (*sched == NULL)
		return fail(side, "not made", -rte_errno);
	for (unsigned int i = 0; i < shape->nb_queues && rc == 0; i++) {
		const struct weir_sched_queue_config queue = {
			.type = shape->types[i],
			.priority = shape->priorities ? i : 0,
		};

		rc = weir_sched_queue_setup(*sched, i, &queue);
	}
	if (rc == 0 && !apart)
		rc = weir_sched_port_setup(*sched, nb_workers, &producer);
	if (rc == 0)
		rc = weir_sched_start(*sched);
	if (rc < 0)
		return fail(side, "not started", rc);
	for (unsigned int i = 0; i < nb_workers; i++) {
		side->workers[first + i].port = weir_sched_port(*sched, i);
		side->workers[first + i].nb_ports = 1;
		side->workers[first + i].works = true;
	}
	if (!apart)
		side->producer.port = weir_sched_port(*sched, nb_workers);
	return 0;
}

static int
create_ours(struct sched_side *side)
{
	const unsigned int nb = side->shape.nb_workers;
	char backend[64] = "builtin";
	int rc = 0;

	if (side->kind == SCHED_LAYER) {
		rc = make_device(side);
		snprintf(backend, sizeof(backend), "eventdev:%s", side->device_name);
	}
	if (rc == 0 && side->kind != SCHED_APART)
		rc = create_one(side, backend, &side->sched, 0, nb);
	for (unsigned int i = 0; i < nb && rc == 0 && side->kind == SCHED_APART; i++)
		rc = create_one(side, backend, &side->apart[i], i, 1);
	side->nb_cpus = side->nb_consumers = nb;
	return rc;
}

/* Not all devices have what is asked for, and not all releases let them say so. */
static bool
can(const struct sched_side *side)
{
	const struct sched_shape *shape = &side->shape;

	/* A pipeline: events pass queues by their numbers, once. */
	if (side->kind == SCHED_OPDL &&
		(shape->mode == SCHED_INSIDE || shape->mode == SCHED_OWN || shape->class_queues))
		return false;
	for (unsigned int i = 0; i < shape->nb_queues && side->kind == SCHED_DSW; i++)
		if (shape->types[i] == RTE_SCHED_TYPE_ORDERED)
			return false;
	return true;
}

static int
configure(struct sched_side *side, const struct rte_event_dev_info *info, unsigned int nb_ports)
{
	const struct sched_shape *shape = &side->shape;
	const unsigned int nb_queues = shape->nb_queues + (side->kind == SCHED_OPDL);
	const struct rte_event_dev_config device = {
		.dequeue_timeout_ns = info->min_dequeue_timeout_ns,
		.nb_events_limit = SCHED_EVENTS,
		.nb_event_queues = nb_queues,
		.nb_event_ports = nb_ports,
		.nb_event_queue_flows = SCHED_FLOWS,
		.nb_event_port_dequeue_depth = DEPTH,
		.nb_event_port_enqueue_depth = DEPTH,
	};
	const struct rte_event_port_conf port = {
		.new_event_threshold = SCHED_EVENTS,
		.dequeue_depth = DEPTH,
		.enqueue_depth = DEPTH,
	};
	int rc = rte_event_dev_configure(side->device, &device);

	for (unsigned int i = 0; i < nb_queues && rc >= 0; i++) {
		struct rte_event_queue_conf queue = {
			.nb_atomic_flows = SCHED_FLOWS,
			.nb_atomic_order_sequences = SCHED_FLOWS,
			.schedule_type = shape->types[i],
			.priority = shape->priorities ? i * (256 / SCHED_QUEUES)
						      : RTE_EVENT_DEV_PRIORITY_NORMAL,
		};

		if (i == shape->nb_queues) /* by which everything leaves */
			queue.event_queue_cfg = RTE_EVENT_QUEUE_CFG_SINGLE_LINK;
		rc = rte_event_queue_setup(side->device, i, &queue);
	}
	for (unsigned int i = 0; i < nb_ports && rc >= 0; i++)
		rc = rte_event_port_setup(side->device, i, &port);
	return rc < 0 ? fail(side, "the device cannot be configured", rc) : 0;
}

/* A port for a consumer, linked to some queues. */
static int
add_port(struct sched_side *side, struct sched_worker *worker, uint8_t port, uint8_t queue,
	unsigned int nb)
{
	uint8_t queues[SCHED_QUEUES];

	for (unsigned int q = 0; q < nb; q++)
		queues[q] = queue + q;
	worker->ports[worker->nb_ports++] = port;
	if (rte_event_port_link(side->device, port, queues, NULL, nb) != (int)nb)
		return fail(side, "ports and queues cannot be linked", -rte_errno);
	return 0;
}

/*
 * Each consumer has a port, with event_opdl one for each queue, and the first consumer the one by which everything leaves. The
 * producer has the last one.
 */
static int
link_ports(struct sched_side *side)
{
	const unsigned int nb_queues = side->shape.nb_queues;
	const bool pipeline = side->kind == SCHED_OPDL;
	uint8_t next = 0;
	int rc = 0;

	for (unsigned int t = 0; t < SCHED_THREADS && rc == 0; t++) {
		struct sched_worker *worker = &side->workers[t];

		worker->device = side->device;
		if (!worker->works)
			continue;
		if (!pipeline)
			rc = add_port(side, worker, next++, 0, nb_queues);
		for (unsigned int q = 0; q < nb_queues && pipeline && rc == 0; q++)
			rc = add_port(side, worker, next++, q, 1);
	}
	if (pipeline && rc == 0)
		rc = add_port(side, &side->workers[0], next++, nb_queues, 1);
	side->producer.device = side->device;
	side->producer.ports[0] = next;
	return rc;
}

/*
 * A device may want its scheduler run: by a CPU of its own if there is one to spare, as its users do, or by that of a
 * worker. With one worker that worker runs it between events.
 */
static void
place_service(struct sched_side *side)
{
	const unsigned int nb = side->shape.nb_workers;
	bool has = rte_event_dev_service_id_get(side->device, &side->service_id) == 0;
	unsigned int who = nb - 1;

	side->nb_cpus = side->nb_consumers = nb;
	for (unsigned int i = 0; i < nb; i++)
		side->workers[i].works = true;
	if (!has)
		return;
	rte_service_set_runstate_mapped_check(side->service_id, 0);
	rte_service_runstate_set(side->service_id, 1);
	if (sched_threads_spare() > 0) {
		who = sched_nb_workers;
		side->nb_cpus++;
		snprintf(side->service, sizeof(side->service), "its scheduler on a CPU of its own");
	} else if (nb > 1) {
		side->workers[who].works = false;
		side->nb_consumers--;
		snprintf(side->service, sizeof(side->service),
			"its scheduler on one of the %u workers' CPUs", nb);
	} else {
		snprintf(
			side->service, sizeof(side->service), "its scheduler in the worker's loop");
	}
	side->workers[who].serves = true;
}

/* event_opdl talks to standard output, where the report is to be. */
static int
start_quietly(int device)
{
	int kept, null, rc;

	fflush(stdout);
	kept = dup(STDOUT_FILENO);
	null = open("/dev/null", O_WRONLY);
	if (kept >= 0 && null >= 0)
		dup2(null, STDOUT_FILENO);
	rc = rte_event_dev_start(device);
	fflush(stdout);
	if (kept >= 0 && null >= 0)
		dup2(kept, STDOUT_FILENO);
	if (kept >= 0)
		close(kept);
	if (null >= 0)
		close(null);
	return rc;
}

static int
create_theirs(struct sched_side *side)
{
	struct rte_event_dev_info info;
	unsigned int nb_ports;
	int rc;

	if (!can(side))
		return -ENOTSUP;
	rc = make_device(side);
	if (rc < 0)
		return rc;
	rte_event_dev_info_get(side->device, &info);
	side->producer.maintains = (info.event_dev_cap & RTE_EVENT_DEV_CAP_MAINTENANCE_FREE) == 0;
	place_service(side);
	nb_ports = side->nb_consumers + 1;
	if (side->kind == SCHED_OPDL)
		nb_ports = side->nb_consumers * side->shape.nb_queues + 2;
	rc = configure(side, &info, nb_ports);
	if (rc == 0)
		rc = link_ports(side);
	if (rc == 0) {
		rc = start_quietly(side->device);
		if (rc < 0)
			fail(side, "the device does not start", rc);
	}
	return rc;
}

/* Do threads that work, or run its service, share a CPU? */
static bool
is_crowded(const struct sched_side *side)
{
	for (unsigned int i = sched_threads_cpus(side->shape.mode); i < SCHED_THREADS; i++)
		if (side->workers[i].works || side->workers[i].serves)
			return sched_crowded;
	return false;
}

int
sched_side_create(struct sched_side *side, enum sched_kind kind, const struct sched_shape *shape)
{
	int rc;

	memset(side, 0, sizeof(*side));
	side->kind = kind;
	side->name = kinds[kind].name;
	side->shape = *shape;
	side->device = -1;
	side->random = 1;
	side->check_queue = shape->nb_queues - 1;
	side->checks = shape->types[side->check_queue] == RTE_SCHED_TYPE_ATOMIC;
	side->producer.side = side;
	for (unsigned int i = 0; i < SCHED_THREADS; i++) {
		side->workers[i].side = side;
		side->workers[i].id = side->workers[i].flow = i;
		side->workers[i].work_steps =
			side->shape.work_steps * (i == 1 ? RTE_MAX(side->shape.slower, 1u) : 1);
		for (unsigned int c = 0; c < SCHED_CLASSES; c++)
			side->workers[i].service_cycles[c] =
				weir_base_ns_to_cycles((uint64_t)shape->class_ns[c]);
	}
	if (kind == SCHED_FREE)
		return 0;
	rc = kind <= SCHED_LAYER ? create_ours(side) : create_theirs(side);
	side->crowded = is_crowded(side);
	if (rc < 0)
		sched_side_destroy(side);
	return rc;
}

/* Of event_dsw, releases differ in what is given back when it is closed; the names of what stays would be in the way of the next
 * device that gets this number. */
static void
close_dsw(const struct sched_side *side)
{
	struct rte_event_dev_info info;
	struct rte_event_dev_config device = {
		.nb_event_queues = 1,
		.nb_event_ports = 1,
		.nb_event_queue_flows = 1,
		.nb_event_port_dequeue_depth = 1,
		.nb_event_port_enqueue_depth = 1,
	};
	char name[RTE_RING_NAMESIZE];

	rte_event_dev_info_get(side->device, &info);
	device.dequeue_timeout_ns = info.min_dequeue_timeout_ns;
	device.nb_events_limit = info.max_num_events;
	rte_event_dev_configure(side->device, &device);
	rte_event_dev_close(side->device);
	snprintf(name, sizeof(name), "dsw%d_p0", side->device);
	rte_event_ring_free(rte_event_ring_lookup(name));
	snprintf(name, sizeof(name), "dswctl%d_p0", side->device);
	rte_ring_free(rte_ring_lookup(name));
}

static void
destroy_one(struct weir_sched *sched)
{
	if (sched == NULL)
		return;
	if (weir_sched_running(sched))
		weir_sched_stop(sched, NULL, NULL);
	weir_sched_destroy(sched);
}

void
sched_side_destroy(struct sched_side *side)
{
	destroy_one(side->sched);
	for (unsigned int i = 0; i < SCHED_WORKERS_MAX; i++) {
		destroy_one(side->apart[i]);
		side->apart[i] = NULL;
	}
	if (side->sched == NULL && side->device >= 0 && side->nb_cpus > 0) {
		rte_event_dev_stop(side->device);
		if (side->kind == SCHED_DSW)
			close_dsw(side);
	}
	if (side->device_name[0] != '\0')
		rte_eal_hotplug_remove("vdev", side->device_name);
	side->sched = NULL;
	side->device = -1;
	side->device_name[0] = '\0';
}
