/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_RULES_H
#define WEIR_BASE_RULES_H

/**
 * @file
 * Rules between the keys of a description, which no table of keys can state: the same ones, in the same words, for those who run
 * what is described, and for those who simulate it. What only a machine that runs it can say, such as whether a plug-in is there, is
 * not among them.
 *
 * Each function adds errors to the document, which is checked against its tables and in order so far. A document is for one
 * thread at a time. Needs no DPDK.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir_base_format.h"
#include "weir_base_nodes.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_base_doc;
struct weir_base_doc_value;

/** Longest name of a link, its number and its end included. */
#define WEIR_BASE_LINK_NAME_SIZE 48

/** Longest name of a queue of events, and of what sends to such ones or gets their packets. */
#define WEIR_BASE_NAMED_MAX 23

/** Longest name of a function on frames of links. */
#define WEIR_BASE_PROCESS_NAME_MAX 15

/** Is it a name of 1 to @p max letters, digits or '_'? */
bool weir_base_is_name(const char *text, size_t max);

/** Links of one name, or one of these. */
struct weir_base_links {
	const struct weir_base_doc_value *link; /**< of `application.links`; NULL: there are none */
	uint32_t first; /**< number of the first of them, among those of its name */
	uint32_t nb;    /**< how many they are */
};

/** The links of `application.links` that @p name means: NAME those of that name, NAME-2 one of them. */
struct weir_base_links weir_base_links_find(
	const struct weir_base_doc_value *links, const char *name);

/** What the key `buffer` of a link asks for, for frames of @p format. */
struct weir_base_buffer weir_base_buffer_read(
	const struct weir_base_format *format, const struct weir_base_doc_value *buffer);

/** Formats and links of @p application: names, stream keys, and what may stand in their buffers. */
void weir_base_rules_links(
	struct weir_base_doc *doc, const struct weir_base_doc_value *application);

/** What its links' frames come from, and its functions that look at them, where links are in order. */
void weir_base_rules_frames(
	struct weir_base_doc *doc, const struct weir_base_doc_value *application);

/** What is emulated or replayed for its links, where these are in order. */
void weir_base_rules_traffic(
	struct weir_base_doc *doc, const struct weir_base_doc_value *application);

/** Its requests of windows, where links are in order. */
void weir_base_rules_requests(
	struct weir_base_doc *doc, const struct weir_base_doc_value *application);

/** Ports of `platform`: their names, what they are, and what means nothing for such ones. What a device is called is for those who run it. */
void weir_base_rules_ports(struct weir_base_doc *doc);

/** All queues of a port. */
#define WEIR_BASE_RECEIVE_ALL (-1)

/** Most queues of a port. */
#define WEIR_BASE_RECEIVE_QUEUES 256

/** What a worker receives from. */
struct weir_base_receive {
	char port
		[WEIR_BASE_NODE_NAME_SIZE]; /**< its name, which may be no port's; cut where it is too long for one */
	int queue;                          /**< of the port, or WEIR_BASE_RECEIVE_ALL */
};

/** Read `PORT` or `PORT.QUEUE`. @return false: it has no queue of 0 to 255 behind its point; the port is read */
bool weir_base_receive_read(const char *text, struct weir_base_receive *receive);

/** Workers of `platform`: the queues of ports that they poll, where ports are in order, and their groups. */
void weir_base_rules_workers(struct weir_base_doc *doc);

/**
 * Queues of `application`, its objects, and nodes that have to do with queues; and keys that mean nothing for nodes of their type.
 *
 * @param is_simulated  `steps` of objects may switch to queues that nobody gets packets of
 */
void weir_base_rules_events(struct weir_base_doc *doc, bool is_simulated);

/**
 * Nodes and edges of `application`: what they are, what they lead to, and what packets must have told of them before. Where that is
 * in order and @p is_whole, the graph as a whole: edges changed twice, circles without an end, and nodes and queues that no packet comes to.
 *
 * @param is_whole      the document's queues and objects are in order, too
 * @param is_simulated  streams of `traffic` come to queues
 */
void weir_base_rules_graph(struct weir_base_doc *doc, bool is_whole, bool is_simulated);

#ifdef __cplusplus
}
#endif

#endif
