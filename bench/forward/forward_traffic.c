/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames, where they go to, and what came of them. */

#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_udp.h>

#include "forward_bench.h"
#include "forward_check.h"
#include "harness.h"

#define IP            RTE_ETHER_HDR_LEN
#define NUMBER        (IP + 20 + 8)        /* where a frame carries its number */
#define SOURCE        UINT32_C(0xc6336401) /* 198.51.100.1, of a documentation network */
#define MBUFS         (FORWARD_SLICE + 1024)
#define MEMPOOL_CACHE 256

int
forward_init(struct forward *forward, int socket)
{
	forward->socket = socket;
	forward->mac = (struct rte_ether_addr){{0x02, 0, 0, 0, 0, 0x01}};
	forward->pool = rte_pktmbuf_pool_create(
		"forward", MBUFS, MEMPOOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, socket);
	forward->rx = rte_ring_create("forward-rx", FORWARD_SLICE, socket,
		RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
	forward->tx = rte_ring_create("forward-tx", FORWARD_SLICE, socket,
		RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
	return forward->pool == NULL || forward->rx == NULL || forward->tx == NULL ? -rte_errno : 0;
}

/* An address of a route that is picked at random, with a random rest, that may be forwarded to. */
static uint32_t
random_destination(const struct forward *forward, uint64_t *state, int hop)
{
	for (;;) {
		const struct forward_route *route =
			&forward->routes[(bench_random(state) >> 16) % forward->nb_routes];
		uint32_t rest =
			route->length == 32 ? 0 : (uint32_t)bench_random(state) >> route->length;
		uint32_t address = route->address | rest;

		if ((hop < 0 || route->hop == hop) && !forward_is_special(address))
			return address;
	}
}

/* Random destinations; so many percent are those of routes to next hop 0. */
uint32_t *
forward_destinations(const struct forward *forward, unsigned int percent_hop_0)
{
	uint32_t *destinations = malloc(FORWARD_DESTINATIONS * sizeof(*destinations));
	uint64_t state = 64;

	for (uint32_t i = 0; destinations != NULL && i < FORWARD_DESTINATIONS; i++) {
		bool hop_0 = bench_random(&state) % 100 < percent_hop_0;

		destinations[i] = random_destination(forward, &state, hop_0 ? 0 : -1);
	}
	return destinations;
}

static void
set_checksum(uint8_t *frame)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + IP);

	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

/* A UDP packet as large as a minimal frame allows. */
static void
write_frame(
	const struct forward *forward, struct rte_mbuf *m, uint32_t destination, uint32_t number)
{
	uint8_t *frame;
	struct rte_ether_hdr *ether;
	struct rte_ipv4_hdr *ip;
	struct rte_udp_hdr *udp;

	rte_pktmbuf_reset(m);
	frame = (uint8_t *)rte_pktmbuf_append(m, FORWARD_FRAME);
	memset(frame, 0, FORWARD_FRAME);
	ether = (struct rte_ether_hdr *)frame;
	ip = (struct rte_ipv4_hdr *)(frame + IP);
	udp = (struct rte_udp_hdr *)(ip + 1);
	ether->dst_addr = forward->mac;
	ether->src_addr = (struct rte_ether_addr){{0x02, 0, 0, 0, 0, 0x02}};
	ether->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(FORWARD_FRAME - IP);
	ip->packet_id = rte_cpu_to_be_16((uint16_t)number);
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = rte_cpu_to_be_32(SOURCE);
	ip->dst_addr = rte_cpu_to_be_32(destination);
	udp->src_port = rte_cpu_to_be_16(1024);
	udp->dst_port = rte_cpu_to_be_16(9);
	udp->dgram_len = rte_cpu_to_be_16(FORWARD_FRAME - IP - 20);
	memcpy(frame + NUMBER, &number, sizeof(number));
	set_checksum(frame);
}

/* Take back what was sent and count what was not. Returns how many. */
static unsigned int
take_back(struct forward *forward, struct rte_mbuf **mbufs)
{
	unsigned int nb = rte_ring_dequeue_burst(forward->tx, (void **)mbufs, FORWARD_SLICE, NULL);

	if (forward->under_way)
		forward->nb_lost += FORWARD_SLICE - nb;
	forward->under_way = false;
	return nb;
}

/* What is left in the rings, if a side did not finish. */
static void
drain(struct forward *forward)
{
	struct rte_mbuf *mbufs[64];
	unsigned int nb;

	while ((nb = rte_ring_dequeue_burst(forward->rx, (void **)mbufs, RTE_DIM(mbufs), NULL)) > 0)
		rte_pktmbuf_free_bulk(mbufs, nb);
}

void
forward_finish(struct forward *forward)
{
	struct rte_mbuf *mbufs[FORWARD_SLICE];

	drain(forward);
	rte_pktmbuf_free_bulk(mbufs, take_back(forward, mbufs));
}

void
forward_prepare(void *arg)
{
	struct forward_traffic *traffic = arg;
	struct forward *forward = traffic->forward;
	struct rte_mbuf *mbufs[FORWARD_SLICE];
	unsigned int nb;

	drain(forward);
	nb = take_back(forward, mbufs);
	if (nb < FORWARD_SLICE &&
		rte_pktmbuf_alloc_bulk(forward->pool, mbufs + nb, FORWARD_SLICE - nb) != 0)
		return; /* a side keeps frames to itself: they count as lost, slice by slice */
	for (uint32_t i = 0; i < FORWARD_SLICE; i++)
		write_frame(forward, mbufs[i],
			traffic->destinations[(traffic->pos + i) % FORWARD_DESTINATIONS], i);
	traffic->pos += FORWARD_SLICE;
	rte_ring_enqueue_bulk(forward->rx, (void **)mbufs, FORWARD_SLICE, NULL);
	forward->under_way = true;
}

/* Make something of a frame that a router must notice; every other one stays good. */
static void
spoil(struct rte_mbuf *m, uint32_t kind, uint64_t *state)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + IP);
	static const uint32_t addresses[] = {0x00000001, 0x7f000001, 0xa9fe0001, 0xe0000001,
		0xf0000001, 0xffffffff, 0x0a000001 /* no route */};
	uint32_t address = rte_cpu_to_be_32(addresses[bench_random(state) % RTE_DIM(addresses)]);

	switch (kind) {
	case 0: /* padded */
		ip->total_length = rte_cpu_to_be_16((uint16_t)(20 + bench_random(state) % 26));
		break;
	case 1:
		ip->total_length = rte_cpu_to_be_16((uint16_t)bench_random(state));
		break;
	case 2:
		ip->time_to_live = (uint8_t)(bench_random(state) % 4);
		break;
	case 3:
		ip->version_ihl = (uint8_t)bench_random(state);
		break;
	case 4:
		ip->src_addr = address;
		break;
	case 5:
		ip->dst_addr = address;
		break;
	case 6:
		frame[bench_random(state) % 14] ^= (uint8_t)(1 << bench_random(state) % 8);
		break;
	case 7:
		memset(frame, 0xff, 6);
		break;
	case 8: /* a header whose sum is near the turn */
		ip->packet_id =
			(uint16_t)(ip->packet_id - ~ip->hdr_checksum + bench_random(state) % 4);
		break;
	case 9:
		rte_pktmbuf_trim(m, (uint16_t)(bench_random(state) % FORWARD_FRAME));
		break;
	default:
		break;
	}
	set_checksum(frame);
	if (kind == 10)
		frame[IP + bench_random(state) % 20] ^= (uint8_t)(1 << bench_random(state) % 8);
}

