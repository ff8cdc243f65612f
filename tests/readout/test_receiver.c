/* SPDX-License-Identifier: BSD-3-Clause */

/* Receivers: bursts, ARP, queues and pollers, steering by software. */

#include "receiver_fixture.h"

#include <pthread.h>

#include <rte_byteorder.h>

#include "../base/ctl_ask.h"

#include "weir_readout_ctl.h"

static const uint8_t frame[] = {7, 1, 2, 3};

static void
give_frames(uint16_t port, uint16_t queue, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i++)
		rx_give(port, queue, frame, sizeof(frame));
}

/* Full bursts, and those that are not. */
static void
bursts(void **state)
{
	struct weir_readout_receiver_queue_stats stats;

	rx_begin(1, 1);
	rx_create();
	rx_link(0, 7, WEIR_BASE_LAYER_ETHERNET);
	give_frames(0, 0, 100);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(weir_readout_receiver_poll(rx.receiver, 0, i),
			i < 3); /* 32, 32, 32, 4, 0 */
	stats = rx_stats(0);
	assert_int_equal(stats.received, 100);
	assert_int_equal(stats.received_bytes, 100 * sizeof(frame));
	assert_int_equal(stats.dispatch.links, 100);
	assert_int_equal(stats.polls, 5);
	assert_int_equal(stats.full_bursts, 3);
	assert_int_equal(stats.burst_size, 32);
	assert_int_equal(stats.bursts.count, 4);
	assert_int_equal(stats.bursts.bucket[32], 3);
	assert_int_equal(stats.bursts.bucket[4], 1);
	assert_int_equal(stats.bursts.min, 4);
	assert_int_equal(stats.bursts.max, 32);
	assert_int_equal(rx_link_received(0), 100);
	assert_int_equal(weir_readout_receiver_queue_stats(rx.receiver, 1, &stats), -EINVAL);
	rx_end();
}

/* The same over the control socket, with what the device has missed since the receiver was made. */
static void
told(void **state)
{
	struct weir_readout_ctl_part part_of = {.name = "nic"};
	struct weir_readout_ctl *readout;
	const json_t *receiver, *queue, *port;
	json_t *answer;

	rx_begin(1, 1);
	rx_planted.stats.imissed = 1000;
	rx_create();
	rx_link(0, 7, WEIR_BASE_LAYER_ETHERNET);
	assert_true(ctl_up("receiver"));
	part_of.receiver = rx.receiver;
	readout = weir_readout_ctl_register(
		ctl, &(struct weir_readout_ctl_config){.parts = &part_of, .nb_parts = 1});
	assert_non_null(readout);
	give_frames(0, 0, 40);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	weir_readout_receiver_poll(rx.receiver, 0, 1);
	rx_planted.stats.imissed += 5;
	rx_planted.stats.rx_nombuf = 3;
	answer = ask("readout/status", NULL, 0);
	assert_true(json_is_true(part(answer, "agree")));
	receiver = json_array_get(part(answer, "receivers"), 0);
	assert_string_equal(text(receiver, "name"), "nic");
	queue = json_array_get(part(receiver, "queues"), 0);
	assert_int_equal(number(queue, "received"), 40);
	assert_int_equal(number(queue, "full_bursts"), 1);
	assert_int_equal(number(part(queue, "bursts"), "count"), 2);
	assert_int_equal(number(part(queue, "bursts"), "max"), 32);
	assert_int_equal(number(part(queue, "dispatch"), "links"), 40);
	port = json_array_get(part(receiver, "ports"), 0);
	assert_int_equal(number(port, "imissed"), 5);
	assert_int_equal(number(port, "rx_nombuf"), 3);
	assert_string_equal(text(port, "steering"), "none");
	json_decref(answer);
	assert_int_equal(weir_readout_ctl_unregister(readout), 0);
	ctl_down();
	rx_end();
}

