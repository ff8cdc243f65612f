/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXAMPLE_H
#define EXAMPLE_H

/*
 * What the programs share, besides the event machine itself: the command line, EAL, threads that are cores, and what becomes the
 * exit status. A program looks like this:
 *
 *     example_begin(&ex, argc, argv, config);   core 0 is this thread, all others dispatch from now on
 *     ...                                       make queues and objects, send the first events
 *     example_run(&ex);                         dispatch here, too, until the time is up; then nothing is inside any more
 *     ...                                       look at the results
 *     return example_end(&ex);                  take all away; 0 if everything went as it should
 */

#include <stdbool.h>
#include <stdint.h>

#include <weir_em.h>

struct example {
	struct weir_em *em;        /* the instance */
	struct weir_em_core *core; /* its core 0: this thread */
	unsigned int nb_cores;     /* of it */
	double seconds;            /* how long to run */
	/* Set before example_begin(): */
	const char *about; /* for --help: what it shows, in a sentence */
	uint16_t burst;    /* events that a core takes at a time; 0: 32 */
	const char *
		file; /* where its result goes, if the command line names no other; NULL: it has none */
};

/* All that can fail at the beginning ends the program, with a message. */
void example_begin(struct example *ex, int argc, char **argv, struct weir_em_config config);
void example_run(struct example *ex);
int example_end(struct example *ex);

/* The other half of example_run(): the time is up, until nothing is inside. */
void example_stop(struct example *ex);

/* The time is up: receive functions let events go that they would have forwarded. */
bool example_over(void);

/* Dispatch here until nothing is inside: every event that was sent has been received. */
void example_rest(struct example *ex);

/* Dispatch here for so long, as the other cores do. */
void example_dispatch(struct example *ex, double seconds);

/* Dispatch here for so long, and print what all cores did. @return million events a second */
double example_measure(struct example *ex, double seconds, const char *what);

/* An object that has one queue, started. Names are the same. @return the queue */
weir_em_queue example_serve(
	struct example *ex, struct weir_em_queue_config queue, struct weir_em_object_config object);

/* Without this there is no point in going on. The library's log says why. */
void example_must(bool ok, const char *what);

/* What the program promises: the exit status is 1 where it does not hold, and the first of them are printed. */
#define example_expect(ok, ...)                                                                    \
	do {                                                                                       \
		if (__builtin_expect(!(ok), 0))                                                    \
			example_failed(__VA_ARGS__);                                               \
	} while (0)
void example_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Has all been so up to now? */
bool example_held(void);

#endif
