/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EM_TEST_H
#define EM_TEST_H

/*
 * What the tests of lib/em share: an instance over the backend of the environment's WEIR_SCHED_BACKEND, workers in threads, and what
 * an object received. EAL, the log and skipping are those of lib/sched's tests.
 */

#include <pthread.h>

#include "../sched/sched_test.h"

#include "weir_em.h"
#include "weir_em_pool.h"

/* The instance under test, and core 0, which is the test's own thread once et_make() was called. */
extern struct weir_em *et_em;
extern struct weir_em_core *et_core;

#define ET_TEST(name) cmocka_unit_test_teardown(name, et_teardown)

/* Made, and core 0 attached. */
void et_make(struct weir_em_config config);
/* Of one core: 4,096 events, 64 queues. */
void et_make_small(void);
/* The same, but core 0 is nobody's yet. */
void et_make_detached(struct weir_em_config config);
int et_teardown(void **state);

/* Dispatch in this thread until nothing has come for a while. @return events */
uint64_t et_run(void);

/* An object that keeps what it receives. */
struct et_sink {
	weir_em_object object;
	weir_em_queue queue;
	unsigned int nb, nb_calls;
	uint64_t values[4096];
	weir_em_queue queues[4096];
	uint16_t sizes[4096]; /* of calls */
};

void et_sink_receive(struct weir_em_core *core, void *context, struct rte_event *events,
	uint16_t nb, weir_em_queue queue, void *queue_context);

/* Made and started, with a queue; skipped if the backend has no such queues. */
void et_sink_make(
	struct et_sink *sink, enum weir_em_queue_type type, uint8_t priority, uint16_t burst);

/* They must be made; skipped if the backend has no such queues. */
weir_em_queue et_queue(const char *name, enum weir_em_queue_type type, uint8_t priority);
weir_em_object et_object(const char *name, weir_em_receive_t receive, void *context);
/* An object that was started, with a queue. */
weir_em_queue et_serve(
	const char *name, enum weir_em_queue_type type, weir_em_receive_t receive, void *context);

/* One event with a number, that must be taken. */
void et_send(weir_em_queue queue, uint64_t value);

/* Workers: threads for cores 1 up to @nb, which dispatch until et_workers_end(). */
void et_workers_begin(unsigned int nb);
void et_workers_end(void);

/* Wait until *value is as wanted; fails after some seconds. This thread dispatches if it is core 0. */
void et_wait(const uint64_t *value, uint64_t wanted, const char *what);

/* Sent = received + dropped for all types of queues, and the instance's own sums. */
void et_check_sums(void);

struct weir_em_stats et_stats(void);

#endif
