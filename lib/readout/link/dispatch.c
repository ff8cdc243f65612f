/* SPDX-License-Identifier: BSD-3-Clause */
/* From bursts of packets to links. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "payload.h"
#include "registry_private.h"
#include "tally.h"
#include "weir_readout_dispatch.h"
#include "weir_readout_format_fast.h"

#define QUEUES_MAX 65536u
#define BATCH      64
/* Multipliers tried before the array is made twice as large, and how large it may become. */
#define TRIES_MAX     1000
#define TABLE_LOG_MAX 20

/* A link, and its frames of this burst. */
struct lane {
	struct weir_readout_link *link;
	bool touched;
	uint32_t nb;
	struct weir_readout_item items[BATCH];
};

/* Where the multiplier puts a key no other key of the queue is. */
struct slot {
	uint64_t key;
	struct lane *lane; /* NULL: none */
};

struct queue {
	struct weir_readout_format format;
	struct slot *slots;
	uint64_t multiplier;
	uint32_t shift; /* 64 - log2 of their number */
	uint32_t nb_lanes;
	struct lane **lanes;
	struct lane **touched; /* in this burst */
	uint32_t nb_touched;
	struct weir_readout_dispatch_stats own;
	OWN_LINE uint64_t version;
	struct weir_readout_dispatch_stats published;
};

struct weir_readout_dispatch {
	uint32_t nb_queues;
	struct queue *queues;
};

struct weir_readout_dispatch *
weir_readout_dispatch_create(uint32_t nb_queues)
{
	struct weir_readout_dispatch *dispatch;

	if (nb_queues == 0 || nb_queues > QUEUES_MAX) {
		READOUT_LOG(
			ERROR, "%" PRIu32 " queues, expected 1 up to %u", nb_queues, QUEUES_MAX);
		rte_errno = EINVAL;
		return NULL;
	}
	rte_errno = ENOMEM;
	dispatch = calloc(1, sizeof(*dispatch));
	if (dispatch == NULL)
		return NULL;
	dispatch->queues =
		aligned_alloc(__alignof__(struct queue), (size_t)nb_queues * sizeof(struct queue));
	if (dispatch->queues == NULL) {
		free(dispatch);
		return NULL;
	}
	memset(dispatch->queues, 0, (size_t)nb_queues * sizeof(struct queue));
	dispatch->nb_queues = nb_queues;
	return dispatch;
}

void
weir_readout_dispatch_free(struct weir_readout_dispatch *dispatch)
{
	if (dispatch == NULL)
		return;
	for (uint32_t i = 0; i < dispatch->nb_queues; i++) {
		struct queue *queue = &dispatch->queues[i];

		for (uint32_t lane = 0; lane < queue->nb_lanes; lane++)
			free(queue->lanes[lane]);
		free(queue->lanes);
		free(queue->touched);
		free(queue->slots);
	}
	free(dispatch->queues);
	free(dispatch);
}

/* Put all keys into an array of this size. @return false: two of them come to one place */
static bool
fill(const struct queue *queue, struct slot *slots, uint32_t log, uint64_t multiplier)
{
	memset(slots, 0, sizeof(*slots) << log);
	for (uint32_t i = 0; i < queue->nb_lanes; i++) {
		uint64_t key = weir_readout_link_key(queue->lanes[i]->link);
		struct slot *slot = &slots[key * multiplier >> (64 - log)];

		if (slot->lane != NULL)
			return false;
		*slot = (struct slot){key, queue->lanes[i]};
	}
	return true;
}

/* A multiplier that parts the keys of a queue, of as small an array as there is one for. */
static int
make_table(struct queue *queue)
{
	uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);

	for (uint32_t log = 1; log <= TABLE_LOG_MAX; log++) {
		struct slot *slots;

		if (queue->nb_lanes > 1u << log)
			continue;
		slots = malloc(sizeof(*slots) << log);
		if (slots == NULL)
			return -ENOMEM;
		for (uint32_t i = 0; i < TRIES_MAX; i++) {
			multiplier =
				multiplier * UINT64_C(6364136223846793005) + 1442695040888963407;
			if (!fill(queue, slots, log, multiplier | 1))
				continue;
			free(queue->slots);
			queue->slots = slots;
			queue->multiplier = multiplier | 1;
			queue->shift = 64 - log;
			return 0;
		}
		free(slots);
	}
	READOUT_LOG(ERROR, "%" PRIu32 " links on a queue are too many", queue->nb_lanes);
	return -ENOMEM;
}