/* Asks for more after full bursts, and for less after many small ones. */
static void
adaptive(void **state)
{
	rx_begin(1, 1);
	rx.ports[0].burst_adaptive = true;
	rx.ports[0].burst_size = 100;
	rx.ports[0].rx_ring_size = 128;
	rx.ports[0].num_mbufs = 256;
	rx_create();
	rx_link(0, 7, WEIR_BASE_LAYER_ETHERNET);
	give_frames(0, 0, 32 + 64 + 100 + 50);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_stats(0).burst_size, 64);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_stats(0).burst_size, 100);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_stats(0).burst_size, 100);
	assert_int_equal(rx_stats(0).full_bursts, 3);
	for (uint32_t i = 0; i < 16; i++) {
		assert_int_equal(rx_stats(0).burst_size, 100);
		weir_readout_receiver_poll(rx.receiver, 0, 0); /* the first one has half */
	}
	assert_int_equal(rx_stats(0).burst_size, 100);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_stats(0).burst_size, 50);
	for (uint32_t i = 0; i < 100; i++)
		weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_stats(0).burst_size, 32);
	assert_int_equal(rx_link_received(0), 246);
	rx_end();
}

static const uint8_t their_mac[6] = {0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee};

/* From 10.73.139.99, who has 10.73.139.16? Padded, as hosts send it. */
static const uint8_t request[60] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0x08,
	0x06,                                                /* Ethernet */
	0, 1, 0x08, 0, 6, 4, 0, 1,                           /* who has */
	0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 10, 73, 139, 99, /* sender */
	0, 0, 0, 0, 0, 0, 10, 73, 139, 16,                   /* target */
};

static void
begin_arp(void)
{
	rx_begin(1, 1);
	rx.ports[0].ip_addr = RX_IP;
	rx_create();
	assert_int_equal(rx_stats(0).announced, 0);
}

static void
make_reply(uint8_t *reply, const uint8_t *mac)
{
	memset(reply, 0, 60);
	memcpy(reply, their_mac, 6);
	memcpy(reply + 6, mac, 6);
	memcpy(reply + 12, request + 12, 8);
	reply[21] = 2; /* is at */
	memcpy(reply + 22, mac, 6);
	memcpy(reply + 28, request + 38, 4);
	memcpy(reply + 32, their_mac, 6);
	memcpy(reply + 38, request + 28, 4);
}

/* The request, cut short: what is missing still lies behind it. */
static void
give_cut(uint16_t nb)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(rx.pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, sizeof(request)), request, sizeof(request));
	assert_int_equal(rte_pktmbuf_trim(m, (uint16_t)(sizeof(request) - nb)), 0);
	assert_int_equal(rte_ring_enqueue(rx.in[0][0], m), 0);
}

static void
arp_reply(void **state)
{
	uint8_t reply[60], sent[60], bytes[60];

	begin_arp();
	make_reply(reply, rx_port(0).mac_addr);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_sent(0, 0, sent), 60); /* gratuitous */
	rx_give(0, 0, request, 60);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_sent(0, 0, sent), 60);
	assert_memory_equal(sent, reply, 60);
	rx_give(0, 0, request, 42); /* without padding, as virtual devices give it */
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_sent(0, 0, sent), 42);
	assert_memory_equal(sent, reply, 42);
	assert_int_equal(rx_stats(0).arp_replied, 2);
	/* Each field that makes it no request for us. */
	for (uint32_t i = 0; i < 60; i++) {
		const bool matters = (i >= 12 && i < 22) || (i >= 38 && i < 42);

		memcpy(bytes, request, 60);
		bytes[i] ^= 0x40;
		rx_give(0, 0, bytes, 60);
		weir_readout_receiver_poll(rx.receiver, 0, 0);
		assert_int_equal(rx_sent(0, 0, sent) == 0, matters);
	}
	give_cut(41);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_sent(0, 0, sent), 0);
	assert_int_equal(rx_stats(0).arp_replied, 2 + 46);
	assert_int_equal(rx_stats(0).dispatch.received, 14 + 1);
	rx_end();
}

