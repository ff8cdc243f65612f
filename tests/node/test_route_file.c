/* SPDX-License-Identifier: BSD-3-Clause */

/* Prefixes as text, and route files: good, bad, compressed, cut short. */

#include <arpa/inet.h>
#include <errno.h>
#include <unistd.h>

#include <zlib.h>

#include "test_route_util.h"

static char path[] = "/tmp/weir-test-route-XXXXXX";
static char reports[4096];
static unsigned int nb_reports;

static int
setup(void **state)
{
	int fd;

	(void)state;
	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	test_tables(&(struct weir_node_route_limits){.next_hops = 100}, 20);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(path);
	weir_node_route_fini();
	return 0;
}

static void
write_file(const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void
report(void *arg, const char *file, unsigned int line, unsigned int column, const char *message)
{
	assert_ptr_equal(arg, reports);
	assert_string_equal(file, path);
	nb_reports++;
	snprintf(reports + strlen(reports), sizeof(reports) - strlen(reports), "%u:%u: %s\n", line,
		column, message);
}

/* Read the file and commit; the reports are in reports[]. */
static int64_t
read_file(uint32_t hop_base)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	int64_t nb;

	reports[0] = '\0';
	nb_reports = 0;
	nb = weir_node_route_file_read(path, hop_base, batch, report, reports);
	if (nb >= 0)
		assert_int_equal(weir_node_route_batch_commit(batch), 0);
	else
		weir_node_route_batch_abort(batch);
	return nb;
}

static int64_t
read_text(const char *text, uint32_t hop_base)
{
	write_file(text, strlen(text));
	return read_file(hop_base);
}

static void
test_good(void **state)
{
	(void)state;
	assert_int_equal(read_text("", 0), 0);
	assert_int_equal(read_text("\n\n# nothing\n   # here\n\r\n\t\n", 0), 0);
	assert_int_equal(read_text("10.0.0.0/8 1\n2001:db8::/32 2\r\n  11.0.0.0/8\t 3 \n12.0.0.0/8 "
				   "4 # four\n0.0.0.0/0 5",
				 10),
		5);
	assert_int_equal(test_lookup("10.1.1.1"), 11);
	assert_int_equal(test_lookup("2001:db8::1"), 12);
	assert_int_equal(test_lookup("11.1.1.1"), 13);
	assert_int_equal(test_lookup("12.1.1.1"), 14);
	assert_int_equal(test_lookup("13.1.1.1"), 15);
	assert_string_equal(reports, "");
}

static void
test_bad_lines(void **state)
{
	static const char text[] = "10.0.0.0/8\n"
				   "10.0.0.0/8 x\n"
				   "10.0.0.0/8 1 2\n"
				   "10.0.0.0/8 1x\n"
				   "10.0.0.0/8 100\n"
				   "10.0.0.0/8 99999999999999999999\n"
				   "10.0.0.0/8 -1\n"
				   " 10.0.0.0/33 1\n"
				   " 10.0.0.1/8 1\n"
				   " 10.0.0/8 1\n"
				   "10.0.0.256/32 1\n"
				   "10.0.00.0/8 1\n"
				   "10.0.0.0 1\n"
				   "10.0.0.0/ 1\n"
				   "10.0.0.0/08 1\n"
				   "10.0.0.0/8,1\n"
				   "2001:db8::/129 1\n"
				   "2001:db8::1::/64 1\n"
				   "2001:db8:zz::/64 1\n"
				   "hello\n"
				   "10.0.0.0/8 # 1\n"
				   "10.0.0.0/8 1#\n"
				   "11.0.0.0/8 7\n";
	static const char *const places[] = {"1:11: no next hop", "2:12: not a next hop",
		"3:14: text after the next hop", "4:13: text after the next hop",
		"5:12: next hop out of range, expected less than 100",
		"6:12: next hop out of range", "7:12: not a next hop",
		"8:11: prefix length out of range, expected 0 to 32", "9:2: address has bits set",
		"10:8: not an IPv4 address", "11:8: not an IPv4 address",
		"12:6: not an IPv4 address", "13:9: no prefix length", "14:10: not a prefix length",
		"15:10: not a prefix length", "16:11: text after the prefix",
		"17:12: prefix length out of range", "18:12: not an IPv6 address",
		"19:10: not an IPv6 address", "20:1: not an IPv4 address", "21:12: no next hop",
		"22:13: text after the next hop"};
	const char *line = reports;
	uint32_t i;

	(void)state;
	assert_int_equal(read_text(text, 0), -EINVAL);
	for (i = 0; i < RTE_DIM(places); i++) {
		assert_non_null(line);
		if (strncmp(line, places[i], strlen(places[i])) != 0)
			fail_msg("expected %s, got %s", places[i], line);
		line = strchr(line, '\n') + 1;
	}
	assert_int_equal(nb_reports, RTE_DIM(places));
}

