/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_EAL_LOG_H
#define WEIR_APP_EAL_LOG_H

#include <stdbool.h>
#include <stdio.h>

/** Take over what DPDK logs: shown when it is an error or verbose, and remembered. @return 0 or a negative errno */
int eal_log_open(bool verbose);

/** Show errors as they come from now on; until then they are only remembered. */
void eal_log_show_errors(bool show);

/** Print what was remembered of warnings and errors: after a failure. */
void eal_log_print(FILE *out);

/** The first error remembered, without the name of who said it; NULL: none. Valid until the next is forgotten. */
const char *eal_log_first_error(void);

/** Forget what was remembered. */
void eal_log_forget(void);

#endif
