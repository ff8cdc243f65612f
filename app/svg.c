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

static int
write_dot(struct instance *instance, const char *path)
{
	int error = files_make_directories(path);
	FILE *file;

	if (error < 0)
		return failed(path, -error);
	file = fopen(path, "w");
	if (file == NULL)
		return failed(path, errno);
	error = dot_write_all(instance, file, WEIR_GRAPH_EXPORT_COUNTS);
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
write_svg(struct instance *instance, const char *svg, json_t *written)
{
	char dot[PATH_MAX];
	int error;

	if (snprintf(dot, sizeof(dot), "%s.dot", svg) >= (int)sizeof(dot))
		return failed(svg, ENAMETOOLONG);
	error = write_dot(instance, dot);
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
	int error = 0, svg_error = 0;

	if (outputs->graph_dot != NULL) {
		error = write_dot(instance, outputs->graph_dot);
		if (error == 0)
			json_array_append_new(written, json_string(outputs->graph_dot));
	}
	if (outputs->graph_svg != NULL)
		svg_error = write_svg(instance, outputs->graph_svg, written);
	return error < 0 ? error : svg_error;
}