/* Reading goes on behind a bad line, and what was good is noted. */
static void
test_goes_on(void **state)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	static const char text[] = "10.0.0.0/8 1\nbad\n11.0.0.0/8 2\n";

	(void)state;
	write_file(text, strlen(text));
	assert_int_equal(weir_node_route_file_read(path, 0, batch, NULL, NULL), -EINVAL);
	assert_non_null(strstr(test_log, ":2:1: not an IPv4 address"));
	assert_int_equal(weir_node_route_batch_commit(batch), 0);
	assert_int_equal(test_lookup("11.1.1.1"), 2);
}

static void
test_offset_out_of_range(void **state)
{
	(void)state;
	assert_int_equal(read_text("10.0.0.0/8 5\n", 95), -EINVAL);
	assert_non_null(strstr(reports, "with its offset"));
	assert_int_equal(read_text("10.0.0.0/8 4294967295\n", UINT32_MAX), -EINVAL);
}

static void
test_long_lines(void **state)
{
	static char text[900000];
	size_t used = 0;

	(void)state;
	/* Longer than a buffer, a bit too long, as long as allowed, and no end to the last. */
	memset(text, 'x', 600000);
	used = 600000;
	used += (size_t)sprintf(text + used, "\n10.0.0.0/8 1\n#");
	memset(text + used, 'y', 1024);
	used += 1024;
	used += (size_t)sprintf(text + used, "\n11.0.0.0/8 2#\n12.0.0.0/8 3 #");
	memset(text + used, 'z', 1000);
	used += 1000;
	used += (size_t)sprintf(text + used, "\n13.0.0.0/8 4 #");
	memset(text + used, 'z', 100000);
	used += 100000;
	write_file(text, used);
	assert_int_equal(read_file(0), -EINVAL);
	assert_string_equal(reports, "1:1025: line too long\n3:1025: line too long\n"
				     "4:13: text after the next hop, expected the end of the line\n"
				     "6:1025: line too long\n");
}

/* A line end at every place around the ends of the reader's buffers. */
static void
test_buffer_borders(void **state)
{
	static char text[700000];
	char address[32];
	unsigned int shift, i;
	size_t used;

	(void)state;
	for (shift = 0; shift < 40; shift++) {
		memset(text, '\n', 262144 - 600 + shift);
		used = 262144 - 600 + shift;
		for (i = 0; i < 256; i++)
			used += (size_t)sprintf(text + used, "10.%u.0.0/16 %u\n", i, i % 20);
		write_file(text, used);
		assert_int_equal(read_file(0), 256);
		assert_string_equal(reports, "");
	}
	for (i = 0; i < 256; i++) {
		snprintf(address, sizeof(address), "10.%u.1.1", i & 0xff);
		assert_int_equal(test_lookup(address), i % 20);
	}
}

