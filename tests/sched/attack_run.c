/* SPDX-License-Identifier: BSD-3-Clause */

/* An attack is run: the scheduler is made, watched, stopped, and the sums must be right. See attack.h. */

#include <unistd.h>

#include "attack.h"

#define WATCH_S             60
#define CHANGES_PER_RESTART 20
#define RESTARTS_AT_LEAST   8
#define UNTIL_MAX           200 /* half a minute at least */

static struct attack_worker workers[ATTACK_PORTS_MAX], senders[ATTACK_SENDERS];

static unsigned int
nb_ports(void)
{
	return attack.nb_workers + attack.nb_producers;
}

/* The deadlock detector: has anything happened lately? WEIR_TEST_WATCH: so many seconds are long enough */
static void
watch(void)
{
	static uint64_t last, since;
	uint64_t now = weir_base_time_ns();
	uint64_t current = __atomic_load_n(&attack_progress, __ATOMIC_RELAXED);
	const char *wish = getenv("WEIR_TEST_WATCH");
	uint64_t seconds = wish != NULL ? strtoul(wish, NULL, 10) : WATCH_S;

	if (current != last || since == 0) {
		last = current;
		since = now;
	}
	if (now - since > seconds * 1000000000) {
		fprintf(stderr, "%s: nothing happened for %" PRIu64 " s; %u of %u out\n",
			attack.name, seconds, __atomic_load_n(&attack_nb_out, __ATOMIC_RELAXED),
			__atomic_load_n(&attack_nb_made, __ATOMIC_RELAXED));
		st_abort();
	}
}

static void
set_group(unsigned int group, uint64_t mask)
{
	__atomic_fetch_add(&attack_group_epoch, 1, __ATOMIC_RELEASE); /* odd: who knows */
	CHECK(weir_sched_group_set(st_sched, group, mask) == 0);
	__atomic_store_n(&attack_group_mask[group], mask, __ATOMIC_RELAXED);
	__atomic_fetch_add(&attack_group_epoch, 1, __ATOMIC_RELEASE);
}

/* All threads rest, and what is inside comes out. */
static uint64_t
restart_now(void)
{
	uint64_t nb;

	__atomic_store_n(&attack_order, ATTACK_PAUSE, __ATOMIC_RELEASE);
	while (__atomic_load_n(&attack_nb_paused, __ATOMIC_ACQUIRE) <
		nb_ports() + (attack.reserved ? ATTACK_SENDERS : 0)) {
		watch();
		usleep(100);
	}
	nb = attack_stop();
	CHECK(weir_sched_start(st_sched) == 0);
	__atomic_store_n(&attack_order, ATTACK_RUN, __ATOMIC_RELEASE);
	while (__atomic_load_n(&attack_nb_paused, __ATOMIC_ACQUIRE) > 0)
		usleep(100);
	attack_moved();
	return nb;
}

/* A device that cannot do what a stage asks for gets the next simpler thing. */
static void
setup_stage(unsigned int number)
{
	struct attack_stage *stage = &attack.stages[number];

	for (;;) {
		const struct weir_sched_queue_config config = {
			.type = stage->type, .priority = stage->priority, .group = stage->group};
		int rc = weir_sched_queue_setup(st_sched, number, &config);

		if (rc == 0)
			return;
		assert_int_equal(rc, -ENOTSUP);
		if (stage->priority != 0)
			stage->priority = 0;
		else if (stage->type == WEIR_SCHED_TYPE_BY_EVENT)
			stage->type = ORDERED;
		else if (stage->type == ORDERED)
			stage->type = ATOMIC;
		else
			st_skip("%s", st_log_last());
	}
}

/* event_opdl: a port for each queue, and no more than one queue for a port; NEW is producers'. */
static void
lay_pipeline(void)
{
	if (attack.group_changes || attack.keep || attack.switches)
		st_skip("event_opdl's ports have one queue each, for good");
	attack.nb_workers = RTE_MAX(attack.nb_workers, attack.nb_stages);
	attack.nb_producers = RTE_MAX(attack.nb_producers, 1u);
	attack.workers_produce = false;
	for (unsigned int s = 0; s < attack.nb_stages; s++)
		attack.stages[s].group = (uint8_t)(s + 1);
}

