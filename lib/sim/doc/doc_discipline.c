/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: disciplines of queues and units, also those in shared objects. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

static const char *const names[] = {
	[MODEL_FCFS] = "fcfs",
	[MODEL_LCFS] = "lcfs",
	[MODEL_SHORTEST] = "shortest",
	[MODEL_LONGEST] = "longest",
	[MODEL_PRIORITY] = "priority",
};

/* A path beside the file that names it, unless it begins with '/'; the caller frees it. NULL: no memory */
static char *
beside(const struct weir_base_doc_value *value, const char *path, size_t length)
{
	unsigned int line, column;
	const char *file = weir_base_doc_where(value, &line, &column);
	const char *slash = strrchr(file, '/');
	char *found;

	/* dlopen() looks elsewhere for what has no '/'. */
	if (asprintf(&found, "%.*s%.*s",
		    path[0] == '/'  ? 0
		    : slash != NULL ? (int)(slash - file) + 1
				    : 2,
		    slash != NULL ? file : "./", (int)length, path) < 0)
		return NULL;
	return found;
}

/* It stays loaded: tools hold on to its functions' names. */
static const struct weir_sim_discipline *
load(struct weir_sim_model *model, const struct weir_base_doc_value *value, const char *path,
	const char *symbol)
{
	const struct weir_sim_discipline *discipline;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		weir_base_doc_error_add(
			model->doc, value, "%s; expected a shared object", dlerror());
		return NULL;
	}
	discipline = dlsym(library, symbol);
	if (discipline == NULL)
		weir_base_doc_error_add(model->doc, value,
			"'%s' has no symbol '%s'; expected a struct weir_sim_discipline", path,
			symbol);
	else if (discipline->abi != WEIR_SIM_DISCIPLINE_ABI ||
		 discipline->size != sizeof(*discipline))
		weir_base_doc_error_add(model->doc, value,
			"'%s' is made for version %u of the interface, of %u bytes; expected %u, "
			"of %zu",
			symbol, discipline->abi, discipline->size, WEIR_SIM_DISCIPLINE_ABI,
			sizeof(*discipline));
	else if (discipline->create == NULL || discipline->destroy == NULL ||
		 discipline->reserve == NULL || discipline->select == NULL)
		weir_base_doc_error_add(model->doc, value,
			"'%s' lacks a function; expected create, destroy, reserve and select",
			symbol);
	else
		return discipline;
	dlclose(library);
	return NULL;
}

int
sim_doc_read_discipline(struct weir_sim_model *model, const struct weir_base_doc_value *of,
	bool has_priority, enum model_discipline *discipline,
	const struct weir_sim_discipline **custom)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(of, "discipline");
	const char *text = weir_base_doc_str(value), *colon;
	char *path;
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0 && (has_priority || i != MODEL_PRIORITY)) {
			*discipline = (enum model_discipline)i;
			return 0;
		}
	colon = strrchr(text, ':');
	if (colon == NULL || colon == text || colon[1] == '\0') {
		weir_base_doc_error_add(model->doc, value,
			"unknown discipline '%s'; expected fcfs, lcfs, shortest, longest, %sor "
			"PLUGIN.so:SYMBOL",
			text, has_priority ? "priority, " : "");
		return 0;
	}
	path = beside(value, text, (size_t)(colon - text));
	if (path == NULL)
		return -ENOMEM;
	*discipline = MODEL_CUSTOM;
	*custom = load(model, value, path, colon + 1);
	free(path);
	return 0;
}
