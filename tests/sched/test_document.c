/* SPDX-License-Identifier: BSD-3-Clause */

/* The code in doc/scheduler.md does what the document says. */

#include "sched_test.h"

static void parse_packet(void *packet);
static void count_packet(void *packet);
static void free_packet(void *packet);

#include "scheduler_document.h"

#define NB    300
#define FLOWS 7

struct packet {
	uint32_t flow, number;
	bool parsed, counted, freed;
};

static struct packet packets[NB];
static uint32_t next[FLOWS];
static unsigned int nb_fired;

static void
parse_packet(void *packet)
{
	((struct packet *)packet)->parsed = true;
}

/* In order, though two workers parsed. The timer comes here, too. */
static void
count_packet(void *packet)
{
	struct packet *counted = packet;

	if (packet == &nb_fired) {
		nb_fired++;
		return;
	}
	assert_true(counted->parsed);
	assert_false(counted->counted);
	assert_int_equal(counted->number, next[counted->flow]++);
	counted->counted = true;
}

static void
free_packet(void *packet)
{
	((struct packet *)packet)->freed = true;
}

static void
feed(struct weir_sched *sched, unsigned int first, unsigned int nb)
{
	for (unsigned int i = first; i < first + nb;) {
		void *some[5];
		uint32_t flows[5];
		uint16_t n = 0;

		for (; n < 5 && i + n < first + nb; n++) {
			packets[i + n] =
				(struct packet){.flow = (i + n) % FLOWS, .number = (i + n) / FLOWS};
			some[n] = &packets[i + n];
			flows[n] = (i + n) % FLOWS;
		}
		i += receive(sched, some, flows, n);
	}
}

static void
document(void **state)
{
	unsigned int nb_left = 0, rounds = 0;
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	st_sched = make_pipeline(st_backend());
	if (st_sched == NULL && rte_errno == ENOTSUP)
		st_skip("%s", st_log_last());
	if (st_sched == NULL && !st_is_builtin())
		st_skip("not all of it can be had: %s", st_log_last());
	assert_non_null(st_sched);
	feed(st_sched, 0, NB);
	for (; next[0] + next[1] + next[2] + next[3] + next[4] + next[5] + next[6] < NB; rounds++) {
		assert_true(rounds < 1000000);
		work_once(st_sched, PORT_WORKER_0);
		work_once(st_sched, PORT_WORKER_1);
	}
	file = open_memstream(&text, &size);
	print_port(st_sched, PORT_WORKER_0, file);
	fclose(file);
	free(text);
	assert_int_equal(lend_worker(st_sched, 0, true), -EINVAL); /* group 0 is all, always */
	feed(st_sched, 0, 10);
	assert_int_equal(end_pipeline(st_sched), 10);
	st_sched = NULL;
	for (unsigned int i = 0; i < 10; i++)
		nb_left += packets[i].freed;
	assert_int_equal(nb_left, 10);
}

static void
timers(void **state)
{
	st_make((struct weir_sched_config){
		.nb_ports = NB_PORTS, .nb_queues = NB_QUEUES, .nb_events = 64, .nb_reserved = 1});
	st_producer_on_device(PORT_RX);
	st_start();
	assert_int_equal(arm(st_sched), 0);
	while (st_try_new(PORT_RX, QUEUE_PARSE, 0, (uintptr_t)&packets[0]))
		;
	fire(st_sched, &nb_fired);
	for (unsigned int rounds = 0; nb_fired == 0; rounds++) {
		struct rte_event event;

		assert_true(rounds < 1000000);
		for (unsigned int port = PORT_WORKER_0; port < NB_PORTS; port++)
			if (weir_sched_dequeue(st_port(port), &event, 1) == 1 &&
				event.event_ptr == &nb_fired)
				count_packet(event.event_ptr);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(document), TEST(timers)};

	return ST_RUN("sched-document", tests);
}
