# SPDX-License-Identifier: BSD-3-Clause
"""weir sim of graphs: files that weir run forwards by, what is told of them, and what is wrong with them."""
import math
import re

import pytest

import pcapfile
from program import OK, ROOT, USAGE, weir
from running import edges_of_dot

EXAMPLE = ROOT / "examples" / "graph.yaml"


def simulate(path, *arguments, cwd=None):
    done = weir("sim", path, "--json", *arguments, cwd=cwd)
    assert done.code == OK, done.text
    return done.json()


def means(rows):
    return {row["name"]: {quantity: value["mean"] for quantity, value in row.items() if quantity != "name"} for row in rows}


def test_one_file_is_run_and_simulated(tmp_path):
    """Both have the same nodes; of both all packets are accounted for."""
    ran = weir("run", EXAMPLE, "--json", cwd=tmp_path).json()
    told = simulate(EXAMPLE, "--replications", "2")
    nodes = means(told["nodes"])
    types = {name.split("-")[0] for name in nodes}
    assert types == {node["name"].split("-")[0] for node in ran["nodes"]} - {"ip4_frag"}  # nothing is too long there
    for stream in means(told["streams"]).values():
        assert stream["delivered_packets"] > 0 and stream["held_packets"] < 100
    [worker] = means(told["workers"]).values()
    assert nodes["classify"]["packets"] == pytest.approx(worker["received_packets"], rel=0.001)
    assert worker["walks"] - worker["empty_walks"] == pytest.approx(nodes["pcap_rx-uplink"]["vectors"], rel=0.001)
    assert 0 < worker["utilisation"] < 1
    assert set(means(told["rings"])) == {"uplink.0.rx_ring", "north.0.tx_ring"}
    assert {drop["name"] for drop in told["drops"]} >= {"bulk: node drop", "bursts: node punt", "bulk: tx_ring of north is full"}


def test_table():
    done = weir("sim", EXAMPLE, "--replications", "1")
    assert done.code == OK
    for words in ("ring", "worker ", "node ", "north.0.tx_ring", "worker-0", "ip4_rewrite"):
        assert f"\n  {words}" in done.stdout


def test_it_is_checked_as_a_model_too(tmp_path):
    text = EXAMPLE.read_text().replace("data/", f"{ROOT}/examples/data/")
    path = tmp_path / "graph.yaml"
    path.write_text(text.replace("to: uplink, rate: 2Mpps", "to: downlink, rate: 2Mpps"))
    done = weir("check", path)
    assert done.code == USAGE and "unknown queue or port 'downlink'; expected one of: uplink" in done.stderr
    assert weir("sim", path).stderr == done.stderr


def test_captures_may_come_by_ports(tmp_path):
    """The very packets that are run, at the times at which they were captured."""
    text = EXAMPLE.read_text().replace("data/", f"{ROOT}/examples/data/")
    path = tmp_path / "graph.yaml"
    replay = f"capture: {{to: uplink, arrivals: replay, capture: {ROOT}/examples/data/isp-mix-vlan.pcap}}"
    path.write_text(text[:text.index("    bulk:")] + f"    {replay}\nrun: {{simulation: {{duration: 100s}}}}\n")
    told = simulate(path)
    ran = weir("run", path, "--json", cwd=tmp_path).json()
    [received] = [port["rx_packets"] for port in ran["ports"] if port["name"] == "uplink"]
    assert means(told["streams"])["capture"]["arrived_packets"] == received


def spread_out(folder):
    """The packets of the examples, each 50 us after the one before: a file waits for who reads it, a ring does not."""
    records = pcapfile.read(ROOT / "examples/data/isp-mix-vlan.pcap")
    return pcapfile.write(folder / "spread.pcap", pcapfile.numbered([record.data for record in records], step_ns=50_000))


