/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: links, which are streams of frames, each with a buffer. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

#define MILLION         1e6
#define PS_PER_S        1e12
#define JUMP_PART       16 /* of the history */
#define JUMP_FRAMES_MIN 16
#define HELD_MAX        (UINT64_C(1) << 30) /* frames of a buffer */

/* What a format says of frames, and the buffer; 0: nothing. */
struct frames {
	const char *format;
	uint64_t bytes;                /* of all of them; else: */
	uint64_t bytes_min, bytes_max; /* of the smallest and the largest one */
	uint64_t room;                 /* for one in the buffer */
	bool has_length;               /* each says how long it is */
	uint64_t clock_hz, step;
	double rate_hz;     /* of the buffer */
	double interval_ps; /* of those that are received, from one to the next */
};

static uint64_t
number_of(const struct weir_base_doc_value *map, const char *key)
{
	return weir_base_doc_u64(weir_base_doc_get(map, key));
}

static struct frames
read_frames(const struct weir_base_doc_value *application, const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *buffer = weir_base_doc_get(link, "buffer");
	const struct weir_base_format format = sim_format_read(application, link);
	const bool is_fixed = format.size_min_bytes == format.size_max_bytes;

	return (struct frames){
		.format = format.name,
		.bytes = is_fixed ? format.size_max_bytes : 0,
		.bytes_min = format.size_min_bytes,
		.bytes_max = is_fixed ? 0 : format.size_max_bytes,
		.room = number_of(buffer, "frame_size"),
		.has_length = format.fields[WEIR_BASE_FIELD_LENGTH].width_bits > 0,
		.clock_hz = format.clock_hz,
		.step = format.step_ticks,
		.rate_hz = weir_base_doc_f64(weir_base_doc_get(buffer, "rate")),
	};
}

/* How long a buffer's history is, in frames, and what stands for their time. @return false: this was refused */
static bool
read_buffer(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	const struct frames *frames, struct model_link *link)
{
	const struct weir_base_doc_value *buffer = weir_base_doc_get(value, "buffer");
	const double hz = (double)frames->clock_hz;
	const double frame = (double)link->ticks / (double)link->per;
	const double history = weir_base_doc_f64(weir_base_doc_get(buffer, "history")) * hz;
	double jump = weir_base_doc_f64(weir_base_doc_get(buffer, "jump")) * hz, live;

	if (jump == 0)
		jump = fmax(history / JUMP_PART, JUMP_FRAMES_MIN * frame);
	live = ceil(history) + ceil(jump);
	live = link->has_step ? floor(live / frame) + 2 : floor(live / frame) + 1;
	if (live > (double)HELD_MAX) {
		weir_base_doc_error_add(model->doc, weir_base_doc_get(buffer, "history"),
			"a history of %.0f frames; expected at most %.0f", live, (double)HELD_MAX);
		return false;
	}
	link->held = (uint64_t)live;
	link->reorder = number_of(buffer, "reorder");
	return true;
}

