/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_CAPTURE_H
#define WEIR_TESTS_READOUT_CAPTURE_H

/* The UDP payloads of a capture. */

#include <stdint.h>

/* One payload, and when it was captured. */
typedef void (*capture_payload_t)(
	void *arg, const uint8_t *payload, uint32_t bytes, uint64_t time_us);

/*
 * Call @p payload for each IPv4 datagram to UDP port @p port in tests/data/@p name; fails the test if it cannot be read.
 * capture_dir names the folder.
 */
void capture_payloads(const char *name, uint16_t port, capture_payload_t payload, void *arg);

extern const char *capture_dir;

#endif
