/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's vocabulary in description files: how it is run. */
#include "weir_sim.h"

static const struct weir_base_doc_key precision_keys[] = {
	{
		.name = "of",
		.kind = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "A result, as `--json` has it: `streams`, `queues`, `cores`, "
			"`each_core`, `units`, `drops`, `memories`, `rings`, `workers`, `nodes`, "
			"`jobs` "
			"or `probes`, a name, and a quantity, such as "
			"`streams.calls.latency_mean_ns`, or `queues.blade.*.work.length_mean` of "
			"all of an array.",
	},
	{
		.name = "relative",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 1e-6,
		.max = 1,
		.def = "0.01",
		.help = "Half width of its confidence interval, as a part of its mean.",
	},
	{
		.name = "replications",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 100000,
		.def = "1000",
		.help = "Not more than so many, whether it is reached or not.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section precision_section = {
	.name = "precision",
	.help = "How well a result is to be known.",
	.keys = precision_keys,
};

static const struct weir_base_doc_key probe_keys[] = {
	{
		.name = "queue",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "How many packets wait in this queue.",
	},
	{
		.name = "unit",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "How many packets wait for this unit.",
	},
	{
		.name = "servers",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "How many servers of this unit are busy.",
	},
	{
		.name = "cores",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "How many cores of this kind are busy: one of `platform.cores` that "
			"workers leave "
			"some of, or what is a core of its own, called as in the results "
			"(`worker-0`).",
	},
	{
		.name = "stream",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "How many packets of this stream are inside.",
	},
	{
		.name = "ring",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "How many packets are in this ring of a port: `PORT.QUEUE.rx_ring` or "
			"`PORT.QUEUE.tx_ring`.",
	},
	{
		.name = "from",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Packets, and parts of them, that this object or stream sends to the queue "
			"or port `to`; or "
			"those that this node of the graph sends to the node or queue `to`, where "
			"nodes are called as in `application.edges` (a port's name is its receive "
			"node here, its transmit node there), or as in what is told of them.",
	},
	{
		.name = "to",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "See `from`; without it, those that leave: of a node, those that it "
			"transmits or frees.",
	},
	{
		.name = "trace",
		.kind = WEIR_BASE_DOC_FILE,
		.help = "A CSV file that all of it is written to, of the first replication: each "
			"change of a level, each packet that passes an edge.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section probe_section = {
	.name = "probe",
	.help = "What is looked at while `weir sim` runs: mean, standard deviation, least and most "
		"of a "
		"level over time, or of the ns between the packets that pass an edge; of an edge "
		"between nodes also of how many packets pass it at once (`vector_mean` and so on).",
	.keys = probe_keys,
};

static const struct weir_base_doc_key simulation_keys[] = {
	{
		.name = "duration",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-12,
		.max = 4e6,
		.def = "1s",
		.help = "Simulated time of a replication, warm-up included.",
	},
	{
		.name = "packets",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e15,
		.help = "A replication also ends when so many packets have left or were dropped "
			"after the warm-up.",
	},
	{
		.name = "packets_inside",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 2147483648,
		.def = "4000000",
		.help = "Most packets inside at a time, as memory has an end; with more of them "
			"the run ends with an error.",
	},
	{
		.name = "warmup",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 4e6,
		.def = "0",
		.help = "Time at the beginning that statistics leave out.",
	},
	{
		.name = "find_warmup",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "The warm-up is found instead, by MSER-5, from how many packets are inside "
			"over time in the first replications, up to five, which are run twice for "
			"that.",
	},
	{
		.name = "replications",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 100000,
		.def = "1",
		.help = "How many times it is run, each time with other random numbers.",
	},
	{
		.name = "batches",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 100000,
		.def = "1",
		.help = "What is counted of a replication is cut into so many parts, each of "
			"which is a sample (batch means): one long run has confidence intervals "
			"too. Results are then those of a batch, in the mean.",
	},
	{
		.name = "precision",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &precision_section,
		.help = "Run as many replications as it takes; `replications` is the least, and "
			"at least 10.",
	},
	{
		.name = "probes",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &probe_section,
		.help = "Probes, by name. They change nothing of the run.",
	},
	{
		.name = "seed",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 9e15,
		.def = "1",
		.help = "Of random numbers: the same one gives the same run.",
	},
	{
		.name = "confidence",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0.5,
		.max = 0.9999,
		.def = "0.95",
		.help = "Of confidence intervals.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_simulation = {
	.name = "simulation",
	.help = "How `weir sim` runs it.",
	.keys = simulation_keys,
};
