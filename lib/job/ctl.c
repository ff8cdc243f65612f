/* SPDX-License-Identifier: BSD-3-Clause */

/* This library's commands on the control socket. */

#include <stdlib.h>

#include <weir_base_ctl.h>

#include "job_private.h"
#include "listed.h"
#include "weir_job_channel.h"
#include "weir_job_ctl.h"
#include "weir_job_offload.h"

#define NB_JOBS_MAX 1000 /* of an answer, if it was not asked for more */

static void
set_hist(struct weir_job_service *service, json_t *object, enum weir_job_hist which)
{
	static const double percents[] = {50, 90, 99, 99.9};
	static const char *const names[] = {"p50_ns", "p90_ns", "p99_ns", "p99.9_ns"};
	json_t *hist = json_object();
	struct weir_base_hist cycles;

	weir_job_hist(service, which, &cycles);
	weir_base_ctl_set(hist, "count", cycles.count);
	weir_base_ctl_set(
		hist, "mean_ns", weir_base_cycles_to_ns((uint64_t)weir_base_hist_mean(&cycles)));
	for (size_t i = 0; i < RTE_DIM(percents); i++)
		weir_base_ctl_set(hist, names[i],
			weir_base_cycles_to_ns(weir_base_hist_percentile(&cycles, percents[i])));
	weir_base_ctl_set(hist, "max_ns", weir_base_cycles_to_ns(cycles.max));
	json_object_set_new(object, weir_job_hist_name(which), hist);
}

/* visits: a pool, a channel, into an array */
static void
tell_offload(void *array, void *pool)
{
	json_t *object = json_object();
	struct weir_job_offload_stats stats;

	weir_job_offload_stats(pool, &stats);
	weir_base_ctl_set_name(object, "name", job_offload_name(pool));
	weir_base_ctl_set(object, "threads", stats.nb_threads);
	weir_base_ctl_set(object, "queued", stats.nb_queued);
	weir_base_ctl_set(object, "running", stats.nb_running);
	weir_base_ctl_set(object, "hanging", stats.nb_hanging);
	weir_base_ctl_set(object, "accepted", stats.nb_accepted);
	weir_base_ctl_set(object, "refused", stats.nb_refused);
	weir_base_ctl_set(object, "done", stats.nb_done);
	weir_base_ctl_set(object, "abandoned", stats.nb_abandoned);
	weir_base_ctl_set(object, "ended", stats.nb_ended);
	weir_base_ctl_set(object, "withdrawn", stats.nb_withdrawn);
	weir_base_ctl_set(object, "returned", stats.nb_returned);
	weir_base_ctl_set(object, "longest_ns", stats.longest_ns);
	weir_base_ctl_set(object, "longest_queued_ns", stats.longest_queued_ns);
	json_array_append_new(array, object);
}

static void
tell_channel(void *array, void *channel)
{
	json_t *object = json_object();
	struct weir_job_channel_stats stats;

	weir_job_channel_stats(channel, &stats);
	weir_base_ctl_set_name(object, "name", job_channel_name(channel));
	weir_base_ctl_set(object, "messages", stats.nb);
	weir_base_ctl_set(object, "most", stats.nb_most);
	weir_base_ctl_set(object, "waiting", stats.nb_waiting);
	weir_base_ctl_set(object, "sent", stats.nb_sent);
	weir_base_ctl_set(object, "received", stats.nb_received);
	weir_base_ctl_set(object, "refused", stats.nb_refused);
	weir_base_ctl_set(object, "waits", stats.nb_waits);
	json_object_set_new(object, "closed", json_boolean(stats.closed));
	json_array_append_new(array, object);
}

static int
ctl_stats(void *arg, const json_t *args, json_t **result)
{
	struct weir_job_service *service = arg;
	json_t *object = json_object(), *hists = json_object();
	json_t *offload = json_array(), *channels = json_array();
	struct weir_job_stats stats;

	weir_job_stats(service, &stats);
	weir_base_ctl_set_name(object, "service", service->name);
	weir_base_ctl_set(object, "spawned", stats.nb_spawned);
	weir_base_ctl_set(object, "finished", stats.nb_finished);
	weir_base_ctl_set(object, "cancelled", stats.nb_cancelled);
	weir_base_ctl_set(object, "live", stats.nb_live);
	weir_base_ctl_set(object, "max", stats.max_jobs);
	weir_base_ctl_set(object, "refused", stats.nb_refused);
	weir_base_ctl_set(object, "slices", stats.nb_slices);
	weir_base_ctl_set(object, "at_once", stats.nb_at_once);
	weir_base_ctl_set(object, "unpaid", stats.nb_unpaid);
	weir_base_ctl_set(object, "forwarded", stats.nb_forwarded);
	weir_base_ctl_set(object, "waits", stats.nb_waits);
	weir_base_ctl_set(object, "migrated", stats.nb_migrated);
	weir_base_ctl_set(object, "overruns", stats.nb_overruns);
	weir_base_ctl_set(object, "keys_busy", stats.nb_keys_busy);
	weir_base_ctl_set(object, "late", stats.nb_late);
	weir_base_ctl_set(object, "undeliverable", stats.nb_undeliverable);
	for (int i = 0; i < WEIR_JOB_HISTS; i++)
		set_hist(service, hists, (enum weir_job_hist)i);
	json_object_set_new(object, "histograms", hists);
	job_listed_foreach(JOB_LISTED_OFFLOAD, tell_offload, offload);
	job_listed_foreach(JOB_LISTED_CHANNEL, tell_channel, channels);
	json_object_set_new(object, "offload", offload);
	json_object_set_new(object, "channels", channels);
	*result = object;
	return 0;
}

