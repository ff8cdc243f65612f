/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames in memory, the ports where they wait, and what is to become of them. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_udp.h>

#include <weir_base_pool.h>

#include "readout_bench.h"

#define DATAGRAM     (sizeof(struct rte_udp_hdr))
#define KEY_SHIFT    6
#define NUMBER_SHIFT 40
#define NUMBER_MASK  UINT64_C(0xfff)
#define LENGTH_SHIFT 52
#define WORD         sizeof(uint64_t)

/* WIBEth's fields, in frames of any size. */
static int
make_format(struct weir_readout_format *format, uint32_t frame_bytes)
{
	const struct weir_base_format spec = {
		.name = "small",
		.fields =
			{
				[WEIR_BASE_FIELD_STREAM] = {KEY_SHIFT, 28},
				[WEIR_BASE_FIELD_SEQUENCE] = {NUMBER_SHIFT, 12},
				[WEIR_BASE_FIELD_TIMESTAMP] = {64, 64},
				[WEIR_BASE_FIELD_LENGTH] = {LENGTH_SHIFT, 12},
			},
		.length_unit_bytes = 8,
		.length_plus_bytes = 16,
		.size_min_bytes = frame_bytes,
		.size_max_bytes = frame_bytes,
		.step_ticks = 2048,
		.clock_hz = 62500000,
	};
	const struct weir_readout_format *wibeth = weir_readout_format_builtin("wibeth");

	if (frame_bytes != wibeth->size_max_bytes)
		return weir_readout_format_compile(&spec, format, NULL, NULL, 0);
	*format = *wibeth;
	return 0;
}

/* A frame's first word. */
static uint64_t
header_word(const struct readout_traffic *traffic, uint32_t link, uint64_t number)
{
	const uint64_t length = (traffic->frame_bytes - traffic->format.length_plus_bytes) /
				traffic->format.length_unit_bytes;

	return readout_key(link) << KEY_SHIFT | (number & NUMBER_MASK) << NUMBER_SHIFT |
	       length << LENGTH_SHIFT;
}

/* Its last one, which nothing else has. */
static uint64_t
last_word(uint32_t link, uint64_t number)
{
	uint64_t state = number * READOUT_LINKS_MAX + link;

	return bench_random(&state);
}

/* What is the same in all of a port's packets. */
static void
write_packet(const struct readout_traffic *traffic, struct rte_mbuf *m)
{
	uint8_t *bytes = rte_pktmbuf_mtod(m, uint8_t *);
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)bytes;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(ether + 1);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);
	const uint16_t datagram = (uint16_t)(DATAGRAM + traffic->frame_bytes);

	memset(bytes, 0, READOUT_HEADER);
	ether->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + datagram));
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_UDP;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->dgram_len = rte_cpu_to_be_16(datagram);
	for (uint32_t i = 0; i < traffic->frame_bytes; i++)
		bytes[READOUT_HEADER + i] = (uint8_t)(i * 7);
}

/* All mbufs there are. */
static int
take_all(const struct readout_traffic *traffic, struct rte_mbuf **mbufs)
{
	int rc = rte_pktmbuf_alloc_bulk(traffic->pool, mbufs, traffic->slice);

	for (uint32_t i = 0; i < traffic->slice && rc == 0; i++)
		rte_pktmbuf_append(mbufs[i], (uint16_t)(READOUT_HEADER + traffic->frame_bytes));
	return rc;
}

int
readout_traffic_init(struct readout_traffic *traffic, uint32_t nb_links, uint32_t frame_bytes,
	uint32_t slice, int socket)
{
	const uint16_t room = (uint16_t)RTE_ALIGN_CEIL(
		RTE_PKTMBUF_HEADROOM + READOUT_HEADER + frame_bytes, RTE_CACHE_LINE_SIZE);
	struct rte_mbuf *mbufs[READOUT_SLICE_MAX];
	int rc;

	traffic->socket = socket;
	traffic->nb_links = nb_links;
	traffic->frame_bytes = frame_bytes;
	traffic->slice = slice;
	rc = make_format(&traffic->format, frame_bytes);
	if (rc < 0)
		return rc;
	traffic->pool = weir_base_pool_create("readout", slice, 0, room, socket, NULL);
	if (traffic->pool == NULL)
		return -rte_errno;
	rc = take_all(traffic, mbufs);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < slice; i++)
		write_packet(traffic, mbufs[i]);
	rte_pktmbuf_free_bulk(mbufs, slice);
	return 0;
}

