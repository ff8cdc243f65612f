/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a model is told with its place, before anything runs. */
#include "sim_util.h"

#include <stdlib.h>

static const char good[] = "traffic:\n"
			   "  streams:\n"
			   "    s: {to: q, rate: 1Mpps}\n"
			   "application:\n"
			   "  queues:\n"
			   "    q: {type: parallel}\n"
			   "    r: {type: atomic, flows: 4, capacity: 99}\n"
			   "  objects:\n"
			   "    o: {queues: [q], to: r, steps: [{cpu: 700cycles}]}\n"
			   "    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: uniform}]}\n"
			   "platform:\n"
			   "  cores:\n"
			   "    c: {count: 2, clock: 1.2GHz}\n"
			   "run:\n"
			   "  simulation: {duration: 1ms}\n";

/* The good one with a part replaced; the '@' in the new part marks the place that is told, and is taken out. */
static char *
replaced(const char *old, const char *new, unsigned int *line, unsigned int *column)
{
	const char *found = strstr(good, old);
	char *text = malloc(sizeof(good) + strlen(new)), *at;

	assert_non_null(found);
	assert_null(strstr(found + 1, old));
	sprintf(text, "%.*s%s%s", (int)(found - good), good, new, found + strlen(old));
	at = strchr(text, '@');
	assert_non_null(at);
	*line = 1;
	*column = 1;
	for (char *c = text; c < at; c++) {
		*column = *c == '\n' ? 1 : *column + 1;
		*line += *c == '\n';
	}
	memmove(at, at + 1, strlen(at));
	return text;
}

/* @return how many errors there are, one of which is the one that is expected */
static unsigned int
refuse(const char *old, const char *new, const char *words)
{
	const struct weir_base_doc_error *errors;
	unsigned int line, column, nb_errors, i;
	char *text = replaced(old, new, &line, &column);
	struct weir_base_doc *doc =
		weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root);

	assert_null(weir_sim_model_read(doc));
	errors = weir_base_doc_errors(doc, &nb_errors);
	for (i = 0; i < nb_errors; i++)
		if (errors[i].line == line && errors[i].column == column &&
			strstr(errors[i].message, words) != NULL &&
			strstr(errors[i].message, "expected") != NULL)
			break;
	if (i == nb_errors) {
		weir_base_doc_errors_print(doc, stderr);
		fail_msg("expected '%s' at %u:%u of\n%s", words, line, column, text);
	}
	weir_base_doc_free(doc);
	free(text);
	return nb_errors;
}

/* What follows from one error is not told besides. */
static void
refuse_only(const char *old, const char *new, const char *words)
{
	assert_int_equal(refuse(old, new, words), 1);
}

