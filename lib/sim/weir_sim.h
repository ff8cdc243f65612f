/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_SIM_H
#define WEIR_SIM_H

/**
 * @file
 * A discrete-event simulator of packet-processing systems: what arrives (traffic), what is done (application), what it
 * runs on (platform), and what comes of it.
 *
 * A model is read from a description file (weir_sim_model_read()) and run (weir_sim_run()), as many times as is asked
 * for, each time with other random numbers. What each replication has seen of a quantity is in a table of doubles, a
 * row per replication (or per batch of one) and a column per *metric*.
 *
 * Time is an integer number of picoseconds, up to 2^63 (106 days). Events of one time happen in the order of their
 * priorities, then in that in which they were scheduled: a run is the same whenever it is repeated. Its *fingerprint*,
 * taken over all events, is the same for the same model and seed on every machine, whatever it was compiled with.
 *
 * Each run checks itself: what came in is what left, was dropped or is still there; what was inside over time is what
 * packets spent inside (Little's law); how long cores were busy is how long packets were worked on (utilisation law).
 * All three are sums of integers that were taken in different places, and must agree exactly.
 *
 * Threads: a document belongs to one at a time, also while a model is read of it; any number of them may run a model
 * that was read, and ask of it. Errors: 0 or a negative errno. Needs no DPDK.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir_base_doc.h"
#include "weir_sim_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_sim_model; /* immutable once read: any number of threads may run it */

/**
 * Vocabulary of what the simulator reads: a whole file (traffic, application, platform, run), and its sections for
 * vocabularies that hold more.
 */
extern const struct weir_base_doc_section weir_sim_doc_root;
/** A part of a model, of which there may be many: one of `models`, and what a file of one holds. */
extern const struct weir_base_doc_section weir_sim_doc_part;
/** One of `traffic.streams`. */
extern const struct weir_base_doc_section weir_sim_doc_stream;
/** One of the `steps` of `application.objects`. */
extern const struct weir_base_doc_section weir_sim_doc_step;
/** One of `platform.cores`. */
extern const struct weir_base_doc_section weir_sim_doc_cores;
/** `platform.dispatch`. */
extern const struct weir_base_doc_section weir_sim_doc_dispatch;
/** One of `platform.memories`. */
extern const struct weir_base_doc_section weir_sim_doc_memory;
/** One of `platform.units`. */
extern const struct weir_base_doc_section weir_sim_doc_unit;
/** One of `application.nodes`, as it is read to be run. */
extern const struct weir_base_doc_section weir_sim_doc_node;
/** One of `platform.ports`, likewise. */
extern const struct weir_base_doc_section weir_sim_doc_port;
/** One of `platform.workers`, likewise. */
extern const struct weir_base_doc_section weir_sim_doc_worker;
/** One of `platform.receivers`, likewise. */
extern const struct weir_base_doc_section weir_sim_doc_receiver;
/** `platform.scheduler`, likewise. */
extern const struct weir_base_doc_section weir_sim_doc_scheduler;
/** `platform.costs`. */
extern const struct weir_base_doc_section weir_sim_doc_costs;
/** `run.simulation`. */
extern const struct weir_base_doc_section weir_sim_doc_simulation;

/** @name Rows that sections of a vocabulary that holds more have in common with the simulator's: see WEIR_BASE_DOC_ROWS_OF(). */
/**@{*/
extern const struct weir_base_doc_section weir_sim_doc_application_rows; /**< of `application` */
extern const struct weir_base_doc_section
	weir_sim_doc_window_rows; /**< of `application`: windows of time that links are asked for */
extern const struct weir_base_doc_section
	weir_sim_doc_queue_rows; /**< of one of `application.queues` */
extern const struct weir_base_doc_section
	weir_sim_doc_object_rows; /**< of one of `application.objects` */
extern const struct weir_base_doc_section
	weir_sim_doc_link_rows; /**< of one of `application.links` */
extern const struct weir_base_doc_section weir_sim_doc_buffer_rows; /**< of the buffer of a link */
extern const struct weir_base_doc_section
	weir_sim_doc_process_rows; /**< of one of `application.processes` */
