/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_DOC_READ_H
#define SIM_DOC_READ_H

/* The parts of weir_sim_model_read(). Each returns 0 or -ENOMEM; what is wrong is added to the document's errors. */

#include "frame_format.h"
#include "model.h"

#pragma GCC visibility push(hidden)

#define SIM_JOB_SLICE_PS UINT64_C(25000000) /* of jobs, as of a program that is run */

/* Before all: would a program that runs it refuse nothing of what is read, or left aside, here? */
bool sim_doc_is_in_order(struct weir_sim_model *model);
/* Before all that depends on its limit; and what of it does not go with the queues, after these. */
int sim_doc_read_scheduler(struct weir_sim_model *model, const struct weir_base_doc_value *root);
/* There are queues of its own all the same: it has a limit. */
int sim_doc_limit(struct weir_sim_model *model);
void sim_doc_check_scheduler(
	struct weir_sim_model *model, const struct weir_base_doc_value *scheduler);
/* Likewise, where it is an event device. */
void sim_doc_check_device(
	struct weir_sim_model *model, const struct weir_base_doc_value *scheduler);
/* What steps join. @return 0, -ENOMEM */
int sim_doc_check_joins(struct weir_sim_model *model);
int sim_doc_read_queues(struct weir_sim_model *model, const struct weir_base_doc_value *queues);
int sim_doc_read_objects(struct weir_sim_model *model, const struct weir_base_doc_value *objects);
/* Does the last step of an object always lead elsewhere, so that it never comes to its end? */
bool sim_doc_ends_elsewhere(const struct weir_sim_model *model, const struct model_object *object);
int sim_doc_read_cores(struct weir_sim_model *model, const struct weir_base_doc_value *cores);
int sim_doc_read_streams(struct weir_sim_model *model, const struct weir_base_doc_value *streams);
void sim_doc_read_run(struct weir_sim_model *model, const struct weir_base_doc_value *simulation);
/* Needs the model's metrics. */
void sim_doc_read_precision(
	struct weir_sim_model *model, const struct weir_base_doc_value *simulation);

/* Its interval, its phases or bursts, its capture. */
int sim_doc_read_arrivals(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream);

/* What a table is of. */
enum sim_doc_table {
	SIM_DOC_INTERVALS, /* ps */
	SIM_DOC_SIZES,     /* bytes */
};

/* The table in the file that @p value names. */
int sim_doc_read_table(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	enum sim_doc_table kind, struct weir_sim_table *table);

/* The packets in the capture that @p value names; times are divided by @p speed. */
int sim_doc_read_capture(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	double speed, bool repeat, struct model_capture *capture);

/* One more packet of it. @return 0; -ENOMEM; -EFBIG: those are too many, which was told at @p value */
int sim_doc_add_packet(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_capture *capture, uint64_t ps, uint32_t bytes);

/* The edge that a probe looks at. @param to  NULL: it is not named */
void sim_doc_read_edge(struct weir_sim_model *model, const struct weir_base_doc_value *from,
	const struct weir_base_doc_value *to, struct model_probe *probe);
/* After all that they may be of. */
int sim_doc_read_probes(struct weir_sim_model *model, const struct weir_base_doc_value *probes);

/* Ports, workers, the graph. Workers take cores, and must come after these. */
int sim_doc_read_graph(struct weir_sim_model *model, const struct weir_base_doc_value *root);
/* The kind of cores that a worker runs on; nb_kinds: there is none. */
uint32_t sim_doc_kind_of(
	const struct weir_sim_model *model, const struct model_worker *worker, uint32_t nb_kinds);
/* Queues of objects that the workers serve, of which the file names so many; and of these objects, steps that are not simulated there. */
int sim_doc_give_objects(struct weir_sim_model *model,
	const struct weir_base_doc_value *application, uint32_t nb_workers);
void sim_doc_check_given(struct weir_sim_model *model);
/* Is one of the file's workers in a group? */
bool sim_doc_is_in(const struct weir_base_doc_value *workers, const char *group);
/* A worker has nothing to do, and why. */
void sim_doc_tell_idle(struct weir_sim_model *model, const struct model_worker *worker,
	const struct weir_base_doc_value *at);
/* Its nodes and edges, with what they cost. */
int sim_doc_read_nodes(struct weir_sim_model *model, const struct weir_base_doc_value *application,
	const struct weir_base_doc_value *costs);
/* Is there a way out, wherever packets are? */
int sim_doc_check_circles(struct weir_sim_model *model, const struct weir_base_doc_value *costs);
/* After ports: those that links share; when it is known who polls them, whether they can. */
void sim_doc_read_shared(struct weir_sim_model *model, const struct weir_base_doc_value *root);
void sim_doc_check_shared(struct weir_sim_model *model);
/* The node that hands a link its frames; NULL: none does. And the port that a node receives from; SIM_NONE: none. */
const struct weir_base_doc_value *sim_doc_shared(
	const struct weir_base_doc_value *root, const struct weir_base_doc_value *link);
