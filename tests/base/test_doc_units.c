/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, quantities, addresses: what is read, and what is refused. */
#include "cmocka_all.h"

#include <arpa/inet.h>
#include <math.h>

#include "doc_util.h"

/* "key: text" loaded; the value of the key. */
static const struct weir_base_doc_value *
read_one(struct weir_base_doc **doc, const char *key, const char *text)
{
	char line[200];

	snprintf(line, sizeof(line), "%s: %s\n", key, text);
	*doc = load_good(line);
	return value_of(*doc, key);
}

static void
check_u64(const char *key, const char *text, uint64_t expected)
{
	struct weir_base_doc *doc;
	uint64_t got = weir_base_doc_u64(read_one(&doc, key, text));

	if (got != expected)
		fail_msg("%s: %s gave %llu, not %llu", key, text, (unsigned long long)got,
			(unsigned long long)expected);
	weir_base_doc_free(doc);
}

static void
check_i64(const char *key, const char *text, int64_t expected)
{
	struct weir_base_doc *doc;

	assert_true(weir_base_doc_i64(read_one(&doc, key, text)) == expected);
	weir_base_doc_free(doc);
}

static void
check_f64(const char *key, const char *text, double expected)
{
	struct weir_base_doc *doc;
	double got = weir_base_doc_f64(read_one(&doc, key, text));

	if (fabs(got - expected) > fabs(expected) * 4e-16)
		fail_msg("%s: %s gave %.17g, not %.17g", key, text, got, expected);
	weir_base_doc_free(doc);
}

/* "key: text" has one error, at the value, whose message holds the words. */
static void
check_refused(const char *key, const char *text, const char *words)
{
	char line[300];

	snprintf(line, sizeof(line), "%s: %s\n", key, text);
	check_error(line, 1, (unsigned int)strlen(key) + 3, words);
}

static void
integers(void **state)
{
	check_u64("int", "0", 0);
	check_u64("int", "+7", 7);
	check_u64("int", "\"12\"", 12);
	check_u64("int", "010", 10);
	check_u64("int", "0x1F", 31);
	check_u64("int", "18446744073709551615", UINT64_MAX);
	check_u64("int", "0xFFFFFFFFFFFFFFFF", UINT64_MAX);
	check_i64("int", "-9223372036854775808", INT64_MIN);
	check_i64("int", "18446744073709551615", INT64_MAX);
	check_i64("small", "-5", -5);
	check_u64("small", "-5", 0);
	check_f64("int", "-3", -3);
	check_refused("small", "6", "'6' is out of range; expected an integer from -5 to 5");
	check_refused("small", "-6", "out of range");
	check_refused("int", "18446744073709551616",
		"is too large; expected an integer that 64 bits hold");
	check_refused("int", "0x10000000000000000", "is too large");
	check_refused("int", "-9223372036854775809", "is too large");
	check_refused("int", "99999999999999999999999999999999999999", "is too large");
	check_refused("int", "1.5", "'1.5' is not an integer; expected an integer");
	check_refused("int", "1e3", "is not an integer");
	check_refused("int", "0x", "is not an integer");
	check_refused("int", "\"-\"", "is not an integer");
	check_refused("int", "5 B", "is not an integer");
	check_refused("int", "0x1G", "is not an integer");
	check_refused("int", "true", "is not an integer");
}

static void
numbers(void **state)
{
	check_f64("number", "0", 0);
	check_f64("number", "-0.0", 0);
	check_f64("number", "1.5", 1.5);
	check_f64("number", ".5", .5);
	check_f64("number", "5.", 5);
	check_f64("number", "-1.25e-3", -1.25e-3);
	check_f64("number", "1E+10", 1e10);
	check_f64("number", "0.1", 0.1);
	check_f64("number", "3.14159265358979323846264338327950288", 3.14159265358979323846);
	check_f64("number", "0.000000000000000000000000000001", 1e-30);
	check_f64("number", "123456789012345678901234567890", 123456789012345678901234567890.0);
	check_f64("number", "1.7976931348623157e308", 1.7976931348623157e308);
	check_f64("number", "1e-400", 0);
	check_refused("number", "1e309", "is too large");
	check_refused("number", "1e99999999999999999999", "is too large");
	check_refused("number", "nan", "'nan' is not a number; expected a number");
	check_refused("number", ".nan", "is not a number");
	check_refused("number", "inf", "is not a number");
	check_refused("number", ".inf", "is not a number");
	check_refused("number", "-.inf", "is not a number");
	check_refused("number", "0x10", "is not a number");
	check_refused("number", "1,5", "is not a number");
	check_refused("number", "1.2.3", "is not a number");
	check_refused("number", ".", "is not a number");
	check_refused("number", "1e", "is not a number");
	check_refused("ratio", "1.0001", "out of range; expected a number from 0 to 1");
	check_refused("ratio", "-0.0001", "out of range");
}

