/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, and numbers with units. */
#include "doc_private.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KILO 1000ull
#define MEGA 1000000ull
#define GIGA 1000000000ull
#define TERA 1000000000000ull

static const struct doc_unit durations[] = {{"ps", 1, TERA}, {"ns", 1, GIGA}, {"us", 1, MEGA},
	{"ms", 1, KILO}, {"s", 1, 1}, {"min", 60, 1}, {"h", 3600, 1}, {NULL, 0, 0}};
static const struct doc_unit bytes[] = {{"B", 1, 1}, {"kB", KILO, 1}, {"MB", MEGA, 1},
	{"GB", GIGA, 1}, {"KiB", 1u << 10, 1}, {"MiB", 1u << 20, 1}, {"GiB", 1u << 30, 1},
	{NULL, 0, 0}};
static const struct doc_unit bit_rates[] = {{"b/s", 1, 1}, {"kb/s", KILO, 1}, {"Mb/s", MEGA, 1},
	{"Gb/s", GIGA, 1}, {"Tb/s", TERA, 1}, {NULL, 0, 0}};
static const struct doc_unit packet_rates[] = {
	{"pps", 1, 1}, {"kpps", KILO, 1}, {"Mpps", MEGA, 1}, {"Gpps", GIGA, 1}, {NULL, 0, 0}};
static const struct doc_unit frequencies[] = {
	{"Hz", 1, 1}, {"kHz", KILO, 1}, {"MHz", MEGA, 1}, {"GHz", GIGA, 1}, {NULL, 0, 0}};
static const struct doc_unit cycles[] = {
	{"cycles", 1, 1}, {"kcycles", KILO, 1}, {"Mcycles", MEGA, 1}, {NULL, 0, 0}};
static const struct doc_unit cycles_per_byte[] = {{"cycles/B", 1, 1}, {NULL, 0, 0}};

static const struct doc_quantity quantities[] = {
	{WEIR_BASE_DOC_DURATION, "a duration", "s", "50us", GIGA, false, durations},
	{WEIR_BASE_DOC_BYTES, "a whole number of bytes", "B", "9000B", 1, true, bytes},
	{WEIR_BASE_DOC_BIT_RATE, "a bit rate", "b/s", "10Gb/s", 1, false, bit_rates},
	{WEIR_BASE_DOC_PACKET_RATE, "a packet rate", "pps", "14.88Mpps", 1, false, packet_rates},
	{WEIR_BASE_DOC_FREQUENCY, "a frequency", "Hz", "1.2GHz", 1, false, frequencies},
	{WEIR_BASE_DOC_CYCLES, "a number of cycles", "cycles", "700cycles", 1, false, cycles},
	{WEIR_BASE_DOC_CYCLES_PER_BYTE, "a cost per byte", "cycles/B", "0.6cycles/B", 1, false,
		cycles_per_byte},
};

/* A decimal number: mantissa * 10^exponent. Locales have no say in it. */
struct number {
	bool negative;
	uint64_t mantissa;
	int exponent;
	bool integer; /* written without point and exponent */
	const char *rest;
};

static bool
scan(const char *text, struct number *number)
{
	const char *at = text;
	bool point = false, any = false;
	int exponent = 0, digits = 0;

	*number = (struct number){.integer = true};
	if (*at == '+' || *at == '-')
		number->negative = *at++ == '-';
	for (;; at++) {
		if (*at == '.' && !point) {
			point = true;
			number->integer = false;
			continue;
		}
		if (!isdigit((unsigned char)*at))
			break;
		any = true;
		if (digits < 19) {
			/* 10^19 fits 64 bits; what follows is beyond any precision here. */
			number->mantissa = number->mantissa * 10 + (unsigned int)(*at - '0');
			digits += number->mantissa != 0;
			exponent -= point;
		} else {
			exponent += !point;
		}
		if (exponent > 100000 || exponent < -100000)
			return false;
	}
	if (!any)
		return false;
	if ((*at == 'e' || *at == 'E') &&
		(isdigit((unsigned char)at[1]) ||
			((at[1] == '+' || at[1] == '-') && isdigit((unsigned char)at[2])))) {
		bool minus = at[1] == '-';
		int stated = 0;

		number->integer = false;
		for (at += isdigit((unsigned char)at[1]) ? 1 : 2; isdigit((unsigned char)*at); at++)
			stated = stated < 100000 ? stated * 10 + (*at - '0') : stated;
		exponent += minus ? -stated : stated;
	}
	number->exponent = exponent;
	number->rest = at;
	return true;
}

