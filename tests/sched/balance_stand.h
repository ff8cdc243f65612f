/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SCHED_BALANCE_STAND_H
#define TESTS_SCHED_BALANCE_STAND_H

/* Ports of a builtin scheduler that compare themselves with each other. Once in a program, after lib/sched/balance.c. */

#define OWNER 0
#define IDLE  1
#define OTHER 2
#define FLOWS 1024

static struct builtin *builtin;
static struct builtin_port *idle;
static struct shard *shard;  /* the owner's */
static uint64_t now, length; /* cycles; of a period */

static int
setup(void **state)
{
	struct weir_sched_config config = st_config(3, 2);

	config.nb_flows = FLOWS;
	st_make(config);
	st_start();
	builtin = st_sched->own;
	idle = &builtin->ports[IDLE];
	shard = builtin->ports[OWNER].home;
	builtin->waiting = 1u << shard->id;
	length = builtin->balance_period;
	now = weir_base_cycles();
	idle->balance.at = now;
	return 0;
}

static int
teardown(void **state)
{
	return st_teardown(state);
}

/* The first flow of a shard's after one. */
static uint32_t
flow_after(uint32_t flow, const struct shard *of)
{
	struct rte_event event = {.event = 0};

	do
		event.flow_id = ++flow & 0xfffff;
	while (event_shard(builtin, event.event) != of->id);
	return flow;
}

/*
 * Events of the owner's flows, one of each, but that every so many-th is of the first one; 0: none besides. It has taken one, and seen the others,
 * which are still in a ring.
 */
static void
send_hot(unsigned int nb, unsigned int hot)
{
	const uint32_t first = flow_after(0, shard);
	uint32_t flow = first;

	for (unsigned int i = 0; i < nb; i++) {
		const bool is_hot = hot > 0 && i % hot == 0;

		st_new(OTHER, 0, is_hot ? first : flow, i);
		if (!is_hot)
			flow = flow_after(flow, shard);
	}
	st_release(OWNER, st_get_one(OWNER));
	assert_true(shard->in_rings[0] > 9 * nb / 10);
}

static void
send(unsigned int nb)
{
	send_hot(nb, 0);
}

/* What happens in a period. */
struct period {
	unsigned int idle, owner_idle;  /* percent of the time */
	unsigned int taken, its_stolen; /* by the owner: of its own, and of others' */
	unsigned int own, stolen;       /* by who is idle */
};

static void
do_work(struct builtin_port *port, uint64_t idle_time, unsigned int own, unsigned int stolen)
{
	port->idle_time += idle_time;
	port->counts.nb_dequeued += own + stolen;
	port->counts.nb_stolen += stolen;
}

/* @return when it is over */
static uint64_t
work(const struct period *period)
{
	/* However long this test has taken so far. */
	const uint64_t at = RTE_MAX(now, weir_base_cycles()) + length;
	const uint64_t since = at - idle->balance.at;

	do_work(idle, since * period->idle / 100, period->own, period->stolen);
	do_work(&builtin->ports[shard->owner], since * period->owner_idle / 100, period->taken,
		period->its_stolen);
	return at;
}

#endif