static void
durations(void **state)
{
	check_u64("duration", "50us", 50000);
	check_u64("duration", "50 us", 50000);
	check_u64("duration", "1ns", 1);
	check_u64("duration", "400ps", 0);
	check_u64("duration", "500ps", 1);
	check_u64("duration", "1.5ms", 1500000);
	check_u64("duration", "2s", 2000000000);
	check_u64("duration", "1.5min", 90000000000);
	check_u64("duration", "2h", 7200000000000);
	check_u64("duration", "0", 0);
	check_u64("duration", "0.0", 0);
	check_u64("duration", "1e3ms", 1000000000);
	check_f64("duration", "50us", 50e-6);
	check_f64("duration", "400ps", 400e-12);
	check_f64("duration", "0.1s", 0.1);
	check_f64("duration", "2h", 7200);
	check_u64("soon", "1us", 1000);
	check_u64("soon", "1s", 1000000000);
	check_refused("soon", "1001ms", "out of range; expected a duration from 1e-06s to 1s");
	check_refused("soon", "0", "out of range");
	check_refused("duration", "10MHz",
		"'10MHz' has a unit that is not known here; expected a duration such as 50us "
		"(units: ps, ns, us, ms, s, min or h)");
	check_refused("duration", "5", "'5' has no unit; expected a duration such as 50us");
	check_refused("duration", "\"5 \"", "has no unit");
	check_refused("duration", "\"5  s\"", "has a unit that is not known here");
	check_refused("duration", "\"5s \"", "has a unit that is not known here");
	check_refused("duration", "5S", "has a unit that is not known here");
	check_refused("duration", "-5s", "'-5s' is negative");
	check_refused("duration", "soon", "is no number with a unit");
	check_refused("duration", "nans", "is no number with a unit");
	check_refused("duration", "\"\"", "is no number with a unit");
	check_refused("duration", "1e30s", "is too large");
	check_refused("duration", "1e99999s", "is too large");
	check_refused("duration", "600000000000s", "is too large");
}

static void
sizes_and_rates(void **state)
{
	check_u64("bytes", "9000B", 9000);
	check_u64("bytes", "1.5kB", 1500);
	check_u64("bytes", "2MB", 2000000);
	check_u64("bytes", "1GB", 1000000000);
	check_u64("bytes", "4KiB", 4096);
	check_u64("bytes", "1.5MiB", 1572864);
	check_u64("bytes", "2GiB", 2147483648);
	check_u64("bytes", "1.1kB", 1100);
	check_u64("bytes", "0", 0);
	check_u64("bytes", "18446744073GB", 18446744073000000000ull);
	check_refused("bytes", "18446744074GB", "is too large");
	check_refused(
		"bytes", "1.5B", "is a fraction; expected a whole number of bytes such as 9000B");
	check_refused("bytes", "9000", "has no unit");
	check_refused("bytes", "9000b", "has a unit that is not known here");
	check_refused(
		"mtu", "67B", "out of range; expected a whole number of bytes from 68B to 65535B");
	check_u64("bit_rate", "10Gb/s", 10000000000);
	check_u64("bit_rate", "1.5kb/s", 1500);
	check_u64("bit_rate", "100 Mb/s", 100000000);
	check_u64("bit_rate", "1Tb/s", 1000000000000);
	check_u64("bit_rate", "9b/s", 9);
	check_refused("bit_rate", "10Gbps", "(units: b/s, kb/s, Mb/s, Gb/s or Tb/s)");
	check_f64("packet_rate", "14.88Mpps", 14.88e6);
	check_f64("packet_rate", "7pps", 7);
	check_f64("packet_rate", "1kpps", 1000);
	check_f64("packet_rate", "0.5Gpps", 5e8);
	check_f64("frequency", "1.2GHz", 1.2e9);
	check_u64("frequency", "1.2GHz", 1200000000);
	check_u64("frequency", "2.5Hz", 3);
	check_u64("frequency", "30kHz", 30000);
	check_u64("frequency", "25MHz", 25000000);
	check_u64("cycles", "700cycles", 700);
	check_f64("cycles", "0.5kcycles", 500);
	check_u64("cycles", "3Mcycles", 3000000);
	check_f64("cycles_per_byte", "0.6cycles/B", 0.6);
	check_f64("cycles_per_byte", "0", 0);
	check_refused("cycles_per_byte", "0.6cycles", "such as 0.6cycles/B (units: cycles/B)");
}

