/* SPDX-License-Identifier: BSD-3-Clause */
/* What links, their feeds and their requests add to a report. */
#include <string.h>

#include <weir_readout_dispatch.h>

#include "config.h"
#include "links_report.h"
#include "links_run.h"
#include "report_text.h"

json_t *
links_report_dispatched(const struct weir_readout_dispatch_stats *stats, bool *adds_up)
{
	*adds_up = *adds_up && stats->received == stats->links + stats->not_udp + stats->truncated +
							  stats->unknown_stream;
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "received", report_counter(stats->received),
		"links", report_counter(stats->links), "not_udp", report_counter(stats->not_udp),
		"truncated", report_counter(stats->truncated), "unknown_stream",
		report_counter(stats->unknown_stream));
}

/* How frames get to the buffer. */
static void
set_delivery(json_t *object, const struct config_link *link,
	const struct weir_readout_handler_stats *stats)
{
	const bool queue = link->delivery.queue_size > 0;

	json_object_set_new(object, "delivery", json_string(queue ? "queue" : "callback"));
	if (queue)
		json_object_set_new(object, "queue",
			json_pack("{s:I, s:I}", "size", report_counter(link->delivery.queue_size),
				"queued", report_counter(stats->queued)));
}

static json_t *
link_json(const struct links_run *run, const struct config_link *link, unsigned int number,
	bool *adds_up)
{
	const struct weir_readout_handler_stats *stats = &run->stats[link->first + number];
	const struct weir_readout_buffer_info *buffer = &run->buffers[link->first + number];
	json_t *dropped = json_object(), *faults = json_object(), *object;
	char name[WEIR_BASE_LINK_NAME_SIZE];
	int64_t difference;
	uint64_t lost = 0;
	unsigned int i;

	config_link_name(link, number, name);
	for (i = 0; i < WEIR_READOUT_HANDLER_NB_DROPS; i++)
		lost += report_count(dropped,
			weir_readout_handler_drop_name((enum weir_readout_handler_drop)i),
			stats->dropped[i]);
	for (i = 0; i < WEIR_READOUT_NB_FAULTS; i++)
		report_count(faults, weir_readout_fault_name((enum weir_readout_fault)i),
			stats->link.faults[i].count);
	difference = (int64_t)(stats->received - stats->buffered - stats->held - stats->delivered -
			       lost);
	*adds_up = *adds_up && difference == 0;
	object = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I}",
		"name", name, "format", link->format.name, "stream",
		report_counter(link->key + number), "received", report_counter(stats->received),
		"received_bytes", report_counter(stats->received_bytes), "buffered",
		report_counter(stats->buffered), "held", report_counter(stats->held), "delivered",
		report_counter(stats->delivered), "dropped", dropped, "faults", faults, "missing",
		report_counter(stats->link.missing), "late", report_counter(stats->buffer.late),
		"jumps", report_counter(stats->buffer.jumps), "difference", (json_int_t)difference);
	json_object_set_new(object, "buffer",
		json_pack("{s:I, s:b}", "memory_bytes", report_counter(buffer->memory_bytes),
			"hugepages", (int)buffer->hugepages));
	set_delivery(object, link, stats);
	return object;
}

static json_t *
links_json(const struct links_run *run, const struct config *config, bool *adds_up)
{
	json_t *list = json_array();
	unsigned int i, j;

	for (i = 0; i < config->links.nb; i++) {
		const struct config_link *link = &config->links.list[i];

		for (j = 0; j < link->nb; j++)
			json_array_append_new(list, link_json(run, link, j, adds_up));
	}
	return list;
}

/* What links say that they got from a feed. */
static uint64_t
received_from(
	const struct links_run *run, const struct config *config, const struct links_feed *feed)
{
	uint64_t received = 0;
	unsigned int i, j;

	for (i = 0; i < config->links.nb; i++) {
		const struct config_link *link = &config->links.list[i];

		for (j = 0; links_feed_is_of(feed, config, link) && j < link->nb; j++)
			received += run->stats[link->first + j].received;
	}
	return received;
}

/* Each feed beside what its links say that they got. */
static json_t *
feeds_json(const struct links_run *run, const struct config *config, bool *adds_up)
{
	json_t *list = json_array(), *item;
	unsigned int i;

	for (i = 0; i < run->nb_feeds; i++) {
		const struct links_feed *feed = &run->feeds[i];
		bool agrees = true;

		item = feed->type->report(feed, received_from(run, config, feed), &agrees);
		json_object_set_new(item, "feed", json_string(feed->type->name));
		if (feed->link != NULL)
			json_object_set_new(item, "to", json_string(feed->link->name));
		json_object_set_new(item, "adds_up", json_boolean(agrees));
		json_array_append_new(list, item);
		*adds_up = *adds_up && agrees;
	}
	return list;
}

static json_t *
latency_json(const struct weir_base_hist *hist)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "count", report_counter(hist->count), "p50",
		report_counter(weir_base_hist_percentile(hist, 50)), "p99",
		report_counter(weir_base_hist_percentile(hist, 99)), "p99.9",
		report_counter(weir_base_hist_percentile(hist, 99.9)), "max",
		report_counter(hist->max));
}

