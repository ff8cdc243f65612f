/* SPDX-License-Identifier: BSD-3-Clause */
/* A readout's commands on the control socket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include <weir_base.h>

#include "ctl_private.h"
#include "registry_private.h"
#include "request/request_private.h"

/* Link @p number, of those with buffers first. @param[out] handler  NULL: it has none */
static const struct weir_readout_link *
link_at(const struct weir_readout_ctl *readout, uint32_t number,
	const struct weir_readout_handler **handler)
{
	*handler = number < readout->nb_handlers ? readout->handlers[number] : NULL;
	return *handler != NULL ? weir_readout_handler_link(*handler)
				: readout->links[number - readout->nb_handlers];
}

/* Links that are told of. */
struct telling {
	const struct weir_readout_ctl *readout;
	json_t *list;
	bool agree;
};

static const char *
name_of_link(void *arg, uint32_t number)
{
	const struct telling *telling = arg;
	const struct weir_readout_handler *handler;

	return weir_readout_link_name(link_at(telling->readout, number, &handler));
}

static void
tell_link(void *arg, uint32_t number)
{
	struct telling *telling = arg;
	const struct weir_readout_handler *handler;
	const struct weir_readout_link *link = link_at(telling->readout, number, &handler);

	json_array_append_new(telling->list, ctl_link(link, handler, &telling->agree));
}

/* @param name  NULL: all links. @return 0, or why not in result: as ctl_names_find() */
static int
tell_links(struct telling *telling, const json_t *name, json_t **result)
{
	const struct ctl_names names = {.name = name_of_link,
		.arg = telling,
		.nb = telling->readout->nb_handlers + telling->readout->nb_links};
	int rc = 0;

	telling->list = json_array();
	for (uint32_t i = 0; name == NULL && i < names.nb; i++)
		tell_link(telling, i);
	if (name != NULL)
		rc = ctl_names_find(&names, name, tell_link, result);
	if (rc < 0)
		json_decref(telling->list);
	return rc;
}

/* Those of the service, and what is its requests' over this socket. */
static json_t *
tell_requests(struct weir_readout_ctl *readout, bool *agree)
{
	json_t *object = ctl_service(readout->service, agree), *control = json_object();

	pthread_mutex_lock(&readout->lock);
	weir_base_ctl_set(control, "fragments", readout->nb_fragments);
	weir_base_ctl_set(control, "refused", readout->nb_refused);
	pthread_mutex_unlock(&readout->lock);
	weir_base_ctl_set(control, "max_fragments", readout->max_fragments);
	json_object_set_new(object, "control", control);
	return object;
}

static int
ctl_status(void *arg, const json_t *args, json_t **result)
{
	struct weir_readout_ctl *readout = arg;
	const json_t *name = json_object_get(args, "link");
	struct telling telling = {.readout = readout, .agree = true};
	json_t *object;
	int rc;

	if (name == NULL)
		name = json_object_get(args, "name");
	rc = tell_links(&telling, name, result);
	if (rc < 0)
		return rc;
	object = json_pack(
		"{s:I, s:o}", "time_ns", (json_int_t)readout->clock(), "links", telling.list);
	if (name == NULL) {
		if (readout->service != NULL)
			json_object_set_new(
				object, "requests", tell_requests(readout, &telling.agree));
		ctl_parts(object, readout->parts, readout->nb_parts, &telling.agree);
	}
	json_object_set_new(object, "agree", json_boolean(telling.agree));
	*result = object;
	return 0;
}

static const struct weir_base_ctl_entry commands[] = {
	{"readout/status",
		"links: frames received, buffered, delivered, dropped; all that is around them; "
		"of \"link\" only, or of all links \"link\"-0, \"link\"-1 ...",
		"link name", WEIR_BASE_CTL_READ_ONLY, ctl_status},
	{"readout/request",
		"frames of a window: \"begin\" and \"end\" in ticks, or \"last_ms\"; of "
		"\"links\"; \"timeout_ms\", \"run\", \"trigger\", \"frames\"",
		"begin end last_ms links timeout_ms run trigger frames", 0, ctl_request},
};