def test_edges_are_counted_as_they_are_when_it_runs(tmp_path):
    """A run says how many packets take which edge; with these as weights, and the same packets, edges of the model have as many."""
    text = EXAMPLE.read_text().replace("data/", f"{ROOT}/examples/data/")
    path, capture = tmp_path / "graph.yaml", spread_out(tmp_path)
    path.write_text(text.replace("until: input_end", "until: input_end\n  graph_dot: g.dot"))
    assert weir("run", path, cwd=tmp_path).code == OK
    ran = {tuple(name.split("-")[0] for name in ends): count for ends, count in edges_of_dot((tmp_path / "g.dot").read_text())[1].items() if count}

    def next_of(node):
        return "next: {" + ", ".join(f"{to if to != 'pcap_tx' else 'north'}: {n}" for (at, to), n in ran.items() if at == node) + "}"

    model = text[:text.index("traffic:")].replace(", on_full: drop", "")
    for node in ("classify", "ip4_lookup", "ip6_lookup", "ip4_rewrite", "ip6_rewrite"):
        model = re.sub(rf"( {node}: +{{[^{{}}]*?)(, next: {{.*?}})?}}\n", rf"\1, {next_of(node)}}}\n", model)
    ends = {"pcap_rx": "uplink", "pcap_tx": "north"}
    probes = [f"e{i}: {{from: {ends.get(at, at)}, to: {ends.get(to, to)}}}" for i, (at, to) in enumerate(ran)]
    path.write_text(model + f"traffic: {{streams: {{s: {{to: uplink, arrivals: replay, capture: {capture}}}}}}}\n"
                    f"run: {{simulation: {{duration: 100s, probes: {{{', '.join(probes)}, out: {{from: pcap_tx-north}}}}}}}}\n")
    told = simulate(path)
    probed, nodes = means(told["probes"]), means(told["nodes"])
    simulated = {ends: probed[f"e{i}"]["n"] for i, ends in enumerate(ran)}
    total = ran["pcap_rx", "classify"]
    assert simulated["pcap_rx", "classify"] == total == nodes["classify"]["packets"]
    assert len(ran) >= 6
    for ends, count in ran.items():
        spread = math.sqrt(count * max(1 - count / total, 0))
        assert abs(simulated[ends] - count) <= 4 * spread + 1e-9, ends
    into = {}
    for (_, to), count in simulated.items():
        into[to] = into.get(to, 0) + count
    assert into == {name.split("-")[0]: node["packets"] for name, node in nodes.items() if not name.startswith("pcap_rx")}
    assert probed["out"]["n"] == means(told["streams"])["s"]["delivered_packets"]
    table = weir("sim", path).stdout
    assert "\n  probe: packets at once " in table
    assert "packets at once" not in weir("sim", EXAMPLE, "--replications", "1").stdout


def test_a_ring_is_looked_at(tmp_path):
    text = EXAMPLE.read_text().replace("data/", f"{ROOT}/examples/data/")
    path = tmp_path / "graph.yaml"
    path.write_text(text.replace("replications: 10}", "probes: {r: {ring: uplink.0.rx_ring, trace: ring.csv}, "
                                 "e: {from: bulk, to: uplink}}}"))
    told = simulate(path, cwd=tmp_path)
    probes, ring = means(told["probes"]), means(told["rings"])["uplink.0.rx_ring"]
    assert probes["r"]["mean"] == pytest.approx(ring["length_mean"], rel=1e-6)
    assert probes["r"]["max"] == ring["length_max"]
    assert probes["e"]["n"] == means(told["streams"])["bulk"]["arrived_packets"]
    assert (tmp_path / "ring.csv").read_text().startswith("time_ps,level\n0,0\n")
    assert told["fingerprint"] == simulate(EXAMPLE, "--replications", "1")["fingerprint"]


