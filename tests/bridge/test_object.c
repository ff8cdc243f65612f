/* SPDX-License-Identifier: BSD-3-Clause */

/* Execution objects of description files: those that are built in, and plug-ins. */

#include "bridge_test.h"

static const char *plugin;
static struct weir_em_core *core;
static struct weir_bridge_object *objects[4];
static unsigned int nb_objects;

static int
teardown(void **state)
{
	if (core != NULL)
		weir_em_core_detach(core);
	core = NULL;
	while (nb_objects > 0)
		weir_bridge_object_destroy(objects[--nb_objects]);
	return bt_teardown(state);
}

static struct weir_bridge_object *
make(struct weir_bridge_object_param param, const weir_em_queue *queue)
{
	struct weir_bridge_object *object;

	param.em = bt_em;
	param.queues = queue;
	param.nb_queues = 1;
	object = weir_bridge_object_create(&param);
	if (object == NULL)
		fail_msg("not made: %s", st_log_last());
	return objects[nb_objects++] = object;
}

static void
send_packets(weir_em_queue queue, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		struct rte_event event = weir_em_event_from_mbuf(bt_em, bt_packet(i % BT_FLOWS, i));

		assert_int_equal(weir_em_send(core, queue, &event, 1), 1);
	}
}

static void
dispatch(void)
{
	while (weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_rounds = 8}) > 0)
		;
}

/* forward -> count -> drop */
static void
test_built_in(void **state)
{
	struct weir_bridge_object_stats stats;
	weir_em_queue first, flows[4], last;
	uint64_t parted = 0;

	bt_make((struct weir_em_config){.nb_cores = 1});
	first = bt_queue("first", WEIR_EM_QUEUE_ORDERED);
	for (int i = 0; i < 4; i++)
		flows[i] = bt_queue("flow", WEIR_EM_QUEUE_ATOMIC);
	last = bt_queue("last", WEIR_EM_QUEUE_PARALLEL);
	make(
		(struct weir_bridge_object_param){
			.name = "f", .builtin = WEIR_BRIDGE_FORWARD, .to = flows, .nb_to = 4},
		&first);
	for (int i = 0; i < 3; i++)
		make(
			(struct weir_bridge_object_param){
				.name = "c", .builtin = WEIR_BRIDGE_COUNT, .to = &last, .nb_to = 1},
			&flows[i]);
	core = weir_em_core_attach(bt_em, 0);
	send_packets(first, 256);
	dispatch(); /* what goes to the last flow, which is nobody's, is dropped by the machine */
	weir_bridge_object_stats(objects[0], &stats);
	assert_int_equal(stats.nb_events, 256);
	assert_int_equal(stats.nb_forwarded, 256);
	assert_int_equal(stats.nb_freed, 0);
	for (int i = 1; i < 4; i++) {
		weir_bridge_object_stats(objects[i], &stats);
		assert_int_equal(stats.nb_bytes, stats.nb_events * 50);
		assert_int_equal(stats.nb_forwarded, stats.nb_events);
		assert_int_not_equal(stats.nb_events, 256);
		parted += stats.nb_events;
	}
	assert_in_range(parted, 64, 255);
}

static void
test_drop(void **state)
{
	struct weir_bridge_object_stats stats;
	weir_em_queue queue, other;

	bt_make((struct weir_em_config){.nb_cores = 1});
	queue = bt_queue("q", WEIR_EM_QUEUE_ATOMIC);
	other = bt_queue("p", WEIR_EM_QUEUE_ATOMIC);
	make((struct weir_bridge_object_param){.name = "d", .builtin = WEIR_BRIDGE_DROP}, &queue);
	make((struct weir_bridge_object_param){.name = "c", .builtin = WEIR_BRIDGE_COUNT}, &other);
	core = weir_em_core_attach(bt_em, 0);
	send_packets(queue, 100);
	send_packets(other, 10);
	dispatch();
	weir_bridge_object_stats(objects[0], &stats);
	assert_int_equal(stats.nb_freed, 100);
	weir_bridge_object_stats(objects[1], &stats);
	assert_int_equal(stats.nb_freed, 10);
	assert_int_equal(stats.nb_bytes, 500);
	assert_int_equal(rte_mempool_in_use_count(bt_pool), 0);
}

