/* SPDX-License-Identifier: BSD-3-Clause */

/* The typed registry: what may be bound to what, and where messages go. */

#include "../base/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>

#include "weir_base.h"
#include "weir_readout_registry.h"

#include "../base/log_last.h"

struct message {
	uint32_t from, number, rest;
};

static const struct weir_readout_type type = {"message", sizeof(struct message), 1};
static struct weir_readout_registry *registry;
static struct message got[64];
static uint32_t nb_got, nb_calls;
static uint32_t which;

static void
receive(void *arg, const void *messages, uint32_t nb)
{
	assert_ptr_equal(arg, &which);
	assert_true(nb_got + nb <= 64);
	memcpy(&got[nb_got], messages, nb * sizeof(got[0]));
	nb_got += nb;
	nb_calls++;
}

static int
setup(void **state)
{
	nb_got = nb_calls = 0;
	registry = weir_readout_registry_create();
	assert_non_null(registry);
	return 0;
}

static int
teardown(void **state)
{
	weir_readout_registry_free(registry);
	return 0;
}

static struct weir_readout_sink *
add_callback(const char *name, bool shared)
{
	return weir_readout_sink_create(registry, &(struct weir_readout_sink_config){.name = name,
							  .type = &type,
							  .shared = shared,
							  .receive = receive,
							  .arg = &which});
}

static struct weir_readout_sink *
add_queue(const char *name, bool shared, uint32_t size)
{
	return weir_readout_sink_create(registry, &(struct weir_readout_sink_config){.name = name,
							  .type = &type,
							  .shared = shared,
							  .arg = &which,
							  .queue_size = size,
							  .discard = receive});
}

static struct weir_readout_source *
add_source(const char *name, const char *sink)
{
	return weir_readout_source_create(registry,
		&(struct weir_readout_source_config){.name = name, .sink = sink, .type = &type});
}

static void
expect_stats(const struct weir_readout_source *source, uint64_t delivered, uint64_t queue_full,
	uint64_t unbound)
{
	struct weir_readout_source_stats stats;

	weir_readout_source_stats(source, &stats);
	assert_int_equal(stats.sent, delivered + queue_full + unbound);
	assert_int_equal(stats.delivered, delivered);
	assert_int_equal(stats.queue_full, queue_full);
	assert_int_equal(stats.unbound, unbound);
}

static const struct message messages[] = {{1, 1, 7}, {1, 2, 8}, {1, 3, 9}};

static void
callback(void **state)
{
	struct weir_readout_source *source = add_source("from", "to");

	assert_non_null(source);
	assert_int_equal(weir_readout_source_send(source, messages, 2), 0); /* not bound yet */
	assert_non_null(add_callback("to", false));
	assert_int_equal(weir_readout_registry_bind(registry), 0);
	assert_int_equal(weir_readout_source_send(source, messages, 3), 3);
	assert_int_equal(weir_readout_source_send(source, messages, 0), 0);
	assert_int_equal(nb_calls, 1);
	assert_int_equal(nb_got, 3);
	assert_memory_equal(got, messages, sizeof(messages));
	expect_stats(source, 3, 0, 2);
}

static void
queue(void **state)
{
	struct weir_readout_sink *sink = add_queue("to", false, 2);
	struct weir_readout_source *source = add_source("from", "to");
	struct weir_readout_sink_stats stats;
	struct message taken[4];

	assert_int_equal(weir_readout_registry_bind(registry), 0);
	assert_int_equal(weir_readout_source_send(source, messages, 3), 2);
	weir_readout_sink_stats(sink, &stats);
	assert_int_equal(stats.queued, 2);
	assert_int_equal(stats.sources, 1);
	assert_int_equal(weir_readout_sink_receive(sink, taken, 4), 2);
	assert_memory_equal(taken, messages, 2 * sizeof(taken[0]));
	assert_int_equal(weir_readout_sink_receive(sink, taken, 4), 0);
	assert_int_equal(weir_readout_source_send(source, &messages[2], 1), 1);
	weir_readout_sink_stats(sink, &stats);
	assert_int_equal(stats.queued, 1);
	assert_int_equal(stats.received, 2);
	expect_stats(source, 3, 1, 0);
	assert_int_equal(nb_got, 0);

	/* What nobody took is discarded. */
	assert_int_equal(weir_readout_sink_free(sink), -EBUSY);
	assert_int_equal(weir_readout_source_bind(source, NULL), 0);
	assert_int_equal(weir_readout_sink_free(sink), 0);
	assert_int_equal(nb_got, 1);
	assert_memory_equal(got, &messages[2], sizeof(got[0]));
	assert_null(weir_readout_sink_find(registry, "to"));
}

