/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_IP4_CHECK_H
#define NODE_IP4_CHECK_H

/* What ip4_lookup asks of ip4_check.c. */

#include "node_ip4.h"
#include "node_lookup.h"
#include "node_route.h"

#define NODE_IP4_STEP 16 /* packets checked, or looked up, at once */

/* What is to be known of a step's packets; one array per field, so that many are checked at once. */
struct node_ip4_step {
	uint64_t low[NODE_IP4_STEP];     /* version .. fragment offset, as in memory */
	uint64_t high[NODE_IP4_STEP];    /* TTL .. source address, as in memory */
	uint64_t address[NODE_IP4_STEP]; /* destination, in host byte order */
	uint64_t room[NODE_IP4_STEP];    /* bytes of the frame from the header on */
	uint64_t flags;                  /* of any of them */
};

/*
 * Collect what a step's 1 to NODE_IP4_STEP packets say of themselves, and send for the memory that their
 * look-ups will read.
 */
void node_ip4_collect(
	struct node_ip4_step *step, void **objs, uint32_t nb, struct weir_node_route4 routes);

/*
 * May these packets be forwarded as far as their headers tell? Sets the edge of each. Best asked
 * some time after they were collected: right behind its stores, a load of many fields at once has to wait for them.
 *
 * @return how many are refused
 */
uint32_t node_ip4_check(
	const struct node_ip4_step *step, void **objs, uint16_t *nexts, uint32_t nb);

#endif
