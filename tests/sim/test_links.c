/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of a readout: emulated frames, what their buffers hold, and windows that are asked of these. */
#include "sim_util.h"

/*
 * A frame each 10 us, the first one at 0, of links l-0 and l-1; a buffer holds 101 steps of history, 16 of jumps, and 2. Without costs
 * they are there at once.
 */
#define LINKS(emulated, application, run)                                                          \
	"application:\n"                                                                           \
	"  formats: {f: {size: 7200B, clock: 1MHz, step: 10, stream: {offset: 0, width: 8}, "      \
	"timestamp: {offset: 8, width: 56}}}\n"                                                    \
	"  links: {l: {format: f, count: 2, buffer: {history: 1010us}}}\n"                         \
	"  " application "\n"                                                                      \
	"traffic: {emulated: {l: {" emulated "}}}\n"                                               \
	"run: {simulation: {" run "}}\n"

#define HELD (101 + 16 + 2)

/* Frame n is due at n / rate, however long that goes on: 30517.578125 a second. */
static void
exact_rate(void **state)
{
	EXPECT("application: {links: {w: {format: wibeth, buffer: {history: 1ms}}}}\n"
	       "traffic: {emulated: {w: {}}}\n"
	       "run: {simulation: {duration: 20s}}\n",
		{WEIR_SIM_STREAM, "w", "arrived_packets", 610351 + 1},
		{WEIR_SIM_STREAM, "w", "latency_max_ns", 0},
		{WEIR_SIM_LINK, "w", "received_frames", 610352},
		{WEIR_SIM_LINK, "w", "stored_frames", 610352});
	/* 3 in 10 s: at 0, 3.33, 6.67 and, to the picosecond, at 10 s. */
	EXPECT(LINKS("rate: 0.3Hz", "", "duration: 10s"),
		{WEIR_SIM_STREAM, "l-0", "arrived_packets", 4});
	EXPECT(LINKS("rate: 0.3Hz", "", "duration: 9.999999999s"),
		{WEIR_SIM_STREAM, "l-0", "arrived_packets", 3});
	EXPECT(LINKS("frames: 7", "", "duration: 1s"),
		{WEIR_SIM_STREAM, "l-1", "arrived_packets", 7});
}

/* Its history, and not a frame more; what is counted after a warm-up has been filled before. */
static void
what_a_buffer_holds(void **state)
{
	EXPECT(LINKS("frames: 1000", "", "duration: 1s"),
		{WEIR_SIM_LINK, "l-0", "buffered_max", HELD},
		{WEIR_SIM_LINK, "l-0", "buffered_frames", HELD},
		{WEIR_SIM_LINK, "l-1", "expired_frames", 1000 - HELD});
	EXPECT(LINKS("rate: 100kHz", "", "duration: 20005us, warmup: 10005us"),
		{WEIR_SIM_LINK, "l-0", "stored_frames", 1000},
		{WEIR_SIM_LINK, "l-0", "expired_frames", 1000},
		{WEIR_SIM_LINK, "l-0", "buffered_mean", HELD});
	/* Without a step it goes by the rate: 1000 ticks, 16 frames, and the one that begins. */
	EXPECT("application:\n"
	       "  formats: {f: {size: 64B, clock: 1MHz, timestamp: {offset: 0, width: 64}}}\n"
	       "  links: {l: {format: f, buffer: {history: 1ms, rate: 100kHz}}}\n"
	       "traffic: {emulated: {l: {frames: 1000, rate: 100kHz}}}\n"
	       "run: {simulation: {duration: 1s}}\n",
		{WEIR_SIM_LINK, "l", "buffered_max", 100 + 16 + 1});
}

/* Each fault at each tenth frame, twice in a row. */
#define EACH_TENTH(fault)                                                                          \
	LINKS("frames: 100, faults: [{" fault ", first: 5, period: 10, length: 2}]", "",           \
		"duration: 10ms")

#define LATE(amount)                                                                               \
	"application:\n"                                                                           \
	"  formats: {f: {size: 64B, clock: 1MHz, step: 10, timestamp: {offset: 0, width: 64}}}\n"  \
	"  links: {l: {format: f, buffer: {history: 40us}}}\n"                                     \
	"traffic: {emulated: {l: {frames: 100, faults: [{fault: reorder, first: 50, "              \
	"amount: " amount "}]}}}\n"                                                                \
	"run: {simulation: {duration: 10ms}}\n"

