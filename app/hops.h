/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_HOPS_H
#define WEIR_APP_HOPS_H

#include <stdint.h>

/** Parse "5" or "0-3". @return 0 or -EINVAL */
int hops_parse_ids(const char *text, uint32_t *first, uint32_t *last);

#endif
