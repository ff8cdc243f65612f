/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a run writes: can they be written, and would one destroy another? */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "files.h"

/* A file that is read or written, and where the description says so. */
struct used_file {
	const struct weir_base_doc_value *value;
	const char *path;
	char *real; /* without links, also of a file that is not there yet */
	bool output;
};

struct used_files {
	struct used_file *list;
	unsigned int nb;
};

/* Keys of section run that name files to write. */
static const char *const outputs[] = {"graph_svg", "graph_dot", "punt_pcap", "stats_json"};

/* The same file may be written once only, and not read. Devices such as /dev/null take anything. */
static void
check_against_others(
	struct config *config, const struct used_files *files, const struct used_file *file)
{
	const struct used_file *other;
	struct stat status;
	const char *name;
	unsigned int line, column;

	if (stat(file->path, &status) == 0 && S_ISCHR(status.st_mode))
		return;
	for (other = files->list; other < file; other++) {
		if (!(file->output || other->output) || file->real == NULL || other->real == NULL ||
			strcmp(file->real, other->real) != 0)
			continue;
		if (other->value == NULL) {
			weir_base_doc_error_add(config->doc, file->value,
				"'%s' is the description file itself; expected another file to "
				"write to",
				file->path);
			continue;
		}
		name = weir_base_doc_where(other->value, &line, &column);
		weir_base_doc_error_add(config->doc, file->value,
			"'%s' is used already, at %s:%u:%u; expected a file of its own for each "
			"output",
			file->path, name, line, column);
	}
}

static void
use_file(struct config *config, struct used_files *files, const struct weir_base_doc_value *value,
	bool output)
{
	const char *path = value != NULL ? weir_base_doc_str(value) : config->path;
	struct used_file *list = realloc(files->list, (files->nb + 1) * sizeof(*list));
	char why[256];

	if (list == NULL) {
		weir_base_doc_error_add(config->doc, value, "out of memory");
		return;
	}
	files->list = list;
	list[files->nb] = (struct used_file){
		.value = value, .path = path, .real = files_real_path(path), .output = output};
	if (output && config->writes && files_check_writable(path, why, sizeof(why)) < 0)
		weir_base_doc_error_add(config->doc, value,
			"cannot write '%s': %s; expected a file in a "
			"directory that can be written or made",
			path, why);
	check_against_others(config, files, &list[files->nb]);
	files->nb++;
}

static void
open_output(struct config *config, const struct weir_base_doc_value *value)
{
	const char *path = weir_base_doc_str(value);
	struct stat status;
	bool fresh;
	int error, fd;

	if (path == NULL)
		return;
	fresh = stat(path, &status) < 0;
	/* Opening a pipe would wait for its reader. */
	if (!fresh && !S_ISREG(status.st_mode))
		return;
	error = files_make_directories(path);
	if (error == 0) {
		/* What another run makes of it meanwhile is not ours to take away. */
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (fresh ? O_EXCL : 0), 0666);
		if (fd < 0 && fresh && errno == EEXIST)
			return;
		if (fd < 0)
			error = -errno;
		else
			close(fd);
		/* Its owner makes it anew, perhaps under a numbered name. */
		if (fresh && fd >= 0)
			unlink(path);
	}
	if (error < 0)
		weir_base_doc_error_add(
			config->doc, value, "cannot write '%s': %s", path, strerror(-error));
}

void
config_open_outputs(struct config *config)
{
	const struct weir_base_doc_value *run =
		weir_base_doc_get(weir_base_doc_root(config->doc), "run");
	unsigned int i;

	for (i = 0; i < config->nb_ports; i++)
		open_output(config, weir_base_doc_get(config->ports[i].value, "pcap_out"));
	for (i = 0; i < config->links.nb_requests; i++)
		open_output(config, weir_base_doc_get(config->links.requests[i].value, "to"));
	for (i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		open_output(config, weir_base_doc_get(run, outputs[i]));
}

/* Somebody listens there: nothing is written over. */
static bool
is_socket(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

void
config_check_outputs(struct config *config, const struct weir_base_doc_value *run)
{
	const struct weir_base_doc_value *routes = weir_base_doc_get(config->application, "routes"),
					 *value;
	struct used_files files = {0};
	unsigned int i;

	use_file(config, &files, NULL, false);
	for (i = 0; i < weir_base_doc_count(routes); i++) {
		value = weir_base_doc_get(weir_base_doc_at(routes, i), "file");
		if (value != NULL)
			use_file(config, &files, value, false);
	}
	for (i = 0; i < config->nb_ports; i++) {
		value = weir_base_doc_get(config->ports[i].value, "pcap_in");
		if (value != NULL)
			use_file(config, &files, value, false);
	}
	for (i = 0; i < config->links.nb_replayed; i++) {
		value = weir_base_doc_get(config->links.replayed[i].value,
			config->links.replayed[i].is_raw ? "frames" : "pcap");
		if (value != NULL)
			use_file(config, &files, value, false);
	}
	for (i = 0; i < config->nb_ports; i++) {
		value = weir_base_doc_get(config->ports[i].value, "pcap_out");
		if (value != NULL)
			use_file(config, &files, value, true);
	}
	for (i = 0; i < config->links.nb_requests; i++) {
		value = weir_base_doc_get(config->links.requests[i].value, "to");
		if (value != NULL && !is_socket(config->links.requests[i].to))
			use_file(config, &files, value, true);
	}
	for (i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		value = weir_base_doc_get(run, outputs[i]);
		if (value != NULL)
			use_file(config, &files, value, true);
	}
	for (i = 0; i < files.nb; i++)
		free(files.list[i].real);
	free(files.list);
}
