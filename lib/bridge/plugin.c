/* SPDX-License-Identifier: BSD-3-Clause */

/* Kinds of execution objects from shared objects. */

#include <dlfcn.h>
#include <stdio.h>

#include "bridge_private.h"
#include "weir_bridge_object.h"

static const struct weir_bridge_object_type *
fail(int error)
{
	rte_errno = error;
	return NULL;
}

/* A plug-in of another build: the head of what it says about itself has not changed since the first version. */
static bool
check(const struct weir_bridge_object_type *type, const char *symbol, char *text, size_t size)
{
	if (type->abi_version != WEIR_BRIDGE_OBJECT_ABI_VERSION)
		snprintf(text, size,
			"'%s' was built for version %u of the plug-in interface; expected %u",
			symbol, type->abi_version, WEIR_BRIDGE_OBJECT_ABI_VERSION);
	else if (type->struct_size != sizeof(*type))
		snprintf(text, size, "'%s' says that it has %u bytes; expected %zu", symbol,
			type->struct_size, sizeof(*type));
	else if (type->receive == NULL)
		snprintf(text, size, "'%s' has no receive function", symbol);
	else if (type->burst > WEIR_EM_BURST_MAX)
		snprintf(text, size, "'%s' wants bursts of %u events; expected at most %u", symbol,
			type->burst, WEIR_EM_BURST_MAX);
	else
		return true;
	return false;
}

const struct weir_bridge_object_type *
weir_bridge_object_load(const char *path, const char *symbol, const char **why)
{
	static __thread char text[512];
	const struct weir_bridge_object_type *type;
	void *library;

	*why = text;
	if (path == NULL || symbol == NULL) {
		snprintf(text, sizeof(text), "no path, or no symbol");
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
