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

#include "model_graph.h"
#include "model_link.h"
#include "weir_sim.h"
#include "weir_sim_discipline.h"
#include "weir_sim_random.h"

#pragma GCC visibility push(hidden)

#define SIM_NONE        UINT32_MAX
#define SIM_PRIORITIES  8
#define SIM_GROUPS_MAX  4096  /* of cores */
#define SIM_CORES_MAX   4096  /* of all kinds together */
#define SIM_LANES_MAX   65536 /* flows of all queues together */
#define SIM_SERVERS_MAX 65536 /* of all units together */

#define SIM_PACKETS_MAX (UINT32_C(1) << 31) /* inside at a time */

#define SIM_TIME_END_PS (UINT64_C(1) << 62) /* nothing happens later */

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
	SIM_SOURCE_FRAMES, /* an emulated link */
	SIM_SOURCE_MADE,   /* of other packets, which say when */
};

/* Packets that were captured. */
struct model_capture {
	uint64_t *times_ps;         /* since the first one */
	uint32_t *sizes;            /* bytes */
	struct model_frame *frames; /* that they hold, of a link; else NULL */
	uint32_t nb, room;
	uint64_t round_ps; /* when it begins again; 0: it does not */
};

struct model_stream {
	const struct weir_base_doc_value *value;
	const char *name;
	char *made_name; /* of one that is not in the file; else NULL */
	uint32_t queue; /* or SIM_TO_PORT, SIM_TO_LINK; where the scheduler is limited SIM_TO_NEW */
	uint32_t first_flow;
	enum sim_source_kind source;
	struct weir_sim_dist interval;   /* ps */
	struct weir_sim_table intervals; /* ps; instead of it, when not empty */
	struct weir_sim_dist on, off;    /* ps, ON_OFF: how long the phases are */
	struct weir_sim_dist trigger,
		life;                 /* ps, BURSTS: from one to the next, and how long they live */
	struct model_capture capture; /* REPLAY */
	struct model_frames frames;   /* FRAMES */
	uint32_t link;                /* that it is, or SIM_NONE */
	uint32_t unit;                /* that it comes through, or SIM_NONE */
	uint32_t first_given;         /* attributes */
	uint32_t nb_given;
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

/* As they are called in the file, then that of a shared object. */
enum model_discipline {
	MODEL_FCFS,
	MODEL_LCFS,
	MODEL_SHORTEST,
	MODEL_LONGEST,
	MODEL_PRIORITY, /* only of units: queues have priorities among each other */
	MODEL_CUSTOM,
};

struct model_queue {
	const struct weir_base_doc_value *value;
	const char *name;
	enum model_queue_type type;
	uint32_t priority;
	uint32_t group;
	enum model_discipline discipline;
	const struct weir_sim_discipline *custom;
	uint32_t capacity; /* SIM_NONE: no limit, as that many cannot be inside */
	uint32_t reason;   /* of what finds it full */
	uint32_t nb_flows; /* lanes: each is FCFS, and atomic by itself */
	uint32_t first_lane;
	uint32_t object;    /* that serves it, or SIM_NONE */
	uint32_t node;      /* of the graph that does, or SIM_NONE */
	uint32_t job;       /* that its packets are worked on in, or are; SIM_NONE: none */
	uint32_t next;      /* of the graph: what that node does with its packets */
	bool is_of_workers; /* they run the steps of its object, as no other cores are in its group */
	bool is_fed;        /* a stream or an object sends to it */
	bool is_switched_to; /* steps do; what it has needs no object then */
};

/* Is a queue's discipline one that knows how long packets take? */
static inline bool
sim_orders_by_service(const struct model_queue *queue)
{
	return queue->discipline == MODEL_SHORTEST || queue->discipline == MODEL_LONGEST;
}

/* What a step does: with the core, or in no time. */
enum model_op {
	MODEL_CPU,    /* amount + per_byte * size cycles of the core */
	MODEL_MEMORY, /* amount accesses, and bytes, of memory number target */
	MODEL_USE,    /* unit number target works on it */
	MODEL_SET,    /* attribute number target becomes value */
	MODEL_FORK,   /* count parts of it go to each of several queues */
	MODEL_JUMP,   /* to step number target */
	MODEL_JOIN,   /* its parts have left; until then it has no core */
	MODEL_SWITCH, /* it leaves its flow for that of queue number target, where the core waits with it for its turn */
	MODEL_SEND,   /* to queue number target; that is the end of the object's work */
	MODEL_SPREAD, /* to one of several queues, likewise */
	MODEL_DROP,   /* for reason number target, likewise */
	MODEL_OUTPUT, /* it leaves, through unit number target unless that is SIM_NONE */
};

enum model_compare {
	MODEL_ALWAYS,
	MODEL_EQUAL,
	MODEL_NOT_EQUAL,
	MODEL_LESS,
	MODEL_AT_MOST,
	MODEL_MORE,
	MODEL_AT_LEAST,
};

/* What numbers of a packet are called, beside attributes by their number. */
#define MODEL_SIZE UINT32_MAX
#define MODEL_FLOW (UINT32_MAX - 1)

/* How a step chooses one of several queues, beside a number of the packet's. */
#define MODEL_CHANCE (UINT32_MAX - 2)

/* A number: drawn from a distribution, or 0, 1, 2 ... as probable as its weight. */
struct model_value {
	struct weir_sim_dist dist;
	uint32_t first_weight,
		nb_weights; /* of model->weights, which are sums: the last one is 1 */
};

/* Who finds hits in the frames of a link. */
struct model_finder {
	char *name;              /* "LINK PROCESS" */
	uint32_t stream;         /* whose packets they are */
	struct model_value hits; /* of a frame */
};

struct model_step {
	const struct weir_base_doc_value *value;
	enum model_op op;
	uint32_t target;
	struct model_value amount; /* cycles; of an attribute */
	double per_byte;           /* cycles */
	uint32_t times;            /* it takes so many times that; SIM_NONE: once */
	uint32_t count;            /* parts; bytes, MODEL_SIZE: all of the packet's */
	bool deschedule;           /* the core does not wait for it */
	uint32_t
		spread_by; /* SPREAD: MODEL_CHANCE, which is the amount, or a number of the packet's */
	uint32_t first_target, nb_targets; /* SPREAD, FORK: queues, of model->targets */
	bool is_conditional;               /* it may be skipped: */
	double probability;                /* not by chance */
	enum model_compare compare;
	uint32_t operand;
	double against;
};

/* What a stream's packets are given. */
struct model_given {
	uint32_t stream;
	uint32_t attribute;
	struct model_value value;
};

struct model_attribute {
	char *name;
	const struct weir_base_doc_value *used; /* where it is asked for first, or NULL */
	bool is_set;                            /* by a stream or a step */
};

/* Where a packet goes on to: a queue, or one of these. */
#define SIM_TO_OUTPUT SIM_NONE
#define SIM_TO_UNIT   UINT32_C(0x40000000) /* | unit */
#define SIM_TO_LANE   UINT32_C(0x20000000) /* | queue, with the core that it has */
#define SIM_TO_DROP   UINT32_C(0x80000000) /* | reason */
#define SIM_TO_PORT   UINT32_C(0x10000000) /* | port, whose receive ring it comes to */
#define SIM_TO_LINK   UINT32_C(0x08000000) /* | link, whose buffer it comes to */
#define SIM_TO_NEW    UINT32_C(0x04000000) /* | queue, which it comes to from outside */
#define SIM_TO_NODE                                                                                \
	UINT32_C(0x02000000) /* | node, along an edge of the graph; the lowest of these */

/* Servers that work on packets without a core: accelerators, I/O, links. */
struct model_unit {
	const struct weir_base_doc_value *value;
	const char *name;
	uint32_t nb_servers, first_server;
	uint32_t capacity, reason;
	struct weir_sim_dist delay, outlier; /* ps */
	double per_byte;                     /* ps */
	double outlier_probability;
	enum model_discipline discipline;
	const struct weir_sim_discipline *custom;
	uint32_t by; /* PRIORITY: number of the packet */
	bool preemptive;
	bool is_used;
};

struct model_object {
	const struct weir_base_doc_value *value;
	const char *name;
	uint32_t first_step,
		nb_steps; /* the last one, which the file does not name, goes to `to` */
	uint32_t to;      /* at the end of its steps */
};

struct model_cores {
	const struct weir_base_doc_value *value;
	const char *name;
	uint32_t first, count;
	double ps_per_cycle;
	uint64_t groups[SIM_GROUPS_MAX / 64]; /* bits */
	bool polls;
	uint64_t switch_ps; /* from queue to queue */
	uint64_t vector_ps; /* for a visit that finds something */
	uint32_t burst;     /* packets of one, at most */
	uint32_t worker;    /* that it is, or SIM_NONE */
};

/* As the choices of platform.memories.*.write_back. */
enum model_write_back {
	MODEL_WRITE_BACK_NEVER,
	MODEL_WRITE_BACK_DROPPED, /* not of packets that were transmitted */
	MODEL_WRITE_BACK_ALWAYS,
};

/* A memory that cores share: levels, the fastest and smallest first. */
struct model_memory {
	const struct weir_base_doc_value *value;
	const char *name;
	uint32_t first_level, nb_levels;
	uint32_t
		header; /* bytes of a packet that look for a place; the others are in the last level */
	enum model_write_back write_back;
	bool is_used;
};

struct model_level {
	char *name;        /* with that of its memory */
	uint64_t capacity; /* bytes */
	double latency;    /* ps */
	double per_byte;   /* ps */
	double contention; /* what each other user adds to the latency, as part of it */
};

/* How cores get packets. */
struct model_dispatch {
	bool preemptive;
	uint64_t latency_ps, interval_ps;
	uint64_t idle_sleep_ps, wake_ps; /* of who has nothing to do; 0: it does not sleep */
	bool is_delayed;                 /* any of these */
	bool is_weighted;
	int64_t weights[SIM_PRIORITIES];
	uint32_t bound;    /* so many of higher priority pass what waits; 0: any number */
	uint64_t slack_ps; /* what is of higher priority is left to who has its flow so long */
	bool is_lenient;   /* any of these two, with several priorities */
};

#define SIM_FROM_STREAM UINT32_C(0x80000000) /* | stream; else an object, or */
#define SIM_FROM_NODE   UINT32_C(0x40000000) /* | node of the graph */

enum model_probe_kind {
	MODEL_PROBE_QUEUE,   /* packets that wait in it */
	MODEL_PROBE_UNIT,    /* packets that wait for it */
	MODEL_PROBE_SERVERS, /* of a unit: busy ones */
	MODEL_PROBE_CORES,   /* of a kind: busy ones */
	MODEL_PROBE_STREAM,  /* packets inside */
	MODEL_PROBE_RING,    /* packets in a port's ring */
	MODEL_PROBE_EDGE,    /* packets that go from one to another */
};

struct model_probe {
	const char *name;
	enum model_probe_kind kind;
	uint32_t index;    /* of the queue, unit, kind or stream */
	uint32_t from, to; /* EDGE: an object or one of SIM_FROM; as of a packet */
	const char *trace; /* file, or NULL */
	const struct weir_base_doc_value *trace_at;
};

/* Does it begin at a node of the graph? */
static inline bool
sim_is_edge_of_nodes(const struct model_probe *probe)
{
	return probe->kind == MODEL_PROBE_EDGE && (probe->from & SIM_FROM_STREAM) == 0 &&
	       (probe->from & SIM_FROM_NODE) != 0;
}

#define SIM_SCOPES (WEIR_SIM_PROCESS + 1)

/* Of one kind: things that all instances in an array have one of. */
struct model_arrays {
	uint32_t *of; /* per thing: number of its array, or SIM_NONE */
	uint32_t nb_things, nb;
	uint32_t first; /* what the first one is told by has this place behind the things */
	char **names;   /* per array: blade.*.work */
};

struct weir_sim_model {
	struct weir_base_doc *doc;
	struct model_stream *streams;
	struct model_queue *queues;
	struct model_object *objects;
	struct model_step *steps;
	uint32_t *targets;         /* queues that steps spread packets over */
	struct model_cores *cores; /* kinds */
	struct model_unit *units;
	struct model_given *given; /* attributes, stream by stream */
	double *weights;
	struct model_memory *memories;
	struct model_level *levels;
	uint32_t nb_memories, nb_levels;
	bool has_forks;
	bool has_unknown_queue; /* a name of one is that of none, which was told */
	bool has_unknown_steps; /* likewise of a unit or a memory, or steps are missing */
	bool has_refused_graph; /* something is wrong with ports, workers or nodes, which was told */
	bool has_fields;        /* frames of some links say what they are */
	bool is_plain; /* packets are only themselves: no parts, no place in a memory, no credit */
	bool is_limited;    /* the scheduler takes what is new only while fewer are inside than: */
	bool limit_is_said; /* by the file; else it is that of a program that runs */
	uint32_t threshold;
	uint32_t full_reason;     /* of what it does not take */
	bool may_deadlock;        /* packets join others, or wait for flows with their cores */
	struct model_graph graph; /* without workers, if there is none */
	struct model_link *links;
	struct model_fault *faults;
	struct model_request *requests;
	uint32_t *asked;                  /* links, request by request */
	struct model_function *functions; /* before buffers */
	struct model_process *processes;  /* after buffers */
	struct model_follower *followers;
	struct model_finder *finders;
	uint32_t nb_links, nb_faults, nb_requests, nb_asked;
	uint32_t nb_functions, nb_processes, nb_followers, nb_finders;
	uint32_t nb_fragments; /* that may wait at a time; 0: any number */
	struct model_dispatch dispatch;
	struct model_attribute *attributes;
	char **reasons; /* of drops */
	struct model_probe *probes;
	uint32_t nb_probes, nb_edges;
	uint32_t nb_streams, nb_queues, nb_objects, nb_steps, nb_kinds, nb_units;
	uint32_t nb_given, nb_targets, nb_weights, nb_attributes, nb_reasons;
	uint32_t nb_cores, nb_lanes, nb_servers;
	const char *groups[SIM_GROUPS_MAX];
	uint32_t nb_groups;

