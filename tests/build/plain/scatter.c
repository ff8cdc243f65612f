/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that part vectors, each on its own, without DPDK or a test
 * library: so that they run wherever a compiler gets, also under an emulator.
 * What they must do is stated here once more, naively.
 */
#include <stdio.h>
#include <string.h>

#include "scatter_kernel.h"

static uint64_t random_state = 88172645463325252u;

static uint32_t
random_below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % limit;
}

/* Every group is made of exactly the objects that chose it, in their order; and no object is in none. */
static const char *
check(const struct scatter_groups *groups, void *const *objs, const uint16_t *nexts, uint32_t nb,
	uint32_t nb_edges)
{
	uint32_t done = 0;

	for (uint32_t g = 0; g < groups->nb; g++) {
		const uint32_t start = done;

		for (uint32_t i = 0; i < nb; i++) {
			const uint32_t next = nexts[i] < nb_edges ? nexts[i] : SCATTER_EDGES;

			if (next != groups->next[g])
				continue;
			if (done >= nb || groups->objs[done] != objs[i])
				return "wrong object";
			done++;
		}
		if (done == start)
			return "empty group";
		if (done - start != groups->count[g])
			return "wrong count";
	}
	return done == nb ? NULL : "lost objects";
}

static int
try_kernel(const char *name, scatter_kernel_t kernel)
{
	static struct scatter_groups groups;
	static char targets[SCATTER_CHUNK];
	static void *objs[SCATTER_CHUNK + SCATTER_SLACK];
	static uint16_t nexts[SCATTER_CHUNK + SCATTER_SLACK];
	const char *wrong;

	for (uint32_t i = 0; i < SCATTER_CHUNK; i++)
		objs[i] = &targets[i];
	for (int round = 0; round < 4000; round++) {
		const uint32_t nb = 1 + random_below(SCATTER_CHUNK);
		const uint32_t nb_edges = 1 + random_below(round % 2 ? 8 : SCATTER_EDGES);
		const uint32_t skew =
			random_below(3); /* uniform; mostly one edge; some name none */

		for (uint32_t i = 0; i < SCATTER_CHUNK + SCATTER_SLACK; i++) {
			nexts[i] = (uint16_t)random_below(nb_edges);
			if (skew == 1 && random_below(10) != 0)
				nexts[i] = 0;
			if (skew == 2 && random_below(50) == 0)
				nexts[i] = (uint16_t)(nb_edges + random_below(1000));
		}
		kernel(&groups, objs, nexts, nb, nb_edges);
		wrong = check(&groups, objs, nexts, nb, nb_edges);
		if (wrong != NULL) {
			fprintf(stderr, "%s: %s with %u objects, %u edges (round %d)\n", name,
				wrong, nb, nb_edges, round);
			return 1;
		}
	}
	printf("%s: ok\n", name);
	return 0;
}

int
main(void)
{
	int failed = try_kernel("plain", scatter_plain);

#ifdef SCATTER_HAS_NEON
	failed += try_kernel("neon", scatter_neon);
#endif
#ifdef SCATTER_HAS_AVX512
	if (scatter_avx512_usable())
		failed += try_kernel("avx512", scatter_avx512) +
			  try_kernel("avx512, loads", scatter_avx512_loads);
#endif
	return failed;
}
