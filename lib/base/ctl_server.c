/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket's server: opening, closing, and its thread. */
#include "ctl_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CONNS 256
/* When the server closes, clients take their last answers: as long as one takes something. */
#define CLOSE_IDLE_MS 500
#define CLOSE_MS      5000
#define BACKOFF_MS    100 /* when no connection can be accepted, for want of descriptors or places */
/* Clients that say and take nothing for so long lose their places to others, when there are no more. */
#define SILENT_NS UINT64_C(2000000000)

/* When all places are taken and somebody waits for one: who has been silent for the longest time goes. */
static void
make_room(struct weir_base_ctl *ctl)
{
	struct pollfd waiting = {.fd = ctl->listen_fd, .events = POLLIN};
	struct ctl_conn **at, **silent = NULL, *conn;

	if (ctl->nb_conns < MAX_CONNS || poll(&waiting, 1, 0) <= 0)
		return;
	for (at = &ctl->conns; *at != NULL; at = &(*at)->next)
		if ((*at)->deferred == NULL &&
			(silent == NULL || (*at)->active_ns < (*silent)->active_ns))
			silent = at;
	if (silent == NULL || weir_base_time_ns() - (*silent)->active_ns < SILENT_NS)
		return;
	conn = *silent;
	*silent = conn->next;
	weir_base_ctl_conn_free(conn);
	ctl->nb_conns--;
}

static void
accept_clients(struct weir_base_ctl *ctl, bool *exhausted)
{
	*exhausted = false;
	for (make_room(ctl); ctl->nb_conns < MAX_CONNS; make_room(ctl)) {
		int fd = accept4(ctl->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct ctl_conn *conn;

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			*exhausted = errno != EAGAIN;
			return;
		}
		conn = weir_base_ctl_conn_new(fd);
		if (conn == NULL) {
			close(fd);
			return;
		}
		conn->next = ctl->conns;
		ctl->conns = conn;
		ctl->nb_conns++;
	}
}

/* Serve everyone once, one request each, so that none can keep the others waiting. */
static bool
serve_clients(struct weir_base_ctl *ctl, const struct pollfd *polled)
{
	struct ctl_conn **at = &ctl->conns, *conn;
	bool more = false;

	while ((conn = *at) != NULL) {
		if (weir_base_ctl_conn_serve(ctl, conn, polled->revents)) {
			more |= weir_base_ctl_conn_ready(conn);
			at = &conn->next;
		} else {
			*at = conn->next;
			weir_base_ctl_conn_free(conn);
			ctl->nb_conns--;
		}
		polled++;
	}
	return more;
}

/* The descriptors of all connections, from polled on, in the order of the list. */
static void
gather(struct weir_base_ctl *ctl, struct pollfd *polled)
{
	struct ctl_conn *conn;

	for (conn = ctl->conns; conn != NULL; conn = conn->next) {
		polled->fd = conn->fd;
		polled->events = weir_base_ctl_conn_events(conn);
		polled->revents = 0;
		polled++;
	}
}

/* What was deferred, and is there now; or all of it. */
static void
answer_deferred(struct weir_base_ctl *ctl, bool all)
{
	struct weir_base_ctl_deferred *deferred;

	while ((deferred = weir_base_ctl_deferred_next(ctl, all)) != NULL)
		if (!weir_base_ctl_conn_answer(deferred))
			weir_base_log(WEIR_BASE_LOG_ERROR, "base", "no memory for an answer");
}

