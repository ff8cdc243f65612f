/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-locals before and after yields: compiled by test_tls.py, which reads the assembler. LOOK() leaves a line "# look OPERAND"
 * there, by which it finds where the value came from.
 */
#include <errno.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include <weir_coro.h>
#include <weir_coro_dpdk.h>

#define LOOK(value) __asm__ volatile("# look %0" : : "r"(value))

struct pair {
	uint64_t a, b, c; /* no size that an address can scale an index by */
};

RTE_DECLARE_PER_LCORE(struct pair, pairs[16]);
RTE_DECLARE_PER_LCORE(uint64_t, theirs);
static RTE_DEFINE_PER_LCORE(struct pair, ours);

/* What weir.pc's flags make right. */

void
good_lcore_id(void)
{
	LOOK(rte_lcore_id());
	weir_coro_yield();
	LOOK(rte_lcore_id());
	weir_coro_maybe_yield();
	LOOK(rte_lcore_id());
}

void
good_rte_errno(int value)
{
	LOOK(rte_errno);
	weir_coro_yield();
	rte_errno = value;
	weir_coro_yield();
	LOOK(rte_errno);
}

void
good_theirs(unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		RTE_PER_LCORE(theirs)++;
		weir_coro_yield();
		LOOK(RTE_PER_LCORE(theirs));
	}
}

void
good_ours(unsigned int nb)
{
	RTE_PER_LCORE(ours).c = nb;
	for (unsigned int i = 0; i < nb; i++) {
		RTE_PER_LCORE(ours).a++;
		weir_coro_yield();
		LOOK(RTE_PER_LCORE(ours).a);
		RTE_PER_LCORE(ours).b++;
		weir_coro_yield();
		LOOK(RTE_PER_LCORE(ours).b);
		LOOK(RTE_PER_LCORE(ours).c);
	}
}

/* What nothing makes right. */

void
kept_errno(int value)
{
	LOOK(errno);
	weir_coro_yield();
	errno = value;
	weir_coro_yield();
	LOOK(errno);
}

void
kept_element(unsigned int i)
{
	LOOK(&RTE_PER_LCORE(pairs)[i]);
	weir_coro_yield();
	LOOK(&RTE_PER_LCORE(pairs)[i]);
}

/* What is there instead. */

WEIR_CORO_ACCESSOR(struct pair, accessor_pairs, RTE_PER_LCORE(pairs)[0])
WEIR_CORO_ACCESSOR(int, accessor_errno, errno)

void
asked_errno(void)
{
	LOOK(weir_coro_errno());
	weir_coro_yield();
	LOOK(weir_coro_errno());
	weir_coro_yield();
	LOOK(accessor_errno());
	weir_coro_yield();
	LOOK(accessor_errno());
}

void
asked_dpdk(void)
{
	LOOK(weir_coro_lcore_id());
	LOOK(weir_coro_rte_errno());
	LOOK(weir_coro_self());
	weir_coro_yield();
	LOOK(weir_coro_lcore_id());
	LOOK(weir_coro_rte_errno());
	LOOK(weir_coro_self());
}

void
asked_element(void)
{
	LOOK(accessor_pairs());
	weir_coro_yield();
	LOOK(accessor_pairs());
}
