/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_REPORT_H
#define WEIR_APP_LINKS_REPORT_H

/**
 * @file
 * Parts of a readout's report.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

struct weir_readout_dispatch_stats;

/** What became of packets. @param[in,out] adds_up  left, or made false */
json_t *links_report_dispatched(const struct weir_readout_dispatch_stats *stats, bool *adds_up);

/** Print what links_report_add() added, for people. */
void links_report_print(const json_t *readout, FILE *out);

#endif