static void *
serve(void *arg)
{
	struct weir_base_ctl *ctl = arg;
	struct pollfd polled[2 + MAX_CONNS];
	bool more = false, exhausted = false;

	while (!__atomic_load_n(&ctl->stop, __ATOMIC_ACQUIRE)) {
		bool full = ctl->nb_conns == MAX_CONNS, closed = full || exhausted;

		polled[0] = (struct pollfd){.fd = ctl->wake_fd, .events = POLLIN};
		polled[1] = (struct pollfd){.fd = closed ? -1 : ctl->listen_fd, .events = POLLIN};
		gather(ctl, polled + 2);
		if (poll(polled, 2 + ctl->nb_conns, more ? 0 : closed ? BACKOFF_MS : -1) < 0)
			continue;
		exhausted = false;
		if ((polled[0].revents & POLLIN) != 0 && weir_base_ctl_wake_taken(ctl))
			answer_deferred(ctl, false);
		more = serve_clients(ctl, polled + 2);
		if ((polled[1].revents & POLLIN) != 0 || full)
			accept_clients(ctl, &exhausted);
	}
	return NULL;
}

static void
help_one(void *arg, const char *command, const char *text, uint32_t flags)
{
	json_array_append_new(arg, json_pack("{s:s, s:s, s:b}", "name", command, "help", text,
					   "read_only", (flags & WEIR_BASE_CTL_READ_ONLY) != 0));
}

static int
help(void *arg, const json_t *args, json_t **result)
{
	*result = json_array();
	if (*result == NULL)
		return -ENOMEM;
	weir_base_ctl_foreach(arg, help_one, *result);
	return 0;
}

/* Bind and listen. The caller holds the directory's lock. */
static int
listen_at(struct weir_base_ctl *ctl)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	int fd;

	memcpy(address.sun_path, ctl->path, sizeof(address.sun_path));
	fd = weir_base_ctl_connect(ctl->path);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || fd == -EAGAIN)
		return -EADDRINUSE;
	/* Left behind by one that died; what is no socket is not ours to remove. */
	if (fd == -ECONNREFUSED && lstat(ctl->path, &status) == 0 && S_ISSOCK(status.st_mode))
		unlink(ctl->path);
	ctl->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ctl->listen_fd < 0)
		return -errno;
	/* Before bind(), or there is a moment when others may connect. */
	if (fchmod(ctl->listen_fd, 0600) != 0 ||
		bind(ctl->listen_fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return -errno;
	if (chmod(ctl->path, 0600) != 0 || lstat(ctl->path, &status) != 0 ||
		listen(ctl->listen_fd, 64) != 0) {
		int error = errno;

		unlink(ctl->path);
		return -error;
	}
	ctl->device = status.st_dev;
	ctl->inode = status.st_ino;
	return 0;
}

/* @param told  why it did not go was logged already */
static int
open_socket(struct weir_base_ctl *ctl, const char *name, bool *told)
{
	char directory[CTL_PATH_SIZE];
	int error, lock;

	error = weir_base_ctl_path(name, ctl->path, sizeof(ctl->path));
	if (error != 0)
		return error;
	error = weir_base_ctl_directory(directory, sizeof(directory), true);
	*told = error != 0;
	if (error != 0)
		return error;
	lock = weir_base_ctl_lock(directory);
	if (lock < 0)
		return lock;
	error = listen_at(ctl);
	close(lock);
	return error;
}

/* Remove the socket file, unless someone else made a new one of that name. */
static void
remove_socket(struct weir_base_ctl *ctl)
{
	char directory[CTL_PATH_SIZE];
	struct stat status;
	int lock;

	if (weir_base_ctl_directory(directory, sizeof(directory), false) != 0)
		return;
	lock = weir_base_ctl_lock(directory);
	if (lstat(ctl->path, &status) == 0 && status.st_dev == ctl->device &&
		status.st_ino == ctl->inode)
		unlink(ctl->path);
	if (lock >= 0)
		close(lock);
}

/* Signals are the program's business: its threads shall get them, not this one. */
static int
start_thread(struct weir_base_ctl *ctl)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&ctl->thread, NULL, serve, ctl);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0)
		pthread_setname_np(ctl->thread, "weir-ctl");
	return -error;
}

void
weir_base_ctl_limit_requests(struct weir_base_ctl *ctl, size_t bytes)
{
	__atomic_store_n(&ctl->request_max, bytes, __ATOMIC_RELAXED);
}

