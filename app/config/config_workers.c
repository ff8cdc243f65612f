/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers of a description file: who polls which queue. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir_base_rules.h>
#include <weir_node.h>

#include "config.h"

/* Can anything be received from it? */
static bool
receives(const struct config_port *port)
{
	return port->device != NULL || port->pcap_in != NULL;
}

/* Queue -1 stands for all. Returns the port's index, or -1: what is wrong with it was told. */
static int
read_receive(const struct config *config, const struct weir_base_doc_value *value, int *queue)
{
	struct weir_base_receive receive;
	int port;

	if (!weir_base_receive_read(weir_base_doc_str(value), &receive))
		return -1;
	*queue = receive.queue;
	port = config_port_find(config, receive.port);
	return port >= 0 && receives(&config->ports[port]) ? port : -1;
}

/* Queues that are named exist, unless rx_queues says otherwise. */
static void
count_queues(struct config *config, const struct weir_base_doc_value *workers)
{
	const struct weir_base_doc_value *list;
	unsigned int i, j;
	int port, queue;

	for (i = 0; i < weir_base_doc_count(workers); i++) {
		list = weir_base_doc_get(weir_base_doc_at(workers, i), "receive");
		for (j = 0; j < weir_base_doc_count(list); j++) {
			port = read_receive(config, weir_base_doc_at(list, j), &queue);
			if (port < 0)
				continue;
			if (!weir_base_doc_given(config->ports[port].value, "rx_queues") &&
				queue + 1 > config->ports[port].nb_rx_queues)
				config->ports[port].nb_rx_queues = (uint16_t)(queue + 1);
		}
	}
}

/* Each graph needs a transmit queue of each port: a worker has one for its ports, one for its events. */
static unsigned int
count_graphs(const struct config *config, const struct weir_base_doc_value *workers)
{
	unsigned int nb = 0, i;

	for (i = 0; i < config->nb_workers; i++) {
		if (weir_base_doc_count(workers) == 0 ||
			weir_base_doc_count(
				weir_base_doc_get(weir_base_doc_at(workers, i), "receive")) > 0)
			nb++;
		if (config_worker_has_event_graph(config, i))
			nb++;
	}
	return nb > 0 ? nb : 1;
}

static int
prepare_queues(struct config *config, const struct weir_base_doc_value *workers)
{
	unsigned int nb_graphs = count_graphs(config, workers), i;

	for (i = 0; i < config->nb_ports; i++) {
		struct config_port *port = &config->ports[i];

		if (port->nb_rx_queues == 0)
			port->nb_rx_queues = 1;
		if (port->nb_tx_queues == 0)
			port->nb_tx_queues = (uint16_t)nb_graphs;
		else if (port->nb_tx_queues < nb_graphs)
			weir_base_doc_error_add(config->doc,
				weir_base_doc_get(port->value, "tx_queues"),
				"%u transmit queues are not enough; expected one for each of %u %s",
				port->nb_tx_queues, nb_graphs,
				nb_graphs == config->nb_workers ? "workers" : "graphs of workers");
		port->polled = calloc(port->nb_rx_queues, sizeof(*port->polled));
		if (port->polled == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* Give a queue to a worker. */
static int
take_queue(struct config *config, struct config_worker *worker, unsigned int port, uint16_t queue)
{
	struct config_rx *rx;

	if (queue >= config->ports[port].nb_rx_queues)
		return 0;
	config->ports[port].polled[queue] = true;
	rx = realloc(worker->rx, (worker->nb_rx + 1) * sizeof(*rx));
	if (rx == NULL)
		return -ENOMEM;
	worker->rx = rx;
	rx[worker->nb_rx++] = (struct config_rx){.port = port, .queue = queue};
	return 0;
}

static int
take_port(struct config *config, struct config_worker *worker, unsigned int port, int queue)
{
	uint16_t i;

	if (queue >= 0)
		return take_queue(config, worker, port, (uint16_t)queue);
	for (i = 0; i < config->ports[port].nb_rx_queues; i++)
		if (take_queue(config, worker, port, i) < 0)
			return -ENOMEM;
	return 0;
}

static int
read_worker(struct config *config, struct config_worker *worker,
	const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(value, "receive");
	unsigned int i;
	int port, queue;

	worker->value = value;
	worker->lcore = weir_base_doc_given(value, "lcore")
				? (int)weir_base_doc_u64(weir_base_doc_get(value, "lcore"))
				: -1;
	for (i = 0; i < weir_base_doc_count(list); i++) {
		port = read_receive(config, weir_base_doc_at(list, i), &queue);
		if (port >= 0 && take_port(config, worker, (unsigned int)port, queue) < 0)
			return -ENOMEM;
	}
	if (worker->nb_rx == 0 && weir_base_doc_count(list) == 0 &&
		!config_worker_dispatches(config, (unsigned int)(worker - config->workers)))
		weir_base_doc_error_add(config->doc, list != NULL ? list : value,
			"this worker polls nothing%s; expected a key 'receive' with ports, for "
			"example [uplink]",
			config->em.nb_queues > 0 ? " and serves no queue" : "");
	return 0;
}

/* The worker that nobody named polls everything. */
static int
read_default_worker(struct config *config, const struct weir_base_doc_value *platform)
{
	struct config_worker *worker = &config->workers[0];
	unsigned int i;

	if (config_has_links_only(config))
		return 0;
	config->nb_workers = 1;
	worker->lcore = -1;
	if (prepare_queues(config, NULL) < 0)
		return -ENOMEM;
	for (i = 0; i < config->nb_ports; i++)
		if (receives(&config->ports[i]) && take_port(config, worker, i, -1) < 0)
			return -ENOMEM;
	/* Jobs of a group that nobody is in have an error of their own. */
	if (worker->nb_rx == 0 && !config_worker_dispatches(config, 0) &&
		!config_has_no_graph(config))
		weir_base_doc_error_add(config->doc, platform,
			"no port to receive from; expected one in platform.ports with 'pcap_in' or "
			"'device'");
	return 0;
}

static void
check_lcores(struct config *config)
{
	unsigned int i, j;

	for (i = 0; i < config->nb_workers; i++)
		for (j = 0; j < i; j++)
			if (config->workers[i].lcore >= 0 &&
				config->workers[i].lcore == config->workers[j].lcore)
				weir_base_doc_error_add(config->doc,
					weir_base_doc_get(config->workers[i].value, "lcore"),
					"lcore %d is another worker's; expected each worker on its "
					"own",
					config->workers[i].lcore);
}

int
config_read_workers(struct config *config, const struct weir_base_doc_value *platform)
{
	const struct weir_base_doc_value *workers = weir_base_doc_get(platform, "workers");
	unsigned int nb_workers = weir_base_doc_count(workers), i;

	weir_base_rules_workers(config->doc);
	if (nb_workers > 64)
		nb_workers = 64; /* told */
	config->workers = calloc(nb_workers + 1, sizeof(*config->workers));
	if (config->workers == NULL)
		return -ENOMEM;
	if (nb_workers == 0)
		return read_default_worker(config, platform);
	config->nb_workers = nb_workers;
	count_queues(config, workers);
	if (prepare_queues(config, workers) < 0)
		return -ENOMEM;
	for (i = 0; i < nb_workers; i++)
		if (read_worker(config, &config->workers[i], weir_base_doc_at(workers, i)) < 0)
			return -ENOMEM;
	check_lcores(config);
	return 0;
}