static void
callback_has_no_queue(void **state)
{
	struct weir_readout_sink *sink = add_callback("to", false);
	struct message taken;

	assert_int_equal(weir_readout_sink_receive(sink, &taken, 1), 0);
}

static void
many_to_one(void **state)
{
	struct weir_readout_sink *sink = add_queue("to", true, 8);
	struct weir_readout_source *one = add_source("one", "to"), *two = add_source("two", "to");
	struct weir_readout_sink_stats stats;
	struct message taken[8];

	assert_int_equal(weir_readout_registry_bind(registry), 0);
	weir_readout_sink_stats(sink, &stats);
	assert_int_equal(stats.sources, 2);
	assert_int_equal(weir_readout_source_send(one, &messages[0], 1), 1);
	assert_int_equal(weir_readout_source_send(two, &messages[1], 2), 2);
	assert_int_equal(weir_readout_sink_receive(sink, taken, 8), 3);
	assert_memory_equal(taken, messages, sizeof(messages));
	weir_readout_source_free(one);
	weir_readout_sink_stats(sink, &stats);
	assert_int_equal(stats.sources, 1);
	assert_null(weir_readout_source_find(registry, "one"));
	assert_ptr_equal(weir_readout_source_find(registry, "two"), two);
}

static void
rebind(void **state)
{
	struct weir_readout_sink *other = add_queue("other", false, 4);
	struct weir_readout_source *source = add_source("from", "to");
	struct message taken;

	assert_non_null(add_callback("to", false));
	assert_int_equal(weir_readout_registry_bind(registry), 0);
	assert_int_equal(weir_readout_source_send(source, &messages[0], 1), 1);
	assert_int_equal(weir_readout_source_bind(source, "other"), 0);
	assert_int_equal(weir_readout_source_bind(source, "other"), 0); /* as it is */
	assert_int_equal(weir_readout_source_send(source, &messages[1], 1), 1);
	assert_int_equal(nb_got, 1);
	assert_int_equal(weir_readout_sink_receive(other, &taken, 1), 1);
	assert_int_equal(weir_readout_source_bind(source, "nowhere"), -ENOENT);
	assert_int_equal(weir_readout_source_send(source, &messages[2], 1), 1); /* as before */
	assert_int_equal(weir_readout_source_bind(source, NULL), 0);
	assert_int_equal(weir_readout_registry_bind(registry), 0); /* it wants none */
	assert_int_equal(weir_readout_source_send(source, messages, 3), 0);
	expect_stats(source, 3, 0, 3);
}

static void
missing(void **state)
{
	struct weir_readout_source *good = add_source("good", "to");

	assert_non_null(good);
	assert_non_null(add_source("bad", "nowhere"));
	assert_non_null(add_callback("to", false));
	assert_int_equal(weir_readout_registry_bind(registry), -ENOENT);
	assert_string_equal(log_message, "source 'bad': there is no sink 'nowhere'");
	assert_int_equal(weir_readout_source_send(good, messages, 1), 1);
}

static void
mismatch(void **state)
{
	static const struct weir_readout_type types[] = {
		{"Message", sizeof(struct message), 1},
		{"message", sizeof(struct message) + 4, 1},
		{"message", sizeof(struct message), 2},
	};
	struct weir_readout_source *source;
	char text[160];

	assert_non_null(add_callback("to", true));
	for (unsigned int i = 0; i < 3; i++) {
		source = weir_readout_source_create(
			registry, &(struct weir_readout_source_config){
					  .name = "from", .sink = "to", .type = &types[i]});
		assert_non_null(source);
		assert_int_equal(weir_readout_registry_bind(registry), -EPROTOTYPE);
		snprintf(text, sizeof(text),
			"source 'from' sends '%s' version %u of %u bytes; sink 'to' expects "
			"'message' version 1 of 12 bytes",
			types[i].name, types[i].version, types[i].size_bytes);
		assert_string_equal(log_message, text);
		assert_int_equal(weir_readout_source_send(source, messages, 1), 0);
		weir_readout_source_free(source);
	}
	assert_int_equal(nb_got, 0);
}

