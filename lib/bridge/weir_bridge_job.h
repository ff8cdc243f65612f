/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BRIDGE_JOB_H
#define WEIR_BRIDGE_JOB_H

/**
 * @file
 * Where graphs meet jobs: a node that has long work done on packets, and brings them back.
 *
 *     ... -> job-NAME                                      sched_rx-OTHER -> ...
 *              |    \                                            ^
 *              |     '-> "drop": refused, jobs_full              |
 *              v                                                 |
 *           packets of a flow, in a row --> a job, one by one --> queue of the event machine
 *
 * Packets of one flow go through one job at a time, one after the other, in the order in which they came: so they leave in that order, too,
 * however long each takes, on whichever cores. Those of different flows are worked on at the same time. The job begins with the first packet of a flow, and ends when there
 * is none left. What comes out is sent to a queue, and from there into a graph, as all events are, in order if that queue is atomic or
 * ordered; while the scheduler takes none, the
 * job waits, and packets wait behind it; how many there may be in all is bounded, and who comes then is refused.
 *
 * What is done with a packet may take its time, sleep, wait (weir_job_wait.h ...): it is a job.
 *
 * Threads: nodes are made and deleted by one thread at a time, by none that walks a graph.
 * Errors: 0 or a negative errno with a reason in the log under "bridge".
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_bridge.h"
#include "weir_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Layout of struct weir_bridge_job_type and struct weir_bridge_job_env. */
#define WEIR_BRIDGE_JOB_ABI_VERSION 1

/** Most flows that a node tells apart. */
#define WEIR_BRIDGE_JOB_FLOWS_MAX WEIR_BASE_JOB_FLOWS_MAX

/** What a plug-in is told when a node is made. Texts are valid for as long as it is there. */
struct weir_bridge_job_env {
	uint32_t abi_version;             /**< of the program: WEIR_BRIDGE_JOB_ABI_VERSION */
	uint32_t struct_size;             /**< as the program has it: what is beyond is not there */
	struct weir_em *em;               /**< the event machine */
	struct weir_job_service *service; /**< whose jobs they are */
	const char *name;                 /**< the node's */
	const char *argument;             /**< text of the description file, or NULL */
};

/** What becomes of a packet. */
enum weir_bridge_verdict {
	WEIR_BRIDGE_PASS,  /**< it goes on, in its turn */
	WEIR_BRIDGE_BLOCK, /**< it is dropped, and counted as such */
};

/**
 * What is done with packets. A plug-in's constant. Fill abi_version and struct_size with WEIR_BRIDGE_JOB_HEADER. Functions but process may
 * be NULL.
 */
struct weir_bridge_job_type {
	uint32_t abi_version; /**< WEIR_BRIDGE_JOB_ABI_VERSION of the plug-in's build */
	uint32_t struct_size; /**< sizeof(struct weir_bridge_job_type) of the plug-in's build */
	/** When the node is made: make a context. @return 0; a negative errno: there will be no node */
	int (*init)(const struct weir_bridge_job_env *env, void **context);
	/** When it is gone. */
	void (*fini)(void *context);
	/**
	 * In a job: work on a packet, which stays the node's. For packets of different flows it may run on several cores at a time, and it may give the core
	 * back (weir_coro_maybe_yield() and all waiting): another packet of the same flow is not begun before it has returned. When the job
	 * was cancelled it should return soon. Where it ends the job instead (weir_coro_exit()), the packet is dropped, and counted as nb_exited, or
	 * nb_cancelled if the job had been cancelled; those behind it go on in another job.
	 */
	enum weir_bridge_verdict (*process)(void *context, struct rte_mbuf *packet);
};

/** First two members of a struct weir_bridge_job_type initialiser. */
#define WEIR_BRIDGE_JOB_HEADER                                                                     \
	.abi_version = WEIR_BRIDGE_JOB_ABI_VERSION,                                                \
	.struct_size = sizeof(struct weir_bridge_job_type)