/* The frames of a link that comes by a receiver, or by a port of a graph: all alike, at the rate that its format or its buffer says. */
static bool
receive(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct frames *frames, uint32_t shared, struct model_stream *stream)
{
	const struct weir_base_doc_value *name = weir_base_doc_get(value, "port");
	const uint32_t port = name != NULL ? sim_doc_port(model, weir_base_doc_str(name)) : shared;
	const uint64_t bytes = frames->room != 0 ? frames->room : frames->bytes;

	if (model->graph.nb_workers == 0)
		weir_base_doc_error_add(model->doc, name != NULL ? name : value,
			"what it takes to receive frames of link '%s' has no costs; expected "
			"'costs' in 'platform', or a link that is emulated or replayed",
			weir_base_doc_name(value));
	else if (port == SIM_NONE && name == NULL &&
		 sim_doc_shared(weir_base_doc_root(model->doc), value) != NULL)
		return false; /* of the node that hands it frames, whose port was refused */
	else if (port == SIM_NONE || (port != shared && !model->graph.ports[port].is_receiver))
		weir_base_doc_error_add(model->doc, name != NULL ? name : value,
			"frames of link '%s' come from no receiver, and are neither emulated nor "
			"replayed; expected a 'port' of platform.receivers, or traffic",
			weir_base_doc_name(value));
	else if (bytes == 0)
		weir_base_doc_error_add(model->doc, value,
			"the size of frames of link '%s' is not said by its format; expected "
			"'frame_size' in its 'buffer'",
			weir_base_doc_name(value));
	else {
		stream->queue = SIM_TO_PORT | port;
		stream->first_flow = (uint32_t)number_of(value, "queue");
		stream->size_min_bytes = (uint32_t)bytes;
		frames->interval_ps = sim_coarse(
			frames->rate_hz > 0
				? PS_PER_S / frames->rate_hz
				: PS_PER_S * (double)frames->step / (double)frames->clock_hz);
		stream->interval =
			sim_doc_dist_of(WEIR_SIM_DIST_CONSTANT, frames->interval_ps, 0, 0);
		return true;
	}
	return false;
}

/* What is polled for links of that name: their emulator, or their queues; SIM_NONE: nothing is. */
static uint32_t
port_of(const struct weir_sim_model *model, const char *links, bool is_delivery)
{
	const struct model_port *ports = model->graph.ports;
	uint32_t i;

	for (i = 0; i < model->graph.nb_ports; i++)
		if (ports[i].is_feed && ports[i].is_delivery == is_delivery &&
			strcmp(weir_base_doc_name(ports[i].value), links) == 0)
			return i;
	return SIM_NONE;
}

/* Frames of an emulated link: those of its format, unless it says otherwise. */
static int
emulate(struct weir_sim_model *model, const struct weir_base_doc_value *emulated,
	const struct frames *frames, struct model_stream *stream, bool *is_good)
{
	const uint64_t bytes_max = frames->bytes != 0 ? frames->bytes : frames->bytes_max;
	const struct weir_base_doc_value *size = weir_base_doc_get(emulated, "size");
	const uint32_t port = port_of(model, weir_base_doc_name(emulated), false);

	stream->source = SIM_SOURCE_FRAMES;
	stream->count = number_of(emulated, "frames");
	stream->size_min_bytes =
		(uint32_t)(size != NULL                                ? weir_base_doc_u64(size)
			   : bytes_max <= WEIR_BASE_EMULATED_BYTES_MAX ? bytes_max
								       : frames->bytes_min);
	stream->queue = port != SIM_NONE ? SIM_TO_PORT | port : SIM_TO_LINK;
	stream->frames.frames = frames->clock_hz;
	stream->frames.seconds = frames->step;
	if (weir_base_doc_given(emulated, "rate")) {
		stream->frames.frames = (uint64_t)llround(
			weir_base_doc_f64(weir_base_doc_get(emulated, "rate")) * MILLION);
		stream->frames.seconds = (uint64_t)MILLION;
	}
	*is_good = frames->room == 0 || stream->size_min_bytes <= frames->room;
	if (!*is_good)
		weir_base_doc_error_add(model->doc, size != NULL ? size : emulated,
			"frames of %u B of link '%s', whose buffer has room for such of %" PRIu64
			" B; expected a larger 'frame_size' there",
			stream->size_min_bytes, weir_base_doc_name(emulated), frames->room);
	return sim_doc_read_faults(model, emulated, &stream->frames);
}

static int
name_link(const struct weir_base_doc_value *value, uint32_t number, char **name)
{
	const int length = weir_base_doc_given(value, "count")
				   ? asprintf(name, "%s-%u", weir_base_doc_name(value), number)
				   : asprintf(name, "%s", weir_base_doc_name(value));

	if (length < 0)
		*name = NULL;
	return length < 0 ? -ENOMEM : 0;
}

