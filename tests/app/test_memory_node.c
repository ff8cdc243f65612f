/* SPDX-License-Identifier: BSD-3-Clause */

/* The NUMA node where frames of a link belong, on machines that are made up. */

#include "../base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "links_run.h"
#include "schema.h"

#define DEVICE "0000:5e:00.0"

static char sysfs[] = "/tmp/weir-sysfs-XXXXXX";

static void
make_folders(const char *path)
{
	char whole[sizeof(sysfs) + 64];

	assert_true(snprintf(whole, sizeof(whole), "%s/%s", sysfs, path) < (int)sizeof(whole));
	for (char *at = whole + strlen(sysfs) + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
		*at = '\0';
		mkdir(whole, 0700);
	}
	mkdir(whole, 0700);
}

/* CPUs 0 and 2 on node 0, 1 and 3 on node 1; the device on node 1. */
static int
make_machine(void **state)
{
	char path[256];
	FILE *file;

	if (mkdtemp(sysfs) == NULL)
		return -1;
	make_folders("devices/system/node/node0");
	make_folders("devices/system/node/node1");
	for (unsigned int cpu = 0; cpu < 4; cpu++) {
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/node%u", cpu, cpu % 2);
		make_folders(path);
	}
	make_folders("bus/pci/devices/" DEVICE);
	snprintf(path, sizeof(path), "%s/bus/pci/devices/" DEVICE "/numa_node", sysfs);
	file = fopen(path, "w");
	if (file == NULL || fputs("1\n", file) < 0 || fclose(file) != 0)
		return -1;
	return 0;
}

static int
remove_machine(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", sysfs);
	return system(command);
}

static struct config_receiver receiver = {.port.pci_addr = DEVICE};
static struct config config = {.receivers = {.list = &receiver, .nb = 1}};

static int
node_of(struct config_link link)
{
	return links_memory_node(&config, &link, 0, sysfs);
}

/* Nobody says where it runs. */
static void
anywhere(void **state)
{
	assert_int_equal(node_of((struct config_link){.receiver = CONFIG_NONE,
				 .delivery = {.queue_size = 8, .cpu = -1}}),
		-1);
}

static void
device(void **state)
{
	assert_int_equal(node_of((struct config_link){.receiver = 0, .delivery.cpu = -1}), 1);
	receiver.port.pci_addr = "net_null0";
	assert_int_equal(node_of((struct config_link){.receiver = 0, .delivery.cpu = -1}), -1);
	receiver.port.pci_addr = DEVICE;
}

/* Queues are polled in turns. */
static void
pollers(void **state)
{
	int cpus[] = {2, 1};

	receiver.cpus = cpus;
	receiver.nb_cpus = 2;
	for (uint16_t queue = 0; queue < 4; queue++)
		assert_int_equal(node_of((struct config_link){.queue = queue, .delivery.cpu = -1}),
			queue % 2);
	receiver.nb_cpus = 0;
}

/* Who empties a queue writes the frames, wherever they are received. */
static void
consumer(void **state)
{
	const struct config_link link = {.receiver = 0, .delivery = {.queue_size = 8, .cpu = 2}};

	assert_int_equal(node_of(link), 0);
	assert_int_equal(links_memory_node(&config, &link, 0, "/nowhere"), -1);
}

/* Threads that make frames have links in turns; one with a consumer is written by that. */
static void
emulators(void **state)
{
	static const char text[] =
		"application:\n"
		"  links:\n"
		"    other: {format: wibeth, buffer: {history: 1ms}}\n"
		"    wib: {format: wibeth, stream: 8, count: 4, buffer: {history: 1ms}}\n"
		"traffic:\n"
		"  emulated:\n"
		"    other: {}\n"
		"    wib: {cpus: [2, 1]}\n";
	struct weir_base_doc *doc =
		weir_base_doc_load_text(text, strlen(text), "t.yaml", &schema_root);
	struct config *read = doc != NULL ? config_make("t.yaml", doc, true) : NULL;
	struct config_link *wib;

	assert_non_null(read);
	assert_int_equal(config_nb_errors(read), 0);
	assert_int_equal(links_memory_node(read, &read->links.list[0], 0, sysfs), -1);
	wib = &read->links.list[1];
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(links_memory_node(read, wib, i, sysfs), i % 2);
	wib->delivery.queue_size = 8;
	wib->delivery.cpu = 3;
	assert_int_equal(links_memory_node(read, wib, 0, sysfs), 1);
	config_free(read);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anywhere),
		cmocka_unit_test(device),
		cmocka_unit_test(pollers),
		cmocka_unit_test(consumer),
		cmocka_unit_test(emulators),
	};

	return cmocka_run_group_tests_name("app-memory-node", tests, make_machine, remove_machine);
}
