/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Beside running walks: snapshots that always add up, graphs on two lcores, a graph stuck
 * in a walk, the grace period of lock-free updates.
 */

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include <weir_base_sanitizer.h>

#include "graph_test.h"

static bool stop;

static bool
stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void
set_stop(bool value)
{
	__atomic_store_n(&stop, value, __ATOMIC_RELAXED);
}

/* A sink that counts in a counter of its own. */
static uint16_t
counting_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	(void)graph;
	(void)objs;
	weir_graph_count(node, 0, nb);
	return nb;
}

static void
add_counting(const char *name)
{
	const struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = name,
		.process = counting_process,
		.nb_xstats = 1,
		.xstats = GT_NEXT("swallowed"),
	};

	assert_int_not_equal(weir_graph_node_register(&reg), WEIR_GRAPH_NODE_INVALID);
}

static uint16_t
decide_fork(const struct gt_forward *forward, void *obj)
{
	(void)forward;
	return (uint16_t)(gt_num(obj) * 2654435761u >> 16) % 3;
}

/* s -> fork -> t0 | t1 | relay -> t1 */
static void
add_fork(void)
{
	add_counting("t0");
	add_counting("t1");
	gt_add_forward("relay", GT_NEXT("t1"));
	gt_add_forward("fork", GT_NEXT("t0", "t1", "relay"));
	gt_add_source("s", GT_NEXT("fork"));
}

static struct weir_graph *
make_fork(const char *name)
{
	struct weir_graph *graph = gt_graph(name, "s", 64);
	struct gt_forward *fork = gt_state(graph, "fork");

	fork->pass = gt_pass_nexts;
	fork->decide = decide_fork;
	return graph;
}

/* An endless supply, that no stream need grow for; every third walk is idle. */
static int
walk_until_stopped(void *arg)
{
	struct weir_graph *graph = arg;
	struct gt_source *source;
	uint32_t walk = 0;

	weir_base_happens_after(graph);
	source = gt_state(graph, "s");
	while (!stopped()) {
		source->per_walk = walk % 3 == 0 ? 0 : 1 + walk % 100;
		source->left = UINT64_MAX;
		weir_graph_walk(graph);
		if (++walk % 64 == 0)
			sched_yield(); /* few CPUs still work */
	}
	weir_base_happens_before(graph);
	return (int)(walk & INT32_MAX);
}

static void *
walk_thread(void *arg)
{
	return (void *)(intptr_t)walk_until_stopped(arg);
}

/* What came in equals what went out, at every edge, in one look. */
static void
assert_adds_up(const struct weir_graph_cluster_stats *stats)
{
	const struct weir_graph_node_stats *s = gt_stats_find(stats, "s");
	const struct weir_graph_node_stats *fork = gt_stats_find(stats, "fork");
	const struct weir_graph_node_stats *relay = gt_stats_find(stats, "relay");
	const struct weir_graph_node_stats *t0 = gt_stats_find(stats, "t0");
	const struct weir_graph_node_stats *t1 = gt_stats_find(stats, "t1");

	assert_int_equal(s->calls, stats->walks);
	assert_int_equal(s->objs, s->edge_objs[0]);
	assert_int_equal(s->objs, fork->objs);
	assert_int_equal(fork->objs, fork->edge_objs[0] + fork->edge_objs[1] + fork->edge_objs[2]);
	assert_int_equal(relay->objs, fork->edge_objs[2]);
	assert_int_equal(relay->objs, relay->edge_objs[0]);
	assert_int_equal(t0->objs, fork->edge_objs[0]);
	assert_int_equal(t1->objs, fork->edge_objs[1] + relay->edge_objs[0]);
	assert_int_equal(t0->xstats[0], t0->objs);
	assert_int_equal(t1->xstats[0], t1->objs);
}

static void
test_snapshots_add_up(void **state)
{
	struct weir_graph_cluster *cluster = weir_graph_cluster_create(GT_NEXT("g"), 1);
	const struct weir_graph_cluster_stats *stats;
	uint64_t deadline_ns, last_walks = 0, changes = 0, looks = 0;
	struct weir_graph *graph;
	pthread_t thread;
	void *result;

	(void)state;
	add_fork();
	graph = make_fork("g");
	set_stop(false);
	assert_int_equal(pthread_create(&thread, NULL, walk_thread, graph), 0);
	deadline_ns = weir_base_time_ns() + 700000000;
	while (weir_base_time_ns() < deadline_ns || changes < 100) {
		assert_int_equal(weir_graph_cluster_get(cluster, &stats), 0);
		assert_adds_up(stats);
		assert_true(stats->walks >= last_walks);
		changes += stats->walks != last_walks;
		last_walks = stats->walks;
		looks++;
	}
	set_stop(true);
	pthread_join(thread, &result);
	/* Nobody walks: the very last state is read at once, and stays. */
	assert_int_equal(weir_graph_cluster_get(cluster, &stats), 0);
	assert_adds_up(stats);
	assert_int_equal(stats->walks & INT32_MAX, (uint64_t)(intptr_t)result);
	assert_int_equal(stats->idle_walks, (stats->walks + 2) / 3);
	assert_true(looks >= changes);
	weir_graph_cluster_destroy(cluster);
}

