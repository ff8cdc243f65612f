/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of what is around links: requests, dispatches, receivers, emulators, replays, senders, finders, followers, collectors. */
#include <stdlib.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "ctl_private.h"

static void
set_latency(json_t *object, const char *key, struct weir_readout_service *service,
	enum weir_readout_latency which, struct weir_base_hist *hist)
{
	weir_readout_service_latency(service, which, hist);
	json_object_set_new(object, key, weir_base_ctl_hist(hist, NULL));
}

json_t *
ctl_service(struct weir_readout_service *service, bool *agree)
{
	struct weir_base_hist *hist = malloc(sizeof(*hist));
	json_t *object = json_object(), *latency = json_object();
	struct weir_readout_service_stats stats;
	uint64_t sum;

	weir_readout_service_stats(service, &stats);
	weir_base_ctl_set(object, "requests", stats.requests);
	weir_base_ctl_set(object, "asked", stats.asked);
	weir_base_ctl_set(object, "outstanding", stats.outstanding);
	weir_base_ctl_set(object, "held", stats.held);
	sum = CTL_SET_COUNTS(object, "answered", stats.answered, weir_readout_answer_name);
	sum += CTL_SET_COUNTS(object, "refused", stats.refused, weir_readout_refusal_name);
	weir_base_ctl_set(object, "frames", stats.frames);
	weir_base_ctl_set(object, "bytes", stats.bytes);
	weir_base_ctl_set(object, "missing_cut", stats.missing_cut);
	if (hist != NULL) {
		set_latency(latency, "at_once", service, WEIR_READOUT_LATENCY_AT_ONCE, hist);
		set_latency(latency, "waited", service, WEIR_READOUT_LATENCY_WAITED, hist);
	}
	free(hist);
	json_object_set_new(object, "latency_ns", latency);
	if (stats.asked != stats.outstanding + sum)
		*agree = false;
	return object;
}

static json_t *
dispatch_queue(const struct weir_readout_dispatch_stats *stats, bool *agree)
{
	json_t *object = json_object(), *dropped = json_object(), *unknown;

	weir_base_ctl_set(object, "received", stats->received);
	weir_base_ctl_set(object, "links", stats->links);
	weir_base_ctl_set(dropped, "not_udp", stats->not_udp);
	weir_base_ctl_set(dropped, "truncated", stats->truncated);
	weir_base_ctl_set(dropped, "unknown_stream", stats->unknown_stream);
	json_object_set_new(object, "dropped", dropped);
	if (stats->unknown_stream > 0) {
		unknown = json_object();
		weir_base_ctl_set_decimal(unknown, "first_key", stats->unknown_first_key);
		weir_base_ctl_set(unknown, "first_ns", stats->unknown_first_ns);
		weir_base_ctl_set_decimal(unknown, "last_key", stats->unknown_last_key);
		weir_base_ctl_set(unknown, "last_ns", stats->unknown_last_ns);
		json_object_set_new(object, "unknown_streams", unknown);
	}
	if (stats->received !=
		stats->links + stats->not_udp + stats->truncated + stats->unknown_stream)
		*agree = false;
	return object;
}

static json_t *
tell_dispatch(const struct weir_readout_ctl_part *part, bool *agree)
{
	json_t *queues = json_array();
	struct weir_readout_dispatch_stats stats;

	for (uint32_t i = 0; weir_readout_dispatch_stats(part->dispatch, i, &stats) == 0; i++)
		json_array_append_new(queues, dispatch_queue(&stats, agree));
	return json_pack("{s:o}", "queues", queues);
}

static json_t *
receiver_queue(const struct weir_readout_receiver_queue_stats *stats, bool *agree)
{
	json_t *object = json_object();
	uint64_t sum;

	weir_base_ctl_set(object, "received", stats->received);
	weir_base_ctl_set(object, "received_bytes", stats->received_bytes);
	weir_base_ctl_set(object, "taken_over", stats->taken_over);
	weir_base_ctl_set(object, "handed_over", stats->handed_over);
	weir_base_ctl_set(object, "arp_replied", stats->arp_replied);
	sum = stats->dispatch.received + stats->arp_replied + stats->handed_over;
	sum += CTL_SET_COUNTS(object, "dropped", stats->dropped, weir_readout_receiver_drop_name);
	json_object_set_new(object, "dispatch", dispatch_queue(&stats->dispatch, agree));
	weir_base_ctl_set(object, "announced", stats->announced);
	weir_base_ctl_set(object, "not_announced", stats->not_announced);
	weir_base_ctl_set(object, "polls", stats->polls);
	weir_base_ctl_set(object, "full_bursts", stats->full_bursts);
	weir_base_ctl_set(object, "burst_size", stats->burst_size);
	json_object_set_new(object, "bursts", weir_base_ctl_hist(&stats->bursts, NULL));
	if (stats->received + stats->taken_over != sum)
		*agree = false;
	return object;
}

