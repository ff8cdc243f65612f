/* SPDX-License-Identifier: BSD-3-Clause */

/* Pools and channels, for those who look; names, as they are seen. */

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "listed.h"

static struct job_listed *lists[JOB_LISTED_KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void
job_listed_add(enum job_listed_kind kind, struct job_listed *entry, void *what)
{
	struct job_listed **at = &lists[kind];

	pthread_mutex_lock(&lock);
	while (*at != NULL)
		at = &(*at)->next;
	*entry = (struct job_listed){.at = at, .what = what};
	*at = entry;
	pthread_mutex_unlock(&lock);
}

void
job_listed_remove(struct job_listed *entry)
{
	pthread_mutex_lock(&lock);
	if (entry->at != NULL) {
		*entry->at = entry->next;
		if (entry->next != NULL)
			entry->next->at = entry->at;
		entry->at = NULL;
	}
	pthread_mutex_unlock(&lock);
}

void
job_copy_name(char *to, size_t size, const char *name)
{
	size_t length = strnlen(name, size);

	if (length == size)
		for (length--; length > 0 && (name[length] & 0xc0) == 0x80;)
			length--; /* what begins there is not complete */
	memcpy(to, name, length);
	memset(to + length, 0, size - length);
}

void
job_listed_foreach(enum job_listed_kind kind, void (*visit)(void *arg, void *what), void *arg)
{
	pthread_mutex_lock(&lock);
	for (const struct job_listed *entry = lists[kind]; entry != NULL; entry = entry->next)
		visit(arg, entry->what);
	pthread_mutex_unlock(&lock);
}
