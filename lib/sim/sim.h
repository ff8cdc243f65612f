/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_SIM_H
#define SIM_SIM_H

/*
 * One replication of a model: what changes while it runs. It belongs to one thread.
 *
 *   sim.c         making it, and freeing it
 *   lists.h       lists of packets
 *   latency.h     times that packets took
 *   engine.c      the loop over events
 *   traffic.c     packets that arrive
 *   serve.c       queues, and cores that serve them
 *   lane.c, .h    flows of a queue, and who holds them
 *   choose.c      which of them a core takes from next
 *   lenience.c    likewise, where priorities are not strict
 *   credit.c      how many packets the scheduler takes
 *   job_events.c  jobs as the scheduler has them
 *   discipline.c  in which order packets of a queue are served
 *   dispatch.c    what the scheduler costs, weights, and packets that interrupt others
 *   steps.c       what cores do with packets
 *   unit.c, .h    servers that are no cores
 *   unit_wait.c   in which order they take what waits for them
 *   memory.c      memories that cores share
 *   write_back.c  what packets leave in them
 *   graph.h       graphs, and workers that walk them
 *   links.h       links of a readout: frames, buffers, windows
 *   value.c       attributes and other numbers
 *   packet.c      packets, from their making to their end
 *   probe.c       levels and edges that are looked at
 *   ready.c       which of many lanes waits longest
 *   flows.c       who has overtaken whom
 *   deadlock.c    packets that wait for each other for ever
 *   check.c       the laws that its sums must obey
 *   metrics.c     what it tells
 *   arrays.c      likewise, of all instances in an array together
 *   quantities.c  each number of that
 *   replication.c one replication, cut into batches
 *   run.c         replications, by several threads
 *   warmup.c      where their warm-up ends
 */

#include <errno.h>
#include <stdio.h>

#include "event_list.h"
#include "graph.h"
#include "latency.h"
#include "links.h"
#include "model.h"
#include "packet_list.h"
#include "unit.h"

#pragma GCC visibility push(hidden)

enum packet_state {
	PACKET_FREE,
	PACKET_INSIDE,      /* in a queue, or worked on */
	PACKET_INTERRUPTED, /* in the middle of a step, of which left_cycles are to be done */
	PACKET_GONE,        /* it has left, but parts of it are inside */
	PACKET_DONE,        /* worked on, but others must go before it */
};

struct sim_packet {
	uint64_t created_ps;
	uint64_t entered_ps; /* its queue, or where else it waits */
	uint64_t service_ps; /* time that it was worked on so far */
	union {
		uint64_t stage_ps; /* since when it belongs to its lane */
		uint64_t number;   /* of a link's frame, which comes to no lane */
	};
	uint64_t stage_service_ps; /* what it was worked on before that */
	union {
		struct {
			uint32_t to;   /* where it goes on to: a queue, or SIM_TO_... */
			uint32_t core; /* that waits for it while a unit has it, or SIM_NONE */
		};
		double left_cycles; /* of the step that it was interrupted in */
	};
	uint32_t next;       /* in its list */
	uint32_t next_taken; /* of an ordered lane; first of those below it in a heap */
	uint32_t size_bytes;
	uint32_t flow;
	uint32_t order; /* in which it left its lane */
	uint32_t lane;  /* that it is in, or was taken from; SIM_NONE: none */
	union {
		uint32_t step;       /* of the model: the one that it is at */
		uint32_t dropped_by; /* function before the buffer of its link, or SIM_NONE */
	};
	uint32_t stream : 24;
	uint32_t state : 6;
	uint32_t has_credit : 1; /* of the scheduler; where that is limited */
	uint32_t is_waiting : 1; /* in a queue; no core has had it there */
};

/* What a packet was made of, in models that fork. */
struct sim_family {
	uint32_t parent; /* SIM_NONE: none */
	uint32_t nb_parts;
	bool waits; /* for its parts, without a core */
};

struct sim_packets {
	struct sim_packet *all;
	uint32_t nb, room; /* nb: those that were in use at some time */
	uint32_t most;     /* of nb */
	uint32_t free;     /* list of those that are not now */
};

