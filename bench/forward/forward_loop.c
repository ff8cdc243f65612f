/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A forwarder without a graph: what somebody would write who needs this one job
 * and nothing else. Receive, bring near, check, look up in bulk, rewrite, send.
 */

/* rte_vect_set_max_simd_bitwidth() is experimental in DPDK's terms. */
#ifndef ALLOW_EXPERIMENTAL_API
#define ALLOW_EXPERIMENTAL_API
#endif

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_fib.h>
#include <rte_prefetch.h>
#include <rte_vect.h>

#include "forward_check.h"

#define AHEAD 8

/* Next hops in two bytes, as many groups as lib/node has by default: what ours is able to. */
struct rte_fib *
forward_fib_create(const struct forward *forward)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.default_nh = FORWARD_HOPS,
		.max_routes = 1 << 20,
		.dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_2B, .num_tbl8 = 32767},
	};
	struct rte_fib *fib;

	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	fib = rte_fib_create("forward", forward->socket, &conf);
	for (uint32_t i = 0; fib != NULL && i < forward->nb_routes; i++) {
		const struct forward_route *r = &forward->routes[i];

		if (rte_fib_add(fib, r->address, r->length, r->hop) < 0)
			return NULL;
	}
	return fib;
}

static const struct {
	const char *name;
	enum rte_fib_lookup_type type;
} lookups[] = {
	{"AVX-512", RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512},
	{"scalar, macro", RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO},
	{"scalar, inline", RTE_FIB_LOOKUP_DIR24_8_SCALAR_INLINE},
};

int
forward_fib_lookups(void)
{
	return RTE_DIM(lookups);
}

/* The way's name, or NULL where the CPU lacks it. */
const char *
forward_fib_lookup_select(struct rte_fib *fib, int lookup)
{
	return rte_fib_select_lookup(fib, lookups[lookup].type) == 0 ? lookups[lookup].name : NULL;
}

void
forward_loop_init(struct forward_loop *loop, struct forward *forward, struct rte_fib *fib)
{
	struct rte_ether_hdr header = {
		.src_addr = forward->mac, .ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)};

	memset(loop, 0, sizeof(*loop));
	loop->traffic.forward = forward;
	loop->ethdev = forward->ethdev[0];
	loop->fib = fib;
	memcpy(&loop->mac, &forward->mac, sizeof(forward->mac));
	for (unsigned int hop = 0; hop < FORWARD_HOPS; hop++) {
		header.dst_addr = forward_hop_mac(hop);
		memcpy(loop->hops[hop].header, &header, sizeof(header));
	}
}

static __rte_noinline void
refuse(struct forward_loop *loop, struct rte_mbuf *m)
{
	loop->nb_dropped++;
	rte_pktmbuf_free(m);
}

/* Check all, keep the good ones and their destinations. */
static __rte_always_inline uint16_t
check_burst(struct forward_loop *loop, struct rte_mbuf **mbufs, uint32_t *destinations, uint16_t nb,
	enum forward_prefetch prefetch)
{
	const uint64_t mac = loop->mac;
	uint16_t kept = 0;

	if (prefetch == FORWARD_PREFETCH_PASS) {
		for (uint16_t i = 0; i < nb && i < AHEAD; i++)
			rte_prefetch0(mbufs[i]);
		for (uint16_t i = 0; i < nb; i++) {
			if (i + AHEAD < nb)
				rte_prefetch0(mbufs[i + AHEAD]);
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
		}
	} else {
		for (uint16_t i = 0; i < nb && i < AHEAD; i++)
			rte_prefetch0(mbufs[i]);
		for (uint16_t i = 0; i < nb && i < AHEAD / 2; i++)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	}
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = mbufs[i];

		if (prefetch == FORWARD_PREFETCH_AHEAD) {
			if (i + AHEAD < nb)
				rte_prefetch0(mbufs[i + AHEAD]);
			if (i + AHEAD / 2 < nb)
				rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + AHEAD / 2], void *));
		}
		mbufs[kept] = m;
		if (likely(forward_check(m, mac, &destinations[kept])))
			kept++;
		else
			refuse(loop, m);
	}
	return kept;
}

static __rte_always_inline uint16_t
rewrite_burst(struct forward_loop *loop, struct rte_mbuf **mbufs, const uint64_t *hops, uint16_t nb)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = mbufs[i];

		if (unlikely(hops[i] >= FORWARD_HOPS)) {
			refuse(loop, m);
			continue;
		}
		forward_rewrite(m, loop->hops[hops[i]].header);
		mbufs[kept++] = m;
	}
	return kept;
}

static __rte_always_inline uint16_t
forward_burst(struct forward_loop *loop, enum forward_prefetch prefetch)
{
	struct rte_mbuf *mbufs[FORWARD_BURST_MAX];
	uint32_t destinations[FORWARD_BURST_MAX];
	uint64_t hops[FORWARD_BURST_MAX];
	uint16_t nb, kept, sent;

	nb = rte_eth_rx_burst(loop->ethdev, 0, mbufs, loop->burst);
	if (unlikely(nb == 0))
		return 0;
	kept = check_burst(loop, mbufs, destinations, nb, prefetch);
	rte_fib_lookup_bulk(loop->fib, destinations, hops, kept);
	kept = rewrite_burst(loop, mbufs, hops, kept);
	sent = rte_eth_tx_burst(loop->ethdev, 0, mbufs, kept);
	while (unlikely(sent < kept))
		refuse(loop, mbufs[sent++]);
	return nb;
}

static __rte_noinline void
slice_pass(struct forward_loop *loop, uint64_t nb)
{
	for (uint64_t bursts = nb / loop->burst; bursts > 0; bursts--)
		forward_burst(loop, FORWARD_PREFETCH_PASS);
}

static __rte_noinline void
slice_ahead(struct forward_loop *loop, uint64_t nb)
{
	for (uint64_t bursts = nb / loop->burst; bursts > 0; bursts--)
		forward_burst(loop, FORWARD_PREFETCH_AHEAD);
}

void
forward_loop_slice(void *arg, uint64_t nb)
{
	struct forward_loop *loop = arg;

	if (loop->prefetch == FORWARD_PREFETCH_PASS)
		slice_pass(loop, nb);
	else
		slice_ahead(loop, nb);
}
