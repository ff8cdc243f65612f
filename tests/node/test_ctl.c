/* SPDX-License-Identifier: BSD-3-Clause */

/* The commands on the control socket: what they answer, and what they refuse. */

#include <errno.h>

#include "node_test.h"

#include "../base/ctl_ask.h"

static struct frame frame;

static int
up(void **state)
{
	return !ctl_up("node") || weir_node_ctl_register(ctl) < 0 ? -1 : test_router_up(state);
}

static int
down(void **state)
{
	ctl_down();
	return test_router_down(state);
}

static void
refuse(const char *command, const char *args, int rc, const char *why)
{
	json_t *result = ask(command, args, rc);

	if (strstr(json_string_value(result), why) == NULL)
		fail_msg("'%s' does not say '%s'", json_string_value(result), why);
	json_decref(result);
}

static void
accept(const char *command, const char *args)
{
	json_t *result = ask(command, args, 0);

	assert_true(json_is_true(result));
	json_decref(result);
}

static json_int_t
count_of(const json_t *list, const char *name, const char *key)
{
	const json_t *entry;
	size_t i;

	json_array_foreach (list, i, entry)
		if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0)
			return json_integer_value(json_object_get(entry, key));
	fail_msg("no '%s'", name);
	return -1;
}

static void
test_counters(void **state)
{
	static struct frame got;
	json_t *before = ask("node/ports", NULL, 0), *ports, *reasons, *totals;

	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
	test_send(TEST_LEFT, &frame);
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "11.0.0.1", 26);
	test_send(TEST_LEFT, &frame);
	test_walk();
	assert_true(test_receive(TEST_RIGHT, &got));
	ports = ask("node/ports", NULL, 0);
	assert_int_equal(json_array_size(ports), TEST_NB_PORTS);
	assert_int_equal(
		count_of(ports, "left", "rx_packets") - count_of(before, "left", "rx_packets"), 2);
	assert_int_equal(
		count_of(ports, "left", "rx_bytes") - count_of(before, "left", "rx_bytes"), 120);
	assert_int_equal(
		count_of(ports, "right", "tx_packets") - count_of(before, "right", "tx_packets"),
		1);
	assert_int_equal(count_of(ports, "tagged", "vlan"), TEST_VLAN);
	assert_int_equal(count_of(ports, "narrow", "mtu"), TEST_NARROW_MTU);
	reasons = ask("node/reasons", NULL, 0);
	assert_int_equal(json_array_size(reasons), WEIR_NODE_REASON_COUNT);
	assert_int_equal(count_of(reasons, "ip4_no_route", "packets"), 1);
	totals = ask("node/totals", NULL, 0);
	assert_int_equal(json_integer_value(json_object_get(totals, "received")), 2);
	assert_int_equal(json_integer_value(json_object_get(totals, "sent")), 1);
	assert_int_equal(json_integer_value(json_object_get(totals, "dropped")), 1);
	json_decref(before);
	json_decref(ports);
	json_decref(reasons);
	json_decref(totals);
}

static void
test_routes(void **state)
{
	json_t *found;

	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "11.0.0.1", 26);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_NO_ROUTE);
	accept("route/add", "{'prefix': '11.0.0.0/8', 'hop': 1}");
	expect_forwarded(TEST_LEFT, &frame, TEST_TAGGED);
	found = ask("route/lookup", "{'address': '11.2.3.4'}", 0);
	assert_string_equal(json_string_value(json_object_get(found, "prefix")), "11.0.0.0/8");
	assert_int_equal(json_integer_value(json_object_get(found, "hop")), 1);
	json_decref(found);
	accept("route/add", "{'prefix': '11.0.0.0/8', 'hop': 0}");
	expect_forwarded(TEST_LEFT, &frame, TEST_RIGHT);
	accept("route/delete", "{'prefix': '11.0.0.0/8'}");
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_NO_ROUTE);
	refuse("route/delete", "{'prefix': '11.0.0.0/8'}", -ENOENT, "no such route");
	refuse("route/add", "{'prefix': '11.0.0.0/8', 'hop': 60}", -ENOENT, "no such next hop");
	refuse("route/add", "{'prefix': '11.0.0.0/8', 'hop': -1}", -EINVAL, "number of a next hop");
	refuse("route/add", "{'prefix': '11.0.0.0/8', 'hop': '1'}", -EINVAL,
		"number of a next hop");
	refuse("route/add", "{'prefix': '11.0.0.0/33', 'hop': 1}", -EINVAL, "");
	refuse("route/add", "{'prefix': 11, 'hop': 1}", -EINVAL, "expected");
	refuse("route/add", NULL, -EINVAL, "expected");
	refuse("route/lookup", "{'address': '11.2.3.4'}", -ENOENT, "no prefix matches");
	refuse("route/lookup", "{'address': 'here'}", -EINVAL, "expected");
	refuse("route/lookup", "{}", -EINVAL, "expected");
	found = ask("node/routes", NULL, 0);
	assert_int_equal(json_integer_value(json_object_get(found, "ip4_routes")), 7);
	assert_int_equal(json_integer_value(json_object_get(found, "ip6_routes")), 6);
	json_decref(found);
}

static void
test_neighbours(void **state)
{
	accept("neighbour/add", "{'id': 9, 'port': 'right', 'mac': '02:bb:00:00:00:01'}");
	accept("route/add", "{'prefix': '11.0.0.0/8', 'hop': 9}");
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "11.0.0.1", 26);
	expect_forwarded(TEST_LEFT, &frame, TEST_RIGHT);
	refuse("neighbour/delete", "{'id': 9}", -EBUSY, "routes lead to it");
	accept("neighbour/add", "{'id': 9, 'kind': 'blackhole'}");
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_BLACKHOLE);
	accept("neighbour/add", "{'id': 9, 'kind': 'local'}");
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_OWN);
	accept("neighbour/add", "{'id': 9, 'kind': 'incomplete', 'port': 'right'}");
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_NO_NEIGHBOUR);
	accept("route/delete", "{'prefix': '11.0.0.0/8'}");
	accept("neighbour/delete", "{'id': 9}");
	refuse("neighbour/delete", "{'id': 9}", -ENOENT, "no such neighbour");
	refuse("neighbour/add", "{'id': 9, 'kind': 'rabbit'}", -EINVAL, "one of forward");
	refuse("neighbour/add", "{'id': 9, 'kind': 3}", -EINVAL, "one of forward");
	refuse("neighbour/add", "{'id': 9, 'port': 'nowhere', 'mac': '02:bb:00:00:00:01'}", -EINVAL,
		"names no port");
	refuse("neighbour/add", "{'id': 9, 'port': 'right'}", -EINVAL, "expected \"mac\"");
	refuse("neighbour/add", "{'id': 9, 'port': 'right', 'mac': '02:bb'}", -EINVAL,
		"expected \"mac\"");
	refuse("neighbour/add", "{'id': 64, 'kind': 'local'}", -EINVAL, "limit");
}

static void
test_punt_capture(void **state)
{
	accept("punt/capture", "{'file': '/dev/null'}");
	accept("punt/capture", NULL);
	refuse("punt/capture", "{'file': 7}", -EINVAL, "expected");
	refuse("punt/capture", "{'file': '/dev/null/x'}", -ENOTDIR, "");
}

static int
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counters, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_routes, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_neighbours, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_punt_capture, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, up, down);
}

int
main(void)
{
	return test_main("test_ctl", run);
}
