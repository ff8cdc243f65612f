/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tables and their two copies.
 *
 *     change -> RIB -> paint standby -> switch readers -> grace period -> paint the other
 *
 * When a worker stays inside one walk for longer than the timeout (its
 * transmit node waits for a device, say), the new routes are in force, but the old
 * copy must not be touched: it stays stale, and the next change waits for it first.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weir_base.h"
#include "weir_graph.h"

#include "route_internal.h"

#define DEFAULT_IP4_ROUTES      (UINT32_C(1) << 20)
#define DEFAULT_IP4_LONG_GROUPS 32767
#define DEFAULT_IP6_ROUTES      (UINT32_C(1) << 18)
#define DEFAULT_IP6_GROUPS      (UINT32_C(1) << 20)
#define DEFAULT_NEXT_HOPS       4096
#define MAX_NEXT_HOPS           (UINT32_C(1) << 20)
#define MAX_ROUTES              (UINT32_C(1) << 28) /* keeps node numbers below 2^31 */
#define MAX_GROUPS              (UINT32_C(1) << 22) /* keeps indices of slots below 2^31, as gathers need */

struct weir_node_route_state weir_node_route_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

int (*weir_node_route_grace)(uint64_t timeout_ns) = weir_graph_synchronize;
int (*weir_node_route_port_info)(
	uint16_t port, struct weir_node_port_info *info) = weir_node_port_info;
uint64_t weir_node_route_grace_timeout_ns = UINT64_C(5) * 1000 * 1000 * 1000;

static int
limits_fill(const struct weir_node_route_limits *given, struct weir_node_route_limits *limits)
{
	memset(limits, 0, sizeof(*limits));
	limits->socket_id = -1;
	if (given != NULL)
		*limits = *given;
	if (limits->ip4_routes == 0)
		limits->ip4_routes = DEFAULT_IP4_ROUTES;
	if (limits->ip4_long_groups == 0)
		limits->ip4_long_groups = DEFAULT_IP4_LONG_GROUPS;
	if (limits->ip6_routes == 0)
		limits->ip6_routes = DEFAULT_IP6_ROUTES;
	if (limits->ip6_groups == 0)
		limits->ip6_groups = DEFAULT_IP6_GROUPS;
	if (limits->next_hops == 0)
		limits->next_hops = DEFAULT_NEXT_HOPS;
	if (limits->own_hops >= limits->next_hops || limits->next_hops > MAX_NEXT_HOPS ||
		limits->ip4_routes > MAX_ROUTES || limits->ip6_routes > MAX_ROUTES ||
		limits->ip4_long_groups > MAX_GROUPS || limits->ip6_groups > MAX_GROUPS)
		return -EINVAL;
	return 0;
}

uint64_t
weir_node_route_memory_bytes(const struct weir_node_route_limits *given)
{
	struct weir_node_route_limits limits;

	if (limits_fill(given, &limits) < 0)
		return 0;
	return 2 * weir_node_fib_bytes(limits.ip4_long_groups,
			   weir_node_fib_is_wide(limits.ip4_long_groups, limits.next_hops)) +
	       2 * weir_node_fib_bytes(limits.ip6_groups,
			   weir_node_fib_is_wide(limits.ip6_groups, limits.next_hops)) +
	       2 * ((uint64_t)limits.ip4_routes + limits.ip6_routes + 2) *
		       sizeof(struct weir_node_rib_node) +
	       (uint64_t)limits.next_hops *
		       (2 * sizeof(struct weir_node_hop_fast) + sizeof(struct weir_node_hop) +
			       sizeof(uint32_t) + sizeof(uint8_t));
}

static int
table_init(struct weir_node_route_table *table, uint32_t nb_routes, uint32_t nb_groups,
	uint32_t next_hops, int socket_id)
{
	bool wide = weir_node_fib_is_wide(nb_groups, next_hops);

	table->max_routes = nb_routes;
	table->max_groups = nb_groups;
	if (weir_node_rib_init(&table->rib, nb_routes) < 0 ||
		weir_node_fib_init(&table->fib[0], nb_groups, wide, socket_id) < 0 ||
		weir_node_fib_init(&table->fib[1], nb_groups, wide, socket_id) < 0)
		return -ENOMEM;
	return 0;
}

static void
table_fini(struct weir_node_route_table *table)
{
	weir_node_fib_fini(&table->fib[0]);
	weir_node_fib_fini(&table->fib[1]);
	weir_node_rib_fini(&table->rib);
	free(table->changes);
	memset(table, 0, sizeof(*table));
}

static void
tables_free(void)
{
	struct weir_node_route_state *state = &weir_node_route_state;

	weir_node_lookup_publish4(NULL, false);
	weir_node_lookup_publish6(NULL, false);
	weir_node_hop_fini();
	table_fini(&state->table[0]);
	table_fini(&state->table[1]);
	state->ready = state->stale = false;
	state->switches = 0;
}

static int
tables_make(const struct weir_node_route_limits *limits)
{
	struct weir_node_route_state *state = &weir_node_route_state;

	state->limits = *limits;
	if (table_init(&state->table[0], limits->ip4_routes, limits->ip4_long_groups,
		    limits->next_hops, limits->socket_id) < 0 ||
		table_init(&state->table[1], limits->ip6_routes, limits->ip6_groups,
			limits->next_hops, limits->socket_id) < 0 ||
		weir_node_hop_init() < 0) {
		tables_free();
		weir_base_log(WEIR_BASE_LOG_ERROR, "node", "no memory for route tables of %.0f MB",
			(double)weir_node_route_memory_bytes(limits) / 1e6);
		return -ENOMEM;
	}
	weir_node_lookup_publish4(state->table[0].fib[0].slots, state->table[0].fib[0].wide);
	weir_node_lookup_publish6(state->table[1].fib[0].slots, state->table[1].fib[0].wide);
	state->ready = true;
	return 0;
}

