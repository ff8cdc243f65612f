/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Thousands of random changes of deeply nested prefixes; after each, every
 * look-up (both copies, each kind of CPU, the control side) is compared with a model that
 * tries all routes, and the groups in use with those that the routes need.
 */

#include <errno.h>

#include "test_route_util.h"
#include "weir_base_sanitizer.h"

#define NB_HOPS     50
#define MAX_MODEL   400
#define NB_PROBES   48
#define BASE_POINTS 6
#define STEPS       1500
#define STEPS_ASAN  300 /* unless there is time: WEIR_TEST_LONG */

struct model_route {
	struct weir_node_route_key key;
	uint8_t length;
	uint32_t hop;
};

struct model {
	struct model_route routes[MAX_MODEL];
	uint32_t nb;
	uint8_t version;
	uint8_t bits;
	uint64_t random;
	struct weir_node_route_key base[BASE_POINTS]; /* prefixes gather around these */
};

/* Do two keys agree in their first bits? */
static bool
same(const struct weir_node_route_key *a, const struct weir_node_route_key *b, unsigned int bits)
{
	unsigned __int128 x = (unsigned __int128)a->hi << 64 | a->lo,
			  y = (unsigned __int128)b->hi << 64 | b->lo;

	return bits == 0 || (x ^ y) >> (128 - bits) == 0;
}

static bool
covers(const struct model_route *route, const struct weir_node_route_key *key)
{
	return same(&route->key, key, route->length);
}

static uint32_t
model_lookup(const struct model *model, const struct weir_node_route_key *key)
{
	const struct model_route *best = NULL;
	uint32_t i;

	for (i = 0; i < model->nb; i++)
		if ((best == NULL || model->routes[i].length > best->length) &&
			covers(&model->routes[i], key))
			best = &model->routes[i];
	return best == NULL ? WEIR_NODE_NO_ROUTE : best->hop;
}

static struct model_route *
model_find(struct model *model, const struct model_route *route)
{
	uint32_t i;

	for (i = 0; i < model->nb; i++)
		if (model->routes[i].length == route->length &&
			covers(&model->routes[i], &route->key))
			return &model->routes[i];
	return NULL;
}

/* Groups: distinct slots of 24, 32 ... bits that a longer route lies in. */
static uint32_t
model_groups(const struct model *model)
{
	uint32_t i, j, nb = 0;
	unsigned int bits;

	for (bits = 24; bits < model->bits; bits += 8)
		for (i = 0; i < model->nb; i++) {
			bool first = model->routes[i].length > bits;

			for (j = 0; first && j < i; j++)
				if (model->routes[j].length > bits &&
					same(&model->routes[i].key, &model->routes[j].key, bits))
					first = false;
			nb += first;
		}
	return nb;
}

static int
model_apply(struct model *model, const struct model_route *change)
{
	struct model_route *route = model_find(model, change);

	if (change->hop == WEIR_NODE_HOP_INVALID) {
		if (route == NULL)
			return -ENOENT;
		*route = model->routes[--model->nb];
	} else if (route != NULL) {
		route->hop = change->hop;
	} else {
		assert_true(model->nb < MAX_MODEL);
		model->routes[model->nb++] = *change;
	}
	return 0;
}

static struct weir_node_route_key
random_key(struct model *model)
{
	struct weir_node_route_key key = model->base[test_random(&model->random) % BASE_POINTS];
	unsigned int flips = (unsigned int)(test_random(&model->random) % 3), bit;

	while (flips-- > 0) {
		bit = (unsigned int)(test_random(&model->random) % model->bits);
		if (bit < 64)
			key.hi ^= UINT64_C(1) << (63 - bit);
		else
			key.lo ^= UINT64_C(1) << (127 - bit);
	}
	return key;
}

static struct model_route
random_change(struct model *model)
{
	struct model_route change;
	uint64_t dice = test_random(&model->random) % 100;

	change.key = random_key(model);
	change.length = (uint8_t)(test_random(&model->random) % (model->bits + 1U));
	if (change.length < 12 && dice % 4 != 0) /* these take long to paint */
		change.length += 12;
	change.key = weir_node_route_key_cut(change.key, change.length);
	change.hop = (uint32_t)(test_random(&model->random) % NB_HOPS);
	/* Grow to about 150 routes, then as many go as come; a third of the deletions find nothing to delete. */
	if (dice < 15 + model->nb / 5) {
		if (dice % 3 != 0 && model->nb > 0)
			change = model->routes[test_random(&model->random) % model->nb];
		change.hop = WEIR_NODE_HOP_INVALID;
	} else if (dice > 90 && model->nb > 0) {
		change.key = model->routes[test_random(&model->random) % model->nb].key;
		change.key = weir_node_route_key_cut(change.key, change.length);
	}
	return change;
}

static void
key_bytes(const struct weir_node_route_key *key, uint8_t *bytes)
{
	struct weir_node_prefix prefix;

	weir_node_route_key_prefix(6, *key, 128, &prefix);
	memcpy(bytes, prefix.address, 16);
}

