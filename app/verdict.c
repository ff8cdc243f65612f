/* SPDX-License-Identifier: BSD-3-Clause */
/* What a report says of its run. */
#include "verdict.h"

#include <string.h>

#include "report.h"

/* Was all of the input readable? */
static bool
are_whole(const json_t *list)
{
	const json_t *item;
	const char *input;
	size_t index;

	json_array_foreach (list, index, item) {
		input = json_string_value(json_object_get(item, "input"));
		if (input != NULL && strcmp(input, "damaged") == 0)
			return false;
	}
	return true;
}

static bool
input_is_whole(const json_t *report)
{
	const json_t *readout = json_object_get(report, "readout");

	return are_whole(json_object_get(report, "ports")) &&
	       are_whole(json_object_get(readout, "feeds"));
}

int
verdict_tell(const struct app_command *command, const json_t *report)
{
	int code = APP_OK;

	if (!report_adds_up(report))
		code = app_error(command, "the sums do not add up: this is a defect of Weir");
	if (!input_is_whole(report))
		code = app_error(command, "a capture could be read in part only");
	return code;
}
