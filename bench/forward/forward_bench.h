/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORWARD_BENCH_H
#define FORWARD_BENCH_H

/*
 * What `weir bench forward` is made of: 64-byte frames in memory, and three
 * forwarders that take them from the same receive ring to the same transmit ring.
 *
 *     forward_traffic.c    frames, destinations, rings, comparing what came out
 *     forward_graph.c      ours: the nodes of lib/node
 *     forward_loop.c       a static loop, as fast as we can write it by hand
 *     forward_pipeline.c   librte_pipeline with rte_table_lpm
 *     forward_routes.c     the same routes for all of them
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#define FORWARD_FRAME        60   /* bytes: 64 with the checksum that a device adds */
#define FORWARD_SLICE        4096 /* frames that a slice forwards */
#define FORWARD_HOPS         16   /* next hops of the routing table */
#define FORWARD_MTU          1500
#define FORWARD_BURSTS       4 /* 32, 64, 128, 256 */
#define FORWARD_BURST_MAX    256
#define FORWARD_DESTINATIONS (1u << 20)

/* The machinery that all sides share. */
struct forward {
	int socket;               /* of all memory */
	struct rte_ring *rx, *tx; /* what the port's queues are */
	struct rte_mempool *pool;
	struct rte_ether_addr mac;       /* the port's own */
	uint16_t port[FORWARD_BURSTS];   /* port ids of lib/node; they differ in burst only */
	uint16_t ethdev[FORWARD_BURSTS]; /* and their devices, on the same rings */
	uint16_t burst_default;          /* lib/node's */
	uint64_t nb_lost;                /* frames that a slice did not send */
	bool under_way;                  /* a slice was set up and its frames not collected yet */
	uint32_t nb_routes;
	struct forward_route *routes;
};

struct forward_route {
	uint32_t address; /* host byte order */
	uint8_t length;
	uint8_t hop;
};

/* A side's frames: each side sees the same ones in the same order. */
struct forward_traffic {
	struct forward *forward;
	const uint32_t *destinations; /* FORWARD_DESTINATIONS, host byte order */
	uint32_t pos;
};

/* Addresses behind each next hop: what a next hop's frames are sent to. */
static inline struct rte_ether_addr
forward_hop_mac(unsigned int hop)
{
	return (struct rte_ether_addr){{0x02, 0x77, 0x65, 0x69, 0x72, (uint8_t)hop}};
}

/* forward_traffic.c */
int forward_init(struct forward *forward, int socket);
uint32_t *forward_destinations(const struct forward *forward, unsigned int percent_hop_0);
void forward_prepare(void *arg);              /* a struct forward_traffic: sets up the next slice */
void forward_finish(struct forward *forward); /* collects the last slice's frames */

/* A set of frames of all kinds, bad ones too, through one side: what came out, by number of frame. */
struct forward_result {
	uint16_t length[FORWARD_SLICE]; /* 0: did not come out */
	uint8_t bytes[FORWARD_SLICE][FORWARD_FRAME];
	uint32_t nb_out, nb_twice;
};
int forward_try(struct forward_traffic *traffic, void (*slice)(void *arg, uint64_t nb), void *arg,
	struct forward_result *result);

/* forward_routes.c */
int forward_routes_load(struct forward *forward, const char *path);

/* forward_graph.c: ours, with the receive burst number `burst`. */
struct forward_graph {
	struct forward_traffic traffic; /* first: the argument of forward_prepare() */
	uint32_t id;
	void *graph;
	uint32_t burst;
	void *cluster;
};
int forward_ports_add(struct forward *forward);
int forward_graph_create(struct forward_graph *graph, struct forward *forward, unsigned int burst);
void forward_graph_slice(void *arg, uint64_t nb);
void forward_graph_destroy(struct forward_graph *graph);

/* forward_loop.c */
enum forward_prefetch {
	FORWARD_PREFETCH_PASS,  /* a pass over the burst that only prefetches */
	FORWARD_PREFETCH_AHEAD, /* some frames ahead of the check */
	FORWARD_NB_PREFETCHES,
};
struct forward_loop {
	struct forward_traffic traffic;
	uint16_t ethdev;
	uint16_t burst;
	enum forward_prefetch prefetch;
	int lookup;   /* way to look up */
	uint64_t mac; /* as the first eight bytes of a frame hold it */
	struct rte_fib *fib;
	uint64_t nb_dropped;
	struct {
		uint8_t header[16]; /* two bytes unused */
	} hops[FORWARD_HOPS] __rte_cache_aligned;
};
struct rte_fib *forward_fib_create(const struct forward *forward);
int forward_fib_lookups(void); /* ways to look up: 0 .. n-1 */
const char *forward_fib_lookup_select(struct rte_fib *fib, int lookup);
void forward_loop_init(struct forward_loop *loop, struct forward *forward, struct rte_fib *fib);
void forward_loop_slice(void *arg, uint64_t nb);

/* forward_pipeline.c */
struct forward_pipeline {
	struct forward_traffic traffic;
	struct rte_pipeline *pipeline;
	uint32_t burst;
	uint64_t mac;
};
int forward_pipeline_create(struct forward_pipeline *pipeline, struct forward *forward,
	uint32_t burst, const char *name);
void forward_pipeline_slice(void *arg, uint64_t nb);

#endif
