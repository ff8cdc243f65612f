/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What look-ups read: a root of 2^24 slots, and groups of 256 slots below
 * those that hold routes longer than 24 bits, 32 bits, and so on. IPv4
 * needs one level of groups (DIR-24-8, after Gupta, Lin and McKeown, 1998), IPv6 up to 13.
 *
 * Nobody reads the copy that is painted here, so slots are written in any
 * order, and groups that come free are used again at once.
 */

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "route_internal.h"
#include "weir_base.h"

#define PAGE_BYTES      ((size_t)4096)
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define READ_BEYOND     64 /* vector look-ups read whole words at the last slot */

void *
weir_node_route_map(size_t bytes, int socket_id)
{
	const size_t needed = RTE_ALIGN_CEIL(bytes, PAGE_BYTES);
	uint8_t *area, *start, *end;

	/* Take more, and give back what lies before the first huge page and behind the last page. */
	area = mmap(NULL, needed + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED) {
		errno = ENOMEM;
		return NULL;
	}
	end = area + needed + HUGE_PAGE_BYTES;
	start = RTE_PTR_ALIGN_CEIL(area, HUGE_PAGE_BYTES);
	if (start > area)
		munmap(area, (size_t)(start - area));
	if (end > start + needed)
		munmap(start + needed, (size_t)(end - start) - needed);
	/* With 4 KiB pages nearly every look-up would miss the TLB. Advice only: without huge pages it works, slower. */
	madvise(start, needed, MADV_HUGEPAGE);
	/* Preferred, so that a machine without NUMA does not care. */
	(void)weir_base_prefer_node(start, needed, socket_id);
	return start;
}

bool
weir_node_fib_is_wide(uint32_t nb_groups, uint32_t next_hops)
{
	return nb_groups > WEIR_NODE_FIB_EXT16 || next_hops >= WEIR_NODE_FIB_EXT16;
}

size_t
weir_node_fib_bytes(uint32_t nb_groups, bool wide)
{
	size_t slots = WEIR_NODE_FIB_ROOT_SLOTS + (size_t)nb_groups * WEIR_NODE_FIB_GROUP_SLOTS;

	return RTE_ALIGN_CEIL(
		slots * (wide ? sizeof(uint32_t) : sizeof(uint16_t)) + READ_BEYOND, PAGE_BYTES);
}

int
weir_node_fib_init(struct weir_node_fib *fib, uint32_t nb_groups, bool wide, int socket_id)
{
	memset(fib, 0, sizeof(*fib));
	fib->bytes = weir_node_fib_bytes(nb_groups, wide);
	fib->wide = wide;
	fib->nb_groups = nb_groups;
	fib->free_group = UINT32_MAX;
	fib->slots = weir_node_route_map(fib->bytes, socket_id);
	return fib->slots == NULL ? -ENOMEM : 0;
}

void
weir_node_fib_fini(struct weir_node_fib *fib)
{
	if (fib->slots != NULL)
		munmap(fib->slots, fib->bytes);
	memset(fib, 0, sizeof(*fib));
}

static inline uint32_t
slot_get(const struct weir_node_fib *fib, size_t slot)
{
	return fib->wide ? ((const uint32_t *)fib->slots)[slot]
			 : ((const uint16_t *)fib->slots)[slot];
}

static inline void
slot_set(struct weir_node_fib *fib, size_t slot, uint32_t value)
{
	if (fib->wide)
		((uint32_t *)fib->slots)[slot] = value;
	else
		((uint16_t *)fib->slots)[slot] = (uint16_t)value;
}

static inline uint32_t
ext_bit(const struct weir_node_fib *fib)
{
	return fib->wide ? WEIR_NODE_FIB_EXT32 : WEIR_NODE_FIB_EXT16;
}

static inline size_t
group_slot(uint32_t group)
{
	return WEIR_NODE_FIB_ROOT_SLOTS + (size_t)group * WEIR_NODE_FIB_GROUP_SLOTS;
}

static void
slots_set(struct weir_node_fib *fib, size_t slot, size_t nb, uint32_t value)
{
	size_t i;

	if (fib->wide) {
		uint32_t *slots = (uint32_t *)fib->slots + slot;

		for (i = 0; i < nb; i++)
			slots[i] = value;
	} else {
		uint16_t *slots = (uint16_t *)fib->slots + slot;

		for (i = 0; i < nb; i++)
			slots[i] = (uint16_t)value;
	}
}

/* Where a free group keeps the number of the next one: in its own first bytes. */
static void *
group_link(struct weir_node_fib *fib, uint32_t group)
{
	return (uint8_t *)fib->slots +
	       group_slot(group) * (fib->wide ? sizeof(uint32_t) : sizeof(uint16_t));
}

/* Take a group whose slots all hold @value. */
static uint32_t
group_new(struct weir_node_fib *fib, uint32_t value)
{
	uint32_t group = fib->free_group;

	if (group != UINT32_MAX) {
		memcpy(&fib->free_group, group_link(fib, group), sizeof(fib->free_group));
	} else {
		/* The RIB counts the groups that its routes need, and refuses those that would need more. */
		assert(fib->fresh_groups < fib->nb_groups);
		group = fib->fresh_groups++;
	}
	fib->used_groups++;
	slots_set(fib, group_slot(group), WEIR_NODE_FIB_GROUP_SLOTS, value);
	return group;
}

