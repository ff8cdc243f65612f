/* SPDX-License-Identifier: BSD-3-Clause */
/* Empirical distributions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weir_sim_random.h"

int
weir_sim_table_init(
	struct weir_sim_table *table, const double *values, const double *weights, uint32_t nb)
{
	double sum = 0;
	uint32_t i;

	*table = (struct weir_sim_table){.nb = nb,
		.values = malloc(nb * sizeof(double)),
		.upto = malloc(nb * sizeof(double))};
	if (table->values == NULL || table->upto == NULL) {
		weir_sim_table_free(table);
		return -ENOMEM;
	}
	memcpy(table->values, values, nb * sizeof(double));
	for (i = 0; i < nb; i++)
		table->upto[i] = sum += weights != NULL ? weights[i] : 1;
	return 0;
}

void
weir_sim_table_free(struct weir_sim_table *table)
{
	free(table->values);
	free(table->upto);
	*table = (struct weir_sim_table){.nb = 0};
}

double
weir_sim_table_draw(const struct weir_sim_table *table, struct weir_sim_random *random)
{
	const double sum = table->upto[table->nb - 1];
	const double at = weir_sim_random_open(random) * sum;
	uint32_t low = 0, high = table->nb - 1, middle;

	/* The first one whose sum is above: those without weight are never that. Rounding can make it the whole sum. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (table->upto[middle] > at || table->upto[middle] == sum)
			high = middle;
		else
			low = middle + 1;
	}
	return table->values[low];
}

double
weir_sim_table_mean(const struct weir_sim_table *table)
{
	double sum = 0, before = 0;
	uint32_t i;

	if (table->nb == 0)
		return 0;
	for (i = 0; i < table->nb; i++) {
		sum += table->values[i] * (table->upto[i] - before);
		before = table->upto[i];
	}
	return sum / before;
}
