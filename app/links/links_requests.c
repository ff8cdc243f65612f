/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks links for windows of time, and hands on what they have of these. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include <weir_base.h>

#include "config.h"
#include "files.h"
#include "links_run.h"
#include "reason_log.h"

#define SECOND_NS       UINT64_C(1000000000)
#define RUN_NUMBER      1  /* in the header of fragments */
#define WINDOWS_AT_ONCE 64 /* asked for before others have their turn */
#define SPARE_WINDOWS   16 /* of each request, beyond those that may wait at a time */
#define FRAGMENTS_MAX   8192u
#define FRAMES_BYTES                                                                               \
	(UINT64_C(256) << 20) /* for lists of frames of all fragments, where windows are short */

typedef unsigned __int128 wide;

static uint64_t
ticks(const struct links_request *request, uint64_t number, uint64_t ns)
{
	return (uint64_t)((wide)number * ns * request->config->clock_hz / SECOND_NS);
}

static uint64_t
wrapped(const struct links_request *request, uint64_t timestamp)
{
	return timestamp & UINT64_MAX >> request->clock.unused_bits;
}

static uint64_t
next_begin(const struct links_request *request)
{
	return request->first + ticks(request, request->number, request->config->every_ns);
}

/* Counts it, and passes it on. */
static void
take(void *arg, struct weir_readout_fragment *fragment)
{
	struct links_request *request = arg;

	request->counts.answered[fragment->answer]++;
	if (request->sender != NULL)
		weir_readout_sender_deliver(request->sender, fragment);
	else
		weir_readout_fragment_release(fragment);
}

static void
ask(struct weir_readout_service *service, struct links_request *request, uint64_t begin)
{
	const struct config_request *config = request->config;
	const struct weir_readout_request window = {
		.run = RUN_NUMBER,
		.trigger = request->counts.asked,
		.begin = wrapped(request, begin),
		.end = wrapped(request, begin + ticks(request, 1, config->window_ns)),
		.timeout_ns = config->timeout_ns,
		.links = config->links,
		.nb_links = config->nb_links,
		.deliver = take,
		.arg = request,
	};

	request->counts.asked++;
	if (weir_readout_service_ask(service, &window, weir_base_time_ns()) < 0)
		request->counts.refused++;
}

/* The clock of the links was set: forth, and windows were over before one could ask; or back, and begins anew. */
static void
follow_clock(struct links_request *request, uint64_t now)
{
	const uint64_t every = RTE_MAX(ticks(request, 1, request->config->every_ns), UINT64_C(1));
	const uint64_t delay = ticks(request, 1, request->config->delay_ns);
	int64_t behind = links_clock_after(&request->clock, now, next_begin(request) + delay);
	uint64_t skipped;

	if (behind > (int64_t)request->history_ticks) {
		skipped = (uint64_t)behind / every;
		request->number += skipped;
		request->counts.skipped += skipped;
	} else if (behind < -(int64_t)(request->history_ticks + every + delay)) {
		request->first = now;
		request->number = 0;
		request->counts.restarts++;
	}
}

/* Windows whose turn it is by the newest frame. @return how many */
static unsigned int
ask_due(struct weir_readout_service *service, struct links_request *request)
{
	const uint64_t delay = ticks(request, 1, request->config->delay_ns);
	uint64_t begin, now;
	unsigned int nb;

	if (!links_clock_read(&request->clock, &begin, &now))
		return 0;
	if (!request->begun) {
		request->first = begin;
		request->begun = true;
	}
	follow_clock(request, now);
	for (nb = 0; nb < WINDOWS_AT_ONCE; nb++) {
		begin = next_begin(request);
		if (links_clock_after(&request->clock, now, begin + delay) < 0)
			break;
		ask(service, request, begin);
		request->number++;
	}
	return nb;
}

