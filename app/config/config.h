/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_CONFIG_H
#define WEIR_APP_CONFIG_H

/**
 * @file
 * A description file, read and checked: everything that can be known to be
 * wrong without starting a device is found here, with its line and column.
 */

#include <rte_ether.h>

#include "config_em.h"
#include "config_links.h"
#include "config_receivers.h"
#include "schema.h"

#define CONFIG_NAME_SIZE 64 /**< longest instance name, with its ending zero */

/** A port. Texts belong to the document. */
struct config_port {
	const struct weir_base_doc_value *value; /**< where it stands */
	const char *name;                        /**< unique */
	const char *device;                      /**< with its parameters; NULL: files */
	bool is_pci;                             /**< device is a PCI address, else it is made */
	const char *pcap_in;                     /**< or NULL */
	const char *pcap_out;                    /**< or NULL */
	uint32_t repeat;                         /**< times pcap_in is read */
	const uint8_t *mac;                      /**< or NULL: the device's own */
	enum schema_accept accept;               /**< which frames */
	enum schema_on_full on_full;             /**< what to do when it takes no more */
	bool promiscuous;                        /**< ask the device for all frames */
	bool offloads;                           /**< use them */
	uint16_t mtu;                            /**< bytes */
	uint16_t vlan;                           /**< 0: untagged */
	uint16_t nb_rx_queues;                   /**< at least 1 */
	uint16_t nb_tx_queues;                   /**< at least 1 */
	uint16_t rx_ring;                        /**< descriptors */
	uint16_t tx_ring;                        /**< descriptors */
	uint16_t rx_burst;                       /**< 0: default */
	bool *polled;                            /**< per receive queue: by a worker */
};

/** A queue that a worker polls. */
struct config_rx {
	unsigned int port; /**< index into ports */
	uint16_t queue;    /**< of that port */
};

/** A worker. */
struct config_worker {
	const struct weir_base_doc_value
		*value;       /**< where it stands; NULL: the worker that nobody named */
	int lcore;            /**< CPU, or -1: next */
	struct config_rx *rx; /**< what it polls; NULL: nothing */
	unsigned int nb_rx;   /**< entries in rx */
};

/** Neighbours first..last. */
struct config_hops {
	const struct weir_base_doc_value *value; /**< where it stands */
	uint32_t first;                          /**< id */
	uint32_t last;                           /**< id */
	bool blackhole;                          /**< drop */
	bool local;                              /**< punt as own */
	unsigned int port;                       /**< index into ports, unless blackhole or local */
	const uint8_t *mac;                      /**< NULL: not known */
};

/** Files that a run writes; NULL: not asked for. */
struct config_outputs {
	const char *graph_svg;
	const char *graph_dot;
	const char *punt_pcap;
	const char *stats_json;
};

/** A checked description file. */
struct config {
	const char *path;          /**< as the user named it */
	struct weir_base_doc *doc; /**< holds errors, and all texts */
	struct config_port *ports; /**< in the file's order */
	unsigned int nb_ports;
	struct config_worker *workers;
	unsigned int nb_workers;
	struct config_hops *hops;
	unsigned int nb_hops;
	struct config_em em;                           /**< queues of events, and who gets them */
	struct config_links links;                     /**< the readout, if there is one */
	struct config_receivers receivers;             /**< devices of its frames */
	const struct weir_base_doc_value *application; /**< for routes and wiring */
	const struct weir_base_doc_value *platform;    /**< for memory, mbufs, limits */
	uint32_t nb_next_hops;                         /**< limit: ids are below this */
	uint32_t hop_local; /**< id of the next hop of own addresses: one beyond the limit */
	enum schema_idle idle;
	enum schema_until until;
	bool writes;          /**< what it names to be written is checked for that */
	uint64_t duration_ns; /**< 0: no limit */
	uint16_t burst;
	uint16_t clock_period;       /**< as struct weir_graph_param has it */
	char name[CONFIG_NAME_SIZE]; /**< of the instance */
	bool name_given;             /**< rather than made from the file's */
	struct config_outputs outputs;
};

/**
 * Read and check a description file. Errors are in the document.
 *
 * @param writes  what it names to be written must be possible to write; false: that is not looked at
 * @return NULL only when out of memory
 */
struct config *config_load(const char *path, bool writes);

/** Likewise of a document that has been loaded from there, with schema_root. It is the configuration's from now on, or freed. */
struct config *config_make(const char *path, struct weir_base_doc *doc, bool writes);

/** Free it all. NULL is allowed. */
void config_free(struct config *config);

/** How many things are wrong so far. */
unsigned int config_nb_errors(const struct config *config);

/** Print what is wrong with the file, if anything is: to standard error, or as JSON to standard output. @return whether anything is */
bool config_print_errors(const struct config *config, bool json);

/** Is this device a PCI address? */
bool config_device_is_pci(const char *device);

/** Index of the port of that name, or -1. */
int config_port_find(const struct config *config, const char *name);

/** Index of the neighbour entry that holds hop @p id, or -1. */
int config_hop_find(const struct config *config, uint32_t id);

/** Does all that is received come from files? */
bool config_input_is_files(const struct config *config);

/** Does all that arrives come to an end? */
bool config_input_ends(const struct config *config);

/** "a, b or c": names of all ports, for error messages. The document's. */
const char *config_port_names(const struct config *config);

/* The parts of config_load(), each in a file of its own; they add errors to the document. */
void config_check_device(
	struct config *config, const struct weir_base_doc_value *at, const char *device);
int config_read_ports(struct config *config, const struct weir_base_doc_value *platform);
int config_read_workers(struct config *config, const struct weir_base_doc_value *platform);
int config_read_hops(struct config *config, const struct weir_base_doc_value *application);
void config_read_routes(struct config *config, const struct weir_base_doc_value *application);
void config_read_run(struct config *config, const struct weir_base_doc_value *run);
/** Error if a file is no capture of Ethernet frames. */
void config_check_capture(
	struct config *config, const struct weir_base_doc_value *value, const char *path);
void config_check_outputs(struct config *config, const struct weir_base_doc_value *run);

/** Make the directories of all outputs and open each for writing once: what can fail shall fail before the run. */
void config_open_outputs(struct config *config);

#endif
