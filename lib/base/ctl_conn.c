/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection of the control socket: request lines in, answer lines out. */
#include "ctl_private.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE 65536
/* A client that does not take its answers is not heard until it does. */
#define UNSENT_LIMIT (1u << 20)

struct ctl_conn *
weir_base_ctl_conn_new(int fd)
{
	struct ctl_conn *conn = calloc(1, sizeof(*conn));

	if (conn != NULL) {
		conn->fd = fd;
		conn->active_ns = weir_base_time_ns();
	}
	return conn;
}

void
weir_base_ctl_conn_free(struct ctl_conn *conn)
{
	if (conn->deferred != NULL)
		weir_base_ctl_deferred_leave(conn->deferred);
	close(conn->fd);
	free(conn->in.data);
	free(conn->out.data);
	free(conn);
}

static size_t
waiting(const struct ctl_buffer *buffer)
{
	return buffer->end - buffer->start;
}

/* Make room for size more bytes at the end. */
static bool
reserve(struct ctl_buffer *buffer, size_t size)
{
	size_t wanted;
	char *more;

	if (buffer->size - buffer->end >= size)
		return true;
	if (buffer->start > 0) {
		memmove(buffer->data, buffer->data + buffer->start, waiting(buffer));
		buffer->end -= buffer->start;
		buffer->start = 0;
	}
	if (buffer->size - buffer->end >= size)
		return true;
	wanted = buffer->size == 0 ? READ_SIZE : 2 * buffer->size;
	while (wanted - buffer->end < size)
		wanted *= 2;
	more = realloc(buffer->data, wanted);
	if (more == NULL)
		return false;
	buffer->data = more;
	buffer->size = wanted;
	return true;
}

/* Give memory back that one large line needed. */
static void
shrink(struct ctl_buffer *buffer)
{
	if (waiting(buffer) > 0)
		return;
	buffer->start = 0;
	buffer->end = 0;
	if (buffer->size > 16 * READ_SIZE) {
		free(buffer->data);
		*buffer = (struct ctl_buffer){NULL, 0, 0, 0};
	}
}

bool
weir_base_ctl_conn_pending(const struct ctl_conn *conn)
{
	return waiting(&conn->out) > 0;
}

static bool
is_heard(const struct ctl_conn *conn)
{
	return waiting(&conn->out) < UNSENT_LIMIT;
}

bool
weir_base_ctl_conn_ready(const struct ctl_conn *conn)
{
	return is_heard(conn) && conn->deferred == NULL &&
	       (conn->has_line || (conn->eof && waiting(&conn->in) > 0));
}

short
weir_base_ctl_conn_events(const struct ctl_conn *conn)
{
	short events = 0;

	if (!conn->eof && is_heard(conn) && !conn->has_line)
		events |= POLLIN;
	if (weir_base_ctl_conn_pending(conn))
		events |= POLLOUT;
	return events;
}

static size_t
request_max(const struct weir_base_ctl *ctl)
{
	return __atomic_load_n(&ctl->request_max, __ATOMIC_RELAXED);
}

static void
look_for_line(const struct weir_base_ctl *ctl, struct ctl_conn *conn)
{
	struct ctl_buffer *in = &conn->in;
	size_t from = in->start + conn->scanned;

	if (in->end > from)
		conn->has_line = memchr(in->data + from, '\n', in->end - from) != NULL;
	if (!conn->has_line)
		conn->scanned = waiting(in);
	/* The rest is not waited for, nor kept. */
	conn->has_line |= waiting(in) > request_max(ctl);
}

static bool
receive(const struct weir_base_ctl *ctl, struct ctl_conn *conn)
{
	ssize_t got;

	if (!reserve(&conn->in, READ_SIZE))
		return false;
	got = recv(conn->fd, conn->in.data + conn->in.end, READ_SIZE, MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0) {
		conn->eof = true;
		return true;
	}
	conn->in.end += (size_t)got;
	conn->active_ns = weir_base_time_ns();
	look_for_line(ctl, conn);
	return true;
}

