/* SPDX-License-Identifier: BSD-3-Clause */

/* Counters, summed up when somebody asks. */

#include "em_private.h"

const char *
weir_em_queue_type_name(enum weir_em_queue_type type)
{
	static const char *const names[WEIR_EM_QUEUE_TYPES] = {
		[WEIR_EM_QUEUE_ATOMIC] = "atomic",
		[WEIR_EM_QUEUE_PARALLEL] = "parallel",
		[WEIR_EM_QUEUE_ORDERED] = "ordered",
		[WEIR_EM_QUEUE_UNSCHEDULED] = "unscheduled",
		[WEIR_EM_QUEUE_LOCAL] = "local",
		[WEIR_EM_QUEUE_OUTPUT] = "output",
	};

	return (unsigned int)type < WEIR_EM_QUEUE_TYPES ? names[type] : "unknown";
}

static void
add_core(struct weir_em_stats *sum, const struct weir_em_stats *core)
{
	sum->nb_received += em_read(&core->nb_received);
	sum->nb_calls += em_read(&core->nb_calls);
	sum->nb_rounds += em_read(&core->nb_rounds);
	sum->nb_idle += em_read(&core->nb_idle);
	sum->nb_ended += em_read(&core->nb_ended);
	sum->nb_errors += em_read(&core->nb_errors);
	for (int i = 0; i < WEIR_EM_DROPS; i++)
		sum->nb_dropped[i] += em_read(&core->nb_dropped[i]);
	sum->nb_forwarded += em_read(&core->nb_forwarded);
	sum->nb_refused += em_read(&core->nb_refused);
	sum->nb_sent += em_read(&core->nb_sent);
}

void
weir_em_stats(const struct weir_em *em, struct weir_em_stats *stats)
{
	if (stats == NULL)
		return;
	memset(stats, 0, sizeof(*stats));
	if (em == NULL)
		return;
	for (unsigned int id = 0; id < em->nb_ports; id++)
		add_core(stats, &em->cores[id].stats);
	stats->nb_sent += em_read(&em->foreign_sent);
	stats->nb_received += em_read(&em->foreign_received);
	stats->nb_errors += em_read(&em->nb_foreign_errors);
	for (int i = 0; i < WEIR_EM_DROPS; i++)
		stats->nb_dropped[i] += em_read(&em->foreign_dropped[i]);
}

int
weir_em_core_stats(const struct weir_em *em, unsigned int id, struct weir_em_stats *stats)
{
	if (em == NULL || stats == NULL || id >= em->nb_cores + em->nb_producers)
		return -EINVAL;
	memset(stats, 0, sizeof(*stats));
	add_core(stats, &em->cores[id].stats);
	return 0;
}

int
weir_em_type_stats(
	struct weir_em *em, enum weir_em_queue_type type, struct weir_em_queue_stats *stats)
{
	if (em == NULL || stats == NULL || (unsigned int)type >= WEIR_EM_QUEUE_TYPES)
		return -EINVAL;
	em_lock(em);
	*stats = em->retired[type];
	for (unsigned int i = 0; i < em->nb_queues; i++) {
		const struct em_queue *queue = &em->queues[i];
		struct weir_em_queue_stats sums;

		if ((queue->handle == WEIR_EM_NONE && !queue->dying) || queue->type != type)
			continue;
		em_queue_sums(em, queue, &sums);
		stats->nb_sent += sums.nb_sent - queue->before.nb_sent;
		stats->nb_received += sums.nb_received - queue->before.nb_received;
		stats->nb_dropped += sums.nb_dropped - queue->before.nb_dropped;
	}
	em_unlock(em);
	return 0;
}
