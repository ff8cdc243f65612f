/* SPDX-License-Identifier: BSD-3-Clause */
/* Captured packets, or frames alone as packets, at their own or another rate. */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "raw.h"
#include "registry_private.h"
#include "tally.h"
#include "weir_base_pool.h"
#include "weir_readout_replay.h"

#define SECOND_NS UINT64_C(1000000000)
#define WHY_BYTES 1024

struct weir_readout_replay {
	struct weir_readout_replay_config config;
	struct weir_base_pcap *file; /* NULL: raw */
	struct raw *raw;
	struct weir_base_pcap_record record; /* the next one */
	uint64_t nb_read, first_ns;          /* of records; time of the first one */
	uint64_t due_ns;                     /* of the next one */
	int ended;
	struct weir_readout_replay_stats stats, published; /* own; for readers */
	uint64_t version;                                  /* of these */
};

static uint64_t
due_ns(const struct weir_readout_replay *replay)
{
	const struct weir_readout_replay_config *config = &replay->config;

	if (config->rate_packets > 0)
		return (uint64_t)((unsigned __int128)(replay->nb_read - 1) * config->rate_seconds *
				  SECOND_NS / config->rate_packets);
	return replay->record.time_ns > replay->first_ns + replay->due_ns
		       ? replay->record.time_ns - replay->first_ns
		       : replay->due_ns;
}

static void
read_next(struct weir_readout_replay *replay)
{
	char why[WHY_BYTES];
	int rc = replay->raw != NULL
			 ? raw_next(replay->raw, &replay->record, why, sizeof(why))
			 : weir_base_pcap_next(replay->file, &replay->record, why, sizeof(why));

	if (rc == 1) {
		if (replay->nb_read++ == 0)
			replay->first_ns = replay->record.time_ns;
		replay->due_ns = due_ns(replay);
		return;
	}
	if (rc < 0)
		READOUT_LOG(ERROR, "replay: %s", why);
	replay->due_ns = UINT64_MAX;
	replay->ended = rc < 0 ? rc : 1;
}

struct weir_readout_replay *
weir_readout_replay_create(const struct weir_readout_replay_config *config)
{
	struct weir_readout_replay *replay;
	char why[WHY_BYTES];
	int rc;

	if (config->path == NULL || config->pool == NULL) {
		READOUT_LOG(ERROR, "a replay needs a file, and mbufs");
		rte_errno = EINVAL;
		return NULL;
	}
	if (config->raw != NULL && config->rate_packets == 0 && !raw_has_times(config->raw)) {
		READOUT_LOG(ERROR, "replay: frames in '%s' say no time; a rate is needed",
			config->path);
		rte_errno = EINVAL;
		return NULL;
	}
	replay = calloc(1, sizeof(*replay));
	if (replay == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	replay->config = *config;
	replay->config.path = NULL;
	replay->config.raw = NULL;
	if (config->rate_seconds == 0)
		replay->config.rate_seconds = 1;
	rc = config->raw != NULL
		     ? raw_open(config->path, config->raw, &replay->raw, why, sizeof(why))
		     : weir_base_pcap_open(config->path, &replay->file, why, sizeof(why));
	if (rc < 0) {
		READOUT_LOG(ERROR, "replay: %s", why);
		free(replay);
		rte_errno = -rc;
		return NULL;
	}
	read_next(replay);
	return replay;
}

void
weir_readout_replay_free(struct weir_readout_replay *replay)
{
	if (replay == NULL)
		return;
	weir_base_pcap_close(replay->file);
	raw_close(replay->raw);
	free(replay);
}

uint32_t
weir_readout_replay_poll(
	struct weir_readout_replay *replay, uint64_t now_ns, struct rte_mbuf **mbufs, uint32_t nb)
{
	const struct weir_base_pcap_record *record = &replay->record;
	uint32_t i;

	for (i = 0; i < nb && replay->ended == 0 && replay->due_ns <= now_ns; i++) {
		mbufs[i] = weir_base_pcap_to_mbuf(
			replay->config.pool, record->bytes, record->captured_bytes);
		if (mbufs[i] == NULL) {
			replay->stats.waits++;
			break;
		}
		weir_base_mbuf_guard(mbufs[i]);
		replay->stats.packets++;
		replay->stats.cut += record->wire_bytes > record->captured_bytes;
		read_next(replay);
	}
	tally_publish(&replay->version, (uint64_t *)&replay->published, (uint64_t *)&replay->stats,
		TALLY_WORDS(replay->stats));
	return i;
}

int
weir_readout_replay_ended(const struct weir_readout_replay *replay)
{
	return replay->ended;
}

uint64_t
weir_readout_replay_due_ns(const struct weir_readout_replay *replay)
{
	return replay->due_ns;
}

void
weir_readout_replay_stats(
	const struct weir_readout_replay *replay, struct weir_readout_replay_stats *stats)
{
	tally_read(&replay->version, (const uint64_t *)&replay->published, (uint64_t *)stats,
		TALLY_WORDS(*stats));
}
