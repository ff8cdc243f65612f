/* SPDX-License-Identifier: BSD-3-Clause */

/* sched_tx and sched_rx on one core: what goes where, and what is refused. */

#include "bridge_test.h"
#include "nodes.h"

/* Of the source, to a queue, and from there to the sink. */
static struct weir_graph *in, *out;
static struct weir_em_core *core;
static weir_em_queue queue;

static void
lead(const char *node, const char *next)
{
	assert_int_equal(
		weir_graph_node_edge_update(weir_graph_node_from_name(node), 0, &next, 1), 0);
}

static void
make(struct weir_em_config config, bool wait)
{
	bt_make(config);
	queue = bt_queue("q", WEIR_EM_QUEUE_ATOMIC);
	bt_tx("t", &queue, 1, wait);
	bt_rx("r", &queue, 1, "bt_sink");
	lead("bt_source", "sched_tx-t");
	in = bt_graph("in", "bt_source");
	out = bt_graph("out", "sched_rx-r");
	core = weir_em_core_attach(bt_em, 0);
	assert_non_null(core);
}

static void
bind(void)
{
	assert_int_equal(weir_bridge_bind(in, core), 0);
	assert_int_equal(weir_bridge_bind(out, core), 0);
}

static int
teardown(void **state)
{
	if (core != NULL)
		weir_em_core_detach(core);
	core = NULL;
	return bt_teardown(state);
}

static uint64_t
count_of(struct weir_graph *graph, enum weir_node_reason reason)
{
	return bt_xstat(graph, "drop", reason);
}

static void
test_there_and_back(void **state)
{
	make((struct weir_em_config){.nb_cores = 1}, false);
	bind();
	bt_left = 1000;
	while (bt_left > 0)
		weir_graph_walk(in);
	assert_int_equal(bt_sunk, 0); /* nothing before it is dispatched */
	assert_true(bt_serve(core, 1000));
	assert_int_equal(bt_out_of_order, 0);
	assert_int_equal(bt_xstat(in, "sched_tx-t", BRIDGE_TX_PACKETS), 1000);
	assert_int_equal(weir_graph_node_get_by_name(out, "sched_rx-r")->nb_objs, 1000);
	assert_int_equal(count_of(in, WEIR_NODE_REASON_SCHED_FULL), 0);
}

/* A graph that belongs to no core sends nothing. */
static void
test_unbound(void **state)
{
	make((struct weir_em_config){.nb_cores = 1}, false);
	bt_left = 32;
	weir_graph_walk(in);
	assert_int_equal(count_of(in, WEIR_NODE_REASON_SCHED_CLOSED), 32);
	assert_int_equal(bt_xstat(in, "sched_tx-t", BRIDGE_TX_CLOSED), 32);
	assert_int_equal(bt_xstat(in, "sched_tx-t", BRIDGE_TX_PACKETS), 0);
	weir_graph_walk(out); /* nobody's business, and nothing happens */
	assert_int_equal(bt_sunk, 0);
}

/* Events that a core has no graph for, and those that are no packets, are counted. */
static void
test_strangers(void **state)
{
	struct weir_bridge_rx_stats stats;
	struct rte_event event;
	uint32_t id;

	make((struct weir_em_config){.nb_cores = 1}, false);
	id = weir_graph_node_from_name("sched_rx-r");
	assert_int_equal(weir_bridge_bind(in, core), 0);
	bt_left = 32;
	weir_graph_walk(in);
	weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_events = 32});
	assert_int_equal(weir_bridge_rx_stats(id, &stats), 0);
	assert_int_equal(stats.nb_unbound, 32);
	assert_int_equal(weir_bridge_bind(out, core), 0);
	event = weir_em_event_u64(7);
	assert_int_equal(weir_em_send(core, queue, &event, 1), 1);
	event = weir_em_event_from_mbuf(bt_em, bt_packet(0, 0));
	assert_int_equal(weir_em_send(core, queue, &event, 1), 1);
	assert_true(bt_serve(core, 1));
	assert_int_equal(weir_bridge_rx_stats(id, &stats), 0);
	assert_int_equal(stats.nb_foreign, 1);
	assert_int_equal(stats.nb_unbound, 32);
	assert_int_equal(bt_sunk, 1);
	assert_int_equal(
		weir_bridge_rx_stats(weir_graph_node_from_name("sched_tx-t"), &stats), -ENOENT);
}

