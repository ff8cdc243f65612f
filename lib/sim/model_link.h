/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_MODEL_LINK_H
#define SIM_MODEL_LINK_H

/*
 * Links of a readout: each is a stream of frames that come to a buffer, of which windows of time are asked.
 *
 *   frames --> [ feed's ring --> thread of links ] --> buffer --> windows
 *
 *   doc_links.c      links, and what their buffers hold
 *   doc_emulated.c   what is done to frames that are emulated
 *   doc_fields.c     what these say of themselves, where something is done to them
 *   doc_replayed.c   frames of files: which link each is of, when it comes, and what it says
 *   doc_receivers.c  what polls them
 *   doc_processes.c  functions that look at frames before the buffer
 *   doc_followers.c  and after it
 *   doc_hits.c       hits that they find, which are frames of other links
 *   doc_requests.c   windows
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_base_line.h"
#include "weir_base_nodes.h"

struct weir_base_doc_value;

/* What is done to some frames of an emulated link. */
struct model_fault {
	enum weir_base_fault kind;
	uint64_t amount;
	uint64_t first, period, length; /* frames; period 0: once */
	double chance;                  /* of each from the first on, instead; 0: by number */
};

/* Frames at an exact rate: number n is due after n * seconds / frames. */
struct model_frames {
	uint64_t frames, seconds;
	uint64_t last; /* those after it are due later than anything happens */
	uint32_t first_fault, nb_faults;
	uint32_t dropped; /* reason of those that are not sent */
};

/* A frame of a file. */
struct model_frame {
	uint64_t timestamp, sequence;
	uint32_t reason; /* that it is dropped for before its link's buffer, or SIM_NONE */
};

/* What frames say of themselves, in links where something is done to some: by that they come to a link, and to a time in its buffer. */
struct model_fields {
	struct weir_base_line_config line; /* what is checked of them */
	uint64_t sequence_mask;
	uint64_t key, key_mask; /* of the stream; 0: they have none */
	uint32_t key_bytes;     /* that are there of a frame which says whose it is */
	uint32_t bytes_min, bytes_max;
	uint32_t first, nb, nb_threads; /* links of one name; those of a thread know no others */
	bool drops_duplicates;          /* before the buffer */
	/* Of the buffer: */
	bool is_ordered;     /* without a step */
	uint64_t step_ticks; /* ordered: 1 */
	uint64_t live_ticks, jump_ticks;
	uint32_t nb_confirm;
	uint32_t nb_cells; /* frames that there is room for */
	uint64_t nb_index; /* a power of two */
	bool evicts;
	uint32_t unknown_stream, truncated, slot_taken, far_off, no_memory; /* reasons */
};

/* Time in a link's buffer goes by numbers of frames: number n has timestamp n * ticks / per, rounded down. */
struct model_link {
	const struct weir_base_doc_value *value;
	const char *name; /* its stream's */
	uint32_t stream;
	uint64_t clock_hz;
	uint64_t ticks, per;
	bool has_step; /* frames are told apart by time: it is known which ones are missing */
	uint64_t held; /* frames that it holds: the newest one, and so many numbers before it */
	uint64_t
		reorder; /* without a step: most frames that may have come before one that is late */
	uint32_t
		ring; /* that its frames wait in for who puts them into the buffer; SIM_NONE: none */
	uint32_t bytes;  /* of a frame; 0: they may have any size */
	uint32_t room;   /* of frames of a file, bytes that the buffer takes; 0: any */
	bool has_fields; /* it is not by numbers: */
	struct model_fields fields;
	uint32_t too_late, duplicate, wrong_size; /* reasons */
	bool is_of_hits;
	uint32_t functions; /* before the buffer: the first one; SIM_NONE: none */
	uint32_t followers; /* after it, likewise */
	uint64_t log_mask;  /* places for what these have not looked at: so many, and one; 2^n */
};

/* A function that looks at frames of a link before its buffer, in the thread that receives. */
struct model_function {
	char *name;              /* "LINK PROCESS" */
	double packet, per_byte; /* cycles */
	double drops;            /* part of the frames that it looks at: no other looks at these */
	uint32_t reason;         /* of these */
	uint32_t finder;         /* of hits; SIM_NONE: how many there are is not said */
	uint32_t next;           /* of the link */
};

/* A function that looks at frames after their buffers, in a thread of its own, or in jobs that this begins. */
struct model_process {
	const struct weir_base_doc_value *value;
	uint32_t first_follower, nb_followers;
	uint32_t nb_jobs,
		nb_frames; /* of each link at a time, and of each of these, at most; 0: none */
	bool waits;        /* while as many are out as may be frames stay in the buffer */
	uint64_t slice_ps;
};

/* A process on one link. */
struct model_follower {
	char *name; /* "LINK PROCESS" */
	uint32_t process, link;
	uint32_t next;          /* of the link */
	uint32_t worker;        /* its thread; SIM_NONE: it takes no time */
	uint32_t place;         /* among those that the thread polls */
	double cycles;          /* of a frame */
	uint32_t finder;        /* of hits; SIM_NONE: how many there are is not said */
	double drops;           /* part of the frames that it looks at */
	uint32_t stream, queue; /* its jobs are packets of the stream, and wait in the queue */
};

/* Windows, one after the other; what each link has of one is a fragment. */
struct model_request {
	const struct weir_base_doc_value *value;
	const char *name;
	uint32_t first_link, nb_links; /* of model->asked */
	uint64_t clock_hz;
	uint64_t every_ns, window_ns, delay_ns;
	uint64_t timeout_ps; /* 0: what is to come is not waited for */
};

#endif
