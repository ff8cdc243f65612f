/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_NODES_H
#define WEIR_BASE_NODES_H

/**
 * @file
 * What the nodes of packets are called, and where their edges lead at first: for those who register them, and for those
 * who read descriptions of graphs where there is none of them.
 *
 * Constants and functions of their arguments, of which a document is for one thread at a time: any thread may use them. Needs no DPDK.
 */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Names of node types */
/**@{*/
#define WEIR_BASE_NODE_ETHDEV_RX   "ethdev_rx"   /**< receives from a device */
#define WEIR_BASE_NODE_PCAP_RX     "pcap_rx"     /**< reads a capture */
#define WEIR_BASE_NODE_LINK_RX     "link_rx"     /**< receives frames of links */
#define WEIR_BASE_NODE_SCHED_RX    "sched_rx"    /**< gets packets of queues of events */
#define WEIR_BASE_NODE_CLASSIFY    "classify"    /**< tells kinds of packets apart */
#define WEIR_BASE_NODE_IP4_LOOKUP  "ip4_lookup"  /**< finds the route of IPv4 packets */
#define WEIR_BASE_NODE_IP6_LOOKUP  "ip6_lookup"  /**< finds the route of IPv6 packets */
#define WEIR_BASE_NODE_IP4_REWRITE "ip4_rewrite" /**< addresses IPv4 packets to the next hop */
#define WEIR_BASE_NODE_IP6_REWRITE "ip6_rewrite" /**< addresses IPv6 packets to the next hop */
#define WEIR_BASE_NODE_IP4_FRAG    "ip4_frag"    /**< cuts IPv4 packets that are too large */
#define WEIR_BASE_NODE_SCHED_TX    "sched_tx"    /**< sends to queues of events */
#define WEIR_BASE_NODE_JOB         "job"         /**< hands packets to jobs */
#define WEIR_BASE_NODE_ETHDEV_TX   "ethdev_tx"   /**< transmits to a device */
#define WEIR_BASE_NODE_PCAP_TX     "pcap_tx"     /**< writes a capture */
#define WEIR_BASE_NODE_PUNT        "punt"        /**< leaves packets to others */
#define WEIR_BASE_NODE_DROP        "drop"        /**< drops packets */
#define WEIR_BASE_NODE_NULL        "null"        /**< frees packets */
/**@}*/

/** @name Where the edges of a node type lead at first, in the order of their numbers */
/**@{*/
#define WEIR_BASE_NODE_RX_EDGES WEIR_BASE_NODE_CLASSIFY /**< of those that receive */
#define WEIR_BASE_NODE_TX_EDGES WEIR_BASE_NODE_DROP     /**< of those that transmit */
#define WEIR_BASE_NODE_REFUSING_EDGES                                                              \
	WEIR_BASE_NODE_DROP, WEIR_BASE_NODE_PUNT /**< of those that may refuse a packet, first */
#define WEIR_BASE_NODE_CLASSIFY_EDGES                                                              \
	WEIR_BASE_NODE_REFUSING_EDGES, WEIR_BASE_NODE_IP4_LOOKUP,                                  \
		WEIR_BASE_NODE_IP6_LOOKUP /**< of classify */
#define WEIR_BASE_NODE_IP4_LOOKUP_EDGES                                                            \
	WEIR_BASE_NODE_REFUSING_EDGES, WEIR_BASE_NODE_IP4_REWRITE /**< of ip4_lookup */
#define WEIR_BASE_NODE_IP6_LOOKUP_EDGES                                                            \
	WEIR_BASE_NODE_REFUSING_EDGES, WEIR_BASE_NODE_IP6_REWRITE /**< of ip6_lookup */
#define WEIR_BASE_NODE_IP4_REWRITE_EDGES                                                           \
	WEIR_BASE_NODE_REFUSING_EDGES, WEIR_BASE_NODE_IP4_FRAG         /**< and those to ports */