/* Of commands, and of answers to come. */
static int
init_tables(struct weir_base_ctl *ctl)
{
	int error = weir_base_ctl_commands_init(&ctl->commands);

	if (error != 0)
		return error;
	error = weir_base_ctl_deferred_init(&ctl->waiting);
	if (error != 0)
		weir_base_ctl_commands_fini(&ctl->commands);
	return error;
}

static const struct weir_base_ctl_entry help_entry = {
	"help", "list all commands", NULL, WEIR_BASE_CTL_READ_ONLY, help};

struct weir_base_ctl *
weir_base_ctl_open(const char *name)
{
	struct weir_base_ctl *ctl = calloc(1, sizeof(*ctl));
	bool bound = false, told = false;
	int error;

	if (ctl == NULL || init_tables(ctl) != 0) {
		free(ctl);
		errno = ENOMEM;
		return NULL;
	}
	weir_base_ctl_limit_requests(ctl, WEIR_BASE_CTL_REQUEST_MAX);
	ctl->listen_fd = -1;
	error = weir_base_ctl_wake_open(ctl);
	if (error == 0)
		error = open_socket(ctl, name, &told);
	if (error == 0) {
		bound = true;
		error = weir_base_ctl_register_all(ctl, &help_entry, 1, ctl);
	}
	if (error == 0)
		error = start_thread(ctl);
	if (error == 0)
		return ctl;
	if (!told)
		weir_base_log(WEIR_BASE_LOG_ERROR, "base",
			"cannot open the control socket '%s': %s",
			ctl->path[0] != '\0' ? ctl->path
			: name != NULL       ? name
					     : "",
			strerror(-error));
	if (bound)
		remove_socket(ctl);
	if (ctl->listen_fd >= 0)
		close(ctl->listen_fd);
	if (ctl->wake_fd >= 0)
		close(ctl->wake_fd);
	weir_base_ctl_deferred_fini(&ctl->waiting);
	weir_base_ctl_commands_fini(&ctl->commands);
	free(ctl);
	errno = -error;
	return NULL;
}

/* Let clients take what was answered, for a short while. */
static void
drain(struct weir_base_ctl *ctl)
{
	uint64_t end = weir_base_time_ns() + CLOSE_MS * 1000000ull;
	struct pollfd polled[MAX_CONNS];
	struct ctl_conn *conn;

	while (weir_base_time_ns() < end) {
		nfds_t nb = 0;

		for (conn = ctl->conns; conn != NULL; conn = conn->next) {
			/* One that is gone has nothing to wait for. */
			if (!weir_base_ctl_conn_flush(conn))
				conn->out.start = conn->out.end;
			if (!weir_base_ctl_conn_pending(conn))
				continue;
			polled[nb].fd = conn->fd;
			polled[nb++].events = POLLOUT;
		}
		if (nb == 0 || poll(polled, nb, CLOSE_IDLE_MS) <= 0)
			return;
	}
}

void
weir_base_ctl_close(struct weir_base_ctl *ctl)
{
	if (ctl == NULL)
		return;
	if (ctl->watcher != NULL)
		ctl->watcher->closing(ctl);
	__atomic_store_n(&ctl->stop, true, __ATOMIC_RELEASE);
	weir_base_ctl_wake(ctl);
	pthread_join(ctl->thread, NULL);
	/* Closed, it would look dead: another one might put its own in that place, with the inode that this one had. */
	remove_socket(ctl);
	close(ctl->listen_fd);
	answer_deferred(ctl, true);
	drain(ctl);
	while (ctl->conns != NULL) {
		struct ctl_conn *conn = ctl->conns;

		ctl->conns = conn->next;
		weir_base_ctl_conn_free(conn);
	}
	close(ctl->wake_fd);
	weir_base_ctl_deferred_fini(&ctl->waiting);
	weir_base_ctl_commands_fini(&ctl->commands);
	free(ctl);
}
