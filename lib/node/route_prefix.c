/* SPDX-License-Identifier: BSD-3-Clause */

/* Prefixes as text, and as keys of the tables. */

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>

#include "route_internal.h"

struct weir_node_route_key
weir_node_route_key_of(uint8_t version, const uint8_t *address)
{
	struct weir_node_route_key key = {0, 0};
	uint32_t ip4;

	if (version == 4) {
		memcpy(&ip4, address, sizeof(ip4));
		key.hi = (uint64_t)rte_be_to_cpu_32(ip4) << 32;
	} else {
		memcpy(&key.hi, address, 8);
		memcpy(&key.lo, address + 8, 8);
		key.hi = rte_be_to_cpu_64(key.hi);
		key.lo = rte_be_to_cpu_64(key.lo);
	}
	return key;
}

void
weir_node_route_key_prefix(uint8_t version, struct weir_node_route_key key, uint8_t length,
	struct weir_node_prefix *prefix)
{
	memset(prefix, 0, sizeof(*prefix));
	prefix->version = version;
	prefix->length = length;
	key.hi = rte_cpu_to_be_64(key.hi);
	key.lo = rte_cpu_to_be_64(key.lo);
	memcpy(prefix->address, &key.hi, version == 4 ? 4 : 8);
	if (version == 6)
		memcpy(prefix->address + 8, &key.lo, 8);
}

const char *
weir_node_prefix_check(const struct weir_node_prefix *prefix)
{
	struct weir_node_route_key key, cut;

	if (prefix->version != 4 && prefix->version != 6)
		return "unknown IP version, expected 4 or 6";
	if (prefix->length > (prefix->version == 4 ? 32 : 128))
		return prefix->version == 4 ? "prefix length out of range, expected 0 to 32"
					    : "prefix length out of range, expected 0 to 128";
	key = weir_node_route_key_of(prefix->version, prefix->address);
	cut = weir_node_route_key_cut(key, prefix->length);
	if (key.hi != cut.hi || key.lo != cut.lo)
		return "address has bits set beyond its prefix length, expected zeros there";
	return NULL;
}

/* Four decimal numbers. Leading zeros are refused: some read them as octal. */
static const char *
scan_ip4(const char *p, const char *end, uint8_t *address, const char **where)
{
	unsigned int i, value;

	for (i = 0; i < 4; i++) {
		*where = p;
		if (i > 0 && (p == end || *p++ != '.'))
			return NULL;
		*where = p;
		if (p == end || *p < '0' || *p > '9')
			return NULL;
		if (*p == '0' && p + 1 != end && p[1] >= '0' && p[1] <= '9')
			return NULL;
		for (value = 0; p != end && *p >= '0' && *p <= '9'; p++) {
			value = value * 10 + (unsigned int)(*p - '0');
			if (value > 255)
				return NULL;
		}
		address[i] = (uint8_t)value;
	}
	return p;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Up to eight groups of hexadecimal digits, one "::" for a run of zeros, the last two groups perhaps as IPv4. */
static const char *
scan_ip6(const char *p, const char *end, uint8_t *address, const char **where)
{
	unsigned int nb = 0, gap = 17, digits, value;
	const char *group;

	memset(address, 0, 16);
	*where = p;
	if (p != end && *p == ':' && (p + 1 == end || p[1] != ':'))
		return NULL;
	while (p != end) {
		*where = p;
		if (end - p >= 2 && p[0] == ':' && p[1] == ':') {
			if (gap != 17)
				return NULL;
			gap = nb;
			p += 2;
			if (p == end || hex_digit(*p) < 0)
				break;
		} else if (nb > 0 && *p == ':') {
			p++;
		} else if (nb > 0) {
			break;
		}
		*where = group = p;
		for (digits = value = 0; p != end && hex_digit(*p) >= 0; p++, digits++)
			value = value << 4 | (unsigned int)hex_digit(*p);
		if (p != end && *p == '.' && nb <= 12) {
			p = scan_ip4(group, end, address + nb, where);
			if (p == NULL)
				return NULL;
			nb += 4;
			break;
		}
		if (digits == 0 || digits > 4 || nb == 16)
			return NULL;
		address[nb++] = (uint8_t)(value >> 8);
		address[nb++] = (uint8_t)value;
	}
	*where = p;
	if (gap == 17)
		return nb == 16 ? p : NULL;
	if (nb == 16)
		return NULL;
	memmove(address + 16 - (nb - gap), address + gap, nb - gap);
	memset(address + gap, 0, 16 - nb);
	return p;
}

const char *
weir_node_prefix_scan(const char *text, const char *end, struct weir_node_prefix *prefix,
	const char **why, const char **where)
{
	const char *p, *start;
	unsigned int length;

	memset(prefix, 0, sizeof(*prefix));
	prefix->version = 4;
	for (p = text; p != end && p - text < 5; p++)
		if (*p == ':')
			prefix->version = 6;
	p = prefix->version == 4 ? scan_ip4(text, end, prefix->address, where)
				 : scan_ip6(text, end, prefix->address, where);
	if (p == NULL) {
		*why = prefix->version == 4
			       ? "not an IPv4 address, expected a prefix such as 192.0.2.0/24"
			       : "not an IPv6 address, expected a prefix such as 2001:db8::/32";
		return NULL;
	}
	*where = p;
	if (p == end || *p != '/') {
		*why = "no prefix length, expected \"/\" and a length after the address";
		return NULL;
	}
	start = *where = ++p;
	for (length = 0; p != end && *p >= '0' && *p <= '9'; p++)
		length = RTE_MIN(length * 10 + (unsigned int)(*p - '0'), 255U);
	if (p == start || (p - start > 1 && *start == '0')) {
		*why = "not a prefix length, expected a decimal number after \"/\"";
		return NULL;
	}
	prefix->length = (uint8_t)length;
	*why = weir_node_prefix_check(prefix);
	if (*why == NULL)
		return p;
	if (prefix->length <= (prefix->version == 4 ? 32 : 128))
		*where = text;
	return NULL;
}

int
weir_node_prefix_parse(const char *text, struct weir_node_prefix *prefix, const char **why)
{
	const char *reason, *where, *end = text + strlen(text), *rest;

	rest = weir_node_prefix_scan(text, end, prefix, &reason, &where);
	if (rest != NULL && rest != end) {
		reason = "text after the prefix, expected nothing there";
		rest = NULL;
	}
	if (why != NULL)
		*why = rest == NULL ? reason : NULL;
	return rest == NULL ? -EINVAL : 0;
}

void
weir_node_prefix_print(const struct weir_node_prefix *prefix, char *text, size_t size)
{
	char address[INET6_ADDRSTRLEN];

	if (inet_ntop(prefix->version == 4 ? AF_INET : AF_INET6, prefix->address, address,
		    sizeof(address)) == NULL)
		snprintf(address, sizeof(address), "?");
	snprintf(text, size, "%s/%u", address, prefix->length);
}
