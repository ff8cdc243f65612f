/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_NODE_ROUTE_H
#define WEIR_NODE_ROUTE_H

/**
 * @file
 * Routes and neighbours: changed at any time while packets flow.
 *
 * A route leads from a prefix to a next hop; a next hop is what the rewrite
 * nodes need: port, Ethernet header. Both IP versions share the next hops.
 *
 * Look-ups never wait and never see a table in change: there are two copies of
 * it (left-right, after Ramalhete and Correia, 2013). A change goes to the one that no reader
 * uses, readers are switched over, weir_graph_synchronize() waits until the other is
 * unused, and the change is replayed there. So single changes cost a grace period each; put
 * many into one batch.
 *
 * Threads: control calls from any thread, serialised by one lock; look-ups of
 * weir_node_route_fast.h inside process() of a walking graph only.
 *
 * Errors: 0 or a negative errno with a reason in the log under "node".
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <rte_ether.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_NODE_HOP_INVALID UINT32_MAX /**< no next hop */

/** Limits of the tables; memory is taken once. Zero: the default of each. */
struct weir_node_route_limits {
	uint32_t ip4_routes; /**< 0: 1,048,576 */
	uint32_t
		ip4_long_groups; /**< groups of 256 addresses with prefixes longer than /24; 0: 32,767 */
	uint32_t ip6_routes; /**< 0: 262,144 */
	uint32_t
		ip6_groups; /**< trie nodes of 256; 0: 1,048,576; the Internet's table of 2024 needs 38,096 */
	uint32_t next_hops; /**< 0: 4,096; at most 1,048,576 */
	int socket_id;      /**< NUMA node; -1: any */
	uint32_t
		own_hops; /**< so many of next_hops, the last ones, are the program's own: neither control commands nor route files may name them; fewer than next_hops */
};

/** Make the tables, empty. -EEXIST when they are there, -ENOMEM, -EINVAL. */
int weir_node_route_init(const struct weir_node_route_limits *limits);

/**
 * Most memory that tables of these limits take, in bytes; 0 when weir_node_route_init() would refuse them. Any thread.
 *
 * None of it comes from EAL's memory: tables are anonymous mappings on transparent huge pages where
 * the system has them, and pages are taken when first written. Per copy of a table, of which there are two:
 *  - IPv4: 2^24 slots and 256 for each group; IPv6: likewise, of which the slots that no route covers take nothing.
 *    A slot is 2 bytes when there are at most 32,767 next hops and 32,768 groups, else 4.
 *  - next hops: 32 bytes each.
 * And once: 64 bytes for each route. The defaults come to 64 + 32 MB for IPv4, 128 MB + 2 GB for IPv6,
 * and 84 MB for routes; the Internet's tables of 2024 use 220 MB of that.
 */
uint64_t weir_node_route_memory_bytes(const struct weir_node_route_limits *limits);

/** Free the tables; no graph may use them. */
void weir_node_route_fini(void);

/** What to do with packets of a next hop. */
enum weir_node_hop_kind {
	WEIR_NODE_HOP_FORWARD,    /**< send out of port to mac */
	WEIR_NODE_HOP_INCOMPLETE, /**< MAC address unknown: punt */
	WEIR_NODE_HOP_BLACKHOLE,  /**< drop */
	WEIR_NODE_HOP_LOCAL,      /**< an address of ours: punt */
};

/** A next hop (neighbour). */
struct weir_node_hop {
	enum weir_node_hop_kind kind; /**< what to do */
	uint16_t port;                /**< port id to send out of */
	struct rte_ether_addr mac;    /**< destination MAC address; the source is the port's own */
};

/**
 * Set next hop @p id (below the limit), new or in place: routes that point to
 * it follow at once, packets see the old one or the new one whole.
 * -EINVAL, -ENOENT (no such port), -ETIMEDOUT as weir_node_route_add().
 * The port's MAC address, VLAN and MTU are taken now: set it again when they change.
 */
int weir_node_hop_set(uint32_t id, const struct weir_node_hop *hop);

/** Forget a next hop; -EBUSY while routes point to it, -ENOENT. */
int weir_node_hop_delete(uint32_t id);

/** Read a next hop back. -ENOENT. */
int weir_node_hop_get(uint32_t id, struct weir_node_hop *hop);

/** A prefix of either version. */
struct weir_node_prefix {
	uint8_t version;     /**< 4 or 6 */
	uint8_t length;      /**< 0 to 32 or 128 */
	uint8_t address[16]; /**< network order; IPv4 in the first 4; bits beyond length zero */
};

