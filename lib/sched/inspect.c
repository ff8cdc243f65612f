/* SPDX-License-Identifier: BSD-3-Clause */

/* What a scheduler is, and what it has done so far: configuration as it is in force, counters, for people. */

#include <errno.h>
#include <string.h>

#include "sched_private.h"

int
weir_sched_config_get(const struct weir_sched *sched, struct weir_sched_config *config)
{
	if (sched == NULL || config == NULL)
		return -EINVAL;
	*config = sched->config;
	config->backend = sched->backend_name;
	return 0;
}

int
weir_sched_queue_get(
	const struct weir_sched *sched, unsigned int queue, struct weir_sched_queue_config *config)
{
	if (sched == NULL || config == NULL || queue >= sched->config.nb_queues)
		return -EINVAL;
	*config = sched->queues[queue];
	return 0;
}

int
weir_sched_port_get(
	const struct weir_sched *sched, unsigned int port, struct weir_sched_port_config *config)
{
	if (sched == NULL || config == NULL || port >= sched->config.nb_ports)
		return -EINVAL;
	*config = sched->ports_config[port];
	return 0;
}

int
weir_sched_group_get(const struct weir_sched *sched, unsigned int group, uint64_t *ports)
{
	if (sched == NULL || ports == NULL || group >= WEIR_SCHED_GROUPS_MAX)
		return -EINVAL;
	*ports = __atomic_load_n(&sched->groups[group], __ATOMIC_RELAXED);
	return 0;
}

uint64_t
weir_sched_queue_ports(const struct weir_sched *sched, unsigned int queue)
{
	uint64_t ports;

	if (sched == NULL || queue >= sched->config.nb_queues)
		return 0;
	ports = sched_queue_ports(sched, queue);
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		if (sched->ports_config[i].producer)
			ports &= ~(UINT64_C(1) << i);
	return ports;
}

bool
weir_sched_running(const struct weir_sched *sched)
{
	return sched != NULL && sched_is_running(sched);
}

void
weir_sched_stats(const struct weir_sched *sched, struct weir_sched_stats *stats)
{
	uint64_t nb_drained;

	if (stats == NULL)
		return;
	memset(stats, 0, sizeof(*stats));
	if (sched == NULL)
		return;
	/* Before the others: what was drained came in before that. */
	nb_drained = __atomic_load_n(&sched->nb_drained, __ATOMIC_ACQUIRE);
	sched->backend->stats(sched, stats);
	stats->nb_drained = nb_drained;
	stats->nb_invalid += __atomic_load_n(&sched->nb_resting, __ATOMIC_RELAXED);
}

void
sched_xstats_put(struct sched_xstats *to, const char *name, uint64_t value)
{
	struct weir_sched_xstat *xstat;

	if (to->wanted != NULL) {
		if (strcmp(name, to->wanted) != 0)
			return;
		*to->value = value;
		to->nb = 1;
		return;
	}
	if (to->nb++ >= to->room)
		return;
	xstat = &to->xstats[to->nb - 1];
	strncpy(xstat->name, name, sizeof(xstat->name) - 1);
	xstat->name[sizeof(xstat->name) - 1] = '\0';
	xstat->value = value;
}

void
sched_xstats_put_port(struct sched_xstats *to, const struct weir_sched_stats *stats)
{
	sched_xstats_put(to, "new", __atomic_load_n(&stats->nb_new, __ATOMIC_RELAXED));
	sched_xstats_put(to, "forwarded", __atomic_load_n(&stats->nb_forwarded, __ATOMIC_RELAXED));
	sched_xstats_put(to, "released", __atomic_load_n(&stats->nb_released, __ATOMIC_RELAXED));
	sched_xstats_put(to, "dequeued", __atomic_load_n(&stats->nb_dequeued, __ATOMIC_RELAXED));
	sched_xstats_put(to, "refused", __atomic_load_n(&stats->nb_refused, __ATOMIC_RELAXED));
	sched_xstats_put(to, "invalid", __atomic_load_n(&stats->nb_invalid, __ATOMIC_RELAXED));
	sched_xstats_put(to, "stolen", __atomic_load_n(&stats->nb_stolen, __ATOMIC_RELAXED));
}

