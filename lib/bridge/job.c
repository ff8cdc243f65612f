/* SPDX-License-Identifier: BSD-3-Clause */

/* Job nodes: made, looked at, forgotten; and the work that is built in. */

#include <stdlib.h>

#include "job.h"
#include "weir_em_timer.h"

#define NB_FLOWS   1024
#define NB_PACKETS 4096
#define SPIN_NS    200 /* of work, between looks at the slice */

/* Time that others have meanwhile does not count. */
static enum weir_bridge_verdict
compute(void *context, struct rte_mbuf *packet)
{
	const struct bridge_job *job = context;
	const uint64_t spin = weir_base_ns_to_cycles(SPIN_NS);
	uint64_t done = 0, begun, took;

	(void)packet;
	while (done < job->time) {
		begun = weir_base_cycles();
		do
			took = weir_base_cycles() - begun;
		while (took < spin && done + took < job->time);
		done += took;
		if (weir_coro_maybe_yield())
			break;
	}
	return WEIR_BRIDGE_PASS;
}

static enum weir_bridge_verdict
wait(void *context, struct rte_mbuf *packet)
{
	const struct bridge_job *job = context;

	(void)packet;
	if (job->time > 0)
		weir_job_sleep(job->time);
	return WEIR_BRIDGE_PASS;
}

static const struct weir_bridge_job_type builtins[] = {
	[WEIR_BRIDGE_JOB_COMPUTE] = {WEIR_BRIDGE_JOB_HEADER, .process = compute},
	[WEIR_BRIDGE_JOB_WAIT] = {WEIR_BRIDGE_JOB_HEADER, .process = wait},
};

static int
init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	if (((const struct bridge_job_ctx *)(const void *)node->ctx)->job != NULL)
		return 0;
	BRIDGE_LOG(ERROR, "node '%s' has no work; weir_bridge_job_create() makes those that have",
		weir_graph_node_name_of(graph, node));
	return -ENODEV;
}

static const char *const xstats[BRIDGE_JOB_NB_XSTATS] = {
	[BRIDGE_JOB_PACKETS] = "packets",
	[BRIDGE_JOB_FULL] = "full",
};

static struct weir_graph_node_register job_node = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_JOB,
	.process = bridge_job_process,
	.init = init,
	.state_size = sizeof(struct bridge_state),
	.nb_edges = 1,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_TX_EDGES},
	.nb_xstats = BRIDGE_JOB_NB_XSTATS,
	.xstats = xstats,
};
WEIR_GRAPH_NODE_REGISTER(job_node);

static bool
is_good(const struct weir_bridge_job_param *param)
{
	return param != NULL && param->name != NULL && param->em != NULL &&
	       param->service != NULL && param->queues != NULL && param->nb_queues > 0 &&
	       param->nb_queues <= WEIR_BRIDGE_FLOWS_MAX &&
	       (param->type != NULL || (unsigned int)param->builtin < WEIR_BRIDGE_JOB_BUILTINS) &&
	       (unsigned int)param->flow < WEIR_BRIDGE_FLOWS &&
	       param->nb_flows <= WEIR_BRIDGE_JOB_FLOWS_MAX && param->nb_packets < 1u << 31 &&
	       (!param->has_priority || param->priority < WEIR_EM_PRIORITIES) &&
	       (param->type != NULL || param->builtin != WEIR_BRIDGE_JOB_WAIT ||
		       param->time_ns <= WEIR_EM_TIMEOUT_NS_MAX);
}

static void
set_options(struct bridge_job *job, const struct weir_bridge_job_param *param)
{
	/* Not at once: packets that came with this one go first. */
	job->options = (struct weir_job_options){
		.flags = WEIR_JOB_LATER | (param->has_priority ? WEIR_JOB_PRIORITY : 0),
		.name = param->name,
		.priority = param->priority,
		.slice_ns = param->slice_ns,
		.core_group = param->core_group,
		.group = &job->group,
		.done = bridge_job_done,
	};
	weir_job_group_init(&job->group);
}

static int
set_work(struct bridge_job *job, const struct weir_bridge_job_param *param)
{
	const struct weir_bridge_job_env env = {
		.abi_version = WEIR_BRIDGE_JOB_ABI_VERSION,
		.struct_size = sizeof(env),
		.em = param->em,
		.service = param->service,
		.name = param->name,
		.argument = param->argument,
	};
	int error = 0;

	job->time = param->builtin == WEIR_BRIDGE_JOB_COMPUTE
			    ? weir_base_ns_to_cycles(param->time_ns)
			    : param->time_ns;
	job->context = job;
	if (param->type != NULL) {
		job->context = NULL;
		if (param->type->init != NULL)
			error = param->type->init(&env, &job->context);
	}
	if (error == 0)
		job->type = param->type != NULL ? param->type : &builtins[param->builtin];
	return error;
}

