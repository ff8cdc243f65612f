/* SPDX-License-Identifier: BSD-3-Clause */
/* Hits that are found in the frames of links, as the frames of another one. */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

#include <weir_readout_collector.h>
#include <weir_readout_hit_finder.h>

#include "config.h"
#include "links_run.h"

#define QUEUE_SIZE 65536 /* hits on their way from finders to their link */

/* Names in the registry, of what belongs to a link. */
#define NAME_SIZE (CONFIG_LINK_NAME_SIZE + 8)

/* Where hits of all finders come together. */
struct collected {
	struct weir_readout_collector *collector;
	const struct links_run *run;
	const struct config_links *config;
};

/* Of the last look: of the queue, then of each finder, by number of its link. */
struct counted {
	bool fed; /* before that */
	struct weir_readout_sink_stats queue;
	struct weir_readout_hit_finder_stats finders[];
};

static uint32_t
poll_collector(struct links_feed *feed, uint16_t poller, uint64_t now_ns)
{
	const struct collected *collected = feed->source;

	return weir_readout_collector_poll(collected->collector, now_ns);
}

/* It has come to its end when those before it have: nothing waited at the last poll. */
static int
collector_ended(const struct links_feed *feed)
{
	(void)feed;
	return 1;
}

static void
look_at_collector(struct links_feed *feed, uint16_t poller)
{
	const struct collected *collected = feed->source;
	struct counted *counted = feed->counted;
	unsigned int i;

	counted->fed = __atomic_load_n(&collected->run->fed, __ATOMIC_ACQUIRE);
	weir_readout_collector_stats(collected->collector, &counted->queue);
	for (i = 0; i < collected->run->nb; i++)
		if (collected->run->finders[i] != NULL)
			weir_readout_hit_finder_stats(
				collected->run->finders[i], &counted->finders[i]);
}

static json_t *
finder_json(const struct config_link *link, unsigned int number,
	const struct weir_readout_hit_finder_stats *stats, bool *adds_up)
{
	char name[CONFIG_LINK_NAME_SIZE];

	config_link_name(link, number, name);
	*adds_up = *adds_up && stats->hits == stats->delivered + stats->refused;
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "link", name, "frames",
		(json_int_t)stats->frames, "skipped", (json_int_t)stats->skipped, "gaps",
		(json_int_t)stats->gaps, "hits", (json_int_t)stats->hits, "delivered",
		(json_int_t)stats->delivered, "refused", (json_int_t)stats->refused);
}

/* Finders in other threads may have found more since the queue was looked at. */
static bool
is_collected(const struct counted *counted, uint64_t received, uint64_t delivered, bool beside)
{
	const uint64_t came = received + counted->queue.queued;

	return counted->queue.received == received &&
	       (delivered == came || (beside && !counted->fed && delivered > came));
}

static json_t *
report_collector(const struct links_feed *feed, uint64_t received, bool *adds_up)
{
	const struct collected *collected = feed->source;
	const struct counted *counted = feed->counted;
	json_t *finders = json_array();
	uint64_t delivered = 0;
	unsigned int i, j;

	*adds_up = true;
	for (i = 0; i < collected->config->nb; i++) {
		const struct config_link *link = &collected->config->list[i];

		for (j = 0; link->hits.to == feed->link && j < link->nb; j++) {
			const struct weir_readout_hit_finder_stats *stats =
				&counted->finders[link->first + j];

			json_array_append_new(finders, finder_json(link, j, stats, adds_up));
			delivered += stats->delivered;
		}
	}
	*adds_up = *adds_up &&
		   is_collected(counted, received, delivered, collected->run->nb_feeders > 1);
	return json_pack("{s:o, s:I, s:I}", "finders", finders, "received",
		(json_int_t)counted->queue.received, "queued", (json_int_t)counted->queue.queued);
}

/* Finders are parts of their links: links_ctl.c. */
static unsigned int
collector_parts(const struct links_feed *feed, struct weir_readout_ctl_part *parts)
{
	const struct collected *collected = feed->source;

	parts[0] = (struct weir_readout_ctl_part){
		.name = feed->link->name, .collector = collected->collector};
	return 1;
}

static void
close_collector(struct links_feed *feed)
{
	struct collected *collected = feed->source;

	if (collected != NULL)
		weir_readout_collector_free(collected->collector);
	free(collected);
	free(feed->counted);
}

static const struct links_feed_type hits_type = {
	.name = "hits",
	.poll = poll_collector,
	.ended = collector_ended,
	.look = look_at_collector,
	.report = report_collector,
	.parts = collector_parts,
	.close = close_collector,
};

static void
sink_name(const struct config_link *link, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%s hits", link->name);
}

int
links_hits_find(struct links_run *run, const struct config_link *link, unsigned int number,
	struct weir_readout_process *process)
{
	const unsigned int index = link->first + number;
	char link_name[CONFIG_LINK_NAME_SIZE], name[NAME_SIZE], sink[NAME_SIZE];

	config_link_name(link, number, link_name);
	snprintf(name, sizeof(name), "%s hits", link_name);
	sink_name(link->hits.to, sink);
	run->finders[index] = weir_readout_hit_finder_create(
		run->registry, &(struct weir_readout_hit_finder_config){.name = name,
				       .sink = sink,
				       .stream = (uint32_t)(link->key + number),
				       .threshold = link->hits.threshold,
				       .max_samples = link->hits.max_samples});
	*process = (struct weir_readout_process){
		.name = "hits", .run = weir_readout_hit_finder_run, .arg = run->finders[index]};
	return run->finders[index] != NULL ? 0 : -rte_errno;
}

int
links_hits_collect(struct links_feed *feed, const struct links_run *run,
	const struct config_links *config, const struct config_link *link)
{
	struct collected *collected = calloc(1, sizeof(*collected));
	char sink[NAME_SIZE];

	feed->type = &hits_type;
	feed->link = link;
	feed->source = collected;
	feed->counted = calloc(
		1, sizeof(struct counted) + run->nb * sizeof(struct weir_readout_hit_finder_stats));
	if (collected == NULL || feed->counted == NULL)
		return -ENOMEM;
	collected->run = run;
	collected->config = config;
	sink_name(link, sink);
	collected->collector = weir_readout_collector_create(
		run->registry, &(struct weir_readout_collector_config){.sink = sink,
				       .type = &weir_readout_hit_type,
				       .queue_size = QUEUE_SIZE,
				       .link = run->links[link->first]});
	return collected->collector != NULL ? 0 : -rte_errno;
}