/* What is in a queue, and went through it. */
struct passed {
	uint64_t nb_enqueued, nb_dequeued, nb_drained, nb_waiting;
};

static void
look_at_queue(const struct weir_sched *sched, unsigned int queue, struct passed *passed)
{
	struct sched_queue_counts counts;

	sched->backend->queue_counts(sched, queue, &counts);
	*passed = (struct passed){.nb_enqueued = counts.nb_enqueued,
		.nb_dequeued = counts.nb_dequeued,
		.nb_drained = __atomic_load_n(&sched->nb_drained_of[queue], __ATOMIC_RELAXED)};
	/* Who dequeues may have counted an event before who enqueued it has. */
	if (passed->nb_enqueued > passed->nb_dequeued + passed->nb_drained)
		passed->nb_waiting = passed->nb_enqueued - passed->nb_dequeued - passed->nb_drained;
}

static void
xstats_of_queue(const struct weir_sched *sched, unsigned int queue, struct sched_xstats *to)
{
	struct passed passed;

	look_at_queue(sched, queue, &passed);
	sched_xstats_put(to, "enqueued", passed.nb_enqueued);
	sched_xstats_put(to, "dequeued", passed.nb_dequeued);
	sched_xstats_put(to, "drained", passed.nb_drained);
	sched_xstats_put(to, "waiting", passed.nb_waiting);
}

static void
dump_queues(const struct weir_sched *sched, FILE *file)
{
	struct passed passed;

	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++) {
		look_at_queue(sched, queue, &passed);
		if (passed.nb_enqueued != 0)
			fprintf(file,
				"  queue %u: %" PRIu64 " waiting of %" PRIu64 " enqueued, %" PRIu64
				" dequeued, %" PRIu64 " drained\n",
				queue, passed.nb_waiting, passed.nb_enqueued, passed.nb_dequeued,
				passed.nb_drained);
	}
}

static bool
is_part(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which)
{
	switch (part) {
	case WEIR_SCHED_PART_ALL:
		return which == 0;
	case WEIR_SCHED_PART_PORT:
		return which < sched->config.nb_ports;
	case WEIR_SCHED_PART_QUEUE:
		return which < sched->config.nb_queues;
	}
	return false;
}

/* @return how many there are; -EINVAL */
static int
put_xstats(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which,
	struct sched_xstats *to)
{
	struct weir_sched_stats stats;

	if (sched == NULL || !is_part(sched, part, which))
		return -EINVAL;
	if (part == WEIR_SCHED_PART_ALL) {
		weir_sched_stats(sched, &stats);
		sched_xstats_put_port(to, &stats);
		sched_xstats_put(to, "drained", stats.nb_drained);
	}
	if (part == WEIR_SCHED_PART_QUEUE)
		xstats_of_queue(sched, which, to);
	if (sched->backend->xstats != NULL)
		sched->backend->xstats(sched, part, which, to);
	return (int)to->nb;
}

int
weir_sched_xstats(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which,
	struct weir_sched_xstat *xstats, unsigned int nb)
{
	struct sched_xstats to = {.xstats = xstats, .room = nb};

	return xstats == NULL && nb > 0 ? -EINVAL : put_xstats(sched, part, which, &to);
}

int
weir_sched_xstat_by_name(const struct weir_sched *sched, enum weir_sched_part part,
	unsigned int which, const char *name, uint64_t *value)
{
	struct sched_xstats to = {.wanted = name, .value = value};
	int nb = name == NULL || value == NULL ? -EINVAL : put_xstats(sched, part, which, &to);

	if (nb == 0)
		return -ENOENT;
	return nb > 0 ? 0 : nb;
}

void
weir_sched_dump(struct weir_sched *sched, FILE *file)
{
	if (sched == NULL || file == NULL)
		return;
	sched->backend->dump(sched, file);
	dump_queues(sched, file);
}