/**
 * Parse "192.0.2.0/24" or "2001:db8::/32".
 *
 * @param[out] why  what is wrong and what was expected, a constant string; may be NULL
 * @return 0 or -EINVAL
 */
int weir_node_prefix_parse(const char *text, struct weir_node_prefix *prefix, const char **why);

/** Print a prefix into a buffer of at least 64 bytes. */
void weir_node_prefix_print(const struct weir_node_prefix *prefix, char *text, size_t size);

/**
 * Add a route, or replace its next hop. Takes a grace period: when a worker does not end its walk within 5 s, the
 * change is in force nevertheless, and it is the next one that has to wait for that worker.
 *
 * @return 0; -EINVAL (prefix), -ENOENT (next hop), -ENOSPC (limit, named in the log), -ENOMEM;
 *   -ETIMEDOUT: a worker has been inside one walk since an earlier change; nothing was changed
 */
int weir_node_route_add(const struct weir_node_prefix *prefix, uint32_t hop);

/** Delete a route. -ENOENT, else as weir_node_route_add(). */
int weir_node_route_delete(const struct weir_node_prefix *prefix);

struct weir_node_route_batch; /* changes that take effect together */

/** Begin a batch; NULL with errno ENOMEM. Nothing is seen until it is committed. One thread uses it. */
struct weir_node_route_batch *weir_node_route_batch_begin(void);

/** Note a route to add or replace. -ENOMEM. */
int weir_node_route_batch_add(
	struct weir_node_route_batch *batch, const struct weir_node_prefix *prefix, uint32_t hop);

/** Note a route to delete. -ENOMEM. */
int weir_node_route_batch_delete(
	struct weir_node_route_batch *batch, const struct weir_node_prefix *prefix);

/**
 * Apply a batch and free it. All of it takes effect in one switch per IP version. On an error
 * (-ENOSPC, -ENOENT, -ENOMEM, -ETIMEDOUT) none of it does: the tables are as before. Changes are applied in
 * the order noted; limits hold for their result only.
 */
int weir_node_route_batch_commit(struct weir_node_route_batch *batch);

/** Free a batch without applying it. */
void weir_node_route_batch_abort(struct weir_node_route_batch *batch);

/** Something wrong with a line of a route file. */
typedef void (*weir_node_route_file_error_t)(
	void *arg, const char *file, unsigned int line, unsigned int column, const char *message);

/**
 * Read a route file into a batch: a line is `prefix/length next_hop`, blank lines and `#` comments allowed,
 * gzip'ed files too. Next hop numbers are offset by @p hop_base.
 *
 * @param report  called for each bad line (may be NULL); reading goes on
 * @return routes noted, or a negative errno: -EINVAL when any line was bad, -ENOENT ...
 */
int64_t weir_node_route_file_read(const char *path, uint32_t hop_base,
	struct weir_node_route_batch *batch, weir_node_route_file_error_t report, void *arg);

/**
 * Longest matching prefix of an address, from the control side.
 *
 * @param version       4 or 6
 * @param address       4 or 16 bytes, network order
 * @param[out] hop      its next hop; may be NULL
 * @param[out] prefix   the route's; may be NULL
 * @return 0; -ENOENT: no route matches; -EINVAL: no such version
 */
int weir_node_route_lookup(
	uint8_t version, const uint8_t *address, uint32_t *hop, struct weir_node_prefix *prefix);

/** Numbers of routes and groups in use. */
struct weir_node_route_info {
	uint32_t ip4_routes;                  /**< in the table */
	uint32_t ip6_routes;                  /**< in the table */
	uint32_t ip4_long_groups;             /**< groups that IPv4 routes longer than /24 need */
	uint32_t ip6_groups;                  /**< groups that IPv6 routes longer than /24 need */
	uint32_t next_hops;                   /**< set */
	uint64_t switches;                    /**< times readers were moved to the other copy */
	struct weir_node_route_limits limits; /**< as in force */
};

/** How full the tables are. */
void weir_node_route_info(struct weir_node_route_info *info);

/**
 * Call @p visit for each route of a version, in order of addresses; a non-zero return ends it and is returned. Under
 * the control lock: of this header, @p visit may call the functions for prefixes only.
 *
 * @return 0; what @p visit returned; -EINVAL: no such version
 */
int weir_node_route_foreach(uint8_t version,
	int (*visit)(void *arg, const struct weir_node_prefix *prefix, uint32_t hop), void *arg);

#ifdef __cplusplus
}
#endif

#endif
