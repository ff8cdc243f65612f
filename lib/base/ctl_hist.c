/* SPDX-License-Identifier: BSD-3-Clause */

/* A histogram as answers tell it. */

#include "weir_base_ctl.h"
#include "weir_base_hist.h"

static json_t *
as_integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *
buckets(const struct weir_base_hist *hist)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < WEIR_BASE_HIST_BUCKETS; i++) {
		if (hist->bucket[i] == 0)
			continue;
		json_array_append_new(
			list, json_pack("[o, o, o]", as_integer(weir_base_hist_bucket_low(i)),
				      as_integer(weir_base_hist_bucket_high(i)),
				      as_integer(hist->bucket[i])));
	}
	return list;
}

json_t *
weir_base_ctl_hist(const struct weir_base_hist *hist, json_t *(*value)(uint64_t))
{
	json_t *object = json_pack("{s:o}", "count", as_integer(hist->count));

	if (value == NULL)
		value = as_integer;
	if (hist->count > 0) {
		json_object_set_new(object, "p50", value(weir_base_hist_percentile(hist, 50)));
		json_object_set_new(object, "p90", value(weir_base_hist_percentile(hist, 90)));
		json_object_set_new(object, "p99", value(weir_base_hist_percentile(hist, 99)));
		json_object_set_new(object, "p99.9", value(weir_base_hist_percentile(hist, 99.9)));
		json_object_set_new(object, "max", value(hist->max));
	}
	json_object_set_new(object, "buckets", buckets(hist));
	return object;
}