/* Addresses at which a change may show: the edges of the prefix, just beyond, and anywhere. */
static void
probes(struct model *model, const struct model_route *change, struct weir_node_route_key *keys)
{
	struct weir_node_route_key last = change->key;
	uint32_t i;

	if (change->length < 64) {
		last.hi |= UINT64_MAX >> change->length;
		last.lo = UINT64_MAX;
	} else if (change->length < 128) {
		last.lo |= UINT64_MAX >> (change->length - 64);
	}
	keys[0] = change->key;
	keys[1] = last;
	keys[2] = change->key;
	keys[3] = last;
	if (model->version == 4) {
		keys[2].hi -= UINT64_C(1) << 32;
		keys[3].hi += UINT64_C(1) << 32;
	} else {
		keys[2].hi -= keys[2].lo-- == 0;
		keys[3].hi += ++keys[3].lo == 0;
	}
	for (i = 4; i < NB_PROBES; i++) {
		if (i % 2 == 0 && model->nb > 0)
			keys[i] = model->routes[test_random(&model->random) % model->nb].key;
		else
			keys[i] = random_key(model);
	}
	for (i = 0; i < NB_PROBES; i++)
		keys[i] = weir_node_route_key_cut(keys[i], model->bits);
	if (model->version == 4)
		for (i = 0; i < NB_PROBES; i++) {
			keys[i].hi &= UINT64_C(0xffffffff) << 32;
			keys[i].lo = 0;
		}
}

static void
lookup(const struct model *model, const struct weir_node_fib *fib, enum weir_node_lookup_kind kind,
	const struct weir_node_route_key *keys, uint32_t *hops)
{
	uint32_t addresses4[NB_PROBES], i;
	uint8_t addresses6[NB_PROBES][16];

	for (i = 0; i < NB_PROBES; i++) {
		addresses4[i] = (uint32_t)(keys[i].hi >> 32);
		key_bytes(&keys[i], addresses6[i]);
	}
	if (model->version == 4)
		weir_node_lookup4_select(kind, fib->wide)(fib->slots, addresses4, hops, NB_PROBES);
	else
		weir_node_lookup6_select(kind, fib->wide)(
			fib->slots, (const uint8_t(*)[16])addresses6, hops, NB_PROBES);
}

static void
check(struct model *model, const struct model_route *change)
{
	struct weir_node_route_table *table = &weir_node_route_state.table[model->version == 6];
	struct weir_node_route_key keys[NB_PROBES];
	uint32_t want[NB_PROBES], hops[NB_PROBES], i, groups, hop;
	enum weir_node_lookup_kind kind;
	uint8_t bytes[16];
	int copy;

	probes(model, change, keys);
	for (i = 0; i < NB_PROBES; i++) {
		want[i] = model_lookup(model, &keys[i]);
		key_bytes(&keys[i], bytes);
		hop = WEIR_NODE_NO_ROUTE;
		assert_int_equal(weir_node_route_lookup(model->version, bytes, &hop, NULL),
			want[i] == WEIR_NODE_NO_ROUTE ? -ENOENT : 0);
		assert_int_equal(hop, want[i]);
	}
	/* Counting groups the naive way takes long. */
	groups = test_random(&model->random) % 4 == 0 ? model_groups(model) : table->rib.nb_groups;
	assert_int_equal(table->rib.nb_routes, model->nb);
	assert_int_equal(table->rib.nb_groups, groups);
	for (copy = 0; copy < 2; copy++) {
		assert_int_equal(table->fib[copy].used_groups, groups);
		for (kind = WEIR_NODE_LOOKUP_SCALAR; kind <= WEIR_NODE_LOOKUP_AVX512; kind++) {
			if (weir_node_lookup4_select(kind, false) == NULL)
				continue;
			memset(hops, 0xaa, sizeof(hops));
			lookup(model, &table->fib[copy], kind, keys, hops);
			assert_memory_equal(hops, want, sizeof(want));
		}
	}
}

static struct weir_node_prefix
prefix_of(const struct model *model, const struct model_route *change)
{
	struct weir_node_prefix prefix;

	weir_node_route_key_prefix(model->version, change->key, change->length, &prefix);
	return prefix;
}

static void
step_single(struct model *model)
{
	struct model_route change = random_change(model);
	struct weir_node_prefix prefix = prefix_of(model, &change);
	int want = model_apply(model, &change);
	int got = change.hop == WEIR_NODE_HOP_INVALID ? weir_node_route_delete(&prefix)
						      : weir_node_route_add(&prefix, change.hop);

	assert_int_equal(got, want);
	check(model, &change);
}

