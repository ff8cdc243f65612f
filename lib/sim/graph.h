/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

/*
 * What changes of a graph while it runs.
 *
 *   worker.c   workers on their walks
 *   worker_idle.c  workers that have nothing to do
 *   round.c    workers that serve queues of events, between walks
 *   worker_object.c  objects whose steps they run
 *   port.c     rings, and the links behind those that packets leave by
 *   follower.c workers that look at frames in buffers
 *
 * A walk looks at the rings that its worker polls, one after the other, and takes up to a burst of each: that is a visit
 * of the port's receive node. When about a burst is pending, and at the end, it visits nodes that packets wait for, in
 * their order, until there are none. A visit takes its time, then all packets of its vector go on:
 *
 *   look, receive, look, receive ... visit, visit, visit ... | the walk's own cycles | look ...
 *
 * A worker that serves queues asks after each walk for packets of them: those that came before it asked, up to a burst. Of a queue that a
 * node brings in it takes a vector, of one flow, and walks on with that; of an object's too, whose steps it runs for one packet
 * after the other; of jobs one, for a time slice.
 *
 * Of a worker that finds nothing nothing is simulated. When something comes to one of its rings it is known when it will
 * look there next, and how often it has looked before that.
 */

#include <stdbool.h>

#include "packet_list.h"
#include "weir_sim_random.h"
#include "weir_sim_stats.h"

#pragma GCC visibility push(hidden)

struct sim;

/* Packets that are together: on their way to a node, or in a visit of it. */
struct sim_vector {
	struct packet_list list;
	uint32_t nb;
	uint64_t bytes;
};

/* Where a worker is on a walk. */
struct sim_walk {
	uint32_t place;           /* of the ring that it looks at, among its own */
	uint32_t node;            /* that it visits */
	uint32_t pending;         /* packets that were received since nodes were visited last */
	struct sim_vector vector; /* of the visit */
};

enum worker_phase {
	WORKER_IDLE,     /* its next look that may find something is scheduled, if any */
	WORKER_LOOKS,    /* it comes to the next ring */
	WORKER_RECEIVES, /* a visit of a receive node */
	WORKER_VISITS,   /* of any other */
	WORKER_BLOCKED,  /* it waits for room in a transmit ring */
	WORKER_WAITS, /* it waits for the scheduler to take a packet, and for packets of queues meanwhile */
	WORKER_ENDS,    /* the walk's own cycles */
	WORKER_ASKS,    /* it has asked for packets of queues, and there are none; or it sleeps */
	WORKER_SLICES,  /* a job's time slice */
	WORKER_STEPS,   /* it has packets for an object: then its core knows */
	WORKER_FOLLOWS, /* it looks at frames in a buffer */
	WORKER_SLEEPS,  /* in the scheduler, or comes back from there */
};

struct sim_worker {
	enum worker_phase phase;
	bool is_busy; /* the walk has found something */
	bool has_more; /* the walk has found as many packets in a ring as it asks for, or frames that are made */
	struct sim_walk walk;
	/* In a round: */
	bool is_in_round;
	uint64_t round_ps;   /* when it asked */
	uint32_t round_left; /* packets that it may take */
	uint32_t packet;     /* of a job */
	bool has_event;      /* of the job, which has a credit */
	uint32_t
		nb_released; /* credits of what has left it in the round: they are returned after that */
	bool is_unpaid;      /* the job has none: it is run before the round takes anything */
	uint64_t slice_ps; /* what is left of the slice */
	uint64_t frame_ps; /* of a job that has frames: what this one takes */
	/* While it waits for the scheduler it serves queues, with a walk of its own: */
	bool is_waiting;
	bool is_woken;         /* it is about to look again */
	struct sim_walk outer; /* that waits */
	/* Idle: */
	uint64_t idle_ps; /* when the first walk began that found nothing */
	uint64_t told;    /* of those since then, how many are counted */
	uint64_t
		wake_ps; /* when it finds something, at ring wake_place, after so many walks that did not */
	uint32_t wake_place;
	uint64_t wake_walks;
	/* Where it sleeps in the scheduler: */
	uint64_t nb_asks, idle_asks; /* in vain, in a row: now, and as it became idle */
	uint64_t resting_ps; /* of these, when the first one was over after which it may rest */
	uint64_t slept_ps;   /* when it fell asleep */
	bool is_called;      /* it is woken, and comes back */
	uint64_t asleep_since_ps; /* as far as that is not counted */
	/* Counted: */
	uint64_t walks, empty_walks;
	uint64_t sleeps, asleep_ps;
	uint64_t received;
};

