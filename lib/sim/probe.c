/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: levels over time, and packets that pass an edge.
 *
 * A level is looked at after each event: between events nothing changes, and what it was within one is of no time. So
 * nothing that is simulated knows of probes, and they change nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim.h"
#include "weir_base.h"

static uint64_t
level_of(const struct sim *sim, const struct model_probe *model)
{
	switch (model->kind) {
	case MODEL_PROBE_QUEUE:
		return sim->queues[model->index].length.value;
	case MODEL_PROBE_RING:
		return sim->queues[sim->model->nb_queues + model->index].length.value;
	case MODEL_PROBE_UNIT:
		return sim->units[model->index].length.value;
	case MODEL_PROBE_SERVERS:
		return sim->units[model->index].busy.value;
	case MODEL_PROBE_CORES:
		return sim->kinds[model->index].busy.value;
	case MODEL_PROBE_STREAM:
		return sim->streams[model->index].inside.value;
	case MODEL_PROBE_EDGE:
		break;
	}
	return 0;
}

/* Account for the time up to now. */
static inline void
advance(struct sim_probe *probe, uint64_t now_ps)
{
	const weir_sim_u128 area = (weir_sim_u128)probe->level * (now_ps - probe->since_ps);

	probe->area += area;
	probe->squares += area * probe->level;
	probe->since_ps = now_ps;
}

void
sim_probes_look(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_probes; i++) {
		const struct model_probe *const model = &sim->model->probes[i];
		struct sim_probe *const probe = &sim->probes[i];
		const uint64_t level = level_of(sim, model);

		if (model->kind == MODEL_PROBE_EDGE || level == probe->level)
			continue;
		advance(probe, sim->now_ps);
		probe->level = level;
		probe->min = level < probe->min ? level : probe->min;
		probe->max = level > probe->max ? level : probe->max;
		probe->nb++;
		if (probe->file != NULL)
			fprintf(probe->file, "%" PRIu64 ",%" PRIu64 "\n", sim->now_ps, level);
	}
}

/* A name as a field of CSV: in quotes where it needs them (RFC 4180). */
static void
put_name(FILE *file, const char *name)
{
	if (name[strcspn(name, ",\"\r\n")] == '\0') {
		fputs(name, file);
		return;
	}
	putc('"', file);
	for (; *name != '\0'; name++) {
		if (*name == '"')
			putc('"', file);
		putc(*name, file);
	}
	putc('"', file);
}

static void
trace_packet(FILE *file, const struct sim *sim, const struct sim_packet *packet)
{
	fprintf(file, "%" PRIu64 ",", sim->now_ps);
	put_name(file, sim->model->streams[packet->stream].name);
	fprintf(file, ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 "\n", packet->flow, packet->size_bytes,
		sim->now_ps - packet->created_ps);
}

void
sim_probes_pass(struct sim *sim, uint32_t from, uint32_t to, uint32_t index)
{
	const struct sim_packet *const packet = &sim->packets.all[index];
	uint32_t i;

	if ((to & (SIM_TO_UNIT | SIM_TO_DROP)) == SIM_TO_UNIT) /* through which it leaves */
		to = SIM_TO_OUTPUT;
	for (i = 0; i < sim->model->nb_probes; i++) {
		const struct model_probe *const model = &sim->model->probes[i];
		struct sim_probe *const probe = &sim->probes[i];

		if (model->kind != MODEL_PROBE_EDGE || model->from != from || model->to != to)
			continue;
		if (probe->has_passed)
			weir_sim_tally_add(&probe->intervals, sim->now_ps - probe->since_ps);
		probe->has_passed = true;
		probe->since_ps = sim->now_ps;
		probe->nb++;
		probe->nb_at_once++;
		if (probe->file != NULL)
			trace_packet(probe->file, sim, packet);
	}
}

/* The object among whose steps one is. */
static uint32_t
object_of(const struct weir_sim_model *model, uint32_t step)
{
	uint32_t low = 0, high = model->nb_objects, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (model->objects[middle].first_step <= step)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void
sim_probes_sent(struct sim *sim, uint32_t step, uint32_t to, uint32_t packet)
{
	sim_probes_pass(sim, object_of(sim->model, step), to, packet);
}

void
sim_probes_vector_passed(struct sim *sim, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_probes; i++) {
		struct sim_probe *const probe = &sim->probes[i];

		if (!sim_is_edge_of_nodes(&sim->model->probes[i]) ||
			sim->model->probes[i].from != (SIM_FROM_NODE | node) ||
			probe->nb_at_once == 0)
			continue;
		weir_sim_tally_add(&probe->vectors, probe->nb_at_once);
		probe->nb_at_once = 0;
	}
}