static void
the_good_one_is_good(void **state)
{
	struct given given = given_model(good);
	struct weir_sim_result result = given_run(&given);

	assert_true(result.events > 0);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
keys_and_units(void **state)
{
	refuse("rate: 1Mpps", "@rat: 1Mpps", "'rat'");
	refuse("1Mpps", "@1MHz", "'1MHz'");
	refuse("700cycles", "@700", "has no unit");
	refuse("1.2GHz", "@fast", "'fast'");
	refuse("count: 2", "count: @0", "out of range");
	refuse("duration: 1ms", "duration: @1B", "'1B'");
}

static void
queues_that_nobody_serves_or_feeds(void **state)
{
	refuse_only("to: q", "to: @x", "unknown queue 'x'");
	refuse_only("to: r", "to: @x", "unknown queue 'x'");
	refuse_only("queues: [q]", "queues: [@x]", "unknown queue 'x'");
	refuse("queues: [r]", "queues: [@q]", "belongs to object 'o' already");
	refuse("    q: {type", "    @lost: {type: parallel}\n    q: {type", "never served");
	refuse("    q: {type", "    @lost: {type: parallel}\n    q: {type", "nothing is sent");
	refuse("    q: {type: parallel}", "    q: {type: parallel, group: @fast}",
		"group 'fast' has no cores");
}

static void
packets_that_never_leave(void **state)
{
	refuse("    p: {queues: [r], ", "    p: {queues: [r], to: @q, ", "never leave");
}

static void
streams_that_say_too_little_or_too_much(void **state)
{
	refuse("s: {to: q, rate: 1Mpps}", "@s: {to: q}", "expected a key 'rate' or 'interval'");
	refuse("rate: 1Mpps", "rate: 1Mpps, interval: @1us", "'interval' beside 'rate'");
	refuse("rate: 1Mpps", "rate: 1Mpps, spread: @0.5", "'spread' means nothing");
	refuse("rate: 1Mpps", "rate: 1Mpps, sizes: imix, size: @64B", "'size' means nothing");
	refuse("rate: 1Mpps", "rate: 1Mpps, size_max: @64B", "without 'sizes: uniform'");
	refuse("rate: 1Mpps", "rate: 1Mpps, sizes: uniform, size: 65B, size_max: @64B", "at least");
	refuse("rate: 1Mpps", "rate: 1Mpps, start: 2s, stop: @1s", "stops before it starts");
}

static void
steps_that_cost_nothing(void **state)
{
	refuse("o: {queues: [q], to: r, steps: [{cpu: 700cycles}]}", "@o: {queues: [q], to: r}",
		"expected a key 'steps'");
	refuse_only("steps: [{cpu: 700cycles}]", "@steps: []", "object 'o' has no steps");
	refuse("{cpu: 700cycles}", "@{distribution: exponential}", "does nothing");
	refuse("{cpu: 700cycles}", "{cpu: 700cycles, sigma: @1}", "'sigma' means nothing");
	refuse("{cpu: 700cycles}", "{cpu: 700cycles, spread: @1}", "'spread' means nothing");
}

#define STEP(steps, words)      refuse("{cpu: 700cycles}", "{cpu: 1cycles}, " steps, words)
#define STEP_ONLY(steps, words) refuse_only("{cpu: 700cycles}", "{cpu: 1cycles}, " steps, words)

static void
steps_that_mean_nothing(void **state)
{
	STEP("@{cpu: 1cycles, drop: it}", "several things");
	STEP("@{label: l}", "does nothing");
	STEP("{output: @false}", "does nothing");
	STEP("{join: @false}", "does nothing");
	STEP("{cpu: 1cycles, count: @2}", "expected it with 'fork'");
	STEP("{drop: it, times: @size}", "expected it with 'cpu'");
	STEP("{cpu: 1cycles, deschedule: @true}", "expected it with 'use'");
	STEP("{cpu: 1cycles, value: @1}", "expected it with 'set'");
	STEP("{cpu: 1cycles, @weights: [1]}", "expected it with 'set'");
	STEP("{cpu: 1cycles, through: @u}", "expected it with 'output'");
	STEP("@{set: a}", "expected a key 'value' or 'weights'");
	STEP("{set: a, value: 1, @weights: [1]}", "'weights' beside 'value'");
	STEP("{set: a, @weights: [0, 0]}", "above 0");
	STEP("{set: a, value: 1, sigma: @1}", "'sigma' means nothing");
	STEP("{drop: it, probability: @2}", "out of range");
}

static void
steps_that_name_what_is_not(void **state)
{
	STEP("{use: @gpu}", "unknown unit 'gpu'");
	STEP("{output: true, through: @gpu}", "unknown unit 'gpu'");
	STEP_ONLY("{send: @x}", "unknown queue 'x'");
	refuse_only("to: r, steps: [{cpu: 700cycles}]",
		"steps: [{cpu: 1cycles}, {send: r, when: size > 9}, {send: [@x], by: flow}]",
		"unknown queue 'x'");
	refuse_only("to: r, steps: [{cpu: 700cycles}]",
		"to: r, steps: [{cpu: 1cycles}, {jump: @x}]", "has the label 'x'");
	STEP("{memory: @x}", "unknown memory 'x'");
	STEP("{cpu: 1cycles, accesses: @2}", "expected it with 'memory'");
	STEP("{cpu: 1cycles, bytes: @2B}", "expected it with 'memory'");
	refuse("clock: 1.2GHz}", "clock: 1.2GHz}\n  memories: {@m: {levels: {}}}", "has no level");
	refuse("clock: 1.2GHz}", "clock: 1.2GHz}\n  memories: {@m: {levels: {l: {}}}}",
		"nothing uses memory 'm'");
	STEP("{fork: @x}", "unknown queue 'x'");
	STEP("{switch: @x}", "unknown queue 'x'");
	STEP("{jump: @l}", "no step of object 'o' has the label 'l'");
	STEP("{cpu: 1cycles, times: @a}", "nothing has an attribute 'a'");
	STEP("{drop: it, when: @'a > 1'}", "nothing has an attribute 'a'");
	STEP("{drop: it, when: @'size ? 1'}", "is no condition");
	STEP("{drop: it, when: @'size > x'}", "is no condition");
	STEP("{drop: it, when: @'size > 1 2'}", "is no condition");
	STEP("{drop: it, when: @'size <> 1'}", "is no condition");
	refuse("rate: 1Mpps", "rate: 1Mpps, through: @gpu", "unknown unit 'gpu'");
	refuse("rate: 1Mpps", "rate: 1Mpps, attributes: {@a: {}}",
		"expected a key 'value' or 'weights'");
	refuse("clock: 1.2GHz}", "clock: 1.2GHz}\n  units: {@u: {}}", "nothing uses unit 'u'");
	refuse("clock: 1.2GHz}", "clock: 1.2GHz}\n  units: {u: {delay: @5}}", "has no unit");
	refuse("clock: 1.2GHz}", "clock: 1.2GHz}\n  units: {u: {servers: 65536}, @v: {servers: 1}}",
		"too many servers");
}

static void
a_scheduler_that_is_none(void **state)
{
#define DISPATCH(keys, words)                                                                      \
	refuse("clock: 1.2GHz}", "clock: 1.2GHz}\n  dispatch: {" keys "}", words)

	DISPATCH("latency: @5", "has no unit");
	DISPATCH("weights: [1, @0]", "out of range");
	DISPATCH("@weights: [1, 1, 1, 1, 1, 1, 1, 1, 1]", "at most 8");
	DISPATCH("preemptive: true, @weights: [1, 2]", "'preemptive'");
}

static void
polling_that_is_none(void **state)
{
	refuse("clock: 1.2GHz", "clock: 1.2GHz, @polling: {}", "'switch'");
	refuse("clock: 1.2GHz", "clock: 1.2GHz, polling: {switch: @0}", "out of range");
	refuse("clock: 1.2GHz}",
		"clock: 1.2GHz}\n    d: {clock: 1GHz, groups: [x], @polling: {switch: 1cycles}}",
		"no queue to poll");
}

/* Two workers take both cores, and serve a queue in their own way: what is said of other cores and their scheduler is for nobody. */
static void
what_means_nothing_to_workers(void **state)
{
/* Without object p, whose queue the workers serve. */
#define P_AND_PLATFORM                                                                             \
	"    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: uniform}]}\nplatform:\n"
#define WORKERS(platform, costs)                                                                   \
	"  nodes: {n: {type: sched_rx, queues: [r]}}\n"                                            \
	"platform:\n" platform "  ports: {d: {device: a}}\n"                                       \
	"  workers: [{receive: [d]}, {}]\n"                                                        \
	"  costs: {walk: 1cycles, dispatch: 1cycles, nodes: {" costs "}}\n"

	refuse(P_AND_PLATFORM, WORKERS("  @dispatch: {interval: 1us}\n", "sched_rx: {}, drop: {}"),
		"serve queue 'q'");
	refuse(P_AND_PLATFORM, WORKERS("", "sched_rx: {@next: {drop: 1}}"), "no 'next'");
#define JOB(work, costs)                                                                           \
	"  nodes: {j: {type: job, queue: r" work "}}\n"                                            \
	"  edges: ['d.classify -> j']\n"                                                           \
	"platform:\n  ports: {d: {device: a}}\n"                                                   \
	"  workers: [{receive: [d]}]\n"                                                            \
	"  costs: {walk: 1cycles, dispatch: 1cycles, nodes: {ethdev_rx: {}, drop: {}, j: {" costs  \
	"}}}\n"
	refuse("platform:\n", JOB(", work: @'x.so:y'", ""), "'work' (of each packet, in cycles)");
	refuse("platform:\n", JOB(", work: @wait", ""), "takes no time");
	refuse("platform:\n",
		"    x: {queues: [s], to: @j}\n"
		"  nodes: {j: {type: job, queue: r, work: wait, time: 1us}}\n"
		"  edges: ['d.classify -> j']\n"
		"platform:\n  ports: {d: {device: a}}\n  workers: [{receive: [d]}]\n"
		"  costs: {walk: 1cycles, dispatch: 1cycles,\n"
		"    nodes: {ethdev_rx: {}, drop: {}, job: {}}}\n",
		"unknown queue 'j'; expected q or r");
	/* Through queues, jobs and nodes back to where they were. */
	refuse(P_AND_PLATFORM,
		"  nodes: {j: {type: job, queue: r, work: wait, time: 1us},\n"
		"    n: {type: sched_rx, queues: [r]}}\n"
		"  edges: ['d.classify -> j', @'n.r -> j']\n"
		"platform:\n  ports: {d: {device: a}}\n  workers: [{receive: [d]}]\n"
		"  costs: {walk: 1cycles, dispatch: 1cycles,\n"
		"    nodes: {ethdev_rx: {}, drop: {}, job: {}, sched_rx: {}}}\n",
		"packets would go round for ever: r -> j -> r; expected an edge from ip4_rewrite");
	refuse("platform:\n", JOB(", work: compute, time: 1us", "work: @1cycles"),
		"no cost of its work");
	refuse(P_AND_PLATFORM "  cores:\n    c: {count: 2,",
		WORKERS("", "") "  cores:\n    c: {count: 2, @groups: [x],", "'groups'");
	refuse(P_AND_PLATFORM "  cores:\n    c: {count: 2,",
		WORKERS("", "") "  cores:\n    c: {count: 2, @polling: {switch: 1cycles},",
		"'polling'");
	refuse("platform:\n",
		"  nodes: {t: {type: sched_tx, queue: r, on_full: @wait}}\n"
		"  edges: [d.classify -> t]\n"
		"platform:\n  ports: {d: {device: a}}\n"
		"  workers: [{receive: [d], groups: []}]\n"
		"  costs: {walk: 1cycles, dispatch: 1cycles, nodes: {ethdev_rx: {}, sched_tx: {}, "
		"drop: {}}}\n",
		"'r' has a 'capacity'");
	refuse("platform:\n",
		"platform:\n  ports: {d: {pcap_in: /dev/null, bandwidth: @1Gb/s}}\n"
		"  workers: [{receive: [d], groups: []}]\n"
		"  costs: {walk: 1cycles}\n",
		"does not transmit");
	refuse("platform:\n  cores:\n    c: {count: 2, clock: 1.2GHz}",
		"platform:\n  ports: {d: {device: a, rx_queues: 3}}\n"
		"  workers: [{receive: [d], groups: []}]\n"
		"  costs: {walk: @1e12cycles, poll: 1e12cycles}\n"
		"  cores:\n    c: {count: 2, clock: 1Hz}",
		"finds nothing takes");
	refuse("platform:\n",
		"platform:\n  ports: {d: {device: a}}\n  workers: [{receive: [d]}, {}]\n"
		"  costs: {walk: 1cycles, dispatch: 1cycles}\n  @dispatch: {preemptive: true}\n",
		"serve queue 'q'");
	refuse("platform:\n",
		"platform:\n  ports: {d: {device: a}}\n"
		"  workers: [{receive: [d.0], groups: []}, {receive: [d.1], groups: []}]\n"
		"  costs: {walk: 1cycles, dispatch: 1cycles}\n  @dispatch: {preemptive: true}\n",
		"have all cores");
}

/* Of the scheduler; with queues of priorities that differ some of it would matter. */
static void
schedulers_that_are_not_simulated(void **state)
{
	refuse("platform:\n", "platform:\n  scheduler: {events: 64, reserved: @64}\n",
		"leave none");
	refuse("platform:\n", "platform:\n  scheduler: {events: 64, reserved: 4, threshold: @61}\n",
		"at most 60");
	refuse("platform:\n", "platform:\n  scheduler: {threshold: @4097}\n", "at most 4096");
	refuse("platform:\n", "platform:\n  scheduler: {events: @65}\n", "a power of two");
	refuse("    q: {type: parallel}\n    r: {type: atomic, flows: 4, capacity: 99}\n"
	       "  objects:\n    o: {queues: [q], to: r, steps: [{cpu: 700cycles}]}\n"
	       "    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: uniform}]}\n"
	       "platform:\n",
		"    q: {type: parallel}\n    r: {priority: 1}\n"
		"  objects:\n    o: {queues: [q], to: r, steps: [{cpu: 700cycles}]}\n"
		"    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: uniform}]}\n"
		"platform:\n  dispatch: {preemptive: true}\n"
		"  scheduler: {starvation_bound: 0, priority_slack: @1us}\n",
		"'priority_slack' means nothing with 'preemptive'");
}

/* Event devices of DPDK's cannot do all that builtin can; which are told as weir run tells them. */
static void
event_devices(void **state)
{
	static const char queues[] =
		"    q: {type: parallel}\n    r: {type: atomic, flows: 4, capacity: 99}\n"
		"  objects:\n    o: {queues: [q], to: r, steps: [{cpu: 700cycles}]}\n"
		"    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: uniform}]}\n"
		"platform:\n";
#define QUEUES(q, scheduler)                                                                       \
	"    q: " q "\n    r: {type: atomic, flows: 4, capacity: 99}\n"                            \
	"  objects:\n    o: {queues: [q], to: r, steps: [{cpu: 700cycles}]}\n"                     \
	"    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: uniform}]}\n"                  \
	"platform:\n  scheduler: {" scheduler "}\n"

	refuse(queues, QUEUES("{type: @ordered}", "backend: 'eventdev:event_dsw0'"),
		"event_dsw has no ordered queues");
	refuse(queues, QUEUES("{priority: @3}", "backend: 'eventdev:event_dsw0'"),
		"event_dsw has no priorities");
	refuse("platform:\n", "platform:\n  scheduler: {backend: @'eventdev:event_opdl0'}\n",
		"cannot be had on event_opdl");
	refuse("platform:\n",
		"platform:\n  scheduler: {backend: 'eventdev:event_sw0', starvation_bound: @4}\n",
		"no starvation bound");
	refuse("platform:\n",
		"platform:\n  scheduler: {backend: 'eventdev:event_sw0', priority_slack: @5us}\n",
		"'priority_slack' means nothing");
	refuse("platform:\n",
		"platform:\n  scheduler: {backend: 'eventdev:0000:01:00.1', idle_sleep: @50us}\n",
		"'idle_sleep' means nothing");
	refuse("platform:\n",
		"platform:\n  scheduler: {backend: 'eventdev:event_sw0', reserved: @3900}\n",
		"event_sw has 4096 credits, of which");
}

/* What changes nothing of a prediction is left aside: of queues of one priority, how strict that is. */
static void
schedulers_that_are_simulated(void **state)
{
	char *text = malloc(sizeof(good) + 200);
	const char *at = strstr(good, "platform:\n") + strlen("platform:\n");
	struct given given;

	sprintf(text,
		"%.*s  scheduler: {backend: builtin, flows: 99, starvation_bound: 4, "
		"priority_slack: 1us, reserved: 9}\n%s",
		(int)(at - good), good, at);
	given = given_model(text);
	given_free(&given);
	free(text);
}

/* Nor those that a step sends elsewhere; but one that may be dropped leaves. */
static void
packets_that_steps_send_in_circles(void **state)
{
	refuse("    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: uniform}]}",
		"    @p: {queues: [r], steps: [{cpu: 1cycles}, {send: q}]}", "never leave");
	refuse("    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: uniform}]}",
		"    p: {queues: [r], to: @q, steps: [{cpu: 1cycles}, {send: r, probability: "
		"0.5}]}",
		"never leave");
}

/* Parts are those of the packet itself: it may have come with them, but not as one. */
static void
packets_that_join_nothing(void **state)
{
	struct given given;

	STEP("{join: @true}", "no packet has parts here to wait for");
	STEP("{join: @true}, {fork: r}", "no packet has parts");
	refuse("to: r, steps: [{cpu: 700cycles}]}\n    p: {queues: [r], steps: [{cpu: 1kcycles",
		"steps: [{fork: r}]}\n    p: {queues: [r], steps: [{join: @true}, {cpu: 1kcycles",
		"no packet has parts");
	/* Forked where it comes from, or in a loop. */
	given = given_model("traffic: {streams: {s: {to: q, rate: 1Mpps}}}\n"
			    "application:\n"
			    "  queues: {q: {}, r: {}, t: {}, u: {}}\n"
			    "  objects:\n"
			    "    o: {queues: [q], to: r, steps: [{fork: t}]}\n"
			    "    p: {queues: [r], steps: [{cpu: 1cycles}, {send: [u], by: flow}]}\n"
			    "    v: {queues: [u], steps: [{join: true}]}\n"
			    "    w: {queues: [t], steps: [{label: l, cpu: 1cycles}]}\n"
			    "platform: {cores: {c: {clock: 1GHz}}}\n"
			    "run: {simulation: {duration: 1us}}\n");
	given_free(&given);
	given = given_model(
		"traffic: {streams: {s: {to: q, rate: 1Mpps, attributes: {n: {value: 2}}}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel}, t: {}}\n"
		"  objects:\n"
		"    o: {queues: [q], steps: [{label: l, cpu: 1cycles}, {join: true}, {fork: t}, "
		"{jump: l, probability: 0.5}]}\n"
		"    w: {queues: [t], steps: [{cpu: 1cycles}]}\n"
		"platform: {cores: {c: {clock: 1GHz}}}\n"
		"run: {simulation: {duration: 1us}}\n");
	given_free(&given);
	/* Workers bring it there. */
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 20us, count: "
	       "2}}}\n"
	       "application:\n"
	       "  queues: {q: {}, t: {}, mid: {}, r: {}}\n"
	       "  objects:\n"
	       "    o: {queues: [q], to: mid, steps: [{fork: t}]}\n"
	       "    w: {queues: [t], steps: [{cpu: 9kcycles}]}\n"
	       "    p: {queues: [r], steps: [{join: true}]}\n"
	       "  nodes: {from: {type: sched_rx, queues: [mid]}, to: {type: sched_tx, queue: r}}\n"
	       "  edges: ['from.mid -> to']\n"
	       "platform:\n"
	       "  ports: {uplink: {device: a}}\n"
	       "  workers: [{receive: [uplink]}]\n"
	       "  cores: {a: {clock: 1GHz}, c: {count: 2, clock: 1GHz}}\n"
	       "  costs: {walk: 1cycles, dispatch: 1cycles, nodes: {ethdev_rx: {}, sched_rx: {}, "
	       "sched_tx: {}, classify: {next: "
	       "{punt: 1}}, punt: {}, drop: {}}}\n"
	       "run: {simulation: {duration: 1ms}}\n",
		{WEIR_SIM_STREAM, "s", "delivered_packets", 2},
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 9000});
}

