/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Numbers for handles. A number with a generation is given out once only: one whose generations are used up is not used again.
 * Generations of an instance are those that are congruent to it: handles of some other instance are none of its own.
 */

#include <stdlib.h>

#include "em_private.h"

uint32_t
em_instance_number(void)
{
	static uint32_t nb_instances;

	return __atomic_fetch_add(&nb_instances, 1, __ATOMIC_RELAXED) % EM_INSTANCES;
}

int
em_numbers_init(struct em_numbers *numbers, enum em_kind kind, uint32_t nb, uint32_t instance)
{
	*numbers = (struct em_numbers){.kind = kind, .nb = nb, .nb_free = nb};
	numbers->generation = calloc(nb, sizeof(*numbers->generation));
	numbers->free = calloc(nb, sizeof(*numbers->free));
	if (numbers->generation == NULL || numbers->free == NULL) {
		em_numbers_fini(numbers);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nb; i++) {
		numbers->free[i] = i;
		numbers->generation[i] = instance;
	}
	return 0;
}

void
em_numbers_fini(struct em_numbers *numbers)
{
	free(numbers->generation);
	free(numbers->free);
	numbers->generation = numbers->free = NULL;
}

uint64_t
em_numbers_get(struct em_numbers *numbers)
{
	uint32_t number;

	if (numbers->nb_free == 0)
		return 0;
	number = numbers->free[numbers->first];
	numbers->first = numbers->first + 1 < numbers->nb ? numbers->first + 1 : 0;
	numbers->nb_free--;
	numbers->generation[number] += EM_INSTANCES;
	return (uint64_t)numbers->kind << 56 | (uint64_t)numbers->generation[number] << 24 | number;
}

void
em_numbers_put(struct em_numbers *numbers, uint32_t number)
{
	uint32_t last = numbers->first + numbers->nb_free;

	if (numbers->generation[number] > UINT32_MAX - EM_INSTANCES)
		return;
	numbers->free[last < numbers->nb ? last : last - numbers->nb] = number;
	numbers->nb_free++;
}
