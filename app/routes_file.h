/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_ROUTES_FILE_H
#define WEIR_APP_ROUTES_FILE_H

#include <stdint.h>

#include "config.h"

/** Add an error at the first line of a well-formed route file whose next hop is not set. */
void routes_file_report_missing_hop(struct config *config, const char *path, uint32_t hop_base);

#endif