/* A part has the flow of its packet, which joins it; in a parallel queue there are none. */
static void
parts_that_wait_for_their_packet(void **state)
{
#define PARTS(steps)                                                                               \
	refuse("    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: uniform}]}",            \
		"    p: {queues: [r], steps: [{cpu: 1cycles}, " steps "]}", "joins them")

	PARTS("{@fork: r, when: size == 1}, {join: true}");
	PARTS("{@fork: [r, q], probability: 0.1}, {cpu: 1cycles}, {join: true}");
#undef PARTS
}

/* Who has no core to run on has a place in the file. */
static void
workers_without_cores(void **state)
{
#define CORES(platform, cores, words)                                                              \
	refuse("platform:\n  cores:\n    c: {count: 2,",                                           \
		"  formats: {f: {size: 64B, clock: 1MHz, step: 10, timestamp: {offset: 0, width: " \
		"64}}}\n"                                                                          \
		"  links: {l: {format: f, port: d, buffer: {history: 1s}}}\n"                      \
		"platform:\n  receivers: {d: {device: a, nb_queues: 3, cpus: [0, 1, 2]}}\n"        \
		"  " platform "costs: {walk: 1cycles, nodes: {link_rx: {}}}\n" cores,              \
		words)

	CORES("", "  cores:\n    @c: {count: 2,", "receiver-2 has no core to run on");
	CORES("@", "  limits:\n    c: {count: 2,", "there are none");
#undef CORES
}

