/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Batches: all or none. Everything that can fail is done to the RIB, where it
 * can be taken back; only then are FIB copies painted, which cannot fail.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weir_base.h"

#include "route_internal.h"

struct weir_node_route_batch *
weir_node_route_batch_begin(void)
{
	struct weir_node_route_batch *batch = calloc(1, sizeof(*batch));

	if (batch == NULL)
		errno = ENOMEM;
	return batch;
}

void
weir_node_route_batch_abort(struct weir_node_route_batch *batch)
{
	if (batch == NULL)
		return;
	free(batch->ops[0].ops);
	free(batch->ops[1].ops);
	free(batch);
}

static int
note(struct weir_node_route_batch *batch, const struct weir_node_prefix *prefix, uint32_t hop)
{
	struct weir_node_route_ops *ops;
	const char *why = weir_node_prefix_check(prefix);

	if (why != NULL) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "node", "bad prefix: %s", why);
		return -EINVAL;
	}
	ops = &batch->ops[prefix->version == 6];
	if (ops->nb == ops->size) {
		size_t size = ops->size == 0 ? 16 : 2 * ops->size;
		void *bigger = realloc(ops->ops, size * sizeof(*ops->ops));

		if (bigger == NULL)
			return -ENOMEM;
		ops->ops = bigger;
		ops->size = size;
	}
	ops->ops[ops->nb++] = (struct weir_node_route_op){
		.key = weir_node_route_key_of(prefix->version, prefix->address),
		.hop = hop,
		.length = prefix->length,
	};
	ops->nb_deletes += hop == WEIR_NODE_HOP_INVALID;
	return 0;
}

int
weir_node_route_batch_add(
	struct weir_node_route_batch *batch, const struct weir_node_prefix *prefix, uint32_t hop)
{
	if (hop == WEIR_NODE_HOP_INVALID) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "node", "a route needs a next hop");
		return -EINVAL;
	}
	return note(batch, prefix, hop);
}

int
weir_node_route_batch_delete(
	struct weir_node_route_batch *batch, const struct weir_node_prefix *prefix)
{
	return note(batch, prefix, WEIR_NODE_HOP_INVALID);
}

static void
say(uint8_t version, const struct weir_node_route_op *op, const char *what)
{
	struct weir_node_prefix prefix;
	char text[64];

	weir_node_route_key_prefix(version, op->key, op->length, &prefix);
	weir_node_prefix_print(&prefix, text, sizeof(text));
	weir_base_log(WEIR_BASE_LOG_ERROR, "node", "route %s: %s", text, what);
}

/* Move a route's reference from one next hop to another. */
static void
refer(uint32_t from, uint32_t to)
{
	if (from != WEIR_NODE_HOP_INVALID)
		weir_node_route_state.hop_routes[from]--;
	if (to != WEIR_NODE_HOP_INVALID)
		weir_node_route_state.hop_routes[to]++;
}

static int
apply_one(struct weir_node_route_table *table, uint8_t version, struct weir_node_route_op *op)
{
	const struct weir_node_route_state *state = &weir_node_route_state;
	int ret;

	if (op->hop == WEIR_NODE_HOP_INVALID) {
		ret = weir_node_rib_delete(&table->rib, &op->key, op->length, &op->old);
		if (ret < 0)
			say(version, op, "cannot delete it: there is none");
	} else if (op->hop >= state->limits.next_hops || !state->hop_set[op->hop]) {
		ret = -ENOENT;
		say(version, op, "its next hop is not set");
	} else {
		ret = weir_node_rib_add(&table->rib, &op->key, op->length, op->hop, &op->old);
		if (ret < 0)
			say(version, op, "no memory");
	}
	if (ret == 0)
		refer(op->old, op->hop);
	return ret;
}

/* Take back the first @p nb operations, the last one first. Needs no memory: nodes that were freed are still there. */
static void
undo(struct weir_node_route_table *table, struct weir_node_route_ops *ops, size_t nb)
{
	uint32_t ignored;

	while (nb > 0) {
		struct weir_node_route_op *op = &ops->ops[--nb];

		if (op->old == WEIR_NODE_HOP_INVALID)
			weir_node_rib_delete(&table->rib, &op->key, op->length, &ignored);
		else
			weir_node_rib_add(&table->rib, &op->key, op->length, op->old, &ignored);
		refer(op->hop, op->old);
	}
}

/* Change the RIB, or leave it as it was. */
static int
apply(struct weir_node_route_table *table, uint8_t version, struct weir_node_route_ops *ops)
{
	size_t i;
	int ret;

	for (i = 0; i < ops->nb; i++) {
		ret = apply_one(table, version, &ops->ops[i]);
		if (ret < 0) {
			undo(table, ops, i);
			return ret;
		}
	}
	if (table->rib.nb_routes <= table->max_routes && table->rib.nb_groups <= table->max_groups)
		return 0;
	if (table->rib.nb_routes > table->max_routes)
		weir_base_log(WEIR_BASE_LOG_ERROR, "node",
			"%u IPv%u routes are over the limit of %u (ip%u_routes)",
			table->rib.nb_routes, version, table->max_routes, version);
	else
		weir_base_log(WEIR_BASE_LOG_ERROR, "node",
			"%u groups of IPv%u routes are over the limit of %u (%s)",
			table->rib.nb_groups, version, table->max_groups,
			version == 4 ? "ip4_long_groups" : "ip6_groups");
	undo(table, ops, ops->nb);
	return -ENOSPC;
}

