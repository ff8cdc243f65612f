/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: stream keys of links, by which one is told from the others, as a program that runs would read them. */
#include <inttypes.h>
#include <string.h>

#include "doc_read.h"

/* What is asked of links of one name. */
struct keys {
	const struct weir_base_doc_value *link;
	struct sim_format format;
	uint64_t first, nb;
};

static struct keys
keys_of(const struct weir_base_doc_value *root, const struct weir_base_doc_value *link)
{
	const uint64_t count = weir_base_doc_u64(weir_base_doc_get(link, "count"));

	return (struct keys){
		.link = link,
		.format = sim_format_read(weir_base_doc_get(root, "application"), link),
		.first = weir_base_doc_u64(weir_base_doc_get(link, "stream")),
		.nb = count > 0 ? count : 1,
	};
}

static uint64_t
mask_of(const struct keys *keys)
{
	const uint32_t width = keys->format.fields[SIM_FIELD_STREAM].width;

	return width == 0 ? 0 : UINT64_MAX >> (64 - width);
}

static const struct weir_base_doc_value *
place_of(const struct keys *keys)
{
	return weir_base_doc_given(keys->link, "stream") ? weir_base_doc_get(keys->link, "stream")
							 : keys->link;
}

/* The queue of a receiver, or a port that a graph shares; those that are emulated or replayed have none, and are looked for together. */
static bool
same_queue(const struct weir_base_doc_value *root, const struct weir_base_doc_value *one,
	const struct weir_base_doc_value *other)
{
	const struct weir_base_doc_value *port = weir_base_doc_get(one, "port");
	const struct weir_base_doc_value *others = weir_base_doc_get(other, "port");

	if (port == NULL || others == NULL)
		return port == others && sim_doc_shared(root, one) == sim_doc_shared(root, other);
	return strcmp(weir_base_doc_str(port), weir_base_doc_str(others)) == 0 &&
	       weir_base_doc_u64(weir_base_doc_get(one, "queue")) ==
		       weir_base_doc_u64(weir_base_doc_get(other, "queue"));
}

/* Frames without a key are all of one link. */
static void
check_without(struct weir_sim_model *model, const struct keys *keys)
{
	if (weir_base_doc_given(keys->link, "stream"))
		weir_base_doc_error_add(model->doc, place_of(keys),
			"'stream' means nothing: frames of format '%s' have no stream key; "
			"expected it with others",
			keys->format.name);
	if (keys->nb > 1)
		weir_base_doc_error_add(model->doc, weir_base_doc_get(keys->link, "count"),
			"nothing tells %" PRIu64 " links apart: frames of format '%s' have no "
			"stream key; expected 1",
			keys->nb, keys->format.name);
}

/* Has a link before it one of these keys, too? */
static void
check_others(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct keys *keys)
{
	const struct weir_base_doc_value *links =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "links");
	uint32_t i;

	for (i = 0; weir_base_doc_at(links, i) != keys->link; i++) {
		const struct keys other = keys_of(root, weir_base_doc_at(links, i));

		if (strcmp(other.format.name, keys->format.name) != 0 ||
			!same_queue(root, other.link, keys->link))
			continue;
		if (keys->first <= other.first + (other.nb - 1) &&
			other.first <= keys->first + (keys->nb - 1))
			weir_base_doc_error_add(model->doc, place_of(keys),
				"stream key %" PRIu64 " of format '%s' is link '%s' already; "
				"expected one of its own for each link",
				keys->first > other.first ? keys->first : other.first,
				keys->format.name, weir_base_doc_name(other.link));
	}
}

void
sim_doc_check_keys(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *link)
{
	const struct keys keys = keys_of(root, link);
	const uint64_t mask = mask_of(&keys);

	if (keys.format.clock_hz == 0 && keys.format.fields_bytes == 0)
		return; /* it is not known, and refused */
	if (mask == 0) {
		check_without(model, &keys);
		return;
	}
	if (keys.first > mask || keys.nb - 1 > mask - keys.first)
		weir_base_doc_error_add(model->doc, place_of(&keys),
			"stream key %" PRIu64 " does not fit in frames of format '%s'; expected up "
			"to %" PRIu64,
			keys.first + keys.nb - 1, keys.format.name, mask);
	check_others(model, root, &keys);
}
