/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where there are several priorities: which rings events go by, what stays in them, and what goes to the lists. One thread; each dequeue looks
 * at what was enqueued before.
 */

#include "sched_test.h"

#include "../../lib/sched/owner.h"

#include "../../lib/sched/level.c"
#include "../../lib/sched/look.c"
#include "../../lib/sched/steal.c"
#include "../../lib/sched/take_levels.c"

#define OWNER    0
#define OTHER    1
#define PRODUCER 2

/* Queues, by their priorities. */
#define LOW    0
#define HIGH   1
#define MIDDLE 2
#define MIXED  3 /* its events have their own */

#define NB 10

static struct builtin *builtin;
static struct shard *shard; /* the owner's */

/* @group: of the low queue */
static void
make(struct weir_sched_config config, uint8_t group)
{
	const struct weir_sched_port_config producer = {.producer = true};

	st_make(config);
	st_queue(LOW, ATOMIC, 6, group);
	st_queue(HIGH, ATOMIC, 1, 0);
	st_queue(MIDDLE, ATOMIC, 4, 0);
	st_queue(MIXED, ATOMIC, WEIR_SCHED_PRIORITY_BY_EVENT, 0);
	assert_int_equal(weir_sched_port_setup(st_sched, PRODUCER, &producer), 0);
	for (unsigned int port = OWNER; port <= OTHER; port++)
		st_keep(port);
	if (group > 0)
		st_group(group, 1 << OWNER | 1 << OTHER);
	st_start();
	builtin = st_sched->own;
	shard = builtin->ports[OWNER].home;
}

static int
setup(void **state)
{
	make(st_config(3, 4), 0);
	return 0;
}

static int
setup_groups(void **state)
{
	make(st_config(3, 4), 1);
	return 0;
}

static int
setup_bound(void **state)
{
	struct weir_sched_config config = st_config(3, 4);

	config.starvation_bound = 2;
	make(config, 0);
	return 0;
}

/* The i-th of the shard's flows. */
static uint32_t
flow(unsigned int i)
{
	struct rte_event event = {.queue_id = LOW};

	for (;; event.flow_id++)
		if (event_shard(builtin, event.event) == shard->id && i-- == 0)
			return event.flow_id;
}

/* New events, each of a flow of its own. */
static void
send(unsigned int port, uint8_t queue, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		st_new(port, queue, flow(i), i);
}

static void
send_mixed(uint8_t priority)
{
	/* Each of a flow of its own, which has one order. */
	struct rte_event event = st_event(RTE_EVENT_OP_NEW, MIXED, flow(priority), priority);

	event.priority = (uint8_t)(priority * 32);
	assert_int_equal(weir_sched_enqueue(st_port(PRODUCER), &event, 1), 1);
}

/* A burst of so many. @return how many it has */
static unsigned int
get(unsigned int port, struct rte_event *events, unsigned int most)
{
	return weir_sched_dequeue(st_port(port), events, (uint16_t)most);
}

static void
release(unsigned int port, const struct rte_event *events, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		st_release(port, events[i]);
}

/* It gets so many of this queue, and nothing else, in the order in which they were sent. */
static void
gets(unsigned int port, uint8_t queue, unsigned int nb)
{
	struct rte_event events[NB];

	assert_int_equal(get(port, events, nb), nb);
	for (unsigned int i = 0; i < nb; i++) {
		assert_int_equal(events[i].queue_id, queue);
		assert_int_equal(events[i].u64, i);
	}
	release(port, events, nb);
}

/* Whatever was sent went past them. */
static void
lists_were_not_used(void)
{
	assert_int_equal(shard->nb_used, 0);
}

static void
as_they_come_into_use(void **state)
{
	assert_int_equal(level_bits(builtin, 0), 0);
	send(PRODUCER, MIDDLE, 1);
	assert_int_equal(level_bits(builtin, 0), 1 << 4);
	assert_int_equal(level_of(builtin, 4), 0);
	assert_int_equal(level_bits(builtin, 1), 0);
	assert_false(has_several_priorities(builtin));
	send(PRODUCER, HIGH, 1);
	assert_int_equal(level_bits(builtin, 1), 1 << 1);
	assert_int_equal(level_of(builtin, 1), 1);
	assert_int_equal(level_of(builtin, 6), LEVEL_NONE);
	assert_true(has_several_priorities(builtin));
	gets(OWNER, HIGH, 1);
	gets(OWNER, MIDDLE, 1);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	st_start();
	assert_int_equal(level_bits(builtin, 0), 0);
	assert_false(has_several_priorities(builtin));
}

