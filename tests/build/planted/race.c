/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted bug: two threads count without telling each other. */
#include <pthread.h>
#include <stddef.h>

static int counter;

static void *
count(void *arg)
{
	for (int i = 0; i < 100000; i++)
		counter++;
	return arg;
}

int
main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, count, NULL) != 0)
			return 0;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return counter == 0;
}
