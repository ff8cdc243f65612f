/* SPDX-License-Identifier: BSD-3-Clause */
#include "follower_fixture.h"

struct bf bf;

void
bf_expect_frame(const struct weir_readout_item *item)
{
	const uint64_t *data = item->data;

	CHECK(item->mbuf == NULL && item->data_bytes == RT_BYTES);
	CHECK(data[0] == item->frame.timestamp && data[1] == ~item->frame.timestamp);
}

void
bf_put(uint32_t nb)
{
	rt_put_all(bf.buffer, bf.clock, bf.clock + nb * RT_STEP);
	bf.clock += nb * RT_STEP;
}

void
bf_make(uint64_t step, enum weir_readout_full when_full, unsigned int nb_cores)
{
	const struct weir_em_config config = {.nb_cores = nb_cores, .nb_events = 1024};
	const struct weir_job_service_config jobs = {.max_jobs = BF_MAX_JOBS};
	struct weir_readout_buffer_config buffer;

	memset(&bf, 0, sizeof(bf));
	bt_make(config);
	assert_int_equal(
		weir_coro_init(65536, 64, 0, BF_MAX_JOBS, weir_base_ns_to_cycles(10000), 0, -1), 0);
	bf.service = weir_job_service_create(bt_em, &jobs);
	assert_non_null(bf.service);
	bf.format = rt_format(step, 32);
	buffer = rt_config(&bf.format);
	buffer.when_full = when_full;
	buffer.spare_frames = 2 * BF_JOBS * BF_FRAMES;
	bf.buffer = rt_open(&buffer);
	bf.clock = 1000;
	bf.last = 1000 - RT_STEP;
}

void
bf_be_core(void)
{
	bf.core = weir_em_core_attach(bt_em, 0);
	assert_non_null(bf.core);
	assert_int_equal(weir_job_service_start(bf.service, bf.core), 0);
}

struct weir_bridge_follower_config
bf_config(const struct weir_readout_process *process)
{
	return (struct weir_bridge_follower_config){.name = "follower",
		.buffer = bf.buffer,
		.process = *process,
		.service = bf.service,
		.nb_jobs = BF_JOBS,
		.nb_frames = BF_FRAMES};
}

void
bf_follow(const struct weir_bridge_follower_config *config)
{
	bf.follower = weir_bridge_follower_create(config);
	assert_non_null(bf.follower);
}

struct weir_bridge_follower_stats
bf_look(void)
{
	struct weir_bridge_follower_stats stats;
	uint64_t out;

	weir_bridge_follower_stats(bf.follower, &stats);
	out = stats.passed + stats.cancelled + stats.exited + stats.inside;
	for (unsigned int i = 0; i < WEIR_READOUT_PROCESS_DROPS_MAX; i++)
		out += stats.dropped[i];
	CHECK(stats.taken == out && stats.inside <= stats.taken);
	out = stats.missed + stats.waiting + stats.taken;
	for (unsigned int i = 0; i < WEIR_BRIDGE_FOLLOWER_NB_REFUSALS; i++)
		out += stats.refused[i];
	CHECK(stats.received == out);
	return stats;
}

void
bf_poll_all(void)
{
	while (weir_bridge_follower_poll(bf.follower) > 0)
		bf_look();
}

void
bf_dispatch(void)
{
	const struct weir_em_dispatch_options some = {.nb_rounds = 16, .burst = 1};

	weir_em_dispatch(bf.core, &some);
}

void
bf_run_until_begun(uint64_t nb)
{
	const uint64_t end = weir_base_time_ns() + BT_PATIENCE_NS;

	while (bf.begun < nb && weir_base_time_ns() < end)
		bf_dispatch();
	assert_int_equal(bf.begun, nb);
}

void
bf_run_jobs(void)
{
	const uint64_t end = weir_base_time_ns() + BT_PATIENCE_NS;

	while (bf_look().jobs_out > 0 && weir_base_time_ns() < end)
		bf_dispatch();
	assert_int_equal(bf_look().inside, 0);
}

void
bf_drain(void)
{
	do {
		bf_poll_all();
		bf_run_jobs();
	} while (bf_look().waiting > 0);
}

void
bf_stop(void)
{
	assert_int_equal(weir_job_service_stop(bf.service, bf.core, BT_PATIENCE_NS), 0);
	assert_int_equal(bf_look().inside, 0);
	assert_int_equal(bf_look().jobs_out, 0);
}

void
bf_expect_unpinned(void)
{
	bf_put(BF_JOBS * BF_FRAMES);
	assert_int_equal(rt_stats(bf.buffer).detained, 0);
	assert_int_equal(DROPPED(rt_stats(bf.buffer), NO_MEMORY), 0);
}

void
bf_end(void)
{
	bf_stop();
	assert_int_equal(weir_bridge_follower_free(bf.follower), 0);
	bf_expect_unpinned();
	weir_readout_buffer_free(bf.buffer);
	assert_int_equal(weir_job_service_destroy(bf.service, bf.core), 0);
	if (bf.core != NULL)
		assert_int_equal(weir_em_core_detach(bf.core), 0);
	weir_coro_cleanup();
}
