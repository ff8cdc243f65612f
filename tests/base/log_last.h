/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_BASE_LOG_LAST_H
#define WEIR_TESTS_BASE_LOG_LAST_H

/* What the library said last: errors and warnings. With WEIR_TEST_LOG in the environment they are printed, too. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "weir_base.h"

static char log_message[1024];
static uint32_t log_nb;

static inline void
log_note(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	if (level > WEIR_BASE_LOG_WARNING)
		return;
	snprintf(log_message, sizeof(log_message), "%s", message);
	__atomic_add_fetch(&log_nb, 1, __ATOMIC_RELAXED);
	if (getenv("WEIR_TEST_LOG") != NULL)
		fprintf(stderr, "%s: %s\n", module, message);
}

/* From now on. */
static inline void
log_listen(void)
{
	weir_base_log_set_sink(log_note, NULL);
}

/* Messages since log_forget(). */
static inline uint32_t
log_count(void)
{
	return __atomic_load_n(&log_nb, __ATOMIC_RELAXED);
}

static inline void
log_forget(void)
{
	log_message[0] = '\0';
	__atomic_store_n(&log_nb, 0, __ATOMIC_RELAXED);
}

#endif
