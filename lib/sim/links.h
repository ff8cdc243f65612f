/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_LINKS_H
#define SIM_LINKS_H

/*
 * What changes of links while they run.
 *
 *   emulated.c  frames that come at an exact rate, and what is done to them
 *   link.c      links, and their buffers
 *   fields.c    frames that say what they are, and which links they come to by that
 *   timed.c     buffers of such frames, by their timestamps
 *   windows.c   windows that are asked of these
 *   follower.c  functions that look at their frames
 *   followed_jobs.c  likewise, in jobs
 *   inline.c    functions that look at frames before their buffers
 *   hits.c      frames that functions make of what they find
 *
 * A frame has a number, which stands for its timestamp. A buffer holds the newest frame and those of so many numbers before
 * it: a bit for each number says whether its frame is there. Time goes on when a frame comes that is newer than all before:
 * then windows are asked for, and answered.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_base_line.h"
#include "weir_base_nodes.h"
#include "weir_sim_random.h"
#include "weir_sim_stats.h"

#pragma GCC visibility push(hidden)

struct sim;

enum sim_answer {
	SIM_ANSWER_COMPLETE,
	SIM_ANSWER_PARTIAL,
	SIM_ANSWER_TOO_OLD,
	SIM_ANSWER_NOT_YET,
	SIM_ANSWER_TIMED_OUT,
	SIM_ANSWERS,
};

/* What a window has, from 0 on. */
struct sim_found {
	uint64_t frames, bytes;
};

/* What a frame says of itself. */
struct sim_frame {
	uint64_t timestamp, sequence;
	uint64_t key;  /* of its stream */
	uint32_t link; /* that has the key; SIM_NONE: none */
	/* And what that shows of the link's stream, once it was looked at: */
	uint32_t faults; /* bits 1 << enum weir_base_line_fault */
	uint64_t missing;
};

/* A frame whose time is doubted. */
struct sim_doubted {
	struct sim_frame frame;
	uint32_t packet;
	bool is_behind; /* the newest one */
};

/*
 * A buffer by timestamps: that of weir run (lib/readout/buffer/buffer_private.h says how it works), without frames. Times of the buffer do not
 * wrap: timestamp = time + origin. Positions [tail, end) of a ring may have frames; with a step each has that of its time.
 */
struct sim_timed {
	uint64_t origin;
	uint64_t newest_at; /* 0: there was none yet */
	uint64_t start_at, over_at, evicted_at;
	uint64_t tail, end;
	uint64_t *ats;       /* 0: none is there */
	uint64_t *sequences; /* ordered */
	uint32_t *bytes;     /* of frames */
	uint64_t nb;         /* frames there */
	struct sim_doubted doubted[WEIR_BASE_CONFIRM_MAX];
	uint32_t nb_doubted;
};

/* Why a frame did not get into a buffer, or came to none. */
enum sim_link_drop {
	SIM_LINK_WRONG_SIZE,
	SIM_LINK_DUPLICATE,
	SIM_LINK_SLOT_TAKEN,
	SIM_LINK_TOO_LATE,
	SIM_LINK_FAR_OFF,
	SIM_LINK_NO_MEMORY,
	SIM_LINK_PROCESSED,
	SIM_LINK_DROPS,
};

struct sim_link {
	/* Of an emulated one: */
	uint64_t next;           /* number of its next frame */
	uint64_t due_ps;         /* when that comes */
	uint32_t withheld;       /* packet that comes after later ones; SIM_NONE: none */
	uint64_t withheld_until; /* number of the one that it comes after */
	struct weir_sim_random faults;
	uint64_t jumped_ticks;
	/* What is checked of frames that say what they are: */
	struct weir_base_line line;
	uint64_t seen[WEIR_BASE_LINE_NB_FAULTS], missing;
	/* Its buffer: */
	struct sim_timed *timed; /* NULL: by numbers */
	uint64_t *there;         /* bits of numbers */
	bool has_begun;
	uint64_t first, newest; /* numbers */
	struct weir_sim_level buffered;
	uint64_t buffered_at_start;
	uint64_t received, stored, late, expired, evicted, jumps;
	uint64_t dropped[SIM_LINK_DROPS];
	uint32_t waiting; /* fragments that wait for time to go on: first and last of a list */
	uint32_t waiting_last;
	uint64_t *
		log; /* numbers of frames, as they came to it, or their times; NULL: nobody follows it */
	uint64_t log_end;
};