static void
link_pipeline(void)
{
	for (unsigned int s = 0; s < attack.nb_stages; s++) {
		uint64_t mask = 0;

		for (unsigned int port = s; port < attack.nb_workers; port += attack.nb_stages)
			mask |= UINT64_C(1) << port;
		st_group(s + 1, mask);
	}
}

static void
make(void)
{
	bool pipeline = st_is_driver("event_opdl");

	if (pipeline)
		lay_pipeline();
	st_make((struct weir_sched_config){.nb_ports = nb_ports(),
		.nb_queues = attack.nb_stages,
		.nb_flows = attack.flows_configured,
		.nb_events = attack.nb_events,
		.new_threshold = attack.threshold,
		.nb_reserved = attack.reserved ? 16 : 0,
		.starvation_bound = st_is_builtin() ? attack.bound : 0});
	for (unsigned int s = 0; s < attack.nb_stages; s++)
		setup_stage(s);
	for (unsigned int port = 0; port < nb_ports(); port++) {
		const struct weir_sched_port_config config = {.producer = port >= attack.nb_workers,
			.no_implicit_release = attack.keep,
			.nb_held = 200};
		int rc = weir_sched_port_setup(st_sched, port, &config);

		if (rc == -ENOTSUP)
			st_skip("%s", st_log_last());
		assert_int_equal(rc, 0);
	}
	for (unsigned int g = 1; g < 3 && attack.group_changes; g++) {
		attack_group_mask[g] = (UINT64_C(1) << attack.nb_workers) - 1;
		st_group(g, attack_group_mask[g]);
	}
	if (pipeline)
		link_pipeline();
	st_start();
	/* can they change while it runs? */
	for (unsigned int g = 1; g < 3 && attack.group_changes; g++)
		st_group(g, attack_group_mask[g]);
}

/* Each thread produces flows of its own, whose order it knows. */
static void
begin(void)
{
	unsigned int nb_senders = attack.reserved ? ATTACK_SENDERS : 0, nb_producing = 0, n = 0;

	attack_forget(true);
	memset(workers, 0, sizeof(workers));
	memset(senders, 0, sizeof(senders));
	for (unsigned int i = 0; i < nb_ports(); i++)
		nb_producing += i >= attack.nb_workers || attack.workers_produce;
	for (unsigned int i = 0; i < nb_ports(); i++) {
		struct attack_worker *worker = &workers[i];

		worker->port = i;
		worker->works = i < attack.nb_workers;
		worker->random = 88172645463325252u + i * 7777;
		worker->produces =
			(!worker->works || attack.workers_produce) && n < attack.nb_flows;
		worker->first_flow = n;
		worker->flow_step = nb_producing + nb_senders;
		n += worker->produces;
	}
	for (unsigned int i = 0; i < nb_ports(); i++)
		CHECK(pthread_create(&workers[i].thread, NULL, attack_work, &workers[i]) == 0);
	for (unsigned int i = 0; i < nb_senders; i++) {
		senders[i].random = 4711 + i;
		senders[i].first_flow = nb_producing + i;
		CHECK(senders[i].first_flow < attack.nb_flows);
		CHECK(pthread_create(&senders[i].thread, NULL, attack_send_reserved, &senders[i]) ==
			0);
	}
}

/* All that was made is out: nobody sends any more, and what is inside comes out at last. */
static void
settle(void)
{
	__atomic_store_n(&attack_producing, false, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < ATTACK_SENDERS && attack.reserved; i++)
		pthread_join(senders[i].thread, NULL);
	/* Producers may be about to take numbers. */
	for (unsigned int same = 0; same < 5;) {
		usleep(1000);
		watch();
		same = __atomic_load_n(&attack_nb_out, __ATOMIC_RELAXED) ==
				       __atomic_load_n(&attack_nb_made, __ATOMIC_RELAXED)
			       ? same + 1
			       : 0;
	}
}

