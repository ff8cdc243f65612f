/* SPDX-License-Identifier: BSD-3-Clause */
/* Hits that functions find in frames: frames of a link of their own. */
#include "sim_util.h"

/* A frame is 64 samples, of 32 ticks each; a buffer of hits holds 62,500 ticks of history, 3,907 of jumps, and what begins. */
#define HITS(frames, where, hits, more, run)                                                       \
	"application:\n"                                                                           \
	"  links:\n"                                                                               \
	"    w: {format: wibeth, buffer: {history: 655360ns}}\n"                                   \
	"    tp: {format: hit, buffer: {history: 1ms, rate: 2MHz}}\n"                              \
	"  processes: {p: {function: hits, threshold: 60, links: [w], to: tp, where: " where       \
	"}}\n" more "traffic: {emulated: {w: {" frames "}}}\n"                                     \
	"platform:\n"                                                                              \
	"  cores: {c: {clock: 1GHz, count: 3}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    dispatch: 100cycles\n"                                                                \
	"    nodes: {link_rx: {packet: 10cycles}, link_rx-hits.tp: {packet: 7cycles}}\n"           \
	"    processes: {p: {packet: 1Mcycles, hits: {" hits "}}}\n"                               \
	"run: {simulation: {" run "}}\n"

#define HELD (66407 / 32 + 1)

static void
hits_per_frame(void **state)
{
	EXPECT(HITS("frames: 100, rate: 500Hz", "inline", "value: 3", "", "duration: 1s"),
		{WEIR_SIM_STREAM, "tp", "arrived_packets", 300},
		{WEIR_SIM_NODE, "link_rx-hits.tp", "cycles", 300 * 7},
		{WEIR_SIM_NODE, "link_rx-hits.tp", "vectors", 100},
		{WEIR_SIM_WORKER, "receiver-0", "received_packets", 100 + 300},
		{WEIR_SIM_LINK, "tp", "received_frames", 300},
		{WEIR_SIM_LINK, "tp", "late_frames", 0});
	/* Parts of one add up. */
	EXPECT(HITS("frames: 100, rate: 500Hz", "inline", "value: 0.25", "", "duration: 1s"),
		{WEIR_SIM_LINK, "tp", "received_frames", 25});
	EXPECT(HITS("frames: 100, rate: 500Hz", "inline", "weights: [0, 0, 1]", "", "duration: 1s"),
		{WEIR_SIM_LINK, "tp", "received_frames", 200});
}

/* Of 4000 frames, each with 2 in the mean and as much of a standard deviation, within five of these. */
static void
hits_by_chance(void **state)
{
	struct given given = given_model(HITS("frames: 4000, rate: 500Hz", "inline",
		"value: 2, distribution: exponential", "", "duration: 9s"));
	struct weir_sim_result result = given_run(&given);
	const double nb = given_value(&given, &result, 0, WEIR_SIM_LINK, "tp", "received_frames");

	assert_true(nb != 8000 && fabs(nb - 8000) < 5 * 2 * sqrt(4000));
	weir_sim_result_free(&result);
	given_free(&given);
}

/* 128 of 900 frames are looked at, as in test_followers.c; there are hits of these. */
static void
none_of_missed_frames(void **state)
{
	EXPECT(HITS("frames: 900, rate: 10kHz", "thread", "value: 2", "", "duration: 200ms"),
		{WEIR_SIM_PROCESS, "w p", "passed", 128},
		{WEIR_SIM_LINK, "tp", "received_frames", 256});
	/* In jobs, which give way after each of them, those of each come when it is done. */
	EXPECT(HITS("frames: 33, rate: 1MHz", "jobs", "value: 2", "", "duration: 200ms"),
		{WEIR_SIM_PROCESS, "w p", "passed", 33},
		{WEIR_SIM_LINK, "tp", "received_frames", 66});
	EXPECT(HITS("frames: 33, rate: 1MHz", "jobs", "value: 2", "", "duration: 10500us"),
		{WEIR_SIM_PROCESS, "w p", "passed", 0},
		{WEIR_SIM_LINK, "tp", "received_frames", 20});
}

/* One at each sample. */
static void
what_a_buffer_of_hits_holds(void **state)
{
	EXPECT(HITS("frames: 100, rate: 500Hz", "inline", "value: 64", "", "duration: 1s"),
		{WEIR_SIM_LINK, "tp", "buffered_max", HELD},
		{WEIR_SIM_LINK, "tp", "expired_frames", 6400 - HELD});
	/* Of two at each as many as there is room for: 2127 at that rate, an eighth more, and 16. */
	EXPECT(HITS("frames: 100, rate: 500Hz", "inline", "value: 128", "", "duration: 1s"),
		{WEIR_SIM_LINK, "tp", "buffered_max", 2127 + 266 + 16});
	/* There is no room for more on their way. */
	EXPECT(HITS("frames: 1", "inline", "value: 70000", "", "duration: 10ms"),
		{WEIR_SIM_DROP, "tp: refused", "packets", 70000 - 65536},
		{WEIR_SIM_LINK, "tp", "received_frames", 65536});
}

/* A window is 100 samples of each 200; time comes to that of sample 6399. */
static void
windows_of_hits(void **state)
{
	EXPECT(HITS("frames: 100, rate: 500Hz", "inline", "value: 64",
		       "  requests: {r: {links: [tp], every: 102400ns, window: 51200ns, delay: "
		       "51200ns}}\n",
		       "duration: 1s"),
		{WEIR_SIM_REQUEST, "r", "windows", 32}, {WEIR_SIM_REQUEST, "r", "complete", 32},
		{WEIR_SIM_REQUEST, "r", "frames", 32 * 100},
		{WEIR_SIM_REQUEST, "r", "bytes", 32 * 100 * 24});
	/* Beside the frames that they were found in. */
	EXPECT(HITS("frames: 100, rate: 500Hz", "inline", "value: 64",
		       "  requests: {r: {links: [w, tp], every: 102400ns, window: 51200ns, delay: "
		       "102400ns}}\n",
		       "duration: 1s"),
		{WEIR_SIM_REQUEST, "r", "asked_fragments", 2 * 32},
		{WEIR_SIM_REQUEST, "r", "complete", 2 * 32});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_per_frame),
		cmocka_unit_test(hits_by_chance),
		cmocka_unit_test(none_of_missed_frames),
		cmocka_unit_test(what_a_buffer_of_hits_holds),
		cmocka_unit_test(windows_of_hits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
