/* SPDX-License-Identifier: BSD-3-Clause */
/* Links: frames checked, counted, and sent on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "chain.h"
#include "registry_private.h"
#include "tally.h"
#include "weir_base_line.h"
#include "weir_readout_format_fast.h"

/* Frames whose fields are read at once. */
#define BATCH 64u

/* Counters as they are published: 64-bit words. */
struct link_tally {
	uint64_t received, received_bytes;
	uint64_t passed; /* given to the consumer */
	uint64_t dropped[WEIR_READOUT_NB_DROPS];
	uint64_t missing;
	struct weir_readout_fault_stats faults[WEIR_READOUT_NB_FAULTS];
	uint64_t processed[WEIR_READOUT_PROCESS_DROPS_MAX]; /* last: see publish() */
};

struct weir_readout_link {
	struct weir_readout_format format;
	struct weir_readout_source *source;
	uint64_t key, stall_ns;
	bool drop_duplicates;
	struct weir_base_line line;
	struct chain chain;
	uint64_t arrival_ns; /* of the last batch */
	struct link_tally own;
	OWN_LINE uint64_t version;
	struct link_tally published;
	OWN_LINE uint64_t released; /* atomic */
};

/* Faults of the line are the first of those of links. */
#define SAME(name)                                                                                 \
	_Static_assert((int)WEIR_BASE_LINE_##name == (int)WEIR_READOUT_FAULT_##name, #name)
SAME(GAP);
SAME(DUPLICATE);
SAME(REORDERED);
SAME(SEQUENCE_JUMP);
SAME(EARLY);
SAME(LATE);
SAME(TIMESTAMP_JUMP);

const struct weir_readout_type weir_readout_item_type = {
	"weir_readout_item", sizeof(struct weir_readout_item), 1};

const char *
weir_readout_fault_name(enum weir_readout_fault fault)
{
	static const char *const names[] = {
		[WEIR_READOUT_FAULT_GAP] = "gap",
		[WEIR_READOUT_FAULT_DUPLICATE] = "duplicate",
		[WEIR_READOUT_FAULT_REORDERED] = "reordered",
		[WEIR_READOUT_FAULT_SEQUENCE_JUMP] = "sequence_jump",
		[WEIR_READOUT_FAULT_EARLY] = "early",
		[WEIR_READOUT_FAULT_LATE] = "late",
		[WEIR_READOUT_FAULT_TIMESTAMP_JUMP] = "timestamp_jump",
		[WEIR_READOUT_FAULT_WRONG_SIZE] = "wrong_size",
		[WEIR_READOUT_FAULT_STALL] = "stall",
	};

	return (unsigned int)fault < RTE_DIM(names) ? names[fault] : NULL;
}

const char *
weir_readout_drop_name(enum weir_readout_drop reason)
{
	static const char *const names[] = {
		[WEIR_READOUT_DROP_WRONG_SIZE] = "wrong_size",
		[WEIR_READOUT_DROP_DUPLICATE] = "duplicate",
		[WEIR_READOUT_DROP_QUEUE_FULL] = "queue_full",
		[WEIR_READOUT_DROP_UNBOUND] = "unbound",
		[WEIR_READOUT_DROP_PROCESSED] = "processed",
	};

	return (unsigned int)reason < RTE_DIM(names) ? names[reason] : NULL;
}

/* @return false: said in the log */
static bool
check_config(const struct weir_readout_link_config *config)
{
	const char *name = config->name == NULL ? "" : config->name;

	if (config->format == NULL) {
		READOUT_LOG(ERROR, "link '%s' needs a format", name);
		return false;
	}
	if (!(config->jump_s >= 0 && config->jump_s <= 1e6)) {
		READOUT_LOG(ERROR, "link '%s': a jump of %g s, expected 0 up to 1000000", name,
			config->jump_s);
		return false;
	}
	if (config->jump_s > 0 && config->format->clock_hz == 0) {
		READOUT_LOG(ERROR,
			"link '%s': format '%s' has no clock, so a jump cannot be given in seconds",
			name, config->format->name);
		return false;
	}
	return true;
}

/* What is checked of frames. */
static struct weir_base_line_config
line_of(const struct weir_readout_link_config *config)
{
	const struct weir_readout_format *format = config->format;

	return (struct weir_base_line_config){
		.step_ticks = format->step_ticks,
		.clock_hz = format->clock_hz,
		.sequence_modulus = format->sequence_modulus,
		.timestamp_bits = format->timestamp_bits,
		.has_sequence = weir_readout_format_has(format, WEIR_BASE_FIELD_SEQUENCE),
		.has_timestamp = weir_readout_format_has(format, WEIR_BASE_FIELD_TIMESTAMP),
		.jump_s = config->jump_s,
	};
}

struct weir_readout_link *
weir_readout_link_create(
	struct weir_readout_registry *registry, const struct weir_readout_link_config *config)
{
	const struct weir_readout_source_config source = {
		.name = config->name, .sink = config->sink, .type = &weir_readout_item_type};
	struct weir_base_line_config line;
	struct weir_readout_link *link;

	if (!check_config(config)) {
		rte_errno = EINVAL;
		return NULL;
	}
	link = aligned_alloc(__alignof__(struct weir_readout_link), sizeof(*link));
	if (link == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	memset(link, 0, sizeof(*link));
	link->format = *config->format;
	link->key = config->key;
	link->stall_ns = config->stall_ns;
	link->drop_duplicates = config->drop_duplicates;
	line = line_of(config);
	weir_base_line_init(&link->line, &line);
	if (chain_init(&link->chain, config->name, config->processes, config->nb_processes) < 0)
		rte_errno = EINVAL;
	else
		link->source = weir_readout_source_create(registry, &source);
	if (link->source == NULL) {
		free(link);
		return NULL;
	}
	return link;
}

void
weir_readout_link_free(struct weir_readout_link *link)
{
	if (link == NULL)
		return;
	weir_readout_source_free(link->source);
	free(link);
}

const char *
weir_readout_link_name(const struct weir_readout_link *link)
{
	return link->source->name;
}

uint64_t
weir_readout_link_key(const struct weir_readout_link *link)
{
	return link->key;
}

const struct weir_readout_format *
weir_readout_link_format(const struct weir_readout_link *link)
{
	return &link->format;
}

const char *
weir_readout_link_process_drop_name(const struct weir_readout_link *link, uint32_t number)
{
	return chain_drop_name(&link->chain, number);
}

struct weir_readout_source *
weir_readout_link_source(const struct weir_readout_link *link)
{
	return link->source;
}

/* The frame counted last showed it. */
static void
remember(struct weir_readout_link *link, enum weir_readout_fault fault,
	const struct weir_readout_frame *frame, uint64_t arrival_ns)
{
	struct weir_readout_fault_stats *stats = &link->own.faults[fault];
	const struct weir_readout_occurrence now = {
		.number = link->own.received - 1,
		.timestamp = frame->timestamp,
		.sequence = frame->sequence,
		.arrival_ns = arrival_ns,
	};

	if (stats->count++ == 0)
		stats->first = now;
	else
		stats->interval_ns = arrival_ns - stats->last.arrival_ns;
	stats->last = now;
}

static void
remember_all(struct weir_readout_link *link, uint32_t faults,
	const struct weir_readout_frame *frame, uint64_t arrival_ns)
{
	for (; faults != 0; faults &= faults - 1)
		remember(link, (enum weir_readout_fault)__builtin_ctz(faults), frame, arrival_ns);
}

static void
drop(struct weir_readout_link *link, const struct weir_readout_item *item,
	enum weir_readout_drop reason)
{
	link->own.dropped[reason]++;
	rte_pktmbuf_free(item->mbuf);
}

/* Are its fields there, and is its size what the format and they say? */
static bool
has_right_size(const struct weir_readout_format *format, const struct weir_readout_item *item,
	const struct weir_readout_header *header)
{
	return weir_readout_format_size_allowed(format, item->frame.size_bytes) &&
	       item->data_bytes >= format->fields_bytes &&
	       weir_readout_format_length_agrees(format, header, item->frame.size_bytes);
}

/* Whose fields are right. @return as take() */
static bool
process(struct weir_readout_link *link, const struct weir_readout_item *item)
{
	int reason = chain_run(&link->chain, item);

	if (reason < 0)
		return true;
	link->own.processed[reason]++;
	drop(link, item, WEIR_READOUT_DROP_PROCESSED);
	return false;
}

/* @param header  what its fields say. @return whether it is to be sent on; if not, it is dropped */
static bool
take(struct weir_readout_link *link, struct weir_readout_item *item,
	const struct weir_readout_header *header, uint64_t arrival_ns)
{
	const struct weir_base_line_point point = {header->sequence, header->timestamp};
	struct weir_base_line_verdict verdict;

	item->link = link;
	item->reserved = 0;
	item->frame.timestamp = item->frame.sequence = 0;
	link->own.received++;
	link->own.received_bytes += item->frame.size_bytes;
	if (unlikely(!has_right_size(&link->format, item, header))) {
		remember(link, WEIR_READOUT_FAULT_WRONG_SIZE, &item->frame, arrival_ns);
		drop(link, item, WEIR_READOUT_DROP_WRONG_SIZE);
		return false;
	}
	item->frame.sequence = point.sequence;
	item->frame.timestamp = link->line.has_timestamp ? point.timestamp : arrival_ns;
	verdict = weir_base_line_take(&link->line, &point);
	if (likely(verdict.faults == 0))
		return process(link, item);
	link->own.missing += verdict.missing;
	remember_all(link, verdict.faults, &item->frame, arrival_ns);
	if (!link->drop_duplicates || (verdict.faults & 1u << WEIR_READOUT_FAULT_DUPLICATE) == 0)
		return process(link, item);
	drop(link, item, WEIR_READOUT_DROP_DUPLICATE);
	return false;
}

/* Of what functions drop, only the reasons that they have. */
static void
publish(struct weir_readout_link *link)
{
	const size_t unused = RTE_DIM(link->own.processed) - link->chain.nb_drops;

	tally_publish(&link->version, (uint64_t *)&link->published, (const uint64_t *)&link->own,
		TALLY_WORDS(link->own) - unused);
}

/*
 * Counted as passed before they are, so that none is released that was not: a reader's sums agree at any time. What the consumer
 * does not take is counted anew.
 */
static void
pass_on(struct weir_readout_link *link, const struct weir_readout_item *items, uint32_t nb)
{
	uint64_t unbound = link->source->own.unbound;
	enum weir_readout_drop reason;
	uint32_t nb_sent;

	link->own.passed += nb;
	publish(link);
	nb_sent = weir_readout_source_send(link->source, items, nb);
	if (likely(nb_sent == nb))
		return;
	reason = link->source->own.unbound != unbound ? WEIR_READOUT_DROP_UNBOUND
						      : WEIR_READOUT_DROP_QUEUE_FULL;
	link->own.passed -= nb - nb_sent;
	for (uint32_t i = nb_sent; i < nb; i++)
		drop(link, &items[i], reason);
	publish(link);
}

/* @return how many are to be sent on, at the beginning of @p items */
static uint32_t
take_all(struct weir_readout_link *link, struct weir_readout_item *items, uint32_t nb,
	uint64_t arrival_ns)
{
	bool stalled = link->stall_ns > 0 && link->own.received > 0 &&
		       arrival_ns - link->arrival_ns > link->stall_ns;
	struct weir_readout_header headers[BATCH];
	uint32_t nb_taken = 0;

	for (uint32_t i = 0; i < nb; i++) {
		bool taken;

		if (i % BATCH == 0)
			weir_readout_item_headers(
				&link->format, &items[i], RTE_MIN(nb - i, BATCH), headers);
		taken = take(link, &items[i], &headers[i % BATCH], arrival_ns);
		if (unlikely(stalled && i == 0))
			remember(link, WEIR_READOUT_FAULT_STALL, &items[i].frame, arrival_ns);
		if (taken && nb_taken++ != i)
			items[nb_taken - 1] = items[i];
	}
	return nb_taken;
}

void
weir_readout_link_receive(struct weir_readout_link *link, struct weir_readout_item *items,
	uint32_t nb, uint64_t arrival_ns)
{
	uint32_t nb_taken;

	if (nb == 0)
		return;
	nb_taken = take_all(link, items, nb, arrival_ns);
	link->arrival_ns = arrival_ns;
	pass_on(link, items, nb_taken);
}

void
weir_readout_item_release(const struct weir_readout_item *items, uint32_t nb)
{
	for (uint32_t i = 0, first = 0; i < nb; i++) {
		rte_pktmbuf_free(items[i].mbuf);
		if (i + 1 < nb && items[i + 1].link == items[i].link)
			continue;
		__atomic_fetch_add(&items[i].link->released, i + 1 - first, __ATOMIC_ACQ_REL);
		first = i + 1;
	}
}

void
weir_readout_item_copy(const struct weir_readout_item *item, void *to)
{
	uint32_t left = item->frame.size_bytes, nb = RTE_MIN(left, item->data_bytes);
	const struct rte_mbuf *segment = item->mbuf;
	uint8_t *at = to;

	if (nb > 0)
		memcpy(at, item->data, nb);
	for (at += nb, left -= nb; left > 0 && segment != NULL; at += nb, left -= nb) {
		segment = segment->next;
		if (segment == NULL)
			return;
		nb = RTE_MIN(left, (uint32_t)segment->data_len);
		memcpy(at, rte_pktmbuf_mtod(segment, const void *), nb);
	}
}

/* First what is released: it was passed, so that the counters looked at then know of it. */
void
weir_readout_link_stats(const struct weir_readout_link *link, struct weir_readout_link_stats *stats)
{
	uint64_t released = __atomic_load_n(&link->released, __ATOMIC_ACQUIRE);
	struct link_tally tally;

	tally_read(&link->version, (const uint64_t *)&link->published, (uint64_t *)&tally,
		TALLY_WORDS(tally));
	stats->received = tally.received;
	stats->received_bytes = tally.received_bytes;
	stats->held = tally.passed - released;
	stats->delivered = released;
	stats->missing = tally.missing;
	memcpy(stats->dropped, tally.dropped, sizeof(stats->dropped));
	memcpy(stats->processed, tally.processed, sizeof(stats->processed));
	memcpy(stats->faults, tally.faults, sizeof(stats->faults));
}