int
weir_node_route_init(const struct weir_node_route_limits *given)
{
	struct weir_node_route_limits limits;
	int ret = -EEXIST;

	if (limits_fill(given, &limits) < 0) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "node",
			"route limits out of range: at most %u next hops, %u routes, %u groups",
			MAX_NEXT_HOPS, MAX_ROUTES, MAX_GROUPS);
		return -EINVAL;
	}
	pthread_mutex_lock(&weir_node_route_state.lock);
	if (!weir_node_route_state.ready)
		ret = tables_make(&limits);
	else
		weir_base_log(WEIR_BASE_LOG_ERROR, "node", "the route tables are there already");
	pthread_mutex_unlock(&weir_node_route_state.lock);
	return ret;
}

void
weir_node_route_fini(void)
{
	pthread_mutex_lock(&weir_node_route_state.lock);
	tables_free();
	pthread_mutex_unlock(&weir_node_route_state.lock);
}

static void
table_replay(struct weir_node_route_table *table)
{
	if (table->nb_changes > 0)
		weir_node_fib_paint(&table->fib[!table->active], &table->rib, table->changes,
			table->nb_changes);
	free(table->changes);
	table->changes = NULL;
	table->nb_changes = 0;
}

int
weir_node_route_settle(void)
{
	struct weir_node_route_state *state = &weir_node_route_state;

	if (!state->stale)
		return 0;
	if (weir_node_route_grace(weir_node_route_grace_timeout_ns) < 0) {
		weir_base_log(WEIR_BASE_LOG_WARNING, "node",
			"a worker has not ended its walk: the next change of routes or next hops "
			"has to wait for it");
		return -ETIMEDOUT;
	}
	table_replay(&state->table[0]);
	table_replay(&state->table[1]);
	weir_node_hop_replay();
	state->stale = false;
	return 0;
}

void
weir_node_route_switch(bool ip4, bool ip6)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	struct weir_node_route_table *table = state->table;

	if (ip4) {
		table[0].active = !table[0].active;
		weir_node_lookup_publish4(
			table[0].fib[table[0].active].slots, table[0].fib[0].wide);
		state->switches++;
	}
	if (ip6) {
		table[1].active = !table[1].active;
		weir_node_lookup_publish6(
			table[1].fib[table[1].active].slots, table[1].fib[0].wide);
		state->switches++;
	}
	state->stale = true;
	/* The change is in force whether or not the old copies can be brought up to date now. */
	(void)weir_node_route_settle();
}

void
weir_node_route_info(struct weir_node_route_info *info)
{
	struct weir_node_route_state *state = &weir_node_route_state;

	memset(info, 0, sizeof(*info));
	pthread_mutex_lock(&state->lock);
	if (state->ready) {
		info->ip4_routes = state->table[0].rib.nb_routes;
		info->ip6_routes = state->table[1].rib.nb_routes;
		info->ip4_long_groups = state->table[0].rib.nb_groups;
		info->ip6_groups = state->table[1].rib.nb_groups;
		info->next_hops = state->nb_hops;
		info->switches = state->switches;
		info->limits = state->limits;
	}
	pthread_mutex_unlock(&state->lock);
}

int
weir_node_route_lookup(
	uint8_t version, const uint8_t *address, uint32_t *hop, struct weir_node_prefix *prefix)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	const struct weir_node_rib_node *route = NULL;
	struct weir_node_route_key key;

	if ((version != 4 && version != 6) || address == NULL)
		return -EINVAL;
	key = weir_node_route_key_of(version, address);
	pthread_mutex_lock(&state->lock);
	if (state->ready)
		route = weir_node_rib_lookup(
			&state->table[version == 6].rib, &key, version == 4 ? 32 : 128);
	if (route != NULL && hop != NULL)
		*hop = route->hop;
	if (route != NULL && prefix != NULL)
		weir_node_route_key_prefix(version, route->key, route->length, prefix);
	pthread_mutex_unlock(&state->lock);
	return route == NULL ? -ENOENT : 0;
}

struct visitor {
	int (*visit)(void *arg, const struct weir_node_prefix *prefix, uint32_t hop);
	void *arg;
	uint8_t version;
};

static int
visit_route(void *arg, const struct weir_node_rib_node *route)
{
	const struct visitor *visitor = arg;
	struct weir_node_prefix prefix;

	weir_node_route_key_prefix(visitor->version, route->key, route->length, &prefix);
	return visitor->visit(visitor->arg, &prefix, route->hop);
}

int
weir_node_route_foreach(uint8_t version,
	int (*visit)(void *arg, const struct weir_node_prefix *prefix, uint32_t hop), void *arg)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	const struct weir_node_route_key all = {0, 0};
	struct visitor visitor = {.visit = visit, .arg = arg, .version = version};
	int ret = 0;

	if ((version != 4 && version != 6) || visit == NULL)
		return -EINVAL;
	pthread_mutex_lock(&state->lock);
	if (state->ready)
		ret = weir_node_rib_foreach(
			&state->table[version == 6].rib, &all, 0, visit_route, &visitor);
	pthread_mutex_unlock(&state->lock);
	return ret;
}