#define WEIR_BASE_NODE_IP6_REWRITE_EDGES WEIR_BASE_NODE_REFUSING_EDGES /**< and those to ports */
#define WEIR_BASE_NODE_IP4_FRAG_EDGES    WEIR_BASE_NODE_REFUSING_EDGES /**< and those to ports */
/**@}*/

/** Packets asked of a receive queue at once, by default and at most. */
#define WEIR_BASE_RX_BURST_DEFAULT 128
#define WEIR_BASE_RX_BURST_MAX     1024 /**< see WEIR_BASE_RX_BURST_DEFAULT */

/** Graphs to begin with; the last one is NULL. */
extern const char *const weir_base_graph_names[];

/** What tells flows of packets apart, in the order of enum weir_bridge_flow; the last one is NULL. */
extern const char *const weir_base_flow_names[];

/** What is done in jobs, in the order of enum weir_bridge_job_builtin; the last one is NULL. */
extern const char *const weir_base_job_work_names[];

/** Most flows of a queue of events. */
#define WEIR_BASE_FLOWS_MAX 65535

/** Most flows of all queues of events together. */
#define WEIR_BASE_SCHED_FLOWS_MAX (1u << 20)

/** How soon a job tries again to send a packet that the scheduler did not take. */
#define WEIR_BASE_JOB_RETRY_NS 20000

/** Most events of queues that a worker takes in a round; of one that has jobs, one. */
#define WEIR_BASE_ROUND_MAX 128

/** Dequeues that got nothing, in a row, after each of which a port may rest. */
#define WEIR_BASE_SCHED_IDLE_CALLS 16

/** Events of a port that has not come for so long are taken over. */
#define WEIR_BASE_SCHED_AWAY_NS 2000

/** A port that found nothing is awake for so many times that, from the first time on that it may rest, before it sleeps. */
#define WEIR_BASE_SCHED_AWAKE 10

/** Most links, all together. */
#define WEIR_BASE_LINKS_MAX 4096

/** Most flows that a node of jobs tells apart. */
#define WEIR_BASE_JOB_FLOWS_MAX (1u << 20)

#define WEIR_BASE_FORMAT_WIBETH       "wibeth" /**< frame format of links: of one size and rate */
#define WEIR_BASE_FORMAT_WIBETH_BYTES 7200     /**< bytes of each of its frames */
#define WEIR_BASE_FORMAT_WIBETH_HZ    62500000 /**< ticks of its clock in a second */
#define WEIR_BASE_FORMAT_WIBETH_STEP  2048     /**< ticks from frame to frame */
#define WEIR_BASE_FORMAT_WIBETH_STREAM                                                             \
	{                                                                                          \
		6, 28                                                                              \
	} /**< where its stream key begins, and its width, in bits */
#define WEIR_BASE_FORMAT_WIBETH_SEQUENCE                                                           \
	{                                                                                          \
		40, 12                                                                             \
	} /**< its sequence number */
#define WEIR_BASE_FORMAT_WIBETH_TIMESTAMP                                                          \
	{                                                                                          \
		64, 64                                                                             \
	}                                      /**< its timestamp */
#define WEIR_BASE_FORMAT_WIBETH_TIMES 64       /**< samples of each channel in a frame */
#define WEIR_BASE_FORMAT_HIT          "hit"    /**< frame format of links: hits that are found */
#define WEIR_BASE_FORMAT_HIT_BYTES    24       /**< bytes of each */
#define WEIR_BASE_FORMAT_HIT_HZ       62500000 /**< ticks of its clock in a second */
#define WEIR_BASE_FORMAT_HIT_TIMESTAMP                                                             \
	{                                                                                          \
		0, 64                                                                              \
	} /**< where its timestamp begins, and its width, in bits */
#define WEIR_BASE_FORMAT_WIBETH_LENGTH                                                             \
	{                                                                                          \
		52, 12                                                                             \
	}                                      /**< its length, without the first header */
