/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be asked for, and what not: instances, cores, objects, queues, groups, callbacks, dispatch. */
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eventdev.h>

#include "em_test.h"
#include "em_private.h"

static struct et_sink sink;

static void
no_instance(struct weir_em_config config, int error)
{
	if (config.backend == NULL)
		config.backend = st_backend();
	config.socket_id = -1;
	assert_null(weir_em_create("test", &config));
	assert_int_equal(rte_errno, error);
}

static void
instances(void **state)
{
	struct weir_em_config config = {.nb_cores = 1};
	char name[64];

	memset(name, 'x', sizeof(name));
	name[63] = '\0';
	assert_null(weir_em_create(NULL, &config));
	assert_null(weir_em_create("test", NULL));
	assert_null(weir_em_create(name, &config));
	assert_int_equal(rte_errno, EINVAL);
	no_instance((struct weir_em_config){.nb_cores = 64}, EINVAL);
	no_instance((struct weir_em_config){.nb_cores = 60, .nb_producers = 4}, EINVAL);
	no_instance((struct weir_em_config){.nb_producers = UINT32_MAX}, EINVAL);
	no_instance((struct weir_em_config){.nb_queues = WEIR_EM_QUEUES_MAX + 1}, EINVAL);
	no_instance((struct weir_em_config){.nb_objects = UINT32_MAX}, EINVAL);
	no_instance((struct weir_em_config){.nb_queue_groups = 64}, EINVAL);
	no_instance((struct weir_em_config){.nb_pools = UINT32_MAX}, EINVAL);
	no_instance((struct weir_em_config){.nb_local_events = 1000}, EINVAL);
	no_instance((struct weir_em_config){.types = 1 << WEIR_EM_QUEUE_LOCAL}, EINVAL);
	no_instance((struct weir_em_config){.nb_events = 1000}, EINVAL);
	no_instance((struct weir_em_config){.backend = "eventdev:none"}, ENODEV);
	no_instance((struct weir_em_config){.backend = "nothing"}, EINVAL);
	assert_int_equal(weir_em_destroy(NULL, NULL, NULL), -EINVAL);
	et_make_small();
	assert_string_equal(weir_em_name(et_em), "test");
	assert_non_null(weir_em_sched(et_em));
	assert_int_equal(weir_em_destroy(et_em, NULL, NULL), -EBUSY);
}

/* Whatever is asked for: its ports get events of one queue each. */
static void
pipelines_are_refused(void **state)
{
	st_builtin_only();
	if (rte_eal_hotplug_add("vdev", "event_opdl0", "") != 0)
		st_skip("there is no event_opdl");
	st_log_clear();
	no_instance((struct weir_em_config){.backend = "eventdev:event_opdl0"}, ENOTSUP);
	assert_non_null(strstr(st_log_last(), "event_opdl"));
	assert_non_null(strstr(st_log_last(), "expected 'builtin'"));
	no_instance((struct weir_em_config){.backend = "eventdev:event_opdl0",
			    .types = 1 << WEIR_EM_QUEUE_ATOMIC,
			    .priorities = 1,
			    .nb_queue_groups = 1},
		ENOTSUP);
	assert_int_equal(rte_eal_hotplug_remove("vdev", "event_opdl0"), 0);
}

static void
cores(void **state)
{
	struct weir_em_stats stats;

	et_make((struct weir_em_config){.nb_cores = 2});
	assert_null(weir_em_core_attach(NULL, 0));
	assert_null(weir_em_core_attach(et_em, 2));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(weir_em_core_attach(et_em, 0));
	assert_int_equal(rte_errno, EBUSY);
	assert_null(weir_em_producer_attach(et_em));
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(weir_em_core_mask(et_em), 1);
	assert_int_equal(weir_em_core_id(et_core), 0);
	assert_int_equal(weir_em_core_stats(et_em, 1, &stats), 0);
	assert_int_equal(weir_em_core_stats(et_em, 2, &stats), -EINVAL);
	assert_int_equal(weir_em_core_detach(NULL), -EINVAL);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	assert_int_equal(weir_em_core_detach(et_core), -EINVAL);
	et_core = NULL;
}

