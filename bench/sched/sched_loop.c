/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What producer and workers do in a slice, over our ports and over a device's, by the same lines: each loop is compiled for both.
 * Workers go about it as DPDK's dpdk-test-eventdev does: what leaves is released with the rest of its burst, or, alone, by
 * the next dequeue.
 */

#define ALLOW_EXPERIMENTAL_API /* rte_event_maintain() */

#include <sched.h>

#include <rte_pause.h>
#include <rte_service.h>

#include "sched_bench.h"

bool sched_crowded;

/* Who talks to whom. */
enum api {
	API_OURS,
	API_DEVICE,
	API_PIPELINE, /* event_opdl: a port for each queue, and one by which all leaves, of one worker */
};

static __rte_always_inline enum sched_phase
phase_of(const struct sched_side *side)
{
	return __atomic_load_n(&side->phase, __ATOMIC_RELAXED);
}

static void
run_service(const struct sched_side *side)
{
	rte_service_run_iter_on_app_lcore(side->service_id, 0);
}

static inline void
rest(const struct sched_worker *worker)
{
	if (worker->serves)
		run_service(worker->side);
	else if (worker->side->crowded)
		sched_yield();
	else
		rte_pause();
}

static __rte_always_inline uint16_t
dequeue(struct sched_worker *worker, enum api api, unsigned int port, struct rte_event *events,
	uint16_t nb)
{
	if (api == API_OURS)
		return weir_sched_dequeue(worker->port, events, nb);
	return rte_event_dequeue_burst(worker->device, worker->ports[port], events, nb, 0);
}

static __rte_always_inline uint16_t
enqueue(struct sched_worker *worker, enum api api, unsigned int port,
	const struct rte_event *events, uint16_t nb)
{
	if (api == API_OURS)
		return weir_sched_enqueue(worker->port, events, nb);
	if (events[0].op == RTE_EVENT_OP_NEW)
		return rte_event_enqueue_new_burst(worker->device, worker->ports[port], events, nb);
	return rte_event_enqueue_burst(worker->device, worker->ports[port], events, nb);
}

/* All of them, if need be in several pieces. */
static __rte_always_inline void
enqueue_all(struct sched_worker *worker, enum api api, unsigned int port,
	const struct rte_event *events, uint16_t nb)
{
	uint16_t done = enqueue(worker, api, port, events, nb);

	while (unlikely(done < nb) && phase_of(worker->side) != SCHED_STOP) {
		worker->nb_refused++;
		rest(worker);
		done += enqueue(worker, api, port, events + done, nb - done);
	}
}

static inline struct sched_flow *
sample_of(const struct sched_worker *worker, uint64_t what)
{
	uint32_t flow = sched_flow_of(what);

	return flow % SCHED_FLOW_SAMPLE == 0 ? &worker->side->flows[flow / SCHED_FLOW_SAMPLE]
					     : NULL;
}

/* Numbers of a flow come one after the other; times only grow. */
static inline void
look_at_order(struct sched_worker *worker, uint64_t what, bool times)
{
	struct sched_flow *flow = sample_of(worker, what);
	uint64_t stamp = what & SCHED_STAMP_MASK, last;

	if (flow == NULL)
		return;
	last = __atomic_load_n(&flow->last, __ATOMIC_RELAXED);
	if (times ? stamp <= last : stamp != last + 1)
		worker->nb_disorder++;
	__atomic_store_n(&flow->last, stamp, __ATOMIC_RELAXED);
}

/* What goes round gets its next number here, where it has its flow for itself, and must be back with it in the same order. It has
 * none when it comes here first. */
static inline void
look_at_round(struct sched_worker *worker, struct rte_event *event)
{
	struct sched_flow *flow = sample_of(worker, event->u64);
	uint64_t given;

	if (flow == NULL)
		return;
	if ((event->u64 & SCHED_STAMP_MASK) != 0)
		look_at_order(worker, event->u64, false);
	given = __atomic_load_n(&flow->given, __ATOMIC_RELAXED) + 1;
	__atomic_store_n(&flow->given, given, __ATOMIC_RELAXED);
	event->u64 = (event->u64 & ~SCHED_STAMP_MASK) | (given & SCHED_STAMP_MASK);
}

