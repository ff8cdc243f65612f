/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_SCHEMA_H
#define WEIR_APP_SCHEMA_H

/**
 * @file
 * The vocabulary of description files: one table per section. The tables give
 * the checks, doc/description-file.md and the JSON Schema.
 */

#include "weir_base_doc.h"

#ifdef WEIR_APP_SIM_ONLY
#include <weir_sim.h>

/** A whole file: what the simulator reads of it is all there is. */
#define schema_root weir_sim_doc_root
#else
/** A whole file. */
extern const struct weir_base_doc_section schema_root;
#endif
/** What is done: graph, neighbours, routes. */
extern const struct weir_base_doc_section schema_application;
/** What it runs on: ports, workers, memory. */
extern const struct weir_base_doc_section schema_platform;
/** A queue of events. */
extern const struct weir_base_doc_section schema_queue;
/** An execution object. */
extern const struct weir_base_doc_section schema_object;
/** Links of a readout. */
extern const struct weir_base_doc_section schema_link;
/** What is done with frames. */
extern const struct weir_base_doc_section schema_process;
/** What arrives, where it is made rather than received. */
extern const struct weir_base_doc_section schema_traffic;
/** How long, and what is written. */
extern const struct weir_base_doc_section schema_run;

/** Indices into the choices of ports.*.accept. */
enum schema_accept { SCHEMA_ACCEPT_OWN, SCHEMA_ACCEPT_ANY };
/** Indices into the choices of ports.*.on_full. */
enum schema_on_full { SCHEMA_ON_FULL_DROP, SCHEMA_ON_FULL_WAIT };
/** Indices into the choices of queues.*.type: as enum weir_em_queue_type. */
enum schema_queue_type { SCHEMA_QUEUE_ATOMIC, SCHEMA_QUEUE_PARALLEL, SCHEMA_QUEUE_ORDERED };
/** Indices into the choices of platform.idle. */
enum schema_idle { SCHEMA_IDLE_POLL, SCHEMA_IDLE_PAUSE, SCHEMA_IDLE_SLEEP };
/** Indices into the choices of platform.memory.huge. */
enum schema_huge { SCHEMA_HUGE_AUTO, SCHEMA_HUGE_YES, SCHEMA_HUGE_NO };
/** Indices into the choices of run.until. */
enum schema_until { SCHEMA_UNTIL_INPUT_END, SCHEMA_UNTIL_SIGNAL, SCHEMA_UNTIL_DURATION };

#endif
