/* SPDX-License-Identifier: BSD-3-Clause */
/* What steps do, and units, in models that can be followed by hand: all times are exact. */
#include "sim_util.h"

#define STREAM WEIR_SIM_STREAM, "s"
#define QUEUE  WEIR_SIM_QUEUE, "q"
#define CORES  WEIR_SIM_CORES, "c"
#define UNIT   WEIR_SIM_UNIT, "u"

/* One stream, one queue and object, a core of 1 GHz unless more are asked for: a cycle is a ns. */
#define MODEL(stream, queue, steps, cores, units, simulation)                                      \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, " stream "}}}\n"                  \
	"application:\n"                                                                           \
	"  queues: {q: {" queue "}}\n"                                                             \
	"  objects: {o: {queues: [q], steps: [" steps "]}}\n"                                      \
	"platform: {cores: {c: {clock: 1GHz" cores "}}, units: {" units "}}\n"                     \
	"run: {simulation: {" simulation "}}\n"

/* A step that is skipped takes no time. */
static void
conditions_compare(void **state)
{
	static const struct {
		const char *when;
		double taken; /* of a packet of 100 B, flow 0 */
	} all[] = {{"size == 100", 1}, {"size == 99", 0}, {"size != 100", 0}, {"size != 99", 1},
		{"size<101", 1}, {"size < 100", 0}, {"size <= 100", 1}, {"size <= 99", 0},
		{"size > 99", 1}, {"size > 100", 0}, {"size >= 100", 1}, {"size >= 101", 0},
		{"flow == 0", 1}, {" a >= 2.5", 1}, {"a > 2.5", 0}};
	char text[1024];
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		snprintf(text, sizeof(text),
			MODEL("interval: 1us, count: 1, size: 100B, attributes: {a: {value: 2.5}}",
				"type: parallel",
				"{cpu: 10cycles}, {cpu: 100cycles, when: '%s'}, {cpu: 5cycles}", "",
				"", "duration: 5us"),
			all[i].when);
		EXPECT(text, {STREAM, "latency_mean_ns", 15 + 100 * all[i].taken});
	}
}

/* Of the weights only one is not 0: class is 2. */
static void
attributes_route_and_scale(void **state)
{
	EXPECT(MODEL("interval: 1us, count: 7, attributes: {class: {weights: [0, 0, 3]}, n: "
		     "{value: 4}}",
		       "type: parallel",
		       "{jump: no, when: class != 2}, {cpu: 20cycles, times: n}, {set: n, value: "
		       "7}, {cpu: 1cycles, times: n}, {output: true}, {label: no, drop: odd}",
		       "", "", "duration: 10us"),
		{STREAM, "latency_mean_ns", 87}, {STREAM, "delivered_packets", 7});
}

static void
drops_have_reasons(void **state)
{
	EXPECT(MODEL("interval: 100ns, count: 9, attributes: {a: {value: 1}}",
		       "type: parallel, capacity: 1", "{cpu: 300cycles}, {drop: odd, when: a == 1}",
		       "", "", "duration: 10us"),
		{STREAM, "dropped_packets", 9}, {WEIR_SIM_DROP, "s: odd", "packets", 4},
		{WEIR_SIM_DROP, "s: queue q is full", "packets", 5});
}

/* Round the loop three times. */
static void
jumps_make_loops(void **state)
{
	EXPECT(MODEL("interval: 1us, count: 1, attributes: {left: {value: 3}}", "type: parallel",
		       "{label: again, cpu: 100cycles}, {set: left, value: 0, when: left == 1}, "
		       "{set: left, value: 1, when: left == 2}, {set: left, value: 2, when: left "
		       "== 3}, {jump: again, when: left > 0}",
		       "", "", "duration: 9us"),
		{STREAM, "latency_mean_ns", 300});
}

