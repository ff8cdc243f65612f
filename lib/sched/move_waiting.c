/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What waits for flows that move. What is ready of them is in a shard's lists, among what is ready of others: it is set aside by its nodes
 * there, and then becomes new nodes of the shard where they go. What waits behind an event of an atomic flow stays in the flow's lane meanwhile,
 * where more of it may come.
 */

#include "move_flows.h"

/* By the node that it has there. */
static void
take_along(struct moving *moving, uint32_t node)
{
	const struct rte_event event = event_load(&moving->from->events[node]);

	node_put(moving->from, node);
	shard_arrive(moving->port->home, &event);
}

/* An event that was ready: of an atomic flow the first one, which those behind it follow. */
static void
take_along_flow(struct moving *moving, uint32_t node)
{
	const struct shard *from = moving->from;
	const uint64_t word = from->events[node].event;
	uint32_t next = NONE;

	if (event_type(moving->builtin, word) == RTE_SCHED_TYPE_ATOMIC) {
		struct lane *lane = event_lane(moving->builtin, word, RTE_SCHED_TYPE_ATOMIC);

		next = lane->first;
		*lane = (struct lane){0};
	}
	take_along(moving, node);
	while (next != NONE) {
		node = next;
		next = from->next[node];
		take_along(moving, node);
	}
}

static bool
event_goes(const struct moving *moving, uint64_t word)
{
	const struct builtin *builtin = moving->builtin;

	return event_type(builtin, word) != RTE_SCHED_TYPE_PARALLEL &&
	       goes(moving, word_queue(word), event_class(builtin, word));
}

static void
set_aside(struct moving *moving, uint32_t node)
{
	struct shard *from = moving->from;

	from->nb_ready--;
	from->next[node] = NONE;
	ready_append(from, &moving->aside, node);
}

/* From where that was done before on. */
static void
set_aside_of(struct moving *moving, struct ready *ready, uint32_t *last)
{
	struct shard *from = moving->from;
	uint32_t *link = *last != NONE ? &from->next[*last] : &ready->first, node;

	ready->last = *last;
	while ((node = *link) != NONE) {
		if (event_goes(moving, from->events[node].event)) {
			*link = from->next[node];
			set_aside(moving, node);
		} else {
			ready->last = node;
			link = &from->next[node];
		}
	}
	*last = ready->last;
}

/* What is ready, and was not looked at before. Others are told that it is here until it is there: words for lists that are empty now stay. */
void
move_set_aside(struct moving *moving)
{
	struct shard *from = moving->from;

	shard_share_next(from);
	for (uint32_t p = from->ready_priorities; p != 0; p &= p - 1) {
		const unsigned int priority = (unsigned int)__builtin_ctz(p);

		for (uint64_t g = from->ready_groups[priority]; g != 0; g &= g - 1) {
			const unsigned int group = (unsigned int)__builtin_ctzll(g);

			set_aside_of(moving, &from->ready[priority][group],
				&moving->last[priority][group]);
		}
	}
}

/* They do not go now. */
void
move_put_back(struct moving *moving)
{
	struct shard *from = moving->from;
	uint32_t node = moving->aside.first;

	while (node != NONE) {
		const uint32_t next = from->next[node];

		from->next[node] = NONE;
		shard_make_ready(from, node);
		node = next;
	}
}

/* What has passed those that wait has done so wherever they are. */
static void
take_along_passed(struct moving *moving, unsigned int priority)
{
	struct shard *from = moving->from, *to = moving->port->home;

	if ((to->ready_priorities >> priority & 1) != 0)
		to->nb_passed[priority] =
			RTE_MAX(to->nb_passed[priority], from->nb_passed[priority]);
	if ((from->ready_priorities >> priority & 1) == 0)
		from->nb_passed[priority] = 0;
}

/* Nothing may be left of a priority. */
static void
clear_empty(struct moving *moving, unsigned int priority)
{
	struct shard *from = moving->from;

	for (uint64_t g = from->ready_groups[priority]; g != 0; g &= g - 1) {
		const unsigned int group = (unsigned int)__builtin_ctzll(g);

		if (from->ready[priority][group].first == NONE)
			clear_ready_group(from, priority, group);
	}
}

/* What was set aside, and what waits behind it. */
void
move_take_along(struct moving *moving)
{
	struct shard *from = moving->from;
	uint32_t node = moving->aside.first;

	while (node != NONE) {
		const uint32_t next = from->next[node];

		take_along_flow(moving, node);
		node = next;
	}
}

/* All that is there is of flows that stay. */
void
move_clear_empty(struct moving *moving)
{
	for (uint32_t p = moving->from->ready_priorities; p != 0; p &= p - 1) {
		const unsigned int priority = (unsigned int)__builtin_ctz(p);

		clear_empty(moving, priority);
		take_along_passed(moving, priority);
	}
}