struct sim_lane {
	/* Of the model, as it is asked for whenever something comes or goes. */
	uint32_t queue;
	enum model_queue_type type;
	bool is_fcfs;
	bool is_of_many; /* its queue has many lanes */
	bool is_a_job;   /* one at a time takes its packets: what waits is that one's event */
	struct packet_list waiting;
	struct packet_list in_flight; /* ordered: what was taken from it and has not left it yet */
	struct packet_list claims,    /* what waits with its core to have the flow */
		resumed; /* what was taken from it, gave its core up, and wants one again */
	uint32_t nb_waiting;
	uint64_t since_ps; /* something came after nothing, or was taken */
	void *custom;      /* state of a discipline of a shared object */
	uint32_t order_in, order_out;
	uint64_t latest_ps; /* when the last one came of those that have left it */
	uint32_t holders;   /* packets that were taken from it and have not left it */
	uint64_t left_ps;   /* of a worker's: when one of these left last */
	uint32_t sleeper;   /* of these, of a job that waits without a core; SIM_NONE: none */
	/* Of jobs: */
	uint32_t nb_events, nb_unpaid; /* that are ready: with an event, and in the backlog */
	uint32_t next_unpaid;          /* lane in the backlog of its group */
	uint64_t unpaid_order;         /* it is before those of a higher one, of any group */
	uint64_t event_ps;             /* since when it has its event, the last one of several */
};

/* Sums are of the time since the warm-up, of which each also takes its part of what began before. */
struct sim_queue {
	struct weir_sim_level length;
	uint64_t waiting_at_start;
	uint64_t arrived, dropped, taken;
	struct sim_times wait;
	weir_sim_u128 waited_ps;
	struct sim_latency stage; /* of what has left it, from its coming on */
	uint64_t reordered;       /* of those: after one of their lane that came later */
};

/* What a core has before it, with its packet. */
enum core_phase {
	CORE_BETWEEN,   /* something that happens now */
	CORE_POLLS,     /* it comes to the next lane */
	CORE_GETS,      /* it has it from the scheduler, and begins */
	CORE_IN_MEMORY, /* the access ends */
	CORE_IN_STEP,   /* the step ends */
	CORE_IN_UNIT,   /* a unit ends it */
	CORE_IN_SWITCH, /* its packet gets the flow that it waits for */
	CORE_WALKS,     /* it is a worker, which knows */
	CORE_POSTPONED, /* the step begins: one that the core has come to in no time and is free after */
};

struct sim_core {
	const struct model_cores *model; /* its kind */
	uint32_t kind;
	uint32_t packet; /* SIM_NONE: idle */
	enum core_phase phase;
	bool is_fresh; /* it has its packet since this very event */
	uint32_t
		stamp; /* of its next event; those with others are of steps that were interrupted */
	uint64_t step_start_ps, step_end_ps;
	uint64_t idle_ps; /* since when it was idle last; so long is it on its way, as it slept: */
	uint64_t delay_ps;
	uint64_t served; /* packets */
	weir_sim_u128 worked_ps;
	uint32_t poll_lane,
		poll_left; /* it is at that lane, of which it may take so many packets more */
};

/* What a core knows where priorities are not strict; see lenience.c. */
struct sim_lenience {
	uint32_t passed
		[SIM_PRIORITIES]; /* those of higher priority that it took while some waited */
	uint64_t look_ps;         /* it looks at what others have from then on */
	uint32_t seen;            /* whose it has seen last that was of a higher priority */
	uint32_t seen_turns;      /* that one's, then */
	uint32_t turns;           /* it has looked for work so many times */
	uint32_t helped;          /* whose it may take now, before its own; SIM_NONE: nobody's */
};

struct sim_level {
	struct weir_sim_level users, held; /* cores, bytes */
	uint64_t accesses;                 /* steps that used it */
};

/* Where a packet is in a memory. */
struct sim_place {
	uint32_t level; /* SIM_NONE: not there yet */
	uint32_t bytes; /* that it holds of it */
	uint32_t rest;  /* that it holds of the last one beside: what is beyond the header */
};

/* What goes back to the last level of a memory. */
struct sim_write {
	uint32_t from, to; /* levels */
	uint32_t bytes;    /* 0: it is there */
	uint32_t next;     /* in the list of those that may be used again */
};

struct sim_writes {
	struct sim_write *all;
	uint32_t nb, room, free;
};

/* How long those who have nothing to do are awake before they sleep. */
#define SIM_AWAKE_PS (WEIR_BASE_SCHED_AWAKE * (uint64_t)WEIR_BASE_SCHED_AWAY_NS * UINT64_C(1000))

#define SIM_NOT_DRAWN UINT64_MAX

