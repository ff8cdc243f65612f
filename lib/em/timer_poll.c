/* SPDX-License-Identifier: BSD-3-Clause */

/* What is due is sent, by the cores that dispatch. */

#include "timer_private.h"

#define BURST 32 /* sent in a round at most, from each timer */
#define STEPS 64 /* and of all that is done in a wheel */
#define HELP  16 /* rounds, in which a core looks after another one once. Idle ones do in each */

struct fired {
	weir_em_queue queue;
	struct rte_event event;
};

static void
send(struct weir_em *em, struct weir_em_core *core, struct timer_lane *lane, struct fired *fired)
{
	if (em_send_reserved(em, fired->queue, &fired->event) == 0)
		return;
	weir_sched_unreserve(em->sched, 1);
	em_add(&lane->nb_undeliverable, 1);
	em_drop_unsent(em, core, fired->queue, &fired->event, WEIR_EM_DROP_DELETED);
}

static void
serve(struct weir_em_core *core, struct timer_lane *lane, uint64_t now)
{
	struct fired fired[BURST];
	unsigned int nb = 0, steps = STEPS;
	struct timeout *timeout;

	/* somebody is at it; what is left is seen in the next round */
	if (!timer_lane_trylock(lane))
		return;
	while (nb < BURST && (timeout = timer_lane_pop(lane, now >> lane->shift, &steps)) != NULL) {
		fired[nb].queue = timeout->queue;
		fired[nb++].event = timeout->event;
		weir_base_hist_add(
			&lane->late_ns, weir_base_cycles_to_ns(now - timeout->due_cycles));
		timeout_fired(timeout);
	}
	timer_lane_next(lane);
	timer_lane_unlock(lane);
	for (unsigned int i = 0; i < nb; i++)
		send(core->em, core, lane, &fired[i]);
}

static void
look(struct weir_em_core *core, const struct timers *timers, unsigned int lane, uint64_t now,
	uint64_t patience)
{
	uint64_t active = __atomic_load_n(&timers->active, __ATOMIC_ACQUIRE);

	for (; active != 0; active &= active - 1) {
		struct timer_lane *there = &timers->timers[__builtin_ctzll(active)].lanes[lane];
		uint64_t next = __atomic_load_n(&there->next, __ATOMIC_RELAXED);

		if (next <= now && now - next >= patience)
			serve(core, there, now);
	}
}

void
timers_poll(struct weir_em_core *core, void *arg)
{
	const struct timers *timers = arg;
	struct timer_core *own = &timers->cores[core->id];
	bool idle = core->stats.nb_idle != own->nb_idle;
	uint64_t now;

	if (__atomic_load_n(&timers->active, __ATOMIC_RELAXED) == 0)
		return;
	now = weir_base_cycles();
	if (core->id < timers->nb_lanes)
		look(core, timers, core->id, now, 0);
	own->nb_idle = core->stats.nb_idle;
	if (!idle && ++own->nb_polls % HELP != 0)
		return;
	own->helped = own->helped + 1 < timers->nb_lanes ? own->helped + 1 : 0;
	if (own->helped != core->id)
		look(core, timers, own->helped, now, timers->help_cycles);
}
