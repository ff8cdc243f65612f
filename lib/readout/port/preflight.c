/* SPDX-License-Identifier: BSD-3-Clause */
/* Will a receiver keep up? */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_mbuf.h>

#include "receiver_private.h"
#include "weir_readout_preflight.h"

/* IPv4 and UDP before a frame; Ethernet with its checksum, preamble and gap around both. */
#define MTU_OVERHEAD  28u
#define WIRE_OVERHEAD 38u

/* Where warnings go. */
struct list {
	struct weir_readout_preflight_warning *warnings;
	uint32_t nb, room;
};

/* A port, and what is expected of it. */
struct judged {
	const struct weir_readout_receiver_port_config *config;
	const struct weir_readout_preflight_port *facts;
	double queue_per_s; /* frames; 0: unknown */
	uint32_t frame_bytes;
};

const char *
weir_readout_preflight_name(enum weir_readout_preflight_kind kind)
{
	static const char *const names[WEIR_READOUT_PREFLIGHT_NB_KINDS] = {
		[WEIR_READOUT_PREFLIGHT_RING_TIME] = "ring_time",
		[WEIR_READOUT_PREFLIGHT_RING_BURST] = "ring_burst",
		[WEIR_READOUT_PREFLIGHT_RING_MAX] = "ring_max",
		[WEIR_READOUT_PREFLIGHT_POOL] = "pool",
		[WEIR_READOUT_PREFLIGHT_CACHE_SIZE] = "cache_size",
		[WEIR_READOUT_PREFLIGHT_CACHE_SHARE] = "cache_share",
		[WEIR_READOUT_PREFLIGHT_SLEEP] = "sleep",
		[WEIR_READOUT_PREFLIGHT_MTU] = "mtu",
		[WEIR_READOUT_PREFLIGHT_LINK] = "link",
		[WEIR_READOUT_PREFLIGHT_HUGEPAGES] = "hugepages",
		[WEIR_READOUT_PREFLIGHT_NUMA] = "numa",
		[WEIR_READOUT_PREFLIGHT_CPU] = "cpu",
	};

	return (unsigned int)kind < WEIR_READOUT_PREFLIGHT_NB_KINDS ? names[kind] : NULL;
}

__attribute__((format(printf, 3, 4))) static void
warn(struct list *list, enum weir_readout_preflight_kind kind, const char *format, ...)
{
	struct weir_readout_preflight_warning *warning = &list->warnings[list->nb];
	va_list args;

	if (list->nb++ >= list->room)
		return;
	warning->kind = kind;
	va_start(args, format);
	vsnprintf(warning->text, sizeof(warning->text), format, args);
	va_end(args);
}

static void
judge_ring(struct list *list, const struct judged *port)
{
	const uint32_t size = port->config->rx_ring_size;
	const double wanted = port->queue_per_s * WEIR_READOUT_PREFLIGHT_RING_MS / 1e3;
	const uint32_t larger = rte_align32pow2((uint32_t)RTE_MIN(wanted, 1e9) + 1);

	if (port->facts->known && size > port->facts->rx_ring_max)
		warn(list, WEIR_READOUT_PREFLIGHT_RING_MAX,
			"port '%s': rx_ring_size %" PRIu32
			", but the device has up to %u: set it to "
			"that, and take more queues for the rest",
			port->config->pci_addr, size, port->facts->rx_ring_max);
	if (size < 2u * port->config->burst_size)
		warn(list, WEIR_READOUT_PREFLIGHT_RING_BURST,
			"port '%s': rx_ring_size %" PRIu32
			" does not hold two bursts: set it to %u, or burst_size to %" PRIu32,
			port->config->pci_addr, size, 2u * port->config->burst_size, size / 2);
	if (size >= wanted)
		return;
	if (larger <= (port->facts->known ? port->facts->rx_ring_max : UINT16_MAX))
		warn(list, WEIR_READOUT_PREFLIGHT_RING_TIME,
			"port '%s': rx_ring_size %" PRIu32
			" holds %.2f ms of %.0f frames/s in each queue, less than %.0f ms: set it "
			"to "
			"%" PRIu32,
			port->config->pci_addr, size, size / port->queue_per_s * 1e3,
			port->queue_per_s, WEIR_READOUT_PREFLIGHT_RING_MS, larger);
	else
		warn(list, WEIR_READOUT_PREFLIGHT_RING_TIME,
			"port '%s': rx_ring_size %" PRIu32
			" holds %.2f ms of %.0f frames/s in each queue, less than %.0f ms, and the "
			"device has none as large as needed: set nb_queues to %.0f",
			port->config->pci_addr, size, size / port->queue_per_s * 1e3,
			port->queue_per_s, WEIR_READOUT_PREFLIGHT_RING_MS,
			port->config->nb_queues * wanted / size + 1);
}

