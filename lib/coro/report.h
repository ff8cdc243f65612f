/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CORO_REPORT_H
#define CORO_REPORT_H

/*
 * What signal handlers write: lines and backtraces. Async-signal-safe as far as report.c says.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line in the making, written when it is full of what is to be told. What does not fit is left out. */
struct coro_line {
	size_t length;
	char text[512];
};

void coro_line_text(struct coro_line *line, const char *text);
void coro_line_number(struct coro_line *line, uint64_t number, unsigned int base);
/* name+0x0 (file), or file+0x1234 where there is no name, which addr2line understands. */
void coro_line_function(struct coro_line *line, const void *function);
/* Now, and begin another one. */
void coro_line_write(struct coro_line *line, int fd);

/* What the others use is loaded and bound before it matters: once, outside of handlers. */
void coro_report_ready(void);

/* From a handler: where the signal came, and who called that. Elsewhere: from the caller on. */
void coro_report_backtrace(int fd);

#endif