static inline struct rte_event
new_event(uint64_t what, uint8_t queue, uint8_t type)
{
	struct rte_event event = {
		.flow_id = sched_flow_of(what),
		.op = RTE_EVENT_OP_NEW,
		.sched_type = type,
		.event_type = RTE_EVENT_TYPE_CPU,
		.queue_id = queue,
		.priority = RTE_EVENT_DEV_PRIORITY_NORMAL,
	};

	event.u64 = what;
	return event;
}

/* As many as this worker saw out; its flows are those that are congruent to it. */
static __rte_always_inline void
make_own(struct sched_worker *worker, enum api api, uint16_t nb)
{
	const struct sched_side *side = worker->side;
	const unsigned int stride = side->shape.nb_workers;
	struct rte_event events[SCHED_BURST];

	for (uint16_t i = 0; i < nb; i++) {
		uint32_t flow = worker->flow;

		events[i] = new_event(
			sched_describe(++worker->numbers[flow], flow, 0), 0, side->shape.types[0]);
		worker->flow = flow + stride < SCHED_FLOWS ? flow + stride : worker->id;
	}
	/* before they are in: who finds as many out as in knows that there are no others */
	__atomic_store_n(&worker->nb_in, worker->nb_in + nb, __ATOMIC_RELEASE);
	enqueue_all(worker, api, 0, events, nb);
}

static inline void
compute(uint32_t steps)
{
	uint64_t x = steps;

	for (uint32_t i = 0; i < steps; i++)
		x = bench_step(x);
}

double
sched_work_ns(uint32_t steps)
{
	const unsigned int many = 100;
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < many; i++) {
		uint64_t begin = weir_base_cycles();

		for (unsigned int n = 0; n < many; n++)
			compute(steps);
		least = RTE_MIN(least, weir_base_cycles() - begin);
	}
	return (double)weir_base_cycles_to_ns(least) / many;
}

/* Work, for as long as its class takes. */
static inline void
work(struct sched_worker *worker, uint64_t what)
{
	uint64_t now = weir_base_cycles();
	uint64_t end = now + worker->service_cycles[sched_class_of(what)];
	uint64_t sent = what & SCHED_STAMP_MASK, at = now - worker->side->base;

	weir_base_hist_add(&worker->waits[sched_class_of(what)], at > sent ? at - sent : 0);
	while (weir_base_cycles() < end)
		;
}

/* Does the event leave? Otherwise it is ready to go on. */
static __rte_always_inline bool
handle(struct sched_worker *worker, enum sched_mode mode, enum sched_phase phase,
	struct rte_event *event)
{
	const struct sched_side *side = worker->side;
	const unsigned int last = side->shape.nb_queues - 1;

	if (side->checks && (mode == SCHED_OPEN || event->queue_id == side->check_queue)) {
		if (mode != SCHED_INSIDE)
			look_at_order(worker, event->u64, mode == SCHED_OPEN);
		else if (phase == SCHED_RUN)
			look_at_round(worker, event);
	}
	if (mode == SCHED_OPEN) {
		work(worker, event->u64);
		return true;
	}
	compute(worker->work_steps);
	event->op = RTE_EVENT_OP_FORWARD;
	if (event->queue_id < last) {
		event->queue_id++;
	} else if (mode == SCHED_INSIDE) {
		event->queue_id = 0;
	} else {
		return true;
	}
	event->sched_type = side->shape.types[event->queue_id];
	event->flow_id = sched_flow_of(event->u64); /* a parallel queue may have lost it */
	return mode == SCHED_INSIDE && phase != SCHED_RUN;
}

static __rte_always_inline void
count_out(struct sched_worker *worker, uint16_t nb)
{
	__atomic_store_n(&worker->nb_out, worker->nb_out + nb, __ATOMIC_RELEASE);
}