static json_t *
receiver_port(const struct weir_readout_receiver_port_stats *stats)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_ether_addr address;
	json_t *object = json_object();

	for (unsigned int i = 0; i < RTE_ETHER_ADDR_LEN; i++)
		address.addr_bytes[i] = stats->mac_addr[i];
	rte_ether_format_addr(mac, sizeof(mac), &address);
	weir_base_ctl_set(object, "imissed", stats->imissed);
	weir_base_ctl_set(object, "rx_nombuf", stats->rx_nombuf);
	weir_base_ctl_set(object, "ierrors", stats->ierrors);
	weir_base_ctl_set(object, "ipackets", stats->ipackets);
	weir_base_ctl_set_name(object, "steering", weir_readout_steering_name(stats->steering));
	json_object_set_new(object, "rss", json_boolean(stats->rss));
	json_object_set_new(object, "scatter", json_boolean(stats->scatter));
	json_object_set_new(object, "rings_confirmed", json_boolean(stats->rings_confirmed));
	weir_base_ctl_set(object, "ethdev", stats->ethdev);
	weir_base_ctl_set(object, "mtu", stats->mtu);
	weir_base_ctl_set(object, "first_queue", stats->first_queue);
	weir_base_ctl_set(object, "queues", stats->nb_queues);
	weir_base_ctl_set(object, "mbuf_data_bytes", stats->mbuf_data_bytes);
	weir_base_ctl_set_name(object, "mac_addr", mac);
	return object;
}

static json_t *
tell_receiver(const struct weir_readout_ctl_part *part, bool *agree)
{
	struct weir_readout_receiver_queue_stats *queue = malloc(sizeof(*queue));
	json_t *queues = json_array(), *ports = json_array();
	struct weir_readout_receiver_port_stats port;

	for (uint16_t i = 0;
		queue != NULL && weir_readout_receiver_queue_stats(part->receiver, i, queue) == 0;
		i++)
		json_array_append_new(queues, receiver_queue(queue, agree));
	free(queue);
	for (uint16_t i = 0; weir_readout_receiver_port_stats(part->receiver, i, &port) == 0; i++)
		json_array_append_new(ports, receiver_port(&port));
	return json_pack("{s:o, s:o}", "queues", queues, "ports", ports);
}

static json_t *
tell_emulator(const struct weir_readout_ctl_part *part, bool *agree)
{
	json_t *streams = json_array();

	for (uint32_t i = 0; i < weir_readout_emulator_nb_streams(part->emulator); i++) {
		struct weir_readout_emulator_stats stats;
		json_t *stream = json_object();

		weir_readout_emulator_stats(part->emulator, i, &stats);
		weir_base_ctl_set(stream, "made", stats.made);
		weir_base_ctl_set(stream, "sent", stats.sent);
		weir_base_ctl_set(stream, "no_mbuf", stats.no_mbuf);
		weir_base_ctl_set(stream, "withheld", stats.withheld);
		weir_base_ctl_set(stream, "late_ns", stats.late_ns);
		CTL_SET_COUNTS(stream, "faults", stats.faults, weir_readout_emulator_fault_name);
		json_array_append_new(streams, stream);
		if (stats.sent + stats.no_mbuf + stats.withheld +
				stats.faults[WEIR_READOUT_EMULATE_DROP] !=
			stats.made + stats.faults[WEIR_READOUT_EMULATE_DUPLICATE])
			*agree = false;
	}
	return json_pack("{s:o}", "streams", streams);
}

static json_t *
tell_replay(const struct weir_readout_ctl_part *part, bool *agree)
{
	struct weir_readout_replay_stats stats;
	json_t *object = json_object();

	weir_readout_replay_stats(part->replay, &stats);
	weir_base_ctl_set(object, "packets", stats.packets);
	weir_base_ctl_set(object, "cut", stats.cut);
	weir_base_ctl_set(object, "waits", stats.waits);
	return object;
}

