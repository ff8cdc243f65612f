/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Short events of flows are left to their owner as long as it comes (help.c): taken over they cost more than they are. But where one port
 * does not get through its flows, as its core is slower, or as it has more of them, and another one has nothing to do for a good part of the
 * time, some of these flows are to be the other one's.
 *
 * So each port tells for how long it has had nothing to do. Who finds nothing compares once a period: much waits in a shard whose owner was idle
 * for less of it by far than this port. Then it takes one event over, and asks for the class of its flow, and for its
 * neighbours: about as many as fill half of the difference.
 */

#include "balance.h"
#include "look.h"
#include "move.h"
#include "owner.h"

/* It was idle longer than the other one by this part of a period, or more, */
#define IDLE_PART 8
/* so many events wait there, */
#define WAITING_LEAST 64
/* and it was so for so many periods in a row: to move flows costs as much as some of them. */
#define PERIODS 4

/* It is compared only where something comes of it. */
static bool
may_balance(const struct builtin *builtin)
{
	return builtin->may_move && !has_several_priorities(builtin);
}

/* Nothing was had since it found nothing before. Between the two its thread may have had other things to do. */
static void
note_idle_time(struct builtin_port *port, uint64_t now)
{
	struct port_balance *balance = &port->balance;
	const uint64_t nb = port->counts.nb_dequeued;
	int64_t since = (int64_t)(now - balance->empty_at);

	if (nb == balance->nb_dequeued && since > 0)
		count(&port->home->idle_time, RTE_MIN((uint64_t)since, port->builtin->gap));
	balance->nb_dequeued = nb;
	balance->empty_at = now;
}

bool
balance_is_due(struct builtin_port *port)
{
	const uint64_t now = __atomic_load_n(&port->own->now, __ATOMIC_RELAXED);

	if (!may_balance(port->builtin))
		return false;
	note_idle_time(port, now);
	return (int64_t)(now - port->balance.at) >= (int64_t)port->builtin->move_period;
}

/* Since this port compared last, how much less idle was a shard's owner? Negative: more; or it is not known, or it did not come. */
static int64_t
busier_by(struct builtin_port *port, const struct shard *shard, uint64_t own_idle)
{
	struct seen *seen = &port->seen[shard->id];
	const struct compared before = seen->compared;

	seen->compared = (struct compared){
		.at = port->balance.empty_at,
		.idle_time = __atomic_load_n(&shard->idle_time, __ATOMIC_RELAXED),
		.nb_taken = __atomic_load_n(&shard->nb_taken, __ATOMIC_RELAXED),
	};
	if (before.at != port->balance.at || before.nb_taken == seen->compared.nb_taken)
		return -1;
	return (int64_t)(own_idle - (seen->compared.idle_time - before.idle_time));
}

/* The one that is to give up some. @param[out] by  how much busier it was, cycles */
static struct shard *
busiest(struct builtin_port *port, uint64_t since, uint64_t own_idle, int64_t *by)
{
	struct builtin *builtin = port->builtin;
	uint64_t left =
		__atomic_load_n(&builtin->waiting, __ATOMIC_RELAXED) & ~owner_shards(port);
	struct shard *found = NULL;

	*by = (int64_t)(since / IDLE_PART);
	for (; left != 0; left &= left - 1) {
		struct shard *shard = &builtin->shards[__builtin_ctzll(left)];
		const int64_t its = busier_by(port, shard, own_idle);

		if (its > *by &&
			__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) >= WAITING_LEAST) {
			*by = its;
			found = shard;
		}
	}
	return found;
}

/* Of all classes as many as fill half of the difference, those of others among them; in bits: 2^bits or more. */
static unsigned int
run_for(const struct builtin *builtin, uint64_t since, uint64_t by)
{
	const uint64_t nb_classes = builtin->class_mask + 1;
	unsigned int run = 0;

	while (run < MOVE_RUN_MAX && (UINT64_C(4) << run) * since <= nb_classes * by &&
		builtin->sched->config.nb_queues << builtin->in_class_bits << (run + 1) <=
			MOVE_LANES_MAX)
		run++;
	return run;
}

/* So long, of this time, it had nothing of its own to do: nothing at all, or others' events, about as much of the rest as of all events were theirs. */
static uint64_t
time_left(struct builtin_port *port, uint64_t since)
{
	struct port_balance *balance = &port->balance;
	const uint64_t idle = port->home->idle_time - balance->idle_time;
	const uint64_t nb = port->counts.nb_dequeued - balance->nb_all;
	const uint64_t nb_stolen = port->counts.nb_stolen - balance->nb_stolen;

	balance->idle_time = port->home->idle_time;
	balance->nb_all = port->counts.nb_dequeued;
	balance->nb_stolen = port->counts.nb_stolen;
	return nb_stolen == 0 || idle > since ? idle : idle + (since - idle) * nb_stolen / nb;
}

uint16_t
balance(struct builtin_port *port, struct rte_event *event)
{
	struct port_balance *balance = &port->balance;
	const uint64_t now = balance->empty_at, since = now - balance->at;
	int64_t by;
	struct shard *from = busiest(port, since, time_left(port, since), &by);

	balance->at = now;
	balance->nb_periods = from != NULL && from == balance->from ? balance->nb_periods + 1 : 0;
	balance->from = from;
	if (balance->nb_periods < PERIODS - 1)
		return 0;
	balance->nb_periods = 0;
	if (steal(port, from, event, 1, UINT32_MAX, HELP_SOME) == 0)
		return 0;
	move_run_of(port, from, event->event, run_for(port->builtin, since, (uint64_t)by));
	return 1;
}