void
sim_probes_restart(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_probes; i++) {
		struct sim_probe *const probe = &sim->probes[i];

		if (sim->model->probes[i].kind != MODEL_PROBE_EDGE)
			probe->since_ps = sim->now_ps;
		probe->min = probe->max = probe->level;
		probe->area = probe->squares = 0;
		probe->nb = 0;
		probe->intervals = probe->vectors = (struct weir_sim_tally){0};
	}
}

struct weir_sim_estimate
sim_probe_mean(const struct sim *sim, uint32_t index)
{
	struct sim_probe probe = sim->probes[index];
	const double span_ps = (double)(sim->now_ps - sim->window_ps);
	struct weir_sim_estimate found = {.half_width = 0};
	double variance;

	if (sim->model->probes[index].kind == MODEL_PROBE_EDGE) {
		found.mean = weir_sim_tally_mean(&probe.intervals) / 1e3;
		found.sd = weir_sim_tally_sd(&probe.intervals) / 1e3;
		return found;
	}
	if (span_ps <= 0)
		return found;
	advance(&probe, sim->now_ps);
	found.mean = (double)probe.area / span_ps;
	variance = (double)probe.squares / span_ps - found.mean * found.mean;
	found.sd = probe.min < probe.max && variance > 0 ? sqrt(variance) : 0;
	return found;
}

/* The first thing that is wrong is told. */
__attribute__((format(printf, 3, 4))) static void
tell(struct sim_trace_error *error, const struct model_probe *probe, const char *format, ...)
{
	va_list arguments;

	if (error->words != NULL)
		return;
	va_start(arguments, format);
	if (vasprintf(&error->words, format, arguments) < 0)
		error->words = NULL;
	va_end(arguments);
	error->at = probe->trace_at;
}

static void
tell_unopened(struct sim_trace_error *error, const struct model_probe *probe, int number)
{
	tell(error, probe, "cannot write '%s': %s; expected a file in a folder that can be written",
		probe->trace, strerror(number));
}

bool
sim_probes_check(const struct weir_sim_model *model, struct sim_trace_error *error)
{
	struct stat status;
	uint32_t i;
	int file;

	for (i = 0; i < model->nb_probes; i++) {
		const struct model_probe *const probe = &model->probes[i];

		/* To open a pipe, and close it, would end who reads it. */
		if (probe->trace == NULL ||
			(stat(probe->trace, &status) == 0 && !S_ISREG(status.st_mode) &&
				!S_ISDIR(status.st_mode)))
			continue;
		file = open(probe->trace, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (file < 0) {
			tell_unopened(error, probe, errno);
			return false;
		}
		close(file);
	}
	return true;
}

bool
sim_probes_open(struct sim *sim, struct sim_trace_error *error)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_probes; i++) {
		const struct model_probe *const model = &sim->model->probes[i];
		FILE *file;

		if (model->trace == NULL)
			continue;
		file = fopen(model->trace, "w");
		if (file == NULL) {
			tell_unopened(error, model, errno);
			return false;
		}
		sim->probes[i].file = file;
		fputs(model->kind == MODEL_PROBE_EDGE ? "time_ps,stream,flow,size_B,age_ps\n"
						      : "time_ps,level\n0,0\n",
			file);
	}
	return true;
}

bool
sim_probes_close(struct sim *sim, struct sim_trace_error *error)
{
	bool is_good = true;
	uint32_t i;

	for (i = 0; i < sim->model->nb_probes; i++) {
		FILE *const file = sim->probes[i].file;
		bool has_failed;

		sim->probes[i].file = NULL;
		if (file == NULL)
			continue;
		has_failed = ferror(file) != 0; /* what is lost by then the end does not tell of */
		if (fclose(file) == 0 && !has_failed)
			continue;
		tell(error, &sim->model->probes[i],
			"cannot write all of '%s'; expected more room for it",
			sim->model->probes[i].trace);
		is_good = false;
	}
	return is_good;
}

void
sim_probes_tell_cut(const struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_probes; i++)
		if (sim->probes[i].file != NULL)
			weir_base_log(WEIR_BASE_LOG_WARNING, "sim",
				"'%s' ends at %.12g s, before the end of the replication",
				sim->model->probes[i].trace, (double)sim->now_ps / 1e12);
}