static bool
same_format(const struct weir_readout_format *a, const struct weir_readout_format *b)
{
	return strcmp(a->name, b->name) == 0 && a->layer == b->layer && a->swap == b->swap &&
	       memcmp(a->fields, b->fields, sizeof(a->fields)) == 0;
}

static int
check_link(const struct weir_readout_dispatch *dispatch, const struct queue *queue,
	const struct weir_readout_link *link)
{
	const struct weir_readout_format *format = weir_readout_link_format(link);
	const char *name = weir_readout_link_name(link);
	uint64_t key = weir_readout_link_key(link);

	if ((key & ~format->fields[WEIR_BASE_FIELD_STREAM].mask) != 0) {
		READOUT_LOG(ERROR, "link '%s': frames of format '%s' have no stream key %" PRIu64,
			name, format->name, key);
		return -EINVAL;
	}
	if (queue->nb_lanes > 0 && !same_format(format, &queue->format)) {
		READOUT_LOG(ERROR, "link '%s' of format '%s': its queue's frames are '%s'", name,
			format->name, queue->format.name);
		return -EPROTOTYPE;
	}
	for (uint32_t q = 0; q < dispatch->nb_queues; q++)
		for (uint32_t i = 0; i < dispatch->queues[q].nb_lanes; i++) {
			const struct weir_readout_link *other = dispatch->queues[q].lanes[i]->link;

			if (other != link && (&dispatch->queues[q] != queue ||
						     weir_readout_link_key(other) != key))
				continue;
			READOUT_LOG(ERROR,
				"link '%s': link '%s' has stream key %" PRIu64 " of queue %" PRIu32
				" already",
				name, weir_readout_link_name(other), weir_readout_link_key(other),
				q);
			return -EEXIST;
		}
	return 0;
}

/* @return whether there is room for one more */
static bool
grow(struct lane ***lanes, uint32_t nb)
{
	struct lane **larger = realloc(*lanes, (nb + 1) * sizeof(struct lane *));

	if (larger != NULL)
		*lanes = larger;
	return larger != NULL;
}

int
weir_readout_dispatch_add(
	struct weir_readout_dispatch *dispatch, uint32_t number, struct weir_readout_link *link)
{
	struct queue *queue;
	struct lane *lane;
	int rc;

	if (number >= dispatch->nb_queues) {
		READOUT_LOG(ERROR, "link '%s': queue %" PRIu32 " of %" PRIu32,
			weir_readout_link_name(link), number, dispatch->nb_queues);
		return -EINVAL;
	}
	queue = &dispatch->queues[number];
	rc = check_link(dispatch, queue, link);
	if (rc < 0)
		return rc;
	lane = calloc(1, sizeof(*lane));
	if (lane == NULL || !grow(&queue->lanes, queue->nb_lanes) ||
		!grow(&queue->touched, queue->nb_lanes)) {
		free(lane);
		return -ENOMEM;
	}
	lane->link = link;
	queue->lanes[queue->nb_lanes++] = lane;
	rc = make_table(queue);
	if (rc < 0) {
		queue->nb_lanes--;
		free(lane);
		return rc;
	}
	queue->format = *weir_readout_link_format(link);
	return 0;
}

static void
flush(struct lane *lane, uint64_t arrival_ns)
{
	weir_readout_link_receive(lane->link, lane->items, lane->nb, arrival_ns);
	lane->nb = 0;
}

static void
unknown(struct queue *queue, uint64_t key, uint64_t arrival_ns)
{
	if (queue->own.unknown_stream++ == 0) {
		queue->own.unknown_first_key = key;
		queue->own.unknown_first_ns = arrival_ns;
	}
	queue->own.unknown_last_key = key;
	queue->own.unknown_last_ns = arrival_ns;
}

/* The key of a frame as far as it is there: one of a wrong size is the link's to count, if it says whose it is. */
static bool
read_key(const struct weir_readout_format *format, const uint8_t *frame, uint32_t bytes,
	uint64_t *key)
{
	const struct weir_readout_field *field = &format->fields[WEIR_BASE_FIELD_STREAM];
	uint8_t padded[sizeof(uint64_t)] = {0};

	if (unlikely(bytes < field->load + sizeof(padded))) {
		if (bytes < format->size_min_bytes || bytes >= sizeof(padded))
			return false;
		if (bytes > 0)
			memcpy(padded, frame, bytes);
		frame = padded;
	}
	*key = weir_readout_field_get(field, format->swap, frame);
	return true;
}

