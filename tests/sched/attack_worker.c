/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that produce and work. See attack.h. */

#include <sched.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "attack.h"

/* Now and then a thread takes its time. */
static void
dawdle(struct attack_worker *worker)
{
	uint32_t number = attack_roll(worker, 1000);

	if (number < 200)
		for (volatile uint32_t i = attack_roll(worker, 400); i > 0; i--)
			;
	else if (number < 240)
		sched_yield();
	else if (number < 242)
		usleep(50 + attack_roll(worker, 500));
	else if (attack.stalls && worker->port == 0 && number < 244)
		usleep(20000);
}

/* New events, of flows of its own. */
static void
produce(struct attack_worker *worker)
{
	struct rte_event burst[32];
	unsigned int nb = 1 + attack_roll(worker, attack.burst), taken;
	uint32_t first, flow;

	if (!__atomic_load_n(&attack_producing, __ATOMIC_RELAXED))
		return;
	first = attack_take_numbers(nb);
	if (first == UINT32_MAX)
		return;
	for (unsigned int i = 0; i < nb; i++) {
		uint32_t flows = (attack.nb_flows - worker->first_flow + worker->flow_step - 1) /
				 worker->flow_step;

		/* Some flows have more than others. */
		flow = attack_roll(worker, flows);
		if (attack_roll(worker, 4) == 0)
			flow = attack_roll(worker, flow + 1);
		attack_name(first + i, worker->first_flow + flow * worker->flow_step);
		burst[i] = attack_event_at(first + i, 0, RTE_EVENT_OP_NEW);
	}
	for (taken = 0; taken < nb;) {
		unsigned int more = weir_sched_enqueue(
			st_port(worker->port), &burst[taken], (uint16_t)(nb - taken));

		CHECK(more <= nb - taken);
		CHECK(more == nb - taken || rte_errno == ENOSPC);
		taken += more;
		worker->nb_new += more;
		if (more > 0)
			attack_moved();
		if (taken == nb)
			break;
		/* A worker must not wait: it is itself who makes room. What was refused has never been. */
		if (worker->works ||
			__atomic_load_n(&attack_order, __ATOMIC_RELAXED) != ATTACK_RUN) {
			for (unsigned int i = nb; i-- > taken;)
				attack_unname((uint32_t)burst[i].u64);
			break;
		}
		dawdle(worker);
		sched_yield();
	}
}

/* Forward or release some of what is held, in an order that may be: of an atomic flow, one after the other. */
static void
give_up(struct attack_worker *worker, unsigned int nb)
{
	struct rte_event burst[256];
	unsigned int taken = 0, nb_burst = 0;

	for (unsigned int i = 0; i < nb; i++) {
		struct rte_event *event = &worker->held[i];
		uint32_t number = (uint32_t)event->u64;
		uint8_t opaque = event->impl_opaque;
		bool last = event->queue_id + 1u == attack.nb_stages;

		attack_leaves(worker, event);
		if (last || (attack.drops && attack_roll(worker, 50) == 0)) {
			attack_out(number);
			worker->nb_released++;
			burst[nb_burst] = *event;
			burst[nb_burst].op = RTE_EVENT_OP_RELEASE;
		} else {
			worker->nb_forwarded++;
			burst[nb_burst] =
				attack_event_at(number, event->queue_id + 1u, RTE_EVENT_OP_FORWARD);
		}
		burst[nb_burst++].impl_opaque = opaque;
	}
	while (taken < nb_burst) {
		unsigned int some = RTE_MIN(nb_burst - taken, 1 + attack_roll(worker, 40));

		CHECK(weir_sched_enqueue(st_port(worker->port), &burst[taken], (uint16_t)some) ==
			some);
		taken += some;
		attack_moved();
	}
	worker->nb_held -= nb;
	memmove(worker->held, &worker->held[nb], worker->nb_held * sizeof(*worker->held));
}

/* What is held, in another order. Events of one flow stay in theirs, where they are atomic. */
static void
shuffle(struct attack_worker *worker)
{
	for (unsigned int i = 1; i < worker->nb_held; i++) {
		struct rte_event *x = &worker->held[i - 1], *y = &worker->held[i], swap = *x;

		if (attack_roll(worker, 2) == 0)
			continue;
		if (attack_flow_of(x) == attack_flow_of(y) && x->queue_id == y->queue_id &&
			x->sched_type == ATOMIC)
			continue;
		*x = *y;
		*y = swap;
	}
}

static void
check_group(const struct attack_worker *worker, const struct rte_event *event, uint32_t epoch,
	const uint64_t *masks)
{
	uint8_t group = attack.stages[event->queue_id].group;

	if (group == 0 || epoch % 2 != 0 ||
		epoch != __atomic_load_n(&attack_group_epoch, __ATOMIC_ACQUIRE))
		return;
	/* devices: what was scheduled to a port before comes to it */
	if (st_is_builtin())
		CHECK(masks[group] >> worker->port & 1);
}

/* What is left is released by the dequeue; only at the last stage may that be. */
static void
leave_to_dequeue(struct attack_worker *worker)
{
	bool rest = worker->nb_held > 0 && attack_roll(worker, 4) == 0;

	for (unsigned int i = 0; rest && i < worker->nb_held; i++)
		rest = worker->held[i].queue_id + 1u == attack.nb_stages;
	if (!rest)
		give_up(worker, worker->nb_held);
	for (unsigned int i = 0; i < worker->nb_held; i++) {
		attack_leaves(worker, &worker->held[i]);
		attack_out((uint32_t)worker->held[i].u64);
		worker->nb_released++;
	}
	worker->nb_held = 0;
}

