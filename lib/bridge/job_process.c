/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * job-NAME: packets are handed to jobs, one for each flow.
 *
 * Uses:  the device's RSS hash, or headers
 * Next:  drop what is refused
 *
 * A job sends from whatever core it is on, and what different cores send as new events has no order. So what a job is done with goes to
 * a list of its flow, and an event that says no more than that goes to an atomic queue of the flow's; there, one at a time, the list's
 * first packet becomes the payload, and is forwarded, in order.
 */

#include <sched.h>

#include "job.h"

struct input {
	struct bridge_job *job;
	struct bridge_job_flow *flow;
};

/* For some instructions; and while a job is begun. But the holder may have lost its CPU. */
static void
lock(struct bridge_job_flow *flow)
{
	unsigned int nb = 0;

	while (__atomic_exchange_n(&flow->lock, 1, __ATOMIC_ACQUIRE) != 0)
		while (__atomic_load_n(&flow->lock, __ATOMIC_RELAXED) != 0)
			if (++nb % 256 == 0)
				sched_yield();
			else
				rte_pause();
}

static void
unlock(struct bridge_job_flow *flow)
{
	__atomic_store_n(&flow->lock, 0, __ATOMIC_RELEASE);
}

static void
append(struct bridge_job_list *list, struct rte_mbuf *m)
{
	bridge_mark(m)->next = NULL;
	if (list->first == NULL)
		list->first = m;
	else
		bridge_mark(list->last)->next = m;
	list->last = m;
}

static struct rte_mbuf *
pop(struct bridge_job_list *list)
{
	struct rte_mbuf *m = list->first;

	if (m != NULL)
		list->first = bridge_mark(m)->next;
	return m;
}

/* The last one is taken back. */
static void
drop_last(struct bridge_job_list *list)
{
	struct rte_mbuf *m = list->first;

	if (m == list->last) {
		list->first = NULL;
		return;
	}
	while (bridge_mark(m)->next != list->last)
		m = bridge_mark(m)->next;
	bridge_mark(m)->next = NULL;
	list->last = m;
}

/* The next packet of a flow; NULL: there is none, and the job is over. */
static struct rte_mbuf *
take(struct bridge_job_flow *flow)
{
	struct rte_mbuf *m;

	lock(flow);
	m = flow->hand = pop(&flow->in);
	if (m == NULL)
		flow->job = WEIR_JOB_NONE;
	unlock(flow);
	return m;
}

/* One writer, any readers. */
#define COUNT(job, core, member)                                                                   \
	do {                                                                                       \
		uint64_t *counter = &(job)->counts[weir_em_core_id(core)].member;                  \
                                                                                                   \
		__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);                         \
	} while (0)

static void
leave(struct bridge_job *job)
{
	__atomic_fetch_sub(&job->nb_inside, 1, __ATOMIC_RELEASE);
}

/* On the core that the job runs on now. */
static void
cancel(struct bridge_job *job, struct rte_mbuf *m)
{
	COUNT(job, weir_job_core(), nb_cancelled);
	weir_em_free(job->em, weir_job_core(), m);
	leave(job);
}

static weir_em_queue
own_queue(const struct bridge_job *job, const struct bridge_job_flow *flow)
{
	return job->own[(uint64_t)(flow - job->flows) * job->nb_own / job->nb_flows];
}

static int
send(struct bridge_job *job, struct bridge_job_flow *flow)
{
	const struct rte_event event = weir_em_event_ptr(flow);

	return weir_job_send(own_queue(job, flow), &event);
}

/* It is done with: that is told, for as long as it takes. Those behind it wait, too. */
static void
pass(struct bridge_job *job, struct bridge_job_flow *flow, struct rte_mbuf *m)
{
	int error;

	lock(flow);
	append(&flow->out, m);
	unlock(flow);
	while ((error = send(job, flow)) != 0) {
		if (error == -ENOSPC && weir_job_sleep(WEIR_BASE_JOB_RETRY_NS) == 0)
			continue;
		lock(flow);
		drop_last(&flow->out); /* that is this one: others were told of */
		unlock(flow);
		cancel(job, m);
		return;
	}
}

/* One at a time for each flow: its first packet goes on. */
void
bridge_job_receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct bridge_job *job = context;

	for (uint16_t i = 0; i < nb; i++) {
		struct bridge_job_flow *flow = events[i].event_ptr;
		struct rte_event event;
		struct rte_mbuf *m;
		uint32_t hash;

		lock(flow);
		m = pop(&flow->out);
		unlock(flow);
		event = weir_em_event_from_mbuf(job->em, m);
		event.impl_opaque = events[i].impl_opaque;
		hash = job->nb_queues > 1 ? bridge_flow_hash(m, job->flow) : 0;
		if (likely(weir_em_forward(core, job->queues[(uint64_t)hash * job->nb_queues >> 32],
				   &event) == 0)) {
			COUNT(job, core, nb_passed);
		} else {
			COUNT(job, core, nb_closed);
			weir_em_free(job->em, core, m);
		}
		leave(job);
	}
}

void
bridge_job_free_packets(struct bridge_job *job)
{
	struct rte_mbuf *m;

	for (unsigned int i = 0; i < job->nb_flows; i++)
		while ((m = pop(&job->flows[i].in)) != NULL ||
			(m = pop(&job->flows[i].out)) != NULL)
			rte_pktmbuf_free(m);
}

