/* SPDX-License-Identifier: BSD-3-Clause */
/* What this program itself answers on the control socket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir_coro_ctl.h>
#include <weir_em_ctl.h>
#include <weir_graph.h>
#include <weir_job_ctl.h>
#include <weir_node.h>

#include "control.h"
#include "instance.h"
#include "report.h"

static int
answer_report(void *arg, const json_t *args, json_t **result)
{
	int error = report_collect(arg, result);

	(void)args;
	if (error == -ETIMEDOUT)
		*result = json_string("a worker does not come back from its walk: a port with "
				      "'on_full: wait', or a file, takes no more");
	return error;
}

static int
answer_status(void *arg, const json_t *args, json_t **result)
{
	struct instance *instance = arg;

	(void)args;
	*result = json_pack("{s:s, s:s, s:s}", "instance", instance->config->name, "file",
		instance->config->path, "state",
		__atomic_load_n(&instance->state, __ATOMIC_RELAXED));
	return *result != NULL ? 0 : -ENOMEM;
}

static int
answer_stop(void *arg, const json_t *args, json_t **result)
{
	struct instance *instance = arg;

	(void)args;
	__atomic_store_n(&instance->stop_asked, true, __ATOMIC_RELAXED);
	*result = json_string("stopping");
	return 0;
}

static int
answer_no_em(void *arg, const json_t *args, json_t **result)
{
	(void)arg;
	(void)args;
	*result = json_string("this run has no queues of events: its description has no "
			      "application.queues");
	return -ENOENT;
}

/* Who asks for what is not there is told so. */
static int
register_em(struct instance *instance)
{
	static const char *const names[] = {
		"em/stats", "em/cores", "em/objects", "em/queues", "em/groups", "em/pools"};
	size_t i;
	int error = 0;

	if (instance->em.em != NULL)
		return weir_em_ctl_register(instance->em.em, instance->ctl);
	for (i = 0; error == 0 && i < sizeof(names) / sizeof(names[0]); i++)
		error = weir_base_ctl_register(instance->ctl, names[i],
			"event machine: there is none", WEIR_BASE_CTL_READ_ONLY, answer_no_em,
			NULL);
	return error;
}

static int
answer_no_jobs(void *arg, const json_t *args, json_t **result)
{
	(void)arg;
	(void)args;
	*result =
		json_string("this run has no jobs: its description has no node of type job, and no "
			    "process that runs as jobs");
	return -ENOENT;
}

static int
register_jobs(struct instance *instance)
{
	static const char *const names[] = {"job/list", "job/stats", "job/cancel"};
	size_t i;
	int error = 0;

	if (instance->em.jobs.service != NULL)
		return weir_job_ctl_register(instance->em.jobs.service, instance->ctl);
	for (i = 0; error == 0 && i < sizeof(names) / sizeof(names[0]); i++)
		error = weir_base_ctl_register(instance->ctl, names[i], "jobs: there are none",
			WEIR_BASE_CTL_READ_ONLY, answer_no_jobs, NULL);
	return error;
}

/* Closed when the program ends. */
static struct weir_base_ctl *held;

static void
close_held(void)
{
	weir_base_ctl_close(held);
	held = NULL;
}

struct weir_base_ctl *
control_open(const char *name)
{
	held = weir_base_ctl_open(name);
	/* Before EAL registers what it does at exit, so that this comes after. */
	if (held != NULL)
		atexit(close_held);
	return held;
}

/* Names of commands, to be taken back. */
struct names {
	char *list[128];
	unsigned int nb;
};

static void
note_name(void *arg, const char *command, const char *help, uint32_t flags)
{
	struct names *names = arg;

	(void)help;
	(void)flags;
	if (names->nb < sizeof(names->list) / sizeof(names->list[0]) &&
		strcmp(command, "help") != 0)
		names->list[names->nb++] = strdup(command);
}

void
control_silence(struct instance *instance)
{
	struct names names = {.nb = 0};
	unsigned int i;

	if (instance->ctl == NULL)
		return;
	weir_base_ctl_foreach(instance->ctl, note_name, &names);
	for (i = 0; i < names.nb; i++) {
		if (names.list[i] != NULL)
			weir_base_ctl_unregister(instance->ctl, names.list[i]);
		free(names.list[i]);
	}
	instance->ctl = NULL;
}

int
control_register(struct instance *instance)
{
	static const struct weir_base_ctl_entry commands[] = {
		{"run/status", "what runs, and how far it is", NULL, WEIR_BASE_CTL_READ_ONLY,
			answer_status},
		{"run/report", "all counters, as at the end of a run", NULL,
			WEIR_BASE_CTL_READ_ONLY, answer_report},
		{"run/stop", "stop as on SIGTERM", NULL, 0, answer_stop},
		{"route/list", "routes, of those within a prefix if one is named: name, after, max",
			"name after max", WEIR_BASE_CTL_READ_ONLY, control_route_list},
		{"neighbour/list", "next hops", NULL, WEIR_BASE_CTL_READ_ONLY,
			control_neighbour_list},
	};
	int error;

	error = weir_graph_ctl_register(instance->ctl);
	if (error == 0)
		error = weir_node_ctl_register(instance->ctl);
	if (error == 0)
		error = weir_coro_ctl_register(instance->ctl);
	if (error == 0)
		error = register_em(instance);
	if (error == 0)
		error = register_jobs(instance);
	if (error == 0)
		error = links_run_register(&instance->links, instance->ctl);
	if (error == 0)
		error = weir_base_ctl_register_all(
			instance->ctl, commands, sizeof(commands) / sizeof(commands[0]), instance);
	return error == 0 ? weir_base_ctl_mirror_telemetry(instance->ctl) : error;
}
