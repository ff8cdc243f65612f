/* SPDX-License-Identifier: BSD-3-Clause */
/* What `weir check` warns of. */
#include <stdio.h>
#include <stdlib.h>

#include <weir_readout_preflight.h>

#include "preflight.h"

#define WARNINGS_MAX 32

/* The key to change; NULL: none of them. */
static const char *const key_of[WEIR_READOUT_PREFLIGHT_NB_KINDS] = {
	[WEIR_READOUT_PREFLIGHT_RING_TIME] = "rx_ring_size",
	[WEIR_READOUT_PREFLIGHT_RING_BURST] = "rx_ring_size",
	[WEIR_READOUT_PREFLIGHT_RING_MAX] = "rx_ring_size",
	[WEIR_READOUT_PREFLIGHT_POOL] = "num_mbufs",
	[WEIR_READOUT_PREFLIGHT_CACHE_SIZE] = "mbuf_cache_size",
	[WEIR_READOUT_PREFLIGHT_CACHE_SHARE] = "num_mbufs",
	[WEIR_READOUT_PREFLIGHT_SLEEP] = "lcore_sleep_us",
	[WEIR_READOUT_PREFLIGHT_MTU] = "mtu",
	[WEIR_READOUT_PREFLIGHT_NUMA] = "cpus",
	[WEIR_READOUT_PREFLIGHT_CPU] = "cpus",
};

/* What links of a receiver expect, as far as their formats or buffers say. */
static struct weir_readout_preflight_rate
expected_rate(const struct config *config, int receiver)
{
	struct weir_readout_preflight_rate rate = {0};
	unsigned int i;

	for (i = 0; i < config->links.nb; i++) {
		const struct config_link *link = &config->links.list[i];
		const struct weir_readout_format *format = &link->format;
		double per_s = link->buffer.rate_hz;

		if (link->receiver != receiver)
			continue;
		if (format->step_ticks > 0)
			per_s = (double)format->clock_hz / (double)format->step_ticks;
		rate.frames_per_s += per_s * link->nb;
		if (format->size_max_bytes <= UINT16_MAX)
			rate.frame_bytes = RTE_MAX(rate.frame_bytes, format->size_max_bytes);
	}
	return rate;
}

static json_t *
warning_json(const struct config_receiver *receiver,
	const struct weir_readout_preflight_warning *warning)
{
	const char *key = key_of[warning->kind], *file;
	unsigned int line, column;

	file = weir_base_doc_where(key != NULL && weir_base_doc_given(receiver->value, key)
					   ? weir_base_doc_get(receiver->value, key)
					   : receiver->value,
		&line, &column);
	return json_pack("{s:s, s:i, s:i, s:s, s:s}", "file", file, "line", (int)line, "column",
		(int)column, "kind", weir_readout_preflight_name(warning->kind), "message",
		warning->text);
}

json_t *
preflight_warnings(const struct config *config)
{
	struct weir_readout_preflight_warning *found = calloc(WARNINGS_MAX, sizeof(*found));
	struct weir_readout_preflight_facts *facts = calloc(1, sizeof(*facts));
	json_t *list = json_array();
	unsigned int i, j, nb;

	for (i = 0; found != NULL && facts != NULL && i < config->receivers.nb; i++) {
		const struct config_receiver *receiver = &config->receivers.list[i];
		const struct weir_readout_receiver_config param = config_receiver_param(receiver);
		const struct weir_readout_preflight_rate rate = expected_rate(config, (int)i);

		weir_readout_preflight_facts_get(facts, &param, receiver->cpus, false, NULL);
		nb = weir_readout_preflight(&param, &rate, facts, found, WARNINGS_MAX);
		for (j = 0; j < RTE_MIN(nb, (unsigned int)WARNINGS_MAX); j++)
			json_array_append_new(list, warning_json(receiver, &found[j]));
	}
	free(found);
	free(facts);
	return list;
}

void
preflight_print(const json_t *warnings)
{
	const json_t *item;
	size_t i;

	json_array_foreach (warnings, i, item) {
		fprintf(stderr, "%s:%d:%d: warning: %s\n",
			json_string_value(json_object_get(item, "file")),
			(int)json_integer_value(json_object_get(item, "line")),
			(int)json_integer_value(json_object_get(item, "column")),
			json_string_value(json_object_get(item, "message")));
	}
}
