/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What no application should do: another instance's handles, cores and events; what is gone, or never was; numbers beyond all limits;
 * events that are forwarded from elsewhere. Each is refused, and all goes on.
 */
#include "em_test.h"

#include "weir_em_event_group.h"
#include "weir_em_timer.h"

static struct et_sink sink;

/* ---- two instances ---- */

/* One of each kind. */
struct things {
	struct weir_em *em;
	struct weir_em_core *core;
	weir_em_object object;
	weir_em_queue queue;
	weir_em_queue_group queue_group;
	weir_em_event_group event_group;
	weir_em_timer timer;
	weir_em_timeout timeout;
	weir_em_pool pool;
};

static const struct weir_em_config config_of_both = {
	.nb_queues = 64, .nb_reserved = 8, .nb_producers = 1, .socket_id = -1};

static struct things
make_things(struct weir_em *em, struct weir_em_core *core, const char *pool)
{
	struct things things = {.em = em, .core = core};

	things.object = weir_em_object_create(
		em, &(struct weir_em_object_config){
			    .name = "object", .receive = et_sink_receive, .context = &sink});
	things.queue = weir_em_queue_create(em, &(struct weir_em_queue_config){.name = "queue"});
	things.queue_group = weir_em_queue_group_create(em, "group", 1);
	things.event_group = weir_em_event_group_create(em);
	things.timer = weir_em_timer_create(em, &(struct weir_em_timer_config){.name = "timer"});
	things.timeout = weir_em_timeout_create(em, things.timer, things.queue);
	things.pool = weir_em_pool_create(
		em, &(struct weir_em_pool_config){.name = pool, .nb = 31, .socket_id = -1});
	assert_true(things.object != 0 && things.queue != 0 && things.queue_group != 0);
	assert_true(things.event_group != 0 && things.timer != 0 && things.timeout != 0 &&
		    things.pool != 0);
	assert_int_equal(weir_em_object_add_queue(em, things.object, things.queue), 0);
	return things;
}

/* All by handles of things that @em has not. */
static void
refuse_all(struct weir_em *em, struct weir_em_core *core, const struct things *foreign)
{
	struct rte_event event = weir_em_event_u64(1);
	struct weir_em_object_info object_info;
	struct weir_em_queue_info queue_info;
	struct weir_em_timeout_info timeout_info;
	uint64_t mask;

	assert_int_equal(weir_em_object_start(em, core, foreign->object, NULL), -ESTALE);
	assert_int_equal(weir_em_object_stop(em, core, foreign->object, NULL), -ESTALE);
	assert_int_equal(weir_em_object_delete(em, core, foreign->object, 1), -ESTALE);
	assert_int_equal(weir_em_object_info(em, foreign->object, &object_info), -ESTALE);
	assert_int_equal(weir_em_queue_delete(em, foreign->queue), -ESTALE);
	assert_int_equal(weir_em_queue_disable(em, core, foreign->queue), -ESTALE);
	assert_int_equal(weir_em_object_remove_queue(em, core, foreign->queue), -ESTALE);
	assert_int_equal(weir_em_queue_info(em, foreign->queue, &queue_info), -ESTALE);
	assert_int_equal(weir_em_send(core, foreign->queue, &event, 1), 0);
	assert_int_equal(rte_errno, ESTALE);
	assert_int_equal(weir_em_queue_dequeue(em, foreign->queue, &event, 1), 0);
	assert_int_equal(rte_errno, ESTALE);
	assert_int_equal(weir_em_queue_group_modify(em, core, foreign->queue_group, 1), -ESTALE);
	assert_int_equal(weir_em_queue_group_mask(em, foreign->queue_group, &mask), -ESTALE);
	assert_int_equal(weir_em_queue_group_delete(em, foreign->queue_group), -ESTALE);
	assert_int_equal(weir_em_event_group_apply(em, foreign->event_group, 1, NULL, 0), -ESTALE);
	assert_int_equal(weir_em_event_group_delete(em, foreign->event_group), -ESTALE);
	assert_int_equal(weir_em_timeout_arm_in(em, core, foreign->timeout, 1, &event), -ESTALE);
	assert_int_equal(weir_em_timeout_cancel(em, foreign->timeout, &event), -ESTALE);
	assert_int_equal(weir_em_timeout_info(em, foreign->timeout, &timeout_info), -ESTALE);
	assert_int_equal(weir_em_timeout_delete(em, foreign->timeout), -ESTALE);
	assert_int_equal(weir_em_timer_delete(em, foreign->timer, NULL, NULL), -ESTALE);
	assert_null(weir_em_alloc(core, foreign->pool, 1));
	assert_int_equal(weir_em_pool_delete(em, foreign->pool), -ESTALE);
}

