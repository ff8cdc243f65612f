/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_PACKET_LIST_H
#define SIM_PACKET_LIST_H

#include <stdint.h>

/* Packets, first in, first out; those behind the first are found by their `next`. */
struct packet_list {
	uint32_t head, tail; /* tail means nothing when head is SIM_NONE */
};

#endif