/* Numbers that are no handles, of another kind, or of what is gone. */
static void
handles(void **state)
{
	struct weir_em_object_info object_info;
	struct weir_em_queue_info queue_info;
	weir_em_queue_group group;
	struct rte_event event = weir_em_event_u64(0);
	uint64_t bad[5], mask;

	et_make_small();
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	group = weir_em_queue_group_create(et_em, "group", 1);
	bad[0] = WEIR_EM_NONE;
	bad[1] = UINT64_MAX;
	bad[2] = sink.queue | 0xffffff;
	bad[3] = sink.queue + (EM_INSTANCES << 24); /* a generation that is not there yet */
	bad[4] = sink.queue ^ sink.object ^ group;
	for (int i = 0; i < 5; i++) {
		int error = i == 3 ? ESTALE : EINVAL;

		assert_int_equal(weir_em_queue_delete(et_em, bad[i]), -error);
		assert_int_equal(weir_em_queue_enable(et_em, bad[i]), -error);
		assert_int_equal(weir_em_queue_disable(et_em, et_core, bad[i]), -error);
		assert_int_equal(weir_em_queue_set_context(et_em, bad[i], NULL), -error);
		assert_int_equal(weir_em_queue_info(et_em, bad[i], &queue_info), -error);
		assert_int_equal(weir_em_object_add_queue(et_em, sink.object, bad[i]), -error);
		assert_int_equal(weir_em_object_remove_queue(et_em, et_core, bad[i]), -error);
		assert_int_equal(weir_em_send(et_core, bad[i], &event, 1), 0);
		assert_int_equal(rte_errno, error);
		assert_int_equal(weir_em_queue_dequeue(et_em, bad[i], &event, 1), 0);
		assert_int_equal(rte_errno, error);
		assert_int_equal(weir_em_object_start(et_em, et_core, bad[i], NULL), -EINVAL);
		assert_int_equal(weir_em_object_stop(et_em, et_core, bad[i], NULL), -EINVAL);
		assert_int_equal(weir_em_object_delete(et_em, et_core, bad[i], 0), -EINVAL);
		assert_int_equal(weir_em_object_info(et_em, bad[i], &object_info), -EINVAL);
		assert_int_equal(
			weir_em_object_error_handler_set(et_em, bad[i], NULL, NULL), -EINVAL);
		assert_int_equal(weir_em_queue_group_delete(et_em, bad[i]), -EINVAL);
		assert_int_equal(weir_em_queue_group_modify(et_em, et_core, bad[i], 1), -EINVAL);
		assert_int_equal(weir_em_queue_group_mask(et_em, bad[i], &mask), -EINVAL);
	}
	assert_int_equal(et_stats().nb_errors, 5);
	assert_int_equal(weir_em_queue_dequeue(et_em, sink.queue, &event, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(weir_em_object_delete(et_em, et_core, sink.object, 2), -EINVAL);
	assert_int_equal(weir_em_queue_info(et_em, sink.queue, NULL), -EINVAL);
	assert_int_equal(weir_em_object_stop(et_em, et_core, sink.object, NULL), 0);
	assert_int_equal(weir_em_object_delete(et_em, et_core, sink.object, 0), -EBUSY);
	assert_int_equal(
		weir_em_object_delete(et_em, et_core, sink.object, WEIR_EM_REMOVE_QUEUES), 0);
	assert_int_equal(weir_em_object_delete(et_em, et_core, sink.object, 0), -ESTALE);
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), -ESTALE);
	assert_int_equal(weir_em_object_add_queue(et_em, sink.object, sink.queue), -ESTALE);
	assert_int_equal(weir_em_queue_info(et_em, sink.queue, &queue_info), 0);
	assert_int_equal(queue_info.object, WEIR_EM_NONE);
}

/* A number whose generations are used up is not given out again. */
static void
generations_end(void **state)
{
	weir_em_queue_group group;

	et_make((struct weir_em_config){.nb_queue_groups = 2});
	et_em->group_numbers.generation[1] = UINT32_MAX - 3 * EM_INSTANCES + 1;
	group = weir_em_queue_group_create(et_em, "group", 1);
	assert_int_not_equal(group, WEIR_EM_NONE);
	assert_int_equal(weir_em_queue_group_delete(et_em, group), 0);
	group = weir_em_queue_group_create(et_em, "group", 1);
	assert_int_not_equal(group, WEIR_EM_NONE);
	assert_int_equal(weir_em_queue_group_delete(et_em, group), 0);
	assert_int_equal(weir_em_queue_group_create(et_em, "group", 1), WEIR_EM_NONE);
	assert_int_equal(rte_errno, ENOSPC);
}

