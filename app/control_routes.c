/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of routes and neighbours, for the control socket. */
#include <errno.h>
#include <string.h>

#include <weir_node.h>
#include <weir_node_route.h>

#include "control.h"

#define LIST_MAX                                                                                   \
	10000 /* routes in one answer unless told otherwise: a full table is fifty megabytes */

/* A list of routes in the making. */
struct route_list {
	json_t *routes;
	const struct weir_node_prefix *within; /* NULL: all */
	const struct weir_node_prefix *after;  /* NULL: from the first one */
	size_t max;
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

/* The order in which routes are visited: a prefix stands before those within it. */
static bool
is_after(const struct weir_node_prefix *prefix, const struct weir_node_prefix *other)
{
	int order;

	if (prefix->version != other->version)
		return prefix->version > other->version;
	order = memcmp(prefix->address, other->address, prefix->version == 4 ? 4 : 16);
	return order > 0 || (order == 0 && prefix->length > other->length);
}

static int
visit_route(void *arg, const struct weir_node_prefix *prefix, uint32_t hop)
{
	struct route_list *list = arg;
	char text[64];

	if (list->within != NULL && !is_within(list->within, prefix))
		return 0;
	if (list->after != NULL && !is_after(prefix, list->after))
		return 0;
	if (json_array_size(list->routes) >= list->max) {
		list->more++;
		return 0;
	}
	weir_node_prefix_print(prefix, text, sizeof(text));
	return json_array_append_new(list->routes,
		       json_pack("{s:s, s:I}", "prefix", text, "next_hop", (json_int_t)hop)) == 0
		       ? 0
		       : -ENOMEM;
}

/* An argument that is a prefix. @return 1: it is there, 0: it is not, or a negative errno, with why */
static int
read_prefix(const json_t *args, const char *key, struct weir_node_prefix *prefix, json_t **result)
{
	const char *text = json_string_value(json_object_get(args, key)), *why = NULL;

	if (text == NULL || text[0] == '\0')
		return 0;
	if (weir_node_prefix_parse(text, prefix, &why) == 0)
		return 1;
	*result = json_sprintf("bad prefix '%.100s': %s", text, why != NULL ? why : "");
	return -EINVAL;
}

static int
read_max(const json_t *args, size_t *max, json_t **result)
{
	const json_t *value = json_object_get(args, "max");

	*max = LIST_MAX;
	if (value == NULL)
		return 0;
	if (json_integer_value(value) <= 0) {
		*result = json_string("bad 'max'; expected an integer above 0");
		return -EINVAL;
	}
	*max = (size_t)json_integer_value(value);
	return 0;
}

static int
list_routes(struct route_list *list, json_t **result)
{
	int error;

	list->routes = json_array();
	error = weir_node_route_foreach(4, visit_route, list);
	if (error == 0)
		error = weir_node_route_foreach(6, visit_route, list);
	if (error < 0) {
		json_decref(list->routes);
		return error;
	}
	*result = json_pack("{s:o, s:I}", "routes", list->routes, "more", list->more);
	return *result != NULL ? 0 : -ENOMEM;
}

int
control_route_list(void *arg, const json_t *args, json_t **result)
{
	struct weir_node_prefix within, after;
	struct route_list list = {.routes = NULL};
	int error = read_max(args, &list.max, result);

	(void)arg;
	if (error < 0)
		return error;
	error = read_prefix(args, "name", &within, result);
	if (error < 0)
		return error;
	list.within = error > 0 ? &within : NULL;
	error = read_prefix(args, "after", &after, result);
	if (error < 0)
		return error;
	list.after = error > 0 ? &after : NULL;
	return list_routes(&list, result);
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
