/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: what is done to frames of emulated links. */
#include <errno.h>
#include <stdlib.h>

#include "doc_read.h"

#define PS_PER_S UINT64_C(1000000000000)

int
sim_doc_read_faults(struct weir_sim_model *model, const struct weir_base_doc_value *emulated,
	struct model_frames *frames)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(emulated, "faults"), *value;
	const uint32_t nb = weir_base_doc_count(list);
	struct model_fault *faults =
		realloc(model->faults, (model->nb_faults + nb + 1) * sizeof(*faults));
	uint32_t i;

	if (faults == NULL)
		return -ENOMEM;
	model->faults = faults;
	frames->first_fault = model->nb_faults;
	if (frames->seconds > 0)
		frames->last = (uint64_t)((weir_sim_u128)SIM_TIME_END_PS * frames->frames /
					  ((weir_sim_u128)frames->seconds * PS_PER_S));
	for (i = 0; i < nb; i++) {
		struct model_fault *fault = &faults[model->nb_faults];

		value = weir_base_doc_at(list, i);
		*fault = (struct model_fault){
			.kind = (enum weir_base_fault)weir_base_doc_u64(
				weir_base_doc_get(value, "fault")),
			.amount = (uint64_t)weir_base_doc_i64(weir_base_doc_get(value, "amount")),
			.first = weir_base_doc_u64(weir_base_doc_get(value, "first")),
			.period = weir_base_doc_u64(weir_base_doc_get(value, "period")),
			.length = weir_base_doc_u64(weir_base_doc_get(value, "length")),
			.chance = sim_coarse(weir_base_doc_f64(weir_base_doc_get(value, "random"))),
		};
		model->nb_faults++;
		if (fault->kind == WEIR_BASE_FAULT_DROP &&
			sim_doc_reason(model, &frames->dropped, "fault drop") < 0)
			return -ENOMEM;
	}
	frames->nb_faults = model->nb_faults - frames->first_fault;
	return 0;
}
