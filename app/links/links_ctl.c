/* SPDX-License-Identifier: BSD-3-Clause */
/* The readout of a run, on its control socket. */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

#include <weir_base.h>
#include <weir_base_ctl.h>

#include "links_run.h"

static int
answer_none(void *arg, const json_t *args, json_t **result)
{
	(void)arg;
	(void)args;
	*result = json_string("this run has no readout: its description has no application.links");
	return -ENOENT;
}

/* Who asks for what is not there is told so. */
static int
register_none(struct weir_base_ctl *ctl)
{
	static const char *const names[] = {"readout/status", "readout/request"};
	size_t i;
	int error = 0;

	for (i = 0; error == 0 && i < sizeof(names) / sizeof(names[0]); i++)
		error = weir_base_ctl_register(ctl, names[i], "readout: there is none",
			WEIR_BASE_CTL_READ_ONLY, answer_none, NULL);
	return error;
}

/* Feeds, senders, and what looks at frames, by name. @return how many */
static unsigned int
list_parts(const struct links_run *run, struct weir_readout_ctl_part *parts)
{
	unsigned int nb = 0, i;

	for (i = 0; i < run->nb_feeds; i++)
		nb += run->feeds[i].type->parts(&run->feeds[i], &parts[nb]);
	for (i = 0; i < run->requests.nb; i++)
		if (run->requests.list[i].sender != NULL)
			parts[nb++] = (struct weir_readout_ctl_part){
				.name = run->requests.list[i].config->name,
				.sender = run->requests.list[i].sender};
	return nb + links_processes_parts(run, &parts[nb]);
}

int
links_run_register(struct links_run *run, struct weir_base_ctl *ctl)
{
	struct weir_readout_ctl_config config = {
		.handlers = (const struct weir_readout_handler *const *)run->handlers,
		.nb_handlers = run->nb,
		.service = run->requests.service,
		.fragments_key = "application.fragments.count",
		.frames_key = "application.fragments.frames",
	};
	struct weir_readout_ctl_part *parts;

	if (run->registry == NULL)
		return register_none(ctl);
	parts = calloc(run->nb_feeds * LINKS_FEED_PARTS + run->requests.nb +
			       links_processes_nb_parts(run) + 1,
		sizeof(*parts));
	if (parts == NULL)
		return -ENOMEM;
	config.parts = parts;
	config.nb_parts = list_parts(run, parts);
	run->ctl = weir_readout_ctl_register(ctl, &config);
	free(parts);
	return run->ctl != NULL ? 0 : -rte_errno;
}

void
links_run_unregister(struct links_run *run)
{
	if (run->ctl == NULL)
		return;
	/* Its thread has ended, or was never there: what was asked meanwhile is answered here. */
	weir_readout_service_stop(run->requests.service);
	weir_readout_service_poll(run->requests.service, weir_base_time_ns());
	weir_readout_ctl_unregister(run->ctl);
	run->ctl = NULL;
}
