/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "tls_probe.h"
#include "weir_coro_dpdk.h"

struct own {
	uint64_t number, copy, written; /* no size that an address can scale an index by */
};

static RTE_DEFINE_PER_LCORE(struct own, own);
static RTE_DEFINE_PER_LCORE(struct own, table[8]);

WEIR_CORO_ACCESSOR(struct own, table_address, RTE_PER_LCORE(table)[0])

void
probe_begin(struct probe_thread *thread, uint64_t number)
{
	*thread = (struct probe_thread){
		.number = number,
		.lcore_id = rte_lcore_id(),
		.errno_address = &errno,
		.rte_errno_address = &rte_errno,
		.error = (int)(100 + number),
		.rte_error = (int)(200 + number),
	};
	RTE_PER_LCORE(own) = (struct own){.number = number, .copy = number};
	for (unsigned int i = 0; i < 8; i++)
		RTE_PER_LCORE(table)[i] = (struct own){.number = number + i, .copy = number + i};
}

/* The first line where it was not so. Goes on: what follows is to be reached with this or that in registers. */
#define SO(condition)                                                                              \
	do {                                                                                       \
		if (!(condition) && param->wrong == 0)                                             \
			param->wrong = __LINE__;                                                   \
	} while (0)

/* To another thread. Not told to the compiler by anything but the yield. */
static inline __attribute__((always_inline)) void
move(struct probe_param *param)
{
	const struct probe_thread *before = param->thread;

	weir_coro_yield();
	param->moves += param->thread != before;
}

void
probe_in_place(void)
{
	struct probe_param *param = weir_coro_self_in_param(sizeof(*param));

	for (unsigned int turn = 0; turn < PROBE_TURNS; turn++) {
		SO(rte_lcore_id() == param->thread->lcore_id);
		SO(rte_errno == param->thread->rte_error);
		SO(RTE_PER_LCORE(own).number == param->thread->number);
		RTE_PER_LCORE(own).written = turn;
		move(param);
		SO(rte_lcore_id() == param->thread->lcore_id);
		SO(rte_errno == param->thread->rte_error);
		rte_errno = (int)turn;
		SO(*param->thread->rte_errno_address == (int)turn);
		SO(RTE_PER_LCORE(own).number == param->thread->number);
		RTE_PER_LCORE(own).copy++;
		move(param);
		SO(rte_lcore_id() == param->thread->lcore_id);
		SO(RTE_PER_LCORE(own).number == param->thread->number);
		RTE_PER_LCORE(own).copy--;
		SO(weir_coro_self() == param->self);
	}
}

void
probe_asked(void)
{
	struct probe_param *param = weir_coro_self_in_param(sizeof(*param));

	for (unsigned int turn = 0; turn < PROBE_TURNS; turn++) {
		SO(weir_coro_lcore_id() == param->thread->lcore_id);
		SO(weir_coro_errno() == param->thread->errno_address);
		SO(*weir_coro_errno() == param->thread->error);
		SO(weir_coro_rte_errno() == param->thread->rte_errno_address);
		SO(table_address()[turn % 8].number == param->thread->number + turn % 8);
		move(param);
		SO(weir_coro_lcore_id() == param->thread->lcore_id);
		SO(*weir_coro_errno() == param->thread->error);
		*weir_coro_errno() = (int)turn;
		SO(*param->thread->errno_address == (int)turn);
		SO(*weir_coro_rte_errno() == param->thread->rte_error);
		*weir_coro_rte_errno() = (int)turn;
		SO(*param->thread->rte_errno_address == (int)turn);
		SO(table_address()[turn % 8].number == param->thread->number + turn % 8);
		SO(weir_coro_self() == param->self);
		move(param);
		for (unsigned int i = 0; i < 8; i++) {
			SO(table_address()[i].copy == param->thread->number + i);
			if (i % 4 == 0)
				move(param);
			SO(table_address()[i].number == param->thread->number + i);
		}
	}
}
