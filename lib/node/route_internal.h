/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_NODE_ROUTE_INTERNAL_H
#define WEIR_NODE_ROUTE_INTERNAL_H

/*
 * Inside of the route tables, for this library and its tests only.
 *
 *   RIB    the routes as told: one Patricia tree per IP version, under the lock
 *   FIB    what look-ups read: two copies per IP version (left-right)
 *
 * A FIB copy is a pure function of the RIB: after a change of the RIB, painting
 * the changed prefixes again makes a copy true, whatever it showed there
 * before. So replaying a change to the other copy is the same call again, and
 * taking a change back means to restore the RIB.
 */

#include <pthread.h>

#include "weir_node.h"
#include "weir_node_route.h"
#include "weir_node_route_fast.h"

#define WEIR_NODE_FIB_ROOT_BITS   24 /* address bits that the root of a FIB resolves */
#define WEIR_NODE_FIB_ROOT_SLOTS  (UINT32_C(1) << WEIR_NODE_FIB_ROOT_BITS)
#define WEIR_NODE_FIB_GROUP_BITS  8 /* and each group below it */
#define WEIR_NODE_FIB_GROUP_SLOTS (UINT32_C(1) << WEIR_NODE_FIB_GROUP_BITS)
#define WEIR_NODE_FIB_EXT16       UINT16_C(0x8000)     /* slot holds a group, not a next hop */
#define WEIR_NODE_FIB_EXT32       UINT32_C(0x80000000) /* the same in wide slots */

/* An address of either version, left-aligned: bit 0 is the top bit of hi. */
struct weir_node_route_key {
	uint64_t hi; /* IPv4: the address is the upper half of this */
	uint64_t lo;
};

static inline unsigned int
weir_node_route_key_bit(const struct weir_node_route_key *key, unsigned int bit)
{
	return (bit < 64 ? key->hi >> (63 - bit) : key->lo >> (127 - bit)) & 1;
}

/* Number of leading bits that two keys share, up to 128. */
static inline unsigned int
weir_node_route_key_common(const struct weir_node_route_key *a, const struct weir_node_route_key *b)
{
	if (a->hi != b->hi)
		return (unsigned int)__builtin_clzll(a->hi ^ b->hi);
	if (a->lo != b->lo)
		return 64 + (unsigned int)__builtin_clzll(a->lo ^ b->lo);
	return 128;
}

/* The key with all bits from @length on cleared. */
static inline struct weir_node_route_key
weir_node_route_key_cut(struct weir_node_route_key key, unsigned int length)
{
	if (length < 64) {
		key.hi = length == 0 ? 0 : key.hi & (UINT64_MAX << (64 - length));
		key.lo = 0;
	} else if (length < 128) {
		key.lo = length == 64 ? 0 : key.lo & (UINT64_MAX << (128 - length));
	}
	return key;
}

/* The eight bits from @bit on; bit is a multiple of 8. */
static inline uint32_t
weir_node_route_key_byte(const struct weir_node_route_key *key, unsigned int bit)
{
	return (uint32_t)(bit < 64 ? key->hi >> (56 - bit) : key->lo >> (120 - bit)) & 0xff;
}

struct weir_node_route_key weir_node_route_key_of(uint8_t version, const uint8_t *address);
void weir_node_route_key_prefix(uint8_t version, struct weir_node_route_key key, uint8_t length,
	struct weir_node_prefix *prefix);

/* Scan a prefix in text that ends at @end. Returns what follows it; NULL with *why and *where it is wrong. */
const char *weir_node_prefix_scan(const char *text, const char *end,
	struct weir_node_prefix *prefix, const char **why, const char **where);

/* Is this a prefix at all: version, length, host bits? NULL: yes, else what is wrong. */
const char *weir_node_prefix_check(const struct weir_node_prefix *prefix);

/* RIB */

struct weir_node_rib_node {
	struct weir_node_route_key key;
	uint32_t child[2]; /* index, 0: none */
	uint32_t hop;      /* WEIR_NODE_HOP_INVALID: only joins its children */
	uint8_t length;
};

struct weir_node_rib {
	struct weir_node_rib_node *nodes; /* number 0 is not used */
	uint32_t root;
	uint32_t nb_nodes; /* ever used, free ones included */
	uint32_t capacity;
	uint32_t free;      /* chain of free nodes, by child[0] */
	uint32_t nb_routes; /* in the tree */
	uint32_t nb_groups; /* that a FIB of these routes needs, exactly */
};

int weir_node_rib_init(struct weir_node_rib *rib, uint32_t nb_routes);
void weir_node_rib_fini(struct weir_node_rib *rib);

/* Add or replace; *old is its hop before, WEIR_NODE_HOP_INVALID when it is new. 0 or -ENOMEM. */
int weir_node_rib_add(struct weir_node_rib *rib, const struct weir_node_route_key *key,
	uint8_t length, uint32_t hop, uint32_t *old);

/* Remove; 0 or -ENOENT. Never needs memory. */
int weir_node_rib_delete(struct weir_node_rib *rib, const struct weir_node_route_key *key,
	uint8_t length, uint32_t *old);

/* Node of exactly this route, or NULL. */
const struct weir_node_rib_node *weir_node_rib_find(
	const struct weir_node_rib *rib, const struct weir_node_route_key *key, uint8_t length);

/* The longest route of at most @length bits that covers key, or NULL. */
const struct weir_node_rib_node *weir_node_rib_lookup(
	const struct weir_node_rib *rib, const struct weir_node_route_key *key, uint8_t length);

/*
 * How many leading bits of a prefix a FIB has to tell apart because of other
 * routes: groups below these exist whether or not the prefix is a route.
 */
