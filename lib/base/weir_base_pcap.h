/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_PCAP_H
#define WEIR_BASE_PCAP_H

/**
 * @file
 * Capture files of Ethernet frames, read record by record, with times in ns. Needs libpcap; only
 * weir_base_pcap_to_mbuf() needs DPDK, and is missing without it.
 *
 * Threads: one at a time per file.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mbuf;
struct rte_mempool;
struct weir_base_pcap;

/** A record. */
struct weir_base_pcap_record {
	const uint8_t *bytes;    /**< what was captured; valid until the next record is read */
	uint32_t captured_bytes; /**< how many */
	uint32_t wire_bytes;     /**< of the frame; more, where the capture left some out */
	uint64_t time_ns;        /**< when, since 1970 */
};

/**
 * Open a file.
 *
 * @param[out] why  what is wrong with it, one line that names it; NULL is allowed
 * @param why_bytes room there
 * @param[out] file to be closed with weir_base_pcap_close(); unchanged on error
 * @return 0; -EISDIR; -EBADMSG: not a capture file; -EPROTONOSUPPORT: of something else than Ethernet; -ENOMEM; what fopen() says
 */
int weir_base_pcap_open(
	const char *path, struct weir_base_pcap **file, char *why, size_t why_bytes);

/** Close it. NULL is allowed. */
void weir_base_pcap_close(struct weir_base_pcap *file);

/**
 * Read the next record.
 *
 * @param[out] why  as of weir_base_pcap_open()
 * @return 1; 0: the end; -EBADMSG: the file is damaged
 */
int weir_base_pcap_next(struct weir_base_pcap *file, struct weir_base_pcap_record *record,
	char *why, size_t why_bytes);

/** What fstat() said when it was opened; zero where it failed. */
const struct stat *weir_base_pcap_stat(const struct weir_base_pcap *file);

/**
 * A copy of some bytes as a packet, of several segments where one has not the room.
 *
 * @return NULL: the pool is empty, or there are too many
 */
struct rte_mbuf *weir_base_pcap_to_mbuf(
	struct rte_mempool *pool, const uint8_t *bytes, uint32_t nb_bytes);

#ifdef __cplusplus
}
#endif

#endif