static void
note_result(struct forward_result *result, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t number =
		load32(frame + NUMBER) % FORWARD_SLICE; /* there even if the frame was cut short */

	result->nb_out++;
	result->nb_twice += result->length[number] != 0;
	result->length[number] = m->data_len;
	memcpy(result->bytes[number], frame, RTE_MIN(m->data_len, (uint16_t)FORWARD_FRAME));
}

int
forward_try(struct forward_traffic *traffic, void (*slice)(void *arg, uint64_t nb), void *arg,
	struct forward_result *result)
{
	struct forward *forward = traffic->forward;
	struct rte_mbuf *mbufs[FORWARD_SLICE];
	uint64_t state = 1812;
	unsigned int nb;

	memset(result, 0, sizeof(*result));
	forward->under_way = false;
	forward_prepare(traffic);
	nb = rte_ring_dequeue_burst(forward->rx, (void **)mbufs, FORWARD_SLICE, NULL);
	for (unsigned int i = 0; i < nb; i += 2)
		spoil(mbufs[i], i / 2 % 16, &state);
	rte_ring_enqueue_bulk(forward->rx, (void **)mbufs, nb, NULL);
	forward->under_way = false; /* some are to be lost */
	slice(arg, FORWARD_SLICE);
	if (!rte_ring_empty(forward->rx))
		return -EAGAIN;
	nb = rte_ring_dequeue_burst(forward->tx, (void **)mbufs, FORWARD_SLICE, NULL);
	for (unsigned int i = 0; i < nb; i++)
		note_result(result, mbufs[i]);
	rte_pktmbuf_free_bulk(mbufs, nb);
	return 0;
}
