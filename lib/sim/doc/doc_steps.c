/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: steps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

/* What a step can be, by the key that says so. */
static const struct step_kind {
	const char *key;
	enum model_op op;
} kinds[] = {
	{"cpu", MODEL_CPU},
	{"per_byte", MODEL_CPU},
	{"memory", MODEL_MEMORY},
	{"use", MODEL_USE},
	{"set", MODEL_SET},
	{"fork", MODEL_FORK},
	{"join", MODEL_JOIN},
	{"switch", MODEL_SWITCH},
	{"jump", MODEL_JUMP},
	{"send", MODEL_SEND},
	{"drop", MODEL_DROP},
	{"output", MODEL_OUTPUT},
};

/* What goes with what only. */
static const struct belonging {
	const char *key;
	uint32_t ops; /* bits */
	const char *with;
} belongings[] = {
	{"times", 1 << MODEL_CPU | 1 << MODEL_MEMORY | 1 << MODEL_USE, "'cpu', 'memory' or 'use'"},
	{"deschedule", 1 << MODEL_USE, "'use'"},
	{"accesses", 1 << MODEL_MEMORY, "'memory'"},
	{"bytes", 1 << MODEL_MEMORY, "'memory'"},
	{"count", 1 << MODEL_FORK, "'fork'"},
	{"value", 1 << MODEL_SET, "'set'"},
	{"by", 1 << MODEL_SPREAD, "'send' to several queues"},
	{"weights", 1 << MODEL_SET | 1 << MODEL_SPREAD, "'set' or 'send'"},
	{"through", 1 << MODEL_OUTPUT, "'output'"},
};

#define NB(array) (sizeof(array) / sizeof((array)[0]))

/* Which it is. @return NULL: none or several, which was told */
static const struct step_kind *
find_kind(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const struct step_kind *found = NULL;
	bool several = false;
	unsigned int i;

	for (i = 0; i < NB(kinds); i++) {
		if (!weir_base_doc_given(value, kinds[i].key))
			continue;
		several = several || (found != NULL && found->op != kinds[i].op);
		found = found != NULL ? found : &kinds[i];
	}
	if (found == NULL)
		weir_base_doc_error_add(model->doc, value,
			"a step that does nothing; expected a key 'cpu', 'per_byte', 'memory', "
			"'use', 'set', "
			"'fork', 'join', 'switch', 'jump', 'send', 'drop' or 'output'");
	else if (several)
		weir_base_doc_error_add(model->doc, value,
			"a step that does several things; expected them in steps of their own");
	return several ? NULL : found;
}

static void
check_belongings(
	struct weir_sim_model *model, const struct weir_base_doc_value *value, enum model_op op)
{
	unsigned int i;

	for (i = 0; i < NB(belongings); i++)
		if (!(belongings[i].ops >> op & 1) && weir_base_doc_given(value, belongings[i].key))
			weir_base_doc_error_add(model->doc,
				weir_base_doc_get(value, belongings[i].key),
				"'%s' means nothing here; expected it with %s", belongings[i].key,
				belongings[i].with);
}

/* `when`: a number of the packet, how it is compared, a number. */
static int
read_when(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_step *step)
{
	static const struct {
		const char *sign;
		enum model_compare compare;
	} signs[] = {{"==", MODEL_EQUAL}, {"!=", MODEL_NOT_EQUAL}, {"<", MODEL_LESS},
		{"<=", MODEL_AT_MOST}, {">", MODEL_MORE}, {">=", MODEL_AT_LEAST}};
	char name[64], sign[3], more;
	unsigned int i;

	if (value == NULL)
		return 0;
	if (sscanf(weir_base_doc_str(value), " %63[^ =!<>] %2[=!<>] %lf %c", name, sign,
		    &step->against, &more) == 3)
		for (i = 0; i < NB(signs); i++)
			if (strcmp(sign, signs[i].sign) == 0)
				step->compare = signs[i].compare;
	if (step->compare == MODEL_ALWAYS) {
		weir_base_doc_error_add(model->doc, value,
			"'%s' is no condition; expected one such as 'class == 2'",
			weir_base_doc_str(value));
		return 0;
	}
	return sim_doc_find_number(model, value, name, &step->operand);
}

