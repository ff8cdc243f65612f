/* SPDX-License-Identifier: BSD-3-Clause */

/* Packets in jobs: nothing is lost, order is kept, what is too much is refused, and what is cancelled is told. */

#include <stdlib.h>
#include <unistd.h>

#include "bridge_test.h"
#include "job.h"
#include "weir_bridge_job.h"
#include "weir_em_timer.h"

#define NB_PACKETS 6000
#define NB_WORKERS 2
#define NB_QUEUES  8
#define MAX_JOBS   256

struct worker {
	pthread_t thread;
	unsigned int id;
	struct weir_graph *graph;
};

static struct worker workers[NB_WORKERS];
static struct weir_job_service *service;
static struct weir_em_core *producer;
static struct weir_graph *in;
static uint32_t node;
static bool over, gate; /* atomic */
static unsigned int max_jobs = MAX_JOBS;

static void
lead(const char *from, const char *next)
{
	assert_int_equal(
		weir_graph_node_edge_update(weir_graph_node_from_name(from), 0, &next, 1), 0);
}

/* Some compute, some sleep, some let others go first. */
static enum weir_bridge_verdict
mixed(void *context, struct rte_mbuf *packet)
{
	uint32_t number = bt_number(packet) * 7 + bt_flow(packet);

	(void)context;
	if (number % 5 == 0)
		weir_job_sleep(1000 + number % 50000);
	else if (number % 3 == 0)
		for (uint32_t i = 0; i < number % 8; i++)
			weir_job_yield();
	return WEIR_BRIDGE_PASS;
}

/* Until the test says so, or all is cancelled. */
static enum weir_bridge_verdict
wait_for_gate(void *context, struct rte_mbuf *packet)
{
	(void)context;
	(void)packet;
	while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
		if (weir_job_sleep(50000) < 0)
			break;
	return WEIR_BRIDGE_PASS;
}

static enum weir_bridge_verdict
block_odd(void *context, struct rte_mbuf *packet)
{
	(void)context;
	return bt_number(packet) % 2 != 0 ? WEIR_BRIDGE_BLOCK : WEIR_BRIDGE_PASS;
}

/* Of each flow one packet in ten ends the job that works on it, some of these after they let others go first. */
static bool
ends_its_job(uint32_t number)
{
	return number % 10 == 7;
}

static enum weir_bridge_verdict
exit_sometimes(void *context, struct rte_mbuf *packet)
{
	const uint32_t number = bt_number(packet);

	(void)context;
	if (number % 4 == 3)
		weir_job_yield();
	if (ends_its_job(number))
		weir_coro_exit();
	return WEIR_BRIDGE_PASS;
}

/* Until it is cancelled; then it does not come back. */
static enum weir_bridge_verdict
exit_when_cancelled(void *context, struct rte_mbuf *packet)
{
	(void)context;
	(void)packet;
	while (weir_job_sleep(WEIR_EM_TIMEOUT_NS_MAX) == 0)
		;
	weir_coro_exit();
}

/* Until the test says so; then it does not come back. */
static enum weir_bridge_verdict
exit_at_gate(void *context, struct rte_mbuf *packet)
{
	wait_for_gate(context, packet);
	weir_coro_exit();
}

static const struct weir_bridge_job_type exit_type = {WEIR_BRIDGE_JOB_HEADER,
						 .process = exit_sometimes},
					 cancel_type = {WEIR_BRIDGE_JOB_HEADER,
						 .process = exit_when_cancelled},
					 exit_at_gate_type = {
						 WEIR_BRIDGE_JOB_HEADER, .process = exit_at_gate};

static const struct weir_bridge_job_type mixed_type = {WEIR_BRIDGE_JOB_HEADER, .process = mixed},
					 gate_type = {WEIR_BRIDGE_JOB_HEADER,
						 .process = wait_for_gate},
					 block_type = {
						 WEIR_BRIDGE_JOB_HEADER, .process = block_odd};

static void *
work(void *arg)
{
	const struct weir_em_dispatch_options some = {
		.nb_rounds = 16, .burst = 4, .idle = WEIR_EM_IDLE_YIELD};
	struct worker *worker = arg;
	struct weir_em_core *core = weir_em_core_attach(bt_em, worker->id);

	CHECK(core != NULL && weir_bridge_bind(worker->graph, core) == 0);
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
		weir_em_dispatch(core, &some);
	CHECK(weir_em_core_detach(core) == 0);
	weir_bridge_unbind(worker->graph);
	return NULL;
}

