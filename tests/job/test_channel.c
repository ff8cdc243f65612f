/* SPDX-License-Identifier: BSD-3-Clause */

/* Channels: messages in order, once each; bounds, closing, giving up; events that come to jobs. */

#include "job_test.h"

#include "weir_em_pool.h"
#include "weir_job_channel.h"

static struct weir_job_channel *channel;
static uint64_t received[4096];
static uint64_t nb_received, nb_sent, nb_ended;
static int last_rc;

static void
make(unsigned int nb_cores, unsigned int nb_messages, size_t size)
{
	jt_make(nb_cores);
	channel = weir_job_channel_create(
		&(struct weir_job_channel_config){.nb_messages = nb_messages, .size = size});
	assert_non_null(channel);
	nb_received = nb_sent = nb_ended = 0;
	last_rc = 1;
}

static struct weir_job_channel_stats
look(void)
{
	struct weir_job_channel_stats stats;

	weir_job_channel_stats(channel, &stats);
	assert_int_equal(stats.nb_sent, stats.nb_received + stats.nb);
	return stats;
}

static int
teardown(void **state)
{
	uint8_t message[64];
	int rc;

	if (channel != NULL) {
		weir_job_channel_close(channel);
		while (weir_job_channel_try_recv(channel, message) == 0)
			;
		rc = weir_job_service_stop(jt_service, et_core, 10000000000);
		if (rc != 0 && rc != -EINVAL)
			return -1;
		if (weir_job_channel_destroy(channel) != 0)
			return -1;
	}
	channel = NULL;
	return jt_teardown(state);
}

static struct weir_job_wait
within(uint64_t ns)
{
	return (struct weir_job_wait){.flags = WEIR_JOB_TIMEOUT, .timeout_ns = ns};
}

static void
keep(uint64_t number)
{
	uint64_t i = __atomic_fetch_add(&nb_received, 1, __ATOMIC_SEQ_CST);

	CHECK(i < RTE_DIM(received));
	__atomic_store_n(&received[i], number, __ATOMIC_SEQ_CST);
}

/* Until it is closed. */
static void
receive_all(void *in, void *out)
{
	uint64_t number;
	int rc;

	while ((rc = weir_job_channel_recv(channel, &number, NULL)) == 0)
		keep(number);
	__atomic_store_n(&last_rc, rc, __ATOMIC_SEQ_CST);
	jt_add(&nb_ended, 1);
}

static void
send_some(void *in, void *out)
{
	const uint64_t *range = in;

	for (uint64_t i = range[0]; i < range[1]; i++) {
		int rc = weir_job_channel_send(channel, &i, NULL);

		__atomic_store_n(&last_rc, rc, __ATOMIC_SEQ_CST);
		if (rc != 0)
			break;
		jt_add(&nb_sent, 1);
	}
	jt_add(&nb_ended, 1);
}

static weir_job
spawn_sender(uint64_t first, uint64_t end)
{
	const uint64_t range[2] = {first, end};

	return jt_spawn(send_some, range, sizeof(range), NULL);
}

static void
without_waiting(void **state)
{
	struct {
		uint8_t bytes[24];
	} message = {{1}}, got;

	make(1, 3, sizeof(message));
	assert_int_equal(weir_job_channel_try_recv(channel, &got), -EAGAIN);
	assert_int_equal(weir_job_channel_recv(channel, &got, NULL), -EDEADLK);
	for (uint8_t round = 0; round < 5; round++) { /* round the ring */
		for (uint8_t i = 0; i < 3; i++) {
			memset(&message, round * 10 + i, sizeof(message));
			assert_int_equal(weir_job_channel_try_send(channel, &message), 0);
		}
		assert_int_equal(weir_job_channel_try_send(channel, &message), -EAGAIN);
		for (uint8_t i = 0; i < 3; i++) {
			memset(&message, round * 10 + i, sizeof(message));
			assert_int_equal(weir_job_channel_recv(channel, &got, NULL), 0);
			assert_memory_equal(&got, &message, sizeof(got));
		}
	}
	assert_int_equal(look().nb_refused, 5);
	assert_int_equal(look().nb_most, 3);
	assert_int_equal(weir_job_channel_try_send(channel, &message), 0);
	assert_int_equal(weir_job_channel_close(channel), 0);
	assert_int_equal(weir_job_channel_close(channel), -EALREADY);
	assert_int_equal(weir_job_channel_try_send(channel, &message), -EPIPE);
	assert_int_equal(weir_job_channel_destroy(channel), -EBUSY);
	assert_int_equal(weir_job_channel_try_recv(channel, &got), 0);
	assert_int_equal(weir_job_channel_try_recv(channel, &got), -EPIPE);
	assert_int_equal(weir_job_channel_recv(channel, &got, NULL), -EPIPE);
	assert_true(look().closed);
}