/* A queue that a step sends to. */
static int
add_target(struct weir_sim_model *model, struct model_step *step, uint32_t queue)
{
	uint32_t *all = realloc(model->targets, (model->nb_targets + 1) * sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	model->targets = all;
	all[model->nb_targets++] = queue;
	step->nb_targets++;
	model->queues[queue].is_fed = true;
	return 0;
}

/* All queues that one name means: stars stand for instances of arrays. */
static int
add_targets(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_step *step)
{
	const uint32_t before = step->nb_targets;
	uint32_t level, queue;

	for (level = 0; step->nb_targets == before && weir_base_doc_meaning(value, level) != NULL;
		level++)
		for (queue = sim_doc_match_queue(model, value, level, 0); queue != SIM_NONE;
			queue = sim_doc_match_queue(model, value, level, queue + 1))
			if (add_target(model, step, queue) < 0)
				return -ENOMEM;
	if (step->nb_targets == before) {
		model->has_unknown_queue = true;
		weir_base_doc_error_add(model->doc, value,
			"unknown queue '%s'; expected one of application.queues, or of an array "
			"such as 'blade.*.work'",
			weir_base_doc_str(value));
	}
	return 0;
}

/* All queues that a step sends to. */
static int
read_targets(struct weir_sim_model *model, const struct weir_base_doc_value *names,
	struct model_step *step)
{
	uint32_t i;

	step->first_target = model->nb_targets;
	for (i = 0; i < weir_base_doc_count(names); i++)
		if (add_targets(model, weir_base_doc_at(names, i), step) < 0)
			return -ENOMEM;
	if (weir_base_doc_count(names) == 0) {
		model->has_unknown_queue = true;
		weir_base_doc_error_add(
			model->doc, names, "a step that sends nowhere; expected a queue");
	}
	return 0;
}

/* How one of several is chosen: by chance, of which the weights may be given, or by a number of the packet. */
static int
read_spread_by(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_step *step)
{
	const struct weir_base_doc_value *by = weir_base_doc_get(value, "by");
	const struct weir_base_doc_value *weights = weir_base_doc_get(value, "weights");

	step->spread_by = MODEL_CHANCE;
	if (by == NULL && weights == NULL)
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "send"),
			"nothing says to which of %u queues; expected a key 'by' or 'weights'",
			step->nb_targets);
	if (weights != NULL && weir_base_doc_count(weights) != step->nb_targets)
		weir_base_doc_error_add(model->doc, weights,
			"%u weights of %u queues; expected one for each",
			weir_base_doc_count(weights), step->nb_targets);
	if (by == NULL || strcmp(weir_base_doc_str(by), "chance") == 0)
		return 0;
	if (weights != NULL)
		weir_base_doc_error_add(
			model->doc, weights, "'weights' mean nothing here; expected 'by: chance'");
	return sim_doc_find_number(model, by, weir_base_doc_str(by), &step->spread_by);
}

/* `send`: to a queue, or one of several. */
static int
read_send(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_step *step)
{
	if (read_targets(model, weir_base_doc_get(value, "send"), step) < 0)
		return -ENOMEM;
	step->target = step->nb_targets > 0 ? model->targets[step->first_target] : SIM_NONE;
	if (step->nb_targets == 1 && !weir_base_doc_given(value, "by") &&
		!weir_base_doc_given(value, "weights"))
		return 0;
	/* An array may be of one. */
	step->op = MODEL_SPREAD;
	step->spread_by = MODEL_FLOW;
	return step->nb_targets > 0 ? read_spread_by(model, value, step) : 0;
}

static void
check_true(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	if (!weir_base_doc_bool(value))
		weir_base_doc_error_add(
			model->doc, value, "a step that does nothing; expected 'true'");
}

static int
read_target(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_step *step)
{
	const struct weir_base_doc_value *through, *bytes = weir_base_doc_get(value, "bytes");

	switch (step->op) {
	case MODEL_MEMORY:
		step->target = sim_doc_find_memory(model, weir_base_doc_get(value, "memory"));
		step->count = bytes != NULL ? (uint32_t)weir_base_doc_u64(bytes)
			      : weir_base_doc_given(value, "accesses") ? 0
								       : MODEL_SIZE;
		break;
	case MODEL_USE:
		step->target = sim_doc_find_unit(model, weir_base_doc_get(value, "use"));
		step->deschedule = weir_base_doc_bool(weir_base_doc_get(value, "deschedule"));
		break;
	case MODEL_SET:
		return sim_doc_set_attribute(
			model, weir_base_doc_str(weir_base_doc_get(value, "set")), &step->target);
	case MODEL_FORK:
		model->has_forks = true;
		step->count = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "count"));
		return read_targets(model, weir_base_doc_get(value, "fork"), step);
	case MODEL_SEND:
	case MODEL_SPREAD:
		return read_send(model, value, step);
	case MODEL_SWITCH:
		model->may_deadlock = true;
		step->target = sim_doc_find_queue(model, weir_base_doc_get(value, "switch"));
		if (step->target != SIM_NONE)
			model->queues[step->target].is_switched_to = true;
		break;
	case MODEL_JOIN:
		model->has_forks = model->may_deadlock = true;
		check_true(model, weir_base_doc_get(value, "join"));
		break;
	case MODEL_DROP:
		return sim_doc_reason(model, &step->target, "%s",
			weir_base_doc_str(weir_base_doc_get(value, "drop")));
	case MODEL_OUTPUT:
		through = weir_base_doc_get(value, "through");
		step->target = through != NULL ? sim_doc_find_unit(model, through) : SIM_NONE;
		check_true(model, weir_base_doc_get(value, "output"));
		break;
	case MODEL_CPU:
	case MODEL_JUMP:
		break;
	}
	return 0;
}