static void
arp_announced(void **state)
{
	uint8_t expected[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, sent[60];

	begin_arp();
	memcpy(expected + 6, rx_port(0).mac_addr, 6);
	memcpy(expected + 12, request + 12, 10);
	memcpy(expected + 22, rx_port(0).mac_addr, 6);
	memcpy(expected + 28, request + 38, 4);
	memcpy(expected + 38, request + 38, 4);
	for (uint64_t ms = 0; ms < 3500; ms += 10) {
		weir_readout_receiver_poll(rx.receiver, 0, ms * 1000000);
		assert_int_equal(rx_sent(0, 0, sent) == 60, ms % 1000 == 0);
		if (ms % 1000 == 0)
			assert_memory_equal(sent, expected, 60);
	}
	assert_int_equal(rx_stats(0).announced, 4);
	assert_int_equal(rx_stats(0).received, 0);
	/* What we said ourselves comes back: no conflict. */
	rx_give(0, 0, expected, 60);
	weir_readout_receiver_poll(rx.receiver, 0, UINT64_C(3500000000));
	assert_int_equal(rx_stats(0).dropped[WEIR_READOUT_RECEIVER_DROP_ADDRESS_CONFLICT], 0);
	assert_int_equal(rx_stats(0).dispatch.received, 1);
	expected[22] ^= 2; /* another host */
	rx_give(0, 0, expected, 60);
	weir_readout_receiver_poll(rx.receiver, 0, UINT64_C(3500000000));
	assert_int_equal(rx_stats(0).dropped[WEIR_READOUT_RECEIVER_DROP_ADDRESS_CONFLICT], 1);
	assert_int_equal(rx_sent(0, 0, sent), 0);
	rx_end();
}

/* A device that takes nothing, for its ring is full. */
static void
arp_not_sent(void **state)
{
	uint8_t sent[60];

	begin_arp();
	while (rte_ring_free_count(rx.out[0][0]) > 0) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(rx.pool);

		assert_int_equal(rte_ring_enqueue(rx.out[0][0], m), 0);
	}
	rx_give(0, 0, request, 60);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_stats(0).announced, 0);
	assert_int_equal(rx_stats(0).not_announced, 1);
	assert_int_equal(rx_stats(0).arp_replied, 0);
	assert_int_equal(rx_stats(0).dropped[WEIR_READOUT_RECEIVER_DROP_ARP_NOT_SENT], 1);
	while (rx_sent(0, 0, sent) > 0 || rte_ring_count(rx.out[0][0]) > 0)
		;
	rx_end();
}

/* Without an address ARP is a frame like any other, and nothing is transmitted. */
static void
no_address(void **state)
{
	uint8_t sent[60];

	rx_begin(1, 1);
	rx_create();
	rx_link(0, 0xff, WEIR_BASE_LAYER_ETHERNET);
	rx_give(0, 0, request, 60);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_sent(0, 0, sent), 0);
	assert_int_equal(rx_link_received(0), 1);
	rx_end();
}

/* Two ports with two queues each: numbered through, and each polled by one poller. */
static void
many_queues(void **state)
{
	rx_begin(2, 2);
	rx.config.nb_pollers = 3;
	rx_create();
	assert_int_equal(weir_readout_receiver_nb_queues(rx.receiver), 4);
	for (uint16_t q = 0; q < 4; q++) {
		rx_link(q, 7, WEIR_BASE_LAYER_ETHERNET);
		give_frames(q / 2, q % 2, q + 1u);
	}
	for (uint16_t poller = 0; poller < 3; poller++) {
		weir_readout_receiver_poll(rx.receiver, poller, 0);
		for (uint16_t q = 0; q < 4; q++)
			assert_int_equal(rx_link_received(q), q % 3 <= poller ? q + 1u : 0);
	}
	assert_int_equal(rx_port(0).first_queue, 0);
	assert_int_equal(rx_port(1).first_queue, 2);
	assert_int_equal(rx_port(1).steering, WEIR_READOUT_STEERING_NONE);
	rx_end();
}

/* By address, by UDP port, by both: arrives at any queue, is given to the links of its own. */
static void
software(void **state)
{
	struct weir_readout_receiver_source sources[3];

	for (unsigned int what = 1; what <= 3; what++) {
		rx_begin(1, 3);
		for (uint16_t i = 0; i < 3; i++)
			sources[i] = (struct weir_readout_receiver_source){
				what & 1 ? 100u + i : 0, what & 2 ? (uint16_t)(200 + i) : 0, i};
		rx.ports[0].sources = sources;
		rx.ports[0].nb_sources = 3;
		rx.ports[0].with_flow_control = what != 3;
		rx_create();
		assert_int_equal(rx_port(0).steering, WEIR_READOUT_STEERING_SOFTWARE);
		/* Refused by the device, unless it was not asked. */
		assert_int_equal(rx_log_count(), what != 3);
		for (uint16_t q = 0; q < 3; q++)
			rx_link(q, 7, WEIR_BASE_LAYER_UDP);
		for (uint16_t arrives = 0; arrives < 3; arrives++)
			for (uint16_t i = 0; i < 3; i++)
				rx_give_udp(0, arrives, 100u + i, (uint16_t)(200 + i), 7);
		/* Of nobody: stays where it came. */
		rx_give_udp(0, 1, 99, 199, 7);
		weir_readout_receiver_poll(rx.receiver, 0, 0);
		weir_readout_receiver_poll(rx.receiver, 0, 0);
		for (uint16_t q = 0; q < 3; q++) {
			assert_int_equal(rx_link_received(q), q == 1 ? 4 : 3);
			assert_int_equal(rx_stats(q).received, q == 1 ? 4 : 3);
			assert_int_equal(rx_stats(q).handed_over, 2);
			assert_int_equal(rx_stats(q).taken_over, 2);
		}
		rx_end();
	}
}

