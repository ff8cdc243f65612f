/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a document to a model: frames of files. Which link each is of, and what time it says, is in its fields; it comes when the file says, or
 * at a rate, to the ns at which a replay has it due.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"
#include "weir_base_datagram.h"
#include "weir_base_pcap.h"

#define MILLION     1000000u
#define NS_PER_S    UINT64_C(1000000000)
#define PS_PER_NS   UINT64_C(1000)
#define WORD_BYTES  8u     /* that fields are read by */
#define FRAME_BYTES 65507u /* of the largest frame of a file that has nothing else */

/* A file that is being read. */
struct replay {
	struct weir_sim_model *model;
	const struct weir_base_doc_value *path;
	const struct weir_base_format *format;
	uint64_t key;                                /* of the first link */
	uint32_t first, nb;                          /* streams: one for each of the links */
	uint64_t rate_packets, rate_seconds;         /* 0: its own times */
	uint64_t nb_read, first_ns, due_ns;          /* of the latest packet */
	struct model_capture rest;                   /* of no link */
	uint32_t not_udp, truncated, unknown_stream; /* reasons */
};

/* ---- what may be replayed ---- */

static const struct weir_base_doc_value *
path_of(const struct weir_base_doc_value *replayed)
{
	const struct weir_base_doc_value *pcap = weir_base_doc_get(replayed, "pcap");

	return pcap != NULL ? pcap : weir_base_doc_get(replayed, "frames");
}

bool
sim_doc_check_replayed(struct weir_sim_model *model, const struct weir_base_doc_value *replayed,
	const struct weir_base_doc_value *link, const struct weir_base_format *format)
{
	const struct weir_base_doc_value *raw = weir_base_doc_get(replayed, "frames");

	if (!sim_doc_check_timed(model, link, format))
		return false;
	if (raw == NULL || format->size_min_bytes <= FRAME_BYTES)
		return true;
	weir_base_doc_error_add(model->doc, raw,
		"frames of format '%s' have at least %" PRIu32 " B; expected up to %d",
		format->name, format->size_min_bytes, FRAME_BYTES);
	return false;
}

bool
sim_doc_check_timed(struct weir_sim_model *model, const struct weir_base_doc_value *link,
	const struct weir_base_format *format)
{
	if (format->fields[WEIR_BASE_FIELD_TIMESTAMP].width_bits != 0)
		return true;
	weir_base_doc_error_add(model->doc, weir_base_doc_get(link, "format"),
		"frames of format '%s' do not say their time: that of the buffer is when "
		"a thread takes them; expected a format with a timestamp and a clock",
		format->name);
	return false;
}

/* ---- what becomes of a frame ---- */

static uint64_t
due_ps(const struct replay *replay)
{
	return replay->due_ns < SIM_TIME_END_PS / PS_PER_NS ? replay->due_ns * PS_PER_NS
							    : SIM_TIME_END_PS;
}

static int
add_at(struct weir_sim_model *model, const struct weir_base_doc_value *path,
	struct model_capture *capture, uint64_t ps, uint32_t bytes, const struct model_frame *frame)
{
	const uint32_t room = capture->room;
	struct model_frame *frames;
	int error = sim_doc_add_packet(model, path, capture, ps, bytes);

	if (error < 0)
		return error;
	if (capture->room != room || capture->frames == NULL) {
		frames = realloc(capture->frames, capture->room * sizeof(*frames));
		if (frames == NULL)
			return -ENOMEM;
		capture->frames = frames;
	}
	capture->frames[capture->nb - 1] = *frame;
	return 0;
}

static int
add(struct replay *replay, struct model_capture *capture, uint32_t bytes,
	const struct model_frame *frame)
{
	return add_at(replay->model, replay->path, capture, due_ps(replay), bytes, frame);
}

static int
add_rest(struct replay *replay, uint32_t bytes, uint32_t reason)
{
	return add(replay, &replay->rest, bytes, &(struct model_frame){.reason = reason});
}

/* Is so much of a frame there that its key is read, by a word, or of what is less than one? */
static bool
has_key(const struct weir_base_format *format, uint32_t bytes)
{
	const struct weir_base_field_place *field = &format->fields[WEIR_BASE_FIELD_STREAM];
	const uint32_t end = (field->offset_bits + field->width_bits + 7) / 8;

	if (bytes >= (field->width_bits > 0 && end > WORD_BYTES ? end : WORD_BYTES))
		return true;
	return bytes >= format->size_min_bytes && bytes < WORD_BYTES;
}

