/* SPDX-License-Identifier: BSD-3-Clause */

/* A graph on one thread hands work to graphs on others: nothing is lost, order is kept, all have some of it. */

#include "bridge_test.h"
#include "nodes.h"

#define NB_PACKETS 20000
#define NB_WORKERS 2
#define NB_FLOWS   16
#define ROUNDS_MAX 20 /* until a busy machine has let all take part */

struct worker {
	pthread_t thread;
	unsigned int id;
	struct weir_graph *graph;
	bool ok;
};

static struct worker workers[NB_WORKERS];
static struct weir_graph *in;

static void
lead(const char *node, const char *next)
{
	assert_int_equal(
		weir_graph_node_edge_update(weir_graph_node_from_name(node), 0, &next, 1), 0);
}

static void *
work(void *arg)
{
	struct worker *worker = arg;
	struct weir_em_core *core = weir_em_core_attach(bt_em, worker->id);

	CHECK(core != NULL && weir_bridge_bind(worker->graph, core) == 0);
	worker->ok = bt_serve(core, NB_PACKETS);
	CHECK(weir_em_core_detach(core) == 0);
	weir_bridge_unbind(worker->graph);
	return NULL;
}

/* As a producer, from this thread. */
static void
feed(void)
{
	struct weir_em_core *core = weir_em_producer_attach(bt_em);
	uint64_t end = weir_base_time_ns() + BT_PATIENCE_NS;

	assert_non_null(core);
	assert_int_equal(weir_bridge_bind(in, core), 0);
	bt_left = NB_PACKETS;
	while (bt_left > 0 && weir_base_time_ns() < end)
		weir_graph_walk(in);
	weir_bridge_unbind(in);
	weir_em_core_detach(core);
}

/* @return whether all workers had some of it; all else must be so */
static bool
run_once(const char *sources)
{
	bool all = true;
	char name[32];

	in = bt_graph("in", "bt_source");
	for (unsigned int i = 0; i < NB_WORKERS; i++) {
		snprintf(name, sizeof(name), "worker-%u", i);
		workers[i] = (struct worker){.id = i, .graph = bt_graph(name, sources)};
	}
	for (unsigned int i = 0; i < NB_WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	feed();
	for (unsigned int i = 0; i < NB_WORKERS; i++) {
		struct weir_em_stats stats;

		pthread_join(workers[i].thread, NULL);
		assert_true(workers[i].ok);
		weir_em_core_stats(bt_em, i, &stats);
		all = all && stats.nb_received > NB_PACKETS / 20;
	}
	assert_int_equal(bt_sunk, NB_PACKETS);
	assert_int_equal(bt_out_of_order, 0);
	assert_int_equal(bt_together, 0);
	assert_int_equal(bt_xstat(in, "drop", WEIR_NODE_REASON_SCHED_FULL), 0);
	for (unsigned int flow = 0; flow < BT_FLOWS; flow++)
		assert_int_equal(bt_expected[flow], bt_next[flow]);
	return all;
}

static void
repeat(void (*make)(void))
{
	for (unsigned int i = 0; i < ROUNDS_MAX; i++) {
		make();
		if (run_once("sched_rx-*"))
			return;
		assert_int_equal(bt_teardown(NULL), 0);
	}
	fail_msg("one worker had all the work, %u times", ROUNDS_MAX);
}

static const struct weir_em_config config = {
	.nb_cores = NB_WORKERS, .nb_producers = 1, .nb_events = 2048, .new_threshold = 1024};

/* Flows of atomic queues go straight to the sink. */
static void
make_atomic(void)
{
	weir_em_queue flows[NB_FLOWS];

	bt_make(config);
	for (unsigned int i = 0; i < NB_FLOWS; i++)
		flows[i] = bt_queue("flow", WEIR_EM_QUEUE_ATOMIC);
	bt_tx("t", flows, NB_FLOWS, true);
	bt_rx("r", flows, NB_FLOWS, "bt_sink");
	lead("bt_source", "sched_tx-t");
	bt_sink_delay_ns = 2000;
}

static void
test_atomic(void **state)
{
	repeat(make_atomic);
}

/* Work is done anywhere, in any order; then it is in order again. */
static void
make_ordered(void)
{
	weir_em_queue parts = WEIR_EM_NONE, whole;

	bt_make(config);
	parts = bt_queue("parts", WEIR_EM_QUEUE_ORDERED);
	whole = bt_queue("whole", WEIR_EM_QUEUE_ATOMIC);
	bt_tx("t", &parts, 1, true);
	bt_tx("on", &whole, 1, false);
	bt_rx("r", &parts, 1, "bt_work");
	bt_rx("s", &whole, 1, "bt_sink");
	lead("bt_source", "sched_tx-t");
	lead("bt_work", "sched_tx-on");
	bt_work_delay_ns = 2000;
}

static void
test_ordered(void **state)
{
	repeat(make_ordered);
}

/* Likewise, but what is in order again is parted by flow, and done by all. */
static void
make_chain(void)
{
	weir_em_queue parts, flows[NB_FLOWS];

	bt_make(config);
	parts = bt_queue("parts", WEIR_EM_QUEUE_ORDERED);
	for (unsigned int i = 0; i < NB_FLOWS; i++)
		flows[i] = bt_queue("flow", WEIR_EM_QUEUE_ATOMIC);
	bt_tx("t", &parts, 1, true);
	bt_tx("on", flows, NB_FLOWS, false);
	bt_rx("r", &parts, 1, "bt_work");
	bt_rx("s", flows, NB_FLOWS, "bt_sink");
	lead("bt_source", "sched_tx-t");
	lead("bt_work", "sched_tx-on");
	bt_work_delay_ns = 500;
	bt_sink_delay_ns = 500;
}

static void
test_chain(void **state)
{
	repeat(make_chain);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BT_TEST(test_atomic),
		BT_TEST(test_ordered),
		BT_TEST(test_chain),
	};

	return ST_RUN("bridge/spread", tests);
}
