/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A follower whose function runs in jobs. Each job has a batch: frames that are pinned from when they are gathered until
 * the job is over. Free batches are bits that whoever ends a job sets, and the poller takes.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "bridge_private.h"
#include "weir_bridge_follower.h"

#define NB_JOBS   4u
#define NB_FRAMES 32u
#define WORD_BITS 64u

/* The frames of a job. The poller's, then the job's, then of who is told of its end. */
struct batch {
	struct weir_bridge_follower *follower;
	uint32_t number, nb;
	uint32_t nb_seen, nb_passed; /* by the function */
	uint32_t nb_dropped[WEIR_READOUT_PROCESS_DROPS_MAX];
	struct weir_readout_kept *frames;
};

/* By whoever ends a job. */
struct follower_ends {
	uint64_t passed, exited, cancelled;
	uint64_t dropped[WEIR_READOUT_PROCESS_DROPS_MAX];
};

struct weir_bridge_follower {
	struct weir_readout_process process;
	uint32_t nb_drops;
	struct weir_readout_follower *frames;
	struct weir_job_service *service;
	struct weir_job_options options;
	struct weir_job_group group;
	char name[WEIR_JOB_NAME_SIZE];
	uint32_t nb_jobs, nb_frames, nb_words;
	bool wait;
	struct batch *batches;
	struct weir_readout_kept *kept; /* of all batches */
	/* The poller's. */
	struct batch *batch;   /* to be filled next; NULL: none is free */
	uint64_t jobs, no_job; /* counters, read by all */
	/* Of all who end jobs. */
	struct follower_ends ends __rte_cache_aligned;
	uint64_t free[WEIR_BRIDGE_FOLLOWER_JOBS_MAX / WORD_BITS];
};

const char *
weir_bridge_follower_refusal_name(enum weir_bridge_follower_refusal refusal)
{
	static const char *const names[] = {
		[WEIR_BRIDGE_FOLLOWER_JOBS_FULL] = "jobs_full",
		[WEIR_BRIDGE_FOLLOWER_NO_JOB] = "no_job",
	};

	return (unsigned int)refusal < RTE_DIM(names) ? names[refusal] : NULL;
}

/* @return NULL: all jobs are out */
static struct batch *
take_batch(struct weir_bridge_follower *follower)
{
	for (uint32_t i = 0; i < follower->nb_words; i++) {
		uint64_t word = __atomic_load_n(&follower->free[i], __ATOMIC_ACQUIRE), bit;

		if (word == 0)
			continue;
		bit = word & -word;
		__atomic_fetch_and(&follower->free[i], ~bit, __ATOMIC_ACQUIRE);
		return &follower->batches[i * WORD_BITS + (uint32_t)__builtin_ctzll(bit)];
	}
	return NULL;
}

/* Its frames are given back, and it is free. The last look at it. */
static void
give_back(struct batch *batch)
{
	const uint64_t bit = UINT64_C(1) << batch->number % WORD_BITS;
	uint64_t *word = &batch->follower->free[batch->number / WORD_BITS];

	for (uint32_t i = 0; i < batch->nb; i++)
		weir_readout_kept_release(&batch->frames[i]);
	batch->nb = batch->nb_seen = batch->nb_passed = 0;
	memset(batch->nb_dropped, 0, sizeof(batch->nb_dropped));
	__atomic_fetch_or(word, bit, __ATOMIC_RELEASE);
}

/* The follower's function in the buffer's library: of the next frame. @return why it is not given to a job */
static int
gather(void *arg, const struct weir_readout_item *item)
{
	struct weir_bridge_follower *follower = arg;
	struct batch *batch = follower->batch;

	(void)item;
	if (batch == NULL)
		return WEIR_BRIDGE_FOLLOWER_JOBS_FULL;
	weir_readout_follower_keep(follower->frames, &batch->frames[batch->nb++]);
	return WEIR_READOUT_PASS;
}

/* The job. Between two frames it gives way to others where its slice is over. */
static void
work(void *in, void *out)
{
	struct batch *batch = *(struct batch **)in;
	const struct weir_bridge_follower *follower = batch->follower;

	(void)out;
	for (; batch->nb_seen < batch->nb && !weir_job_self_cancelled(); batch->nb_seen++) {
		int reason;

		if (batch->nb_seen > 0 && weir_coro_maybe_yield())
			break;
		reason = follower->process.run(
			follower->process.arg, &batch->frames[batch->nb_seen].item);
		if (reason == WEIR_READOUT_PASS)
			batch->nb_passed++;
		else
			batch->nb_dropped[reason < 0 ? follower->nb_drops - 1
						     : RTE_MIN((uint32_t)reason,
							       follower->nb_drops - 1)]++;
	}
}