/* Do any of 256 slots, or fewer, lead to a group? Without a branch per slot: whole tables are searched. */
static bool
any_group(const struct weir_node_fib *fib, size_t slot, size_t nb)
{
	uint32_t all = 0;
	size_t i;

	if (fib->wide) {
		const uint32_t *slots = (const uint32_t *)fib->slots + slot;

		for (i = 0; i < nb; i++)
			all |= slots[i];
	} else {
		const uint16_t *slots = (const uint16_t *)fib->slots + slot;
		uint16_t narrow = 0;

		for (i = 0; i < nb; i++)
			narrow |= slots[i];
		all = narrow;
	}
	return (all & ext_bit(fib)) != 0;
}

static void groups_free(struct weir_node_fib *fib, size_t slot, size_t nb);

/* Free the group that a slot leads to, if any, with those below it. */
static void
group_free(struct weir_node_fib *fib, size_t slot)
{
	const uint32_t ext = ext_bit(fib);
	uint32_t group = slot_get(fib, slot);

	if ((group & ext) == 0)
		return;
	group &= ~ext;
	groups_free(fib, group_slot(group), WEIR_NODE_FIB_GROUP_SLOTS);
	memcpy(group_link(fib, group), &fib->free_group, sizeof(fib->free_group));
	fib->free_group = group;
	fib->used_groups--;
	slot_set(fib, slot, 0);
}

/* The same for a run of slots: a power of two, aligned. At most 13 levels deep. */
static void
groups_free(struct weir_node_fib *fib, size_t slot, size_t nb)
{
	const size_t block = RTE_MIN(nb, (size_t)WEIR_NODE_FIB_GROUP_SLOTS);
	size_t i, j;

	for (i = 0; i < nb && fib->used_groups > 0; i += block) {
		if (likely(!any_group(fib, slot + i, block)))
			continue;
		for (j = 0; j < block; j++)
			group_free(fib, slot + i + j);
	}
}

static void
fill(struct weir_node_fib *fib, size_t slot, size_t nb, uint32_t value)
{
	groups_free(fib, slot, nb);
	slots_set(fib, slot, nb, value);
}

/* Let all addresses of a prefix lead to @value, and make what groups that takes. */
static void
paint_prefix(struct weir_node_fib *fib, const struct weir_node_route_key *key, unsigned int length,
	uint32_t value)
{
	const uint32_t ext = ext_bit(fib);
	unsigned int bits = WEIR_NODE_FIB_ROOT_BITS;
	size_t slot = (size_t)(key->hi >> (64 - WEIR_NODE_FIB_ROOT_BITS));
	uint32_t here;

	for (; length > bits; bits += WEIR_NODE_FIB_GROUP_BITS) {
		here = slot_get(fib, slot);
		if ((here & ext) == 0) {
			here = group_new(fib, here) | ext;
			slot_set(fib, slot, here);
		}
		slot = group_slot(here & ~ext) + weir_node_route_key_byte(key, bits);
	}
	fill(fib, slot, (size_t)1 << (bits - length), value);
}

/* Free the group at a slot of @length bits (24, 32 ...), if it is there. */
static void
release(struct weir_node_fib *fib, const struct weir_node_route_key *key, unsigned int length)
{
	const uint32_t ext = ext_bit(fib);
	unsigned int bits = WEIR_NODE_FIB_ROOT_BITS;
	size_t slot = (size_t)(key->hi >> (64 - WEIR_NODE_FIB_ROOT_BITS));
	uint32_t here;

	for (; length > bits; bits += WEIR_NODE_FIB_GROUP_BITS) {
		here = slot_get(fib, slot);
		if ((here & ext) == 0)
			return;
		slot = group_slot(here & ~ext) + weir_node_route_key_byte(key, bits);
	}
	groups_free(fib, slot, 1);
}

static int
paint_route(void *arg, const struct weir_node_rib_node *route)
{
	paint_prefix(arg, &route->key, route->length, route->hop + 1);
	return 0;
}

/* Does a change lie within one that comes before it in their order? */
static bool
is_within(const struct weir_node_route_change *change, const struct weir_node_route_change *outer)
{
	return weir_node_route_key_common(&change->key, &outer->key) >= outer->length;
}

void
weir_node_fib_paint(struct weir_node_fib *fib, const struct weir_node_rib *rib,
	const struct weir_node_route_change *changes, size_t nb_changes)
{
	const struct weir_node_route_change *change, *painted = NULL;
	const struct weir_node_rib_node *cover;
	size_t i;

	/* First what frees groups, so that there are never more than the RIB has counted. */
	for (i = 0; i < nb_changes; i++)
		if (changes[i].release)
			release(fib, &changes[i].key, changes[i].length);
	for (i = 0; i < nb_changes; i++) {
		change = &changes[i];
		if (painted != NULL && is_within(change, painted))
			continue;
		painted = change;
		cover = weir_node_rib_lookup(rib, &change->key, change->length);
		paint_prefix(fib, &change->key, change->length, cover == NULL ? 0 : cover->hop + 1);
		weir_node_rib_foreach(rib, &change->key, change->length, paint_route, fib);
	}
}