GOOD = """\
application:
  nodes: {mirror: {type: classify}}
  edges: ["classify.ip6 -> mirror"]
platform:
  ports:
    uplink: {device: one}
    north: {pcap_out: out.pcap}
  workers:
    - {receive: [uplink]}
  cores: {cpu: {clock: 1GHz}}
  costs:
    walk: 50cycles
    nodes:
      ethdev_rx: {packet: 1cycles}
      classify: {packet: 1cycles, next: {ip4: 3, ip6: 1}}
      mirror: {packet: 1cycles, next: {drop: 1}}
      ip4_lookup: {packet: 1cycles}
      ip4_rewrite: {packet: 1cycles, next: {north: 1}}
      pcap_tx: {packet: 1cycles}
      drop: {packet: 1cycles}
traffic: {streams: {s: {to: uplink, rate: 1Mpps}}}
run: {simulation: {duration: 1ms}}
"""

# What to replace by what; '@' stands before the place that the message must name. Then words of the message.
WRONG = {
    "costs that are missing": ({"    nodes:\n": "    @nodes:\n", "      ip4_lookup: {packet: 1cycles}\n": ""}, ["'ip4_lookup'", "no costs"]),
    "costs of no node": ({"      mirror:": "      @lens: {}\n      mirror:"}, ["unknown node 'lens'"]),
    "weight of no edge": ({"ip6: 1}": "ip5: @1}"}, ["unknown edge 'ip5'", "ip4_lookup"]),
    "no weight": ({"next: {drop: 1}": "@next: {drop: 0}"}, ["go nowhere"]),
    "several ways": ({"      classify: {packet: 1cycles, next: {ip4: 3, ip6: 1}}": "      @classify: {packet: 1cycles}"},
                     ["several ways", "'next'"]),
    "edge to nothing": ({'"classify.ip6 -> mirror"': '@"classify.ip6 -> window"'}, ["unknown node 'window'"]),
    "edge of nothing": ({'"classify.ip6 -> mirror"': '@"classify.ip7 -> mirror"'}, ["unknown edge 'ip7'"]),
    "edge that is changed twice": ({'ip6 -> mirror"': 'ip6 -> mirror", @"classify.ip6 -> drop"'}, ["already"]),
    "port that does not transmit": ({'ip6 -> mirror"': 'ip6 -> mirror", @"classify.ip4 -> south"', "    north:": "    south: {pcap_in: /dev/null}\n    north:", "[uplink]": "[uplink, south]"},
                                    ["'south'", "does not transmit"]),
    "no type of nodes": ({"type: classify": "type: @prism"}, ["'prism'"]),
    "ring that another polls": ({"[uplink]}": "[uplink]}\n    - {receive: [@uplink.0]}"}, ["polled already"]),
    "unknown port": ({"[uplink]": "[@downlink]"}, ["unknown port 'downlink'"]),
    "unknown cores": ({"[uplink]}": "[uplink], cores: @fast}"}, ["worker-0", "no such kind", "one of platform.cores: cpu"]),
    "too few cores": ({"[uplink]}": "[uplink.0]}\n    - @{receive: [uplink.1]}"}, ["worker-1", "'count'"]),
    "walk of no time": ({"walk: 50cycles": "walk: @0.001cycles", "clock: 1GHz": "clock: 900GHz"}, ["no time"]),
    "port that nobody polls": ({"to: uplink": "to: @south", "    north:": "    south: {device: a}\n    north:"}, ["no worker polls", "'south'"]),
    "port that only transmits": ({"to: uplink": "to: @north"}, ["only transmits", "'north'"]),
    "circle": ({"next: {drop: 1}": "next: {ip6: 1}", 'ip6 -> mirror"': 'ip6 -> mirror", @"mirror.ip6 -> mirror"'},
               ["packets would go round for ever: mirror -> mirror"]),
    "unknown ring": ({"duration: 1ms": "duration: 1ms, probes: {p: {ring: @uplink.1.rx_ring}}"}, ["unknown ring", "one of: uplink.0.rx_ring"]),
    "nodes that receive from nothing": ({"{mirror: {type: classify}}": "{@mirror: {type: link_rx}}", "next: {drop: 1}": "next: {classify: 1}"},
                                        ["nothing to receive from", "'port'"]),
}


