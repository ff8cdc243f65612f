/* SPDX-License-Identifier: BSD-3-Clause */
/* What links, their feeds and their requests add to a report. */
#include <string.h>

#include <weir_readout_dispatch.h>

#include "config.h"
#include "links_report.h"
#include "links_run.h"

static json_int_t
as_int(uint64_t value)
{
	return (json_int_t)value;
}

uint64_t
links_report_count(json_t *object, const char *name, uint64_t count)
{
	if (count > 0)
		json_object_set_new(object, name, json_integer(as_int(count)));
	return count;
}

json_t *
links_report_dispatched(const struct weir_readout_dispatch_stats *stats, bool *adds_up)
{
	*adds_up = *adds_up && stats->received == stats->links + stats->not_udp + stats->truncated +
							  stats->unknown_stream;
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "received", as_int(stats->received), "links",
		as_int(stats->links), "not_udp", as_int(stats->not_udp), "truncated",
		as_int(stats->truncated), "unknown_stream", as_int(stats->unknown_stream));
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
			json_pack("{s:I, s:I}", "size", as_int(link->delivery.queue_size), "queued",
				as_int(stats->queued)));
}

static json_t *
link_json(const struct config_link *link, unsigned int number,
	const struct weir_readout_handler_stats *stats, bool *adds_up)
{
	json_t *dropped = json_object(), *faults = json_object(), *object;
	char name[CONFIG_LINK_NAME_SIZE];
	int64_t difference;
	uint64_t lost = 0;
	unsigned int i;

	config_link_name(link, number, name);
	for (i = 0; i < WEIR_READOUT_HANDLER_NB_DROPS; i++)
		lost += links_report_count(dropped,
			weir_readout_handler_drop_name((enum weir_readout_handler_drop)i),
			stats->dropped[i]);
	for (i = 0; i < WEIR_READOUT_NB_FAULTS; i++)
		links_report_count(faults, weir_readout_fault_name((enum weir_readout_fault)i),
			stats->link.faults[i].count);
	difference = (int64_t)(stats->received - stats->buffered - stats->held - stats->delivered -
			       lost);
	*adds_up = *adds_up && difference == 0;
	object = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I}",
		"name", name, "format", link->format.name, "stream", as_int(link->key + number),
		"received", as_int(stats->received), "received_bytes",
		as_int(stats->received_bytes), "buffered", as_int(stats->buffered), "held",
		as_int(stats->held), "delivered", as_int(stats->delivered), "dropped", dropped,
		"faults", faults, "missing", as_int(stats->link.missing), "late",
		as_int(stats->buffer.late), "jumps", as_int(stats->buffer.jumps), "difference",
		(json_int_t)difference);
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
			json_array_append_new(
				list, link_json(link, j, &run->stats[link->first + j], adds_up));
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
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "count", as_int(hist->count), "p50",
		as_int(weir_base_hist_percentile(hist, 50)), "p99",
		as_int(weir_base_hist_percentile(hist, 99)), "p99.9",
		as_int(weir_base_hist_percentile(hist, 99.9)), "max", as_int(hist->max));
}

static json_t *
answers_json(const uint64_t *answered, uint64_t *sum)
{
	json_t *object = json_object();
	unsigned int i;

	*sum = 0;
	for (i = 0; i < WEIR_READOUT_NB_ANSWERS; i++)
		*sum += links_report_count(
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
		lost += links_report_count(failed,
			weir_readout_send_failure_name((enum weir_readout_send_failure)i),
			stats->failed[i]);
	*adds_up = *adds_up && stats->taken == taken &&
		   stats->taken == stats->sent + stats->queued + lost;
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "path", request->config->to, "taken",
		as_int(stats->taken), "sent", as_int(stats->sent), "sent_bytes",
		as_int(stats->sent_bytes), "queued", as_int(stats->queued), "failed", failed);
}

static json_t *
request_json(const struct links_request *request, uint64_t *answered, bool *adds_up)
{
	const struct links_request_counts *counts = &request->shown;
	json_t *answers = answers_json(counts->answered, answered), *item;

	item = json_pack("{s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "name",
		request->config->name, "links", (int)request->config->nb_links, "clock",
		request->clock.links[request->shown_lead].name, "windows", as_int(counts->asked),
		"refused", as_int(counts->refused), "skipped", as_int(counts->skipped), "restarts",
		as_int(counts->restarts), "fragments", as_int(*answered), "answered", answers);
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
		lost += links_report_count(refused,
			weir_readout_refusal_name((enum weir_readout_refusal)i), stats->refused[i]);
	difference = (int64_t)(stats->asked - stats->outstanding - answered - lost);
	for (i = 0; i < requests->nb; i++)
		json_array_append_new(list, request_json(&requests->list[i], &one, adds_up));
	*adds_up = *adds_up && difference == 0 && !(finished && stats->outstanding > 0);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:{s:o, s:o}, s:I, s:o}",
		"requests", as_int(stats->requests), "asked", as_int(stats->asked), "outstanding",
		as_int(stats->outstanding), "held", as_int(stats->held), "frames",
		as_int(stats->frames), "bytes", as_int(stats->bytes), "answered", answers,
		"refused", refused, "latency_ns", "at_once",
		latency_json(&requests->latency[WEIR_READOUT_LATENCY_AT_ONCE]), "waited",
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
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "received", as_int(sum.received),
		"received_bytes", as_int(sum.received_bytes), "buffered", as_int(sum.buffered),
		"held", as_int(sum.held), "delivered", as_int(sum.delivered), "dropped",
		as_int(lost));
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
