/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_SENDER_PRIVATE_H
#define READOUT_SENDER_PRIVATE_H

/* sender.c: senders and their queues; sender_open.c: where to; sender_write.c: one fragment, as far as it goes now. */

#include <pthread.h>
#include <sys/types.h>

#include <weir_base.h>

#include "weir_readout_fragment.h"
#include "weir_readout_sender.h"

#define SENDER_LOG(level, ...) weir_base_log(WEIR_BASE_LOG_##level, "readout", __VA_ARGS__)

/* Where fragments go. */
struct outlet {
	int fd; /* -1: given up */
	bool is_socket;
	off_t end; /* of a regular file: of its last whole fragment; -1: it is none */
};

/* A fragment being written, and how far. */
struct writing {
	struct weir_readout_fragment *fragment; /* NULL: none */
	uint8_t *head;
	uint64_t head_bytes, head_room;
	uint64_t head_sent;
	uint32_t frame;      /* the first one not written */
	uint64_t frame_sent; /* of it */
};

struct weir_readout_sender {
	char name[108]; /* for the log */
	struct outlet outlet;
	uint64_t stall_ns;
	bool has_thread;
	pthread_t thread;
	/* Who sends. */
	struct writing writing;
	uint64_t progress_ns; /* when the peer took something last */
	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t queued;
	struct weir_readout_fragment **queue; /* a ring */
	uint32_t queue_size, head, nb;
	bool stopped, gone;
	struct weir_readout_sender_stats stats;
};

/* sender_open.c. @return 0, or a negative errno; said in the log */
int outlet_open(
	struct outlet *outlet, const char *name, const struct weir_readout_sender_config *config);
/* A fragment could not be written: take off the file what was. */
void outlet_roll_back(const struct outlet *outlet);
/* Of a socket: wait until it takes something, or so long. */
void outlet_wait(const struct outlet *outlet, int timeout_ms);

/* sender_write.c. @return 0, -ENOMEM */
int writing_begin(struct writing *writing, struct weir_readout_fragment *fragment);
/* @param[out] nb_bytes  written @return 0: all of it is; -EAGAIN: not yet; another negative errno */
int writing_go_on(struct writing *writing, const struct outlet *outlet, uint64_t *nb_bytes);

#endif
