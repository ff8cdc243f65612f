/* SPDX-License-Identifier: BSD-3-Clause */

/* Statistics of an event device: what is counted here, and its own. */

#include <stdlib.h>
#include <string.h>

#include "eventdev_private.h"

void
eventdev_stats(const struct weir_sched *sched, struct weir_sched_stats *sum)
{
	const struct eventdev *ed = sched->own;

	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		const struct weir_sched_stats *port = &ed->ports[i]->stats;

		sum->nb_new += __atomic_load_n(&port->nb_new, __ATOMIC_RELAXED);
		sum->nb_forwarded += __atomic_load_n(&port->nb_forwarded, __ATOMIC_RELAXED);
		sum->nb_released += __atomic_load_n(&port->nb_released, __ATOMIC_RELAXED);
		sum->nb_dequeued += __atomic_load_n(&port->nb_dequeued, __ATOMIC_RELAXED);
		sum->nb_refused += __atomic_load_n(&port->nb_refused, __ATOMIC_RELAXED);
		sum->nb_invalid += __atomic_load_n(&port->nb_invalid, __ATOMIC_RELAXED);
	}
	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
		sum->nb_new += __atomic_load_n(&ed->reserved.nb_new[queue], __ATOMIC_RELAXED);
	sum->nb_invalid += __atomic_load_n(&ed->reserved.nb_invalid, __ATOMIC_RELAXED);
}

void
eventdev_queue_counts(
	const struct weir_sched *sched, unsigned int queue, struct sched_queue_counts *counts)
{
	const struct eventdev *ed = sched->own;

	*counts = (struct sched_queue_counts){
		.nb_enqueued = __atomic_load_n(&ed->reserved.nb_new[queue], __ATOMIC_RELAXED)};
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		const struct sched_queue_counts *port = &ed->ports[i]->queues[queue];

		counts->nb_dequeued += __atomic_load_n(&port->nb_dequeued, __ATOMIC_RELAXED);
		counts->nb_enqueued += __atomic_load_n(&port->nb_enqueued, __ATOMIC_RELAXED);
	}
}

/* One thing's, by the name of the driver's; @put is called for each. Devices have xstats from their start on. */
static void
for_each_xstat(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which,
	void (*put)(void *arg, const char *name, uint64_t value), void *arg)
{
	static const enum rte_event_dev_xstats_mode modes[] = {
		[WEIR_SCHED_PART_ALL] = RTE_EVENT_DEV_XSTATS_DEVICE,
		[WEIR_SCHED_PART_PORT] = RTE_EVENT_DEV_XSTATS_PORT,
		[WEIR_SCHED_PART_QUEUE] = RTE_EVENT_DEV_XSTATS_QUEUE,
	};
	const struct eventdev *ed = sched->own;
	struct rte_event_dev_xstats_name *names = NULL;
	uint64_t *ids = NULL, *values = NULL;
	int nb, got;

	if (!sched->running)
		return;
	nb = rte_event_dev_xstats_names_get(ed->device, modes[part], which, NULL, NULL, 0);
	if (nb <= 0)
		return;
	names = calloc(nb, sizeof(*names));
	values = calloc(nb, sizeof(*values));
	ids = calloc(nb, sizeof(*ids));
	if (names != NULL && values != NULL && ids != NULL &&
		rte_event_dev_xstats_names_get(ed->device, modes[part], which, names, ids, nb) ==
			nb) {
		got = rte_event_dev_xstats_get(ed->device, modes[part], which, ids, values, nb);
		for (int i = 0; i < got; i++)
			put(arg, names[i].name, values[i]);
	}
	free(names);
	free(values);
	free(ids);
}

static void
put_device(void *arg, const char *name, uint64_t value)
{
	char own[sizeof(((struct weir_sched_xstat *)0)->name)];

	snprintf(own, sizeof(own), "dev_%s", name);
	sched_xstats_put(arg, own, value);
}

void
eventdev_xstats(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which,
	struct sched_xstats *to)
{
	const struct eventdev *ed = sched->own;

	if (part == WEIR_SCHED_PART_ALL) {
		sched_xstats_put(to, "credits_used", __atomic_load_n(&ed->used, __ATOMIC_RELAXED));
		sched_xstats_put(
			to, "credits_granted", __atomic_load_n(&ed->granted, __ATOMIC_RELAXED));
	} else if (part == WEIR_SCHED_PART_PORT) {
		sched_xstats_put_port(to, &ed->ports[which]->stats);
	}
	for_each_xstat(sched, part, which, put_device, to);
}

static void
print_xstat(void *arg, const char *name, uint64_t value)
{
	if (value != 0)
		fprintf(arg, "  %s %" PRIu64 "\n", name, value);
}

static void
dump_xstats(const struct weir_sched *sched, FILE *file)
{
	for_each_xstat(sched, WEIR_SCHED_PART_ALL, 0, print_xstat, file);
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		for_each_xstat(sched, WEIR_SCHED_PART_PORT, i, print_xstat, file);
	for (unsigned int i = 0; i < sched->config.nb_queues; i++)
		for_each_xstat(sched, WEIR_SCHED_PART_QUEUE, i, print_xstat, file);
}

void
eventdev_dump(struct weir_sched *sched, FILE *file)
{
	const struct eventdev *ed = sched->own;

	fprintf(file, "%s: event device %u, %u inside of %u, %u credits reserved%s\n", sched->name,
		ed->device, eventdev_nb_inside(ed), ed->nb_events,
		__atomic_load_n(&ed->granted, __ATOMIC_RELAXED),
		ed->runs_service ? ", scheduled by its ports" : "");
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		fprintf(file, "  port %u: %u held, %u on their way, %" PRIu64 " dequeued\n", i,
			ed->ports[i]->nb_held, ed->ports[i]->nb_out,
			ed->ports[i]->stats.nb_dequeued);
	if (!sched->running)
		return;
	dump_xstats(sched, file);
	rte_event_dev_dump(ed->device, file);
}
