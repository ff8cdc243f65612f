/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_BENCH_H
#define READOUT_BENCH_H

/*
 * What `weir bench readout` is made of: frames of detector links in memory, and two ways from the port where they come to the latency
 * buffer where they stay.
 *
 *     readout.c            the cases, and what became of their frames
 *     readout_summary.c    what a side's turns were like
 *     readout_traffic.c    frames, ports, what a side has to have kept of them
 *     readout_ours.c       ours: receiver, links with their checks, latency buffers; by callback or by queues
 *     readout_peer.c       the published starting point: a copy into a message, a bounded queue, a copy into the buffer
 *     readout_consumer.c   the thread that empties queues
 *     readout_copies.c     what copies take of the memory's bandwidth
 *     readout_lookup.c     windows of time looked up in both sides' buffers
 *     readout_accessors.c  fields of frames, beside code written for their format
 *
 * A turn is a slice of frames that wait in a side's port when it begins; when it ends all of them are in the side's buffers. Between turns,
 * outside of the time, what the buffers have of them is compared with what was sent, and the next ones are written.
 */

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <weir_base.h>
#include <weir_readout_format.h>

#include "harness.h"

#define READOUT_LINKS_MAX 32
#define READOUT_SLICE_MAX 4096
#define READOUT_BURST_MAX 256
#define READOUT_HEADER    42   /* bytes of Ethernet, IPv4 and UDP before a frame */
#define READOUT_TURNS_MAX 4096 /* whose times are kept */

/* How frames get to a side's buffers. */
enum readout_way {
	READOUT_CALLBACK, /* in the receiver's thread */
	READOUT_QUEUE,    /* by queues and a consumer's thread */
	READOUT_RELEASED, /* nowhere: a callback in the receiver's thread gives the packets back */
};

/* Frames that all sides get: the same ones in the same order. */
struct readout_traffic {
	struct weir_readout_format format;
	int socket; /* of all memory */
	uint32_t nb_links;
	uint32_t frame_bytes;
	uint32_t slice; /* frames of a turn, a multiple of nb_links */
	uint32_t burst;
	struct rte_mempool *pool; /* of as many mbufs: between turns all are in it */
	char why[256];            /* the first thing that went wrong with them, on either side */
};

/* What a turn took, in cycles. */
struct readout_turn {
	uint64_t passed;  /* from its beginning to its end */
	uint64_t receive; /* of the receiver's thread, without waiting */
	uint64_t consume; /* of the consumer's thread, likewise; 0: there is none */
};

/* One side of a case: its port, and its turns. */
struct readout_side {
	struct readout_traffic *traffic;
	const char *name;
	struct rte_ring *ring; /* what its port receives */
	uint16_t ethdev;
	char device[64];
	unsigned int nb_threads;
	void (*run)(struct readout_side *side, struct readout_turn *turn);
	/* How many frames from number @p first of each link on the buffers have as they were sent; readout_wrong() where counters do not agree. */
	uint64_t (*look)(struct readout_side *side, uint64_t first);
	uint64_t nb_frames; /* that it was given so far, of each link */
	uint64_t nb_turns;
	uint64_t bytes_copied;                        /* so far, as the side counts them */
	struct readout_turn turns[READOUT_TURNS_MAX]; /* the latest ones */
};

/* Both sides of a case, whose buffers are full. */
struct readout_pair {
	struct readout_traffic traffic;
	struct readout_side *ours, *peer;
};

/* readout_traffic.c. Negative errno. */
int readout_traffic_init(struct readout_traffic *traffic, uint32_t nb_links, uint32_t frame_bytes,
	uint32_t slice, int socket);
void readout_traffic_free(struct readout_traffic *traffic);
int readout_port_open(struct readout_side *side, const char *name);
void readout_port_close(struct readout_side *side);
/* Of a struct bench_side: set a turn up; run it; look at what came of it. */
void readout_prepare(void *side);
void readout_slice(void *side, uint64_t nb);
uint64_t readout_cycles(void *side);
/* Is what a buffer has number @p number of the link, from its first byte to its last? */
bool readout_is_frame(const struct readout_traffic *traffic, uint32_t link, uint64_t number,
	const uint8_t *frame);
/* The first one counts. */
void readout_wrong(struct readout_side *side, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline uint64_t
readout_timestamp(const struct readout_traffic *traffic, uint64_t number)
{
	return (number + 1) * traffic->format.step_ticks;
}

/* Stream key of a link. */
static inline uint64_t
readout_key(uint32_t link)
{
	return link;
}

/* readout_ours.c. NULL with rte_errno */
struct readout_side *readout_ours_create(
	struct readout_traffic *traffic, enum readout_way way, uint64_t buffer_bytes);
void readout_ours_free(struct readout_side *side);
const struct weir_readout_buffer *readout_ours_buffer(
	const struct readout_side *side, uint32_t link);
uint32_t readout_ours_cells(const struct readout_side *side); /* of each buffer */
uint32_t readout_ours_history(
	const struct readout_side *side); /* frames of each link that can be found */

/* readout_peer.c */
struct readout_ring_buffer;
struct readout_side *readout_peer_create(struct readout_traffic *traffic, uint32_t nb_cells);
void readout_peer_free(struct readout_side *side);
struct readout_ring_buffer *readout_peer_buffer(struct readout_side *side, uint32_t link);

/*
 * readout_consumer.c. The consumer's thread calls sweep(), which returns how many frames it moved, until it moved none after the producer was
 * done.
 */
int readout_consumer_start(const cpu_set_t *allowed); /* negative errno: told */
void readout_consumer_stop(void);
void readout_consumer_begin(uint32_t (*sweep)(void *arg), void *arg); /* returns when it sweeps */
uint64_t readout_consumer_end(void); /* the producer is done. @return cycles, without waiting */
extern bool readout_crowded;         /* both threads share a CPU */

/* readout_summary.c. Until there were @p nb_frames of each link, so that frames take others' places from then on. */
void readout_fill(struct readout_side *side, uint32_t nb_frames);
/* Of all turns: the median; bytes of a frame that were copied. */
double readout_frames_per_s(const struct readout_side *side);
double readout_bytes_copied(const struct readout_side *side);

/* Medians, per frame. */
struct readout_summary {
	double frames_per_s;
	double receive, consume; /* cycles of each thread */
	double waiting;          /* share of its threads' time */
	double bytes_copied;
};

struct readout_summary readout_summarize(const struct readout_side *side);
json_t *readout_summary_json(
	const struct readout_side *side, const struct readout_summary *summary);
void readout_summary_say(struct bench_report *report, const struct readout_side *side,
	const struct readout_summary *summary);

/* readout_copies.c */
void readout_copies_list(void);
bool readout_copies_wanted(const struct bench_options *options);
void readout_copies_run(const struct bench_options *options, struct bench_report *report,
	uint32_t burst, uint64_t buffer_bytes, int socket);

/* readout_lookup.c. Of the pair's first link. */
void readout_lookup_list(void);
bool readout_lookup_wanted(const struct bench_options *options);
void readout_lookup_run(const struct bench_options *options, struct bench_report *report,
	const struct readout_pair *pair);

/* readout_accessors.c */
void readout_accessors_list(void);
bool readout_accessors_wanted(const struct bench_options *options);
void readout_accessors_run(const struct bench_options *options, struct bench_report *report);

#endif
