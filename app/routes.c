/* SPDX-License-Identifier: BSD-3-Clause */
/* Next hops and routes of a description file, into the tables. */
#include <errno.h>
#include <string.h>

#include <weir_base.h>
#include <weir_node.h>
#include <weir_node_route.h>

#include "reason_log.h"
#include "routes.h"
#include "routes_file.h"

#define FILE_ERRORS_MAX 20 /* lines of one file that are worth telling */

static int
set_hops(struct config *config, const struct config_hops *hops, const uint16_t *port_ids)
{
	struct weir_node_hop hop = {.kind = WEIR_NODE_HOP_FORWARD, .port = WEIR_NODE_PORT_INVALID};
	const char *why;
	uint32_t id;
	int error = 0;

	if (hops->blackhole) {
		hop.kind = WEIR_NODE_HOP_BLACKHOLE;
	} else if (hops->local) {
		hop.kind = WEIR_NODE_HOP_LOCAL;
	} else {
		hop.port = port_ids != NULL ? port_ids[hops->port] : WEIR_NODE_PORT_INVALID;
		if (hops->mac == NULL || port_ids == NULL)
			hop.kind = port_ids != NULL ? WEIR_NODE_HOP_INCOMPLETE
						    : WEIR_NODE_HOP_BLACKHOLE;
		else
			memcpy(&hop.mac, hops->mac, sizeof(hop.mac));
	}
	reason_log_begin();
	for (id = hops->first; error == 0 && id <= hops->last; id++)
		error = weir_node_hop_set(id, &hop);
	why = reason_log_end(strerror(-error));
	if (error < 0)
		weir_base_doc_error_add(
			config->doc, hops->value, "neighbour %u was refused: %s", id - 1, why);
	return error;
}

/* Errors of one route file on their way into the document. */
struct file_errors {
	struct config *config;
	unsigned int nb;
};

static void
report_line(
	void *arg, const char *file, unsigned int line, unsigned int column, const char *message)
{
	struct file_errors *errors = arg;

	errors->nb++;
	if (errors->nb <= FILE_ERRORS_MAX)
		weir_base_doc_error_add_at(errors->config->doc, file, line, column, "%s", message);
}

/* Apply what a batch holds; `value` is to blame when that fails. */
static int
commit(struct config *config, const struct weir_base_doc_value *value,
	struct weir_node_route_batch *batch, uint32_t hop_base)
{
	const char *path = weir_base_doc_str(value); /* of a file, or NULL: inline routes */
	const char *why;
	int error;

	reason_log_begin();
	error = weir_node_route_batch_commit(batch);
	why = reason_log_end(strerror(-error));
	/* Where in the file, and where that is named. */
	if (error == -ENOENT && path != NULL)
		routes_file_report_missing_hop(config, path, hop_base);
	if (error == -ENOENT)
		weir_base_doc_error_add(config->doc, value,
			"%s; expected next hops that are in application.neighbours", why);
	else if (error == -ENOSPC)
		weir_base_doc_error_add(config->doc, value,
			"%s; expected fewer routes, or larger platform.limits", why);
	else if (error < 0)
		weir_base_doc_error_add(config->doc, value, "routes were refused: %s", why);
	return error;
}

static int
load_file(struct config *config, const struct weir_base_doc_value *route, bool progress)
{
	const struct weir_base_doc_value *file = weir_base_doc_get(route, "file");
	const char *path = weir_base_doc_str(file), *why;
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	struct file_errors errors = {.config = config};
	uint32_t hop_base = (uint32_t)weir_base_doc_u64(weir_base_doc_get(route, "first_next_hop"));
	int64_t nb_routes;

	if (batch == NULL)
		return -ENOMEM;
	if (progress)
		fprintf(stderr, "\rloading %s ...\033[K", path);
	reason_log_begin();
	nb_routes = weir_node_route_file_read(path, hop_base, batch, report_line, &errors);
	why = reason_log_end(nb_routes < 0 ? strerror((int)-nb_routes) : "");
	if (nb_routes >= 0)
		return commit(config, file, batch, hop_base);
	weir_node_route_batch_abort(batch);
	if (errors.nb == 0)
		weir_base_doc_error_add(config->doc, file, "cannot read '%s': %s", path, why);
	if (errors.nb > FILE_ERRORS_MAX)
		weir_base_doc_error_add(config->doc, file,
			"'%s' has %u bad lines, of which %u are shown", path, errors.nb,
			FILE_ERRORS_MAX);
	return (int)nb_routes;
}