/* Many packets wait behind a long one, and then nothing is done with them: in no time, and without a deep stack. */
static void
what_takes_no_time(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    long: {to: q, arrivals: deterministic, interval: 1ns, count: 1, size: 1000B}\n"
	       "    s: {to: q, arrivals: deterministic, interval: 1ps, start: 1ns, count: 200000}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel}}\n"
	       "  objects: {o: {queues: [q], steps: [{per_byte: 1cycles/B, when: size == 1000}, "
	       "{drop: "
	       "all}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz}}}\n"
	       "run: {simulation: {duration: 2us}}\n",
		{STREAM, "dropped_packets", 200000}, {STREAM, "held_packets", 0},
		{QUEUE, "length_max", 200000}, {CORES, "busy_mean", 0.5});
}

/* The first replication is the last one: others would end like that too. */
static void
find_broken(const char *text, const char *broken)
{
	struct given given = given_model(text);
	struct weir_sim_result result;

	given.param.nb_replications = 3;
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_int_equal(result.nb_replications, 1);
	assert_string_equal(result.replications[0].broken, broken);
	assert_true(result.replications[0].is_models_fault);
	assert_int_equal(result.replications[0].end_ps, 1000000);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
endless_steps_are_found(void **state)
{
	find_broken(MODEL("interval: 1us, count: 3", "type: parallel",
			    "{label: l, jump: l}, {cpu: 1cycles}", "", "", "duration: 9us"),
		"steps that take no time come to an end");
	/* They are the last, whatever was to end a batch. */
	find_broken(MODEL("interval: 1us, count: 3", "type: parallel",
			    "{label: l, jump: l}, {cpu: 1cycles}", "", "",
			    "duration: 9us, packets: 4, batches: 2"),
		"steps that take no time come to an end");
	/* Nobody has the attribute that would let them out. */
	find_broken(MODEL("interval: 1us, count: 3", "type: parallel",
			    "{drop: out, when: size == 1}, {send: q}", "", "", "duration: 9us"),
		"events that take no time come to an end");
}

/* Every 100 ns one: 50 of core, 80 of a unit, 50 of core. The core that waits has 180 for each, the other 100. */
static void
a_core_waits_for_a_unit_or_does_not(void **state)
{
	EXPECT(MODEL("interval: 100ns, count: 10", "type: parallel",
		       "{cpu: 50cycles}, {use: u}, {cpu: 50cycles}", "", "u: {delay: 80ns}",
		       "duration: 10us"),
		{STREAM, "latency_min_ns", 180}, {STREAM, "latency_max_ns", 900},
		{STREAM, "service_mean_ns", 180}, {CORES, "busy_mean", 0.18},
		{UNIT, "busy_mean", 0.08}, {UNIT, "wait_max_ns", 0});
	EXPECT(MODEL("interval: 100ns, count: 10", "type: parallel",
		       "{cpu: 50cycles}, {use: u, deschedule: true}, {cpu: 50cycles}", "",
		       "u: {delay: 80ns}", "duration: 10us"),
		{STREAM, "service_mean_ns", 180}, {CORES, "busy_mean", 0.1},
		{STREAM, "latency_min_ns", 180}, {STREAM, "latency_max_ns", 200},
		{UNIT, "busy_mean", 0.08}, {QUEUE, "wait_max_ns", 0});
}

/* Who gave its core up still has its flow: the next one of an atomic queue does not begin. */
static void
a_descheduled_packet_keeps_its_flow(void **state)
{
	EXPECT(MODEL("interval: 100ns, count: 4", "type: atomic",
		       "{cpu: 50cycles}, {use: u, deschedule: true}, {cpu: 50cycles}", ", count: 4",
		       "u: {delay: 100ns, servers: 4}", "duration: 10us"),
		{STREAM, "latency_max_ns", 500}, {UNIT, "busy_mean", 0.04}, {CORES, "busy_max", 1});
	/* Ordered: side by side, and out in order, the first one being the slowest. */
	EXPECT(MODEL("interval: 100ns, count: 4, attributes: {a: {value: 0}}", "type: ordered",
		       "{cpu: 50cycles}, {use: u, deschedule: true}, {cpu: 50cycles}", ", count: 4",
		       "u: {delay: 300ns, servers: 4}", "duration: 10us"),
		{STREAM, "latency_max_ns", 400}, {STREAM, "latency_min_ns", 400});
}

static void
a_unit_has_servers_bytes_and_room(void **state)
{
	/* 100 ns and 1000 B at 8 Gb/s: 1.1 us; two at a time, one waits, others are lost. */
	EXPECT(MODEL("interval: 100ns, count: 6, size: 1000B", "type: parallel",
		       "{use: u, deschedule: true}", "",
		       "u: {servers: 2, delay: 100ns, bandwidth: 8Gb/s, capacity: 1}",
		       "duration: 10us"),
		{UNIT, "served_packets", 3}, {UNIT, "dropped_packets", 3}, {UNIT, "loss", 0.5},
		{UNIT, "length_max", 1}, {UNIT, "wait_max_ns", 900},
		{WEIR_SIM_DROP, "s: unit u is full", "packets", 3}, {UNIT, "busy_mean", 0.33});
	/* Every one an outlier. */
	EXPECT(MODEL("interval: 1us, count: 2, size: 10B", "type: parallel", "{use: u}", "",
		       "u: {delay: 100ns, outliers: 1, outlier: 700ns, outlier_distribution: "
		       "constant}",
		       "duration: 10us"),
		{STREAM, "latency_mean_ns", 800});
}

/* On the way in and on the way out. */
static void
links(void **state)
{
	EXPECT(MODEL("interval: 1us, count: 3, size: 100B, through: u", "type: atomic",
		       "{cpu: 100cycles}, {output: true, through: v}", "",
		       "u: {bandwidth: 1Gb/s}, v: {bandwidth: 2Gb/s}", "duration: 10us"),
		{STREAM, "latency_mean_ns", 800 + 100 + 400}, {STREAM, "wait_mean_ns", 0},
		{UNIT, "served_packets", 3}, {WEIR_SIM_UNIT, "v", "busy_mean", 0.12});
}

/* To another queue, and its object. */
static void
a_send_goes_elsewhere(void **state)
{
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us, count: "
	       "5}}}\n"
	       "application:\n"
	       "  queues: {q: {}, r: {}}\n"
	       "  objects:\n"
	       "    o: {queues: [q], steps: [{cpu: 100cycles}, {send: r}]}\n"
	       "    p: {queues: [r], steps: [{cpu: 200cycles}]}\n"
	       "platform: {cores: {c: {clock: 1GHz}}}\n"
	       "run: {simulation: {duration: 10us}}\n",
		{WEIR_SIM_QUEUE, "r", "arrived_packets", 5}, {STREAM, "latency_mean_ns", 300},
		{CORES, "served_packets", 10});
}