void
readout_traffic_free(struct readout_traffic *traffic)
{
	weir_base_pool_free(traffic->pool);
	traffic->pool = NULL;
}

int
readout_port_open(struct readout_side *side, const char *name)
{
	static unsigned int nb_opened;
	char unique[RTE_RING_NAMESIZE];
	int port;

	snprintf(unique, sizeof(unique), "%s-%u", name, nb_opened++);
	side->ring = rte_ring_create(unique, side->traffic->slice, side->traffic->socket,
		RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (side->ring == NULL)
		return -rte_errno;
	port = rte_eth_from_ring(side->ring);
	if (port < 0)
		return -rte_errno;
	side->ethdev = (uint16_t)port;
	return rte_eth_dev_get_name_by_port(side->ethdev, side->device);
}

/* Who has the device may have closed it already. */
void
readout_port_close(struct readout_side *side)
{
	uint16_t port;

	if (side->device[0] != '\0' && rte_eth_dev_get_port_by_name(side->device, &port) == 0) {
		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
	rte_ring_free(side->ring);
}

void
readout_wrong(struct readout_side *side, const char *format, ...)
{
	char *why = side->traffic->why;
	const size_t size = sizeof(side->traffic->why);
	va_list args;
	int nb;

	if (why[0] != '\0')
		return;
	nb = snprintf(why, size, "%s: ", side->name);
	va_start(args, format);
	vsnprintf(why + nb, size - (size_t)nb, format, args);
	va_end(args);
}

bool
readout_is_frame(
	const struct readout_traffic *traffic, uint32_t link, uint64_t number, const uint8_t *frame)
{
	uint64_t words[2], last;

	memcpy(words, frame, sizeof(words));
	memcpy(&last, frame + traffic->frame_bytes - WORD, WORD);
	return words[0] == header_word(traffic, link, number) &&
	       words[1] == readout_timestamp(traffic, number) && last == last_word(link, number);
}

/* Did all of them arrive, and nothing else? */
static void
look(struct readout_side *side)
{
	const struct readout_traffic *traffic = side->traffic;
	uint64_t kept;

	if (!rte_mempool_full(traffic->pool))
		readout_wrong(side, "%u of %u packets were not given back",
			rte_mempool_in_use_count(traffic->pool), traffic->slice);
	kept = side->look(side, side->nb_frames - traffic->slice / traffic->nb_links);
	if (kept != traffic->slice)
		readout_wrong(side,
			"of %" PRIu32 " frames %" PRIu64 " are in the buffers as they were sent",
			traffic->slice, kept);
}

void
readout_prepare(void *arg)
{
	struct readout_side *side = arg;
	const struct readout_traffic *traffic = side->traffic;
	struct rte_mbuf *mbufs[READOUT_SLICE_MAX];

	if (take_all(traffic, mbufs) < 0)
		return; /* a side keeps packets to itself, which look() said */
	for (uint32_t i = 0; i < traffic->slice; i++) {
		const uint32_t link = i % traffic->nb_links;
		const uint64_t number = side->nb_frames + i / traffic->nb_links;
		const uint64_t words[2] = {
			header_word(traffic, link, number), readout_timestamp(traffic, number)};
		const uint64_t last = last_word(link, number);
		uint8_t *frame = rte_pktmbuf_mtod_offset(mbufs[i], uint8_t *, READOUT_HEADER);

		memcpy(frame, words, sizeof(words));
		memcpy(frame + traffic->frame_bytes - WORD, &last, WORD);
	}
	rte_ring_enqueue_bulk(side->ring, (void **)mbufs, traffic->slice, NULL);
	side->nb_frames += traffic->slice / traffic->nb_links;
}

void
readout_slice(void *arg, uint64_t nb)
{
	struct readout_side *side = arg;
	struct readout_turn *turn = &side->turns[side->nb_turns % READOUT_TURNS_MAX];
	const uint64_t begin = weir_base_cycles();

	(void)nb; /* a slice */
	side->run(side, turn);
	turn->passed = weir_base_cycles() - begin;
}

uint64_t
readout_cycles(void *arg)
{
	struct readout_side *side = arg;
	const struct readout_turn *turn = &side->turns[side->nb_turns++ % READOUT_TURNS_MAX];

	look(side);
	return turn->receive + turn->consume;
}
