/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Windows on request, over the control socket.
 *
 * A command becomes a question: a fragment of each of its links is asked for, and its answer is deferred.
 *
 *     ctl_request() --ask--> service --poll: take_fragment()--> ... the last one: resume --> answer_question()
 *     server's thread                 who polls                                              server's thread
 *
 * Who polls does next to nothing for it: the fragment is put aside, its frames let go if they are not wanted, and for the last one the
 * server's thread is woken, which writes the JSON.
 *
 * A question has users: the fragments that are outstanding, and the one that answers. The last one frees it. When commands are taken
 * back it may be answered before its fragments are there, which are released then when they come.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "buffer/buffer_private.h"
#include "ctl_private.h"
#include "request/request_private.h"
#include "weir_readout_fragment.h"

/* Of one link. */
struct ctl_part {
	bool wanted;
	int refused; /* -errno: it is not asked for; -ENODATA: there was no frame yet */
	struct weir_readout_fragment *fragment; /* delivered, not released */
	uint32_t nb_frames;                     /* of it, before they were let go */
	uint64_t bytes;
};

struct ctl_question {
	LIST_ENTRY(ctl_question) entry;
	struct weir_readout_ctl *readout;
	bool with_frames;
	struct weir_readout_request request; /* links: none; what is asked of the service */
	uint64_t last_ms;                    /* 0: begin and end are given */
	uint32_t nb_wanted;
	/* Under the lock: */
	struct weir_base_ctl_deferred *deferred;
	uint32_t nb_users;
	bool asking;             /* more fragments may be asked for */
	bool answered;           /* or just being so */
	bool abandoned;          /* atomic: the client has gone */
	struct ctl_part parts[]; /* by the link's number in the service */
};

/* Under the lock. @return whether it was the last one: it is to be freed */
static bool
leave(struct ctl_question *question)
{
	if (--question->nb_users > 0)
		return false;
	LIST_REMOVE(question, entry);
	question->readout->nb_fragments -= question->nb_wanted;
	return true;
}

/* Under the lock: have all fragments come that ever will? */
static bool
is_complete(const struct ctl_question *question)
{
	return !question->asking && !question->answered && question->nb_users == 1;
}

/* A weir_readout_deliver_t. */
static void
take_fragment(void *arg, struct weir_readout_fragment *fragment)
{
	struct fragment *one = RTE_PTR_SUB(fragment, offsetof(struct fragment, shown));
	struct ctl_question *question = arg;
	struct weir_readout_ctl *readout = question->readout;
	struct ctl_part *part = &question->parts[fragment->link];
	bool last;

	part->nb_frames = one->window->nb_frames;
	part->bytes = one->window->bytes;
	if (!question->with_frames)
		weir_readout_window_release(one->window);
	pthread_mutex_lock(&readout->lock);
	if (question->answered)
		weir_readout_fragment_release(fragment);
	else
		part->fragment = fragment;
	last = leave(question);
	if (is_complete(question))
		weir_base_ctl_resume(question->deferred);
	pthread_mutex_unlock(&readout->lock);
	if (last)
		free(question);
}

static json_t *
missing_of(const struct weir_readout_window *window)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < window->nb_missing; i++)
		json_array_append_new(list,
			json_pack("[o, o]", json_sprintf("%" PRIu64, window->missing[i].begin),
				json_sprintf("%" PRIu64, window->missing[i].end)));
	return list;
}

static void
set_data(json_t *object, const struct weir_readout_fragment *fragment)
{
	const uint64_t bytes = weir_readout_fragment_bytes(fragment);
	uint8_t *data = malloc(bytes);

	if (data == NULL)
		return;
	weir_readout_fragment_write(fragment, data);
	weir_base_ctl_set_bytes(object, "data", data, bytes);
	free(data);
}

