/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_REASON_LOG_H
#define WEIR_APP_REASON_LOG_H

/** Keep error messages of the libraries, instead of printing them: a caller knows where in the file they belong. */
void reason_log_begin(void);

/**
 * Print again, as usual.
 *
 * @param fallback  when nothing was said
 * @return the last error kept; valid until the next begin
 */
const char *reason_log_end(const char *fallback);

#endif
