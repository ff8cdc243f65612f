/* SPDX-License-Identifier: BSD-3-Clause */

/* The advisor: what it warns of, and what it says is to be changed; and what it reads of a machine. */

#include "../base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "weir_readout_preflight.h"

/* A machine that is as it should be, and a port for ten WIBEth links; each test spoils something. */
static struct {
	struct weir_readout_receiver_port_config ports[2];
	struct weir_readout_receiver_config config;
	struct weir_readout_preflight_rate rates[2];
	struct weir_readout_preflight_facts facts;
} good, it;

static struct weir_readout_preflight_warning warnings[16];

static int
make_good(void **state)
{
	memset(&good, 0, sizeof(good));
	for (unsigned int i = 0; i < 2; i++) {
		weir_readout_receiver_port_defaults(&good.ports[i]);
		good.ports[i].pci_addr = i == 0 ? "0000:5e:00.0" : "0000:5e:00.1";
		good.rates[i] = (struct weir_readout_preflight_rate){10 * 30517.578125, 7200};
		good.facts.ports[i] =
			(struct weir_readout_preflight_port){true, 0, 9702, 8192, 100000};
		good.facts.pollers[i] =
			(struct weir_readout_preflight_poller){(int)i + 4, 0, true, true, false};
	}
	good.config = (struct weir_readout_receiver_config){
		.ports = it.ports, .nb_ports = 1, .nb_pollers = 1, .lcore_sleep_us = 10};
	good.facts.hugepages_bytes = UINT64_C(1) << 30;
	it = good;
	return 0;
}

static uint32_t
judge(void)
{
	memset(warnings, 0, sizeof(warnings));
	return weir_readout_preflight(&it.config, it.rates, &it.facts, warnings, RTE_DIM(warnings));
}

/* This one, no other; then all is well again. */
static void
expect(enum weir_readout_preflight_kind kind, const char *text)
{
	uint32_t nb = judge();

	if (nb != 1 || warnings[0].kind != kind || strstr(warnings[0].text, text) == NULL)
		fail_msg("%u warnings, the first one '%s', which does not say '%s'", nb,
			warnings[0].text, text);
	it = good;
}

static void
nothing_to_say(void **state)
{
	assert_int_equal(judge(), 0);
	it.config.nb_ports = 2;
	it.config.nb_pollers = 2;
	assert_int_equal(judge(), 0);
	it = good;
	it.rates[0] = (struct weir_readout_preflight_rate){0, 0}; /* unknown */
	assert_int_equal(judge(), 0);
	it = good;
	for (int kind = 0; kind < WEIR_READOUT_PREFLIGHT_NB_KINDS; kind++)
		assert_non_null(
			weir_readout_preflight_name((enum weir_readout_preflight_kind)kind));
	assert_null(weir_readout_preflight_name(WEIR_READOUT_PREFLIGHT_NB_KINDS));
}

static void
rings(void **state)
{
	it.ports[0].rx_ring_size = 1024; /* as it was before it was tuned */
	it.ports[0].burst_size = 256;
	expect(WEIR_READOUT_PREFLIGHT_RING_TIME,
		"rx_ring_size 1024 holds 3.36 ms of 305176 frames/s in each queue, less than 5 ms: "
		"set it to 2048");
	it.ports[0].rx_ring_size = 1024;
	it.ports[0].burst_size = 256;
	it.facts.ports[0].rx_ring_max = 1024;
	expect(WEIR_READOUT_PREFLIGHT_RING_TIME, "none as large as needed: set nb_queues to 2");
	it.ports[0].rx_ring_size = 1024;
	it.ports[0].burst_size = 256;
	it.ports[0].nb_queues = 2;
	assert_int_equal(judge(), 0);
	it = good;
	it.ports[0].burst_size = 2049;
	expect(WEIR_READOUT_PREFLIGHT_RING_BURST,
		"does not hold two bursts: set it to 4098, or burst_size to 2048");
	it.facts.ports[0].rx_ring_max = 2048;
	expect(WEIR_READOUT_PREFLIGHT_RING_MAX, "but the device has up to 2048");
}

static void
pools(void **state)
{
	it.ports[0].num_mbufs = 8191; /* as it was */
	expect(WEIR_READOUT_PREFLIGHT_POOL, "set it to 10240 or more");
	it.ports[0].mbuf_cache_size = 300;
	expect(WEIR_READOUT_PREFLIGHT_CACHE_SHARE, "set it to 16500, or the cache to 0");
	it.ports[0].mbuf_cache_size = 256;
	assert_int_equal(judge(), 0);
	it.ports[0].num_mbufs = 300;
	assert_int_equal(judge(), 3);
	assert_int_equal(warnings[1].kind, WEIR_READOUT_PREFLIGHT_CACHE_SIZE);
	assert_non_null(strstr(warnings[1].text, "set it to 200 or less"));
	it = good;
	/* 16384 of 9216 bytes and what belongs to them. */
	it.facts.hugepages_bytes = 140 << 20;
	expect(WEIR_READOUT_PREFLIGHT_HUGEPAGES,
		"pools need 155 MB of hugepages, and 146 MB are free: reserve 5 more of 2 MB");
	it.facts.hugepages_bytes = 152 << 20;
	assert_int_equal(judge(), 0);
	it.ports[0].nb_queues = 2; /* a pool for each */
	expect(WEIR_READOUT_PREFLIGHT_HUGEPAGES, "reserve 73 more of 2 MB");
}

