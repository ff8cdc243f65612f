/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_TEST_H
#define SCHED_TEST_H

/*
 * What the tests of lib/sched share. The backend is that of the environment's WEIR_SCHED_BACKEND: "builtin", or
 * "eventdev:event_dsw0", whose device is made then. Cases that the backend refuses with ENOTSUP are skipped, with what it said.
 */

#include "../base/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "weir_base.h"
#include "weir_sched.h"

#define ATOMIC   RTE_SCHED_TYPE_ATOMIC
#define ORDERED  RTE_SCHED_TYPE_ORDERED
#define PARALLEL RTE_SCHED_TYPE_PARALLEL

/* In threads, where cmocka's own assertions must not be used. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			st_abort();                                                                \
		}                                                                                  \
	} while (0)

/* The scheduler under test; a test's teardown takes it away. */
extern struct weir_sched *st_sched;

/* A case that takes its scheduler away, and all of them. */
#define TEST(name)          cmocka_unit_test_teardown(name, st_teardown)
#define ST_RUN(name, tests) st_run(name, tests, RTE_DIM(tests))

/* Start EAL, with the device under test; ends the program when that fails. */
void st_eal_init(const char *program);

/* main() of a program: its result; 77 when all was skipped. */
int st_run(const char *name, const struct CMUnitTest *tests, size_t nb);

/* Skip, and say why. */
void st_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How many seconds cases of a program are to take together: @seconds, or more when WEIR_TEST_LONG is set. */
double st_seconds(double seconds);

/* Name of the backend, as in weir_sched_config. */
const char *st_backend(void);
bool st_is_builtin(void);

/* Is it a device of this driver? "event_dsw", for one. */
bool st_is_driver(const char *driver);

/* Only builtin promises what comes: which port gets an event, and when, is up to the device. */
void st_builtin_only(void);

/* Errors and warnings that were logged since the last call of st_log_clear(). */
unsigned int st_log_count(void);
/* The last one of them. */
const char *st_log_last(void);
void st_log_clear(void);

/* Make st_sched of the backend under test; skips the test where it cannot. */
void st_make(struct weir_sched_config config);

/* So many ports and queues, of 64 flows, 4,096 events. */
struct weir_sched_config st_config(unsigned int nb_ports, unsigned int nb_queues);

/* Started, of two queues of these types; ports hold what they have until it is released, where the device can. */
void st_make_two(unsigned int nb_ports, uint8_t first, uint8_t second);

/* Not started yet, of atomic queues; ports hold what they have until it is released, where the device can. */
void st_make_credits(unsigned int nb_ports, unsigned int nb_queues, uint32_t events,
	uint32_t reserved, uint32_t threshold);

/* Configure, or skip. */
void st_queue(unsigned int queue, uint8_t type, uint8_t priority, uint8_t group);
void st_group(unsigned int group, uint64_t ports);
/* What the port holds stays held until it is released. */
void st_keep(unsigned int port);
void st_keep_all(void);
/* The same where the device can. @return can it? */
bool st_keep_if_possible(void);
/* Skip unless st_keep_if_possible() was: what is held must outlive a dequeue. */
void st_needs_keep(void);
/* NEW is refused from so many on, as the device has room. */
unsigned int st_threshold(void);
/* A port that only enqueues, if it is a device: who gets an event is its choice, and it should not be this one. */
void st_producer_on_device(unsigned int port);
void st_start(void);

/* Ends st_sched, for cmocka. */
int st_teardown(void **state);

/* Dump st_sched and end the program. */
void st_abort(void) __attribute__((noreturn));

static inline struct weir_sched_port *
st_port(unsigned int port)
{
	return weir_sched_port(st_sched, port);
}

static inline struct rte_event
st_event(uint8_t op, uint8_t queue, uint32_t flow, uint64_t value)
{
	return (struct rte_event){
		.op = op & 3, .queue_id = queue, .flow_id = flow & 0xfffff, .u64 = value};
}

/* NEW, one; false: refused. */
bool st_try_new(unsigned int port, uint8_t queue, uint32_t flow, uint64_t value);

/* NEW, one, that must be taken. */
void st_new(unsigned int port, uint8_t queue, uint32_t flow, uint64_t value);

/*
 * Dequeue until there are @nb, or nothing comes for a while. How many there are. With ports that release implicitly, all but
 * those of the last dequeue are released then.
 */
unsigned int st_get(unsigned int port, struct rte_event *events, unsigned int nb);

/* One, that must come; its value. */
struct rte_event st_get_one(unsigned int port);

/* Nothing comes, however often one asks. */
void st_get_none(unsigned int port);

/* FORWARD and RELEASE of one, that must be taken. */
void st_forward(unsigned int port, struct rte_event event, uint8_t queue);
void st_release(unsigned int port, struct rte_event event);

/* Ask like a thread that has nothing to do. */
void st_idle(unsigned int port);

struct weir_sched_stats st_stats(void);

/* One of xstats, by its name, which must be there. */
uint64_t st_xstat(enum weir_sched_part part, unsigned int which, const char *name);

/* How many NEW events are taken until one is refused, one by one. At most @most. */
unsigned int st_fill(unsigned int port, uint8_t queue, unsigned int most);

/* What is drained, in order. */
struct st_drained {
	unsigned int nb, max;
	struct rte_event *events;
};

void st_drain(void *arg, const struct rte_event *event);

/* Release all that comes, until nothing does. */
void st_empty(unsigned int nb_ports);

#endif