#define FORK(steps, parts, cores)                                                                  \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us, count: 1}}}\n"     \
	"application:\n"                                                                           \
	"  queues: {q: {}, r: {type: parallel, group: g" parts "}}\n"                              \
	"  objects:\n"                                                                             \
	"    o: {queues: [q], steps: [" steps "]}\n"                                               \
	"    p: {queues: [r], steps: [{cpu: 200cycles}]}\n"                                        \
	"platform: {cores: {c: {clock: 1GHz}, d: {clock: 1GHz, groups: [g]" cores "}}}\n"          \
	"run: {simulation: {duration: 10us}}\n"

/* Three parts, side by side or one after the other; the core works on something else meanwhile. */
static void
parts_are_joined(void **state)
{
	EXPECT(FORK("{cpu: 100cycles}, {fork: r, count: 3}, {join: true}, {cpu: 50cycles}", "",
		       ", count: 3"),
		{STREAM, "latency_mean_ns", 350}, {STREAM, "forked_packets", 3},
		{STREAM, "delivered_packets", 1}, {CORES, "busy_mean", 0.015},
		{STREAM, "inside_max", 4});
	EXPECT(FORK("{cpu: 100cycles}, {fork: r, count: 3}, {join: true}, {cpu: 50cycles}", "", ""),
		{STREAM, "latency_mean_ns", 750}, {STREAM, "held_packets", 0});
	/* One that finds no room is lost, and not waited for. */
	EXPECT(FORK("{cpu: 100cycles}, {fork: r, count: 3}, {join: true}, {cpu: 50cycles}",
		       ", capacity: 1", ""),
		{STREAM, "latency_mean_ns", 550}, {STREAM, "dropped_packets", 1},
		{STREAM, "loss", 1.0 / 4});
	/* What it does not wait for later does not wake it. */
	EXPECT(FORK("{fork: r}, {join: true}, {fork: r}, {cpu: 500cycles}", "", ""),
		{STREAM, "latency_mean_ns", 700}, {CORES, "busy_mean", 0.05});
	/* There is nothing to wait for. */
	EXPECT(FORK("{fork: r, when: size < 0}, {join: true}, {fork: r}, {cpu: 300cycles}, {join: "
		    "true}",
		       "", ""),
		{STREAM, "latency_mean_ns", 300});
}

