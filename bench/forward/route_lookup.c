/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What one route look-up costs: ours beside rte_fib and rte_fib6 on the same tables and
 * the same random addresses, in turns, in TSC cycles per look-up.
 *
 *     route_lookup IP4_ROUTES IP6_ROUTES [-- EAL arguments]
 *
 * rte_fib uses AVX-512 only when EAL is told --force-max-simd-bitwidth=512.
 *
 * Addresses are those of random routes of the table with random host bits, and do not repeat
 * within the 2^20 that are looked up in a turn. rte_fib's tables lie in EAL's memory:
 * with --no-huge on 4 KiB pages, where nearly every look-up misses the TLB.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>

#include "route_internal.h"
#include "weir_base_eal.h"

#define NB_ADDRESSES (UINT32_C(1) << 20)
#define NB_TURNS     9
#define NB_HOPS      16
#define MAX_BURST    256

struct routes {
	struct weir_node_prefix *prefixes;
	uint32_t *hops;
	uint32_t nb;
};

static uint32_t *addresses4;
static uint8_t (*addresses6)[16];

static uint64_t
random_next(void)
{
	static uint64_t state = 1;
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int
load(const char *path)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	uint64_t begin = rte_rdtsc();
	int64_t nb =
		batch == NULL ? -ENOMEM : weir_node_route_file_read(path, 0, batch, NULL, NULL);
	int ret;

	if (nb < 0) {
		weir_node_route_batch_abort(batch);
		return (int)nb;
	}
	ret = weir_node_route_batch_commit(batch);
	printf("%s: %" PRId64 " routes in %.3f s\n", path, nb,
		(double)(rte_rdtsc() - begin) / (double)rte_get_tsc_hz());
	return ret;
}

static int
note(void *arg, const struct weir_node_prefix *prefix, uint32_t hop)
{
	struct routes *routes = arg;

	routes->prefixes[routes->nb] = *prefix;
	routes->hops[routes->nb++] = hop;
	return 0;
}

static int
collect(uint8_t version, struct routes *routes)
{
	struct weir_node_route_info info;
	uint32_t nb;

	weir_node_route_info(&info);
	nb = version == 4 ? info.ip4_routes : info.ip6_routes;
	routes->prefixes = calloc(nb + 1, sizeof(*routes->prefixes));
	routes->hops = calloc(nb + 1, sizeof(*routes->hops));
	routes->nb = 0;
	if (routes->prefixes == NULL || routes->hops == NULL)
		return -ENOMEM;
	return weir_node_route_foreach(version, note, routes);
}

static void
make_addresses(const struct routes *routes4, const struct routes *routes6)
{
	uint32_t i, bit;

	for (i = 0; i < NB_ADDRESSES; i++) {
		const struct weir_node_prefix *p4 = &routes4->prefixes[random_next() % routes4->nb];
		const struct weir_node_prefix *p6 = &routes6->prefixes[random_next() % routes6->nb];
		uint32_t address;

		memcpy(&address, p4->address, 4);
		address = __builtin_bswap32(address);
		if (p4->length < 32)
			address |= (uint32_t)random_next() & (UINT32_MAX >> p4->length);
		addresses4[i] = address;
		memcpy(addresses6[i], p6->address, 16);
		for (bit = p6->length; bit < 128; bit++)
			addresses6[i][bit / 8] |=
				(uint8_t)((random_next() >> 40 & 1) << (7 - bit % 8));
	}
}

static struct rte_fib *
make_fib(const struct routes *routes, enum rte_fib_dir24_8_nh_sz size)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8, .default_nh = NB_HOPS, .max_routes = routes->nb + 1};
	uint64_t begin = rte_rdtsc();
	struct rte_fib *fib;
	uint32_t i, address;

	conf.dir24_8.nh_sz = size;
	conf.dir24_8.num_tbl8 = 32767;
	fib = rte_fib_create("peer4", SOCKET_ID_ANY, &conf);
	for (i = 0; fib != NULL && i < routes->nb; i++) {
		memcpy(&address, routes->prefixes[i].address, 4);
		if (rte_fib_add(fib, __builtin_bswap32(address), routes->prefixes[i].length,
			    routes->hops[i]) < 0) {
			rte_fib_free(fib);
			return NULL;
		}
	}
	printf("rte_fib: %u routes in %.3f s\n", routes->nb,
		(double)(rte_rdtsc() - begin) / (double)rte_get_tsc_hz());
	return fib;
}

