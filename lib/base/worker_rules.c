/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of workers: each queue of a port has one to poll it, and each of their groups something to serve. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir_base_doc.h"
#include "weir_base_nodes.h"
#include "weir_base_rules.h"

#define WORKERS_MAX 64

/* A port that workers may receive from. */
struct polled {
	const struct weir_base_doc_value *port;
	long nb; /* queues */
	bool is_polled[WEIR_BASE_RECEIVE_QUEUES];
};

struct subject {
	struct weir_base_doc *doc;
	const struct weir_base_doc_value *application, *ports, *workers;
	struct polled *polled; /* by port */
};

static bool
receives(const struct weir_base_doc_value *port)
{
	return weir_base_doc_given(port, "device") || weir_base_doc_given(port, "pcap_in");
}

/* ---- which queues of ports ---- */

static struct polled *
find_port(const struct subject *subject, const char *name)
{
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(subject->ports); i++)
		if (strcmp(weir_base_doc_name(subject->polled[i].port), name) == 0)
			return &subject->polled[i];
	return NULL;
}

bool
weir_base_receive_read(const char *text, struct weir_base_receive *receive)
{
	const char *dot = strchr(text, '.');
	long queue;
	char *end;

	receive->queue = WEIR_BASE_RECEIVE_ALL;
	snprintf(receive->port, sizeof(receive->port), "%.*s",
		dot != NULL ? (int)(dot - text) : (int)strlen(text), text);
	if (dot == NULL)
		return true;
	queue = strtol(dot + 1, &end, 10);
	if (dot[1] < '0' || dot[1] > '9' || *end != '\0' || queue >= WEIR_BASE_RECEIVE_QUEUES)
		return false;
	receive->queue = (int)queue;
	return true;
}

/* @return NULL: there is no such port, or it has no such queue */
static struct polled *
read_receive(const struct subject *subject, const struct weir_base_doc_value *value,
	struct weir_base_receive *receive)
{
	return weir_base_receive_read(weir_base_doc_str(value), receive)
		       ? find_port(subject, receive->port)
		       : NULL;
}

/* @return whether it can be received from */
static bool
check_receive(const struct subject *subject, const struct weir_base_doc_value *value)
{
	struct weir_base_receive receive;
	const struct polled *polled = read_receive(subject, value, &receive);
	const char *name = receive.port;

	if (polled == NULL && find_port(subject, name) != NULL)
		weir_base_doc_error_add(subject->doc, value,
			"bad queue '%s'; expected PORT.QUEUE with a queue of 0 to 255",
			strchr(weir_base_doc_str(value), '.') + 1);
	else if (polled == NULL)
		weir_base_doc_error_add(subject->doc, value, "unknown port '%s'; expected %s", name,
			weir_base_doc_names(subject->doc, subject->ports,
				"a port of platform.ports, which has none"));
	else if (!receives(polled->port))
		weir_base_doc_error_add(subject->doc, value,
			"port '%s' has nothing to receive from; expected one with 'pcap_in' or "
			"'device'",
			name);
	else if (!weir_base_doc_given(polled->port, "device") && receive.queue > 0)
		weir_base_doc_error_add(subject->doc, value,
			"a file has one queue; expected '%s' or '%s.0'", name, name);
	else
		return true;
	return false;
}

/* Queues that are named exist, unless rx_queues says otherwise. */
static void
count_queues(const struct subject *subject, const struct weir_base_doc_value *value)
{
	struct weir_base_receive receive;
	struct polled *polled;

	if (!check_receive(subject, value))
		return;
	polled = read_receive(subject, value, &receive);
	if (receive.queue < polled->nb)
		return;
	if (weir_base_doc_given(polled->port, "rx_queues"))
		weir_base_doc_error_add(subject->doc, value,
			"port '%s' has no queue %d; expected 0 to %ld", receive.port, receive.queue,
			polled->nb - 1);
	else
		polled->nb = receive.queue + 1;
}

/* Each has one worker. */
static void
take_queues(const struct subject *subject, const struct weir_base_doc_value *value)
{
	struct weir_base_receive receive;
	struct polled *polled = read_receive(subject, value, &receive);
	long i;

	for (i = 0; polled != NULL && receives(polled->port) && i < polled->nb; i++) {
		if (receive.queue != WEIR_BASE_RECEIVE_ALL && receive.queue != i)
			continue;
		if (polled->is_polled[i])
			weir_base_doc_error_add(subject->doc, value,
				"queue %ld of port '%s' is polled already; expected one worker for "
				"each queue",
				i, receive.port);
		polled->is_polled[i] = true;
	}
}

/* A queue that RSS fills and nobody empties loses packets: say so now. */
static void
check_unpolled(const struct subject *subject, const struct polled *polled)
{
	const char *name = weir_base_doc_name(polled->port);
	long i, nb_polled = 0;

	for (i = 0; i < polled->nb; i++)
		nb_polled += polled->is_polled[i];
	for (i = 0; nb_polled > 0 && i < polled->nb; i++)
		if (!polled->is_polled[i])
			weir_base_doc_error_add(subject->doc, polled->port,
				"queue %ld of port '%s' is polled by no worker; expected '%s.%ld' "
				"in a "
				"'receive' list",
				i, name, name, i);
	if (nb_polled == 0 && weir_base_doc_given(polled->port, "pcap_in"))
		weir_base_doc_error_add(subject->doc, weir_base_doc_get(polled->port, "pcap_in"),
			"no worker receives from port '%s'; expected it in a 'receive' list", name);
}

