/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of each flow, when its latest packet came that has left. Who leaves after one that came later was overtaken
 * (RFC 4737: reordered). Flows are found by hashing, those that have sent anything, as there may be 2^32 of them.
 */
#include <stdlib.h>

#include "sim.h"

#define ROOM_FIRST 64

static inline size_t
place(const struct sim_flows *flows, uint32_t flow)
{
	size_t at = flow * UINT64_C(0x9e3779b97f4a7c15) >> 16 & (flows->room - 1);

	while (flows->all[at].is_used && flows->all[at].flow != flow)
		at = (at + 1) & (flows->room - 1);
	return at;
}

/* At most half of the room is used. */
static bool
grow(struct sim_flows *flows)
{
	const struct sim_flows old = *flows;
	size_t i;

	flows->room = old.room == 0 ? ROOM_FIRST : old.room * 2;
	flows->all = calloc(flows->room, sizeof(*flows->all));
	if (flows->all == NULL) {
		*flows = old;
		return false;
	}
	for (i = 0; i < old.room; i++)
		if (old.all[i].is_used)
			flows->all[place(flows, old.all[i].flow)] = old.all[i];
	free(old.all);
	return true;
}

bool
sim_flows_overtaken(struct sim *sim, uint32_t packet)
{
	const struct sim_packet *const of = &sim->packets.all[packet];
	struct sim_flows *const flows = &sim->streams[of->stream].flows_left;
	struct sim_flow *flow;

	if (flows->nb >= flows->room / 2 && !grow(flows)) {
		sim->error = -ENOMEM;
		return false;
	}
	flow = &flows->all[place(flows, of->flow)];
	if (flow->is_used && of->created_ps < flow->latest_ps)
		return true;
	flows->nb += !flow->is_used;
	*flow = (struct sim_flow){of->created_ps, of->flow, true};
	return false;
}
