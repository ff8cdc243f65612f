/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of frames that are made, or come from a file: how many there are, how large they are, and what may be done to them. */
#include <inttypes.h>
#include <sys/stat.h>

#include "rules_private.h"

/* Links that are emulated. */
struct subject {
	struct weir_base_doc *doc;
	const struct weir_base_doc_value *emulated;
	struct weir_base_format format;
	uint32_t nb;    /* how many they are */
	uint32_t bytes; /* of a frame */
};

/* ---- faults ---- */

/* What an amount may be; without one, that it is missing. */
static void
check_amount(const struct subject *subject, const struct weir_base_doc_value *fault)
{
	const enum weir_base_fault kind =
		(enum weir_base_fault)weir_base_doc_u64(weir_base_doc_get(fault, "fault"));
	const bool has_none = kind == WEIR_BASE_FAULT_DROP || kind == WEIR_BASE_FAULT_DUPLICATE;
	const struct weir_base_doc_value *amount = weir_base_doc_get(fault, "amount");
	const char *name = weir_base_fault_names[kind];
	int64_t least = INT64_MIN, most = INT64_MAX;

	if (kind == WEIR_BASE_FAULT_REORDER || kind == WEIR_BASE_FAULT_STALL) {
		least = 1;
		most = kind == WEIR_BASE_FAULT_STALL ? WEIR_BASE_FAULT_STALL_MAX
						     : WEIR_BASE_FAULT_REORDER_MAX;
	} else if (kind == WEIR_BASE_FAULT_TRUNCATE) {
		least = 0;
		most = subject->bytes;
	}
	if (has_none && amount != NULL)
		weir_base_doc_error_add(subject->doc, amount,
			"'amount' means nothing for fault '%s'; expected it with others", name);
	else if (!has_none && amount == NULL)
		weir_base_doc_error_add(
			subject->doc, fault, "fault '%s'; expected a key 'amount'", name);
	else if (!has_none &&
		 (weir_base_doc_i64(amount) < least || weir_base_doc_i64(amount) > most))
		weir_base_doc_error_add(subject->doc, amount,
			"%s by %" PRId64 "; expected %" PRId64 " to %" PRId64, name,
			weir_base_doc_i64(amount), least, most);
}

/* By chance, or so many frames in a row each so often. */
static void
check_schedule(const struct subject *subject, const struct weir_base_doc_value *fault)
{
	static const char *const others[] = {"period", "length"};
	const uint64_t period = weir_base_doc_u64(weir_base_doc_get(fault, "period"));
	const uint64_t length = weir_base_doc_u64(weir_base_doc_get(fault, "length"));
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (weir_base_doc_given(fault, "random") && weir_base_doc_given(fault, others[i]))
			weir_base_doc_error_add(subject->doc, weir_base_doc_get(fault, "random"),
				"'random' beside '%s'; expected one or the other", others[i]);
	if (period > 0 && length > period)
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(fault, "length"),
			"%" PRIu64 " frames in a row each %" PRIu64 " frames; expected at most all",
			length, period);
}

/* ---- frames ---- */

static uint32_t
bytes_of(const struct weir_base_doc_value *emulated, const struct weir_base_format *format)
{
	const struct weir_base_doc_value *size = weir_base_doc_get(emulated, "size");

	if (size != NULL)
		return (uint32_t)weir_base_doc_u64(size);
	return weir_base_format_size_max(format) <= WEIR_BASE_EMULATED_BYTES_MAX
		       ? weir_base_format_size_max(format)
		       : weir_base_format_size_min(format);
}

static void
check_frames(const struct subject *subject)
{
	const struct weir_base_format *format = &subject->format;
	const uint32_t least = weir_base_format_size_min(format);
	const uint32_t most = weir_base_format_size_max(format);

	if (format->step_ticks == 0 && !weir_base_doc_given(subject->emulated, "rate"))
		weir_base_doc_error_add(subject->doc, subject->emulated,
			"format '%s' does not say how many frames come; expected a key 'rate'",
			format->name);
	if (subject->bytes < least || subject->bytes < format->length_plus_bytes ||
		subject->bytes > most)
		weir_base_doc_error_add(subject->doc,
			weir_base_doc_given(subject->emulated, "size")
				? weir_base_doc_get(subject->emulated, "size")
				: subject->emulated,
			"frames of %" PRIu32 " B of format '%s'; expected %" PRIu32 " to %" PRIu32
			" B",
			subject->bytes, format->name, least, most);
}

