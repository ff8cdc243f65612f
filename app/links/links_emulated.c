/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that are fed with emulated frames. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <rte_errno.h>

#include <weir_readout_emulator.h>

#include "links_feed.h"
#include "links_report.h"
#include "report_text.h"

/* Of the last look, by number of stream; of as many queues as there are threads. */
struct counted {
	struct weir_readout_emulator_stats stream;
	struct weir_readout_dispatch_stats dispatched;
};

static uint32_t
poll_emulator(struct links_feed *feed, uint16_t poller, uint64_t now_ns)
{
	struct rte_mbuf *mbufs[LINKS_FEED_BURST];
	uint32_t nb = weir_readout_emulator_poll_share(
		feed->source, poller, now_ns, mbufs, LINKS_FEED_BURST);

	if (nb > 0)
		weir_readout_dispatch_receive(feed->dispatch, poller, mbufs, nb, now_ns);
	return nb;
}

static int
emulator_ended(const struct links_feed *feed)
{
	return weir_readout_emulator_ended(feed->source);
}

/* Each thread's of its own links. */
static void
look_at_emulator(struct links_feed *feed, uint16_t poller)
{
	struct counted *counted = feed->counted;
	unsigned int i;

	for (i = poller; i < feed->link->nb; i += links_feed_nb_pollers(feed))
		weir_readout_emulator_stats(feed->source, i, &counted[i].stream);
	weir_readout_dispatch_stats(feed->dispatch, poller, &counted[poller].dispatched);
}

/* One link's. @return what was sent but is not accounted for */
static json_t *
stream_json(const struct links_feed *feed, unsigned int number, bool *adds_up)
{
	const struct counted *counted = feed->counted;
	const struct weir_readout_emulator_stats *stats = &counted[number].stream;
	json_t *faults = json_object();
	char name[WEIR_BASE_LINK_NAME_SIZE];
	int64_t withheld;
	unsigned int i;

	config_link_name(feed->link, number, name);
	for (i = 0; i < WEIR_READOUT_NB_EMULATED; i++)
		report_count(faults,
			weir_readout_emulator_fault_name((enum weir_readout_emulator_fault)i),
			stats->faults[i]);
	withheld =
		(int64_t)(stats->made + stats->faults[WEIR_READOUT_EMULATE_DUPLICATE] -
			  stats->faults[WEIR_READOUT_EMULATE_DROP] - stats->no_mbuf - stats->sent);
	*adds_up = *adds_up && (withheld == 0 || withheld == 1);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "link", name, "made",
		(json_int_t)stats->made, "sent", (json_int_t)stats->sent, "no_mbuf",
		(json_int_t)stats->no_mbuf, "withheld", (json_int_t)withheld, "late_ns",
		(json_int_t)stats->late_ns, "faults", faults);
}

static json_t *
report_emulator(const struct links_feed *feed, uint64_t received, bool *adds_up)
{
	const struct counted *counted = feed->counted;
	struct weir_readout_dispatch_stats dispatched = {0};
	json_t *streams = json_array();
	uint64_t sent = 0;
	unsigned int i;

	*adds_up = true;
	for (i = 0; i < feed->link->nb; i++) {
		json_array_append_new(streams, stream_json(feed, i, adds_up));
		sent += counted[i].stream.sent;
		links_feed_add_dispatched(&dispatched, &counted[i].dispatched);
	}
	*adds_up = *adds_up && dispatched.received == sent && dispatched.links == received;
	return json_pack("{s:o, s:o}", "streams", streams, "packets",
		links_report_dispatched(&dispatched, adds_up));
}

static unsigned int
emulator_parts(const struct links_feed *feed, struct weir_readout_ctl_part *parts)
{
	parts[0] = (struct weir_readout_ctl_part){
		.name = feed->link->name, .dispatch = feed->dispatch};
	parts[1] =
		(struct weir_readout_ctl_part){.name = feed->link->name, .emulator = feed->source};
	return 2;
}

static void
close_emulator(struct links_feed *feed)
{
	weir_readout_emulator_free(feed->source);
	links_feed_close(feed);
}

static const struct links_feed_type emulated_type = {
	.name = "emulated",
	.poll = poll_emulator,
	.ended = emulator_ended,
	.look = look_at_emulator,
	.report = report_emulator,
	.parts = emulator_parts,
	.close = close_emulator,
};

/* @param[out] payload  what is in the file, which has the size of a frame; NULL without one. @return 0 or -EIO */
static int
read_payload(const char *path, void **payload)
{
	FILE *file = path != NULL ? fopen(path, "rb") : NULL;
	struct stat status;
	bool read = false;

	if (path == NULL)
		return 0;
	if (file != NULL && fstat(fileno(file), &status) == 0) {
		*payload = malloc((size_t)status.st_size + 1);
		read = *payload != NULL &&
		       fread(*payload, 1, (size_t)status.st_size, file) == (size_t)status.st_size;
	}
	if (file != NULL)
		fclose(file);
	if (read)
		return 0;
	free(*payload);
	*payload = NULL;
	return -EIO;
}

static void *
create_emulator(const struct config_emulated *emulated, const struct config_link *link,
	uint16_t nb_pollers, struct rte_mempool *pool)
{
	struct weir_readout_emulator_stream *streams = calloc(link->nb, sizeof(*streams));
	void *emulator, *payload = NULL;
	unsigned int i;

	if (streams == NULL || read_payload(emulated->payload, &payload) < 0) {
		rte_errno = streams == NULL ? ENOMEM : EIO;
		free(streams);
		return NULL;
	}
	for (i = 0; i < link->nb; i++)
		streams[i] = (struct weir_readout_emulator_stream){
			.format = &link->format,
			.key = link->key + i,
			.rate_frames = emulated->rate_frames,
			.rate_seconds = emulated->rate_seconds,
			.size_bytes = emulated->size_bytes,
			.nb_frames = emulated->nb_frames,
			.payload = payload,
			.faults = emulated->faults,
			.nb_faults = emulated->nb_faults,
		};
	emulator = weir_readout_emulator_create(
		&(struct weir_readout_emulator_config){.streams = streams,
			.nb_streams = link->nb,
			.nb_pollers = nb_pollers,
			.pool = pool,
			.seed = emulated->seed});
	free(streams);
	free(payload);
	return emulator;
}

int
links_feed_emulate(struct links_feed *feed, const struct config_emulated *emulated,
	const struct config_link *link, struct weir_readout_link *const *links,
	struct rte_mempool *pool)
{
	int error;

	feed->cpus = weir_base_doc_get(emulated->value, "cpus");
	error = links_feed_open(
		feed, &emulated_type, link, links, link->nb * sizeof(struct counted));
	if (error < 0)
		return error;
	feed->source = create_emulator(emulated, link, links_feed_nb_pollers(feed), pool);
	return feed->source != NULL ? 0 : -rte_errno;
}