/* mantissa * 10^exponent * multiply / divide; powers of ten up to 10^27 are exact. */
static long double
scale(const struct number *number, uint64_t multiply, uint64_t divide)
{
	long double value = (long double)number->mantissa * (long double)multiply;
	long double power = 1, ten = 10;
	unsigned int n = (unsigned int)abs(number->exponent);

	if (number->mantissa == 0)
		return 0;
	for (; n != 0; n >>= 1) {
		if (n & 1)
			power *= ten;
		ten *= ten;
	}
	value = number->exponent < 0 ? value / power : value * power;
	value /= (long double)divide;
	return number->negative ? -value : value;
}

bool
weir_base_doc_is_number(const char *text, bool *integer)
{
	struct number number;

	if (!scan(text, &number) || *number.rest != '\0')
		return false;
	*integer = number.integer;
	return true;
}

double
weir_base_doc_to_double(const char *text)
{
	struct number number;

	if (!scan(text, &number))
		return 0;
	return (double)scale(&number, 1, 1);
}

const struct doc_quantity *
weir_base_doc_quantity(enum weir_base_doc_kind kind)
{
	unsigned int i;

	for (i = 0; i < sizeof(quantities) / sizeof(quantities[0]); i++) {
		if (quantities[i].kind == kind)
			return &quantities[i];
	}
	return NULL;
}

const char *
weir_base_doc_unit_list(const struct doc_quantity *quantity, char *text, size_t size)
{
	const struct doc_unit *unit;
	size_t used = 0;

	text[0] = '\0';
	for (unit = quantity->units; unit->name != NULL; unit++) {
		const char *joint = unit == quantity->units ? ""
				    : unit[1].name == NULL  ? " or "
							    : ", ";

		used += (size_t)snprintf(
			text + used, used < size ? size - used : 0, "%s%s", joint, unit->name);
		if (used >= size)
			break;
	}
	return text;
}

static bool
refuse_quantity(
	struct weir_base_doc_value *value, const struct doc_quantity *quantity, const char *why)
{
	char units[80];

	weir_base_doc_error_add(value->doc, value, "'%s'%s; expected %s such as %s (units: %s)",
		weir_base_doc_shown(value->doc, value->text), why, quantity->noun,
		quantity->example, weir_base_doc_unit_list(quantity, units, sizeof(units)));
	return false;
}

/* min and max of the row, in words of the base unit. */
static bool
in_range(struct weir_base_doc_value *value, const struct weir_base_doc_key *row, const char *noun,
	const char *unit)
{
	/* !(>=) also holds for what is not a number at all. */
	if (row->max <= row->min || (value->f64 >= row->min && value->f64 <= row->max))
		return true;
	weir_base_doc_error_add(value->doc, value,
		"'%s' is out of range; expected %s from %.15g%s to %.15g%s",
		weir_base_doc_shown(value->doc, value->text), noun, row->min, unit, row->max, unit);
	return false;
}

/* Round into u64 and i64, clamped to what they hold. */
static void
set_integers(struct weir_base_doc_value *value, long double number)
{
	long double rounded = roundl(number);

	value->u64 = rounded <= 0                         ? 0
		     : rounded >= 18446744073709551616.0L ? UINT64_MAX
							  : (uint64_t)rounded;
	value->i64 = rounded >= 9223372036854775808.0L    ? INT64_MAX
		     : rounded <= -9223372036854775808.0L ? INT64_MIN
							  : (int64_t)rounded;
}

static const struct doc_unit *
find_unit(const struct doc_quantity *quantity, const char *name)
{
	const struct doc_unit *unit;

	for (unit = quantity->units; unit->name != NULL; unit++) {
		if (strcmp(unit->name, name) == 0)
			return unit;
	}
	return NULL;
}