/* Events go through all queues, by their numbers; of a burst the device tells the first one's only. */
static __rte_always_inline void
run_pipeline(struct sched_worker *worker, enum sched_mode mode, unsigned int port,
	struct rte_event *events, uint16_t nb)
{
	if (port == worker->side->shape.nb_queues) {
		count_out(worker, nb);
		return;
	}
	for (uint16_t i = 0; i < nb; i++) {
		events[i].queue_id = port;
		handle(worker, mode, SCHED_RUN, &events[i]);
		events[i].op = RTE_EVENT_OP_FORWARD;
		events[i].queue_id = port + 1;
	}
	enqueue_all(worker, API_PIPELINE, port, events, nb);
	if (mode == SCHED_OWN && port + 1 == worker->side->shape.nb_queues &&
		phase_of(worker->side) == SCHED_RUN)
		make_own(worker, API_PIPELINE, nb);
}

static __rte_always_inline uint16_t
run_once(struct sched_worker *worker, enum api api, enum sched_mode mode, unsigned int port)
{
	const uint16_t burst = worker->side->shape.burst;
	struct rte_event events[SCHED_BURST];
	uint16_t nb = dequeue(worker, api, port, events, burst), nb_out = 0;
	/* looked at after events are had: an event that follows one which left sees what that one saw */
	const enum sched_phase phase = phase_of(worker->side);

	worker->nb_polls++;
	if (nb == 0) {
		worker->nb_empty++;
		return 0;
	}
	__atomic_store_n(&worker->nb_hops, worker->nb_hops + nb, __ATOMIC_RELAXED);
	if (api == API_PIPELINE) {
		run_pipeline(worker, mode, port, events, nb);
		return nb;
	}
	for (uint16_t i = 0; i < nb; i++) {
		if (handle(worker, mode, phase, &events[i])) {
			events[i].op = RTE_EVENT_OP_RELEASE;
			nb_out++;
		}
	}
	if (burst > 1 || nb_out == 0)
		enqueue_all(worker, api, port, events, nb);
	if (nb_out > 0) {
		if (mode == SCHED_OWN && phase == SCHED_RUN)
			make_own(worker, api, nb_out);
		count_out(worker, nb_out);
	}
	return nb;
}

static __rte_always_inline void
run_loop(struct sched_worker *worker, enum api api, enum sched_mode mode)
{
	const struct sched_side *side = worker->side;

	if (mode == SCHED_OWN)
		for (unsigned int i = 0; i < SCHED_POPULATION / side->shape.nb_workers; i++)
			make_own(worker, api, 1);
	while (phase_of(side) != SCHED_STOP) {
		uint16_t nb = 0;

		for (unsigned int port = 0; port < worker->nb_ports; port++)
			nb += run_once(worker, api, mode, port);
		if (nb == 0 || worker->serves)
			rest(worker);
	}
}

#define LOOPS(api)                                                                                 \
	switch (worker->side->shape.mode) {                                                        \
	case SCHED_PRODUCED:                                                                       \
		run_loop(worker, api, SCHED_PRODUCED);                                             \
		break;                                                                             \
	case SCHED_INSIDE:                                                                         \
		run_loop(worker, api, SCHED_INSIDE);                                               \
		break;                                                                             \
	case SCHED_OWN:                                                                            \
		run_loop(worker, api, SCHED_OWN);                                                  \
		break;                                                                             \
	default:                                                                                   \
		run_loop(worker, api, SCHED_OPEN);                                                 \
		break;                                                                             \
	}

static void
run_ours(struct sched_worker *worker)
{
	LOOPS(API_OURS)
}

static void
run_device(struct sched_worker *worker)
{
	LOOPS(API_DEVICE)
}

static void
run_pipeline_device(struct sched_worker *worker)
{
	LOOPS(API_PIPELINE)
}

void
sched_worker_run(struct sched_worker *worker)
{
	if (!worker->works) {
		while (worker->serves && phase_of(worker->side) != SCHED_STOP) {
			run_service(worker->side);
			if (worker->side->crowded)
				sched_yield();
		}
		return;
	}
	if (worker->port != NULL)
		run_ours(worker);
	else if (worker->side->kind == SCHED_OPDL)
		run_pipeline_device(worker);
	else
		run_device(worker);
}