/* A job: packets of a flow, one by one, until there are none. */
static void
serve_flow(void *in, void *out)
{
	const struct input *input = in;
	struct bridge_job *job = input->job;
	enum weir_bridge_verdict verdict;
	struct rte_mbuf *m;

	(void)out;
	while ((m = take(input->flow)) != NULL) {
		bool cancelled = weir_job_self_cancelled();

		/* it may not come back from there: then bridge_job_done() has the packet */
		verdict = cancelled ? WEIR_BRIDGE_BLOCK : job->type->process(job->context, m);
		input->flow->hand = NULL;
		if (cancelled) {
			cancel(job, m);
		} else if (verdict == WEIR_BRIDGE_PASS) {
			pass(job, input->flow, m);
		} else {
			COUNT(job, weir_job_core(), nb_blocked);
			weir_em_free(job->em, weir_job_core(), m);
			leave(job);
		}
		weir_coro_maybe_yield();
	}
}

/* Under the flow's lock: a job for its packets. False: that is refused */
static bool
begin_job(struct bridge_job *job, struct bridge_job_flow *flow)
{
	const struct input input = {job, flow};
	struct weir_job_options options = job->options;

	options.done_arg = flow;
	flow->job = weir_job_spawn(job->service, serve_flow, &input, sizeof(input), &options);
	return flow->job != WEIR_JOB_NONE;
}

/* A packet that nobody works on any more. */
static void
leave_behind(struct bridge_job *job, struct rte_mbuf *m, enum weir_job_end end)
{
	weir_em_free(job->em, NULL, m);
	__atomic_fetch_add(&job->nb_left[end], 1, __ATOMIC_RELEASE);
	leave(job);
}

/*
 * It was cancelled before it began, and has taken nothing; or the work on a packet ended the job: that packet is dropped, and if nobody cancelled
 * the job, another one goes on with those behind it.
 */
void
bridge_job_done(void *arg, weir_job handle, enum weir_job_end end, void *out)
{
	struct bridge_job_flow *flow = arg;
	struct bridge_job *job = flow->owner;
	struct bridge_job_list left = {NULL, NULL};
	struct rte_mbuf *hand = NULL, *m;
	bool over;

	(void)out;
	lock(flow);
	if (flow->job == handle) {
		hand = flow->hand;
		flow->hand = NULL;
		flow->job = WEIR_JOB_NONE;
		over = end == WEIR_JOB_CANCELLED || flow->in.first == NULL;
		if (over || !begin_job(job, flow)) {
			left = flow->in;
			flow->in.first = NULL;
		}
	}
	unlock(flow);
	if (hand != NULL)
		leave_behind(job, hand, end);
	while ((m = pop(&left)) != NULL)
		leave_behind(job, m, end);
}

/* To its flow, whose job is begun if there is none. False: that is refused. */
static bool
give(struct bridge_job *job, struct rte_mbuf *m)
{
	uint32_t hash = bridge_flow_hash(m, job->flow);
	struct bridge_job_flow *flow = &job->flows[(uint64_t)hash * job->nb_flows >> 32];
	bool good;

	lock(flow);
	good = flow->job != WEIR_JOB_NONE || begin_job(job, flow);
	if (likely(good))
		append(&flow->in, m);
	unlock(flow);
	return good;
}

/* Room for some packets. @return for how many, from the first on, there is */
static uint16_t
reserve(struct bridge_job *job, uint16_t nb)
{
	uint32_t before = __atomic_fetch_add(&job->nb_inside, nb, __ATOMIC_ACQUIRE), room;

	room = before < job->nb_packets ? job->nb_packets - before : 0;
	if (likely(room >= nb))
		return nb;
	__atomic_fetch_sub(&job->nb_inside, nb - room, __ATOMIC_RELAXED);
	return (uint16_t)room;
}

static void
refuse(struct weir_graph *graph, struct weir_graph_node *node, struct rte_mbuf *m)
{
	weir_node_reason_set(m, WEIR_NODE_REASON_JOBS_FULL);
	weir_graph_enqueue_x1(graph, node, 0, m);
}

/* Some packets, for which there is room. @return how many were taken */
static uint16_t
give_all(struct weir_graph *graph, struct weir_graph_node *node, struct bridge_job *job,
	void **objs, uint16_t nb_objs)
{
	uint16_t nb = 0;

	/* counted before, so that never more come out than went in */
	__atomic_fetch_add(&job->nb_in, nb_objs, __ATOMIC_RELAXED);
	for (uint16_t i = 0; i < nb_objs; i++) {
		if (likely(give(job, objs[i])))
			nb++;
		else
			refuse(graph, node, objs[i]);
	}
	if (unlikely(nb < nb_objs)) {
		__atomic_fetch_sub(&job->nb_in, (uint64_t)(nb_objs - nb), __ATOMIC_RELAXED);
		__atomic_fetch_sub(&job->nb_inside, (uint32_t)(nb_objs - nb), __ATOMIC_RELAXED);
	}
	return nb;
}

uint16_t
bridge_job_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	struct bridge_job *job = ((const struct bridge_job_ctx *)(const void *)node->ctx)->job;
	const struct bridge_graph *bound = ((const struct bridge_state *)node->state)->bound;
	uint16_t nb = 0, at = 0, room;
	uint32_t spins = 0;

	for (;;) {
		room = reserve(job, (uint16_t)(nb_objs - at));
		nb += give_all(graph, node, job, objs + at, room);
		at += room;
		if (likely(at == nb_objs) || !job->wait || bound == NULL || !bridge_may_wait(bound))
			break;
		bridge_make_room(bound, &spins);
	}
	for (uint16_t i = at; i < nb_objs; i++)
		refuse(graph, node, objs[i]);
	if (unlikely(nb < nb_objs))
		__atomic_fetch_add(&job->nb_refused, (uint64_t)(nb_objs - nb), __ATOMIC_RELAXED);
	weir_graph_count(node, BRIDGE_JOB_PACKETS, nb);
	weir_graph_count(node, BRIDGE_JOB_FULL, (uint64_t)(nb_objs - nb));
	return nb_objs;
}
