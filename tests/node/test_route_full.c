/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Internet's tables of the examples, and tables at the limits: loaded, checked against a
 * search in the files' own lines, refused, undone, taken down. Times are printed; with WEIR_TEST_PERF=1
 * they are tested too.
 *
 *     test_route_full DIRECTORY-OF-THE-EXAMPLES'-DATA
 */

#include <errno.h>

#include <zlib.h>

#include "test_route_util.h"

#define LOAD_BOUND_NS UINT64_C(2000000000)
#define NB_PROBES     100000

static const char *directory;

struct line {
	struct weir_node_route_key key;
	uint32_t hop;
	uint8_t length;
};

struct lines {
	struct line *lines;
	size_t nb;
	uint8_t version;
};

static int
line_compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->key.hi != y->key.hi)
		return x->key.hi < y->key.hi ? -1 : 1;
	if (x->key.lo != y->key.lo)
		return x->key.lo < y->key.lo ? -1 : 1;
	return (int)x->length - (int)y->length;
}

static void
file_path(uint8_t version, char *path, size_t size)
{
	snprintf(path, size, "%s/ipv%u-bgp.txt.gz", directory, version);
}

/* The file, read apart from the library's reader. */
static struct lines
lines_read(uint8_t version)
{
	struct lines lines = {.version = version};
	struct weir_node_prefix prefix;
	char path[512], text[128], *blank;
	gzFile file;

	file_path(version, path, sizeof(path));
	file = gzopen(path, "rb");
	assert_non_null(file);
	lines.lines = calloc(1000000, sizeof(*lines.lines));
	assert_non_null(lines.lines);
	while (gzgets(file, text, sizeof(text)) != NULL) {
		blank = strchr(text, ' ');
		assert_non_null(blank);
		*blank = '\0';
		prefix = test_prefix(text);
		lines.lines[lines.nb++] = (struct line){
			.key = weir_node_route_key_of(version, prefix.address),
			.length = prefix.length,
			.hop = (uint32_t)atoi(blank + 1),
		};
	}
	gzclose(file);
	qsort(lines.lines, lines.nb, sizeof(*lines.lines), line_compare);
	return lines;
}

static uint32_t
lines_lookup(const struct lines *lines, struct weir_node_route_key key)
{
	struct line want = {.hop = 0}, *found;
	int length;

	for (length = lines->version == 4 ? 32 : 128; length >= 0; length--) {
		want.key = weir_node_route_key_cut(key, (unsigned int)length);
		want.length = (uint8_t)length;
		found = bsearch(&want, lines->lines, lines->nb, sizeof(want), line_compare);
		if (found != NULL)
			return found->hop;
	}
	return WEIR_NODE_NO_ROUTE;
}

static uint64_t
report(const char *what, uint64_t begin)
{
	uint64_t took = weir_base_time_ns() - begin;

	print_message("%s: %.3f s\n", what, (double)took * 1e-9);
	return took;
}

static bool
is_perf(void)
{
	return getenv("WEIR_TEST_PERF") != NULL;
}

static uint64_t
load(uint8_t version)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	uint64_t begin = weir_base_time_ns();
	char path[512];
	int64_t nb;

	file_path(version, path, sizeof(path));
	nb = weir_node_route_file_read(path, 0, batch, NULL, NULL);
	assert_int_equal(nb, version == 4 ? 901899 : 160147);
	assert_int_equal(weir_node_route_batch_commit(batch), 0);
	return report(
		version == 4 ? "IPv4 table read and loaded" : "IPv6 table read and loaded", begin);
}

/* Look one address up in both copies. */
static void
assert_leads_to(uint8_t version, const struct weir_node_route_key *key, uint32_t want)
{
	const struct weir_node_route_table *table = &weir_node_route_state.table[version == 6];
	uint32_t address = (uint32_t)(key->hi >> 32), hop, copy;
	struct weir_node_prefix prefix;
	uint8_t address6[1][16];

	weir_node_route_key_prefix(6, *key, 128, &prefix);
	memcpy(address6[0], prefix.address, 16);
	for (copy = 0; copy < 2; copy++) {
		if (version == 4)
			weir_node_lookup4_select(WEIR_NODE_LOOKUP_BEST, table->fib[copy].wide)(
				table->fib[copy].slots, &address, &hop, 1);
		else
			weir_node_lookup6_select(WEIR_NODE_LOOKUP_BEST, table->fib[copy].wide)(
				table->fib[copy].slots, (const uint8_t(*)[16])address6, &hop, 1);
		assert_int_equal(hop, want);
	}
}

static void
check(const struct lines *lines)
{
	uint64_t random = test_seed();
	struct weir_node_route_key key;
	unsigned int i, length;

	for (i = 0; i < NB_PROBES; i++) {
		const struct line *line = &lines->lines[test_random(&random) % lines->nb];

		key = line->key;
		/* Random host bits, or one bit of the prefix wrong. */
		length = line->length;
		if (i % 4 == 0)
			key.hi ^= UINT64_C(1) << (63 - test_random(&random) % RTE_MIN(length, 64U));
		if (length < 64)
			key.hi |= test_random(&random) >> length;
		if (lines->version == 4)
			key.hi &= UINT64_C(0xffffffff) << 32;
		else if (length <= 64)
			key.lo = test_random(&random);
		assert_leads_to(lines->version, &key, lines_lookup(lines, key));
	}
}

