/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_CTL_H
#define WEIR_BASE_CTL_H

/**
 * @file
 * The control socket: every command and question to a running instance.
 *
 * A Unix stream socket that carries JSON lines. A request is
 * `{"command": "graph/stats", "args": {...}}`; its answer is
 * `{"ok": true, "result": ...}` or `{"ok": false, "error": "what is wrong", "errno": 22}`.
 * Requests of one connection are answered in order. The command "help" lists all commands.
 *
 * Answers are of any size. A request may have WEIR_BASE_CTL_REQUEST_MAX bytes, or what
 * weir_base_ctl_limit_requests() says; one that is longer is answered with an error that names
 * the limit as soon as so much of it has come, and the connection is closed then.
 *
 * 256 connections are served at a time, others wait. Where they wait for a place, the client goes that said nothing, and took nothing
 * of an answer, for the longest time, at least two seconds; who waits for an answer stays.
 *
 * The server runs one thread of its own; handlers run in it, one at a time,
 * and must not take longer than a few seconds: one that has to wait for something defers its answer (weir_base_ctl_defer()). Needs
 * no DPDK.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_base_ctl;          /* a server */
struct weir_base_ctl_deferred; /* an answer that is to come */
struct weir_base_hist;

/** Most bytes of a request's line, its newline not among them, unless told otherwise. */
#define WEIR_BASE_CTL_REQUEST_MAX (UINT32_C(64) << 20)

/** Flags of a command. */
enum {
	WEIR_BASE_CTL_READ_ONLY = 1 << 0, /**< changes nothing: may be mirrored to telemetry */
};

/**
 * Answer one request.
 *
 * @param arg    as registered
 * @param args   the request's "args", NULL when it had none; borrowed
 * @param[out] result  on success: the answer, ownership passes to the caller;
 *   on failure: NULL, or a JSON string that says why
 * @return 0 or a negative errno
 */
typedef int (*weir_base_ctl_handler_t)(void *arg, const json_t *args, json_t **result);

/**
 * Path of the socket of instance @p name: in /run/weir for root, else in
 * $XDG_RUNTIME_DIR/weir, else in /tmp/weir-UID; file NAME.sock.
 *
 * @param[out] path  filled, zero-terminated
 * @return 0; -ENAMETOOLONG when it does not fit @p size or a socket address;
 *   -EINVAL for a name with a slash or an empty one
 */
int weir_base_ctl_path(const char *name, char *path, size_t size);

/**
 * Names of the instances that answer, as a JSON array of strings; sockets whose
 * owner died are removed. The caller owns it.
 */
json_t *weir_base_ctl_instances(void);

/**
 * Open instance @p name's control socket (mode 0600) and serve it.
 *
 * @return NULL with errno: EADDRINUSE when a live instance has that name
 */
struct weir_base_ctl *weir_base_ctl_open(const char *name);

/** Stop serving: waits for a running handler, closes connections, removes the socket. NULL is allowed. */
void weir_base_ctl_close(struct weir_base_ctl *ctl);

/** Set the most bytes that a request's line may have, from its next one on. Any thread, at any time. */
void weir_base_ctl_limit_requests(struct weir_base_ctl *ctl, size_t bytes);

/**
 * Offer a command. Any thread, at any time while the server is open.
 *
 * @param command  its name, words joined by '/', for example "graph/stats"; copied
 * @param help     one line; copied
 * @param flags    WEIR_BASE_CTL_READ_ONLY or 0
 * @param handler  gets whatever arguments come (weir_base_ctl_register_all(): those that it knows)
 * @return 0; -EEXIST when the name is taken; -ENOMEM
 */
int weir_base_ctl_register(struct weir_base_ctl *ctl, const char *command, const char *help,
	uint32_t flags, weir_base_ctl_handler_t handler, void *arg);

/**
 * Take a command back; returns after a running handler of it ended. Those of its answers that are deferred are finished by this, in the
 * caller's thread. -ENOENT when there is none. Not from a handler.
 */
int weir_base_ctl_unregister(struct weir_base_ctl *ctl, const char *command);

/** A command, as weir_base_ctl_register() takes it. */
struct weir_base_ctl_entry {
	const char *command; /**< its name */
	const char *help;    /**< one line */
	const char *args;    /**< keys that "args" may have, a space between them; NULL: none */
	uint32_t flags;      /**< WEIR_BASE_CTL_READ_ONLY or 0 */
	weir_base_ctl_handler_t handler; /**< gets what all of them are registered with */
};

/**
 * Offer several commands: all of them, or none. A request with an argument that is not among those of its command is refused,
 * and told which ones there are; its handler does not see it.
 *
 * @return 0, or as for the one that could not be registered
 */
int weir_base_ctl_register_all(
	struct weir_base_ctl *ctl, const struct weir_base_ctl_entry *entries, size_t nb, void *arg);

/** Take several commands back, as weir_base_ctl_unregister(). */
void weir_base_ctl_unregister_all(
	struct weir_base_ctl *ctl, const struct weir_base_ctl_entry *entries, size_t nb);