/* A node, of all workers. */
struct sim_node {
	uint64_t vectors, packets;
	double cycles;
	uint64_t entered, left, held_at_start; /* packets */
};

struct sim_job {
	uint64_t packets, slices; /* done */
	uint64_t inside;          /* packets now */
};

/* What a ring is asked for next. */
struct sim_burst {
	uint32_t nb;
	uint32_t nb_small; /* bursts below half of it, in a row */
};

struct sim_port {
	uint32_t packet; /* on the link, or SIM_NONE */
	uint32_t ring;   /* that it is of */
};

struct sim_graph {
	struct packet_list *rings; /* what is counted of them is behind that of queues */
	struct sim_burst *bursts;  /* per ring */
	struct sim_port *ports;
	struct sim_worker *workers;
	struct sim_node *nodes;
	struct sim_job *jobs;
	struct sim_vector *pending;          /* per worker, twice as it may wait, and node */
	uint64_t *visits;                    /* bits of nodes that have some, likewise */
	uint32_t nb_waiting;                 /* workers that wait for the scheduler */
	struct weir_sim_random *next_random; /* per node: where packets go */
};

/* Take memory. @return false: there is none */
bool sim_graph_init(struct sim *sim, uint64_t seed, unsigned int replication);
void sim_graph_free(struct sim *sim);
/* Forget what was counted up to now. */
void sim_graph_restart(struct sim *sim);
/* Account for what is under way, and find the law that is broken. */
void sim_graph_check(struct sim *sim);

/* A worker's core comes to the end of what it does. */
void sim_worker_event(struct sim *sim, uint32_t worker);
/* A packet has come to an empty ring that a worker polls. */
void sim_worker_wake(struct sim *sim, uint32_t ring);
/* There is something at a place that it looks at, which was empty. */
void sim_worker_wake_at(struct sim *sim, uint32_t worker, uint32_t place);
/* A lane of a queue that workers serve is ready. */
void sim_workers_wake(struct sim *sim, uint32_t lane);
/* The scheduler may take something now: those who wait for that look again. */
void sim_workers_retry(struct sim *sim);
void sim_worker_look_again(struct sim *sim, uint32_t worker);
/* A worker finds the scheduler full: what it is about waits, and what there is in queues is served meanwhile. */
void sim_worker_wait(struct sim *sim, uint32_t worker);
/* A visit is over that took so long, but for what has to wait. */
void sim_worker_end_visit(struct sim *sim, uint32_t worker, uint64_t worked_ps);
/* It has nothing to do. */
void sim_worker_idle(struct sim *sim, uint32_t worker);
/* Of those that it had nothing in, so many walks are over; looks at a ring have found nothing. */
void sim_worker_count_idle(struct sim *sim, uint32_t worker, uint64_t nb);
void sim_worker_found_nothing(struct sim *sim, uint32_t worker, uint32_t place, uint64_t nb_looks);
/* It has asked in vain for packets of queues. */
void sim_worker_found_no_event(struct sim *sim, uint32_t worker);
/* It sleeps, unless there is something now; it is back from that. */
void sim_worker_rest(struct sim *sim, uint32_t worker);
void sim_worker_end_sleep(struct sim *sim, uint32_t worker);
/* A worker that waits is done with what it has served meanwhile. */
void sim_worker_served(struct sim *sim, uint32_t worker);
/* It does something for a time. */
void sim_worker_go_on(struct sim *sim, uint32_t worker, enum worker_phase phase, uint64_t ps);
void sim_worker_set_busy(struct sim *sim, uint32_t worker, bool is_busy);
/* A walk of it is over, or, where it has no ports, a round; empty: nothing was found. */
static inline void
sim_worker_count_walk(struct sim_worker *worker, bool is_empty)
{
	worker->walks++;
	worker->empty_walks += is_empty;
}
/* It goes on with its walk behind the place where it is. */
void sim_worker_next_place(struct sim *sim, uint32_t worker);
/* It begins a walk, or is idle. */
void sim_worker_walk(struct sim *sim, uint32_t worker);
/* It visits a node with its vector. @return how long that takes */
uint64_t sim_worker_visit(struct sim *sim, uint32_t worker, uint32_t node);
/* A walk is over: it asks for packets of queues. */
void sim_round_begin(struct sim *sim, uint32_t worker);
/* What it took in a round is done. */
void sim_round_next(struct sim *sim, uint32_t worker);
/* It takes a vector of a lane's packets, of which there are some. */
void sim_round_fill(struct sim *sim, uint32_t worker, uint32_t lane);
/* Likewise, for an object; it comes to the next one of them; it is done with that, which goes on to packet->to. */
void sim_worker_take_events(struct sim *sim, uint32_t worker, uint32_t lane, uint64_t asked_ps);
void sim_worker_begin_event(struct sim *sim, uint32_t worker);
void sim_worker_end_event(struct sim *sim, uint32_t worker);
/* A job of a lane has waited for what it asked somebody else for. */
void sim_job_wakes(struct sim *sim, uint32_t lane);
/* A job's time slice is over. */
void sim_round_slice_ends(struct sim *sim, uint32_t worker);
/* A packet has come to a lane of jobs, to wait there: a job begins, if none of the flow's is there. */
void sim_job_begin(struct sim *sim, uint32_t lane);
/* A job of a lane wants a worker, and has no event. */
void sim_job_ready(struct sim *sim, uint32_t lane);
/* A worker takes one of a lane that has events. */
void sim_job_take_event(struct sim *sim, uint32_t worker, uint32_t lane);
/* It gives the job way to others; or the job waits, or is over. */
void sim_job_forward(struct sim *sim, uint32_t worker, uint32_t lane);
void sim_job_release(struct sim *sim, uint32_t worker);
/* A packet that it is done with goes on in place of its event, with the credit, where there is no other. @return false: it has no event */
bool sim_job_lend(struct sim *sim, uint32_t worker, uint32_t packet);
/* Are there jobs without events that a worker serves? */
bool sim_backlog_has_work(const struct sim *sim, uint32_t worker);
/* It gives events to those, as far as the scheduler takes them. @return a lane of which it runs a job without one; SIM_NONE: none */
uint32_t sim_backlog_feed(struct sim *sim, uint32_t worker);
/* Has each flow of jobs one job? @return events of jobs */
uint32_t sim_jobs_check(struct sim *sim);
/* A packet leaves the graph of a worker, by which it may leave its lane. */
void sim_round_release(struct sim *sim, uint32_t worker, uint32_t packet);
/* Likewise, to a queue: from an ordered lane in its turn. */
void sim_round_send(struct sim *sim, uint32_t packet, uint32_t queue);
/*
 * Likewise, from a node to its queue.
 * @return false: it is new, and the scheduler takes no more
 */
