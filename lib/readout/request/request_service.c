/* SPDX-License-Identifier: BSD-3-Clause */
/* A service of requests: its links, and room for its fragments. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include <weir_base.h>

#include "request_private.h"

#define FRAGMENTS_DEFAULT 256u
#define FRAMES_DEFAULT    4096u
#define MISSING_DEFAULT   256u

/* @return 0, -EINVAL: said in the log */
static int
check_config(const struct weir_readout_service_config *config)
{
	if (config->links == NULL || config->nb_links == 0 || config->max_missing == 1) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "readout",
			"requests for %" PRIu32 " links, with room for %" PRIu32
			" missing intervals: expected 1 or more, 2 or more",
			config->nb_links, config->max_missing);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < config->nb_links; i++) {
		if (config->links[i].name != NULL && config->links[i].buffer != NULL)
			continue;
		weir_base_log(WEIR_BASE_LOG_ERROR, "readout",
			"requests: link %" PRIu32 " needs a name and a buffer", i);
		return -EINVAL;
	}
	return 0;
}

/* @return 0, -ENOMEM */
static int
copy_links(struct weir_readout_service *service, const struct weir_readout_service_config *config)
{
	service->links = calloc(config->nb_links, sizeof(*service->links));
	if (service->links == NULL)
		return -ENOMEM;
	service->nb_links = config->nb_links;
	for (uint32_t i = 0; i < config->nb_links; i++) {
		service->links[i].key = config->links[i].key;
		service->links[i].buffer = config->links[i].buffer;
		service->links[i].name = strdup(config->links[i].name);
		if (service->links[i].name == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* No fragment has more frames than the largest buffer. */
static uint32_t
default_frames(const struct weir_readout_service *service)
{
	struct weir_readout_buffer_info info;
	uint32_t most = 0;

	for (uint32_t i = 0; i < service->nb_links; i++) {
		weir_readout_buffer_info(service->links[i].buffer, &info);
		most = RTE_MAX(most, info.nb_cells);
	}
	return RTE_MIN(most, FRAMES_DEFAULT);
}

/* @return 0, -ENOMEM */
static int
make_fragments(
	struct weir_readout_service *service, const struct weir_readout_service_config *config)
{
	uint32_t nb = config->nb_fragments != 0 ? config->nb_fragments : FRAGMENTS_DEFAULT;
	uint32_t frames = config->max_frames != 0 ? config->max_frames : default_frames(service);
	uint32_t missing = config->max_missing != 0 ? config->max_missing : MISSING_DEFAULT;

	service->fragments = calloc(nb, sizeof(*service->fragments));
	if (service->fragments == NULL)
		return -ENOMEM;
	service->nb_fragments = nb;
	for (uint32_t i = 0; i < nb; i++) {
		struct fragment *one = &service->fragments[i];

		one->service = service;
		one->window = weir_readout_window_create(frames, missing);
		if (one->window == NULL)
			return -ENOMEM;
		TAILQ_INSERT_TAIL(&service->free, one, entry);
	}
	return 0;
}

struct weir_readout_service *
weir_readout_service_create(const struct weir_readout_service_config *config)
{
	struct weir_readout_service *service = NULL;
	int rc = check_config(config);

	if (rc == 0) {
		service = calloc(1, sizeof(*service));
		rc = service == NULL ? -ENOMEM : 0;
	}
	if (rc < 0) {
		rte_errno = -rc;
		return NULL;
	}
	pthread_mutex_init(&service->lock, NULL);
	TAILQ_INIT(&service->waiting);
	TAILQ_INIT(&service->free);
	TAILQ_INIT(&service->asked);
	rc = copy_links(service, config);
	if (rc == 0)
		rc = make_fragments(service, config);
	if (rc == 0)
		return service;
	weir_base_log(WEIR_BASE_LOG_ERROR, "readout", "no memory for fragments");
	weir_readout_service_free(service);
	rte_errno = -rc;
	return NULL;
}

void
weir_readout_service_free(struct weir_readout_service *service)
{
	if (service == NULL)
		return;
	for (uint32_t i = 0; i < service->nb_fragments; i++)
		weir_readout_window_free(service->fragments[i].window);
	for (uint32_t i = 0; i < service->nb_links; i++)
		free(service->links[i].name);
	free(service->fragments);
	free(service->links);
	pthread_mutex_destroy(&service->lock);
	free(service);
}

uint32_t
weir_readout_service_nb_links(const struct weir_readout_service *service)
{
	return service->nb_links;
}

int
weir_readout_service_find(const struct weir_readout_service *service, const char *name)
{
	for (uint32_t i = 0; i < service->nb_links; i++)
		if (strcmp(service->links[i].name, name) == 0)
			return (int)i;
	return -ENOENT;
}
