/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_LISTED_H
#define JOB_LISTED_H

#include <stddef.h>

/* What jobs use and the control socket tells of: the pools of helper threads and the channels of the process. */

enum job_listed_kind { JOB_LISTED_OFFLOAD, JOB_LISTED_CHANNEL, JOB_LISTED_KINDS };

/* A name is copied, cut where it is too long, but not within a character of UTF-8; zeros behind it. */
void job_copy_name(char *to, size_t size, const char *name);

struct job_listed {
	struct job_listed *next, **at; /* at: what points to it; NULL: it is in no list */
	void *what;
};

/* Threads: any. */
void job_listed_add(enum job_listed_kind kind, struct job_listed *entry, void *what);
/* It may be in none. When it returns, nobody looks at it. */
void job_listed_remove(struct job_listed *entry);
/* In the order in which they were added, which none is while that lasts: @visit must neither add nor remove. */
void job_listed_foreach(enum job_listed_kind kind, void (*visit)(void *arg, void *what), void *arg);

struct weir_job_channel;
struct weir_job_offload_pool;

const char *job_channel_name(const struct weir_job_channel *channel);
const char *job_offload_name(const struct weir_job_offload_pool *pool);

#endif
