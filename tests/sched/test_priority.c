/* SPDX-License-Identifier: BSD-3-Clause */

/* One thread: priorities, and the bound of starvation. */

#include "sched_test.h"

/* Queue p has priority p. */
static void
make_priorities(unsigned int nb_ports, uint8_t type, unsigned int bound)
{
	struct weir_sched_config c = st_config(nb_ports, 8);

	c.starvation_bound = bound;
	st_make(c);
	for (uint8_t p = 0; p < 8; p++)
		st_queue(p, type, p, 0);
	st_keep_all();
	st_start();
}

/* Whatever the mix in which they came: all of a priority before any of a lower one. */
static void
strict_of_type(uint8_t type, unsigned int burst)
{
	unsigned int last = 0, nb[8] = {0};
	struct rte_event events[16];

	make_priorities(1, type, 0);
	for (unsigned int i = 0; i < 400; i++)
		st_new(0, (uint8_t)(i * 37 % 8), i % 64, i);
	for (unsigned int got = 0; got < 400;) {
		uint16_t more = weir_sched_dequeue(st_port(0), events, (uint16_t)burst);

		assert_true(more > 0);
		for (uint16_t i = 0; i < more; i++) {
			assert_true(events[i].queue_id >= last);
			last = events[i].queue_id;
			nb[last]++;
			st_release(0, events[i]);
		}
		got += more;
	}
	for (unsigned int p = 0; p < 8; p++)
		assert_int_equal(nb[p], 50);
	st_teardown(NULL);
}

static void
priorities_strict(void **state)
{
	st_builtin_only();
	for (uint8_t type = 0; type < 3; type++) {
		strict_of_type(type, 1);
		strict_of_type(type, 7);
		strict_of_type(type, 16);
	}
}

/* Many low ones wait, a high one comes: it is next, at whichever port. */
static void
high_is_next(void **state)
{
	struct rte_event event;

	st_builtin_only();
	for (uint8_t type = 0; type < 3; type++) {
		make_priorities(3, type, 0);
		for (unsigned int i = 0; i < 600; i++)
			st_new(0, 7, i, i);
		for (unsigned int i = 0; i < 180; i++) {
			st_new(i % 3, (uint8_t)(i % 7), i, 10000 + i);
			event = st_get_one(i / 3 % 3);
			assert_int_equal(event.u64, 10000 + i);
			st_release(i / 3 % 3, event);
			/* And a low one, so that ports have some at hand. */
			event = st_get_one(i % 3);
			assert_int_equal(event.queue_id, 7);
			st_release(i % 3, event);
		}
		st_teardown(NULL);
	}
}

/* By event: rte_event::priority / 32. */
static void
priority_by_event(void **state)
{
	unsigned int last = 0;

	st_builtin_only();
	st_make(st_config(1, 1));
	st_queue(0, PARALLEL, WEIR_SCHED_PRIORITY_BY_EVENT, 0);
	st_start();
	for (unsigned int i = 0; i < 256; i++) {
		struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, i, 0);

		event.priority = (uint8_t)(i * 37);
		assert_int_equal(weir_sched_enqueue(st_port(0), &event, 1), 1);
	}
	for (unsigned int i = 0; i < 256; i++) {
		struct rte_event event = st_get_one(0);

		assert_int_equal(event.priority / 32, i / 32);
		assert_true(event.priority / 32u >= last);
		last = event.priority / 32;
	}
}

/* A forwarded event has the priority of where it goes. */
static void
priority_of_forward(void **state)
{
	struct rte_event event;

	st_builtin_only();
	make_priorities(1, ATOMIC, 0);
	st_new(0, 0, 1, 1);
	event = st_get_one(0);
	st_new(0, 4, 2, 2);
	st_forward(0, event, 5);
	event = st_get_one(0);
	assert_int_equal(event.u64, 2);
	st_forward(0, event, 6);
	assert_int_equal(st_get_one(0).u64, 1);
	assert_int_equal(st_get_one(0).u64, 2);
}

