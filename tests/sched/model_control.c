/* SPDX-License-Identifier: BSD-3-Clause */

/* The model is made, started, stopped; credits. See model.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static const char *const bug_names[NB_BUGS] = {"none", "no_exclusion", "no_restore",
	"release_no_fill", "fifo_priority", "no_bound", "no_group", "lifo", "lose", "twice",
	"threshold", "forward_refused", "not_held", "any_port", "credit_leak", "reserve",
	"switch_jumps", "drain_reversed", "drain_loses", "no_implicit", "restart_held", "deadlock",
	"switch_keeps", "stats", "max_held", "flow_mask"};

static int
model_create(struct weir_sched *sched, const char *device)
{
	const char *bug = getenv("WEIR_SCHED_MODEL_BUG");
	struct model *model;

	if (device != NULL) {
		SCHED_LOG(ERROR, "%s: builtin has no devices: '%s'", sched->name, device);
		return -EINVAL;
	}
	model = calloc(1, sizeof(*model));
	model->lanes = calloc(
		(size_t)sched->config.nb_queues * 2 * sched->config.nb_flows, sizeof(struct lane));
	if (model->lanes == NULL) {
		free(model);
		return -ENOMEM;
	}
	for (unsigned int b = 1; bug != NULL && b < NB_BUGS; b++)
		if (strcmp(bug, bug_names[b]) == 0)
			model->bug = b;
	if (bug != NULL && model->bug == BUG_NONE)
		abort();
	pthread_mutex_init(&model->lock, NULL);
	for (unsigned int p = 0; p < WEIR_SCHED_PRIORITIES; p++)
		TAILQ_INIT(&model->waiting[p]);
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		model->ports[i].base = (struct weir_sched_port){&sched_resting_ops, sched, i};
		sched->ports[i] = &model->ports[i].base;
	}
	model->groups[0] = sched->groups[0];
	sched->own = model;
	return 0;
}

static void
model_stop(struct weir_sched *sched, void (*drain)(void *arg, const struct rte_event *event),
	void *arg)
{
	size_t nb_lanes = (size_t)sched->config.nb_queues * 2 * sched->config.nb_flows;
	struct model *model = sched->own;
	struct item *item;

	for (unsigned int p = 0; p < WEIR_SCHED_PRIORITIES; p++)
		while ((item = model->bug == BUG_DRAIN_REVERSED
				       ? TAILQ_LAST(&model->waiting[p], items)
				       : TAILQ_FIRST(&model->waiting[p])) != NULL) {
			TAILQ_REMOVE(&model->waiting[p], item, next);
			if (item->lane != NULL)
				item->lane->nb_waiting--;
			drain(arg, &item->event);
			free(item);
		}
	for (unsigned int i = 0; i < sched->config.nb_ports && model->bug != BUG_RESTART_HELD;
		i++) {
		struct model_port *port = &model->ports[i];

		model->stats.nb_released += port->nb_held;
		for (unsigned int n = 0; n < 256; n++) {
			free(port->held[n].item);
			port->held[n].item = NULL;
		}
		port->nb_held = 0;
	}
	for (size_t i = 0; i < nb_lanes; i++) {
		struct lane *lane = &model->lanes[i];
		struct place *place;

		if (!lane->used)
			continue;
		lane->nb_held = 0;
		while ((place = TAILQ_FIRST(&lane->places)) != NULL) {
			TAILQ_REMOVE(&lane->places, place, next);
			if (place->item != NULL && !place->out) {
				if (model->bug != BUG_DRAIN_LOSES)
					drain(arg, &place->item->event);
				free(place->item);
			}
			free(place);
		}
	}
	model->inside = model->nb_reserved_inside = 0;
}

static void
model_destroy(struct weir_sched *sched)
{
	struct model *model = sched->own;

	free(model->lanes);
	free(model);
}

static int
model_setup(struct weir_sched *sched, unsigned int number)
{
	return 0;
}

static int
model_group_set(struct weir_sched *sched, unsigned int group)
{
	struct model *model = sched->own;

	pthread_mutex_lock(&model->lock);
	model->groups[group] = sched->groups[group];
	pthread_mutex_unlock(&model->lock);
	return 0;
}

static int
model_start(struct weir_sched *sched)
{
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		if (!sched->ports_config[i].producer)
			return 0;
	SCHED_LOG(ERROR, "%s: all ports are producers", sched->name);
	return -EINVAL;
}

static uint32_t
model_reserve(struct weir_sched *sched, uint32_t nb)
{
	struct model *model = sched->own;
	uint32_t left;

	pthread_mutex_lock(&model->lock);
	left = sched->config.nb_reserved + (model->bug == BUG_RESERVE) - model->granted -
	       model->nb_reserved_inside;
	nb = RTE_MIN(nb, left);
	if (!sched->running)
		nb = 0;
	model->granted += nb;
	pthread_mutex_unlock(&model->lock);
	return nb;
}

static void
model_unreserve(struct weir_sched *sched, uint32_t nb)
{
	struct model *model = sched->own;

	pthread_mutex_lock(&model->lock);
	model->granted -= RTE_MIN(nb, model->granted);
	pthread_mutex_unlock(&model->lock);
}

static int
model_enqueue_reserved(struct weir_sched *sched, const struct rte_event *event)
{
	struct model *model = sched->own;
	int rc = -EINVAL;

	pthread_mutex_lock(&model->lock);
	if (sched->running && event != NULL && event->op == RTE_EVENT_OP_NEW &&
		model_is_valid(sched, event) && model->granted > 0) {
		model->granted--;
		model_enter(sched, event, true);
		rc = 0;
	} else {
		model->stats.nb_invalid++;
	}
	pthread_mutex_unlock(&model->lock);
	return rc;
}

static void
model_stats(const struct weir_sched *sched, struct weir_sched_stats *stats)
{
	struct model *model = sched->own;

	pthread_mutex_lock(&model->lock);
	*stats = model->stats;
	pthread_mutex_unlock(&model->lock);
}

static void
model_queue_counts(
	const struct weir_sched *sched, unsigned int queue, struct sched_queue_counts *counts)
{
	struct model *model = sched->own;

	pthread_mutex_lock(&model->lock);
	*counts = model->queues[queue];
	pthread_mutex_unlock(&model->lock);
}

static void
model_dump(struct weir_sched *sched, FILE *file)
{
	struct model *model = sched->own;

	fprintf(file, "%s: builtin, a model of it, %u + %u inside\n", sched->name, model->inside,
		model->nb_reserved_inside);
}

const struct sched_backend sched_builtin = {
	.name = "builtin",
	.create = model_create,
	.destroy = model_destroy,
	.queue_setup = model_setup,
	.port_setup = model_setup,
	.group_set = model_group_set,
	.start = model_start,
	.stop = model_stop,
	.reserve = model_reserve,
	.unreserve = model_unreserve,
	.enqueue_reserved = model_enqueue_reserved,
	.stats = model_stats,
	.queue_counts = model_queue_counts,
	.port_ops = &model_ops,
	.dump = model_dump,
};
