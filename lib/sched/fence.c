/* SPDX-License-Identifier: BSD-3-Clause */

/* A fence in all threads of the process: see fence.h. */

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fence.h"

bool
fence_prepare(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool
fence_all(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
