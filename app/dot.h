/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_DOT_H
#define WEIR_APP_DOT_H

#include <stdint.h>
#include <stdio.h>

struct instance;

/**
 * Name of the port that a receive or transmit node belongs to, or NULL.
 *
 * @param node  as in the graph: "pcap_rx-0-0"
 */
const char *dot_port_of_node(const struct instance *instance, const char *node);

/**
 * Write one worker's graph in Graphviz DOT, with the names of ports in its receive and transmit nodes.
 *
 * @param flags  as for weir_graph_export()
 * @return 0 or a negative errno
 */
int dot_write_worker(
	const struct instance *instance, unsigned int worker, FILE *out, uint32_t flags);

/**
 * The graphs of all workers as one picture, with their counts added up. Once
 * workers run and others may look, too.
 *
 * @param flags  as for weir_graph_export()
 * @return 0 or a negative errno
 */
int dot_write_all(struct instance *instance, FILE *out, uint32_t flags);

#endif
