/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that get frames from the workers of a graph. */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

#include <weir_bridge.h>
#include <weir_bridge_link.h>
#include <weir_graph.h>

#include "config.h"
#include "links_report.h"
#include "links_share.h"
#include "reason_log.h"

static int
make_node(struct links_shared *shared, struct config *config, const struct config_shared *param,
	const uint16_t *port_ids)
{
	const char *why;
	int error = 0;

	reason_log_begin();
	shared->dispatch = weir_readout_dispatch_create(1);
	if (shared->dispatch != NULL)
		shared->node = weir_bridge_link_create(&(struct weir_bridge_link_param){
			.name = param->name,
			.port = port_ids[param->port],
			.burst = param->burst,
			.dispatch = shared->dispatch,
		});
	if (shared->node == WEIR_GRAPH_NODE_INVALID)
		error = rte_errno > 0 ? -rte_errno : -EIO;
	why = reason_log_end(rte_strerror(-error));
	if (error < 0)
		weir_base_doc_error_add(config->doc, param->value,
			"node '%s' could not be made: %s", param->name, why);
	return error;
}

int
links_share_open(struct links_share *share, struct config *config, const uint16_t *port_ids)
{
	const struct config_links *links = &config->links;
	unsigned int i;
	int error = 0;

	share->list = calloc(links->nb_shared + 1, sizeof(*share->list));
	if (share->list == NULL)
		return -ENOMEM;
	for (i = 0; error == 0 && i < links->nb_shared; i++) {
		share->list[i].node = WEIR_GRAPH_NODE_INVALID;
		share->nb = i + 1;
		error = make_node(&share->list[i], config, &links->shared[i], port_ids);
	}
	return error;
}

void
links_share_close(struct links_share *share)
{
	unsigned int i;

	for (i = 0; i < share->nb; i++) {
		if (share->list[i].node != WEIR_GRAPH_NODE_INVALID)
			weir_bridge_node_delete(share->list[i].node);
		weir_readout_dispatch_free(share->list[i].dispatch);
	}
	free(share->list);
	share->list = NULL;
	share->nb = 0;
}

/* Of the last look. */
struct counted {
	const struct config *config;
	bool over; /* before that */
};

static uint32_t
poll_shared(struct links_feed *feed, uint16_t poller, uint64_t now_ns)
{
	(void)feed;
	(void)now_ns;
	return 0;
}

static int
shared_ended(const struct links_feed *feed)
{
	const struct links_share *share = feed->source;

	return __atomic_load_n(&share->over, __ATOMIC_ACQUIRE);
}

static void
look_at_shared(struct links_feed *feed, uint16_t poller)
{
	((struct counted *)feed->counted)->over = shared_ended(feed) != 0;
	weir_readout_dispatch_stats(feed->dispatch, 0, &feed->dispatched);
}

/* A worker gives links frames before it counts them as given, so while it runs links may have more. */
static json_t *
report_shared(const struct links_feed *feed, uint64_t received, bool *adds_up)
{
	const struct counted *counted = feed->counted;
	const struct weir_readout_dispatch_stats *stats = &feed->dispatched;
	json_t *packets;

	*adds_up = counted->over ? stats->links == received : stats->links <= received;
	packets = links_report_dispatched(stats, adds_up);
	return json_pack("{s:s, s:s, s:o, s:I}", "node", feed->shared->name, "port",
		counted->config->ports[feed->shared->port].name, "packets", packets, "to_graph",
		(json_int_t)(stats->received - stats->links));
}

static unsigned int
shared_parts(const struct links_feed *feed, struct weir_readout_ctl_part *parts)
{
	parts[0] = (struct weir_readout_ctl_part){
		.name = feed->shared->name, .dispatch = feed->dispatch};
	return 1;
}

static void
close_shared(struct links_feed *feed)
{
	free(feed->counted);
}

static const struct links_feed_type shared_type = {
	.name = "link_rx",
	.poll = poll_shared,
	.ended = shared_ended,
	.look = look_at_shared,
	.report = report_shared,
	.parts = shared_parts,
	.close = close_shared,
};

int
links_feed_share(struct links_feed *feed, const struct config *config, unsigned int number,
	const struct links_share *share, struct weir_readout_link *const *links)
{
	struct counted *counted = calloc(1, sizeof(*counted));
	unsigned int i, j;
	int error = 0;

	feed->type = &shared_type;
	feed->shared = &config->links.shared[number];
	feed->source = (void *)(uintptr_t)share;
	feed->counted = counted;
	if (counted == NULL)
		return -ENOMEM;
	counted->config = config;
	feed->dispatch = share->list[number].dispatch;
	for (i = 0; i < config->links.nb; i++) {
		const struct config_link *link = &config->links.list[i];

		for (j = 0; error == 0 && link->shared == (int)number && j < link->nb; j++)
			error = weir_readout_dispatch_add(
				feed->dispatch, 0, links[link->first + j]);
	}
	return error;
}