/* The queue to forward to has gone: packets are freed, and counted. */
static void
test_closed(void **state)
{
	struct weir_bridge_object_stats stats;
	weir_em_queue queue, to;

	bt_make((struct weir_em_config){.nb_cores = 1});
	queue = bt_queue("q", WEIR_EM_QUEUE_ATOMIC);
	to = bt_queue("to", WEIR_EM_QUEUE_ATOMIC);
	make(
		(struct weir_bridge_object_param){
			.name = "f", .builtin = WEIR_BRIDGE_FORWARD, .to = &to, .nb_to = 1},
		&queue);
	core = weir_em_core_attach(bt_em, 0);
	assert_int_equal(weir_em_queue_delete(bt_em, to), 0);
	send_packets(queue, 20);
	dispatch();
	weir_bridge_object_stats(objects[0], &stats);
	assert_int_equal(stats.nb_closed, 20);
	assert_int_equal(stats.nb_forwarded, 0);
	assert_int_equal(rte_mempool_in_use_count(bt_pool), 0);
}

static void
test_plugin(void **state)
{
	struct weir_bridge_object_stats stats;
	const struct weir_bridge_object_type *type;
	weir_em_queue queue, to;
	const char *why;

	bt_make((struct weir_em_config){.nb_cores = 1});
	queue = bt_queue("q", WEIR_EM_QUEUE_ATOMIC);
	to = bt_queue("to", WEIR_EM_QUEUE_ATOMIC);
	type = weir_bridge_object_load(plugin, "thin_out", &why);
	if (type == NULL)
		fail_msg("%s", why);
	make((struct weir_bridge_object_param){.name = "p", .type = type, .to = &to, .nb_to = 1},
		&queue);
	make((struct weir_bridge_object_param){.name = "c", .builtin = WEIR_BRIDGE_COUNT}, &to);
	core = weir_em_core_attach(bt_em, 0);
	send_packets(queue, 300);
	dispatch();
	weir_bridge_object_stats(objects[0], &stats);
	assert_int_equal(stats.nb_events, 300);
	weir_bridge_object_stats(objects[1], &stats);
	assert_int_equal(stats.nb_events, 200);
}

static void
expect_not_loaded(const char *path, const char *symbol, int error, const char *expected)
{
	const char *why = NULL;

	assert_null(weir_bridge_object_load(path, symbol, &why));
	assert_int_equal(rte_errno, error);
	if (strstr(why, expected) == NULL)
		fail_msg("'%s' lacks '%s'", why, expected);
}

static void
test_bad_plugins(void **state)
{
	expect_not_loaded("/nowhere/plugin.so", "x", ENOENT, "/nowhere/plugin.so");
	expect_not_loaded(plugin, "nothing", ENOENT, "nothing");
	expect_not_loaded(plugin, "old_abi", EINVAL, "version 2");
	expect_not_loaded(plugin, "short_struct", EINVAL, "bytes");
	expect_not_loaded(plugin, "no_receive", EINVAL, "receive");
	expect_not_loaded(NULL, "x", EINVAL, "path");
}

static void
test_bad_objects(void **state)
{
	struct weir_bridge_object_param param = {.name = "x", .builtin = WEIR_BRIDGE_FORWARD};
	weir_em_queue queue, to;
	const char *why;

	bt_make((struct weir_em_config){.nb_cores = 1});
	queue = bt_queue("q", WEIR_EM_QUEUE_ATOMIC);
	to = bt_queue("to", WEIR_EM_QUEUE_ATOMIC);
	param.em = bt_em;
	param.queues = &queue;
	param.nb_queues = 1;
	assert_null(weir_bridge_object_create(NULL));
	assert_null(weir_bridge_object_create(&param)); /* to nowhere */
	assert_int_equal(rte_errno, EINVAL);
	param.builtin = WEIR_BRIDGE_BUILTINS;
	assert_null(weir_bridge_object_create(&param));
	param.type = weir_bridge_object_load(plugin, "thin_out", &why);
	param.to = &to;
	param.nb_to = 1;
	param.argument = "refuse";
	assert_null(weir_bridge_object_create(&param));
	assert_int_equal(rte_errno, EPERM);
	param.argument = NULL;
	make(param, &queue);
	assert_null(weir_bridge_object_create(&param)); /* the queue has an object */
	assert_int_equal(rte_errno, EBUSY);
	weir_bridge_object_destroy(NULL);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_built_in, teardown),
		cmocka_unit_test_teardown(test_drop, teardown),
		cmocka_unit_test_teardown(test_closed, teardown),
		cmocka_unit_test_teardown(test_plugin, teardown),
		cmocka_unit_test_teardown(test_bad_plugins, teardown),
		cmocka_unit_test_teardown(test_bad_objects, teardown),
	};

	plugin = argv[1];
	return ST_RUN("bridge/object", tests);
}
