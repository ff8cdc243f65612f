/* SPDX-License-Identifier: BSD-3-Clause */

/* Parting a vector without any vector instruction: a counting sort. */

#include "scatter_kernel.h"

static inline uint32_t
group_key(uint16_t next)
{
	return next < SCATTER_EDGES ? next : SCATTER_EDGES;
}

void
scatter_plain(struct scatter_groups *groups, void *const *objs, const uint16_t *nexts, uint32_t nb,
	uint32_t nb_edges)
{
	uint16_t count[SCATTER_EDGES + 1];
	void **to[SCATTER_EDGES + 1];
	void **end = groups->objs;

	for (uint32_t e = 0; e < nb_edges; e++)
		count[e] = 0;
	count[SCATTER_EDGES] = 0;
	for (uint32_t i = 0; i < nb; i++) {
		uint32_t key = group_key(nexts[i]);

		count[key < nb_edges ? key : SCATTER_EDGES]++;
	}
	groups->nb = 0;
	for (uint32_t e = 0; e <= SCATTER_EDGES; e = e + 1 == nb_edges ? SCATTER_EDGES : e + 1) {
		to[e] = end;
		end += count[e];
		groups->next[groups->nb] = (uint16_t)e;
		groups->count[groups->nb] = count[e];
		groups->nb += count[e] != 0;
	}
	for (uint32_t i = 0; i < nb; i++) {
		uint32_t key = group_key(nexts[i]);

		*to[key < nb_edges ? key : SCATTER_EDGES]++ = objs[i];
	}
}