/* It is held in another flow then, or waits for its turn there. */
static void
switch_flow(struct attack_worker *worker, struct rte_event event, const struct rte_event *to)
{
	int rc;

	attack_leaves(worker, &event);
	rc = weir_sched_switch(st_port(worker->port), &event, to->flow_id, to->sched_type);
	if (rc == -EINPROGRESS) {
		worker->nb_forwarded++;
		return;
	}
	CHECK(rc == 0);
	CHECK(event.flow_id == to->flow_id && event.sched_type == to->sched_type);
	attack_switched(worker, &event);
	worker->held[worker->nb_held++] = event;
}

/* Events have come. Those that stay in their flow are first: others may be put behind them. */
static void
take(struct attack_worker *worker, const struct rte_event *events, unsigned int nb)
{
	struct rte_event to[64];
	bool switches[64];

	for (unsigned int i = 0; i < nb; i++) {
		attack_came(worker, &events[i]);
		switches[i] = attack_switches(&events[i], &to[i]);
		if (!switches[i])
			worker->held[worker->nb_held++] = events[i];
	}
	for (unsigned int i = 0; i < nb; i++)
		if (switches[i])
			switch_flow(worker, events[i], &to[i]);
}

static void
work(struct attack_worker *worker)
{
	struct rte_event events[64];
	uint64_t masks[3];
	uint32_t epoch;
	unsigned int nb;

	if (!attack.keep)
		leave_to_dequeue(worker);
	epoch = __atomic_load_n(&attack_group_epoch, __ATOMIC_ACQUIRE);
	for (unsigned int g = 0; g < 3; g++)
		masks[g] = __atomic_load_n(&attack_group_mask[g], __ATOMIC_RELAXED);
	nb = weir_sched_dequeue(
		st_port(worker->port), events, (uint16_t)(1 + attack_roll(worker, attack.burst)));
	CHECK(nb <= attack.burst);
	for (unsigned int i = 0; i < nb; i++)
		check_group(worker, &events[i], epoch, masks);
	take(worker, events, nb);
	if (nb > 0)
		attack_moved();
	else if (attack_roll(worker, 16) == 0)
		sched_yield();
	dawdle(worker);
	shuffle(worker);
	if (attack.keep && worker->nb_held > 0 &&
		(worker->nb_held > 100 || attack_roll(worker, 2) == 0 || nb == 0))
		give_up(worker,
			nb == 0 ? worker->nb_held : 1 + attack_roll(worker, worker->nb_held));
}

/* While it is stopped. */
static void
rest(void)
{
	__atomic_fetch_add(&attack_nb_paused, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&attack_order, __ATOMIC_ACQUIRE) == ATTACK_PAUSE)
		usleep(100);
	__atomic_fetch_sub(&attack_nb_paused, 1, __ATOMIC_RELEASE);
}

/* Some are abandoned: stop takes them from their port. */
static void
pause_here(struct attack_worker *worker)
{
	/* event_opdl takes it from its own thread only */
	bool all = st_is_driver("event_opdl") || attack_roll(worker, 2) == 0;
	unsigned int nb = all ? worker->nb_held : 0;

	give_up(worker, nb);
	for (unsigned int i = 0; i < worker->nb_held; i++) {
		attack_leaves(worker, &worker->held[i]);
		attack_out((uint32_t)worker->held[i].u64);
		worker->nb_abandoned++;
	}
	worker->nb_held = 0;
	rest();
}

/* Builtin does not need a producer to come; devices may want its port to be looked after. */
static void
tend(struct attack_worker *worker)
{
	struct rte_event event;

	dawdle(worker);
	if (!st_is_builtin())
		CHECK(weir_sched_dequeue(st_port(worker->port), &event, 1) == 0);
}

void *
attack_work(void *arg)
{
	struct attack_worker *worker = arg;
	bool registered = rte_thread_register() == 0; /* a device's scheduler may want it */
	enum attack_order what;

	while ((what = __atomic_load_n(&attack_order, __ATOMIC_ACQUIRE)) != ATTACK_QUIT) {
		if (what == ATTACK_PAUSE) {
			pause_here(worker);
			continue;
		}
		if (worker->produces && (!worker->works || attack_roll(worker, 3) == 0))
			produce(worker);
		if (worker->works && attack.interfere != NULL && attack_roll(worker, 8) == 0)
			attack.interfere(worker);
		if (worker->works)
			work(worker);
		else
			tend(worker);
		if (!worker->works && !__atomic_load_n(&attack_producing, __ATOMIC_RELAXED))
			usleep(100);
	}
	if (registered)
		rte_thread_unregister();
	return NULL;
}

/* Without a port; all of a flow of its own. */
void *
attack_send_reserved(void *arg)
{
	struct attack_worker *worker = arg;

	while (__atomic_load_n(&attack_producing, __ATOMIC_RELAXED)) {
		uint32_t nb;

		if (__atomic_load_n(&attack_order, __ATOMIC_ACQUIRE) == ATTACK_PAUSE) {
			rest();
			continue;
		}
		nb = weir_sched_reserve(st_sched, 1 + attack_roll(worker, 8));

		CHECK(nb <= 8);
		for (; nb > 0; nb--) {
			uint32_t number =
				attack_roll(worker, 8) == 0 ? UINT32_MAX : attack_take_numbers(1);
			struct rte_event event;

			if (number == UINT32_MAX) {
				weir_sched_unreserve(st_sched, 1);
				continue;
			}
			attack_name(number, worker->first_flow);
			event = attack_event_at(number, 0, RTE_EVENT_OP_NEW);
			CHECK(weir_sched_enqueue_reserved(st_sched, &event) == 0);
			worker->nb_new++;
			attack_moved();
		}
		usleep(attack_roll(worker, 1500));
	}
	return NULL;
}