/* What one says of itself, or that it is none of a link that would drop others as @p wrong_size. */
static struct model_frame
read_frame(const struct weir_base_format *format, const uint8_t *bytes, uint32_t nb,
	uint32_t wrong_size)
{
	return (struct model_frame){
		.timestamp = sim_format_get(format, WEIR_BASE_FIELD_TIMESTAMP, bytes, nb),
		.sequence = sim_format_get(format, WEIR_BASE_FIELD_SEQUENCE, bytes, nb),
		.reason = sim_format_allows(format, bytes, nb) ? SIM_NONE : wrong_size,
	};
}

static int
add_frame(struct replay *replay, const uint8_t *bytes, uint32_t nb)
{
	const struct weir_base_format *format = replay->format;
	struct model_frame frame;
	uint64_t number;

	if (!has_key(format, nb))
		return add_rest(replay, nb, replay->truncated);
	number = sim_format_get(format, WEIR_BASE_FIELD_STREAM, bytes, nb) - replay->key;
	if (number >= replay->nb)
		return add_rest(replay, nb, replay->unknown_stream);
	frame = read_frame(format, bytes, nb,
		replay->model->links[replay->model->streams[replay->first].link].wrong_size);
	return add(replay, &replay->model->streams[replay->first + number].capture, nb, &frame);
}

/* The next packet: when it is due. One that is before the packet ahead of it comes with that. */
static void
go_on(struct replay *replay, uint64_t time_ns)
{
	if (replay->nb_read++ == 0)
		replay->first_ns = time_ns;
	if (replay->rate_packets > 0)
		replay->due_ns = (uint64_t)((weir_sim_u128)(replay->nb_read - 1) *
					    replay->rate_seconds * NS_PER_S / replay->rate_packets);
	else if (time_ns > replay->first_ns + replay->due_ns)
		replay->due_ns = time_ns - replay->first_ns;
}

/* ---- captures ---- */

#ifdef SIM_WITH_PCAP
static int
add_packet(struct replay *replay, const struct weir_base_pcap_record *record)
{
	const uint32_t captured = record->captured_bytes;
	uint32_t offset, bytes;

	go_on(replay, record->time_ns);
	if (replay->format->layer == WEIR_BASE_LAYER_ETHERNET)
		return add_frame(replay, record->bytes, captured);
	switch (weir_base_datagram_find(record->bytes, captured, captured, &offset, &bytes)) {
	case WEIR_BASE_DATAGRAM_OTHER:
		return add_rest(replay, captured, replay->not_udp);
	case WEIR_BASE_DATAGRAM_TRUNCATED:
		return add_rest(replay, captured, replay->truncated);
	case WEIR_BASE_DATAGRAM_FOUND:
		break;
	}
	return add_frame(replay, record->bytes + offset, bytes);
}

static int
read_capture(struct replay *replay)
{
	struct weir_base_doc *doc = replay->model->doc;
	struct weir_base_pcap_record record;
	struct weir_base_pcap *file;
	char why[512];
	int more, error = 0;

	if (weir_base_pcap_open(weir_base_doc_str(replay->path), &file, why, sizeof(why)) < 0) {
		weir_base_doc_error_add(
			doc, replay->path, "%s; expected one that can be read", why);
		return 0;
	}
	while (error == 0 && (more = weir_base_pcap_next(file, &record, why, sizeof(why))) > 0)
		error = add_packet(replay, &record);
	if (error == 0 && more < 0)
		weir_base_doc_error_add(doc, replay->path, "%s; expected a whole one", why);
	weir_base_pcap_close(file);
	return error;
}

/* ---- captures of what links and a graph share ---- */

/* The link whose frame a packet is, of those that share a port; SIM_NONE: none. Where that is in it. */
static uint32_t
find_link(const struct weir_sim_model *model, uint32_t queue, const struct weir_base_format *format,
	const struct weir_base_pcap_record *record, uint32_t *offset, uint32_t *bytes)
{
	uint64_t key;
	uint32_t i;

	*offset = 0;
	*bytes = record->captured_bytes;
	if (format->layer != WEIR_BASE_LAYER_ETHERNET &&
		weir_base_datagram_find(record->bytes, record->captured_bytes,
			record->captured_bytes, offset, bytes) != WEIR_BASE_DATAGRAM_FOUND)
		return SIM_NONE;
	if (!has_key(format, *bytes))
		return SIM_NONE;
	key = sim_format_get(format, WEIR_BASE_FIELD_STREAM, record->bytes + *offset, *bytes);
	for (i = 0; i < model->nb_links; i++)
		if (model->links[i].has_fields &&
			model->streams[model->links[i].stream].queue == queue &&
			(format->fields[WEIR_BASE_FIELD_STREAM].width_bits == 0 ||
				model->links[i].fields.key == key))
			return i;
	return SIM_NONE;
}

