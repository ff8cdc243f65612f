/* SPDX-License-Identifier: BSD-3-Clause */
/* Who looks at frames after they came to a latency buffer: each is pinned for the time of the look, or was missed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "buffer/buffer_private.h"
#include "chain.h"
#include "registry_private.h"
#include "tally.h"

#define BURST_DEFAULT 32

/* Counters as they are published. */
struct follower_tally {
	uint64_t next; /* frame of the buffer's log: all before were looked at */
	uint64_t passed, missed;
	uint64_t dropped[WEIR_READOUT_PROCESS_DROPS_MAX];
};

struct weir_readout_follower {
	const struct weir_readout_buffer *buffer;
	struct weir_readout_link *link;
	struct chain chain;
	uint32_t burst;
	uint64_t first;                /* of the log */
	struct weir_readout_kept look; /* what functions look at now; its buffer is NULL between */
	struct follower_tally own;
	OWN_LINE uint64_t version;
	struct follower_tally published;
};

static void
publish(struct weir_readout_follower *follower)
{
	tally_publish(&follower->version, (uint64_t *)&follower->published,
		(const uint64_t *)&follower->own, TALLY_WORDS(follower->own));
}

static uint64_t
log_end(const struct weir_readout_follower *follower)
{
	return __atomic_load_n(&follower->buffer->log.end, __ATOMIC_ACQUIRE);
}

struct weir_readout_follower *
weir_readout_follower_create(const struct weir_readout_follower_config *config)
{
	const char *name = config->name == NULL ? "" : config->name;
	struct weir_readout_follower *follower;

	if (config->buffer == NULL || config->nb_processes == 0) {
		READOUT_LOG(ERROR, "follower '%s' needs a buffer, and something to run", name);
		rte_errno = EINVAL;
		return NULL;
	}
	follower = aligned_alloc(__alignof__(struct weir_readout_follower), sizeof(*follower));
	if (follower == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	memset(follower, 0, sizeof(*follower));
	if (chain_init(&follower->chain, name, config->processes, config->nb_processes) < 0) {
		free(follower);
		rte_errno = EINVAL;
		return NULL;
	}
	follower->buffer = config->buffer;
	follower->link = config->link;
	follower->burst = config->burst == 0 ? BURST_DEFAULT : config->burst;
	follower->first = follower->own.next = log_end(follower);
	publish(follower);
	return follower;
}

void
weir_readout_follower_free(struct weir_readout_follower *follower)
{
	free(follower);
}

static void
let_go(const struct weir_readout_buffer *buffer, struct cell *cell)
{
	pin_release(&cell->pin);
	/* Eviction may find what it passed over. */
	__atomic_fetch_add(&buffer->ranges->releases, 1, __ATOMIC_RELEASE);
}

/* The cell of a frame by its number, pinned; NULL: it has been used again, or is free. */
static struct cell *
pin_number(const struct weir_readout_buffer *buffer, uint64_t number, uint32_t *index)
{
	struct cell *cell;

	*index = __atomic_load_n(&buffer->log.refs[number & buffer->log.mask], __ATOMIC_ACQUIRE);
	cell = &buffer->store.cells[*index];
	if (!pin_try(&cell->pin))
		return NULL;
	if (cell->number == number)
		return cell;
	let_go(buffer, cell);
	return NULL;
}

/* What functions see of a frame. */
static struct weir_readout_item
item_of(const struct weir_readout_follower *follower, const struct cell *cell, uint32_t index)
{
	return (struct weir_readout_item){
		.link = follower->link,
		.data = store_frame(&follower->buffer->store, index),
		.data_bytes = cell->size_bytes,
		.frame =
			{
				.timestamp = cell->timestamp,
				.sequence = cell->sequence,
				.size_bytes = cell->size_bytes,
			},
	};
}

static void
look_at(struct weir_readout_follower *follower, uint64_t number)
{
	const struct weir_readout_buffer *buffer = follower->buffer;
	struct weir_readout_kept *look = &follower->look;
	struct cell *cell = pin_number(buffer, number, &look->cell);
	int reason;

	if (cell == NULL) {
		follower->own.missed++;
		return;
	}
	look->item = item_of(follower, cell, look->cell);
	look->buffer = buffer;
	reason = chain_run(&follower->chain, &look->item);
	weir_readout_kept_release(look);
	if (reason < 0)
		follower->own.passed++;
	else
		follower->own.dropped[reason]++;
}

int
weir_readout_follower_keep(
	const struct weir_readout_follower *follower, struct weir_readout_kept *kept)
{
	if (follower->look.buffer == NULL)
		return -ENOENT;
	weir_readout_kept_share(&follower->look, kept);
	return 0;
}

/* It is pinned: the writer has it not. */
void
weir_readout_kept_share(const struct weir_readout_kept *kept, struct weir_readout_kept *other)
{
	*other = *kept;
	if (kept->buffer != NULL)
		pin_try(&kept->buffer->store.cells[kept->cell].pin);
}

void
weir_readout_kept_release(struct weir_readout_kept *kept)
{
	if (kept->buffer == NULL)
		return;
	let_go(kept->buffer, &kept->buffer->store.cells[kept->cell]);
	kept->buffer = NULL;
}

uint32_t
weir_readout_follower_poll(struct weir_readout_follower *follower)
{
	uint64_t behind = log_end(follower) - follower->own.next;
	const uint64_t places = follower->buffer->log.mask + 1;
	uint32_t nb;

	if (behind == 0)
		return 0;
	/* What the log has no place for any more is gone. */
	if (behind > places) {
		follower->own.missed += behind - places;
		follower->own.next += behind - places;
		behind = places;
	}
	nb = RTE_MIN(behind, follower->burst);
	for (uint32_t i = 0; i < nb; i++)
		look_at(follower, follower->own.next++);
	publish(follower);
	return nb;
}

const char *
weir_readout_follower_drop_name(const struct weir_readout_follower *follower, uint32_t number)
{
	return chain_drop_name(&follower->chain, number);
}

/* What it has looked at is no more than what was there: that is read after it. */
void
weir_readout_follower_stats(
	const struct weir_readout_follower *follower, struct weir_readout_follower_stats *stats)
{
	struct follower_tally tally;

	tally_read(&follower->version, (const uint64_t *)&follower->published, (uint64_t *)&tally,
		TALLY_WORDS(tally));
	stats->received = log_end(follower) - follower->first;
	stats->passed = tally.passed;
	stats->missed = tally.missed;
	stats->waiting = stats->received - (tally.next - follower->first);
	memcpy(stats->dropped, tally.dropped, sizeof(stats->dropped));
}