/* Of one priority by their queue and by themselves: they go by two levels, which are both looked at. */
static void
of_one_priority(void **state)
{
	send(PRODUCER, HIGH, 1);
	send_mixed(1);
	assert_true(has_several_priorities(builtin));
	for (unsigned int i = 0; i < 2; i++) {
		struct rte_event event;

		assert_int_equal(get(OWNER, &event, 1), 1);
		st_release(OWNER, event);
	}
	st_get_none(OWNER);
}

/* In the order of their priorities, whichever came first; the lists are not used. */
static void
straight(void **state)
{
	send(PRODUCER, LOW, NB);
	send(OWNER, MIDDLE, NB);
	send(PRODUCER, HIGH, NB);
	gets(OWNER, HIGH, NB);
	gets(OWNER, MIDDLE, NB);
	gets(OWNER, LOW, NB);
	lists_were_not_used();
	assert_int_equal(shard->being_taken, 0);
}

/* Of several priorities in a burst; the rest is told of. */
static void
in_a_burst(void **state)
{
	struct rte_event events[NB];

	send(PRODUCER, LOW, NB);
	send(PRODUCER, HIGH, 2);
	send(PRODUCER, MIDDLE, 3);
	assert_int_equal(get(OWNER, events, 6), 6);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(events[i].queue_id, i < 2 ? HIGH : i < 5 ? MIDDLE : LOW);
	assert_int_equal(shard_nb_in_rings(shard), NB - 1);
	assert_int_equal(shard->being_taken, 1 << 6);
	release(OWNER, events, 6);
}

