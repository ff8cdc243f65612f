/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OWN_THREAD_H
#define OWN_THREAD_H

/* What a thread keeps, for tests of one file of the library by itself. */

#include "coro_test.h"

__thread struct weir_coro_thread weir_coro_thread __attribute__((tls_model("initial-exec")));

struct weir_coro_thread *
weir_coro_thread_address(void)
{
	return &weir_coro_thread;
}

#endif
