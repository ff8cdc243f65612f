/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Channels. One list does for senders and receivers: those wait only while it is full, these while it is empty, and what would change
 * that goes to the first of them at once.
 */

#include <stdlib.h>

#include "weir_em_pool.h"
#include "weir_job_channel.h"

#include "listed.h"
#include "sync_private.h"

#define DEFAULT_MESSAGES 64
#define MESSAGES_MAX     (1u << 24)

struct weir_job_channel {
	struct weir_job_waiters waiters; /* its lock is that of all here */
	uint32_t nb_slots;
	uint32_t size;
	uint32_t first, nb;                  /* messages in the ring */
	struct weir_job_channel_stats stats; /* nb_refused: and senders that wait */
	weir_job_channel_refused_t refused;
	void *refused_arg;
	struct job_listed listed;
	char name[32];
	uint8_t messages[];
};

struct channel_waiter {
	struct weir_job_waiter waiter; /* value: a negative errno, negated; 0: done */
	const void *from;              /* the message of a sender */
	void *to;                      /* room of a receiver */
};

static void *
message(struct weir_job_channel *channel, uint32_t i)
{
	return channel->messages +
	       (size_t)((channel->first + i) % channel->nb_slots) * channel->size;
}

static void
lock(struct weir_job_channel *channel)
{
	job_waiters_lock(&channel->waiters);
}

static void
unlock(struct weir_job_channel *channel)
{
	job_waiters_unlock(&channel->waiters);
}

static struct channel_waiter *
pop(struct weir_job_channel *channel)
{
	struct channel_waiter *waiter = (struct channel_waiter *)job_waiters_pop(&channel->waiters);

	if (waiter != NULL)
		waiter->waiter.value = 0;
	return waiter;
}

/* After the lock was given back. */
static void
wake(struct channel_waiter *waiter)
{
	JOB_STALL("handed");
	if (waiter != NULL)
		job_waiter_wake(&waiter->waiter);
}

static void
put(struct weir_job_channel *channel, const void *from)
{
	memcpy(message(channel, channel->nb), from, channel->size);
	channel->nb++;
	if (channel->nb > channel->stats.nb_most)
		channel->stats.nb_most = channel->nb;
	channel->stats.nb_sent++;
}

/* Under the lock. @return 0: sent, *receiver is to be woken then; -EAGAIN: full; -EPIPE */
static int
send_now(struct weir_job_channel *channel, const void *from, struct channel_waiter **receiver)
{
	*receiver = NULL;
	if (channel->stats.closed || channel->nb == channel->nb_slots) {
		channel->stats.nb_refused++;
		return channel->stats.closed ? -EPIPE : -EAGAIN;
	}
	if (channel->nb == 0)
		*receiver = pop(channel);
	if (*receiver == NULL) {
		put(channel, from);
		return 0;
	}
	memcpy((*receiver)->to, from, channel->size);
	channel->stats.nb_sent++;
	channel->stats.nb_received++;
	return 0;
}

/* Likewise. -EAGAIN: empty */
static int
recv_now(struct weir_job_channel *channel, void *to, struct channel_waiter **sender)
{
	*sender = NULL;
	if (channel->nb == 0)
		return channel->stats.closed ? -EPIPE : -EAGAIN;
	memcpy(to, message(channel, 0), channel->size);
	channel->first = (channel->first + 1) % channel->nb_slots;
	channel->nb--;
	channel->stats.nb_received++;
	*sender = pop(channel);
	if (*sender != NULL) {
		put(channel, (*sender)->from);
		channel->stats.nb_refused--; /* not any more */
	}
	return 0;
}

/* Under the lock, which is given back. Nothing of the channel is touched after the wait: who closed it may have ended it. */
static int
wait_turn(struct weir_job_channel *channel, struct channel_waiter *waiter,
	const struct weir_job_wait *how)
{
	int rc;

	channel->stats.nb_waits++;
	waiter->waiter.value = 0;
	rc = job_waiters_wait(&channel->waiters, &waiter->waiter, how);
	return rc < 0 ? rc : -(int)waiter->waiter.value;
}

int
weir_job_channel_try_send(struct weir_job_channel *channel, const void *from)
{
	struct channel_waiter *receiver;
	int rc;

	if (channel == NULL || from == NULL)
		return -EINVAL;
	lock(channel);
	rc = send_now(channel, from, &receiver);
	unlock(channel);
	wake(receiver);
	return rc;
}

static const char *
name_of(const struct weir_job_channel *channel)
{
	return channel != NULL ? channel->name : NULL;
}

int
weir_job_channel_send(
	struct weir_job_channel *channel, const void *from, const struct weir_job_wait *how)
{
	const struct weir_job_wait as = job_wait_for(how, "channel, to send", name_of(channel), 0);
	struct channel_waiter self = {.from = from}, *receiver;
	int rc;

	if (channel == NULL || from == NULL)
		return -EINVAL;
	lock(channel);
	rc = send_now(channel, from, &receiver);
	if (rc == -EAGAIN)
		return wait_turn(channel, &self, &as);
	unlock(channel);
	wake(receiver);
	return rc;
}