/* What the frames of all links of one name may be dropped for, at their buffer. */
static int
read_reasons(struct weir_sim_model *model, struct model_link *link)
{
	return sim_doc_reason(model, &link->too_late, "too_late") < 0 ||
			       sim_doc_reason(model, &link->duplicate, "duplicate") < 0 ||
			       sim_doc_reason(model, &link->wrong_size, "wrong_size") < 0
		       ? -ENOMEM
		       : 0;
}

/* Links of one name: each is a stream. Those that are received take turns, the first one begins at 0. */
static int
add_links(struct weir_sim_model *model, const struct model_stream *stream,
	const struct model_link *link, double interval_ps)
{
	const uint64_t count = number_of(link->value, "count");
	const uint32_t nb = count > 0 ? (uint32_t)count : 1;
	const uint32_t delivery = port_of(model, weir_base_doc_name(link->value), true);
	struct model_stream *streams =
		realloc(model->streams, (model->nb_streams + nb + 1) * sizeof(*model->streams));
	struct model_link *links;
	uint32_t i;

	if (streams == NULL)
		return -ENOMEM;
	model->streams = streams;
	links = realloc(model->links, (model->nb_links + nb + 1) * sizeof(*model->links));
	if (links == NULL)
		return -ENOMEM;
	model->links = links;
	for (i = 0; i < nb; i++) {
		struct model_stream *one = &streams[model->nb_streams];

		*one = *stream;
		one->link = model->nb_links;
		if (one->queue == SIM_TO_LINK)
			one->queue |= one->link;
		one->start_ps = (uint64_t)(interval_ps * i / nb);
		if (one->source == SIM_SOURCE_FRAMES)
			one->first_flow = i; /* which of its threads makes its frames */
		if (name_link(link->value, i, &one->made_name) < 0)
			return -ENOMEM;
		one->name = one->made_name;
		links[model->nb_links] = *link;
		links[model->nb_links].name = one->name;
		links[model->nb_links].fields.key += i;
		links[model->nb_links].ring =
			delivery != SIM_NONE ? model->graph.ports[delivery].first_rx + i : SIM_NONE;
		links[model->nb_links++].stream = model->nb_streams++;
	}
	return 0;
}

/* What stands for the time of frames: their format's step, or else their rate. */
static void
set_clock(const struct frames *frames, const struct model_stream *stream, struct model_link *link)
{
	link->clock_hz = frames->clock_hz;
	link->has_step = frames->step > 0;
	link->per = 1;
	link->ticks = frames->step;
	if (link->has_step)
		return;
	if (stream->source == SIM_SOURCE_FRAMES) {
		link->ticks = stream->frames.seconds * frames->clock_hz;
		link->per = stream->frames.frames;
	} else {
		link->ticks = (uint64_t)MILLION * frames->clock_hz;
		link->per = (uint64_t)llround(frames->rate_hz * MILLION);
	}
}

/* Frames of a link are hits, which come when they are found. */
static void
collect(const struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream)
{
	const uint32_t port = port_of(model, weir_base_doc_name(value), false);

	stream->source = SIM_SOURCE_MADE;
	stream->size_min_bytes = WEIR_BASE_FORMAT_HIT_BYTES;
	stream->queue = port != SIM_NONE ? SIM_TO_PORT | port : SIM_TO_LINK;
}

/* Frames that a capture has, of which each says what it is. */
static int
add_captured(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct frames *frames, struct model_stream *stream, struct model_link *link)
{
	stream->source = SIM_SOURCE_REPLAY;
	stream->sizes = SIM_SIZES_CAPTURED;
	link->room = (uint32_t)frames->room;
	set_clock(frames, stream, link);
	link->reorder = number_of(weir_base_doc_get(link->value, "buffer"), "reorder");
	if (sim_doc_read_fields(model, root, link) < 0 || read_reasons(model, link) < 0)
		return -ENOMEM;
	return add_links(model, stream, link, 0);
}

