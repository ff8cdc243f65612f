/* SPDX-License-Identifier: BSD-3-Clause */
/* Hits that are found in the frames of links, and become frames of another one. */
#include <string.h>

#include "config.h"

/* Its frames are hits: the one link that they go to. @return its index, or CONFIG_NONE with an error */
static int
find_target(struct config *config, const struct weir_base_doc_value *to)
{
	const char *name = weir_base_doc_str(to);
	int index = config_link_find(config, name);
	const struct config_link *target;

	if (index == CONFIG_NONE) {
		weir_base_doc_error_add(config->doc, to, "unknown link '%s'; expected %s", name,
			config_link_names(config));
		return CONFIG_NONE;
	}
	target = &config->links.list[index];
	if (strcmp(target->format.name, "hit") == 0 && target->nb == 1)
		return index;
	weir_base_doc_error_add(config->doc, to,
		"'%s' is %u links of format '%s'; expected one link of format 'hit'", name,
		target->nb, target->format.name);
	return CONFIG_NONE;
}

static void
read_hits(struct config *config, struct config_link *link, const struct weir_base_doc_value *value)
{
	int index = find_target(config, weir_base_doc_get(value, "to"));

	link->hits.threshold = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "threshold"));
	link->hits.max_samples =
		(uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "max_samples"));
	if (strcmp(link->format.name, "wibeth") != 0)
		weir_base_doc_error_add(config->doc, value,
			"no hits are found in frames of format '%s'; expected it with 'wibeth'",
			link->format.name);
	if (index == CONFIG_NONE)
		return;
	link->hits.to = &config->links.list[index];
	/* Several links' hits may go there, but nothing else. */
	if (!config->links.list[index].collects)
		config_link_feed(config, &config->links.list[index], value);
	config->links.list[index].collects = true;
}

void
config_read_hits(struct config *config)
{
	unsigned int i;

	for (i = 0; i < config->links.nb; i++) {
		struct config_link *link = &config->links.list[i];
		const struct weir_base_doc_value *value = weir_base_doc_get(link->value, "hits");

		if (value != NULL)
			read_hits(config, link, value);
	}
}