struct wish {
	json_t *list;
	const char *name; /* NULL: all */
	json_int_t max;
	uint64_t nb_left;
};

static void
set_wait(json_t *object, const struct weir_job_info *info)
{
	weir_base_ctl_set_name(object, "waits_for", info->waits_for);
	if (info->waits_for[0] == '\0')
		return;
	if (info->which[0] != '\0')
		weir_base_ctl_set_name(object, "which", info->which);
	if (info->which_id != 0)
		weir_base_ctl_set_hex(object, "which_id", info->which_id);
	if (info->left_ns != WEIR_JOB_FOREVER)
		weir_base_ctl_set(object, "left_ns", info->left_ns);
}

static json_t *
job_json(const struct weir_job_info *info)
{
	json_t *object = json_object(), *cores = json_array();

	weir_base_ctl_set_hex(object, "job", info->job);
	weir_base_ctl_set_name(object, "name", info->name);
	json_object_set_new(object, "state", json_string(weir_job_state_name(info->state)));
	set_wait(object, info);
	weir_base_ctl_set(object, "state_ns", info->state_ns);
	json_object_set_new(object, "cancelled", json_boolean(info->cancelled));
	if (info->has_key)
		weir_base_ctl_set_hex(object, "key", info->key);
	weir_base_ctl_set(object, "priority", info->priority);
	weir_base_ctl_set(object, "stack_class", info->stack_class);
	if (info->core != UINT32_MAX)
		weir_base_ctl_set(object, "core", info->core);
	for (unsigned int id = 0; id < 64; id++)
		if (info->cores >> id & 1)
			json_array_append_new(cores, json_integer(id));
	json_object_set_new(object, "cores", cores);
	weir_base_ctl_set(object, "slices", info->nb_slices);
	weir_base_ctl_set(object, "waits", info->nb_waits);
	weir_base_ctl_set(object, "overruns", info->nb_overruns);
	weir_base_ctl_set(object, "age_ns", info->age_ns);
	weir_base_ctl_set(object, "ran_ns", info->ran_ns);
	if (info->deadline_ns != 0)
		weir_base_ctl_set(object, "deadline_ns", info->deadline_ns);
	json_object_set_new(object, "late", json_boolean(info->late));
	return object;
}

static bool
list_one(void *arg, const struct weir_job_info *info)
{
	struct wish *wish = arg;

	if (wish->name != NULL && strcmp(wish->name, info->name) != 0)
		return true;
	if ((json_int_t)json_array_size(wish->list) < wish->max)
		json_array_append_new(wish->list, job_json(info));
	else
		wish->nb_left++;
	return true;
}

static int
ctl_list(void *arg, const json_t *args, json_t **result)
{
	const json_t *name = json_object_get(args, "name"), *max = json_object_get(args, "max");
	struct wish wish = {.max = NB_JOBS_MAX};

	if ((name != NULL && !json_is_string(name)) ||
		(max != NULL && (!json_is_integer(max) || json_integer_value(max) < 0))) {
		*result = json_string("expected \"name\": a name; \"max\": a number from 0");
		return -EINVAL;
	}
	if (name != NULL && json_string_length(name) > 0)
		wish.name = json_string_value(name);
	if (max != NULL)
		wish.max = json_integer_value(max);
	wish.list = json_array();
	weir_job_foreach(arg, list_one, &wish);
	*result = json_pack("{s:o, s:I}", "jobs", wish.list, "left", (json_int_t)wish.nb_left);
	return *result != NULL ? 0 : -ENOMEM;
}

static int
ctl_cancel(void *arg, const json_t *args, json_t **result)
{
	const char *handle = json_string_value(json_object_get(args, "job"));
	char *end = NULL;
	uint64_t job = handle != NULL ? strtoull(handle, &end, 0) : 0;
	int rc = -EINVAL;

	if (end != NULL && end != handle && *end == '\0')
		rc = weir_job_cancel(arg, job);
	if (rc == 0)
		*result = json_object();
	else if (rc == -EALREADY)
		*result = json_sprintf("job %s was cancelled before", handle);
	else if (rc == -ESTALE)
		*result = json_sprintf("job %s has ended", handle);
	else
		*result = json_string("expected \"job\": a handle, as \"job/list\" shows it");
	return rc;
}

static const struct weir_base_ctl_entry commands[] = {
	{"job/stats", "jobs: counters and histograms", NULL, WEIR_BASE_CTL_READ_ONLY, ctl_stats},
	{"job/list", "jobs that are alive, all or of a \"name\", \"max\"", "name max",
		WEIR_BASE_CTL_READ_ONLY, ctl_list},
	{"job/cancel", "ask a \"job\" to end", "job", 0, ctl_cancel},
};

int
weir_job_ctl_register(struct weir_job_service *service, struct weir_base_ctl *ctl)
{
	if (service == NULL || ctl == NULL)
		return -EINVAL;
	return weir_base_ctl_register_all(ctl, commands, RTE_DIM(commands), service);
}

void
weir_job_ctl_unregister(struct weir_job_service *service, struct weir_base_ctl *ctl)
{
	if (service != NULL && ctl != NULL)
		weir_base_ctl_unregister_all(ctl, commands, RTE_DIM(commands));
}
