/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of links: their names, their stream keys, and what may stand in their buffers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules_private.h"

/* Room for a number and its dash. */
#define NAME_MAX_BYTES (WEIR_BASE_LINK_NAME_SIZE - 8)

/* A link that is being looked at. */
struct subject {
	struct weir_base_doc *doc;
	const struct weir_base_doc_value *application, *link, *buffer;
	struct weir_base_format format;
	const char *name;
	uint64_t key, nb; /* stream key of the first one, and how many they are */
};

static const struct weir_base_doc_value *
links_of(const struct weir_base_doc_value *application)
{
	return weir_base_doc_get(application, "links");
}

const char *
rules_link_names(struct weir_base_doc *doc, const struct weir_base_doc_value *application)
{
	return weir_base_doc_names(
		doc, links_of(application), "one of application.links, which has none");
}

struct weir_base_links
rules_find_links(struct weir_base_doc *doc, const struct weir_base_doc_value *application,
	const struct weir_base_doc_value *name)
{
	const struct weir_base_links found =
		weir_base_links_find(links_of(application), weir_base_doc_str(name));

	if (found.link == NULL)
		weir_base_doc_error_add(doc, name, "unknown link '%s'; expected %s",
			weir_base_doc_str(name), rules_link_names(doc, application));
	return found;
}

struct weir_base_format
rules_format_of(
	const struct weir_base_doc_value *application, const struct weir_base_doc_value *link)
{
	struct weir_base_format format = {.name = "?"};

	weir_base_format_find(weir_base_doc_get(application, "formats"),
		weir_base_doc_str(weir_base_doc_get(link, "format")), &format);
	return format;
}

bool
rules_lists(const struct weir_base_doc_value *application, const struct weir_base_doc_value *list,
	unsigned int nb, struct weir_base_links links)
{
	unsigned int i;

	for (i = 0; i < nb; i++) {
		const struct weir_base_links other = weir_base_links_find(
			links_of(application), weir_base_doc_str(weir_base_doc_at(list, i)));

		if (other.link == links.link && other.first < links.first + links.nb &&
			links.first < other.first + other.nb)
			return true;
	}
	return false;
}

struct weir_base_buffer
weir_base_buffer_read(
	const struct weir_base_format *format, const struct weir_base_doc_value *buffer)
{
	return (struct weir_base_buffer){
		.format = format->name,
		.clock_hz = weir_base_format_clock_hz(format),
		.step_ticks = format->step_ticks,
		.timestamp_bits = weir_base_format_time_bits(format),
		.size_min_bytes = weir_base_format_size_min(format),
		.size_max_bytes = weir_base_format_size_max(format),
		.history_s = weir_base_doc_f64(weir_base_doc_get(buffer, "history")),
		.rate_hz = weir_base_doc_f64(weir_base_doc_get(buffer, "rate")),
		.jump_s = weir_base_doc_f64(weir_base_doc_get(buffer, "jump")),
		.spare_frames = (uint32_t)weir_base_doc_u64(weir_base_doc_get(buffer, "spare")),
		.frame_bytes = (uint32_t)weir_base_doc_u64(weir_base_doc_get(buffer, "frame_size")),
	};
}

/* ---- formats ---- */

/* "a, b, or one of application.formats" */
static void
tell_unknown(const struct subject *subject, const struct weir_base_doc_value *name)
{
	const struct weir_base_doc_value *formats =
		weir_base_doc_get(subject->application, "formats");
	const struct weir_base_format *format;
	char names[512];
	size_t used = 0;
	unsigned int i;

	for (i = 0; (format = weir_base_format_builtin(i)) != NULL; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
			i > 0 ? ", " : "", format->name);
	for (i = 0; i < weir_base_doc_count(formats) &&
		    used + WEIR_BASE_FORMAT_NAME_MAX + 32 < sizeof(names);
		i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, ", %s",
			weir_base_doc_name(weir_base_doc_at(formats, i)));
	weir_base_doc_error_add(subject->doc, name,
		"unknown format '%s'; expected %s, or one of application.formats",
		weir_base_doc_str(name), names);
}

/* ---- stream keys ---- */

/* Those that come by no receiver have none. */
static bool
same_queue(const struct weir_base_doc_value *one, const struct weir_base_doc_value *other)
{
	const char *port = weir_base_doc_str(weir_base_doc_get(one, "port"));
	const char *others = weir_base_doc_str(weir_base_doc_get(other, "port"));

	if (port == NULL || others == NULL)
		return port == others;
	return strcmp(port, others) == 0 &&
	       weir_base_doc_u64(weir_base_doc_get(one, "queue")) ==
		       weir_base_doc_u64(weir_base_doc_get(other, "queue"));
}