/* From the threshold on new packets are dropped, by name; what is inside comes out. */
static void
test_full(void **state)
{
	make((struct weir_em_config){.nb_cores = 1, .nb_events = 1024, .new_threshold = 100},
		false);
	bind();
	bt_left = 320;
	for (int i = 0; i < 10; i++)
		weir_graph_walk(in);
	assert_int_equal(bt_left, 0);
	assert_int_equal(bt_xstat(in, "sched_tx-t", BRIDGE_TX_PACKETS), 100);
	assert_int_equal(bt_xstat(in, "sched_tx-t", BRIDGE_TX_FULL), 220);
	assert_int_equal(count_of(in, WEIR_NODE_REASON_SCHED_FULL), 220);
	assert_true(bt_serve(core, 100));
	assert_int_equal(
		weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_rounds = 10}), 0);
	assert_int_equal(bt_sunk, 100);
}

/* Who waits serves events meanwhile: one core alone cannot wait for itself. */
static void
test_wait(void **state)
{
	make((struct weir_em_config){.nb_cores = 1, .nb_events = 1024, .new_threshold = 64}, true);
	bind();
	bt_left = 20000;
	while (bt_left > 0)
		weir_graph_walk(in);
	assert_true(bt_serve(core, 20000));
	assert_int_equal(bt_out_of_order, 0);
	assert_int_equal(count_of(in, WEIR_NODE_REASON_SCHED_FULL), 0);
	assert_true(bt_sunk == 20000);
}

/* When all is to end, nobody waits. */
static void
test_wait_stopped(void **state)
{
	make((struct weir_em_config){.nb_cores = 2, .nb_events = 1024, .new_threshold = 64}, true);
	assert_int_equal(weir_bridge_bind(in, core), 0);
	weir_node_stop_waiting(true);
	bt_left = 320;
	while (bt_left > 0)
		weir_graph_walk(in);
	weir_node_stop_waiting(false);
	assert_int_equal(count_of(in, WEIR_NODE_REASON_SCHED_FULL), 320 - 64);
	weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_events = 64});
}

/* Packets that came from a queue go on whatever the threshold is: they are forwarded. */
static void
test_forward(void **state)
{
	weir_em_queue second;
	struct weir_sched_stats stats;
	struct weir_graph *both;

	bt_make((struct weir_em_config){.nb_cores = 1, .nb_events = 256, .new_threshold = 64});
	queue = bt_queue("q", WEIR_EM_QUEUE_ORDERED);
	second = bt_queue("p", WEIR_EM_QUEUE_ATOMIC);
	bt_tx("t", &queue, 1, false);
	bt_tx("on", &second, 1, false);
	bt_rx("r", &queue, 1, "sched_tx-on");
	bt_rx("s", &second, 1, "bt_sink");
	lead("bt_source", "sched_tx-t");
	in = bt_graph("in", "bt_source");
	both = bt_graph("both", "sched_rx-*");
	core = weir_em_core_attach(bt_em, 0);
	assert_int_equal(weir_bridge_bind(in, core), 0);
	assert_int_equal(weir_bridge_bind(both, core), 0);
	for (unsigned int i = 1; i <= 50; i++) {
		bt_left = 64;
		while (bt_left > 0)
			weir_graph_walk(in); /* full, now */
		assert_true(bt_serve(core, 64 * i));
	}
	assert_int_equal(bt_xstat(both, "sched_tx-on", BRIDGE_TX_FORWARDED), 3200);
	assert_int_equal(bt_xstat(both, "sched_tx-on", BRIDGE_TX_PACKETS), 3200);
	assert_int_equal(bt_out_of_order, 0);
	weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_rounds = 1});
	weir_sched_stats(weir_em_sched(bt_em), &stats);
	assert_int_equal(stats.nb_forwarded, 3200);
	assert_int_equal(stats.nb_new, stats.nb_released);
	assert_int_equal(stats.nb_invalid, 0);
}