/* The packet is gone before its parts. */
static void
parts_may_stay_longer(void **state)
{
	EXPECT(FORK("{cpu: 100cycles}, {fork: r, count: 2}", "", ""),
		{STREAM, "latency_mean_ns", 100}, {STREAM, "delivered_packets", 1},
		{STREAM, "held_packets", 0}, {WEIR_SIM_CORES, "d", "served_packets", 2});
}

#define SWITCH(type)                                                                               \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 50ns, count: 2}}}\n"    \
	"application:\n"                                                                           \
	"  queues: {q: {type: " type "}, a: {type: atomic}}\n"                                     \
	"  objects: {o: {queues: [q], steps: [{cpu: 300cycles}, {switch: a}, {cpu: "               \
	"100cycles}]}}\n"                                                                          \
	"platform: {cores: {c: {clock: 1GHz, count: 2}}}\n"                                        \
	"run: {simulation: {duration: 10us}}\n"

/* 50-350 side by side with 100-400, then 350-450 and, after 50 of waiting with the core, 450-550. */
static void
a_tag_switch_waits_for_its_turn(void **state)
{
	EXPECT(SWITCH("parallel"), {STREAM, "latency_min_ns", 400}, {STREAM, "latency_max_ns", 450},
		{CORES, "busy_mean", 0.085}, {WEIR_SIM_QUEUE, "a", "wait_max_ns", 50},
		{WEIR_SIM_QUEUE, "a", "length_max", 1}, {STREAM, "service_mean_ns", 400},
		{CORES, "served_packets", 2});
	/* From an atomic flow, which the next one has then: 50-350-450, 350-650-750. */
	EXPECT(SWITCH("atomic"), {STREAM, "latency_min_ns", 400}, {STREAM, "latency_max_ns", 650},
		{WEIR_SIM_QUEUE, "a", "wait_max_ns", 0});
}

/* From an ordered queue in its order: the second one is done first, and waits for the first one's switch. */
static void
a_tag_switch_keeps_order(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    s: {to: q, arrivals: deterministic, interval: 50ns, count: 1, size: 1000B}\n"
	       "    t: {to: q, arrivals: deterministic, interval: 100ns, count: 1, size: 100B}\n"
	       "application:\n"
	       "  queues: {q: {type: ordered}, a: {type: atomic}}\n"
	       "  objects: {o: {queues: [q], steps: [{per_byte: 1cycles/B}, {switch: a}, {cpu: "
	       "100cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz, count: 2}}}\n"
	       "run: {simulation: {duration: 10us}}\n",
		{STREAM, "latency_mean_ns", 1100}, {WEIR_SIM_STREAM, "t", "latency_mean_ns", 1150});
}

