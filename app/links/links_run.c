/* SPDX-License-Identifier: BSD-3-Clause */
/* The readout of a run, as the description has it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include <weir_base.h>
#include <weir_base_pool.h>

#include "config.h"
#include "links_collect.h"
#include "links_consume.h"
#include "links_receive.h"
#include "links_run.h"
#include "links_share.h"
#include "reason_log.h"

#define SEGMENT_BYTES 2048 /* of packets of captures, which take several where they are longer */
#define NB_MBUFS      (4 * LINKS_FEED_BURST)
/* That a thread keeps, half as many more at times: the next frames are made where the last ones were, and threads do not meet at the pool. */
#define CACHED_MBUFS LINKS_FEED_BURST
#define HEADER_BYTES 64 /* of packets: Ethernet, IP, UDP */
#define DEVICE_BYTES (UINT64_C(4) << 20)

/* Largest frame that is made, with headers and headroom. */
static uint16_t
mbuf_bytes(const struct config *config)
{
	uint64_t most = SEGMENT_BYTES, bytes;
	unsigned int i;

	for (i = 0; i < config->links.nb_emulated; i++) {
		const struct config_emulated *emulated = &config->links.emulated[i];

		bytes = emulated->size_bytes;
		if (bytes == 0)
			bytes = config->links.list[emulated->link].format.size_max_bytes;
		most = RTE_MAX(most, RTE_MIN(bytes, (uint64_t)UINT16_MAX));
	}
	for (i = 0; i < config->links.nb_replayed; i++)
		if (config->links.replayed[i].is_raw)
			most = RTE_MAX(most, config->links.list[config->links.replayed[i].link]
						     .format.size_max_bytes);
	most += HEADER_BYTES + RTE_PKTMBUF_HEADROOM;
	return (uint16_t)RTE_MIN(most, (uint64_t)UINT16_MAX);
}

/* Those in the hand of a feed, and in queues. */
static uint32_t
nb_mbufs(const struct config *config)
{
	uint64_t nb = NB_MBUFS;
	unsigned int i;

	for (i = 0; i < config->links.nb; i++)
		if (config->links.list[i].receiver == CONFIG_NONE)
			nb += config_link_queued(&config->links.list[i]);
	for (i = 0; i < config->links.nb_emulated; i++)
		nb += NB_MBUFS * (uint64_t)weir_base_doc_count(weir_base_doc_get(
					 config->links.emulated[i].value, "cpus"));
	return (uint32_t)RTE_MIN(nb, (uint64_t)UINT32_MAX);
}

uint64_t
links_run_memory(const struct config *config)
{
	uint64_t bytes =
		nb_mbufs(config) * (mbuf_bytes(config) + sizeof(struct rte_mbuf) + UINT64_C(128));
	unsigned int i;

	for (i = 0; i < config->receivers.nb; i++)
		bytes += weir_readout_receiver_pool_bytes(&config->receivers.list[i].port) +
			 DEVICE_BYTES;
	return config->links.nb == 0 ? 0 : bytes;
}

/* Its frames, and where they are kept. */
static int
make_link(struct links_run *run, struct config *config, const struct config_link *link,
	unsigned int number)
{
	const unsigned int index = link->first + number;
	char name[WEIR_BASE_LINK_NAME_SIZE];
	struct weir_readout_link_config param = {
		.name = name,
		.sink = name,
		.format = &link->format,
		.key = link->key + number,
		.drop_duplicates = link->drop_duplicates,
		.jump_s = link->jump_s,
		.stall_ns = link->stall_ns,
	};
	struct weir_readout_handler_config handler = {
		.queue_size = link->delivery.queue_size, .buffer = link->buffer};
	struct weir_readout_process processes[WEIR_READOUT_PROCESSES_MAX];
	int error;

	config_link_name(link, number, name);
	handler.buffer.name = name;
	handler.buffer.socket_id = links_memory_node(config, link, number, NULL);
	error = links_processes_inline(run, config, index, processes, &param.nb_processes);
	if (error < 0)
		return error;
	param.processes = processes;
	reason_log_begin();
	run->links[index] = weir_readout_link_create(run->registry, &param);
	if (run->links[index] != NULL) {
		handler.link = run->links[index];
		run->handlers[index] = weir_readout_handler_create(run->registry, &handler);
	}
	if (run->handlers[index] == NULL) {
		error = -rte_errno;
		weir_base_doc_error_add(config->doc, link->value, "link '%s' could not be made: %s",
			name, reason_log_end(rte_strerror(-error)));
	} else {
		reason_log_end("");
		weir_readout_buffer_info(
			weir_readout_handler_buffer(run->handlers[index]), &run->buffers[index]);
	}
	return error;
}

/* What was said while a feed was made. @return @p error */
static int
tell_feed(struct config *config, const struct weir_base_doc_value *value, int error)
{
	const char *why = reason_log_end(rte_strerror(-error));

	if (error < 0)
		weir_base_doc_error_add(config->doc, value, "link '%s' could not be fed: %s",
			weir_base_doc_name(value), why);
	return error;
}