/* What the graph makes itself is new: an event is not forwarded twice. */
static void
test_copies(void **state)
{
	weir_em_queue second;
	struct weir_sched_stats stats;
	struct weir_graph *both;

	bt_make((struct weir_em_config){.nb_cores = 1});
	queue = bt_queue("q", WEIR_EM_QUEUE_ATOMIC);
	second = bt_queue("p", WEIR_EM_QUEUE_ATOMIC);
	bt_tx("t", &queue, 1, false);
	bt_tx("on", &second, 1, false);
	bt_rx("r", &queue, 1, "bt_copy");
	bt_rx("s", &second, 1, "bt_sink");
	lead("bt_source", "sched_tx-t");
	lead("bt_copy", "sched_tx-on");
	in = bt_graph("in", "bt_source");
	both = bt_graph("both", "sched_rx-*");
	core = weir_em_core_attach(bt_em, 0);
	assert_int_equal(weir_bridge_bind(in, core), 0);
	assert_int_equal(weir_bridge_bind(both, core), 0);
	for (unsigned int i = 1; i <= 20; i++) {
		bt_left = 320;
		while (bt_left > 0)
			weir_graph_walk(in);
		assert_true(bt_serve(core, 640 * i));
	}
	assert_int_equal(bt_xstat(both, "sched_tx-on", BRIDGE_TX_FORWARDED), 6400);
	assert_int_equal(bt_xstat(both, "sched_tx-on", BRIDGE_TX_PACKETS), 12800);
	weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_rounds = 1});
	weir_sched_stats(weir_em_sched(bt_em), &stats);
	assert_int_equal(stats.nb_invalid, 0);
	assert_int_equal(stats.nb_forwarded, 6400);
	assert_int_equal(stats.nb_new, stats.nb_released);
}

/* A queue that is gone takes nothing, neither new nor forwarded. */
static void
test_closed(void **state)
{
	weir_em_queue gone;

	bt_make((struct weir_em_config){.nb_cores = 1});
	queue = bt_queue("q", WEIR_EM_QUEUE_ATOMIC);
	gone = bt_queue("gone", WEIR_EM_QUEUE_ATOMIC);
	bt_tx("t", &queue, 1, false);
	bt_tx("nowhere", &gone, 1, false);
	bt_rx("r", &queue, 1, "sched_tx-nowhere");
	lead("bt_source", "sched_tx-t");
	in = bt_graph("in", "bt_source");
	out = bt_graph("out", "sched_rx-r");
	core = weir_em_core_attach(bt_em, 0);
	bind();
	assert_int_equal(weir_em_queue_delete(bt_em, gone), 0);
	bt_left = 10;
	weir_graph_walk(in);
	weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_events = 10});
	assert_int_equal(count_of(out, WEIR_NODE_REASON_SCHED_CLOSED), 10);
	assert_int_equal(bt_xstat(out, "sched_tx-nowhere", BRIDGE_TX_CLOSED), 10);
	assert_int_equal(bt_xstat(out, "sched_tx-nowhere", BRIDGE_TX_PACKETS), 0);
}

/* Of several queues each has its edge; packets of one flow go to one queue. */
static void
test_queues_and_flows(void **state)
{
	weir_em_queue flows[16], other;
	struct weir_bridge_rx_queue queues[2] = {
		{.queues = flows, .nb_queues = 16, .next = "bt_sink"},
		{.queues = &other, .nb_queues = 1}};
	struct rte_event event;
	unsigned int nb_used = 0;
	uint32_t id;

	bt_make((struct weir_em_config){.nb_cores = 1});
	for (int i = 0; i < 16; i++)
		flows[i] = bt_queue("f", WEIR_EM_QUEUE_ATOMIC);
	other = bt_queue("o", WEIR_EM_QUEUE_ATOMIC);
	bt_tx("t", flows, 16, false);
	lead("bt_source", "sched_tx-t");
	id = weir_bridge_rx_create(&(struct weir_bridge_rx_param){
		.name = "r", .em = bt_em, .queues = queues, .nb_queues = 2, .burst = 8});
	bt_keep(id);
	in = bt_graph("in", "bt_source");
	out = bt_graph("out", "sched_rx-r");
	core = weir_em_core_attach(bt_em, 0);
	bind();
	bt_left = 1024;
	while (bt_left > 0)
		weir_graph_walk(in);
	event = weir_em_event_from_mbuf(bt_em, bt_packet(0, 0));
	assert_int_equal(weir_em_send(core, other, &event, 1), 1);
	assert_true(bt_serve(core, 1024));
	assert_int_equal(bt_out_of_order, 0);
	weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_rounds = 4});
	assert_int_equal(bt_sunk, 1024);
	assert_int_equal(count_of(out, WEIR_NODE_REASON_NONE), 1);
	for (int i = 0; i < 16; i++) {
		struct weir_em_queue_info info;

		weir_em_queue_info(bt_em, flows[i], &info);
		assert_int_equal(info.stats.nb_sent % 16, 0); /* whole flows */
		nb_used += info.stats.nb_sent > 0;
	}
	assert_in_range(nb_used, 8, 16);
}