@pytest.mark.parametrize("what", WRONG)
def test_refused(tmp_path, what):
    """With file, line and column."""
    replaced, words = WRONG[what]
    text = GOOD
    for old, new in replaced.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    before, after = text.split("@")
    (tmp_path / "bad.yaml").write_text(before + after)
    place = f"bad.yaml:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: "
    done = weir("sim", "bad.yaml", cwd=tmp_path)
    assert done.code == USAGE and not done.stdout
    lines = [line for line in done.stderr.splitlines() if line.startswith(place)]
    assert any(all(word in line for word in words) and "expected" in line for line in lines), done.text


def test_good(tmp_path):
    (tmp_path / "good.yaml").write_text(GOOD)
    assert means(simulate(tmp_path / "good.yaml")["nodes"])["classify-mirror"]["packets"] > 0


def test_costs_are_needed(tmp_path):
    """A file that is only to be run is no model: where packets come to a port, it says what lacks."""
    text = GOOD[:GOOD.index("  costs:")] + GOOD[GOOD.index("traffic:"):]
    (tmp_path / "bad.yaml").write_text(text)
    done = weir("sim", "bad.yaml", cwd=tmp_path)
    assert done.code == USAGE and "expected 'costs' in 'platform'" in done.stderr


def refused(tmp_path, costs, included, changed, old, new, words):
    """A file of costs and what it includes, one of them changed."""
    for path in (costs, included):
        text = path.read_text()
        if path == changed:
            assert text.count(old) == 1
            text = text.replace(old, new)
        (tmp_path / path.name).write_text(text.replace("data/", f"{ROOT}/examples/data/"))
    done = weir("sim", tmp_path / costs.name)
    assert done.code == USAGE and words in done.stderr, done.text


JOBS = ROOT / "examples" / "jobs-costs.yaml"


def test_jobs_are_run_and_simulated(tmp_path):
    """The same nodes and queues; every packet has as many slices as its time takes, and is brought back."""
    ran = weir("run", JOBS, "--json", cwd=tmp_path).json()
    told = simulate(JOBS, "--replications", "2")
    names = {name for name in means(told["nodes"]) if not name.startswith("pcap")}
    assert names <= {node["name"] for node in ran["nodes"]}
    [job] = means(told["jobs"]).values()
    assert job["slices_per_packet"] == pytest.approx(2, rel=0.01)  # 40 us in slices of 25
    queues = means(told["queues"])
    assert queues["inspect"]["latency_mean_ns"] > 40e3
    assert queues["inspected"]["arrived_packets"] == pytest.approx(job["packets"], rel=0.01)
    workers = means(told["workers"])
    assert workers["worker-0"]["utilisation"] < 0.1 < workers["worker-1"]["utilisation"]


WRONG_JOBS = {
    "workers that ask in no time": (JOBS, "    dispatch: 150cycles\n", "", "expected 'dispatch'"),
    "queue whose order is not simulated": (JOBS.with_name("jobs.yaml"), "out:       {type: atomic}", "out:       {type: ordered, discipline: lcfs}", "'fcfs'"),
    "work whose cost is not told": (JOBS.with_name("jobs.yaml"), "work: compute, time: 40us", "work: 'work.so:slow'", "in platform.costs.nodes"),
    "queue that nobody serves": (JOBS.with_name("jobs.yaml"), "flows: 16}", "flows: 16, group: others}", "has no workers"),
    "node that sends nowhere": (JOBS.with_name("jobs.yaml"), "type: sched_tx, queue: out", "type: sched_tx", "expected a key 'queue'"),
}


@pytest.mark.parametrize("what", WRONG_JOBS)
def test_jobs_refused(tmp_path, what):
    refused(tmp_path, JOBS, JOBS.with_name("jobs.yaml"), *WRONG_JOBS[what])


EVENTS = ROOT / "examples" / "events-costs.yaml"


