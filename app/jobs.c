/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of a run, as the description has them. */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include <weir_base_nodes.h>
#include <weir_base.h>

#include "config.h"
#include "em_run.h"
#include "reason_log.h"
#include "report_text.h"

#define STACK_BYTES ((size_t)64 << 10)
#define PARAM_BYTES 64
#define CACHE       32
#define ENDING      64 /* jobs that have no packets any more, but have not ended yet: one on each core */
#define STOP_NS     UINT64_C(2000000000) /* how long work may take to heed that it was cancelled */

int
jobs_run_open(struct em_run *run, struct config *config)
{
	const unsigned int nb = config_nb_jobs(config) + ENDING;
	const struct weir_job_service_config param = {
		.name = "jobs", .max_jobs = nb, .slice_ns = CONFIG_JOB_SLICE_NS};
	int error;

	if (nb == ENDING)
		return 0;
	reason_log_begin();
	weir_base_log_set_level(
		WEIR_BASE_LOG_WARNING); /* what stacks are like is nobody's concern here */
	error = weir_coro_init(STACK_BYTES, PARAM_BYTES, 0, nb,
		weir_base_ns_to_cycles(CONFIG_JOB_SLICE_NS), CACHE, -1);
	weir_base_log_set_level(WEIR_BASE_LOG_INFO);
	if (error == 0) {
		run->jobs.coroutines = true;
		run->jobs.service = weir_job_service_create(run->em, &param);
		error = run->jobs.service == NULL ? -rte_errno : 0;
	}
	if (error < 0)
		weir_base_doc_error_add(config->doc,
			weir_base_doc_get(config->application,
				config->em.nb_nodes > 0 ? "nodes" : "processes"),
			"%u jobs could not be made room for: %s", nb,
			reason_log_end(rte_strerror(-error)));
	else
		reason_log_end("");
	return error;
}

static const struct weir_bridge_job_type *
load_type(struct config *config, const struct config_sched_node *node)
{
	const struct weir_bridge_job_type *type;
	const char *why;

	type = weir_bridge_job_load(node->job.plugin, node->job.symbol, &why);
	if (type == NULL)
		weir_base_doc_error_add(config->doc, weir_base_doc_get(node->value, "work"),
			"plug-in '%s' cannot be used: %s", node->job.plugin, why);
	return type;
}

uint32_t
jobs_run_make_node(struct em_run *run, struct config *config, const struct config_sched_node *node,
	bool stand_ins)
{
	const struct config_job *job = &node->job;
	struct weir_bridge_job_param param = {
		.name = node->name,
		.em = run->em,
		.service = run->jobs.service,
		.builtin = job->plugin == NULL ? job->builtin : WEIR_BRIDGE_JOB_COMPUTE,
		.time_ns = job->time_ns,
		.argument = job->argument,
		.queues = &run->flows[run->first_flow[node->queue]],
		.nb_queues = run->first_flow[node->queue + 1] - run->first_flow[node->queue],
		.flow = node->flow,
		.nb_flows = job->nb_flows,
		.nb_packets = job->nb_packets,
		.wait = node->wait,
		.has_priority = config_job_has_priority(config, job),
		.priority = job->priority,
		.slice_ns = job->slice_ns,
		.core_group = run->groups[job->group],
	};

	if (job->plugin != NULL && !stand_ins) {
		param.type = load_type(config, node);
		if (param.type == NULL)
			return WEIR_GRAPH_NODE_INVALID;
	}
	return weir_bridge_job_create(&param);
}

int
jobs_run_start(struct em_run *run)
{
	return run->jobs.service != NULL ? weir_job_service_start(run->jobs.service, NULL) : 0;
}