struct sim_kind {
	struct weir_sim_level busy; /* cores */
	uint64_t served, nb_cores;  /* by the end: of all its cores, and how many these are */
};

/* What makes packets: a stream, or one of its bursts. */
struct sim_source {
	uint64_t next_ps;  /* when its next one comes */
	uint64_t limit_ps; /* end of its phase, or of its life */
	double carry_ps;   /* part of a ps that the time of the last packet left over */
	uint32_t stream;
	uint32_t flow; /* of a burst */
	uint32_t next; /* in the list of free ones */
};

/* Those that live, and the list of those that may be used again. */
struct sim_bursts {
	struct sim_source *all;
	uint32_t nb, room, free;
};

/* Flows that have sent something that has left; see flows.c. */
struct sim_flow {
	uint64_t latest_ps;
	uint32_t flow;
	bool is_used;
};

struct sim_flows {
	struct sim_flow *all;
	size_t nb, room;
};

struct sim_stream {
	struct weir_sim_random arrivals, phases, sizes, flows;
	struct sim_source source;
	uint64_t made;
	struct weir_sim_level inside;
	uint64_t inside_at_start;
	uint64_t arrived, delivered, dropped, delivered_bytes;
	uint64_t forked, joined; /* parts of packets: made, and left */
	struct sim_latency latency;
	weir_sim_u128 sojourned_ps;
	struct sim_flows flows_left;
	uint64_t latest_ps; /* likewise, where there is one flow */
	uint64_t reordered;
};

struct sim_probe {
	uint64_t level, min, max;
	uint64_t nb;       /* changes, or packets that passed */
	uint64_t since_ps; /* of the last one */
	weir_sim_u128 area, squares;
	struct weir_sim_tally intervals; /* between packets that passed */
	bool has_passed;
	uint32_t nb_at_once;           /* that pass it now, of a visit */
	struct weir_sim_tally vectors; /* such numbers */
	FILE *file;                    /* of its trace, or NULL */
};

/* Lanes of a group of which jobs are ready that the scheduler takes no event of. */
struct sim_backlog {
	uint32_t head, tail;
};

/* See ready.c. Where a queue has few lanes they are looked at one by one. */
#define SIM_READY_FEW 16

struct sim_ready {
	uint64_t *since_ps;
	uint32_t nb_leaves;
};

/* Of what is told of packets that wait for each other. */
#define SIM_BROKEN_SIZE 1024

struct sim {
	const struct weir_sim_model *model;
	uint64_t now_ps;
	uint64_t window_ps; /* statistics begin here */
	uint64_t fingerprint;
	uint64_t nb_events;
	uint64_t work;       /* lanes and packets that were looked at to find the next one */
	uint32_t nb_credits; /* of the scheduler that packets have, and jobs */
	struct sim_backlog *backlogs; /* per group */
	uint32_t nb_unpaid_lanes;     /* in them */
	uint64_t unpaid_order;        /* of the next one */
	uint64_t nb_left; /* packets that may still leave before it ends; UINT64_MAX: any number */
	const char *broken;
	bool is_models_fault; /* what is broken */
	char broken_text[SIM_BROKEN_SIZE];
	int error;
	bool ended;

	struct event_list events;
	struct sim_packets packets;
	struct sim_bursts bursts;
	struct sim_writes writes;
	struct sim_stream *streams;
	struct sim_queue *queues;
	struct sim_lane *lanes;
	struct sim_core *cores;
	struct sim_kind *kinds;
	struct sim_unit *units;
	struct sim_server *servers;
	struct sim_probe *probes;
	struct sim_graph graph;
	struct sim_link *links;
	struct sim_request *requests;
	struct sim_mark *marks; /* link by link of each request */
	struct sim_fragments fragments;
	struct sim_follower *followers;
	struct sim_finder *finders;
	struct weir_sim_random *function_random; /* per function before a buffer: drops */
	struct weir_sim_random *step_random;     /* per step of the model: amounts */
	struct weir_sim_random *skip_random;     /* per step: whether it is skipped */
	struct weir_sim_random *unit_random;     /* per unit */
	struct weir_sim_random *given_random;    /* per attribute that a stream gives */
	struct sim_level *levels;
	struct sim_place *places;        /* per packet, so many as the model has memories */
	struct sim_family *families;     /* per packet, in models that fork */
	struct sim_frame *frames;        /* per packet, in models where frames have fields */
	double *attributes;              /* per packet, so many as the model has */
	uint64_t *drops;                 /* per stream, by reason */
	uint64_t *idle;                  /* bits of cores */
	struct sim_ready *ready_trees;   /* per queue */
	uint64_t *ready;                 /* bits of lanes that a core may take from */
	uint64_t decision_ps;            /* the scheduler decides no earlier */
	int64_t credits[SIM_PRIORITIES]; /* of weighted priorities */
	struct sim_lenience *leniences;  /* per core, where priorities are not strict; else NULL */
};

