/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that wait for a time, in a wheel of the core on which they began to wait; and deadlines. Cores look after those of cores that do not come. */

#include "job_private.h"

#define BURST   32 /* jobs woken in a round at most */
#define STEPS   64 /* and of all that is done in a wheel */
#define HELP    16 /* rounds, in which a core looks after another one once */
#define HELP_NS 20000
#define TICK_NS 1000

void
job_lane_init(struct job_lane *lane)
{
	uint64_t cycles = weir_base_ns_to_cycles(TICK_NS);

	lane->shift = cycles > 1 ? 63u - (uint32_t)__builtin_clzll(cycles) : 0;
	lane->next = UINT64_MAX;
	lane->wheel.now = lane->deadlines.now = weir_base_cycles() >> lane->shift;
}

void
job_lane_set_next(struct job_lane *lane)
{
	uint64_t tick =
		RTE_MIN(weir_base_wheel_next(&lane->wheel), weir_base_wheel_next(&lane->deadlines));

	job_put(lane->next, tick <= UINT64_MAX >> lane->shift ? tick << lane->shift : UINT64_MAX);
}

void
job_timer_arm(struct job *job, uint64_t when)
{
	struct job_lane *lane = &job->worker->lane;

	job_lock(&lane->lock);
	weir_base_wheel_skip(&lane->wheel, weir_base_cycles() >> lane->shift);
	job->entry.tick = (when >> lane->shift) + 1; /* never early */
	weir_base_wheel_add(&lane->wheel, &job->entry);
	job_lane_set_next(lane);
	job_unlock(&lane->lock);
	job->lane = lane;
}

bool
job_timer_disarm(struct job *job)
{
	struct job_lane *lane = job->lane;
	bool armed;

	if (lane == NULL)
		return false;
	job_lock(&lane->lock);
	armed = job->entry.next != NULL;
	if (armed) {
		weir_base_wheel_remove(&lane->wheel, &job->entry);
		job_lane_set_next(lane);
	}
	job_unlock(&lane->lock);
	job->lane = NULL;
	return !armed;
}

static void
serve(struct job_worker *worker, struct job_lane *lane, uint64_t now)
{
	struct weir_base_wheel_entry *entry;
	struct job_late late = {.job = WEIR_JOB_NONE};
	struct job *due[BURST];
	unsigned int nb = 0, steps = STEPS;

	if (!job_trylock(&lane->lock))
		return; /* what is left is seen in the next round */
	while (nb < BURST && (entry = weir_base_wheel_advance(
				      &lane->wheel, now >> lane->shift, &steps)) != NULL) {
		struct job *job = (struct job *)((char *)entry - offsetof(struct job, entry));

		/* under the lock: it cannot have gone on to something else */
		JOB_STALL("timeout");
		if (job_state_claim(&job->word))
			due[nb++] = job;
	}
	job_deadlines_serve(worker, lane, now, &steps, &late);
	job_lane_set_next(lane);
	job_unlock(&lane->lock);
	if (late.job != WEIR_JOB_NONE)
		job_deadline_tell(worker->service, &late);
	for (unsigned int i = 0; i < nb; i++)
		job_make_ready(worker, due[i]);
}

static void
look(struct job_worker *worker, struct job_lane *lane, uint64_t patience)
{
	uint64_t next = job_get(lane->next), now;

	if (next == UINT64_MAX)
		return;
	now = weir_base_cycles();
	if (next <= now && now - next >= patience)
		serve(worker, lane, now);
}

void
job_lanes_poll(struct job_worker *worker)
{
	struct weir_job_service *service = worker->service;

	look(worker, &worker->lane, 0);
	if (++worker->nb_polls % HELP != 0)
		return;
	worker->helped = worker->helped + 1 < service->nb_workers ? worker->helped + 1 : 0;
	if (worker->helped != worker->id)
		look(worker, &service->workers[worker->helped].lane,
			weir_base_ns_to_cycles(HELP_NS));
}