static json_t *
tell_sender(const struct weir_readout_ctl_part *part, bool *agree)
{
	struct weir_readout_sender_stats stats;
	json_t *object = json_object();
	uint64_t sum;

	weir_readout_sender_stats(part->sender, &stats);
	weir_base_ctl_set(object, "taken", stats.taken);
	weir_base_ctl_set(object, "sent", stats.sent);
	weir_base_ctl_set(object, "sent_bytes", stats.sent_bytes);
	weir_base_ctl_set(object, "queued", stats.queued);
	sum = CTL_SET_COUNTS(object, "failed", stats.failed, weir_readout_send_failure_name);
	weir_base_ctl_set(object, "waits", stats.waits);
	if (stats.taken != stats.sent + stats.queued + sum)
		*agree = false;
	return object;
}

static json_t *
tell_finder(const struct weir_readout_ctl_part *part, bool *agree)
{
	struct weir_readout_hit_finder_stats stats;
	json_t *object = json_object();

	weir_readout_hit_finder_stats(part->finder, &stats);
	weir_base_ctl_set(object, "frames", stats.frames);
	weir_base_ctl_set(object, "skipped", stats.skipped);
	weir_base_ctl_set(object, "gaps", stats.gaps);
	weir_base_ctl_set(object, "hits", stats.hits);
	weir_base_ctl_set(object, "delivered", stats.delivered);
	weir_base_ctl_set(object, "refused", stats.refused);
	if (stats.hits != stats.delivered + stats.refused)
		*agree = false;
	return object;
}

static json_t *
tell_follower(const struct weir_readout_ctl_part *part, bool *agree)
{
	struct weir_readout_follower_stats stats;
	json_t *object = json_object(), *dropped = json_object();
	const char *name;
	uint64_t sum;

	weir_readout_follower_stats(part->follower, &stats);
	weir_base_ctl_set(object, "received", stats.received);
	weir_base_ctl_set(object, "passed", stats.passed);
	weir_base_ctl_set(object, "missed", stats.missed);
	weir_base_ctl_set(object, "waiting", stats.waiting);
	sum = stats.passed + stats.missed + stats.waiting;
	for (uint32_t i = 0; (name = weir_readout_follower_drop_name(part->follower, i)) != NULL;
		i++) {
		weir_base_ctl_set(dropped, name, stats.dropped[i]);
		sum += stats.dropped[i];
	}
	json_object_set_new(object, "dropped", dropped);
	if (stats.received != sum)
		*agree = false;
	return object;
}

static json_t *
tell_collector(const struct weir_readout_ctl_part *part, bool *agree)
{
	struct weir_readout_sink_stats stats;
	json_t *object = json_object();

	weir_readout_collector_stats(part->collector, &stats);
	weir_base_ctl_set(object, "received", stats.received);
	weir_base_ctl_set(object, "queued", stats.queued);
	weir_base_ctl_set(object, "sources", stats.sources);
	return object;
}

static json_t *
tell_own(const struct weir_readout_ctl_part *part, bool *agree)
{
	return part->tell(part->arg, agree);
}

typedef json_t *(*tell_t)(const struct weir_readout_ctl_part *part, bool *agree);

/* @param[out] kind  the list that it belongs to */
static tell_t
how_to_tell(const struct weir_readout_ctl_part *part, const char **kind)
{
	const struct {
		const char *kind;
		const void *what;
		tell_t tell;
	} kinds[] = {
		{"dispatches", part->dispatch, tell_dispatch},
		{"receivers", part->receiver, tell_receiver},
		{"emulators", part->emulator, tell_emulator},
		{"replays", part->replay, tell_replay},
		{"senders", part->sender, tell_sender},
		{"finders", part->finder, tell_finder},
		{"followers", part->follower, tell_follower},
		{"collectors", part->collector, tell_collector},
		{"followers", part->tell != NULL ? part : NULL, tell_own},
	};

	for (size_t i = 0; i < RTE_DIM(kinds); i++)
		if (kinds[i].what != NULL) {
			*kind = kinds[i].kind;
			return kinds[i].tell;
		}
	return NULL;
}

void
ctl_parts(json_t *object, const struct weir_readout_ctl_part *parts, uint32_t nb, bool *agree)
{
	for (uint32_t i = 0; i < nb; i++) {
		const char *kind;
		const tell_t tell = how_to_tell(&parts[i], &kind);
		json_t *one;

		if (tell == NULL)
			continue;
		one = tell(&parts[i], agree);
		weir_base_ctl_set_name(one, "name", parts[i].name);
		if (json_object_get(object, kind) == NULL)
			json_object_set_new(object, kind, json_array());
		json_array_append_new(json_object_get(object, kind), one);
	}
}
