/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Things of which each instance in an array of parts has one: all of them together are told of like one more thing, which stands
 * behind the others of its kind, and is called after the array, `blade.*.work`.
 */
#include <stdlib.h>
#include <string.h>

#include "quantities.h"

/* Name of the array that a thing is of, which is the caller's; NULL: it is of none, or no memory. */
static char *
name_of(const struct weir_sim_model *model, enum weir_sim_scope scope, uint32_t index)
{
	const struct weir_base_doc_value *value = NULL;
	const struct model_memory *memory = model->memories;
	const char *array, *level = "";
	char *name;

	switch (scope) {
	case WEIR_SIM_STREAM:
		value = model->streams[index].value;
		break;
	case WEIR_SIM_QUEUE:
		value = model->queues[index].value;
		break;
	case WEIR_SIM_CORES:
		value = model->cores[index].value;
		break;
	case WEIR_SIM_UNIT:
		value = model->units[index].value;
		break;
	case WEIR_SIM_MEMORY:
		while (index >= memory->first_level + memory->nb_levels)
			memory++;
		value = memory->value;
		level = model->levels[index].name + strlen(memory->name);
		break;
	case WEIR_SIM_CORE:
	case WEIR_SIM_DROP:
	case WEIR_SIM_PROBE:
	case WEIR_SIM_RING:
	case WEIR_SIM_WORKER:
	case WEIR_SIM_NODE:
	case WEIR_SIM_JOB:
	case WEIR_SIM_LINK:
	case WEIR_SIM_REQUEST:
	case WEIR_SIM_PROCESS:
		break;
	}
	array = weir_base_doc_array_name(value);
	return array != NULL && asprintf(&name, "%s%s", array, level) >= 0 ? name : NULL;
}

/* Index of an array of that name, which it takes; a new one if there is none yet. @return 0, -ENOMEM */
static int
find_array(struct model_arrays *arrays, char *name, uint32_t *index)
{
	char **names;
	uint32_t i;

	for (i = 0; i < arrays->nb && strcmp(arrays->names[i], name) != 0; i++)
		;
	*index = i;
	if (i < arrays->nb) {
		free(name);
		return 0;
	}
	names = realloc(arrays->names, (i + 1) * sizeof(*names));
	if (names == NULL) {
		free(name);
		return -ENOMEM;
	}
	arrays->names = names;
	names[arrays->nb++] = name;
	return 0;
}