/* Never more than so many of higher priority while a lower one waits. */
static void
bound_of(unsigned int bound, uint8_t type)
{
	unsigned int nb_high = 0, nb_low = 0, run = 0, longest = 0;

	make_priorities(1, type, bound);
	for (unsigned int i = 0; i < 10; i++)
		st_new(0, 5, i, i);
	for (unsigned int i = 0; i < 40; i++)
		st_new(0, 1, i, i);
	while (nb_low < 10) {
		struct rte_event event = st_get_one(0);

		if (event.queue_id == 5) {
			nb_low++;
			longest = RTE_MAX(longest, run);
			run = 0;
		} else {
			nb_high++;
			run++;
			st_new(0, 1, nb_high + nb_low, 0); /* there is always one */
		}
		assert_true(run <= bound);
		st_release(0, event);
		assert_true(nb_high < 100000);
	}
	/* And it is a bound, not a share for its own sake. */
	assert_true(longest == bound);
	assert_true(nb_high >= 10 * bound - 1);
	st_teardown(NULL);
}

static void
starvation_bound(void **state)
{
	st_builtin_only();
	for (uint8_t type = 0; type < 3; type++) {
		bound_of(1, type);
		bound_of(4, type);
		bound_of(100, type);
	}
}

/* With three: the one in the middle is a lower one, too, while others wait below it. */
static void
starvation_three(void **state)
{
	unsigned int since = 0, seen = 0;

	st_builtin_only();
	make_priorities(1, PARALLEL, 8);
	for (unsigned int i = 0; i < 60; i++) {
		st_new(0, 0, i, 0);
		st_new(0, 7, i, 0);
	}
	for (unsigned int i = 0; i < 5; i++)
		st_new(0, 3, i, 0);
	for (unsigned int i = 0; i < 3000 && seen < 5; i++) {
		struct rte_event event = st_get_one(0);

		if (event.queue_id == 3) {
			seen++;
			since = 0;
		} else {
			since++;
			st_new(0, event.queue_id, i, 0);
		}
		st_release(0, event);
		/* One of lower priority may be due in between. */
		if (since > 2 * 8 + 2)
			fail_msg("%u events passed one of priority 3, %u of 5 came", since, seen);
	}
	assert_int_equal(seen, 5);
}

/* With all of them, and always some of each: so many pass any one, whatever of lower priority is due, too. */
static void
bound_of_each(unsigned int bound, uint8_t type, uint16_t burst)
{
	unsigned int passed[8] = {0}, nb[8] = {0};
	struct rte_event events[16];

	make_priorities(1, type, bound);
	for (unsigned int i = 0; i < 8 * 50; i++)
		st_new(0, (uint8_t)(i % 8), i, 0);
	for (unsigned int nb_all = 0; nb_all < 60000;) {
		uint16_t got = weir_sched_dequeue(st_port(0), events, burst);

		for (uint16_t i = 0; i < got; i++) {
			const unsigned int priority = events[i].queue_id;

			for (unsigned int p = priority + 1; p < 8; p++)
				if (++passed[p] > bound)
					fail_msg("%u events passed one of priority %u, bound %u",
						passed[p], p, bound);
			passed[priority] = 0;
			nb[priority]++;
			st_forward(0, events[i], events[i].queue_id);
		}
		nb_all += got;
	}
	for (unsigned int p = 0; p < 8; p++)
		assert_true(nb[p] > 0);
	st_teardown(NULL);
}

static void
starvation_eight(void **state)
{
	static const unsigned int bounds[] = {1, 2, 4, 10, 100};

	st_builtin_only();
	for (unsigned int i = 0; i < RTE_DIM(bounds); i++)
		for (uint8_t type = 0; type < 3; type++) {
			bound_of_each(bounds[i], type, 1);
			bound_of_each(bounds[i], type, 8);
		}
}

/* What is queued, by queue, which is by priority. */
struct queued {
	unsigned int nb[8];
	uint64_t ports[8]; /* for whom */
};

/* The highest priority that the port could have; 8: none. */
static unsigned int
best_of(const struct queued *queued, unsigned int port)
{
	unsigned int p = 0;

	while (p < 8 && (queued->nb[p] == 0 || (queued->ports[p] >> port & 1) == 0))
		p++;
	return p;
}

static void
send_some(struct queued *queued, unsigned int port)
{
	for (unsigned int i = (unsigned int)rand() % 8; i-- > 0;) {
		uint8_t queue = (uint8_t)(rand() % 8);

		queued->nb[queue] += st_try_new(port, queue, (uint32_t)rand(), 0);
	}
}