/* How much. */
static int
read_amount(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_step *step)
{
	const struct weir_base_doc_value *times = weir_base_doc_get(value, "times");

	if (step->op == MODEL_SET)
		return sim_doc_read_value(model, value, &step->amount);
	if (step->op == MODEL_SPREAD && step->spread_by == MODEL_CHANCE)
		return sim_doc_read_weights(model, weir_base_doc_get(value, "weights"),
			step->nb_targets, &step->amount);
	sim_doc_check_dist(model, value);
	step->amount.dist = sim_doc_dist(value,
		sim_coarse(weir_base_doc_f64(
			weir_base_doc_get(value, step->op == MODEL_MEMORY ? "accesses" : "cpu"))));
	step->per_byte = sim_coarse(weir_base_doc_f64(weir_base_doc_get(value, "per_byte")));
	if (times != NULL)
		return sim_doc_find_number(model, times, weir_base_doc_str(times), &step->times);
	return 0;
}

static int
read_step(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_step *step)
{
	const struct step_kind *kind = find_kind(model, value);

	*step = (struct model_step){
		.value = value,
		.op = kind != NULL ? kind->op : MODEL_CPU,
		.times = SIM_NONE,
		.probability =
			sim_coarse(weir_base_doc_f64(weir_base_doc_get(value, "probability"))),
	};
	if (kind == NULL) {
		model->has_unknown_steps = true;
		return 0;
	}
	if (read_target(model, value, step) < 0)
		return -ENOMEM;
	check_belongings(model, value, step->op);
	if (read_amount(model, value, step) < 0)
		return -ENOMEM;
	if (read_when(model, weir_base_doc_get(value, "when"), step) < 0)
		return -ENOMEM;
	step->is_conditional = step->compare != MODEL_ALWAYS || step->probability < 1;
	return 0;
}

/* `jump` to a `label` of the same object. */
static void
find_label(struct weir_sim_model *model, const struct model_object *object, struct model_step *step)
{
	const struct weir_base_doc_value *jump = weir_base_doc_get(step->value, "jump");
	const char *wanted = weir_base_doc_str(jump);
	uint32_t i;

	for (i = object->first_step; i < object->first_step + object->nb_steps; i++) {
		const char *label =
			weir_base_doc_str(weir_base_doc_get(model->steps[i].value, "label"));

		if (label != NULL && strcmp(label, wanted) == 0) {
			step->target = i;
			return;
		}
	}
	step->target = SIM_NONE;
	weir_base_doc_error_add(model->doc, jump,
		"no step of object '%s' has the label '%s'; expected one that has", object->name,
		wanted);
}

int
sim_doc_read_steps(struct weir_sim_model *model, const struct model_object *object,
	const struct weir_base_doc_value *steps)
{
	struct model_step *all =
		realloc(model->steps, (model->nb_steps + object->nb_steps) * sizeof(*all));
	uint32_t i;

	if (all == NULL)
		return -ENOMEM;
	model->steps = all;
	for (i = 0; i + 1 < object->nb_steps; i++)
		if (read_step(model, weir_base_doc_at(steps, i), &all[model->nb_steps++]) < 0)
			return -ENOMEM;
	/* The last one is what comes of packets at the end. */
	all[model->nb_steps++] = (struct model_step){
		.op = object->to == SIM_TO_OUTPUT ? MODEL_OUTPUT : MODEL_SEND,
		.target = object->to,
		.times = SIM_NONE,
		.probability = 1,
	};
	for (i = object->first_step; i < model->nb_steps; i++)
		if (all[i].op == MODEL_JUMP)
			find_label(model, object, &all[i]);
	return 0;
}