/* Several readers at once, that make and destroy clusters, beside a worker. */
static void *
reader_thread(void *arg)
{
	uintptr_t failures = 0;

	(void)arg;
	while (!stopped()) {
		struct weir_graph_cluster *cluster = weir_graph_cluster_create(GT_NEXT("g*"), 1);
		const struct weir_graph_cluster_stats *stats;
		const struct weir_graph_node_stats *s;

		failures += weir_graph_cluster_get(cluster, &stats) != 0;
		s = &stats->nodes[0];
		failures += s->calls != stats->walks || s->objs != s->edge_objs[0];
		failures += weir_graph_cluster_reset(cluster) != 0;
		failures += weir_graph_cluster_get_since_reset(cluster, &stats) != 0;
		weir_graph_cluster_destroy(cluster);
		sched_yield();
	}
	return (void *)failures;
}

/* Two lcores walk a graph each, readers look, and a third graph comes and goes. */
static void
test_two_lcores(void **state)
{
	struct weir_graph_cluster *cluster = weir_graph_cluster_create(GT_NEXT("g*"), 1);
	const struct weir_graph_cluster_stats *stats;
	struct weir_graph *graphs[2];
	uint32_t lcores[2], worker = 0, lcore;
	uint64_t last_objs = 0, walks = 0;
	pthread_t readers[2];
	void *failures;

	(void)state;
	add_fork();
	RTE_LCORE_FOREACH_WORKER (lcore)
		lcores[worker++] = lcore;
	assert_int_equal(worker, 2);
	graphs[0] = make_fork("g-0");
	graphs[1] = weir_graph_get(weir_graph_clone(weir_graph_id(graphs[0]), "1"));
	*(struct gt_forward *)gt_state(graphs[1], "fork") =
		*(struct gt_forward *)gt_state(graphs[0], "fork");
	set_stop(false);
	for (uint32_t i = 0; i < 2; i++) {
		weir_base_happens_before(graphs[i]);
		assert_int_equal(
			rte_eal_remote_launch(walk_until_stopped, graphs[i], lcores[i]), 0);
		assert_int_equal(pthread_create(&readers[i], NULL, reader_thread, NULL), 0);
	}
	for (uint32_t i = 0; i < 100; i++) {
		struct weir_graph *guest = make_fork("g-guest");

		gt_feed(guest, "s", 1, 100, 100);
		weir_graph_walk(guest);
		assert_int_equal(weir_graph_destroy(weir_graph_id(guest)), 0);
		assert_int_equal(weir_graph_cluster_get(cluster, &stats), 0);
		assert_adds_up(stats);
		assert_true(gt_stats_find(stats, "fork")->objs >= last_objs + 100);
		last_objs = gt_stats_find(stats, "fork")->objs;
		assert_int_equal(weir_graph_synchronize(UINT64_C(20000000000)), 0);
	}
	set_stop(true);
	for (uint32_t i = 0; i < 2; i++) {
		pthread_join(readers[i], &failures);
		assert_null(failures);
		walks += (uint64_t)rte_eal_wait_lcore(lcores[i]);
		weir_base_happens_after(graphs[i]);
	}
	assert_int_equal(weir_graph_cluster_get(cluster, &stats), 0);
	assert_adds_up(stats);
	assert_int_equal(stats->walks, walks + 100);
	weir_graph_cluster_destroy(cluster);
}

/* A node that stays in process() while a test wants it to. */
static int stall;   /* 1: stall; 0: go on */
static int stalled; /* in process() right now */

static uint16_t
staller_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	(void)graph;
	(void)node;
	(void)objs;
	(void)nb;
	while (__atomic_load_n(&stall, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&stalled, 1, __ATOMIC_RELEASE);
		usleep(100);
	}
	__atomic_store_n(&stalled, 0, __ATOMIC_RELEASE);
	return 0;
}

static void *
walk_only(void *arg)
{
	while (!stopped()) {
		weir_graph_walk(arg);
		sched_yield();
	}
	return NULL;
}

static struct weir_graph *
make_stalled(pthread_t *thread)
{
	const struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = "staller",
		.flags = WEIR_GRAPH_NODE_SOURCE,
		.process = staller_process,
	};
	struct weir_graph *graph;

	weir_graph_node_register(&reg);
	graph = gt_graph("stuck", "staller", 0);
	set_stop(false);
	__atomic_store_n(&stall, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_create(thread, NULL, walk_only, graph), 0);
	while (!__atomic_load_n(&stalled, __ATOMIC_ACQUIRE))
		usleep(100);
	return graph;
}

