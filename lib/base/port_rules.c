/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of ports: what they are, and what may be said of such ones. */
#include <string.h>

#include "weir_base_doc.h"
#include "weir_base_nodes.h"
#include "weir_base_rules.h"

#define NAME_MAX_BYTES 31

/* Is it a device, or files? And what means nothing for such ones? */
static void
check_source(struct weir_base_doc *doc, const struct weir_base_doc_value *port)
{
	static const char *const device_only[] = {
		"promiscuous", "rx_queues", "tx_queues", "rx_ring", "tx_ring", "offloads"};
	const struct weir_base_doc_value *device = weir_base_doc_get(port, "device");
	const bool has_in = weir_base_doc_given(port, "pcap_in");
	const bool has_out = weir_base_doc_given(port, "pcap_out");
	unsigned int i;

	if (device == NULL && !has_in && !has_out)
		weir_base_doc_error_add(doc, port,
			"port '%s' has nothing to send to or receive from; expected 'device', "
			"'pcap_in' or "
			"'pcap_out'",
			weir_base_doc_name(port));
	if (device != NULL && (has_in || has_out))
		weir_base_doc_error_add(doc, device,
			"port '%s' is both a device and files; expected 'device', or 'pcap_in' and "
			"'pcap_out'",
			weir_base_doc_name(port));
	for (i = 0; device == NULL && i < sizeof(device_only) / sizeof(device_only[0]); i++)
		if (weir_base_doc_given(port, device_only[i]))
			weir_base_doc_error_add(doc, weir_base_doc_get(port, device_only[i]),
				"'%s' means nothing for files; expected it with 'device' only",
				device_only[i]);
	if (!has_in && weir_base_doc_given(port, "repeat"))
		weir_base_doc_error_add(doc, weir_base_doc_get(port, "repeat"),
			"'repeat' means nothing without 'pcap_in'");
}

static void
check_mac(struct weir_base_doc *doc, const struct weir_base_doc_value *port)
{
	static const uint8_t none[6] = {0};
	const struct weir_base_doc_value *value = weir_base_doc_get(port, "mac");
	const uint8_t *mac = weir_base_doc_bytes(value);

	if (mac != NULL && ((mac[0] & 1) != 0 || memcmp(mac, none, sizeof(none)) == 0))
		weir_base_doc_error_add(doc, value,
			"a port's own address is neither zero nor a group's; expected an even "
			"first byte");
}

/* One device cannot be two ports. */
static void
check_other_ports(struct weir_base_doc *doc, const struct weir_base_doc_value *ports,
	const struct weir_base_doc_value *port)
{
	const struct weir_base_doc_value *at = weir_base_doc_get(port, "device"), *other;
	const char *device = weir_base_doc_str(at), *others;
	const size_t length = device != NULL ? strcspn(device, ",") : 0;
	unsigned int i;

	for (i = 0; device != NULL && (other = weir_base_doc_at(ports, i)) != port; i++) {
		others = weir_base_doc_str(weir_base_doc_get(other, "device"));
		if (others != NULL && strcspn(others, ",") == length &&
			strncmp(others, device, length) == 0)
			weir_base_doc_error_add(doc, at,
				"device %.*s is port '%s' already; expected another one",
				(int)length, device, weir_base_doc_name(other));
	}
}

void
weir_base_rules_ports(struct weir_base_doc *doc)
{
	const struct weir_base_doc_value *ports =
		weir_base_doc_get(weir_base_doc_get(weir_base_doc_root(doc), "platform"), "ports");
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(ports); i++) {
		const struct weir_base_doc_value *port = weir_base_doc_at(ports, i);

		if (!weir_base_is_name(weir_base_doc_name(port), NAME_MAX_BYTES))
			weir_base_doc_error_add(doc, port,
				"port name '%s' cannot be used; expected 1 to %u letters, digits "
				"or '_'",
				weir_base_doc_name(port), NAME_MAX_BYTES);
		check_source(doc, port);
		check_mac(doc, port);
		check_other_ports(doc, ports, port);
	}
}
