/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BRIDGE_PROCESS_H
#define WEIR_BRIDGE_PROCESS_H

/**
 * @file
 * Functions on the frames of links that a description file can name: from plug-ins.
 *
 * A plug-in is a shared object with a constant for each kind of function it has:
 *
 *     static int
 *     look(void *context, const struct weir_readout_item *item) { ... return WEIR_READOUT_PASS; }
 *
 *     const struct weir_bridge_process_type my_look = {
 *             WEIR_BRIDGE_PROCESS_HEADER,
 *             .run = look,
 *     };
 *
 * and the description file says `function: "my_plugin.so:my_look"` of one of `application.processes`, and where it runs: before the buffer, or after it, in a
 * thread or as jobs. It is one function for all of these (weir_readout_process.h has what it may do where). It has a context for each link. What
 * it calls is the program's: it is linked without libweir. A plug-in stays loaded until the program ends.
 *
 * One that makes something of frames says of which type that is (weir_bridge_process_type::output), and sends it to
 * weir_bridge_process_env::output: these messages become the frames of the link that the description names as `to`.
 */

#include <stdint.h>

#include "weir_readout_process.h"
#include "weir_readout_registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Layout of struct weir_bridge_process_type and struct weir_bridge_process_env. */
#define WEIR_BRIDGE_PROCESS_ABI_VERSION 1

/** What a function is told of a link when its context is made. Texts are valid for as long as that is there. */
struct weir_bridge_process_env {
	uint32_t abi_version; /**< of the program: WEIR_BRIDGE_PROCESS_ABI_VERSION */
	uint32_t struct_size; /**< as the program has it: what is beyond is not there */
	const char *name;     /**< the process', as the description has it */
	const char *argument; /**< text of the description file, or NULL */
	const char *link;     /**< name of the link whose frames it gets */
	uint64_t stream;      /**< that link's stream key */
	const struct weir_readout_format *format; /**< of its frames */
	struct weir_readout_source *
		output; /**< where messages go, by weir_readout_source_send(); NULL: the description names no link for them */
};

/** What is done with frames. A plug-in's constant. Fill abi_version and struct_size with WEIR_BRIDGE_PROCESS_HEADER. What is not required may be NULL. */
struct weir_bridge_process_type {
	uint32_t abi_version; /**< WEIR_BRIDGE_PROCESS_ABI_VERSION of the plug-in's build */
	uint32_t struct_size; /**< sizeof(struct weir_bridge_process_type) of the plug-in's build */
	/** Make the context of a link, before its first frame. @return 0; a negative errno: the run does not begin */
	int (*init)(const struct weir_bridge_process_env *env, void **context);
	/** After its last frame, when nobody is in run() any more. */
	void (*fini)(void *context);
	/**
	 * Look at a frame; required. Of one link by one thread at a time, in order, unless the description allows several jobs for a link. Only
	 * in a job it may wait.
	 */
	weir_readout_process_t run;
	const char *const
		*drops;    /**< names of its reasons to drop a frame, as of weir_readout_process */
	uint32_t nb_drops; /**< their number; 0: one, which has the process' name */
	const struct weir_readout_type *output; /**< of its messages; NULL: it sends none */
};

/** First two members of a struct weir_bridge_process_type initialiser. */
#define WEIR_BRIDGE_PROCESS_HEADER                                                                 \
	.abi_version = WEIR_BRIDGE_PROCESS_ABI_VERSION,                                            \
	.struct_size = sizeof(struct weir_bridge_process_type)

/**
 * Find a function in a plug-in.
 *
 * @param path    of the shared object
 * @param symbol  of the constant
 * @param[out] why  what is wrong, for people, when NULL is returned; valid until the next call of this thread
 * @return NULL with rte_errno: ENOENT (no such file or symbol, or it cannot be loaded), EINVAL (another ABI, no run function, linked with libweir)
 */
const struct weir_bridge_process_type *weir_bridge_process_load(
	const char *path, const char *symbol, const char **why);

#ifdef __cplusplus
}
#endif

#endif
