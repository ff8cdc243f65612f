/* SPDX-License-Identifier: BSD-3-Clause */

/* The commands of this library on a control socket. */

#include <rte_errno.h>

#include "node_private.h"
#include "weir_base_ctl.h"
#include "weir_node_route.h"

/* Answer with what is wrong. */
static int
wrong(json_t **result, int rc, const char *why)
{
	*result = json_string(why);
	return rc;
}

static json_t *
mac_json(const struct rte_ether_addr *mac)
{
	char text[RTE_ETHER_ADDR_FMT_SIZE];

	rte_ether_format_addr(text, sizeof(text), mac);
	return json_string(text);
}

static int
port_json(uint16_t id, json_t **json)
{
	struct weir_node_port_info info;
	struct weir_node_port_stats stats;
	int rc = weir_node_port_info(id, &info);

	if (rc == 0)
		rc = weir_node_port_stats(id, &stats);
	if (rc < 0)
		return rc;
	*json = json_pack("{s:i, s:s, s:b, s:o, s:i, s:i, s:i, s:i, s:b, s:b, s:I, s:I, s:I, s:I, "
			  "s:I, s:I, s:I, s:I, s:I, s:I}",
		"id", (int)id, "name", info.name, "pcap", (int)info.is_pcap, "mac",
		mac_json(&info.mac), "mtu", (int)info.mtu, "vlan", (int)info.vlan, "rx_queues",
		(int)info.nb_rx_queues, "tx_queues", (int)info.nb_tx_queues, "accept_any",
		(int)info.accept_any, "link_up", (int)info.link_up, "rx_packets",
		(json_int_t)stats.rx_packets, "rx_bytes", (json_int_t)stats.rx_bytes, "rx_missed",
		(json_int_t)stats.rx_missed, "rx_no_mbuf", (json_int_t)stats.rx_no_mbuf,
		"rx_errors", (json_int_t)stats.rx_errors, "rx_truncated",
		(json_int_t)stats.rx_truncated, "tx_packets", (json_int_t)stats.tx_packets,
		"tx_bytes", (json_int_t)stats.tx_bytes, "tx_errors", (json_int_t)stats.tx_errors,
		"tx_full_dropped", (json_int_t)stats.tx_full_dropped);
	return *json == NULL ? -ENOMEM : 0;
}

static int
ports_command(void *arg, const json_t *args, json_t **result)
{
	json_t *list = json_array();
	int rc = 0;

	node_port_lock();
	for (uint16_t id = 0; rc == 0 && id < weir_node_port_max_count(); id++) {
		json_t *port = NULL;

		if (node_port_get(id) == NULL)
			continue;
		rc = port_json(id, &port);
		json_array_append_new(list, port);
	}
	node_port_unlock();
	if (rc < 0) {
		json_decref(list);
		return wrong(result, rc, "no counters: a worker is stuck inside a walk");
	}
	*result = list;
	return 0;
}

static int
reasons_command(void *arg, const json_t *args, json_t **result)
{
	struct weir_node_reason_count counts[WEIR_NODE_REASON_COUNT];
	int rc = weir_node_reason_counts(counts);
	json_t *list;

	if (rc < 0)
		return wrong(result, rc, "no counters: a worker is stuck inside a walk");
	list = json_array();
	for (int i = 0; i < WEIR_NODE_REASON_COUNT; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:s, s:I}", "name",
				weir_node_reason_name(counts[i].reason), "kind",
				weir_node_reason_is_punt(counts[i].reason) ? "punted" : "dropped",
				"help", weir_node_reason_help(counts[i].reason), "packets",
				(json_int_t)counts[i].packets));
	*result = list;
	return 0;
}

static int
totals_command(void *arg, const json_t *args, json_t **result)
{
	struct weir_node_totals totals;
	int rc = weir_node_totals(&totals);

	if (rc < 0)
		return wrong(result, rc, "no counters: a worker is stuck inside a walk");
	*result = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "received",
		(json_int_t)totals.received, "sent", (json_int_t)totals.sent, "dropped",
		(json_int_t)totals.dropped, "punted", (json_int_t)totals.punted, "discarded",
		(json_int_t)totals.discarded, "fragmented", (json_int_t)totals.fragmented,
		"fragments", (json_int_t)totals.fragments);
	return 0;
}

