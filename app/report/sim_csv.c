/* SPDX-License-Identifier: BSD-3-Clause */
/* What a simulation found, as CSV: a line per result. */
#include <math.h>
#include <stdio.h>

#include "sim_report.h"

/* Names are the user's: a quote in one is doubled. */
static void
print_quoted(const char *text)
{
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

void
sim_report_csv(const struct sim_report *report)
{
	struct weir_sim_estimate estimate;
	unsigned int nb_metrics, i;
	const struct weir_sim_metric *metrics = weir_sim_model_metrics(report->model, &nb_metrics);

	printf("scope,name,quantity,samples,mean,sd,half_width\n");
	for (i = 0; i < nb_metrics; i++) {
		estimate = weir_sim_result_estimate(report->result, i, report->param->confidence);
		printf("%s,", weir_sim_scope_name(metrics[i].scope));
		print_quoted(metrics[i].name);
		printf(",%s,%u,", metrics[i].quantity, report->result->nb_rows);
		if (isfinite(estimate.mean))
			printf("%.17g", estimate.mean);
		printf(",%.17g,", estimate.sd);
		if (isfinite(estimate.half_width))
			printf("%.17g", estimate.half_width);
		printf("\n");
	}
}
