/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_COLLECT_H
#define WEIR_APP_LINKS_COLLECT_H

/**
 * @file
 * What processes make of frames of links, as the frames of another one.
 */

#include "config_links.h"

struct links_feed;
struct links_run;

/** Give a link what processes send to it, which are there. @return 0, or a negative errno with the reason in the log */
int links_collect_open(
	struct links_feed *feed, const struct links_run *run, const struct config_link *link);

#endif
