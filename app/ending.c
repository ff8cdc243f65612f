/* SPDX-License-Identifier: BSD-3-Clause */

#include "ending.h"

unsigned int
ending_step(struct ending *ending, uint64_t now_ns, bool asked, int nb_signals)
{
	unsigned int todo = 0;

	if (!ending->stopping && (asked || nb_signals > 0)) {
		ending->stopping = true;
		ending->since_ns = now_ns;
		todo |= ENDING_STOP;
	}
	if (!ending->stopping)
		return todo;
	if (nb_signals > 1 || now_ns - ending->since_ns > ENDING_DEVICE_NS)
		todo |= ENDING_STOP_WAITING;
	if (nb_signals > 1 || now_ns - ending->since_ns > ENDING_READER_NS)
		todo |= ENDING_STOP_NOW;
	return todo;
}
