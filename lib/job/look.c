/* SPDX-License-Identifier: BSD-3-Clause */

/* Counters, and what is known of jobs. */

#include "job_private.h"
#include "listed.h"

#define LOOKS_MAX 16 /* at counters that go on counting */

#define COUNTERS (offsetof(struct weir_job_stats, max_jobs) / sizeof(uint64_t))

void
job_tell_wait(struct job *job, const struct weir_job_wait *how, uint64_t address, uint64_t until)
{
	struct job_told *told = &job->told;
	uint64_t which[RTE_DIM(told->which)] = {0};

	if (how->which != NULL)
		job_copy_name((char *)which, sizeof(which), how->which);
	job_put(told->nb, told->nb + 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	job_put(told->what, how->what != NULL ? how->what : "completion");
	for (size_t i = 0; i < RTE_DIM(which); i++)
		job_put(told->which[i], which[i]);
	job_put(told->id, how->id != 0 ? how->id : address);
	job_put(told->until, until);
	__atomic_store_n(&told->nb, told->nb + 1, __ATOMIC_RELEASE);
}

/* @return false: it was changed meanwhile */
static bool
read_told(const struct job_told *told, struct weir_job_info *info, uint64_t now)
{
	uint64_t nb = job_read(&told->nb), until, which[RTE_DIM(told->which)];

	info->waits_for = job_get(told->what);
	JOB_STALL("told");
	for (size_t i = 0; i < RTE_DIM(which); i++)
		which[i] = job_get(told->which[i]);
	info->which_id = job_get(told->id);
	until = job_get(told->until);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	memcpy(info->which, which, sizeof(info->which));
	info->left_ns = WEIR_JOB_FOREVER;
	if (until != 0)
		info->left_ns = weir_base_cycles_to_ns(until > now ? until - now : 0);
	return nb % 2 == 0 && job_get(told->nb) == nb;
}

/* What it waits for is written before it does, and erased after that. */
static void
describe_wait(const struct job *job, struct weir_job_info *info, uint64_t now)
{
	bool waits = info->state == WEIR_JOB_READY || info->state == WEIR_JOB_WAITING;

	for (unsigned int tries = 0; waits && tries < 100; tries++)
		if (read_told(&job->told, info, now))
			break;
	if (info->state == WEIR_JOB_READY && info->waits_for != NULL &&
		strcmp(info->waits_for, "key") == 0) {
		info->which[0] = '\0';
		info->which_id = job->key;
		info->left_ns = WEIR_JOB_FOREVER;
		return;
	}
	if (waits && info->waits_for[0] != '\0')
		return;
	info->waits_for = "";
	info->which[0] = '\0';
	info->which_id = 0;
	info->left_ns = WEIR_JOB_FOREVER;
}

static enum weir_job_state
state_of(uint32_t word, bool queued)
{
	switch (job_state(word)) {
	case JOB_RUNNING:
		return queued ? WEIR_JOB_READY : WEIR_JOB_RUNNING;
	case JOB_PREPARED:
		return WEIR_JOB_RUNNING;
	case JOB_WAITING:
		return WEIR_JOB_WAITING;
	case JOB_DELIVERING:
		return WEIR_JOB_DELIVERING;
	default:
		return WEIR_JOB_READY;
	}
}

/* Under its lock. */
static void
describe(struct job *job, struct weir_job_info *info)
{
	const struct job_worker *worker = job_get(job->worker);
	uint64_t now = weir_base_cycles(), since = job_get(job->since);
	uint16_t route = job_get(job->route);
	uint32_t word = job_word(&job->word);

	*info = (struct weir_job_info){
		.job = job->handle,
		.fn = job->fn,
		.state = state_of(word, job_get(job->queued)),
		.cancelled = (word & JOB_CANCELLED) != 0,
		.has_key = job->has_key,
		.key = job->key,
		.priority = route % WEIR_EM_PRIORITIES,
		.core_group = job_read(&job->service->groups[route / WEIR_EM_PRIORITIES]),
		.stack_class = job->stack_class,
		.core = worker != NULL ? worker->id : UINT32_MAX,
		.cores = job_get(job->cores),
		.nb_slices = job_get(job->nb_slices),
		.nb_waits = job_get(job->nb_waits),
		.nb_overruns = job_get(job->nb_overruns),
		.age_ns = weir_base_cycles_to_ns(now > job->begun ? now - job->begun : 0),
		.state_ns = weir_base_cycles_to_ns(now > since ? now - since : 0),
		.ran_ns = weir_base_cycles_to_ns(job_get(job->ran)),
		.deadline_ns = job->deadline_ns,
		.late = job->deadline != 0 && now > job->deadline,
	};
	describe_wait(job, info, now);
	memcpy(info->name, job->name, sizeof(info->name));
}

int
weir_job_look(struct weir_job_service *service, weir_job handle, struct weir_job_info *info)
{
	struct job *job;
	int rc;

	if (info == NULL)
		return -EINVAL;
	job = job_find(service, handle, &rc);
	if (job == NULL)
		return rc;
	describe(job, info);
	job_release(job);
	return 0;
}

unsigned int
weir_job_foreach(struct weir_job_service *service,
	bool (*visit)(void *arg, const struct weir_job_info *info), void *arg)
{
	unsigned int nb = 0;
	uint32_t nb_places;

	if (service == NULL || visit == NULL)
		return 0;
	nb_places = __atomic_load_n(&service->nb_fresh, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < nb_places; i++) {
		struct job *job = &service->jobs[i];
		struct weir_job_info info;
		bool live;

		job_lock(&job->joiners.lock);
		live = job_read(&job->handle) != WEIR_JOB_NONE;
		if (live)
			describe(job, &info);
		job_release(job);
		if (!live)
			continue;
		nb++;
		if (!visit(arg, &info))
			break;
	}
	return nb;
}

static void
add_ends(const struct weir_job_service *service, struct weir_job_stats *stats)
{
	for (unsigned int id = 0; id < service->nb_workers; id++) {
		stats->nb_finished += job_read(&service->workers[id].stats.nb_finished);
		stats->nb_cancelled += job_read(&service->workers[id].stats.nb_cancelled);
	}
}

static void
add_all_but_ends(const struct weir_job_service *service, struct weir_job_stats *stats)
{
	uint64_t *sums = (uint64_t *)(void *)stats;

	for (unsigned int id = 0; id < service->nb_workers; id++) {
		const uint64_t *counters =
			(const uint64_t *)(const void *)&service->workers[id].stats;

		for (size_t i = 0; i < COUNTERS; i++)
			if (&sums[i] != &stats->nb_finished && &sums[i] != &stats->nb_cancelled)
				sums[i] += job_read(&counters[i]);
	}
	stats->nb_spawned += job_read(&service->nb_foreign_spawned);
	stats->nb_refused += job_read(&service->nb_foreign_refused);
}

/* Ends first: what has ended was counted as spawned before. @return how many ended meanwhile, and are taken to be alive */
static uint64_t
look_once(const struct weir_job_service *service, struct weir_job_stats *stats)
{
	struct weir_job_stats after = {0};

	memset(stats, 0, sizeof(*stats));
	add_ends(service, stats);
	add_all_but_ends(service, stats);
	add_ends(service, &after);
	return after.nb_finished + after.nb_cancelled - stats->nb_finished - stats->nb_cancelled;
}

void
weir_job_stats(struct weir_job_service *service, struct weir_job_stats *stats)
{
	uint64_t fewest = UINT64_MAX;

	if (stats == NULL)
		return;
	memset(stats, 0, sizeof(*stats));
	if (service == NULL)
		return;
	/* Who looks may lose its CPU, and any number may begin and end meanwhile: not in each look. */
	for (unsigned int looks = 0; looks < LOOKS_MAX && fewest > 0; looks++) {
		struct weir_job_stats now;
		uint64_t nb_ended = look_once(service, &now);

		if (nb_ended >= fewest)
			continue;
		fewest = nb_ended;
		*stats = now;
	}
	stats->nb_live = stats->nb_spawned - stats->nb_finished - stats->nb_cancelled;
	stats->max_jobs = service->config.max_jobs;
}

uint64_t
job_nb_live(struct weir_job_service *service)
{
	struct weir_job_stats stats;

	weir_job_stats(service, &stats);
	return stats.nb_live;
}

int
weir_job_hist(
	struct weir_job_service *service, enum weir_job_hist which, struct weir_base_hist *hist)
{
	if (service == NULL || hist == NULL || (unsigned int)which >= WEIR_JOB_HISTS)
		return -EINVAL;
	memset(hist, 0, sizeof(*hist));
	for (unsigned int id = 0; id < service->nb_workers; id++) {
		const struct weir_base_hist *from = &service->workers[id].hists[which];
		struct weir_base_hist copy;

		copy.count = job_read(&from->count);
		copy.sum = job_get(from->sum);
		copy.min = job_get(from->min);
		copy.max = job_get(from->max);
		for (unsigned int i = 0; i < WEIR_BASE_HIST_BUCKETS; i++)
			copy.bucket[i] = job_get(from->bucket[i]);
		weir_base_hist_merge(hist, &copy);
	}
	return 0;
}

const char *
weir_job_state_name(enum weir_job_state state)
{
	static const char *const names[] = {
		[WEIR_JOB_READY] = "ready",
		[WEIR_JOB_RUNNING] = "running",
		[WEIR_JOB_WAITING] = "waiting",
		[WEIR_JOB_DELIVERING] = "delivering",
	};

	return (unsigned int)state < WEIR_JOB_STATES ? names[state] : "?";
}

const char *
weir_job_hist_name(enum weir_job_hist which)
{
	static const char *const names[] = {
		[WEIR_JOB_HIST_SLICE] = "slice",
		[WEIR_JOB_HIST_READY] = "ready",
		[WEIR_JOB_HIST_RAN] = "ran",
		[WEIR_JOB_HIST_LIFE] = "life",
	};

	return (unsigned int)which < WEIR_JOB_HISTS ? names[which] : "?";
}
