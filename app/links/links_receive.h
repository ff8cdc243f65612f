/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_RECEIVE_H
#define WEIR_APP_LINKS_RECEIVE_H

/**
 * @file
 * Frames for links from devices.
 */

#include "links_feed.h"

/**
 * Open the device of a receiver; links of the description that are to have its frames get them.
 *
 * @param links  those of the whole description
 * @return 0, or a negative errno with the reason in the document
 */
int links_feed_receive(struct links_feed *feed, struct config *config,
	const struct config_receiver *receiver, struct weir_readout_link *const *links);

#endif
