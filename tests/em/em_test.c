/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>

#include <rte_lcore.h>

#include "em_test.h"

#define QUIET_ROUNDS 300
#define QUIET_NS     3000000 /* devices may take their time */
#define PATIENCE_NS  60000000000

struct weir_em *et_em;
struct weir_em_core *et_core;

static pthread_t threads[8];
static unsigned int nb_threads, nb_attached;
static bool workers_over;

void
et_make_detached(struct weir_em_config config)
{
	config.backend = st_backend();
	if (config.socket_id == 0)
		config.socket_id = -1;
	et_em = weir_em_create("test", &config);
	if (et_em == NULL && rte_errno == ENOTSUP)
		st_skip("%s", st_log_last());
	if (et_em == NULL)
		fail_msg("not made: %s: %s", rte_strerror(rte_errno), st_log_last());
}

void
et_make(struct weir_em_config config)
{
	et_make_detached(config);
	et_core = weir_em_core_attach(et_em, 0);
	assert_non_null(et_core);
}

void
et_make_small(void)
{
	et_make((struct weir_em_config){.nb_queues = 64});
}

int
et_teardown(void **state)
{
	et_workers_end();
	if (et_core != NULL)
		weir_em_core_detach(et_core);
	et_core = NULL;
	if (et_em != NULL && weir_em_destroy(et_em, NULL, NULL) != 0)
		return -1;
	et_em = NULL;
	return 0;
}

uint64_t
et_run(void)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	uint64_t nb = 0, got, quiet_since = weir_base_time_ns();
	unsigned int nb_quiet = 0;

	while (nb_quiet < QUIET_ROUNDS || weir_base_time_ns() - quiet_since < QUIET_NS) {
		got = weir_em_dispatch(et_core, &once);
		nb_quiet = got > 0 ? 0 : nb_quiet + 1;
		if (got > 0)
			quiet_since = weir_base_time_ns();
		nb += got;
	}
	return nb;
}

void
et_sink_receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct et_sink *sink = context;

	CHECK(sink->nb + nb <= RTE_DIM(sink->values));
	for (uint16_t i = 0; i < nb; i++) {
		sink->queues[sink->nb] = queue;
		sink->values[sink->nb] = events[i].u64;
		__atomic_store_n(
			&sink->nb, sink->nb + 1, __ATOMIC_RELEASE); /* others may wait for it */
	}
	sink->sizes[sink->nb_calls++] = nb;
}

weir_em_queue
et_queue(const char *name, enum weir_em_queue_type type, uint8_t priority)
{
	weir_em_queue queue = weir_em_queue_create(et_em,
		&(struct weir_em_queue_config){.name = name, .type = type, .priority = priority});

	if (queue == WEIR_EM_NONE && rte_errno == ENOTSUP)
		st_skip("%s", st_log_last());
	assert_int_not_equal(queue, WEIR_EM_NONE);
	return queue;
}

weir_em_object
et_object(const char *name, weir_em_receive_t receive, void *context)
{
	weir_em_object object = weir_em_object_create(
		et_em, &(struct weir_em_object_config){
			       .name = name, .receive = receive, .context = context});

	assert_int_not_equal(object, WEIR_EM_NONE);
	return object;
}

weir_em_queue
et_serve(const char *name, enum weir_em_queue_type type, weir_em_receive_t receive, void *context)
{
	weir_em_queue queue = et_queue(name, type, 0);
	weir_em_object object = et_object(name, receive, context);

	assert_int_equal(weir_em_object_add_queue(et_em, object, queue), 0);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	return queue;
}

void
et_sink_make(struct et_sink *sink, enum weir_em_queue_type type, uint8_t priority, uint16_t burst)
{
	*sink = (struct et_sink){.nb = 0};
	sink->queue = et_queue("sink", type, priority);
	sink->object = weir_em_object_create(et_em, &(struct weir_em_object_config){.name = "sink",
							    .receive = et_sink_receive,
							    .context = sink,
							    .burst = burst});
	assert_int_not_equal(sink->object, WEIR_EM_NONE);
	assert_int_equal(weir_em_object_add_queue(et_em, sink->object, sink->queue), 0);
	assert_int_equal(weir_em_object_start(et_em, et_core, sink->object, NULL), 0);
}

void
et_send(weir_em_queue queue, uint64_t value)
{
	struct rte_event event = weir_em_event_u64(value);

	assert_int_equal(weir_em_send(et_core, queue, &event, 1), 1);
}

static void *
work(void *arg)
{
	const struct weir_em_dispatch_options options = {
		.idle = WEIR_EM_IDLE_YIELD, .duration_ns = 1000000};
	bool registered = rte_thread_register() == 0; /* a device's scheduler may want it */
	struct weir_em_core *core = weir_em_core_attach(et_em, (unsigned int)(uintptr_t)arg);

	CHECK(core != NULL);
	__atomic_fetch_add(&nb_attached, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&workers_over, __ATOMIC_ACQUIRE))
		weir_em_dispatch(core, &options);
	CHECK(weir_em_core_detach(core) == 0);
	if (registered)
		rte_thread_unregister();
	return NULL;
}

void
et_workers_begin(unsigned int nb)
{
	__atomic_store_n(&workers_over, false, __ATOMIC_RELEASE);
	__atomic_store_n(&nb_attached, 0, __ATOMIC_RELEASE);
	for (; nb_threads < nb; nb_threads++)
		assert_int_equal(pthread_create(&threads[nb_threads], NULL, work,
					 (void *)(uintptr_t)(nb_threads + 1)),
			0);
	while (__atomic_load_n(&nb_attached, __ATOMIC_ACQUIRE) < nb)
		sched_yield();
}

void
et_workers_end(void)
{
	__atomic_store_n(&workers_over, true, __ATOMIC_RELEASE);
	while (nb_threads > 0)
		pthread_join(threads[--nb_threads], NULL);
}

void
et_wait(const uint64_t *value, uint64_t wanted, const char *what)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	uint64_t begun = weir_base_time_ns();

	while (__atomic_load_n(value, __ATOMIC_ACQUIRE) != wanted) {
		if (et_core != NULL)
			weir_em_dispatch(et_core, &once);
		sched_yield();
		if (weir_base_time_ns() - begun > PATIENCE_NS) {
			weir_em_dump(et_em, stderr, 20);
			weir_sched_dump(weir_em_sched(et_em), stderr);
			fail_msg("%s: %ju, not %ju", what, (uintmax_t)*value, (uintmax_t)wanted);
		}
	}
}

struct weir_em_stats
et_stats(void)
{
	struct weir_em_stats stats;

	weir_em_stats(et_em, &stats);
	return stats;
}

void
et_check_sums(void)
{
	struct weir_em_stats stats = et_stats();
	struct weir_em_queue_stats sums, all = {0};
	uint64_t nb_dropped = 0;

	for (int type = 0; type < WEIR_EM_QUEUE_TYPES; type++) {
		assert_int_equal(
			weir_em_type_stats(et_em, (enum weir_em_queue_type)type, &sums), 0);
		assert_int_equal(sums.nb_sent, sums.nb_received + sums.nb_dropped);
		all.nb_sent += sums.nb_sent;
		all.nb_received += sums.nb_received;
	}
	for (int i = 0; i < WEIR_EM_DROPS; i++)
		nb_dropped += stats.nb_dropped[i];
	assert_int_equal(all.nb_sent, stats.nb_sent + stats.nb_forwarded);
	assert_int_equal(all.nb_received, stats.nb_received);
	assert_int_equal(stats.nb_sent + stats.nb_forwarded, stats.nb_received + nb_dropped);
}
