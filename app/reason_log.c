/* SPDX-License-Identifier: BSD-3-Clause */
/* What a library says about a failure becomes part of an error with file, line and column. */
#include <stdio.h>

#include <weir_base.h>

#include "reason_log.h"

static char reason[512];

static void
keep(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	(void)arg;
	if (level == WEIR_BASE_LOG_ERROR)
		snprintf(reason, sizeof(reason), "%s", message);
	else
		fprintf(stderr, "weir: %s: %s%s\n", module,
			level == WEIR_BASE_LOG_WARNING ? "warning: " : "", message);
}

void
reason_log_begin(void)
{
	reason[0] = '\0';
	weir_base_log_set_sink(keep, NULL);
}

const char *
reason_log_end(const char *fallback)
{
	weir_base_log_set_sink(NULL, NULL);
	return reason[0] != '\0' ? reason : fallback;
}
