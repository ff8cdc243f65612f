/* SPDX-License-Identifier: BSD-3-Clause */

/* What is known of events and flows, and checked. See attack.h. */

#include "attack.h"

#include "../base/random.h"

/* Of a flow at a stage, before it was switched, and after that. */
struct place {
	uint32_t word; /* port + 1 << 16, events held */
	uint32_t next; /* that may come; its holder's */
};

struct attack attack;
enum attack_order attack_order;
bool attack_producing;
unsigned int attack_nb_paused;
uint32_t attack_nb_made, attack_nb_out;
uint64_t attack_progress;
uint64_t attack_group_mask[3];
uint32_t attack_group_epoch;

static struct place *places; /* [stage][switched][flow] */
static uint8_t *stages_seen; /* of each event: a bit per stage; the highest: out */
static uint32_t *event_flow; /* of each event */
static uint32_t *event_seq;
static uint32_t *flow_seq; /* next, of its producer */

/* All of an attack before; and get ready for one. */
void
attack_forget(bool first)
{
	free(places);
	free(stages_seen);
	free(event_flow);
	free(event_seq);
	free(flow_seq);
	places = NULL;
	stages_seen = NULL;
	event_flow = event_seq = flow_seq = NULL;
	if (!first)
		return;
	places = calloc((size_t)attack.nb_stages * 2 * attack.nb_flows, sizeof(*places));
	stages_seen = calloc(ATTACK_EVENTS_MAX, 1);
	event_flow = calloc(ATTACK_EVENTS_MAX, sizeof(*event_flow));
	event_seq = calloc(ATTACK_EVENTS_MAX, sizeof(*event_seq));
	flow_seq = calloc(attack.nb_flows, sizeof(*flow_seq));
	attack_nb_made = attack_nb_out = 0;
	attack_nb_paused = 0;
	attack_order = ATTACK_RUN;
	attack_producing = true;
}

uint32_t
attack_roll(struct attack_worker *worker, uint32_t sides)
{
	return (uint32_t)(random_next(&worker->random) >> 33) % sides;
}

void
attack_moved(void)
{
	__atomic_fetch_add(&attack_progress, 1, __ATOMIC_RELAXED);
}

/* The flow that a flow becomes at a stage: each stage mixes them anew. */
static uint32_t
flow_at(uint32_t flow, unsigned int stage)
{
	return stage % 2 == 0 ? flow : (flow + 7919 * stage) % attack.nb_flows;
}

uint8_t
attack_type_at(uint32_t flow, unsigned int stage)
{
	uint8_t type = attack.stages[stage].type;

	return type == WEIR_SCHED_TYPE_BY_EVENT ? (flow + stage) % 2 ? ATOMIC : ORDERED : type;
}

/* Switched: to atomic where it may be. */
static uint8_t
type_of(uint32_t flow, unsigned int stage, bool switched)
{
	if (switched && attack.stages[stage].type == WEIR_SCHED_TYPE_BY_EVENT)
		return ATOMIC;
	return attack_type_at(flow, stage);
}

static bool
is_switched(const struct rte_event *event)
{
	return attack.switches && event->flow_id >= attack.nb_flows;
}

static bool
will_switch(uint32_t flow, unsigned int stage)
{
	return attack.switches && flow % 2 == 1 && attack_type_at(flow, stage) != PARALLEL;
}

static struct place *
place_of(uint32_t flow, unsigned int stage, bool switched)
{
	return &places[(stage * 2 + switched) * attack.nb_flows + flow];
}

/* Is the order of a flow kept up to its arrival at this stage? */
static bool
ordered_until(uint32_t flow, unsigned int stage)
{
	for (unsigned int s = 0; s < stage; s++)
		if (attack_type_at(flow, s) == PARALLEL)
			return false;
	return true;
}

uint32_t
attack_flow_of(const struct rte_event *event)
{
	return event_flow[event->u64];
}