extern const struct weir_base_doc_section
	weir_sim_doc_process_job_rows; /**< likewise, of what runs as jobs */
extern const struct weir_base_doc_section weir_sim_doc_platform_rows; /**< of `platform` */
extern const struct weir_base_doc_section weir_sim_doc_traffic_rows;  /**< of `traffic` */
extern const struct weir_base_doc_section weir_sim_doc_run_rows;      /**< of `run` */
/**@}*/

/**
 * Make a model of a document that was loaded without errors. What is wrong with it as a model (a queue that nobody
 * serves, a group without cores ...) is added to the document's errors, each at its place.
 *
 * @param doc  not needed any more once the model is freed; names point into it
 * @return NULL if the document has errors then, or out of memory (without errors)
 */
struct weir_sim_model *weir_sim_model_read(struct weir_base_doc *doc);

/** Free a model. NULL is allowed. */
void weir_sim_model_free(struct weir_sim_model *model);

/** What a metric is of. */
enum weir_sim_scope {
	WEIR_SIM_STREAM,  /**< a stream of traffic */
	WEIR_SIM_QUEUE,   /**< a queue, and the stage that it begins: until its object is done */
	WEIR_SIM_CORES,   /**< a kind of cores, all of them together */
	WEIR_SIM_CORE,    /**< one core: "KIND.NUMBER", from 0 */
	WEIR_SIM_UNIT,    /**< a unit */
	WEIR_SIM_DROP,    /**< what a stream lost for a reason: "STREAM: REASON" */
	WEIR_SIM_PROBE,   /**< a probe: a level over time, or the ns between packets on an edge */
	WEIR_SIM_MEMORY,  /**< a level of a memory: "MEMORY.LEVEL" */
	WEIR_SIM_RING,    /**< a ring of a port: "PORT.QUEUE.rx_ring", "PORT.QUEUE.tx_ring" */
	WEIR_SIM_WORKER,  /**< a worker that walks a graph: "worker-0" */
	WEIR_SIM_NODE,    /**< a node of a graph, of all workers */
	WEIR_SIM_JOB,     /**< a node whose packets are worked on in jobs */
	WEIR_SIM_LINK,    /**< a link of a readout, and its buffer: "wib-0" */
	WEIR_SIM_REQUEST, /**< windows that links are asked for */
	WEIR_SIM_PROCESS, /**< a function on a link's frames, after its buffer: "LINK PROCESS" */
};

/**
 * What results of a scope are called: "streams", "queues", "cores", "each_core", "units", "drops", "probes", "memories",
 * "rings", "workers", "nodes", "jobs", "links", "requests", "processes". NULL: there is no such scope.
 */
const char *weir_sim_scope_name(enum weir_sim_scope scope);

/** A quantity that every replication tells. */
struct weir_sim_metric {
	enum weir_sim_scope scope; /**< of what kind of thing */
	unsigned int object; /**< which, as they stand in the file, from 0; behind them, arrays */
	const char *name; /**< its name in the file; "blade.*.work": of all instances in an array */
	const char *quantity; /**< such as "latency_mean_ns" */
};

/** The metrics of a model, in the order of columns. Owned by the model. */
const struct weir_sim_metric *weir_sim_model_metrics(
	const struct weir_sim_model *model, unsigned int *nb_metrics);

/** Column of a metric, by the name of its thing and of its quantity; -1: there is none. */
int weir_sim_model_metric_find(const struct weir_sim_model *model, enum weir_sim_scope scope,
	const char *name, const char *quantity);

/** How far a run has come; see struct weir_sim_param. */
struct weir_sim_progress {
	unsigned int replication; /**< how many are finished */
	unsigned int
		nb_replications; /**< how many there will be; with a precision to reach: as it looks now */
	uint64_t events;         /**< of those, and of the one that tells */
	uint64_t now_ps;         /**< simulated time of the one that tells */
	double done;             /**< part of all that is to be done, 0 to 1 */
};