/* Beside its fields each frame is this. */
static void
check_payload(const struct subject *subject)
{
	const struct weir_base_doc_value *payload = weir_base_doc_get(subject->emulated, "payload");
	struct stat status;

	if (payload == NULL || stat(weir_base_doc_str(payload), &status) < 0 ||
		status.st_size == (off_t)subject->bytes)
		return;
	weir_base_doc_error_add(subject->doc, payload,
		"'%s' has %lld B; expected a frame of %" PRIu32 " B", weir_base_doc_str(payload),
		(long long)status.st_size, subject->bytes);
}

/* Threads of its own, of which each has a link to make frames for. */
static void
check_cpus(const struct subject *subject)
{
	const struct weir_base_doc_value *cpus = weir_base_doc_get(subject->emulated, "cpus");

	if (weir_base_doc_count(cpus) > subject->nb)
		weir_base_doc_error_add(subject->doc, cpus,
			"%u threads for %u links; expected one for each link, or fewer",
			weir_base_doc_count(cpus), subject->nb);
}

/* ---- files ---- */

/* Where does one frame end, and the next one begin? */
static void
check_raw(struct weir_base_doc *doc, const struct weir_base_doc_value *value,
	const struct weir_base_format *format)
{
	if (weir_base_format_size_min(format) != weir_base_format_size_max(format) &&
		format->fields[WEIR_BASE_FIELD_LENGTH].width_bits == 0)
		weir_base_doc_error_add(doc, value,
			"nothing tells where frames of format '%s' end; expected one with a size, "
			"or "
			"a length, or a capture",
			format->name);
}

static void
check_replayed(struct weir_base_doc *doc, const struct weir_base_doc_value *application,
	const struct weir_base_doc_value *replayed, const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *pcap = weir_base_doc_get(replayed, "pcap");
	const struct weir_base_doc_value *raw = weir_base_doc_get(replayed, "frames");
	struct weir_base_format format;

	if ((pcap == NULL) == (raw == NULL))
		weir_base_doc_error_add(doc, raw != NULL ? raw : replayed,
			"link '%s' is replayed from %s; expected either 'pcap' or 'frames'",
			weir_base_doc_name(replayed), raw != NULL ? "two files" : "nothing");
	if (raw == NULL || link == NULL)
		return;
	format = rules_format_of(application, link);
	check_raw(doc, raw, &format);
}

/* ---- all of it ---- */

static void
check_emulated(struct weir_base_doc *doc, const struct weir_base_doc_value *application,
	const struct weir_base_doc_value *emulated, const struct weir_base_links links)
{
	const struct weir_base_doc_value *faults = weir_base_doc_get(emulated, "faults");
	struct subject subject = {.doc = doc,
		.emulated = emulated,
		.format = rules_format_of(application, links.link),
		.nb = links.nb};
	unsigned int i;

	subject.bytes = bytes_of(emulated, &subject.format);
	check_cpus(&subject);
	check_frames(&subject);
	check_payload(&subject);
	for (i = 0; i < weir_base_doc_count(faults); i++) {
		check_amount(&subject, weir_base_doc_at(faults, i));
		check_schedule(&subject, weir_base_doc_at(faults, i));
	}
}

void
weir_base_rules_traffic(struct weir_base_doc *doc, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *traffic =
		weir_base_doc_get(weir_base_doc_root(doc), "traffic");
	const struct weir_base_doc_value *emulated = weir_base_doc_get(traffic, "emulated");
	const struct weir_base_doc_value *replayed = weir_base_doc_get(traffic, "replayed");
	const struct weir_base_doc_value *links = weir_base_doc_get(application, "links"), *value;
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(emulated); i++) {
		value = weir_base_doc_at(emulated, i);
		if (weir_base_doc_get(links, weir_base_doc_name(value)) != NULL)
			check_emulated(doc, application, value,
				weir_base_links_find(links, weir_base_doc_name(value)));
	}
	for (i = 0; i < weir_base_doc_count(replayed); i++) {
		value = weir_base_doc_at(replayed, i);
		check_replayed(doc, application, value,
			weir_base_doc_get(links, weir_base_doc_name(value)));
	}
}
