/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_DOT_H
#define WEIR_APP_LINKS_DOT_H

#include <stdio.h>

struct config;

/** Write the readout of a description as Graphviz source. @return 0 or -EIO */
int links_dot_write(const struct config *config, FILE *out);

#endif
