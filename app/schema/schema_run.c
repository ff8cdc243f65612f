/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a run takes and what it leaves behind. */
#include <ctype.h>
#include <string.h>

#include <weir_sim.h>

#include "schema.h"

static const char *const until_choices[] = {"input_end", "signal", "duration", NULL};

static bool
check_instance_name(const char *text)
{
	size_t i;

	for (i = 0; text[i] != '\0'; i++)
		if (!isalnum((unsigned char)text[i]) && strchr("_-.", text[i]) == NULL)
			return false;
	return i > 0 && i <= 48 && text[0] != '.' && text[0] != '-';
}

static const struct weir_base_doc_key keys[] = {
	{
		.name = "name",
		.kind = WEIR_BASE_DOC_STRING,
		.check = check_instance_name,
		.expected = "1 to 48 letters, digits, '_', '-' or '.', the first not '-' or '.'",
		.help = "Name of the running instance, for `weir stats --instance`. By default the "
			"description "
			"file's own name, with a number behind it while another instance has that.",
	},
	{
		.name = "until",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = until_choices,
		.help = "What ends the run. Every run also ends on SIGINT, SIGTERM or SIGHUP: what "
			"was "
			"received is "
			"still forwarded; a second signal ends it at once. By default `duration` "
			"when one is "
			"given, else `input_end` when all that is received comes from files, else "
			"`signal`.",
	},
	{
		.name = "duration",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-3,
		.max = 1e9,
		.help = "Longest time to run.",
	},
	{
		.name = "graph_svg",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "File to draw the graph to at the end, with what each edge carried "
			"(through Graphviz' "
			"`dot`). Several workers are one picture, their counts added up.",
	},
	{
		.name = "graph_dot",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "The same as Graphviz source.",
	},
	{
		.name = "punt_pcap",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Capture file for packets that the fast path leaves to others.",
	},
	{
		.name = "stats_json",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "File for the final report as JSON.",
	},
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_run_rows),
	{.name = NULL},
};

const struct weir_base_doc_section schema_run = {
	.name = "run",
	.help = "How long the program runs and what it writes. Output files are relative to the "
		"directory in "
		"which the program is started.",
	.keys = keys,
};