bool
jobs_run_are_idle(struct em_run *run, const struct config *config)
{
	struct weir_bridge_job_stats node;
	struct weir_job_stats stats;
	uint64_t nb_in = 0, nb_inside = 0;
	unsigned int i;
	bool same;

	if (run->jobs.service == NULL)
		return true;
	for (i = 0; i < config->em.nb_nodes; i++)
		if (weir_bridge_job_stats(run->nodes[i], &node) == 0) {
			nb_in += node.nb_in;
			nb_inside += node.nb_inside;
		}
	weir_job_stats(run->jobs.service, &stats);
	same = nb_in == run->jobs.nb_in && stats.nb_spawned == run->jobs.nb_spawned;
	run->jobs.nb_in = nb_in;
	run->jobs.nb_spawned = stats.nb_spawned;
	return same && nb_inside == 0 && stats.nb_live == 0;
}

/* This thread is a core for that time: there are no others any more. */
void
jobs_run_stop(struct em_run *run)
{
	struct weir_em_core *core;

	if (run->jobs.service == NULL || run->jobs.given_up)
		return;
	core = weir_em_core_attach(run->em, 0);
	if (core == NULL)
		return;
	run->jobs.given_up = weir_job_service_stop(run->jobs.service, core, STOP_NS) == -ETIMEDOUT;
	if (run->jobs.given_up)
		weir_base_log(WEIR_BASE_LOG_ERROR, "app",
			"some jobs did not end in %.0f s after they were cancelled",
			(double)STOP_NS / 1e9);
	weir_em_core_detach(core);
}

void
jobs_run_close(struct em_run *run)
{
	if (run->jobs.service != NULL)
		weir_job_service_destroy(run->jobs.service, NULL);
	run->jobs.service = NULL;
}

static json_t *
node_json(const struct config *config, const struct config_sched_node *node,
	const struct weir_bridge_job_stats *stats)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "name", node->name,
		"work",
		node->job.plugin != NULL ? node->job.symbol
					 : weir_base_job_work_names[node->job.builtin],
		"to", config->em.queues[node->queue].name, "packets", report_counter(stats->nb_in),
		"passed", report_counter(stats->nb_passed), "blocked",
		report_counter(stats->nb_blocked), "lost",
		report_counter(stats->nb_closed + stats->nb_cancelled + stats->nb_exited),
		"refused", report_counter(stats->nb_refused), "inside",
		report_counter(stats->nb_inside));
}

static void
add_reason(json_t *report, const char *reason, uint64_t packets, const char *meaning)
{
	if (packets > 0)
		json_array_append_new(json_object_get(report, "dropped"),
			json_pack("{s:s, s:I, s:s}", "reason", reason, "packets",
				report_counter(packets), "meaning", meaning));
}

void
jobs_run_report(const struct em_run *run, const struct config *config, json_t *report,
	struct jobs_sums *sums)
{
	struct weir_bridge_job_stats stats, all = {0};
	json_t *list = json_array();
	unsigned int i;

	*sums = (struct jobs_sums){0};
	for (i = 0; i < config->em.nb_nodes; i++) {
		if (!config->em.nodes[i].is_job || weir_bridge_job_stats(run->nodes[i], &stats) < 0)
			continue;
		json_array_append_new(list, node_json(config, &config->em.nodes[i], &stats));
		all.nb_blocked += stats.nb_blocked;
		all.nb_closed += stats.nb_closed;
		all.nb_cancelled += stats.nb_cancelled;
		all.nb_exited += stats.nb_exited;
		sums->in += stats.nb_in;
		sums->passed += stats.nb_passed;
		sums->inside += stats.nb_inside;
	}
	sums->dropped = all.nb_blocked + all.nb_closed + all.nb_cancelled + all.nb_exited;
	add_reason(report, "job_blocked", all.nb_blocked, "the work of a job node said so");
	add_reason(report, "job_closed", all.nb_closed, "the queue that a job sends to is gone");
	add_reason(report, "job_cancelled", all.nb_cancelled, "its job was cancelled");
	add_reason(report, "job_exited", all.nb_exited, "the work on it ended its job");
	if (json_array_size(list) > 0)
		json_object_set(report, "jobs", list);
	json_decref(list);
}