def test_objects_are_run_and_simulated(tmp_path):
    """The same packets come to the same queues: all of them, or as many as the weights say."""
    costs, capture = tmp_path / EVENTS.name, spread_out(tmp_path)
    for path in (EVENTS, EVENTS.with_name("events.yaml")):
        (tmp_path / path.name).write_text(path.read_text().replace("data/", f"{ROOT}/examples/data/"))
    text = costs.read_text()
    costs.write_text(text[:text.index("    users:")] + f"    s: {{to: uplink, arrivals: replay, capture: {capture}}}\nrun: {{simulation: {{duration: 100s}}}}\n")
    ran = weir("run", costs, "--json", cwd=tmp_path).json()
    told = simulate(costs)
    taken = {queue["name"]: queue["received"] for queue in ran["queues"]}
    queues, [stream] = means(told["queues"]), means(told["streams"]).values()
    assert set(queues) == set(taken) and all(taken.values())
    assert queues["work"]["arrived_packets"] == taken["work"] == stream["arrived_packets"]
    for name in ("odd", "out"):
        spread = math.sqrt(taken[name] * (1 - taken[name] / taken["work"]))
        assert abs(queues[name]["served_packets"] - taken[name]) <= 4 * spread, name
    # What an object without 'to' counts leaves.
    assert ran["objects"][0]["packets"] == taken["odd"] and ran["objects"][0]["forwarded"] == 0
    assert stream["delivered_packets"] == queues["odd"]["served_packets"] + queues["out"]["served_packets"]
    assert stream["held_packets"] == 0
    assert "application.objects.strangers.receive" in {entry["key"] for entry in told["left_aside"]}


WRONG_OBJECTS = {
    "object whose work costs nothing": (EVENTS, "steps: [{cpu: 300cycles, per_byte: 0.1cycles/B}]", "flow: rss", "does not say what its work costs"),
    "step that needs more than a core": (EVENTS, "{cpu: 300cycles, per_byte: 0.1cycles/B}", "{fork: odd, count: 2}", "'fork' is not simulated on workers"),
    "queue that nobody serves": (EVENTS.with_name("events.yaml"), "flows: 16}", "flows: 16, group: others}", "has no cores or workers"),
}


@pytest.mark.parametrize("what", WRONG_OBJECTS)
def test_objects_refused(tmp_path, what):
    refused(tmp_path, EVENTS, EVENTS.with_name("events.yaml"), *WRONG_OBJECTS[what])


READOUT = ROOT / "examples" / "receiver-costs.yaml"


def test_links_are_run_and_simulated(tmp_path):
    """The same links; the thread that polls them finds frames after its sleep of 10 us, or in the middle of it."""
    ran = weir("run", READOUT, "--duration", "100ms", "--json", cwd=ROOT).json()
    told = simulate(READOUT)
    streams = means(told["streams"])
    assert set(streams) == {link["name"] for link in ran["readout"]["links"]} == {"card-0", "card-1"}
    for stream in streams.values():
        assert stream["delivered_pps"] == pytest.approx(7000, rel=0.01)
        assert 1e3 < stream["latency_mean_ns"] < 14e3
    assert list(means(told["workers"])) == ["receiver-0"]
    assert list(means(told["rings"])) == ["detector.0.rx_ring"]


WRONG_LINKS = {
    "size that is not said": (READOUT, "    card: {buffer: {frame_size: 8968B}}", "    card: {}", "expected 'frame_size'"),
    "rate that is not said": (READOUT.with_name("receiver.yaml"), ", rate: 7kHz", "", "expected a key 'rate'"),
    "link of no receiver": (READOUT.with_name("receiver.yaml"), "      port: detector\n      queue: 0\n", "", "no frames come to link 'card'"),
    "queue that is not there": (READOUT.with_name("receiver.yaml"), "queue: 0", "queue: 1", "expected 0 to 0"),
}


@pytest.mark.parametrize("what", WRONG_LINKS)
def test_links_refused(tmp_path, what):
    refused(tmp_path, READOUT, READOUT.with_name("receiver.yaml"), *WRONG_LINKS[what])