static struct subject
subject_of(struct weir_base_doc *doc, const struct weir_base_doc_value *application,
	const struct weir_base_doc_value *link)
{
	const uint64_t count = weir_base_doc_u64(weir_base_doc_get(link, "count"));

	return (struct subject){
		.doc = doc,
		.application = application,
		.link = link,
		.buffer = weir_base_doc_get(link, "buffer"),
		.format = rules_format_of(application, link),
		.name = weir_base_doc_name(link),
		.key = weir_base_doc_u64(weir_base_doc_get(link, "stream")),
		.nb = count > 0 ? count : 1,
	};
}

/* Frames without a key are all of one link. */
static void
check_without_key(const struct subject *subject)
{
	if (weir_base_doc_given(subject->link, "stream"))
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(subject->link, "stream"),
			"'stream' means nothing: frames of format '%s' have no stream key; "
			"expected it with others",
			subject->format.name);
	if (subject->nb > 1)
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(subject->link, "count"),
			"nothing tells %" PRIu64 " links apart: frames of format '%s' have no "
			"stream key; expected 1",
			subject->nb, subject->format.name);
}

/* Can they be in frames, and does any link before it have them? */
static void
check_keys(const struct subject *subject)
{
	const struct weir_base_doc_value *links = links_of(subject->application);
	const struct weir_base_doc_value *at = weir_base_doc_given(subject->link, "stream")
						       ? weir_base_doc_get(subject->link, "stream")
						       : subject->link;
	const uint64_t mask =
		weir_base_field_mask(subject->format.fields[WEIR_BASE_FIELD_STREAM].width_bits);
	unsigned int i;

	if (mask == 0) {
		check_without_key(subject);
		return;
	}
	if (subject->key > mask || subject->nb - 1 > mask - subject->key)
		weir_base_doc_error_add(subject->doc, at,
			"stream key %" PRIu64 " does not fit in frames of format '%s'; expected up "
			"to %" PRIu64,
			subject->key + subject->nb - 1, subject->format.name, mask);
	for (i = 0; weir_base_doc_at(links, i) != subject->link; i++) {
		const struct subject other =
			subject_of(subject->doc, subject->application, weir_base_doc_at(links, i));

		if (same_queue(other.link, subject->link) &&
			strcmp(other.format.name, subject->format.name) == 0 &&
			subject->key < other.key + other.nb &&
			other.key < subject->key + subject->nb)
			weir_base_doc_error_add(subject->doc, at,
				"stream key %" PRIu64 " of format '%s' is link '%s' already; "
				"expected one of its own for each link",
				subject->key > other.key ? subject->key : other.key,
				subject->format.name, other.name);
	}
}

/* ---- jumps: further off than frames that follow each other ---- */

/* @param shortest  seconds, that @p what is */
static void
check_jump(const struct subject *subject, const struct weir_base_doc_value *map, double shortest,
	const char *what)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(map, "jump");
	const double jump_s = weir_base_doc_f64(value);

	if (weir_base_doc_given(map, "jump") && jump_s < shortest)
		weir_base_doc_error_add(subject->doc, value,
			"a jump of %g s is less than %s of links '%s', %g s; expected as much or "
			"more",
			jump_s, what, subject->name, shortest);
}

static void
check_jumps(const struct subject *subject)
{
	static const char frames[] = "from one frame to the next";
	const uint64_t clock_hz = weir_base_format_clock_hz(&subject->format);
	const double rate_hz = weir_base_doc_f64(weir_base_doc_get(subject->buffer, "rate"));
	const double tick = 1 / (double)clock_hz;
	const double step = (double)subject->format.step_ticks * tick;

	if (clock_hz == 0)
		return; /* no buffer can be made for such ones, which is said elsewhere */
	if (step > 0) {
		check_jump(subject, subject->link, step, frames);
		check_jump(subject, subject->buffer, step, frames);
		return;
	}
	/* Frames without a step may come several at a time, so that only their mean is known. */
	check_jump(subject, subject->link, tick, "a tick");
	check_jump(subject, subject->buffer, rate_hz > 0 ? 1 / rate_hz : tick, frames);
}

/* ---- buffers ---- */