static void
faults(void **state)
{
	EXPECT(EACH_TENTH("fault: drop"), {WEIR_SIM_STREAM, "l-0", "arrived_packets", 100},
		{WEIR_SIM_DROP, "l-0: fault drop", "packets", 20},
		{WEIR_SIM_LINK, "l-0", "received_frames", 80});
	EXPECT(EACH_TENTH("fault: duplicate"), {WEIR_SIM_STREAM, "l-0", "arrived_packets", 120},
		{WEIR_SIM_DROP, "l-0: duplicate", "packets", 20},
		{WEIR_SIM_LINK, "l-0", "received_frames", 120},
		{WEIR_SIM_LINK, "l-0", "stored_frames", 100});
	EXPECT(EACH_TENTH("fault: truncate, amount: 7199"),
		{WEIR_SIM_DROP, "l-0: wrong_size", "packets", 20},
		{WEIR_SIM_LINK, "l-0", "stored_frames", 80});
	EXPECT(EACH_TENTH("fault: truncate, amount: 7200"),
		{WEIR_SIM_LINK, "l-0", "stored_frames", 100});
	EXPECT(EACH_TENTH("fault: sequence, amount: 1"),
		{WEIR_SIM_LINK, "l-0", "stored_frames", 100});
	/* One at a time: the second one in a row goes on. It waits for 3 frames. */
	EXPECT(EACH_TENTH("fault: reorder, amount: 3"), {WEIR_SIM_LINK, "l-0", "late_frames", 10},
		{WEIR_SIM_STREAM, "l-0", "latency_max_ns", 30e3},
		{WEIR_SIM_STREAM, "l-0", "reordered_packets", 10});
	/* 40 us, 160 of jumps, and 2 steps: a frame that comes after 21 later ones is in time. */
	EXPECT(LATE("21"), {WEIR_SIM_LINK, "l", "stored_frames", 100},
		{WEIR_SIM_LINK, "l", "late_frames", 1});
	EXPECT(LATE("22"), {WEIR_SIM_DROP, "l: too_late", "packets", 1},
		{WEIR_SIM_LINK, "l", "buffered_max", 22});
	/* The last frame, which nothing comes after, does not stay behind. */
	EXPECT(LINKS("frames: 7, faults: [{fault: reorder, amount: 3, first: 6}]", "",
		       "duration: 1ms"),
		{WEIR_SIM_LINK, "l-0", "stored_frames", 7},
		{WEIR_SIM_LINK, "l-0", "late_frames", 0});
}

/* Frames that say whose they are, and when: each 10 us, of 4 us jumps are doubted until three frames agree. */
#define FIELDS(count, faults)                                                                      \
	"application:\n"                                                                           \
	"  formats:\n"                                                                             \
	"    f:\n"                                                                                 \
	"      size: 64B\n"                                                                        \
	"      clock: 1MHz\n"                                                                      \
	"      step: 10\n"                                                                         \
	"      stream: {offset: 0, width: 8}\n"                                                    \
	"      sequence: {offset: 8, width: 8}\n"                                                  \
	"      timestamp: {offset: 64, width: 24}\n"                                               \
	"  links: {l: {format: f, count: " count ", stream: 254, buffer: {history: 1ms}}}\n"       \
	"  requests: {r: {links: [l], every: 100us, window: 50us, delay: 100us}}\n"                \
	"traffic: {emulated: {l: {frames: 1000, faults: [" faults "]}}}\n"                         \
	"run: {simulation: {duration: 1s}}\n"

