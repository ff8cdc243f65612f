/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

/*
 * A model: what does not change while it runs. Things know each other by index.
 *
 *   doc_schema.c   the vocabulary
 *   doc_read.c     from a document to a model
 *   doc_check.c    what is wrong with it as a whole
 *   model.c        what the file's order becomes: lanes by priority, cores by group
 */

#include "weir_sim.h"
#include "weir_sim_random.h"

#pragma GCC visibility push(hidden)

#define SIM_NONE       UINT32_MAX
#define SIM_GROUPS_MAX 64    /* groups are bits of a word */
#define SIM_CORES_MAX  4096  /* of all kinds together */
#define SIM_LANES_MAX  65536 /* flows of all queues together */

enum sim_sizes {
	SIM_SIZES_FIXED,
	SIM_SIZES_UNIFORM,
	SIM_SIZES_IMIX,
	SIM_SIZES_EMPIRICAL,
	SIM_SIZES_CAPTURED, /* those of the packets that are replayed */
};

/* What makes the packets of a stream. */
enum sim_source_kind {
	SIM_SOURCE_STEADY, /* one source, all the time */
	SIM_SOURCE_ON_OFF, /* one source, whose clock stands still in every other phase */
	SIM_SOURCE_BURSTS, /* a source per burst */
	SIM_SOURCE_REPLAY, /* a capture */
};

/* Packets that were captured. */
struct model_capture {
	uint64_t *times_ps; /* since the first one */
	uint32_t *sizes;    /* bytes */
	uint32_t nb;
	uint64_t round_ps; /* when it begins again; 0: it does not */
};

struct model_stream {
	const struct weir_base_doc_value *value;
	const char *name;
	uint32_t queue;
	enum sim_source_kind source;
	struct weir_sim_dist interval;   /* ps */
	struct weir_sim_table intervals; /* ps; instead of it, when not empty */
	struct weir_sim_dist on, off;    /* ps, ON_OFF: how long the phases are */
	struct weir_sim_dist trigger,
		life;                 /* ps, BURSTS: from one to the next, and how long they live */
	struct model_capture capture; /* REPLAY */
	enum sim_sizes sizes;
	uint32_t size_min_bytes, size_max_bytes;
	struct weir_sim_table size_table; /* bytes */
	uint32_t nb_flows;
	bool is_zipf;
	struct weir_sim_zipf popularity; /* of flows, if they are not all alike */
	uint64_t start_ps, stop_ps;      /* stop: none at or after it */
	uint64_t count;                  /* 0: no limit */
};

/* As the choices of application.queues.*.type. */
enum model_queue_type {
	MODEL_ATOMIC,
	MODEL_PARALLEL,
	MODEL_ORDERED,
};

struct model_queue {
	const struct weir_base_doc_value *value;
	const char *name;
	enum model_queue_type type;
	uint32_t priority;
	uint32_t group;
	uint32_t capacity; /* SIM_NONE: no limit, as that many cannot be inside */
	uint32_t nb_flows; /* lanes: each is FCFS, and atomic by itself */
	uint32_t first_lane;
	uint32_t object; /* that serves it, or SIM_NONE */
	bool is_fed;     /* a stream or an object sends to it */
};

enum model_op {
	MODEL_CPU, /* amount + per_byte * size cycles of the core */
};

struct model_step {
	enum model_op op;
	struct weir_sim_dist amount; /* cycles */
	double per_byte;             /* cycles */
};

struct model_object {
	const struct weir_base_doc_value *value;
	const char *name;
	uint32_t first_step, nb_steps;
	uint32_t to; /* queue, or SIM_NONE: output */
};

struct model_cores {
	const struct weir_base_doc_value *value;
	const char *name;
	uint32_t first, count;
	double ps_per_cycle;
	uint64_t groups; /* bits */
};

struct weir_sim_model {
	struct weir_base_doc *doc;
	struct model_stream *streams;
	struct model_queue *queues;
	struct model_object *objects;
	struct model_step *steps;
	struct model_cores *cores; /* kinds */
	uint32_t nb_streams, nb_queues, nb_objects, nb_steps, nb_kinds;
	uint32_t nb_cores, nb_lanes;
	const char *groups[SIM_GROUPS_MAX];
	uint32_t nb_groups;

	/* Made by model.c. Lanes are numbered by priority, then as in the file. */
	uint32_t *lane_queue;        /* per lane */
	uint32_t *lane_priority_end; /* per lane: first lane of a lower priority */
	uint32_t *core_kind;         /* per core */
	uint32_t core_words, lane_words;
	uint64_t *group_cores; /* per group: bits of cores */
	uint64_t *kind_lanes;  /* per kind: bits of lanes that it serves */

	struct weir_sim_metric *metrics;
	unsigned int nb_metrics;
	struct weir_sim_param param;
};

/* Number the lanes and make the bits. @return 0, -ENOMEM */
int sim_model_finish(struct weir_sim_model *model);

/* What is wrong between things that are each well formed: errors are added to the document. */
void sim_doc_check(struct weir_sim_model *model);

/* Fill in model->metrics. @return 0, -ENOMEM */
int sim_metrics_make(struct weir_sim_model *model);

/* Reduced to 40 significant bits: the last bits of what was read from a file may depend on the machine. */
static inline double
sim_coarse(double x)
{
	const double high = x * 8193; /* Dekker's way to cut a number in two, 2^13 + 1 */

	return high - (high - x);
}

#pragma GCC visibility pop

#endif
