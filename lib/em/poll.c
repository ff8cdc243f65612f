/* SPDX-License-Identifier: BSD-3-Clause */

/* What cores do in each round, beside dispatching. */

#include <stdlib.h>

#include "em_private.h"

/* Under the lock: where it is; EM_POLLS: nowhere. */
static unsigned int
place_of(const struct weir_em *em, weir_em_poll_t function, const void *arg)
{
	unsigned int i = 0;

	while (i < EM_POLLS && (em->polls[i] == NULL || em->polls[i]->function != function ||
				       em->polls[i]->arg != arg))
		i++;
	return i;
}

/* Under the lock. */
static int
add(struct weir_em *em, struct em_poll *poll)
{
	unsigned int i = 0;

	if (place_of(em, poll->function, poll->arg) < EM_POLLS)
		return -EEXIST;
	while (i < EM_POLLS && em->polls[i] != NULL)
		i++;
	if (i == EM_POLLS)
		return -ENOSPC;
	__atomic_store_n(&em->polls[i], poll, __ATOMIC_RELEASE);
	if (i == em->nb_polls)
		__atomic_store_n(&em->nb_polls, i + 1, __ATOMIC_RELEASE);
	return 0;
}

int
weir_em_poll_add(struct weir_em *em, weir_em_poll_t function, void *arg)
{
	struct em_poll *poll;
	int rc;

	if (em == NULL || function == NULL)
		return -EINVAL;
	poll = malloc(sizeof(*poll));
	if (poll == NULL)
		return -ENOMEM;
	*poll = (struct em_poll){.function = function, .arg = arg};
	em_lock(em);
	rc = add(em, poll);
	em_unlock(em);
	if (rc < 0)
		free(poll);
	if (rc == -ENOSPC)
		EM_LOG(ERROR, "%s: there are %u polls already", em->name, EM_POLLS);
	return rc;
}

int
weir_em_poll_remove(
	struct weir_em *em, struct weir_em_core *core, weir_em_poll_t function, void *arg)
{
	struct em_poll *poll = NULL;
	unsigned int i;
	int rc;

	if (em == NULL || function == NULL)
		return -EINVAL;
	em_lock(em);
	i = place_of(em, function, arg);
	if (i < EM_POLLS) {
		poll = em->polls[i];
		__atomic_store_n(&em->polls[i], NULL, __ATOMIC_RELEASE);
	}
	em_unlock(em);
	if (poll == NULL)
		return -ENOENT;
	rc = em_quiesce(em, core, NULL);
	if (rc == 0)
		free(poll); /* else a core may be calling it for all we know */
	return rc;
}

int
weir_em_quiesce(struct weir_em *em, struct weir_em_core *core)
{
	return em != NULL ? em_quiesce(em, core, NULL) : -EINVAL;
}