/* The frames were asked for, and cannot be told: the fragment is none that was answered. */
static json_t *
tell_no_memory(const struct weir_readout_fragment *fragment)
{
	json_t *object = json_object();

	weir_base_ctl_set_name(object, "link", fragment->link_name);
	json_object_set_new(object, "refused",
		json_sprintf("no memory for the answer with its %" PRIu64
			     " bytes: ask for a shorter window, or for fewer links",
			weir_readout_fragment_bytes(fragment)));
	return object;
}

/* Frames that the window has, at most. */
static uint64_t
frames_of(const struct weir_readout_buffer *buffer, const struct weir_readout_window *window)
{
	const uint64_t ticks = (window->end - window->begin) & buffer->timestamp_mask;
	const uint64_t cells = buffer->store.nb_cells;

	return buffer->ordered ? cells : RTE_MIN(ticks / buffer->step_ticks + 2, cells);
}

static void
set_too_large(json_t *object, const struct ctl_question *question,
	const struct weir_readout_fragment *fragment)
{
	const struct weir_readout_window *window = fragment->window;
	const struct weir_readout_ctl *readout = question->readout;

	json_object_set_new(object, "why",
		json_sprintf("it has up to %" PRIu64 " frames, and a fragment has room for %" PRIu32
			     ": ask for a shorter window, or raise %s to %" PRIu64,
			frames_of(readout->service->links[fragment->link].buffer, window),
			window->max_frames, readout->frames_key,
			frames_of(readout->service->links[fragment->link].buffer, window)));
}

static json_t *
tell_fragment(const struct ctl_question *question, const struct ctl_part *part)
{
	const struct weir_readout_fragment *fragment = part->fragment;
	const struct weir_readout_window *window = fragment->window;
	json_t *object = json_object();

	weir_base_ctl_set_name(object, "link", fragment->link_name);
	weir_base_ctl_set_decimal(object, "key", fragment->key);
	weir_base_ctl_set_name(object, "answer", weir_readout_answer_name(fragment->answer));
	weir_base_ctl_set_decimal(object, "begin", window->begin);
	weir_base_ctl_set_decimal(object, "end", window->end);
	weir_base_ctl_set(object, "frames", part->nb_frames);
	weir_base_ctl_set(object, "bytes", part->bytes);
	json_object_set_new(object, "missing", missing_of(window));
	json_object_set_new(
		object, "missing_cut", json_boolean((window->parts & WEIR_READOUT_PART_CUT) != 0));
	weir_base_ctl_set(object, "latency_ns", fragment->answered_ns - fragment->asked_ns);
	if (fragment->answer == WEIR_READOUT_ANSWER_TOO_LARGE)
		set_too_large(object, question, fragment);
	if (question->with_frames)
		set_data(object, fragment);
	if (!question->with_frames || json_object_get(object, "data") != NULL)
		return object;
	json_decref(object);
	return tell_no_memory(fragment);
}

static json_t *
text_of_refusal(const struct weir_readout_ctl *readout, int refused)
{
	switch (refused) {
	case -ENODATA:
		return json_string("there was no frame yet");
	case -EINVAL:
		return json_string("\"end\" is before \"begin\", or behind it by half of what "
				   "timestamps count to, or more, which is the same to them");
	case -ENOBUFS:
		return json_sprintf("too few of the service's %" PRIu32
				    " fragments are free: name fewer links, ask later, or raise %s",
			readout->service->nb_fragments, readout->fragments_key);
	case -ESHUTDOWN:
		return json_string("the service is stopped: the run ends");
	default:
		return json_string(strerror(-refused));
	}
}

static json_t *
tell_part(const struct ctl_question *question, uint32_t link)
{
	const struct ctl_part *part = &question->parts[link];
	json_t *object;

	if (part->fragment != NULL)
		return tell_fragment(question, part);
	object = json_object();
	weir_base_ctl_set_name(object, "link", question->readout->service->links[link].name);
	json_object_set_new(object, "refused", text_of_refusal(question->readout, part->refused));
	return object;
}