/* A source, jobs of a kind, a sink; workers that serve both. */
static void
begin(const struct weir_bridge_job_type *type, unsigned int nb_packets, bool wait,
	enum weir_em_queue_type queue_type)
{
	const struct weir_em_config config = {
		.nb_cores = NB_WORKERS, .nb_producers = 1, .nb_events = 1024};
	const struct weir_job_service_config jobs = {.max_jobs = max_jobs};
	weir_em_queue queues[NB_QUEUES];
	struct weir_bridge_job_param param = {.name = "j",
		.type = type,
		.queues = queues,
		.nb_queues = queue_type == WEIR_EM_QUEUE_ATOMIC ? NB_QUEUES : 1,
		.flow = WEIR_BRIDGE_FLOW_FIVE_TUPLE,
		.nb_flows = BT_FLOWS,
		.nb_packets = nb_packets,
		.wait = wait};
	char name[32];

	bt_make(config);
	assert_int_equal(
		weir_coro_init(65536, 64, 0, MAX_JOBS, weir_base_ns_to_cycles(10000), 0, -1), 0);
	service = weir_job_service_create(bt_em, &jobs);
	assert_non_null(service);
	for (unsigned int i = 0; i < param.nb_queues; i++)
		queues[i] = bt_queue("flow", queue_type);
	param.em = bt_em;
	param.service = service;
	node = weir_bridge_job_create(&param);
	bt_keep(node);
	bt_rx("r", queues, param.nb_queues, "bt_sink");
	lead("bt_source", "job-j");
	in = bt_graph("in", "bt_source");
	over = gate = false;
	for (unsigned int i = 0; i < NB_WORKERS; i++) {
		snprintf(name, sizeof(name), "worker-%u", i);
		workers[i] = (struct worker){.id = i, .graph = bt_graph(name, "sched_rx-r")};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	assert_int_equal(weir_job_service_start(service, NULL), 0);
	producer = weir_em_producer_attach(bt_em);
	assert_non_null(producer);
	assert_int_equal(weir_bridge_bind(in, producer), 0);
}

static void
feed(uint64_t nb)
{
	uint64_t end = weir_base_time_ns() + BT_PATIENCE_NS;

	bt_left = nb;
	while (bt_left > 0 && weir_base_time_ns() < end)
		weir_graph_walk(in);
	assert_int_equal(bt_left, 0);
}

/* Sums hold whenever they are looked at. */
static struct weir_bridge_job_stats
look(void)
{
	struct weir_bridge_job_stats stats;

	assert_int_equal(weir_bridge_job_stats(node, &stats), 0);
	assert_true(stats.nb_inside <= stats.nb_in);
	assert_int_equal(stats.nb_in, stats.nb_passed + stats.nb_blocked + stats.nb_closed +
					      stats.nb_cancelled + stats.nb_exited +
					      stats.nb_inside);
	return stats;
}

/* Others go on meanwhile; on an event device they may wait for the producer's port. */
static void
let_go_on(void)
{
	assert_int_equal(weir_em_producer_tend(producer), 0);
	usleep(100);
}

static void
wait_until_empty(void)
{
	uint64_t end = weir_base_time_ns() + BT_PATIENCE_NS;

	while (look().nb_inside > 0 && weir_base_time_ns() < end)
		let_go_on();
	assert_int_equal(look().nb_inside, 0);
}

static void
wait_for_sunk(uint64_t nb)
{
	uint64_t end = weir_base_time_ns() + BT_PATIENCE_NS;

	while (__atomic_load_n(&bt_sunk, __ATOMIC_ACQUIRE) < nb && weir_base_time_ns() < end)
		let_go_on();
	assert_int_equal(bt_sunk, nb);
}

static void
end(void)
{
	assert_int_equal(weir_job_service_stop(service, NULL, BT_PATIENCE_NS), 0);
	wait_until_empty();
	weir_bridge_unbind(in);
	weir_em_core_detach(producer);
	assert_int_equal(weir_job_service_destroy(service, NULL), 0);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < NB_WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	weir_coro_cleanup();
}

static void
check_order(enum weir_em_queue_type type)
{
	struct weir_bridge_job_stats stats;

	begin(&mixed_type, 500, true, type);
	feed(NB_PACKETS);
	wait_for_sunk(NB_PACKETS);
	stats = look();
	assert_int_equal(stats.nb_in, NB_PACKETS);
	assert_int_equal(stats.nb_passed, NB_PACKETS);
	assert_int_equal(stats.nb_refused, 0);
	assert_int_equal(bt_xstat(in, "job-j", BRIDGE_JOB_PACKETS), NB_PACKETS);
	if (type == WEIR_EM_QUEUE_ATOMIC) {
		assert_int_equal(bt_out_of_order, 0);
		assert_int_equal(bt_together, 0);
		for (unsigned int flow = 0; flow < BT_FLOWS; flow++)
			assert_int_equal(bt_expected[flow], bt_next[flow]);
	}
	end();
}

/* Mbufs have few bytes to spare: what captures, the event machine and nodes of all kinds put there is put there in one program. */
static void
test_beside_captures(void **state)
{
	char path[] = "/tmp/weir-test-XXXXXX";
	struct weir_node_port_param param = {.name = "capture", .pcap_out = path};
	int fd = mkstemp(path);
	weir_em_queue queue;
	uint16_t port;

	assert_true(fd >= 0);
	close(fd);
	port = weir_node_port_add(&param);
	unlink(path);
	assert_int_not_equal(port, WEIR_NODE_PORT_INVALID);
	begin(&mixed_type, 500, true, WEIR_EM_QUEUE_ATOMIC);
	queue = bt_queue("out", WEIR_EM_QUEUE_ATOMIC);
	bt_tx("t", &queue, 1, true);
	feed(500);
	wait_for_sunk(500);
	assert_int_equal(bt_out_of_order, 0);
	end();
	assert_int_equal(weir_node_port_remove(port), 0);
}

static void
test_order(void **state)
{
	check_order(WEIR_EM_QUEUE_ATOMIC);
}

static void
test_parallel(void **state)
{
	check_order(WEIR_EM_QUEUE_PARALLEL);
}

static void
test_refused(void **state)
{
	struct weir_bridge_job_stats stats;

	begin(&gate_type, 10, false, WEIR_EM_QUEUE_ATOMIC);
	feed(100);
	stats = look();
	assert_int_equal(stats.nb_in, 10);
	assert_int_equal(stats.nb_inside, 10);
	assert_int_equal(stats.nb_refused, 90);
	assert_int_equal(bt_xstat(in, "job-j", BRIDGE_JOB_FULL), 90);
	assert_int_equal(bt_xstat(in, "drop", WEIR_NODE_REASON_JOBS_FULL), 90);
	assert_int_equal(weir_bridge_node_delete(node), -EBUSY);
	__atomic_store_n(&gate, true, __ATOMIC_RELEASE);
	wait_for_sunk(10);
	assert_int_equal(look().nb_passed, 10);
	end();
}

/* No jobs may be begun: as if there was no room. */
static void
test_stopped(void **state)
{
	begin(&mixed_type, 0, false, WEIR_EM_QUEUE_ATOMIC);
	assert_int_equal(weir_job_service_stop(service, NULL, BT_PATIENCE_NS), 0);
	feed(50);
	assert_int_equal(look().nb_in, 0);
	assert_int_equal(look().nb_refused, 50);
	assert_int_equal(bt_xstat(in, "drop", WEIR_NODE_REASON_JOBS_FULL), 50);
	assert_int_equal(weir_job_service_start(service, NULL), 0);
	end();
}

/* Those that are worked on end as they like; those behind them are told of. */
static void
test_cancelled(void **state)
{
	struct weir_bridge_job_stats stats;

	begin(&gate_type, 1000, false, WEIR_EM_QUEUE_ATOMIC);
	feed(500);
	assert_int_equal(weir_job_service_stop(service, NULL, BT_PATIENCE_NS), 0);
	wait_until_empty();
	stats = look();
	assert_int_equal(stats.nb_in, 500);
	assert_int_equal(stats.nb_passed + stats.nb_cancelled, 500);
	assert_true(stats.nb_cancelled > 500 / 2);
	wait_for_sunk(stats.nb_passed);
	assert_int_equal(weir_job_service_start(service, NULL), 0);
	end();
}

/* Work ends its job: that packet is dropped by name, all others of the flow are passed in order. */
static void
test_exited(void **state)
{
	uint64_t nb_exited = 0, nb_gaps = 0;
	struct weir_bridge_job_stats stats;

	begin(&exit_type, 500, true, WEIR_EM_QUEUE_ATOMIC);
	feed(NB_PACKETS);
	wait_until_empty();
	for (unsigned int flow = 0; flow < BT_FLOWS; flow++)
		for (uint32_t number = 0; number < bt_next[flow]; number++) {
			nb_exited += ends_its_job(number);
			/* which the sink takes for the next number out of order, if there is one */
			nb_gaps += ends_its_job(number) && number + 1 < bt_next[flow];
		}
	assert_true(nb_exited > 0);
	stats = look();
	assert_int_equal(stats.nb_in, NB_PACKETS);
	assert_int_equal(stats.nb_exited, nb_exited);
	assert_int_equal(stats.nb_passed, NB_PACKETS - nb_exited);
	wait_for_sunk(NB_PACKETS - nb_exited);
	assert_int_equal(bt_out_of_order, nb_gaps);
	end();
}

/* There is room for one job only, which has it until it is over: those behind the packet that ended it are dropped, and told of. */
static void
test_exited_without_room(void **state)
{
	struct weir_bridge_job_stats stats;

	max_jobs = 1;
	begin(&exit_at_gate_type, 0, true, WEIR_EM_QUEUE_ATOMIC);
	max_jobs = MAX_JOBS;
	feed(500);
	stats = look();
	assert_int_equal(stats.nb_in + stats.nb_refused, 500);
	assert_in_range(stats.nb_inside, 2, 499); /* all those of the first flow */
	__atomic_store_n(&gate, true, __ATOMIC_RELEASE);
	wait_until_empty();
	assert_int_equal(look().nb_exited, stats.nb_in);
	end();
}

/* Jobs that are cancelled, and end in the midst of a packet. */
static void
test_cancelled_in_hand(void **state)
{
	begin(&cancel_type, 0, true, WEIR_EM_QUEUE_ATOMIC);
	feed(500);
	assert_int_equal(weir_job_service_stop(service, NULL, BT_PATIENCE_NS), 0);
	assert_int_equal(look().nb_cancelled, 500);
	assert_int_equal(look().nb_inside, 0);
	assert_int_equal(weir_job_service_start(service, NULL), 0);
	end();
}

static void
test_blocked(void **state)
{
	struct weir_bridge_job_stats stats;

	begin(&block_type, 0, true, WEIR_EM_QUEUE_ATOMIC);
	feed(1024);
	wait_for_sunk(512);
	wait_until_empty();
	stats = look();
	assert_int_equal(stats.nb_blocked, 512);
	assert_int_equal(stats.nb_passed, 512);
	end();
}

static void
test_builtins(void **state)
{
	begin(NULL, 0, true, WEIR_EM_QUEUE_ATOMIC);
	feed(200);
	wait_for_sunk(200);
	assert_int_equal(bt_out_of_order, 0);
	end();
}

static void
test_arguments(void **state)
{
	const struct weir_em_config config = {.nb_cores = 1};
	const struct weir_job_service_config jobs = {.max_jobs = 8};
	struct weir_bridge_job_param good = {.name = "j", .nb_queues = 1}, bad[7];
	struct weir_bridge_job_stats stats;
	weir_em_queue queue;

	bt_make(config);
	assert_int_equal(weir_coro_init(65536, 64, 0, 8, 1, 0, -1), 0);
	service = weir_job_service_create(bt_em, &jobs);
	queue = bt_queue("q", WEIR_EM_QUEUE_ATOMIC);
	good.em = bt_em;
	good.service = service;
	good.queues = &queue;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		bad[i] = good;
	bad[0].name = NULL;
	bad[1].em = NULL;
	bad[2].service = NULL;
	bad[3].nb_queues = 0;
	bad[4].flow = WEIR_BRIDGE_FLOWS;
	bad[5].nb_flows = WEIR_BRIDGE_JOB_FLOWS_MAX + 1;
	bad[6].builtin = WEIR_BRIDGE_JOB_BUILTINS;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(weir_bridge_job_create(&bad[i]), WEIR_GRAPH_NODE_INVALID);
		assert_int_equal(rte_errno, EINVAL);
	}
	assert_int_equal(weir_bridge_job_create(NULL), WEIR_GRAPH_NODE_INVALID);
	bt_keep(weir_bridge_job_create(&good));
	assert_int_equal(weir_bridge_job_create(&good), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(weir_bridge_job_stats(weir_graph_node_from_name("drop"), &stats), -ENOENT);
	assert_int_equal(weir_job_service_destroy(service, NULL), 0);
	weir_coro_cleanup();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BT_TEST(test_beside_captures), /* first: those that registered a field keep it */
		BT_TEST(test_order),
		BT_TEST(test_parallel),
		BT_TEST(test_refused),
		BT_TEST(test_stopped),
		BT_TEST(test_cancelled),
		BT_TEST(test_exited),
		BT_TEST(test_exited_without_room),
		BT_TEST(test_cancelled_in_hand),
		BT_TEST(test_blocked),
		BT_TEST(test_builtins),
		BT_TEST(test_arguments),
	};

	return ST_RUN("bridge/job", tests);
}