#define WEIR_BASE_FORMAT_WIBETH_LENGTH_UNIT 8  /**< bytes that its length counts */
#define WEIR_BASE_FORMAT_WIBETH_LENGTH_PLUS 16 /**< bytes that it does not count */
#define WEIR_BASE_FORMAT_VMM3A                                                                     \
	"srs-vmm3a" /**< frame format of links: frames come when they are full */
#define WEIR_BASE_FORMAT_VMM3A_BYTES     8968     /**< bytes of the largest of its frames */
#define WEIR_BASE_FORMAT_VMM3A_BYTES_MIN 16       /**< bytes of the smallest */
#define WEIR_BASE_FORMAT_VMM3A_HZ        44444444 /**< ticks of its clock in a second */
#define WEIR_BASE_FORMAT_VMM3A_STREAM                                                              \
	{                                                                                          \
		56, 4                                                                              \
	} /**< where its stream key begins, and its width, in bits */
#define WEIR_BASE_FORMAT_VMM3A_SEQUENCE                                                            \
	{                                                                                          \
		0, 32                                                                              \
	} /**< its sequence number */
#define WEIR_BASE_FORMAT_VMM3A_TIMESTAMP                                                           \
	{                                                                                          \
		64, 32                                                                             \
	} /**< its timestamp */

struct weir_base_doc_section;

/** Rows of one of `application.formats`: see WEIR_BASE_DOC_ROWS_OF(). */
extern const struct weir_base_doc_section weir_base_format_rows;

/** What may be done to a frame of an emulated link. */
enum weir_base_fault {
	WEIR_BASE_FAULT_DROP,      /**< it is not sent */
	WEIR_BASE_FAULT_DUPLICATE, /**< it is sent twice */
	WEIR_BASE_FAULT_REORDER,   /**< it is sent after the frame that is so many after it */
	WEIR_BASE_FAULT_STREAM,    /**< its stream key is another */
	WEIR_BASE_FAULT_SEQUENCE,  /**< its sequence number is another */
	WEIR_BASE_FAULT_TIMESTAMP, /**< its timestamp is another */
	WEIR_BASE_FAULT_TRUNCATE,  /**< its end is not sent */
	WEIR_BASE_FAULT_STALL,     /**< it and those after it are sent later */
	WEIR_BASE_FAULT_JUMP,      /**< its timestamp and all that follow are others */
	WEIR_BASE_NB_FAULTS,       /**< their number */
};

/** Names of faults, in the order of enum weir_base_fault; the last one is NULL. */
extern const char *const weir_base_fault_names[WEIR_BASE_NB_FAULTS + 1];

#define WEIR_BASE_FAULT_REORDER_MAX 1000               /**< most frames that one is sent after */
#define WEIR_BASE_FAULT_STALL_MAX   (INT64_C(1) << 40) /**< most frames whose time one waits for */

/** Least packets that a queue with bursts that adapt asks for, where its largest burst is no smaller. */
#define WEIR_BASE_ADAPTIVE_BURST_MIN 32u
/** So many bursts below half in a row make it ask for half. */
#define WEIR_BASE_ADAPTIVE_BURST_SMALL 16u

/** Most frames in a row that confirm a jump of timestamps. */
#define WEIR_BASE_CONFIRM_MAX 16

/** What a buffer does with a frame that there is no room for. */
enum weir_base_full {
	WEIR_BASE_FULL_EVICT_OLDEST, /**< the oldest one goes */
	WEIR_BASE_FULL_DROP_NEWEST,  /**< it is dropped */
};

/** How frames of a link get to its buffer. */
enum weir_base_delivery {
	WEIR_BASE_DELIVERY_CALLBACK, /**< by the thread that receives */
	WEIR_BASE_DELIVERY_QUEUE,    /**< by a queue, which another thread empties */
};

