/* SPDX-License-Identifier: BSD-3-Clause */
/* Vocabulary of links: what the simulator has in common with those who run them, and what it reads of the rest. */
#include "doc_schema.h"
#include "weir_base_nodes.h"

static const struct weir_base_doc_key fault_keys[] = {
	{
		.name = "fault",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = weir_base_fault_names,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "What is done to a frame. `drop`: it is not sent. `duplicate`: it is sent "
			"twice. `reorder`: it is sent after the one that is `amount` after it. "
			"`stream`, `sequence`, `timestamp`: `amount` is added to that field. "
			"`truncate`: only `amount` bytes are sent. `stall`: it and those after it "
			"wait for the time of `amount` frames. `jump`: `amount` is added to its "
			"timestamp, and to all that follow.",
	},
	{
		.name = "amount",
		.kind = WEIR_BASE_DOC_INT,
		.min = -1e15,
		.max = 1e15,
		.help = "See `fault`.",
	},
	{
		.name = "first",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1e15,
		.def = "0",
		.help = "Number of the first frame that it is done to, from 0.",
	},
	{
		.name = "period",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e15,
		.help = "And again each so many frames after it; by default once.",
	},
	{
		.name = "length",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e15,
		.def = "1",
		.help = "To so many frames in a row, each time.",
	},
	{
		.name = "random",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 1e-6,
		.max = 1,
		.help = "Not by `period`: each frame from the first on has this chance, by the "
			"`seed`.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section fault_section = {
	.name = "fault",
	.help = "What is done to some frames of each link, so that one sees what becomes of them.",
	.keys = fault_keys,
};

static const struct weir_base_doc_key emulated_keys[] = {
	{
		.name = "rate",
		.kind = WEIR_BASE_DOC_FREQUENCY,
		.min = 1e-3,
		.max = 1e8,
		.help = "Frames a second of each link, exactly, whatever becomes of them. By "
			"default as the format's clock and step say.",
	},
	{
		.name = "frames",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e15,
		.help = "So many of each link, then no more. By default without an end.",
	},
	{
		.name = "size",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 1,
		.max = 65000,
		.help = "Of each frame. By default the largest of the format, where that is up to "
			"9000 B, else the smallest.",
	},
	{
		.name = "payload",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_MUST_EXIST,
		.help = "A file of one frame: what all of them hold beside their fields. By "
			"default zeros.",
	},
	{
		.name = "cpus",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1023,
		.help = "CPUs of threads of its own, which make its frames and give them to its "
			"links: link n is of thread n modulo their number. By default it is the "
			"thread of all feeds that have none.",
	},
	{
		.name = "seed",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1e15,
		.def = "1",
		.help = "Of faults at random: the same one gives the same faults.",
	},
	{
		.name = "faults",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_MAP,
		.section = &fault_section,
		.help = "What goes wrong.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section sim_doc_emulated_link = {
	.name = "emulated link",
	.help = "Frames as front ends send them: of a link, or of several alike.",
	.keys = emulated_keys,
};

static const struct weir_base_doc_key replayed_keys[] = {
	{
		.name = "pcap",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_MUST_EXIST,
		.help = "A capture file of packets, whose frames go to the links that they are of. "
			"Either this or `frames`.",
	},
	{
		.name = "frames",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_MUST_EXIST,
		.help = "A file of frames alone, one behind the other, in a format that has one "
			"size, or a length field.",
	},
	{
		.name = "rate",
		.kind = WEIR_BASE_DOC_FREQUENCY,
		.min = 1e-3,
		.max = 1e8,
		.help = "So many a second, of all links together. By default packets come at the "
			"times at which they were captured, frames alone at those that they say "
			"themselves.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section sim_doc_replayed_link = {
	.name = "replayed link",
	.help = "Frames of a file: of a link, or of several alike.",
	.keys = replayed_keys,
};

static const struct weir_base_doc_key request_keys[] = {
	{
		.name = "links",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "Which links are asked, together: NAME stands for all of NAME-0, NAME-1 "
			"and so on. Their clocks have one rate. The time is that of the first "
			"one's newest frame, until it stands still while another goes on for half "
			"of its history: then of that one's.",
	},
	{
		.name = "every",
		.kind = WEIR_BASE_DOC_DURATION,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1e-6,
		.max = 1e6,
		.help = "Time from the beginning of a window to that of the next one, by the "
			"frames' clock. The first one begins with the first frame.",
	},
	{
		.name = "window",
		.kind = WEIR_BASE_DOC_DURATION,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1e-9,
		.max = 1e6,
		.help = "How long each window is.",
	},
	{
		.name = "delay",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1e6,
		.def = "0",
		.help = "A window is asked for so long after its beginning. Where that is less "
			"than the window is long, what is still to come is waited for.",
	},
	{
		.name = "timeout",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1e6,
		.def = "100ms",
		.help = "How long to wait for what is still to come, by the machine's clock; 0: "
			"not at all.",
	},
	{
		.name = "to",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Where fragments go: a file, made anew, or a Unix stream socket that "
			"somebody listens on. Without it they are counted, and let go. On their "
			"way they pin frames of the buffers: there may be so many as half of each "
			"buffer's `spare` frames is room for, shared by all requests, and one "
			"window at least; more fail as `queue_full`.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section request_section = {
	.name = "request",
	.help = "Windows of time, each asked of some links: what each link has of one is a "
		"fragment.",
	.keys = request_keys,
};

static const struct weir_base_doc_key fragments_keys[] = {
	{
		.name = "count",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1000000,
		.help = "So many may be asked for, or on their way, at once: of each window that "
			"is asked for one for each of its links. Half of them may be for "
			"`weir readout request`. By default as many as the requests need, and 16 "
			"for each link.",
	},
	{
		.name = "frames",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1073741824,
		.help = "A fragment has room for so many; a longer window is answered with "
			"`too_large`. 28 bytes of memory for each frame of each fragment. By "
			"default those of the longest window of the requests, or as many as 256 "
			"MiB are enough for, up to all that a buffer holds.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section fragments_section = {
	.name = "fragments",
	.help = "What links have of the windows that they are asked for, by requests and by `weir "
		"readout request`.",
	.keys = fragments_keys,
};

static const struct weir_base_doc_key window_keys[] = {
	{
		.name = "requests",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &request_section,
		.help = "Windows of time that links are asked for again and again, by name.",
	},
	{
		.name = "fragments",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &fragments_section,
		.help = "Room for what links have of these windows.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_window_rows = {.keys = window_keys};

static const struct weir_base_doc_key format_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_base_format_rows),
	{.name = NULL},
};

const struct weir_base_doc_section sim_doc_format = {
	.name = "simulated frame format",
	.help = "Size and rate of a link's frames.",
	.keys = format_keys,
};

static const struct weir_base_doc_key buffer_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_buffer_rows),
	LEFT_ASIDE("hugepages"),
	{.name = NULL},
};

static const struct weir_base_doc_section buffer_section = {
	.name = "simulated latency buffer",
	.help = "Where a link's frames are kept.",
	.keys = buffer_keys,
};

static const struct weir_base_doc_key link_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_link_rows),
	{
		.name = "buffer",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &buffer_section,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "Where its frames are kept.",
	},
	{
		.name = "hits",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &sim_doc_hits,
		.help = "Look for hits in its frames, before the buffer.",
	},
	LEFT_ASIDE("stall"),
	{.name = NULL},
};

const struct weir_base_doc_section sim_doc_link = {
	.name = "simulated link",
	.help = "A stream of frames, or several alike.",
	.keys = link_keys,
};
