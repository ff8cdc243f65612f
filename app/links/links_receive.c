/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames for links from devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "config.h"
#include "eal_log.h"
#include "links_receive.h"
#include "links_report.h"
#include "ports.h"
#include "reason_log.h"
#include "report_text.h"

/* Of the last look. */
struct counted {
	struct weir_readout_receiver_port_stats port;
	struct weir_readout_receiver_queue_stats queues[];
};

/* Rests when no burst was full, as the published configuration has it. */
static uint32_t
poll_receiver(struct links_feed *feed, uint16_t poller, uint64_t now_ns)
{
	return weir_readout_receiver_poll(feed->source, poller, now_ns);
}

/* Between its queues. */
static void
drain_receiver(struct links_feed *feed, uint64_t now_ns)
{
	uint16_t i;

	for (i = 0; i < links_feed_nb_pollers(feed); i++)
		weir_readout_receiver_drain(feed->source, i, now_ns);
}

static int
receiver_ended(const struct links_feed *feed)
{
	return 0;
}

static void
look_at_receiver(struct links_feed *feed, uint16_t poller)
{
	struct counted *counted = feed->counted;
	uint16_t q;

	if (poller == 0)
		weir_readout_receiver_port_stats(feed->source, 0, &counted->port);
	for (q = poller; q < feed->receiver->port.nb_queues; q += links_feed_nb_pollers(feed))
		weir_readout_receiver_queue_stats(feed->source, q, &counted->queues[q]);
}

/* Of all queues. */
static struct weir_readout_dispatch_stats
sum_dispatched(const struct counted *counted, uint16_t nb_queues)
{
	struct weir_readout_dispatch_stats sum = {0};
	uint16_t q;

	for (q = 0; q < nb_queues; q++)
		links_feed_add_dispatched(&sum, &counted->queues[q].dispatch);
	return sum;
}

static json_t *
queue_json(const struct weir_readout_receiver_queue_stats *stats, bool *adds_up)
{
	json_t *dropped = json_object();
	uint64_t sum = stats->dispatch.received + stats->arp_replied + stats->handed_over;
	unsigned int i;

	for (i = 0; i < WEIR_READOUT_RECEIVER_NB_DROPS; i++)
		sum += report_count(dropped,
			weir_readout_receiver_drop_name((enum weir_readout_receiver_drop)i),
			stats->dropped[i]);
	*adds_up = *adds_up && stats->received + stats->taken_over == sum;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I}", "received",
		(json_int_t)stats->received, "taken_over", (json_int_t)stats->taken_over,
		"handed_over", (json_int_t)stats->handed_over, "to_dispatch",
		(json_int_t)stats->dispatch.received, "arp_replied", (json_int_t)stats->arp_replied,
		"dropped", dropped, "announced", (json_int_t)stats->announced, "polls",
		(json_int_t)stats->polls, "full_bursts", (json_int_t)stats->full_bursts,
		"burst_size", (json_int_t)stats->burst_size);
}

static json_t *
report_receiver(const struct links_feed *feed, uint64_t received, bool *adds_up)
{
	const struct counted *counted = feed->counted;
	const struct weir_readout_dispatch_stats dispatched =
		sum_dispatched(counted, feed->receiver->port.nb_queues);
	json_t *queues = json_array();
	uint16_t q;

	*adds_up = dispatched.links == received;
	for (q = 0; q < feed->receiver->port.nb_queues; q++)
		json_array_append_new(queues, queue_json(&counted->queues[q], adds_up));
	return json_pack("{s:s, s:o, s:o, s:{s:I, s:I, s:I, s:I}, s:s, s:i, s:b}", "port",
		feed->receiver->name, "queues", queues, "packets",
		links_report_dispatched(&dispatched, adds_up), "device", "received",
		(json_int_t)counted->port.ipackets, "imissed", (json_int_t)counted->port.imissed,
		"rx_nombuf", (json_int_t)counted->port.rx_nombuf, "ierrors",
		(json_int_t)counted->port.ierrors, "steering",
		weir_readout_steering_name(counted->port.steering), "mtu", (int)counted->port.mtu,
		"mtu_confirmed", (int)counted->port.mtu_confirmed);
}

static unsigned int
receiver_parts(const struct links_feed *feed, struct weir_readout_ctl_part *parts)
{
	parts[0] = (struct weir_readout_ctl_part){
		.name = feed->receiver->name, .receiver = feed->source};
	return 1;
}

static void
close_receiver(struct links_feed *feed)
{
	weir_readout_receiver_free(feed->source);
	free(feed->counted);
}

static const struct links_feed_type receiver_type = {
	.name = "receiver",
	.poll = poll_receiver,
	.drain = drain_receiver,
	.ended = receiver_ended,
	.look = look_at_receiver,
	.report = report_receiver,
	.parts = receiver_parts,
	.close = close_receiver,
};

/* @return the receiver; NULL with rte_errno, and the reason in the document */
static struct weir_readout_receiver *
open_receiver(struct config *config, const struct config_receiver *receiver)
{
	const struct weir_readout_receiver_config param = config_receiver_param(receiver);
	struct weir_readout_receiver *opened;
	const char *why;
	int error = ports_make_device(config, receiver->at, receiver->device, receiver->is_pci);

	if (error < 0) {
		rte_errno = -error;
		return NULL;
	}
	/* Some drivers call errors what is none. */
	eal_log_forget();
	eal_log_show_errors(false);
	reason_log_begin();
	opened = weir_readout_receiver_create(&param);
	error = rte_errno;
	why = reason_log_end(rte_strerror(error));
	eal_log_show_errors(true);
	if (opened == NULL) {
		eal_log_print(stderr);
		weir_base_doc_error_add(config->doc, receiver->value,
			"receiver '%s' could not be started: %s", receiver->name, why);
		rte_errno = error;
	}
	return opened;
}

static int
add_links(struct links_feed *feed, struct config *config, struct weir_readout_link *const *links)
{
	const int index = (int)(feed->receiver - config->receivers.list);
	unsigned int i, j;
	int error = 0;

	for (i = 0; i < config->links.nb; i++) {
		const struct config_link *link = &config->links.list[i];

		for (j = 0; error == 0 && link->receiver == index && j < link->nb; j++)
			error = weir_readout_dispatch_add(
				feed->dispatch, link->queue, links[link->first + j]);
	}
	return error;
}

int
links_feed_receive(struct links_feed *feed, struct config *config,
	const struct config_receiver *receiver, struct weir_readout_link *const *links)
{
	feed->type = &receiver_type;
	feed->receiver = receiver;
	feed->cpus = weir_base_doc_get(receiver->value, "cpus");
	feed->counted = calloc(1,
		sizeof(struct counted) + receiver->port.nb_queues *
						 sizeof(struct weir_readout_receiver_queue_stats));
	if (feed->counted == NULL)
		return -ENOMEM;
	feed->source = open_receiver(config, receiver);
	if (feed->source == NULL)
		return rte_errno > 0 ? -rte_errno : -EIO;
	feed->dispatch = weir_readout_receiver_dispatch(feed->source);
	return add_links(feed, config, links);
}