/** Where a function looks at frames of links. */
enum weir_base_where {
	WEIR_BASE_WHERE_INLINE, /**< before the buffer, in the thread that receives */
	WEIR_BASE_WHERE_THREAD, /**< after it, in a thread of its own */
	WEIR_BASE_WHERE_JOBS,   /**< after it, in jobs */
};

/** The function on frames that is built in; also what that of a link's key of this name is called. */
#define WEIR_BASE_PROCESS_HITS "hits"

/** Most functions in a row that look at a link's frames before its buffer. */
#define WEIR_BASE_PROCESSES_MAX 8

/** Frames that are taken out of a link's queue at once. */
#define WEIR_BASE_DELIVERY_BURST 64

/** Packets that are asked for at once of a port that links share, unless told. */
#define WEIR_BASE_SHARED_BURST 2048

/** Packets that an emulated or replayed link has in hand at once. */
#define WEIR_BASE_FEED_BURST 256

/** Most hits, or other messages, that wait on their way to their link. */
#define WEIR_BASE_HITS_QUEUE 65536

/** Most of these that become frames at once. */
#define WEIR_BASE_HITS_BURST 64

/** How long a thread of links rests, unless told, when it has found nothing to do. */
#define WEIR_BASE_LINKS_REST_NS 50000

/** Emulated frames have the largest size of their format, where it is up to so many bytes, else the smallest. */
#define WEIR_BASE_EMULATED_BYTES_MAX 9000

/** Room for a name of a node, its end included. */
#define WEIR_BASE_NODE_NAME_SIZE 64

/** What a node does with its packets, beside passing them on along its edges. */
enum weir_base_node_role {
	WEIR_BASE_NODE_PASSES,   /**< nothing */
	WEIR_BASE_NODE_RECEIVES, /**< it brings in those of a port */
	WEIR_BASE_NODE_TRANSMITS, /**< it sends them through a port; its edge is for those that find no room */
	WEIR_BASE_NODE_FREES, /**< it drops them, or leaves them to others */
	WEIR_BASE_NODE_BRINGS, /**< it brings in those of queues of events, each of which has an edge */
	WEIR_BASE_NODE_SENDS, /**< it sends them to a queue of events */
	WEIR_BASE_NODE_WORKS, /**< it has work done on them in jobs, and sends them to a queue */
	WEIR_BASE_NODE_LINKS, /**< it brings in those of a port, but for the frames of links */
};

/** A type of nodes. */
struct weir_base_node_type {
	const char *name;              /**< as it is registered */
	enum weir_base_node_role role; /**< what it does */
	bool leads_to_ports; /**< it has an edge to each port's transmit node besides, called as the port */
	const char *const *edges; /**< nodes that they lead to at first; the last one is NULL */
};

/** All types; the last one has no name. */
extern const struct weir_base_node_type weir_base_node_types[];

/** The type called @p name; NULL: there is none. */
const struct weir_base_node_type *weir_base_node_type_find(const char *name);

/** A change of an edge, "FROM.EDGE -> TO", cut to its parts. */
struct weir_base_node_edge {
	char from[WEIR_BASE_NODE_NAME_SIZE]; /**< node, own node or port */
	char edge
		[WEIR_BASE_NODE_NAME_SIZE]; /**< node that it leads to at first, or a beginning of its name */
	char to[WEIR_BASE_NODE_NAME_SIZE]; /**< node, own node or port */
};

/** Cut a change of an edge to its parts. @return 0 or -EINVAL */
int weir_base_node_edge_parse(const char *text, struct weir_base_node_edge *edge);

/** Is it one? */
bool weir_base_node_edge_check(const char *text);

struct weir_base_doc;
struct weir_base_doc_value;

/** Errors for keys that an item of `application.nodes` has, with a `type`, and that mean nothing for nodes of this. They are the document's. */
void weir_base_node_check_keys(struct weir_base_doc *doc, const struct weir_base_doc_value *node);

#ifdef __cplusplus
}
#endif

#endif
