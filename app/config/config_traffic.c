/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what arrives where it is made rather than received. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <rte_common.h>

#include "config.h"

#define MILLION 1000000u

static uint32_t
frame_bytes(const struct config_emulated *emulated, const struct weir_readout_format *format)
{
	if (emulated->size_bytes != 0)
		return emulated->size_bytes;
	return format->size_max_bytes <= WEIR_BASE_EMULATED_BYTES_MAX ? format->size_max_bytes
								      : format->size_min_bytes;
}

/* What an amount may be; without one, that it is missing. */
static void
check_amount(struct config *config, const struct weir_base_doc_value *value,
	const struct weir_readout_emulator_fault_config *fault, uint32_t bytes)
{
	const struct weir_base_doc_value *amount = weir_base_doc_get(value, "amount");
	const bool given = weir_base_doc_given(value, "amount");
	const char *name = weir_readout_emulator_fault_name(fault->fault);
	int64_t least = INT64_MIN, most = INT64_MAX;

	if (fault->fault == WEIR_READOUT_EMULATE_DROP ||
		fault->fault == WEIR_READOUT_EMULATE_DUPLICATE) {
		if (given)
			weir_base_doc_error_add(config->doc, amount,
				"'amount' means nothing for fault '%s'; expected it with others",
				name);
		return;
	}
	if (!given) {
		weir_base_doc_error_add(
			config->doc, value, "fault '%s'; expected a key 'amount'", name);
		return;
	}
	if (fault->fault == WEIR_READOUT_EMULATE_REORDER) {
		least = 1;
		most = WEIR_BASE_FAULT_REORDER_MAX;
	} else if (fault->fault == WEIR_READOUT_EMULATE_TRUNCATE) {
		least = 0;
		most = bytes;
	} else if (fault->fault == WEIR_READOUT_EMULATE_STALL) {
		least = 1;
		most = WEIR_BASE_FAULT_STALL_MAX;
	}
	if (fault->amount < least || fault->amount > most)
		weir_base_doc_error_add(config->doc, amount,
			"%s by %" PRId64 "; expected %" PRId64 " to %" PRId64, name, fault->amount,
			least, most);
}

/* By chance, or so many frames in a row each so often. */
static void
check_schedule(struct config *config, const struct weir_base_doc_value *value,
	const struct weir_readout_emulator_fault_config *fault)
{
	static const char *const others[] = {"period", "length"};
	unsigned int i;

	for (i = 0; i < RTE_DIM(others); i++)
		if (weir_base_doc_given(value, "random") && weir_base_doc_given(value, others[i]))
			weir_base_doc_error_add(config->doc, weir_base_doc_get(value, "random"),
				"'random' beside '%s'; expected one or the other", others[i]);
	if (fault->period > 0 && fault->length > fault->period)
		weir_base_doc_error_add(config->doc, weir_base_doc_get(value, "length"),
			"%" PRIu64 " frames in a row each %" PRIu64 " frames; expected at most all",
			fault->length, fault->period);
}

static void
read_fault(struct config *config, const struct weir_base_doc_value *value, uint32_t bytes,
	struct weir_readout_emulator_fault_config *fault)
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
	check_amount(config, value, fault, bytes);
	check_schedule(config, value, fault);
}

static void
check_emulated(struct config *config, const struct config_emulated *emulated)
{
	const struct config_link *link = &config->links.list[emulated->link];
	const struct weir_readout_format *format = &link->format;
	const uint32_t bytes = frame_bytes(emulated, format);
	const struct weir_base_doc_value *at = weir_base_doc_given(emulated->value, "size")
						       ? weir_base_doc_get(emulated->value, "size")
						       : emulated->value;

	if (format->step_ticks == 0 && emulated->rate_frames == 0)
		weir_base_doc_error_add(config->doc, emulated->value,
			"format '%s' does not say how many frames come; expected a key 'rate'",
			format->name);
	if (bytes < format->size_min_bytes || bytes < format->length_plus_bytes ||
		bytes > format->size_max_bytes)
		weir_base_doc_error_add(config->doc, at,
			"frames of %" PRIu32 " B of format '%s'; expected %" PRIu32 " to %" PRIu32
			" B",
			bytes, format->name, format->size_min_bytes, format->size_max_bytes);
}