static void
streams_of_others(void **state)
{
	/* The key after the last one's is 0: nobody's; the key before the first one's is 253. */
	EXPECT(FIELDS("2", "{fault: stream, amount: 1, first: 10, period: 100}"),
		{WEIR_SIM_DROP, "l-1: unknown_stream", "packets", 10},
		{WEIR_SIM_DROP, "l-0: unknown_stream", "packets", 0},
		{WEIR_SIM_LINK, "l-0", "received_frames", 990},
		{WEIR_SIM_LINK, "l-0", "missing_frames", 10},
		{WEIR_SIM_LINK, "l-1", "received_frames", 1000},
		{WEIR_SIM_LINK, "l-1", "missing_frames", 0});
	/* All the way round it is the same one. */
	EXPECT(FIELDS("2", "{fault: stream, amount: 256, first: 10, period: 100}"),
		{WEIR_SIM_LINK, "l-1", "stored_frames", 1000},
		{WEIR_SIM_LINK, "l-1", "fault_gap", 0});
	/* A frame that is too short to say whose it is. */
	EXPECT(FIELDS("1", "{fault: truncate, amount: 7, first: 10, length: 3}"),
		{WEIR_SIM_DROP, "l-0: truncated", "packets", 3},
		{WEIR_SIM_LINK, "l-0", "received_frames", 997});
	EXPECT(FIELDS("1", "{fault: truncate, amount: 63, first: 10, length: 3}"),
		{WEIR_SIM_LINK, "l-0", "dropped_wrong_size", 3},
		{WEIR_SIM_LINK, "l-0", "received_frames", 1000});
}

static void
times_of_others(void **state)
{
	/* Within its step it finds its place free, at the next one's it takes that. */
	EXPECT(FIELDS("1", "{fault: timestamp, amount: 3, first: 10, period: 100}"),
		{WEIR_SIM_LINK, "l-0", "fault_early", 10},
		{WEIR_SIM_LINK, "l-0", "stored_frames", 1000});
	EXPECT(FIELDS("1", "{fault: timestamp, amount: 13, first: 10, period: 100}"),
		{WEIR_SIM_LINK, "l-0", "dropped_slot_taken", 10});
	EXPECT(FIELDS("1", "{fault: timestamp, amount: 10, first: 10, period: 100}"),
		{WEIR_SIM_LINK, "l-0", "dropped_duplicate", 10});
	/* Nobody agrees with one that is far off; a second later than its number says is a jump. */
	EXPECT(FIELDS("1", "{fault: timestamp, amount: 5000, first: 10, period: 100}"),
		{WEIR_SIM_LINK, "l-0", "fault_early", 10},
		{WEIR_SIM_LINK, "l-0", "dropped_far_off", 10}, {WEIR_SIM_LINK, "l-0", "jumps", 0});
	EXPECT(FIELDS("1", "{fault: timestamp, amount: 1000001, first: 10, period: 100}"),
		{WEIR_SIM_LINK, "l-0", "fault_timestamp_jump", 10});
	EXPECT(FIELDS("1", "{fault: timestamp, amount: -5000, first: 700, period: 100}"),
		{WEIR_SIM_LINK, "l-0", "fault_late", 3},
		{WEIR_SIM_LINK, "l-0", "dropped_too_late", 3});
}

/* The clock is set: what was before is over, and windows go by what it says. */
static void
clocks_that_jump(void **state)
{
	EXPECT(FIELDS("1", "{fault: jump, amount: 0, first: 500}"),
		{WEIR_SIM_REQUEST, "r", "windows", 100}, {WEIR_SIM_REQUEST, "r", "complete", 100});
	/* 100 ms later: windows of the time that did not come are not asked for; the history begins anew. */
	EXPECT(FIELDS("1", "{fault: jump, amount: 100000, first: 500}"),
		{WEIR_SIM_LINK, "l-0", "jumps", 1}, {WEIR_SIM_LINK, "l-0", "stored_frames", 1000},
		{WEIR_SIM_LINK, "l-0", "buffered_frames", 118},
		{WEIR_SIM_REQUEST, "r", "skipped_windows", 999},
		{WEIR_SIM_REQUEST, "r", "windows", 50 + 51});
	/* 100 ms back: they begin anew with the third frame, which confirms that. Its first window is asked for 100 us later. */
	EXPECT(FIELDS("1", "{fault: jump, amount: -100000, first: 500}"),
		{WEIR_SIM_LINK, "l-0", "jumps", 1}, {WEIR_SIM_REQUEST, "r", "restarts", 1},
		{WEIR_SIM_REQUEST, "r", "windows", 50 + 49});
	/* Timestamps of 24 bits wrap: a little before 0 is a little back. */
	EXPECT(FIELDS("1", "{fault: jump, amount: 16776216, first: 50}"),
		{WEIR_SIM_LINK, "l-0", "jumps", 0}, {WEIR_SIM_LINK, "l-0", "dropped_duplicate", 50},
		{WEIR_SIM_LINK, "l-0", "stored_frames", 950});
}

