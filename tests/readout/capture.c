/* SPDX-License-Identifier: BSD-3-Clause */
#include "../base/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include <pcap/pcap.h>

#include "capture.h"

#define ETHERNET_BYTES 14u
#define UDP_BYTES      8u
#define IPPROTO_OF_UDP 17u

const char *capture_dir;

static unsigned int
be16(const uint8_t *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

static void
look(const struct pcap_pkthdr *header, const uint8_t *frame, uint16_t port,
	capture_payload_t payload, void *arg)
{
	const uint8_t *ip = frame + ETHERNET_BYTES, *udp;
	uint32_t ip_bytes;

	if (header->caplen < ETHERNET_BYTES + 20 + UDP_BYTES || be16(frame + 12) != 0x0800)
		return;
	ip_bytes = (ip[0] & 15u) * 4;
	udp = ip + ip_bytes;
	if (ip[9] != IPPROTO_OF_UDP || be16(udp + 2) != port)
		return;
	assert_int_equal(
		header->caplen, ETHERNET_BYTES + ip_bytes + be16(udp + 4)); /* nothing is cut */
	payload(arg, udp + UDP_BYTES, be16(udp + 4) - UDP_BYTES,
		(uint64_t)header->ts.tv_sec * 1000000 + (uint64_t)header->ts.tv_usec);
}

void
capture_payloads(const char *name, uint16_t port, capture_payload_t payload, void *arg)
{
	char path[512], error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const uint8_t *frame;
	pcap_t *pcap;

	snprintf(path, sizeof(path), "%s/%s", capture_dir, name);
	pcap = pcap_open_offline(path, error);
	if (pcap == NULL)
		fail_msg("%s", error);
	while (pcap_next_ex(pcap, &header, &frame) == 1)
		look(header, frame, port, payload, arg);
	pcap_close(pcap);
}
