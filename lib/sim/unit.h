/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_UNIT_H
#define SIM_UNIT_H

/* What changes of units while they run; see unit.c. */

#include <stdbool.h>

#include "packet_list.h"
#include "weir_sim_stats.h"

/* What waits for a unit, or is worked on by it. */
struct sim_visit {
	double key;       /* the lowest goes first */
	uint64_t order;   /* in which they came */
	uint64_t left_ps; /* of its service, or SIM_NOT_DRAWN */
	uint64_t waited_ps;
	uint32_t packet;
	bool was_interrupted;
};

struct sim_unit {
	struct weir_sim_level length, busy;
	struct packet_list waiting; /* first come, first served; else: */
	struct sim_visit *visits;
	uint32_t nb_visits, room;
	uint64_t nb_came;
	void *custom;         /* state of a discipline of a shared object */
	uint64_t interrupted; /* they wait again */
	uint32_t free;        /* server: first of a list */
	uint64_t waiting_at_start;
	uint64_t arrived, dropped, taken, served;
	uint64_t nb_servers; /* by the end */
	struct weir_sim_tally wait_ps;
	weir_sim_u128 waited_ps, worked_ps;
};

struct sim_server {
	uint32_t unit;
	uint32_t next;          /* free one */
	struct sim_visit visit; /* its packet is SIM_NONE: free */
	uint64_t start_ps, end_ps;
	uint32_t stamp; /* of its next event, as of a core */
};

#endif