/* What is told of queues is what is told of the whole, and nothing waits. */
static void
check_queues(const struct weir_sched_stats *stats)
{
	uint64_t nb_enqueued = 0, nb_dequeued = 0, nb_drained = 0;

	for (unsigned int queue = 0; queue < attack.nb_stages; queue++) {
		nb_enqueued += st_xstat(WEIR_SCHED_PART_QUEUE, queue, "enqueued");
		nb_dequeued += st_xstat(WEIR_SCHED_PART_QUEUE, queue, "dequeued");
		nb_drained += st_xstat(WEIR_SCHED_PART_QUEUE, queue, "drained");
		CHECK(st_xstat(WEIR_SCHED_PART_QUEUE, queue, "waiting") == 0);
	}
	CHECK(nb_enqueued == stats->nb_new + stats->nb_forwarded);
	CHECK(nb_dequeued == stats->nb_dequeued);
	CHECK(nb_drained == stats->nb_drained);
	CHECK(nb_enqueued == nb_dequeued + nb_drained);
}

static void
finish(uint64_t nb_drained)
{
	uint64_t nb_new = 0, nb_released = 0, nb_forwarded = 0;
	struct weir_sched_stats stats;

	__atomic_store_n(&attack_order, ATTACK_QUIT, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < nb_ports(); i++) {
		pthread_join(workers[i].thread, NULL);
		nb_new += workers[i].nb_new;
		nb_forwarded += workers[i].nb_forwarded;
		nb_released += workers[i].nb_released + workers[i].nb_abandoned;
	}
	for (unsigned int i = 0; i < ATTACK_SENDERS; i++)
		nb_new += senders[i].nb_new;
	nb_drained += attack_stop();
	stats = st_stats();
	fprintf(stderr,
		"  %s: %" PRIu64 " new, %" PRIu64 " forwarded, %" PRIu64 " stolen, %" PRIu64
		" refused, %" PRIu64 " drained\n",
		attack.name, nb_new, nb_forwarded, stats.nb_stolen, stats.nb_refused, nb_drained);
	CHECK(stats.nb_new == nb_new);
	CHECK(stats.nb_forwarded == nb_forwarded);
	CHECK(stats.nb_drained == nb_drained);
	CHECK(stats.nb_invalid == 0);
	CHECK(stats.nb_released == nb_released);
	CHECK(stats.nb_new == nb_released + nb_drained);
	check_queues(&stats);
	CHECK(attack_nb_out == attack_nb_made);
	CHECK(nb_new > 0);
	attack_forget(false);
}

/* On a busy machine threads may only begin when the time is over, and restarts only come later. */
static bool
has_done_its_part(unsigned int changes)
{
	return __atomic_load_n(&attack_nb_made, __ATOMIC_RELAXED) > 0 &&
	       (!attack.restarts || changes >= RESTARTS_AT_LEAST * CHANGES_PER_RESTART);
}

static void
round_of(uint64_t until)
{
	static struct attack_worker dice = {.random = 4711, .port = ATTACK_PORTS_MAX};
	uint64_t nb_drained = 0;
	unsigned int changes = 0;

	attack_moved();
	make();
	begin();
	while (weir_base_time_ns() < until || !has_done_its_part(changes)) {
		usleep(1000);
		watch();
		if (attack.group_changes)
			set_group(1 + attack_roll(&dice, 2),
				attack_roll(&dice, 1u << attack.nb_workers));
		if (attack.restarts && ++changes % CHANGES_PER_RESTART == 0)
			nb_drained += restart_now();
	}
	for (unsigned int g = 1; g < 3 && attack.group_changes; g++)
		set_group(g, (UINT64_C(1) << attack.nb_workers) - 1);
	settle();
	finish(nb_drained);
	st_teardown(NULL);
}

void
attack_case(void **state)
{
	uint64_t now, until = weir_base_time_ns() + (uint64_t)(st_seconds(0.15) * 1e9);
	const char *only = getenv("WEIR_TEST_ONLY");

	attack = *(const struct attack *)*state;
	if (only != NULL && strcmp(attack.name, only) != 0)
		st_skip("WEIR_TEST_ONLY is another one");
	while ((now = weir_base_time_ns()) < until)
		round_of(RTE_MIN(until, now + 1000000000));
}

void
attack_until(const struct attack *like, void (*interfere)(struct attack_worker *worker),
	bool *has_happened)
{
	struct attack with = *like;
	void *ours = &with;

	with.interfere = interfere;
	*has_happened = false;
	for (unsigned int i = 0; i < UNTIL_MAX && !*has_happened; i++)
		attack_case(&ours);
	assert_true(*has_happened);
}
