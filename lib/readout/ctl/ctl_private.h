/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_CTL_PRIVATE_H
#define READOUT_CTL_PRIVATE_H

/* ctl.c: the commands, offered and taken back; ctl_args.c: their arguments; ctl_names.c: links by name; ctl_link.c, ctl_parts.c: what there is of what; ctl_request.c: windows. */

#include <pthread.h>
#include <sys/queue.h>

#include <weir_base_ctl.h>

#include "weir_readout_ctl.h"

struct ctl_question;

LIST_HEAD(ctl_questions, ctl_question);

struct weir_readout_ctl {
	struct weir_base_ctl *ctl;
	const struct weir_readout_handler **handlers;
	const struct weir_readout_link **links;
	struct weir_readout_ctl_part *parts;
	uint32_t nb_handlers, nb_links, nb_parts;
	struct weir_readout_service *service;
	uint64_t (*clock)(void);
	uint32_t max_fragments;
	const char *fragments_key, *frames_key; /* what to raise, for messages */
	bool registered;
	pthread_mutex_t lock;         /* of all that follows, and of questions */
	struct ctl_questions waiting; /* questions that the service, or their client, waits for */
	uint32_t nb_fragments;        /* of these */
	uint64_t nb_refused;          /* fragments: more than max_fragments */
};

/* ctl_args.c. A failure is -EINVAL, and says what was expected. */

/* Any 64 bits, as a number or as text; unchanged without such an argument. */
int ctl_args_u64(const json_t *args, const char *key, uint64_t *value, json_t **result);

/* ctl_names.c */

/* All links that there are. */
struct ctl_names {
	const char *(*name)(void *arg, uint32_t number);
	void *arg; /* for this one, and for who is told what was found */
	uint32_t nb;
};

/*
 * Calls @p found for the link of that name; without one, for each of NAME-0, NAME-1 and so on.
 *
 * @return 0; -EINVAL: it is no text; -ENOENT: there is none, and result says which there are
 */
int ctl_names_find(const struct ctl_names *names, const json_t *wanted,
	void (*found)(void *arg, uint32_t number), json_t **result);

/* ctl_link.c, ctl_parts.c. @param[out] agree  false: its sums do not */
json_t *ctl_link(const struct weir_readout_link *link, const struct weir_readout_handler *handler,
	bool *agree);
json_t *ctl_service(struct weir_readout_service *service, bool *agree);
/* Sets a list of parts for each kind of which there are some. */
void ctl_parts(json_t *object, const struct weir_readout_ctl_part *parts, uint32_t nb, bool *agree);

/* ctl_request.c */
int ctl_request(void *readout, const json_t *args, json_t **result);

/* {"no_memory": 5, ...}: of an array whose members an enum counts; and their sum. */
#define CTL_SET_COUNTS(object, key, counts, name_of)                                               \
	__extension__({                                                                            \
		json_t *by_name_ = json_object();                                                  \
		uint64_t sum_ = 0;                                                                 \
		for (int i_ = 0; i_ < (int)RTE_DIM(counts); i_++) {                                \
			weir_base_ctl_set(by_name_, name_of(i_), (counts)[i_]);                    \
			sum_ += (counts)[i_];                                                      \
		}                                                                                  \
		json_object_set_new(object, key, by_name_);                                        \
		sum_;                                                                              \
	})

#endif