static int
make_feeds(struct links_run *run, struct config *config)
{
	const struct config_links *links = &config->links;
	unsigned int i;
	int error = 0;

	for (i = 0; error == 0 && i < links->nb_emulated; i++) {
		const struct config_emulated *emulated = &links->emulated[i];

		reason_log_begin();
		error = links_feed_emulate(&run->feeds[run->nb_feeds++], emulated,
			&links->list[emulated->link], run->links, run->pool);
		error = tell_feed(config, emulated->value, error);
	}
	for (i = 0; error == 0 && i < links->nb_replayed; i++) {
		const struct config_replayed *replayed = &links->replayed[i];

		reason_log_begin();
		error = links_feed_replay(&run->feeds[run->nb_feeds++], replayed,
			&links->list[replayed->link], run->links, run->pool);
		error = tell_feed(config, replayed->value, error);
	}
	for (i = 0; error == 0 && i < config->receivers.nb; i++)
		error = links_feed_receive(&run->feeds[run->nb_feeds++], config,
			&config->receivers.list[i], run->links);
	for (i = 0; error == 0 && i < links->nb_shared; i++) {
		reason_log_begin();
		error = links_feed_share(
			&run->feeds[run->nb_feeds++], config, i, run->share, run->links);
		error = tell_feed(config, links->shared[i].value, error);
	}
	for (i = 0; error == 0 && i < links->nb; i++) {
		if (!links->list[i].collects)
			continue;
		reason_log_begin();
		error = links_collect_open(&run->feeds[run->nb_feeds++], run, &links->list[i]);
		error = tell_feed(config, links->list[i].value, error);
	}
	return error;
}

static int
allocate(struct links_run *run, const struct config *config)
{
	run->nb = config->links.nb_links;
	run->links = calloc(run->nb, sizeof(*run->links));
	run->handlers = calloc(run->nb, sizeof(*run->handlers));
	run->stats = calloc(run->nb, sizeof(*run->stats));
	run->buffers = calloc(run->nb, sizeof(*run->buffers));
	run->feeds = calloc(config->links.nb + config->receivers.nb + config->links.nb_shared + 1,
		sizeof(*run->feeds));
	run->registry = weir_readout_registry_create();
	run->pool = weir_base_pool_create("weir_links", nb_mbufs(config), CACHED_MBUFS,
		mbuf_bytes(config), SOCKET_ID_ANY, NULL);
	return run->links != NULL && run->handlers != NULL && run->stats != NULL &&
			       run->buffers != NULL && run->feeds != NULL &&
			       run->registry != NULL && run->pool != NULL
		       ? 0
		       : -ENOMEM;
}

int
links_run_open(struct links_run *run, struct config *config, const struct links_share *share,
	const struct em_run *em)
{
	const struct config_links *links = &config->links;
	unsigned int i, j;
	int error;

	if (links->nb == 0)
		return 0;
	run->share = share;
	run->ends = config->until == SCHEMA_UNTIL_INPUT_END;
	links_thread_init(&run->requests.thread);
	error = links_memory_check(config);
	if (error == 0)
		error = allocate(run, config);
	if (error == 0)
		error = links_consume_open(run, links);
	if (error == 0)
		error = links_processes_open(run, config);
	for (i = 0; error == 0 && i < links->nb; i++)
		for (j = 0; error == 0 && j < links->list[i].nb; j++)
			error = make_link(run, config, &links->list[i], j);
	if (error == 0)
		error = links_processes_follow(run, config, em);
	if (error == 0)
		error = make_feeds(run, config);
	if (error == 0)
		error = links_feeders_open(run, config);
	if (error == 0)
		error = weir_readout_registry_bind(run->registry);
	return error == 0 ? links_requests_open(&run->requests, config, run) : error;
}

int
links_run_start(struct links_run *run, struct config *config)
{
	int error;

	if (run->registry == NULL)
		return 0;
	run->start_ns = weir_base_time_ns();
	error = links_processes_start(run, config);
	if (error == 0)
		error = links_consume_start(run, config);
	if (error == 0)
		error = links_feeders_start(run, config);
	/* Who feeds links ends these otherwise, and workers wait for that. */
	if (!links_feeders_have_begun(run))
		links_processes_end(run);
	return error == 0 ? links_requests_start(&run->requests, run) : error;
}

void
links_run_stop(struct links_run *run)
{
	__atomic_store_n(&run->quiet, true, __ATOMIC_RELAXED);
	links_feeders_abandon(run);
	links_thread_abandon(&run->requests.thread);
}

void
links_run_stop_now(struct links_run *run)
{
	links_run_stop(run);
	links_processes_abandon(run);
	__atomic_store_n(&run->requests.stop_now, true, __ATOMIC_RELAXED);
}

bool
links_run_needs_no_jobs(const struct links_run *run)
{
	return run->registry == NULL || __atomic_load_n(&run->processes.over, __ATOMIC_ACQUIRE);
}

void
links_run_without_jobs(struct links_run *run)
{
	__atomic_store_n(&run->processes.no_jobs, true, __ATOMIC_RELEASE);
}

bool
links_run_is_finished(const struct links_run *run)
{
	return run->registry == NULL ||
	       (links_feeders_are_finished(run) && links_thread_is_finished(&run->requests.thread));
}

void
links_run_join(struct links_run *run)
{
	links_feeders_join(run);
	links_consume_finish(run);
	links_processes_end(run);
	links_thread_join(&run->requests.thread);
}

void
links_run_close(struct links_run *run)
{
	unsigned int i;

	links_run_stop_now(run);
	links_run_join(run);
	links_run_unregister(run);
	links_requests_close(&run->requests);
	/* What is bound to something goes before it. */
	links_processes_close(run);
	for (i = 0; i < run->nb_feeds; i++)
		run->feeds[i].type->close(&run->feeds[i]);
	for (i = 0; run->handlers != NULL && i < run->nb; i++) {
		weir_readout_link_free(run->links[i]);
		weir_readout_handler_free(run->handlers[i]);
	}
	weir_readout_registry_free(run->registry);
	weir_base_pool_free(run->pool);
	links_consume_close(run);
	links_feeders_close(run);
	free(run->feeds);
	free(run->links);
	free(run->handlers);
	free(run->stats);
	free(run->buffers);
	memset(run, 0, sizeof(*run));
}
