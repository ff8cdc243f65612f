/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: probes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "doc_read.h"

static uint32_t
find_ring(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	struct sim_doc_names names = {.used = 0};
	uint32_t i;

	for (i = 0; i < model->graph.nb_rings; i++)
		if (strcmp(model->graph.rings[i].name, weir_base_doc_str(value)) == 0)
			return i;
	for (i = 0; i < model->graph.nb_rings; i++)
		sim_doc_add_name(&names, model->graph.rings[i].name);
	weir_base_doc_error_add(model->doc, value, "unknown ring '%s'; expected %s%s",
		weir_base_doc_str(value),
		names.used > 0 ? "one of: " : "a queue or a unit: no worker polls a port here",
		names.text);
	return SIM_NONE;
}

static void
read_probe(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_probe *probe)
{
	static const char *const keys[] = {[MODEL_PROBE_QUEUE] = "queue",
		[MODEL_PROBE_UNIT] = "unit",
		[MODEL_PROBE_SERVERS] = "servers",
		[MODEL_PROBE_CORES] = "cores",
		[MODEL_PROBE_STREAM] = "stream",
		[MODEL_PROBE_RING] = "ring",
		[MODEL_PROBE_EDGE] = "from"};
	const struct weir_base_doc_value *of = NULL;
	unsigned int i, nb = 0;

	*probe = (struct model_probe){.name = weir_base_doc_name(value),
		.trace = weir_base_doc_str(weir_base_doc_get(value, "trace")),
		.trace_at = weir_base_doc_get(value, "trace")};
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!weir_base_doc_given(value, keys[i]))
			continue;
		of = weir_base_doc_get(value, keys[i]);
		probe->kind = (enum model_probe_kind)i;
		nb++;
	}
	if (nb != 1) {
		weir_base_doc_error_add(model->doc, value,
			"a probe of %s; expected one of the keys 'queue', 'unit', 'servers', "
			"'cores', 'stream', 'ring', 'from'",
			nb == 0 ? "nothing" : "several things");
		return;
	}
	if (probe->kind != MODEL_PROBE_EDGE && weir_base_doc_given(value, "to"))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "to"),
			"'to' without 'from'; expected both");
	switch (probe->kind) {
	case MODEL_PROBE_QUEUE:
		probe->index = sim_doc_find_any_queue(model, of);
		break;
	case MODEL_PROBE_RING:
		probe->index = find_ring(model, of);
		break;
	case MODEL_PROBE_UNIT:
	case MODEL_PROBE_SERVERS:
		probe->index = sim_doc_find_unit(model, of);
		break;
	case MODEL_PROBE_CORES:
		probe->index = sim_doc_find_cores(model, of);
		break;
	case MODEL_PROBE_STREAM:
		probe->index = sim_doc_find_probed_stream(model, of);
		break;
	case MODEL_PROBE_EDGE:
		sim_doc_read_edge(model, of, weir_base_doc_get(value, "to"), probe);
		break;
	}
}

/* Do both names lead to one file, which is there and keeps what is written to it? */
static bool
is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return a != NULL && b != NULL && stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
	       S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* Does a path lead to a directory, and what is it called there? */
static const char *
find_directory(const char *path, struct stat *directory)
{
	const char *slash = strrchr(path, '/');
	char *name = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	const bool is_there = name != NULL && stat(name, directory) == 0;

	free(name);
	return !is_there ? NULL : slash != NULL ? slash + 1 : path;
}

/* Would both names make one file? */
static bool
makes_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;
	const char *name_a = find_directory(a, &of_a), *name_b = find_directory(b, &of_b);

	return name_a != NULL && name_b != NULL && strcmp(name_a, name_b) == 0 &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* Does a trace go to a file that the model is read from? */
static bool
is_read(const struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	static const char *const keys[] = {"intervals", "size_table", "capture"};
	const char *trace = weir_base_doc_str(value), *file;
	unsigned int key;
	bool found = false;
	uint32_t i;

	for (i = 0; (file = weir_base_doc_file_at(model->doc, i)) != NULL; i++)
		found = found || is_same_file(trace, file);
	for (i = 0; i < model->nb_streams; i++)
		for (key = 0; key < sizeof(keys) / sizeof(keys[0]); key++)
			found = found ||
				is_same_file(trace, weir_base_doc_str(weir_base_doc_get(
							    model->streams[i].value, keys[key])));
	return found;
}

/* Two of them into one file would spoil it, and so would one into a file that is read. */
static void
check_traces(struct weir_sim_model *model, const struct weir_base_doc_value *probes, uint32_t index)
{
	const struct weir_base_doc_value *value =
		weir_base_doc_get(weir_base_doc_at(probes, index), "trace");
	uint32_t i;

	if (value != NULL && is_read(model, value))
		weir_base_doc_error_add(model->doc, value,
			"'%s' is a file of the model's own; expected another one",
			weir_base_doc_str(value));
	for (i = 0; model->probes[index].trace != NULL && i < index; i++)
		if (model->probes[i].trace != NULL &&
			(makes_same_file(model->probes[i].trace, model->probes[index].trace) ||
				is_same_file(model->probes[i].trace, model->probes[index].trace)))
			weir_base_doc_error_add(model->doc, value,
				"'%s' is written by probe '%s' already; expected another file",
				model->probes[i].trace, model->probes[i].name);
}

int
sim_doc_read_probes(struct weir_sim_model *model, const struct weir_base_doc_value *probes)
{
	uint32_t i;

	model->nb_probes = weir_base_doc_count(probes);
	model->probes = calloc(model->nb_probes + 1, sizeof(*model->probes));
	if (model->probes == NULL)
		return -ENOMEM;
	for (i = 0; i < model->nb_probes; i++) {
		read_probe(model, weir_base_doc_at(probes, i), &model->probes[i]);
		check_traces(model, probes, i);
	}
	return 0;
}