/** Work that is built in; names are weir_base_job_work_names. */
enum weir_bridge_job_builtin {
	WEIR_BRIDGE_JOB_COMPUTE, /**< computes for a time, and looks at its slice meanwhile */
	WEIR_BRIDGE_JOB_WAIT,    /**< sleeps for a time, as one that asks somebody else */
	WEIR_BRIDGE_JOB_BUILTINS
};

/** What a job node is to be. */
struct weir_bridge_job_param {
	const char *name;                 /**< the node is called "job-NAME", its jobs NAME */
	struct weir_em *em;               /**< the event machine */
	struct weir_job_service *service; /**< its jobs; kept until the node is deleted */
	const struct weir_bridge_job_type *type; /**< of a plug-in; NULL: built in */
	enum weir_bridge_job_builtin builtin;    /**< of those, which */
	uint64_t time_ns;                        /**< of those, how long for each packet */
	const char *argument;                    /**< for a plug-in, kept by the caller; or NULL */
	const weir_em_queue *
		queues; /**< where packets go after that: one, or several among which flows are spread; copied */
	unsigned int nb_queues;     /**< entries in queues, up to WEIR_BRIDGE_FLOWS_MAX */
	enum weir_bridge_flow flow; /**< what tells flows apart */
	unsigned int
		nb_flows; /**< how many are told apart, at most: each may have a job; 0: 1,024 */
	unsigned int nb_packets; /**< most packets inside; 0: 4,096 */
	/**
	 * When there are as many inside: wait until there is room, or weir_node_stop_waiting(). The core serves events meanwhile, if it
	 * can. Without, or where waiting would be for itself, packets are dropped as "jobs_full".
	 */
	bool wait;
	bool has_priority;              /**< priority is given; else the event machine's lowest */
	uint8_t priority;               /**< of its jobs */
	uint64_t slice_ns;              /**< their time slice; 0: the service's */
	weir_em_queue_group core_group; /**< whose cores they run on; WEIR_EM_NONE: any */
};

/** Counters of a job node. in = passed + blocked + closed + cancelled + exited + inside. */
struct weir_bridge_job_stats {
	uint64_t nb_in;        /**< packets taken */
	uint64_t nb_passed;    /**< sent to queues */
	uint64_t nb_blocked;   /**< dropped as the work's verdict was so */
	uint64_t nb_closed;    /**< dropped as the queue was gone */
	uint64_t nb_cancelled; /**< dropped as jobs were cancelled */
	uint64_t
		nb_exited; /**< dropped as the work on them ended their job; or on one before them, and no other job could be begun */
	uint64_t nb_inside;  /**< waiting, or worked on */
	uint64_t nb_refused; /**< not taken: jobs_full. Not in nb_in */
};

/**
 * Make a job node, to be led to by edges, with an execution object NAME and up to 16 queues of its own. In graphs, packets that are not taken go to its only edge, "drop", with the reason "jobs_full": there
 * are as many inside as there may be, or no job could be begun.
 *
 * @return its id; WEIR_GRAPH_NODE_INVALID with rte_errno: EINVAL, EEXIST, ENAMETOOLONG, ENOMEM, what init() said. To be deleted by
 *   weir_bridge_node_delete(), when its jobs are over: -EBUSY before that
 */
uint32_t weir_bridge_job_create(const struct weir_bridge_job_param *param);

/** Look at a job node. Any thread. @return 0; -ENOENT */
int weir_bridge_job_stats(uint32_t node, struct weir_bridge_job_stats *stats);

/**
 * Find work in a plug-in.
 *
 * @param path    of the shared object
 * @param symbol  of the constant
 * @param[out] why  what is wrong, for people, when NULL is returned; valid until the next call of this thread
 * @return NULL with rte_errno: ENOENT (no such file or symbol, or it cannot be loaded), EINVAL (another ABI, no process function, linked with libweir)
 */
const struct weir_bridge_job_type *weir_bridge_job_load(
	const char *path, const char *symbol, const char **why);

#ifdef __cplusplus
}
#endif

#endif