/* By chance: of 40,000 a quarter, within five standard deviations; not the same ones of both links. */
static void
faults_at_random(void **state)
{
	struct given given = given_model(
		LINKS("frames: 40000, faults: [{fault: drop, random: 0.25}]", "", "duration: 1s"));
	struct weir_sim_result result = given_run(&given);
	const double one =
		given_value(&given, &result, 0, WEIR_SIM_DROP, "l-0: fault drop", "packets");
	const double other =
		given_value(&given, &result, 0, WEIR_SIM_DROP, "l-1: fault drop", "packets");

	assert_true(fabs(one - 10000) < 5 * sqrt(40000 * 0.25 * 0.75));
	assert_true(fabs(other - 10000) < 5 * sqrt(40000 * 0.25 * 0.75));
	assert_true(one != other);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* One is asked for each 100 us, 10 frames later than it begins, and has those of 50 us. */
#define WINDOWS_OF(links, request, emulated)                                                       \
	LINKS("frames: 1000" emulated,                                                             \
		"requests: {r: {links: [" links "], every: 100us, window: 50us, " request "}}",    \
		"duration: 1s")
#define WINDOWS(request, emulated) WINDOWS_OF("l", request, emulated)

static void
windows_that_are_there(void **state)
{
	/* Time comes to 10 ms with the last frame, that of 9990 us: the hundredth window is asked for. */
	EXPECT(WINDOWS("delay: 100us", ""), {WEIR_SIM_REQUEST, "r", "windows", 100},
		{WEIR_SIM_REQUEST, "r", "asked_fragments", 200},
		{WEIR_SIM_REQUEST, "r", "complete", 200},
		{WEIR_SIM_REQUEST, "r", "frames", 200 * 5},
		{WEIR_SIM_REQUEST, "r", "bytes", 200 * 5 * 7200},
		{WEIR_SIM_REQUEST, "r", "latency_max_ns", 0});
	/* Frames 3, 103, 203 ... are of every tenth window; those of numbers 8, 18 ... are of none. */
	EXPECT(WINDOWS("delay: 100us", ", faults: [{fault: drop, first: 3, period: 100}]"),
		{WEIR_SIM_REQUEST, "r", "partial", 20}, {WEIR_SIM_REQUEST, "r", "complete", 180});
	EXPECT(WINDOWS("delay: 100us", ", faults: [{fault: drop, first: 8, period: 10}]"),
		{WEIR_SIM_REQUEST, "r", "complete", 200});
	/* The first one begins with the first frame. */
	EXPECT(WINDOWS("delay: 100us", ", faults: [{fault: drop, length: 15}]"),
		{WEIR_SIM_REQUEST, "r", "windows", 98}, {WEIR_SIM_REQUEST, "r", "complete", 196});
	/* One that ends within a frame has that, too, and every other one begins within one. */
	EXPECT(LINKS("frames: 1000",
		       "requests: {r: {links: [l-1], every: 105us, window: 51us, delay: 1ms}}",
		       "duration: 1s"),
		{WEIR_SIM_REQUEST, "r", "windows", 86}, {WEIR_SIM_REQUEST, "r", "frames", 86 * 6});
}

/*
 * The clock of m runs a tenth too fast. Window k, from 100 k us on, is asked when frame 10 k + 99 of l is there: at 100 k + 990 us, when
 * frame 11 k + 108 of m, that of 110 k + 1080, is its newest. The history of m begins 118 frames before that, at 110 k - 100.
 */
static void
windows_that_are_old(void **state)
{
	/* It has all of the 5 frames up to k = 10, then 4 of them, 3, 2, 1, and none from k = 15 on. */
	EXPECT("application:\n"
	       "  formats: {f: {size: 64B, clock: 1MHz, step: 10, timestamp: {offset: 0, width: "
	       "64}}}\n"
	       "  links:\n"
	       "    l: {format: f, buffer: {history: 1010us}}\n"
	       "    m: {format: f, buffer: {history: 1010us}}\n"
	       "  requests: {r: {links: [l, m], every: 100us, window: 50us, delay: 1ms}}\n"
	       "traffic: {emulated: {l: {frames: 1000}, m: {frames: 1100, rate: 110kHz}}}\n"
	       "run: {simulation: {duration: 1s}}\n",
		{WEIR_SIM_REQUEST, "r", "windows", 91},
		{WEIR_SIM_REQUEST, "r", "complete", 91 + 11}, {WEIR_SIM_REQUEST, "r", "partial", 4},
		{WEIR_SIM_REQUEST, "r", "too_old", 91 - 15},
		{WEIR_SIM_REQUEST, "r", "frames", 5 * (91 + 11) + 4 + 3 + 2 + 1});
}

static void
windows_to_come(void **state)
{
	/*
	 * Asked when the frame before it is there, which lasts until it begins; the first one when its first frame is. Its last frame comes 50
	 * us later. That of the one after all frames never comes.
	 */
	EXPECT(WINDOWS("timeout: 1ms", ""), {WEIR_SIM_REQUEST, "r", "windows", 101},
		{WEIR_SIM_REQUEST, "r", "complete", 200}, {WEIR_SIM_REQUEST, "r", "timed_out", 2},
		{WEIR_SIM_REQUEST, "r", "latency_mean_ns",
			(2 * 40e3 + 2 * 99 * 50e3 + 2 * 1e6) / 202});
	EXPECT(WINDOWS("timeout: 1s", ""), {WEIR_SIM_REQUEST, "r", "complete", 200},
		{WEIR_SIM_REQUEST, "r", "waiting", 2});
	EXPECT(WINDOWS("timeout: 0s", ""), {WEIR_SIM_REQUEST, "r", "not_yet", 202},
		{WEIR_SIM_REQUEST, "r", "frames", 1});
	EXPECT(WINDOWS("timeout: 35us", ""), {WEIR_SIM_REQUEST, "r", "timed_out", 202},
		{WEIR_SIM_REQUEST, "r", "latency_mean_ns", 35e3},
		{WEIR_SIM_REQUEST, "r", "frames", 2 * (4 + 99 * 3)});
	/* There is room for those of one window at a time: every other one is refused. */
	EXPECT(LINKS("frames: 1000",
		       "fragments: {count: 2}\n"
		       "  requests: {r: {links: [l], every: 100us, window: 150us, timeout: 1s}}",
		       "duration: 1s"),
		{WEIR_SIM_REQUEST, "r", "refused", 2 * 50}, {WEIR_SIM_REQUEST, "r", "waiting", 2});
}

/*
 * The first link ends after 1 ms, and its time with it; the other's goes on: by half of its history, 1170 of 2340 us, the time of windows is that
 * of the other. Those of the first link's are too old for it, or still to come.
 */
static void
time_of_another_link(void **state)
{
	EXPECT("application:\n"
	       "  formats: {f: {size: 64B, clock: 1MHz, step: 10, timestamp: {offset: 0, width: "
	       "64}}}\n"
	       "  links:\n"
	       "    a: {format: f, buffer: {history: 2ms}}\n"
	       "    b: {format: f, buffer: {history: 2ms}}\n"
	       "  requests: {r: {links: [a, b], every: 100us, window: 50us, delay: 100us, timeout: "
	       "0s}}\n"
	       "traffic: {emulated: {a: {frames: 100}, b: {frames: 300}}}\n"
	       "run: {simulation: {duration: 1s}}\n",
		{WEIR_SIM_REQUEST, "r", "windows", 30},
		{WEIR_SIM_REQUEST, "r", "complete", 10 + 30},
		{WEIR_SIM_REQUEST, "r", "not_yet", 20});
	/* It takes more than half of the history. */
	EXPECT("application:\n"
	       "  formats: {f: {size: 64B, clock: 1MHz, step: 10, timestamp: {offset: 0, width: "
	       "64}}}\n"
	       "  links:\n"
	       "    a: {format: f, buffer: {history: 2ms}}\n"
	       "    b: {format: f, buffer: {history: 2ms}}\n"
	       "  requests: {r: {links: [a, b], every: 100us, window: 50us, delay: 100us, timeout: "
	       "0s}}\n"
	       "traffic: {emulated: {a: {frames: 100}, b: {frames: 200}}}\n"
	       "run: {simulation: {duration: 1s}}\n",
		{WEIR_SIM_REQUEST, "r", "windows", 10});
}

/* Frames that come after a stall wait for nobody: there is room for any number, and the thread takes them as fast as it can. */
#define COSTS                                                                                      \
	"platform:\n"                                                                              \
	"  cores: {c: {clock: 1GHz}}\n"                                                            \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 50cycles\n"                                                                     \
	"    nodes: {link_rx: {vector: 200cycles, packet: 150cycles, per_byte: 0.1cycles/B}}\n"

static void
thread_of_links(void **state)
{
	struct given given =
		given_model(LINKS("frames: 1000, faults: [{fault: stall, amount: 400, first: 100}]",
			"", "duration: 20ms") COSTS);
	struct weir_sim_result result = given_run(&given);
	const double bursts =
		given_value(&given, &result, 0, WEIR_SIM_NODE, "link_rx-emulated.l", "vectors");
	const double walks =
		given_value(&given, &result, 0, WEIR_SIM_WORKER, "receiver-0", "walks") -
		given_value(&given, &result, 0, WEIR_SIM_WORKER, "receiver-0", "empty_walks");

	assert_true(given_value(&given, &result, 0, WEIR_SIM_RING, "emulated.l.0.rx_ring",
			    "length_max") >= 2 * 400);
	assert_true(bursts >= 2 * 400 / 254.0 && bursts < 2000);
	assert_true(bursts == walks);
	/* The utilisation law: 150 + 720 cycles for a frame, 200 for a burst, and the walk with its look. */
	assert_true(
		fabs(given_value(&given, &result, 0, WEIR_SIM_WORKER, "receiver-0", "utilisation") *
				20e6 -
			(2000 * 870 + bursts * (200 + 50 + 100))) < 1e-3);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_LINK, "l-1", "stored_frames") == 1000);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Beside others: after a round that has found frames it looks again at once, else it rests for 50 us. */
