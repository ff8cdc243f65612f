/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's vocabulary in description files: traffic. */
#include "doc_schema.h"

static const char *const arrival_choices[] = {
	"poisson", "deterministic", "uniform", "empirical", "replay", NULL};
static const char *const sizes_choices[] = {"fixed", "uniform", "imix", "empirical", NULL};
static const char *const phases_choices[] = {"exponential", "constant", "uniform", NULL};
static const char *const popularity_choices[] = {"uniform", "zipf", NULL};

static const struct weir_base_doc_key bursts_keys[] = {
	{
		.name = "interval",
		.kind = WEIR_BASE_DOC_DURATION,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1e-9,
		.max = 1e6,
		.help = "Mean time from the beginning of one to that of the next.",
	},
	{
		.name = "intervals",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = phases_choices,
		.def = "exponential",
		.help = "Distribution of `interval`; `uniform`: from 0 to twice the mean.",
	},
	{
		.name = "lifetime",
		.kind = WEIR_BASE_DOC_DURATION,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1e-12,
		.max = 1e6,
		.help = "Mean time for which one makes packets; the first one comes after an "
			"interval of the stream.",
	},
	{
		.name = "lifetimes",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = phases_choices,
		.def = "exponential",
		.help = "Distribution of `lifetime`.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section bursts_section = {
	.name = "bursts",
	.help = "Bursts on two levels: a trigger starts streams, each of which lives for a while "
		"and makes packets of a flow. Several may live at a time.",
	.keys = bursts_keys,
};

static const struct weir_base_doc_key stream_keys[] = {
	{
		.name = "to",
		.kind = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "The queue that its packets are sent to, or the port that they come by: "
			"then "
			"a packet's flow tells which of its receive queues it is in.",
	},
	{
		.name = "rate",
		.kind = WEIR_BASE_DOC_PACKET_RATE,
		.min = 1e-3,
		.max = 1e12,
		.help = "Packets a second, in the mean. Either this or `interval`.",
	},
	{
		.name = "interval",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-12,
		.max = 1e6,
		.help = "Mean time from packet to packet.",
	},
	{
		.name = "arrivals",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = arrival_choices,
		.def = "poisson",
		.help = "Times between packets. `poisson`: exponential. `deterministic`: all the "
			"same, the first packet comes after one of them. `uniform`: from 1 - "
			"`spread` to 1 + `spread` of the mean. `empirical`: drawn from "
			"`intervals`. `replay`: times and sizes of the packets in `capture`.",
	},
	{
		.name = "spread",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 1,
		.def = "1",
		.help = "See `arrivals`.",
	},
	{
		.name = "intervals",
		.kind = WEIR_BASE_DOC_FILE,
		.help = "A table of times between packets, CSV. Its first line says what it has: "
			"`interval_us` or `interval_us,weight` (ps, ns, us, ms, s); each other "
			"line has a value, which is drawn as often as its weight says.",
	},
	{
		.name = "capture",
		.kind = WEIR_BASE_DOC_FILE,
		.help = "A capture file of Ethernet frames. Its first packet comes at `start`.",
	},
	{
		.name = "speed",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 1e-6,
		.max = 1e6,
		.def = "1",
		.help = "The capture is replayed so many times as fast as it was taken.",
	},
	{
		.name = "repeat",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "The capture begins again at its end, after its mean time between packets.",
	},
	{
		.name = "on",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-12,
		.max = 1e6,
		.help = "Mean time for which it is on, beginning so at `start`. `rate` is that of "
			"the time while it is on: the clock of its packets stands still while it "
			"is off. Together with `off`.",
	},
	{
		.name = "off",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-12,
		.max = 1e6,
		.help = "Mean time for which it is off.",
	},
	{
		.name = "phases",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = phases_choices,
		.def = "exponential",
		.help = "Distribution of `on` and `off`; `uniform`: from 0 to twice the mean.",
	},
	{
		.name = "bursts",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &bursts_section,
		.help = "It is many streams that come and go: `rate` is that of one of them.",
	},
	{
		.name = "size",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 0,
		.max = 1e9,
		.def = "64B",
		.help = "Bytes of a packet; the least, where sizes are `uniform`.",
	},
	{
		.name = "size_max",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 0,
		.max = 1e9,
		.help = "The most, where sizes are `uniform`.",
	},
	{
		.name = "sizes",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = sizes_choices,
		.def = "fixed",
		.help = "`fixed`: all of `size`. `uniform`: whole numbers of bytes from `size` to "
			"`size_max`, each as likely. `imix`: 64, 570 and 1518 B as 7 to 4 to 1. "
			"`empirical`: drawn from `size_table`.",
	},
	{
		.name = "size_table",
		.kind = WEIR_BASE_DOC_FILE,
		.help = "A table of sizes, CSV: as `intervals`, with the first line `size_B` or "
			"`size_B,weight`.",
	},
	{
		.name = "flows",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4294967295.0,
		.def = "1",
		.help = "How many flows its packets belong to. All packets of a burst are of one.",
	},
	{
		.name = "popularity",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = popularity_choices,
		.def = "uniform",
		.help = "Of flows. `uniform`: each is as likely. `zipf`: flow k, from 1, has a "
			"probability proportional to 1 / k^`skew`.",
	},
	{
		.name = "skew",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 10,
		.def = "1",
		.help = "See `popularity`.",
	},
	{
		.name = "attributes",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_attribute,
		.help = "Numbers that its packets have, by name: steps ask for them.",
	},
	{
		.name = "through",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "The unit of `platform.units` that its packets come through to the queue.",
	},
	{
		.name = "start",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1e6,
		.def = "0",
		.help = "When it begins.",
	},
	{
		.name = "stop",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1e6,
		.help = "When it ends: no packet comes then or later.",
	},
	{
		.name = "count",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e15,
		.help = "So many packets, then no more.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_stream = {
	.name = "stream",
	.help = "Packets that arrive, for `weir sim`.",
	.keys = stream_keys,
};
