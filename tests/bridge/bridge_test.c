/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "bridge_test.h"

struct weir_em *bt_em;
struct rte_mempool *bt_pool;
uint64_t bt_left, bt_sunk, bt_out_of_order, bt_together;
uint32_t bt_next[BT_FLOWS], bt_expected[BT_FLOWS];
unsigned int bt_sink_delay_ns, bt_work_delay_ns;

static uint32_t busy[BT_FLOWS]; /* in bt_sink: atomic */
static unsigned int turn;
static uint32_t graphs[8], nodes[8];
static unsigned int nb_graphs, nb_nodes;

#define IN_A_ROW 4 /* packets of a flow */

struct frame {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	uint32_t flow, number;
} __attribute__((packed, aligned(2)));

struct rte_mbuf *
bt_packet(unsigned int flow, uint32_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(bt_pool);
	struct frame *frame;

	if (m == NULL)
		return NULL;
	frame = (void *)rte_pktmbuf_append(m, sizeof(*frame));
	memset(frame, 0, sizeof(*frame));
	frame->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	frame->ip.version_ihl = 0x45;
	frame->ip.next_proto_id = IPPROTO_UDP;
	frame->ip.src_addr = rte_cpu_to_be_32(0x0a000000 + flow);
	frame->ip.dst_addr = RTE_BE32(0x0a010001);
	frame->udp.src_port = rte_cpu_to_be_16((uint16_t)(1000 + flow));
	frame->udp.dst_port = RTE_BE16(53);
	frame->flow = flow;
	frame->number = number;
	return m;
}

unsigned int
bt_flow(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, const struct frame *)->flow;
}

uint32_t
bt_number(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, const struct frame *)->number;
}

/* ---- nodes ---- */

static uint16_t
source_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	uint16_t nb = 0;

	for (; nb < 32 && bt_left > 0; nb++) {
		struct rte_mbuf *m = bt_packet(turn, bt_next[turn]);

		if (m == NULL)
			break;
		if (++bt_next[turn] % IN_A_ROW == 0)
			turn = (turn + 1) % BT_FLOWS;
		bt_left--;
		weir_graph_enqueue_x1(graph, node, 0, m);
	}
	return nb;
}

static struct weir_graph_node_register bt_source = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "bt_source",
	.flags = WEIR_GRAPH_NODE_SOURCE,
	.process = source_process,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){"drop"},
};
WEIR_GRAPH_NODE_REGISTER(bt_source);

static void
pass_time(unsigned int ns)
{
	uint64_t until;

	if (ns == 0)
		return;
	until = weir_base_time_ns() + ns;
	while (weir_base_time_ns() < until)
		;
}

static uint16_t
work_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	static __thread uint32_t seed = 1;

	for (uint16_t i = 0; i < nb_objs && bt_work_delay_ns > 0; i++) {
		seed = seed * 1664525 + 1013904223;
		pass_time((seed >> 8) % (2 * bt_work_delay_ns));
	}
	weir_graph_stream_move(graph, node, 0);
	return nb_objs;
}

static struct weir_graph_node_register bt_work = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "bt_work",
	.process = work_process,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){"drop"},
};
WEIR_GRAPH_NODE_REGISTER(bt_work);

/* A copy is a packet of its own: it came by no queue. */
static uint16_t
copy_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	for (uint16_t i = 0; i < nb_objs; i++) {
		struct rte_mbuf *m = bt_packet(bt_flow(objs[i]), bt_number(objs[i]));

		weir_graph_enqueue_x1(graph, node, 0, objs[i]);
		if (m != NULL)
			weir_graph_enqueue_x1(graph, node, 0, m);
	}
	return nb_objs;
}

static struct weir_graph_node_register bt_copy = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "bt_copy",
	.process = copy_process,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){"drop"},
};
WEIR_GRAPH_NODE_REGISTER(bt_copy);

static void
look(const struct rte_mbuf *m)
{
	unsigned int flow = bt_flow(m);

	if (__atomic_fetch_add(&busy[flow], 1, __ATOMIC_ACQ_REL) != 0)
		__atomic_fetch_add(&bt_together, 1, __ATOMIC_RELAXED);
	pass_time(bt_sink_delay_ns);
	if (__atomic_exchange_n(&bt_expected[flow], bt_number(m) + 1, __ATOMIC_RELAXED) !=
		bt_number(m))
		__atomic_fetch_add(&bt_out_of_order, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&busy[flow], 1, __ATOMIC_ACQ_REL);
}

static uint16_t
sink_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	for (uint16_t i = 0; i < nb_objs; i++) {
		look(objs[i]);
		rte_pktmbuf_free(objs[i]);
	}
	__atomic_fetch_add(&bt_sunk, nb_objs, __ATOMIC_RELEASE);
	return nb_objs;
}