/* @return 0, -EMSGSIZE: there are too many bytes of them */
static int
tell_all(const struct ctl_question *question, json_t **result)
{
	const uint32_t nb_links = question->readout->service->nb_links;
	json_t *fragments;
	uint64_t bytes = 0;

	for (uint32_t i = 0; question->with_frames && i < nb_links; i++)
		bytes += question->parts[i].bytes;
	if (bytes > WEIR_READOUT_CTL_BYTES_MAX) {
		*result = json_sprintf("the frames have %" PRIu64
				       " bytes, one answer has room for %" PRIu64
				       ": ask for a shorter window, or for fewer links",
			bytes, WEIR_READOUT_CTL_BYTES_MAX);
		return -EMSGSIZE;
	}
	fragments = json_array();
	for (uint32_t i = 0; i < nb_links; i++)
		if (question->parts[i].wanted)
			json_array_append_new(fragments, tell_part(question, i));
	*result = json_pack("{s:o}", "fragments", fragments);
	weir_base_ctl_set_decimal(*result, "run", question->request.run);
	weir_base_ctl_set_decimal(*result, "trigger", question->request.trigger);
	return 0;
}

/* @return 0: of one link at least; else why not of the first one */
static int
refusal_of_all(const struct ctl_question *question)
{
	int refused = 0;

	for (uint32_t i = 0; i < question->readout->service->nb_links; i++) {
		const struct ctl_part *part = &question->parts[i];

		if (part->wanted && part->refused == 0)
			return 0;
		if (part->wanted && refused == 0)
			refused = part->refused;
	}
	return refused;
}

/* A weir_base_ctl_finish_t. */
static int
answer_question(void *arg, json_t **result)
{
	struct ctl_question *question = arg;
	struct weir_readout_ctl *readout = question->readout;
	bool waits, last;
	int rc;

	pthread_mutex_lock(&readout->lock);
	question->answered = true;
	waits = question->nb_users > 1;
	pthread_mutex_unlock(&readout->lock);
	rc = waits ? -ECANCELED : refusal_of_all(question);
	if (waits)
		*result = json_string("the run has ended before the window was there");
	else if (rc < 0)
		*result = text_of_refusal(readout, rc);
	else
		rc = tell_all(question, result);
	for (uint32_t i = 0; i < readout->service->nb_links; i++)
		if (question->parts[i].fragment != NULL)
			weir_readout_fragment_release(question->parts[i].fragment);
	pthread_mutex_lock(&readout->lock);
	last = leave(question);
	pthread_mutex_unlock(&readout->lock);
	if (last)
		free(question);
	return rc;
}

/* Ask for a window of these links: all or none. */
static void
ask(struct ctl_question *question, const uint32_t *links, uint32_t nb)
{
	struct weir_readout_ctl *readout = question->readout;
	struct weir_readout_request request = question->request;
	int rc;

	request.links = links;
	request.nb_links = nb;
	pthread_mutex_lock(&readout->lock);
	question->nb_users += nb;
	pthread_mutex_unlock(&readout->lock);
	rc = weir_readout_service_ask(readout->service, &request, readout->clock());
	if (rc == 0)
		return;
	for (uint32_t i = 0; i < nb; i++)
		question->parts[links[i]].refused = rc;
	pthread_mutex_lock(&readout->lock);
	question->nb_users -= nb;
	pthread_mutex_unlock(&readout->lock);
}

/* The last that the link has: not more than there is. */
static void
ask_last(struct ctl_question *question, uint32_t link)
{
	const struct weir_readout_buffer *buffer = question->readout->service->links[link].buffer;
	const unsigned __int128 ticks =
		(unsigned __int128)question->last_ms * buffer->format.clock_hz / 1000;
	uint64_t *begin = &question->request.begin, *end = &question->request.end;

	if (!weir_readout_buffer_range(buffer, begin, end)) {
		question->parts[link].refused = -ENODATA;
		return;
	}
	if (ticks < ((*end - *begin) & buffer->timestamp_mask))
		*begin = (*end - (uint64_t)ticks) & buffer->timestamp_mask;
	ask(question, &link, 1);
}

