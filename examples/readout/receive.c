/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive: frames from a port of DPDK to links, whose consumer counts them; ARP is answered, so that senders find it.
 *
 *     example_receive --no-huge -m 128 --no-shconf --vdev net_af_packet0,iface=eth1 -- net_af_packet0 10.1.0.1 1000
 *     example_receive --no-huge -m 128 --no-shconf --file-prefix receive --vdev net_memif0,role=server,socket=/tmp/cable.sock,socket-abstract=no,bsize=9216 \
 *         -- -p -f wibeth -l 2 net_memif0 10.1.0.1 1000
 *
 * ends after 1000 frames, or when it is interrupted, and prints what became of every packet. -f: a built-in format, else datagrams of any
 * content; -l: so many links, of keys 0, 1, ...; -m: the MTU; -b: bytes of an mbuf, where a frame may come in several; -p: promiscuous, which some devices (memif) always are.
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
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include <weir_base_eal.h>
#include <weir_readout_receiver.h>

#define LINKS_MAX 64

static struct {
	const char *format;
	uint32_t nb_links;
	uint16_t mtu, mbuf_data_bytes;
	bool promiscuous;
	const char *device, *address;
	uint64_t nb_expected;
} options = {.format = "udp", .nb_links = 1, .mtu = 9000};

static struct weir_readout_registry *registry;
static struct weir_readout_receiver *receiver;
static struct weir_readout_link *links[LINKS_MAX];
static uint64_t nb_frames, nb_scattered;
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
	const struct weir_readout_item *items = messages;

	for (uint32_t i = 0; i < nb; i++)
		nb_scattered += items[i].data_bytes < items[i].frame.size_bytes;
	weir_readout_item_release(items, nb);
	nb_frames += nb;
	if (nb_frames >= options.nb_expected)
		interrupt(0);
}

/* Links on queue 0, of keys 0, 1, ... @return 0; -1: the log said why */
static int
make_links(void)
{
	for (uint32_t i = 0; i < options.nb_links; i++) {
		char name[16];
		const struct weir_readout_link_config config = {.name = name,
			.sink = "consumer",
			.format = weir_readout_format_builtin(options.format),
			.key = i};

		snprintf(name, sizeof(name), "link%" PRIu32, i);
		links[i] = weir_readout_link_create(registry, &config);
		if (links[i] == NULL || weir_readout_registry_bind(registry) < 0 ||
			weir_readout_dispatch_add(
				weir_readout_receiver_dispatch(receiver), 0, links[i]) < 0)
			return -1;
	}
	return 0;
}

/* @return 0; -1: the log said why */
static int
make_consumer(void)
{
	const struct weir_readout_sink_config config = {.name = "consumer",
		.type = &weir_readout_item_type,
		.shared = true,
		.receive = consume};

	return weir_readout_sink_create(registry, &config) == NULL ? -1 : 0;
}

static struct weir_readout_receiver *
make_receiver(uint32_t ip_addr)
{
	struct weir_readout_receiver_port_config port;
	const struct weir_readout_receiver_config config = {.ports = &port,
		.nb_ports = 1,
		.nb_pollers = 1,
		.lcore_sleep_us = WEIR_READOUT_LCORE_SLEEP_US};

	weir_readout_receiver_port_defaults(&port);
	port.pci_addr = options.device;
	port.ip_addr = ip_addr;
	port.mtu = options.mtu;
	port.mbuf_data_bytes = options.mbuf_data_bytes;
	port.promiscuous_mode = options.promiscuous;
	port.num_mbufs = 8192;
	return weir_readout_receiver_create(&config);
}

static void
print_port(void)
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
	printf("mtu %u%s, mbufs of %" PRIu32 " bytes, %" PRIu64 " frames in several of them\n",
		port.mtu, port.mtu_confirmed ? "" : " (not the device's)", port.mbuf_data_bytes,
		nb_scattered);
}

static void
print_link(const struct weir_readout_link *link)
{
	struct weir_readout_link_stats stats;

	weir_readout_link_stats(link, &stats);
	printf("%s: %" PRIu64 " received = %" PRIu64 " delivered + %" PRIu64 " dropped, %" PRIu64
	       " missing",
		weir_readout_link_name(link), stats.received, stats.delivered,
		stats.received - stats.delivered, stats.missing);
	for (int i = 0; i < WEIR_READOUT_NB_FAULTS; i++)
		printf(", %" PRIu64 " %s", stats.faults[i].count,
			weir_readout_fault_name((enum weir_readout_fault)i));
	printf("\n");
}

/* @return exit status */
static int
run(void)
{
	struct in_addr ip;

	if (inet_pton(AF_INET, options.address, &ip) != 1) {
		fprintf(stderr, "'%s' is no IPv4 address\n", options.address);
		return EXIT_FAILURE;
	}
	registry = weir_readout_registry_create();
	receiver = make_receiver(ntohl(ip.s_addr));
	if (registry == NULL || receiver == NULL || make_consumer() < 0 || make_links() < 0)
		return EXIT_FAILURE;
	puts("ready");
	fflush(stdout);
	weir_readout_receiver_run(receiver, 0, &stop);
	print_port();
	for (uint32_t i = 0; i < options.nb_links; i++)
		print_link(links[i]);
	if (weir_readout_receiver_free(receiver) < 0)
		return EXIT_FAILURE;
	for (uint32_t i = 0; i < options.nb_links; i++)
		weir_readout_link_free(links[i]);
	weir_readout_registry_free(registry);
	return EXIT_SUCCESS;
}

/* @return 0; -1: they are wrong */
static int
read_options(int argc, char **argv)
{
	int option;

	optind = 1;
	while ((option = getopt(argc, argv, "f:l:m:b:p")) != -1) {
		if (option == 'f')
			options.format = optarg;
		else if (option == 'l')
			options.nb_links = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'm')
			options.mtu = (uint16_t)strtoul(optarg, NULL, 10);
		else if (option == 'b')
			options.mbuf_data_bytes = (uint16_t)strtoul(optarg, NULL, 10);
		else if (option == 'p')
			options.promiscuous = true;
		else
			return -1;
	}
	if (argc - optind != 3 || options.nb_links == 0 || options.nb_links > LINKS_MAX ||
		weir_readout_format_builtin(options.format) == NULL)
		return -1;
	options.device = argv[optind];
	options.address = argv[optind + 1];
	options.nb_expected = strtoull(argv[optind + 2], NULL, 10);
	return 0;
}

int
main(int argc, char **argv)
{
	int nb_eal, rc;

	weir_base_eal_clean_up_at_exit();
	nb_eal = rte_eal_init(argc, argv);
	if (nb_eal < 0) {
		fprintf(stderr, "no EAL: %s\n", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	if (read_options(argc - nb_eal, argv + nb_eal) < 0) {
		fprintf(stderr,
			"usage: %s EAL-OPTIONS -- [-f FORMAT] [-l LINKS] [-m MTU] [-b MBUF-BYTES] "
			"[-p] "
			"DEVICE IPV4-ADDRESS FRAMES\n",
			argv[0]);
		return EXIT_FAILURE;
	}
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	rc = run();
	rte_eal_cleanup();
	return rc;
}