static struct rte_fib6 *
make_fib6(const struct routes *routes)
{
	struct rte_fib6_conf conf = {
		.type = RTE_FIB6_TRIE, .default_nh = NB_HOPS, .max_routes = (int)routes->nb + 1};
	uint64_t begin = rte_rdtsc();
	struct rte_fib6 *fib;
	uint32_t i;

	conf.trie.nh_sz = RTE_FIB6_TRIE_4B;
	conf.trie.num_tbl8 = 1 << 18;
	fib = rte_fib6_create("peer6", SOCKET_ID_ANY, &conf);
	for (i = 0; fib != NULL && i < routes->nb; i++)
		if (rte_fib6_add(fib, routes->prefixes[i].address, routes->prefixes[i].length,
			    routes->hops[i]) < 0) {
			rte_fib6_free(fib);
			return NULL;
		}
	printf("rte_fib6: %u routes in %.3f s\n", routes->nb,
		(double)(rte_rdtsc() - begin) / (double)rte_get_tsc_hz());
	return fib;
}

/* One way of looking up: a burst starting at address number @p at. */
struct way {
	const char *name;
	void (*lookup)(const struct way *way, uint32_t at, uint32_t nb);
	void *table;
	weir_node_lookup4_t lookup4;
	weir_node_lookup6_t lookup6;
	double best;   /* cycles per look-up, the least of all turns */
	double median; /* and their median */
	double turns[NB_TURNS];
	uint64_t sum; /* of what was found: all ways must agree */
};

static uint64_t checksum;

static void
peer4(const struct way *way, uint32_t at, uint32_t nb)
{
	static uint64_t hops[MAX_BURST];
	uint32_t i;

	rte_fib_lookup_bulk(way->table, addresses4 + at, hops, (int)nb);
	for (i = 0; i < nb; i += 16)
		checksum += hops[i];
}

static void
peer6(const struct way *way, uint32_t at, uint32_t nb)
{
	static uint64_t hops[MAX_BURST];
	uint32_t i;

	rte_fib6_lookup_bulk(way->table, addresses6 + at, hops, (int)nb);
	for (i = 0; i < nb; i += 16)
		checksum += hops[i];
}

static void
ours4(const struct way *way, uint32_t at, uint32_t nb)
{
	static uint32_t hops[MAX_BURST];
	uint32_t i;

	way->lookup4(way->table, addresses4 + at, hops, nb);
	for (i = 0; i < nb; i += 16)
		checksum += hops[i];
}

