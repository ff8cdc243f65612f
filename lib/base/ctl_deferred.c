/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Answers that come later than a handler returns.
 *
 *     handler --defer--> waiting --resume (any thread)--> finish, under the lock of handlers --> answered
 *
 * All that wait are on the server's list. Who is answered takes them off: the server's thread, for its clients; a caller of
 * weir_base_ctl_run(), who waits for his own. Both hold the lock of handlers from there until finish() has returned, so that who takes a command back,
 * under that lock too, sees each of its answers either on the list, and finishes it himself, or finished.
 */

#include <errno.h>
#include <stdlib.h>

#include "ctl_private.h"

int
weir_base_ctl_deferred_init(struct ctl_waiting *waiting)
{
	int error = pthread_mutex_init(&waiting->lock, NULL);

	if (error != 0)
		return -error;
	error = pthread_cond_init(&waiting->changed, NULL);
	if (error != 0)
		pthread_mutex_destroy(&waiting->lock);
	TAILQ_INIT(&waiting->list);
	return -error;
}

void
weir_base_ctl_deferred_fini(struct ctl_waiting *waiting)
{
	pthread_cond_destroy(&waiting->changed);
	pthread_mutex_destroy(&waiting->lock);
}

struct weir_base_ctl_deferred *
weir_base_ctl_defer(struct weir_base_ctl *ctl, weir_base_ctl_finish_t finish, void *arg)
{
	struct weir_base_ctl_deferred *deferred;

	if (ctl == NULL || finish == NULL || ctl->commands.running == NULL ||
		ctl->commands.running->deferred != NULL)
		return NULL;
	deferred = calloc(1, sizeof(*deferred));
	if (deferred == NULL)
		return NULL;
	deferred->ctl = ctl;
	deferred->finish = finish;
	deferred->arg = arg;
	deferred->handler = ctl->commands.running->handler;
	deferred->handler_arg = ctl->commands.running->arg;
	ctl->commands.running->deferred = deferred;
	pthread_mutex_lock(&ctl->waiting.lock);
	TAILQ_INSERT_TAIL(&ctl->waiting.list, deferred, entry);
	pthread_mutex_unlock(&ctl->waiting.lock);
	return deferred;
}

void
weir_base_ctl_when_gone(struct weir_base_ctl_deferred *deferred, weir_base_ctl_gone_t gone)
{
	deferred->gone = gone;
}

void
weir_base_ctl_deferred_leave(struct weir_base_ctl_deferred *deferred)
{
	struct weir_base_ctl *ctl = deferred->ctl;

	deferred->conn = NULL;
	/* Under this lock it is finished, too: what the argument points to may be gone then. */
	pthread_mutex_lock(&ctl->commands.run);
	if (deferred->gone != NULL && !deferred->finished)
		deferred->gone(deferred->arg);
	pthread_mutex_unlock(&ctl->commands.run);
}

/* Whoever answers it is told. */
static void
set_state(struct weir_base_ctl_deferred *deferred, bool *state)
{
	struct weir_base_ctl *ctl = deferred->ctl;

	pthread_mutex_lock(&ctl->waiting.lock);
	*state = true;
	pthread_cond_broadcast(&ctl->waiting.changed);
	weir_base_ctl_wake(ctl);
	pthread_mutex_unlock(&ctl->waiting.lock);
}

void
weir_base_ctl_resume(struct weir_base_ctl_deferred *deferred)
{
	set_state(deferred, &deferred->resumed);
}

/* Under the lock of handlers. */
static void
finish(struct weir_base_ctl_deferred *deferred)
{
	deferred->error = deferred->finish(deferred->arg, &deferred->result);
	set_state(deferred, &deferred->finished);
}

static bool
is_of(const struct weir_base_ctl_deferred *deferred, const struct ctl_command *command)
{
	return deferred->handler == command->handler && deferred->handler_arg == command->arg;
}

void
weir_base_ctl_deferred_finish(struct weir_base_ctl *ctl, const struct ctl_command *command)
{
	struct weir_base_ctl_deferred *deferred;

	do {
		pthread_mutex_lock(&ctl->waiting.lock);
		TAILQ_FOREACH (deferred, &ctl->waiting.list, entry)
			if (!deferred->finished && is_of(deferred, command))
				break;
		pthread_mutex_unlock(&ctl->waiting.lock);
		if (deferred != NULL)
			finish(deferred);
	} while (deferred != NULL);
}

/* Under both locks: its answer is there. */
static void
take_off(struct weir_base_ctl_deferred *deferred)
{
	TAILQ_REMOVE(&deferred->ctl->waiting.list, deferred, entry);
}

int
weir_base_ctl_deferred_wait(struct weir_base_ctl_deferred *deferred, json_t **result)
{
	struct weir_base_ctl *ctl = deferred->ctl;
	int error;

	pthread_mutex_lock(&ctl->waiting.lock);
	while (!deferred->resumed && !deferred->finished)
		pthread_cond_wait(&ctl->waiting.changed, &ctl->waiting.lock);
	pthread_mutex_unlock(&ctl->waiting.lock);
	pthread_mutex_lock(&ctl->commands.run);
	if (!deferred->finished)
		finish(deferred);
	pthread_mutex_lock(&ctl->waiting.lock);
	take_off(deferred);
	pthread_mutex_unlock(&ctl->waiting.lock);
	pthread_mutex_unlock(&ctl->commands.run);
	error = deferred->error;
	*result = deferred->result;
	free(deferred);
	return error;
}

struct weir_base_ctl_deferred *
weir_base_ctl_deferred_next(struct weir_base_ctl *ctl, bool all)
{
	struct weir_base_ctl_deferred *deferred;

	pthread_mutex_lock(&ctl->commands.run);
	pthread_mutex_lock(&ctl->waiting.lock);
	TAILQ_FOREACH (deferred, &ctl->waiting.list, entry)
		if (deferred->by_client && (deferred->resumed || deferred->finished || all))
			break;
	pthread_mutex_unlock(&ctl->waiting.lock);
	if (deferred != NULL) {
		if (!deferred->finished)
			finish(deferred);
		pthread_mutex_lock(&ctl->waiting.lock);
		take_off(deferred);
		pthread_mutex_unlock(&ctl->waiting.lock);
	}
	pthread_mutex_unlock(&ctl->commands.run);
	return deferred;
}
