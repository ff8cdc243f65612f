/* SPDX-License-Identifier: BSD-3-Clause */

/* Kinds of execution objects, work for jobs, and functions on frames, from shared objects. */

#include <dlfcn.h>
#include <stdio.h>

#include "bridge_private.h"
#include "weir_bridge_job.h"
#include "weir_bridge_object.h"
#include "weir_bridge_process.h"

#define LIBRARY "libweir.so"

static const char no_path[] = "no path, or no symbol";

static const void *
fail(int error)
{
	rte_errno = error;
	return NULL;
}

/* A plug-in of another build: the head of what it says about itself has not changed since the first version. */
static bool
check_build(uint32_t version, uint32_t expected, uint32_t has, size_t size, const char *symbol,
	char *text, size_t text_size)
{
	if (version != expected)
		snprintf(text, text_size,
			"'%s' was built for version %u of the plug-in interface; expected %u",
			symbol, version, expected);
	else if (has != size)
		snprintf(text, text_size, "'%s' says that it has %u bytes; expected %zu", symbol,
			has, size);
	else
		return true;
	return false;
}

static bool
check_object(const void *constant, const char *symbol, char *text, size_t size)
{
	const struct weir_bridge_object_type *type = constant;

	if (!check_build(type->abi_version, WEIR_BRIDGE_OBJECT_ABI_VERSION, type->struct_size,
		    sizeof(*type), symbol, text, size))
		return false;
	if (type->receive == NULL)
		snprintf(text, size, "'%s' has no receive function", symbol);
	else if (type->burst > WEIR_EM_BURST_MAX)
		snprintf(text, size, "'%s' wants bursts of %u events; expected at most %u", symbol,
			type->burst, WEIR_EM_BURST_MAX);
	else
		return true;
	return false;
}

static bool
check_job(const void *constant, const char *symbol, char *text, size_t size)
{
	const struct weir_bridge_job_type *type = constant;

	if (!check_build(type->abi_version, WEIR_BRIDGE_JOB_ABI_VERSION, type->struct_size,
		    sizeof(*type), symbol, text, size))
		return false;
	if (type->process != NULL)
		return true;
	snprintf(text, size, "'%s' has no process function", symbol);
	return false;
}

static bool
check_process(const void *constant, const char *symbol, char *text, size_t size)
{
	const struct weir_bridge_process_type *type = constant;

	if (!check_build(type->abi_version, WEIR_BRIDGE_PROCESS_ABI_VERSION, type->struct_size,
		    sizeof(*type), symbol, text, size))
		return false;
	if (type->run != NULL)
		return true;
	snprintf(text, size, "'%s' has no run function", symbol);
	return false;
}

/* Is this code in libweir.so? Then what plug-ins were linked with is this one. */
static bool
is_in_library(void)
{
	Dl_info info;
	const char *slash;

	if (dladdr(no_path, &info) == 0 || info.dli_fname == NULL)
		return false;
	slash = strrchr(info.dli_fname, '/');
	return strncmp(slash != NULL ? slash + 1 : info.dli_fname, LIBRARY, strlen(LIBRARY)) == 0;
}

static const void *
load(const char *path, const char *symbol,
	bool (*check)(const void *constant, const char *symbol, char *text, size_t size),
	const char **why)
{
	static __thread char text[512];
	const void *type;
	void *library;

	*why = text;
	if (path == NULL || symbol == NULL) {
		snprintf(text, sizeof(text), "%s", no_path);
		return fail(EINVAL);
	}
	/* A second one would not even begin. */
	if (!is_in_library() && bridge_file_needs(path, LIBRARY)) {
		snprintf(text, sizeof(text),
			"it was linked with libweir, which the program has itself; expected it "
			"without");
		return fail(EINVAL);
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		snprintf(text, sizeof(text), "%s", dlerror());
		return fail(ENOENT);
	}
	type = dlsym(library, symbol);
	if (type == NULL) {
		snprintf(text, sizeof(text), "it has no symbol '%s'", symbol);
		dlclose(library);
		return fail(ENOENT);
	}
	/* It stays loaded: threads may hold on to its functions' thread-local storage, tools to its names. */
	if (!check(type, symbol, text, sizeof(text))) {
		dlclose(library);
		return fail(EINVAL);
	}
	return type;
}

const struct weir_bridge_object_type *
weir_bridge_object_load(const char *path, const char *symbol, const char **why)
{
	return load(path, symbol, check_object, why);
}

const struct weir_bridge_job_type *
weir_bridge_job_load(const char *path, const char *symbol, const char **why)
{
	return load(path, symbol, check_job, why);
}

const struct weir_bridge_process_type *
weir_bridge_process_load(const char *path, const char *symbol, const char **why)
{
	return load(path, symbol, check_process, why);
}