/* Beside its fields each frame is this. */
static void
check_payload(struct config *config, const struct config_emulated *emulated, uint32_t bytes)
{
	struct stat status;

	if (emulated->payload == NULL || stat(emulated->payload, &status) < 0 ||
		status.st_size == (off_t)bytes)
		return;
	weir_base_doc_error_add(config->doc, weir_base_doc_get(emulated->value, "payload"),
		"'%s' has %lld B; expected a frame of %" PRIu32 " B", emulated->payload,
		(long long)status.st_size, bytes);
}

/* So many a second, as a fraction; 0: not told. */
static void
read_rate(const struct weir_base_doc_value *value, uint64_t *number, uint64_t *seconds)
{
	const double hz = weir_base_doc_f64(weir_base_doc_get(value, "rate"));

	*number = (uint64_t)llround(hz * MILLION);
	*seconds = *number != 0 ? MILLION : 0;
}

/* The links of that name are fed by it. @return their index, or CONFIG_NONE with an error */
static int
find_fed(struct config *config, const struct weir_base_doc_value *value)
{
	int link = config_link_find(config, weir_base_doc_name(value));

	if (link == CONFIG_NONE)
		weir_base_doc_error_add(config->doc, value, "unknown link '%s'; expected %s",
			weir_base_doc_name(value), config_link_names(config));
	else
		config_link_feed(config, &config->links.list[link], value);
	return link;
}

/* Where does one frame end, and the next one begin? */
static void
check_raw(struct config *config, const struct weir_base_doc_value *value,
	const struct weir_readout_format *format)
{
	if (format->size_min_bytes != format->size_max_bytes &&
		format->fields[WEIR_READOUT_FIELD_LENGTH].mask == 0)
		weir_base_doc_error_add(config->doc, value,
			"nothing tells where frames of format '%s' end; expected one with a size, "
			"or "
			"a length, or a capture",
			format->name);
}

/* Threads of its own, of which each has a link to make frames for. */
static void
check_cpus(struct config *config, const struct weir_base_doc_value *value,
	const struct config_link *link)
{
	const struct weir_base_doc_value *cpus = weir_base_doc_get(value, "cpus");

	if (weir_base_doc_count(cpus) > link->nb)
		weir_base_doc_error_add(config->doc, cpus,
			"%u threads for %u links; expected one for each link, or fewer",
			weir_base_doc_count(cpus), link->nb);
}

static int
read_emulated(struct config *config, struct config_emulated *emulated)
{
	const struct weir_base_doc_value *value = emulated->value;
	const struct weir_base_doc_value *faults = weir_base_doc_get(value, "faults");
	int link = find_fed(config, value);
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
	check_cpus(config, value, &config->links.list[link]);
	read_rate(value, &emulated->rate_frames, &emulated->rate_seconds);
	check_emulated(config, emulated);
	check_payload(config, emulated, frame_bytes(emulated, &config->links.list[link].format));
	for (i = 0; i < emulated->nb_faults; i++)
		read_fault(config, weir_base_doc_at(faults, i),
			frame_bytes(emulated, &config->links.list[link].format),
			&emulated->faults[i]);
	return 0;
}

static int
read_replayed(struct config *config, struct config_replayed *replayed)
{
	const struct weir_base_doc_value *value = replayed->value;
	const struct weir_base_doc_value *pcap = weir_base_doc_get(value, "pcap");
	const struct weir_base_doc_value *raw = weir_base_doc_get(value, "frames");
	int link = find_fed(config, value);

	replayed->is_raw = raw != NULL;
	replayed->path = weir_base_doc_str(raw != NULL ? raw : pcap);
	read_rate(value, &replayed->rate_packets, &replayed->rate_seconds);
	if ((pcap == NULL) == (raw == NULL))
		weir_base_doc_error_add(config->doc, raw != NULL ? raw : value,
			"link '%s' is replayed from %s; expected either 'pcap' or 'frames'",
			weir_base_doc_name(value), raw != NULL ? "two files" : "nothing");
	if (link == CONFIG_NONE)
		return 0;
	replayed->link = (unsigned int)link;
	if (raw != NULL)
		check_raw(config, raw, &config->links.list[link].format);
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