static void
thread_rests(void **state)
{
	/*
	 * It looks at 0, before there is a frame, and at 50150, when there are twelve; at 60940, when there are two more, and at 63030, when
	 * there are none; so next at 113180, when there are the last ten.
	 */
	EXPECT(LINKS("frames: 12", "", "duration: 1ms") COSTS,
		{WEIR_SIM_STREAM, "l-0", "latency_max_ns", 50150 + 250 + 12 * 870},
		{WEIR_SIM_RING, "emulated.l.0.rx_ring", "wait_max_ns", 50150},
		{WEIR_SIM_NODE, "link_rx-emulated.l", "vectors", 3});
}

/* Threads of its own: link n is of thread n modulo their number; those that are too many have nothing to do. */
static void
threads_of_an_emulator(void **state)
{
	EXPECT(LINKS("frames: 12, cpus: [0, 1]", "",
		       "duration: 1ms") "platform:\n"
					"  cores: {c: {clock: 1GHz, count: 2}}\n"
					"  costs: {walk: 100cycles, nodes: {link_rx: {packet: "
					"10cycles}}}\n",
		{WEIR_SIM_WORKER, "receiver-0", "received_packets", 12},
		{WEIR_SIM_WORKER, "receiver-1", "received_packets", 12},
		{WEIR_SIM_RING, "emulated.l.1.rx_ring", "arrived_packets", 12},
		{WEIR_SIM_LINK, "l-1", "stored_frames", 12});
}