static struct bridge_job *
make(const struct weir_bridge_job_param *param)
{
	struct bridge_job *job = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*job));

	if (job == NULL)
		return NULL;
	memset(job, 0, sizeof(*job));
	job->em = param->em;
	job->service = param->service;
	job->flow = param->flow;
	job->wait = param->wait;
	job->nb_flows = param->nb_flows != 0 ? param->nb_flows : NB_FLOWS;
	job->nb_packets = param->nb_packets != 0 ? param->nb_packets : NB_PACKETS;
	job->nb_queues = param->nb_queues;
	job->flows = calloc(job->nb_flows, sizeof(*job->flows));
	job->queues = calloc(job->nb_queues, sizeof(*job->queues));
	if (job->flows == NULL || job->queues == NULL) {
		bridge_job_free(job);
		return NULL;
	}
	for (unsigned int i = 0; i < job->nb_flows; i++)
		job->flows[i].owner = job;
	memcpy(job->queues, param->queues, job->nb_queues * sizeof(*job->queues));
	set_options(job, param);
	return job;
}

/* Queues of its own, like the one that packets go to after that. */
static int
make_object(struct bridge_job *job, const char *name)
{
	const struct weir_em_object_config object = {.name = name,
		.context = job,
		.receive = bridge_job_receive,
		.burst = WEIR_EM_BURST_MAX};
	struct weir_em_queue_config config = {.name = name, .type = WEIR_EM_QUEUE_ATOMIC};
	struct weir_em_queue_info info;
	int error = weir_em_queue_info(job->em, job->queues[0], &info);

	if (error < 0)
		return error;
	config.priority = info.priority;
	config.group = info.group;
	job->object = weir_em_object_create(job->em, &object);
	if (job->object == WEIR_EM_NONE)
		return -rte_errno;
	while (error == 0 &&
		job->nb_own < RTE_MIN(job->nb_flows, (unsigned int)BRIDGE_JOB_QUEUES)) {
		weir_em_queue queue = weir_em_queue_create(job->em, &config);

		if (queue == WEIR_EM_NONE)
			return -rte_errno;
		job->own[job->nb_own++] = queue;
		error = weir_em_object_add_queue(job->em, job->object, queue);
	}
	return error == 0 ? weir_em_object_start(job->em, NULL, job->object, NULL) : error;
}

int
bridge_job_free(struct bridge_job *job)
{
	if (job == NULL)
		return 0;
	if (weir_job_group_nb(&job->group) > 0)
		return -EBUSY;
	if (job->object != WEIR_EM_NONE) {
		weir_em_object_stop(job->em, NULL, job->object, NULL);
		weir_em_object_delete(job->em, NULL, job->object, WEIR_EM_REMOVE_QUEUES);
		for (unsigned int i = 0; i < job->nb_own; i++)
			weir_em_queue_delete(job->em, job->own[i]);
	}
	if (job->flows != NULL)
		bridge_job_free_packets(job);
	if (job->type != NULL && job->type->fini != NULL)
		job->type->fini(job->context);
	free(job->flows);
	free(job->queues);
	free(job);
	return 0;
}

uint32_t
weir_bridge_job_create(const struct weir_bridge_job_param *param)
{
	struct bridge_job *job;
	uint32_t id = WEIR_GRAPH_NODE_INVALID;
	int error;

	rte_errno = EINVAL;
	if (!is_good(param)) {
		BRIDGE_LOG(ERROR,
			"a job node needs a name, an event machine, its jobs, 1 to %u queues, and "
			"work, "
			"flows and a priority that there are",
			WEIR_BRIDGE_FLOWS_MAX);
		return id;
	}
	rte_errno = ENOMEM;
	if (bridge_mark_register() < 0)
		return id;
	job = make(param);
	if (job == NULL)
		return id;
	error = make_object(job, param->name);
	if (error == 0)
		error = set_work(job, param);
	if (error == 0) {
		id = bridge_make_job(param->name, job);
		error = id == WEIR_GRAPH_NODE_INVALID ? -rte_errno : 0;
	} else {
		BRIDGE_LOG(ERROR, "the work of node 'job-%s' could not be prepared: %s",
			param->name, strerror(abs(error)));
	}
	if (error == 0)
		return id;
	bridge_job_free(job);
	rte_errno = abs(error);
	return WEIR_GRAPH_NODE_INVALID;
}

/* What came out is read before what went in. */
void
bridge_job_look(const struct bridge_job *job, struct weir_bridge_job_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->nb_exited = __atomic_load_n(&job->nb_left[WEIR_JOB_FINISHED], __ATOMIC_ACQUIRE);
	stats->nb_cancelled = __atomic_load_n(&job->nb_left[WEIR_JOB_CANCELLED], __ATOMIC_ACQUIRE);
	for (unsigned int i = 0; i < WEIR_EM_CORES_MAX; i++) {
		const struct bridge_job_counts *counts = &job->counts[i];

		stats->nb_passed += __atomic_load_n(&counts->nb_passed, __ATOMIC_ACQUIRE);
		stats->nb_blocked += __atomic_load_n(&counts->nb_blocked, __ATOMIC_ACQUIRE);
		stats->nb_closed += __atomic_load_n(&counts->nb_closed, __ATOMIC_ACQUIRE);
		stats->nb_cancelled += __atomic_load_n(&counts->nb_cancelled, __ATOMIC_ACQUIRE);
	}
	stats->nb_in = __atomic_load_n(&job->nb_in, __ATOMIC_ACQUIRE);
	stats->nb_refused = __atomic_load_n(&job->nb_refused, __ATOMIC_RELAXED);
	stats->nb_inside = stats->nb_in - stats->nb_passed - stats->nb_blocked - stats->nb_closed -
			   stats->nb_cancelled - stats->nb_exited;
}
