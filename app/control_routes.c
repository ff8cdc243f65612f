/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of routes and neighbours, for the control socket. */
#include <errno.h>
#include <string.h>

#include <weir_node.h>
#include <weir_node_route.h>

#include "control.h"

#define LIST_MAX 10000 /* routes in one answer; a full table would be a hundred megabytes */

/* A list of routes in the making. */
struct route_list {
	json_t *routes;
	const struct weir_node_prefix *within; /* NULL: all */
	json_int_t more;
};

static bool
is_within(const struct weir_node_prefix *outer, const struct weir_node_prefix *prefix)
{
	unsigned int bytes = outer->length / 8, bits = outer->length % 8;

	if (prefix->version != outer->version || prefix->length < outer->length ||
		memcmp(prefix->address, outer->address, bytes) != 0)
		return false;
	return bits == 0 || ((prefix->address[bytes] ^ outer->address[bytes]) >> (8 - bits)) == 0;
}

static int
visit_route(void *arg, const struct weir_node_prefix *prefix, uint32_t hop)
{
	struct route_list *list = arg;
	char text[64];

	if (list->within != NULL && !is_within(list->within, prefix))
		return 0;
	if (json_array_size(list->routes) >= LIST_MAX) {
		list->more++;
		return 0;
	}
	weir_node_prefix_print(prefix, text, sizeof(text));
	return json_array_append_new(list->routes,
		       json_pack("{s:s, s:I}", "prefix", text, "next_hop", (json_int_t)hop)) == 0
		       ? 0
		       : -ENOMEM;
}

int
control_route_list(void *arg, const json_t *args, json_t **result)
{
	const char *text = json_string_value(json_object_get(args, "name")), *why = NULL;
	struct route_list list = {.routes = json_array()};
	struct weir_node_prefix within;
	int error;

	(void)arg;
	if (text != NULL && text[0] != '\0') {
		if (weir_node_prefix_parse(text, &within, &why) < 0) {
			json_decref(list.routes);
			*result = json_sprintf(
				"bad prefix '%.100s': %s", text, why != NULL ? why : "");
			return -EINVAL;
		}
		list.within = &within;
	}
	error = weir_node_route_foreach(4, visit_route, &list);
	if (error == 0)
		error = weir_node_route_foreach(6, visit_route, &list);
	if (error < 0) {
		json_decref(list.routes);
		return error;
	}
	*result = json_pack("{s:o, s:I}", "routes", list.routes, "more", list.more);
	return *result != NULL ? 0 : -ENOMEM;
}

static json_t *
hop_json(uint32_t id, const struct weir_node_hop *hop, bool own)
{
	static const char *const kinds[] = {
		[WEIR_NODE_HOP_FORWARD] = "forward",
		[WEIR_NODE_HOP_INCOMPLETE] = "incomplete",
		[WEIR_NODE_HOP_BLACKHOLE] = "blackhole",
		[WEIR_NODE_HOP_LOCAL] = "local",
	};
	json_t *json = json_pack(
		"{s:I, s:s}", "id", (json_int_t)id, "kind", own ? "own" : kinds[hop->kind]);
	struct weir_node_port_info info;
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	if (hop->kind == WEIR_NODE_HOP_FORWARD || hop->kind == WEIR_NODE_HOP_INCOMPLETE)
		if (weir_node_port_info(hop->port, &info) == 0)
			json_object_set_new(json, "port", json_string(info.name));
	if (hop->kind == WEIR_NODE_HOP_FORWARD) {
		rte_ether_format_addr(mac, sizeof(mac), &hop->mac);
		json_object_set_new(json, "mac", json_string(mac));
	}
	return json;
}

int
control_neighbour_list(void *arg, const json_t *args, json_t **result)
{
	json_t *list = json_array();
	struct weir_node_route_info info;
	struct weir_node_hop hop;
	uint32_t id;

	(void)arg;
	(void)args;
	weir_node_route_info(&info);
	for (id = 0; id < info.limits.next_hops; id++)
		if (weir_node_hop_get(id, &hop) == 0)
			json_array_append_new(
				list, hop_json(id, &hop,
					      id >= info.limits.next_hops - info.limits.own_hops));
	*result = json_pack("{s:o}", "neighbours", list);
	return *result != NULL ? 0 : -ENOMEM;
}