static void
count(uint64_t *counter, uint64_t nb)
{
	if (nb > 0)
		__atomic_fetch_add(counter, nb, __ATOMIC_RELEASE);
}

/* However it ended. */
static void
done(void *arg, weir_job job, enum weir_job_end end, void *out)
{
	struct batch *batch = arg;
	struct follower_ends *ends = &batch->follower->ends;

	(void)job;
	(void)out;
	count(&ends->passed, batch->nb_passed);
	for (uint32_t i = 0; i < batch->follower->nb_drops; i++)
		count(&ends->dropped[i], batch->nb_dropped[i]);
	count(end == WEIR_JOB_CANCELLED ? &ends->cancelled : &ends->exited,
		batch->nb - batch->nb_seen);
	give_back(batch);
}

static void
begin_job(struct weir_bridge_follower *follower)
{
	struct batch *batch = follower->batch;
	const uint32_t nb = batch->nb;

	follower->batch = NULL;
	follower->options.done_arg = batch;
	if (weir_job_spawn(follower->service, work, &batch, sizeof(batch), &follower->options) !=
		WEIR_JOB_NONE) {
		count(&follower->jobs, 1);
		return;
	}
	count(&follower->no_job, nb);
	give_back(batch);
}

uint32_t
weir_bridge_follower_poll(struct weir_bridge_follower *follower)
{
	uint32_t nb;

	if (follower->batch == NULL)
		follower->batch = take_batch(follower);
	if (follower->batch == NULL && follower->wait)
		return 0;
	nb = weir_readout_follower_poll(follower->frames);
	if (follower->batch != NULL && follower->batch->nb > 0)
		begin_job(follower);
	return nb;
}

void
weir_bridge_follower_share(const struct weir_readout_item *item, struct weir_readout_kept *kept)
{
	weir_readout_kept_share(
		(const struct weir_readout_kept *)(const void *)((const char *)item -
								 offsetof(struct weir_readout_kept,
									 item)),
		kept);
}

/* @return 0, -EINVAL: said in the log */
static int
check(const struct weir_bridge_follower_config *config)
{
	const uint32_t nb_jobs = config->nb_jobs != 0 ? config->nb_jobs : NB_JOBS;
	const uint32_t nb_frames = config->nb_frames != 0 ? config->nb_frames : NB_FRAMES;
	struct weir_readout_buffer_info info;

	if (config->name == NULL ||
		strnlen(config->name, WEIR_JOB_NAME_SIZE) == WEIR_JOB_NAME_SIZE ||
		config->buffer == NULL || config->service == NULL || config->process.run == NULL ||
		config->process.nb_drops > WEIR_READOUT_PROCESS_DROPS_MAX ||
		nb_jobs > WEIR_BRIDGE_FOLLOWER_JOBS_MAX ||
		nb_frames > WEIR_BRIDGE_FOLLOWER_FRAMES_MAX) {
		BRIDGE_LOG(ERROR,
			"a follower needs a name, a buffer, a function with up to %u reasons, jobs "
			"of a "
			"service, up to %u at a time, and up to %u frames for each",
			WEIR_READOUT_PROCESS_DROPS_MAX, WEIR_BRIDGE_FOLLOWER_JOBS_MAX,
			WEIR_BRIDGE_FOLLOWER_FRAMES_MAX);
		return -EINVAL;
	}
	weir_readout_buffer_info(config->buffer, &info);
	if ((uint64_t)nb_jobs * nb_frames < info.nb_spare)
		return 0;
	BRIDGE_LOG(ERROR,
		"follower '%s': %" PRIu32 " jobs of %" PRIu32 " frames may pin all %" PRIu32
		" spare frames of its buffer; expected fewer, or more spare_frames",
		config->name, nb_jobs, nb_frames, info.nb_spare);
	return -EINVAL;
}

static void
set_options(struct weir_bridge_follower *follower, const struct weir_bridge_follower_config *config)
{
	snprintf(follower->name, sizeof(follower->name), "%s", config->name);
	/* Not at once: who polls has no time for that. */
	follower->options = (struct weir_job_options){
		.flags = WEIR_JOB_LATER | (config->has_priority ? WEIR_JOB_PRIORITY : 0),
		.name = follower->name,
		.priority = config->priority,
		.slice_ns = config->slice_ns,
		.core_group = config->core_group,
		.group = &follower->group,
		.done = done,
	};
	weir_job_group_init(&follower->group);
}

