/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine says of itself. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "weir_readout_preflight.h"

/* Longer than any list of CPUs that a kernel makes of 8192 of them. */
#define LINE_BYTES 65536

/* The first line of a file; "" if there is none. */
static void
read_line(char *line, size_t size, const char *path)
{
	FILE *file = fopen(path, "r");

	if (file == NULL || fgets(line, (int)size, file) == NULL)
		line[0] = '\0';
	if (file != NULL)
		fclose(file);
}

/* Is a CPU in "1-3,8"? */
static bool
list_has(const char *list, long cpu)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		long first = strtol(list, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}

/* What a file says of CPUs: one of these? @return @p unknown where it says nothing */
static bool
file_has(const char *sysfs, const char *name, long cpu, bool unknown)
{
	char path[PATH_MAX];
	char *line = malloc(LINE_BYTES);
	bool has;

	if (line == NULL)
		return unknown;
	snprintf(path, sizeof(path), "%s/devices/system/cpu/%s", sysfs, name);
	read_line(line, LINE_BYTES, path);
	has = line[0] != '\0' ? list_has(line, cpu) : unknown;
	free(line);
	return has;
}

/* Its folder has a "node1" or so. */
static int
node_of_cpu(const char *sysfs, int cpu)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int node = -1;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d", sysfs, cpu);
	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL)
		if (sscanf(entry->d_name, "node%d", &node) == 1)
			break;
	if (folder != NULL)
		closedir(folder);
	return node;
}

static int
node_of_device(const char *sysfs, const char *pci_addr)
{
	char path[PATH_MAX], line[32], *end;
	long node;

	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/numa_node", sysfs, pci_addr);
	read_line(line, sizeof(line), path);
	node = strtol(line, &end, 10);
	return end == line ? -1 : (int)node;
}

/* Of all sizes. */
static uint64_t
free_hugepages(const char *sysfs)
{
	char path[PATH_MAX], line[32];
	uint64_t bytes = 0, kilobytes;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/kernel/mm/hugepages", sysfs);
	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &kilobytes) != 1)
			continue;
		snprintf(path, sizeof(path), "%s/kernel/mm/hugepages/%s/free_hugepages", sysfs,
			entry->d_name);
		read_line(line, sizeof(line), path);
		bytes += (kilobytes << 10) * strtoull(line, NULL, 10);
	}
	if (folder != NULL)
		closedir(folder);
	return bytes;
}

/* What EAL has taken of them, and not given out. */
static uint64_t
free_heap(void)
{
	struct rte_malloc_socket_stats stats;
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < rte_socket_count() && rte_eal_has_hugepages(); i++)
		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
			bytes += stats.heap_freesz_bytes;
	return bytes;
}

static void
ask_device(struct weir_readout_preflight_port *port, const char *name)
{
	struct rte_eth_dev_info info;
	struct rte_eth_link link;
	uint16_t ethdev;

	if (rte_eth_dev_get_port_by_name(name, &ethdev) != 0 ||
		rte_eth_dev_info_get(ethdev, &info) != 0)
		return;
	port->known = true;
	port->socket_id = rte_eth_dev_socket_id(ethdev);
	port->max_mtu = info.max_mtu;
	port->rx_ring_max = info.rx_desc_lim.nb_max;
	if (rte_eth_link_get_nowait(ethdev, &link) == 0 && link.link_speed != UINT32_MAX)
		port->link_mbps = link.link_speed;
}

void
weir_readout_preflight_facts_get(struct weir_readout_preflight_facts *facts,
	const struct weir_readout_receiver_config *config, const int *cpus, bool eal,
	const char *sysfs)
{
	if (sysfs == NULL)
		sysfs = "/sys";
	memset(facts, 0, sizeof(*facts));
	facts->hugepages_bytes = free_hugepages(sysfs) + (eal ? free_heap() : 0);
	for (uint16_t i = 0; i < RTE_MIN(config->nb_ports, WEIR_READOUT_PREFLIGHT_PORTS_MAX); i++) {
		facts->ports[i].socket_id = node_of_device(sysfs, config->ports[i].pci_addr);
		if (eal)
			ask_device(&facts->ports[i], config->ports[i].pci_addr);
	}
	for (uint16_t i = 0; i < RTE_MIN(config->nb_pollers, WEIR_READOUT_PREFLIGHT_POLLERS_MAX);
		i++)
		facts->pollers[i] = (struct weir_readout_preflight_poller){
			.cpu = cpus[i],
			.socket_id = node_of_cpu(sysfs, cpus[i]),
			.isolated = file_has(sysfs, "isolated", cpus[i], false),
			.nohz = file_has(sysfs, "nohz_full", cpus[i], false),
			.absent = cpus[i] >= 0 && !file_has(sysfs, "online", cpus[i], true),
		};
}
