/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_SIM_BENCH_H
#define BENCH_SIM_BENCH_H

/*
 * `weir bench sim`: customers that wait and are served, by the simulator and by its peers.
 *
 *   sim.c          cases, reports
 *   sim_alone.c    the simulator alone: events per second, and what they cost with many packets queued
 *   sim_given.c    a model, read
 *   sim_peer.c     a Python beside it, which runs sim_peers.py
 */

#include <weir_sim.h>

#include "harness.h"

#define SIM_CLASSES_MAX 2

/* A model of the simulator. */
struct sim_given {
	struct weir_base_doc *doc;
	struct weir_sim_model *model;
	struct weir_sim_param param;
};

/* sim_given.c. @return false: not a model, which was told on standard error, or no memory */
bool sim_given_open(struct sim_given *given, const char *text);
void sim_given_close(struct sim_given *given);

/* What is known of the customers of a class, of all slices together; times in units of the mean service. */
struct sim_class {
	double customers, latency; /* latency: the sum */
};

/* A Python that runs the peers' models. */
struct sim_peer {
	pid_t pid; /* 0: there is none */
	FILE *to, *from;
	json_t *versions; /* of Python and of the libraries; null: it has none */
};

/* Start it on the caller's CPUs. @return false, with pid 0: no Python could be started */
bool sim_peer_open(struct sim_peer *peer);
void sim_peer_close(struct sim_peer *peer);

/* Version of a library, or NULL: it has none. */
const char *sim_peer_version(const struct sim_peer *peer, const char *library);

/*
 * Have it run a model once. classes: added to; of as many as the model has.
 * @return nanoseconds that it took; 0: it failed, and told why on standard error
 */
uint64_t sim_peer_run(struct sim_peer *peer, const char *library, const char *model,
	uint64_t customers, uint64_t seed, struct sim_class *classes);

/* sim_alone.c. The cases without a peer; for a list and a pattern. */
extern const char *const sim_alone_names[];
extern const size_t sim_alone_nb_names;
void sim_alone_run(const struct bench_options *options, struct bench_report *report);

#endif
