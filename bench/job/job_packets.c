/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The forwarder's nodes, from a queue of events up to where packets would be transmitted, on all cores; packets come at a quarter of the rate that the cores
 * forward at when there is nothing else (more would be more than this thread makes one by one, at times of their own). Latency is from when a packet was to be sent until it comes to the transmit node's place.
 *
 *     this thread --> queues of flows, atomic --> sched_rx -> classify -> ip4_lookup -> ip4_rewrite -> sink
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include <weir_bridge.h>
#include <weir_em_pool.h>
#include <weir_graph_fast.h>
#include <weir_node.h>
#include <weir_node_route.h>

#include "forward_bench.h"
#include "job_load.h"

#define NB_FLOWS  256
#define NB_ROUTES 256
#define LOAD      0.25
#define PROBE_NS  200000000
#define STAMP     (FORWARD_FRAME - 8) /* where a frame says when it was to be sent */
#define MEGABYTES 128
#define NB_MBUFS  24576

struct packets {
	struct jobs_stand stand;
	struct jobs_load load;
	struct forward forward;
	uint8_t (*frames)[FORWARD_FRAME]; /* FORWARD_SLICE of them */
	uint32_t next;
	struct rte_mempool *pool;
	uint32_t rx_node;
	weir_em_queue queues[NB_FLOWS];
	uint32_t graph_ids[JOBS_CORES_MAX];
	struct weir_graph *graphs[JOBS_CORES_MAX];
	int errors[JOBS_CORES_MAX]; /* of binding */
};

/* A core's own, found by its graph. */
struct sink_state {
	struct jobs_core *core;
};

/* Where packets would be transmitted: the time is up. */
static uint16_t
sink_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct sink_state *state = node->state;
	uint64_t due;

	for (uint16_t i = 0; i < nb_objs; i++) {
		memcpy(&due, rte_pktmbuf_mtod_offset((struct rte_mbuf *)objs[i], void *, STAMP),
			sizeof(due));
		jobs_load_done(state->core, due);
	}
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, nb_objs);
	return nb_objs;
}

static struct weir_graph_node_register sink = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "bench_sink",
	.process = sink_process,
	.state_size = sizeof(struct sink_state),
};