/* As many as fit, each flow in its turn, until the time; the clock is looked at now and then. */
static __rte_always_inline void
produce(struct sched_side *side, enum api api, uint64_t end)
{
	struct sched_worker *producer = &side->producer;
	const unsigned int burst = side->shape.burst, looks = 64 / burst;
	const uint8_t type = side->shape.types[0];
	struct rte_event events[SCHED_BURST];

	do {
		for (unsigned int look = 0; look < looks; look++) {
			for (unsigned int i = 0; i < burst; i++) {
				uint32_t flow = producer->flow;

				events[i] = new_event(
					sched_describe(++producer->numbers[flow], flow, 0), 0,
					type);
				producer->flow = (flow + 1) % SCHED_FLOWS;
			}
			enqueue_all(producer, api, 0, events, burst);
			producer->nb_in += burst;
		}
	} while (weir_base_cycles() < end);
}

/* Nothing waits in a device's buffers, and what it asks of its ports is done. Only where it must: a device that has the number of one
 * that is gone may be called by that one's functions. */
static void
flush(const struct sched_worker *producer, enum api api)
{
	if (api == API_DEVICE && producer->maintains)
		rte_event_maintain(
			producer->device, producer->ports[0], RTE_EVENT_DEV_MAINT_OP_FLUSH);
}

void
sched_producer_flush(struct sched_side *side)
{
	struct rte_event none;

	if (side->kind == SCHED_LAYER)
		weir_sched_dequeue(side->producer.port, &none, 1);
	flush(&side->producer, side->kind <= SCHED_LAYER ? API_OURS : API_DEVICE);
}

/* Each at its time, or as soon as possible after it: its stamp is the time when it should have gone. */
static __rte_always_inline uint64_t
produce_timed(struct sched_side *side, enum api api, uint64_t end)
{
	struct sched_worker *producer = &side->producer;
	struct sched_arrivals arrivals;
	struct rte_event events[SCHED_BURST];
	uint64_t now = weir_base_cycles();
	uint16_t nb;

	sched_arrivals_begin(&arrivals, &side->shape, &side->random, now - side->base);
	while ((now = weir_base_cycles()) < end) {
		for (nb = 0; nb < SCHED_BURST && arrivals.due <= now - side->base; nb++) {
			uint64_t what = sched_arrivals_next(&arrivals);
			uint8_t queue = side->shape.class_queues ? sched_class_of(what) : 0;

			events[nb] = new_event(what, queue, side->shape.types[queue]);
		}
		if (nb > 0) {
			enqueue_all(producer, api, 0, events, nb);
			producer->nb_in += nb;
			flush(producer, api);
		} else {
			rest(producer);
		}
	}
	return now - side->base > arrivals.due ? now - side->base - arrivals.due : 0;
}

uint64_t
sched_producer_run(struct sched_side *side, uint64_t end)
{
	bool ours = side->producer.port != NULL;

	if (side->shape.mode == SCHED_OPEN)
		return ours ? produce_timed(side, API_OURS, end)
			    : produce_timed(side, API_DEVICE, end);
	if (ours)
		produce(side, API_OURS, end);
	else
		produce(side, API_DEVICE, end);
	return 0;
}

void
sched_producer_fill(struct sched_side *side)
{
	struct sched_worker *producer = &side->producer;
	enum api api = side->kind <= SCHED_LAYER ? API_OURS : API_DEVICE;

	for (unsigned int i = 0; i < SCHED_POPULATION; i++) {
		uint32_t flow = i % SCHED_FLOWS;
		struct rte_event event =
			new_event(sched_describe(0, flow, 0), 0, side->shape.types[0]);

		/* where each worker has its own one, nobody else is at its port yet */
		enqueue_all(side->kind == SCHED_APART
				    ? &side->workers[flow % side->shape.nb_workers]
				    : producer,
			api, 0, &event, 1);
		producer->nb_in++;
	}
	flush(producer, api);
}
