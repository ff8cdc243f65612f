/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a report as texts. */
#include <string.h>

#include "report_text.h"

uint64_t
report_count(json_t *counts, const char *name, uint64_t count)
{
	if (count > 0)
		json_object_set_new(counts, name, json_integer(report_counter(count)));
	return count;
}

json_int_t
report_sum(const json_t *counts)
{
	json_int_t sum = 0;
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)counts, name, value) {
		sum += json_integer_value(value);
	}
	return sum;
}

json_int_t
report_int(const json_t *json, const char *key)
{
	return json_integer_value(json_object_get(json, key));
}

double
report_real(const json_t *json, const char *key)
{
	return json_number_value(json_object_get(json, key));
}

const char *
report_text(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text != NULL ? text : "";
}

const char *
report_grouped(json_int_t value)
{
	static __thread char texts[4][32];
	static __thread unsigned int next;
	char digits[24], *text = texts[next++ % 4];
	size_t length, i, used = 0;

	snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT, value);
	length = strlen(digits);
	for (i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}

const char *
report_rate(double pps)
{
	static __thread char texts[4][32];
	static __thread unsigned int next;
	char *text = texts[next++ % 4];

	if (pps >= 1e6)
		snprintf(text, sizeof(texts[0]), "%.2f Mpps", pps / 1e6);
	else if (pps >= 1e3)
		snprintf(text, sizeof(texts[0]), "%.1f kpps", pps / 1e3);
	else
		snprintf(text, sizeof(texts[0]), "%.1f pps", pps);
	return text;
}

const char *
report_time(double seconds)
{
	static __thread char text[32];

	if (seconds < 1)
		snprintf(text, sizeof(text), "%.1f ms", seconds * 1e3);
	else
		snprintf(text, sizeof(text), "%.1f s", seconds);
	return text;
}
