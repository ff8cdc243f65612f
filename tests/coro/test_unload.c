/* SPDX-License-Identifier: BSD-3-Clause */
/* test_unload LIBRARY: a program that loads the library, and is done with it while a thread is there that used it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdint.h>
#include <stddef.h>

static void *library;
static pthread_barrier_t used, unloaded;

static void
nothing(void)
{
}

static void *
uses(void *arg)
{
	void *(*create)(void (*run)(void)) =
		(void *(*)(void (*)(void)))dlsym(library, "weir_coro_create");
	int (*destroy)(void *coro) = (int (*)(void *))dlsym(library, "weir_coro_destroy");
	void *coro = create(nothing);

	if (coro == NULL || destroy(coro) != 0)
		arg = NULL;
	pthread_barrier_wait(&used);
	pthread_barrier_wait(&unloaded);
	return arg; /* and then what it kept is given back, by the library */
}

int
main(int argc, char **argv)
{
	int (*init)(size_t, size_t, size_t, size_t, uint64_t, unsigned int, int);
	void (*cleanup)(void);
	void *result = NULL;
	pthread_t thread;

	library = dlopen(argv[1], RTLD_NOW);
	if (library == NULL) {
		printf("%s\n", dlerror());
		return 1;
	}
	init = (int (*)(size_t, size_t, size_t, size_t, uint64_t, unsigned int, int))dlsym(
		library, "weir_coro_init");
	cleanup = (void (*)(void))dlsym(library, "weir_coro_cleanup");
	if (init(65536, 0, 0, 10, 0, 2, -1) != 0)
		return 2;
	pthread_barrier_init(&used, NULL, 2);
	pthread_barrier_init(&unloaded, NULL, 2);
	if (pthread_create(&thread, NULL, uses, &used) != 0)
		return 3;
	pthread_barrier_wait(&used);
	cleanup();
	dlclose(library);
	pthread_barrier_wait(&unloaded);
	pthread_join(thread, &result);
	return result == &used ? 0 : 4;
}
