/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: when packets come. */
#include <errno.h>

#include "doc_read.h"

/* As the choices of traffic.streams.*.arrivals. */
enum arrivals {
	ARRIVALS_POISSON,
	ARRIVALS_DETERMINISTIC,
	ARRIVALS_UNIFORM,
	ARRIVALS_EMPIRICAL,
	ARRIVALS_REPLAY,
};

/* As the choices of what a phase, a life or the time between bursts is distributed like. */
enum phases {
	PHASES_EXPONENTIAL,
	PHASES_CONSTANT,
	PHASES_UNIFORM,
};

/* Most phases, in the mean, that may pass between two packets. */
#define PHASES_MAX 1e6

static double
duration_ps(const struct weir_base_doc_value *value)
{
	return sim_coarse(weir_base_doc_f64(value) * 1e12);
}

/* A key that would be overlooked. */
static void
refuse(struct weir_sim_model *model, const struct weir_base_doc_value *value, const char *key,
	const char *with)
{
	if (weir_base_doc_given(value, key))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, key),
			"'%s' means nothing here; expected it with %s", key, with);
}

/* A key that something else needs. @return its value; NULL: it is not there, which was told */
static const struct weir_base_doc_value *
require(struct weir_sim_model *model, const struct weir_base_doc_value *value, const char *key,
	const char *with)
{
	const struct weir_base_doc_value *found = weir_base_doc_get(value, key);

	if (found == NULL)
		weir_base_doc_error_add(
			model->doc, value, "%s without '%s'; expected both", with, key);
	return found;
}

static struct weir_sim_dist
read_interval(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	enum arrivals arrivals)
{
	const struct weir_base_doc_value *rate = weir_base_doc_get(value, "rate");
	const struct weir_base_doc_value *interval = weir_base_doc_get(value, "interval");
	const double spread = sim_coarse(weir_base_doc_f64(weir_base_doc_get(value, "spread")));
	double mean;

	if ((rate != NULL) == (interval != NULL)) {
		weir_base_doc_error_add(model->doc, rate != NULL ? interval : value,
			"%s; expected a key 'rate' or 'interval'",
			rate != NULL ? "'interval' beside 'rate'"
				     : "a stream that does not say when packets come");
		return (struct weir_sim_dist){.kind = WEIR_SIM_DIST_CONSTANT};
	}
	mean = rate != NULL ? sim_coarse(1e12 / weir_base_doc_f64(rate)) : duration_ps(interval);
	if (arrivals == ARRIVALS_UNIFORM)
		return (struct weir_sim_dist){
			WEIR_SIM_DIST_UNIFORM, mean * (1 - spread), mean * (1 + spread)};
	return (struct weir_sim_dist){
		arrivals == ARRIVALS_POISSON ? WEIR_SIM_DIST_EXPONENTIAL : WEIR_SIM_DIST_CONSTANT,
		mean, 0};
}

/* A distribution of durations by its mean. */
static struct weir_sim_dist
read_phase(double mean_ps, const struct weir_base_doc_value *phases)
{
	switch ((enum phases)weir_base_doc_u64(phases)) {
	case PHASES_EXPONENTIAL:
		return (struct weir_sim_dist){WEIR_SIM_DIST_EXPONENTIAL, mean_ps, 0};
	case PHASES_UNIFORM:
		return (struct weir_sim_dist){WEIR_SIM_DIST_UNIFORM, 0, 2 * mean_ps};
	case PHASES_CONSTANT:
		break;
	}
	return (struct weir_sim_dist){WEIR_SIM_DIST_CONSTANT, mean_ps, 0};
}

static double
interval_mean_ps(const struct model_stream *stream)
{
	return stream->intervals.nb > 0 ? weir_sim_table_mean(&stream->intervals)
					: weir_sim_dist_mean(&stream->interval);
}

