/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One replication, from its beginning to its end. What is counted is cut into batches, each of which makes a row:
 *
 *   |-- warm-up --|-- batch --|-- batch --|-- batch --|
 */
#include "replication.h"

/* So many of them at one instant are taken for events without an end. */
#define INSTANT_MAX 16

static double
done(const struct sim_course *course)
{
	const struct weir_sim_param *const param = course->param;
	const double time_done = (double)course->sim->now_ps / (double)param->duration_ps;
	const uint64_t per_batch = param->nb_packets / sim_batches(param);
	double packets_done = 0;

	if (course->sim->nb_left <= per_batch)
		packets_done =
			(course->batch + 1 - (double)course->sim->nb_left / (double)per_batch) /
			sim_batches(param);
	return time_done > packets_done ? time_done : packets_done;
}

/* Packets that go in a circle, in no time, would keep it at one instant for ever. */
static void
watch_time(struct sim_course *course)
{
	course->nb_instant = course->sim->now_ps == course->instant_ps ? course->nb_instant + 1 : 0;
	course->instant_ps = course->sim->now_ps;
	if (course->nb_instant == INSTANT_MAX)
		sim_give_up(course->sim, "events that take no time come to an end");
}

/* Up to a time. @return false: it is not to go on */
static bool
run_until(struct sim_course *course, uint64_t end_ps)
{
	struct sim *const sim = course->sim;

	/* Asked as often in short batches as in long ones. */
	while (!course->is_stopped &&
		sim_engine_run(
			sim, end_ps, SIM_EVENTS_AT_ONCE - sim->nb_events % SIM_EVENTS_AT_ONCE)) {
		course->is_stopped = !course->ask(course->arg, sim, done(course));
		watch_time(course);
		sim_find_deadlock(sim);
	}
	/* There may be too many for that very reason. */
	if (sim->error == -EOVERFLOW)
		sim_find_deadlock(sim);
	course->is_stopped = course->is_stopped || sim->error < 0;
	return !course->is_stopped;
}

bool
sim_run_before(struct sim_course *course, uint64_t end_ps)
{
	if (!run_until(course, end_ps - 1))
		return false;
	if (!course->sim->ended)
		course->sim->now_ps = end_ps;
	return true;
}

/* Where a batch ends that is not ended by packets. */
static uint64_t
batch_end_ps(const struct weir_sim_param *param, unsigned int batch)
{
	const uint64_t length_ps = (param->duration_ps - param->warmup_ps) / sim_batches(param);

	return batch + 1 == sim_batches(param) ? param->duration_ps
					       : param->warmup_ps + (batch + 1) * length_ps;
}

/* @return whether the batch came to its end */
static bool
run_batch(struct sim_course *course)
{
	const struct weir_sim_param *const param = course->param;
	struct sim *const sim = course->sim;

	if (param->nb_packets == 0)
		return course->batch + 1 == sim_batches(param)
			       ? run_until(course, param->duration_ps)
			       : sim_run_before(course, batch_end_ps(param, course->batch));
	sim->nb_left = param->nb_packets / sim_batches(param);
	sim->ended = sim->is_models_fault;
	/* The time may be over before: then it is one batch, or none. */
	return run_until(course, param->duration_ps) && (sim->ended || course->batch == 0);
}

unsigned int
sim_replicate(
	struct sim *sim, const struct weir_sim_param *param, double *rows, sim_ask_t ask, void *arg)
{
	struct sim_course course = {.sim = sim, .param = param, .ask = ask, .arg = arg};

	sim_limit_packets(sim, param);
	if (param->warmup_ps > 0) {
		if (!sim_run_before(&course, param->warmup_ps))
			return 0;
		sim_restart_statistics(sim);
	}
	for (; course.batch < sim_batches(param); course.batch++) {
		if (course.batch > 0)
			sim_restart_statistics(sim);
		if (!run_batch(&course))
			break;
		sim_find_deadlock(sim);
		sim_check(sim);
		sim_metrics_fill(sim, rows + (size_t)course.batch * sim->model->nb_metrics);
		if (param->nb_packets > 0 && !sim->ended) {
			course.batch++;
			break;
		}
	}
	return course.is_stopped || sim->error < 0 ? 0 : course.batch;
}
