/* SPDX-License-Identifier: BSD-3-Clause */
/* IP addresses, prefixes and MAC addresses. */
#include "doc_private.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

/* Either family, as the kind allows; the number of bytes, 0 when it is none. */
static unsigned int
parse_ip(const char *text, enum weir_base_doc_kind kind, uint8_t *address)
{
	if (kind != WEIR_BASE_DOC_IP6_ADDRESS && inet_pton(AF_INET, text, address) == 1)
		return 4;
	if (kind != WEIR_BASE_DOC_IP4_ADDRESS && inet_pton(AF_INET6, text, address) == 1)
		return 16;
	return 0;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
parse_mac(const char *text, uint8_t *address)
{
	unsigned int i;

	for (i = 0; i < 6; i++, text += 3) {
		int high = hex_digit(text[0]);
		int low = high < 0 ? -1 : hex_digit(text[1]);

		if (low < 0 || text[2] != (i < 5 ? ':' : '\0'))
			return false;
		address[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool
refuse(struct weir_base_doc_value *value, const char *expected)
{
	weir_base_doc_error_add(value->doc, value, "'%s' is not %s; expected %s",
		weir_base_doc_shown(value->doc, value->text), weir_base_doc_kind_noun(value->kind),
		expected);
	return false;
}

/* Zero what lies beyond the prefix; true when something was there. */
static bool
clear_host_bits(uint8_t *address, unsigned int nb_bytes, unsigned int nb_bits)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < nb_bytes; i++) {
		unsigned int kept = nb_bits <= 8 * i ? 0 : nb_bits - 8 * i;
		uint8_t host = kept >= 8 ? 0 : (uint8_t)(0xff >> kept);

		found |= (address[i] & host) != 0;
		address[i] &= (uint8_t)~host;
	}
	return found;
}

static bool
read_prefix(struct weir_base_doc_value *value)
{
	static const char expected[] =
		"an address and a length, such as 192.0.2.0/24 or 2001:db8::/32";
	const char *slash = strchr(value->text, '/'), *at;
	char address[INET6_ADDRSTRLEN];
	unsigned int nb_bits = 0;

	if (slash == NULL || slash[1] == '\0' || (size_t)(slash - value->text) >= sizeof(address))
		return refuse(value, expected);
	memcpy(address, value->text, (size_t)(slash - value->text));
	address[slash - value->text] = '\0';
	value->length = parse_ip(address, value->kind, value->bytes);
	for (at = slash + 1; isdigit((unsigned char)*at) && nb_bits <= 128; at++)
		nb_bits = nb_bits * 10 + (unsigned int)(*at - '0');
	if (value->length == 0 || (*at != '\0' && !isdigit((unsigned char)*at)))
		return refuse(value, expected);
	if (slash[1] == '0' && slash[2] != '\0')
		return refuse(
			value, "a length without zeros before it"); /* as in files of routes */
	if (nb_bits > 8 * value->length)
		return refuse(value,
			value->length == 4 ? "a length of at most 32" : "a length of at most 128");
	if (clear_host_bits(value->bytes, value->length, nb_bits)) {
		inet_ntop(value->length == 4 ? AF_INET : AF_INET6, value->bytes, address,
			sizeof(address));
		weir_base_doc_error_add(value->doc, value,
			"'%s' has bits set beyond its length; expected %s/%u",
			weir_base_doc_shown(value->doc, value->text), address, nb_bits);
		return false;
	}
	value->u64 = nb_bits;
	value->i64 = nb_bits;
	value->f64 = nb_bits;
	return true;
}

bool
weir_base_doc_read_address(struct weir_base_doc_value *value, enum weir_base_doc_kind kind)
{
	switch (kind) {
	case WEIR_BASE_DOC_MAC_ADDRESS:
		value->length = 6;
		return parse_mac(value->text, value->bytes) ||
		       refuse(value, "six pairs of hexadecimal digits such as 02:00:00:00:00:01");
	case WEIR_BASE_DOC_IP_PREFIX:
		return read_prefix(value);
	case WEIR_BASE_DOC_IP4_ADDRESS:
		value->length = parse_ip(value->text, kind, value->bytes);
		return value->length != 0 || refuse(value, "four numbers such as 192.0.2.1");
	case WEIR_BASE_DOC_IP6_ADDRESS:
		value->length = parse_ip(value->text, kind, value->bytes);
		return value->length != 0 || refuse(value, "an address such as 2001:db8::1");
	default:
		value->length = parse_ip(value->text, kind, value->bytes);
		return value->length != 0 ||
		       refuse(value, "an address such as 192.0.2.1 or 2001:db8::1");
	}
}