uint32_t sim_doc_shared_port(
	const struct weir_sim_model *model, const struct weir_base_doc_value *node);
/* The stream that replays a capture of what comes by such a port; SIM_NONE: there is none. */
uint32_t sim_doc_shared_capture(const struct weir_sim_model *model, uint32_t port);
/* After links: the frames of these captures are those of their links. */
int sim_doc_split_captures(
	struct weir_sim_model *model, const struct weir_base_doc_value *application);
/* What a node of the graph, which has costs, has to do with queues of events: a queue may be added. */
int sim_doc_read_events(struct weir_sim_model *model, const struct weir_base_doc_value *own,
	const struct weir_base_doc_value *costs, uint32_t node);
/* Is one of the file's nodes of no type, or does it bring in nothing, or what is not there? That is told. @param own  or NULL */
bool sim_doc_is_refused(const struct weir_sim_model *model, const struct weir_base_doc_value *own);
/* Is there a node whose queues, or whose jobs, the workers of a group serve? After the queues. */
bool sim_doc_has_events(const struct weir_sim_model *model, const struct weir_base_doc_value *nodes,
	const char *group);
/* Does a node drop packets that find no room, or wait for it? */
bool sim_doc_drops(const struct weir_sim_model *model, const struct weir_base_doc_value *own);
/* After ports: those of receivers, and how many threads poll them. */
int sim_doc_read_receivers(struct weir_sim_model *model, const struct weir_base_doc_value *root);
/* Their threads take their queues. @return the worker behind them; NULL: no memory */
struct model_worker *sim_doc_take_receivers(struct weir_sim_model *model);
/* What is emulated for a link, under its name; NULL: nothing is. */
const struct weir_base_doc_value *sim_doc_emulated(
	const struct weir_base_doc_value *root, const struct weir_base_doc_value *link);
/* What is replayed for it, likewise. */
const struct weir_base_doc_value *sim_doc_replayed(
	const struct weir_base_doc_value *root, const struct weir_base_doc_value *link);
/* May frames of this format be replayed for a link? @return false: this was refused */
bool sim_doc_check_replayed(struct weir_sim_model *model,
	const struct weir_base_doc_value *replayed, const struct weir_base_doc_value *link,
	const struct weir_base_format *format);
/* Do they say when they come, and how often? */
bool sim_doc_check_timed(struct weir_sim_model *model, const struct weir_base_doc_value *link,
	const struct weir_base_format *format);
/* What a stream replays by a port is frames of that format, as far as it is of links that share the port: then it is their streams'. */
int sim_doc_split_capture(
	struct weir_sim_model *model, uint32_t stream, const struct weir_base_format *format);
/* The frames of a file, to the links' streams from number @p first on; what is of no link is a stream behind all. */
int sim_doc_read_replayed(struct weir_sim_model *model, const struct weir_base_doc_value *replayed,
	const struct weir_base_format *format, uint32_t first);
/* What is done to frames, whose rate is known. */
int sim_doc_read_faults(struct weir_sim_model *model, const struct weir_base_doc_value *emulated,
	struct model_frames *frames);
/* What frames of links say of themselves, where something is done to some; before they are numbered. */
int sim_doc_read_fields(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	struct model_link *link);
/* After all streams: those of links. */
int sim_doc_read_links(struct weir_sim_model *model, const struct weir_base_doc_value *root);
/* Do functions make the frames of a link? */
bool sim_doc_is_made(
	const struct weir_base_doc_value *application, const struct weir_base_doc_value *link);
/* Is it said how many hits they are? */
bool sim_doc_has_hits(
	const struct weir_base_doc_value *root, const struct weir_base_doc_value *link);
/*
 * A process finds hits in a link's frames, as its costs say.
 * @param[out] finder  SIM_NONE: they do not say it
 */
int sim_doc_read_finder(struct weir_sim_model *model, const struct weir_base_doc_value *process,
	const char *name, const struct weir_base_doc_value *costs, uint32_t link, uint32_t *finder);
/* Functions that look at their frames. */
int sim_doc_read_processes(struct weir_sim_model *model, const struct weir_base_doc_value *root);
/* How many of these do that after buffers. */
uint32_t sim_doc_count_followers(const struct weir_base_doc_value *root);
/* Are there some in jobs, of a group of workers? */
bool sim_doc_has_jobs(const struct weir_base_doc_value *application, const char *group);
/* Workers from this one on are the threads of these. */
int sim_doc_take_followers(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	struct model_worker *worker);
/* One more of them, in the order of the file; it looks at frames of a link, at these costs, or NULL. */
int sim_doc_add_follower(struct weir_sim_model *model, const struct weir_base_doc_value *process);
int sim_doc_follow(struct weir_sim_model *model, uint32_t link,
	const struct weir_base_doc_value *costs, uint32_t finder);
/* Windows of these. */
int sim_doc_read_requests(
	struct weir_sim_model *model, const struct weir_base_doc_value *application);
