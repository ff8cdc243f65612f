/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_DOC_READ_H
#define SIM_DOC_READ_H

/* The parts of weir_sim_model_read(). Each returns 0 or -ENOMEM; what is wrong is added to the document's errors. */

#include "model.h"

#pragma GCC visibility push(hidden)

int sim_doc_read_queues(struct weir_sim_model *model, const struct weir_base_doc_value *queues);
int sim_doc_read_objects(struct weir_sim_model *model, const struct weir_base_doc_value *objects);
int sim_doc_read_cores(struct weir_sim_model *model, const struct weir_base_doc_value *cores);
int sim_doc_read_streams(struct weir_sim_model *model, const struct weir_base_doc_value *streams);
void sim_doc_read_run(struct weir_sim_model *model, const struct weir_base_doc_value *simulation);

/* Its interval, its phases or bursts, its capture. */
int sim_doc_read_arrivals(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream);

/* What a table is of. */
enum sim_doc_table {
	SIM_DOC_INTERVALS, /* ps */
	SIM_DOC_SIZES,     /* bytes */
};

/* The table in the file that @p value names. */
int sim_doc_read_table(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	enum sim_doc_table kind, struct weir_sim_table *table);

/* The packets in the capture that @p value names; times are divided by @p speed. */
int sim_doc_read_capture(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	double speed, bool repeat, struct model_capture *capture);

/* Index of the queue that @p value names, or SIM_NONE with an error. */
uint32_t sim_doc_find_queue(struct weir_sim_model *model, const struct weir_base_doc_value *value);

/* A duration in ps. */
uint64_t sim_doc_ps(const struct weir_base_doc_value *value);

#pragma GCC visibility pop

#endif