# One worker reads a file and serves the queues: it makes room itself for what it waits with.
WAITS = """
application:
  queues: {q: {type: atomic, flows: 16}, r: {type: ordered}}
  nodes:
    first: {type: sched_tx, queue: q}
    from_q: {type: sched_rx, queues: [q]}
    second: {type: sched_tx, queue: r}
    from_r: {type: sched_rx, queues: [r]}
  edges: ['uplink.classify -> first', 'from_q.q -> second', 'from_r.r -> north']
platform:
LIMIT  ports: {uplink: {pcap_in: CAPTURE}, north: {pcap_out: out.pcap}}
  workers: [{receive: [uplink]}]
  cores: {c: {clock: 1GHz}}
  costs:
    walk: 100cycles
    dispatch: 100cycles
    nodes: {pcap_rx: {packet: 10cycles}, sched_tx: {packet: 10cycles}, sched_rx: {packet: 10cycles}, pcap_tx: {packet: 1000cycles}}
traffic:
  streams: {s: {to: uplink, bursts: {interval: 1ms, lifetime: 20us}, rate: 5Mpps, size: 890B, count: 4096}}
run:
  simulation: {duration: 2s}
"""


@pytest.mark.parametrize("limit", ["  scheduler: {events: 64, threshold: 20}\n", "  scheduler: {flows: 64}\n", ""])
def test_who_waits_for_the_scheduler_loses_nothing(tmp_path, limit):
    path = tmp_path / "waits.yaml"
    path.write_text(WAITS.replace("LIMIT", limit).replace("CAPTURE", f"{ROOT}/examples/data/isp-mix-vlan.pcap"))
    ran = weir("run", path, "--json", cwd=tmp_path).json()
    told = simulate(path)
    [stream] = means(told["streams"]).values()
    [transmitted] = (port["tx_packets"] for port in ran["ports"] if port["name"] == "north")
    assert transmitted == stream["delivered_packets"] == stream["arrived_packets"] == 4096
    assert stream["dropped_packets"] == 0
    [worker] = means(told["workers"]).values()
    assert worker["received_packets"] == transmitted


# Jobs beside a limit: those that are refused try again.
JOBS_AT_LIMIT = """
application:
  queues: {before: {type: parallel}, done: {type: atomic, flows: 16}}
  nodes:
    first: {type: sched_tx, queue: before}
    from_before: {type: sched_rx, queues: [before]}
    inspect: {type: job, work: WORK, time: 3us, queue: done, flows: 16}
    from_done: {type: sched_rx, queues: [done]}
  edges: ['uplink.classify -> first', 'from_before.before -> inspect', 'from_done.done -> north']
platform:
  scheduler: {events: 64, threshold: THRESHOLD}
  ports: {uplink: {pcap_in: CAPTURE}, north: {pcap_out: out.pcap}}
  workers: [{receive: [uplink]}, {}]
  cores: {c: {count: 2, clock: 1GHz}}
  costs:
    walk: 100cycles
    dispatch: 100cycles
    switch: 100cycles
    nodes: {pcap_rx: {packet: 10cycles}, sched_tx: {packet: 10cycles}, sched_rx: {packet: 10cycles}, job: {packet: 50cycles}, pcap_tx: {packet: 100cycles}}
traffic:
  streams: {s: {to: uplink, bursts: {interval: 1ms, lifetime: 20us}, rate: 5Mpps, size: 890B, count: 4096, flows: 100}}
run:
  simulation: {duration: 2s}
"""


