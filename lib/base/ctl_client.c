/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a running instance. */
#include "ctl_private.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FOR_EVER  UINT64_MAX
#define READ_SIZE 65536

/* Milliseconds left for poll(), -1: no limit. */
static int
left_ms(uint64_t deadline_ns)
{
	uint64_t now;

	if (deadline_ns == FOR_EVER)
		return -1;
	now = weir_base_time_ns();
	if (now >= deadline_ns)
		return 0;
	return (int)((deadline_ns - now + 999999) / 1000000);
}

static int
wait_for(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd polled = {.fd = fd, .events = events};

	for (;;) {
		int left = left_ms(deadline_ns);
		int nb = poll(&polled, 1, left);

		if (nb > 0)
			return 0;
		if (nb == 0 && left >= 0 && left_ms(deadline_ns) == 0)
			return -ETIMEDOUT;
		if (nb < 0 && errno != EINTR)
			return -errno;
	}
}

/* A full backlog gives EAGAIN, and nothing that could be waited for. */
static int
connect_until(const char *path, uint64_t deadline_ns)
{
	struct timespec pause = {.tv_nsec = 5000000};

	for (;;) {
		int fd = weir_base_ctl_connect(path);

		if (fd != -EAGAIN)
			return fd == -ECONNREFUSED ? -ENOENT : fd;
		if (left_ms(deadline_ns) == 0)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

static int
send_all(int fd, const char *text, size_t size, uint64_t deadline_ns)
{
	while (size > 0) {
		ssize_t sent = send(fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent >= 0) {
			text += sent;
			size -= (size_t)sent;
		} else if (errno == EAGAIN) {
			int error = wait_for(fd, POLLOUT, deadline_ns);

			if (error != 0)
				return error;
		} else if (errno != EINTR) {
			return errno == EPIPE || errno == ECONNRESET ? -EPROTO : -errno;
		}
	}
	return 0;
}

/* One line, without its newline; to be freed. */
static int
receive_line(int fd, char **line, size_t *size, uint64_t deadline_ns)
{
	size_t room = 0, used = 0;
	char *text = NULL, *newline;
	int error = 0;

	while (error == 0) {
		ssize_t got;

		if (room - used < READ_SIZE) {
			char *more;

			room = room == 0 ? 2 * READ_SIZE : 2 * room;
			more = realloc(text, room);
			if (more == NULL) {
				error = -ENOMEM;
				break;
			}
			text = more;
		}
		got = recv(fd, text + used, READ_SIZE, MSG_DONTWAIT);
		if (got > 0) {
			newline = memchr(text + used, '\n', (size_t)got);
			used += (size_t)got;
			if (newline != NULL) {
				*line = text;
				*size = (size_t)(newline - text);
				return 0;
			}
		} else if (got == 0) {
			error = -EPROTO; /* it died, or was closed, before it answered */
		} else if (errno == EAGAIN) {
			error = wait_for(fd, POLLIN, deadline_ns);
		} else if (errno != EINTR) {
			error = errno == ECONNRESET ? -EPROTO : -errno;
		}
	}
	free(text);
	return error;
}

static char *
make_request(const char *command, const json_t *args, size_t *size)
{
	json_t *request = json_pack("{s:s}", "command", command);
	char *text;

	/* Reference counts are not part of what the caller sees: args stays as it was. */
	if (args != NULL)
		json_object_set(request, "args", (json_t *)(uintptr_t)args);
	text = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	if (text == NULL)
		return NULL;
	*size = strlen(text);
	text[(*size)++] = '\n'; /* in the place of the terminating zero */
	return text;
}

/* Take an answer apart. */
static int
read_answer(const char *line, size_t size, json_t **result)
{
	json_t *answer = json_loadb(line, size, 0, NULL);
	const json_t *ok = json_object_get(answer, "ok");
	const char *part = json_is_true(ok) ? "result" : "error";
	int error = -EPROTO;

	if (json_is_true(ok)) {
		error = 0;
	} else if (json_is_false(ok)) {
		json_int_t number = json_integer_value(json_object_get(answer, "errno"));

		error = number > 0 && number < 4096 ? -(int)number : -EIO;
	}
	if (error != -EPROTO || json_is_false(ok))
		*result = json_incref(json_object_get(answer, part));
	else
		*result = json_string("the answer is not what an instance of Weir says");
	if (error == 0 && *result == NULL)
		*result = json_null();
	json_decref(answer);
	return error;
}

int
weir_base_ctl_call(
	const char *name, const char *command, const json_t *args, int timeout_ms, json_t **result)
{
	uint64_t deadline_ns = FOR_EVER;
	char path[CTL_PATH_SIZE], *request = NULL, *line = NULL;
	size_t size = 0;
	int error, fd;

	*result = NULL;
	if (timeout_ms >= 0)
		deadline_ns = weir_base_time_ns() + (uint64_t)timeout_ms * 1000000u;
	error = weir_base_ctl_path(name, path, sizeof(path));
	if (error != 0)
		return error;
	fd = connect_until(path, deadline_ns);
	if (fd < 0) {
		if (fd == -ENOENT)
			*result = json_sprintf("no instance '%s' is running", name);
		return fd;
	}
	request = make_request(command, args, &size);
	error = request == NULL ? -EINVAL : send_all(fd, request, size, deadline_ns);
	free(request);
	/* One that hears no more may have said why. */
	if (error == 0 || error == -EPROTO)
		error = receive_line(fd, &line, &size, deadline_ns);
	if (error == 0)
		error = read_answer(line, size, result);
	else if (error == -EPROTO)
		*result = json_string("the instance closed the connection before it answered");
	else if (error == -ETIMEDOUT)
		*result = json_sprintf("no answer within %d ms", timeout_ms);
	free(line);
	close(fd);
	return error;
}