	/* Made by model.c. Lanes are numbered by priority, then as in the file. */
	uint32_t *lane_queue;        /* per lane */
	uint32_t *lane_priority_end; /* per lane: first lane of a lower priority */
	uint32_t *lane_core; /* per lane: whose it is, where priorities have slack; else NULL */
	uint32_t *core_kind; /* per core */
	uint32_t core_words, lane_words;
	uint64_t *group_cores; /* per group: bits of cores */
	uint64_t *kind_lanes;  /* per kind: bits of lanes that it serves */

	struct model_arrays arrays[SIM_SCOPES];
	char **pairs;      /* names of a stream and a reason */
	char **core_names; /* of each core */
	struct weir_sim_metric *metrics;
	unsigned int nb_metrics;
	struct weir_sim_param param;
};

/* Number the lanes and make the bits. @return 0, -ENOMEM */
int sim_model_finish(struct weir_sim_model *model);

/* What is wrong between things that are each well formed: errors are added to the document. @return 0, -ENOMEM */
int sim_doc_check(struct weir_sim_model *model);

/* Fill in model->metrics. @return 0, -ENOMEM */
int sim_metrics_make(struct weir_sim_model *model);

/* What has lengths over time: queues, then the rings of ports. */
static inline uint32_t
sim_model_lengths(const struct weir_sim_model *model)
{
	return model->nb_queues + model->graph.nb_rings;
}

/* Reduced to 40 significant bits: the last bits of what was read from a file may depend on the machine. */
static inline double
sim_coarse(double x)
{
	const double high = x * 8193; /* Dekker's way to cut a number in two, 2^13 + 1 */

	return high - (high - x);
}

/* Do cores of this kind serve the queues of a group? */
static inline bool
sim_serves(const struct model_cores *kind, uint32_t group)
{
	return kind->groups[group / 64] >> group % 64 & 1;
}

/* Do workers serve a queue? */
static inline bool
sim_is_of_workers(const struct model_queue *queue)
{
	return queue->node != SIM_NONE || queue->job != SIM_NONE || queue->is_of_workers;
}

/* Do cores of a kind serve a queue? Workers do those of the graph's nodes and of jobs, and those of objects whose groups no others are in. */
static inline bool
sim_serves_queue(const struct model_cores *kind, const struct model_queue *queue)
{
	return (kind->worker != SIM_NONE) == sim_is_of_workers(queue) &&
	       sim_serves(kind, queue->group);
}

/* So many ps, rounded; what is beyond all limits is very long. */
static inline uint64_t
sim_round_ps(double ps)
{
	return ps + 0.5 < (double)SIM_TIME_END_PS ? (uint64_t)(ps + 0.5) : SIM_TIME_END_PS;
}

#pragma GCC visibility pop

#endif