/* A packet of a stream's capture is its link's; one of none moves up to the place after those that are left. */
static int
split_packet(struct weir_sim_model *model, uint32_t index, const struct weir_base_format *format,
	const struct weir_base_pcap_record *record, uint32_t number, uint32_t *nb_left)
{
	struct model_capture *capture = &model->streams[index].capture;
	struct model_frame frame;
	uint32_t link, offset, bytes;

	link = find_link(model, model->streams[index].queue, format, record, &offset, &bytes);
	if (link == SIM_NONE) {
		capture->times_ps[*nb_left] = capture->times_ps[number];
		capture->sizes[(*nb_left)++] = capture->sizes[number];
		return 0;
	}
	frame = read_frame(format, record->bytes + offset, bytes, model->links[link].wrong_size);
	return add_at(model, weir_base_doc_get(model->streams[index].value, "capture"),
		&model->streams[model->links[link].stream].capture, capture->times_ps[number],
		bytes, &frame);
}

/* Streams of links come as the one does that they are part of. */
static void
follow(struct weir_sim_model *model, uint32_t index)
{
	const struct model_stream *of = &model->streams[index];
	uint32_t i;

	for (i = 0; i < model->nb_streams; i++) {
		struct model_stream *stream = &model->streams[i];

		if (stream->link == SIM_NONE || stream->queue != of->queue)
			continue;
		stream->start_ps = of->start_ps;
		stream->stop_ps = of->stop_ps;
		stream->unit = of->unit;
		stream->capture.round_ps = of->capture.round_ps;
	}
}

int
sim_doc_split_capture(
	struct weir_sim_model *model, uint32_t stream, const struct weir_base_format *format)
{
	struct model_capture *capture = &model->streams[stream].capture;
	const struct weir_base_doc_value *path =
		weir_base_doc_get(model->streams[stream].value, "capture");
	struct weir_base_pcap_record record;
	struct weir_base_pcap *file;
	uint32_t number, nb_left = 0;
	char why[512];
	int error = 0;

	/* What is wrong with it was told when it was read. */
	if (capture->nb == 0 ||
		weir_base_pcap_open(weir_base_doc_str(path), &file, why, sizeof(why)) < 0)
		return 0;
	for (number = 0; error == 0 && number < capture->nb &&
			 weir_base_pcap_next(file, &record, why, sizeof(why)) > 0;
		number++)
		error = split_packet(model, stream, format, &record, number, &nb_left);
	weir_base_pcap_close(file);
	capture->nb = nb_left;
	follow(model, stream);
	return error;
}
#else
int
sim_doc_split_capture(
	struct weir_sim_model *model, uint32_t stream, const struct weir_base_format *format)
{
	(void)model;
	(void)stream;
	(void)format;
	return 0; /* there are none */
}

static int
read_capture(struct replay *replay)
{
	weir_base_doc_error_add(replay->model->doc, replay->path,
		"captures cannot be read: built without libpcap; expected 'frames'");
	return 0;
}
#endif

/* ---- frames alone ---- */

/* Frames of a file that has nothing else. */
struct raw {
	FILE *file;
	uint8_t frame[FRAME_BYTES];
	uint64_t ticks;  /* of the latest frame, since the first */
	uint64_t newest; /* its timestamp */
};

/* More of a frame. @return 1; 0: there is nothing of it; -EINVAL: this was told */
static int
read_up_to(const struct replay *replay, struct raw *raw, uint32_t from, uint32_t to)
{
	const size_t nb = fread(raw->frame + from, 1, to - from, raw->file);

	if (nb == to - from)
		return 1;
	if (nb == 0 && from == 0 && ferror(raw->file) == 0)
		return 0;
	weir_base_doc_error_add(replay->model->doc, replay->path,
		"'%s' %s within frame %" PRIu64 "; expected a whole one",
		weir_base_doc_str(replay->path), ferror(raw->file) != 0 ? "cannot be read" : "ends",
		replay->nb_read);
	return -EINVAL;
}

/* One frame. @return as read_up_to() */
static int
read_raw_frame(const struct replay *replay, struct raw *raw, uint32_t *bytes)
{
	const struct weir_base_format *format = replay->format;
	uint64_t size = format->size_min_bytes, length;
	int more = read_up_to(replay, raw, 0, format->size_min_bytes);

	if (more != 1)
		return more;
	if (format->size_min_bytes != format->size_max_bytes) {
		length = sim_format_get(
			format, WEIR_BASE_FIELD_LENGTH, raw->frame, format->size_min_bytes);
		size = length > FRAME_BYTES
			       ? length
			       : length * format->length_unit_bytes + format->length_plus_bytes;
	}
	if (size > FRAME_BYTES || size < format->size_min_bytes || size > format->size_max_bytes) {
		weir_base_doc_error_add(replay->model->doc, replay->path,
			"'%s': frame %" PRIu64 " says that it has %" PRIu64
			" bytes; expected frames of format '%s'",
			weir_base_doc_str(replay->path), replay->nb_read, size, format->name);
		return -EINVAL;
	}
	*bytes = (uint32_t)size;
	return size > format->size_min_bytes
		       ? read_up_to(replay, raw, format->size_min_bytes, *bytes)
		       : 1;
}

