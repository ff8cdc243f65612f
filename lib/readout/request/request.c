/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for windows of time: asked, waited for, looked up, delivered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "buffer/buffer_private.h"
#include "request_private.h"

const char *
weir_readout_answer_name(enum weir_readout_answer answer)
{
	static const char *const names[] = {
		[WEIR_READOUT_ANSWER_COMPLETE] = "complete",
		[WEIR_READOUT_ANSWER_PARTIAL] = "partial",
		[WEIR_READOUT_ANSWER_TOO_OLD] = "too_old",
		[WEIR_READOUT_ANSWER_NOT_YET] = "not_yet",
		[WEIR_READOUT_ANSWER_TIMED_OUT] = "timed_out",
		[WEIR_READOUT_ANSWER_TOO_LARGE] = "too_large",
		[WEIR_READOUT_ANSWER_STOPPED] = "stopped",
	};

	return (unsigned int)answer < RTE_DIM(names) ? names[answer] : NULL;
}

const char *
weir_readout_refusal_name(enum weir_readout_refusal reason)
{
	static const char *const names[] = {
		[WEIR_READOUT_REFUSAL_BAD_WINDOW] = "bad_window",
		[WEIR_READOUT_REFUSAL_UNKNOWN_LINK] = "unknown_link",
		[WEIR_READOUT_REFUSAL_NO_FRAGMENT] = "no_fragment",
		[WEIR_READOUT_REFUSAL_STOPPED] = "stopped",
	};

	return (unsigned int)reason < RTE_DIM(names) ? names[reason] : NULL;
}

/* @return why a request cannot be; WEIR_READOUT_NB_REFUSALS: it can */
static enum weir_readout_refusal
check_request(const struct weir_readout_service *service,
	const struct weir_readout_request *request, uint32_t nb)
{
	if (nb == 0)
		return WEIR_READOUT_REFUSAL_UNKNOWN_LINK;
	for (uint32_t i = 0; request->links != NULL && i < nb; i++)
		if (request->links[i] >= service->nb_links)
			return WEIR_READOUT_REFUSAL_UNKNOWN_LINK;
	for (uint32_t i = 0; i < nb; i++) {
		uint32_t link = request->links != NULL ? request->links[i] : i;

		if (timestamp_difference(
			    service->links[link].buffer, request->end, request->begin) < 0)
			return WEIR_READOUT_REFUSAL_BAD_WINDOW;
	}
	return WEIR_READOUT_NB_REFUSALS;
}

/* Under the lock: a fragment for this link, outstanding from now on. */
static void
take_fragment(struct weir_readout_service *service, const struct weir_readout_request *request,
	uint32_t link, uint64_t now_ns)
{
	struct fragment *one = TAILQ_FIRST(&service->free);

	TAILQ_REMOVE(&service->free, one, entry);
	one->shown = (struct weir_readout_fragment){
		.run = request->run,
		.trigger = request->trigger,
		.link = link,
		.link_name = service->links[link].name,
		.key = service->links[link].key,
		.window = one->window,
		.asked_ns = now_ns,
	};
	one->begin = request->begin;
	one->end = request->end;
	one->timeout_ns = request->timeout_ns;
	one->deliver = request->deliver;
	one->arg = request->arg;
	one->abandoned = request->abandoned;
	one->waited = false;
	TAILQ_INSERT_TAIL(&service->asked, one, entry);
}

/* Under the lock. @return as check_request() */
static enum weir_readout_refusal
take_request(struct weir_readout_service *service, const struct weir_readout_request *request,
	uint32_t nb, uint64_t now_ns)
{
	if (service->stopped)
		return WEIR_READOUT_REFUSAL_STOPPED;
	if (nb > service->nb_fragments - service->stats.outstanding - service->stats.held)
		return WEIR_READOUT_REFUSAL_NO_FRAGMENT;
	for (uint32_t i = 0; i < nb; i++)
		take_fragment(
			service, request, request->links != NULL ? request->links[i] : i, now_ns);
	service->stats.outstanding += nb;
	return WEIR_READOUT_NB_REFUSALS;
}

int
weir_readout_service_ask(struct weir_readout_service *service,
	const struct weir_readout_request *request, uint64_t now_ns)
{
	static const int errors[] = {
		[WEIR_READOUT_REFUSAL_BAD_WINDOW] = -EINVAL,
		[WEIR_READOUT_REFUSAL_UNKNOWN_LINK] = -ENOENT,
		[WEIR_READOUT_REFUSAL_NO_FRAGMENT] = -ENOBUFS,
		[WEIR_READOUT_REFUSAL_STOPPED] = -ESHUTDOWN,
		[WEIR_READOUT_NB_REFUSALS] = 0,
	};
	uint32_t nb = request->links != NULL ? request->nb_links : service->nb_links;
	enum weir_readout_refusal refusal = check_request(service, request, nb);

	pthread_mutex_lock(&service->lock);
	if (refusal == WEIR_READOUT_NB_REFUSALS)
		refusal = take_request(service, request, nb, now_ns);
	service->stats.requests++;
	service->stats.asked += RTE_MAX(nb, 1u);
	if (refusal != WEIR_READOUT_NB_REFUSALS)
		service->stats.refused[refusal] += RTE_MAX(nb, 1u);
	pthread_mutex_unlock(&service->lock);
	return errors[refusal];
}