/* Some of what is held goes on; the rest is released by the dequeue. */
static void
forward_some(
	struct queued *queued, unsigned int port, struct rte_event *events, unsigned int nb_held)
{
	for (unsigned int i = 0; i < nb_held; i++) {
		if (rand() % 2)
			continue;
		events[i].queue_id = (uint8_t)(rand() % 8);
		st_forward(port, events[i], events[i].queue_id);
		queued->nb[events[i].queue_id]++;
	}
}

/* A port is to get what is highest of all that it may have, wherever that is; each event of a burst likewise. */
static void
take_highest(struct queued *queued, unsigned int port, struct rte_event *events,
	unsigned int *nb_held, unsigned int burst)
{
	*nb_held = weir_sched_dequeue(st_port(port), events, (uint16_t)burst);
	for (unsigned int i = 0; i < *nb_held; i++) {
		if (events[i].queue_id != best_of(queued, port))
			fail_msg("event %u of %u at port %u is of priority %u, not %u", i, *nb_held,
				port, events[i].queue_id, best_of(queued, port));
		queued->nb[events[i].queue_id]--;
	}
}

/* One thread: ports take turns at random, queues are for groups at random. */
static void
strict_at_random(unsigned int seed, unsigned int nb_ports, unsigned int nb_groups)
{
	struct queued queued = {0};
	struct rte_event events[4][4];
	unsigned int nb_held[4] = {0}, burst = 1 + seed % 4;

	srand(seed);
	st_make(st_config(nb_ports + 1, 8));
	for (uint8_t p = 0; p < 8; p++)
		st_queue(p, PARALLEL, p,
			nb_groups > 0 ? (uint8_t)(1 + (unsigned int)rand() % nb_groups) : 0);
	for (unsigned int group = 1; group <= nb_groups; group++)
		st_group(group, 1 + (unsigned int)rand() % ((1u << nb_ports) - 1));
	assert_int_equal(weir_sched_port_setup(st_sched, nb_ports,
				 &(struct weir_sched_port_config){.producer = true}),
		0);
	st_start();
	for (unsigned int p = 0; p < 8; p++)
		queued.ports[p] = weir_sched_queue_ports(st_sched, p);
	for (unsigned int step = 0; step < 3000; step++) {
		unsigned int port = (unsigned int)rand() % nb_ports;

		if (rand() % 4 == 0) {
			send_some(&queued, nb_ports);
			continue;
		}
		forward_some(&queued, port, events[port], nb_held[port]);
		take_highest(&queued, port, events[port], &nb_held[port], burst);
	}
	st_teardown(NULL);
}

static void
strict_among_ports(void **state)
{
	st_builtin_only();
	for (unsigned int seed = 1; seed <= 60; seed++)
		strict_at_random(seed, 1 + seed % 4, seed / 4 % 4);
}

/* The port in whose shard a lower one is lets so many pass, and others get as many meanwhile. */
static void
bound_among_ports(unsigned int nb_ports, unsigned int bound)
{
	struct rte_event event;

	make_priorities(nb_ports, ATOMIC, bound);
	for (unsigned int i = 0; i < 64; i++)
		st_new(0, 0, i, 0);
	for (unsigned int flow = 0; flow < 100; flow++) {
		unsigned int nb_passed = 0;
		bool came = false;

		st_new(0, 7, flow, 0);
		for (unsigned int port = 0; !came; port = (port + 1) % nb_ports) {
			if (weir_sched_dequeue(st_port(port), &event, 1) == 0)
				continue;
			came = event.queue_id == 7;
			if (came) {
				st_release(port, event);
				continue;
			}
			st_forward(port, event, 0);
			if (++nb_passed > nb_ports * (bound + 1))
				fail_msg("%u events passed a lower one at %u ports", nb_passed,
					nb_ports);
		}
	}
	st_teardown(NULL);
}

static void
starvation_among_ports(void **state)
{
	st_builtin_only();
	bound_among_ports(1, 4);
	bound_among_ports(2, 4);
	bound_among_ports(4, 1);
	bound_among_ports(4, 16);
}

/* What goes on: low ones where they are, so that each port always has one, others anywhere. */
static void
goes_on(unsigned int port, struct rte_event event)
{
	if (event.queue_id < 7) {
		event.queue_id = (uint8_t)(rand() % 2);
		event.flow_id = (uint32_t)rand() & 63;
	}
	st_forward(port, event, event.queue_id);
}