static void
judge_pool(struct list *list, const struct judged *port)
{
	const struct weir_readout_receiver_port_config *config = port->config;
	const uint32_t cache = config->mbuf_cache_size;
	/* The ring, what is in work, what may lie in a cache, and as much again for frames that are held. */
	const uint32_t least = 2u * config->rx_ring_size + config->burst_size + cache + cache / 2;

	if (config->num_mbufs < least)
		warn(list, WEIR_READOUT_PREFLIGHT_POOL,
			"port '%s': num_mbufs %" PRIu32 " leaves little when rx_ring_size %u and "
			"burst_size %u are taken: set it to "
			"%" PRIu32 " or more",
			config->pci_addr, config->num_mbufs, config->rx_ring_size,
			config->burst_size, least);
	if (3u * cache > 2u * config->num_mbufs)
		warn(list, WEIR_READOUT_PREFLIGHT_CACHE_SIZE,
			"port '%s': mbuf_cache_size %" PRIu32
			" is above num_mbufs / 1.5: set it to "
			"%" PRIu32 " or less, or to 0",
			config->pci_addr, cache, config->num_mbufs * 2 / 3);
	if (cache > 0 && config->num_mbufs % cache != 0)
		warn(list, WEIR_READOUT_PREFLIGHT_CACHE_SHARE,
			"port '%s': num_mbufs %" PRIu32
			" is no multiple of mbuf_cache_size %" PRIu32 ": set it to %" PRIu32
			", or the cache to 0",
			config->pci_addr, config->num_mbufs, cache,
			(config->num_mbufs / cache + 1) * cache);
}

static void
judge_sleep(struct list *list, const struct judged *port, uint32_t sleep_us)
{
	const double come = port->queue_per_s * sleep_us / 1e6;

	if (come <= port->config->rx_ring_size / 2u)
		return;
	warn(list, WEIR_READOUT_PREFLIGHT_SLEEP,
		"port '%s': %.0f frames come to each queue during lcore_sleep_us %" PRIu32
		", and its ring holds %u: set it to %.0f or less",
		port->config->pci_addr, come, sleep_us, port->config->rx_ring_size,
		port->config->rx_ring_size / 2u / port->queue_per_s * 1e6);
}

static void
judge_size(struct list *list, const struct judged *port)
{
	const uint16_t mtu = port->config->mtu;
	const double mbps = port->queue_per_s * port->config->nb_queues * 8e-6 *
			    (port->frame_bytes + MTU_OVERHEAD + WIRE_OVERHEAD);

	if (port->frame_bytes > 0 && port->frame_bytes + MTU_OVERHEAD > mtu)
		warn(list, WEIR_READOUT_PREFLIGHT_MTU,
			"port '%s': frames of %" PRIu32 " bytes are packets of %" PRIu32
			", above mtu %u: set it to that or more, "
			"here, at senders and in switches",
			port->config->pci_addr, port->frame_bytes, port->frame_bytes + MTU_OVERHEAD,
			mtu);
	if (port->facts->known && mtu > port->facts->max_mtu)
		warn(list, WEIR_READOUT_PREFLIGHT_MTU,
			"port '%s': mtu %u, but the device takes up to %u: set it to that",
			port->config->pci_addr, mtu, port->facts->max_mtu);
	if (port->facts->link_mbps > 0 && mbps > port->facts->link_mbps)
		warn(list, WEIR_READOUT_PREFLIGHT_LINK,
			"port '%s': %.0f Mb/s are expected, and the link carries %" PRIu32
			": spread the senders over more ports",
			port->config->pci_addr, mbps, port->facts->link_mbps);
}