/* One thread receives in no time to speak of, another has 20 us for each frame: of two that come each 10 us it takes a quarter. */
#define DELIVERY(capacity, packet)                                                                 \
	"application:\n"                                                                           \
	"  formats: {f: {size: 7200B, clock: 1MHz, step: 10, stream: {offset: 0, width: 8}, "      \
	"timestamp: {offset: 8, width: 56}}}\n"                                                    \
	"  links:\n"                                                                               \
	"    l: {format: f, count: 2, buffer: {history: 1s}, delivery: {by: queue, "               \
	"capacity: " capacity "}}\n"                                                               \
	"traffic: {emulated: {l: {frames: 1000}}}\n"                                               \
	"platform:\n"                                                                              \
	"  cores: {c: {clock: 1GHz, count: 2}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    nodes: {link_rx: {packet: 10cycles}, link_rx-delivery.l: {packet: " packet "}}\n"     \
	"run: {simulation: {duration: 10200us}}\n"

static void
delivery_by_queue(void **state)
{
	struct given given = given_model(DELIVERY("8", "20kcycles"));
	struct weir_sim_result result = given_run(&given);
	const double stored =
		given_value(&given, &result, 0, WEIR_SIM_LINK, "l-0", "stored_frames") +
		given_value(&given, &result, 0, WEIR_SIM_LINK, "l-1", "stored_frames");
	const double dropped =
		given_value(&given, &result, 0, WEIR_SIM_DROP, "l-0: queue_full", "packets") +
		given_value(&given, &result, 0, WEIR_SIM_DROP, "l-1: queue_full", "packets");
	const double busy =
		given_value(&given, &result, 0, WEIR_SIM_WORKER, "delivery.l", "utilisation");

	/* It begins after a rest of either thread, 50 us each; up to 16 frames wait, and up to 16 are in the burst that is under way. */
	assert_true(busy > 0.985);
	assert_true(fabs(stored - 10.2e6 / 20e3) <= 16 + 3);
	assert_true(dropped >= 2000 - stored - 2 * 16 && dropped <= 2000 - stored);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_RING, "delivery.l.0.queue",
			    "length_max") == 8);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_WORKER, "receiver-0",
			    "received_packets") == 2000);
	weir_sim_result_free(&result);
	given_free(&given);
	/* As fast as they come, a queue of those that come in a rest of either thread is enough. */
	EXPECT(DELIVERY("12", "100cycles"), {WEIR_SIM_LINK, "l-0", "stored_frames", 1000},
		{WEIR_SIM_LINK, "l-1", "stored_frames", 1000},
		{WEIR_SIM_DROP, "l-1: queue_full", "packets", 0});
}

