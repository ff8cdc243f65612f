/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours and routes of a description file: what can be checked of them before they are loaded. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "hops.h"

static const char *
parse_id(const char *text, uint32_t *id)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)*text))
		return NULL;
	for (; isdigit((unsigned char)*text); text++) {
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > UINT32_MAX)
			return NULL;
	}
	*id = (uint32_t)value;
	return text;
}

int
hops_parse_ids(const char *text, uint32_t *first, uint32_t *last)
{
	text = parse_id(text, first);
	if (text == NULL)
		return -EINVAL;
	*last = *first;
	if (*text == '-')
		text = parse_id(text + 1, last);
	return text != NULL && *text == '\0' && *first <= *last ? 0 : -EINVAL;
}

static void
check_hop_target(struct config *config, struct config_hops *hops)
{
	static const uint8_t none[6] = {0};
	const struct weir_base_doc_value *port = weir_base_doc_get(hops->value, "port");
	int index;

	if (hops->blackhole || hops->local) {
		if (port != NULL || hops->mac != NULL || (hops->blackhole && hops->local))
			weir_base_doc_error_add(config->doc, hops->value,
				"expected one of 'port', 'blackhole' and 'local' for a neighbour, "
				"not several");
		return;
	}
	if (port == NULL) {
		weir_base_doc_error_add(config->doc, hops->value,
			"a neighbour leads nowhere; expected 'port' and 'mac', 'blackhole: true' "
			"or 'local: true'");
		return;
	}
	index = config_port_find(config, weir_base_doc_str(port));
	if (index < 0)
		weir_base_doc_error_add(config->doc, port, "unknown port '%s'; expected %s",
			weir_base_doc_str(port), config_port_names(config));
	else if (config->ports[index].device == NULL && config->ports[index].pcap_out == NULL)
		weir_base_doc_error_add(config->doc, port,
			"port '%s' has nothing to send to; expected one with 'pcap_out' or "
			"'device'",
			config->ports[index].name);
	hops->port = index < 0 ? 0 : (unsigned int)index;
	if (hops->mac != NULL && (hops->mac[0] & 1) != 0)
		weir_base_doc_error_add(config->doc, weir_base_doc_get(hops->value, "mac"),
			"a group address cannot be a neighbour's; expected an even first byte");
	else if (hops->mac != NULL && memcmp(hops->mac, none, sizeof(none)) == 0)
		weir_base_doc_error_add(config->doc, weir_base_doc_get(hops->value, "mac"),
			"the zero address cannot be a neighbour's; expected a station's, or no "
			"'mac'");
}

static void
check_hop_ids(struct config *config, const struct config_hops *hops)
{
	const struct weir_base_doc_value *id = weir_base_doc_get(hops->value, "id");
	const struct config_hops *other;
	const char *file;
	unsigned int line, column;

	if (hops->last >= config->nb_next_hops)
		weir_base_doc_error_add(config->doc, id,
			"id %u is over the limit; expected at most %u, or a larger "
			"platform.limits.next_hops",
			hops->last, config->nb_next_hops - 1);
	for (other = config->hops; other < hops; other++) {
		if (other->last < hops->first || hops->last < other->first)
			continue;
		file = weir_base_doc_where(other->value, &line, &column);
		weir_base_doc_error_add(config->doc, id,
			"id %u is a neighbour already, at %s:%u:%u; expected each id once",
			hops->first > other->first ? hops->first : other->first, file, line,
			column);
	}
}

int
config_read_hops(struct config *config, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(application, "neighbours");
	unsigned int nb_hops = weir_base_doc_count(list), i;

	config->hops = calloc(nb_hops + 1, sizeof(*config->hops));
	if (config->hops == NULL)
		return -ENOMEM;
	for (i = 0; i < nb_hops; i++) {
		struct config_hops *hops = &config->hops[i];

		hops->value = weir_base_doc_at(list, i);
		hops_parse_ids(weir_base_doc_str(weir_base_doc_get(hops->value, "id")),
			&hops->first, &hops->last);
		hops->blackhole = weir_base_doc_bool(weir_base_doc_get(hops->value, "blackhole"));
		hops->local = weir_base_doc_bool(weir_base_doc_get(hops->value, "local"));
		hops->mac = weir_base_doc_bytes(weir_base_doc_get(hops->value, "mac"));
		check_hop_target(config, hops);
		check_hop_ids(config, hops);
		config->nb_hops = i + 1;
	}
	return 0;
}

void
config_read_routes(struct config *config, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(application, "routes"), *route;
	const struct weir_base_doc_value *prefix, *file, *hop;
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(list); i++) {
		route = weir_base_doc_at(list, i);
		prefix = weir_base_doc_get(route, "prefix");
		file = weir_base_doc_get(route, "file");
		hop = weir_base_doc_get(route, "next_hop");
		if ((prefix == NULL) == (file == NULL))
			weir_base_doc_error_add(config->doc, route,
				"expected either 'prefix' and 'next_hop', or 'file' for a route");
		else if (prefix != NULL && hop == NULL)
			weir_base_doc_error_add(config->doc, prefix,
				"the route leads nowhere; expected 'next_hop'");
		else if (file != NULL && hop != NULL)
			weir_base_doc_error_add(config->doc, hop,
				"next hops of a file are in its lines; expected 'first_next_hop', "
				"or nothing");
		else if (prefix != NULL && weir_base_doc_given(route, "first_next_hop"))
			weir_base_doc_error_add(config->doc,
				weir_base_doc_get(route, "first_next_hop"),
				"'first_next_hop' belongs to a file; expected 'next_hop'");
		else if (prefix != NULL &&
			 config_hop_find(config, (uint32_t)weir_base_doc_u64(hop)) < 0)
			weir_base_doc_error_add(config->doc, hop,
				"next hop %u is nobody; expected the id of one of "
				"application.neighbours",
				(unsigned int)weir_base_doc_u64(hop));
	}
}
