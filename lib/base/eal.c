/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK's environment leaves behind. */
#include "weir_base_eal.h"

#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>

/* EAL removes its sockets when the program ends, but not the directory that held them. */
static void
remove_runtime_directory(void)
{
	const char *directory = rte_eal_get_runtime_dir();

	if (directory != NULL && directory[0] != '\0')
		(void)rmdir(directory);
}

void
weir_base_eal_clean_up_at_exit(void)
{
	/* Registered before EAL registers its own: run after it. */
	(void)atexit(remove_runtime_directory);
}
