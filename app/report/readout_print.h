/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_READOUT_PRINT_H
#define WEIR_APP_READOUT_PRINT_H

/**
 * @file
 * What "readout/status" and "readout/request" answer, for people: see weir_readout_ctl.h. Texts are such that a terminal may have them
 * (answer_make_printable()).
 */

#include <stdio.h>

#include <jansson.h>

/** A status. @param before  an earlier one, for rates; NULL: without them */
void readout_print_status(const json_t *before, const json_t *answer, FILE *out);

/** Fragments. */
void readout_print_fragments(const json_t *answer, FILE *out);

#endif
