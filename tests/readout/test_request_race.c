/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The whole way, each part in a thread of its own: frames into buffers, requests served beside that, fragments sent to a socket. Who
 * asked reads them there: each is there, once, its frames are whole; and all counters agree at every look. It ends when so many were read.
 */

#include "request_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/random.h"

#include "weir_base.h"
#include "weir_base_sanitizer.h"
#include "weir_readout_fragment.h"
#include "weir_readout_sender.h"

#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define ROUNDS 300u
#else
#define ROUNDS 3000u
#endif
#define AT_ONCE    4u /* requests, of all links */
#define LOOKS      20u
#define HEAD_BYTES 16u

static struct {
	struct weir_readout_sender *sender;
	int peer;
	uint64_t clock; /* of the links */
	bool over;
	bool seen[ROUNDS * AT_ONCE][RQ_LINKS];
	uint64_t nb_frames;
} t;

static void *
ingest(void *arg)
{
	uint64_t random = 88172645463325252, clock = 5000;

	while (!__atomic_load_n(&t.over, __ATOMIC_ACQUIRE)) {
		for (uint32_t i = 0; i < RQ_LINKS; i++)
			if (random_below(&random, 30) != 0)
				rq_give(i, clock);
		clock += RQ_STEP;
		__atomic_store_n(&t.clock, clock, __ATOMIC_RELAXED);
		if (clock / RQ_STEP % 16 == 0)
			sched_yield(); /* where CPUs are few */
	}
	return NULL;
}

static void *
serve(void *arg)
{
	while (!__atomic_load_n(&t.over, __ATOMIC_ACQUIRE)) {
		weir_readout_service_poll(rq.service, weir_base_time_ns());
		sched_yield();
	}
	return NULL;
}

static void
read_bytes(uint8_t *to, uint64_t nb)
{
	while (nb > 0) {
		ssize_t more = read(t.peer, to, nb);

		assert_true(more > 0);
		to += more;
		nb -= (uint64_t)more;
	}
}

static void
check_view(const struct weir_readout_fragment_view *view)
{
	const uint8_t *at = view->frames;

	assert_true(view->trigger < ROUNDS * AT_ONCE && view->link < RQ_LINKS);
	assert_false(t.seen[view->trigger][view->link]);
	t.seen[view->trigger][view->link] = true;
	for (uint32_t i = 0; i < view->nb_frames; i++, at += RQ_BYTES) {
		struct weir_readout_fragment_frame frame =
			weir_readout_fragment_view_frame(view, i);
		uint64_t data[RQ_BYTES / 8];

		assert_int_equal(frame.size_bytes, RQ_BYTES);
		memcpy(data, at, RQ_BYTES);
		assert_true(data[0] == frame.timestamp && data[1] == frame.timestamp / RQ_STEP);
		assert_true(frame.timestamp + RQ_STEP > view->begin && frame.timestamp < view->end);
	}
	if (view->answer == WEIR_READOUT_ANSWER_COMPLETE)
		assert_true(view->nb_frames * RQ_STEP >= view->end - view->begin);
	t.nb_frames += view->nb_frames;
}

static void
read_fragment(void)
{
	struct weir_readout_fragment_view view;
	uint8_t head[HEAD_BYTES], *bytes;

	read_bytes(head, HEAD_BYTES);
	assert_int_equal(weir_readout_fragment_view(head, HEAD_BYTES, &view), -EAGAIN);
	bytes = malloc(view.total_bytes);
	assert_non_null(bytes);
	memcpy(bytes, head, HEAD_BYTES);
	read_bytes(bytes + HEAD_BYTES, view.total_bytes - HEAD_BYTES);
	assert_int_equal(weir_readout_fragment_view(bytes, view.total_bytes, &view), 0);
	check_view(&view);
	free(bytes);
}

static void
ask(uint64_t trigger, uint64_t *random)
{
	uint64_t begin = __atomic_load_n(&t.clock, __ATOMIC_RELAXED) + 100 -
			 random_below(random, RQ_HISTORY + 300);
	struct weir_readout_request request = rq_request(
		begin, begin + random_below(random, 300), random_below(random, 2) * 1000000);

	request.trigger = trigger;
	request.deliver = weir_readout_sender_deliver;
	request.arg = t.sender;
	assert_int_equal(weir_readout_service_ask(rq.service, &request, weir_base_time_ns()), 0);
}

/* Where threads are many, and CPUs few: the sender counts what it sent after the peer has got it. */
static void
wait_until_all_is_free(void)
{
	while (rq_stats().held > 0)
		sched_yield();
}

static void
all_at_once(void **state)
{
	uint64_t random = 42;
	pthread_t threads[2];
	int pair[2];

	memset(&t, 0, sizeof(t));
	t.clock = 5000;
	rq_make(RQ_STEP, 64,
		(struct weir_readout_service_config){.nb_fragments = 2 * AT_ONCE * RQ_LINKS});
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	t.peer = pair[0];
	t.sender = weir_readout_sender_create(&(struct weir_readout_sender_config){
		.fd = pair[1], .stall_ns = UINT64_MAX, .thread = true});
	assert_non_null(t.sender);
	assert_int_equal(pthread_create(&threads[0], NULL, ingest, NULL), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, serve, NULL), 0);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint64_t i = 0; i < AT_ONCE; i++)
			ask(round * AT_ONCE + i, &random);
		/* of one moment: no more than the one frame that is given to the link then */
		for (uint32_t i = 0; i < LOOKS * RQ_LINKS; i++)
			assert_true(rq_handler(i % RQ_LINKS).held <= 1);
		rq_stats();
		for (uint64_t i = 0; i < AT_ONCE * RQ_LINKS; i++)
			read_fragment();
		wait_until_all_is_free();
	}
	__atomic_store_n(&t.over, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	print_message("  %" PRIu64 " frames read\n", t.nb_frames);
	assert_true(t.nb_frames > 0);
	weir_readout_sender_free(t.sender);
	close(t.peer);
	assert_int_equal(rq_stats().asked, ROUNDS * AT_ONCE * RQ_LINKS);
	assert_int_equal(rq_handler(0).held, 0);
	rq_free();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_at_once)};

	return cmocka_run_group_tests_name("readout-request-race", tests, NULL, NULL);
}