/* What is not IPv4 stays; tags are no hindrance. */
static void
software_headers(void **state)
{
	const struct weir_readout_receiver_source source = {.udp_port = 200, .queue = 1};
	uint8_t bytes[66];

	rx_begin(1, 2);
	rx.ports[0].sources = &source;
	rx.ports[0].nb_sources = 1;
	rx_create();
	rx_link(0, 7, WEIR_BASE_LAYER_UDP);
	rx_link(1, 7, WEIR_BASE_LAYER_UDP);
	memset(bytes, 0, sizeof(bytes));
	bytes[12] = 0x88; /* QinQ, VLAN, IPv4, UDP to 200 */
	bytes[13] = 0xa8;
	bytes[16] = 0x81;
	bytes[20] = 0x08;
	bytes[22] = 0x45;
	bytes[25] = 29;
	bytes[31] = 17;
	bytes[45] = 200;
	bytes[47] = 9;
	bytes[50] = 7;
	rx_give(0, 0, bytes, 51);
	memset(bytes, 0, sizeof(bytes));
	bytes[12] = 0x86; /* IPv6, UDP to 200 */
	bytes[13] = 0xdd;
	bytes[14] = 0x60;
	bytes[19] = 9;
	bytes[20] = 17;
	bytes[57] = 200;
	bytes[59] = 9;
	bytes[62] = 7;
	rx_give(0, 0, bytes, 63);
	rx_give(0, 0, request, 60); /* no datagram */
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_link_received(0), 1);
	assert_int_equal(rx_link_received(1), 1);
	assert_int_equal(rx_stats(0).handed_over, 1);
	assert_int_equal(rx_stats(0).dispatch.not_udp, 1);
	rx_end();
}

/* The queue of a source is not polled: counted, not lost, then dropped by name. What it has at the end goes to its links. */
static void
handover_full(void **state)
{
	const struct weir_readout_receiver_source source = {.udp_port = 200, .queue = 1};
	struct weir_readout_receiver_queue_stats stats;
	uint8_t none[1];

	rx_begin(1, 2);
	rx.config.nb_pollers = 2;
	rx.ports[0].sources = &source;
	rx.ports[0].nb_sources = 1;
	rx_create();
	rx_link(1, 7, WEIR_BASE_LAYER_UDP);
	for (uint32_t i = 0; i < 200; i++)
		rx_give_udp(0, 0, 1, 200, 7);
	for (uint32_t i = 0; i < 7; i++)
		weir_readout_receiver_poll(rx.receiver, 0, 0);
	stats = rx_stats(0);
	assert_int_equal(stats.received, 200);
	assert_int_equal(stats.handed_over, 127); /* what a ring for 64 descriptors has room for */
	assert_int_equal(stats.dropped[WEIR_READOUT_RECEIVER_DROP_HANDOVER_FULL], 73);
	weir_readout_receiver_poll(rx.receiver, 1, 0);
	assert_int_equal(rx_stats(1).taken_over, 32);
	assert_int_equal(rx_link_received(0), 32);
	rx_give_udp(0, 1, 1, 200, 7);
	assert_int_equal(weir_readout_receiver_drain(rx.receiver, 0, 0), 0);
	assert_int_equal(weir_readout_receiver_drain(rx.receiver, 1, 0), 127 - 32);
	assert_int_equal(rx_stats(1).taken_over, 127);
	assert_int_equal(rx_stats(1).received, 0); /* the device has it */
	assert_int_equal(rx_link_received(0), 127);
	assert_int_equal(rx_sent(0, 1, none), 0);
	rx_end();
}