/* Likewise with a core of the other one. */
static void
refuse_core(const struct things *things, struct weir_em_core *foreign)
{
	const struct rte_event event = weir_em_event_u64(1);

	assert_int_equal(weir_em_object_start(things->em, foreign, things->object, NULL), -EINVAL);
	assert_int_equal(weir_em_object_stop(things->em, foreign, things->object, NULL), -EINVAL);
	assert_int_equal(weir_em_object_delete(things->em, foreign, things->object, 0), -EINVAL);
	assert_int_equal(weir_em_queue_disable(things->em, foreign, things->queue), -EINVAL);
	assert_int_equal(weir_em_object_remove_queue(things->em, foreign, things->queue), -EINVAL);
	assert_int_equal(
		weir_em_queue_group_modify(things->em, foreign, things->queue_group, 1), -EINVAL);
	assert_int_equal(
		weir_em_timeout_arm_in(things->em, foreign, things->timeout, 1, &event), -EINVAL);
	assert_int_equal(
		weir_em_timeout_ack(things->em, foreign, things->timeout, &event, NULL), -EINVAL);
}

static weir_em_queue other_queue;
static struct weir_em_core *other_core;

/* An event of one instance is no event of the other one. */
static void
forward_elsewhere(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	assert_int_equal(weir_em_forward(other_core, other_queue, &events[0]), -EINVAL);
	assert_int_equal(weir_em_forward(core, other_queue, &events[0]), -ESTALE);
	assert_int_equal(weir_em_send(other_core, other_queue, &events[0], 1), 1);
}

/* On a device two cannot share one. */
static void
two_instances(void **state)
{
	struct things ours, theirs;
	struct weir_em *other;

	st_builtin_only();
	sink.nb = 0;
	et_make(config_of_both);
	other = weir_em_create("other", &config_of_both);
	assert_non_null(other);
	other_core = weir_em_core_attach(other, 0);
	assert_ptr_equal(weir_em_core_em(other_core), other);
	ours = make_things(et_em, et_core, "ours");
	theirs = make_things(other, other_core, "theirs");
	other_queue = theirs.queue;
	/* the numbers are the same, the handles are not */
	assert_int_equal(ours.queue & 0xffffff, theirs.queue & 0xffffff);
	refuse_all(et_em, et_core, &theirs);
	refuse_all(other, other_core, &ours);
	refuse_core(&ours, other_core);
	refuse_core(&theirs, et_core);
	assert_int_equal(weir_em_object_start(other, other_core, theirs.object, NULL), 0);
	et_send(et_serve("elsewhere", WEIR_EM_QUEUE_ATOMIC, forward_elsewhere, NULL), 1);
	et_run();
	weir_em_dispatch(other_core, &(struct weir_em_dispatch_options){.nb_rounds = 100});
	assert_int_equal(sink.nb, 1);
	assert_int_equal(sink.queues[0], theirs.queue);
	et_check_sums();
	assert_int_equal(weir_em_core_detach(other_core), 0);
	assert_int_equal(weir_em_destroy(other, NULL, NULL), 0);
}

/* ---- sizes ---- */

static void
refused(struct weir_em_config config)
{
	config.backend = st_backend();
	config.socket_id = -1;
	st_log_clear();
	assert_null(weir_em_create("huge", &config));
	assert_true(rte_errno == EINVAL || rte_errno == ENOMEM || rte_errno == ENOTSUP);
	assert_true(st_log_count() > 0); /* and says why */
}

