/* SPDX-License-Identifier: BSD-3-Clause */

/* What can be counted and shown of the builtin scheduler. */

#include "shard.h"

void
builtin_stats(const struct weir_sched *sched, struct weir_sched_stats *stats)
{
	const struct builtin *builtin = sched->own;

	*stats = (struct weir_sched_stats){
		.nb_invalid = __atomic_load_n(&builtin->nb_invalid, __ATOMIC_RELAXED)};
	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
		stats->nb_new += __atomic_load_n(&builtin->nb_new[queue], __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		const struct weir_sched_stats *port = &builtin->ports[i].counts;

		stats->nb_new += __atomic_load_n(&port->nb_new, __ATOMIC_RELAXED);
		stats->nb_forwarded += __atomic_load_n(&port->nb_forwarded, __ATOMIC_RELAXED);
		stats->nb_released += __atomic_load_n(&port->nb_released, __ATOMIC_RELAXED);
		stats->nb_dequeued += __atomic_load_n(&port->nb_dequeued, __ATOMIC_RELAXED);
		stats->nb_refused += __atomic_load_n(&port->nb_refused, __ATOMIC_RELAXED);
		stats->nb_invalid += __atomic_load_n(&port->nb_invalid, __ATOMIC_RELAXED);
		stats->nb_stolen += __atomic_load_n(&port->nb_stolen, __ATOMIC_RELAXED);
	}
}

void
builtin_queue_counts(
	const struct weir_sched *sched, unsigned int queue, struct sched_queue_counts *counts)
{
	const struct builtin *builtin = sched->own;

	*counts = (struct sched_queue_counts){
		.nb_enqueued = __atomic_load_n(&builtin->nb_new[queue], __ATOMIC_RELAXED)};
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		const struct builtin_port *port = &builtin->ports[i];

		counts->nb_dequeued += __atomic_load_n(&port->nb_dequeued[queue], __ATOMIC_RELAXED);
		counts->nb_enqueued += __atomic_load_n(&port->nb_enqueued[queue], __ATOMIC_RELAXED);
	}
}

void
builtin_dump(struct weir_sched *sched, FILE *file)
{
	struct builtin *builtin = sched->own;

	fprintf(file, "%s: builtin, %u ports, %u queues, %u shards\n", sched->name,
		sched->config.nb_ports, sched->config.nb_queues, builtin->nb_shards);
	fprintf(file, "  credits: %d of %u taken, %u of %u reserved ones left\n",
		__atomic_load_n(&builtin->inside, __ATOMIC_RELAXED), sched->config.new_threshold,
		credits_left(builtin), sched->config.nb_reserved);
	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		const struct shard *shard = &builtin->shards[i];
		uint32_t in_rings = 0;

		for (unsigned int r = 0; r < shard->nb_rings; r++)
			in_rings += __atomic_load_n(&shard->rings[r].tail, __ATOMIC_RELAXED) -
				    __atomic_load_n(&shard->rings[r].head, __ATOMIC_RELAXED);
		fprintf(file,
			"  shard %u, of port %u, served by port %u: %u in rings, about %u ready, "
			"priorities %#x\n",
			i, shard->home, shard_owner(shard), in_rings,
			__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED),
			__atomic_load_n(&shard->priorities_hint, __ATOMIC_RELAXED));
	}
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		fprintf(file, "  port %u: holds %u, %d credits\n", i,
			__atomic_load_n(&builtin->ports[i].nb_held, __ATOMIC_RELAXED),
			__atomic_load_n(&builtin->ports[i].credits, __ATOMIC_RELAXED));
}

/* By who has the lock as a rule; here, about so. */
static uint64_t
about(const uint32_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void
xstats_of_port(const struct builtin_port *port, struct sched_xstats *to)
{
	sched_xstats_put_port(to, &port->counts);
	sched_xstats_put(to, "looks_elsewhere", __atomic_load_n(&port->nb_looks, __ATOMIC_RELAXED));
	sched_xstats_put(to, "sleeps", __atomic_load_n(&port->nb_sleeps, __ATOMIC_RELAXED));
	sched_xstats_put(to, "held", __atomic_load_n(&port->nb_held, __ATOMIC_RELAXED));
	sched_xstats_put(
		to, "shards_taken_over", __atomic_load_n(&port->nb_taken_over, __ATOMIC_RELAXED));
	sched_xstats_put(to, "classes_moved", __atomic_load_n(&port->nb_moved, __ATOMIC_RELAXED));
	sched_xstats_put(to, "longest_move_ns",
		weir_base_cycles_to_ns(__atomic_load_n(&port->longest_move, __ATOMIC_RELAXED)));
	sched_xstats_put(to, "bias_ended", __atomic_load_n(&port->bias.nb_ended, __ATOMIC_RELAXED));
	sched_xstats_put(to, "idle_ns",
		weir_base_cycles_to_ns(__atomic_load_n(&port->idle_time, __ATOMIC_RELAXED)));
	sched_xstats_put(to, "shard_waiting", port->home != NULL ? about(&port->home->nb_hint) : 0);
	sched_xstats_put(to, "shard_polls", port->home != NULL ? about(&port->home->nb_polls) : 0);
}

void
builtin_xstats(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which,
	struct sched_xstats *to)
{
	const struct builtin *builtin = sched->own;

	switch (part) {
	case WEIR_SCHED_PART_ALL:
		sched_xstats_put(to, "credits_used",
			(uint64_t)__atomic_load_n(&builtin->inside, __ATOMIC_RELAXED));
		sched_xstats_put(to, "reserved_left", credits_left(builtin));
		sched_xstats_put(to, "shards", builtin->nb_shards);
		break;
	case WEIR_SCHED_PART_PORT:
		xstats_of_port(&builtin->ports[which], to);
		break;
	case WEIR_SCHED_PART_QUEUE:
		break;
	}
}
