/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_MODEL_H
#define CHECK_MODEL_H
/* weir check, of models for weir sim: files with an object that has `steps`. */
#include <stdbool.h>

#include <weir_base_doc.h>

/* Is the document a model and nothing that could be run: has an object `steps`, but nothing that receives events? */
bool check_model_only(const struct weir_base_doc *doc);

/* Check a document that is a model only, and tell. @return the program's exit code, or -ENOMEM */
int check_model(const char *path, struct weir_base_doc *doc, bool json);

/**
 * Check a file that is to be run as a model too, if it is one besides: it has costs, and streams of traffic or links. Errors are
 * added to the document. @return 0 or -ENOMEM
 */
int check_model_too(struct weir_base_doc *doc);

#endif
