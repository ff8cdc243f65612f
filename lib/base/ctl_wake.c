/* SPDX-License-Identifier: BSD-3-Clause */
/* How the control socket's thread, which waits for clients, is told of anything else. */
#include "ctl_private.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int
weir_base_ctl_wake_open(struct weir_base_ctl *ctl)
{
	ctl->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return ctl->wake_fd < 0 ? -errno : 0;
}

void
weir_base_ctl_wake(struct weir_base_ctl *ctl)
{
	uint64_t one = 1;

	/* Its counter cannot be full: it is read each time that it wakes the thread. */
	if (write(ctl->wake_fd, &one, sizeof(one)) != sizeof(one))
		weir_base_log(WEIR_BASE_LOG_ERROR, "base", "cannot wake the control thread: %s",
			strerror(errno));
}

bool
weir_base_ctl_wake_taken(struct weir_base_ctl *ctl)
{
	uint64_t nb;

	return read(ctl->wake_fd, &nb, sizeof(nb)) == sizeof(nb);
}
