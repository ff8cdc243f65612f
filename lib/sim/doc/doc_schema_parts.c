/* SPDX-License-Identifier: BSD-3-Clause */
/* The vocabulary of parts: of a model's own, what may stand there several times. What stands in it may hold parameters. */
#include "weir_sim.h"

#define THINGS(is, text)                                                                           \
	{                                                                                          \
		.name = is, .kind = WEIR_BASE_DOC_NAMED, .item = WEIR_BASE_DOC_ANY, .help = text,  \
	}

static const struct weir_base_doc_key application_keys[] = {
	THINGS("queues", "As in `application`."),
	THINGS("objects", "As in `application`. Attributes and reasons of drops are those of the "
			  "whole model."),
	{.name = NULL},
};

static const struct weir_base_doc_section application_section = {
	.name = "application of a part",
	.help = "What a part does with packets.",
	.keys = application_keys,
};

static const struct weir_base_doc_key platform_keys[] = {
	THINGS("cores", "As in `platform`. Their groups are the part's own, each instance has "
			"others; a queue of the part whose `group` is none of them is served by "
			"that of the model around it."),
	THINGS("memories", "As in `platform`."),
	THINGS("units", "As in `platform`."),
	{.name = NULL},
};

static const struct weir_base_doc_section platform_section = {
	.name = "platform of a part",
	.help = "What a part has of its own to run on.",
	.keys = platform_keys,
};

static const struct weir_base_doc_key traffic_keys[] = {
	THINGS("streams", "As in `traffic`."),
	{.name = NULL},
};

static const struct weir_base_doc_section traffic_section = {
	.name = "traffic of a part",
	.help = "What arrives at a part from outside of the model.",
	.keys = traffic_keys,
};

static const struct weir_base_doc_key simulation_keys[] = {
	THINGS("probes", "As in `run.simulation`."),
	{.name = NULL},
};

static const struct weir_base_doc_section simulation_section = {
	.name = "simulation of a part",
	.help = "What is looked at of a part.",
	.keys = simulation_keys,
};

static const struct weir_base_doc_key run_keys[] = {
	{
		.name = "simulation",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &simulation_section,
		.help = "What is looked at.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section run_section = {
	.name = "run of a part",
	.help = "How long it runs is said by the whole model.",
	.keys = run_keys,
};

static const struct weir_base_doc_key part_keys[] = {
	WEIR_BASE_DOC_PART_ROWS(weir_sim_doc_part),
	{
		.name = "application",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &application_section,
		.help = "What it does.",
	},
	{
		.name = "platform",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &platform_section,
		.help = "What it runs on.",
	},
	{
		.name = "traffic",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &traffic_section,
		.help = "What arrives at it.",
	},
	{
		.name = "run",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &run_section,
		.help = "What is looked at.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_part = {
	.name = "part",
	.help = "A part of models for `weir sim`, such as a blade, of which there may be many. "
		"What "
		"it names is looked for among its own things, then among those around it.",
	.keys = part_keys,
};