/* A replication at time 0, with the first packet of each stream scheduled. NULL: no memory. */
struct sim *sim_new(const struct weir_sim_model *model, uint64_t seed, unsigned int replication);
void sim_free(struct sim *sim);

/* Let happen what does up to and at end_ps, but at most so many events. @return whether there may be more */
bool sim_engine_run(struct sim *sim, uint64_t end_ps, uint64_t nb_events);

/* Forget what was counted up to now. */
void sim_restart_statistics(struct sim *sim);

/* The model, or what it has loaded, goes wrong: that is the end of the replication. */
void sim_give_up(struct sim *sim, const char *broken);

/* Are there packets that wait for each other? Then give up, and tell of them. */
void sim_find_deadlock(struct sim *sim);

/* Account for what is under way at the end, and find the law that is broken, if any is: sim->broken. */
void sim_check(struct sim *sim);

/* What it tells, a number per metric of the model. After sim_check(). */
void sim_metrics_fill(struct sim *sim, double *values);

/* Schedule what a stream begins with. */
void sim_traffic_start(struct sim *sim, uint32_t stream);
/* One that comes now. @return SIM_NONE: no room */
uint32_t sim_traffic_make(struct sim *sim, uint32_t stream, uint32_t flow);
/* It goes where its stream has it. */
void sim_traffic_send(struct sim *sim, uint32_t stream, uint32_t packet);
/* The next packet of a stream comes; one of a burst; the next burst begins. */
void sim_arrival(struct sim *sim, uint32_t stream);
void sim_arrival_of_burst(struct sim *sim, uint32_t burst);
void sim_trigger(struct sim *sim, uint32_t stream);

/* Let a core go on with a step of which so many cycles are to be done. */
void sim_step_continue(struct sim *sim, uint32_t core, double cycles);
/*
 * A core of the queue's group that works on something of a lower priority is interrupted; SIM_NONE: there is none.
 * @param packet  that has come, which may go before others of its queue; SIM_NONE: none
 */
uint32_t sim_interrupt(struct sim *sim, const struct model_queue *queue, uint32_t packet);
/* How many times what it costs the packet's step takes. */
double sim_step_times(const struct sim *sim, uint32_t packet);
/* What a step of the packet's, which is `cpu`, costs. */
double sim_step_cycles(struct sim *sim, uint32_t packet);

/* What comes to a queue whose discipline asks for that is given its service. */
void sim_lane_draw(struct sim *sim, const struct model_queue *queue, uint32_t packet);
/* It waits in a lane, which is not fcfs. @return false: the discipline has no room for it */
bool sim_lane_add_in_order(struct sim *sim, uint32_t lane, uint32_t packet);
/* Has a discipline of a shared object room for a packet that comes? */
bool sim_ask_to_reserve(const struct sim *sim, const struct weir_sim_discipline *discipline,
	void *state, uint32_t packet);
/* The next one of those that wait in a lane that is not fcfs; there is one, which is taken out of its order only. */
uint32_t sim_lane_take_in_order(struct sim *sim, uint32_t lane);
/* Likewise what was taken from a lane before, and holds it. @param first  before the others */
void sim_lane_resume(struct sim *sim, uint32_t lane, uint32_t packet, bool first);
uint32_t sim_lane_take_resumed(struct sim *sim, uint32_t lane);
/* Is the next one of those? */
bool sim_lane_prefers_resumed(const struct sim *sim, uint32_t lane);
/* Since when the next one has waited. */
uint64_t sim_lane_since_ps(const struct sim *sim, uint32_t lane);
/* Does a packet that comes to the lane go before all that wait? There are such. */
bool sim_lane_is_next(const struct sim *sim, uint32_t lane, uint32_t packet);
/* Does a packet that comes to the queue go before one of it that so much is left of? */
bool sim_lane_goes_before(const struct sim *sim, const struct model_queue *queue, uint32_t packet,
	double left_cycles);