static void
huge_numbers(void **state)
{
	refused((struct weir_em_config){.nb_cores = UINT32_MAX});
	refused((struct weir_em_config){.nb_producers = UINT32_MAX});
	refused((struct weir_em_config){.nb_queues = UINT32_MAX});
	refused((struct weir_em_config){.nb_objects = UINT32_MAX});
	refused((struct weir_em_config){.nb_queue_groups = UINT32_MAX});
	refused((struct weir_em_config){.nb_pools = UINT32_MAX});
	refused((struct weir_em_config){.nb_event_groups = UINT32_MAX});
	refused((struct weir_em_config){.nb_timers = UINT32_MAX});
	refused((struct weir_em_config){.nb_timeouts = UINT32_MAX});
	refused((struct weir_em_config){.nb_events = UINT32_MAX});
	refused((struct weir_em_config){.nb_reserved = UINT32_MAX});
	refused((struct weir_em_config){.new_threshold = UINT32_MAX});
	refused((struct weir_em_config){.nb_local_events = UINT32_MAX});
	refused((struct weir_em_config){.nb_local_events = 3});
	refused((struct weir_em_config){.types = 0xff});
}

/* Nothing that is asked for is too little, or too much, to be answered. */
static void
odd_sizes(void **state)
{
	struct rte_event events[2] = {weir_em_event_u64(1), weir_em_event_u64(2)};
	struct weir_em_pool_config pool = {.name = "odd", .nb = UINT32_MAX, .socket_id = -1};

	et_make_small();
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	assert_int_equal(weir_em_send(et_core, sink.queue, events, 0), 0);
	assert_int_equal(weir_em_send(et_core, sink.queue, NULL, 0), 0);
	assert_int_equal(weir_em_forward_burst(et_core, sink.queue, events, 0), 0);
	assert_int_equal(weir_em_forward_burst(et_core, sink.queue, events, UINT16_MAX), 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(weir_em_pool_create(et_em, &pool), WEIR_EM_NONE);
	pool.nb = 0;
	assert_int_equal(weir_em_pool_create(et_em, &pool), WEIR_EM_NONE);
	assert_int_equal(weir_em_queue_create(et_em,
				 &(struct weir_em_queue_config){
					 .type = WEIR_EM_QUEUE_UNSCHEDULED, .size = UINT32_MAX}),
		WEIR_EM_NONE);
	assert_int_equal(
		weir_em_queue_create(
			et_em, &(struct weir_em_queue_config){.type = (enum weir_em_queue_type)99}),
		WEIR_EM_NONE);
	assert_int_equal(weir_em_queue_create(et_em, &(struct weir_em_queue_config){.priority = 8}),
		WEIR_EM_NONE);
	assert_int_equal(weir_em_object_create(
				 et_em, &(struct weir_em_object_config){.receive = et_sink_receive,
						.burst = UINT16_MAX}),
		WEIR_EM_NONE);
	weir_em_dump(et_em, stderr, 0);
	et_run();
	assert_int_equal(sink.nb, 0);
	et_check_sums();
}

/* ---- events that are not what they were ---- */

static int rcs[4];
static uint8_t opaque;

static void
tamper(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct rte_event copy = events[0];

	if (events[0].u64 != 0)
		return; /* what came of it */
	copy.u64 = 1;
	/* another one's place, or none's */
	opaque = copy.impl_opaque;
	copy.impl_opaque = (uint8_t)(opaque + 1);
	rcs[0] = weir_em_forward(core, queue, &copy);
	copy.impl_opaque = (uint8_t)~opaque;
	rcs[1] = weir_em_forward(core, queue, &copy);
	/* all that the machine writes itself, may be anything */
	copy.event = UINT64_MAX;
	copy.impl_opaque = opaque;
	copy.event_type = RTE_EVENT_TYPE_CPU;
	rcs[2] = weir_em_forward(core, queue, &copy);
	rcs[3] = weir_em_forward(core, queue, &events[0]);
}

static void
tampered_events(void **state)
{
	weir_em_queue queue;

	et_make_small();
	queue = et_serve("tampers", WEIR_EM_QUEUE_ATOMIC, tamper, NULL);
	et_send(queue, 0);
	et_run();
	assert_int_equal(rcs[0], -EINVAL);
	assert_int_equal(rcs[1], -EINVAL);
	assert_int_equal(rcs[2], 0);
	assert_int_equal(rcs[3], -EINVAL);
	assert_int_equal(et_stats().nb_received, 2);
	et_check_sums();
}

/* From within a receive function: everything is deleted that it runs for. */
static void
delete_all(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	weir_em_object object = weir_em_current_object(core);

	assert_int_equal(weir_em_queue_delete(et_em, queue), -EBUSY);
	assert_int_equal(weir_em_object_delete(et_em, core, object, WEIR_EM_REMOVE_QUEUES), -EBUSY);
	assert_int_equal(weir_em_core_detach(core), -EBUSY);
	assert_int_equal(weir_em_destroy(et_em, NULL, NULL), -EBUSY);
	assert_int_equal(weir_em_object_stop(et_em, core, object, NULL), 0);
	assert_int_equal(weir_em_object_delete(et_em, core, object, WEIR_EM_REMOVE_QUEUES), 0);
	assert_int_equal(weir_em_queue_delete(et_em, queue), 0);
	assert_int_equal(weir_em_forward(core, queue, &events[0]), -ESTALE);
	weir_em_atomic_end(core);
	assert_int_equal(weir_em_send(core, queue, &events[0], 1), 0);
	assert_int_equal(rte_errno, ESTALE);
}

static void
the_ground_is_taken_away(void **state)
{
	weir_em_queue queue;

	et_make_small();
	queue = et_serve("gone", WEIR_EM_QUEUE_ATOMIC, delete_all, NULL);
	for (uint64_t i = 0; i < 10; i++)
		et_send(queue, i);
	et_run();
	assert_int_equal(et_stats().nb_received, 1);
	assert_int_equal(et_stats().nb_dropped[WEIR_EM_DROP_DELETED], 9);
	et_check_sums();
}

/* ---- an object that takes its own place ---- */

static struct et_sink heir;
static weir_em_object self;
static unsigned int nb_calls, nb_left, nb_raised, nb_asked;

static int
handler_of_heir(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	nb_asked++;
	return error->code;
}

/* It is gone, and its number is used again at once. */
static void
replace_self(struct weir_em_core *core)
{
	const struct weir_em_object_config config = {.name = "heir",
		.receive = et_sink_receive,
		.context = &heir,
		.error_handler = handler_of_heir};

	assert_int_equal(weir_em_object_stop(et_em, core, self, NULL), 0);
	assert_int_equal(weir_em_object_delete(et_em, core, self, WEIR_EM_REMOVE_QUEUES), 0);
	heir.object = weir_em_object_create(et_em, &config);
	assert_int_equal(heir.object & 0xffffff, self & 0xffffff);
}

/* What the core is asked, and what goes wrong, is of the object whose function runs: not of the one that has its number. */
static void
is_still_itself(struct weir_em_core *core)
{
	assert_int_equal(weir_em_current_object(core), self);
	assert_int_equal(weir_em_error_raise(core, -EPROTO, "is_still_itself"), -EPROTO);
}

static void
receive_only(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	assert_ptr_equal(context, &self);
	is_still_itself(core);
	nb_calls++;
}

static void
replace_in_receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	replace_self(core);
	receive_only(core, context, events, nb, queue, queue_context);
}