bool
weir_base_ctl_conn_flush(struct ctl_conn *conn)
{
	struct ctl_buffer *out = &conn->out;

	while (waiting(out) > 0) {
		ssize_t sent = send(conn->fd, out->data + out->start, waiting(out),
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN;
		out->start += (size_t)sent;
		conn->active_ns = weir_base_time_ns();
	}
	shrink(out);
	return true;
}

static bool
is_blank(const char *line, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	}
	return true;
}

/* Append an answer, which is freed. */
static bool
say(struct ctl_conn *conn, char *answer)
{
	size_t size = answer != NULL ? strlen(answer) : 0;
	bool good = answer != NULL && reserve(&conn->out, size + 1);

	if (good) {
		memcpy(conn->out.data + conn->out.end, answer, size);
		conn->out.data[conn->out.end + size] = '\n';
		conn->out.end += size + 1;
	}
	free(answer);
	return good;
}

bool
weir_base_ctl_conn_answer(struct weir_base_ctl_deferred *deferred)
{
	struct ctl_conn *conn = deferred->conn;
	char *answer = weir_base_ctl_answer_deferred(deferred);

	if (conn == NULL) {
		free(answer);
		return true;
	}
	conn->deferred = NULL;
	if (say(conn, answer))
		return true;
	shutdown(conn->fd, SHUT_RDWR); /* it would wait for ever */
	return false;
}

/* Nothing that comes is heard any more: where the next request would begin is not known. */
static bool
refuse_long_line(struct ctl_conn *conn, size_t limit)
{
	conn->in.start = conn->in.end;
	shrink(&conn->in);
	conn->scanned = 0;
	conn->has_line = false;
	conn->eof = true;
	return say(conn, weir_base_ctl_answer_too_long(limit));
}

/* Now, or later. */
static bool
answer_line(struct weir_base_ctl *ctl, struct ctl_conn *conn, const char *line, size_t length)
{
	char *answer = weir_base_ctl_answer(ctl, line, length, &conn->deferred);

	if (conn->deferred == NULL)
		return say(conn, answer);
	conn->deferred->conn = conn;
	conn->deferred->by_client = true;
	return true;
}

/* Answer the first line; empty lines are passed over. */
static bool
answer_one(struct weir_base_ctl *ctl, struct ctl_conn *conn)
{
	struct ctl_buffer *in = &conn->in;
	char *line = in->data + in->start;
	char *newline = memchr(line, '\n', waiting(in));
	size_t length = newline != NULL ? (size_t)(newline - line) : waiting(in);
	size_t limit = request_max(ctl);
	bool good = true;

	if (length > limit)
		return refuse_long_line(conn, limit);
	if (newline == NULL && !conn->eof) {
		conn->has_line = false; /* the limit was raised meanwhile */
		return true;
	}
	if (!is_blank(line, length))
		good = answer_line(ctl, conn, line, length);
	in->start += length + (newline != NULL);
	conn->scanned = 0;
	conn->has_line = false;
	shrink(in);
	look_for_line(ctl, conn);
	return good;
}

bool
weir_base_ctl_conn_serve(struct weir_base_ctl *ctl, struct ctl_conn *conn, short events)
{
	if ((events & POLLIN) != 0 && !receive(ctl, conn))
		return false;
	/* Nobody is left to be answered. */
	if ((events & (POLLERR | POLLNVAL)) != 0)
		return false;
	if ((events & POLLHUP) != 0 && (events & POLLIN) == 0 &&
		(!conn->has_line || conn->deferred != NULL))
		return false;
	if (weir_base_ctl_conn_ready(conn) && !answer_one(ctl, conn))
		return false;
	if (!weir_base_ctl_conn_flush(conn))
		return false;
	return !conn->eof || conn->deferred != NULL || waiting(&conn->in) > 0 ||
	       waiting(&conn->out) > 0;
}
