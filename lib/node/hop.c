/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Next hops: two copies of the array that rewrite nodes read, switched as the
 * routes are, so that an entry that changes is seen old or new, never mixed.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_byteorder.h>

#include "weir_base.h"

#include "route_internal.h"

static size_t
fast_bytes(void)
{
	/* One more than there are: see weir_node_hop_at(). */
	return (weir_node_route_state.limits.next_hops + (size_t)1) *
	       sizeof(struct weir_node_hop_fast);
}

int
weir_node_hop_init(void)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	uint32_t nb = state->limits.next_hops;

	state->hops = calloc(nb, sizeof(*state->hops));
	state->hop_set = calloc(nb, sizeof(*state->hop_set));
	state->hop_routes = calloc(nb, sizeof(*state->hop_routes));
	state->hop_fast[0] = weir_node_route_map(fast_bytes(), state->limits.socket_id);
	state->hop_fast[1] = weir_node_route_map(fast_bytes(), state->limits.socket_id);
	if (state->hops == NULL || state->hop_set == NULL || state->hop_routes == NULL ||
		state->hop_fast[0] == NULL || state->hop_fast[1] == NULL)
		return -ENOMEM;
	state->hop_fast[0][nb].kind = state->hop_fast[1][nb].kind = WEIR_NODE_HOP_NONE;
	weir_node_lookup_publish_hops(state->hop_fast[0], nb);
	return 0;
}

void
weir_node_hop_fini(void)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	unsigned int i;

	weir_node_lookup_publish_hops(NULL, 0);
	for (i = 0; i < 2; i++) {
		if (state->hop_fast[i] != NULL)
			munmap(state->hop_fast[i], fast_bytes());
		state->hop_fast[i] = NULL;
	}
	free(state->hops);
	free(state->hop_set);
	free(state->hop_routes);
	state->hops = NULL;
	state->hop_set = NULL;
	state->hop_routes = NULL;
	state->nb_hops = state->hop_active = 0;
	state->hop_stale = false;
}

void
weir_node_hop_replay(void)
{
	struct weir_node_route_state *state = &weir_node_route_state;

	if (!state->hop_stale)
		return;
	memcpy(state->hop_fast[!state->hop_active], state->hop_fast[state->hop_active],
		fast_bytes());
	state->hop_stale = false;
}

/* The Ethernet header that packets to this next hop get. */
static void
header_build(struct weir_node_hop_fast *fast, const struct weir_node_hop *hop,
	const struct weir_node_port_info *info)
{
	const uint16_t type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4),
		       tag = rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
	const uint16_t vlan = rte_cpu_to_be_16(info->vlan);
	uint8_t *p = fast->header;

	memcpy(p, &hop->mac, RTE_ETHER_ADDR_LEN);
	memcpy(p + 6, &info->mac, RTE_ETHER_ADDR_LEN);
	p += 12;
	if (info->vlan != 0) {
		memcpy(p, &tag, 2);
		memcpy(p + 2, &vlan, 2);
		p += 4;
	}
	memcpy(p, &type, 2);
	fast->header_length = (uint8_t)(p + 2 - fast->header);
	fast->mtu = info->mtu;
}

static int
fast_build(uint32_t id, const struct weir_node_hop *hop, struct weir_node_hop_fast *fast)
{
	struct weir_node_port_info info;

	memset(fast, 0, sizeof(*fast));
	fast->kind = (uint8_t)hop->kind;
	fast->port = hop->port;
	switch (hop->kind) {
	case WEIR_NODE_HOP_FORWARD:
		if (!rte_is_valid_assigned_ether_addr(&hop->mac)) {
			weir_base_log(WEIR_BASE_LOG_ERROR, "node",
				"next hop %u: its MAC address is zero or that of a group, expected "
				"a station's",
				id);
			return -EINVAL;
		}
		memset(&info, 0, sizeof(info));
		if (weir_node_route_port_info(hop->port, &info) < 0) {
			weir_base_log(WEIR_BASE_LOG_ERROR, "node", "next hop %u: no port %u", id,
				hop->port);
			return -ENOENT;
		}
		header_build(fast, hop, &info);
		return 0;
	case WEIR_NODE_HOP_INCOMPLETE:
	case WEIR_NODE_HOP_BLACKHOLE:
	case WEIR_NODE_HOP_LOCAL:
		return 0;
	}
	weir_base_log(
		WEIR_BASE_LOG_ERROR, "node", "next hop %u: unknown kind %d", id, (int)hop->kind);
	return -EINVAL;
}

/* Put an entry where readers see it next. Under the lock, settled. */
static void
publish(uint32_t id, const struct weir_node_hop_fast *fast)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	unsigned int standby = !state->hop_active;

	state->hop_fast[standby][id] = *fast;
	state->hop_active = standby;
	weir_node_lookup_publish_hops(state->hop_fast[standby], state->limits.next_hops);
	state->hop_stale = true;
	weir_node_route_switch(false, false);
}

static int
hop_set(uint32_t id, const struct weir_node_hop *hop)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	struct weir_node_hop_fast fast;
	int ret;

	if (!state->ready || id >= state->limits.next_hops) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "node",
			"next hop %u: expected a number below %u (next_hops)", id,
			state->ready ? state->limits.next_hops : 0);
		return -EINVAL;
	}
	ret = fast_build(id, hop, &fast);
	if (ret == 0)
		ret = weir_node_route_settle();
	if (ret < 0)
		return ret;
	state->hops[id] = *hop;
	state->nb_hops += !state->hop_set[id];
	state->hop_set[id] = 1;
	publish(id, &fast);
	return 0;
}

static int
hop_delete(uint32_t id)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	const struct weir_node_hop_fast gone = {.kind = WEIR_NODE_HOP_BLACKHOLE};
	int ret;

	if (!state->ready || id >= state->limits.next_hops || !state->hop_set[id]) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "node",
			"next hop %u: cannot delete it: it is not set", id);
		return -ENOENT;
	}
	if (state->hop_routes[id] > 0) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "node",
			"next hop %u: %u routes still point to it", id, state->hop_routes[id]);
		return -EBUSY;
	}
	/* After this no walk holds an id that a look-up found before its last route went. */
	ret = weir_node_route_settle();
	if (ret < 0)
		return ret;
	state->hop_set[id] = 0;
	state->nb_hops--;
	publish(id, &gone);
	return 0;
}

int
weir_node_hop_set(uint32_t id, const struct weir_node_hop *hop)
{
	int ret;

	pthread_mutex_lock(&weir_node_route_state.lock);
	ret = hop_set(id, hop);
	pthread_mutex_unlock(&weir_node_route_state.lock);
	return ret;
}

int
weir_node_hop_delete(uint32_t id)
{
	int ret;

	pthread_mutex_lock(&weir_node_route_state.lock);
	ret = hop_delete(id);
	pthread_mutex_unlock(&weir_node_route_state.lock);
	return ret;
}

int
weir_node_hop_get(uint32_t id, struct weir_node_hop *hop)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	int ret = -ENOENT;

	pthread_mutex_lock(&state->lock);
	if (state->ready && id < state->limits.next_hops && state->hop_set[id]) {
		*hop = state->hops[id];
		ret = 0;
	}
	pthread_mutex_unlock(&state->lock);
	return ret;
}
