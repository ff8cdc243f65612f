/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_CTL_PRIVATE_H
#define WEIR_BASE_CTL_PRIVATE_H

/*
 * What the parts of the control socket share.
 *
 *   ctl_path.c     where sockets are, and which of them answer
 *   ctl_server.c   opening, closing, the server's thread
 *   ctl_command.c  the table of commands, and running one
 *   ctl_deferred.c answers that come later
 *   ctl_conn.c     one connection: lines in, lines out
 *   ctl_client.c   asking an instance
 *   telemetry.c    the mirror (DPDK)
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/un.h>

#include "weir_base.h"
#include "weir_base_ctl.h"

#pragma GCC visibility push(hidden)

#define CTL_PATH_SIZE sizeof(((struct sockaddr_un *)NULL)->sun_path)

struct ctl_command {
	char *name, *help;
	char *args; /* keys, with spaces between; NULL: any */
	uint32_t flags;
	weir_base_ctl_handler_t handler;
	void *arg;
};

/* Told of what happens to a server: how the mirror follows it. */
struct ctl_watcher {
	void (*registered)(
		struct weir_base_ctl *ctl, const char *command, const char *help, uint32_t flags);
	void (*closing)(struct weir_base_ctl *ctl);
};

/* A handler that runs now. */
struct ctl_run {
	weir_base_ctl_handler_t handler;
	void *arg;
	struct weir_base_ctl_deferred *deferred; /* NULL: it answers itself */
};

struct weir_base_ctl_deferred {
	TAILQ_ENTRY(weir_base_ctl_deferred) entry;
	struct weir_base_ctl *ctl;
	weir_base_ctl_handler_t handler; /* and its arg: of which command */
	void *handler_arg;
	weir_base_ctl_finish_t finish;
	weir_base_ctl_gone_t gone; /* NULL: it need not be told */
	void *arg;
	struct ctl_conn
		*conn;  /* who is answered, NULL: gone; like the next one the server's thread's */
	bool by_client; /* asked for */
	bool resumed, finished; /* under the lock of those that wait */
	int error;              /* when it is finished: the answer */
	json_t *result;
};

TAILQ_HEAD(ctl_deferred_list, weir_base_ctl_deferred);

/* All answers that are deferred. */
struct ctl_waiting {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* one is resumed, or finished */
	struct ctl_deferred_list list;
};

struct ctl_commands {
	struct ctl_run *running; /* under the next one */
	pthread_mutex_t run;     /* held while a handler runs; recursive */
	pthread_mutex_t table;   /* held while the table is read or changed; recursive */
	struct ctl_command *sorted;
	unsigned int nb, max;
};

/* Bytes from start to end wait; they move to the front when room is needed. */
struct ctl_buffer {
	char *data;
	size_t start, end, size;
};

/* One client. */
struct ctl_conn {
	struct ctl_conn *next;
	int fd;
	bool eof;           /* the client will say no more, or is not heard any more */
	bool has_line;      /* a whole one, or more than one may have */
	size_t scanned;     /* bytes of in that hold no newline */
	uint64_t active_ns; /* when it last said something, or took some of an answer */
	struct ctl_buffer in, out;
	struct weir_base_ctl_deferred
		*deferred; /* the answer that comes before any other; NULL: none */
};

struct weir_base_ctl {
	struct ctl_commands commands;
	struct ctl_waiting waiting;
	const struct ctl_watcher *watcher;
	char path[CTL_PATH_SIZE];
	dev_t device; /* of the socket we made: another's of the same name is not ours to remove */
	ino_t inode;
	size_t request_max; /* atomic */
	int listen_fd;
	int wake_fd;
	bool stop;
	pthread_t thread;
	struct ctl_conn *conns;
	unsigned int nb_conns;
};

/* ctl_path.c */

/* The directory of all sockets; made (mode 0700) on request, refused when it is not ours alone. */
int weir_base_ctl_directory(char *path, size_t size, bool make);

/* Lock the directory against others that open or clean up; a descriptor to close, or negative errno. */
int weir_base_ctl_lock(const char *directory);

/* Connect to a socket file, not blocking: a descriptor or negative errno (-ECONNREFUSED: nobody listens). */
int weir_base_ctl_connect(const char *path);

/* ctl_command.c */

/* Tell a watcher from now on. */
void weir_base_ctl_watch(struct weir_base_ctl *ctl, const struct ctl_watcher *watcher);
int weir_base_ctl_commands_init(struct ctl_commands *commands);
void weir_base_ctl_commands_fini(struct ctl_commands *commands);

/*
 * Answer one request line; a string without newline to be freed with free(), NULL: out of memory; or it is deferred, and to be had from
 * weir_base_ctl_deferred_next().
 */
char *weir_base_ctl_answer(struct weir_base_ctl *ctl, const char *line, size_t size,
	struct weir_base_ctl_deferred **deferred);

/* The same of what was deferred, which is freed. */
char *weir_base_ctl_answer_deferred(struct weir_base_ctl_deferred *deferred);

/* The answer to one that is longer than limit. */
char *weir_base_ctl_answer_too_long(size_t limit);

/* ctl_deferred.c */
int weir_base_ctl_deferred_init(struct ctl_waiting *waiting);
void weir_base_ctl_deferred_fini(struct ctl_waiting *waiting);

/* Its client goes: nobody gets the answer, which is made all the same. In the server's thread. */
void weir_base_ctl_deferred_leave(struct weir_base_ctl_deferred *deferred);

/* Finish what a command has deferred. Under the lock of handlers. */
void weir_base_ctl_deferred_finish(struct weir_base_ctl *ctl, const struct ctl_command *command);

/* Wait for an answer, as who asked for it in this process. @return as a handler */
int weir_base_ctl_deferred_wait(struct weir_base_ctl_deferred *deferred, json_t **result);

/* The next one for a client that is finished now, or, all, has not been yet; NULL: there is none. The server's thread only. */
struct weir_base_ctl_deferred *weir_base_ctl_deferred_next(struct weir_base_ctl *ctl, bool all);

/* ctl_wake.c. @return 0, or a negative errno */
int weir_base_ctl_wake_open(struct weir_base_ctl *ctl);

/* The server's thread is to look at what was resumed, or at whether it is to stop. Any thread. */
void weir_base_ctl_wake(struct weir_base_ctl *ctl);

/* The server's thread has been woken; it sleeps again until the next time. */
bool weir_base_ctl_wake_taken(struct weir_base_ctl *ctl);

/* ctl_conn.c */
struct ctl_conn *weir_base_ctl_conn_new(int fd);
void weir_base_ctl_conn_free(struct ctl_conn *conn);

/* What poll() should wait for. */
short weir_base_ctl_conn_events(const struct ctl_conn *conn);

/* A whole request is there, and may be answered now. */
bool weir_base_ctl_conn_ready(const struct ctl_conn *conn);

/* The answer that it waits for. False: out of memory. */
bool weir_base_ctl_conn_answer(struct weir_base_ctl_deferred *deferred);

/* Read, answer at most one request, write. False: the connection is over. */
bool weir_base_ctl_conn_serve(struct weir_base_ctl *ctl, struct ctl_conn *conn, short events);

/* Are there answers that the client has not taken yet? */
bool weir_base_ctl_conn_pending(const struct ctl_conn *conn);

/* Write what the client takes now. False: the connection is over. */
bool weir_base_ctl_conn_flush(struct ctl_conn *conn);

#pragma GCC visibility pop

#endif
