/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_CONFIG_PROCESS_H
#define WEIR_APP_CONFIG_PROCESS_H

/**
 * @file
 * What a description file has done with the frames of links: functions before their buffers, and after these.
 */

#include <stdbool.h>
#include <stdint.h>

#include "schema.h"

struct config;
struct config_link;
struct config_links;

/** A function on frames. */
struct config_process {
	const struct weir_base_doc_value *value; /**< where it stands */
	const char *name;
	enum weir_base_where where;
	char *plugin;                    /**< path of a shared object; NULL: the hit finder */
	const char *symbol;              /**< in it */
	const char *argument;            /**< for a plug-in, or NULL */
	uint16_t threshold, max_samples; /**< of the hit finder */
	const struct config_link *to;    /**< whose frames are what it makes; NULL: nobody's */
	uint32_t *links;                 /**< numbers of those whose frames it gets */
	unsigned int nb_links;
	int cpu; /**< of its thread; -1: any */
	struct {
		uint32_t nb;        /**< at a time, for each link; 0: it runs in none */
		uint32_t nb_frames; /**< of one, at most */
		bool wait;          /**< frames for which there is none stay in the buffer */
		bool has_priority;  /**< it is in the file */
		uint8_t priority;
		uint64_t slice_ns;
		unsigned int group; /**< index into the event machine's groups */
	} jobs;
};

/** Read them, when links are known, and their keys `hits`; errors go to the document. @return 0, or -ENOMEM */
int config_read_processes(struct config *config);

/** What can only be checked when workers are known. */
void config_check_process_groups(struct config *config);

/** Free them. */
void config_free_processes(struct config_links *links);

/** Frames of one of these links that functions after the buffer may keep from being overwritten, all together. */
uint32_t config_link_pinned(const struct config_links *links, const struct config_link *link);

/** Do any run as jobs, for which there must be an event machine? */
bool config_processes_need_jobs(const struct config_links *links);

/** Most jobs that there may be of them at a time. */
unsigned int config_processes_nb_jobs(const struct config_links *links);

/** Do any run as jobs of that group of workers? */
bool config_processes_have_group(const struct config_links *links, unsigned int group);

#endif
