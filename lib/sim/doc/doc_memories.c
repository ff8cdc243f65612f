/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: memories. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

#define BITS_OF_BYTE 8
#define PS_PER_S     1e12

static int
read_level(const struct model_memory *memory, const struct weir_base_doc_value *value,
	struct model_level *level)
{
	const struct weir_base_doc_value *capacity = weir_base_doc_get(value, "capacity");
	const struct weir_base_doc_value *bandwidth = weir_base_doc_get(value, "bandwidth");

	*level = (struct model_level){
		.capacity = capacity != NULL ? weir_base_doc_u64(capacity) : UINT64_MAX,
		.latency = sim_coarse(
			weir_base_doc_f64(weir_base_doc_get(value, "latency")) * PS_PER_S),
		.per_byte = bandwidth != NULL ? sim_coarse(BITS_OF_BYTE * PS_PER_S /
							   weir_base_doc_f64(bandwidth))
					      : 0,
		.contention = sim_coarse(weir_base_doc_f64(weir_base_doc_get(value, "contention"))),
	};
	return asprintf(&level->name, "%s.%s", memory->name, weir_base_doc_name(value)) < 0
		       ? -ENOMEM
		       : 0;
}

static int
read_memory(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_memory *memory)
{
	const struct weir_base_doc_value *levels = weir_base_doc_get(value, "levels");
	const struct weir_base_doc_value *header = weir_base_doc_get(value, "header");
	struct model_level *all;
	uint32_t i;

	*memory = (struct model_memory){
		.value = value,
		.name = weir_base_doc_name(value),
		.first_level = model->nb_levels,
		.nb_levels = weir_base_doc_count(levels),
		.write_back = (enum model_write_back)weir_base_doc_u64(
			weir_base_doc_get(value, "write_back")),
		.header = header != NULL ? (uint32_t)weir_base_doc_u64(header) : UINT32_MAX,
	};
	if (memory->nb_levels == 0)
		weir_base_doc_error_add(model->doc, value,
			"memory '%s' has no level; expected one or more", memory->name);
	all = realloc(model->levels, (model->nb_levels + memory->nb_levels + 1) * sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	model->levels = all;
	for (i = 0; i < memory->nb_levels; i++)
		if (read_level(memory, weir_base_doc_at(levels, i), &all[model->nb_levels]) < 0)
			return -ENOMEM;
		else
			model->nb_levels++;
	return 0;
}

int
sim_doc_read_memories(struct weir_sim_model *model, const struct weir_base_doc_value *memories)
{
	uint32_t i;

	model->nb_memories = weir_base_doc_count(memories);
	model->memories = calloc(model->nb_memories + 1, sizeof(*model->memories));
	if (model->memories == NULL)
		return -ENOMEM;
	for (i = 0; i < model->nb_memories; i++)
		if (read_memory(model, weir_base_doc_at(memories, i), &model->memories[i]) < 0)
			return -ENOMEM;
	return 0;
}