@pytest.mark.parametrize("work", ["compute", "wait"])
@pytest.mark.parametrize("threshold", [1, 2, 3, 4, 20])
def test_jobs_at_the_limit_lose_nothing(tmp_path, threshold, work):
    path = tmp_path / "limit.yaml"
    path.write_text(JOBS_AT_LIMIT.replace("THRESHOLD", str(threshold)).replace("WORK", work).replace(
        "CAPTURE", f"{ROOT}/examples/data/isp-mix-vlan.pcap"))
    ran = weir("run", path, "--json", cwd=tmp_path).json()
    told = simulate(path)
    [stream] = means(told["streams"]).values()
    [transmitted] = (port["tx_packets"] for port in ran["ports"] if port["name"] == "north")
    [job] = ran["jobs"]
    assert transmitted == stream["delivered_packets"] == stream["arrived_packets"] == 4096
    assert stream["held_packets"] == stream["dropped_packets"] == 0
    assert means(told["jobs"])["inspect"]["packets"] == job["packets"] == 4096
    assert {queue["name"]: queue["sent"] for queue in ran["queues"]}["done"] == means(told["queues"])["done"]["arrived_packets"]


def test_workers_that_sleep_are_run_and_simulated(tmp_path):
    path = tmp_path / "sleep.yaml"
    path.write_text(JOBS_AT_LIMIT.replace("{events: 64, threshold: THRESHOLD}", "{idle_sleep: 300us, wake: 20us}").replace("WORK", "compute").replace(
        "CAPTURE", f"{ROOT}/examples/data/isp-mix-vlan.pcap"))
    ran = weir("run", path, "--json", cwd=tmp_path).json()
    told = simulate(path)
    [stream] = means(told["streams"]).values()
    [transmitted] = (port["tx_packets"] for port in ran["ports"] if port["name"] == "north")
    assert transmitted == stream["delivered_packets"] == stream["arrived_packets"] == 4096
    for worker in means(told["workers"]).values():
        assert worker["sleeps"] > 1000 and 0.5 < worker["asleep"] < 1


@pytest.mark.parametrize("queue, scheduler, expected", [
    ("type: ordered", "backend: 'eventdev:event_dsw0'", "event_dsw\\)? has no ordered queues"),
    ("priority: 2", "backend: 'eventdev:event_dsw0'", "event_dsw\\)? has no priorities"),
    ("flows: 4", "{backend: 'eventdev:event_sw0', starvation_bound: 4}", "event_sw has no starvation bound"),
    ("flows: 4", "{backend: 'eventdev:event_sw0', events: 4096, reserved: 3900}", "event_sw has 4096 credits, of which 480 "),
    ("flows: 4", "{backend: 'eventdev:event_sw0', priority_slack: 5us}", "'priority_slack' means nothing for event devices"),
    ("flows: 4", "backend: 'eventdev:event_opdl0'", "an event machine cannot be had on event_opdl"),
    ("priority: 2", "{backend: 'eventdev:event_sw0', flows: 99}", None),
    ("flows: 4", "backend: 'eventdev:event_dsw0'", None),
])
def test_event_devices_can_do_as_much_as_where_they_are_run(tmp_path, queue, scheduler, expected):
    for name in ("jobs", "jobs-costs"):
        text = (ROOT / "examples" / f"{name}.yaml").read_text().replace("data/", f"{ROOT}/examples/data/")
        text = text.replace("inspected: {type: atomic, flows: 16}", f"inspected: {{{queue}}}").replace("200ms", "40ms")
        scheduler = scheduler if scheduler.startswith("{") else f"{{{scheduler}}}"
        (tmp_path / f"{name}.yaml").write_text(text.replace("  workers:\n", f"  scheduler: {scheduler}\n  workers:\n"))
    ran = weir("run", tmp_path / "jobs.yaml", cwd=tmp_path)
    told = weir("sim", tmp_path / "jobs-costs.yaml", *(["--json"] if expected is None else []))
    assert ran.code == told.code == (OK if expected is None else USAGE), ran.text + told.text
    if expected is None:
        assert any(entry["key"].startswith("platform.scheduler") for entry in told.json()["left_aside"])
    else:
        assert re.search(r"yaml:\d+:\d+: .*" + expected, ran.stderr), ran.text
        assert re.search(r"yaml:\d+:\d+: .*" + expected, told.stderr), told.text
