/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_FILES_H
#define WEIR_APP_FILES_H

#include <stddef.h>

/** Directory part of a path, "." when it has none. The caller frees it; NULL without memory. */
char *files_directory(const char *path);

/** A path without links and dots, also of a file that is not there yet. The caller frees it; NULL when unknown. */
char *files_real_path(const char *path);

/**
 * Could this file be written, its directories made first? Nothing is changed.
 *
 * @param[out] why  what stands against it
 * @return 0 or a negative errno
 */
int files_check_writable(const char *path, char *why, size_t size);

/** Make the directories that lead to a file. @return 0 or a negative errno */
int files_make_directories(const char *path);

#endif