static void
for_each_receive(const struct subject *subject,
	void (*check)(const struct subject *subject, const struct weir_base_doc_value *value))
{
	unsigned int i, j;

	for (i = 0; i < weir_base_doc_count(subject->workers); i++) {
		const struct weir_base_doc_value *list =
			weir_base_doc_get(weir_base_doc_at(subject->workers, i), "receive");

		for (j = 0; j < weir_base_doc_count(list); j++)
			check(subject, weir_base_doc_at(list, j));
	}
}

static void
check_queues(const struct subject *subject)
{
	unsigned int before, nb_errors, i;

	for (i = 0; i < weir_base_doc_count(subject->ports); i++) {
		struct polled *polled = &subject->polled[i];
		const struct weir_base_doc_value *rx_queues;

		polled->port = weir_base_doc_at(subject->ports, i);
		rx_queues = weir_base_doc_get(polled->port, "rx_queues");
		polled->nb = rx_queues != NULL ? (long)weir_base_doc_u64(rx_queues) : 1;
		if (polled->nb < 1 || polled->nb > WEIR_BASE_RECEIVE_QUEUES)
			polled->nb = 1;
	}
	weir_base_doc_errors(subject->doc, &before);
	for_each_receive(subject, count_queues);
	for_each_receive(subject, take_queues);
	weir_base_doc_errors(subject->doc, &nb_errors);
	for (i = 0; nb_errors == before && i < weir_base_doc_count(subject->ports); i++)
		check_unpolled(subject, &subject->polled[i]);
}

/* ---- which groups ---- */

/* Is something of the group? NULL: of any. */
static bool
is_of(const struct weir_base_doc_value *thing, const char *group)
{
	const char *name = weir_base_doc_str(weir_base_doc_get(thing, "group"));

	return group == NULL || strcmp(name != NULL ? name : "default", group) == 0;
}

/* Are there queues of a group, or jobs? NULL: of any. */
static bool
serves_something(const struct subject *subject, const char *group)
{
	const struct weir_base_doc_value *application = subject->application;
	const struct weir_base_doc_value *queues = weir_base_doc_get(application, "queues");
	const struct weir_base_doc_value *nodes = weir_base_doc_get(application, "nodes");
	const struct weir_base_doc_value *processes = weir_base_doc_get(application, "processes");
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(queues); i++)
		if (is_of(weir_base_doc_at(queues, i), group))
			return true;
	for (i = 0; i < weir_base_doc_count(nodes); i++)
		if (strcmp(weir_base_doc_str(weir_base_doc_get(weir_base_doc_at(nodes, i), "type")),
			    WEIR_BASE_NODE_JOB) == 0 &&
			is_of(weir_base_doc_at(nodes, i), group))
			return true;
	for (i = 0; i < weir_base_doc_count(processes); i++)
		if (weir_base_doc_u64(weir_base_doc_get(weir_base_doc_at(processes, i), "where")) ==
				WEIR_BASE_WHERE_JOBS &&
			is_of(weir_base_doc_at(processes, i), group))
			return true;
	return false;
}

static bool
is_named_before(const struct weir_base_doc_value *list, unsigned int nb, const char *name)
{
	unsigned int i;

	for (i = 0; i < nb; i++)
		if (strcmp(weir_base_doc_str(weir_base_doc_at(list, i)), name) == 0)
			return true;
	return false;
}

/* A group that serves nothing, or one that is named twice, is a slip of the pen, most likely. */
static void
check_groups(const struct subject *subject, const struct weir_base_doc_value *worker)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(worker, "groups");
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(list); i++) {
		const struct weir_base_doc_value *value = weir_base_doc_at(list, i);
		const char *name = weir_base_doc_str(value);

		if (is_named_before(list, i, name))
			weir_base_doc_error_add(subject->doc, value,
				"the worker is in group '%s' already; expected each group once",
				name);
		else if (!serves_something(subject, name))
			weir_base_doc_error_add(subject->doc, value,
				"group '%s' serves no queue; expected the 'group' of one of "
				"application.queues",
				name);
	}
}

/* Beside events each has a port of the scheduler, and so has what belongs to no worker. */
static void
check_number(const struct subject *subject, unsigned int nb)
{
	const bool has_events = serves_something(subject, NULL);
	const unsigned int most = has_events ? WORKERS_MAX - 1 : WORKERS_MAX;

	if (nb > most)
		weir_base_doc_error_add(subject->doc, subject->workers,
			"%u workers are too many; expected at most %u%s", nb, most,
			has_events ? " where there are queues or jobs" : "");
}

void
weir_base_rules_workers(struct weir_base_doc *doc)
{
	const struct weir_base_doc_value *root = weir_base_doc_root(doc);
	const struct weir_base_doc_value *platform = weir_base_doc_get(root, "platform");
	struct subject subject = {
		.doc = doc,
		.application = weir_base_doc_get(root, "application"),
		.ports = weir_base_doc_get(platform, "ports"),
		.workers = weir_base_doc_get(platform, "workers"),
	};
	const unsigned int nb_workers = weir_base_doc_count(subject.workers);
	unsigned int i;

	if (nb_workers == 0)
		return;
	subject.polled = calloc(weir_base_doc_count(subject.ports) + 1, sizeof(*subject.polled));
	if (subject.polled == NULL) {
		weir_base_doc_error_add(doc, subject.workers, "out of memory");
		return;
	}
	check_number(&subject, nb_workers);
	check_queues(&subject);
	for (i = 0; i < nb_workers; i++)
		check_groups(&subject, weir_base_doc_at(subject.workers, i));
	free(subject.polled);
}