/* Make the trees. @return false: no memory */
bool sim_ready_init(struct sim *sim);
/* What a lane of a queue with many has first is another packet, or may be taken, or not. */
void sim_ready_update(struct sim *sim, uint32_t lane, bool is_ready);
/* Of the lanes of a queue with many, of which one is ready, the one that waits longest. */
uint32_t sim_ready_longest(struct sim *sim, uint32_t queue);

/* A priority among those that something is ready of, by their weights. @param ready  bits of priorities */
uint32_t sim_weighted_priority(struct sim *sim, uint32_t ready);
/* When a core that is given a packet now can begin with it. */
uint64_t sim_dispatch_ps(struct sim *sim, uint32_t core);
/* Of the idle cores of a group, of which there is one, the first that is awake, or else the first, which is woken. */
uint32_t sim_core_wakes(struct sim *sim, uint32_t group);
/* What was scheduled for a core happens. */
void sim_core_event(struct sim *sim, uint32_t core);
/* Time that a core has had a packet since it began with the step is over. */
void sim_core_account(struct sim *sim, uint32_t core);
/* Let a core go on with its packet, at the step where that is. @param decided  it is known not to be skipped */
void sim_steps_run(struct sim *sim, uint32_t core, bool decided);

/* A packet comes to a queue. */
void sim_enqueue(struct sim *sim, uint32_t queue, uint32_t packet);
/* Likewise from outside: it is dropped where the scheduler takes no more. */
void sim_enter(struct sim *sim, uint32_t queue, uint32_t packet);
/* One that is to go to a queue from outside. @return false: the scheduler takes no more */
bool sim_credit_take(struct sim *sim, uint32_t packet);
/* One for a job. @return false: none is left */
bool sim_credit_get(struct sim *sim);
/* Are there as many credits as packets and jobs that have one? */
void sim_credits_check(struct sim *sim);
/* A core that polls comes to a lane. */
void sim_core_polls(struct sim *sim, uint32_t core);
/* A core is done with its packet, which goes on to packet->to. */
void sim_core_finish(struct sim *sim, uint32_t core);
/*
 * With `preemptive`, a core is about to begin with cycles of a step. Something more urgent may have become ready while it could not be
 * interrupted: then it takes that. @return whether it has
 */
bool sim_core_gives_way(struct sim *sim, uint32_t core, double cycles);
/* A core has given its packet up, which still holds its lane. */
void sim_core_next(struct sim *sim, uint32_t core);
/* A core's packet leaves its lane for one of another queue, and keeps the core. */
void sim_core_switch(struct sim *sim, uint32_t core, uint32_t queue);
/* A packet that holds its lane wants a core again. */
void sim_resume(struct sim *sim, uint32_t packet);
/* A packet that is in no lane goes on to packet->to. */
void sim_forward(struct sim *sim, uint32_t packet);

/* A packet that is in no lane goes through a unit, and on to a queue or SIM_TO_... */
void sim_through_unit(struct sim *sim, uint32_t unit, uint32_t packet, uint32_t to);
/* A packet comes to a unit. @return false: that is full, and has not taken it */
bool sim_unit_enter(struct sim *sim, uint32_t unit, uint32_t packet);
/* It waits for a unit. @return false: the discipline has no room for it */
bool sim_unit_wait(struct sim *sim, uint32_t unit, const struct sim_visit *visit);
/* What it does next, which waits no more; there is something. */
struct sim_visit sim_unit_next(struct sim *sim, uint32_t unit);
/* By what its discipline goes, where so much of the service is left. */
double sim_unit_key(
	const struct model_unit *model, const struct sim_visit *visit, uint64_t left_ps);
/* A server has done its packet. */
void sim_unit_event(struct sim *sim, uint32_t server);

/* A core's packet uses a memory, and ends to. */
void sim_memory_use(struct sim *sim, uint32_t core, const struct model_step *step);
void sim_memory_used(struct sim *sim, uint32_t core, const struct model_step *step);
/* A packet that leaves holds nothing any more. @param delivered  it was not dropped */
void sim_memory_free(struct sim *sim, uint32_t packet, bool delivered);
/* What it held of a memory goes back to the last level. @return false: that is not done, its room is free now */
bool sim_write_back(
	struct sim *sim, uint32_t memory, const struct sim_place *place, bool delivered);
/* It has. */
void sim_written(struct sim *sim, uint32_t write);

/* Draw one of several numbers by their weights. */
double sim_draw_weighted(
	struct sim *sim, const struct model_value *value, struct weir_sim_random *random);
