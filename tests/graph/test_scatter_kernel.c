/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kernels that part a vector, against a naive model: every length, every number of
 * edges, several mixes. What a kernel may touch ends at pages that nobody may touch.
 *
 * Needs neither DPDK nor cmocka, so that it runs under qemu-user for other CPUs:
 *
 *   aarch64-linux-gnu-gcc -O3 -Ilib/graph -o /tmp/test_scatter_kernel \
 *       tests/graph/test_scatter_kernel.c lib/graph/scatter_plain.c lib/graph/scatter_neon.c
 *   qemu-aarch64 -L /usr/aarch64-linux-gnu /tmp/test_scatter_kernel
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scatter_kernel.h"

static uint64_t random_state = 88172645463325252u;

static uint32_t
random_below(uint32_t bound)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 33) % bound;
}

/* How decisions are mixed. */
enum mix { UNIFORM, ONE, SKEWED, RUNS, FEW_STRAYS, MANY_STRAYS, NB_MIXES };

static uint16_t
stray(uint32_t nb_edges)
{
	static const uint16_t corners[] = {
		254, 255, 256, 257, 0x7fff, 0x8000, 0x80ff, 0xff00, 0xfffe, 0xffff};
	uint32_t choice = random_below(2 + sizeof(corners) / sizeof(corners[0]));
	uint32_t decision = choice < 2 ? nb_edges + choice : corners[choice - 2];

	return (uint16_t)(decision < nb_edges ? UINT16_MAX : decision);
}

static uint16_t
decision(enum mix mix, uint32_t i, uint32_t nb_edges)
{
	switch (mix) {
	case ONE:
		return (uint16_t)(nb_edges - 1);
	case SKEWED:
		return (uint16_t)(random_below(10) < 9 ? nb_edges / 2 : random_below(nb_edges));
	case RUNS:
		return (uint16_t)(i / 7 % nb_edges);
	case FEW_STRAYS:
		return random_below(50) == 0 ? stray(nb_edges) : (uint16_t)random_below(nb_edges);
	case MANY_STRAYS:
		return random_below(3) != 0 ? stray(nb_edges) : (uint16_t)random_below(nb_edges);
	default:
		return (uint16_t)random_below(nb_edges);
	}
}

/* @return the first byte behind @size bytes of memory; the page that begins there cannot be touched */
static char *
guarded_end(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t length = (size + page - 1) / page * page;
	char *memory = mmap(
		NULL, length + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + length, page, PROT_NONE) != 0) {
		perror("no guarded memory");
		exit(1);
	}
	return memory + length;
}

/* A chunk to part, right before guard pages. */
struct chunk {
	uint32_t nb, nb_edges;
	uint16_t *nexts;
	void **objs;
	struct scatter_groups *groups;
};

static const char *
groups_fault(const struct chunk *chunk)
{
	const struct scatter_groups *groups = chunk->groups;
	bool group_seen[UINT16_MAX + 1u] = {false};
	bool seen[SCATTER_CHUNK] = {false};
	void *const *obj = groups->objs;
	uint32_t total = 0;

	if (groups->nb > chunk->nb)
		return "more groups than objects";
	for (uint32_t g = 0; g < groups->nb; g++) {
		int64_t previous = -1;

		if (groups->count[g] == 0)
			return "an empty group";
		if (group_seen[groups->next[g]])
			return "two groups of one decision";
		group_seen[groups->next[g]] = true;
		total += groups->count[g];
		if (total > chunk->nb)
			return "more objects than there are";
		for (uint32_t i = 0; i < groups->count[g]; i++, obj++) {
			uintptr_t at = (uintptr_t)*obj - 1000;

			if (at >= chunk->nb || seen[at])
				return "an object that was not given, or twice";
			seen[at] = true;
			if ((int64_t)at <= previous)
				return "objects of a group out of order";
			previous = (int64_t)at;
			if (chunk->nexts[at] < chunk->nb_edges ? chunk->nexts[at] != groups->next[g]
							       : groups->next[g] != SCATTER_EDGES)
				return "an object in the wrong group";
		}
	}
	return total == chunk->nb ? NULL : "objects are missing";
}

static void
fill(struct chunk *chunk, enum mix mix)
{
	for (uint32_t i = 0; i < chunk->nb; i++) {
		chunk->nexts[i] = decision(mix, i, chunk->nb_edges);
		chunk->objs[i] = (void *)(uintptr_t)(1000 + i);
	}
	/* What lies in the slack must not matter: plausible decisions. */
	for (uint32_t i = 0; i < SCATTER_SLACK; i++)
		chunk->nexts[chunk->nb + i] = (uint16_t)random_below(chunk->nb_edges);
	memset(chunk->groups, 0xa5, sizeof(*chunk->groups));
}

static int
test_kernel(const char *name, scatter_kernel_t kernel, uint32_t edges_step)
{
	uint16_t *nexts_end =
		(uint16_t *)guarded_end((SCATTER_CHUNK + SCATTER_SLACK) * sizeof(uint16_t));
	void **objs_end = (void **)guarded_end(SCATTER_CHUNK * sizeof(void *));
	struct chunk chunk = {
		.groups = (struct scatter_groups *)guarded_end(sizeof(struct scatter_groups)) - 1};
	uint32_t cases = 0;

	for (uint32_t nb_edges = 1; nb_edges <= SCATTER_EDGES;
		nb_edges += nb_edges < 34 || nb_edges > 250 ? 1 : edges_step)
		for (chunk.nb = 1; chunk.nb <= SCATTER_CHUNK; chunk.nb++)
			for (int mix = 0; mix < NB_MIXES; mix++, cases++) {
				const char *fault;

				chunk.nb_edges = nb_edges;
				chunk.nexts = nexts_end - SCATTER_SLACK - chunk.nb;
				chunk.objs = objs_end - chunk.nb;
				fill(&chunk, (enum mix)mix);
				kernel(chunk.groups, chunk.objs, chunk.nexts, chunk.nb, nb_edges);
				fault = groups_fault(&chunk);
				if (fault != NULL) {
					printf("%s: %u objects, %u edges, mix %d: %s\n", name,
						chunk.nb, nb_edges, mix, fault);
					return 1;
				}
			}
	printf("%s: %u cases\n", name, cases);
	return 0;
}

int
main(void)
{
	const char *wish = getenv("WEIR_TEST_LONG");
	uint32_t edges_step = wish != NULL && *wish != '\0' ? 1 : 5;
	int failed = test_kernel("plain", scatter_plain, edges_step);

#ifdef SCATTER_HAS_AVX512
	if (scatter_avx512_usable()) {
		failed |= test_kernel("avx512", scatter_avx512, edges_step);
		failed |= test_kernel("avx512, loads", scatter_avx512_loads, edges_step);
	} else
		printf("avx512: not on this CPU\n");
#endif
#ifdef SCATTER_HAS_NEON
	failed |= test_kernel("neon", scatter_neon, edges_step);
#endif
	return failed;
}
