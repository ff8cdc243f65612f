/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of receivers: each is one device, and each of its queues has frames of one format. */
#include <string.h>

#include "rules_private.h"

static const struct weir_base_doc_value *
links_of(const struct weir_base_doc *doc)
{
	return weir_base_doc_get(
		weir_base_doc_get(weir_base_doc_root(doc), "application"), "links");
}

static bool
comes_by(const struct weir_base_doc_value *link, const struct weir_base_doc_value *receiver)
{
	const char *port = weir_base_doc_str(weir_base_doc_get(link, "port"));

	return port != NULL && strcmp(port, weir_base_doc_name(receiver)) == 0;
}

static void
check_device(struct weir_base_doc *doc, const struct weir_base_doc_value *receiver)
{
	const bool has_device = weir_base_doc_given(receiver, "device");

	if (has_device == weir_base_doc_given(receiver, "pci_addr"))
		weir_base_doc_error_add(doc, receiver,
			"receiver '%s' has %s; expected one of 'device' and 'pci_addr'",
			weir_base_doc_name(receiver), has_device ? "two devices" : "no device");
}

/* Threads of its own, of which each has a queue to poll. */
static void
check_cpus(struct weir_base_doc *doc, const struct weir_base_doc_value *receiver)
{
	const struct weir_base_doc_value *cpus = weir_base_doc_get(receiver, "cpus");
	const uint64_t nb_queues = weir_base_doc_u64(weir_base_doc_get(receiver, "nb_queues"));

	if (weir_base_doc_count(cpus) > nb_queues)
		weir_base_doc_error_add(doc, cpus,
			"%u threads for %u queues; expected one for each queue, or fewer",
			weir_base_doc_count(cpus), (unsigned int)nb_queues);
}

/* A queue's frames are of one format. */
static void
check_format(struct weir_base_doc *doc, const struct weir_base_doc_value *receiver,
	const struct weir_base_doc_value *link, uint64_t queue)
{
	const struct weir_base_doc_value *format = weir_base_doc_get(link, "format"), *other;
	const char *others;
	unsigned int i;

	for (i = 0; (other = weir_base_doc_at(links_of(doc), i)) != link; i++) {
		others = weir_base_doc_str(weir_base_doc_get(other, "format"));
		if (!comes_by(other, receiver) ||
			weir_base_doc_u64(weir_base_doc_get(other, "queue")) != queue ||
			strcmp(others, weir_base_doc_str(format)) == 0)
			continue;
		weir_base_doc_error_add(doc, format,
			"frames of queue %u of receiver '%s' are of format '%s', by link "
			"'%s'; expected that, or another queue",
			(unsigned int)queue, weir_base_doc_name(receiver), others,
			weir_base_doc_name(other));
	}
}

static void
check_links(struct weir_base_doc *doc, const struct weir_base_doc_value *receiver)
{
	const uint64_t nb_queues = weir_base_doc_u64(weir_base_doc_get(receiver, "nb_queues"));
	const struct weir_base_doc_value *links = links_of(doc), *link;
	unsigned int nb = 0, i;
	uint64_t queue;

	for (i = 0; i < weir_base_doc_count(links); i++) {
		link = weir_base_doc_at(links, i);
		if (!comes_by(link, receiver))
			continue;
		nb++;
		queue = weir_base_doc_u64(weir_base_doc_get(link, "queue"));
		if (queue >= nb_queues)
			weir_base_doc_error_add(doc, weir_base_doc_get(link, "queue"),
				"receiver '%s' has no queue %u; expected 0 to %u",
				weir_base_doc_name(receiver), (unsigned int)queue,
				(unsigned int)nb_queues - 1);
		else
			check_format(doc, receiver, link, queue);
	}
	if (nb == 0)
		weir_base_doc_error_add(doc, receiver,
			"no link takes frames of receiver '%s'; expected one with 'port: %s'",
			weir_base_doc_name(receiver), weir_base_doc_name(receiver));
}

void
rules_check_receivers(struct weir_base_doc *doc)
{
	const struct weir_base_doc_value *receivers = weir_base_doc_get(
		weir_base_doc_get(weir_base_doc_root(doc), "platform"), "receivers");
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(receivers); i++) {
		check_device(doc, weir_base_doc_at(receivers, i));
		check_cpus(doc, weir_base_doc_at(receivers, i));
		check_links(doc, weir_base_doc_at(receivers, i));
	}
}
