/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_VERDICT_H
#define WEIR_APP_VERDICT_H

/**
 * @file
 * What a report says of the run that it is of: did it do what it was to?
 */

#include <jansson.h>

#include "app.h"

/** Say on standard error, as a command's errors, what is wrong: sums that do not agree, input that could not be read. @return APP_OK or APP_FAILED */
int verdict_tell(const struct app_command *command, const json_t *report);

#endif
