/* SPDX-License-Identifier: BSD-3-Clause */
/* Senders: a bounded queue of fragments, and who empties it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "sender_private.h"

#define QUEUED_DEFAULT   64u
#define STALL_NS_DEFAULT UINT64_C(5000000000)
/* How long its thread waits for a peer before it looks whether it is to stop. */
#define WAIT_MS 20

const char *
weir_readout_send_failure_name(enum weir_readout_send_failure reason)
{
	static const char *const names[] = {
		[WEIR_READOUT_SEND_QUEUE_FULL] = "queue_full",
		[WEIR_READOUT_SEND_STALLED] = "stalled",
		[WEIR_READOUT_SEND_PEER_GONE] = "peer_gone",
		[WEIR_READOUT_SEND_WRITE_FAILED] = "write_failed",
		[WEIR_READOUT_SEND_NO_MEMORY] = "no_memory",
		[WEIR_READOUT_SEND_STOPPED] = "stopped",
	};

	return (unsigned int)reason < RTE_DIM(names) ? names[reason] : NULL;
}

void
weir_readout_sender_deliver(void *arg, struct weir_readout_fragment *fragment)
{
	struct weir_readout_sender *sender = arg;
	enum weir_readout_send_failure reason = WEIR_READOUT_NB_SEND_FAILURES;

	pthread_mutex_lock(&sender->lock);
	sender->stats.taken++;
	if (sender->stopped)
		reason = WEIR_READOUT_SEND_STOPPED;
	else if (sender->gone)
		reason = WEIR_READOUT_SEND_PEER_GONE;
	else if (sender->stats.queued == sender->queue_size)
		reason = WEIR_READOUT_SEND_QUEUE_FULL;
	if (reason == WEIR_READOUT_NB_SEND_FAILURES) {
		sender->queue[(sender->head + sender->nb++) % sender->queue_size] = fragment;
		sender->stats.queued++;
		pthread_cond_signal(&sender->queued);
	} else {
		sender->stats.failed[reason]++;
	}
	pthread_mutex_unlock(&sender->lock);
	if (reason != WEIR_READOUT_NB_SEND_FAILURES)
		weir_readout_fragment_release(fragment);
}

/* @return NULL: none is queued */
static struct weir_readout_fragment *
take_next(struct weir_readout_sender *sender)
{
	struct weir_readout_fragment *fragment = NULL;

	pthread_mutex_lock(&sender->lock);
	if (sender->nb > 0) {
		fragment = sender->queue[sender->head];
		sender->head = (sender->head + 1) % sender->queue_size;
		sender->nb--;
	}
	pthread_mutex_unlock(&sender->lock);
	return fragment;
}

/* A fragment that was queued is released, and then counted: whose count is seen is free. */
static void
fail(struct weir_readout_sender *sender, struct weir_readout_fragment *fragment,
	enum weir_readout_send_failure reason)
{
	weir_readout_fragment_release(fragment);
	pthread_mutex_lock(&sender->lock);
	sender->stats.queued--;
	sender->stats.failed[reason]++;
	pthread_mutex_unlock(&sender->lock);
}

static void
finish(struct weir_readout_sender *sender)
{
	struct writing *writing = &sender->writing;
	uint64_t bytes = weir_readout_fragment_bytes(writing->fragment);

	if (sender->outlet.end >= 0)
		sender->outlet.end += (off_t)bytes;
	weir_readout_fragment_release(writing->fragment);
	writing->fragment = NULL;
	pthread_mutex_lock(&sender->lock);
	sender->stats.queued--;
	sender->stats.sent++;
	sender->stats.sent_bytes += bytes;
	pthread_mutex_unlock(&sender->lock);
}

/* @return how many failed */
static uint32_t
fail_all(struct weir_readout_sender *sender, enum weir_readout_send_failure first,
	enum weir_readout_send_failure others)
{
	struct weir_readout_fragment *fragment;
	uint32_t nb = 0;

	if (sender->writing.fragment != NULL) {
		fail(sender, sender->writing.fragment, first);
		sender->writing.fragment = NULL;
		nb++;
	}
	for (; (fragment = take_next(sender)) != NULL; nb++)
		fail(sender, fragment, others);
	return nb;
}

/* A socket's end. Nothing is queued from here on. */
static uint32_t
give_up(struct weir_readout_sender *sender, enum weir_readout_send_failure reason, const char *why)
{
	SENDER_LOG(ERROR, "fragments to '%s': given up: %s", sender->name, why);
	pthread_mutex_lock(&sender->lock);
	sender->gone = true;
	pthread_mutex_unlock(&sender->lock);
	close(sender->outlet.fd);
	sender->outlet.fd = -1;
	return fail_all(sender, reason, WEIR_READOUT_SEND_PEER_GONE);
}

/* The fragment did not go out because of an error. @return how many failed with it */
static uint32_t
fail_writing(struct weir_readout_sender *sender, int error)
{
	struct weir_readout_fragment *fragment = sender->writing.fragment;

	if (sender->outlet.is_socket)
		return give_up(sender, WEIR_READOUT_SEND_PEER_GONE, strerror(error));
	/* a full disk stays full: further ones are counted */
	if (sender->stats.failed[WEIR_READOUT_SEND_WRITE_FAILED] == 0)
		SENDER_LOG(ERROR, "fragments to '%s': the first one is lost: %s", sender->name,
			strerror(error));
	outlet_roll_back(&sender->outlet);
	sender->writing.fragment = NULL;
	fail(sender, fragment, WEIR_READOUT_SEND_WRITE_FAILED);
	return 1;
}