/* A step says how many frames there are, and where each one's place is. @return whether there is an error */
static bool
has_key_without_step(const struct subject *subject)
{
	static const char *const keys[] = {"rate", "reorder"};
	bool found = false;
	unsigned int i;

	for (i = 0; subject->format.step_ticks > 0 && i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!weir_base_doc_given(subject->buffer, keys[i]))
			continue;
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(subject->buffer, keys[i]),
			"'%s' means nothing for format '%s', whose step says it; expected it "
			"with formats without a step",
			keys[i], subject->format.name);
		found = true;
	}
	return found;
}

/* Is there any such buffer? */
static void
check_sizes(const struct subject *subject)
{
	const struct weir_base_buffer buffer =
		weir_base_buffer_read(&subject->format, subject->buffer);
	struct weir_base_buffer_sizes sizes;
	char why[160];

	if (weir_base_buffer_size(&buffer, &sizes, why, sizeof(why)) < 0)
		weir_base_doc_error_add(subject->doc, subject->buffer,
			"this cannot be: buffer of %s: %s; expected other values here",
			subject->name, why);
}

static void
check_buffer(const struct subject *subject)
{
	if (has_key_without_step(subject))
		return;
	if (subject->format.step_ticks == 0 && !weir_base_doc_given(subject->buffer, "rate"))
		weir_base_doc_error_add(subject->doc, subject->buffer,
			"format '%s' has no step; expected a key 'rate', the frames a second",
			subject->format.name);
	else if (subject->format.size_max_bytes == 0 &&
		 !weir_base_doc_given(subject->buffer, "frame_size"))
		weir_base_doc_error_add(subject->doc, subject->buffer,
			"frames of format '%s' may have any size; expected a key 'frame_size', "
			"of the largest",
			subject->format.name);
	else if (weir_base_format_clock_hz(&subject->format) == 0)
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(subject->link, "format"),
			"format '%s' does not say how long its ticks are, and a buffer is of "
			"seconds; expected a key 'clock' in it",
			subject->format.name);
	else
		check_sizes(subject);
}

/* What is for queues only. */
static void
check_delivery(const struct subject *subject)
{
	static const char *const keys[] = {"capacity", "cpu"};
	const struct weir_base_doc_value *delivery = weir_base_doc_get(subject->link, "delivery");
	unsigned int i;

	if (delivery == NULL ||
		weir_base_doc_u64(weir_base_doc_get(delivery, "by")) != WEIR_BASE_DELIVERY_CALLBACK)
		return;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (weir_base_doc_given(delivery, keys[i]))
			weir_base_doc_error_add(subject->doc, weir_base_doc_get(delivery, keys[i]),
				"'%s' means nothing for delivery by callback, in the thread that "
				"receives; expected it with 'by: queue'",
				keys[i]);
}

/* ---- all of it ---- */

static void
check_link(const struct subject *subject)
{
	const struct weir_base_doc_value *name = weir_base_doc_get(subject->link, "format");
	struct weir_base_format format;

	if (weir_base_doc_given(subject->link, "queue") &&
		!weir_base_doc_given(subject->link, "port"))
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(subject->link, "queue"),
			"'queue' means nothing without 'port'; expected both, or none");
	if (!weir_base_is_name(subject->name, NAME_MAX_BYTES))
		weir_base_doc_error_add(subject->doc, subject->link,
			"link name '%s' cannot be used; expected 1 to %d letters, digits or '_'",
			subject->name, NAME_MAX_BYTES);
	check_delivery(subject);
	if (weir_base_format_find(weir_base_doc_get(subject->application, "formats"),
		    weir_base_doc_str(name), &format) < 0) {
		tell_unknown(subject, name);
		return;
	}
	check_keys(subject);
	check_jumps(subject);
	check_buffer(subject);
}

void
weir_base_rules_links(struct weir_base_doc *doc, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *links = links_of(application);
	unsigned int before, nb_errors, i;
	uint64_t nb = 0;

	/* What is said of something that is not as it should be itself, is not to be trusted. */
	weir_base_doc_errors(doc, &before);
	weir_base_formats_check(doc, weir_base_doc_get(application, "formats"));
	weir_base_doc_errors(doc, &nb_errors);
	if (nb_errors > before)
		return;
	for (i = 0; i < weir_base_doc_count(links); i++) {
		const struct subject subject =
			subject_of(doc, application, weir_base_doc_at(links, i));

		check_link(&subject);
		nb += subject.nb;
	}
	if (nb > WEIR_BASE_LINKS_MAX)
		weir_base_doc_error_add(doc, links,
			"%" PRIu64 " links are too many; expected at most %d", nb,
			WEIR_BASE_LINKS_MAX);
}
