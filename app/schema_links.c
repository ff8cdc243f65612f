/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of a readout, their buffers, and what they are asked for. */
#include <ctype.h>
#include <string.h>

#include <weir_sim.h>

#include "config_links.h"
#include "schema.h"

static const char *const when_full_choices[] = {
	[WEIR_READOUT_FULL_EVICT_OLDEST] = "evict_oldest",
	[WEIR_READOUT_FULL_DROP_NEWEST] = "drop_newest",
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
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_buffer_rows),
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
		.name = "confirm",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 16,
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
		.name = "reorder",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 16777216,
		.def = "1024",
		.help = "Of formats without a step: how many places from the end a late frame may "
			"come.",
	},
	{
		.name = "when_full",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = when_full_choices,
		.def = "evict_oldest",
		.help = "What to do with a frame when there is no room: the oldest one that nobody "
			"reads makes room, or it is dropped.",
	},
	{
		.name = "hugepages",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "true",
		.help = "Use hugepages where the system has enough of them.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section buffer_section = {
	.name = "latency buffer",
	.help = "The frames of a link's last seconds, in memory that is there from the beginning: "
		"so much for each link.",
	.keys = buffer_keys,
};

static const struct weir_base_doc_key hits_keys[] = {
	{
		.name = "threshold",
		.kind = WEIR_BASE_DOC_INT,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1,
		.max = 16383,
		.help = "A sample is of a hit if it is above its channel's baseline by more than "
			"this.",
	},
	{
		.name = "max_samples",
		.kind = WEIR_BASE_DOC_INT,
		.min = 2,
		.max = 65535,
		.def = "1024",
		.help = "A hit of so many samples ends there.",
	},
	{
		.name = "to",
		.kind = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "The link whose frames they become: one of format `hit`. Those of several "
			"links may go to one.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section hits_section = {
	.name = "hits",
	.help = "Pulses in the channels of `wibeth` frames, found before these go to their buffer.",
	.keys = hits_keys,
};

static const char *const delivery_choices[] = {
	[SCHEMA_DELIVERY_CALLBACK] = "callback",
	[SCHEMA_DELIVERY_QUEUE] = "queue",
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
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_link_rows),
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
		.name = "buffer",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &buffer_section,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "Where its frames are kept.",
	},
	{
		.name = "delivery",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &delivery_section,
		.help = "How they get there. By default by callback.",
	},
	{
		.name = "hits",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &hits_section,
		.help = "Look for hits in its frames: short for one of `processes` with the name "
			"and the function `hits`, `inline`.",
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
			"step, else any time "
			"forwards is allowed.",
	},
	{
		.name = "stall",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-6,
		.max = 1e6,
		.help = "Nothing came for so long: counts as a stall. By default not looked for.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section schema_link = {
	.name = "link",
	.help = "A stream of frames, or several alike: each frame is compared with the one before "
		"it, counted, and put into the link's buffer.",
	.keys = link_keys,
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

const struct weir_base_doc_section schema_request = {
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

const struct weir_base_doc_section schema_fragments = {
	.name = "fragments",
	.help = "What links have of the windows that they are asked for, by requests and by `weir "
		"readout request`.",
	.keys = fragments_keys,
};
