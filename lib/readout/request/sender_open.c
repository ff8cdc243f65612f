/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a sender sends to: files and stream sockets. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
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

/*
 * Two that write one file would take each other's fragments off its end: the second one is refused, in this process or in another. Where a
 * file system knows no locks there is nothing to ask.
 */
static int
lock_file(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? -EBUSY : 0;
}

/* What was opened, where it is a file. @return 0, or a negative errno */
static int
take_file(int fd, bool anew)
{
	struct stat status;
	int rc;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return 0;
	rc = lock_file(fd);
	if (rc == 0 && anew && ftruncate(fd, 0) < 0)
		rc = -errno;
	return rc;
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

static const char *
text_of_error(int rc)
{
	switch (rc) {
	case -EINVAL:
		return "neither a file nor a stream socket";
	case -EBUSY:
		return "another one writes this file; expected a file of its own for each";
	default:
		return strerror(-rc);
	}
}

int
outlet_open(
	struct outlet *outlet, const char *name, const struct weir_readout_sender_config *config)
{
	const bool opened = config->path != NULL;
	const int fd = opened ? open_path(config->path) : config->fd;
	int rc = 0;

	if (fd < 0)
		rc = opened ? fd : -EBADF;
	else if (opened)
		rc = take_file(fd, config->anew);
	if (rc == 0)
		rc = look_at(outlet, fd);
	if (rc == 0) {
		outlet->fd = fd;
		return 0;
	}
	SENDER_LOG(ERROR, "fragments to '%s': %s", name, text_of_error(rc));
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