static void
wrong_arguments(void **state)
{
	uint64_t message = 0;

	make(1, 1, 8);
	assert_null(weir_job_channel_create(
		&(struct weir_job_channel_config){.size = WEIR_JOB_CHANNEL_MESSAGE_MAX + 1}));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(weir_job_channel_create(
		&(struct weir_job_channel_config){.nb_messages = UINT32_MAX}));
	assert_int_equal(weir_job_channel_send(NULL, &message, NULL), -EINVAL);
	assert_int_equal(weir_job_channel_send(channel, NULL, NULL), -EINVAL);
	assert_int_equal(weir_job_channel_try_send(NULL, &message), -EINVAL);
	assert_int_equal(weir_job_channel_try_send(channel, NULL), -EINVAL);
	assert_int_equal(weir_job_channel_recv(NULL, &message, NULL), -EINVAL);
	assert_int_equal(weir_job_channel_try_recv(channel, NULL), -EINVAL);
	assert_int_equal(weir_job_channel_close(NULL), -EINVAL);
	assert_int_equal(weir_job_channel_destroy(NULL), 0);
}

/* One slot: a sender waits for each message, a receiver too. */
static void
in_order(void **state)
{
	make(1, 1, 8);
	spawn_sender(0, 100);
	jt_rounds(20);
	assert_int_equal(nb_sent, 1);
	assert_int_equal(look().nb_waiting, 1);
	assert_int_equal(weir_job_channel_destroy(channel), -EBUSY);
	assert_int_equal(look().nb_refused, 0);
	jt_spawn(receive_all, NULL, 0, NULL);
	jt_until(&nb_received, 100, "all received");
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(received[i], i);
	assert_int_equal(look().nb_waiting, 1); /* the receiver */
	weir_job_channel_close(channel);
	jt_finish();
	assert_int_equal(last_rc, -EPIPE);
	assert_int_equal(look().nb_refused, 0);
}

/* Those who wait to send are told that it was closed; what is in it can be received. */
static void
closed_while_full(void **state)
{
	make(1, 2, 8);
	spawn_sender(0, 10);
	spawn_sender(10, 20);
	jt_rounds(20);
	assert_int_equal(nb_sent, 2);
	weir_job_channel_close(channel);
	jt_until(&nb_ended, 2, "senders are told");
	assert_int_equal(last_rc, -EPIPE);
	assert_int_equal(look().nb_refused, 2);
	jt_spawn(receive_all, NULL, 0, NULL);
	jt_finish();
	assert_int_equal(nb_received, 2);
	assert_int_equal(last_rc, -EPIPE);
}

static void
receive_in_time(void *in, void *out)
{
	const struct weir_job_wait how = within(3000000);
	uint64_t number = 77;

	last_rc = weir_job_channel_recv(channel, &number, &how);
	CHECK(last_rc == 0 || number == 77);
	jt_add(&nb_ended, 1);
}

static void
send_in_time(void *in, void *out)
{
	const struct weir_job_wait how = within(3000000);
	uint64_t number = 5;

	last_rc = weir_job_channel_send(channel, &number, &how);
	jt_add(&nb_ended, 1);
}