/* @return NULL: no memory */
static void *
copy(const void *from, size_t bytes)
{
	void *to = calloc(1, bytes + 1);

	if (to != NULL && bytes > 0)
		memcpy(to, from, bytes);
	return to;
}

/* @return 0, -ENOMEM */
static int
copy_parts(struct weir_readout_ctl *readout, const struct weir_readout_ctl_config *config)
{
	readout->parts = calloc((size_t)config->nb_parts + 1, sizeof(*readout->parts));
	if (readout->parts == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < config->nb_parts; i++) {
		readout->parts[i] = config->parts[i];
		readout->parts[i].name = strdup(config->parts[i].name);
		if (readout->parts[i].name == NULL)
			return -ENOMEM;
		readout->nb_parts++;
	}
	return 0;
}

/* @return 0, -ENOMEM */
static int
copy_config(struct weir_readout_ctl *readout, const struct weir_readout_ctl_config *config)
{
	readout->handlers =
		copy(config->handlers, config->nb_handlers * sizeof(config->handlers[0]));
	readout->links = copy(config->links, config->nb_links * sizeof(config->links[0]));
	if (readout->handlers == NULL || readout->links == NULL)
		return -ENOMEM;
	readout->nb_handlers = config->nb_handlers;
	readout->nb_links = config->nb_links;
	readout->service = config->service;
	readout->clock = config->clock != NULL ? config->clock : weir_base_time_ns;
	readout->max_fragments = config->max_fragments;
	readout->fragments_key = config->fragments_key != NULL ? config->fragments_key
							       : "nb_fragments of the service";
	readout->frames_key =
		config->frames_key != NULL ? config->frames_key : "max_frames of the service";
	if (readout->max_fragments == 0 && config->service != NULL)
		readout->max_fragments = config->service->nb_fragments / 2;
	return copy_parts(readout, config);
}

static void
free_readout(struct weir_readout_ctl *readout)
{
	for (uint32_t i = 0; i < readout->nb_parts; i++)
		free((char *)(uintptr_t)readout->parts[i].name);
	free(readout->parts);
	free(readout->handlers);
	free(readout->links);
	pthread_mutex_destroy(&readout->lock);
	free(readout);
}

/* @return 0, -EINVAL: said in the log */
static int
check_config(const struct weir_base_ctl *ctl, const struct weir_readout_ctl_config *config)
{
	bool good = ctl != NULL;

	for (uint32_t i = 0; i < config->nb_handlers; i++)
		good &= config->handlers[i] != NULL;
	for (uint32_t i = 0; i < config->nb_links; i++)
		good &= config->links[i] != NULL;
	for (uint32_t i = 0; i < config->nb_parts; i++)
		good &= config->parts[i].name != NULL;
	if (good)
		return 0;
	READOUT_LOG(ERROR, "commands need a control socket, handlers, links, and parts with names");
	return -EINVAL;
}

struct weir_readout_ctl *
weir_readout_ctl_register(struct weir_base_ctl *ctl, const struct weir_readout_ctl_config *config)
{
	struct weir_readout_ctl *readout;
	int rc = check_config(ctl, config);

	if (rc < 0) {
		rte_errno = -rc;
		return NULL;
	}
	readout = calloc(1, sizeof(*readout));
	if (readout == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_init(&readout->lock, NULL);
	LIST_INIT(&readout->waiting);
	readout->ctl = ctl;
	rc = copy_config(readout, config);
	if (rc == 0)
		rc = weir_base_ctl_register_all(ctl, commands, RTE_DIM(commands), readout);
	if (rc < 0) {
		free_readout(readout);
		rte_errno = -rc;
		return NULL;
	}
	readout->registered = true;
	return readout;
}

int
weir_readout_ctl_unregister(struct weir_readout_ctl *readout)
{
	bool waits;

	if (readout == NULL)
		return 0;
	/* Clients that wait are answered by this. */
	if (readout->registered)
		weir_base_ctl_unregister_all(readout->ctl, commands, RTE_DIM(commands));
	readout->registered = false;
	pthread_mutex_lock(&readout->lock);
	waits = !LIST_EMPTY(&readout->waiting);
	pthread_mutex_unlock(&readout->lock);
	if (waits)
		return -EBUSY;
	free_readout(readout);
	return 0;
}
