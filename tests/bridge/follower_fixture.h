/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGE_FOLLOWER_FIXTURE_H
#define BRIDGE_FOLLOWER_FIXTURE_H

/* A latency buffer, a follower of it with jobs, and the jobs' service, for tests. One thread does all, unless a test has others. */

#include "bridge_test.h"
#include "weir_bridge_follower.h"
#include "weir_job_offload.h"

#include "../readout/readout_test.h"

#define BF_JOBS     4u
#define BF_FRAMES   8u
#define BF_MANY     5000u /* frames: many times those there are cells for */
#define BF_MAX_JOBS 16u

struct bf {
	struct weir_readout_format format;
	struct weir_readout_buffer *buffer;
	struct weir_bridge_follower *follower;
	struct weir_job_service *service;
	struct weir_em_core *core;
	struct weir_job_offload_pool *helpers;
	uint64_t clock; /* of the buffer's writer */
	uint64_t begun; /* frames that the function has begun with: atomic */
	uint64_t seen;  /* frames that it is done with: atomic */
	uint64_t last;  /* timestamp seen, of one job at a time */
	bool gate;      /* jobs may go on: atomic */
	bool over;      /* atomic */
	struct weir_readout_kept shared;
	bool call_began, call_goes_on, call_ended; /* atomic */
};
extern struct bf bf;

/* The frame is as it was written. */
void bf_expect_frame(const struct weir_readout_item *item);
/* So many frames come to the buffer. */
void bf_put(uint32_t nb);

/* An instance with cores, the service, the buffer; the follower, and what it is to be. */
void bf_make(uint64_t step, enum weir_readout_full when_full, unsigned int nb_cores);
/* This thread is the only core. */
void bf_be_core(void);
struct weir_bridge_follower_config bf_config(const struct weir_readout_process *process);
void bf_follow(const struct weir_bridge_follower_config *config);

/* Counters: sums hold whenever they are looked at. */
struct weir_bridge_follower_stats bf_look(void);

/* What is in the buffer goes to jobs, as long as these may begin. */
void bf_poll_all(void);
/* This core runs jobs for some rounds; until the function has begun with so many frames; until no job is alive. */
void bf_dispatch(void);
void bf_run_until_begun(uint64_t nb);
void bf_run_jobs(void);
/* All that is in the buffer goes to jobs, and these end. */
void bf_drain(void);
/* The service is stopped: no job is alive, nothing inside. */
void bf_stop(void);
/* Nothing is pinned any more: frames that come find all cells free, some at a time, whose time is over. */
void bf_expect_unpinned(void);
/* All is stopped, and freed. */
void bf_end(void);

#endif