static void
no_queue(struct weir_em_queue_config config, int error)
{
	assert_int_equal(weir_em_queue_create(et_em, &config), WEIR_EM_NONE);
	assert_int_equal(rte_errno, error);
}

static void
objects_and_queues(void **state)
{
	struct weir_em_object_config config = {.receive = et_sink_receive, .burst = 129};
	struct weir_em_queue_info info;
	weir_em_object object;
	weir_em_queue ring;

	et_make((struct weir_em_config){.nb_objects = 2,
		.types = 1 << WEIR_EM_QUEUE_ATOMIC | 1 << WEIR_EM_QUEUE_PARALLEL,
		.priorities = 1});
	no_queue((struct weir_em_queue_config){.type = WEIR_EM_QUEUE_ORDERED}, ENOTSUP);
	no_queue((struct weir_em_queue_config){.priority = 1}, ENOTSUP);
	no_queue((struct weir_em_queue_config){.priority = 8}, EINVAL);
	no_queue((struct weir_em_queue_config){.type = WEIR_EM_QUEUE_TYPES}, EINVAL);
	no_queue((struct weir_em_queue_config){.type = WEIR_EM_QUEUE_OUTPUT}, EINVAL);
	no_queue((struct weir_em_queue_config){.group = 5}, EINVAL);
	no_queue((struct weir_em_queue_config){.type = WEIR_EM_QUEUE_UNSCHEDULED,
			 .size = UINT32_MAX},
		EINVAL);
	no_queue((struct weir_em_queue_config){.name = "a name of more than so many characters"},
		EINVAL);
	assert_int_equal(weir_em_queue_create(et_em, NULL), WEIR_EM_NONE);
	assert_int_equal(weir_em_object_create(et_em, &config), WEIR_EM_NONE);
	config.burst = 128;
	config.receive = NULL;
	assert_int_equal(weir_em_object_create(et_em, &config), WEIR_EM_NONE);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(weir_em_object_create(et_em, NULL), WEIR_EM_NONE);
	object = et_object("first", et_sink_receive, &sink);
	et_object("second", et_sink_receive, &sink);
	config.receive = et_sink_receive;
	assert_int_equal(weir_em_object_create(et_em, &config), WEIR_EM_NONE);
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(weir_em_object_find(et_em, "first"), object);
	assert_int_equal(weir_em_object_find(et_em, "third"), WEIR_EM_NONE);
	ring = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	assert_int_equal(weir_em_queue_find(et_em, "ring"), ring);
	assert_int_equal(weir_em_queue_find(et_em, "rin"), WEIR_EM_NONE);
	assert_int_equal(weir_em_object_add_queue(et_em, object, ring), -ENOTSUP);
	et_send(ring, 1);
	assert_int_equal(weir_em_queue_info(et_em, ring, &info), 0);
	assert_string_equal(info.name, "ring");
	assert_int_equal(info.type, WEIR_EM_QUEUE_UNSCHEDULED);
	assert_int_equal(info.stats.nb_sent, 1);
	assert_int_equal(info.stats.nb_received, 0);
}

static void
groups(void **state)
{
	weir_em_queue_group group, standard;
	weir_em_queue queue;
	uint64_t mask;

	et_make((struct weir_em_config){.nb_cores = 2, .nb_queue_groups = 2});
	standard = weir_em_queue_group_default(et_em);
	assert_int_equal(weir_em_queue_group_find(et_em, "default"), standard);
	assert_int_equal(weir_em_queue_group_delete(et_em, standard), -EINVAL);
	assert_int_equal(weir_em_queue_group_create(et_em, "group", 4), WEIR_EM_NONE);
	assert_int_equal(rte_errno, EINVAL);
	group = weir_em_queue_group_create(et_em, "group", 3);
	assert_int_not_equal(group, WEIR_EM_NONE);
	assert_int_equal(weir_em_queue_group_create(et_em, "third", 1), WEIR_EM_NONE);
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(weir_em_queue_group_modify(et_em, et_core, group, 4), -EINVAL);
	assert_int_equal(weir_em_queue_group_mask(et_em, group, &mask), 0);
	assert_int_equal(mask, 3);
	queue = weir_em_queue_create(et_em, &(struct weir_em_queue_config){.group = group});
	assert_int_not_equal(queue, WEIR_EM_NONE);
	assert_int_equal(weir_em_queue_group_delete(et_em, group), -EBUSY);
	assert_int_equal(weir_em_queue_delete(et_em, queue), 0);
	assert_int_equal(weir_em_queue_group_delete(et_em, group), 0);
	assert_int_equal(weir_em_queue_group_delete(et_em, group), -ESTALE);
	assert_int_equal(weir_em_queue_group_modify(et_em, et_core, group, 1), -ESTALE);
}