static void
booleans(void **state)
{
	const char *texts[] = {"true", "false", "yes", "no", "on", "off", "True", "OFF"};
	struct weir_base_doc *doc;
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(weir_base_doc_bool(read_one(&doc, "flag", texts[i])), i % 2 == 0);
		weir_base_doc_free(doc);
		check_u64("flag", texts[i], i % 2 == 0);
	}
	check_refused("flag", "1", "'1' is neither true nor false; expected true or false");
	check_refused("flag", "tru", "is neither");
	/* Only a BOOL is true, whatever else is not zero. */
	assert_false(weir_base_doc_bool(read_one(&doc, "int", "1")));
	weir_base_doc_free(doc);
}

static void
choices(void **state)
{
	check_u64("full", "drop", 0);
	check_u64("full", "on", 2);
	check_u64("full", "2", 3);
	check_refused("full", "dorp",
		"'dorp' is not known for 'full', did you mean 'drop'? expected one of: drop, wait, "
		"on, 2");
	check_refused("full", "Wait", "did you mean 'wait'?");
	check_refused("full", "something",
		"'something' is not known for 'full'; expected one of: drop, wait, on, 2");
}

static void
checked_texts(void **state)
{
	struct weir_base_doc *doc;

	assert_string_equal(weir_base_doc_str(read_one(&doc, "even", "ab")), "ab");
	weir_base_doc_free(doc);
	check_refused("even", "abc", "'abc' is not allowed here; expected a text of even length");
}

static void
check_address(const char *key, const char *text, int family, const char *address)
{
	unsigned int length = family == AF_INET ? 4 : 16;
	const struct weir_base_doc_value *value;
	struct weir_base_doc *doc;
	uint8_t expected[16];

	assert_int_equal(inet_pton(family, address, expected), 1);
	value = read_one(&doc, key, text);
	assert_int_equal(weir_base_doc_length(value), length);
	assert_memory_equal(weir_base_doc_bytes(value), expected, length);
	weir_base_doc_free(doc);
}

static void
addresses(void **state)
{
	check_address("ip4", "192.0.2.1", AF_INET, "192.0.2.1");
	check_address("ip6", "2001:db8::1", AF_INET6, "2001:db8::1");
	check_address("ip6", "::1", AF_INET6, "::1");
	check_address("ip6", "\"::\"", AF_INET6, "::");
	check_address("ip6", "::ffff:192.0.2.1", AF_INET6, "::ffff:192.0.2.1");
	check_address("ip", "10.0.0.1", AF_INET, "10.0.0.1");
	check_address("ip", "fe80::1", AF_INET6, "fe80::1");
	check_refused("ip4", "::1",
		"'::1' is not an IPv4 address; expected four numbers such as 192.0.2.1");
	check_refused("ip4", "256.0.0.1", "is not an IPv4 address");
	check_refused("ip4", "1.2.3", "is not an IPv4 address");
	check_refused("ip4", "1.2.3.4/8", "is not an IPv4 address");
	check_refused("ip6", "1.2.3.4",
		"is not an IPv6 address; expected an address such as 2001:db8::1");
	check_refused("ip6", "1:2:3", "is not an IPv6 address");
	check_refused("ip6", "1::2::3", "is not an IPv6 address");
	check_refused("ip", "host", "is not an IP address");
	check_refused("ip", "fe80::1%eth0", "is not an IP address");
}

static void
check_prefix(const char *text, int family, const char *address, unsigned int nb_bits)
{
	check_address("prefix", text, family, address);
	check_u64("prefix", text, nb_bits);
}