static bool
send(struct jobs_load *load, uint64_t due)
{
	struct packets *packets = load->arg;
	uint32_t number = packets->next++ % FORWARD_SLICE;
	struct rte_mbuf *m = rte_pktmbuf_alloc(packets->pool);
	struct rte_event event;
	uint8_t *frame;

	if (m == NULL)
		return false;
	frame = (uint8_t *)rte_pktmbuf_append(m, FORWARD_FRAME);
	memcpy(frame, packets->frames[number], FORWARD_FRAME);
	memcpy(frame + STAMP, &due, sizeof(due));
	m->port = packets->forward.port[0];
	event = weir_em_event_from_mbuf(packets->stand.em, m);
	if (weir_em_send(load->producer, packets->queues[number % NB_FLOWS], &event, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

/* One that sends nothing to nowhere: the time is up before. */
static int
add_port(struct forward *forward)
{
	const struct weir_node_port_param param = {
		.name = "bench",
		.mac_given = true,
		.mac = forward->mac,
		.mtu = FORWARD_MTU,
		.nb_tx_queues = (uint16_t)jobs_nb_cores(),
	};

	forward->port[0] = weir_node_port_add(&param);
	return forward->port[0] == WEIR_NODE_PORT_INVALID ? -rte_errno : weir_node_prepare();
}

/* Routes of a size for all of them: what is measured is not the table. */
static int
make_routes(struct forward *forward)
{
	const struct weir_node_route_limits limits = {.socket_id = -1};
	int rc = weir_node_route_init(&limits);

	forward->routes = calloc(NB_ROUTES, sizeof(*forward->routes));
	if (forward->routes == NULL)
		return -ENOMEM;
	for (uint32_t hop = 0; hop < FORWARD_HOPS && rc == 0; hop++) {
		const struct weir_node_hop h = {
			.kind = WEIR_NODE_HOP_FORWARD,
			.port = forward->port[0],
			.mac = forward_hop_mac(hop),
		};

		rc = weir_node_hop_set(hop, &h);
	}
	for (uint32_t i = 0; i < NB_ROUTES && rc == 0; i++) {
		const struct weir_node_prefix prefix = {
			.address = {20, (uint8_t)i}, .length = 16, .version = 4};

		forward->routes[i] = (struct forward_route){
			.address = UINT32_C(20) << 24 | i << 16,
			.length = 16,
			.hop = (uint8_t)(i % FORWARD_HOPS),
		};
		rc = weir_node_route_add(&prefix, i % FORWARD_HOPS);
	}
	forward->nb_routes = NB_ROUTES;
	return rc;
}

/* The frames that `weir bench forward` forwards, for us to send again and again. */
static int
make_frames(struct packets *packets)
{
	struct forward *forward = &packets->forward;
	struct forward_traffic traffic = {.forward = forward};
	struct rte_mbuf *m;
	uint32_t *destinations = forward_destinations(forward, 0), nb = 0;

	packets->frames = calloc(FORWARD_SLICE, sizeof(*packets->frames));
	if (destinations == NULL || packets->frames == NULL) {
		free(destinations);
		return -ENOMEM;
	}
	traffic.destinations = destinations;
	forward_prepare(&traffic);
	while (rte_ring_dequeue(forward->rx, (void **)&m) == 0) {
		memcpy(packets->frames[nb++ % FORWARD_SLICE], rte_pktmbuf_mtod(m, void *),
			FORWARD_FRAME);
		rte_pktmbuf_free(m);
	}
	free(destinations);
	return nb == FORWARD_SLICE ? 0 : -ENOMEM;
}

static int
make_nodes(struct packets *packets)
{
	const struct weir_bridge_rx_queue queues = {
		.queues = packets->queues, .nb_queues = NB_FLOWS, .next = "classify"};
	const struct weir_bridge_rx_param rx = {
		.name = "bench", .em = packets->stand.em, .queues = &queues, .nb_queues = 1};
	const char *to = sink.name;
	char tx_name[WEIR_GRAPH_NAME_SIZE];
	uint32_t rewrite = weir_graph_node_from_name("ip4_rewrite");
	uint16_t edge;

	if (weir_graph_node_register(&sink) == WEIR_GRAPH_NODE_INVALID && rte_errno != EEXIST)
		return -rte_errno;
	weir_node_tx_name(packets->forward.port[0], tx_name);
	edge = weir_graph_node_edge_find(rewrite, tx_name);
	if (edge == WEIR_GRAPH_EDGE_INVALID)
		return -ENOENT;
	packets->rx_node = weir_bridge_rx_create(&rx);
	if (packets->rx_node == WEIR_GRAPH_NODE_INVALID)
		return -rte_errno;
	return weir_graph_node_edge_update(rewrite, edge, &to, 1);
}

/* Each core has a graph, bound by itself. */
static void
step_bind(struct jobs_core *core)
{
	struct packets *packets = core->stand->arg;

	if (packets->graphs[core->id] == NULL || packets->errors[core->id] != -EINPROGRESS) {
		jobs_relax();
		return;
	}
	__atomic_store_n(&packets->errors[core->id],
		weir_bridge_bind(packets->graphs[core->id], core->em), __ATOMIC_RELEASE);
}

static void
step_unbind(struct jobs_core *core)
{
	struct packets *packets = core->stand->arg;

	if (packets->errors[core->id] == 0 && packets->graphs[core->id] != NULL)
		weir_bridge_unbind(packets->graphs[core->id]);
	__atomic_store_n(&packets->errors[core->id], -ENOENT, __ATOMIC_RELEASE);
	jobs_relax();
}

static int
make_graphs(struct packets *packets)
{
	static const char *const pattern = "sched_rx-bench";
	const struct weir_graph_param param = {
		.socket_id = -1, .nb_node_patterns = 1, .node_patterns = (const char **)&pattern};
	char name[32];
	int rc = 0;

	for (unsigned int i = 0; i < packets->stand.nb_cores; i++) {
		struct weir_graph_node *node;

		snprintf(name, sizeof(name), "packets-%u", i);
		packets->graph_ids[i] = weir_graph_create(name, &param);
		if (packets->graph_ids[i] == WEIR_GRAPH_ID_INVALID)
			return -rte_errno;
		packets->graphs[i] = weir_graph_get(packets->graph_ids[i]);
		node = weir_graph_node_get_by_name(packets->graphs[i], sink.name);
		((struct sink_state *)node->state)->core = &packets->stand.cores[i];
		packets->errors[i] = -EINPROGRESS;
	}
	jobs_stand_do(&packets->stand, step_bind);
	for (unsigned int i = 0; i < packets->stand.nb_cores && rc == 0; i++)
		while ((rc = __atomic_load_n(&packets->errors[i], __ATOMIC_ACQUIRE)) ==
			-EINPROGRESS)
			jobs_relax();
	jobs_stand_do(&packets->stand, jobs_step_dispatch);
	return rc;
}

static int
make_queues(struct packets *packets)
{
	const struct weir_em_queue_config config = {.name = "flow", .type = WEIR_EM_QUEUE_ATOMIC};

	for (unsigned int i = 0; i < NB_FLOWS; i++) {
		packets->queues[i] = weir_em_queue_create(packets->stand.em, &config);
		if (packets->queues[i] == WEIR_EM_NONE)
			return -rte_errno;
	}
	return 0;
}

static int
make(struct packets *packets)
{
	const struct jobs_stand_config config = {
		.backend = "builtin",
		.types = 1u << WEIR_EM_QUEUE_PARALLEL | 1u << WEIR_EM_QUEUE_ATOMIC,
		.priorities = 1u | 1u << (WEIR_EM_PRIORITIES - 1),
		.nb_queues = NB_FLOWS + 64,
		.nb_events = 16384,
		.max_jobs = 256,
		.in_bytes = sizeof(void *),
	};
	int rc = bench_memory_socket(MEGABYTES);

	if (rc >= 0)
		rc = forward_init(&packets->forward, rc);
	if (rc == 0)
		rc = add_port(&packets->forward);
	if (rc == 0)
		rc = make_routes(&packets->forward);
	if (rc == 0)
		rc = make_frames(packets);
	if (rc == 0)
		rc = jobs_stand_create(&packets->stand, &config);
	if (rc < 0)
		return rc;
	packets->stand.arg = packets;
	packets->load = (struct jobs_load){.stand = &packets->stand, .send = send, .arg = packets};
	packets->pool = rte_pktmbuf_pool_create(
		"packets", NB_MBUFS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, packets->forward.socket);
	if (packets->pool == NULL ||
		weir_em_pool_adopt(packets->stand.em, packets->pool) == WEIR_EM_NONE)
		return -rte_errno;
	rc = make_queues(packets);
	if (rc == 0)
		rc = make_nodes(packets);
	if (rc == 0)
		rc = make_graphs(packets);
	return rc == 0 ? jobs_load_init(&packets->load) : rc;
}

static void
unmake(struct packets *packets, struct bench_report *report)
{
	jobs_load_fini(&packets->load);
	if (packets->stand.nb_cores > 0 && packets->graphs[0] != NULL) {
		jobs_stop(&packets->stand);
		jobs_stand_do(&packets->stand, step_unbind);
		jobs_stand_do(&packets->stand, jobs_step_dispatch);
		for (unsigned int i = 0; i < packets->stand.nb_cores; i++)
			if (packets->graphs[i] != NULL)
				weir_graph_destroy(packets->graph_ids[i]);
		weir_bridge_node_delete(packets->rx_node);
	}
	if (!jobs_stand_destroy(&packets->stand))
		bench_report_failure(report, "packets-and-jobs", "jobs could not be stopped");
	rte_mempool_free(packets->pool);
	free(packets->frames);
	free(packets->forward.routes);
	free(packets);
}

/* How many a second all cores forward when as many come as they take. */
static double
probe(struct packets *packets)
{
	const uint64_t begun = weir_base_cycles(), length = weir_base_ns_to_cycles(PROBE_NS);
	uint64_t nb = 0, done = 0, first = 0;

	for (unsigned int i = 0; i < packets->stand.nb_cores; i++)
		first += jobs_read(&packets->stand.cores[i].nb_done);
	while (weir_base_cycles() - begun < length)
		nb += send(&packets->load, weir_base_cycles());
	do {
		done = 0;
		for (unsigned int i = 0; i < packets->stand.nb_cores; i++)
			done += jobs_read(&packets->stand.cores[i].nb_done);
	} while (done - first < nb);
	return (double)nb * (double)weir_base_cycles_hz() / (double)(weir_base_cycles() - begun);
}

static void
tell(const struct packets *packets, struct bench_report *report, const struct load_figures *figures,
	double most_per_s)
{
	bench_say(report,
		"\npackets-and-jobs: %.3f Mpps, %.0f %% of what all cores forward, one at a time, "
		"at the highest priority; work at the lowest, jobs in slices of %u us, handlers "
		"that take a millisecond\n\n",
		packets->load.per_s / 1e6, LOAD * 100, JOBS_SLICE_NS / 1000);
	jobs_load_say(report, figures);
	bench_say(report,
		"  p99 with jobs is %.2f us longer than without work, with handlers %.2f us\n",
		jobs_ns(figures[LOAD_JOBS].p99 - figures[LOAD_ALONE].p99) / 1e3,
		jobs_ns(figures[LOAD_HANDLERS].p99 - figures[LOAD_ALONE].p99) / 1e3);
	json_array_append_new(report->cases,
		json_pack("{s:s, s:f, s:f, s:f, s:o, s:f}", "name", "packets-and-jobs", "most_pps",
			most_per_s, "offered_per_s", packets->load.per_s, "slice_us",
			JOBS_SLICE_NS / 1e3, "sides", jobs_load_json(figures), "times_handlers_p99",
			figures[LOAD_HANDLERS].p99 / figures[LOAD_JOBS].p99));
	report->nb_rows++;
}

void
jobs_packets_run(const struct bench_options *options, struct bench_report *report)
{
	struct load_figures figures[LOAD_WORKS];
	struct packets *packets = aligned_alloc(64, sizeof(*packets));
	double most_per_s;
	int rc;

	bench_report_array(report, "latency");
	if (packets == NULL) {
		bench_report_failure(report, "packets-and-jobs", "not enough memory");
		return;
	}
	memset(packets, 0, sizeof(*packets));
	weir_base_log_set_level(WEIR_BASE_LOG_ERROR); /* that rings keep no MAC address */
	rc = make(packets);
	weir_base_log_set_level(WEIR_BASE_LOG_WARNING);
	if (rc < 0) {
		bench_report_failure(report, "packets-and-jobs", "%s", strerror(-rc));
	} else {
		most_per_s = probe(packets);
		packets->load.per_s = LOAD * most_per_s;
		if (jobs_load_run(&packets->load, options, report, "packets-and-jobs", figures))
			tell(packets, report, figures, most_per_s);
	}
	unmake(packets, report);
}
