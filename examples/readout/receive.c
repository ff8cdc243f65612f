/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive: datagrams from a port of DPDK to a link, whose consumer counts them; ARP is answered, so that senders find it.
 *
 *     example_receive --vdev net_af_packet0,iface=eth1 -- net_af_packet0 10.1.0.1 1000
 *
 * ends after 1000 datagrams, or when it is interrupted, and prints what became of every packet.
 *
 * What to learn from it: a receiver is configured by its defaults and what is known of the port; links are added by queue; the
 * thread that polls is the application's, and so is the callback that gets the frames.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include <weir_readout_receiver.h>

static struct weir_readout_registry *registry;
static struct weir_readout_receiver *receiver;
static uint64_t nb_frames, nb_expected;
static bool stop;

static void
interrupt(int number)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
}

/* In the receiver's thread. */
static void
consume(void *arg, const void *messages, uint32_t nb)
{
	weir_readout_item_release(messages, nb);
	nb_frames += nb;
	if (nb_frames >= nb_expected)
		interrupt(0);
}

/* One link on queue 0, of datagrams whatever they hold. @return NULL: the log said why */
static struct weir_readout_link *
make_link(void)
{
	const struct weir_readout_link_config config = {
		.name = "link0", .sink = "consumer", .format = weir_readout_format_builtin("udp")};
	struct weir_readout_link *link;

	if (weir_readout_sink_create(
		    registry, &(struct weir_readout_sink_config){.name = "consumer",
				      .type = &weir_readout_item_type,
				      .receive = consume}) == NULL)
		return NULL;
	link = weir_readout_link_create(registry, &config);
	if (link != NULL && (weir_readout_registry_bind(registry) < 0 ||
				    weir_readout_dispatch_add(
					    weir_readout_receiver_dispatch(receiver), 0, link) < 0))
		return NULL;
	return link;
}

static struct weir_readout_receiver *
make_receiver(const char *device, uint32_t ip_addr)
{
	struct weir_readout_receiver_port_config port;
	const struct weir_readout_receiver_config config = {.ports = &port,
		.nb_ports = 1,
		.nb_pollers = 1,
		.lcore_sleep_us = WEIR_READOUT_LCORE_SLEEP_US};

	weir_readout_receiver_port_defaults(&port);
	port.pci_addr = device;
	port.ip_addr = ip_addr;
	port.mtu = 1500; /* what virtual devices take; with a NIC: leave it at 9000 */
	port.num_mbufs = 8192;
	return weir_readout_receiver_create(&config);
}

static void
print(void)
{
	struct weir_readout_receiver_queue_stats queue;
	struct weir_readout_receiver_port_stats port;

	if (weir_readout_receiver_queue_stats(receiver, 0, &queue) < 0 ||
		weir_readout_receiver_port_stats(receiver, 0, &port) < 0)
		return;
	printf("%" PRIu64 " received = %" PRIu64 " to links + %" PRIu64 " not UDP + %" PRIu64
	       " truncated + %" PRIu64 " unknown + %" PRIu64 " ARP replies",
		queue.received, queue.dispatch.links, queue.dispatch.not_udp,
		queue.dispatch.truncated, queue.dispatch.unknown_stream, queue.arp_replied);
	for (int i = 0; i < WEIR_READOUT_RECEIVER_NB_DROPS; i++)
		printf(" + %" PRIu64 " %s", queue.dropped[i],
			weir_readout_receiver_drop_name((enum weir_readout_receiver_drop)i));
	printf("\n%" PRIu64 " full bursts, %" PRIu64 " missed by the device, %" PRIu64
	       " announcements, steering: %s\n",
		queue.full_bursts, port.imissed, queue.announced,
		weir_readout_steering_name(port.steering));
}

/* @return exit status */
static int
run(const char *device, const char *address)
{
	struct weir_readout_link *link;
	struct in_addr ip;

	if (inet_pton(AF_INET, address, &ip) != 1) {
		fprintf(stderr, "'%s' is no IPv4 address\n", address);
		return EXIT_FAILURE;
	}
	registry = weir_readout_registry_create();
	receiver = make_receiver(device, ntohl(ip.s_addr));
	if (registry == NULL || receiver == NULL)
		return EXIT_FAILURE;
	link = make_link();
	if (link == NULL)
		return EXIT_FAILURE;
	puts("ready");
	fflush(stdout);
	weir_readout_receiver_run(receiver, 0, &stop);
	print();
	if (weir_readout_receiver_free(receiver) < 0)
		return EXIT_FAILURE;
	weir_readout_link_free(link);
	weir_readout_registry_free(registry);
	return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	int nb_eal = rte_eal_init(argc, argv), rc;

	if (nb_eal < 0) {
		fprintf(stderr, "no EAL: %s\n", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	if (argc - nb_eal != 4) {
		fprintf(stderr, "usage: %s EAL-OPTIONS -- DEVICE IPV4-ADDRESS DATAGRAMS\n",
			argv[0]);
		return EXIT_FAILURE;
	}
	nb_expected = strtoull(argv[nb_eal + 3], NULL, 10);
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	rc = run(argv[nb_eal + 1], argv[nb_eal + 2]);
	rte_eal_cleanup();
	return rc;
}
