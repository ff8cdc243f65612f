/* SPDX-License-Identifier: BSD-3-Clause */

/* A plug-in for the tests: one object and work for jobs that are good, others that are not. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weir_bridge_job.h"
#include "weir_job_channel.h"
#include "weir_job_offload.h"
#include "weir_bridge_object.h"
#include "weir_em_event_group.h"
#include "weir_em_timer.h"

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

/* It has a timer, on which something waits for an hour, and an event group that counts. */
static int
init_timed(const struct weir_bridge_object_env *env, void **context)
{
	const struct rte_event event = weir_em_event_u64(0);
	weir_em_timer timer =
		weir_em_timer_create(env->em, &(struct weir_em_timer_config){.name = "hourly"});
	weir_em_event_group group = weir_em_event_group_create(env->em);
	int rc;

	if (timer == WEIR_EM_NONE || group == WEIR_EM_NONE)
		return -ENOSPC;
	rc = weir_em_timeout_arm_in(env->em, NULL,
		weir_em_timeout_create(env->em, timer, env->to[0]), UINT64_C(3600000000000),
		&event);
	if (rc == 0)
		rc = weir_em_event_group_apply(env->em, group, 5, NULL, 0);
	return rc < 0 ? rc : init(env, context);
}

extern const struct weir_bridge_object_type thin_out, timed, old_abi, short_struct, no_receive;

const struct weir_bridge_object_type thin_out = {
	WEIR_BRIDGE_OBJECT_HEADER,
	.init = init,
	.fini = fini,
	.receive = receive,
	.burst = 32,
};

const struct weir_bridge_object_type timed = {
	WEIR_BRIDGE_OBJECT_HEADER,
	.init = init_timed,
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

static int
job_init(const struct weir_bridge_job_env *env, void **context)
{
	if (env->argument != NULL && strcmp(env->argument, "refuse") == 0)
		return -EPERM;
	*context = calloc(1, sizeof(uint64_t));
	return *context != NULL && env->struct_size >= sizeof(*env) ? 0 : -ENOMEM;
}

/* Every third packet is blocked, whoever comes; the longer ones let others go first, again and again. */
static enum weir_bridge_verdict
process(void *context, struct rte_mbuf *packet)
{
	uint64_t number = __atomic_fetch_add((uint64_t *)context, 1, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < packet->pkt_len / 256; i++)
		if (weir_job_yield() < 0)
			break;
	return number % 3 == 2 ? WEIR_BRIDGE_BLOCK : WEIR_BRIDGE_PASS;
}

/* Every fifth packet is too much for it: it ends its job. */
static enum weir_bridge_verdict
exit_process(void *context, struct rte_mbuf *packet)
{
	uint64_t number = __atomic_fetch_add((uint64_t *)context, 1, __ATOMIC_RELAXED);

	if (packet->pkt_len > 256)
		weir_job_yield();
	if (number % 5 == 4)
		weir_coro_exit();
	return WEIR_BRIDGE_PASS;
}

/* Packets that are looked up somewhere that blocks; and a channel that nobody uses. */
struct look_up {
	struct weir_job_offload_pool *pool;
	struct weir_job_channel *channel;
};

static void
look_up_fini(void *context)
{
	struct look_up *look_up = context;

	weir_job_offload_stop(look_up->pool, WEIR_JOB_FOREVER);
	weir_job_offload_destroy(look_up->pool);
	weir_job_channel_destroy(look_up->channel);
	free(look_up);
}

static int
look_up_init(const struct weir_bridge_job_env *env, void **context)
{
	const struct weir_job_offload_config pool = {.name = "lookups", .nb_queued = 4096};
	const struct weir_job_channel_config channel = {.name = "answers"};
	struct look_up *look_up = calloc(1, sizeof(*look_up));

	if (look_up == NULL)
		return -ENOMEM;
	look_up->pool = weir_job_offload_create(&pool);
	look_up->channel = weir_job_channel_create(&channel);
	*context = look_up;
	return 0;
}

static void
look_up(void *length)
{
	usleep(*(uint32_t *)length % 8);
}

static enum weir_bridge_verdict
look_up_process(void *context, struct rte_mbuf *packet)
{
	uint32_t length = packet->pkt_len;
	int rc = weir_job_offload(
		((struct look_up *)context)->pool, look_up, &length, sizeof(length), NULL);

	return rc == 0 ? WEIR_BRIDGE_PASS : WEIR_BRIDGE_BLOCK;
}

extern const struct weir_bridge_job_type job_thin_out, job_exits, job_look_up, job_old_abi,
	job_no_process;

const struct weir_bridge_job_type job_look_up = {
	WEIR_BRIDGE_JOB_HEADER,
	.init = look_up_init,
	.fini = look_up_fini,
	.process = look_up_process,
};

const struct weir_bridge_job_type job_thin_out = {
	WEIR_BRIDGE_JOB_HEADER,
	.init = job_init,
	.fini = fini,
	.process = process,
};

const struct weir_bridge_job_type job_exits = {
	WEIR_BRIDGE_JOB_HEADER,
	.init = job_init,
	.fini = fini,
	.process = exit_process,
};

const struct weir_bridge_job_type job_old_abi = {
	.abi_version = WEIR_BRIDGE_JOB_ABI_VERSION + 1,
	.struct_size = sizeof(struct weir_bridge_job_type),
	.process = process,
};

const struct weir_bridge_job_type job_no_process = {
	WEIR_BRIDGE_JOB_HEADER,
};