/* `a` has a packet that waits for a core since 200; from 350 to 450 the flow is another's, and a core that is done at 430 must not take it. */
static void
a_tag_switch_takes_a_flow_that_waits(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    other: {to: q, arrivals: deterministic, interval: 30ns, count: 1, size: 1B}\n"
	       "    s: {to: q, arrivals: deterministic, interval: 50ns, count: 1, size: 2B}\n"
	       "    t: {to: a, arrivals: deterministic, interval: 200ns, count: 1}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel}, a: {type: atomic}}\n"
	       "  objects:\n"
	       "    o: {queues: [q], steps: [{cpu: 300cycles}, {switch: a, when: size == 2}, "
	       "{cpu: 100cycles}]}\n"
	       "    p: {queues: [a], steps: [{cpu: 50cycles}]}\n"
	       "platform: {cores: {c: {clock: 1GHz, count: 2}}}\n"
	       "run: {simulation: {duration: 10us}}\n",
		{STREAM, "latency_mean_ns", 400}, {WEIR_SIM_STREAM, "t", "latency_mean_ns", 300},
		{WEIR_SIM_STREAM, "other", "latency_mean_ns", 400});
}

#define MEMORY(stream, steps, memory)                                                              \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, " stream "}}}\n"                  \
	"application:\n"                                                                           \
	"  queues: {q: {type: parallel}}\n"                                                        \
	"  objects: {o: {queues: [q], steps: [" steps "]}}\n"                                      \
	"platform:\n"                                                                              \
	"  cores: {c: {clock: 1GHz, count: 2}}\n"                                                  \
	"  memories: {m: {" memory "}}\n"                                                          \
	"run: {simulation: {duration: 10us}}\n"

/* A cache for 300 B: packets of 200 B, the second one of which is beside the first and finds no room. */
static void
packets_lie_in_levels(void **state)
{
	EXPECT(MEMORY("interval: 100ns, count: 2, size: 200B",
		       "{memory: m, accesses: 3}, {cpu: 200cycles}, {memory: m, accesses: 2}",
		       "levels: {l2: {capacity: 300B, latency: 10ns}, ram: {latency: 80ns}}"),
		{STREAM, "latency_min_ns", 250}, {STREAM, "latency_max_ns", 600},
		{WEIR_SIM_MEMORY, "m.l2", "accesses", 2}, {WEIR_SIM_MEMORY, "m.ram", "accesses", 2},
		{WEIR_SIM_MEMORY, "m.l2", "held_max_bytes", 200},
		{WEIR_SIM_MEMORY, "m.l2", "held_mean_bytes", 200 * 0.025},
		{WEIR_SIM_MEMORY, "m.ram", "users_mean", 0.04});
	/* With 100 B of header both fit, and what is beyond comes from far. */
	EXPECT(MEMORY("interval: 100ns, count: 2, size: 200B",
		       "{memory: m, accesses: 3}, {cpu: 200cycles}, {memory: m}",
		       "header: 100B, levels: {l2: {capacity: 300B, latency: 10ns, bandwidth: "
		       "8Gb/s}, ram: {latency: 80ns, bandwidth: 4Gb/s}}"),
		/* 30, 200, 100 near and 200 far; the second one comes 100 later, with two at each */
		{STREAM, "latency_min_ns", 530}, {STREAM, "latency_max_ns", 230 + 200 + 400},
		{WEIR_SIM_MEMORY, "m.l2", "held_max_bytes", 200},
		{WEIR_SIM_MEMORY, "m.ram", "held_max_bytes", 200},
		{WEIR_SIM_MEMORY, "m.ram", "held_mean_bytes", 100 * (530 + 830) / 10000.0});
}

