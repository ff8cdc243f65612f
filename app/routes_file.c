/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables refuse a route whose next hop is nobody, but know no line numbers:
 * the file is read once more to find the place.
 */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include <weir_node_route.h>

#include "routes_file.h"

/* Column of the next hop in a line, and its number; 0 when there is none. */
static unsigned int
find_hop(const char *line, uint32_t *hop)
{
	size_t at = strspn(line, " \t");

	if (line[at] == '#' || line[at] == '\0')
		return 0;
	at += strcspn(line + at, " \t");
	at += strspn(line + at, " \t");
	*hop = (uint32_t)strtoul(line + at, NULL, 10);
	return (unsigned int)at + 1;
}

void
routes_file_report_missing_hop(struct config *config, const char *path, uint32_t hop_base)
{
	gzFile file = gzopen(path, "rb");
	struct weir_node_hop hop;
	unsigned int number = 0, column;
	bool found = false;
	char line[512];
	uint32_t id;

	while (file != NULL && !found && gzgets(file, line, sizeof(line)) != NULL) {
		number++;
		line[strcspn(line, "\r\n")] = '\0';
		column = find_hop(line, &id);
		if (column == 0 || weir_node_hop_get(hop_base + id, &hop) == 0)
			continue;
		weir_base_doc_error_add_at(config->doc, path, number, column,
			"next hop %u is nobody; expected the id of one of application.neighbours",
			hop_base + id);
		found = true;
	}
	if (file != NULL)
		gzclose(file);
}