/** How a model is run. */
struct weir_sim_param {
	uint64_t seed;                /**< of all random streams */
	unsigned int nb_replications; /**< 1 or more; with precision: the least */
	uint64_t warmup_ps;           /**< what happens before is left out of statistics */
	/**
	 * The warm-up is found (MSER-5, from how many packets are inside over time in the first replications, up to five, which are
	 * run for that): warmup_ps is not looked at.
	 */
	bool finds_warmup;
	uint64_t
		duration_ps; /**< end of each replication, warm-up included; above warmup_ps, at most 2^62 */
	uint64_t
		nb_packets; /**< or its end when so many have left or were dropped after the warm-up; 0: no such end */
	uint32_t nb_inside_max; /**< most packets inside at a time, up to 2^31; 0: 2^31 */
	double confidence;      /**< of intervals, such as 0.95 */
	/**
	 * Batch means: what is counted of a replication is cut into so many parts of the same length (or of the same number
	 * of packets, where those end it; what is no whole one then is left out), and each part is a sample. They are as
	 * good as independent if they are long beside what the system remembers. 0 and 1: a replication is one sample.
	 */
	unsigned int nb_batches;
	/**
	 * Above 0: more replications are run until the half width of the confidence interval of precision_metric is at most
	 * this part of its mean, or there are nb_replications_max. At least nb_replications and 10 are run before that is
	 * looked at, then again whenever there are a sixteenth more; which of them count does not depend on nb_threads.
	 */
	double precision;
	unsigned int precision_metric;    /**< column */
	unsigned int nb_replications_max; /**< see precision */
	unsigned int
		nb_threads; /**< how many replications run at a time; 0 and 1: one, by the caller */
	/** Called now and then by any of the threads, one at a time; false ends the run. NULL: not called. */
	bool (*progress)(void *arg, const struct weir_sim_progress *progress);
	void *arg; /**< for progress */
};

/** Parameters as the file's `run` has them, with its defaults. */
void weir_sim_model_param(const struct weir_sim_model *model, struct weir_sim_param *param);

/** What became of one replication. */
struct weir_sim_replication {
	uint64_t fingerprint; /**< over all its events */
	uint64_t events;      /**< how many */
	uint64_t end_ps;      /**< simulated time at its end */
	const char *
		broken; /**< what does not hold of it, in words, until the result is freed; NULL: all is well */
	bool is_models_fault; /**< that is the model's fault, or its discipline's; else the simulator's */
};

/** What came of a run. */
struct weir_sim_result {
	unsigned int nb_replications;              /**< finished ones */
	unsigned int nb_rows;                      /**< samples: batches of all of them */
	unsigned int nb_metrics;                   /**< columns */
	struct weir_sim_replication *replications; /**< what became of each */
	char *fault; /**< words of the one whose model goes wrong, or NULL */
	char *error; /**< of -EIO: what could not be written, in words; else NULL */
	const struct weir_base_doc_value *error_at; /**< where the document names it */
	double *values; /**< nb_rows rows of nb_metrics; NaN: there was nothing to measure, as no packet left */
	uint64_t fingerprint; /**< over all replications, in their order */
	uint64_t events;      /**< of all replications */
	/** progress() ended it; what it has is of whole replications. Traces that do not come to their end were told of. */
	bool interrupted;
	bool is_precise;    /**< the precision that was asked for is reached */
	uint64_t warmup_ps; /**< that was left out of each replication */
	bool has_no_steady_end; /**< finds_warmup: they are too short to tell where it ends; half was left out */
};

/**
 * Run a model.
 *
 * @param[out] result  to be freed by weir_sim_result_free(), whatever is returned
 * @return 0; -EINVAL: @p param is none, -ENOMEM; -EIO: a probe's trace cannot be written, which the result tells; -EOVERFLOW: a
 *   replication has gone beyond nb_inside_max: more come than are served, or packets fork without an end
 */
int weir_sim_run(const struct weir_sim_model *model, const struct weir_sim_param *param,
	struct weir_sim_result *result);

/** Free what a run has left. */
void weir_sim_result_free(struct weir_sim_result *result);

/** The estimate of metric @p column over all rows of a result. */
struct weir_sim_estimate weir_sim_result_estimate(
	const struct weir_sim_result *result, unsigned int column, double confidence);

#ifdef __cplusplus
}
#endif

#endif