/* Three times of what is otherwise 100 ns; of a unit also by a discipline that knows it beforehand. */
static void
amounts_depend_on_attributes(void **state)
{
#define TIMES(step, order)                                                                         \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us, count: 2, size: "  \
	"64B, attributes: {n: {value: 3}}}}}\n"                                                    \
	"application:\n"                                                                           \
	"  queues: {q: {}}\n"                                                                      \
	"  objects: {o: {queues: [q], steps: [{" step ", times: n}, {use: u, probability: 0}, "    \
	"{memory: m, probability: 0}]}}\n"                                                         \
	"platform:\n"                                                                              \
	"  cores: {c: {clock: 1GHz}}\n"                                                            \
	"  units: {u: {delay: 100ns" order "}}\n"                                                  \
	"  memories: {m: {levels: {r: {latency: 50ns, bandwidth: 8Gb/s}}}}\n"                      \
	"run: {simulation: {duration: 10us}}\n"
	EXPECT(TIMES("cpu: 100cycles", ""), {STREAM, "latency_mean_ns", 300});
	EXPECT(TIMES("memory: m, accesses: 2", ""), {STREAM, "latency_mean_ns", 300});
	EXPECT(TIMES("memory: m, accesses: 1, bytes: 50B", ""), {STREAM, "latency_mean_ns", 300});
	EXPECT(TIMES("use: u", ""), {STREAM, "latency_mean_ns", 300});
	EXPECT(TIMES("use: u, deschedule: true", ", discipline: shortest"),
		{STREAM, "latency_mean_ns", 300});
#undef TIMES
}

/* Two cores at a time: the second one finds a user. */
static void
users_are_in_each_others_way(void **state)
{
	EXPECT(MEMORY("interval: 50ns, count: 2", "{memory: m, accesses: 1}",
		       "levels: {ram: {latency: 80ns, contention: 0.5}}"),
		{STREAM, "latency_min_ns", 80}, {STREAM, "latency_max_ns", 120},
		{STREAM, "service_mean_ns", 100}, {WEIR_SIM_MEMORY, "m.ram", "users_max", 2});
	EXPECT(MEMORY("interval: 50ns, count: 2", "{memory: m, bytes: 100B}",
		       "levels: {ram: {bandwidth: 8Gb/s}}"),
		{STREAM, "latency_min_ns", 100}, {STREAM, "latency_max_ns", 200});
}

/*
 * One packet of 100 B is in the cache until 60, the other one comes at 100 and finds room there unless the first one's bytes
 * are on their way to the last level: until 160, beside which its own take twice as long.
 */
static void
what_packets_leave_is_written_back(void **state)
{
#define RAM WEIR_SIM_MEMORY, "m.ram"
#define LEAVE(write_back, drop)                                                                    \
	MEMORY("start: 0ns, interval: 50ns, count: 2, size: 100B",                                 \
		"{memory: m, accesses: 1, bytes: 100B}, {cpu: 10cycles}" drop,                     \
		"write_back: " write_back ", levels: {cache: {capacity: 150B}, ram: {bandwidth: "  \
		"8Gb/s}}")
	EXPECT(LEAVE("never", ""), {STREAM, "latency_max_ns", 10}, {RAM, "accesses", 0});
	EXPECT(LEAVE("unless_transmitted", ""), {STREAM, "latency_max_ns", 10},
		{RAM, "accesses", 0});
	/* The second one's bytes are not in the cache, and go nowhere. */
	EXPECT(LEAVE("always", ""), {STREAM, "latency_min_ns", 10}, {STREAM, "latency_max_ns", 210},
		{RAM, "accesses", 2}, {RAM, "users_mean", (100 + 200) / 10000.0},
		{WEIR_SIM_MEMORY, "m.cache", "held_mean_bytes", 100 * (10 + 100) / 10000.0});
	EXPECT(LEAVE("never", ", {drop: bad}"), {RAM, "accesses", 0});
	EXPECT(LEAVE("unless_transmitted", ", {drop: bad}"), {RAM, "accesses", 2});
#undef LEAVE
#undef RAM
}