int
weir_job_channel_try_recv(struct weir_job_channel *channel, void *to)
{
	struct channel_waiter *sender;
	int rc;

	if (channel == NULL || to == NULL)
		return -EINVAL;
	lock(channel);
	rc = recv_now(channel, to, &sender);
	unlock(channel);
	wake(sender);
	return rc;
}

int
weir_job_channel_recv(struct weir_job_channel *channel, void *to, const struct weir_job_wait *how)
{
	const struct weir_job_wait as =
		job_wait_for(how, "channel, to receive", name_of(channel), 0);
	struct channel_waiter self = {.to = to}, *sender;
	int rc;

	if (channel == NULL || to == NULL)
		return -EINVAL;
	lock(channel);
	rc = recv_now(channel, to, &sender);
	if (rc == -EAGAIN)
		return wait_turn(channel, &self, &as);
	unlock(channel);
	wake(sender);
	return rc;
}

int
weir_job_channel_close(struct weir_job_channel *channel)
{
	struct weir_job_waiter *all;

	if (channel == NULL)
		return -EINVAL;
	lock(channel);
	if (channel->stats.closed) {
		unlock(channel);
		return -EALREADY;
	}
	channel->stats.closed = true;
	all = job_waiters_take(&channel->waiters);
	for (struct weir_job_waiter *waiter = all; waiter != NULL; waiter = waiter->next)
		waiter->value = EPIPE;
	unlock(channel);
	JOB_STALL("closed");
	job_waiters_wake(all);
	return 0;
}

static int
send_event(struct weir_job_channel *channel, const struct rte_event *event)
{
	if (likely(channel->size == sizeof(*event)))
		return weir_job_channel_try_send(channel, event);
	lock(channel);
	channel->stats.nb_refused++; /* it is not for events */
	unlock(channel);
	return -EINVAL;
}

void
weir_job_channel_receive(struct weir_em_core *core, void *context, struct rte_event *events,
	uint16_t nb, weir_em_queue queue, void *queue_context)
{
	struct weir_job_channel *channel = context;

	for (uint16_t i = 0; i < nb; i++) {
		if (send_event(channel, &events[i]) == 0)
			continue;
		if (channel->refused != NULL)
			channel->refused(channel->refused_arg, core, &events[i], queue);
		else if (events[i].event_type == WEIR_EM_EVENT_BUFFER)
			weir_em_free(weir_em_core_em(core), core, events[i].mbuf);
	}
}

struct weir_job_channel *
weir_job_channel_create(const struct weir_job_channel_config *config)
{
	const struct weir_job_channel_config none = {.size = 0};
	struct weir_job_channel *channel;
	unsigned int nb;
	size_t size;

	if (config == NULL)
		config = &none;
	nb = config->nb_messages != 0 ? config->nb_messages : DEFAULT_MESSAGES;
	size = config->size != 0 ? config->size : sizeof(struct rte_event);
	if (nb > MESSAGES_MAX || size > WEIR_JOB_CHANNEL_MESSAGE_MAX) {
		JOB_LOG(ERROR, "channel: %u messages of %zu bytes: at most %u, of at most %u bytes",
			nb, size, MESSAGES_MAX, WEIR_JOB_CHANNEL_MESSAGE_MAX);
		rte_errno = EINVAL;
		return NULL;
	}
	channel = calloc(1, sizeof(*channel) + nb * size);
	if (channel == NULL) {
		JOB_LOG(ERROR, "channel: no memory for %u messages of %zu bytes", nb, size);
		rte_errno = ENOMEM;
		return NULL;
	}
	channel->nb_slots = nb;
	channel->size = (uint32_t)size;
	channel->refused = config->refused;
	channel->refused_arg = config->refused_arg;
	job_copy_name(channel->name, sizeof(channel->name),
		config->name != NULL ? config->name : "channel");
	job_listed_add(JOB_LISTED_CHANNEL, &channel->listed, channel);
	return channel;
}

int
weir_job_channel_destroy(struct weir_job_channel *channel)
{
	unsigned int nb, nb_waiting;

	if (channel == NULL)
		return 0;
	lock(channel);
	nb = channel->nb;
	nb_waiting = channel->waiters.nb;
	unlock(channel);
	if (nb > 0 || nb_waiting > 0) {
		JOB_LOG(ERROR, "channel: not destroyed: %u messages in it, %u wait", nb,
			nb_waiting);
		return -EBUSY;
	}
	job_listed_remove(&channel->listed);
	free(channel);
	return 0;
}

const char *
job_channel_name(const struct weir_job_channel *channel)
{
	return channel->name;
}

void
weir_job_channel_stats(struct weir_job_channel *channel, struct weir_job_channel_stats *stats)
{
	if (channel == NULL || stats == NULL)
		return;
	lock(channel);
	*stats = channel->stats;
	stats->nb = channel->nb;
	stats->nb_waiting = channel->waiters.nb;
	if (channel->nb == channel->nb_slots)
		stats->nb_refused -= stats->nb_waiting; /* they are senders, and may get in */
	unlock(channel);
}
