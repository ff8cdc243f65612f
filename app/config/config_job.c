/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of a description file that have jobs do their work. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir_base_nodes.h>
#include <weir_em_timer.h>

#include "config.h"

static uint64_t
number(const struct weir_base_doc_value *node, const char *key, uint64_t otherwise)
{
	return weir_base_doc_given(node, key) ? weir_base_doc_u64(weir_base_doc_get(node, key))
					      : otherwise;
}

/* What is built in wants a time, what is not may want a text. */
static int
read_work(struct config_sched_node *node)
{
	const struct weir_base_doc_value *work = weir_base_doc_get(node->value, "work");
	const char *text = weir_base_doc_str(work);
	struct config_job *job = &node->job;
	unsigned int i;

	for (i = 0; weir_base_job_work_names[i] != NULL; i++)
		if (strcmp(text, weir_base_job_work_names[i]) == 0)
			break;
	job->builtin = (enum weir_bridge_job_builtin)i;
	if (weir_base_job_work_names[i] == NULL)
		return config_read_plugin(node->value, text, &job->plugin, &job->symbol);
	return 0;
}

int
config_job_read(struct config *config, struct config_sched_node *node)
{
	const struct weir_base_doc_value *value = node->value;
	struct config_job *job = &node->job;

	job->time_ns = number(value, "time", 0);
	job->argument = weir_base_doc_str(weir_base_doc_get(value, "argument"));
	job->nb_flows = (unsigned int)number(value, "flows", CONFIG_JOB_FLOWS);
	job->nb_packets = (unsigned int)number(value, "packets", CONFIG_JOB_PACKETS);
	job->has_priority = weir_base_doc_given(value, "priority");
	job->priority = (uint8_t)number(value, "priority", WEIR_EM_PRIORITIES - 1);
	job->slice_ns = number(value, "slice", CONFIG_JOB_SLICE_NS);
	if (weir_base_doc_given(value, "work") && read_work(node) < 0)
		return -ENOMEM;
	return config_take_group(&config->em,
		weir_base_doc_given(value, "group")
			? weir_base_doc_str(weir_base_doc_get(value, "group"))
			: "default",
		&job->group);
}

void
config_job_check_group(
	struct config *config, const struct weir_base_doc_value *value, unsigned int index)
{
	const struct config_group *group = &config->em.groups[index];

	if (group->workers == 0)
		weir_base_doc_error_add(config->doc,
			weir_base_doc_given(value, "group") ? weir_base_doc_get(value, "group")
							    : value,
			"no worker is in group '%s'; expected it in the 'groups' of one of "
			"platform.workers",
			group->name);
}

void
config_job_check(struct config *config, const struct config_sched_node *node)
{
	const struct weir_base_doc_value *value = node->value;

	config_job_check_group(config, value, node->job.group);
	if (node->job.plugin != NULL && access(node->job.plugin, R_OK) != 0)
		weir_base_doc_error_add(config->doc, weir_base_doc_get(value, "work"),
			"cannot read '%s'; expected compute, wait, or PLUGIN.so:SYMBOL",
			node->job.plugin);
}

unsigned int
config_nb_jobs(const struct config *config)
{
	unsigned int nb = config_processes_nb_jobs(&config->links), i;

	for (i = 0; i < config->em.nb_nodes; i++)
		if (config->em.nodes[i].is_job)
			nb += RTE_MIN(config->em.nodes[i].job.nb_flows,
				config->em.nodes[i].job.nb_packets);
	return nb;
}

bool
config_worker_has_jobs(const struct config *config, unsigned int worker)
{
	unsigned int i;

	for (i = 0; i < config->em.nb_nodes; i++)
		if (config->em.nodes[i].is_job &&
			(config->em.groups[config->em.nodes[i].job.group].workers >> worker & 1))
			return true;
	for (i = 0; i < config->em.nb_groups; i++)
		if ((config->em.groups[i].workers >> worker & 1) &&
			config_processes_have_group(&config->links, i))
			return true;
	return false;
}

/* Event devices say what they have; what is not asked for is theirs to choose. */
bool
config_job_has_priority(const struct config *config, const struct config_job *job)
{
	return job->has_priority || strcmp(config->em.backend, "builtin") == 0;
}
