/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the buffers of links: where it belongs, and how much there is: it is touched at the beginning, and what the system cannot give then
 * ends programs, this one or others. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include <weir_readout_preflight.h>

#include "config.h"
#include "links_run.h"

/* Of all links that are configured together. @return 0: they cannot be made, which is said elsewhere */
static uint64_t
bytes_of(const struct config_link *link)
{
	struct weir_readout_buffer_info info;

	return weir_readout_buffer_plan(&link->buffer, &info) == 0 ? info.memory_bytes * link->nb
								   : 0;
}

/* What the system can give now without swapping; UINT64_MAX: it does not say. */
static uint64_t
available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib = UINT64_MAX / 1024;
	char line[128];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return kib * 1024;
}

static bool
has_nodes(const char *sysfs)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/devices/system/node/node1", sysfs);
	return access(path, F_OK) == 0;
}

/* Of the thread that makes its frames; -1: any */
static int
emulator_cpu(const struct config_links *links, const struct config_link *link, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < links->nb_emulated; i++) {
		const struct weir_base_doc_value *cpus;

		if (&links->list[links->emulated[i].link] != link)
			continue;
		cpus = weir_base_doc_get(links->emulated[i].value, "cpus");
		if (weir_base_doc_count(cpus) > 0)
			return (int)weir_base_doc_u64(
				weir_base_doc_at(cpus, number % weir_base_doc_count(cpus)));
	}
	return -1;
}

int
links_memory_node(const struct config *config, const struct config_link *link, unsigned int number,
	const char *sysfs)
{
	struct weir_readout_receiver_config param = {0};
	const struct config_receiver *receiver = NULL;
	struct weir_readout_preflight_facts facts;
	int cpu = link->delivery.queue_size > 0 ? link->delivery.cpu : -1;

	if (!has_nodes(sysfs != NULL ? sysfs : "/sys"))
		return -1;
	if (link->receiver != CONFIG_NONE) {
		receiver = &config->receivers.list[link->receiver];
		param = config_receiver_param(receiver);
		if (link->delivery.queue_size == 0 && receiver->nb_cpus > 0)
			cpu = receiver->cpus[link->queue % receiver->nb_cpus];
	} else if (link->delivery.queue_size == 0) {
		cpu = emulator_cpu(&config->links, link, number);
	}
	param.nb_pollers = cpu >= 0;
	weir_readout_preflight_facts_get(&facts, &param, &cpu, false, sysfs);
	if (cpu >= 0)
		return facts.pollers[0].socket_id;
	return receiver != NULL ? facts.ports[0].socket_id : -1;
}

int
links_memory_check(struct config *config)
{
	const struct config_links *links = &config->links;
	const uint64_t here = available();
	unsigned int i, most = 0;
	uint64_t sum = 0;

	for (i = 0; i < links->nb; i++) {
		sum += bytes_of(&links->list[i]);
		if (bytes_of(&links->list[i]) > bytes_of(&links->list[most]))
			most = i;
	}
	if (sum <= here)
		return 0;
	weir_base_doc_error_add(config->doc,
		weir_base_doc_get(weir_base_doc_get(links->list[most].value, "buffer"), "history"),
		"the links need %" PRIu64 " MiB of memory, %" PRIu64 " of these '%s', and %" PRIu64
		" are available now; expected a shorter history, fewer links, or fewer 'spare' "
		"frames",
		sum >> 20, bytes_of(&links->list[most]) >> 20, links->list[most].name, here >> 20);
	return -ENOMEM;
}