/**
 * Run a command in this process, as if it had come over the socket (serialised with those).
 * Used by the telemetry mirror and tests. Parameters and return as for a handler; -ENOENT: no such command.
 */
int weir_base_ctl_run(
	struct weir_base_ctl *ctl, const char *command, const json_t *args, json_t **result);

/**
 * Make an answer that was deferred. In the server's thread, or that of who takes the command back, as handlers one at a time. Called
 * once for each, also when the client has gone meanwhile; the deferred answer must not be resumed from then on.
 *
 * @param arg  as deferred
 * @param[out] result  NULL before; as a handler's
 * @return 0 or a negative errno
 */
typedef int (*weir_base_ctl_finish_t)(void *arg, json_t **result);

/**
 * Nobody waits for an answer that was deferred any more: its client has gone. In the server's thread, as handlers one at a time; once at most, and not
 * after the answer was made, which it is all the same.
 *
 * @param arg  as deferred
 */
typedef void (*weir_base_ctl_gone_t)(void *arg);

/**
 * From within a handler: the answer comes later. What the handler returns, and its result, which stays NULL, are not looked at then.
 * Other connections are served meanwhile; this one's next request is, after the answer. weir_base_ctl_run() waits for the answer.
 *
 * @param finish  makes the answer, after weir_base_ctl_resume(); also, without that, when the command is taken back, or the server closed
 * @return to be resumed once; NULL: no memory, or the handler has deferred it already
 */
struct weir_base_ctl_deferred *weir_base_ctl_defer(
	struct weir_base_ctl *ctl, weir_base_ctl_finish_t finish, void *arg);

/** From within the handler that deferred it, before it is resumed: have @p gone called if the client goes. */
void weir_base_ctl_when_gone(struct weir_base_ctl_deferred *deferred, weir_base_ctl_gone_t gone);

/**
 * The answer can be made now: finish() will be called. Any thread, also the handler itself; a few instructions under a lock, and one
 * system call. Not once finish() was called: who takes commands back while others resume holds a lock of his own in both.
 */
void weir_base_ctl_resume(struct weir_base_ctl_deferred *deferred);

/** For an answer: set a number, less than 2^63. */
void weir_base_ctl_set(json_t *object, const char *key, uint64_t value);

/** For an answer: set a text that is an application's. What is not UTF-8, or NULL, is "?". */
void weir_base_ctl_set_name(json_t *object, const char *key, const char *name);

/** For an answer: set what may be any 64 bits, for which JSON's integers have no room: as text, "0x1f". */
void weir_base_ctl_set_hex(json_t *object, const char *key, uint64_t value);

/** As weir_base_ctl_set_hex(), in decimals: "31". */
void weir_base_ctl_set_decimal(json_t *object, const char *key, uint64_t value);

/** For an answer: set bytes, as text in base64. Without memory for it nothing is set. */
void weir_base_ctl_set_bytes(json_t *object, const char *key, const void *bytes, size_t nb);

/**
 * Bytes that a text has in base64.
 *
 * @param[out] nb  how many
 * @return to be freed; NULL: it is no such text, or there is no memory
 */
void *weir_base_ctl_bytes(const json_t *text, size_t *nb);

/**
 * A histogram for an answer: {"count", "p50", "p90", "p99", "p99.9", "max", "buckets": [[low, high, count], ...]}. Those in the middle are
 * missing when nothing was recorded.
 *
 * @param value  how a value is told; NULL: as an integer
 * @return owned by the caller
 */
json_t *weir_base_ctl_hist(const struct weir_base_hist *hist, json_t *(*value)(uint64_t));

/** Call @p visit for each command, in order of names, under the server's lock: it must not register any. */
void weir_base_ctl_foreach(struct weir_base_ctl *ctl,
	void (*visit)(void *arg, const char *command, const char *help, uint32_t flags), void *arg);

/**
 * The client's side: ask instance @p name, wait for the answer at most @p timeout_ms (-1: for ever).
 *
 * @param[out] result  on 0 the answer, owned by the caller; otherwise NULL or a JSON string that says why
 * @return 0 or negative errno: -ENOENT no such instance, -ETIMEDOUT, -EPROTO, -EMSGSIZE the request is
 *   longer than the instance takes, or what the handler returned
 */
int weir_base_ctl_call(
	const char *name, const char *command, const json_t *args, int timeout_ms, json_t **result);

/**
 * Mirror a server's read-only commands to rte_telemetry as /weir/COMMAND. A
 * parameter after the comma becomes args {"name": PARAMETER}. Answers are cut to
 * what telemetry can carry; a cut answer says so in a key "weir_cut" that counts what is missing, and
 * names it cannot carry are spelled with '_' for every other sign. Needs DPDK (built with it only).
 *
 * rte_telemetry cannot unregister: commands of a closed server answer with an error.
 *
 * @return 0 or a negative errno
 */
int weir_base_ctl_mirror_telemetry(struct weir_base_ctl *ctl);

/** Is @p shown how the mirror spells @p name? So that what telemetry shows can be asked for. Needs DPDK. */
bool weir_base_ctl_is_shown_as(const char *name, const char *shown);

#ifdef __cplusplus
}
#endif

#endif
