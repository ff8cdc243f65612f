/* SPDX-License-Identifier: BSD-3-Clause */
/* NUMA nodes, without libnuma: the kernel is asked itself. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "weir_base.h"

#define NODES_MAX 1024 /* the kernel's own limit */
#define WORD_BITS (8 * sizeof(unsigned long))
#define PREFERRED 1 /* MPOL_PREFERRED of linux/mempolicy.h, which not each system has */

int
weir_base_prefer_node(void *start, size_t bytes, int socket_id)
{
	unsigned long nodes[NODES_MAX / WORD_BITS] = {0};

	if (socket_id < 0)
		return 0;
	if (socket_id >= NODES_MAX)
		return -EINVAL;
	nodes[(size_t)socket_id / WORD_BITS] = 1ul << ((size_t)socket_id % WORD_BITS);
	return syscall(SYS_mbind, start, bytes, PREFERRED, nodes, NODES_MAX + 1ul, 0) == 0 ? 0
											   : -errno;
}
