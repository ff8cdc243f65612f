/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: what is done to frames of emulated links. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "doc_read.h"

#define PS_PER_S UINT64_C(1000000000000)

/* What an amount may be; without one, that it is missing. @return false: this was refused */
static bool
check_amount(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	enum weir_base_fault kind, uint32_t bytes)
{
	const struct weir_base_doc_value *amount = weir_base_doc_get(value, "amount");
	const bool has_none = kind == WEIR_BASE_FAULT_DROP || kind == WEIR_BASE_FAULT_DUPLICATE;
	int64_t least = INT64_MIN, most = INT64_MAX;

	if (kind == WEIR_BASE_FAULT_TRUNCATE || kind == WEIR_BASE_FAULT_REORDER ||
		kind == WEIR_BASE_FAULT_STALL) {
		least = kind == WEIR_BASE_FAULT_TRUNCATE ? 0 : 1;
		most = kind == WEIR_BASE_FAULT_TRUNCATE  ? (int64_t)bytes
		       : kind == WEIR_BASE_FAULT_REORDER ? WEIR_BASE_FAULT_REORDER_MAX
							 : WEIR_BASE_FAULT_STALL_MAX;
	}
	if (has_none && amount != NULL)
		weir_base_doc_error_add(model->doc, amount,
			"'amount' means nothing for fault '%s'; expected it with others",
			weir_base_fault_names[kind]);
	else if (!has_none && amount == NULL)
		weir_base_doc_error_add(model->doc, value, "fault '%s'; expected a key 'amount'",
			weir_base_fault_names[kind]);
	else if (!has_none &&
		 (weir_base_doc_i64(amount) < least || weir_base_doc_i64(amount) > most))
		weir_base_doc_error_add(model->doc, amount,
			"%s by %" PRId64 "; expected %" PRId64 " to %" PRId64,
			weir_base_fault_names[kind], weir_base_doc_i64(amount), least, most);
	else
		return true;
	return false;
}

/* By chance, or so many frames in a row each so often. @return false: this was refused */
static bool
check_schedule(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	const struct model_fault *fault)
{
	static const char *const others[] = {"period", "length"};
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (fault->chance > 0 && weir_base_doc_given(value, others[i])) {
			weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "random"),
				"'random' beside '%s'; expected one or the other", others[i]);
			return false;
		}
	if (fault->period == 0 || fault->length <= fault->period)
		return true;
	weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "length"),
		"%" PRIu64 " frames in a row each %" PRIu64 " frames; expected at most all",
		fault->length, fault->period);
	return false;
}

int
sim_doc_read_faults(struct weir_sim_model *model, const struct weir_base_doc_value *emulated,
	struct model_frames *frames, uint32_t bytes)
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
		if (check_amount(model, value, fault->kind, bytes) &&
			check_schedule(model, value, fault))
			model->nb_faults++;
		if (fault->kind == WEIR_BASE_FAULT_DROP &&
			sim_doc_reason(model, &frames->dropped, "fault drop") < 0)
			return -ENOMEM;
	}
	frames->nb_faults = model->nb_faults - frames->first_fault;
	return 0;
}
