/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_QUANTITIES_H
#define SIM_QUANTITIES_H

/* What is told of a thing of each kind: numbers, of which each has a name. */

#include "sim.h"

#pragma GCC visibility push(hidden)

/* A quantity of thing number `index`. */
struct quantity {
	const char *name;
	double (*get)(const struct sim *sim, uint32_t index);
};

/* A function KIND_NAME: one expression of thing `of`, one of `all`. */
#define QUANTITY(kind, type, of, all, name, expression)                                            \
	static double kind##_##name(const struct sim *sim, uint32_t index)                         \
	{                                                                                          \
		const struct type *const of = &sim->all[index];                                    \
                                                                                                   \
		return expression;                                                                 \
	}

#define SIM_WORKER_QUANTITIES 7
#define SIM_NODE_QUANTITIES   5
#define SIM_JOB_QUANTITIES    3

#define SIM_LINK_QUANTITIES    24
#define SIM_REQUEST_QUANTITIES 15
#define SIM_PROCESS_QUANTITIES 10

/* quantities_graph.c */
extern const struct quantity sim_worker_quantities[SIM_WORKER_QUANTITIES];
extern const struct quantity sim_node_quantities[SIM_NODE_QUANTITIES];
extern const struct quantity sim_job_quantities[SIM_JOB_QUANTITIES];

/* quantities_links.c */
extern const struct quantity sim_link_quantities[SIM_LINK_QUANTITIES];
extern const struct quantity sim_request_quantities[SIM_REQUEST_QUANTITIES];
extern const struct quantity sim_process_quantities[SIM_PROCESS_QUANTITIES];

/* How many there are of a thing. */
unsigned int sim_quantities(enum weir_sim_scope scope);
const char *sim_quantity_name(enum weir_sim_scope scope, unsigned int quantity);
double sim_quantity(
	const struct sim *sim, enum weir_sim_scope scope, uint32_t index, unsigned int quantity);

/* Of a kind of which there are so many things, find those that are of arrays. @return 0, -ENOMEM */
int sim_arrays_make(struct weir_sim_model *model, enum weir_sim_scope scope, uint32_t nb_things);
void sim_arrays_free(struct weir_sim_model *model);

/* Work out what is told of kinds of cores, units and arrays as a whole. */
void sim_arrays_fill(struct sim *sim);

#pragma GCC visibility pop

#endif