static int
add_inline(const struct weir_base_doc_value *route, struct weir_node_route_batch *batch)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(route, "prefix");
	struct weir_node_prefix prefix = {.version = weir_base_doc_length(value) == 4 ? 4 : 6};

	prefix.length = (uint8_t)weir_base_doc_u64(value);
	memcpy(prefix.address, weir_base_doc_bytes(value), weir_base_doc_length(value));
	return weir_node_route_batch_add(
		batch, &prefix, (uint32_t)weir_base_doc_u64(weir_base_doc_get(route, "next_hop")));
}

/* Own addresses lead to a next hop of their own, beyond the ids of neighbours. */
static int
add_addresses(struct config *config, struct weir_node_route_batch *batch)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(
						 config->application, "addresses"),
					 *value;
	const struct weir_node_hop local = {.kind = WEIR_NODE_HOP_LOCAL};
	struct weir_node_prefix prefix;
	unsigned int i;
	int error = 0;

	if (weir_base_doc_count(list) > 0)
		error = weir_node_hop_set(config->hop_local, &local);
	for (i = 0; error == 0 && i < weir_base_doc_count(list); i++) {
		value = weir_base_doc_at(list, i);
		memset(&prefix, 0, sizeof(prefix));
		prefix.version = weir_base_doc_length(value) == 4 ? 4 : 6;
		prefix.length = prefix.version == 4 ? 32 : 128;
		memcpy(prefix.address, weir_base_doc_bytes(value), weir_base_doc_length(value));
		error = weir_node_route_batch_add(batch, &prefix, config->hop_local);
	}
	return error;
}

/*
 * Routes take effect in the file's order: inline ones are collected up to the
 * next file. Own addresses come last, so that no route can take one away.
 */
static int
load_all(struct config *config, bool progress)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(config->application, "routes"),
					 *route;
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	unsigned int i, nb_noted = 0;
	int error = 0, first_error = 0;

	for (i = 0; batch != NULL && i < weir_base_doc_count(list); i++) {
		route = weir_base_doc_at(list, i);
		if (weir_base_doc_get(route, "prefix") != NULL) {
			error = add_inline(route, batch);
			nb_noted++;
		} else {
			error = 0;
			if (nb_noted > 0) {
				error = commit(config, list, batch, 0);
				batch = weir_node_route_batch_begin();
				nb_noted = 0;
			}
			if (error == 0)
				error = load_file(config, route, progress);
		}
		if (first_error == 0)
			first_error = error;
	}
	if (batch == NULL)
		return -ENOMEM;
	error = add_addresses(config, batch);
	nb_noted += weir_base_doc_count(weir_base_doc_get(config->application, "addresses"));
	if (error == 0 && nb_noted > 0)
		error = commit(config, list, batch, 0);
	else
		weir_node_route_batch_abort(batch);
	return first_error != 0 ? first_error : error;
}

int
routes_load(struct config *config, const uint16_t *port_ids, bool progress,
	struct routes_loaded *loaded)
{
	struct weir_node_route_info info;
	uint64_t start = weir_base_time_ns();
	unsigned int i;
	int error = 0;

	for (i = 0; error == 0 && i < config->nb_hops; i++)
		error = set_hops(config, &config->hops[i], port_ids);
	if (error == 0)
		error = load_all(config, progress);
	if (progress)
		fprintf(stderr, "\r\033[K");
	weir_node_route_info(&info);
	*loaded = (struct routes_loaded){
		.ip4_routes = info.ip4_routes,
		.ip6_routes = info.ip6_routes,
		.time_ns = weir_base_time_ns() - start,
	};
	return error;
}
