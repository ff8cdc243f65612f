/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a sender sends to: files and stream sockets. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sender_private.h"

/* @return a file descriptor, or a negative errno */
static int
connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* @return a file descriptor, or a negative errno */
static int
open_path(const char *path)
{
	struct stat status;
	int fd;

	if (stat(path, &status) == 0 && S_ISSOCK(status.st_mode))
		return connect_to(path);
	/* a pipe that nobody reads would be waited for */
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
	return fd < 0 ? -errno : fd;
}

static bool
is_stream(int fd)
{
	socklen_t bytes = sizeof(int);
	int type;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM;
}

/* What it is. @return 0, or a negative errno */
static int
look_at(struct outlet *outlet, int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	outlet->is_socket = S_ISSOCK(status.st_mode);
	if (outlet->is_socket && !is_stream(fd))
		return -EINVAL;
	/* a write to a pipe without a reader would be a signal */
	if (!outlet->is_socket && !S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode))
		return -EINVAL;
	outlet->end = S_ISREG(status.st_mode) ? lseek(fd, 0, SEEK_END) : -1;
	return 0;
}

int
outlet_open(struct outlet *outlet, const char *name, const char *path, int fd)
{
	bool opened = path != NULL;
	int rc;

	if (opened)
		fd = open_path(path);
	rc = fd < 0 ? (opened ? fd : -EBADF) : look_at(outlet, fd);
	if (rc == 0) {
		outlet->fd = fd;
		return 0;
	}
	SENDER_LOG(ERROR, "fragments to '%s': %s", name,
		rc == -EINVAL ? "neither a file nor a stream socket" : strerror(-rc));
	if (opened && fd >= 0)
		close(fd);
	return rc;
}

void
outlet_roll_back(const struct outlet *outlet)
{
	if (outlet->end < 0)
		return;
	if (ftruncate(outlet->fd, outlet->end) < 0 || lseek(outlet->fd, outlet->end, SEEK_SET) < 0)
		SENDER_LOG(ERROR, "part of a fragment stays in its file: %s", strerror(errno));
}

void
outlet_wait(const struct outlet *outlet, int timeout_ms)
{
	struct pollfd one = {.fd = outlet->fd, .events = POLLOUT};

	poll(&one, 1, timeout_ms);
}
