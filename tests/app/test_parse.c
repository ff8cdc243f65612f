/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of description files that the program itself takes apart. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "hops.h"
#include "weir_base_nodes.h"

static void
ids(void **state)
{
	static const struct {
		const char *text;
		uint32_t first, last;
	} good[] = {
		{"0", 0, 0},
		{"7", 7, 7},
		{"0-3", 0, 3},
		{"5-5", 5, 5},
		{"4294967295", UINT32_MAX, UINT32_MAX},
		{"007", 7, 7},
	};
	static const char *const bad[] = {"", "-", "-1", "1-", "3-1", "1-2-3", "a", "1a", "1 ",
		" 1", "1,2", "4294967296", "99999999999999999999", "0x1", "1.5"};
	uint32_t first, last;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(hops_parse_ids(good[i].text, &first, &last), 0);
		assert_int_equal(first, good[i].first);
		assert_int_equal(last, good[i].last);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (hops_parse_ids(bad[i], &first, &last) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
}

static void
edges(void **state)
{
	static const char *const good[][4] = {
		{"classify.ip4 -> ip4_lookup", "classify", "ip4", "ip4_lookup"},
		{"a.b->c", "a", "b", "c"},
		{"  a . b  ->  c  ", "a", "b", "c"},
		{"ethdev_rx-0-1.classify -> drop-mine", "ethdev_rx-0-1", "classify", "drop-mine"},
		{"dotted.name.edge -> x", "dotted.name", "edge", "x"},
		{"a.b -> c.d", "a", "b", "c.d"},
	};
	static const char *const bad[] = {"", "->", "a", "a.b", "a -> b", "a. -> b", ".b -> c",
		"a.b ->", "a.b -> c d", "a x.b -> c", "a.b -> c -> d", "a.b - > c",
		("a.b -> "
		 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")};
	struct weir_base_node_edge edge;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (weir_base_node_edge_parse(good[i][0], &edge) != 0)
			fail_msg("'%s' was refused", good[i][0]);
		assert_string_equal(edge.from, good[i][1]);
		assert_string_equal(edge.edge, good[i][2]);
		assert_string_equal(edge.to, good[i][3]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (weir_base_node_edge_parse(bad[i], &edge) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids),
		cmocka_unit_test(edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
