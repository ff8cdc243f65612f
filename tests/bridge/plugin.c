/* SPDX-License-Identifier: BSD-3-Clause */

/* A plug-in for the tests: one object that is good, others that are not. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weir_bridge_object.h"

struct state {
	struct weir_bridge_object_env env;
	uint64_t nb;
};

static int
init(const struct weir_bridge_object_env *env, void **context)
{
	struct state *state;

	if (env->argument != NULL && strcmp(env->argument, "refuse") == 0)
		return -EPERM;
	if (env->struct_size < sizeof(*env) || env->nb_to == 0)
		return -EINVAL;
	state = calloc(1, sizeof(*state));
	if (state == NULL)
		return -ENOMEM;
	state->env = *env;
	*context = state;
	return 0;
}

static void
fini(void *context)
{
	free(context);
}

/* Every third packet is dropped, the others go on. Alone with the count: the queue is atomic, and has one flow. */
static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct state *state = context;

	for (uint16_t i = 0; i < nb; i++)
		if (state->nb++ % 3 == 2)
			rte_pktmbuf_free(events[i].mbuf);
		else
			weir_em_forward(core, state->env.to[0], &events[i]);
}

extern const struct weir_bridge_object_type thin_out, old_abi, short_struct, no_receive;

const struct weir_bridge_object_type thin_out = {
	WEIR_BRIDGE_OBJECT_HEADER,
	.init = init,
	.fini = fini,
	.receive = receive,
	.burst = 32,
};

const struct weir_bridge_object_type old_abi = {
	.abi_version = WEIR_BRIDGE_OBJECT_ABI_VERSION + 1,
	.struct_size = sizeof(struct weir_bridge_object_type),
	.receive = receive,
};

const struct weir_bridge_object_type short_struct = {
	.abi_version = WEIR_BRIDGE_OBJECT_ABI_VERSION,
	.struct_size = sizeof(struct weir_bridge_object_type) - 8,
	.receive = receive,
};

const struct weir_bridge_object_type no_receive = {
	WEIR_BRIDGE_OBJECT_HEADER,
};
