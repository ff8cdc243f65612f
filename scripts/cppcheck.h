/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of the macros of DPDK and jansson changes the syntax, for cppcheck,
 * who sees the tree's own headers only. Included before every file by
 * scripts/check-static; no compiler sees it.
 */
#define __x86_64__ 1
#define __GNUC__   12

#define likely(x)           (x)
#define unlikely(x)         (x)
#define __rte_always_inline inline
#define __rte_noinline
#define __rte_cache_aligned
#define __rte_aligned(n)
#define __rte_packed
#define __rte_unused
#define __rte_hot
#define __rte_cold
#define RTE_INIT(f) static void f(void)
#define RTE_MEMPOOL_REGISTER_OPS(ops)
#define RTE_FINI(f)                      static void f(void)
#define RTE_PRIORITY_LAST                65535
#define RTE_DEFINE_PER_LCORE(type, name) __thread type per_lcore_##name

#define RTE_LCORE_FOREACH(i)        for (i = id_after(0); i < 128; i = id_after(i))
#define RTE_LCORE_FOREACH_WORKER(i) for (i = id_after(0); i < 128; i = id_after(i))
#define RTE_ETH_FOREACH_DEV(i)      for (i = id_after(0); i < 32; i = id_after(i))
#define TAILQ_HEAD(name, type)                                                                     \
	struct name {                                                                              \
		struct type *first;                                                                \
	}
#define TAILQ_FOREACH(v, h, f)  for (v = first_of(h); v; v = after(v))
#define STAILQ_FOREACH(v, h, f) for (v = first_of(h); v; v = after(v))
#define LIST_FOREACH(v, h, f)   for (v = first_of(h); v; v = after(v))

#define json_array_foreach(a, i, v) for (i = 0, v = item_of(a, i); v; i++, v = item_of(a, i))
#define json_object_foreach(o, k, v)                                                               \
	for (k = key_of(o), v = value_of(o); k; k = key_of(o), v = value_of(o))