/*
 * Functions before the buffer: 1000 cycles and one for each of 7200 B, in the thread that receives, not in that which empties queues.
 * That of links' key `hits` is one more.
 */
#define FUNCTIONS(link, faults)                                                                    \
	"application:\n"                                                                           \
	"  links:\n"                                                                               \
	"    w: {format: wibeth, count: 2, buffer: {history: 1s}, " link "}\n"                     \
	"    tp: {format: hit, buffer: {history: 1s, rate: 1MHz}}\n"                               \
	"  processes: {p: {function: hits, threshold: 60, links: [w-1], where: inline, to: tp}}\n" \
	"traffic: {emulated: {w: {frames: 100, faults: [" faults "]}}}\n"                          \
	"platform:\n"                                                                              \
	"  cores: {c: {clock: 1GHz, count: 2}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    nodes: {link_rx: {packet: 10cycles}, link_rx-delivery.w: {packet: 20cycles}}\n"       \
	"    processes: {p: {packet: 1kcycles, per_byte: 1cycles/B}, hits: {packet: 5cycles}}\n"   \
	"run: {simulation: {duration: 100ms}}\n"

#define FUNCTIONS_NODES "link_rx-emulated.w"
#define BY_QUEUE        "delivery: {by: queue}"

static void
functions_before_the_buffer(void **state)
{
	EXPECT(FUNCTIONS(BY_QUEUE, ""),
		{WEIR_SIM_NODE, FUNCTIONS_NODES, "cycles", 200 * 10 + 100 * (1000 + 7200)},
		{WEIR_SIM_NODE, "link_rx-delivery.w", "cycles", 200 * 20},
		{WEIR_SIM_LINK, "w-1", "stored_frames", 100});
	EXPECT(FUNCTIONS(BY_QUEUE ", hits: {threshold: 60, to: tp}", ""),
		{WEIR_SIM_NODE, FUNCTIONS_NODES, "cycles", 200 * 15 + 100 * (1000 + 7200)});
	/* They look at duplicates that are not dropped before them, but not at what is dropped before, nor at frames of a wrong size. */
	EXPECT(FUNCTIONS(BY_QUEUE, "{fault: duplicate, first: 1, length: 9}"),
		{WEIR_SIM_NODE, FUNCTIONS_NODES, "cycles", 218 * 10 + 109 * (1000 + 7200)});
	EXPECT(FUNCTIONS(BY_QUEUE ", drop_duplicates: true",
		       "{fault: duplicate, first: 1, length: 9}"),
		{WEIR_SIM_NODE, FUNCTIONS_NODES, "cycles", 218 * 10 + 100 * (1000 + 7200)},
		{WEIR_SIM_LINK, "w-1", "fault_duplicate", 9},
		{WEIR_SIM_LINK, "w-1", "dropped_duplicate", 9},
		{WEIR_SIM_NODE, "link_rx-delivery.w", "cycles", 200 * 20});
	EXPECT(FUNCTIONS(BY_QUEUE ", drop_duplicates: true", ""),
		{WEIR_SIM_NODE, FUNCTIONS_NODES, "cycles", 200 * 10 + 100 * (1000 + 7200)},
		{WEIR_SIM_LINK, "w-1", "stored_frames", 100});
	EXPECT(FUNCTIONS(BY_QUEUE, "{fault: drop, first: 1, length: 9}"),
		{WEIR_SIM_NODE, FUNCTIONS_NODES, "cycles", 182 * 10 + 91 * (1000 + 7200)});
	EXPECT(FUNCTIONS(BY_QUEUE, "{fault: truncate, amount: 100, first: 1, length: 9}"),
		{WEIR_SIM_NODE, FUNCTIONS_NODES, "cycles", 200 * 10 + 91 * (1000 + 7200)},
		{WEIR_SIM_DROP, "w-1: wrong_size", "packets", 9});
}

