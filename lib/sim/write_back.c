/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What packets that have left held of a memory's nearer levels goes back to the last one, where the memory does that: it
 * is one more user of that until all bytes are there, and keeps its place so long.
 */
#include <stdlib.h>

#include "sim.h"

#define WRITES_FIRST 64
#define WRITES_MAX   (UINT32_C(1) << EVENT_INDEX_BITS)

/* NULL: no room, sim->error says so. */
static struct sim_write *
new_write(struct sim *sim)
{
	struct sim_writes *const writes = &sim->writes;
	const uint32_t room = writes->room == 0 ? WRITES_FIRST : writes->room * 2;
	struct sim_write *all;

	if (writes->free != SIM_NONE) {
		all = &writes->all[writes->free];
		writes->free = all->next;
		return all;
	}
	if (writes->nb == writes->room) {
		all = room <= WRITES_MAX ? realloc(writes->all, room * sizeof(*all)) : NULL;
		if (all == NULL) {
			sim->error = -ENOMEM;
			return NULL;
		}
		writes->all = all;
		writes->room = room;
	}
	return &writes->all[writes->nb++];
}

bool
sim_write_back(struct sim *sim, uint32_t index, const struct sim_place *place, bool delivered)
{
	const struct model_memory *const memory = &sim->model->memories[index];
	const uint32_t last = memory->first_level + memory->nb_levels - 1;
	struct sim_level *const to = &sim->levels[last];
	struct sim_write *write;
	double ps;

	if (memory->write_back == MODEL_WRITE_BACK_NEVER || place->level == last ||
		(memory->write_back == MODEL_WRITE_BACK_DROPPED && delivered))
		return false;
	write = new_write(sim);
	if (write == NULL)
		return false;
	*write = (struct sim_write){.from = place->level, .to = last, .bytes = place->bytes};
	to->accesses++;
	weir_sim_level_set(&to->users, sim->now_ps, to->users.value + 1);
	ps = sim->model->levels[last].per_byte * (double)to->users.value * place->bytes;
	sim_schedule(sim, sim->now_ps + sim_round_ps(ps), EVENT_PRIORITY_DONE,
		EVENT_TARGET(EVENT_WRITTEN, (uint32_t)(write - sim->writes.all)));
	return true;
}

void
sim_written(struct sim *sim, uint32_t index)
{
	struct sim_write *const write = &sim->writes.all[index];
	struct weir_sim_level *const users = &sim->levels[write->to].users;
	struct weir_sim_level *const held = &sim->levels[write->from].held;

	weir_sim_level_set(users, sim->now_ps, users->value - 1);
	weir_sim_level_set(held, sim->now_ps, held->value - write->bytes);
	write->bytes = 0;
	write->next = sim->writes.free;
	sim->writes.free = index;
}