/* Who finds hits. */
struct sim_finder {
	struct weir_sim_random random;
	double carry; /* part of one that was drawn so far */
};

/* Frames of a job. */
struct sim_batch {
	uint64_t *frames; /* numbers */
	uint32_t nb, nb_seen;
	uint32_t next; /* that is free */
};

/* Who looks at frames in a buffer, one after the other as they came to it. */
struct sim_follower {
	uint64_t next;  /* of the link's log: all before were looked at, or missed */
	uint32_t burst; /* of this look, that it is not done with */
	bool has_frame; /* it looks at one */
	uint64_t received, passed, dropped, missed;
	struct weir_sim_random drops;
	struct weir_sim_level waiting; /* frames, with what is looked at */
	uint64_t waiting_at_start;
	/* Of one that does it in jobs: */
	struct sim_batch *batches;
	uint64_t *frames; /* of all batches */
	uint32_t free;    /* batch: first of a list */
	uint64_t jobs, jobs_full;
	uint64_t inside, inside_at_start; /* frames in jobs */
};

/* Where a link of a request was when the one that leads it stood still. */
struct sim_mark {
	bool is_set;
	uint64_t at, lead_at; /* ticks */
};

struct sim_request {
	uint32_t lead; /* number of the link, among its own, whose time it goes by */
	bool has_begun;
	uint64_t first;  /* tick that the first window begins with */
	uint64_t number; /* of the next window */
	uint64_t windows, skipped, restarts;
	uint64_t asked, answered[SIM_ANSWERS], refused; /* fragments */
	uint64_t frames, bytes;                         /* in them */
	uint64_t waiting, waiting_at_start;             /* fragments */
	struct weir_sim_tally latency_ps;
};

/* What a link has of a window that is still to come in part. */
struct sim_fragment {
	uint64_t begin, end; /* ticks */
	uint64_t asked_ps;
	uint32_t request, link;
	uint32_t next; /* that waits for the link, or is free */
	bool waits;    /* else it was answered, and is free when its time is over */
};

struct sim_fragments {
	struct sim_fragment *all;
	uint32_t nb, room, free;
	uint32_t waiting;
};

/* Take memory. @return false: there is none */
bool sim_links_init(struct sim *sim, uint64_t seed, unsigned int replication);
void sim_links_free(struct sim *sim);
/* Forget what was counted up to now. */
void sim_links_restart(struct sim *sim);
/* Account for what is under way, and find the law that is broken. */
void sim_links_check(struct sim *sim);

/* An emulated stream begins; its next frame is due. */
void sim_frames_start(struct sim *sim, uint32_t stream);
void sim_frames_arrive(struct sim *sim, uint32_t stream);

/* The next frame of an emulated link, as it is made. */
struct sim_frame sim_fields_make(const struct sim *sim, uint32_t link);
/* Something is done to what it says; it is known to which link it comes then. */
void sim_fields_distort(struct sim *sim, uint32_t link, enum weir_base_fault kind, uint64_t amount,
	struct sim_frame *frame);
/* Who receives begins with a frame of a link that has functions. @return whether these look at it: it is not dropped before them */
bool sim_fields_look(struct sim *sim, uint32_t packet);
/* A frame comes to its link. @return false: it was dropped */
bool sim_fields_receive(struct sim *sim, uint32_t packet);
/* The link that a packet is a frame of; SIM_NONE: none. */
uint32_t sim_link_of(const struct sim *sim, uint32_t packet);
/* Is its size one that the link's frames have? */
bool sim_link_size_fits(const struct sim *sim, uint32_t link, uint32_t packet);
/* It does not get into the buffer. */
void sim_link_drop(struct sim *sim, uint32_t link, uint32_t packet, enum sim_link_drop reason);