static void
rates(void **state)
{
	it.config.lcore_sleep_us = 6712;
	expect(WEIR_READOUT_PREFLIGHT_SLEEP,
		"lcore_sleep_us 6712, and its ring holds 4096: set it to 6711");
	it.config.lcore_sleep_us = 6710;
	assert_int_equal(judge(), 0);
	it.rates[0].frame_bytes = 8973;
	expect(WEIR_READOUT_PREFLIGHT_MTU, "packets of 9001, above mtu 9000");
	it.rates[0].frame_bytes = 8972;
	assert_int_equal(judge(), 0);
	it.facts.ports[0].max_mtu = 8999;
	expect(WEIR_READOUT_PREFLIGHT_MTU, "takes up to 8999: set it to that");
	it.facts.ports[0].link_mbps = 10000; /* ten links are 17.7 Gb/s */
	expect(WEIR_READOUT_PREFLIGHT_LINK, "17739 Mb/s are expected, and the link carries 10000");
}

static void
cpus(void **state)
{
	it.facts.pollers[0].socket_id = 1;
	expect(WEIR_READOUT_PREFLIGHT_NUMA,
		"poller 0 on CPU 4 of NUMA node 1 polls port '0000:5e:00.0' of node 0");
	/* Queues in turns: the second port's is the second poller's. */
	it.config.nb_ports = it.config.nb_pollers = 2;
	it.facts.ports[1].socket_id = 1;
	expect(WEIR_READOUT_PREFLIGHT_NUMA,
		"poller 1 on CPU 5 of NUMA node 0 polls port '0000:5e:00.1'");
	it.facts.pollers[0].socket_id = -1; /* unknown */
	assert_int_equal(judge(), 0);
	it.facts.pollers[0].isolated = false;
	expect(WEIR_READOUT_PREFLIGHT_CPU,
		"others may run on, too: boot with isolcpus=4 nohz_full=4");
	it.facts.pollers[0].nohz = false;
	expect(WEIR_READOUT_PREFLIGHT_CPU, "which the timer interrupts: boot with");
	it.facts.pollers[0].cpu = -1;
	expect(WEIR_READOUT_PREFLIGHT_CPU, "bound to no CPU");
	it.facts.pollers[0].absent = true;
	it.facts.pollers[0].isolated = false; /* how to boot without it is of no use */
	expect(WEIR_READOUT_PREFLIGHT_CPU, "CPU 4, which is not there");
	it.config.nb_ports = it.config.nb_pollers = 2;
	it.facts.pollers[1].cpu = 4;
	expect(WEIR_READOUT_PREFLIGHT_CPU, "pollers 0 and 1 are on CPU 4");
}

/* More than there is room for. */
static void
room(void **state)
{
	it.facts.pollers[0].cpu = -1;
	it.facts.hugepages_bytes = 0;
	memset(warnings, 0, sizeof(warnings));
	assert_int_equal(weir_readout_preflight(&it.config, it.rates, &it.facts, warnings, 1), 2);
	assert_int_equal(warnings[0].kind, WEIR_READOUT_PREFLIGHT_HUGEPAGES);
	assert_int_equal(warnings[1].text[0], 0);
	it = good;
}

static void
put(const char *root, const char *path, const char *text)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(name, 0700);
		*at = '/';
	}
	if (text[0] == '\0')
		return;
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A system that is made of files. */
static void
facts(void **state)
{
	char root[] = "/tmp/weir-preflight-XXXXXX", command[64];
	const int numbers[] = {3, 12};

	assert_non_null(mkdtemp(root));
	it.config.nb_ports = it.config.nb_pollers = 2;
	weir_readout_preflight_facts_get(&it.facts, &it.config, numbers, false, root);
	assert_int_equal(it.facts.hugepages_bytes, 0);
	assert_int_equal(it.facts.ports[0].socket_id, -1);
	assert_int_equal(it.facts.pollers[0].socket_id, -1);
	assert_false(it.facts.pollers[0].isolated);
	assert_false(it.facts.pollers[0].absent); /* unknown */
	put(root, "kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "10\n");
	put(root, "kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "2\n");
	put(root, "bus/pci/devices/0000:5e:00.1/numa_node", "1\n");
	put(root, "devices/system/cpu/isolated", "2,4-11,12-13\n");
	put(root, "devices/system/cpu/nohz_full", "1-3\n");
	put(root, "devices/system/cpu/online", "0-11\n");
	put(root, "devices/system/cpu/cpu12/node1/", "");
	weir_readout_preflight_facts_get(&it.facts, &it.config, numbers, false, root);
	assert_int_equal(it.facts.hugepages_bytes, (UINT64_C(10) << 21) + (UINT64_C(2) << 30));
	assert_int_equal(it.facts.ports[0].socket_id, -1);
	assert_int_equal(it.facts.ports[1].socket_id, 1);
	assert_false(it.facts.ports[1].known);
	assert_int_equal(it.facts.pollers[0].cpu, 3);
	assert_int_equal(it.facts.pollers[0].socket_id, -1);
	assert_false(it.facts.pollers[0].isolated);
	assert_true(it.facts.pollers[0].nohz);
	assert_false(it.facts.pollers[0].absent);
	assert_int_equal(it.facts.pollers[1].socket_id, 1);
	assert_true(it.facts.pollers[1].isolated);
	assert_false(it.facts.pollers[1].nohz);
	assert_true(it.facts.pollers[1].absent);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
	/* This one: whatever it is, it is read. */
	weir_readout_preflight_facts_get(&it.facts, &it.config, numbers, false, NULL);
	it = good;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_say),
		cmocka_unit_test(rings),
		cmocka_unit_test(pools),
		cmocka_unit_test(rates),
		cmocka_unit_test(cpus),
		cmocka_unit_test(room),
		cmocka_unit_test(facts),
	};

	return cmocka_run_group_tests(tests, make_good, NULL);
}