static void
test_gzip(void **state)
{
	static const char text[] = "10.0.0.0/8 1\n2001:db8::/32 2\n";
	unsigned char data[1024];
	gzFile gz = gzopen(path, "wb");
	size_t size, cut;
	FILE *file;

	(void)state;
	assert_int_equal(gzwrite(gz, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(gzclose(gz), Z_OK);
	assert_int_equal(read_file(0), 2);
	file = fopen(path, "rb");
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	for (cut = 1; cut < size; cut++) { /* too early anywhere is an error, not a shorter table */
		write_file(data, cut);
		assert_true(read_file(0) < 0);
		assert_true(nb_reports > 0);
	}
	data[size - 6] ^= 1; /* its checksum */
	write_file(data, size);
	assert_int_equal(read_file(0), -EINVAL);
	assert_non_null(strstr(reports, "cannot read on"));
	data[size - 6] ^= 1;
	data[size - 1] ^= 1; /* its length */
	write_file(data, size);
	assert_int_equal(read_file(0), -EINVAL);
}

static void
test_no_file(void **state)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();

	(void)state;
	assert_int_equal(
		weir_node_route_file_read("/nowhere/routes", 0, batch, report, reports), -ENOENT);
	assert_non_null(strstr(test_log, "/nowhere/routes"));
	assert_true(weir_node_route_file_read("/tmp", 0, batch, NULL, NULL) < 0);
	weir_node_route_batch_abort(batch);
}

/* Random text of the right letters: what inet_pton() takes we take, and mean the same (but leading zeros). */
static void
test_parse_random(void **state)
{
	static const char letters[] = "::::..0123456789abF";
	static const char *const seeds[] = {"192.0.2.1", "2001:db8::1", "::", "::1",
		"1::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
		"1:2:3:4:5:6:1.2.3.4", "fe80::1:2", "255.255.255.255", "1::2:3.4.5.6"};
	uint64_t random = test_seed();
	struct weir_node_prefix prefix;
	unsigned int nb_good = 0, i, j;
	uint8_t want[16];
	char text[80], whole[100];
	const char *why;
	bool good, ip6;

	(void)state;
	for (i = 0; i < 200000; i++) {
		strcpy(text, seeds[test_random(&random) % RTE_DIM(seeds)]);
		for (j = (unsigned int)(test_random(&random) % 4); j > 0; j--) {
			size_t at = test_random(&random) % (strlen(text) + 1);
			char letter = letters[test_random(&random) % (sizeof(letters) - 1)];

			if (test_random(&random) % 2 == 0 && text[at] != '\0') {
				text[at] = letter;
			} else {
				memmove(text + at + 1, text + at, strlen(text + at) + 1);
				text[at] = letter;
			}
		}
		ip6 = strchr(text, ':') != NULL;
		memset(want, 0, sizeof(want));
		good = inet_pton(ip6 ? AF_INET6 : AF_INET, text, want) == 1;
		snprintf(whole, sizeof(whole), "%s/%d", text, ip6 ? 128 : 32);
		if ((weir_node_prefix_parse(whole, &prefix, &why) == 0) != good)
			fail_msg("%s: %s", whole, good ? why : "should be refused");
		if (!good)
			continue;
		assert_memory_equal(prefix.address, want, sizeof(want));
		assert_int_equal(prefix.version, ip6 ? 6 : 4);
		weir_node_prefix_print(&prefix, text, sizeof(text));
		assert_int_equal(weir_node_prefix_parse(text, &prefix, NULL), 0);
		assert_memory_equal(prefix.address, want, sizeof(want));
		nb_good++;
	}
	assert_true(nb_good > 20000);
}

static void
test_parse(void **state)
{
	static const char *const bad[] = {"", "/", "10.0.0.0", "10.0.0.0/", "10.0.0.0/8 ",
		"10.0.0.0/8x", " 10.0.0.0/8", "10.0.0.0/-1", "10.0.0.0/4294967304", "0.0.0.1/0",
		"128.0.0.0/0", "::1/0", "1::/15", ":/0", ":::/0", "1:/16", "1:2:3:4:5:6:7/112",
		"1:2:3:4:5:6:7:8:9/128", "::1:2:3:4:5:6:7:8/128", "12345::/32", "::1.2.3/128",
		"1.2.3.4::/64", "::%eth0/128"};
	struct weir_node_prefix prefix;
	const char *why;
	uint32_t i;

	(void)state;
	for (i = 0; i < RTE_DIM(bad); i++) {
		why = NULL;
		if (weir_node_prefix_parse(bad[i], &prefix, &why) != -EINVAL)
			fail_msg("%s should be refused", bad[i]);
		assert_non_null(why);
		assert_int_equal(weir_node_prefix_parse(bad[i], &prefix, NULL), -EINVAL);
	}
	assert_int_equal(weir_node_prefix_parse("::/0", &prefix, &why), 0);
	assert_null(why);
	assert_int_equal(weir_node_prefix_parse("0.0.0.0/0", &prefix, &why), 0);
	assert_int_equal(prefix.length, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_random),
		cmocka_unit_test_setup_teardown(test_good, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_offset_out_of_range, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_buffer_borders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gzip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_file, setup, teardown),
	};

	return cmocka_run_group_tests_name("route file", tests, NULL, NULL);
}