int
sim_arrays_make(struct weir_sim_model *model, enum weir_sim_scope scope, uint32_t nb_things)
{
	struct model_arrays *const arrays = &model->arrays[scope];
	char *name;
	uint32_t i;

	arrays->nb_things = nb_things;
	/* What is told of rings stands behind that of queues. */
	arrays->first = scope == WEIR_SIM_QUEUE ? sim_model_lengths(model) : nb_things;
	arrays->of = calloc(nb_things + 1, sizeof(*arrays->of));
	if (arrays->of == NULL)
		return -ENOMEM;
	for (i = 0; i < nb_things; i++) {
		name = name_of(model, scope, i);
		arrays->of[i] = SIM_NONE;
		if (name != NULL && find_array(arrays, name, &arrays->of[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

void
sim_arrays_free(struct weir_sim_model *model)
{
	unsigned int scope, i;

	for (scope = 0; scope < SIM_SCOPES; scope++) {
		for (i = 0; i < model->arrays[scope].nb; i++)
			free(model->arrays[scope].names[i]);
		free(model->arrays[scope].names);
		free(model->arrays[scope].of);
	}
}

static void
add_level(struct weir_sim_level *to, const struct weir_sim_level *from)
{
	to->value += from->value;
	to->area += from->area;
	to->max = from->max > to->max ? from->max : to->max;
}

static void
add_tally(struct weir_sim_tally *to, const struct weir_sim_tally *from)
{
	if (from->count > 0 && (to->count == 0 || from->min < to->min))
		to->min = from->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->count += from->count;
	to->sum += from->sum;
	to->squares_high += from->squares_high +
			    __builtin_add_overflow(to->squares, from->squares, &to->squares);
}

static void
add_times(struct sim_times *to, const struct sim_times *from)
{
	add_tally(&to->ps, &from->ps);
	weir_base_hist_merge(&to->hist, &from->hist);
}

static void
add_latency(struct sim_latency *to, const struct sim_latency *from)
{
	unsigned int i;

	add_times(&to->all, &from->all);
	to->service_ps += from->service_ps;
	for (i = 0; i < WEIR_BASE_HIST_BUCKETS; i++)
		to->service_of[i] += from->service_of[i];
}

static void
add_stream(struct sim_stream *to, const struct sim_stream *from)
{
	add_level(&to->inside, &from->inside);
	to->arrived += from->arrived;
	to->delivered += from->delivered;
	to->dropped += from->dropped;
	to->delivered_bytes += from->delivered_bytes;
	to->forked += from->forked;
	to->reordered += from->reordered;
	add_latency(&to->latency, &from->latency);
}

static void
add_queue(struct sim_queue *to, const struct sim_queue *from)
{
	add_level(&to->length, &from->length);
	to->arrived += from->arrived;
	to->dropped += from->dropped;
	to->taken += from->taken;
	to->reordered += from->reordered;
	add_times(&to->wait, &from->wait);
	add_latency(&to->stage, &from->stage);
}

static void
add_kind(struct sim_kind *to, const struct sim_kind *from)
{
	add_level(&to->busy, &from->busy);
	to->served += from->served;
	to->nb_cores += from->nb_cores;
}

static void
add_unit(struct sim_unit *to, const struct sim_unit *from)
{
	add_level(&to->length, &from->length);
	add_level(&to->busy, &from->busy);
	to->arrived += from->arrived;
	to->dropped += from->dropped;
	to->taken += from->taken;
	to->served += from->served;
	to->nb_servers += from->nb_servers;
	add_tally(&to->wait_ps, &from->wait_ps);
}

static void
add_memory_level(struct sim_level *to, const struct sim_level *from)
{
	add_level(&to->users, &from->users);
	add_level(&to->held, &from->held);
	to->accesses += from->accesses;
}

/* Add up what is of arrays in places behind the things themselves. */
#define FILL(things, scope, add)                                                                   \
	static void fill_##things(struct sim *sim)                                                 \
	{                                                                                          \
		const struct model_arrays *const arrays = &sim->model->arrays[scope];              \
		uint32_t i;                                                                        \
                                                                                                   \
		memset(sim->things + arrays->first, 0, arrays->nb * sizeof(*sim->things));         \
		for (i = 0; i < arrays->nb_things; i++)                                            \
			if (arrays->of[i] != SIM_NONE)                                             \
				add(&sim->things[arrays->first + arrays->of[i]], &sim->things[i]); \
	}

FILL(streams, WEIR_SIM_STREAM, add_stream)
FILL(queues, WEIR_SIM_QUEUE, add_queue)
FILL(kinds, WEIR_SIM_CORES, add_kind)
FILL(units, WEIR_SIM_UNIT, add_unit)
FILL(levels, WEIR_SIM_MEMORY, add_memory_level)

/* What cores have done is told of their kind. */
static void
count_served(struct sim *sim)
{
	struct sim_kind *kind;
	uint32_t i;

	for (i = 0; i < sim->model->nb_kinds; i++)
		sim->kinds[i].served = sim->kinds[i].nb_cores = 0;
	for (i = 0; i < sim->model->nb_cores; i++) {
		kind = &sim->kinds[sim->model->core_kind[i]];
		kind->served += sim->cores[i].served;
		kind->nb_cores++;
	}
}

void
sim_arrays_fill(struct sim *sim)
{
	uint32_t i;

	count_served(sim);
	for (i = 0; i < sim->model->nb_units; i++)
		sim->units[i].nb_servers = sim->model->units[i].nb_servers;
	fill_streams(sim);
	fill_queues(sim);
	fill_kinds(sim);
	fill_units(sim);
	fill_levels(sim);
}
