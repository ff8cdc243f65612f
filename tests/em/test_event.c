/* SPDX-License-Identifier: BSD-3-Clause */
/* What is the sender's in an event comes as it was sent, by all types of queues; what is local is not left behind. */
#include "em_test.h"

#define NB_STOPS WEIR_EM_QUEUE_TYPES

static weir_em_queue stops[NB_STOPS + 1]; /* one of each type, and the last one */
static struct rte_event got[NB_STOPS + 1];
static unsigned int nb_got;
static char thing[NB_STOPS + 2];

static void
check_event(const struct rte_event *event)
{
	CHECK(nb_got <= NB_STOPS);
	got[nb_got] = *event;
	nb_got++;
}

/* As it came, then on to the next stop with another number and another pointer. */
static void
pass(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	CHECK(nb == 1);
	check_event(&events[0]);
	if (nb_got > NB_STOPS)
		return;
	events[0].sub_event_type = (uint8_t)(0x5a + nb_got);
	events[0].event_ptr = &thing[nb_got];
	CHECK(weir_em_forward(core, stops[nb_got], &events[0]) == 0);
}

static uint16_t
put_out(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue)
{
	struct rte_event event;

	CHECK(nb == 1);
	check_event(&events[0]);
	event = weir_em_event_ptr(&thing[nb_got]);
	event.event_type = RTE_EVENT_TYPE_CRYPTODEV;
	event.sub_event_type = (uint8_t)(0x5a + nb_got);
	CHECK(weir_em_send(core, stops[nb_got], &event, 1) == 1);
	return nb;
}

static bool
make_stop(weir_em_object object, unsigned int stop, enum weir_em_queue_type type)
{
	stops[stop] = weir_em_queue_create(
		et_em, &(struct weir_em_queue_config){.type = type, .output = put_out, .size = 16});
	if (stops[stop] == WEIR_EM_NONE)
		return false;
	if (type != WEIR_EM_QUEUE_UNSCHEDULED && type != WEIR_EM_QUEUE_OUTPUT)
		assert_int_equal(weir_em_object_add_queue(et_em, object, stops[stop]), 0);
	return true;
}

/* What lies in the ring goes on as a new one. */
static void
empty_ring(weir_em_queue ring)
{
	struct rte_event event;

	if (weir_em_queue_dequeue(et_em, ring, &event, 1) == 0)
		return;
	check_event(&event);
	event.sub_event_type = (uint8_t)(0x5a + nb_got);
	event.event_ptr = &thing[nb_got];
	assert_int_equal(weir_em_send(et_core, stops[nb_got], &event, 1), 1);
}

static void
payload_and_types_stay(void **state)
{
	struct rte_event event = weir_em_event_ptr(&thing[0]);
	uint64_t end = weir_base_time_ns() + 60000000000;
	weir_em_queue ring = WEIR_EM_NONE;
	unsigned int nb_stops = 0;
	weir_em_object object;

	et_make_small();
	nb_got = 0;
	object = weir_em_object_create(et_em, &(struct weir_em_object_config){.receive = pass});
	for (int type = 0; type < WEIR_EM_QUEUE_TYPES; type++) {
		/* not all devices have ordered queues */
		if (!make_stop(object, nb_stops, (enum weir_em_queue_type)type))
			assert_true(make_stop(object, nb_stops, WEIR_EM_QUEUE_ATOMIC));
		else if (type == WEIR_EM_QUEUE_UNSCHEDULED)
			ring = stops[nb_stops];
		nb_stops++;
	}
	assert_true(make_stop(object, nb_stops, WEIR_EM_QUEUE_ATOMIC));
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	event.event_type = RTE_EVENT_TYPE_CRYPTODEV;
	event.sub_event_type = 0x5a;
	assert_int_equal(weir_em_send(et_core, stops[0], &event, 1), 1);
	while (nb_got <= NB_STOPS && weir_base_time_ns() < end) {
		et_run();
		empty_ring(ring);
	}
	assert_int_equal(nb_got, NB_STOPS + 1);
	for (unsigned int i = 0; i <= NB_STOPS; i++) {
		assert_ptr_equal(got[i].event_ptr, &thing[i]);
		assert_int_equal(got[i].sub_event_type, 0x5a + i);
		assert_int_equal(got[i].event_type, RTE_EVENT_TYPE_CRYPTODEV);
	}
	et_check_sums();
}

static unsigned int nb_local;

static void
count_local(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	nb_local += nb;
}

/* A core that goes has its local events dispatched: nobody else could. */
static void
local_events_before_detaching(void **state)
{
	weir_em_queue queue;

	et_make((struct weir_em_config){.nb_queues = 64, .nb_cores = 2});
	queue = et_serve("local", WEIR_EM_QUEUE_LOCAL, count_local, NULL);
	nb_local = 0;
	for (uint64_t i = 0; i < 100; i++)
		et_send(queue, i);
	assert_int_equal(nb_local, 0);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
	assert_int_equal(nb_local, 100);
	et_check_sums();
}

/* What the event machine gave as a packet is a packet like any other. */
static void
buffers_leave(void **state)
{
	struct weir_em_pool_info info;
	struct rte_mbuf *buffer;
	struct rte_event event;
	weir_em_queue ring;
	weir_em_pool pool;

	et_make_small();
	pool = weir_em_pool_create(
		et_em, &(struct weir_em_pool_config){.name = "buffers", .nb = 31});
	ring = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	for (unsigned int i = 0; i < 100; i++) {
		buffer = weir_em_alloc(et_core, pool, 8);
		assert_non_null(buffer);
		event = weir_em_event_buffer(buffer);
		assert_int_equal(weir_em_send(et_core, ring, &event, 1), 1);
		assert_int_equal(weir_em_queue_dequeue(et_em, ring, &event, 1), 1);
		assert_ptr_equal(event.mbuf, buffer);
		weir_em_event_to_mbuf(et_em, event.mbuf);
		rte_pktmbuf_free(event.mbuf);
	}
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, 31);
	assert_int_equal(et_stats().nb_errors, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(payload_and_types_stay),
		ET_TEST(local_events_before_detaching),
		ET_TEST(buffers_leave),
	};

	return ST_RUN("em-event", tests);
}