/*
 * It looks each ms, and finds 199 frames at first: takes 32 of them, then 64, then the last 103; later 128 at once, and the other 72.
 * Of fixed bursts it takes 128, then the others.
 */
#define BURSTS(receiver)                                                                           \
	"application:\n"                                                                           \
	"  formats: {f: {size: 100B, clock: 1MHz, step: 10, stream: {offset: 0, width: 8}, "       \
	"timestamp: {offset: 8, width: 56}}}\n"                                                    \
	"  links: {l: {format: f, count: 2, port: d, buffer: {history: 1s}}}\n"                    \
	"platform:\n"                                                                              \
	"  receivers: {d: {device: a, burst_size: 128, lcore_sleep_us: 1000, " receiver "}}\n"     \
	"  cores: {c: {clock: 1GHz}}\n"                                                            \
	"  costs: {walk: 100cycles, poll: 50cycles, nodes: {link_rx: {packet: 1cycles}}}\n"        \
	"run: {simulation: {duration: 2100us}}\n"

static void
adaptive_bursts(void **state)
{
	EXPECT(BURSTS("burst_adaptive: true"), {WEIR_SIM_NODE, "link_rx-d", "vectors", 3 + 2},
		{WEIR_SIM_NODE, "link_rx-d", "packets", 399});
	EXPECT(BURSTS("burst_adaptive: false"), {WEIR_SIM_NODE, "link_rx-d", "vectors", 2 + 2},
		{WEIR_SIM_NODE, "link_rx-d", "packets", 399});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_rate),
		cmocka_unit_test(what_a_buffer_holds),
		cmocka_unit_test(faults),
		cmocka_unit_test(streams_of_others),
		cmocka_unit_test(times_of_others),
		cmocka_unit_test(clocks_that_jump),
		cmocka_unit_test(faults_at_random),
		cmocka_unit_test(windows_that_are_there),
		cmocka_unit_test(windows_that_are_old),
		cmocka_unit_test(windows_to_come),
		cmocka_unit_test(time_of_another_link),
		cmocka_unit_test(thread_of_links),
		cmocka_unit_test(thread_rests),
		cmocka_unit_test(threads_of_an_emulator),
		cmocka_unit_test(delivery_by_queue),
		cmocka_unit_test(functions_before_the_buffer),
		cmocka_unit_test(adaptive_bursts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