static void
too_much_of_everything(void **state)
{
	refuse("count: 2", "count: @5000", "out of range");
	refuse("count: 2, clock: 1.2GHz}",
		"count: 4096, clock: 1GHz}\n    d: {clock: 1GHz, count: @1}", "at most 4096");
	refuse("    q: {type: parallel}", "    q: {type: atomic, flows: 65535}\n    t: {flows: @2}",
		"at most 65536");
	refuse("duration: 1ms", "duration: 1ms, warmup: @1ms", "less than 'duration'");
}

static void
nothing_at_all(void **state)
{
	const struct weir_base_doc_error *errors;
	struct weir_base_doc *doc = weir_base_doc_load_text("{}\n", 3, "model", &weir_sim_doc_root);
	unsigned int nb_errors;

	assert_null(weir_sim_model_read(doc));
	errors = weir_base_doc_errors(doc, &nb_errors);
	assert_int_equal(nb_errors, 1);
	assert_non_null(strstr(errors[0].message, "nothing arrives"));
	weir_base_doc_free(doc);
}

static void
metrics_are_found_by_name(void **state)
{
	struct given given = given_model(good);
	unsigned int nb_metrics, i;
	const struct weir_sim_metric *metrics = weir_sim_model_metrics(given.model, &nb_metrics);

	for (i = 0; i < nb_metrics; i++)
		assert_int_equal(weir_sim_model_metric_find(given.model, metrics[i].scope,
					 metrics[i].name, metrics[i].quantity),
			i);
	assert_int_equal(
		weir_sim_model_metric_find(given.model, WEIR_SIM_QUEUE, "s", "latency_mean_ns"),
		-1);
	assert_int_equal(
		weir_sim_model_metric_find(given.model, WEIR_SIM_STREAM, "s", "colour"), -1);
	given_free(&given);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_good_one_is_good),
		cmocka_unit_test(keys_and_units),
		cmocka_unit_test(queues_that_nobody_serves_or_feeds),
		cmocka_unit_test(packets_that_never_leave),
		cmocka_unit_test(streams_that_say_too_little_or_too_much),
		cmocka_unit_test(steps_that_cost_nothing),
		cmocka_unit_test(steps_that_mean_nothing),
		cmocka_unit_test(steps_that_name_what_is_not),
		cmocka_unit_test(schedulers_that_are_not_simulated),
		cmocka_unit_test(schedulers_that_are_simulated),
		cmocka_unit_test(event_devices),
		cmocka_unit_test(packets_that_steps_send_in_circles),
		cmocka_unit_test(packets_that_join_nothing),
		cmocka_unit_test(a_scheduler_that_is_none),
		cmocka_unit_test(polling_that_is_none),
		cmocka_unit_test(what_means_nothing_to_workers),
		cmocka_unit_test(parts_that_wait_for_their_packet),
		cmocka_unit_test(workers_without_cores),
		cmocka_unit_test(too_much_of_everything),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(metrics_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
