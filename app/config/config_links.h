/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_CONFIG_LINKS_H
#define WEIR_APP_CONFIG_LINKS_H

/**
 * @file
 * The readout of a description file: links, what feeds them, and what they are asked for.
 */

#include <weir_readout_buffer.h>
#include <weir_readout_emulator.h>
#include <weir_readout_format.h>

#include "config_process.h"
#include "weir_base_doc.h"
#include "weir_base_nodes.h"
#include "weir_base_rules.h"

struct config;

/** Links alike: NAME, or NAME-0, NAME-1 and so on. Each is numbered among all links. */
struct config_link {
	const struct weir_base_doc_value *value; /**< where it stands */
	const char *name;
	struct weir_readout_format format;
	unsigned int first; /**< number of its first link */
	unsigned int nb;    /**< links */
	bool counted;       /**< their names have numbers */
	uint64_t key;       /**< stream key of the first one */
	bool drop_duplicates;
	double jump_s;                            /**< 0: default */
	uint64_t stall_ns;                        /**< 0: not looked for */
	struct weir_readout_buffer_config buffer; /**< name and format are each link's */
	int receiver;                             /**< index into receivers, or CONFIG_NONE */
	int shared;     /**< index into shared: the node that hands them to it, or CONFIG_NONE */
	uint16_t queue; /**< of the receiver */
	bool collects;  /**< its frames are what processes of others make */
	struct {
		uint32_t queue_size; /**< frames; 0: a callback, in the thread that receives */
		int cpu;             /**< that the queue's consumer runs on; -1: any */
	} delivery;
};

/** Frames that are made for links. */
struct config_emulated {
	const struct weir_base_doc_value *value; /**< where it stands */
	unsigned int link;                       /**< index into links */
	uint64_t rate_frames, rate_seconds;      /**< 0: the format's */
	uint64_t nb_frames;                      /**< 0: without an end */
	uint32_t size_bytes;                     /**< 0: the format's */
	uint64_t seed;
	struct weir_readout_emulator_fault_config *faults;
	unsigned int nb_faults;
	const char *payload; /**< file of what they hold beside their fields; NULL: zeros */
};

/** Frames of a file. */
struct config_replayed {
	const struct weir_base_doc_value *value; /**< where it stands */
	unsigned int link;                       /**< index into links */
	const char *path;
	bool is_raw;                         /**< frames alone; else a capture */
	uint64_t rate_packets, rate_seconds; /**< 0: at their own times */
};

/** Windows that links are asked for. */
struct config_request {
	const struct weir_base_doc_value *value; /**< where it stands */
	const char *name;
	uint32_t *links; /**< numbers */
	unsigned int nb_links;
	uint64_t every_ns, window_ns, delay_ns, timeout_ns;
	uint64_t clock_hz; /**< of its links */
	const char *to;    /**< NULL: nowhere */
};

/** A node of type link_rx: it receives from a port of the graph, and hands links their frames. */
struct config_shared {
	const struct weir_base_doc_value *value; /**< where it stands */
	const char *name;
	int port;                       /**< index into ports, or CONFIG_NONE */
	uint16_t burst;                 /**< packets at once; 0: default */
	const struct config_link *link; /**< the first one of its links; NULL: it has none */
};

/** All of it. */
struct config_links {
	struct config_link *list;
	unsigned int nb;       /**< 0: there is no readout */
	unsigned int nb_links; /**< of all of them */
	struct config_emulated *emulated;
	unsigned int nb_emulated;
	struct config_replayed *replayed;
	unsigned int nb_replayed;
	struct config_shared *shared;
	unsigned int nb_shared;
	struct config_process *processes;
	unsigned int nb_processes;
	struct config_request *requests;
	unsigned int nb_requests;
	uint32_t nb_fragments; /**< of all requests at once; 0: as many as they need */
	uint32_t nb_frames;    /**< that a fragment has room for; 0: as many as they need */
};

/** Read it; errors go to the document. @return 0, or -ENOMEM */
int config_read_links(struct config *config);

/** What can only be checked of ports that links share with a graph when workers are known. */
void config_check_shared(struct config *config);

/** Who receives from a port in place of the port's own node, or NULL. */
const struct config_shared *config_shared_of_port(const struct config *config, int port);

/** Packets of a graph's ports that link_rx nodes, and queues of their links, have in hand. */
uint64_t config_shared_packets(const struct config *config);

/** Free it. */
void config_free_links(struct config_links *links);

/** Are there links, and neither ports nor queues? */
bool config_has_no_graph(const struct config *config);

/** Are there links, and neither ports nor an event machine, so that no worker is needed? */
bool config_has_links_only(const struct config *config);

/** Do frames of all links come to an end? */
bool config_links_end(const struct config *config);

/** Index of the links of that name, or CONFIG_NONE. */
int config_link_find(const struct config *config, const char *name);

/** "wib" is all links of that name, "wib-3" one. @param[out] link  index into links @param[out] first  number @return how many; 0: there are none of this name, which is an error */
unsigned int config_links_named(const struct config *config,
	const struct weir_base_doc_value *value, unsigned int *link, unsigned int *first);

/** Name of link @p number of @p link, from 0. */
void config_link_name(
	const struct config_link *link, unsigned int number, char name[WEIR_BASE_LINK_NAME_SIZE]);

/** The links that have link @p number among them. */
const struct config_link *config_link_of(const struct config_links *links, uint32_t number);

/** Frames that a link has in so much time, at most. */
double config_link_frames(const struct config_link *link, uint64_t ns);

/** Frames that the queues of these links hold, all together; 0: they have none. */
uint64_t config_link_queued(const struct config_link *link);

/** Windows of a request that may be on their way to its file or socket, as far as buffers have room. */
uint64_t config_request_queued(const struct config_request *request);

/* Parts of config_read_links(), each in a file of its own. */
int config_read_requests(struct config *config, const struct weir_base_doc_value *list);
void config_read_delivery(struct config *config);
int config_read_shared(struct config *config);
int config_read_traffic(struct config *config, const struct weir_base_doc_value *traffic);

#endif