/* @return the frame's lane, with the item in it that is to be filled; NULL: counted */
static struct lane *
classify(struct queue *queue, struct rte_mbuf *m, uint64_t arrival_ns)
{
	uint32_t offset, bytes, there;
	const uint8_t *frame;
	struct slot *slot;
	struct lane *lane;
	enum weir_base_datagram found = payload_find(m, queue->format.layer, &offset, &bytes);
	uint64_t key;

	frame = rte_pktmbuf_mtod_offset(m, const uint8_t *, offset);
	there = RTE_MIN(bytes, (uint32_t)m->data_len - offset);
	if (unlikely(found == WEIR_BASE_DATAGRAM_OTHER)) {
		queue->own.not_udp++;
		return NULL;
	}
	if (unlikely(found != WEIR_BASE_DATAGRAM_FOUND ||
		     !read_key(&queue->format, frame, there, &key))) {
		queue->own.truncated++;
		return NULL;
	}
	if (unlikely(queue->slots == NULL)) {
		unknown(queue, key, arrival_ns);
		return NULL;
	}
	slot = &queue->slots[key * queue->multiplier >> queue->shift];
	lane = slot->lane;
	if (unlikely(lane == NULL || slot->key != key)) {
		unknown(queue, key, arrival_ns);
		return NULL;
	}
	lane->items[lane->nb] = (struct weir_readout_item){
		.mbuf = m, .data = frame, .data_bytes = there, .frame.size_bytes = bytes};
	return lane;
}

static void
add(struct queue *queue, struct lane *lane, uint64_t arrival_ns)
{
	queue->own.links++;
	if (!lane->touched)
		queue->touched[queue->nb_touched++] = lane;
	lane->touched = true;
	if (++lane->nb == BATCH)
		flush(lane, arrival_ns);
}

/* What is left of a burst. */
static void
flush_all(struct queue *queue, uint64_t arrival_ns)
{
	for (uint32_t i = 0; i < queue->nb_touched; i++) {
		queue->touched[i]->touched = false;
		flush(queue->touched[i], arrival_ns);
	}
	queue->nb_touched = 0;
}

/* @param rest  where packets go that no link has; NULL: they are freed. @return how many they are */
static __rte_always_inline uint32_t
receive(struct queue *queue, struct rte_mbuf *const *mbufs, uint32_t nb, uint64_t arrival_ns,
	struct rte_mbuf **rest)
{
	uint32_t nb_rest = 0;

	queue->own.received += nb;
	for (uint32_t i = 0; i < nb; i++) {
		struct lane *lane = classify(queue, mbufs[i], arrival_ns);

		if (likely(lane != NULL))
			add(queue, lane, arrival_ns);
		else if (rest != NULL)
			rest[nb_rest++] = mbufs[i];
		else
			rte_pktmbuf_free(mbufs[i]);
	}
	flush_all(queue, arrival_ns);
	tally_publish(&queue->version, (uint64_t *)&queue->published, (const uint64_t *)&queue->own,
		TALLY_WORDS(queue->own));
	return nb_rest;
}

void
weir_readout_dispatch_receive(struct weir_readout_dispatch *dispatch, uint32_t queue,
	struct rte_mbuf *const *mbufs, uint32_t nb, uint64_t arrival_ns)
{
	receive(&dispatch->queues[queue], mbufs, nb, arrival_ns, NULL);
}

uint32_t
weir_readout_dispatch_take(struct weir_readout_dispatch *dispatch, uint32_t queue,
	struct rte_mbuf **mbufs, uint32_t nb, uint64_t arrival_ns)
{
	return receive(&dispatch->queues[queue], mbufs, nb, arrival_ns, mbufs);
}

int
weir_readout_dispatch_stats(const struct weir_readout_dispatch *dispatch, uint32_t queue,
	struct weir_readout_dispatch_stats *stats)
{
	if (queue >= dispatch->nb_queues)
		return -EINVAL;
	tally_read(&dispatch->queues[queue].version,
		(const uint64_t *)&dispatch->queues[queue].published, (uint64_t *)stats,
		TALLY_WORDS(*stats));
	return 0;
}