static void
prefixes(void **state)
{
	check_prefix("10.0.0.0/8", AF_INET, "10.0.0.0", 8);
	check_prefix("0.0.0.0/0", AF_INET, "0.0.0.0", 0);
	check_prefix("192.0.2.1/32", AF_INET, "192.0.2.1", 32);
	check_prefix("10.128.0.0/9", AF_INET, "10.128.0.0", 9);
	check_prefix("2001:db8::/32", AF_INET6, "2001:db8::", 32);
	check_prefix("::/0", AF_INET6, "::", 0);
	check_prefix("2001:db8::8000/113", AF_INET6, "2001:db8::8000", 113);
	check_prefix("::1/128", AF_INET6, "::1", 128);
	check_refused("prefix", "10.0.0.1/8",
		"'10.0.0.1/8' has bits set beyond its length; expected 10.0.0.0/8");
	check_refused("prefix", "10.192.0.0/9", "expected 10.128.0.0/9");
	check_refused("prefix", "2001:db8::1/32", "expected 2001:db8::/32");
	check_refused("prefix", "10.0.0.0/33", "expected a length of at most 32");
	check_refused("prefix", "::/129", "expected a length of at most 128");
	check_refused("prefix", "::/99999999999999999999", "expected a length of at most 128");
	check_refused("prefix", "10.0.0.0", "expected an address and a length, such as");
	check_refused("prefix", "10.0.0.0/", "expected an address and a length, such as");
	check_refused("prefix", "10.0.0.0/-1", "expected an address and a length, such as");
	check_refused("prefix", "10.0.0.0/8x", "expected an address and a length, such as");
	check_refused("prefix", "10.0.0.0/8/8", "expected an address and a length, such as");
	check_refused("prefix", "10.0.0.0/08", "expected a length without zeros before it");
	check_refused("prefix", "0.0.0.0/00", "expected a length without zeros before it");
	check_refused("prefix", "::/000", "expected a length without zeros before it");
	check_refused("prefix", "/8", "expected an address and a length, such as");
	check_refused("prefix", "1111111111111111111111111111111111111111111111111111/8",
		"expected an address");
}

static void
mac_addresses(void **state)
{
	static const uint8_t expected[] = {0x02, 0x00, 0xab, 0xCD, 0xef, 0xff};
	const struct weir_base_doc_value *value;
	struct weir_base_doc *doc;

	value = read_one(&doc, "mac", "02:00:ab:CD:ef:fF");
	assert_int_equal(weir_base_doc_length(value), 6);
	assert_memory_equal(weir_base_doc_bytes(value), expected, 6);
	weir_base_doc_free(doc);
	check_refused("mac", "02:00:ab:cd:ef", "expected six pairs of hexadecimal digits such as");
	check_refused("mac", "02:00:ab:cd:ef:00:11", "six pairs");
	check_refused("mac", "02:00:ab:cd:ef:0", "six pairs");
	check_refused("mac", "02-00-ab-cd-ef-00", "six pairs");
	check_refused("mac", "02:00:ab:cd:ef:0g", "six pairs");
	check_refused("mac", "2:0:ab:cd:ef:0", "six pairs");
}

static void
refused_values_read_as_nothing(void **state)
{
	struct weir_base_doc *doc = load("small: 9\nprefix: 10.0.0.1/8\nsoon: 2s\nip: x\n");

	assert_int_equal(weir_base_doc_u64(value_of(doc, "small")), 0);
	assert_int_equal(weir_base_doc_u64(value_of(doc, "soon")), 0);
	assert_null(weir_base_doc_bytes(value_of(doc, "prefix")));
	assert_null(weir_base_doc_bytes(value_of(doc, "ip")));
	assert_int_equal(weir_base_doc_length(value_of(doc, "ip")), 0);
	weir_base_doc_free(doc);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),
		cmocka_unit_test(numbers),
		cmocka_unit_test(durations),
		cmocka_unit_test(sizes_and_rates),
		cmocka_unit_test(booleans),
		cmocka_unit_test(choices),
		cmocka_unit_test(checked_texts),
		cmocka_unit_test(addresses),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(mac_addresses),
		cmocka_unit_test(refused_values_read_as_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