static void
read_on_off(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream)
{
	const struct weir_base_doc_value *on = require(model, value, "on", "'off'");
	const struct weir_base_doc_value *off = require(model, value, "off", "'on'");
	const struct weir_base_doc_value *phases = weir_base_doc_get(value, "phases");

	stream->source = SIM_SOURCE_ON_OFF;
	stream->on = read_phase(duration_ps(on), phases);
	stream->off = read_phase(duration_ps(off), phases);
	if (on != NULL && off != NULL && interval_mean_ps(stream) > PHASES_MAX * duration_ps(on))
		weir_base_doc_error_add(model->doc, on,
			"less than a millionth of the time between packets; expected more");
}

static void
read_bursts(struct weir_sim_model *model, const struct weir_base_doc_value *bursts,
	struct model_stream *stream)
{
	stream->source = SIM_SOURCE_BURSTS;
	stream->trigger = read_phase(duration_ps(weir_base_doc_get(bursts, "interval")),
		weir_base_doc_get(bursts, "intervals"));
	stream->life = read_phase(duration_ps(weir_base_doc_get(bursts, "lifetime")),
		weir_base_doc_get(bursts, "lifetimes"));
}

/* What comes at the times of a file rather than at those of a source. */
static int
read_replay(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream)
{
	static const char *const others[] = {
		"rate", "interval", "on", "off", "phases", "bursts", "sizes", "size", "size_max"};
	const struct weir_base_doc_value *capture =
		require(model, value, "capture", "'arrivals: replay'");
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		refuse(model, value, others[i], "other 'arrivals' than 'replay'");
	stream->source = SIM_SOURCE_REPLAY;
	stream->sizes = SIM_SIZES_CAPTURED;
	return capture == NULL ? 0
			       : sim_doc_read_capture(model, capture,
					 weir_base_doc_f64(weir_base_doc_get(value, "speed")),
					 weir_base_doc_bool(weir_base_doc_get(value, "repeat")),
					 &stream->capture);
}

/* Keys of other kinds of arrivals. */
static void
check_keys(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	enum arrivals arrivals)
{
	if (arrivals != ARRIVALS_UNIFORM)
		refuse(model, value, "spread", "'arrivals: uniform'");
	if (arrivals != ARRIVALS_EMPIRICAL)
		refuse(model, value, "intervals", "'arrivals: empirical'");
	if (arrivals != ARRIVALS_REPLAY) {
		refuse(model, value, "capture", "'arrivals: replay'");
		refuse(model, value, "speed", "'arrivals: replay'");
		refuse(model, value, "repeat", "'arrivals: replay'");
	}
	if (!weir_base_doc_given(value, "on") && !weir_base_doc_given(value, "off"))
		refuse(model, value, "phases", "'on' and 'off'");
}

static int
read_empirical(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream)
{
	const struct weir_base_doc_value *intervals =
		require(model, value, "intervals", "'arrivals: empirical'");

	refuse(model, value, "rate", "other 'arrivals' than 'empirical'");
	refuse(model, value, "interval", "other 'arrivals' than 'empirical'");
	return intervals == NULL ? 0
				 : sim_doc_read_table(
					   model, intervals, SIM_DOC_INTERVALS, &stream->intervals);
}

int
sim_doc_read_arrivals(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream)
{
	const enum arrivals arrivals =
		(enum arrivals)weir_base_doc_u64(weir_base_doc_get(value, "arrivals"));
	const struct weir_base_doc_value *bursts = weir_base_doc_get(value, "bursts");

	check_keys(model, value, arrivals);
	if (arrivals == ARRIVALS_REPLAY)
		return read_replay(model, value, stream);
	if (arrivals != ARRIVALS_EMPIRICAL)
		stream->interval = read_interval(model, value, arrivals);
	else if (read_empirical(model, value, stream) < 0)
		return -ENOMEM;
	if (bursts != NULL) {
		refuse(model, value, "on", "no 'bursts'");
		refuse(model, value, "off", "no 'bursts'");
		read_bursts(model, bursts, stream);
	} else if (weir_base_doc_given(value, "on") || weir_base_doc_given(value, "off")) {
		read_on_off(model, value, stream);
	}
	return 0;
}
