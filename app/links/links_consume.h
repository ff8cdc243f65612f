/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_CONSUME_H
#define WEIR_APP_LINKS_CONSUME_H

/**
 * @file
 * Consumers of links' queues: for links alike one thread, which puts their frames into the buffers.
 */

struct config;
struct config_links;
struct links_run;

/** Make those that the description has. @return 0, or -ENOMEM */
int links_consume_open(struct links_run *run, const struct config_links *links);

/** Begin. Before anything feeds links. @return 0, or a negative errno, with the reason in the document where it is a CPU */
int links_consume_start(struct links_run *run, struct config *config);

/** Nothing feeds links any more: wait until all queues are empty. By the thread that fed them, or, where that never began, by who starts it. */
void links_consume_finish(struct links_run *run);

/** Free them; they have ended. */
void links_consume_close(struct links_run *run);

#endif