/* The peer has no room. @return how many failed, because it had none for too long */
static uint32_t
wait_for_peer(struct weir_readout_sender *sender, uint64_t now_ns)
{
	pthread_mutex_lock(&sender->lock);
	sender->stats.waits++;
	pthread_mutex_unlock(&sender->lock);
	if (now_ns < sender->progress_ns || now_ns - sender->progress_ns < sender->stall_ns)
		return 0;
	return give_up(sender, WEIR_READOUT_SEND_STALLED, "it takes nothing");
}

/* @return whether there is one being written now; one that cannot be has failed */
static bool
begin_next(struct weir_readout_sender *sender, uint64_t now_ns, uint32_t *nb_done)
{
	struct weir_readout_fragment *fragment;

	while (sender->writing.fragment == NULL && (fragment = take_next(sender)) != NULL) {
		sender->progress_ns = now_ns;
		if (writing_begin(&sender->writing, fragment) == 0)
			break;
		fail(sender, fragment, WEIR_READOUT_SEND_NO_MEMORY);
		++*nb_done;
	}
	return sender->writing.fragment != NULL;
}

uint32_t
weir_readout_sender_poll(struct weir_readout_sender *sender, uint64_t now_ns)
{
	uint32_t nb_done = 0;

	while (begin_next(sender, now_ns, &nb_done)) {
		uint64_t nb_bytes;
		int rc = writing_go_on(&sender->writing, &sender->outlet, &nb_bytes);

		if (nb_bytes > 0)
			sender->progress_ns = now_ns;
		if (rc == -EAGAIN && sender->outlet.is_socket)
			return nb_done + wait_for_peer(sender, now_ns);
		if (rc < 0) {
			nb_done += fail_writing(sender, -rc);
		} else {
			finish(sender);
			nb_done++;
		}
	}
	return nb_done;
}

/* @return false: to stop */
static bool
wait_for_work(struct weir_readout_sender *sender)
{
	bool stopped;

	pthread_mutex_lock(&sender->lock);
	while (!sender->stopped && sender->stats.queued == 0)
		pthread_cond_wait(&sender->queued, &sender->lock);
	stopped = sender->stopped;
	pthread_mutex_unlock(&sender->lock);
	return !stopped;
}

static void *
run(void *arg)
{
	struct weir_readout_sender *sender = arg;

	while (wait_for_work(sender)) {
		weir_readout_sender_poll(sender, weir_base_time_ns());
		if (sender->writing.fragment != NULL)
			outlet_wait(&sender->outlet, WAIT_MS);
	}
	return NULL;
}

static struct weir_readout_sender *
make_sender(const struct weir_readout_sender_config *config)
{
	uint32_t nb = config->nb_queued != 0 ? config->nb_queued : QUEUED_DEFAULT;
	struct weir_readout_sender *sender = calloc(1, sizeof(*sender));

	if (sender == NULL)
		return NULL;
	sender->queue = calloc(nb, sizeof(struct weir_readout_fragment *));
	if (sender->queue == NULL) {
		free(sender);
		return NULL;
	}
	sender->queue_size = nb;
	sender->stall_ns = config->stall_ns != 0 ? config->stall_ns : STALL_NS_DEFAULT;
	sender->outlet.fd = -1;
	if (config->path != NULL)
		snprintf(sender->name, sizeof(sender->name), "%s", config->path);
	else
		snprintf(sender->name, sizeof(sender->name), "descriptor %d", config->fd);
	pthread_mutex_init(&sender->lock, NULL);
	pthread_cond_init(&sender->queued, NULL);
	return sender;
}

struct weir_readout_sender *
weir_readout_sender_create(const struct weir_readout_sender_config *config)
{
	struct weir_readout_sender *sender = make_sender(config);
	int rc = -ENOMEM;

	if (sender != NULL)
		rc = outlet_open(&sender->outlet, sender->name, config);
	if (rc == 0 && config->thread) {
		rc = -pthread_create(&sender->thread, NULL, run, sender);
		sender->has_thread = rc == 0;
	}
	if (rc == 0)
		return sender;
	if (config->path == NULL && sender != NULL)
		sender->outlet.fd = -1; /* stays the caller's */
	weir_readout_sender_free(sender);
	rte_errno = -rc;
	return NULL;
}

void
weir_readout_sender_stop(struct weir_readout_sender *sender)
{
	pthread_mutex_lock(&sender->lock);
	sender->stopped = true;
	pthread_cond_signal(&sender->queued);
	pthread_mutex_unlock(&sender->lock);
	if (sender->has_thread)
		pthread_join(sender->thread, NULL);
	sender->has_thread = false;
	if (sender->writing.fragment != NULL)
		outlet_roll_back(&sender->outlet);
	fail_all(sender, WEIR_READOUT_SEND_STOPPED, WEIR_READOUT_SEND_STOPPED);
}

void
weir_readout_sender_free(struct weir_readout_sender *sender)
{
	if (sender == NULL)
		return;
	weir_readout_sender_stop(sender);
	if (sender->outlet.fd >= 0)
		close(sender->outlet.fd);
	free(sender->writing.head);
	free(sender->queue);
	pthread_cond_destroy(&sender->queued);
	pthread_mutex_destroy(&sender->lock);
	free(sender);
}

void
weir_readout_sender_stats(
	struct weir_readout_sender *sender, struct weir_readout_sender_stats *stats)
{
	pthread_mutex_lock(&sender->lock);
	*stats = sender->stats;
	pthread_mutex_unlock(&sender->lock);
}
