/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_IP4_CHECK_H
#define NODE_IP4_CHECK_H

/* What ip4_lookup asks of ip4_check.c. */

#include "node_ip4.h"

#define NODE_IP4_STEP 16 /* packets checked, or looked up, at once */

#define NODE_IP4_EDGE_REWRITE NODE_EDGE_FIRST /* where packets that pass go on to */

/*
 * May these packets be forwarded as far as their headers tell? Sets the edge of each, and where to
 * look it up, also of those refused. Cuts padding off.
 *
 * @return how many are refused
 */
uint32_t node_ip4_check(void **objs, uint16_t *nexts, uint32_t *addresses, uint32_t nb);

#endif
