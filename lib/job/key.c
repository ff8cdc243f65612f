/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Keys: of jobs with one key one runs at a time. Who has a key is in its bucket's list, and has the list of those who wait for it:
 *
 *     bucket --> job (key 3) --key_next--> job (key 67) --> NULL
 *                 | key_first, key_last
 *                 v
 *                job --next--> job (key 3, they wait, first come first served)
 */

#include "job_private.h"

/* A mixer of all bits (MurmurHash3's, public domain): keys may be numbers in a row, or addresses. */
static uint64_t
mix(uint64_t key)
{
	key ^= key >> 33;
	key *= UINT64_C(0xff51afd7ed558ccd);
	key ^= key >> 33;
	return key;
}

static struct job_bucket *
bucket_of(const struct job *job)
{
	return &job->service->buckets[mix(job->key) & job->service->bucket_mask];
}

static void
append(struct job *holder, struct job *job)
{
	job->next = NULL;
	if (holder->key_last != NULL)
		holder->key_last->next = job;
	else
		holder->key_first = job;
	holder->key_last = job;
}

/* Under the bucket's lock: who has the key; NULL: the job has it now. */
static struct job *
take(struct job_bucket *bucket, struct job *job)
{
	struct job *holder;

	for (holder = bucket->first; holder != NULL && holder->key != job->key;)
		holder = holder->key_next;
	if (holder != NULL)
		return holder;
	job->key_first = job->key_last = NULL;
	job->key_next = bucket->first;
	bucket->first = job;
	job->holds_key = true;
	return NULL;
}

bool
job_key_take(struct job *job)
{
	struct job_bucket *bucket = bucket_of(job);
	struct job *holder;

	job_lock(&bucket->lock);
	holder = take(bucket, job);
	if (holder != NULL)
		append(holder, job);
	job_unlock(&bucket->lock);
	return holder == NULL;
}

bool
job_key_try(struct job *job)
{
	struct job_bucket *bucket = bucket_of(job);
	struct job *holder;

	job_lock(&bucket->lock);
	holder = take(bucket, job);
	job_unlock(&bucket->lock);
	return holder == NULL;
}

struct job *
job_key_give(struct job *job)
{
	struct job_bucket *bucket = bucket_of(job);
	struct job **at, *next;

	job_lock(&bucket->lock);
	for (at = &bucket->first; *at != job;)
		at = &(*at)->key_next;
	next = job->key_first;
	if (next == NULL) {
		*at = job->key_next;
	} else {
		next->key_first = next->next;
		next->key_last = next->next != NULL ? job->key_last : NULL;
		next->key_next = job->key_next;
		next->holds_key = true;
		*at = next;
	}
	job->holds_key = false;
	job_unlock(&bucket->lock);
	return next;
}
