/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hello: two objects send one event to and fro.
 *
 * What to learn from it: how an object and its queue are made, started, and taken away again; that an event may carry a buffer, which
 * goes on with it; that any core may run an object, one at a time where its queue is atomic: so its state needs no lock.
 */
#include <inttypes.h>
#include <stdio.h>

#include <weir_em_pool.h>

#include "example.h"

/* What the event carries. */
struct letter {
	uint64_t number;
};

/* An object's state. */
struct player {
	const char *name;
	weir_em_object object;
	weir_em_queue queue;
	struct player *other;
	uint64_t nb; /* letters received */
};

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct player *self = context;
	struct letter *letter = rte_pktmbuf_mtod(events[0].mbuf, struct letter *);

	example_expect(letter->number == self->nb + self->other->nb,
		"letter %" PRIu64 " after %" PRIu64, letter->number, self->nb + self->other->nb);
	if (self->nb++ < 3)
		printf("%s: hello, letter %" PRIu64 " on core %u\n", self->name, letter->number,
			weir_em_core_id(core));
	letter->number++;
	if (example_over())
		weir_em_free(weir_em_core_em(core), core, events[0].mbuf);
	else /* never refused: it goes on with the place in the machine that it has */
		weir_em_forward(core, self->other->queue, &events[0]);
}

static void
make(struct weir_em *em, struct player *self)
{
	const struct weir_em_object_config config = {
		.name = self->name,
		.receive = receive,
		.context = self,
	};

	self->queue = weir_em_queue_create(em,
		&(struct weir_em_queue_config){.name = self->name, .type = WEIR_EM_QUEUE_ATOMIC});
	self->object = weir_em_object_create(em, &config);
	example_must(weir_em_object_add_queue(em, self->object, self->queue) == 0, self->name);
}

int
main(int argc, char **argv)
{
	struct player ping = {.name = "ping"}, pong = {.name = "pong", .other = &ping};
	struct rte_mbuf *buffer;
	struct rte_event event;
	struct example ex = {.about = "two objects send one event to and fro."};
	weir_em_pool pool;

	example_begin(&ex, argc, argv, (struct weir_em_config){.nb_queues = 2});
	ping.other = &pong;
	make(ex.em, &ping);
	make(ex.em, &pong);
	/* Both before the first event: what is sent to an object that has not started is dropped. */
	example_must(weir_em_object_start(ex.em, ex.core, ping.object, NULL) == 0, "ping");
	example_must(weir_em_object_start(ex.em, ex.core, pong.object, NULL) == 0, "pong");

	pool = weir_em_pool_create(
		ex.em, &(struct weir_em_pool_config){.name = "letters", .nb = 63, .socket_id = -1});
	buffer = weir_em_alloc(ex.core, pool, sizeof(struct letter));
	example_must(buffer != NULL, "a buffer");
	rte_pktmbuf_mtod(buffer, struct letter *)->number = 0;
	event = weir_em_event_buffer(buffer);
	example_must(weir_em_send(ex.core, ping.queue, &event, 1) == 1, "an event");

	example_run(&ex);
	weir_em_object_stop(ex.em, ex.core, ping.object, NULL);
	weir_em_object_stop(ex.em, ex.core, pong.object, NULL);
	example_expect(ping.nb > 0 && ping.nb - pong.nb <= 1, "not in turns");
	printf("%" PRIu64 " letters to ping, %" PRIu64 " to pong\n", ping.nb, pong.nb);
	return example_end(&ex);
}