/* @return 0, -ENOMEM */
static int
make_batches(struct weir_bridge_follower *follower)
{
	const uint32_t nb = follower->nb_jobs;

	follower->batches = calloc(nb, sizeof(*follower->batches));
	follower->kept = calloc((size_t)nb * follower->nb_frames, sizeof(*follower->kept));
	if (follower->batches == NULL || follower->kept == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < nb; i++) {
		follower->batches[i].follower = follower;
		follower->batches[i].number = i;
		follower->batches[i].frames = &follower->kept[(size_t)i * follower->nb_frames];
		give_back(&follower->batches[i]);
	}
	return 0;
}

/* What brings frames to gather(). @return 0, or a negative errno with the reason in the log */
static int
follow(struct weir_bridge_follower *follower, const struct weir_bridge_follower_config *config)
{
	static const char *const refused[] = {"jobs_full"};
	const struct weir_readout_process process = {.name = "jobs",
		.run = gather,
		.arg = follower,
		.drops = refused,
		.nb_drops = RTE_DIM(refused)};

	follower->frames = weir_readout_follower_create(
		&(struct weir_readout_follower_config){.name = follower->name,
			.buffer = config->buffer,
			.link = config->link,
			.processes = &process,
			.nb_processes = 1,
			.burst = follower->nb_frames});
	return follower->frames != NULL ? 0 : -rte_errno;
}

struct weir_bridge_follower *
weir_bridge_follower_create(const struct weir_bridge_follower_config *config)
{
	struct weir_bridge_follower *follower;
	int error = check(config);

	follower = error == 0 ? aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*follower)) : NULL;
	if (follower == NULL) {
		rte_errno = error < 0 ? -error : ENOMEM;
		return NULL;
	}
	memset(follower, 0, sizeof(*follower));
	follower->process = config->process;
	follower->nb_drops = RTE_MAX(config->process.nb_drops, 1u);
	follower->service = config->service;
	follower->nb_jobs = config->nb_jobs != 0 ? config->nb_jobs : NB_JOBS;
	follower->nb_frames = config->nb_frames != 0 ? config->nb_frames : NB_FRAMES;
	follower->nb_words = (follower->nb_jobs + WORD_BITS - 1) / WORD_BITS;
	follower->wait = config->wait;
	set_options(follower, config);
	error = make_batches(follower);
	if (error == 0)
		error = follow(follower, config);
	if (error == 0)
		return follower;
	weir_bridge_follower_free(follower);
	rte_errno = -error;
	return NULL;
}

int
weir_bridge_follower_free(struct weir_bridge_follower *follower)
{
	if (follower == NULL)
		return 0;
	if (weir_job_group_nb(&follower->group) > 0)
		return -EBUSY;
	weir_readout_follower_free(follower->frames);
	free(follower->batches);
	free(follower->kept);
	free(follower);
	return 0;
}

/* What came out is read before what went in. */
void
weir_bridge_follower_stats(
	struct weir_bridge_follower *follower, struct weir_bridge_follower_stats *stats)
{
	const struct follower_ends *ends = &follower->ends;
	struct weir_readout_follower_stats frames;
	uint64_t out;

	*stats = (struct weir_bridge_follower_stats){0};
	stats->passed = __atomic_load_n(&ends->passed, __ATOMIC_ACQUIRE);
	stats->exited = __atomic_load_n(&ends->exited, __ATOMIC_ACQUIRE);
	stats->cancelled = __atomic_load_n(&ends->cancelled, __ATOMIC_ACQUIRE);
	out = stats->passed + stats->exited + stats->cancelled;
	for (uint32_t i = 0; i < follower->nb_drops; i++) {
		stats->dropped[i] = __atomic_load_n(&ends->dropped[i], __ATOMIC_ACQUIRE);
		out += stats->dropped[i];
	}
	stats->jobs = __atomic_load_n(&follower->jobs, __ATOMIC_ACQUIRE);
	stats->jobs_out = weir_job_group_nb(&follower->group);
	stats->refused[WEIR_BRIDGE_FOLLOWER_NO_JOB] =
		__atomic_load_n(&follower->no_job, __ATOMIC_ACQUIRE);
	weir_readout_follower_stats(follower->frames, &frames);
	stats->received = frames.received;
	stats->missed = frames.missed;
	stats->waiting = frames.waiting;
	stats->refused[WEIR_BRIDGE_FOLLOWER_JOBS_FULL] =
		frames.dropped[WEIR_BRIDGE_FOLLOWER_JOBS_FULL];
	stats->taken = frames.passed - stats->refused[WEIR_BRIDGE_FOLLOWER_NO_JOB];
	stats->inside = stats->taken - out;
}
