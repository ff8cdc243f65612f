/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handler: what goes wrong is told, first to the object, then to the instance.
 *
 * What to learn from it: calls return what is wrong, and error handlers hear of it, with names; an object's handler may say
 * that nothing is wrong (0), the instance's is not asked then; who is told of an event that could not be delivered may
 * take over what it carries; what nobody handles is counted, and never crashes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>

#include "example.h"

#define HARMLESS 7 /* an error of the application's own */
#define SERIOUS  8

static weir_em_queue queue, closed, deleted;
static unsigned int nb_told[WEIR_EM_ERRORS], nb_ours, nb_rescued;
static bool is_done;

/* Handlers run on the core that made the error, on several at a time. */
static void
count(unsigned int *nb)
{
	__atomic_fetch_add(nb, 1, __ATOMIC_RELAXED);
}

/* The object's: what it knows how to deal with ends here. */
static int
handle_ours(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	count(&nb_ours);
	if (error->kind == WEIR_EM_ERROR_APPLICATION && error->code == HARMLESS)
		return 0;
	return error->code; /* the instance's is asked */
}

/* The instance's. */
static int
handle(struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	printf("%s in %s: object '%s', queue '%s': %s\n", weir_em_error_name(error->kind),
		error->where, error->object_name, error->queue_name,
		error->code < 0 ? strerror(-error->code) : "its own");
	count(&nb_told[error->kind]);
	if (error->kind != WEIR_EM_ERROR_DROP)
		return error->code;
	/* The payload would be forgotten, a buffer freed: here it is ours now. */
	example_expect(error->event->u64 == 99 && error->drop == WEIR_EM_DROP_DISABLED,
		"another event was dropped");
	count(&nb_rescued);
	return WEIR_EM_TAKEN;
}

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue from, void *queue_context)
{
	struct rte_event event = weir_em_event_u64(99);

	/* 1: to a queue that is gone. Its handle is never another one's. */
	example_expect(weir_em_send(core, deleted, &event, 1) == 0 && rte_errno == ESTALE,
		"sent to a queue that is gone");
	/* 2: to a queue that is disabled: it goes in; who would have been its core drops it, and tells. */
	example_expect(weir_em_send(core, closed, &event, 1) == 1, "not sent");
	/* 3, 4: of the application's own. */
	example_expect(weir_em_error_raise(core, HARMLESS, "receive") == 0, "it is harmless");
	example_expect(weir_em_error_raise(core, SERIOUS, "receive") == SERIOUS, "it is serious");
	/* 5: the same event, twice: it is not held any more. From the first time on, another core may be here with it. */
	if (events[0].u64 == 1) {
		__atomic_store_n(&is_done, true, __ATOMIC_RELEASE);
		return;
	}
	event = events[0];
	event.u64 = 1;
	example_expect(weir_em_forward(core, queue, &event) == 0, "not forwarded");
	example_expect(weir_em_forward(core, queue, &event) == -EINVAL, "forwarded twice");
}

int
main(int argc, char **argv)
{
	struct rte_event event = weir_em_event_u64(0);
	struct weir_em_stats stats;
	struct example ex = {
		.about = "what goes wrong is told, first to the object, then to the instance."};

	example_begin(&ex, argc, argv, (struct weir_em_config){.nb_queues = 3});
	weir_em_error_handler_set(ex.em, handle, NULL);
	queue = example_serve(&ex, (struct weir_em_queue_config){.name = "in"},
		(struct weir_em_object_config){.receive = receive, .error_handler = handle_ours});
	closed = example_serve(&ex, (struct weir_em_queue_config){.name = "closed"},
		(struct weir_em_object_config){.receive = receive});
	weir_em_queue_disable(ex.em, ex.core, closed);
	deleted = weir_em_queue_create(ex.em, &(struct weir_em_queue_config){.name = "deleted"});
	weir_em_queue_delete(ex.em, deleted);

	example_must(weir_em_send(ex.core, queue, &event, 1) == 1, "an event");
	while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE))
		example_dispatch(&ex, 0.001);
	example_stop(&ex);

	weir_em_stats(ex.em, &stats);
	for (unsigned int i = 0; i < WEIR_EM_ERRORS; i++)
		if (nb_told[i] > 0)
			printf("%-16s %u\n", weir_em_error_name(i), nb_told[i]);
	printf("%" PRIu64 " errors, %u of them told to the object, %u events rescued\n",
		stats.nb_errors, nb_ours, nb_rescued);
	example_expect(nb_told[WEIR_EM_ERROR_HANDLE] == 2, "two calls with a handle that is gone");
	example_expect(nb_told[WEIR_EM_ERROR_NOT_HELD] == 1, "forwarded twice, once");
	example_expect(nb_told[WEIR_EM_ERROR_APPLICATION] == 2, "two were serious");
	example_expect(nb_told[WEIR_EM_ERROR_DROP] == 2 && nb_rescued == 2 &&
			       stats.nb_dropped[WEIR_EM_DROP_DISABLED] == 2,
		"two were dropped");
	return example_end(&ex);
}
