/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the warm-up ends, by MSER-5: K. P. White Jr., M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation
 * heuristics for simulation", Winter Simulation Conference 2000.
 *
 * The series is how many packets are inside, over equal pieces of time, in the mean over some pilot replications. It is cut
 * into batches of five, of which as many are left out at the beginning as make the standard error of the mean of the
 * others the least; not more than half, as the end of a series is by chance as even as one likes.
 *
 *   inside |      ....:.:.:..:..::.::..
 *          |   .:'         |
 *          | .:            |  How long a replication is may be known only at its end, so the first one's pieces begin
 *          |.______________|  short; whenever there are too many, each two become one.
 *            warm-up       time
 */
#include <math.h>
#include <stdlib.h>

#include "replication.h"

#define PIECES_MAX 4000
#define PIECE_PS   1000 /* of the first one, at its beginning */
#define BATCH      5

/* Packets inside, in units times ps, from the beginning to the end of each piece. */
struct series {
	double areas[PIECES_MAX + 1];
	uint32_t nb;
	uint64_t piece_ps;
};

struct pilot {
	const struct weir_sim_model *model;
	const struct weir_sim_param *param;
	sim_ask_t ask;
	void *arg;
	unsigned int nb; /* of replications that are done */
	struct series series;
	double sums[PIECES_MAX]; /* of levels, of all replications */
};

static double
area_inside(const struct sim *sim)
{
	double area = 0;
	uint32_t i;

	for (i = 0; i < sim->model->nb_streams; i++) {
		struct weir_sim_level inside = sim->streams[i].inside;

		weir_sim_level_advance(&inside, sim->now_ps);
		area += (double)inside.area;
	}
	return area;
}

static void
halve(struct series *series)
{
	uint32_t i;

	series->nb /= 2;
	series->piece_ps *= 2;
	for (i = 1; i <= series->nb; i++)
		series->areas[i] = series->areas[2 * i];
}

/* Up to the end of the next piece. @return whether it came there */
static bool
run_piece(const struct pilot *pilot, struct sim_course *course)
{
	const uint64_t end_ps = (pilot->series.nb + 1) * pilot->series.piece_ps;

	if (end_ps > pilot->param->duration_ps)
		return false;
	return sim_run_before(course, end_ps) && !course->sim->ended;
}

static bool
ask_pilot(void *arg, const struct sim *sim, double done)
{
	const struct pilot *const pilot = arg;

	return pilot->ask(pilot->arg, sim, pilot->nb + done);
}

/* @return 0 or why not */
static int
run_pilot(struct pilot *pilot)
{
	struct sim *sim = sim_new(pilot->model, pilot->param->seed, pilot->nb);
	struct series *const series = &pilot->series;
	const uint32_t nb_most = pilot->nb == 0 ? PIECES_MAX : series->nb;
	struct sim_course course = {
		.sim = sim, .param = pilot->param, .ask = ask_pilot, .arg = pilot};
	uint32_t i;
	int error;

	if (sim == NULL)
		return -ENOMEM;
	sim_limit_packets(sim, pilot->param);
	if (pilot->param->nb_packets > 0)
		sim->nb_left = pilot->param->nb_packets;
	for (series->nb = 0; series->nb < nb_most && run_piece(pilot, &course);) {
		series->areas[++series->nb] = area_inside(sim);
		if (series->nb == PIECES_MAX && pilot->nb == 0)
			halve(series);
	}
	for (i = 0; i < series->nb; i++)
		pilot->sums[i] += series->areas[i + 1] - series->areas[i];
	error = sim->error == 0 && course.is_stopped ? -ECANCELED : sim->error;
	sim_free(sim);
	pilot->nb++;
	return error;
}

/* @return how many of the batches are to be left out; a half of them: the series does not end evenly */
static uint32_t
truncate_series(const double *batches, uint32_t nb)
{
	double sum = 0, squares = 0, least = INFINITY, spread;
	uint32_t found = 0, i, left;

	/* From the end on, as each sum is that of the one behind it and one more. */
	for (i = nb; i-- > 0;) {
		left = nb - i;
		sum += batches[i];
		squares += batches[i] * batches[i];
		spread = (squares - sum * sum / left) / ((double)left * left);
		if (i <= nb / 2 && spread <= least) {
			least = spread;
			found = i;
		}
	}
	return found;
}

int
sim_find_warmup(const struct weir_sim_model *model, const struct weir_sim_param *param,
	sim_ask_t ask, void *arg, struct sim_warmup *warmup)
{
	const unsigned int nb = sim_pilots(param);
	struct pilot *pilot = calloc(1, sizeof(*pilot));
	uint32_t nb_batches, found, i;
	int error = 0;

	if (pilot == NULL)
		return -ENOMEM;
	*pilot = (struct pilot){.model = model, .param = param, .ask = ask, .arg = arg};
	pilot->series.piece_ps = PIECE_PS;
	while (pilot->nb < nb && error == 0)
		error = run_pilot(pilot);
	nb_batches = pilot->series.nb / BATCH;
	for (i = 0; i < nb_batches * BATCH; i++)
		if (i % BATCH == 0)
			pilot->sums[i / BATCH] = pilot->sums[i];
		else
			pilot->sums[i / BATCH] += pilot->sums[i];
	found = truncate_series(pilot->sums, nb_batches);
	warmup->ps = found * BATCH * pilot->series.piece_ps;
	warmup->is_found = nb_batches > 1 && found < nb_batches / 2;
	free(pilot);
	return error;
}