/* Its window, looked up: frames are pinned now. */
static enum weir_readout_answer
look_up(const struct weir_readout_buffer *buffer, struct fragment *one)
{
	static const enum weir_readout_answer answers[] = {
		[WEIR_READOUT_STATUS_COMPLETE] = WEIR_READOUT_ANSWER_COMPLETE,
		[WEIR_READOUT_STATUS_PARTIAL] = WEIR_READOUT_ANSWER_PARTIAL,
		[WEIR_READOUT_STATUS_TOO_OLD] = WEIR_READOUT_ANSWER_TOO_OLD,
		[WEIR_READOUT_STATUS_NOT_YET] = WEIR_READOUT_ANSWER_NOT_YET,
	};
	/* its ends were compared when it was asked for: the only other error */
	if (weir_readout_window_find(buffer, one->begin, one->end, one->window) < 0)
		return WEIR_READOUT_ANSWER_TOO_LARGE;
	return answers[weir_readout_window_status(one->window)];
}

/* @return whether it is answered */
static bool
try_answer(const struct weir_readout_service *service, struct fragment *one, bool stopped,
	uint64_t now_ns)
{
	const struct weir_readout_buffer *buffer = service->links[one->shown.link].buffer;
	uint64_t waited_ns = now_ns > one->shown.asked_ns ? now_ns - one->shown.asked_ns : 0;
	const bool abandoned =
		one->abandoned != NULL && __atomic_load_n(one->abandoned, __ATOMIC_RELAXED);
	const bool late = abandoned || waited_ns >= one->timeout_ns, over = stopped || late;

	if (!over && one->begin != one->end && !weir_readout_buffer_reached(buffer, one->end))
		return false;
	one->shown.answer = look_up(buffer, one);
	one->shown.answered_ns = now_ns;
	if (one->shown.answer != WEIR_READOUT_ANSWER_NOT_YET || one->timeout_ns == 0)
		return true;
	one->shown.answer = late ? WEIR_READOUT_ANSWER_TIMED_OUT : WEIR_READOUT_ANSWER_STOPPED;
	if (over)
		return true;
	/* The clock of the link was set back meanwhile: it is still to come. */
	weir_readout_window_release(one->window);
	return false;
}

/* From here on it is whose it was delivered to. */
static void
deliver(struct weir_readout_service *service, struct fragment *one)
{
	const struct weir_readout_fragment *shown = &one->shown;
	struct weir_readout_service_stats *stats = &service->stats;
	uint64_t latency_ns =
		shown->answered_ns > shown->asked_ns ? shown->answered_ns - shown->asked_ns : 0;

	pthread_mutex_lock(&service->lock);
	stats->outstanding--;
	stats->held++;
	stats->answered[shown->answer]++;
	stats->missing_cut += (one->window->parts & WEIR_READOUT_PART_CUT) != 0;
	stats->frames += one->window->nb_frames;
	stats->bytes += one->window->bytes;
	weir_base_hist_add(&service->latencies[one->waited ? WEIR_READOUT_LATENCY_WAITED
							   : WEIR_READOUT_LATENCY_AT_ONCE],
		latency_ns);
	pthread_mutex_unlock(&service->lock);
	one->deliver(one->arg, &one->shown);
}

uint32_t
weir_readout_service_poll(struct weir_readout_service *service, uint64_t now_ns)
{
	struct fragment *one, *next;
	uint32_t nb = 0;
	bool stopped;

	pthread_mutex_lock(&service->lock);
	TAILQ_CONCAT(&service->waiting, &service->asked, entry);
	stopped = service->stopped;
	pthread_mutex_unlock(&service->lock);
	for (one = TAILQ_FIRST(&service->waiting); one != NULL; one = next) {
		next = TAILQ_NEXT(one, entry);
		if (!try_answer(service, one, stopped, now_ns)) {
			one->waited = true;
			continue;
		}
		TAILQ_REMOVE(&service->waiting, one, entry);
		deliver(service, one);
		nb++;
	}
	return nb;
}

void
weir_readout_service_stop(struct weir_readout_service *service)
{
	pthread_mutex_lock(&service->lock);
	service->stopped = true;
	pthread_mutex_unlock(&service->lock);
}

void
weir_readout_fragment_release(struct weir_readout_fragment *fragment)
{
	struct fragment *one = RTE_PTR_SUB(fragment, offsetof(struct fragment, shown));
	struct weir_readout_service *service = one->service;

	weir_readout_window_release(one->window);
	pthread_mutex_lock(&service->lock);
	service->stats.held--;
	TAILQ_INSERT_HEAD(&service->free, one, entry);
	pthread_mutex_unlock(&service->lock);
}

void
weir_readout_service_stats(
	struct weir_readout_service *service, struct weir_readout_service_stats *stats)
{
	pthread_mutex_lock(&service->lock);
	*stats = service->stats;
	pthread_mutex_unlock(&service->lock);
}

void
weir_readout_service_latency(struct weir_readout_service *service, enum weir_readout_latency which,
	struct weir_base_hist *hist)
{
	pthread_mutex_lock(&service->lock);
	*hist = service->latencies[which];
	pthread_mutex_unlock(&service->lock);
}
