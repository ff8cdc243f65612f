/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory a run takes, and where it comes from. */
#include <dirent.h>
#include <inttypes.h>
#include <string.h>

#include <rte_mbuf.h>

#include "eal_memory.h"
#include "links_run.h"

void
eal_memory_route_limits(const struct config *config, struct weir_node_route_limits *limits)
{
	const struct weir_base_doc_value *given = weir_base_doc_get(config->platform, "limits");

	memset(limits, 0, sizeof(*limits));
	limits->ip4_routes = (uint32_t)weir_base_doc_u64(weir_base_doc_get(given, "ip4_routes"));
	limits->ip4_long_groups =
		(uint32_t)weir_base_doc_u64(weir_base_doc_get(given, "ip4_long_groups"));
	limits->ip6_routes = (uint32_t)weir_base_doc_u64(weir_base_doc_get(given, "ip6_routes"));
	limits->ip6_groups = (uint32_t)weir_base_doc_u64(weir_base_doc_get(given, "ip6_groups"));
	/* One more for own addresses. */
	limits->next_hops = config->nb_next_hops + 1;
	limits->own_hops = 1;
	limits->socket_id = -1;
}

void
eal_memory_small_limits(struct weir_node_route_limits *limits)
{
	memset(limits, 0, sizeof(*limits));
	limits->ip4_routes = 64;
	limits->ip4_long_groups = 64;
	limits->ip6_routes = 64;
	limits->ip6_groups = 256;
	limits->next_hops = 64;
	limits->socket_id = -1;
}

uint64_t
eal_memory_needed(const struct config *config, unsigned int nb_mbufs)
{
	const struct weir_base_doc_value *mbufs = weir_base_doc_get(config->platform, "mbufs");
	uint64_t mbuf =
		weir_base_doc_u64(weir_base_doc_get(mbufs, "size")) + sizeof(struct rte_mbuf) + 128;

	/* Route tables bring their own memory. Beside mbufs: devices, and room for the allocator to be untidy. */
	return nb_mbufs * mbuf + (UINT64_C(96) << 20) + config->nb_workers * (UINT64_C(4) << 20) +
	       config->nb_ports * (UINT64_C(4) << 20) + links_run_memory(config);
}

uint64_t
eal_memory_huge_free(void)
{
	static const char directory[] = "/sys/kernel/mm/hugepages";
	uint64_t most = 0, pages;
	unsigned long kilobytes;
	char path[320];
	struct dirent *entry;
	DIR *dir = opendir(directory);
	FILE *file;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (sscanf(entry->d_name, "hugepages-%lukB", &kilobytes) != 1)
			continue;
		snprintf(path, sizeof(path), "%s/%.200s/free_hugepages", directory, entry->d_name);
		file = fopen(path, "r");
		if (file == NULL)
			continue;
		if (fscanf(file, "%" SCNu64, &pages) == 1 && pages * kilobytes * 1024 > most)
			most = pages * kilobytes * 1024;
		fclose(file);
	}
	if (dir != NULL)
		closedir(dir);
	return most;
}