bool sim_round_forward(struct sim *sim, uint32_t packet, uint32_t node);
/* Are there fewer packets in jobs than may be? */
bool sim_job_has_room(const struct sim *sim, uint32_t node);
/* A packet comes to be worked on. */
void sim_job_add(struct sim *sim, uint32_t node, uint32_t packet);
/* Count what an idle worker has done up to now. */
void sim_worker_account(struct sim *sim, uint32_t worker);
/* A worker that waits for room in a ring has some. */
void sim_worker_unblock(struct sim *sim, uint32_t worker);

/* A packet comes to a port, from its link. */
void sim_port_receive(struct sim *sim, uint32_t port, uint32_t packet);
/* Likewise, to one of its rings. */
void sim_ring_receive(struct sim *sim, uint32_t ring, uint32_t packet);
/* The port's link has sent a packet. */
void sim_port_event(struct sim *sim, uint32_t port);
/* A worker takes up to nb packets out of a ring. */
void sim_ring_take(struct sim *sim, uint32_t ring, uint32_t nb, struct sim_vector *vector);
/* So many looks in a row have found that many packets: what is asked for next. */
void sim_ring_adapt(struct sim *sim, uint32_t ring, uint32_t nb, uint64_t nb_looks);
/* Is there room in a worker's ring? */
bool sim_port_has_room(struct sim *sim, uint32_t port, uint32_t worker);
/* There is none, and the packet is not sent. */
void sim_port_refuse(struct sim *sim, uint32_t port, uint32_t worker, uint32_t packet);
/* A worker sends a packet; there is room. */
void sim_port_send(struct sim *sim, uint32_t port, uint32_t worker, uint32_t packet);

#pragma GCC visibility pop

#endif