/* Who comes for what is urgent takes it from there, and leaves all else where it is. */
static void
by_another_port(void **state)
{
	struct rte_event events[4];

	send(PRODUCER, LOW, NB);
	send(PRODUCER, HIGH, 4);
	assert_int_equal(steal(&builtin->ports[OTHER], shard, events, 4, 1 << 1, HELP_URGENT), 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(events[i].queue_id, HIGH);
	assert_int_equal(shard_nb_in_rings(shard), NB);
	assert_int_equal(shard->being_taken, 1 << 6);
	lists_were_not_used();
	release(OTHER, events, 4);
	gets(OWNER, LOW, NB);
}

/* What a port sent, by whichever level: to itself, where it sees it without the lock; and all of it, when another one is to be the sender. */
static void
of_one_sender(void **state)
{
	const struct builtin_port *owner = &builtin->ports[OWNER];

	send(PRODUCER, HIGH, 1);
	gets(OWNER, HIGH, 1);
	assert_true(own_rings_seem_empty(owner));
	send(OWNER, LOW, NB);
	assert_false(own_rings_seem_empty(owner));
	owner_empty_rings(builtin, OTHER);
	assert_int_equal(shard->nb_ready, 0);
	owner_empty_rings(builtin, OWNER);
	assert_int_equal(shard->nb_ready, NB);
	gets(OWNER, LOW, NB);
}

/* What waits for its flow is in front of what comes after it by the rings. */
static void
behind_its_flow(void **state)
{
	struct rte_event held, events[NB];

	send(PRODUCER, LOW, 1);
	st_new(PRODUCER, HIGH, flow(0), 1);
	assert_int_equal(get(OWNER, &held, 1), 1);
	assert_int_equal(held.u64, 1);
	st_new(PRODUCER, HIGH, flow(0), 2);
	assert_int_equal(steal(&builtin->ports[OTHER], shard, events, 4, 1 << 1, HELP_URGENT), 0);
	st_new(PRODUCER, HIGH, flow(0), 3);
	st_release(OWNER, held);
	for (uint64_t value = 2; value <= 3; value++) {
		assert_int_equal(get(OWNER, events, 1), 1);
		assert_int_equal(events[0].u64, value);
		st_release(OWNER, events[0]);
	}
	gets(OWNER, LOW, 1);
}

/* Rings of a level take turns: one that always has something hides no other one. */
static void
all_senders(void **state)
{
	struct rte_event events[2 * EVENTS_PER_TURN];
	unsigned int nb_of_producer = 0;

	send(PRODUCER, HIGH, 1);
	gets(OWNER, HIGH, 1);
	for (unsigned int i = 0; i < 4 * EVENTS_PER_TURN; i++) {
		st_new(OWNER, LOW, flow(i % 16), 0);
		st_new(PRODUCER, LOW, flow(16 + i % 16), 1);
	}
	assert_int_equal(get(OWNER, events, RTE_DIM(events)), RTE_DIM(events));
	for (unsigned int i = 0; i < RTE_DIM(events); i++)
		nb_of_producer += events[i].u64 == 1;
	assert_int_equal(nb_of_producer, EVENTS_PER_TURN);
	release(OWNER, events, RTE_DIM(events));
}

/* Events that have priorities of their own are in order with all others. */
static void
by_event(void **state)
{
	struct rte_event event;

	send_mixed(7);
	send(PRODUCER, LOW, 1);
	send_mixed(2);
	send(PRODUCER, HIGH, 1);
	send_mixed(0);
	send(PRODUCER, MIDDLE, 1);
	send_mixed(5);
	for (unsigned int i = 0; i < 7; i++) {
		assert_int_equal(get(OWNER, &event, 1), 1);
		/* All but 3. */
		assert_int_equal(event_priority(builtin, event.event), i < 3 ? i : i + 1);
		st_release(OWNER, event);
	}
	st_get_none(OWNER);
}

/* It is told of which priority they are as soon as they were looked at. */
static void
by_event_told(void **state)
{
	send(PRODUCER, HIGH, 1);
	gets(OWNER, HIGH, 1);
	send_mixed(7);
	shard_lock(shard);
	shard_look(shard);
	shard_unlock(shard);
	assert_int_equal(shard->being_taken, 0);
	assert_int_equal(shard->priorities_hint, 1 << 7);
}

/* What goes on in the lists for ever, as events with priorities of their own do, does not hide what is in rings. */
static void
hidden_by_lists(void **state)
{
	struct rte_event events[EVENTS_PER_LOOK];
	bool came = false;

	for (unsigned int i = 0; i < 4 * EVENTS_PER_LOOK; i++)
		send_mixed(1);
	send(PRODUCER, HIGH, 1);
	for (unsigned int i = 0; i < 32 && !came; i++) {
		const unsigned int nb = get(OWNER, events, EVENTS_PER_LOOK);

		for (unsigned int e = 0; e < nb; e++) {
			came |= events[e].queue_id == HIGH;
			st_forward(OWNER, events[e], events[e].queue_id);
		}
	}
	assert_true(came);
}

/* What another port makes of an urgent event is put in past the rings: after what they have of its flow, for which others are left alone. */
static void
past_other_levels(void **state)
{
	const unsigned int many = 1500;
	struct rte_event event;

	for (unsigned int i = 0; i < many; i++)
		st_new(OWNER, LOW, flow(i % NB), i);
	st_new(OWNER, MIDDLE, flow(0), 1);
	send(PRODUCER, HIGH, 1);
	assert_int_equal(steal(&builtin->ports[OTHER], shard, &event, 1, 1 << 1, HELP_URGENT), 1);
	event.u64 = 2;
	st_forward(OTHER, event, MIDDLE);
	assert_int_equal(shard_nb_in_rings(shard), many);
	for (uint64_t value = 1; value <= 2; value++) {
		assert_int_equal(get(OWNER, &event, 1), 1);
		assert_int_equal(event.queue_id, MIDDLE);
		assert_int_equal(event.u64, value);
		st_release(OWNER, event);
	}
}

/* What is in rings may be for others than who looks at them: it goes to the lists, where everybody sees for whom it is. */
static void
for_others(void **state)
{
	struct rte_event events[NB];

	send(PRODUCER, LOW, 1);
	gets(OWNER, LOW, 1);
	st_group(1, 1 << OTHER);
	send(PRODUCER, LOW, NB);
	send(PRODUCER, HIGH, 2);
	assert_int_equal(get(OWNER, events, NB), 2);
	release(OWNER, events, 2);
	assert_int_equal(shard_nb_in_rings(shard), 0);
	assert_int_equal(shard->nb_ready, NB);
	assert_int_equal(st_get(OTHER, events, NB), NB);
	release(OTHER, events, NB);
}

/* Passing is counted of what is in the lists. */
static void
with_a_bound(void **state)
{
	struct rte_event event;

	send(PRODUCER, LOW, 1);
	send(PRODUCER, HIGH, 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(get(OWNER, &event, 1), 1);
		assert_int_equal(event.queue_id, i == 2 ? LOW : HIGH);
		st_release(OWNER, event);
		assert_int_equal(shard_nb_in_rings(shard), 0);
	}
}

#define SET_UP(name, setup) cmocka_unit_test_setup_teardown(name, setup, st_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SET_UP(as_they_come_into_use, setup),
		SET_UP(of_one_priority, setup),
		SET_UP(straight, setup),
		SET_UP(in_a_burst, setup),
		SET_UP(by_another_port, setup),
		SET_UP(of_one_sender, setup),
		SET_UP(behind_its_flow, setup),
		SET_UP(all_senders, setup),
		SET_UP(by_event, setup),
		SET_UP(by_event_told, setup),
		SET_UP(hidden_by_lists, setup),
		SET_UP(past_other_levels, setup),
		SET_UP(for_others, setup_groups),
		SET_UP(with_a_bound, setup_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