static int
routes_command(void *arg, const json_t *args, json_t **result)
{
	struct weir_node_route_info info;

	weir_node_route_info(&info);
	*result = json_pack("{s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I}}", "ip4_routes",
		(json_int_t)info.ip4_routes, "ip6_routes", (json_int_t)info.ip6_routes, "next_hops",
		(json_int_t)info.next_hops, "switches", (json_int_t)info.switches, "limits",
		"ip4_routes", (json_int_t)info.limits.ip4_routes, "ip4_long_groups",
		(json_int_t)info.limits.ip4_long_groups, "ip6_routes",
		(json_int_t)info.limits.ip6_routes, "ip6_groups",
		(json_int_t)info.limits.ip6_groups, "next_hops",
		(json_int_t)info.limits.next_hops - (json_int_t)info.limits.own_hops);
	return 0;
}

/* The argument "prefix" of a command. */
static int
get_prefix(const json_t *args, struct weir_node_prefix *prefix, json_t **result)
{
	const char *text = json_string_value(json_object_get(args, "prefix"));
	const char *why = NULL;

	if (text == NULL)
		return wrong(result, -EINVAL, "expected {\"prefix\": \"192.0.2.0/24\"}");
	if (weir_node_prefix_parse(text, prefix, &why) < 0)
		return wrong(result, -EINVAL, why);
	return 0;
}

/* A next hop's number, argument @p key of a command. */
static int
get_hop(const json_t *args, const char *key, uint32_t *hop, json_t **result)
{
	const json_t *value = json_object_get(args, key);
	struct weir_node_route_info info;
	uint32_t nb_hops;

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
		json_integer_value(value) >= (json_int_t)WEIR_NODE_HOP_INVALID)
		return wrong(result, -EINVAL,
			"expected the number of a next hop (\"hop\" of a route, \"id\" of a "
			"neighbour)");
	*hop = (uint32_t)json_integer_value(value);
	weir_node_route_info(&info);
	nb_hops = info.limits.next_hops - info.limits.own_hops;
	if (*hop < nb_hops)
		return 0;
	*result = json_sprintf("next hop %u is not below the limit of %u next hops", *hop, nb_hops);
	return -EINVAL;
}

static int
route_add_command(void *arg, const json_t *args, json_t **result)
{
	struct weir_node_prefix prefix;
	uint32_t hop;
	int rc = get_prefix(args, &prefix, result);

	if (rc == 0)
		rc = get_hop(args, "hop", &hop, result);
	if (rc < 0)
		return rc;
	rc = weir_node_route_add(&prefix, hop);
	if (rc < 0)
		return wrong(result, rc,
			rc == -ENOENT   ? "there is no such next hop"
			: rc == -ENOSPC ? "the table is full, see the log for which limit"
					: strerror(-rc));
	*result = json_true();
	return 0;
}

static int
route_delete_command(void *arg, const json_t *args, json_t **result)
{
	struct weir_node_prefix prefix;
	int rc = get_prefix(args, &prefix, result);

	if (rc < 0)
		return rc;
	rc = weir_node_route_delete(&prefix);
	if (rc < 0)
		return wrong(result, rc, rc == -ENOENT ? "there is no such route" : strerror(-rc));
	*result = json_true();
	return 0;
}

static int
parse_address(const char *text, struct weir_node_prefix *address)
{
	char prefix[64];

	if (text == NULL || snprintf(prefix, sizeof(prefix), "%s/%d", text,
				    strchr(text, ':') != NULL ? 128 : 32) >= (int)sizeof(prefix))
		return -EINVAL;
	return weir_node_prefix_parse(prefix, address, NULL);
}

static int
route_lookup_command(void *arg, const json_t *args, json_t **result)
{
	struct weir_node_prefix address, found;
	char text[64];
	uint32_t hop;
	int rc = parse_address(json_string_value(json_object_get(args, "address")), &address);

	if (rc < 0)
		return wrong(result, rc, "expected {\"address\": \"192.0.2.1\"}");
	rc = weir_node_route_lookup(address.version, address.address, &hop, &found);
	if (rc < 0)
		return wrong(result, rc, rc == -ENOENT ? "no prefix matches" : strerror(-rc));
	weir_node_prefix_print(&found, text, sizeof(text));
	*result = json_pack("{s:s, s:I}", "prefix", text, "hop", (json_int_t)hop);
	return 0;
}

