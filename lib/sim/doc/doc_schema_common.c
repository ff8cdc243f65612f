/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of sections of which whoever runs what is described has others besides. */
#include "doc_schema.h"
#include "weir_base_nodes.h"

static const char *const type_choices[] = {"atomic", "parallel", "ordered", NULL};

static const char *const idle_choices[] = {"poll", "pause", "sleep", NULL};

static const struct weir_base_doc_key queue_keys[] = {
	{
		.name = "type",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = type_choices,
		.def = "atomic",
		.help = "What it promises. `atomic`: one worker or core at a time has packets of a "
			"flow, in order. `ordered`: any of them have packets, and what they send "
			"on is in order again. `parallel`: any of them, no order.",
	},
	{
		.name = "flows",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = WEIR_BASE_FLOWS_MAX,
		.def = "1",
		.help = "How many flows are told apart: so many workers or cores can have packets "
			"of an atomic queue at a time, at most. Packets of different flows have no "
			"order among each other. Where there are several, each is a queue of the "
			"event machine's, called NAME.0, NAME.1 and so on.",
	},
	{
		.name = "priority",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 7,
		.def = "0",
		.help = "0 is served first.",
	},
	{
		.name = "discipline",
		.kind = WEIR_BASE_DOC_STRING,
		.def = "fcfs",
		.help = "For `weir sim`. Which packet of a flow is served next: `fcfs`, the first "
			"that came; `lcfs`, the last; `shortest` or `longest`, by what is left of "
			"the object's first step, which is `cpu`; or `PLUGIN.so:SYMBOL`, a `struct "
			"weir_sim_discipline` (`weir_sim_discipline.h`) in a shared object, beside "
			"this file unless its name begins with '/'. With `preemptive` a packet "
			"that goes before one that is worked on interrupts it, except with the "
			"last; with `longest` when it comes, and not as what is left of the other "
			"one falls below what is left of others: that would be LRPT, which shares "
			"the core among them.",
	},
	{
		.name = "capacity",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1073741824,
		.help = "For `weir sim`: most packets that wait in it; one that comes then is "
			"dropped. Those that are worked on are not counted. By default there is "
			"no limit.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_queue_rows = {.keys = queue_keys};

static const struct weir_base_doc_key object_keys[] = {
	{
		.name = "queues",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.help = "Its queues. Each belongs to one object or node.",
	},
	{
		.name = "to",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Queue that it sends to. Without one, packets leave in `weir sim`.",
	},
	{
		.name = "steps",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_step,
		.help = "What it does with a packet, one after the other, and what that costs: "
			"which `weir sim` needs to know.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_object_rows = {.keys = object_keys};

static const char *const when_full_choices[] = {
	[WEIR_BASE_FULL_EVICT_OLDEST] = "evict_oldest",
	[WEIR_BASE_FULL_DROP_NEWEST] = "drop_newest",
	NULL,
};

static const struct weir_base_doc_key buffer_keys[] = {
	{
		.name = "history",
		.kind = WEIR_BASE_DOC_DURATION,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1e-6,
		.max = 1e6,
		.help = "How long frames can be found, at least, counted from the newest.",
	},
	{
		.name = "rate",
		.kind = WEIR_BASE_DOC_FREQUENCY,
		.min = 1e-3,
		.max = 1e9,
		.help = "Frames a second of each link. Of formats without a step, whose clock "
			"does not say it.",
	},
	{
		.name = "frame_size",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 1,
		.max = 16777216,
		.help = "Of the largest frame. By default the format's.",
	},
	{
		.name = "jump",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-9,
		.max = 1e6,
		.help = "A timestamp further off than this is doubted, until the next ones agree. "
			"A frame's time at least. By default a sixteenth of the history, and 16 "
			"frames at least.",
	},
	{
		.name = "reorder",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 16777216,
		.def = "1024",
		.help = "Of formats without a step: how many places from the end a late frame may "
			"come.",
	},
	{
		.name = "confirm",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = WEIR_BASE_CONFIRM_MAX,
		.def = "3",
		.help = "How many frames in a row confirm a jump, the first one included.",
	},
	{
		.name = "spare",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 16777216,
		.help = "Room for so many frames more, for those that are being read when their "
			"time is over. By default an eighth of the history's, and where windows go "
			"to a file or a socket more for these, up to as many again as the "
			"history's.",
	},
	{
		.name = "when_full",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = when_full_choices,
		.def = "evict_oldest",
		.help = "What to do with a frame when there is no room: the oldest one that nobody "
			"reads makes room, or it is dropped.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_buffer_rows = {.keys = buffer_keys};

static const char *const delivery_choices[] = {
	[WEIR_BASE_DELIVERY_CALLBACK] = "callback",
	[WEIR_BASE_DELIVERY_QUEUE] = "queue",
	NULL,
};

static const struct weir_base_doc_key delivery_keys[] = {
	{
		.name = "by",
		.kind = WEIR_BASE_DOC_ENUM,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.choices = delivery_choices,
		.help = "`callback`: the thread that receives frames puts them into the buffer. "
			"`queue`: it leaves them in a queue, and a thread of these links' own puts "
			"them there.",
	},
	{
		.name = "capacity",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1048576,
		.def = "1024",
		.help = "Frames that the queue of each link holds. More are dropped, as "
			"`queue_full`: receiving never waits.",
	},
	{
		.name = "cpu",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1023,
		.help = "CPU of the thread that empties the queues. By default any.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section delivery_section = {
	.name = "delivery",
	.help = "How frames get to their buffer.",
	.keys = delivery_keys,
};

static const struct weir_base_doc_key link_keys[] = {
	{
		.name = "format",
		.kind = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "Of its frames: one of `formats`, or built in.",
	},
	{
		.name = "count",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = WEIR_BASE_LINKS_MAX,
		.help = "So many links alike, called NAME-0, NAME-1 and so on; without it there is "
			"one, called NAME.",
	},
	{
		.name = "port",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Its frames come from this one of `platform.receivers`.",
	},
	{
		.name = "queue",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1023,
		.def = "0",
		.help = "Queue of that port.",
	},
	{
		.name = "delivery",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &delivery_section,
		.help = "How they get there. By default by callback.",
	},
	{
		.name = "stream",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1e15,
		.def = "0",
		.help = "Stream key in the frames of the first of them; the next ones have those "
			"after it.",
	},
	{
		.name = "drop_duplicates",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "Drop what came before at once, rather than count it and leave it to the "
			"buffer.",
	},
	{
		.name = "jump",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-9,
		.max = 1e6,
		.help = "A timestamp further off than this counts as a jump, rather than as early "
			"or late. A frame's time at least. By default 1s where the format has a "
			"step, else any time forwards is allowed.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_link_rows = {.keys = link_keys};

static const struct weir_base_doc_key application_keys[] = {
	{
		.name = "graph",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = weir_base_graph_names,
		.def = "forwarder",
		.help = "The graph to begin with: `forwarder` is the built-in IPv4 and IPv6 "
			"router.",
	},
	{
		.name = "nodes",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_node,
		.help = "Nodes to add to the graph, by name.",
	},
	{
		.name = "edges",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.check = weir_base_node_edge_check,
		.expected = "\"NODE.EDGE -> NODE\", for example \"classify.ip4 -> ip4_lookup\"",
		.help = "Edges to change: `NODE.EDGE -> NODE`. An edge is called by the node that "
			"it leads to in the graph to begin with, or a beginning of that name that "
			"no other edge shares; each may be changed once. A port's name on the left "
			"stands for its receive nodes, on the right for its transmit node.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_application_rows = {.keys = application_keys};

static const struct weir_base_doc_key platform_keys[] = {
	{
		.name = "ports",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_port,
		.help = "Ports by name: letters, digits and '_', at most 31.",
	},
	{
		.name = "receivers",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_receiver,
		.help = "Devices that links' frames come from, by name.",
	},
	{
		.name = "workers",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_worker,
		.help = "Workers. Without any, one polls all ports.",
	},
	{
		.name = "costs",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_costs,
		.help = "What walks of the graph cost, for `weir sim`; `weir run` takes no notice "
			"of it.",
	},
	{
		.name = "cores",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_cores,
		.help = "Cores, by the name of their kind, for `weir sim`; `weir run` takes no "
			"notice of them.",
	},
	{
		.name = "dispatch",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_dispatch,
		.def = "{}",
		.help = "How cores get packets, for `weir sim`.",
	},
	{
		.name = "memories",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_memory,
		.help = "Memories that cores share, by name, for `weir sim`.",
	},
	{
		.name = "units",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_unit,
		.help = "Accelerators, I/O units and links, by name, for `weir sim`; `weir run` "
			"takes no notice of them.",
	},
	{
		.name = "idle",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = idle_choices,
		.def = "poll",
		.help = "What a worker does that finds nothing to do: poll on, pause (between "
			"polls it gives way to the other thread of its core; in `weir sim` it "
			"takes no time), or sleep (50 us, growing to 1 ms). Where workers share a "
			"CPU the first two let others run.",
	},
	{
		.name = "burst",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4096,
		.def = "256",
		.help = "Largest vector of packets handed to a node.",
	},
	{
		.name = "scheduler",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_scheduler,
		.def = "{}",
		.help = "What decides which worker gets which event next; of use with "
			"`application.queues`.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_platform_rows = {.keys = platform_keys};

static const struct weir_base_doc_key traffic_keys[] = {
	{
		.name = "emulated",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &sim_doc_emulated_link,
		.help = "Links whose frames are made here, by the name that they have in "
			"`application.links`.",
	},
	{
		.name = "replayed",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &sim_doc_replayed_link,
		.help = "Links whose frames come from a file, by the name that they have in "
			"`application.links`.",
	},
	{
		.name = "streams",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_stream,
		.help = "Streams of packets, by name, for `weir sim`; `weir run` takes no notice "
			"of them.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_traffic_rows = {.keys = traffic_keys};

static const struct weir_base_doc_key run_keys[] = {
	{
		.name = "simulation",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_simulation,
		.def = "{}",
		.help = "How `weir sim` runs it; `weir run` takes no notice of it.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_run_rows = {.keys = run_keys};
