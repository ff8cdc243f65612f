/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGE_TEST_H
#define BRIDGE_TEST_H

/*
 * What the tests of lib/bridge share: packets of flows, with numbers, and nodes that bring them in and look at them. EAL, the log and
 * skipping are those of lib/sched's tests.
 */

#include <pthread.h>

#include "../sched/sched_test.h"

#include "weir_bridge.h"
#include "weir_bridge_object.h"
#include "weir_em_pool.h"
#include "weir_graph.h"
#include "weir_graph_fast.h"
#include "weir_node.h"

#define BT_POOL_SIZE   4095
#define BT_FLOWS       64
#define BT_CORES_MAX   4
#define BT_PATIENCE_NS 60000000000ull

/* The instance under test, and the packets. */
extern struct weir_em *bt_em;
extern struct rte_mempool *bt_pool;

/* A packet of a flow: UDP, of one of BT_FLOWS addresses, with a number that its flow counts up. NULL: there is none left. */
struct rte_mbuf *bt_packet(unsigned int flow, uint32_t number);
unsigned int bt_flow(const struct rte_mbuf *m);
uint32_t bt_number(const struct rte_mbuf *m);

/*
 * Node "bt_source" brings in packets of all flows in turns, so many that bt_left says; "bt_copy" makes two of each; "bt_work" takes some time over each, and passes
 * it on by edge 0; "bt_sink" counts and frees them, and looks whether two threads have one flow, and whether its numbers go up one by one.
 */
extern uint64_t bt_left;           /* of bt_source: to be brought in yet. Of one thread */
extern uint32_t bt_next[BT_FLOWS]; /* the next number that bt_source gives */
extern uint64_t bt_sunk;           /* packets that bt_sink got: atomic */
extern uint64_t
	bt_out_of_order; /* atomic: packets that bt_sink saw with another number than the next */
extern uint64_t bt_together; /* atomic: times that two threads had a flow in bt_sink */
extern uint32_t bt_expected[BT_FLOWS];
extern unsigned int bt_sink_delay_ns, bt_work_delay_ns; /* the latter up to twice that */

/* Make packets; make them and an instance with cores and producers; and after a test, take all away and see that no packet is missing. */
void bt_make_pool(void);
void bt_make(struct weir_em_config config);
int bt_teardown(void **state);
#define BT_TEST(name) cmocka_unit_test_teardown(name, bt_teardown)

/* A queue, which is taken care of. */
weir_em_queue bt_queue(const char *name, enum weir_em_queue_type type);

/* A graph of the nodes that match, and is destroyed at the end of the test. @second: another pattern, or NULL */
struct weir_graph *bt_graph(const char *name, const char *node);
struct weir_graph *bt_graph_of_two(const char *name, const char *node, const char *second);

/* Nodes that are deleted at the end of the test. */
void bt_keep(uint32_t node);
uint32_t bt_tx(const char *name, const weir_em_queue *queues, unsigned int nb, bool wait);
uint32_t bt_rx(const char *name, const weir_em_queue *queues, unsigned int nb, const char *next);

/* Dispatch in this thread as a core until bt_sunk is so much. @return whether it came to that in time */
bool bt_serve(struct weir_em_core *core, uint64_t sunk);

/* Counter of a node in a graph. */
uint64_t bt_xstat(struct weir_graph *graph, const char *node, unsigned int xstat);

#endif
