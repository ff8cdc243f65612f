/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the links of a description file are asked for. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include <weir_base_rules.h>

#include "config.h"
#include "links_requests.h"
#include "reason_log.h"

#define SECOND_NS    UINT64_C(1000000000)
#define QUEUED_LEAST 16 /* windows that may be on their way, at any rate */
#define QUEUED_NS                                                                                  \
	(SECOND_NS /                                                                               \
		4) /* and those of so much time, for which a file or a socket may stand still */
#define QUEUED_MOST 1024
#define SPARE_PART  8 /* of a history's frames a buffer has to spare, as it is by default */

static void
take_links(const struct config *config, struct config_request *request,
	const struct weir_base_doc_value *value)
{
	unsigned int link, first, nb = config_links_named(config, value, &link, &first), i;

	if (nb > 0 && request->nb_links == 0)
		request->clock_hz = config->links.list[link].format.clock_hz;
	for (i = 0; i < nb && request->nb_links < config->links.nb_links; i++)
		request->links[request->nb_links++] = first + i;
}

static int
read_request(struct config *config, struct config_request *request)
{
	const struct weir_base_doc_value *value = request->value;
	const struct weir_base_doc_value *list = weir_base_doc_get(value, "links");
	unsigned int i;

	request->name = weir_base_doc_name(value);
	request->every_ns = weir_base_doc_u64(weir_base_doc_get(value, "every"));
	request->window_ns = weir_base_doc_u64(weir_base_doc_get(value, "window"));
	request->delay_ns = weir_base_doc_u64(weir_base_doc_get(value, "delay"));
	request->timeout_ns = weir_base_doc_u64(weir_base_doc_get(value, "timeout"));
	request->to = weir_base_doc_str(weir_base_doc_get(value, "to"));
	request->links = calloc(config->links.nb_links + 1, sizeof(*request->links));
	if (request->links == NULL)
		return -ENOMEM;
	for (i = 0; i < weir_base_doc_count(list); i++)
		take_links(config, request, weir_base_doc_at(list, i));
	return 0;
}

const struct config_link *
config_link_of(const struct config_links *links, uint32_t number)
{
	const struct config_link *link = links->list;

	while (number >= link->first + link->nb)
		link++;
	return link;
}

double
config_link_frames(const struct config_link *link, uint64_t ns)
{
	const double rate = link->format.step_ticks > 0 ? (double)link->format.clock_hz /
								  (double)link->format.step_ticks
							: 2 * link->buffer.rate_hz;

	return rate * (double)ns / (double)SECOND_NS + 2;
}

uint64_t
config_request_queued(const struct config_request *request)
{
	return RTE_MIN(QUEUED_LEAST + QUEUED_NS / RTE_MAX(request->every_ns, UINT64_C(1)),
		(uint64_t)QUEUED_MOST);
}

/* Do windows of one of these links go somewhere? */
static bool
sends_of(const struct config_request *request, const struct config_link *link)
{
	unsigned int i;

	for (i = 0; request->to != NULL && i < request->nb_links; i++)
		if (request->links[i] - link->first < link->nb)
			return true;
	return false;
}

/*
 * Fragments on their way to a file or a socket pin what they hold: twice as much to spare as all windows that may be, but no more than
 * the history itself has. What looks at frames after the buffer pins some, too.
 */
static void
make_room(struct config_links *links, struct config_link *link)
{
	const double history =
		config_link_frames(link, (uint64_t)(link->buffer.history_s * (double)SECOND_NS));
	const double pinned = config_link_pinned(links, link);
	struct weir_readout_buffer_config larger = link->buffer;
	struct weir_readout_buffer_info info;
	double wanted = history / SPARE_PART;
	unsigned int i;

	for (i = 0; i < links->nb_requests; i++)
		if (sends_of(&links->requests[i], link))
			wanted += 2 * (double)config_request_queued(&links->requests[i]) *
				  config_link_frames(link, links->requests[i].window_ns);
	larger.spare_frames = (uint32_t)ceil(RTE_MIN(wanted, history) + pinned);
	reason_log_begin();
	if ((pinned > 0 || wanted > history / SPARE_PART) &&
		weir_readout_buffer_plan(&larger, &info) == 0)
		link->buffer.spare_frames = larger.spare_frames;
	reason_log_end("");
}

static void
read_fragments(struct config *config)
{
	const uint64_t here = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	const struct weir_base_doc_value *room =
		weir_base_doc_get(config->application, "fragments");
	struct config_links *links = &config->links;
	uint64_t bytes;

	if (room == NULL)
		return;
	links->nb_fragments = (uint32_t)weir_base_doc_u64(weir_base_doc_get(room, "count"));
	links->nb_frames = (uint32_t)weir_base_doc_u64(weir_base_doc_get(room, "frames"));
	if (config_nb_errors(config) > 0)
		return;
	bytes = (uint64_t)links_requests_fragments(links) * links_requests_frames(links) *
		LINKS_REQUESTS_FRAME_BYTES;
	if (bytes > here)
		weir_base_doc_error_add(config->doc, room,
			"%u fragments of %u frames need %" PRIu64
			" MiB of memory, and this machine has %" PRIu64
			"; expected a smaller 'count', or fewer 'frames'",
			links_requests_fragments(links), links_requests_frames(links), bytes >> 20,
			here >> 20);
}

int
config_read_requests(struct config *config, const struct weir_base_doc_value *list)
{
	struct config_links *links = &config->links;
	unsigned int nb = weir_base_doc_count(list), i;

	weir_base_rules_requests(config->doc, config->application);
	links->requests = calloc(nb + 1, sizeof(*links->requests));
	if (links->requests == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		links->requests[i].value = weir_base_doc_at(list, i);
		links->nb_requests = i + 1;
		if (read_request(config, &links->requests[i]) < 0)
			return -ENOMEM;
	}
	for (i = 0; i < links->nb; i++)
		if (links->list[i].buffer.spare_frames == 0)
			make_room(links, &links->list[i]);
	read_fragments(config);
	return 0;
}