static void
judge_memory(struct list *list, const struct weir_readout_receiver_config *config,
	const struct weir_readout_preflight_facts *facts)
{
	uint64_t needed = 0;

	for (uint16_t i = 0; i < config->nb_ports; i++)
		needed += weir_readout_receiver_pool_bytes(&config->ports[i]);
	if (needed <= facts->hugepages_bytes)
		return;
	warn(list, WEIR_READOUT_PREFLIGHT_HUGEPAGES,
		"pools need %" PRIu64 " MB of hugepages, and %" PRIu64
		" MB are free: reserve %" PRIu64
		" more of 2 MB (vm.nr_hugepages), or lower num_mbufs",
		needed / 1000000, facts->hugepages_bytes / 1000000,
		(needed - facts->hugepages_bytes + (2u << 20) - 1) / (2u << 20));
}

/* A poller, whose queues are those of every nb_pollers-th number. */
static void
judge_numa(struct list *list, const struct weir_readout_receiver_config *config,
	const struct weir_readout_preflight_facts *facts, uint16_t number)
{
	const struct weir_readout_preflight_poller *poller = &facts->pollers[number];
	uint32_t queue = 0;

	for (uint16_t i = 0; i < RTE_MIN(config->nb_ports, WEIR_READOUT_PREFLIGHT_PORTS_MAX); i++) {
		const struct weir_readout_preflight_port *port = &facts->ports[i];
		bool polls = false;

		for (uint16_t q = 0; q < config->ports[i].nb_queues; q++, queue++)
			polls |= queue % config->nb_pollers == number;
		if (!polls || port->socket_id < 0 || poller->socket_id < 0 ||
			port->socket_id == poller->socket_id)
			continue;
		warn(list, WEIR_READOUT_PREFLIGHT_NUMA,
			"poller %u on CPU %d of NUMA node %d polls port '%s' of node %d: run it on "
			"a "
			"CPU of that node",
			number, poller->cpu, poller->socket_id, config->ports[i].pci_addr,
			port->socket_id);
	}
}

static void
judge_cpu(struct list *list, const struct weir_readout_preflight_facts *facts, uint16_t number)
{
	const struct weir_readout_preflight_poller *poller = &facts->pollers[number];

	if (poller->cpu < 0) {
		warn(list, WEIR_READOUT_PREFLIGHT_CPU,
			"poller %u is bound to no CPU: give it one of its own", number);
		return;
	}
	if (poller->absent) {
		warn(list, WEIR_READOUT_PREFLIGHT_CPU,
			"poller %u is to run on CPU %d, which is not there: give it one that "
			"/sys/devices/system/cpu/online names",
			number, poller->cpu);
		return;
	}
	for (uint16_t i = 0; i < number; i++)
		if (facts->pollers[i].cpu == poller->cpu)
			warn(list, WEIR_READOUT_PREFLIGHT_CPU,
				"pollers %u and %u are on CPU %d: give each one of its own", i,
				number, poller->cpu);
	if (!poller->isolated || !poller->nohz)
		warn(list, WEIR_READOUT_PREFLIGHT_CPU,
			"poller %u is on CPU %d, which %s: boot with isolcpus=%d nohz_full=%d",
			number, poller->cpu,
			poller->isolated ? "the timer interrupts" : "others may run on, too",
			poller->cpu, poller->cpu);
}

uint32_t
weir_readout_preflight(const struct weir_readout_receiver_config *config,
	const struct weir_readout_preflight_rate *rates,
	const struct weir_readout_preflight_facts *facts,
	struct weir_readout_preflight_warning *warnings, uint32_t nb)
{
	struct list list = {warnings, 0, nb};

	for (uint16_t i = 0; i < RTE_MIN(config->nb_ports, WEIR_READOUT_PREFLIGHT_PORTS_MAX); i++) {
		const struct judged port = {
			.config = &config->ports[i],
			.facts = &facts->ports[i],
			.queue_per_s =
				rates[i].frames_per_s / RTE_MAX(config->ports[i].nb_queues, 1),
			.frame_bytes = rates[i].frame_bytes,
		};

		judge_ring(&list, &port);
		judge_pool(&list, &port);
		judge_sleep(&list, &port, config->lcore_sleep_us);
		judge_size(&list, &port);
	}
	judge_memory(&list, config, facts);
	for (uint16_t i = 0; i < RTE_MIN(config->nb_pollers, WEIR_READOUT_PREFLIGHT_POLLERS_MAX);
		i++) {
		judge_numa(&list, config, facts, i);
		judge_cpu(&list, facts, i);
	}
	return list.nb;
}
