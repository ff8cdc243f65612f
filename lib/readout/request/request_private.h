/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_REQUEST_PRIVATE_H
#define READOUT_REQUEST_PRIVATE_H

/* request_service.c: services, made and freed; request.c: what they do. A fragment is on one of three lists, or delivered. */

#include <pthread.h>
#include <sys/queue.h>

#include "weir_readout_request.h"

struct fragment {
	TAILQ_ENTRY(fragment) entry;
	struct weir_readout_service *service;
	struct weir_readout_window *window;
	struct weir_readout_fragment shown;
	uint64_t begin, end, timeout_ns;
	weir_readout_deliver_t deliver;
	void *arg;
	const bool *abandoned; /* or NULL */
	bool waited;           /* a poll could not answer it */
};

TAILQ_HEAD(fragments, fragment);

struct service_link {
	char *name;
	uint64_t key;
	const struct weir_readout_buffer *buffer;
};

struct weir_readout_service {
	struct service_link *links;
	uint32_t nb_links, nb_fragments;
	struct fragment *fragments;
	struct fragments waiting; /* the polling thread's */
	pthread_mutex_t lock;     /* of all that follows */
	struct fragments free, asked;
	bool stopped;
	struct weir_readout_service_stats stats;
	struct weir_base_hist latencies[WEIR_READOUT_NB_LATENCIES];
};

#endif