static void
take_time(uint64_t ns)
{
	const uint64_t end = weir_base_time_ns() + ns;

	while (ns > 0 && weir_base_time_ns() < end)
		;
}

/* At each port there is always a low one: between two of these, whichever port gets them, each port lets so many pass. */
static void
bound_at_each_port(
	unsigned int nb_ports, unsigned int bound, uint16_t burst, uint8_t type, uint64_t call_ns)
{
	unsigned int nb_passed = 0, nb_low = 0;
	struct rte_event events[16];

	srand(nb_ports + bound);
	make_priorities(nb_ports, type, bound);
	for (unsigned int i = 0; i < 256; i++)
		st_new(0, i % 4 == 0 ? i / 4 % 2 : 7, i % 4 == 0 ? i / 4 : i, 0);
	for (unsigned int step = 0; step < 20000; step++) {
		const unsigned int port = step % nb_ports;
		const uint16_t got = weir_sched_dequeue(st_port(port), events, burst);

		for (uint16_t i = 0; i < got; i++) {
			const bool is_low = events[i].queue_id == 7;

			nb_low += is_low;
			nb_passed = is_low ? 0 : nb_passed + 1;
			if (nb_passed > nb_ports * bound)
				fail_msg("%u events passed the low ones of %u ports, bound %u, "
					 "burst %u",
					nb_passed, nb_ports, bound, burst);
			goes_on(port, events[i]);
		}
		take_time(call_ns);
	}
	assert_true(nb_low > 0);
	st_teardown(NULL);
}

static void
starvation_at_each_port(void **state)
{
	static const unsigned int bounds[] = {1, 2, 7, 16, 100};

	st_builtin_only();
	for (unsigned int i = 0; i < RTE_DIM(bounds); i++)
		for (unsigned int nb_ports = 1; nb_ports <= 4; nb_ports++) {
			bound_at_each_port(nb_ports, bounds[i], 1, ATOMIC, 0);
			bound_at_each_port(nb_ports, bounds[i], 4, ATOMIC, 0);
			bound_at_each_port(nb_ports, bounds[i], 16, ORDERED, 0);
		}
}

/* The longer calls are apart, the more of them look at what others have. */
static void
starvation_at_slow_ports(void **state)
{
	static const uint64_t call_ns[] = {3000, 20000};

	st_builtin_only();
	for (unsigned int i = 0; i < RTE_DIM(call_ns); i++)
		for (unsigned int nb_ports = 2; nb_ports <= 4; nb_ports++)
			bound_at_each_port(nb_ports, 2, 4, ATOMIC, call_ns[i]);
}

/* A port that has nothing of its own waits for nothing: it gets what another one has, with each call. */
static void
bound_of_nothing(void **state)
{
	struct rte_event event;

	st_builtin_only();
	make_priorities(2, PARALLEL, 2);
	for (unsigned int i = 0; i < 40; i++)
		st_new(1, i % 2, i, i);
	for (unsigned int i = 0; i < 40; i++)
		if (weir_sched_dequeue(st_port(0), &event, 1) == 0)
			fail_msg("nothing after %u of 40 events", i);
		else
			st_release(0, event);
}

/* The first event that makes it several priorities is of a port that nobody polls. */
static void
first_of_several(void **state)
{
	st_builtin_only();
	for (uint32_t flow = 0; flow < 8; flow++) {
		make_priorities(2, ATOMIC, 0);
		st_new(0, 1, flow, 1);
		for (unsigned int i = 0; i < 200; i++)
			st_new(0, 7, i, 2);
		assert_int_equal(st_get_one(1).u64, 1);
		st_teardown(NULL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(priorities_strict),
		TEST(high_is_next),
		TEST(priority_by_event),
		TEST(priority_of_forward),
		TEST(starvation_bound),
		TEST(starvation_three),
		TEST(starvation_eight),
		TEST(strict_among_ports),
		TEST(starvation_among_ports),
		TEST(starvation_at_each_port),
		TEST(starvation_at_slow_ports),
		TEST(bound_of_nothing),
		TEST(first_of_several),
	};

	return ST_RUN("sched-priority", tests);
}