/* What a replication ends with whose packets wait for each other; it is known by how many are inside at most, at the latest. */
static void
find_deadlock(const char *text, uint32_t nb_inside_max, const char *circle)
{
	struct given given = given_model(text);
	struct weir_sim_result result;

	given.param.nb_inside_max = nb_inside_max;
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_int_equal(result.nb_replications, 1);
	assert_non_null(result.replications[0].broken);
	assert_string_equal(result.replications[0].broken, circle);
	assert_true(result.replications[0].is_models_fault);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* A part comes by another queue to the flow that its packet has; but for packets of another size, that have no parts. */
static void
parts_that_wait_for_their_packet(void **state)
{
#define ROUND(size)                                                                                \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us, flows: 9, size: "  \
	"" size "}}}\n"                                                                            \
	"application:\n"                                                                           \
	"  queues: {q: {flows: 4}, r: {type: parallel}}\n"                                         \
	"  objects:\n"                                                                             \
	"    o: {queues: [q], steps: [{fork: r, when: size == 100}, {join: true}]}\n"              \
	"    p: {queues: [r], to: q, steps: [{cpu: 10cycles}]}\n"                                  \
	"platform: {cores: {c: {clock: 1GHz, count: 2}}}\n"                                        \
	"run: {simulation: {seed: 1, duration: 100us}}\n"
#define CIRCLE(flow)                                                                               \
	"who waits goes on: one of queue 'q' waits for a part of it; that part waits for "         \
	"flow " flow " of queue 'q'; who has that is the first"

	find_deadlock(ROUND("100B"), 0, CIRCLE("0"));
	find_deadlock(ROUND("100B"), 20, CIRCLE("1"));
	EXPECT(ROUND("101B"), {STREAM, "delivered_packets", 100});
#undef CIRCLE
#undef ROUND
}

/* The second one waits with the only core until the first one has left, which waits for a core when the unit has had it. */
static void
turns_that_wait_for_a_core(void **state)
{
#define TURNS(cores)                                                                               \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    s: {to: q, arrivals: deterministic, interval: 1us, count: 1, size: 100B}\n"           \
	"    t: {to: q, arrivals: deterministic, interval: 2us, count: 1}\n"                       \
	"application:\n"                                                                           \
	"  queues: {q: {type: ordered}, r: {type: parallel}}\n"                                    \
	"  objects:\n"                                                                             \
	"    o: {queues: [q], steps: [{use: u, deschedule: true, when: size == 100}, {switch: "    \
	"r}, "                                                                                     \
	"{cpu: 10cycles}]}\n"                                                                      \
	"platform: {cores: {c: {clock: 1GHz" cores "}}, units: {u: {delay: 5us}}}\n"               \
	"run: {simulation: {duration: 9us}}\n"

	find_deadlock(TURNS(""), 0,
		"who waits goes on: one of queue 'q' waits for its turn in flow 0 of queue 'q'; "
		"who "
		"is before it waits for a core for queue 'q'; who has that is the first");
	EXPECT(TURNS(", count: 2"), {STREAM, "delivered_packets", 1},
		{WEIR_SIM_STREAM, "t", "delivered_packets", 1});
#undef TURNS
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_compare),
		cmocka_unit_test(attributes_route_and_scale),
		cmocka_unit_test(drops_have_reasons),
		cmocka_unit_test(jumps_make_loops),
		cmocka_unit_test(what_takes_no_time),
		cmocka_unit_test(endless_steps_are_found),
		cmocka_unit_test(a_core_waits_for_a_unit_or_does_not),
		cmocka_unit_test(a_descheduled_packet_keeps_its_flow),
		cmocka_unit_test(a_unit_has_servers_bytes_and_room),
		cmocka_unit_test(links),
		cmocka_unit_test(a_send_goes_elsewhere),
		cmocka_unit_test(packets_lie_in_levels),
		cmocka_unit_test(users_are_in_each_others_way),
		cmocka_unit_test(what_packets_leave_is_written_back),
		cmocka_unit_test(amounts_depend_on_attributes),
		cmocka_unit_test(parts_are_joined),
		cmocka_unit_test(parts_may_stay_longer),
		cmocka_unit_test(parts_that_wait_for_their_packet),
		cmocka_unit_test(turns_that_wait_for_a_core),
		cmocka_unit_test(a_tag_switch_waits_for_its_turn),
		cmocka_unit_test(a_tag_switch_keeps_order),
		cmocka_unit_test(a_tag_switch_takes_a_flow_that_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
