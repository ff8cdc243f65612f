/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_REPLICATION_H
#define SIM_REPLICATION_H

#include "sim.h"

#pragma GCC visibility push(hidden)

/* Asked now and then, with how much is done: 0 to 1 of a replication, of pilots how many of them. @return whether to go on */
typedef bool (*sim_ask_t)(void *arg, const struct sim *sim, double done);

/* How far a replication is. */
struct sim_course {
	struct sim *sim;
	const struct weir_sim_param *param;
	unsigned int batch;
	bool is_stopped;     /* it is not to go on */
	uint64_t instant_ps; /* when it was looked at last, and how often in a row it was then */
	unsigned int nb_instant;
	sim_ask_t ask;
	void *arg;
};

/* Up to just before a time: what happens then belongs to what follows. @return false: it is not to go on */
bool sim_run_before(struct sim_course *course, uint64_t end_ps);

/*
 * Run a replication to its end.
 *
 * @param[out] rows  what it tells, for each batch
 * @return how many batches came to their end; 0: it was not to go on, or sim->error
 */
unsigned int sim_replicate(struct sim *sim, const struct weir_sim_param *param, double *rows,
	sim_ask_t ask, void *arg);

/* Events between two questions. */
#define SIM_EVENTS_AT_ONCE (UINT64_C(1) << 20)

#define SIM_PILOTS 5

/* How many pilot replications find the end of the warm-up. */
static inline unsigned int
sim_pilots(const struct weir_sim_param *param)
{
	return param->nb_replications < SIM_PILOTS ? param->nb_replications : SIM_PILOTS;
}

struct sim_warmup {
	uint64_t ps;
	bool is_found; /* the replications are long enough to tell */
};

/*
 * Run pilot replications of a model, without regard to param->warmup_ps.
 *
 * @return 0; -ECANCELED: it was not to go on; or what went wrong otherwise
 */
int sim_find_warmup(const struct weir_sim_model *model, const struct weir_sim_param *param,
	sim_ask_t ask, void *arg, struct sim_warmup *warmup);

static inline void
sim_limit_packets(struct sim *sim, const struct weir_sim_param *param)
{
	if (param->nb_inside_max > 0)
		sim->packets.most = param->nb_inside_max;
}

/* Into how many batches a replication is cut. */
static inline unsigned int
sim_batches(const struct weir_sim_param *param)
{
	return param->nb_batches > 1 ? param->nb_batches : 1;
}

#pragma GCC visibility pop

#endif