/* Frames that consumers hold: their memory stays. */
static void
held(void **state)
{
	uint8_t sent[60];
	struct rte_mbuf *m = NULL;

	rx_begin(1, 1);
	rx.ports[0].ip_addr = RX_IP;
	rx_create();
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	/* One of the receiver's own pool: the announcement, which comes back as a frame. */
	assert_int_equal(rte_ring_dequeue(rx.out[0][0], (void **)&m), 0);
	rx_link(0, 0xff, WEIR_BASE_LAYER_ETHERNET);
	rx.nb_hold = 1;
	assert_int_equal(rte_ring_enqueue(rx.in[0][0], m), 0);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx.nb_held, 1);
	assert_int_equal(weir_readout_receiver_free(rx.receiver), -EBUSY);
	assert_non_null(strstr(rx_log(), "1 mbufs"));
	assert_int_equal(rx.held[0].frame.size_bytes, 60);
	weir_readout_item_release(rx.held, 1);
	assert_int_equal(rx_sent(0, 0, sent), 0);
	rx_end();
}

static void *
run(void *stop)
{
	weir_readout_receiver_run(rx.receiver, 0, stop);
	return NULL;
}

/* The loop ends when it is told to, and has slept when there was nothing to do. */
static void
run_and_sleep(void **state)
{
	bool stop = false;
	pthread_t thread;

	rx_begin(1, 1);
	rx.config.lcore_sleep_us = WEIR_READOUT_LCORE_SLEEP_US;
	rx_create();
	assert_int_equal(pthread_create(&thread, NULL, run, &stop), 0);
	while (weir_readout_receiver_sleeps(rx.receiver, 0) < 3)
		rx_stats(0);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	rx_end();
	/* Full bursts are not slept upon. */
	rx_begin(1, 1);
	rx.config.lcore_sleep_us = WEIR_READOUT_LCORE_SLEEP_US;
	rx_create();
	rx_link(0, 7, WEIR_BASE_LAYER_ETHERNET);
	stop = false;
	rx.stop_at_frames = &stop;
	rx.stop_at = 96;
	give_frames(0, 0, 96);
	run(&stop);
	assert_int_equal(weir_readout_receiver_sleeps(rx.receiver, 0), 0);
	rx_end();
}

static void *
run_second(void *stop)
{
	weir_readout_receiver_run(rx.receiver, 1, stop);
	return NULL;
}

/* Pollers that hand over to each other, and a reader of counters, which agree at any time. */
static void
race(void **state)
{
	const struct weir_readout_receiver_source sources[] = {{1, 0, 1}, {2, 0, 0}};
	bool stop = false;
	pthread_t threads[2];

	rx_begin(1, 2);
	rx.config.nb_pollers = 2;
	rx.ports[0].sources = sources;
	rx.ports[0].nb_sources = 2;
	rx.ports[0].rx_ring_size = 256;
	rx.ports[0].num_mbufs = 512;
	rx_create();
	for (uint16_t q = 0; q < 2; q++) {
		rx_link(q, 7, WEIR_BASE_LAYER_UDP);
		for (uint32_t i = 0; i < 240; i++)
			rx_give_udp(0, q, 1 + i % 3, 200, 7);
	}
	rx.stop_at_frames = &stop;
	rx.stop_at = 480;
	assert_int_equal(pthread_create(&threads[0], NULL, run, &stop), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, run_second, &stop), 0);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		rx_stats(0);
		rx_stats(1);
	}
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (uint16_t q = 0; q < 2; q++) {
		assert_int_equal(rx_stats(q).received, 240);
		assert_int_equal(rx_stats(q).handed_over, 80);
		assert_int_equal(rx_stats(q).taken_over, 80);
		assert_int_equal(rx_link_received(q), 240);
	}
	rx_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts),
		cmocka_unit_test(told),
		cmocka_unit_test(adaptive),
		cmocka_unit_test(arp_reply),
		cmocka_unit_test(arp_announced),
		cmocka_unit_test(arp_not_sent),
		cmocka_unit_test(no_address),
		cmocka_unit_test(many_queues),
		cmocka_unit_test(software),
		cmocka_unit_test(software_headers),
		cmocka_unit_test(handover_full),
		cmocka_unit_test(held),
		cmocka_unit_test(run_and_sleep),
		cmocka_unit_test(race),
	};

	rx_log_listen();
	return run_on_eal(1, tests);
}
