/* SPDX-License-Identifier: BSD-3-Clause */
/* How frames of links get to their buffers: in the thread that receives them, or by a queue to another one. */
#include <inttypes.h>

#include "config.h"
#include "schema.h"

uint64_t
config_link_queued(const struct config_link *link)
{
	return (uint64_t)link->nb * link->delivery.queue_size;
}

/* Packets in queues are not in the pool that a receiver's queue is filled from. */
static void
check_pool(struct config *config, const struct config_link *link,
	const struct weir_base_doc_value *value)
{
	const struct config_receiver *receiver;
	const struct config_link *other;
	uint64_t queued = 0, needed, room;

	if (link->receiver == CONFIG_NONE)
		return;
	receiver = &config->receivers.list[link->receiver];
	needed = (uint64_t)receiver->port.rx_ring_size + receiver->port.burst_size;
	room = receiver->port.num_mbufs > needed ? receiver->port.num_mbufs - needed : 0;
	for (other = config->links.list; other <= link; other++)
		if (other->receiver == link->receiver && other->queue == link->queue)
			queued += config_link_queued(other);
	if (queued > room)
		weir_base_doc_error_add(config->doc,
			weir_base_doc_given(value, "capacity")
				? weir_base_doc_get(value, "capacity")
				: value,
			"queues of links hold up to %" PRIu64 " packets of queue %u of receiver "
			"'%s', whose pool has %" PRIu64 " beside its ring and a burst; expected a "
			"smaller 'capacity', or more 'num_mbufs' there",
			queued, link->queue, receiver->name, room);
}

static void
read_delivery(struct config *config, struct config_link *link)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(link->value, "delivery"), *cpu;

	link->delivery.cpu = -1;
	if (value == NULL)
		return;
	if (weir_base_doc_u64(weir_base_doc_get(value, "by")) == WEIR_BASE_DELIVERY_CALLBACK)
		return;
	cpu = weir_base_doc_get(value, "cpu");
	if (cpu != NULL)
		link->delivery.cpu = (int)weir_base_doc_u64(cpu);
	link->delivery.queue_size =
		(uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "capacity"));
	check_pool(config, link, value);
}

void
config_read_delivery(struct config *config)
{
	unsigned int i;

	for (i = 0; i < config->links.nb; i++)
		read_delivery(config, &config->links.list[i]);
}