/* A batch of up to 40 changes; one that fails leaves everything as it was. */
static void
step_batch(struct model *model)
{
	static struct model copy;
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	uint32_t nb = (uint32_t)(test_random(&model->random) % 40) + 1, i;
	bool valid = test_random(&model->random) % 4 != 0;
	struct model_route changes[40];
	struct weir_node_prefix prefix;
	int ret, want = 0;

	copy = *model;
	for (i = 0; i < nb; i++) {
		changes[i] = random_change(&copy);
		ret = model_apply(&copy, &changes[i]);
		if (ret < 0 && valid) {
			i--;
			continue;
		}
		if (want == 0)
			want = ret;
		prefix = prefix_of(model, &changes[i]);
		if (changes[i].hop == WEIR_NODE_HOP_INVALID)
			assert_int_equal(weir_node_route_batch_delete(batch, &prefix), 0);
		else
			assert_int_equal(
				weir_node_route_batch_add(batch, &prefix, changes[i].hop), 0);
	}
	assert_int_equal(weir_node_route_batch_commit(batch), want);
	model->random = copy.random;
	if (want == 0)
		*model = copy;
	for (i = 0; i < nb; i++)
		check(model, &changes[i]);
}

static uint32_t
nb_steps(void)
{
#ifdef WEIR_BASE_ASAN
	if (getenv("WEIR_TEST_LONG") == NULL)
		return STEPS_ASAN;
#endif
	return STEPS;
}

static uint32_t
hop_references(void)
{
	uint32_t i, nb = 0;

	for (i = 0; i < NB_HOPS; i++)
		nb += weir_node_route_state.hop_routes[i];
	return nb;
}

static void
property(uint8_t version, uint32_t next_hops)
{
	static struct model model;
	struct model_route all = {.length = 0};
	uint32_t i;

	memset(&model, 0, sizeof(model));
	model.version = version;
	model.bits = version == 4 ? 32 : 128;
	model.random = test_seed() + version + next_hops;
	for (i = 0; i < BASE_POINTS; i++) {
		model.base[i].hi = test_random(&model.random);
		model.base[i].lo = version == 4 ? 0 : test_random(&model.random);
	}
	for (i = 0; i < BASE_POINTS && version == 4; i++)
		model.base[i].hi &= UINT64_C(0xffffffff) << 32;
	model.base[BASE_POINTS - 1] = (struct weir_node_route_key){0, 0};
	test_tables(&(struct weir_node_route_limits){.next_hops = next_hops, .ip6_groups = 4000},
		NB_HOPS);
	for (i = 0; i < nb_steps(); i++) {
		step_single(&model);
		if (i % 10 == 0)
			step_batch(&model);
	}
	assert_int_equal(hop_references(), model.nb);
	while (model.nb > 0) { /* take everything down: no group may stay */
		struct model_route change = model.routes[test_random(&model.random) % model.nb];
		struct weir_node_prefix prefix = prefix_of(&model, &change);

		change.hop = WEIR_NODE_HOP_INVALID;
		assert_int_equal(model_apply(&model, &change), 0);
		assert_int_equal(weir_node_route_delete(&prefix), 0);
		check(&model, &change);
	}
	check(&model, &all);
	assert_int_equal(hop_references(), 0);
	weir_node_route_fini();
}

static void
test_ip4(void **state)
{
	(void)state;
	property(4, 64);
}

static void
test_ip4_wide(void **state)
{
	(void)state;
	property(4, 40000);
}

static void
test_ip6(void **state)
{
	(void)state;
	property(6, 64);
}

static void
test_ip6_wide(void **state)
{
	(void)state;
	property(6, 40000);
}

/* At a limit of groups, changes are refused exactly when their result would need more. */
static void
test_groups_limit(void **state)
{
	static struct model model, copy;
	struct model_route change;
	struct weir_node_prefix prefix;
	uint32_t i, nb_refused = 0;
	uint8_t version;
	int want, got;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		const struct weir_node_route_limits limits = {
			.next_hops = 64, .ip4_long_groups = 12, .ip6_groups = 150, .socket_id = -1};
		const uint32_t limit = version == 4 ? limits.ip4_long_groups : limits.ip6_groups;

		memset(&model, 0, sizeof(model));
		model.version = version;
		model.bits = version == 4 ? 32 : 128;
		model.random = test_seed() + version;
		for (i = 0; i < BASE_POINTS; i++)
			model.base[i].hi =
				test_random(&model.random) & (UINT64_C(0xffffffff) << 32);
		test_tables(&limits, NB_HOPS);
		for (i = 0; i < nb_steps(); i++) {
			change = random_change(&model);
			copy = model;
			want = model_apply(&copy, &change);
			if (want == 0 && model_groups(&copy) > limit)
				want = -ENOSPC;
			prefix = prefix_of(&model, &change);
			got = change.hop == WEIR_NODE_HOP_INVALID
				      ? weir_node_route_delete(&prefix)
				      : weir_node_route_add(&prefix, change.hop);
			assert_int_equal(got, want);
			if (want == 0)
				model = copy;
			nb_refused += want == -ENOSPC;
			check(&model, &change);
		}
		weir_node_route_fini();
		assert_true(nb_refused > nb_steps() / 30);
		nb_refused = 0;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ip4),
		cmocka_unit_test(test_ip4_wide),
		cmocka_unit_test(test_ip6),
		cmocka_unit_test(test_ip6_wide),
		cmocka_unit_test(test_groups_limit),
	};

	return cmocka_run_group_tests_name("route property", tests, NULL, NULL);
}