/* What to do with packets of a neighbour: "kind", and for the usual one "port" and "mac". */
static int
get_neighbour(const json_t *args, struct weir_node_hop *hop, json_t **result)
{
	static const char *const kinds[] = {
		[WEIR_NODE_HOP_FORWARD] = "forward",
		[WEIR_NODE_HOP_INCOMPLETE] = "incomplete",
		[WEIR_NODE_HOP_BLACKHOLE] = "blackhole",
		[WEIR_NODE_HOP_LOCAL] = "local",
	};
	const json_t *kind = json_object_get(args, "kind");
	const char *port = json_string_value(json_object_get(args, "port"));
	const char *mac = json_string_value(json_object_get(args, "mac"));
	size_t i = WEIR_NODE_HOP_FORWARD;

	memset(hop, 0, sizeof(*hop));
	if (kind != NULL)
		for (i = 0; i < RTE_DIM(kinds); i++)
			if (json_is_string(kind) && strcmp(json_string_value(kind), kinds[i]) == 0)
				break;
	if (i == RTE_DIM(kinds))
		return wrong(result, -EINVAL,
			"\"kind\" is one of forward, incomplete, blackhole, local");
	hop->kind = (enum weir_node_hop_kind)i;
	if (hop->kind == WEIR_NODE_HOP_BLACKHOLE || hop->kind == WEIR_NODE_HOP_LOCAL)
		return 0;
	hop->port = weir_node_port_from_name(port);
	if (hop->port == WEIR_NODE_PORT_INVALID)
		return wrong(result, -EINVAL, "\"port\" names no port");
	if (hop->kind == WEIR_NODE_HOP_FORWARD &&
		(mac == NULL || rte_ether_unformat_addr(mac, &hop->mac) < 0))
		return wrong(result, -EINVAL, "expected \"mac\", such as \"02:00:00:00:00:01\"");
	return 0;
}

static int
neighbour_add_command(void *arg, const json_t *args, json_t **result)
{
	struct weir_node_hop hop;
	uint32_t id;
	int rc = get_hop(args, "id", &id, result);

	if (rc == 0)
		rc = get_neighbour(args, &hop, result);
	if (rc < 0)
		return rc;
	rc = weir_node_hop_set(id, &hop);
	if (rc < 0)
		return wrong(result, rc,
			rc == -EINVAL ? "the number is not below the limit of next hops"
				      : strerror(-rc));
	*result = json_true();
	return 0;
}

static int
neighbour_delete_command(void *arg, const json_t *args, json_t **result)
{
	uint32_t id;
	int rc = get_hop(args, "id", &id, result);

	if (rc < 0)
		return rc;
	rc = weir_node_hop_delete(id);
	if (rc < 0)
		return wrong(result, rc,
			rc == -EBUSY    ? "routes lead to it"
			: rc == -ENOENT ? "there is no such neighbour"
					: strerror(-rc));
	*result = json_true();
	return 0;
}

static int
punt_capture_command(void *arg, const json_t *args, json_t **result)
{
	const json_t *file = json_object_get(args, "file");
	int rc;

	if (file != NULL && !json_is_string(file) && !json_is_null(file))
		return wrong(result, -EINVAL,
			"expected {\"file\": \"punted.pcap\"}, or nothing to stop");
	rc = weir_node_punt_capture(json_string_value(file));
	if (rc < 0)
		return wrong(result, rc, strerror(-rc));
	*result = json_true();
	return 0;
}

int
weir_node_ctl_register(struct weir_base_ctl *ctl)
{
	static const struct weir_base_ctl_entry commands[] = {
		{"node/ports", "all ports with their counters", NULL, WEIR_BASE_CTL_READ_ONLY,
			ports_command},
		{"node/reasons", "packets dropped and punted by reason", NULL,
			WEIR_BASE_CTL_READ_ONLY, reasons_command},
		{"node/totals", "where all packets went", NULL, WEIR_BASE_CTL_READ_ONLY,
			totals_command},
		{"node/routes", "numbers of routes and next hops, and their limits", NULL,
			WEIR_BASE_CTL_READ_ONLY, routes_command},
		{"route/add", "add or replace a route: prefix, hop", "prefix hop", 0,
			route_add_command},
		{"route/delete", "delete a route: prefix", "prefix", 0, route_delete_command},
		{"route/lookup", "longest prefix of an address: address", "address", 0,
			route_lookup_command},
		{"neighbour/add", "set a next hop: id, port, mac; or id, kind", "id kind port mac",
			0, neighbour_add_command},
		{"neighbour/delete", "forget a next hop: id", "id", 0, neighbour_delete_command},
		{"punt/capture", "write punted packets to a capture file: file; without it, stop",
			"file", 0, punt_capture_command},
	};

	return weir_base_ctl_register_all(ctl, commands, RTE_DIM(commands), NULL);
}