/* Others would get what is left of its queues, or nobody, if a group had the number of one that is gone. */
static void
numbers_of_groups_wait_for_events(void **state)
{
	weir_em_queue_group group;
	weir_em_queue queue;

	et_make((struct weir_em_config){.nb_queue_groups = 2});
	group = weir_em_queue_group_create(et_em, "group", 1);
	assert_int_not_equal(group, WEIR_EM_NONE);
	queue = weir_em_queue_create(et_em, &(struct weir_em_queue_config){.group = group});
	assert_int_not_equal(queue, WEIR_EM_NONE);
	et_send(queue, 1);
	assert_int_equal(weir_em_queue_delete(et_em, queue), 0);
	assert_int_equal(weir_em_queue_group_delete(et_em, group), 0);
	assert_int_equal(weir_em_queue_group_create(et_em, "next", 0), WEIR_EM_NONE);
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(weir_em_queue_group_create(et_em, "next", 1), WEIR_EM_NONE);
	et_run();
	assert_int_equal(et_stats().nb_dropped[WEIR_EM_DROP_DELETED], 1);
	assert_int_not_equal(weir_em_queue_group_create(et_em, "next", 1), WEIR_EM_NONE);
}

/* Events of a group without cores wait, and come when it has some. */
static void
groups_without_cores(void **state)
{
	weir_em_queue_group group;
	weir_em_queue queue;

	st_builtin_only();
	et_make_small();
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	group = weir_em_queue_group_create(et_em, "group", 0);
	queue = weir_em_queue_create(et_em, &(struct weir_em_queue_config){.group = group});
	assert_int_equal(weir_em_object_add_queue(et_em, sink.object, queue), 0);
	et_send(queue, 1);
	et_run();
	assert_int_equal(sink.nb, 0);
	assert_int_equal(weir_em_queue_group_modify(et_em, et_core, group, 1), 0);
	et_run();
	assert_int_equal(sink.nb, 1);
	/* of a group that is gone, they are dropped */
	assert_int_equal(weir_em_queue_group_modify(et_em, et_core, group, 0), 0);
	et_send(queue, 2);
	assert_int_equal(weir_em_object_remove_queue(et_em, et_core, queue), 0);
	assert_int_equal(weir_em_queue_delete(et_em, queue), 0);
	assert_int_equal(weir_em_queue_group_delete(et_em, group), 0);
	et_run();
	assert_int_equal(sink.nb, 1);
	assert_int_equal(et_stats().nb_dropped[WEIR_EM_DROP_DELETED], 1);
	et_check_sums();
}

/* ---- callbacks ---- */

static char trace[64];

static void
enter(struct weir_em_core *core, weir_em_object object, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, void *arg)
{
	assert_int_equal(object, sink.object);
	assert_int_equal(queue, sink.queue);
	assert_int_equal(sink.nb, 0);
	events[0].u64++;
	strcat(trace, arg);
}

static void
leave(struct weir_em_core *core, weir_em_object object, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, void *arg)
{
	assert_int_equal(sink.nb, 1);
	strcat(trace, arg);
}

/* Of callbacks, that are kept until the instance ends. */
static unsigned int
count_lists(void)
{
	unsigned int nb = 0;

	for (const struct em_callbacks *list = et_em->callback_lists; list != NULL;
		list = list->older)
		nb++;
	return nb;
}

