/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what arrives where it is made rather than received. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "config.h"

#define MILLION 1000000u

static void
read_fault(
	const struct weir_base_doc_value *value, struct weir_readout_emulator_fault_config *fault)
{
	const double chance = weir_base_doc_f64(weir_base_doc_get(value, "random"));

	*fault = (struct weir_readout_emulator_fault_config){
		.fault = (enum weir_readout_emulator_fault)weir_base_doc_u64(
			weir_base_doc_get(value, "fault")),
		.amount = weir_base_doc_i64(weir_base_doc_get(value, "amount")),
		.first = weir_base_doc_u64(weir_base_doc_get(value, "first")),
		.period = weir_base_doc_u64(weir_base_doc_get(value, "period")),
		.length = weir_base_doc_u64(weir_base_doc_get(value, "length")),
		.random_ppm = (uint32_t)llround(chance * MILLION),
	};
}

/* So many a second, as a fraction; 0: not told. */
static void
read_rate(const struct weir_base_doc_value *value, uint64_t *number, uint64_t *seconds)
{
	const double hz = weir_base_doc_f64(weir_base_doc_get(value, "rate"));

	*number = (uint64_t)llround(hz * MILLION);
	*seconds = *number != 0 ? MILLION : 0;
}

static int
read_emulated(struct config *config, struct config_emulated *emulated)
{
	const struct weir_base_doc_value *value = emulated->value;
	const struct weir_base_doc_value *faults = weir_base_doc_get(value, "faults");
	int link = config_link_find(config, weir_base_doc_name(value));
	unsigned int i;

	emulated->nb_faults = weir_base_doc_count(faults);
	emulated->faults = calloc(emulated->nb_faults + 1, sizeof(*emulated->faults));
	if (emulated->faults == NULL)
		return -ENOMEM;
	if (link == CONFIG_NONE)
		return 0;
	emulated->link = (unsigned int)link;
	emulated->nb_frames = weir_base_doc_u64(weir_base_doc_get(value, "frames"));
	emulated->size_bytes = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "size"));
	emulated->payload = weir_base_doc_str(weir_base_doc_get(value, "payload"));
	emulated->seed = weir_base_doc_u64(weir_base_doc_get(value, "seed"));
	read_rate(value, &emulated->rate_frames, &emulated->rate_seconds);
	for (i = 0; i < emulated->nb_faults; i++)
		read_fault(weir_base_doc_at(faults, i), &emulated->faults[i]);
	return 0;
}

static int
read_replayed(struct config *config, struct config_replayed *replayed)
{
	const struct weir_base_doc_value *value = replayed->value;
	const struct weir_base_doc_value *pcap = weir_base_doc_get(value, "pcap");
	const struct weir_base_doc_value *raw = weir_base_doc_get(value, "frames");
	int link = config_link_find(config, weir_base_doc_name(value));

	replayed->is_raw = raw != NULL;
	replayed->path = weir_base_doc_str(raw != NULL ? raw : pcap);
	read_rate(value, &replayed->rate_packets, &replayed->rate_seconds);
	if (link == CONFIG_NONE)
		return 0;
	replayed->link = (unsigned int)link;
	if (pcap != NULL)
		config_check_capture(config, pcap, replayed->path);
	return 0;
}

static int
read_all_replayed(struct config *config, const struct weir_base_doc_value *list)
{
	struct config_links *links = &config->links;
	unsigned int nb = weir_base_doc_count(list), i;

	links->replayed = calloc(nb + 1, sizeof(*links->replayed));
	if (links->replayed == NULL)
		return -ENOMEM;
	links->nb_replayed = nb;
	for (i = 0; i < nb; i++) {
		links->replayed[i].value = weir_base_doc_at(list, i);
		read_replayed(config, &links->replayed[i]);
	}
	return 0;
}

int
config_read_traffic(struct config *config, const struct weir_base_doc_value *traffic)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(traffic, "emulated");
	struct config_links *links = &config->links;
	unsigned int nb = weir_base_doc_count(list), i;

	weir_base_rules_traffic(config->doc, config->application);
	links->emulated = calloc(nb + 1, sizeof(*links->emulated));
	if (links->emulated == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		links->emulated[i].value = weir_base_doc_at(list, i);
		links->nb_emulated = i + 1;
		if (read_emulated(config, &links->emulated[i]) < 0)
			return -ENOMEM;
	}
	return read_all_replayed(config, weir_base_doc_get(traffic, "replayed"));
}
