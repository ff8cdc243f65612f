/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_PROCESS_H
#define WEIR_APP_LINKS_PROCESS_H

/**
 * @file
 * What is done with the frames of a run's links: before their buffers by who receives them; after these by threads, one for each
 * process, which look at frames themselves or have jobs do that.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <weir_bridge_follower.h>
#include <weir_bridge_process.h>
#include <weir_readout_ctl.h>
#include <weir_readout_hit_finder.h>

#include "config_links.h"
#include "links_thread.h"

struct config;
struct em_run;
struct links_run;

/** Names, in the registry and on the control socket, of what belongs to a process on a link: "wib-0 finder". */
#define LINKS_WORK_NAME_SIZE (WEIR_BASE_LINK_NAME_SIZE + WEIR_BASE_PROCESS_NAME_MAX + 1)

#define LINKS_PROCESS_SINK_SIZE                                                                    \
	(WEIR_BASE_LINK_NAME_SIZE + 16) /**< of the name of where messages go */

/** A process on one link. */
struct links_work {
	const struct config_process *config;
	uint32_t link; /**< number */
	char link_name[WEIR_BASE_LINK_NAME_SIZE];
	char name[LINKS_WORK_NAME_SIZE];
	const struct weir_bridge_process_type *type; /**< of a plug-in; NULL: the hit finder */
	struct weir_readout_hit_finder *finder;      /**< or NULL */
	void *context;                               /**< a plug-in's */
	bool has_context;                            /**< it was made */
	struct weir_readout_source *output;     /**< of messages, or NULL; a finder's is its own */
	struct weir_readout_process process;    /**< what runs */
	struct weir_readout_follower *follower; /**< in a thread; or NULL */
	struct weir_bridge_follower *jobs;      /**< in jobs; or NULL */
	struct weir_bridge_follower_stats counts;   /**< of the last look: of either */
	struct weir_readout_hit_finder_stats found; /**< of the last look: of a finder */
	struct weir_readout_source_stats sent;      /**< of the last look: of the output */
};

/** A process. */
struct links_process {
	const struct config_process *config;
	struct links_run *run;
	struct links_thread thread;                  /**< after the buffer: who polls */
	const struct weir_bridge_process_type *type; /**< NULL: the hit finder */
	struct links_work *list;                     /**< as many as it has links */
};

/** Type of what it sends; NULL: nothing. */
static inline const struct weir_readout_type *
links_process_output(const struct links_process *process)
{
	return process->type != NULL ? process->type->output : &weir_readout_hit_type;
}

/** Name in the registry of where messages for link @p to come together. @return @p name */
const char *links_process_sink(const struct config_link *to, char name[LINKS_PROCESS_SINK_SIZE]);

/** All of them. */
struct links_processes {
	struct links_process *list;
	unsigned int nb;
	bool over;      /**< nothing comes, and nothing waits, any more; atomic */
	bool abandoned; /**< what still waits is left; atomic */
	bool no_jobs;   /**< those who run jobs have ended; atomic */
};

/** Make room for them, and load plug-ins; before links are made. @return 0, or a negative errno with the reason in the document */
int links_processes_open(struct links_run *run, struct config *config);

/**
 * Make what looks at frames of a link before its buffer.
 *
 * @param[out] processes  WEIR_READOUT_PROCESSES_MAX of them, for the link's configuration
 * @param[out] nb         how many
 * @return 0, or a negative errno with the reason in the document
 */
int links_processes_inline(struct links_run *run, struct config *config, uint32_t number,
	struct weir_readout_process *processes, uint32_t *nb);

/** Make what looks at frames after buffers, which are there. @return 0, or a negative errno with the reason in the document */
int links_processes_follow(struct links_run *run, struct config *config, const struct em_run *em);

/** Begin. @return 0, or a negative errno, with the reason in the document where it is a CPU */
int links_processes_start(struct links_run *run, struct config *config);

/** Have they seen all frames that are in buffers, and sent what they make of these? Nobody puts any into buffers meanwhile. */
bool links_processes_are_idle(const struct links_run *run);

/** End their threads. By the thread that feeds links, or, where that never began, by who starts it. */
void links_processes_end(struct links_run *run);

/** Leave what waits. Any thread. */
void links_processes_abandon(struct links_run *run);

/** Free them; nothing feeds links any more, and jobs are stopped. Before what they send to, and before buffers. */
void links_processes_close(struct links_run *run);

/** Copy counters, together with those of the links of a feeder. */
void links_processes_look(struct links_run *run, unsigned int feeder);

/** Name of reason @p number of a function to drop a frame, as counters have it; NULL beyond the last. Valid until the next call of this thread. */
const char *links_process_drop_name(const struct weir_readout_process *process, uint32_t number);

/** Counters of one that follows a buffer. Any thread. */
void links_work_count(struct links_work *work, struct weir_bridge_follower_stats *counts);

/** As counted at the last look. @param finished  nothing moves any more @param[in,out] adds_up  false where any sum does not agree */
json_t *links_processes_json(
	const struct links_run *run, const struct config *config, bool finished, bool *adds_up);

/** What the control socket shows of them. @return how many */
unsigned int links_processes_parts(
	const struct links_run *run, struct weir_readout_ctl_part *parts);

/** How many of these there are. */
unsigned int links_processes_nb_parts(const struct links_run *run);

#endif
