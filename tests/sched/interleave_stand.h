/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SCHED_INTERLEAVE_STAND_H
#define TESTS_SCHED_INTERLEAVE_STAND_H

/* A small builtin scheduler with a group 1, that every order of steps starts anew. Once in a program, after what holds the library's files. */

#define STAND_PORTS 3

static struct weir_sched *sched;
static struct builtin *builtin;
static struct builtin_port *ports[STAND_PORTS];

static void
stand_drop(void *arg, const struct rte_event *event)
{
}

/* As it was at first, but for the ports of group 1. */
static void
stand_start(uint64_t group)
{
	if (sched->running)
		weir_sched_stop(sched, stand_drop, NULL);
	CHECK(weir_sched_group_set(sched, 1, group) == 0);
	CHECK(weir_sched_start(sched) == 0);
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		builtin->shards[i].nb_next = 0; /* every run is the same */
}

/* Nobody is away, nor compared with others, however long an order takes: so that it is the same each time. */
static inline void
stand_has_time(void)
{
	builtin->away = UINT32_MAX;
	builtin->patience = builtin->balance_period = UINT64_MAX / 4;
}

/* All orders, of a shard that is not had by bias, and of one that is, if it can be. @may_bias: which of them, for its start */
static inline void
stand_run(const struct interleave *interleave, bool *may_bias)
{
	*may_bias = false;
	interleave_all(interleave);
	if (!fence_prepare()) {
		print_message("the kernel has no fence for all threads\n");
		return;
	}
	*may_bias = true;
	interleave_all(interleave);
}

/* A flow of a queue's that is a shard's. */
static uint32_t
stand_flow_in(uint8_t queue, unsigned int wanted)
{
	struct rte_event event = {.queue_id = queue};

	while (event_shard(builtin, event.event) != wanted)
		event.flow_id++;
	return event.flow_id;
}

/* @type: of queue 0, unless that is @grouped: an atomic queue that is of group 1; the others are of group 0 */
static void
stand_make_as(uint8_t type, unsigned int nb_ports, unsigned int nb_queues, unsigned int grouped)
{
	const struct weir_sched_config config = {
		.nb_ports = nb_ports, .nb_queues = nb_queues, .nb_flows = 16, .nb_events = 16};
	const struct weir_sched_queue_config first = {.type = type};
	const struct weir_sched_queue_config queue = {.type = RTE_SCHED_TYPE_ATOMIC, .group = 1};

	sched = weir_sched_create("interleave", &config);
	assert_non_null(sched);
	assert_int_equal(weir_sched_queue_setup(sched, 0, &first), 0);
	assert_int_equal(weir_sched_queue_setup(sched, grouped, &queue), 0);
	builtin = sched->own;
	for (unsigned int i = 0; i < nb_ports; i++)
		ports[i] = (struct builtin_port *)weir_sched_port(sched, i);
}

static inline void
stand_make(unsigned int nb_ports, unsigned int nb_queues, unsigned int grouped)
{
	stand_make_as(RTE_SCHED_TYPE_ATOMIC, nb_ports, nb_queues, grouped);
}

static int
stand_teardown(void **state)
{
	weir_sched_stop(sched, stand_drop, NULL);
	weir_sched_destroy(sched);
	return 0;
}

#endif
