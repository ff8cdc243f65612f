/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCATTER_KERNEL_H
#define SCATTER_KERNEL_H

/*
 * Kernels that part a vector by decision, one per instruction set. They know
 * nothing of graphs (and need no DPDK), so that each can be tested against the
 * plain one, on any machine.
 */

#include <stdint.h>

/* Objects that one call takes at most: an object's place in a chunk fits a byte. */
#define SCATTER_CHUNK 256

/* Edges that a node may have for kernels to serve it: a decision fits a byte, and 255 is left to say "none of them". */
#define SCATTER_EDGES 255

/* Room beyond the end of arrays that full vector registers may touch. */
#define SCATTER_SLACK 128

/* A chunk's objects, grouped by decision; in a group they keep their order. */
struct scatter_groups {
	uint32_t nb; /* groups, none empty */
	uint16_t next
		[SCATTER_CHUNK]; /* per group: the decision; SCATTER_EDGES: it was that or more */
	uint16_t count[SCATTER_CHUNK]; /* per group: its objects */
	void *objs[SCATTER_CHUNK + SCATTER_SLACK]
		__attribute__((aligned(64))); /* group after group */
};

/*
 * Group @nb (1 to SCATTER_CHUNK) objects of a node with @nb_edges (1 to SCATTER_EDGES)
 * edges. May read SCATTER_SLACK decisions beyond the last.
 */
typedef void (*scatter_kernel_t)(struct scatter_groups *groups, void *const *objs,
	const uint16_t *nexts, uint32_t nb, uint32_t nb_edges);

void scatter_plain(struct scatter_groups *groups, void *const *objs, const uint16_t *nexts,
	uint32_t nb, uint32_t nb_edges);

#if defined(__x86_64__)
#define SCATTER_HAS_AVX512
void scatter_avx512(struct scatter_groups *groups, void *const *objs, const uint16_t *nexts,
	uint32_t nb, uint32_t nb_edges);
/* Likewise, without gathers. */
void scatter_avx512_loads(struct scatter_groups *groups, void *const *objs, const uint16_t *nexts,
	uint32_t nb, uint32_t nb_edges);
int scatter_avx512_usable(void);
int scatter_gathers_are_slow(void);
#endif

#if defined(__aarch64__)
#define SCATTER_HAS_NEON
void scatter_neon(struct scatter_groups *groups, void *const *objs, const uint16_t *nexts,
	uint32_t nb, uint32_t nb_edges);
#endif

#endif