static int
replace_in_start(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	replace_self(core);
	assert_int_equal(weir_em_current_object(core), object);
	return 0;
}

static void
start_in_receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	weir_em_object other = weir_em_object_create(
		et_em, &(struct weir_em_object_config){
			       .receive = et_sink_receive, .start = replace_in_start});

	assert_int_equal(weir_em_object_start(et_em, core, other, NULL), 0);
	receive_only(core, context, events, nb, queue, queue_context);
}

static void
replace_before(struct weir_em_core *core, weir_em_object object, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, void *arg)
{
	replace_self(core);
}

static void
leave(struct weir_em_core *core, weir_em_object object, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, void *arg)
{
	assert_int_equal(object, self);
	is_still_itself(core);
	nb_left++;
}

static int
handler_of_all(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	assert_int_equal(error->object, self);
	assert_string_equal(error->object_name, "");
	nb_raised++;
	return error->code;
}

static void
takes_its_own_place(weir_em_receive_t receive, weir_em_dispatch_callback_t before)
{
	struct weir_em_object_info info;
	weir_em_queue queue;

	heir.nb = nb_calls = nb_left = nb_raised = nb_asked = 0;
	et_make((struct weir_em_config){.nb_objects = receive == start_in_receive ? 2 : 1});
	weir_em_error_handler_set(et_em, handler_of_all, NULL);
	if (before != NULL)
		assert_int_equal(weir_em_dispatch_enter_add(et_em, before, NULL), 0);
	assert_int_equal(weir_em_dispatch_exit_add(et_em, leave, NULL), 0);
	queue = et_serve("queue", WEIR_EM_QUEUE_ATOMIC, receive, &self);
	self = weir_em_object_find(et_em, "queue");
	et_send(queue, 1);
	et_run();
	assert_int_equal(nb_calls, 1);
	assert_int_equal(nb_left, 1);
	assert_int_equal(nb_raised, 2);
	assert_int_equal(nb_asked, 0);
	/* nothing has come to the other one yet */
	assert_int_equal(heir.nb, 0);
	assert_int_equal(weir_em_object_info(et_em, heir.object, &info), 0);
	assert_int_equal(info.nb_received, 0);
	assert_int_equal(info.nb_calls, 0);
	assert_int_equal(weir_em_object_info(et_em, self, &info), -ESTALE);
	et_check_sums();
}