static void
ours6(const struct way *way, uint32_t at, uint32_t nb)
{
	static uint32_t hops[MAX_BURST];
	uint32_t i;

	way->lookup6(way->table, (const uint8_t(*)[16])addresses6 + at, hops, nb);
	for (i = 0; i < nb; i += 16)
		checksum += hops[i];
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void
measure(struct way *ways, uint32_t nb_ways, uint32_t burst)
{
	uint32_t turn, i, at;
	uint64_t begin;

	for (turn = 0; turn < NB_TURNS; turn++)
		for (i = 0; i < nb_ways; i++) {
			checksum = 0;
			begin = rte_rdtsc_precise();
			for (at = 0; at < NB_ADDRESSES; at += burst)
				ways[i].lookup(&ways[i], at, burst);
			ways[i].turns[turn] = (double)(rte_rdtsc_precise() - begin) / NB_ADDRESSES;
			ways[i].sum = checksum;
		}
	printf("burst %3u:", burst);
	for (i = 0; i < nb_ways; i++) {
		qsort(ways[i].turns, NB_TURNS, sizeof(double), compare);
		printf("  %s %.1f (%.1f)", ways[i].name, ways[i].turns[NB_TURNS / 2],
			ways[i].turns[0]);
		if (ways[i].sum != ways[0].sum)
			printf(" DIFFERS");
	}
	printf("\n");
}

static void
select_ways4(struct way *ways, struct rte_fib *fib, uint32_t burst)
{
	/* rte_fib has one current look-up function: measured apart for each. */
	static const enum rte_fib_lookup_type kinds[] = {RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO,
		RTE_FIB_LOOKUP_DIR24_8_SCALAR_INLINE, RTE_FIB_LOOKUP_DIR24_8_SCALAR_UNI,
		RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512};
	static const char *const names[] = {
		"rte_fib macro", "rte_fib inline", "rte_fib uni", "rte_fib avx512"};
	uint32_t i;

	for (i = 0; i < RTE_DIM(kinds); i++) {
		if (rte_fib_select_lookup(fib, kinds[i]) < 0) {
			printf("%s: not on this CPU\n", names[i]);
			continue;
		}
		ways[0].name = names[i];
		measure(ways, 3, burst);
	}
}

int
main(int argc, char **argv)
{
	struct weir_node_hop hop = {.kind = WEIR_NODE_HOP_BLACKHOLE};
	struct routes routes4, routes6;
	struct rte_fib *fib;
	struct rte_fib6 *fib6;
	int eal, i;
	uint32_t burst;

	for (eal = 1; eal < argc && strcmp(argv[eal], "--") != 0; eal++)
		;
	if (eal < 3) {
		fprintf(stderr, "usage: %s IP4_ROUTES IP6_ROUTES [-- EAL arguments]\n", argv[0]);
		return 2;
	}
	weir_base_eal_clean_up_at_exit();
	if (rte_eal_init(argc - eal, argv + eal) < 0 && eal < argc)
		return 1;
	addresses4 = calloc(NB_ADDRESSES, sizeof(*addresses4));
	addresses6 = calloc(NB_ADDRESSES, sizeof(*addresses6));
	if (addresses4 == NULL || addresses6 == NULL || weir_node_route_init(NULL) < 0)
		return 1;
	for (i = 0; i < NB_HOPS; i++)
		weir_node_hop_set((uint32_t)i, &hop);
	if (load(argv[1]) < 0 || load(argv[2]) < 0 || collect(4, &routes4) < 0 ||
		collect(6, &routes6) < 0)
		return 1;
	make_addresses(&routes4, &routes6);
	fib = make_fib(&routes4, RTE_FIB_DIR24_8_2B);
	fib6 = make_fib6(&routes6);
	if (fib == NULL || fib6 == NULL) {
		fprintf(stderr, "cannot make the peers' tables: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	printf("TSC cycles per look-up: median (least) of %d turns\n", NB_TURNS);
	for (burst = 32; burst <= MAX_BURST; burst *= 2) {
		struct weir_node_fib *ours = &weir_node_route_state.table[0].fib[0];
		struct way ways[3] = {
			{.lookup = peer4, .table = fib},
			{.name = "ours scalar", .lookup = ours4, .table = ours->slots},
			{.name = "ours best", .lookup = ours4, .table = ours->slots},
		};

		ways[1].lookup4 = weir_node_lookup4_select(WEIR_NODE_LOOKUP_SCALAR, ours->wide);
		ways[2].lookup4 = weir_node_lookup4_select(WEIR_NODE_LOOKUP_BEST, ours->wide);
		printf("IPv4 ");
		select_ways4(ways, fib, burst);
	}
	for (burst = 32; burst <= MAX_BURST; burst *= 2) {
		struct weir_node_fib *ours = &weir_node_route_state.table[1].fib[0];
		struct way ways[4] = {
			{.name = "rte_fib6", .lookup = peer6, .table = fib6},
			{.name = "ours scalar", .lookup = ours6, .table = ours->slots},
			{.name = "ours best", .lookup = ours6, .table = ours->slots},
		};

		ways[1].lookup6 = weir_node_lookup6_select(WEIR_NODE_LOOKUP_SCALAR, ours->wide);
		ways[2].lookup6 = weir_node_lookup6_select(WEIR_NODE_LOOKUP_BEST, ours->wide);
		rte_fib6_select_lookup(fib6, RTE_FIB6_LOOKUP_TRIE_SCALAR);
		ways[0].name = "rte_fib6 scalar";
		printf("IPv6 ");
		measure(ways, 3, burst);
		if (rte_fib6_select_lookup(fib6, RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512) == 0) {
			ways[0].name = "rte_fib6 avx512";
			printf("IPv6 ");
			measure(ways, 1, burst);
		}
	}
	weir_node_route_fini();
	rte_eal_cleanup();
	return 0;
}
