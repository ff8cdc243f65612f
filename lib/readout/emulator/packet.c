/* SPDX-License-Identifier: BSD-3-Clause */
/* Emulated frames as packets. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "emulator_private.h"
#include "weir_base_pool.h"

#define TTL 64

/* Bytes that a field's word may lie behind a frame's end. */
#define SLACK_BYTES 8u

static void
field_set(const struct weir_readout_format *format, enum weir_base_field kind, uint8_t *frame,
	uint64_t value)
{
	const struct weir_readout_field *field = &format->fields[kind];
	uint64_t word;

	if (field->mask == 0)
		return;
	memcpy(&word, frame + field->load, sizeof(word));
	if (format->swap)
		word = __builtin_bswap64(word);
	word = (word & ~(field->mask << field->shift)) | (value & field->mask) << field->shift;
	if (format->swap)
		word = __builtin_bswap64(word);
	memcpy(frame + field->load, &word, sizeof(word));
}

void
packet_set_lengths(uint8_t *bytes, uint32_t frame_bytes, bool udp_checksum)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(bytes + sizeof(struct rte_ether_hdr));
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

	ip->total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + sizeof(*udp) + frame_bytes));
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->dgram_len = rte_cpu_to_be_16((uint16_t)(sizeof(*udp) + frame_bytes));
	udp->dgram_cksum = 0;
	if (udp_checksum)
		udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
}

void
packet_set_header(uint8_t *bytes, const struct weir_readout_emulator_stream *config)
{
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)bytes;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(ether + 1);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

	memcpy(bytes, config->destination_mac, RTE_ETHER_ADDR_LEN);
	memcpy(bytes + RTE_ETHER_ADDR_LEN, config->source_mac, RTE_ETHER_ADDR_LEN);
	ether->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->time_to_live = TTL;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = rte_cpu_to_be_32(config->source_ip);
	ip->dst_addr = rte_cpu_to_be_32(config->destination_ip);
	udp->src_port = rte_cpu_to_be_16(config->source_port);
	udp->dst_port = rte_cpu_to_be_16(config->destination_port);
}

int
packet_init(struct packet *packet, const struct stream *stream, const void *payload)
{
	const struct weir_readout_format *format = &stream->format;
	uint8_t *frame;

	packet->header_bytes = format->layer == WEIR_BASE_LAYER_UDP ? PACKET_HEADER_BYTES : 0;
	packet->bytes = calloc(1, packet->header_bytes + packet->frame_bytes + SLACK_BYTES);
	if (packet->bytes == NULL)
		return -ENOMEM;
	if (packet->header_bytes > 0)
		packet_set_header(packet->bytes, &stream->config);
	frame = packet->bytes + packet->header_bytes;
	if (payload != NULL)
		memcpy(frame, payload, packet->frame_bytes);
	field_set(format, WEIR_BASE_FIELD_LENGTH, frame,
		(packet->frame_bytes - format->length_plus_bytes) / format->length_unit_bytes);
	return 0;
}

/* The fields are written to the stream's packet, where there is room for their words, and all of it is copied. */
struct rte_mbuf *
packet_make(const struct packet *packet, const struct stream *stream,
	const struct emulated *emulated, struct rte_mempool *pool)
{
	const uint32_t bytes = packet->header_bytes + emulated->bytes;
	uint8_t *frame = packet->bytes + packet->header_bytes;
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m == NULL)
		return NULL;
	field_set(&stream->format, WEIR_BASE_FIELD_STREAM, frame, emulated->key);
	field_set(&stream->format, WEIR_BASE_FIELD_SEQUENCE, frame, emulated->sequence);
	field_set(&stream->format, WEIR_BASE_FIELD_TIMESTAMP, frame, emulated->timestamp);
	if (packet->header_bytes > 0)
		packet_set_lengths(packet->bytes, emulated->bytes, stream->config.udp_checksum);
	if (bytes > 0)
		memcpy(rte_pktmbuf_append(m, (uint16_t)bytes), packet->bytes, bytes);
	weir_base_mbuf_guard(m);
	return m;
}
