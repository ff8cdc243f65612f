/* SPDX-License-Identifier: BSD-3-Clause */

/* Values as answers tell them. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "weir_base_ctl.h"

void
weir_base_ctl_set(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

void
weir_base_ctl_set_name(json_t *object, const char *key, const char *name)
{
	json_t *string = json_string(name);

	json_object_set_new(object, key, string != NULL ? string : json_string("?"));
}

void
weir_base_ctl_set_hex(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_sprintf("%#" PRIx64, value));
}

void
weir_base_ctl_set_decimal(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_sprintf("%" PRIu64, value));
}

static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* As RFC 4648 has it: 3 bytes are 4 signs of 6 bits; at the end '=' is for bytes that are not there. */
void
weir_base_ctl_set_bytes(json_t *object, const char *key, const void *bytes, size_t nb)
{
	const uint8_t *from = bytes;
	char *text = malloc((nb + 2) / 3 * 4 + 1), *to = text;

	if (text == NULL)
		return;
	for (size_t i = 0; i < nb; i += 3) {
		const uint32_t second = i + 1 < nb ? from[i + 1] : 0;
		const uint32_t third = i + 2 < nb ? from[i + 2] : 0;
		const uint32_t bits = (uint32_t)from[i] << 16 | second << 8 | third;

		*to++ = signs[bits >> 18];
		*to++ = signs[bits >> 12 & 63];
		*to++ = i + 1 < nb ? signs[bits >> 6 & 63] : '=';
		*to++ = i + 2 < nb ? signs[bits & 63] : '=';
	}
	*to = '\0';
	json_object_set_new(object, key, json_string_nocheck(text));
	free(text);
}

/* @return 0 up to 63; -1: no sign of these */
static int
value_of(char sign)
{
	if (sign >= 'A' && sign <= 'Z')
		return sign - 'A';
	if (sign >= 'a' && sign <= 'z')
		return sign - 'a' + 26;
	if (sign >= '0' && sign <= '9')
		return sign - '0' + 52;
	return sign == '+' ? 62 : sign == '/' ? 63 : -1;
}

void *
weir_base_ctl_bytes(const json_t *text, size_t *nb)
{
	const char *from = json_string_value(text);
	const size_t length = from != NULL ? strcspn(from, "=") : 0;
	uint32_t bits = 0;
	size_t nb_out = 0;
	uint8_t *bytes;

	/* what is filled up with '=', up to two of them, has a multiple of 4 */
	if (from == NULL || strlen(from) % 4 != 0 || strlen(from) - length > 2 ||
		strspn(from + length, "=") != strlen(from) - length)
		return NULL;
	bytes = malloc(length / 4 * 3 + 3);
	for (size_t i = 0; bytes != NULL && i < length; i++) {
		const int value = value_of(from[i]);

		if (value < 0) {
			free(bytes);
			return NULL;
		}
		bits = bits << 6 | (uint32_t)value;
		/* of the first one of 4 too few bits are there */
		if (i % 4 != 0)
			bytes[nb_out++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
	}
	if (bytes != NULL)
		*nb = nb_out;
	return bytes;
}
