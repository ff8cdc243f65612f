/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BRIDGE_OBJECT_H
#define WEIR_BRIDGE_OBJECT_H

/**
 * @file
 * Execution objects that a description file can name: some that are built in, and others' from plug-ins.
 *
 * A plug-in is a shared object with a constant for each kind of object it has:
 *
 *     static void
 *     receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
 *             weir_em_queue queue, void *queue_context) { ... }
 *
 *     const struct weir_bridge_object_type my_object = {
 *             WEIR_BRIDGE_OBJECT_HEADER,
 *             .receive = receive,
 *     };
 *
 * and the description file says `receive: "my_plugin.so:my_object"`. What it calls (weir_em_forward() and all other public functions)
 * is the program's: it is linked without libweir. Its queues' events are packets in mbufs (WEIR_EM_EVENT_BUFFER), unless it sends others
 * to itself. A plug-in stays loaded until the program ends.
 */

#include <stdint.h>

#include "weir_bridge.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Layout of struct weir_bridge_object_type and struct weir_bridge_object_env. */
#define WEIR_BRIDGE_OBJECT_ABI_VERSION 1

/** What an object of a plug-in is told when it is made. Texts are valid for as long as it is there. */
struct weir_bridge_object_env {
	uint32_t abi_version; /**< of the program: WEIR_BRIDGE_OBJECT_ABI_VERSION */
	uint32_t struct_size; /**< as the program has it: what is beyond is not there */
	struct weir_em *
		em; /**< the event machine: weir_em_queue_find() knows the queues of the description */
	const char *name;     /**< the object's */
	const char *argument; /**< text of the description file, or NULL */
	const weir_em_queue
		*to; /**< where to send what it is done with: one or several queues, by flow */
	unsigned int nb_to; /**< entries in to; 0: the description names none */
};

/**
 * What a kind of objects does. A plug-in's constant. Fill abi_version and struct_size with WEIR_BRIDGE_OBJECT_HEADER. Functions but
 * receive may be NULL.
 */
struct weir_bridge_object_type {
	uint32_t abi_version; /**< WEIR_BRIDGE_OBJECT_ABI_VERSION of the plug-in's build */
	uint32_t struct_size; /**< sizeof(struct weir_bridge_object_type) of the plug-in's build */
	/** Before it starts: make its context. @return 0; a negative errno: the run does not begin */
	int (*init)(const struct weir_bridge_object_env *env, void **context);
	/** After it stopped, when no core runs it any more. */
	void (*fini)(void *context);
	weir_em_receive_t receive;  /**< required */
	uint16_t burst;             /**< most events of a call, up to WEIR_EM_BURST_MAX; 0: 1 */
	weir_em_start_t start;      /**< as in struct weir_em_object_config, all of these */
	weir_em_start_t core_start; /**< likewise */
	weir_em_start_t core_stop;  /**< likewise */
	weir_em_start_t stop;       /**< likewise */
};

/** First two members of a struct weir_bridge_object_type initialiser. */
#define WEIR_BRIDGE_OBJECT_HEADER                                                                  \
	.abi_version = WEIR_BRIDGE_OBJECT_ABI_VERSION,                                             \
	.struct_size = sizeof(struct weir_bridge_object_type)

/** Objects that are built in: events go on to a queue, or are freed. */
enum weir_bridge_builtin {
	WEIR_BRIDGE_FORWARD, /**< to a queue, in order */
	WEIR_BRIDGE_COUNT,   /**< likewise where one is given, else freed; counts bytes, too */
	WEIR_BRIDGE_DROP,    /**< freed */
	WEIR_BRIDGE_BUILTINS
};

/** Their names, NULL at the end: "forward", "count", "drop". */
extern const char *const weir_bridge_builtin_names[];

/** An object. */
struct weir_bridge_object;

/** What an object is to be. */
struct weir_bridge_object_param {
	const char *name;   /**< kept by the caller for as long as the object is there */
	struct weir_em *em; /**< where */
	const struct weir_bridge_object_type *type; /**< of a plug-in; NULL: built in */
	enum weir_bridge_builtin builtin;           /**< of those, which */
	const weir_em_queue *queues;                /**< its own, that belong to no object so far */
	unsigned int nb_queues;                     /**< entries in queues */
	const weir_em_queue *
		to; /**< where events go to: one queue, or several among which flows are spread; kept by the caller */
	unsigned int nb_to;         /**< entries in to; "forward" needs one */
	enum weir_bridge_flow flow; /**< of several: what tells flows apart */
	const char *argument;       /**< for a plug-in, kept by the caller; or NULL */
};

/** What an object that is built in did. */
struct weir_bridge_object_stats {
	uint64_t nb_events;    /**< received */
	uint64_t nb_bytes;     /**< of "count": their packets' */
	uint64_t nb_forwarded; /**< to queues */
	uint64_t nb_freed;     /**< as it should be */
	uint64_t nb_closed;    /**< freed as the queue to forward to was gone */
};

/**
 * Find a kind of objects in a plug-in.
 *
 * @param path    of the shared object
 * @param symbol  of the constant
 * @param[out] why  what is wrong, for people, when NULL is returned; valid until the next call of this thread
 * @return NULL with rte_errno: ENOENT (no such file or symbol, or it cannot be loaded), EINVAL (another ABI, no receive function, linked with libweir)
 */
const struct weir_bridge_object_type *weir_bridge_object_load(
	const char *path, const char *symbol, const char **why);

/** Make an object, and start it. @return NULL with rte_errno: EINVAL, ENOMEM, ENOSPC, EBUSY (a queue has an object), what init() or start functions said */
struct weir_bridge_object *weir_bridge_object_create(const struct weir_bridge_object_param *param);

/** Stop and end it. Waits for cores as weir_em_object_stop() does. NULL is allowed. */
void weir_bridge_object_destroy(struct weir_bridge_object *object);

/** Look at one. Of a plug-in all is 0 but nb_events. Any thread. */
void weir_bridge_object_stats(
	const struct weir_bridge_object *object, struct weir_bridge_object_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