/* @param links  room for all that are wanted */
static void
ask_all(struct ctl_question *question, uint32_t *links)
{
	uint32_t nb = 0;

	for (uint32_t i = 0; i < question->readout->service->nb_links; i++)
		if (question->parts[i].wanted)
			links[nb++] = i;
	if (question->last_ms == 0) {
		ask(question, links, nb);
		return;
	}
	for (uint32_t i = 0; i < nb; i++)
		ask_last(question, links[i]);
}

static const char *
name_of_link(void *arg, uint32_t number)
{
	const struct ctl_question *question = arg;

	return question->readout->service->links[number].name;
}

static void
want_link(void *arg, uint32_t number)
{
	struct ctl_question *question = arg;

	question->parts[number].wanted = true;
}

/* Ticks are of one clock: links of others would be asked for some other time. @return 0, -EINVAL */
static int
check_clocks(const struct ctl_question *question, json_t **result)
{
	const struct weir_readout_service *service = question->readout->service;
	const struct service_link *first = NULL;

	for (uint32_t i = 0; question->last_ms == 0 && i < service->nb_links; i++) {
		const struct service_link *link = &service->links[i];

		if (!question->parts[i].wanted)
			continue;
		if (first == NULL)
			first = link;
		if (link->buffer->format.clock_hz == first->buffer->format.clock_hz)
			continue;
		*result = json_sprintf(
			"\"begin\" and \"end\" are in ticks, and clocks differ: %" PRIu64
			" Hz of link '%.100s', %" PRIu64
			" Hz of '%.100s'; name links of one clock, or ask for \"last_ms\"",
			first->buffer->format.clock_hz, first->name, link->buffer->format.clock_hz,
			link->name);
		return -EINVAL;
	}
	return 0;
}

/* The links that are named; all, where none are. @return 0, -EINVAL, -ENOENT */
static int
read_links(struct ctl_question *question, const json_t *args, json_t **result)
{
	const struct weir_readout_service *service = question->readout->service;
	const struct ctl_names all = {
		.name = name_of_link, .arg = question, .nb = service->nb_links};
	const json_t *names = json_object_get(args, "links"), *name;
	size_t index;

	if (names != NULL && (!json_is_array(names) || json_array_size(names) == 0)) {
		*result = json_string("expected \"links\": names, one or more");
		return -EINVAL;
	}
	for (uint32_t i = 0; names == NULL && i < service->nb_links; i++)
		question->parts[i].wanted = true;
	json_array_foreach (names, index, name) {
		int rc = ctl_names_find(&all, name, want_link, result);

		if (rc < 0)
			return rc;
	}
	for (uint32_t i = 0; i < service->nb_links; i++)
		question->nb_wanted += question->parts[i].wanted;
	return check_clocks(question, result);
}

/* @return 0, -EINVAL */
static int
read_window(struct ctl_question *question, const json_t *args, json_t **result)
{
	const bool is_last = json_object_get(args, "last_ms") != NULL;
	const bool has_begin = json_object_get(args, "begin") != NULL;
	const bool has_end = json_object_get(args, "end") != NULL;

	if (is_last ? has_begin || has_end : !has_begin || !has_end) {
		*result = json_string("expected either \"begin\" and \"end\", or \"last_ms\"");
		return -EINVAL;
	}
	if (ctl_args_u64(args, "begin", &question->request.begin, result) < 0 ||
		ctl_args_u64(args, "end", &question->request.end, result) < 0 ||
		ctl_args_u64(args, "last_ms", &question->last_ms, result) < 0)
		return -EINVAL;
	if (!is_last || question->last_ms > 0)
		return 0;
	*result = json_string("expected \"last_ms\": 1 or more");
	return -EINVAL;
}

