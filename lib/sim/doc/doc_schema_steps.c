/* SPDX-License-Identifier: BSD-3-Clause */
/* The vocabulary of steps, of what packets carry for them, of units and of the scheduler. */
#include "doc_schema.h"

const char *const sim_doc_dist_choices[] = {
	"constant", "uniform", "exponential", "lognormal", NULL};

#define WEIGHTS_ROW(help_text)                                                                     \
	{                                                                                          \
		.name = "weights", .kind = WEIR_BASE_DOC_LIST, .item = WEIR_BASE_DOC_NUMBER,       \
		.min = 0, .max = 1e9, .help = help_text,                                           \
	}

static const struct weir_base_doc_key attribute_keys[] = {
	{
		.name = "value",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 1e12,
		.help = "Its value, in the mean.",
	},
	SIM_DOC_DIST_ROWS("value"),
	WEIGHTS_ROW("The attribute is 0, 1, 2 ..., each as probable as its weight here is among "
		    "them all. Instead of `value`."),
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_attribute = {
	.name = "attribute",
	.help = "A number that each packet of a stream has.",
	.keys = attribute_keys,
};

static const struct weir_base_doc_key step_keys[] = {
	{
		.name = "cpu",
		.kind = WEIR_BASE_DOC_CYCLES,
		.min = 0,
		.max = 1e12,
		.def = "0",
		.help = "Cycles that it takes of the core, in the mean.",
	},
	SIM_DOC_DIST_ROWS("cpu`, `accesses` or `value"),
	{
		.name = "per_byte",
		.kind = WEIR_BASE_DOC_CYCLES_PER_BYTE,
		.min = 0,
		.max = 1e9,
		.def = "0",
		.help = "And so many more for each byte of the packet.",
	},
	{
		.name = "times",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "`cpu`, what the `memory` is used for, or the unit's time is multiplied "
			"by that: an attribute, `size` or `flow`; by 0 where it is below.",
	},
	{
		.name = "memory",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "The memory of `platform.memories` that it uses: so many `accesses`, and "
			"`bytes`; without either, all bytes of the packet.",
	},
	{
		.name = "accesses",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 1e9,
		.def = "0",
		.help = "With `memory`: one after the other, in the mean.",
	},
	{
		.name = "bytes",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 0,
		.max = 1e9,
		.help = "With `memory`.",
	},
	{
		.name = "use",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "The unit of `platform.units` that works on the packet; the core waits for "
			"it.",
	},
	{
		.name = "deschedule",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "The core does not wait for the unit: it takes another packet. This one "
			"keeps its flow, and gets a core of the group again when the unit is done, "
			"before others of its queue.",
	},
	{
		.name = "set",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Attribute that becomes `value`, or is drawn by `weights`.",
	},
	{
		.name = "value",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 1e12,
		.help = "With `set`.",
	},
	WEIGHTS_ROW("The attribute is 0, 1, 2 ..., each as probable as its weight here is among "
		    "them all. Instead of `value`. With `send`: which of the queues."),
	{
		.name = "fork",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.help = "Parts of the packet, of its size, flow and attributes, go to that queue; "
			"or to each of several, as in `blade.*.work`.",
	},
	{
		.name = "count",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 65536,
		.def = "1",
		.help = "With `fork`: how many to each queue.",
	},
	{
		.name = "join",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "The packet goes on when all of its parts have left or were dropped. It "
			"keeps "
			"its flow, but no core.",
	},
	{
		.name = "switch",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "A tag switch: the packet leaves its flow for that of this queue, and goes "
			"on "
			"with the next step; the core waits with it until it is its turn.",
	},
	{
		.name = "jump",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "The `label` of the step of this object that comes next.",
	},
	{
		.name = "label",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "What `jump` calls this step.",
	},
	{
		.name = "send",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.help = "The object is done with the packet, which goes to that queue; or to one "
			"of several, see `by`. A star stands for all instances of an array, as in "
			"`blade.*.work`.",
	},
	{
		.name = "by",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "With `send` to several queues, which one: `chance`, all alike or by "
			"`weights`; `flow`, all packets of a flow to the same one, flows being "
			"dealt out by a hash; or an attribute (or `size`), 0 for the first one, "
			"modulo their number.",
	},
	{
		.name = "drop",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "The packet is dropped; this is the reason that it is counted under.",
	},
	{
		.name = "output",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "The packet leaves.",
	},
	{
		.name = "through",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "With `output`: the unit that it leaves through, such as a link.",
	},
	{
		.name = "probability",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 1,
		.def = "1",
		.help = "That the step is taken; else it is skipped.",
	},
	{
		.name = "when",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "The step is skipped unless this holds: an attribute, `size` or `flow`; "
			"one "
			"of `==`, `!=`, `<`, `<=`, `>`, `>=`; a number. Such as `class == 2`.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_step = {
	.name = "step",
	.help = "Something that an execution object does with a packet, and what it costs: one of "
		"`cpu` (and `per_byte`), `memory`, `use`, `set`, `fork`, `join`, `switch`, `jump`, "
		"`send`, "
		"`drop`, `output`.",
	.keys = step_keys,
};

static const struct weir_base_doc_key unit_keys[] = {
	{
		.name = "servers",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 65536,
		.def = "1",
		.help = "How many packets it works on at a time.",
	},
	{
		.name = "delay",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1e6,
		.def = "0",
		.help = "Time that it takes for a packet, in the mean.",
	},
	SIM_DOC_DIST_ROWS("delay"),
	{
		.name = "bandwidth",
		.kind = WEIR_BASE_DOC_BIT_RATE,
		.min = 1,
		.max = 1e15,
		.help = "Of each server: the packet's bytes take so long in addition.",
	},
	{
		.name = "outliers",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 1,
		.def = "0",
		.help = "Probability that a packet takes longer, whatever its size.",
	},
	{
		.name = "outlier",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1e6,
		.def = "0",
		.help = "How much longer, in the mean.",
	},
	{
		.name = "outlier_distribution",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = sim_doc_dist_choices,
		.def = "exponential",
		.help = "Of `outlier`; `uniform` from 0 to twice of it, `lognormal` with sigma 1.",
	},
	{
		.name = "capacity",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1073741824,
		.help = "Most packets that wait for it; one that comes then is dropped. By default "
			"there is no limit.",
	},
	{
		.name = "discipline",
		.kind = WEIR_BASE_DOC_STRING,
		.def = "fcfs",
		.help = "Which packet that waits is served next: `fcfs`, the first that came; "
			"`lcfs`, the last; `priority`, the one whose number `by` is the lowest; "
			"`shortest` or `longest`, by what is left of its time here; or "
			"`PLUGIN.so:SYMBOL`, as of queues.",
	},
	{
		.name = "by",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "With `priority`: an attribute, `size` or `flow`.",
	},
	{
		.name = "preemptive",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "What goes before a packet that is worked on interrupts it when it comes. "
			"That goes on later where it was, and always has room to wait.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_unit = {
	.name = "unit",
	.help = "Servers that work on packets without a core.",
	.keys = unit_keys,
};

static const struct weir_base_doc_key dispatch_keys[] = {
	{
		.name = "preemptive",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "A packet that finds no idle core interrupts one that works on a packet of "
			"a "
			"lower priority: in the middle of a step `cpu`, or at its beginning if the "
			"core waited for a unit or the scheduler when the packet came. What is "
			"interrupted goes on later where it was, before others of "
			"its queue.",
	},
	{
		.name = "latency",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1e6,
		.def = "0",
		.help = "From the scheduler's decision to the core's beginning; the core is busy "
			"meanwhile.",
	},
	{
		.name = "interval",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1e6,
		.def = "0",
		.help = "The scheduler decides once in this time: cores that want something sooner "
			"wait for their turn.",
	},
	{
		.name = "weights",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1000000,
		.help = "Of priorities 0, 1, 2 ...: of those that packets wait of, each is served "
			"in "
			"proportion. Those that are not named weigh 1. By default the highest "
			"priority is always served first.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_dispatch = {
	.name = "dispatch",
	.help = "How cores get packets, for `weir sim`.",
	.keys = dispatch_keys,
};

static const struct weir_base_doc_key level_keys[] = {
	{
		.name = "capacity",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 0,
		.max = 1e15,
		.help = "What packets may hold of it; of the last level it has no meaning.",
	},
	{
		.name = "latency",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1,
		.def = "0",
		.help = "Of an access.",
	},
	{
		.name = "bandwidth",
		.kind = WEIR_BASE_DOC_BIT_RATE,
		.min = 1,
		.max = 1e15,
		.help = "Of all cores together; by default bytes take no time.",
	},
	{
		.name = "contention",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 1000,
		.def = "0",
		.help = "Each other core that uses it adds so much of the latency.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section level_section = {
	.name = "memory level",
	.help = "A part of a memory.",
	.keys = level_keys,
};

static const char *const write_back_choices[] = {"never", "unless_transmitted", "always", NULL};

static const struct weir_base_doc_key memory_keys[] = {
	{
		.name = "levels",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &level_section,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "Its levels, the first one the nearest. A packet is in the first that has "
			"room for it when it is used first.",
	},
	{
		.name = "header",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 0,
		.max = 1e9,
		.help = "Only so many bytes of a packet look for room; the others are in the last "
			"level. By default all do.",
	},
	{
		.name = "write_back",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = write_back_choices,
		.def = "never",
		.help = "Whether what packets hold of the levels before the last goes there when "
			"they leave. That takes the last level's bandwidth, as one more user, and "
			"it keeps its room until it is there. `unless_transmitted`: only of "
			"packets that were dropped.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_memory = {
	.name = "shared memory",
	.help = "A memory that cores share, for `weir sim`.",
	.keys = memory_keys,
};