static struct weir_graph_node_register bt_sink = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "bt_sink",
	.process = sink_process,
};
WEIR_GRAPH_NODE_REGISTER(bt_sink);

/* ---- what tests make ---- */

void
bt_make_pool(void)
{
	bt_pool = rte_pktmbuf_pool_create_by_ops("bt", BT_POOL_SIZE, 0, 0, 256, -1, "ring_mt_rts");
	assert_non_null(bt_pool);
}

void
bt_make(struct weir_em_config config)
{
	bt_make_pool();
	config.socket_id = -1;
	config.backend = st_backend();
	bt_em = weir_em_create("bridge", &config);
	assert_non_null(bt_em);
}

weir_em_queue
bt_queue(const char *name, enum weir_em_queue_type type)
{
	weir_em_queue queue = weir_em_queue_create(
		bt_em, &(struct weir_em_queue_config){.name = name, .type = type});

	assert_int_not_equal(queue, WEIR_EM_NONE);
	return queue;
}

struct weir_graph *
bt_graph_of_two(const char *name, const char *node, const char *second)
{
	const char *const patterns[] = {node, second};
	uint32_t id = weir_graph_create(name, &(struct weir_graph_param){.socket_id = -1,
						      .nb_node_patterns = second != NULL ? 2 : 1,
						      .node_patterns = patterns});

	if (id == WEIR_GRAPH_ID_INVALID)
		fail_msg("no graph '%s': %s", name, st_log_last());
	graphs[nb_graphs++] = id;
	return weir_graph_get(id);
}

struct weir_graph *
bt_graph(const char *name, const char *node)
{
	return bt_graph_of_two(name, node, NULL);
}

void
bt_keep(uint32_t node)
{
	assert_int_not_equal(node, WEIR_GRAPH_NODE_INVALID);
	nodes[nb_nodes++] = node;
}

uint32_t
bt_tx(const char *name, const weir_em_queue *queues, unsigned int nb, bool wait)
{
	uint32_t id = weir_bridge_tx_create(&(struct weir_bridge_tx_param){
		.name = name, .em = bt_em, .queues = queues, .nb_queues = nb, .wait = wait});

	if (id == WEIR_GRAPH_NODE_INVALID)
		fail_msg("no node '%s': %s", name, st_log_last());
	nodes[nb_nodes++] = id;
	return id;
}

uint32_t
bt_rx(const char *name, const weir_em_queue *queues, unsigned int nb, const char *next)
{
	const struct weir_bridge_rx_queue queue = {.queues = queues, .nb_queues = nb, .next = next};
	uint32_t id = weir_bridge_rx_create(&(struct weir_bridge_rx_param){
		.name = name, .em = bt_em, .queues = &queue, .nb_queues = 1});

	if (id == WEIR_GRAPH_NODE_INVALID)
		fail_msg("no node '%s': %s", name, st_log_last());
	nodes[nb_nodes++] = id;
	return id;
}

bool
bt_serve(struct weir_em_core *core, uint64_t sunk)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 16, .idle = WEIR_EM_IDLE_YIELD};
	uint64_t end = weir_base_time_ns() + BT_PATIENCE_NS;

	while (__atomic_load_n(&bt_sunk, __ATOMIC_ACQUIRE) < sunk) {
		weir_em_dispatch(core, &once);
		if (weir_base_time_ns() > end)
			return false;
	}
	return true;
}

uint64_t
bt_xstat(struct weir_graph *graph, const char *node, unsigned int xstat)
{
	return weir_graph_node_get_by_name(graph, node)->xstats[xstat];
}

int
bt_teardown(void **state)
{
	int failed = 0;

	for (unsigned int i = 0; i < nb_graphs; i++) {
		weir_bridge_unbind(weir_graph_get(graphs[i]));
		failed |= weir_graph_destroy(graphs[i]) != 0;
	}
	while (nb_nodes > 0)
		failed |= weir_bridge_node_delete(nodes[--nb_nodes]) != 0;
	nb_graphs = 0;
	if (bt_em != NULL)
		failed |= weir_em_destroy(bt_em, NULL, NULL) != 0;
	bt_em = NULL;
	if (bt_pool != NULL && rte_mempool_in_use_count(bt_pool) != 0) {
		fprintf(stderr, "%u packets are missing\n", rte_mempool_in_use_count(bt_pool));
		failed = 1;
	}
	rte_mempool_free(bt_pool);
	bt_pool = NULL;
	bt_left = bt_sunk = bt_out_of_order = bt_together = 0;
	bt_sink_delay_ns = bt_work_delay_ns = turn = 0;
	memset(bt_next, 0, sizeof(bt_next));
	memset(bt_expected, 0, sizeof(bt_expected));
	return failed ? -1 : 0;
}
