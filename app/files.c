/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of files to be written. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

char *
files_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* What is missing of a path can hold no links: its dots are resolved by the text alone. Frees parent. */
static char *
join(char *parent, const char *base)
{
	char *joined = NULL, *slash;

	if (parent == NULL || strcmp(base, ".") == 0 || base[0] == '\0')
		return parent;
	if (strcmp(base, "..") == 0) {
		slash = strrchr(parent, '/');
		if (slash != NULL)
			slash[slash == parent ? 1 : 0] = '\0';
		return parent;
	}
	if (asprintf(&joined, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, base) < 0)
		joined = NULL;
	free(parent);
	return joined;
}

char *
files_real_path(const char *path)
{
	char *real = realpath(path, NULL), *directory;
	const char *base = strrchr(path, '/');

	if (real != NULL || errno != ENOENT)
		return real;
	directory = files_directory(path);
	if (directory != NULL && strcmp(directory, path) != 0)
		real = join(files_real_path(directory), base != NULL ? base + 1 : path);
	free(directory);
	return real;
}

int
files_check_writable(const char *path, char *why, size_t size)
{
	struct stat status;
	char *directory, *up;
	int error = 0;

	if (path[0] == '\0' || path[strlen(path) - 1] == '/') {
		snprintf(why, size, "it names no file");
		return -EINVAL;
	}
	if (stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			error = EISDIR;
		else if (access(path, W_OK) < 0)
			error = errno;
		if (error != 0)
			snprintf(why, size, "%s", strerror(error));
		return -error;
	}
	/* The nearest directory that is there decides. */
	directory = files_directory(path);
	while (directory != NULL && stat(directory, &status) < 0 && errno == ENOENT) {
		up = files_directory(directory);
		free(directory);
		directory = up;
	}
	if (directory == NULL)
		error = ENOMEM;
	else if (stat(directory, &status) < 0)
		error = errno;
	else if (!S_ISDIR(status.st_mode))
		error = ENOTDIR;
	else if (access(directory, W_OK | X_OK) < 0)
		error = errno;
	if (error != 0)
		snprintf(why, size, "'%.200s': %s", directory != NULL ? directory : path,
			strerror(error));
	free(directory);
	return -error;
}

int
files_make_directories(const char *path)
{
	char copy[PATH_MAX], *slash;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
		return -ENAMETOOLONG;
	for (slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}