static void
go_on(pthread_t thread)
{
	set_stop(true);
	__atomic_store_n(&stall, 0, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

static void
test_stuck(void **state)
{
	struct weir_graph_cluster *cluster = weir_graph_cluster_create(GT_NEXT("stuck"), 1);
	const struct weir_graph_cluster_stats *stats;
	const struct weir_graph_param param = {
		.nb_node_patterns = 1, .node_patterns = GT_NEXT("staller")};
	struct weir_graph *graph;
	uint64_t before_ns;
	pthread_t thread;
	uint32_t other;
	char sink[4096];
	FILE *out;

	(void)state;
	graph = make_stalled(&thread);
	before_ns = weir_base_time_ns();
	assert_int_equal(weir_graph_cluster_get(cluster, &stats), -ETIMEDOUT);
	assert_in_range(weir_base_time_ns() - before_ns, 900000000, 30000000000);
	assert_log_has("'stuck'");
	out = fmemopen(sink, sizeof(sink), "w");
	assert_int_equal(weir_graph_cluster_print(cluster, out), -ETIMEDOUT);
	fclose(out);
	gt_log_clear();
	assert_int_equal(weir_graph_destroy(weir_graph_id(graph)), -EBUSY);
	assert_log_has("'stuck'");
	other = weir_graph_create("other", &param);
	assert_int_equal(weir_graph_adopt(weir_graph_id(graph), other), -EBUSY);
	assert_int_equal(weir_graph_adopt(other, weir_graph_id(graph)), -EBUSY);
	go_on(thread);
	/* The request that timed out does no harm afterwards. */
	assert_int_equal(weir_graph_cluster_get(cluster, &stats), 0);
	assert_true(stats->walks > 0);
	weir_graph_walk(graph);
	assert_int_equal(weir_graph_cluster_get(cluster, &stats), 0);
	weir_graph_cluster_destroy(cluster);
}

static void *
release_soon(void *arg)
{
	(void)arg;
	usleep(200000);
	__atomic_store_n(&stall, 0, __ATOMIC_RELEASE);
	return NULL;
}

static void
test_synchronize(void **state)
{
	uint64_t before_ns;
	pthread_t thread, release;

	(void)state;
	assert_int_equal(weir_graph_synchronize(0), 0); /* no graph at all */
	make_stalled(&thread);
	gt_log_clear();
	before_ns = weir_base_time_ns();
	assert_int_equal(weir_graph_synchronize(50000000), -ETIMEDOUT);
	assert_true(weir_base_time_ns() - before_ns >= 50000000);
	assert_log_has("'stuck'");

	/* It waits for the walk that is under way, however long the time-out; not for ever after. */
	before_ns = weir_base_time_ns();
	assert_int_equal(pthread_create(&release, NULL, release_soon, NULL), 0);
	assert_int_equal(weir_graph_synchronize(UINT64_MAX), 0);
	assert_true(weir_base_time_ns() - before_ns >= 150000000);
	pthread_join(release, NULL);
	go_on(thread);

	/* Graphs that nobody walks are no reason to wait. */
	before_ns = weir_base_time_ns();
	assert_int_equal(weir_graph_synchronize(UINT64_C(10000000000)), 0);
	assert_true(weir_base_time_ns() - before_ns < 8000000000);
}

/*
 * What synchronize() is for: a walk reads a pointer that is replaced, waited for, and
 * then poisoned. A walk that still held it would see the poison.
 */
static uint64_t *shared;
static uint64_t poisoned_reads;

static uint16_t
reader_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	const uint64_t *p = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);

	(void)graph;
	(void)node;
	(void)objs;
	(void)nb;
	for (int i = 0; i < 20; i++)
		if (__atomic_load_n(p, __ATOMIC_RELAXED) != 1)
			__atomic_add_fetch(&poisoned_reads, 1, __ATOMIC_RELAXED);
	return 0;
}

static void
test_grace_period(void **state)
{
	const struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = "reader",
		.flags = WEIR_GRAPH_NODE_SOURCE,
		.process = reader_process,
	};
	uint64_t copies[2] = {1, 0}, deadline_ns, swaps = 0;
	struct weir_graph *graph;
	pthread_t thread;

	(void)state;
	weir_graph_node_register(&reg);
	graph = gt_graph("g", "reader", 0);
	__atomic_store_n(&shared, &copies[0], __ATOMIC_RELEASE);
	set_stop(false);
	assert_int_equal(pthread_create(&thread, NULL, walk_only, graph), 0);
	deadline_ns = weir_base_time_ns() + 300000000;
	for (; weir_base_time_ns() < deadline_ns || swaps <= 10; swaps++) {
		uint64_t *old = &copies[swaps % 2], *new = &copies[(swaps + 1) % 2];

		__atomic_store_n(new, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&shared, new, __ATOMIC_RELEASE);
		assert_int_equal(weir_graph_synchronize(UINT64_C(20000000000)), 0);
		__atomic_store_n(old, 0, __ATOMIC_RELAXED);
	}
	set_stop(true);
	pthread_join(thread, NULL);
	assert_int_equal(poisoned_reads, 0);
}

static int
setup(void **state)
{
	gt_eal_init(3, "256");
	return gt_clear(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_snapshots_add_up, gt_clear),
		cmocka_unit_test_teardown(test_two_lcores, gt_clear),
		cmocka_unit_test_teardown(test_stuck, gt_clear),
		cmocka_unit_test_teardown(test_synchronize, gt_clear),
		cmocka_unit_test_teardown(test_grace_period, gt_clear),
	};

	return cmocka_run_group_tests(tests, setup, gt_teardown);
}
