/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send: emulated links of WIBEth frames, as UDP datagrams by a port of DPDK, with faults on a schedule.
 *
 *     example_send --no-huge -m 128 --no-shconf --file-prefix send --vdev net_memif0,role=client,socket=/tmp/cable.sock,socket-abstract=no,bsize=9216 \
 *         -- net_memif0 10.1.0.2 10.1.0.1 2 1000 drop@100/500
 *
 * sends 1000 frames of each of 2 links, but for frame 100 and 600 of each; prints what it sent, and stays until it is interrupted,
 * for some devices (memif) forget what the other side has not taken yet when one of them ends. A fault is NAME@FIRST[/PERIOD][=AMOUNT]; names are
 * those of weir_readout_emulator_fault_name().
 *
 * What to learn from it: an emulator makes packets that are due, a sender gives them to a device; time is the caller's.
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
#include <rte_ethdev.h>

#include <weir_base.h>
#include <weir_base_eal.h>
#include <weir_base_pool.h>
#include <weir_readout_udp.h>

#define LINKS_MAX  64
#define FAULTS_MAX 16
#define RING_SIZE  1024
#define NB_MBUFS   4095
/* A WIBEth frame and its headers, which are in one piece, need 7242; some devices (af_packet) want room for all that they might receive. */
#define MBUF_BYTES (9216 + RTE_PKTMBUF_HEADROOM)
#define UDP_PORT   17476

static struct weir_readout_emulator_stream streams[LINKS_MAX];
static struct weir_readout_emulator_fault_config faults[FAULTS_MAX];
static uint32_t nb_links, nb_faults;
static bool stop;

static void
interrupt(int number)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
}

/* NAME@FIRST[/PERIOD][=AMOUNT] @return 0; -1: it is none */
static int
read_fault(const char *text, struct weir_readout_emulator_fault_config *fault)
{
	const char *at = strchr(text, '@'), *name;
	unsigned int kind = 0;
	char *end;

	if (at == NULL)
		return -1;
	for (; (name = weir_readout_emulator_fault_name(kind)) != NULL; kind++)
		if (strlen(name) == (size_t)(at - text) && strncmp(name, text, strlen(name)) == 0)
			break;
	if (name == NULL)
		return -1;
	*fault = (struct weir_readout_emulator_fault_config){
		.fault = (enum weir_readout_emulator_fault)kind};
	fault->first = strtoull(at + 1, &end, 10);
	if (*end == '/')
		fault->period = strtoull(end + 1, &end, 10);
	if (*end == '=')
		fault->amount = strtoll(end + 1, &end, 10);
	return *end == '\0' ? 0 : -1;
}

/* Streams have keys 0, 1, ... and go to every host at the other end. @return 0; -1: said why */
static int
read_streams(char **args)
{
	struct in_addr source, destination;
	struct weir_readout_emulator_stream stream = {
		.format = weir_readout_format_builtin("wibeth"),
		.nb_frames = strtoull(args[3], NULL, 10),
		.faults = faults,
		.nb_faults = nb_faults,
		.source_mac = {0x02, 0, 0, 0, 0, 0x01},
		.destination_mac = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		.source_port = UDP_PORT,
		.destination_port = UDP_PORT,
	};

	nb_links = (uint32_t)strtoul(args[2], NULL, 10);
	if (inet_pton(AF_INET, args[0], &source) != 1 ||
		inet_pton(AF_INET, args[1], &destination) != 1 || nb_links == 0 ||
		nb_links > LINKS_MAX) {
		fprintf(stderr, "expected two IPv4 addresses and 1 up to %u links\n", LINKS_MAX);
		return -1;
	}
	stream.source_ip = ntohl(source.s_addr);
	stream.destination_ip = ntohl(destination.s_addr);
	for (uint32_t i = 0; i < nb_links; i++) {
		stream.key = i;
		streams[i] = stream;
	}
	return 0;
}

