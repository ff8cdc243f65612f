/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that are fed from files. */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

#include <weir_readout_replay.h>

#include "links_feed.h"
#include "links_report.h"

/* What a replay counted, and how it stands. */
struct counted {
	struct weir_readout_replay_stats stats;
	int ended;
};

static uint32_t
poll_replay(struct links_feed *feed, uint16_t poller, uint64_t now_ns)
{
	struct rte_mbuf *mbufs[LINKS_FEED_BURST];
	uint32_t nb = weir_readout_replay_poll(feed->source, now_ns, mbufs, LINKS_FEED_BURST);

	if (nb > 0)
		weir_readout_dispatch_receive(feed->dispatch, 0, mbufs, nb, now_ns);
	return nb;
}

static int
replay_ended(const struct links_feed *feed)
{
	return weir_readout_replay_ended(feed->source);
}

static void
look_at_replay(struct links_feed *feed, uint16_t poller)
{
	struct counted *counted = feed->counted;

	weir_readout_replay_stats(feed->source, &counted->stats);
	counted->ended = weir_readout_replay_ended(feed->source);
	weir_readout_dispatch_stats(feed->dispatch, 0, &feed->dispatched);
}

static json_t *
report_replay(const struct links_feed *feed, uint64_t received, bool *adds_up)
{
	const struct counted *counted = feed->counted;

	*adds_up = feed->dispatched.received == counted->stats.packets &&
		   feed->dispatched.links == received;
	return json_pack("{s:s, s:I, s:I, s:I, s:o}", "input",
		counted->ended == 0  ? "open"
		: counted->ended > 0 ? "ended"
				     : "damaged",
		"sent", (json_int_t)counted->stats.packets, "cut", (json_int_t)counted->stats.cut,
		"waits", (json_int_t)counted->stats.waits, "packets",
		links_report_dispatched(&feed->dispatched, adds_up));
}

static unsigned int
replay_parts(const struct links_feed *feed, struct weir_readout_ctl_part *parts)
{
	parts[0] = (struct weir_readout_ctl_part){
		.name = feed->link->name, .dispatch = feed->dispatch};
	parts[1] = (struct weir_readout_ctl_part){.name = feed->link->name, .replay = feed->source};
	return 2;
}

static void
close_replay(struct links_feed *feed)
{
	weir_readout_replay_free(feed->source);
	links_feed_close(feed);
}

static const struct links_feed_type replayed_type = {
	.name = "replayed",
	.poll = poll_replay,
	.ended = replay_ended,
	.look = look_at_replay,
	.report = report_replay,
	.parts = replay_parts,
	.close = close_replay,
};

int
links_feed_replay(struct links_feed *feed, const struct config_replayed *replayed,
	const struct config_link *link, struct weir_readout_link *const *links,
	struct rte_mempool *pool)
{
	const struct weir_readout_emulator_stream raw = {.format = &link->format};
	int error = links_feed_open(feed, &replayed_type, link, links, sizeof(struct counted));

	if (error < 0)
		return error;
	feed->source = weir_readout_replay_create(
		&(struct weir_readout_replay_config){.path = replayed->path,
			.raw = replayed->is_raw ? &raw : NULL,
			.pool = pool,
			.rate_packets = replayed->rate_packets,
			.rate_seconds = replayed->rate_seconds});
	return feed->source != NULL ? 0 : -rte_errno;
}