/* @return false: no memory */
bool sim_timed_init(struct sim *sim, uint32_t link);
void sim_timed_free(struct sim_link *link);
/* A frame comes to the buffer. */
void sim_timed_put(struct sim *sim, uint32_t link, uint32_t packet);
/* Where frames that begin before are here, and from where on they can be; as timestamps. */
uint64_t sim_timed_now(const struct sim *sim, uint32_t link);
uint64_t sim_timed_oldest(const struct sim *sim, uint32_t link);
/* Is a frame of this time of the buffer there? */
bool sim_timed_has(const struct sim *sim, uint32_t link, uint64_t at);
/* Frames that are there, one by one. */
uint64_t sim_timed_count(const struct sim *sim, uint32_t link);
/* Has time come to this? */
bool sim_timed_reached(const struct sim *sim, uint32_t link, uint64_t timestamp);
/* What there is of so many ticks from a timestamp on. */
enum sim_answer sim_timed_look_up(const struct sim *sim, uint32_t link, uint64_t begin,
	uint64_t ticks, struct sim_found *found);

/* A packet was received, and looked at by functions: it goes to its link's queue, or to its buffer. */
void sim_link_receive(struct sim *sim, uint32_t packet);
/* Likewise in no time: functions look at it now. */
void sim_link_receive_now(struct sim *sim, uint32_t packet);
/* A packet comes to the buffer of its link, if it is of one; else it leaves. */
void sim_link_put(struct sim *sim, uint32_t packet);
/* The timestamp that a number stands for. */
uint64_t sim_link_ticks(const struct sim *sim, uint32_t link, uint64_t number);
/* The least number that is not in the buffer's past. */
uint64_t sim_link_oldest(const struct sim *sim, uint32_t link);
/* Of [begin, end), which is within the buffer's time, how many frames are there. */
uint64_t sim_link_count(const struct sim *sim, uint32_t link, uint64_t begin, uint64_t end);

bool sim_hits_init(struct sim *sim, uint64_t seed, unsigned int replication);
/* In a frame that begins with this timestamp. */
void sim_hits_find(struct sim *sim, uint32_t finder, uint64_t timestamp);

bool sim_functions_init(struct sim *sim, uint64_t seed, unsigned int replication);
/* Functions before its buffer begin with a frame, or with all of a vector; with none that is dropped before them. @return their cycles */
double sim_functions_look(struct sim *sim, uint32_t packet);
double sim_functions_look_at_all(struct sim *sim, const struct sim_vector *vector);
/* They are done with one that they have looked at. @return false: one has dropped it */
bool sim_functions_pass(struct sim *sim, uint32_t link, uint32_t packet);

/* What a frame says that the log has. */
uint64_t sim_link_timestamp(const struct sim *sim, uint32_t link, uint64_t number);
/* Is a frame in its link's buffer? */
bool sim_link_has(const struct sim *sim, uint32_t link, uint64_t number);

/* A frame has come to the buffer of a link, which is followed. */
void sim_followers_tell(struct sim *sim, uint32_t link, uint64_t number);
/* Has a thread frames to look at? */
bool sim_followers_have_work(const struct sim *sim, uint32_t worker);
/* It looks at the buffer of its place. @return whether that takes time */
bool sim_follower_look(struct sim *sim, uint32_t worker);
/* It is done with what it looked at. */
void sim_follower_event(struct sim *sim, uint32_t worker);
/* What a frame of a job takes on a core. */
uint64_t sim_job_frame_ps(const struct sim *sim, uint32_t packet, uint32_t core);
/* It is done. @return whether the job has more */
bool sim_job_frame_done(struct sim *sim, uint32_t packet);
/* A job is over, with all of its batch. */
void sim_job_over(struct sim *sim, uint32_t follower, uint32_t batch);
/* May it take frames that wait? */
bool sim_follower_may_take(const struct sim *sim, uint32_t follower);
/* @return SIM_NONE: as many jobs are out as may be */
uint32_t sim_follower_take_batch(struct sim *sim, uint32_t follower);
void sim_batch_add(struct sim_follower *follower, uint32_t batch, uint64_t number);
/* A job gets a batch, unless that is empty. */
void sim_follower_begin_job(struct sim *sim, uint32_t follower, uint32_t batch);
/* It has looked at so many frames, and lets some pass. */
void sim_follower_looked(struct sim *sim, uint32_t follower, uint32_t nb);
/* Take memory. @return false: there is none */
bool sim_followers_init(struct sim *sim, uint64_t seed, unsigned int replication);
void sim_followers_free(struct sim *sim);
void sim_followers_restart(struct sim *sim);
void sim_followers_check(struct sim *sim);

/* A link's time has gone on. */
void sim_requests_look(struct sim *sim, uint32_t link);
void sim_fragment_times_out(struct sim *sim, uint32_t fragment);

#pragma GCC visibility pop

#endif