/* Index of a port; SIM_NONE: there is none of that name. */
uint32_t sim_doc_port(const struct weir_sim_model *model, const char *name);
/* Where a stream's packets go: a queue, or SIM_TO_PORT | port; SIM_NONE with an error. */
uint32_t sim_doc_find_destination(
	struct weir_sim_model *model, const struct weir_base_doc_value *value);

int sim_doc_read_units(struct weir_sim_model *model, const struct weir_base_doc_value *units);
/* In which order a queue or a unit takes packets. */
int sim_doc_read_discipline(struct weir_sim_model *model, const struct weir_base_doc_value *of,
	bool has_priority, enum model_discipline *discipline,
	const struct weir_sim_discipline **custom);
int sim_doc_read_dispatch(struct weir_sim_model *model, const struct weir_base_doc_value *dispatch);
int sim_doc_read_memories(struct weir_sim_model *model, const struct weir_base_doc_value *memories);
int sim_doc_read_steps(struct weir_sim_model *model, const struct model_object *object,
	const struct weir_base_doc_value *steps);
/* The attributes that a stream gives its packets. */
int sim_doc_read_given(struct weir_sim_model *model, uint32_t stream,
	const struct weir_base_doc_value *attributes);
/* `value` or `weights` of a map. */
int sim_doc_read_value(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_value *to);
/* So many numbers, each as probable as its weight; without weights all are alike. They are kept as sums, of which the last is 1. */
int sim_doc_read_weights(struct weir_sim_model *model, const struct weir_base_doc_value *weights,
	uint32_t nb, struct model_value *to);
/* Index of a reason of drops, a new one where there is none like it. */
int sim_doc_reason(struct weir_sim_model *model, uint32_t *reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What a packet's number is called: an attribute, `size`, `flow`. */
int sim_doc_find_number(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	const char *name, uint32_t *number);
/* An attribute that is given a value somewhere. */
int sim_doc_set_attribute(struct weir_sim_model *model, const char *name, uint32_t *attribute);

/* The distribution of that mean that `distribution`, `spread` and `sigma` of a map make. */
struct weir_sim_dist sim_doc_dist(const struct weir_base_doc_value *value, double mean);
struct weir_sim_dist sim_doc_dist_of(
	enum weir_sim_dist_kind kind, double mean, double spread, double sigma);
/* What means nothing with this distribution would be overlooked. */
void sim_doc_check_dist(struct weir_sim_model *model, const struct weir_base_doc_value *value);

/* What there is in place of a name that is none: a list for an error; what is too much for it is left out. */
struct sim_doc_names {
	char text[512];
	size_t used;
	bool is_cut;
};

void sim_doc_add_name(struct sim_doc_names *names, const char *name);
/* The first kinds of cores: those of the file, and behind them those of workers. */
void sim_doc_add_kinds(
	struct sim_doc_names *names, const struct weir_sim_model *model, uint32_t nb_kinds);

/* Index of what @p value names; SIM_NONE: there is no such thing, which was told. */
uint32_t sim_doc_find_queue(struct weir_sim_model *model, const struct weir_base_doc_value *value);
/* Likewise, or where packets wait for jobs. */
uint32_t sim_doc_find_any_queue(
	struct weir_sim_model *model, const struct weir_base_doc_value *value);
uint32_t sim_doc_find_unit(struct weir_sim_model *model, const struct weir_base_doc_value *value);
uint32_t sim_doc_find_memory(struct weir_sim_model *model, const struct weir_base_doc_value *value);
uint32_t sim_doc_find_cores(struct weir_sim_model *model, const struct weir_base_doc_value *value);
uint32_t sim_doc_find_probed_stream(
	struct weir_sim_model *model, const struct weir_base_doc_value *value);
/* Likewise, but nothing is told. */
uint32_t sim_doc_meant_queue(
	const struct weir_sim_model *model, const struct weir_base_doc_value *value);
uint32_t sim_doc_find_stream(
	const struct weir_sim_model *model, const struct weir_base_doc_value *value);
uint32_t sim_doc_find_object(
	const struct weir_sim_model *model, const struct weir_base_doc_value *value);

/*
 * A queue from number @p after on that @p value means, with stars for what instances in arrays are called.
 * @param level  of weir_base_doc_meaning()
 */
uint32_t sim_doc_match_queue(const struct weir_sim_model *model,
	const struct weir_base_doc_value *value, uint32_t level, uint32_t after);

/* Index of a group of cores, of which there may be more now; SIM_NONE: too many, which was told. */
uint32_t sim_doc_cores_group(struct weir_sim_model *model, const struct weir_base_doc_value *value);
/* Likewise, of that name. */
uint32_t sim_doc_group(
	struct weir_sim_model *model, const struct weir_base_doc_value *value, const char *name);
/* After the cores: of the group that serves a queue. */
uint32_t sim_doc_queue_group(struct weir_sim_model *model, const struct weir_base_doc_value *value);

/* A duration in ps. */
uint64_t sim_doc_ps(const struct weir_base_doc_value *value);

#pragma GCC visibility pop

#endif