static void
look(void *arg)
{
	struct links_requests *requests = arg;
	unsigned int i;

	for (i = 0; i < requests->nb; i++) {
		struct links_request *request = &requests->list[i];

		request->shown = request->counts;
		request->shown_lead = request->clock.lead;
		if (request->sender != NULL)
			weir_readout_sender_stats(request->sender, &request->shown_sender);
	}
	weir_readout_service_stats(requests->service, &requests->shown);
	for (i = 0; i < WEIR_READOUT_NB_LATENCIES; i++)
		weir_readout_service_latency(
			requests->service, (enum weir_readout_latency)i, &requests->latency[i]);
}

/* A round. @return how much there was to do */
static unsigned int
ask_and_answer(struct links_requests *requests)
{
	unsigned int nb = 0, i;

	for (i = 0; i < requests->nb; i++)
		nb += ask_due(requests->service, &requests->list[i]);
	return nb + weir_readout_service_poll(requests->service, weir_base_time_ns());
}

/* Nothing new comes: answer with what is there, and see it off. */
static void
drain(struct links_requests *requests)
{
	struct weir_readout_service_stats stats;
	unsigned int i;

	weir_readout_service_stop(requests->service);
	for (;;) {
		weir_readout_service_poll(requests->service, weir_base_time_ns());
		weir_readout_service_stats(requests->service, &stats);
		if (stats.outstanding == 0 &&
			(stats.held == 0 || __atomic_load_n(&requests->stop_now, __ATOMIC_RELAXED)))
			break;
		links_thread_show(&requests->thread, look, requests);
		links_thread_rest();
	}
	for (i = 0; i < requests->nb; i++)
		if (requests->list[i].sender != NULL)
			weir_readout_sender_stop(requests->list[i].sender);
}

static void *
serve(void *arg)
{
	struct links_requests *requests = arg;
	bool fed;

	do {
		/* What came before it was told that nothing comes any more, is asked for below. */
		fed = links_feeders_are_finished(requests->run);
		if (ask_and_answer(requests) > 0)
			fed = false;
		else if (!fed)
			links_thread_rest();
		links_thread_show(&requests->thread, look, requests);
	} while (!fed);
	drain(requests);
	links_thread_finish(&requests->thread, look, requests);
	return NULL;
}

/* What is on its way pins its frames: so many windows that half of what each buffer has to spare is enough for all requests. */
static uint64_t
windows_to_spare(const struct config_links *links, const struct config_request *request)
{
	double fewest = UINT32_MAX;
	unsigned int i;

	for (i = 0; i < request->nb_links; i++) {
		const struct config_link *link = config_link_of(links, request->links[i]);
		struct weir_readout_buffer_info info;

		if (weir_readout_buffer_plan(&link->buffer, &info) < 0)
			continue;
		fewest = RTE_MIN(fewest, info.nb_spare / 2.0 / links->nb_requests /
						 config_link_frames(link, request->window_ns));
	}
	return fewest < 1 ? 1 : (uint64_t)fewest;
}

static unsigned int
nb_queued(const struct config_links *links, const struct config_request *request)
{
	const uint64_t windows =
		RTE_MIN(config_request_queued(request), windows_to_spare(links, request));

	return (unsigned int)RTE_MIN(request->nb_links * windows, (uint64_t)FRAGMENTS_MAX);
}

static int
open_sender(struct links_request *request, struct config *config)
{
	const char *path = request->config->to;
	int error;

	if (path == NULL)
		return 0;
	error = files_make_directories(path);
	reason_log_begin();
	if (error == 0) {
		request->sender = weir_readout_sender_create(
			&(struct weir_readout_sender_config){.path = path,
				.nb_queued = nb_queued(&config->links, request->config),
				.thread = true,
				.anew = true});
		error = request->sender != NULL ? 0 : -rte_errno;
	}
	if (error < 0)
		weir_base_doc_error_add(config->doc,
			weir_base_doc_get(request->config->value, "to"), "%s",
			reason_log_end(strerror(-error)));
	else
		reason_log_end("");
	return error;
}

static int
open_request(struct links_request *request, struct config *config, const struct links_run *run,
	const struct config_request *wanted)
{
	int error;

	request->config = wanted;
	error = links_clock_open(&request->clock, run->handlers, wanted->links, wanted->nb_links);
	if (error < 0)
		return error;
	request->history_ticks = request->clock.links[0].history_ticks;
	return open_sender(request, config);
}