static void
an_object_replaces_itself(void **state)
{
	takes_its_own_place(replace_in_receive, NULL);
}

static void
an_object_is_replaced_where_it_starts_another(void **state)
{
	takes_its_own_place(start_in_receive, NULL);
}

static void
an_object_is_replaced_before_its_call(void **state)
{
	takes_its_own_place(receive_only, replace_before);
}

/* A core that comes starts it: it starts another one in its place, and fails. */
static int
count_up(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	assert_int_equal(weir_em_current_object(core), object);
	++*(unsigned int *)context;
	return 0;
}

static int
count_down(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	assert_int_equal(weir_em_current_object(core), object);
	--*(unsigned int *)context;
	return 0;
}

static unsigned int nb_started_heirs;

static int
replace_and_fail(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	const struct weir_em_object_config config = {.name = "heir",
		.receive = et_sink_receive,
		.context = &nb_started_heirs,
		.core_start = count_up,
		.core_stop = count_down};

	assert_int_equal(weir_em_object_stop(et_em, core, object, NULL), 0);
	assert_int_equal(weir_em_object_delete(et_em, core, object, 0), 0);
	heir.object = weir_em_object_create(et_em, &config);
	assert_int_equal(heir.object & 0xffffff, object & 0xffffff);
	assert_int_equal(weir_em_object_start(et_em, core, heir.object, NULL), 0);
	assert_int_equal(nb_started_heirs, 1);
	assert_int_equal(weir_em_current_object(core), object);
	return -EIO;
}

static void
an_object_is_replaced_when_a_core_comes(void **state)
{
	weir_em_object object;

	et_make((struct weir_em_config){.nb_objects = 1});
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
	nb_started_heirs = 0;
	object = weir_em_object_create(et_em, &(struct weir_em_object_config){.name = "self",
						      .receive = et_sink_receive,
						      .core_start = replace_and_fail});
	assert_int_equal(weir_em_object_start(et_em, NULL, object, NULL), 0);
	st_log_clear();
	assert_null(weir_em_core_attach(et_em, 0));
	assert_int_equal(rte_errno, EIO);
	/* what was started here is stopped */
	assert_int_equal(nb_started_heirs, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(two_instances),
		ET_TEST(huge_numbers),
		ET_TEST(odd_sizes),
		ET_TEST(tampered_events),
		ET_TEST(the_ground_is_taken_away),
		ET_TEST(an_object_replaces_itself),
		ET_TEST(an_object_is_replaced_where_it_starts_another),
		ET_TEST(an_object_is_replaced_before_its_call),
		ET_TEST(an_object_is_replaced_when_a_core_comes),
	};

	return ST_RUN("em-hostile", tests);
}