static void
test_bad_arguments(void **state)
{
	struct weir_bridge_rx_queue one;
	struct weir_bridge_tx_param tx = {.name = "x"};
	struct weir_bridge_rx_param rx = {.name = "x"};
	const char *const parents[] = {"sched_rx"};
	struct weir_graph *mixed;

	make((struct weir_em_config){.nb_cores = 2}, false);
	one = (struct weir_bridge_rx_queue){.queues = &queue, .nb_queues = 1};
	assert_int_equal(weir_bridge_tx_create(NULL), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(weir_bridge_tx_create(&tx), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	tx = (struct weir_bridge_tx_param){.name = "x",
		.em = bt_em,
		.queues = &queue,
		.nb_queues = 1,
		.flow = WEIR_BRIDGE_FLOWS};
	assert_int_equal(weir_bridge_tx_create(&tx), WEIR_GRAPH_NODE_INVALID);
	tx.flow = WEIR_BRIDGE_FLOW_RSS;
	tx.name = "t";
	assert_int_equal(weir_bridge_tx_create(&tx), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(weir_bridge_rx_create(&rx), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	rx = (struct weir_bridge_rx_param){
		.name = "x", .em = bt_em, .queues = &one, .nb_queues = 1};
	assert_int_equal(weir_bridge_rx_create(&rx), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, EBUSY); /* the queue has an object */
	assert_int_equal(weir_graph_node_from_name("sched_rx-x"), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(weir_em_object_find(bt_em, "x"), WEIR_EM_NONE);
	assert_int_equal(weir_bridge_node_delete(weir_graph_node_from_name("drop")), -ENOENT);
	assert_int_equal(weir_bridge_node_delete(weir_graph_node_from_name("sched_tx-t")), -EBUSY);
	assert_int_equal(
		weir_graph_create("parents",
			&(struct weir_graph_param){
				.nb_node_patterns = 1, .node_patterns = parents, .socket_id = -1}),
		WEIR_GRAPH_ID_INVALID);
	assert_int_equal(weir_bridge_bind(NULL, core), -EINVAL);
	bind();
	assert_int_equal(weir_bridge_bind(in, core), -EBUSY);
	weir_bridge_unbind(in);
	weir_bridge_unbind(in);
	assert_int_equal(weir_bridge_bind(in, core), 0);
	weir_bridge_unbind(out);
	mixed = bt_graph_of_two("mixed", "bt_source", "sched_rx-r");
	assert_int_equal(weir_bridge_bind(mixed, core), -EINVAL);
	/* One that neither sends nor receives: there is nothing to be kept for it, which a leak would tell. */
	lead("bt_source", "bt_sink");
	assert_int_equal(weir_bridge_bind(bt_graph("plain", "bt_source"), core), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_there_and_back, teardown),
		cmocka_unit_test_teardown(test_unbound, teardown),
		cmocka_unit_test_teardown(test_strangers, teardown),
		cmocka_unit_test_teardown(test_full, teardown),
		cmocka_unit_test_teardown(test_wait, teardown),
		cmocka_unit_test_teardown(test_wait_stopped, teardown),
		cmocka_unit_test_teardown(test_forward, teardown),
		cmocka_unit_test_teardown(test_copies, teardown),
		cmocka_unit_test_teardown(test_closed, teardown),
		cmocka_unit_test_teardown(test_queues_and_flows, teardown),
		cmocka_unit_test_teardown(test_bad_arguments, teardown),
	};

	return ST_RUN("bridge/nodes", tests);
}