/* Time since the first frame, which timestamps say modulo their width. */
static uint64_t
raw_time_ns(const struct replay *replay, struct raw *raw, uint32_t bytes)
{
	const struct weir_base_format *format = replay->format;
	const uint32_t unused = 64 - format->fields[WEIR_BASE_FIELD_TIMESTAMP].width_bits;
	const uint64_t timestamp =
		sim_format_get(format, WEIR_BASE_FIELD_TIMESTAMP, raw->frame, bytes);
	const int64_t ahead = (int64_t)((timestamp - raw->newest) << unused) >> unused;

	if (replay->nb_read > 0 && ahead > 0)
		raw->ticks += (uint64_t)ahead;
	if (replay->nb_read == 0 || ahead > 0)
		raw->newest = timestamp;
	return (uint64_t)((weir_sim_u128)raw->ticks * NS_PER_S / format->clock_hz);
}

static int
read_raw(struct replay *replay)
{
	struct raw *raw = calloc(1, sizeof(*raw));
	uint32_t bytes;
	int error = 0;

	if (raw == NULL)
		return -ENOMEM;
	raw->file = fopen(weir_base_doc_str(replay->path), "rb");
	if (raw->file == NULL)
		weir_base_doc_error_add(replay->model->doc, replay->path,
			"cannot read '%s': %s; expected frames", weir_base_doc_str(replay->path),
			strerror(errno));
	while (raw->file != NULL && error == 0 && read_raw_frame(replay, raw, &bytes) == 1) {
		go_on(replay, raw_time_ns(replay, raw, bytes));
		error = add_frame(replay, raw->frame, bytes);
	}
	if (raw->file != NULL)
		fclose(raw->file);
	free(raw);
	return error;
}

/* ---- all of a file ---- */

/* Packets of no link come where the links' do, and are dropped there. */
static int
keep_rest(struct replay *replay, const struct weir_base_doc_value *replayed)
{
	struct weir_sim_model *model = replay->model;
	struct model_stream *streams =
		realloc(model->streams, (model->nb_streams + 1) * sizeof(*streams));
	struct model_stream *rest;

	if (streams == NULL)
		return -ENOMEM;
	model->streams = streams;
	rest = &streams[model->nb_streams];
	*rest = streams[replay->first];
	rest->link = SIM_NONE;
	if ((rest->queue & SIM_TO_PORT) == 0)
		rest->queue = SIM_TO_LINK;
	rest->made_name = NULL;
	if (asprintf(&rest->made_name, "replayed.%s", weir_base_doc_name(replayed)) < 0)
		return -ENOMEM;
	rest->name = rest->made_name;
	rest->capture = replay->rest;
	replay->rest = (struct model_capture){0};
	model->nb_streams++;
	return 0;
}

static int
read_file(struct replay *replay, const struct weir_base_doc_value *replayed)
{
	int error;

	if (sim_doc_reason(replay->model, &replay->not_udp, "not_udp") < 0 ||
		sim_doc_reason(replay->model, &replay->truncated, "truncated") < 0 ||
		sim_doc_reason(replay->model, &replay->unknown_stream, "unknown_stream") < 0)
		return -ENOMEM;
	error = weir_base_doc_given(replayed, "pcap") ? read_capture(replay) : read_raw(replay);
	if (error == 0 && replay->rest.nb > 0)
		error = keep_rest(replay, replayed);
	return error == -ENOMEM ? error : 0; /* what is too large was told */
}

int
sim_doc_read_replayed(struct weir_sim_model *model, const struct weir_base_doc_value *replayed,
	const struct weir_base_format *format, uint32_t first)
{
	const struct weir_base_doc_value *link = model->streams[first].value;
	const double hz = weir_base_doc_f64(weir_base_doc_get(replayed, "rate"));
	struct replay replay = {
		.model = model,
		.path = path_of(replayed),
		.format = format,
		.key = weir_base_doc_u64(weir_base_doc_get(link, "stream")),
		.first = first,
		.nb = model->nb_streams - first,
		.rate_packets = (uint64_t)llround(hz * MILLION),
		.rate_seconds = MILLION,
	};
	const int error = read_file(&replay, replayed);

	free(replay.rest.times_ps);
	free(replay.rest.sizes);
	free(replay.rest.frames);
	return error;
}