/* @return 0, -EINVAL, -ENOENT */
static int
read_args(struct ctl_question *question, const json_t *args, json_t **result)
{
	const json_t *frames = json_object_get(args, "frames");
	uint64_t timeout_ms = 0;

	if (read_window(question, args, result) < 0 ||
		ctl_args_u64(args, "timeout_ms", &timeout_ms, result) < 0 ||
		ctl_args_u64(args, "run", &question->request.run, result) < 0 ||
		ctl_args_u64(args, "trigger", &question->request.trigger, result) < 0)
		return -EINVAL;
	if (timeout_ms > WEIR_READOUT_CTL_TIMEOUT_MAX_MS) {
		*result = json_sprintf(
			"expected \"timeout_ms\": 0 up to %d", WEIR_READOUT_CTL_TIMEOUT_MAX_MS);
		return -EINVAL;
	}
	if (frames != NULL && !json_is_boolean(frames)) {
		*result = json_string("expected \"frames\": true or false");
		return -EINVAL;
	}
	question->request.timeout_ns = timeout_ms * 1000000;
	question->with_frames = json_is_true(frames);
	return read_links(question, args, result);
}

/* It is one of those that wait, from now on. @return 0, -ENOBUFS */
static int
enlist(struct ctl_question *question, json_t **result)
{
	struct weir_readout_ctl *readout = question->readout;
	uint32_t taken;
	bool fits;

	pthread_mutex_lock(&readout->lock);
	taken = readout->nb_fragments;
	fits = question->nb_wanted <= readout->max_fragments - taken;
	if (fits) {
		readout->nb_fragments += question->nb_wanted;
		question->nb_users = 1;
		question->asking = true;
		LIST_INSERT_HEAD(&readout->waiting, question, entry);
	} else {
		readout->nb_refused += question->nb_wanted;
	}
	pthread_mutex_unlock(&readout->lock);
	if (fits)
		return 0;
	*result = json_sprintf("%" PRIu32 " links are too many now: requests over the control "
			       "socket may have %" PRIu32 " of the service's %" PRIu32
			       " fragments at once, and %" PRIu32 " of these are waited for; name "
			       "fewer links, ask later, or raise %s",
		question->nb_wanted, readout->max_fragments, readout->service->nb_fragments, taken,
		readout->fragments_key);
	return -ENOBUFS;
}

/* A weir_base_ctl_gone_t: its fragments are needed for others. */
static void
abandon(void *arg)
{
	struct ctl_question *question = arg;

	__atomic_store_n(&question->abandoned, true, __ATOMIC_RELAXED);
}

/* @return 0: it will be answered; -ENOMEM */
static int
pose(struct ctl_question *question)
{
	struct weir_readout_ctl *readout = question->readout;
	uint32_t *links = calloc(question->nb_wanted, sizeof(*links));

	if (links != NULL)
		question->deferred = weir_base_ctl_defer(readout->ctl, answer_question, question);
	if (question->deferred != NULL) {
		weir_base_ctl_when_gone(question->deferred, abandon);
		ask_all(question, links);
	}
	free(links);
	if (question->deferred == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&readout->lock);
	question->asking = false;
	if (is_complete(question))
		weir_base_ctl_resume(question->deferred);
	pthread_mutex_unlock(&readout->lock);
	return 0;
}

int
ctl_request(void *arg, const json_t *args, json_t **result)
{
	struct weir_readout_ctl *readout = arg;
	struct ctl_question *question;
	int rc;

	if (readout->service == NULL) {
		*result = json_string("there is nothing to ask: no link of this run has requests");
		return -ENOTSUP;
	}
	question = calloc(
		1, sizeof(*question) + readout->service->nb_links * sizeof(question->parts[0]));
	if (question == NULL)
		return -ENOMEM;
	question->readout = readout;
	question->request.deliver = take_fragment;
	question->request.arg = question;
	question->request.abandoned = &question->abandoned;
	rc = read_args(question, args, result);
	if (rc == 0)
		rc = enlist(question, result);
	if (rc < 0) {
		free(question);
		return rc;
	}
	rc = pose(question);
	if (rc < 0) {
		pthread_mutex_lock(&readout->lock);
		leave(question);
		pthread_mutex_unlock(&readout->lock);
		free(question);
	}
	return rc;
}
