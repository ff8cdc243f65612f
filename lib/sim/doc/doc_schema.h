/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_DOC_SCHEMA_H
#define SIM_DOC_SCHEMA_H

/* What the tables of the simulator's vocabulary share. */

#include "weir_sim.h"

#pragma GCC visibility push(hidden)

/* In the order of enum weir_sim_dist_kind. */
extern const char *const sim_doc_dist_choices[];

/* One of `traffic.streams.*.attributes`. */
extern const struct weir_base_doc_section weir_sim_doc_attribute;

/* One of `traffic.emulated`. */
extern const struct weir_base_doc_section sim_doc_emulated_link;
/* One of `traffic.replayed`. */
extern const struct weir_base_doc_section sim_doc_replayed_link;
/* One of `application.formats`, and of `application.links`. */
extern const struct weir_base_doc_section sim_doc_format;
extern const struct weir_base_doc_section sim_doc_link;
/* One of `application.processes`, and `hits` of a link. */
extern const struct weir_base_doc_section sim_doc_process;
extern const struct weir_base_doc_section sim_doc_hits;

#pragma GCC visibility pop

/* Of files that are to be run, too. */
#define LEFT_ASIDE(key)                                                                            \
	{                                                                                          \
		.name = key, .kind = WEIR_BASE_DOC_ANY,                                            \
		.help = "Of `weir run`; the simulator leaves it aside.",                           \
	}

/* Rows that make a distribution of the mean that key `of` has. */
#define SIM_DOC_DIST_ROWS(of)                                                                      \
	{                                                                                          \
		.name = "distribution",                                                            \
		.kind = WEIR_BASE_DOC_ENUM,                                                        \
		.choices = sim_doc_dist_choices,                                                   \
		.def = "constant",                                                                 \
		.help = "Of `" of "`, which is its mean. `uniform`: from 1 - `spread` to 1 + "     \
			"`spread` of it. `lognormal`: the logarithm has the standard deviation "   \
			"`sigma`, and the mean that makes this the mean; or, with `mu`, that in "  \
			"units of this.",                                                          \
	},                                                                                         \
		{                                                                                  \
			.name = "spread",                                                          \
			.kind = WEIR_BASE_DOC_NUMBER,                                              \
			.min = 0,                                                                  \
			.max = 1,                                                                  \
			.def = "1",                                                                \
			.help = "See `distribution`.",                                             \
		},                                                                                 \
		{                                                                                  \
			.name = "mu",                                                              \
			.kind = WEIR_BASE_DOC_NUMBER,                                              \
			.min = -100,                                                               \
			.max = 100,                                                                \
			.help = "See `distribution`: of `1cycles` it is the mean of the "          \
				"logarithm of cycles.",                                            \
		},                                                                                 \
	{                                                                                          \
		.name = "sigma", .kind = WEIR_BASE_DOC_NUMBER, .min = 0, .max = 10, .def = "1",    \
		.help = "See `distribution`.",                                                     \
	}

#endif