static int
compare(const void *a, const void *b)
{
	const struct weir_node_route_change *x = a, *y = b;

	if (x->key.hi != y->key.hi)
		return x->key.hi < y->key.hi ? -1 : 1;
	if (x->key.lo != y->key.lo)
		return x->key.lo < y->key.lo ? -1 : 1;
	return (int)x->length - (int)y->length;
}

/*
 * What has to be painted for an operation. A route that is gone may have been the only one that
 * needed the group which it was in: then the whole slot above is painted, as a group no more.
 */
static struct weir_node_route_change
change_of(const struct weir_node_rib *rib, const struct weir_node_route_op *op, bool may_be_gone)
{
	struct weir_node_route_change change = {.key = op->key, .length = op->length};
	unsigned int shared, level;

	if (!may_be_gone || op->length <= WEIR_NODE_FIB_ROOT_BITS ||
		weir_node_rib_find(rib, &op->key, op->length) != NULL)
		return change;
	shared = weir_node_rib_shared(rib, &op->key, op->length);
	level = WEIR_NODE_FIB_ROOT_BITS;
	if (shared >= level)
		level += (shared - level) / WEIR_NODE_FIB_GROUP_BITS * WEIR_NODE_FIB_GROUP_BITS +
			 WEIR_NODE_FIB_GROUP_BITS;
	if (level < op->length) {
		change.key = weir_node_route_key_cut(op->key, level);
		change.length = (uint8_t)level;
		change.release = 1;
	}
	return change;
}

static void
collect(struct weir_node_route_table *table, const struct weir_node_route_ops *ops,
	struct weir_node_route_change *changes)
{
	bool sorted = true;
	size_t i;

	for (i = 0; i < ops->nb; i++) {
		changes[i] = change_of(&table->rib, &ops->ops[i], ops->nb_deletes > 0);
		if (i > 0 && compare(&changes[i - 1], &changes[i]) > 0)
			sorted = false;
	}
	if (!sorted)
		qsort(changes, ops->nb, sizeof(*changes), compare);
	table->changes = changes;
	table->nb_changes = ops->nb;
	weir_node_fib_paint(&table->fib[!table->active], &table->rib, changes, ops->nb);
}

static int
commit(struct weir_node_route_batch *batch)
{
	struct weir_node_route_state *state = &weir_node_route_state;
	struct weir_node_route_change *changes[2] = {NULL, NULL};
	struct weir_node_route_ops *ops = batch->ops;
	int ret, i;

	if (!state->ready) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "node", "there are no route tables yet");
		return -EINVAL;
	}
	if (ops[0].nb == 0 && ops[1].nb == 0)
		return 0;
	ret = weir_node_route_settle();
	for (i = 0; ret == 0 && i < 2; i++) {
		changes[i] = malloc((ops[i].nb + 1) * sizeof(*changes[i]));
		if (changes[i] == NULL)
			ret = -ENOMEM;
	}
	if (ret == 0)
		ret = apply(&state->table[0], 4, &ops[0]);
	if (ret == 0) {
		ret = apply(&state->table[1], 6, &ops[1]);
		if (ret < 0)
			undo(&state->table[0], &ops[0], ops[0].nb);
	}
	if (ret < 0) {
		free(changes[0]);
		free(changes[1]);
		return ret;
	}
	collect(&state->table[0], &ops[0], changes[0]);
	collect(&state->table[1], &ops[1], changes[1]);
	weir_node_route_switch(ops[0].nb > 0, ops[1].nb > 0);
	return 0;
}

int
weir_node_route_batch_commit(struct weir_node_route_batch *batch)
{
	int ret;

	pthread_mutex_lock(&weir_node_route_state.lock);
	ret = commit(batch);
	pthread_mutex_unlock(&weir_node_route_state.lock);
	weir_node_route_batch_abort(batch);
	return ret;
}

static int
change_one(const struct weir_node_prefix *prefix, uint32_t hop)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	int ret;

	if (batch == NULL)
		return -ENOMEM;
	ret = hop == WEIR_NODE_HOP_INVALID ? weir_node_route_batch_delete(batch, prefix)
					   : weir_node_route_batch_add(batch, prefix, hop);
	if (ret == 0)
		return weir_node_route_batch_commit(batch);
	weir_node_route_batch_abort(batch);
	return ret;
}

int
weir_node_route_add(const struct weir_node_prefix *prefix, uint32_t hop)
{
	if (hop == WEIR_NODE_HOP_INVALID) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "node", "a route needs a next hop");
		return -EINVAL;
	}
	return change_one(prefix, hop);
}

int
weir_node_route_delete(const struct weir_node_prefix *prefix)
{
	return change_one(prefix, WEIR_NODE_HOP_INVALID);
}
