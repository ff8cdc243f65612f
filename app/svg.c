/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of graphs: DOT by the graph library, SVG by Graphviz. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir_base.h>

#include "dot.h"
#include "files.h"
#include "instance.h"
#include "svg.h"

extern char **environ;

static int
failed(const char *path, int error)
{
	weir_base_log(WEIR_BASE_LOG_ERROR, "app", "cannot write '%s': %s", path, strerror(error));
	return -error;
}

/* out/a.svg for one worker; out/a-0.svg, out/a-1.svg ... for several. */
static void
numbered(const struct instance *instance, const char *path, unsigned int index, char *result,
	size_t size)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	int base = dot != NULL && (slash == NULL || dot > slash + 1) ? (int)(dot - path)
								     : (int)strlen(path);

	if (instance->config->nb_workers == 1)
		snprintf(result, size, "%s", path);
	else
		snprintf(result, size, "%.*s-%u%s", base, path, index, path + base);
}

static int
write_dot(const struct instance *instance, uint32_t graph, const char *path)
{
	int error = files_make_directories(path);
	FILE *file;

	if (error < 0)
		return failed(path, -error);
	file = fopen(path, "w");
	if (file == NULL)
		return failed(path, errno);
	error = dot_write(instance, graph, file, WEIR_GRAPH_EXPORT_COUNTS);
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error < 0 ? failed(path, -error) : 0;
}

/* Run `dot -Tsvg -o svg dot`. Returns its exit code, or a negative errno. */
static int
run_dot(const char *dot, const char *svg)
{
	char *argv[] = {(char *)(uintptr_t) "dot", (char *)(uintptr_t) "-Tsvg",
		(char *)(uintptr_t) "-o", (char *)(uintptr_t)svg, (char *)(uintptr_t)dot, NULL};
	int status, error;
	pid_t pid;

	error = posix_spawnp(&pid, "dot", NULL, NULL, argv, environ);
	if (error != 0)
		return -error;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

static int
write_svg(const struct instance *instance, uint32_t graph, const char *svg, json_t *written)
{
	char dot[PATH_MAX];
	int error;

	if (snprintf(dot, sizeof(dot), "%s.dot", svg) >= (int)sizeof(dot))
		return failed(svg, ENAMETOOLONG);
	error = write_dot(instance, graph, dot);
	if (error < 0)
		return error;
	error = run_dot(dot, svg);
	if (error == 0) {
		unlink(dot);
		json_array_append_new(written, json_string(svg));
		return 0;
	}
	json_array_append_new(written, json_string(dot));
	if (error == -ENOENT) {
		weir_base_log(WEIR_BASE_LOG_WARNING, "app",
			"Graphviz is not installed (program 'dot'): wrote %s instead of %s", dot,
			svg);
		return 0;
	}
	weir_base_log(WEIR_BASE_LOG_ERROR, "app",
		"Graphviz' dot failed (%s): %s is what it was given",
		error < 0 ? strerror(-error) : "see above", dot);
	return -EIO;
}

int
svg_write(struct instance *instance, json_t *written)
{
	const struct config_outputs *outputs = &instance->config->outputs;
	char path[PATH_MAX];
	unsigned int i;
	int error, first_error = 0;

	for (i = 0; i < instance->config->nb_workers; i++) {
		error = 0;
		if (outputs->graph_dot != NULL) {
			numbered(instance, outputs->graph_dot, i, path, sizeof(path));
			error = write_dot(instance, instance->graph_ids[i], path);
			if (error == 0)
				json_array_append_new(written, json_string(path));
		}
		if (outputs->graph_svg != NULL && error == 0) {
			numbered(instance, outputs->graph_svg, i, path, sizeof(path));
			error = write_svg(instance, instance->graph_ids[i], path, written);
		}
		if (first_error == 0)
			first_error = error;
	}
	return first_error;
}