uint32_t
attack_take_numbers(uint32_t nb)
{
	uint32_t first = __atomic_load_n(&attack_nb_made, __ATOMIC_RELAXED);

	do {
		/* A fast one has no more before its time is over: all go on, as who restarts it waits for them. */
		if (first + nb > ATTACK_EVENTS_MAX)
			return UINT32_MAX;
	} while (!__atomic_compare_exchange_n(
		&attack_nb_made, &first, first + nb, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return first;
}

void
attack_name(uint32_t number, uint32_t flow)
{
	event_flow[number] = flow;
	event_seq[number] = flow_seq[flow]++;
}

void
attack_unname(uint32_t number)
{
	flow_seq[event_flow[number]]--;
	attack_out(number);
}

struct rte_event
attack_event_at(uint32_t number, unsigned int stage, uint8_t op)
{
	uint32_t flow = event_flow[number];
	struct rte_event event = st_event(op, (uint8_t)stage, flow_at(flow, stage), number);

	event.sched_type = attack_type_at(flow, stage) & 3;
	event.priority = (uint8_t)(flow % 8 * 32);
	return event;
}

void
attack_out(uint32_t number)
{
	uint8_t before = __atomic_fetch_or(&stages_seen[number], 0x80, __ATOMIC_RELAXED);

	CHECK((before & 0x80) == 0);
	__atomic_fetch_add(&attack_nb_out, 1, __ATOMIC_RELAXED);
}

/* Its number among those of its flow. */
static void
check_order(const struct rte_event *event, struct place *place)
{
	uint32_t flow = attack_flow_of(event), seq = event_seq[event->u64];
	bool gaps = attack.drops || attack.restarts;

	if (seq < place->next || (!gaps && seq != place->next)) {
		fprintf(stderr, "%s: flow %u%s, stage %u: %u, not %u\n", attack.name, flow,
			is_switched(event) ? " switched" : "", event->queue_id, seq, place->next);
		st_abort();
	}
	place->next = seq + 1;
}

/* It is in its flow. */
static void
enters(struct attack_worker *worker, const struct rte_event *event)
{
	uint32_t flow = attack_flow_of(event), word;
	unsigned int stage = event->queue_id;
	bool switched = is_switched(event);
	struct place *place = place_of(flow, stage, switched);

	if (type_of(flow, stage, switched) != ATOMIC)
		return;
	word = __atomic_load_n(&place->word, __ATOMIC_RELAXED);
	CHECK(word == 0 || word >> 16 == worker->port + 1);
	CHECK(__atomic_exchange_n(&place->word, ((worker->port + 1) << 16 | (word & 0xffff)) + 1,
		      __ATOMIC_RELAXED) == word);
	if (ordered_until(flow, stage))
		check_order(event, place);
}

/* At the stage, for the first time or switched. */
static uint8_t
seen_before(unsigned int stage, bool switched)
{
	return (uint8_t)((1u << (stage + switched)) - 1);
}

void
attack_came(struct attack_worker *worker, const struct rte_event *event)
{
	uint32_t number = (uint32_t)event->u64, flow;
	unsigned int stage = event->queue_id;
	bool switched = is_switched(event);
	uint8_t before;

	CHECK(event->u64 < ATTACK_EVENTS_MAX);
	CHECK(stage < attack.nb_stages);
	flow = event_flow[number];
	/* event_dsw puts its own there, where the type is parallel */
	if (attack_type_at(flow, stage) != PARALLEL || !st_is_driver("event_dsw"))
		CHECK(event->flow_id == flow_at(flow, stage) + (switched ? attack.nb_flows : 0));
	CHECK(event->sched_type == type_of(flow, stage, switched));
	before = __atomic_fetch_or(&stages_seen[number], (uint8_t)(1u << stage), __ATOMIC_RELAXED);
	CHECK((before & 0x80) == 0);
	CHECK(before == seen_before(stage, switched));
	CHECK(!switched || will_switch(flow, stage));
	enters(worker, event);
}

void
attack_leaves(struct attack_worker *worker, const struct rte_event *event)
{
	uint32_t flow = attack_flow_of(event), word;
	bool switched = is_switched(event);
	struct place *place = place_of(flow, event->queue_id, switched);

	if (type_of(flow, event->queue_id, switched) != ATOMIC)
		return;
	word = __atomic_load_n(&place->word, __ATOMIC_RELAXED);
	CHECK(word >> 16 == worker->port + 1 && (word & 0xffff) > 0);
	CHECK(__atomic_exchange_n(
		      &place->word, (word & 0xffff) == 1 ? 0 : word - 1, __ATOMIC_RELAXED) == word);
}

bool
attack_switches(const struct rte_event *event, struct rte_event *to)
{
	uint32_t flow = attack_flow_of(event);
	unsigned int stage = event->queue_id;

	if (!will_switch(flow, stage) || is_switched(event))
		return false;
	*to = *event;
	to->flow_id = flow_at(flow, stage) + attack.nb_flows;
	to->sched_type = type_of(flow, stage, true) & 3;
	return true;
}

void
attack_switched(struct attack_worker *worker, const struct rte_event *event)
{
	CHECK(is_switched(event));
	enters(worker, event);
}

/* Drained events are out. They come in the order of their flows, as far as each has one: parallel ones have none,
 * and devices keep that of atomic ones only. */
struct drained {
	uint32_t *next; /* by stage, switched, and flow */
	uint64_t nb;
};

static void
drain(void *arg, const struct rte_event *event)
{
	struct drained *drained = arg;
	uint32_t number = (uint32_t)event->u64, flow, *next;
	unsigned int stage = event->queue_id;
	bool switched = is_switched(event);
	struct place *place;
	uint8_t type;

	CHECK(event->u64 < ATTACK_EVENTS_MAX && stage < attack.nb_stages);
	flow = event_flow[number];
	place = place_of(flow, stage, switched);
	next = &drained->next[place - places];
	CHECK(stages_seen[number] == seen_before(stage, switched));
	type = type_of(flow, stage, switched);
	if (ordered_until(flow, stage) &&
		(type == ATOMIC || (type == ORDERED && st_is_builtin()))) {
		CHECK(event_seq[number] >= *next);
		*next = event_seq[number] + 1;
		CHECK(type != ATOMIC || event_seq[number] >= place->next);
	}
	attack_out(number);
	drained->nb++;
}

uint64_t
attack_stop(void)
{
	struct drained drained = {
		.next = calloc((size_t)attack.nb_stages * 2 * attack.nb_flows, sizeof(uint32_t))};

	CHECK(weir_sched_stop(st_sched, drain, &drained) == 0);
	free(drained.next);
	return drained.nb;
}