uint32_t
links_requests_fragments(const struct config_links *links)
{
	uint64_t nb = SPARE_WINDOWS * (uint64_t)links->nb_links;
	unsigned int i;

	if (links->nb_fragments != 0)
		return links->nb_fragments;
	for (i = 0; i < links->nb_requests; i++) {
		const struct config_request *request = &links->requests[i];

		nb += (uint64_t)request->nb_links *
		      (SPARE_WINDOWS +
			      (request->timeout_ns + request->window_ns) / request->every_ns);
		nb += request->to != NULL ? nb_queued(links, request) : 0;
		nb = RTE_MIN(nb, FRAGMENTS_MAX);
	}
	return (uint32_t)nb;
}

uint32_t
links_requests_frames(const struct config_links *links)
{
	double most = 1, held = 1;
	unsigned int i, j;

	if (links->nb_frames != 0)
		return links->nb_frames;
	for (j = 0; j < links->nb; j++) {
		const struct config_link *link = &links->list[j];
		struct weir_readout_buffer_info info = {0};

		if (weir_readout_buffer_plan(&link->buffer, &info) == 0)
			held = RTE_MAX(held, (double)info.nb_cells);
		for (i = 0; i < links->nb_requests; i++)
			most = RTE_MAX(
				most, config_link_frames(link, links->requests[i].window_ns));
	}
	most = RTE_MAX(most, (double)FRAMES_BYTES / LINKS_REQUESTS_FRAME_BYTES /
				     links_requests_fragments(links));
	return (uint32_t)RTE_MIN(most, held);
}

static int
open_service(struct links_requests *requests, const struct config_links *links,
	const struct links_run *run)
{
	struct weir_readout_service_link *list = calloc(run->nb, sizeof(*list));
	unsigned int i;

	if (list == NULL)
		return -ENOMEM;
	for (i = 0; i < run->nb; i++)
		list[i] = (struct weir_readout_service_link){
			.name = weir_readout_link_name(run->links[i]),
			.key = weir_readout_link_key(run->links[i]),
			.buffer = weir_readout_handler_buffer(run->handlers[i])};
	requests->service =
		weir_readout_service_create(&(struct weir_readout_service_config){.links = list,
			.nb_links = run->nb,
			.nb_fragments = links_requests_fragments(links),
			.max_frames = links_requests_frames(links)});
	free(list);
	return requests->service != NULL ? 0 : -rte_errno;
}

int
links_requests_open(
	struct links_requests *requests, struct config *config, const struct links_run *run)
{
	const struct config_links *links = &config->links;
	unsigned int i;
	int error;

	requests->list = calloc(links->nb_requests + 1, sizeof(*requests->list));
	if (requests->list == NULL)
		return -ENOMEM;
	requests->nb = links->nb_requests;
	error = open_service(requests, links, run);
	for (i = 0; error == 0 && i < requests->nb; i++)
		error = open_request(&requests->list[i], config, run, &links->requests[i]);
	return error;
}

int
links_requests_start(struct links_requests *requests, const struct links_run *run)
{
	requests->run = run;
	return links_thread_start(&requests->thread, "weir-requests", serve, requests);
}

bool
links_request_is_written(const struct links_request *request)
{
	struct weir_readout_sender_stats stats;
	unsigned int i;

	if (request->sender == NULL)
		return true;
	weir_readout_sender_stats(request->sender, &stats);
	for (i = 0; i < WEIR_READOUT_NB_SEND_FAILURES; i++)
		if (i != WEIR_READOUT_SEND_QUEUE_FULL && stats.failed[i] > 0)
			return false;
	return true;
}

void
links_requests_close(struct links_requests *requests)
{
	unsigned int i;

	for (i = 0; i < requests->nb; i++) {
		weir_readout_sender_free(requests->list[i].sender);
		links_clock_close(&requests->list[i].clock);
	}
	weir_readout_service_free(requests->service);
	free(requests->list);
}
