/* SPDX-License-Identifier: BSD-3-Clause */
/* Disciplines of queues as a user would write them, and some that are wrong. */
#include <stdlib.h>

#include <weir_sim_discipline.h>

#define ROOM      100
#define SIZE_MOST 1000

/* The last that came, of those up to SIZE_MOST bytes, of which ROOM wait at most. */
struct stack {
	uint32_t packets[ROOM];
	unsigned int nb;
};

static void *
create(void)
{
	return calloc(1, sizeof(struct stack));
}

static bool
reserve(void *state, const struct weir_sim_waiting *waiting)
{
	struct stack *stack = state;

	if (stack->nb == ROOM || waiting->size_bytes > SIZE_MOST ||
		waiting->arrived_ps < waiting->created_ps)
		return false;
	stack->packets[stack->nb++] = waiting->packet;
	return true;
}

static uint32_t
last(void *state, uint64_t now_ps)
{
	struct stack *stack = state;

	return stack->packets[--stack->nb];
}

/* A packet that is not there. */
static uint32_t
wrong(void *state, uint64_t now_ps)
{
	return UINT32_MAX;
}

#define DISCIPLINE(name, abi, select)                                                              \
	extern const struct weir_sim_discipline name;                                              \
	__attribute__((visibility("default"))) const struct weir_sim_discipline name = {           \
		abi, sizeof(struct weir_sim_discipline), create, free, reserve, select}

DISCIPLINE(stack, WEIR_SIM_DISCIPLINE_ABI, last);
DISCIPLINE(liar, WEIR_SIM_DISCIPLINE_ABI, wrong);
DISCIPLINE(newer, WEIR_SIM_DISCIPLINE_ABI + 1, last);
DISCIPLINE(half, WEIR_SIM_DISCIPLINE_ABI, NULL);
