/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_CONFIG_EM_H
#define WEIR_APP_CONFIG_EM_H

/**
 * @file
 * The event machine of a description file: queues, objects, the nodes that join them to graphs, and the groups of workers.
 */

#include <weir_bridge_job.h>
#include <weir_bridge_object.h>

#include "schema.h"

struct config;

#define CONFIG_NONE (-1)

#define CONFIG_JOB_FLOWS    1024  /**< flows of a job node, unless told */
#define CONFIG_JOB_PACKETS  4096  /**< packets in it */
#define CONFIG_JOB_SLICE_NS 25000 /**< time slice */

/** Workers that serve queues. */
struct config_group {
	const char *name;
	uint64_t workers; /**< a bit for each worker */
};

/** A queue. */
struct config_queue {
	const struct weir_base_doc_value *value; /**< where it stands */
	const char *name;
	enum schema_queue_type type;
	uint8_t priority;
	unsigned int group;    /**< index into groups */
	unsigned int nb_flows; /**< at least 1 */
	int object;            /**< index of the object that has it, or CONFIG_NONE */
	int node;              /**< index of the sched_rx node that has it, or CONFIG_NONE */
	unsigned int edge;     /**< of that node */
};

/** An execution object. */
struct config_object {
	const struct weir_base_doc_value *value; /**< where it stands */
	const char *name;
	char *plugin;       /**< path of a shared object; NULL: built in */
	const char *symbol; /**< in it */
	enum weir_bridge_builtin builtin;
	int to; /**< index of a queue, or CONFIG_NONE */
	enum weir_bridge_flow flow;
	const char *argument; /**< or NULL */
};

/** What a node of type job has besides. */
struct config_job {
	char *plugin;       /**< path of a shared object; NULL: built in */
	const char *symbol; /**< in it */
	enum weir_bridge_job_builtin builtin;
	uint64_t time_ns;
	const char *argument; /**< or NULL */
	unsigned int nb_flows, nb_packets;
	bool has_priority; /**< it is in the file */
	uint8_t priority;
	uint64_t slice_ns;
	unsigned int group; /**< index into groups */
};

/** A node of type sched_rx, sched_tx or job. */
struct config_sched_node {
	const struct weir_base_doc_value *value; /**< where it stands */
	const char *name;
	bool is_rx, is_job;
	int queue; /**< of sched_tx and job: index */
	enum weir_bridge_flow flow;
	bool wait;
	struct config_job job;
};

/** All of it. */
struct config_em {
	struct config_group *groups; /**< the first one is "default" */
	unsigned int nb_groups;
	struct config_queue *queues;
	unsigned int nb_queues; /**< 0: there is no event machine */
	struct config_object *objects;
	unsigned int nb_objects;
	struct config_sched_node *nodes;
	unsigned int nb_nodes;
	bool is_bad; /**< there are errors in it: what it leads to cannot be known */
	const char *backend;
	uint32_t nb_events, nb_flows, nb_reserved, threshold, starvation_bound, priority_slack_ns,
		idle_sleep_us;
};

/** Read it, before workers are; errors go to the document. @return 0, or -ENOMEM */
int config_read_em(struct config *config, const struct weir_base_doc_value *platform);

/** What can only be checked when ports and workers are known; and defaults that depend on these. */
void config_check_em(struct config *config, const struct weir_base_doc_value *platform);

/** Free it. */
void config_free_em(struct config_em *em);

/** Index of a queue, or CONFIG_NONE. */
int config_queue_find(const struct config *config, const char *name);

/** The sched_rx, sched_tx or job node of that name among application.nodes, or NULL. */
const struct config_sched_node *config_sched_node_find(
	const struct config *config, const char *name);

/** Is there an event machine: are there queues, or jobs for frames of links? */
bool config_has_em(const struct config *config);

/** Is a worker in the group of any queue? */
bool config_worker_dispatches(const struct config *config, unsigned int worker);

/** Does a worker serve a sched_rx node? */
bool config_worker_has_node(const struct config *config, unsigned int worker, unsigned int node);

/** Does it serve any, so that it has a graph for events? */
bool config_worker_has_event_graph(const struct config *config, unsigned int worker);

/** The group of that name, made where there was none. @return 0, or -ENOMEM */
int config_take_group(struct config_em *em, const char *name, unsigned int *index);

/** PLUGIN.so:SYMBOL, beside the file that names it. @return 0, or -ENOMEM */
int config_read_plugin(const struct weir_base_doc_value *value, const char *text, char **plugin,
	const char **symbol);

/** Read what a job node has besides; errors go to the document. @return 0, or -ENOMEM */
int config_job_read(struct config *config, struct config_sched_node *node);

/** What can only be checked when workers are known. */
void config_job_check(struct config *config, const struct config_sched_node *node);

/** An error where no worker is in a group that jobs are to run in. @param value  has the key `group` */
void config_job_check_group(
	struct config *config, const struct weir_base_doc_value *value, unsigned int group);

/** Most jobs that there may be at a time; 0: no node has any. */
unsigned int config_nb_jobs(const struct config *config);

/** Are its jobs given a priority? Where there are several, the lowest, unless told. */
bool config_job_has_priority(const struct config *config, const struct config_job *job);

/** Does a worker run jobs? */
bool config_worker_has_jobs(const struct config *config, unsigned int worker);

#endif
