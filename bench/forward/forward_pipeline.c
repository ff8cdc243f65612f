/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The same job on librte_pipeline, in the form of ip_pipeline: a receive port, an
 * LPM table keyed by the destination address in the frame, a transmit port. Its
 * ready-made TTL action (rte_table_action) adds the decrement to the checksum
 * without regard to its place or carry, so the checks and the rewriting are action
 * handlers of our own, the same code that the static loop runs.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lpm.h>
#include <rte_pipeline.h>
#include <rte_port_ethdev.h>
#include <rte_prefetch.h>
#include <rte_table_lpm.h>

#include "forward_check.h"

#define KEY_OFFSET                                                                                 \
	(sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + RTE_ETHER_HDR_LEN +                      \
		offsetof(struct rte_ipv4_hdr, dst_addr))

/* A table entry: the pipeline's part, and what the action handler writes. */
struct entry {
	struct rte_pipeline_table_entry head;
	uint8_t header[16];
};

static int
check_action(struct rte_pipeline *p, struct rte_mbuf **mbufs, uint32_t nb, void *arg)
{
	const struct forward_pipeline *pipeline = arg;
	uint64_t refused = 0;
	uint32_t destination;

	for (uint32_t i = 0; i < nb; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint32_t i = 0; i < nb; i++)
		if (unlikely(!forward_check(mbufs[i], pipeline->mac, &destination)))
			refused |= UINT64_C(1) << i;
	if (unlikely(refused != 0))
		rte_pipeline_ah_packet_drop(p, refused);
	return 0;
}

static int
rewrite_action(struct rte_pipeline *p, struct rte_mbuf **mbufs, uint64_t mask,
	struct rte_pipeline_table_entry **entries, void *arg)
{
	while (mask != 0) {
		unsigned int i = (unsigned int)__builtin_ctzll(mask);

		mask &= mask - 1;
		forward_rewrite(mbufs[i], ((const struct entry *)entries[i])->header);
	}
	return 0;
}

static int
compare_lengths(const void *a, const void *b)
{
	return ((const struct forward_route *)a)->length -
	       ((const struct forward_route *)b)->length;
}

/*
 * rte_lpm_add() looks through all routes of a length before it adds one: the time for a
 * table grows with its square. The rules of up to 24 bits are painted here as it would
 * paint them, shortest first; it adds the longer ones itself.
 * That both ways lead to the same answers is seen in the frames that come out.
 */
static int
fill_lpm(struct rte_lpm *lpm, const struct forward *forward, const uint32_t *positions)
{
	struct forward_route *routes = malloc(forward->nb_routes * sizeof(*routes));
	int rc = 0;

	if (routes == NULL)
		return -ENOMEM;
	memcpy(routes, forward->routes, forward->nb_routes * sizeof(*routes));
	qsort(routes, forward->nb_routes, sizeof(*routes), compare_lengths);
	for (uint32_t i = 0; i < forward->nb_routes && rc == 0; i++) {
		const struct forward_route *r = &routes[i];
		const struct rte_lpm_tbl_entry entry = {
			.next_hop = positions[r->hop], .valid = 1, .depth = r->length};

		if (r->length > 24)
			rc = rte_lpm_add(lpm, r->address, r->length, positions[r->hop]);
		for (uint32_t slot = 0; r->length <= 24 && slot < 1u << (24 - r->length); slot++)
			lpm->tbl24[(r->address >> 8) + slot] = entry;
	}
	free(routes);
	return rc;
}

/* One route for each next hop through the pipeline, so that the table knows its entries; then all of them. */
static int
fill_table(struct rte_pipeline *p, uint32_t table, uint32_t port_out, const struct forward *forward,
	const char *name)
{
	struct rte_ether_hdr header = {
		.src_addr = forward->mac, .ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)};
	struct rte_lpm *lpm = rte_lpm_find_existing(name);
	uint32_t positions[FORWARD_HOPS];

	for (unsigned int hop = 0; hop < FORWARD_HOPS; hop++) {
		/* Loopback addresses, which the check lets nobody look up. */
		struct rte_table_lpm_key key = {.ip = 0x7f000000 | hop << 8, .depth = 24};
		struct entry entry = {
			.head = {.action = RTE_PIPELINE_ACTION_PORT, .port_id = port_out}};
		struct rte_pipeline_table_entry *there;
		int found;

		header.dst_addr = forward_hop_mac(hop);
		memcpy(entry.header, &header, sizeof(header));
		if (rte_pipeline_table_entry_add(p, table, &key, &entry.head, &found, &there) !=
				0 ||
			rte_lpm_is_rule_present(lpm, key.ip, key.depth, &positions[hop]) != 1)
			return -EINVAL;
	}
	return fill_lpm(lpm, forward, positions);
}

static int
add_ports(struct forward_pipeline *pipeline, struct forward *forward, uint32_t *in, uint32_t *out)
{
	struct rte_port_ethdev_reader_params reader = {.port_id = forward->ethdev[0]};
	struct rte_port_ethdev_writer_params writer = {
		.port_id = forward->ethdev[0], .tx_burst_sz = pipeline->burst};
	struct rte_pipeline_port_in_params port_in = {
		.ops = &rte_port_ethdev_reader_ops,
		.arg_create = &reader,
		.f_action = check_action,
		.arg_ah = pipeline,
		.burst_size = pipeline->burst,
	};
	struct rte_pipeline_port_out_params port_out = {
		.ops = &rte_port_ethdev_writer_ops, .arg_create = &writer};

	if (rte_pipeline_port_in_create(pipeline->pipeline, &port_in, in) != 0 ||
		rte_pipeline_port_out_create(pipeline->pipeline, &port_out, out) != 0)
		return -EINVAL;
	return 0;
}

int
forward_pipeline_create(struct forward_pipeline *pipeline, struct forward *forward, uint32_t burst,
	const char *name)
{
	struct rte_pipeline_params params = {.name = name, .socket_id = forward->socket};
	struct rte_table_lpm_params lpm = {
		.name = name,
		.n_rules = 1 << 17, /* those longer than 24 bits, and one per next hop */
		.number_tbl8s = 32767,
		.entry_unique_size = sizeof(struct entry),
		.offset = KEY_OFFSET,
	};
	struct rte_pipeline_table_params table = {
		.ops = &rte_table_lpm_ops,
		.arg_create = &lpm,
		.f_action_hit = rewrite_action,
		.action_data_size = sizeof(struct entry) - sizeof(struct rte_pipeline_table_entry),
	};
	struct rte_pipeline *p;
	uint32_t in, out, table_id;

	memset(pipeline, 0, sizeof(*pipeline));
	pipeline->traffic.forward = forward;
	pipeline->burst = burst;
	memcpy(&pipeline->mac, &forward->mac, sizeof(forward->mac));
	pipeline->pipeline = p = rte_pipeline_create(&params);
	if (p == NULL || add_ports(pipeline, forward, &in, &out) < 0 ||
		rte_pipeline_table_create(p, &table, &table_id) != 0 ||
		rte_pipeline_port_in_connect_to_table(p, in, table_id) != 0 ||
		rte_pipeline_port_in_enable(p, in) != 0 || rte_pipeline_check(p) != 0)
		return -EINVAL;
	return fill_table(p, table_id, out, forward, name);
}

void
forward_pipeline_slice(void *arg, uint64_t nb)
{
	const struct forward_pipeline *pipeline = arg;

	for (uint64_t bursts = nb / pipeline->burst; bursts > 0; bursts--)
		rte_pipeline_run(pipeline->pipeline);
	rte_pipeline_flush(pipeline->pipeline);
}