static void
callbacks(void **state)
{
	static char names[9][2] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
	unsigned int nb;

	et_make_small();
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	trace[0] = '\0';
	for (int i = 0; i < 8; i++)
		assert_int_equal(weir_em_dispatch_enter_add(et_em, enter, names[i]), 0);
	assert_int_equal(weir_em_dispatch_enter_add(et_em, enter, names[8]), -ENOSPC);
	assert_int_equal(weir_em_dispatch_enter_add(et_em, enter, names[3]), -EEXIST);
	assert_int_equal(weir_em_dispatch_enter_add(et_em, NULL, NULL), -EINVAL);
	for (int i = 2; i < 8; i++)
		assert_int_equal(weir_em_dispatch_enter_remove(et_em, enter, names[i]), 0);
	assert_int_equal(weir_em_dispatch_enter_remove(et_em, enter, names[2]), -ENOENT);
	assert_int_equal(weir_em_dispatch_exit_remove(et_em, leave, "x"), -ENOENT);
	assert_int_equal(weir_em_dispatch_exit_add(et_em, leave, names[7]), 0);
	et_send(sink.queue, 10);
	et_run();
	assert_string_equal(trace, "abh");
	assert_int_equal(sink.values[0], 12);
	assert_int_equal(weir_em_dispatch_exit_remove(et_em, leave, names[7]), 0);
	/* who comes and goes all the time takes no more memory for it */
	nb = count_lists();
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(weir_em_dispatch_exit_add(et_em, leave, names[6]), 0);
		assert_int_equal(weir_em_dispatch_exit_remove(et_em, leave, names[6]), 0);
	}
	assert_in_range(count_lists(), nb, nb + 2);
}

/* ---- dispatch ---- */

static void
limits_of_dispatch(void **state)
{
	struct weir_em_dispatch_options options = {.nb_rounds = 7};
	uint64_t before, begun, nb;

	et_make_small();
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	before = et_stats().nb_rounds;
	assert_int_equal(weir_em_dispatch(et_core, &options), 0);
	assert_int_equal(et_stats().nb_rounds, before + 7);
	assert_int_equal(et_stats().nb_idle, et_stats().nb_rounds);
	for (int idle = 0; idle <= WEIR_EM_IDLE_SLEEP; idle++) {
		options = (struct weir_em_dispatch_options){
			.duration_ns = 3000000, .idle = (enum weir_em_idle)idle};
		begun = weir_base_time_ns();
		assert_int_equal(weir_em_dispatch(et_core, &options), 0);
		assert_true(weir_base_time_ns() - begun >= 2990000);
	}
	for (uint64_t i = 0; i < 100; i++)
		et_send(sink.queue, i);
	options = (struct weir_em_dispatch_options){.nb_events = 10, .burst = 4};
	nb = weir_em_dispatch(et_core, &options);
	assert_in_range(nb, 10, 13);
	assert_int_equal(sink.nb, nb);
	options.burst = 129;
	assert_int_equal(weir_em_dispatch(et_core, &options), 0);
	assert_int_equal(weir_em_dispatch(NULL, &options), 0);
	assert_int_equal(rte_errno, EINVAL);
	weir_em_core_stop(et_core);
	assert_int_equal(weir_em_dispatch(et_core, NULL), 0);
	weir_em_stop(et_em);
	assert_int_equal(weir_em_dispatch(et_core, NULL), 0);
	assert_int_equal(weir_em_dispatch(et_core, NULL), 0);
	weir_em_resume(et_em);
	et_run();
	assert_int_equal(sink.nb, 100);
}

static void
dispatch_again(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	assert_int_equal(weir_em_dispatch(core, NULL), 0);
	assert_int_equal(weir_em_core_detach(core), -EBUSY);
	weir_em_core_stop(core);
}

static void
dispatch_within_dispatch(void **state)
{
	et_make_small();
	et_send(et_serve("again", WEIR_EM_QUEUE_ATOMIC, dispatch_again, NULL), 1);
	assert_int_equal(weir_em_dispatch(et_core, NULL), 1); /* until it is told */
	assert_int_equal(et_stats().nb_errors, 1);
}

/* As often as it is held it is released before anybody may dispatch or detach it. */
static void
held(void **state)
{
	const struct weir_em_dispatch_options options = {.nb_rounds = 1};

	et_make_small();
	*weir_em_core_holds(et_core) += 2;
	for (int nb = 2; nb >= 1; nb--) {
		assert_int_equal(weir_em_core_detach(et_core), -EBUSY);
		assert_int_equal(weir_em_dispatch(et_core, &options), 0);
		assert_int_equal(rte_errno, EINVAL);
		--*weir_em_core_holds(et_core);
	}
	assert_int_equal(et_stats().nb_errors, 2);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
}