/* The port is the program's; senders only use it. @return 0 or a negative errno */
static int
start_port(const char *device, struct rte_mempool *pool, uint16_t *port_id)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_get_port_by_name(device, port_id);

	if (rc == 0)
		rc = rte_eth_dev_info_get(*port_id, &info);
	if (rc != 0)
		return rc;
	/* Drivers of most virtual devices leave the MTU to their other side. */
	if (info.max_rx_pktlen > RTE_ETHER_MAX_LEN)
		conf.rxmode.mtu = 9000;
	rc = rte_eth_dev_configure(*port_id, 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(*port_id, 0, RING_SIZE, 0, NULL, pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(*port_id, 0, RING_SIZE, 0, NULL);
	return rc == 0 ? rte_eth_dev_start(*port_id) : rc;
}

static void
print(const struct weir_readout_emulator *emulator, const struct weir_readout_udp *sender)
{
	struct weir_readout_emulator_stats link;
	struct weir_readout_udp_stats all;

	weir_readout_udp_stats(sender, &all);
	printf("%" PRIu64 " taken = %" PRIu64 " sent + %" PRIu64 " dropped + %" PRIu64 " held\n",
		all.taken, all.sent, all.dropped, all.held);
	for (uint32_t i = 0; i < nb_links; i++) {
		weir_readout_emulator_stats(emulator, i, &link);
		printf("link%" PRIu32 ": %" PRIu64 " made, %" PRIu64 " sent, %" PRIu64 " no_mbuf",
			i, link.made, link.sent, link.no_mbuf);
		for (int k = 0; k < WEIR_READOUT_NB_EMULATED; k++)
			printf(", %" PRIu64 " %s", link.faults[k],
				weir_readout_emulator_fault_name(
					(enum weir_readout_emulator_fault)k));
		printf("\n");
	}
	fflush(stdout);
}

/* All that is due, when it is due; what the device has no room for is offered again. */
static void
send_all(const struct weir_readout_emulator *emulator, struct weir_readout_udp *sender)
{
	const uint64_t start_ns = weir_base_time_ns();
	struct weir_readout_udp_stats stats = {0};

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE) &&
		(!weir_readout_emulator_ended(emulator) || stats.held > 0)) {
		if (weir_readout_udp_poll(sender, weir_base_time_ns() - start_ns) == 0)
			usleep(100); /* nothing was due, or there was no room */
		weir_readout_udp_stats(sender, &stats);
	}
}

/* @return exit status */
static int
run(const char *device)
{
	struct weir_readout_emulator_config config = {.streams = streams, .nb_streams = nb_links};
	struct weir_readout_udp_config udp = {.refused = WEIR_READOUT_UDP_RETRY};
	struct weir_readout_udp *sender;
	int rc;

	config.pool = weir_base_pool_create("frames", NB_MBUFS, 0, MBUF_BYTES, SOCKET_ID_ANY, NULL);
	if (config.pool == NULL)
		return EXIT_FAILURE;
	rc = start_port(device, config.pool, &udp.port_id);
	if (rc != 0) {
		fprintf(stderr, "device '%s': %s\n", device, strerror(-rc));
		return EXIT_FAILURE;
	}
	udp.emulator = weir_readout_emulator_create(&config);
	sender = udp.emulator == NULL ? NULL : weir_readout_udp_create(&udp);
	if (sender == NULL)
		return EXIT_FAILURE; /* the log said why */
	send_all(udp.emulator, sender);
	print(udp.emulator, sender);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		usleep(10000);
	weir_readout_udp_free(sender);
	weir_readout_emulator_free(udp.emulator);
	rte_eth_dev_stop(udp.port_id);
	rte_eth_dev_close(udp.port_id);
	weir_base_pool_free(config.pool);
	return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	int nb_eal, rc = EXIT_FAILURE;

	weir_base_eal_clean_up_at_exit();
	nb_eal = rte_eal_init(argc, argv);
	if (nb_eal < 0) {
		fprintf(stderr, "no EAL: %s\n", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	argc -= nb_eal + 1;
	argv += nb_eal + 1;
	for (int i = 5; i < argc && nb_faults < FAULTS_MAX; i++)
		if (read_fault(argv[i], &faults[nb_faults++]) < 0) {
			fprintf(stderr, "'%s': expected FAULT@FIRST[/PERIOD][=AMOUNT]\n", argv[i]);
			return EXIT_FAILURE;
		}
	if (argc < 5)
		fprintf(stderr,
			"usage: example_send EAL-OPTIONS -- DEVICE SOURCE-IPV4 "
			"DESTINATION-IPV4 LINKS FRAMES [FAULT@FIRST[/PERIOD][=AMOUNT] ...]\n");
	else if (read_streams(&argv[1]) == 0)
		rc = run(argv[0]);
	rte_eal_cleanup();
	return rc;
}