/* Frames of a file, for which it has a rate, or a step. */
static int
replay(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct frames *frames, struct model_stream *stream, struct model_link *link)
{
	const struct weir_base_doc_value *application = weir_base_doc_get(root, "application");
	const struct weir_base_doc_value *replayed = sim_doc_replayed(root, link->value);
	const struct weir_base_format format = sim_format_read(application, link->value);
	const uint32_t port = port_of(model, weir_base_doc_name(replayed), false);
	const uint32_t first = model->nb_streams;

	if (!sim_doc_check_replayed(model, replayed, link->value, &format))
		return 0;
	stream->queue = port != SIM_NONE ? SIM_TO_PORT | port : SIM_TO_LINK;
	return add_captured(model, root, frames, stream, link) < 0 ? -ENOMEM
	       : model->nb_streams > first ? sim_doc_read_replayed(model, replayed, &format, first)
					   : 0;
}
/* Frames of what a stream replays, by a port that its links and a graph share. */
static int
take_captured(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct frames *frames, uint32_t port, struct model_stream *stream,
	struct model_link *link)
{
	const struct weir_base_format format =
		sim_format_read(weir_base_doc_get(root, "application"), link->value);

	if (!sim_doc_check_timed(model, link->value, &format))
		return 0;
	stream->queue = SIM_TO_PORT | port;
	return add_captured(model, root, frames, stream, link);
}

static int
read_link(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *value, bool is_of_hits)
{
	const struct weir_base_doc_value *emulated = sim_doc_emulated(root, value);
	struct frames frames = read_frames(weir_base_doc_get(root, "application"), value);
	struct model_stream stream = {
		.value = value,
		.unit = SIM_NONE,
		.stop_ps = UINT64_MAX,
		.nb_flows = 1,
	};
	struct model_link link = {.value = value,
		.is_of_hits = is_of_hits,
		.functions = SIM_NONE,
		.followers = SIM_NONE};
	const uint32_t shared = sim_doc_shared_port(model, sim_doc_shared(root, value));
	bool is_good = true;

	if (!is_of_hits && sim_doc_replayed(root, value) != NULL)
		return replay(model, root, &frames, &stream, &link);
	if (shared != SIM_NONE && sim_doc_shared_capture(model, shared) != SIM_NONE)
		return take_captured(model, root, &frames, shared, &stream, &link);
	if (is_of_hits)
		collect(model, value, &stream);
	else if (emulated == NULL)
		is_good = receive(model, value, &frames, shared, &stream);
	else if (emulate(model, emulated, &frames, &stream, &is_good) < 0)
		return -ENOMEM;
	if (is_good && frames.clock_hz == 0)
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "format"),
			"the clock of format '%s' is not known; expected one that has a buffer's "
			"time",
			frames.format);
	if (!is_good || frames.clock_hz == 0)
		return 0;
	set_clock(&frames, &stream, &link);
	if (frames.bytes != 0 || frames.has_length)
		link.bytes = stream.size_min_bytes;
	if (!read_buffer(model, value, &frames, &link))
		return 0;
	if ((is_of_hits || stream.frames.nb_faults > 0) &&
		sim_doc_read_fields(model, root, &link) < 0)
		return -ENOMEM;
	return read_reasons(model, &link) < 0
		       ? -ENOMEM
		       : add_links(model, &stream, &link, frames.interval_ps);
}

int
sim_doc_read_links(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *application = weir_base_doc_get(root, "application");
	const struct weir_base_doc_value *links = weir_base_doc_get(application, "links");
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(links); i++) {
		const struct weir_base_doc_value *link = weir_base_doc_at(links, i);
		const bool has_hits = sim_doc_has_hits(root, link);

		if ((has_hits || !sim_doc_is_made(application, link)) &&
			read_link(model, root, link, has_hits) < 0)
			return -ENOMEM;
	}
	return sim_doc_split_captures(model, application);
}
