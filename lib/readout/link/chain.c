/* SPDX-License-Identifier: BSD-3-Clause */
/* An application's functions in a row, and the names of their reasons. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "chain.h"
#include "registry_private.h"

/* @return 0, -EINVAL: said in the log */
static int
check(const struct chain *chain, const char *owner, const struct weir_readout_process *process)
{
	bool named = process->nb_drops == 0 || process->drops != NULL;

	for (uint32_t i = 0; named && i < process->nb_drops; i++)
		named = registry_is_name(process->drops[i]);
	if (!registry_is_name(process->name) || process->run == NULL || !named) {
		READOUT_LOG(ERROR,
			"'%s': function %" PRIu32
			" needs something to run, and names of 1 up to %u bytes for itself and "
			"its reasons to drop frames",
			owner, chain->nb, WEIR_READOUT_NAME_MAX - 1);
		return -EINVAL;
	}
	if (process->nb_drops > WEIR_READOUT_PROCESS_DROPS_MAX ||
		chain->nb_drops + RTE_MAX(process->nb_drops, 1u) > WEIR_READOUT_PROCESS_DROPS_MAX) {
		READOUT_LOG(ERROR,
			"'%s': with function '%s' there are more reasons to drop frames than %u",
			owner, process->name, WEIR_READOUT_PROCESS_DROPS_MAX);
		return -EINVAL;
	}
	return 0;
}

static void
add(struct chain *chain, const struct weir_readout_process *process)
{
	uint32_t first = chain->nb_drops;

	for (uint32_t i = 0; i < process->nb_drops; i++)
		snprintf(chain->drops[first + i], sizeof(chain->drops[0]), "%s.%s", process->name,
			process->drops[i]);
	if (process->nb_drops == 0)
		snprintf(chain->drops[first], sizeof(chain->drops[0]), "%s", process->name);
	chain->nb_drops += RTE_MAX(process->nb_drops, 1u);
	chain->steps[chain->nb].run = process->run;
	chain->steps[chain->nb].arg = process->arg;
	chain->steps[chain->nb].first_drop = first;
	chain->steps[chain->nb++].last_drop = chain->nb_drops - 1;
}

int
chain_init(struct chain *chain, const char *owner, const struct weir_readout_process *processes,
	uint32_t nb)
{
	*chain = (struct chain){0};
	if (nb > WEIR_READOUT_PROCESSES_MAX) {
		READOUT_LOG(ERROR, "'%s': %" PRIu32 " functions, expected up to %u", owner, nb,
			WEIR_READOUT_PROCESSES_MAX);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < nb; i++) {
		if (check(chain, owner, &processes[i]) < 0)
			return -EINVAL;
		add(chain, &processes[i]);
	}
	return 0;
}

const char *
chain_drop_name(const struct chain *chain, uint32_t number)
{
	return number < chain->nb_drops ? chain->drops[number] : NULL;
}
