/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EM_INTERLEAVE_LOCK_H
#define EM_INTERLEAVE_LOCK_H

/* The event machine's lock where orders of steps are tried: instead of the library's, before its sources are included. */

#include "../base/interleave.h"

/* The lock; who waits for it, lets others go on. */
static bool locked;
#define em_lock(em)                                                                                \
	do {                                                                                       \
		interleave_point();                                                                \
		while (locked)                                                                     \
			interleave_pause();                                                        \
		locked = true;                                                                     \
	} while (0)
#define em_unlock(em)                                                                              \
	do {                                                                                       \
		interleave_point();                                                                \
		locked = false;                                                                    \
	} while (0)

#endif
