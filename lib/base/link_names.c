/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in descriptions, and what names of links mean. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weir_base_doc.h"
#include "weir_base_rules.h"

bool
weir_base_is_name(const char *text, size_t max)
{
	size_t i;

	for (i = 0; text[i] != '\0'; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return i > 0 && i <= max;
}

/* "0", "12", and not "012". */
static bool
read_number(const char *text, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) || (text[0] == '0' && text[1] != '\0'))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

struct weir_base_links
weir_base_links_find(const struct weir_base_doc_value *links, const char *name)
{
	const struct weir_base_doc_value *link = weir_base_doc_get(links, name), *count;
	const char *dash = strrchr(name, '-');
	char of[WEIR_BASE_LINK_NAME_SIZE];
	uint64_t number;

	if (link != NULL) {
		count = weir_base_doc_get(link, "count");
		return (struct weir_base_links){
			link, 0, count != NULL ? (uint32_t)weir_base_doc_u64(count) : 1};
	}
	if (dash == NULL || (size_t)(dash - name) >= sizeof(of) || !read_number(dash + 1, &number))
		return (struct weir_base_links){NULL, 0, 0};
	memcpy(of, name, (size_t)(dash - name));
	of[dash - name] = '\0';
	link = weir_base_doc_get(links, of);
	count = weir_base_doc_get(link, "count");
	if (count == NULL || number >= weir_base_doc_u64(count))
		return (struct weir_base_links){NULL, 0, 0};
	return (struct weir_base_links){link, (uint32_t)number, 1};
}
