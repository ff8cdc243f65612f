/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memories that cores share. A packet gets a place when a step uses the memory for the first time: in the first level
 * that has room for it, or for its header where only that is to be near; else in the last one. It keeps it until it
 * leaves.
 *
 * An access takes the level's latency, and more of it for each other core that uses the level when it begins; bytes
 * share the level's bandwidth with those likewise.
 */
#include "sim.h"

static struct sim_place *
place_of(struct sim *sim, uint32_t packet, uint32_t memory)
{
	return &sim->places[(size_t)packet * sim->model->nb_memories + memory];
}

static void
hold(struct sim *sim, uint32_t level, uint32_t bytes)
{
	struct weir_sim_level *const held = &sim->levels[level].held;

	weir_sim_level_set(held, sim->now_ps, held->value + bytes);
}

static void
release(struct sim *sim, uint32_t level, uint32_t bytes)
{
	struct weir_sim_level *const held = &sim->levels[level].held;

	weir_sim_level_set(held, sim->now_ps, held->value - bytes);
}

/* Its place, which it gets now if it has none. */
static const struct sim_place *
find_place(struct sim *sim, uint32_t packet, uint32_t index)
{
	const struct model_memory *const memory = &sim->model->memories[index];
	const uint32_t size = sim->packets.all[packet].size_bytes;
	struct sim_place *const place = place_of(sim, packet, index);
	uint32_t level = memory->first_level;
	const uint32_t last = level + memory->nb_levels - 1;

	if (place->level != SIM_NONE)
		return place;
	place->bytes = size < memory->header ? size : memory->header;
	while (level < last &&
		sim->levels[level].held.value + place->bytes > sim->model->levels[level].capacity)
		level++;
	if (level == last)
		place->bytes = size;
	place->rest = size - place->bytes;
	place->level = level;
	hold(sim, level, place->bytes);
	if (place->rest > 0)
		hold(sim, last, place->rest);
	return place;
}

/* A core begins to use a level. @return what it is told: how many do */
static double
enter(struct sim *sim, uint32_t index)
{
	struct sim_level *const level = &sim->levels[index];

	level->accesses++;
	weir_sim_level_set(&level->users, sim->now_ps, level->users.value + 1);
	return (double)level->users.value;
}

static void
leave(struct sim *sim, uint32_t index)
{
	struct weir_sim_level *const users = &sim->levels[index].users;

	weir_sim_level_set(users, sim->now_ps, users->value - 1);
}

/* Does it use the last level too, for what is beyond the header? */
static inline bool
is_split(const struct sim *sim, const struct sim_place *place, uint32_t last, uint32_t bytes)
{
	return place->level != last && bytes > place->bytes;
}

static uint32_t
bytes_of(const struct sim *sim, uint32_t packet, const struct model_step *step)
{
	return step->count == MODEL_SIZE ? sim->packets.all[packet].size_bytes : step->count;
}

void
sim_memory_use(struct sim *sim, uint32_t index, const struct model_step *step)
{
	struct sim_core *const core = &sim->cores[index];
	const struct model_memory *const memory = &sim->model->memories[step->target];
	const struct sim_place *const place = find_place(sim, core->packet, step->target);
	const struct model_level *const near = &sim->model->levels[place->level];
	const uint32_t last = memory->first_level + memory->nb_levels - 1;
	const uint32_t bytes = bytes_of(sim, core->packet, step);
	const bool split = is_split(sim, place, last, bytes);
	const double users = enter(sim, place->level);
	double ps = sim_draw(
		sim, &step->amount, &sim->step_random[sim->packets.all[core->packet].step]);

	ps *= near->latency * (1 + near->contention * (users - 1));
	ps += near->per_byte * users * (split ? place->bytes : bytes);
	if (split)
		ps += sim->model->levels[last].per_byte * enter(sim, last) * (bytes - place->bytes);
	ps *= sim_step_times(sim, core->packet);
	core->phase = CORE_IN_MEMORY;
	core->step_start_ps = sim->now_ps;
	sim_core_schedule(sim, index, sim->now_ps + sim_round_ps(ps));
}

void
sim_memory_used(struct sim *sim, uint32_t index, const struct model_step *step)
{
	const struct model_memory *const memory = &sim->model->memories[step->target];
	const uint32_t packet = sim->cores[index].packet;
	const uint32_t last = memory->first_level + memory->nb_levels - 1;
	const struct sim_place *const place = place_of(sim, packet, step->target);

	leave(sim, place->level);
	if (is_split(sim, place, last, bytes_of(sim, packet, step)))
		leave(sim, last);
}

void
sim_memory_free(struct sim *sim, uint32_t packet, bool delivered)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_memories; i++) {
		const struct model_memory *const memory = &sim->model->memories[i];
		struct sim_place *const place = place_of(sim, packet, i);

		if (place->level == SIM_NONE)
			continue;
		if (!sim_write_back(sim, i, place, delivered))
			release(sim, place->level, place->bytes);
		if (place->rest > 0)
			release(sim, memory->first_level + memory->nb_levels - 1, place->rest);
		place->level = SIM_NONE;
	}
}