static void
delete_all(const struct lines *lines)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	struct weir_node_route_table *table = &weir_node_route_state.table[lines->version == 6];
	struct weir_node_prefix prefix;
	uint64_t begin;
	size_t i;

	for (i = 0; i < lines->nb; i++) {
		weir_node_route_key_prefix(
			lines->version, lines->lines[i].key, lines->lines[i].length, &prefix);
		assert_int_equal(weir_node_route_batch_delete(batch, &prefix), 0);
	}
	begin = weir_base_time_ns();
	assert_int_equal(weir_node_route_batch_commit(batch), 0);
	report("all deleted", begin);
	assert_int_equal(table->rib.nb_routes, 0);
	assert_int_equal(table->rib.root, 0);
	assert_int_equal(table->fib[0].used_groups, 0);
	assert_int_equal(table->fib[1].used_groups, 0);
	for (i = 0; i < lines->nb; i += 7)
		assert_leads_to(lines->version, &lines->lines[i].key, WEIR_NODE_NO_ROUTE);
}

static void
full_table(uint8_t version)
{
	struct lines lines = lines_read(version);
	struct weir_node_route_info info;
	uint64_t took, begin;

	test_tables(NULL, 16);
	took = load(version);
	if (is_perf())
		assert_true(took < LOAD_BOUND_NS);
	weir_node_route_info(&info);
	assert_int_equal(version == 4 ? info.ip4_routes : info.ip6_routes, lines.nb);
	print_message("groups: %u\n", version == 4 ? info.ip4_long_groups : info.ip6_groups);
	check(&lines);
	begin = weir_base_time_ns();
	assert_int_equal(test_add(version == 4 ? "0.0.0.0/0" : "::/0", 15), 0);
	report("default route added", begin);
	assert_int_equal(test_lookup(version == 4 ? "10.1.1.1" : "fd00::1"), 15);
	begin = weir_base_time_ns();
	assert_int_equal(test_delete(version == 4 ? "0.0.0.0/0" : "::/0"), 0);
	report("default route deleted", begin);
	check(&lines);
	begin = weir_base_time_ns();
	assert_int_equal(test_add(version == 4 ? "10.1.1.0/24" : "fd00::/48", 15), 0);
	report("one route added", begin);
	assert_int_equal(test_delete(version == 4 ? "10.1.1.0/24" : "fd00::/48"), 0);
	(void)load(version); /* again: every route is replaced by itself */
	check(&lines);
	delete_all(&lines);
	weir_node_route_fini();
	free(lines.lines);
}

static void
test_ip4(void **state)
{
	(void)state;
	full_table(4);
}

static void
test_ip6(void **state)
{
	(void)state;
	full_table(6);
}

/* As many routes as the limits say, of random prefixes; one more is refused, with the whole batch. */
static void
at_limit(uint8_t version, uint32_t limit)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	struct weir_node_route_table *table = &weir_node_route_state.table[version == 6];
	struct weir_node_route_key key = {0, 0};
	struct weir_node_prefix prefix;
	uint32_t i, length = version == 4 ? 24 : 32;
	uint64_t begin;

	test_tables(NULL, 16);
	/* Distinct, scattered: an odd factor permutes the numbers of `length` bits. */
	for (i = 0; i < limit; i++) {
		key.hi = ((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15)) << (64 - length);
		weir_node_route_key_prefix(version, key, (uint8_t)length, &prefix);
		assert_int_equal(weir_node_route_batch_add(batch, &prefix, i % 16), 0);
	}
	begin = weir_base_time_ns();
	assert_int_equal(weir_node_route_batch_commit(batch), 0);
	begin = report(
		version == 4 ? "1,048,576 scattered IPv4 routes" : "262,144 scattered IPv6 routes",
		begin);
	if (is_perf())
		assert_true(begin < LOAD_BOUND_NS);
	assert_int_equal(table->rib.nb_routes, limit);
	batch = weir_node_route_batch_begin();
	for (i = 0; i < 100000; i++) {
		key.hi = ((uint64_t)(i + limit - 1000) * UINT64_C(0x9e3779b97f4a7c15))
			 << (64 - length);
		weir_node_route_key_prefix(version, key, (uint8_t)length, &prefix);
		assert_int_equal(weir_node_route_batch_add(batch, &prefix, 3), 0);
	}
	assert_int_equal(weir_node_route_batch_commit(batch), -ENOSPC);
	assert_int_equal(table->rib.nb_routes, limit);
	for (i = 0; i < limit; i += 11) {
		key.hi = ((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15)) << (64 - length);
		assert_leads_to(version, &key, i % 16);
	}
	weir_node_route_fini();
}

static void
test_ip4_limit(void **state)
{
	(void)state;
	at_limit(4, 1 << 20);
}

static void
test_ip6_limit(void **state)
{
	(void)state;
	at_limit(6, 1 << 18);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ip4),
		cmocka_unit_test(test_ip6),
		cmocka_unit_test(test_ip4_limit),
		cmocka_unit_test(test_ip6_limit),
	};

	if (argc < 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	directory = argv[1];
	return cmocka_run_group_tests_name("route full", tests, NULL, NULL);
}