static json_t *
answers_json(const uint64_t *answered, uint64_t *sum)
{
	json_t *object = json_object();
	unsigned int i;

	*sum = 0;
	for (i = 0; i < WEIR_READOUT_NB_ANSWERS; i++)
		*sum += report_count(
			object, weir_readout_answer_name((enum weir_readout_answer)i), answered[i]);
	return object;
}

/* @param taken  fragments that were handed to it */
static json_t *
sender_json(const struct links_request *request, uint64_t taken, bool *adds_up)
{
	const struct weir_readout_sender_stats *stats = &request->shown_sender;
	json_t *failed = json_object();
	uint64_t lost = 0;
	unsigned int i;

	for (i = 0; i < WEIR_READOUT_NB_SEND_FAILURES; i++)
		lost += report_count(failed,
			weir_readout_send_failure_name((enum weir_readout_send_failure)i),
			stats->failed[i]);
	*adds_up = *adds_up && stats->taken == taken &&
		   stats->taken == stats->sent + stats->queued + lost;
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "path", request->config->to, "taken",
		report_counter(stats->taken), "sent", report_counter(stats->sent), "sent_bytes",
		report_counter(stats->sent_bytes), "queued", report_counter(stats->queued),
		"failed", failed);
}

static json_t *
request_json(const struct links_request *request, uint64_t *answered, bool *adds_up)
{
	const struct links_request_counts *counts = &request->shown;
	json_t *answers = answers_json(counts->answered, answered), *item;

	item = json_pack("{s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "name",
		request->config->name, "links", (int)request->config->nb_links, "clock",
		request->clock.links[request->shown_lead].name, "windows",
		report_counter(counts->asked), "refused", report_counter(counts->refused),
		"skipped", report_counter(counts->skipped), "restarts",
		report_counter(counts->restarts), "fragments", report_counter(*answered),
		"answered", answers);
	if (request->sender != NULL)
		json_object_set_new(item, "to", sender_json(request, *answered, adds_up));
	return item;
}

/* Of all requests, and then of each. @param finished  nothing moves any more: nothing may be left */
static json_t *
requests_json(const struct links_requests *requests, bool finished, bool *adds_up)
{
	const struct weir_readout_service_stats *stats = &requests->shown;
	json_t *refused = json_object(), *list = json_array(), *answers;
	uint64_t answered, lost = 0, one;
	int64_t difference;
	unsigned int i;

	answers = answers_json(stats->answered, &answered);
	for (i = 0; i < WEIR_READOUT_NB_REFUSALS; i++)
		lost += report_count(refused,
			weir_readout_refusal_name((enum weir_readout_refusal)i), stats->refused[i]);
	difference = (int64_t)(stats->asked - stats->outstanding - answered - lost);
	for (i = 0; i < requests->nb; i++)
		json_array_append_new(list, request_json(&requests->list[i], &one, adds_up));
	*adds_up = *adds_up && difference == 0 && !(finished && stats->outstanding > 0);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:{s:o, s:o}, s:I, s:o}",
		"requests", report_counter(stats->requests), "asked", report_counter(stats->asked),
		"outstanding", report_counter(stats->outstanding), "held",
		report_counter(stats->held), "frames", report_counter(stats->frames), "bytes",
		report_counter(stats->bytes), "answered", answers, "refused", refused, "latency_ns",
		"at_once", latency_json(&requests->latency[WEIR_READOUT_LATENCY_AT_ONCE]), "waited",
		latency_json(&requests->latency[WEIR_READOUT_LATENCY_WAITED]), "difference",
		(json_int_t)difference, "list", list);
}

/* Of all links. */
static json_t *
sum_json(const struct links_run *run)
{
	struct weir_readout_handler_stats sum = {0};
	unsigned int i, j;
	uint64_t lost = 0;

	for (i = 0; i < run->nb; i++) {
		sum.received += run->stats[i].received;
		sum.received_bytes += run->stats[i].received_bytes;
		sum.buffered += run->stats[i].buffered;
		sum.held += run->stats[i].held;
		sum.delivered += run->stats[i].delivered;
		for (j = 0; j < WEIR_READOUT_HANDLER_NB_DROPS; j++)
			lost += run->stats[i].dropped[j];
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "received", report_counter(sum.received),
		"received_bytes", report_counter(sum.received_bytes), "buffered",
		report_counter(sum.buffered), "held", report_counter(sum.held), "delivered",
		report_counter(sum.delivered), "dropped", report_counter(lost));
}

void
links_report_add(struct links_run *run, const struct config *config, bool begun, bool finished,
	json_t *report)
{
	bool adds_up = true;
	json_t *readout;

	links_feeders_look(run, begun);
	links_thread_look(&run->requests.thread, begun);
	readout = json_pack("{s:o, s:o, s:o, s:o, s:o}", "frames", sum_json(run), "links",
		links_json(run, config, &adds_up), "feeds", feeds_json(run, config, &adds_up),
		"processes", links_processes_json(run, config, finished, &adds_up), "requests",
		requests_json(&run->requests, finished, &adds_up));
	links_thread_release(&run->requests.thread);
	links_feeders_release(run);
	json_object_set_new(readout, "adds_up", json_boolean(adds_up));
	json_object_set_new(report, "readout", readout);
}