static void
duplicates(void **state)
{
	assert_non_null(add_callback("to", false));
	assert_null(add_queue("to", false, 2));
	assert_int_equal(rte_errno, EEXIST);
	assert_string_equal(log_message, "there is a sink 'to' already");
	assert_non_null(add_source("one", "to"));
	assert_null(add_source("one", "to"));
	assert_int_equal(rte_errno, EEXIST);
	assert_string_equal(log_message, "there is a source 'one' already");
	assert_int_equal(weir_readout_registry_bind(registry), 0);
	assert_non_null(add_source("two", "to"));
	assert_int_equal(weir_readout_registry_bind(registry), -EADDRINUSE);
	assert_string_equal(log_message,
		"source 'two': sink 'to' is not shared, and source 'one' is bound to it");
}

static void
expect_sink_refused(const struct weir_readout_sink_config *config, const char *why)
{
	assert_null(weir_readout_sink_create(registry, config));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(log_message, why);
}

static void
refused(void **state)
{
	static const struct weir_readout_type odd = {"odd", 6, 1}, empty = {"empty", 0, 1},
					      nameless = {"", 4, 1};
	char longer[WEIR_READOUT_NAME_MAX + 1];

	memset(longer, 'a', sizeof(longer));
	longer[WEIR_READOUT_NAME_MAX] = '\0';
	expect_sink_refused(&(struct weir_readout_sink_config){.type = &type, .queue_size = 1},
		"a sink needs a name of 1 up to 63 bytes");
	expect_sink_refused(
		&(struct weir_readout_sink_config){.name = longer, .type = &type, .queue_size = 1},
		"a sink needs a name of 1 up to 63 bytes");
	expect_sink_refused(&(struct weir_readout_sink_config){.name = "to", .queue_size = 1},
		"sink 'to': its type needs a name of 1 up to 63 bytes");
	expect_sink_refused(
		&(struct weir_readout_sink_config){
			.name = "to", .type = &nameless, .queue_size = 1},
		"sink 'to': its type needs a name of 1 up to 63 bytes");
	expect_sink_refused(
		&(struct weir_readout_sink_config){.name = "to", .type = &odd, .queue_size = 1},
		"sink 'to': messages of type 'odd' have 6 bytes, expected a multiple of 4");
	expect_sink_refused(
		&(struct weir_readout_sink_config){.name = "to", .type = &empty, .queue_size = 1},
		"sink 'to': messages of type 'empty' have 0 bytes, expected a multiple of 4");
	expect_sink_refused(&(struct weir_readout_sink_config){.name = "to", .type = &type},
		"sink 'to': a queue of 0 messages, expected 1 up to 16777216");
	expect_sink_refused(
		&(struct weir_readout_sink_config){
			.name = "to", .type = &type, .receive = receive, .queue_size = 1},
		"sink 'to' has a callback and a queue, expected one of them");
	assert_null(add_source("from", longer));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(log_message, "source 'from': its sink's name needs 1 up to 63 bytes");
	assert_null(add_source("", "to"));
	assert_int_equal(rte_errno, EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(callback, setup, teardown),
		cmocka_unit_test_setup_teardown(queue, setup, teardown),
		cmocka_unit_test_setup_teardown(callback_has_no_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(many_to_one, setup, teardown),
		cmocka_unit_test_setup_teardown(rebind, setup, teardown),
		cmocka_unit_test_setup_teardown(missing, setup, teardown),
		cmocka_unit_test_setup_teardown(mismatch, setup, teardown),
		cmocka_unit_test_setup_teardown(duplicates, setup, teardown),
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
	};

	log_listen();
	return cmocka_run_group_tests_name("readout-registry", tests, NULL, NULL);
}
