/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames from the queues of links into their buffers. */
#include <errno.h>
#include <stdlib.h>

#include "config.h"
#include "links_consume.h"
#include "links_run.h"

/* Of links alike. */
struct links_consumer {
	struct links_thread thread;
	struct links_run *run;
	const struct config_link *link;
};

int
links_consume_open(struct links_run *run, const struct config_links *links)
{
	unsigned int i;

	run->consumers = calloc(links->nb, sizeof(*run->consumers));
	if (run->consumers == NULL)
		return -ENOMEM;
	for (i = 0; i < links->nb; i++) {
		struct links_consumer *consumer = &run->consumers[run->nb_consumers];

		if (links->list[i].delivery.queue_size == 0)
			continue;
		links_thread_init(&consumer->thread);
		consumer->run = run;
		consumer->link = &links->list[i];
		run->nb_consumers++;
	}
	return 0;
}

/* A piece of each, in turns. @return how many frames */
static uint32_t
take_some(const struct links_consumer *consumer)
{
	const struct config_link *link = consumer->link;
	uint32_t nb = 0;
	unsigned int i;

	for (i = 0; i < link->nb; i++)
		nb += weir_readout_handler_poll(consumer->run->handlers[link->first + i]);
	return nb;
}

static void *
consume(void *arg)
{
	const struct links_consumer *consumer = arg;
	bool fed;

	do {
		/* What came before it was told that nothing comes any more is taken below. */
		fed = __atomic_load_n(&consumer->run->fed, __ATOMIC_ACQUIRE);
		if (take_some(consumer) > 0)
			fed = false;
		else if (!fed)
			links_thread_rest();
	} while (!fed);
	return NULL;
}

int
links_consume_start(struct links_run *run, struct config *config)
{
	unsigned int i;
	int error = 0;

	for (i = 0; error == 0 && i < run->nb_consumers; i++) {
		struct links_consumer *consumer = &run->consumers[i];

		error = links_thread_start(&consumer->thread, "weir-consumer", consume, consumer);
		if (error == 0)
			error = links_thread_pin(&consumer->thread, config->doc,
				weir_base_doc_get(
					weir_base_doc_get(consumer->link->value, "delivery"),
					"cpu"),
				"consumer of link", consumer->link->name);
	}
	return error;
}

void
links_consume_finish(struct links_run *run)
{
	unsigned int i;

	__atomic_store_n(&run->fed, true, __ATOMIC_RELEASE);
	for (i = 0; i < run->nb_consumers; i++)
		links_thread_join(&run->consumers[i].thread);
}

void
links_consume_close(struct links_run *run)
{
	free(run->consumers);
	run->consumers = NULL;
	run->nb_consumers = 0;
}
