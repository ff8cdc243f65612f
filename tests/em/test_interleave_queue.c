/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue is deleted, and its number given to another one, while somebody sends, forwards, or takes what was sent: in every order of
 * their steps, as far as these are interrupted a few times. No event may come to a queue that it was not sent to, and none is lost.
 * And somebody looks at its counters: no more has ever come out than went in.
 *
 * Senders do not fence: em_barrier() makes what they counted visible. Here memory is seen in one order, so it has nothing to do.
 */
#include "em_test.h"

#include "../base/interleave.h"

#include "em_private.h"

#include "interleave_lock.h"

/* The scheduler: what is sent lies here, with the handle that it was sent to as payload. */
#define NB_INSIDE 8
static struct rte_event inside[NB_INSIDE];
static unsigned int head, tail;

static uint16_t
enqueue(struct weir_sched_port *port, const struct rte_event *events, uint16_t nb)
{
	interleave_point();
	CHECK(nb == 1 && head < NB_INSIDE);
	inside[head++] = events[0];
	return 1;
}
#define weir_sched_enqueue(port, events, nb) enqueue(port, events, nb)

#include "../../lib/em/queue.c"
#define is_scheduled is_scheduled_in_send
#include "../../lib/em/send.c"

#define NB_PORTS 3

static struct weir_em em;
static struct em_queue queues[1];
static struct em_queue_group groups[1];
static struct weir_em_core cores[NB_PORTS];
static struct em_count counts[NB_PORTS][1];
static weir_em_queue first, second;
static unsigned int nb_taken, nb_sent, nb_to_second, nb_tries;

static const struct weir_em_queue_config config = {.type = WEIR_EM_QUEUE_ATOMIC};

static void
init(void)
{
	em_numbers_fini(&em.queue_numbers); /* of the last run */
	memset(&em, 0, sizeof(em));
	memset(queues, 0, sizeof(queues));
	memset(groups, 0, sizeof(groups));
	memset(cores, 0, sizeof(cores));
	memset(counts, 0, sizeof(counts));
	head = tail = nb_taken = nb_sent = nb_to_second = nb_tries = 0;
	locked = false;
	em.queues = queues;
	em.nb_queues = 1;
	em.cores = cores;
	em.nb_cores = em.nb_ports = NB_PORTS;
	em.groups = groups;
	em.by_event = true;
	em.needs_fence = true; /* no system calls */
	em.config.types = em.config.priorities = 0xff;
	CHECK(em_numbers_init(&em.queue_numbers, EM_KIND_QUEUE, 1, 0) == 0);
	for (unsigned int i = 0; i < NB_PORTS; i++) {
		cores[i].em = &em;
		cores[i].id = i;
		cores[i].attached = true;
		cores[i].queues = counts[i];
	}
	first = weir_em_queue_create(&em, &config);
	second = WEIR_EM_NONE;
	CHECK(first != WEIR_EM_NONE);
}

static void
send_to(struct weir_em_core *core, weir_em_queue queue)
{
	struct rte_event event = weir_em_event_u64(queue);

	if (weir_em_send(core, queue, &event, 1) == 1)
		nb_sent++;
	else
		CHECK(rte_errno == ESTALE);
	nb_to_second += queue == second;
}

static void
sends(void)
{
	send_to(&cores[0], first);
}

/* As em_serve() does: it counts when all is done. */
static void
take_one(struct weir_em_core *core)
{
	struct em_queue *queue;
	weir_em_queue to;

	interleave_point();
	if (tail == head)
		return;
	to = inside[tail].u64;
	queue = em_event_queue(&em, &inside[tail++]);
	CHECK(queue != NULL);
	CHECK(__atomic_load_n(&queue->last_handle, __ATOMIC_RELAXED) == to);
	nb_taken++;
	/* what its receive function sends on, to itself */
	if (nb_taken == 1)
		send_to(core, to);
	CHECK(__atomic_load_n(&queue->last_handle, __ATOMIC_RELAXED) == to);
	em_count(&core->queues[queue - em.queues].received, 1);
}

static void
takes(void)
{
	take_one(&cores[1]);
	take_one(&cores[1]);
}

/* Another one in its place, as soon as that can be. */
static void
deletes(void)
{
	CHECK(weir_em_queue_delete(&em, first) == 0);
	for (nb_tries = 0; second == WEIR_EM_NONE && nb_tries < 2; nb_tries++)
		second = weir_em_queue_create(&em, &config);
	if (second != WEIR_EM_NONE)
		send_to(&cores[2], second);
}

static void
look_at_all(void)
{
	struct weir_em_queue_stats sums;
	struct weir_em_queue_info info;

	CHECK(weir_em_queue_delete(&em, first) == -ESTALE);
	while (tail < head)
		take_one(&cores[1]);
	CHECK(nb_taken == nb_sent);
	em_queue_sums(&em, &queues[0], &sums);
	CHECK(sums.nb_sent == nb_sent && sums.nb_received == nb_taken);
	/* nothing of it is left now */
	if (second == WEIR_EM_NONE)
		CHECK((second = weir_em_queue_create(&em, &config)) != WEIR_EM_NONE);
	/* and nothing of it in the other one's numbers */
	CHECK(weir_em_queue_info(&em, second, &info) == 0);
	CHECK(info.stats.nb_sent == nb_to_second && info.stats.nb_received == nb_to_second);
	CHECK(em.retired[WEIR_EM_QUEUE_ATOMIC].nb_sent == nb_sent - nb_to_second);
	CHECK(second != first && em_handle_number(second) == em_handle_number(first));
	CHECK(weir_em_queue_delete(&em, first) == -ESTALE);
	CHECK(weir_em_queue_delete(&em, second) == 0);
}

/* That there is no number free yet, is said each time. */
static void
quiet(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
}

static void
numbers_are_used_again(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 3,
		.actors = {sends, takes, deletes},
		.check = look_at_all,
		.most_interruptions = 4,
		.least = 10000};

	weir_base_log_set_sink(quiet, NULL);
	interleave_all(&interleave);
	em_numbers_fini(&em.queue_numbers);
}

static void
looks(void)
{
	struct weir_em_queue_info info;

	for (int i = 0; i < 2; i++) {
		CHECK(weir_em_queue_info(&em, first, &info) == 0);
		CHECK(info.stats.nb_sent >= info.stats.nb_received + info.stats.nb_dropped);
	}
}

static void
all_is_out(void)
{
	while (tail < head)
		take_one(&cores[1]);
	looks();
	CHECK(nb_taken == nb_sent);
}

static void
no_more_comes_out_than_went_in(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 3,
		.actors = {sends, takes, looks},
		.check = all_is_out,
		.most_interruptions = 4,
		.least = 10000};

	interleave_all(&interleave);
	em_numbers_fini(&em.queue_numbers);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_used_again),
		cmocka_unit_test(no_more_comes_out_than_went_in),
	};

	return cmocka_run_group_tests_name("em-interleave-queue", tests, NULL, NULL);
}