/* When dispatch returns, nothing is held. */
static void
nothing_is_held_after_dispatch(void **state)
{
	struct weir_sched_stats stats;

	et_make_small();
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 8);
	for (uint64_t i = 0; i < 8; i++)
		et_send(sink.queue, i);
	while (sink.nb < 8)
		weir_em_dispatch(et_core, &(struct weir_em_dispatch_options){.nb_rounds = 1});
	weir_sched_stats(weir_em_sched(et_em), &stats);
	assert_int_equal(stats.nb_released, 8);
}

/* ---- the end ---- */

static unsigned int nb_drained;

static void
drain(void *arg, weir_em_queue queue, struct rte_event *event)
{
	const weir_em_queue *queues = arg;

	assert_in_range(event->u64, 0, 3);
	assert_int_equal(queue, queues[event->u64]);
	nb_drained++;
}

static void
all_is_drained(void **state)
{
	weir_em_queue queues[3];

	/* a core would drop what it finds: a producer sends */
	et_make((struct weir_em_config){.nb_queues = 64, .nb_producers = 1});
	queues[0] = et_queue("atomic", WEIR_EM_QUEUE_ATOMIC, 0);
	queues[1] = et_queue("parallel", WEIR_EM_QUEUE_PARALLEL, 0);
	queues[2] = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = weir_em_producer_attach(et_em);
	for (uint64_t i = 0; i < 30; i++)
		et_send(queues[i % 3], i % 3);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
	nb_drained = 0;
	assert_int_equal(weir_em_destroy(et_em, drain, queues), 0);
	et_em = NULL;
	assert_int_equal(nb_drained, 30);
}

/* When event_dsw's port did what other ports may wait for, as moves of flows. */
static uint64_t
last_done_by_port(unsigned int port)
{
	int device = rte_event_dev_get_dev_id("event_dsw0");
	char name[32];

	snprintf(name, sizeof(name), "port_%u_last_bg", port);
	assert_true(device >= 0);
	return rte_event_dev_xstats_by_name_get((uint8_t)device, name, NULL);
}

/* Who sends nothing keeps nobody waiting. */
static void
producers_tend(void **state)
{
	struct weir_em_core *producer;

	et_make((struct weir_em_config){.nb_producers = 1});
	producer = weir_em_producer_attach(et_em);
	assert_non_null(producer);
	if (st_is_driver("event_dsw"))
		assert_int_equal(last_done_by_port(weir_em_core_id(producer)), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(weir_em_producer_tend(producer), 0);
	if (st_is_driver("event_dsw"))
		assert_int_not_equal(last_done_by_port(weir_em_core_id(producer)), 0);
	assert_int_equal(weir_em_core_detach(producer), 0);
}

static void
names(void **state)
{
	for (int i = 0; i < WEIR_EM_ERRORS; i++)
		assert_string_not_equal(weir_em_error_name((enum weir_em_error_kind)i), "unknown");
	for (int i = 0; i < WEIR_EM_QUEUE_TYPES; i++)
		assert_string_not_equal(
			weir_em_queue_type_name((enum weir_em_queue_type)i), "unknown");
	assert_string_equal(weir_em_error_name(WEIR_EM_ERRORS), "unknown");
	assert_string_equal(weir_em_drop_name(WEIR_EM_DROPS), "unknown");
	assert_string_equal(weir_em_queue_type_name(WEIR_EM_QUEUE_TYPES), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(instances),
		ET_TEST(pipelines_are_refused),
		ET_TEST(cores),
		ET_TEST(handles),
		ET_TEST(generations_end),
		ET_TEST(objects_and_queues),
		ET_TEST(groups),
		ET_TEST(numbers_of_groups_wait_for_events),
		ET_TEST(groups_without_cores),
		ET_TEST(callbacks),
		ET_TEST(limits_of_dispatch),
		ET_TEST(dispatch_within_dispatch),
		ET_TEST(held),
		ET_TEST(nothing_is_held_after_dispatch),
		ET_TEST(all_is_drained),
		ET_TEST(producers_tend),
		ET_TEST(names),
	};

	return ST_RUN("em-control", tests);
}
