/* SPDX-License-Identifier: BSD-3-Clause */
/* What processes make of frames of links, as the frames of another one. */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

#include <weir_base_nodes.h>
#include <weir_readout_collector.h>

#include "config.h"
#include "links_collect.h"
#include "links_run.h"

/* Where those of all processes come together. */
struct collected {
	struct weir_readout_collector *collector;
	const struct links_run *run;
};

/* Of the last look, before that of what sends to it. */
struct counted {
	bool over; /* before that: nothing is sent any more */
	struct weir_readout_sink_stats queue;
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

/* Of those who send to it. @param look  what to do with each */
static void
for_each(const struct links_feed *feed,
	void (*look)(const struct links_feed *feed, struct links_work *work, void *arg), void *arg)
{
	const struct collected *collected = feed->source;
	const struct links_processes *processes = &collected->run->processes;
	unsigned int i, j;

	for (i = 0; i < processes->nb; i++)
		for (j = 0; processes->list[i].config->to == feed->link &&
			    j < processes->list[i].config->nb_links;
			j++)
			look(feed, &processes->list[i].list[j], arg);
}

static void
look_at_work(const struct links_feed *feed, struct links_work *work, void *arg)
{
	(void)feed;
	(void)arg;
	if (work->finder != NULL)
		weir_readout_hit_finder_stats(work->finder, &work->found);
	weir_readout_source_stats(work->output, &work->sent);
}

static void
look_at_collector(struct links_feed *feed, uint16_t poller)
{
	const struct collected *collected = feed->source;
	struct counted *counted = feed->counted;

	counted->over = __atomic_load_n(&collected->run->processes.over, __ATOMIC_ACQUIRE);
	weir_readout_collector_stats(collected->collector, &counted->queue);
	for_each(feed, look_at_work, NULL);
}

/* What becomes of a report of those who send. */
struct senders {
	json_t *finders, *sources;
	uint64_t delivered;
	bool adds_up;
};

/* Of its output: a finder counts its hits when it is done with a frame, by when some are in the queue. */
static void
report_work(const struct links_feed *feed, struct links_work *work, void *arg)
{
	const struct weir_readout_hit_finder_stats *found = &work->found;
	const struct weir_readout_source_stats *sent = &work->sent;
	const uint64_t refused = sent->queue_full + sent->unbound;
	struct senders *senders = arg;
	json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I}", "link", work->link_name, "process",
		work->config->name, work->finder != NULL ? "hits" : "sent", (json_int_t)sent->sent,
		"delivered", (json_int_t)sent->delivered, "refused", (json_int_t)refused);

	(void)feed;
	senders->delivered += sent->delivered;
	senders->adds_up &= sent->sent == sent->delivered + refused;
	if (work->finder != NULL)
		json_object_update_new(object,
			json_pack("{s:I, s:I, s:I}", "frames", (json_int_t)found->frames, "skipped",
				(json_int_t)found->skipped, "gaps", (json_int_t)found->gaps));
	json_array_append_new(work->finder != NULL ? senders->finders : senders->sources, object);
}

/* Those in other threads may have sent more since the queue was looked at. */
static bool
are_elsewhere(const struct links_feed *feed)
{
	const struct collected *collected = feed->source;
	const struct links_processes *processes = &collected->run->processes;
	unsigned int i;

	for (i = 0; i < processes->nb; i++)
		if (processes->list[i].config->to == feed->link &&
			processes->list[i].config->where != WEIR_BASE_WHERE_INLINE)
			return true;
	return collected->run->nb_feeders > 1;
}

/* What was delivered by now, and not received before, is in the queue: those who look at both receive nothing meanwhile. */
static json_t *
report_collector(const struct links_feed *feed, uint64_t received, bool *adds_up)
{
	const struct counted *counted = feed->counted;
	const uint64_t came = received + counted->queue.queued;
	struct senders senders = {json_array(), json_array(), 0, true};

	for_each(feed, report_work, &senders);
	*adds_up = senders.adds_up && counted->queue.received == received &&
		   (senders.delivered == came ||
			   (are_elsewhere(feed) && !counted->over && senders.delivered > came));
	return json_pack("{s:o, s:o, s:I, s:I}", "finders", senders.finders, "sources",
		senders.sources, "received", (json_int_t)received, "queued",
		(json_int_t)(senders.delivered - received));
}

/* Those who send to it are parts of their own: links_process_report.c. */
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

/* Of plug-ins. */
static const struct links_feed_type messages_type = {
	.name = "messages",
	.poll = poll_collector,
	.ended = collector_ended,
	.look = look_at_collector,
	.report = report_collector,
	.parts = collector_parts,
	.close = close_collector,
};

/* Of what is sent to it: by all the same. */
static const struct weir_readout_type *
type_of(const struct links_run *run, const struct config_link *link)
{
	unsigned int i = 0;

	while (run->processes.list[i].config->to != link)
		i++;
	return links_process_output(&run->processes.list[i]);
}

int
links_collect_open(
	struct links_feed *feed, const struct links_run *run, const struct config_link *link)
{
	const struct weir_readout_type *type = type_of(run, link);
	struct collected *collected = calloc(1, sizeof(*collected));
	char sink[LINKS_PROCESS_SINK_SIZE];

	feed->type = type == &weir_readout_hit_type ? &hits_type : &messages_type;
	feed->link = link;
	feed->source = collected;
	feed->counted = calloc(1, sizeof(struct counted));
	if (collected == NULL || feed->counted == NULL)
		return -ENOMEM;
	collected->run = run;
	collected->collector = weir_readout_collector_create(run->registry,
		&(struct weir_readout_collector_config){.sink = links_process_sink(link, sink),
			.type = type,
			.queue_size = WEIR_BASE_HITS_QUEUE,
			.link = run->links[link->first]});
	return collected->collector != NULL ? 0 : -rte_errno;
}