/* A number that a packet has: MODEL_SIZE, MODEL_FLOW, or an attribute. */
double sim_number(const struct sim *sim, uint32_t packet, uint32_t what);
/* Its stream gives a packet its attributes. */
void sim_give_attributes(struct sim *sim, uint32_t packet);

/* A new packet, which is inside its stream's statistics; SIM_NONE: no room, sim->error says so. */
uint32_t sim_packet_new(struct sim *sim, uint32_t stream, uint32_t size_bytes, uint32_t flow);
/* A part of a packet, with its attributes; SIM_NONE likewise. */
uint32_t sim_packet_fork(struct sim *sim, uint32_t packet);
/* It waits for its parts. @return false: it has none */
bool sim_packet_joins(struct sim *sim, uint32_t packet);
/* It has left, or was dropped. */
void sim_packet_delivered(struct sim *sim, uint32_t packet);
void sim_packet_dropped(struct sim *sim, uint32_t packet, uint32_t reason);

/* A packet of a stream with several flows leaves: has one of its flow left that came later? */
bool sim_flows_overtaken(struct sim *sim, uint32_t packet);

/* An event is over. */
void sim_probes_look(struct sim *sim);
/* A packet goes from an object, or one of SIM_FROM, to where packet->to would have it; then all of a node's visit have. */
void sim_probes_pass(struct sim *sim, uint32_t from, uint32_t to, uint32_t packet);
/* Likewise, from the object among whose steps one is. */
void sim_probes_sent(struct sim *sim, uint32_t step, uint32_t to, uint32_t packet);
void sim_probes_vector_passed(struct sim *sim, uint32_t node);
/* Forget what was up to now. */
void sim_probes_restart(struct sim *sim);
/* Mean and sd of what a probe has seen: a level over time, or ns between packets. */
struct weir_sim_estimate sim_probe_mean(const struct sim *sim, uint32_t probe);
/* What cannot be written. */
struct sim_trace_error {
	char *words; /* NULL: all could; to be freed */
	const struct weir_base_doc_value *at;
};

/* Can the traces be begun? Before anything runs: it is not known when the replication begins that they are of. */
bool sim_probes_check(const struct weir_sim_model *model, struct sim_trace_error *error);
/* Begin the traces; end them. @return false: that cannot be written */
bool sim_probes_open(struct sim *sim, struct sim_trace_error *error);
bool sim_probes_close(struct sim *sim, struct sim_trace_error *error);
/* It does not come to its end: tell which traces do not, either. */
void sim_probes_tell_cut(const struct sim *sim);

/* Part of the time from then to now that statistics count. */
static inline uint64_t
sim_counted_ps(const struct sim *sim, uint64_t since_ps)
{
	return sim->now_ps - (since_ps > sim->window_ps ? since_ps : sim->window_ps);
}

/* Others may have so many more. */
static inline void
sim_credits_put(struct sim *sim, uint32_t nb)
{
	sim->nb_credits -= nb;
	if (sim->graph.nb_waiting > 0)
		sim_workers_retry(sim);
}

/* A packet leaves the queues, if it has come to any. */
static inline void
sim_credit_return(struct sim *sim, uint32_t packet)
{
	if (!sim->packets.all[packet].has_credit)
		return;
	sim->packets.all[packet].has_credit = false;
	sim_credits_put(sim, 1);
}

static inline void
sim_schedule(struct sim *sim, uint64_t time_ps, enum event_priority priority, uint32_t target)
{
	if (!event_list_push(&sim->events, time_ps, priority, target))
		sim->error = -ENOMEM;
}

/* For a core, unless the step is interrupted before. */
static inline void
sim_core_schedule(struct sim *sim, uint32_t core, uint64_t time_ps)
{
	if (!event_list_push_stamped(&sim->events, time_ps, EVENT_PRIORITY_DONE,
		    EVENT_TARGET(EVENT_CORE, core), sim->cores[core].stamp))
		sim->error = -ENOMEM;
}

/* Draw a number. */
static inline double
sim_draw(struct sim *sim, const struct model_value *value, struct weir_sim_random *random)
{
	if (value->nb_weights > 0)
		return sim_draw_weighted(sim, value, random);
	return weir_sim_dist_draw(&value->dist, random);
}

/* For what each packet passes, and is called in two places. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

#pragma GCC visibility pop

#include "lists.h"

#endif