bool
weir_base_doc_read_quantity(struct weir_base_doc_value *value, const struct weir_base_doc_key *row,
	const struct doc_quantity *quantity)
{
	const struct doc_unit *unit;
	struct number number;
	long double counted;

	if (!scan(value->text, &number))
		return refuse_quantity(value, quantity, " is no number with a unit");
	if (*number.rest == ' ')
		number.rest++;
	if (*number.rest == '\0' && number.rest[-1] != ' ') {
		if (number.mantissa != 0)
			return refuse_quantity(value, quantity, " has no unit");
		unit = &quantity->units[0];
	} else {
		unit = find_unit(quantity, number.rest);
	}
	if (unit == NULL)
		return refuse_quantity(value, quantity,
			*number.rest == '\0' ? " has no unit"
					     : " has a unit that is not known here");
	if (number.negative && number.mantissa != 0)
		return refuse_quantity(value, quantity, " is negative");
	value->f64 = (double)scale(&number, unit->multiply, unit->divide);
	counted = scale(&number, unit->multiply * quantity->per_base, unit->divide);
	if (!isfinite(value->f64) || counted >= 18446744073709551616.0L)
		return refuse_quantity(value, quantity, " is too large");
	if (quantity->whole && counted != roundl(counted))
		return refuse_quantity(value, quantity, " is a fraction");
	set_integers(value, counted);
	return in_range(value, row, quantity->noun, quantity->base);
}

bool
weir_base_doc_read_number(struct weir_base_doc_value *value, const struct weir_base_doc_key *row)
{
	struct number number;
	long double exact;

	if (!scan(value->text, &number) || *number.rest != '\0') {
		weir_base_doc_error_add(value->doc, value,
			"'%s' is not a number; expected a number",
			weir_base_doc_shown(value->doc, value->text));
		return false;
	}
	exact = scale(&number, 1, 1);
	value->f64 = (double)exact;
	if (!isfinite(value->f64)) {
		weir_base_doc_error_add(value->doc, value,
			"'%s' is too large; expected a number up to 1.7e308",
			weir_base_doc_shown(value->doc, value->text));
		return false;
	}
	set_integers(value, exact);
	return in_range(value, row, "a number", "");
}

/* Decimal, or hexadecimal after 0x; no sign. False when it is neither. */
static bool
scan_digits(const char *text, uint64_t *magnitude, bool *overflow)
{
	unsigned int base = 10, digit;

	*magnitude = 0;
	*overflow = false;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (isdigit((unsigned char)*text))
			digit = (unsigned int)(*text - '0');
		else if (base == 16 && isxdigit((unsigned char)*text))
			digit = (unsigned int)(tolower((unsigned char)*text) - 'a') + 10;
		else
			return false;
		if (__builtin_mul_overflow(*magnitude, base, magnitude) ||
			__builtin_add_overflow(*magnitude, digit, magnitude))
			*overflow = true;
	}
	return true;
}

bool
weir_base_doc_read_int(struct weir_base_doc_value *value, const struct weir_base_doc_key *row)
{
	const char *text = value->text;
	bool negative = false, overflow;
	uint64_t magnitude;

	if (*text == '+' || *text == '-')
		negative = *text++ == '-';
	if (!scan_digits(text, &magnitude, &overflow)) {
		weir_base_doc_error_add(value->doc, value,
			"'%s' is not an integer; expected an integer",
			weir_base_doc_shown(value->doc, value->text));
		return false;
	}
	if (overflow || (negative && magnitude > (uint64_t)INT64_MAX + 1)) {
		weir_base_doc_error_add(value->doc, value,
			"'%s' is too large; expected an integer that 64 bits hold",
			weir_base_doc_shown(value->doc, value->text));
		return false;
	}
	if (negative) {
		value->u64 = 0;
		value->i64 = (int64_t)(0 - magnitude);
		value->f64 = -(double)magnitude;
	} else {
		value->u64 = magnitude;
		value->i64 = magnitude > INT64_MAX ? INT64_MAX : (int64_t)magnitude;
		value->f64 = (double)magnitude;
	}
	return in_range(value, row, "an integer", "");
}