static void
given_up(void **state)
{
	uint64_t number = 1;
	weir_job job;

	make(1, 1, 8);
	jt_spawn(receive_in_time, NULL, 0, NULL);
	jt_finish();
	assert_int_equal(last_rc, -ETIMEDOUT);
	job = jt_spawn(receive_all, NULL, 0, NULL);
	jt_rounds(5);
	weir_job_cancel(jt_service, job);
	jt_finish();
	assert_int_equal(last_rc, -ECANCELED);
	/* nobody waits: it is kept, and not given to those who have gone */
	assert_int_equal(weir_job_channel_try_send(channel, &number), 0);
	assert_int_equal(look().nb, 1);
	jt_spawn(send_in_time, NULL, 0, NULL);
	jt_finish();
	assert_int_equal(last_rc, -ETIMEDOUT);
	assert_int_equal(look().nb_refused, 1);
	assert_int_equal(weir_job_channel_try_recv(channel, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(weir_job_channel_try_recv(channel, &number), -EAGAIN);
}

/* ---- on cores, and threads ---- */

#define NB_EACH 500

static void *
thread_receives(void *arg)
{
	receive_all(NULL, NULL);
	return NULL;
}

static void *
thread_sends(void *arg)
{
	uint64_t range[2] = {3 * NB_EACH, 4 * NB_EACH};

	send_some(range, NULL);
	return NULL;
}

/* Each once. */
static void
on_cores(void **state)
{
	static uint8_t times[4 * NB_EACH];
	pthread_t receiver, sender;

	make(3, 4, 8);
	memset(times, 0, sizeof(times));
	assert_int_equal(pthread_create(&receiver, NULL, thread_receives, NULL), 0);
	assert_int_equal(pthread_create(&sender, NULL, thread_sends, NULL), 0);
	for (unsigned int i = 0; i < 3; i++) {
		spawn_sender(i * NB_EACH, (i + 1) * NB_EACH);
		jt_spawn(receive_all, NULL, 0, NULL);
	}
	jt_until(&nb_received, 4 * NB_EACH, "all received");
	weir_job_channel_close(channel);
	jt_until(&nb_ended, 8, "all told");
	pthread_join(receiver, NULL);
	pthread_join(sender, NULL);
	for (unsigned int i = 0; i < 4 * NB_EACH; i++) {
		assert_true(received[i] < 4 * NB_EACH);
		times[received[i]]++;
	}
	for (unsigned int i = 0; i < 4 * NB_EACH; i++)
		assert_int_equal(times[i], 1);
}

/* ---- events ---- */

static void
receive_events(void *in, void *out)
{
	struct rte_event event;

	while (weir_job_channel_recv(channel, &event, NULL) == 0)
		keep(event.u64);
}

static weir_em_queue
serve(enum weir_em_queue_type type)
{
	return et_serve("to the channel", type, weir_job_channel_receive, channel);
}

static void
events(void **state)
{
	weir_em_queue queue;

	make(1, 4, 0);
	queue = serve(WEIR_EM_QUEUE_ATOMIC);
	jt_spawn(receive_events, NULL, 0, NULL);
	for (unsigned int i = 0; i < 200; i++) {
		et_send(queue, i);
		jt_rounds(4);
	}
	jt_until(&nb_received, 200, "all came");
	for (unsigned int i = 0; i < 200; i++)
		assert_int_equal(received[i], i);
	/* a job that waits for events holds none: the scheduler is empty */
	assert_int_equal(et_stats().nb_sent + et_stats().nb_forwarded, et_stats().nb_received);
	weir_job_channel_close(channel);
	jt_finish();
}

static uint64_t nb_refused;

static void
refuse(void *arg, struct weir_em_core *core, struct rte_event *event, weir_em_queue queue)
{
	CHECK(arg == &nb_refused);
	CHECK(event->u64 == 2 + nb_refused);
	CHECK(queue != WEIR_EM_NONE);
	nb_refused++;
}

static void
too_many_events(void **state)
{
	struct rte_event event;
	weir_em_queue queue;

	make(1, 8, 0);
	assert_int_equal(weir_job_channel_destroy(channel), 0);
	channel = weir_job_channel_create(&(struct weir_job_channel_config){
		.nb_messages = 2, .refused = refuse, .refused_arg = &nb_refused});
	assert_non_null(channel);
	nb_refused = 0;
	queue = serve(WEIR_EM_QUEUE_ATOMIC);
	for (unsigned int i = 0; i < 5; i++)
		et_send(queue, i);
	et_run();
	assert_int_equal(nb_refused, 3);
	assert_int_equal(look().nb_refused, 3);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(weir_job_channel_try_recv(channel, &event), 0);
		assert_int_equal(event.u64, i);
	}
}

/* Buffers that nobody takes are not lost. */
static void
refused_buffers(void **state)
{
	struct weir_em_pool_info info;
	weir_em_queue queue;
	weir_em_pool pool;

	make(1, 1, 8); /* not for events at all */
	pool = weir_em_pool_create(
		et_em, &(struct weir_em_pool_config){.name = "refused", .nb = 31, .socket_id = -1});
	assert_int_not_equal(pool, WEIR_EM_NONE);
	queue = serve(WEIR_EM_QUEUE_PARALLEL);
	for (unsigned int i = 0; i < 20; i++) {
		struct rte_event event = weir_em_event_buffer(weir_em_alloc(et_core, pool, 8));

		assert_non_null(event.mbuf);
		assert_int_equal(weir_em_send(et_core, queue, &event, 1), 1);
	}
	et_run();
	assert_int_equal(look().nb_refused, 20);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, 31);
	assert_int_equal(weir_em_pool_delete(et_em, pool), 0);
}

#define CH_TEST(name) cmocka_unit_test_teardown(name, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CH_TEST(without_waiting),
		CH_TEST(wrong_arguments),
		CH_TEST(in_order),
		CH_TEST(closed_while_full),
		CH_TEST(given_up),
		CH_TEST(on_cores),
		CH_TEST(events),
		CH_TEST(too_many_events),
		CH_TEST(refused_buffers),
	};

	return ST_RUN("job-channel", tests);
}