unsigned int weir_node_rib_shared(
	const struct weir_node_rib *rib, const struct weir_node_route_key *key, uint8_t length);

/* Visit the routes within a prefix (itself included), shorter before longer, in order of addresses. */
int weir_node_rib_foreach(const struct weir_node_rib *rib, const struct weir_node_route_key *key,
	uint8_t length, int (*visit)(void *arg, const struct weir_node_rib_node *route), void *arg);

/* FIB */

/*
 * One mapping: the root's slots, then the groups'. A slot is 0 (no route),
 * next hop + 1, or the number of a group with the topmost bit set.
 */
struct weir_node_fib {
	void *slots;           /* uint16_t, or uint32_t when wide */
	size_t bytes;          /* of the mapping */
	bool wide;             /* 4-byte slots */
	uint32_t nb_groups;    /* limit */
	uint32_t used_groups;  /* in use */
	uint32_t fresh_groups; /* ever used: numbers below this */
	uint32_t free_group;   /* chain of free ones through their first bytes, UINT32_MAX: none */
};

/* A prefix whose slots are to be painted again. */
struct weir_node_route_change {
	struct weir_node_route_key key;
	uint8_t length;
	uint8_t release; /* the group at this prefix's own slot is not needed any more */
};

bool weir_node_fib_is_wide(uint32_t nb_groups, uint32_t next_hops);
size_t weir_node_fib_bytes(uint32_t nb_groups, bool wide);
int weir_node_fib_init(struct weir_node_fib *fib, uint32_t nb_groups, bool wide, int socket_id);
void weir_node_fib_fini(struct weir_node_fib *fib);

/* Make a copy true to the RIB in all changed prefixes, which are sorted. Cannot fail. */
void weir_node_fib_paint(struct weir_node_fib *fib, const struct weir_node_rib *rib,
	const struct weir_node_route_change *changes, size_t nb_changes);

/* Anonymous memory on huge pages where there are any, zeroed, taken when first written. NULL: ENOMEM. */
void *weir_node_route_map(size_t bytes, int socket_id);

/* Look-ups in given slots; chosen by CPU and slot width. */
typedef void (*weir_node_lookup4_t)(
	const void *slots, const uint32_t *addresses, uint32_t *hops, uint32_t nb);
typedef void (*weir_node_lookup6_t)(
	const void *slots, const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb);

enum weir_node_lookup_kind {
	WEIR_NODE_LOOKUP_BEST,
	WEIR_NODE_LOOKUP_SCALAR,
	WEIR_NODE_LOOKUP_AVX512,
};

/* NULL when this CPU cannot run that kind. */
weir_node_lookup4_t weir_node_lookup4_select(enum weir_node_lookup_kind kind, bool wide);
weir_node_lookup6_t weir_node_lookup6_select(enum weir_node_lookup_kind kind, bool wide);

/* Point the fast path at these (NULL: no tables). */
void weir_node_lookup_publish4(const void *slots, bool wide);
void weir_node_lookup_publish6(const void *slots, bool wide);
/* What a look-up would read now. */
const void *weir_node_lookup_slots(uint8_t version);

/* What a look-up of IPv4 addresses reads; no slots: there are no routes. */
struct weir_node_route4 {
	const void *slots;
	bool wide;
};
struct weir_node_route4 weir_node_lookup_routes4(void);

void weir_node_lookup_publish_hops(const struct weir_node_hop_fast *hops, uint32_t nb);

/* The tables, and everything under the lock */

struct weir_node_route_op {
	struct weir_node_route_key key;
	uint32_t hop; /* WEIR_NODE_HOP_INVALID: delete */
	uint32_t old; /* hop before, filled while applying */
	uint8_t length;
};

struct weir_node_route_ops {
	struct weir_node_route_op *ops;
	size_t nb;
	size_t size;
	size_t nb_deletes;
};

struct weir_node_route_batch {
	struct weir_node_route_ops ops[2]; /* IPv4, IPv6 */
};

struct weir_node_route_table {
	struct weir_node_rib rib;
	struct weir_node_fib fib[2];
	unsigned int active; /* the copy that readers use */
	uint32_t max_routes;
	uint32_t max_groups;
	struct weir_node_route_change *changes; /* not yet replayed to the other copy */
	size_t nb_changes;
};

struct weir_node_route_state {
	bool ready;
	pthread_mutex_t lock;
	struct weir_node_route_limits limits;
	struct weir_node_route_table table[2]; /* IPv4, IPv6 */
	uint64_t switches;
	bool stale; /* some standby copy waits for its replay */

	struct weir_node_hop *hops;             /* as set */
	uint8_t *hop_set;                       /* is it set? */
	uint32_t *hop_routes;                   /* routes that point to it */
	uint32_t nb_hops;                       /* set */
	struct weir_node_hop_fast *hop_fast[2]; /* left-right as the routes */
	unsigned int hop_active;
	bool hop_stale; /* hop_fast's standby copy waits for its replay */
};

extern struct weir_node_route_state weir_node_route_state;

/* Outside help, replaced by tests: the grace period, and what a port is like. */
extern int (*weir_node_route_grace)(uint64_t timeout_ns);
extern int (*weir_node_route_port_info)(uint16_t port, struct weir_node_port_info *info);
extern uint64_t weir_node_route_grace_timeout_ns;

/* Publish what was painted into the standby copies: swap, settle. Under the lock. */
void weir_node_route_switch(bool ip4, bool ip6);

/* Bring standby copies up to date: before and after each change. 0 or -ETIMEDOUT. Under the lock. */
int weir_node_route_settle(void);

int weir_node_hop_init(void);
void weir_node_hop_fini(void);
void weir_node_hop_replay(void);

#endif
