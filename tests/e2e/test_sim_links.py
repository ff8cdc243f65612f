# SPDX-License-Identifier: BSD-3-Clause
"""weir sim of readouts: the very files that weir run executes have the same frames and windows; and what is refused."""
import re

import pytest

from program import OK, ROOT, USAGE, weir
from test_readout_processes import plugin  # noqa: F401  a fixture
from test_sim_graph import means, simulate

EXAMPLE = ROOT / "examples" / "readout.yaml"

# 0.2 s of frames: those of `kept` are all there to the end, so that it does not matter when they are asked for.
BOTH = """
application:
  formats:
    small:
      size: 100B
      clock: 1MHz
      step: 100
      stream: {offset: 0, width: 16}
      sequence: {offset: 16, width: 16}
      timestamp: {offset: 64, width: 64}
  links:
    kept: {format: small, count: 3, buffer: {history: 1s}}
    short: {format: small, count: 2, stream: 7, buffer: {history: 20ms}, delivery: {by: queue, capacity: 8192}}
    cards: {format: srs-vmm3a, stream: 1, buffer: {history: 1s, rate: 5kHz}}
  requests:
    often: {links: [kept], every: 3ms, window: 1010us, delay: 10ms}
    once: {links: [kept-1], every: 1s, window: 50ms, delay: 60ms}
    of_cards: {links: [cards], every: 10ms, window: 1ms, delay: 10ms}
traffic:
  emulated:
    kept:
      frames: 2000
      faults:
        - {fault: drop, first: 35, period: 150, length: 3}
        - {fault: reorder, amount: 4, first: 10, period: 100}
        - {fault: sequence, amount: 5, first: 1999}
    short:
      frames: 2000
      faults:
        - {fault: duplicate, first: 3, period: 7}
        - {fault: truncate, amount: 99, first: 20, period: 50, length: 2}
        - {fault: stall, amount: 30, first: 500, period: 700}
    cards: {frames: 1000, rate: 5kHz, faults: [{fault: drop, first: 3, period: 11}]}
run:
  simulation: {duration: 2s}
"""


def compare_links(ran, told):
    """Each frame has become the same."""
    links, drops = means(told["links"]), means(told["drops"])
    assert set(links) == {link["name"] for link in ran["links"]}
    for link in ran["links"]:
        one = links[link["name"]]
        assert (one["received_frames"], one["buffered_frames"], one["expired_frames"], one["late_frames"]) \
            == (link["received"], link["buffered"], link["delivered"], link["late"]), link
        assert (one["missing_frames"], one["jumps"]) == (link["missing"], link["jumps"]), link
        for fault in ("gap", "duplicate", "reordered", "sequence_jump", "early", "late", "timestamp_jump"):
            assert one[f"fault_{fault}"] == link["faults"].get(fault, 0), (fault, link)
        for reason in ("duplicate", "wrong_size", "too_late", "slot_taken", "far_off", "no_memory"):
            assert one[f"dropped_{reason}"] == link["dropped"].get(reason, 0), (reason, link)
        assert one["evicted_frames"] == link["dropped"].get("evicted", 0), link
    for reason in ("unknown_stream", "truncated"):
        assert sum(drop["packets"] for name, drop in drops.items() if name.endswith(f": {reason}")) \
            == sum(feed["packets"][reason] for feed in ran["feeds"] if "packets" in feed)


def compare_windows(ran, told):
    requests = means(told["requests"])
    for request in ran["requests"]["list"]:
        one = requests[request["name"]]
        assert (one["windows"], one["asked_fragments"]) == (request["windows"], request["fragments"]), request
        assert {answer: one[answer] for answer in ("complete", "partial", "too_old", "not_yet", "timed_out") if one[answer]} \
            == request["answered"], request
    for what in ("frames", "bytes"):
        assert sum(one[what] for one in requests.values()) == ran["requests"][what]


def test_frames_and_windows_are_those_that_are_run(tmp_path):
    path = tmp_path / "both.yaml"
    path.write_text(BOTH)
    ran = weir("run", path, "--json").json()["readout"]
    told = simulate(path)
    compare_links(ran, told)
    compare_windows(ran, told)
    made = {stream["link"]: stream for feed in ran["feeds"] for stream in feed["streams"]}
    for name, stream in means(told["streams"]).items():
        assert stream["arrived_packets"] == made[name]["made"] + made[name]["faults"].get("duplicate", 0)
        assert stream["held_packets"] == 0
    for name in ("kept-0", "kept-2"):
        assert means(told["drops"])[f"{name}: fault drop"]["packets"] == made[name]["faults"]["drop"] > 0


# What frames say decides where they come to: to another link, to none, to a time that nobody else has, or one of before.
FIELDS = """
application:
  formats:
    paced:
      size: 100B
      clock: 1MHz
      step: 100
      stream: {offset: 0, width: 16}
      sequence: {offset: 16, width: 12, modulus: 1000}
      timestamp: {offset: 64, width: 32}
    free:
      size: 64B
      clock: 1MHz
      stream: {offset: 0, width: 8}
      sequence: {offset: 8, width: 24}
      timestamp: {offset: 64, width: 64}
  links:
    keys: {format: paced, count: 4, stream: 2, buffer: {history: 20ms}}
    apart: {format: paced, count: 3, stream: 16, buffer: {history: 20ms}, drop_duplicates: true}
    times: {format: paced, count: 1, stream: 32, buffer: {history: 10ms, confirm: 4}, jump: 3ms}
    irregular: {format: free, count: 2, buffer: {history: 20ms, rate: 10kHz, reorder: 20, jump: 2ms}}
    full: {format: free, count: 2, stream: 8, buffer: {history: 20ms, rate: 1kHz, spare: 5}, drop_duplicates: true}
    kept: {format: free, stream: 16, buffer: {history: 20ms, rate: 1kHz, spare: 5, when_full: drop_newest}}
traffic:
  emulated:
    keys:
      frames: 2000
      faults:
        - {fault: stream, amount: 1, first: 100, period: 40, length: 3}
        - {fault: stream, amount: 500, first: 700, period: 90}
        - {fault: truncate, amount: 5, first: 33, period: 70}
    apart:
      frames: 1500
      cpus: [0, 1]
      faults:
        - {fault: stream, amount: 2, first: 50, period: 60, length: 2}
        - {fault: stream, amount: 1, first: 70, period: 60, length: 2}
        - {fault: duplicate, first: 20, period: 31}
    times:
      frames: 3000
      faults:
        - {fault: timestamp, amount: 150, first: 10, period: 200}
        - {fault: timestamp, amount: -100, first: 60, period: 200}
        - {fault: timestamp, amount: 1000000, first: 110, period: 200, length: 2}
        - {fault: timestamp, amount: -20000, first: 160, period: 200}
        - {fault: jump, amount: 100000, first: 900}
        - {fault: jump, amount: -40000, first: 1500}
        - {fault: jump, amount: 900, first: 2100, period: 300}
        - {fault: sequence, amount: 700, first: 2550}
    irregular:
      frames: 3000
      rate: 10kHz
      faults:
        - {fault: timestamp, amount: -300, first: 10, period: 50}
        - {fault: timestamp, amount: -3000, first: 20, period: 50}
        - {fault: timestamp, amount: 9000, first: 30, period: 100}
        - {fault: jump, amount: -50000, first: 1000, period: 1000}
        - {fault: duplicate, first: 5, period: 17}
    full: {frames: 500, rate: 10kHz, faults: [{fault: jump, amount: 1, first: 4, period: 5}, {fault: duplicate, first: 1, period: 9}]}
    kept: {frames: 500, rate: 10kHz, faults: [{fault: jump, amount: 1, first: 4, period: 5}]}
run:
  simulation: {duration: 2s}
"""


def test_frames_whose_fields_are_changed(tmp_path):
    path = tmp_path / "fields.yaml"
    path.write_text(FIELDS)
    ran = weir("run", path, "--json").json()["readout"]
    told = simulate(path)
    compare_links(ran, told)
    links = {link["name"]: link for link in ran["links"]}
    packets = {feed["to"]: feed["packets"] for feed in ran["feeds"]}
    assert packets["keys"]["unknown_stream"] > 0 and packets["keys"]["truncated"] > 0 and packets["apart"]["unknown_stream"] > 0
    assert links["keys-0"]["missing"] > 0 and links["keys-3"]["missing"] > 0 and links["apart-1"]["missing"] > 0
    for fault in ("early", "late", "timestamp_jump", "sequence_jump"):
        assert links["times-0"]["faults"][fault] > 0
    assert links["times-0"]["jumps"] > 1 and links["irregular-1"]["jumps"] > 0
    for reason in ("slot_taken", "far_off", "too_late"):
        assert links["times-0"]["dropped"][reason] > 0
    assert links["irregular-0"]["dropped"]["too_late"] > 0
    assert links["full-0"]["dropped"]["evicted"] > 0 and links["kept"]["dropped"]["no_memory"] > 0


FUNCTIONS = """
application:
  links:
    wib: {format: wibeth, count: 2, buffer: {history: 1s}, hits: {threshold: 60, to: tp}}
    tp: {format: hit, buffer: {history: 1s, rate: 250kHz}}
  processes:
    p: {function: hits, threshold: 60, links: [wib-1], where: inline, to: tp}
traffic:
  emulated:
    wib:
      frames: 500
      rate: 30kHz
      payload: PULSES
      faults:
        - {fault: drop, first: 35, period: 50, length: 3}
        - {fault: duplicate, first: 20, period: 70}
        - {fault: truncate, amount: 7000, first: 10, period: 100}
platform:
  cores: {c: {clock: 2GHz, count: 2}}
  costs:
    walk: 100cycles
    nodes: {link_rx: {packet: 100cycles}}
    processes: {p: {packet: 300cycles, per_byte: 1cycles/B}, hits: {packet: 200cycles}}
run:
  simulation: {duration: 1s}
"""


@pytest.mark.parametrize("key", ("", "drop_duplicates: true, "))
def test_functions_before_buffers(tmp_path, key):
    """The same frames are looked at, and come to the buffer; what the functions make is left aside."""
    path = tmp_path / "functions.yaml"
    path.write_text(FUNCTIONS.replace("PULSES", str(ROOT / "examples" / "data" / "pulse.wibeth")).replace("hits: {threshold", key + "hits: {threshold"))
    ran = weir("run", path, "--json").json()["readout"]
    told = simulate(path)
    compare_links({**ran, "links": [link for link in ran["links"] if link["name"] != "tp"]}, told)
    before = ("wrong_size", "duplicate") if key else ("wrong_size",)
    looked_at = {link["name"]: link["received"] - sum(link["dropped"][reason] for reason in before) for link in ran["links"] if link["name"] != "tp"}
    [node] = means(told["nodes"]).values()
    assert node["cycles"] == node["packets"] * 100 + looked_at["wib-1"] * 7500 + sum(looked_at.values()) * 200


ROW = """
application:
  links:
    in: {format: wibeth, count: 1, buffer: {history: 1s}, hits: {threshold: 60, to: tp}}
    tp: {format: hit, buffer: {history: 1s, rate: 250kHz}}
  processes:
    q: {function: "PLUGIN:marker", links: [in], where: inline}
    a: {function: "PLUGIN:counter", links: [in], where: inline}
    p: {function: "PLUGIN:marker", links: [in], where: inline}
traffic: {emulated: {in: {frames: 9000, rate: 30kHz}}}
platform:
  cores: {c: {clock: 2GHz, count: 1}}
  costs:
    walk: 100cycles
    nodes: {link_rx: {packet: 100cycles}}
    processes:
      p: {packet: 50cycles, drops: THIRD}
      q: {packet: 300cycles, drops: THIRD}
      a: {packet: 1kcycles}
      hits: {packet: 200cycles}
run:
  simulation: {duration: 1s}
"""


def test_functions_of_which_some_drop(tmp_path, plugin):  # noqa: F811
    """Each looks at what those before it let pass; a plug-in drops every third frame that it gets, the model so many by chance."""
    path = tmp_path / "row.yaml"
    path.write_text(ROW.replace("PLUGIN", str(plugin)).replace("THIRD", str(1 / 3)))
    [ran, _] = weir("run", path, "--json").json()["readout"]["links"]
    told = simulate(path)
    link, drops, [node] = means(told["links"])["in-0"], means(told["drops"]), means(told["nodes"]).values()
    by_q, by_p = (drops[f"in-0: {name}"]["packets"] for name in "qp")
    assert ran["dropped"] == {"processed": 3000 + 2000} and ran["received"] == link["received_frames"] == 9000
    assert abs(by_q - 3000) < 5 * (9000 * 2 / 9) ** .5 and abs(by_p - (9000 - by_q) / 3) < 5 * (6000 * 2 / 9) ** .5
    assert link["dropped_processed"] == by_q + by_p and link["stored_frames"] == 9000 - by_q - by_p
    assert node["cycles"] == 9000 * (100 + 200 + 300) + (9000 - by_q) * (1000 + 50)


def was_late(ran):
    """On a machine that is busy with other things functions come too late to frames, or hits to their link. Models' do not."""
    return any(process.get("missed") for process in ran["processes"]) or \
        any("too_late" in link["dropped"] for link in ran["links"] if link["format"] == "hit")


def compare_processes(ran, told):
    """Each frame is looked at, or missed, as often."""
    processes = means(told["processes"])
    after = [process for process in ran["processes"] if process["where"] != "inline"]
    assert set(processes) == {f"{process['link']} {process['process']}" for process in after}
    for process in after:
        one = processes[f"{process['link']} {process['process']}"]
        assert one["received"] == process["received"] and process["adds_up"], process
        if was_late(ran):
            continue
        for what in ("passed", "missed", "waiting"):
            assert one[what] == process[what], process
        assert one["inside"] == process.get("inside", 0) and one["jobs_full"] == process.get("refused", {}).get("jobs_full", 0), process
        assert (one["jobs"] > 0) == (process.get("jobs", 0) > 0), process


def test_functions_after_buffers(tmp_path):
    """In threads of their own, and in jobs, quick enough: as they are run."""
    path = tmp_path / "functions.yaml"
    path.write_text(FUNCTIONS.replace("PULSES", str(ROOT / "examples" / "data" / "pulse.wibeth"))
                    .replace("where: inline, to: tp}", "where: thread, to: tp}\n    q: {function: hits, threshold: 90, links: [wib], where: thread, to: tp}\n"
                             "    r: {function: hits, threshold: 90, links: [wib-0], where: jobs, to: tp}")
                    .replace("walk: 100cycles", "walk: 100cycles\n    dispatch: 50cycles")
                    .replace("{c: {clock: 2GHz, count: 2}}", "{c: {clock: 2GHz, count: 5}}").replace("hits: {packet", "q: {packet: 1kcycles}, r: {packet: 1kcycles}, hits: {packet"))
    ran = weir("run", path, "--json").json()["readout"]
    told = simulate(path)
    compare_links({**ran, "links": [link for link in ran["links"] if link["name"] != "tp"]}, told)
    compare_processes(ran, told)
    workers, processes = means(told["workers"]), means(told["processes"])
    assert workers["process.p"]["received_packets"] == processes["wib-1 p"]["passed"] > 450
    assert workers["process.q"]["received_packets"] == processes["wib-0 q"]["passed"] + processes["wib-1 q"]["passed"]


def test_hits_are_frames_of_their_own():
    """Of the example, one in each frame: as many come to their links as are found; when depends on the machine."""
    path = EXAMPLE.with_name("processes-costs.yaml")
    ran = weir("run", path, "--json").json()["readout"]
    told = simulate(path)
    compare_processes(ran, told)
    compare_links({**ran, "links": [link for link in ran["links"] if link["format"] == "wibeth"], "feeds": [
        feed for feed in ran["feeds"] if feed["feed"] == "emulated"]}, {**told, "links": [
        link for link in told["links"] if link["name"].startswith("wib")]})
    links, streams = means(told["links"]), means(told["streams"])
    for link in ran["links"]:
        if link["format"] != "hit":
            continue
        one = links[link["name"]]
        assert (one["received_frames"], one["buffered_frames"], one["expired_frames"]) == (60000, 60000, 0)
        if was_late(ran):
            continue
        assert (link["received"], link["buffered"], link["delivered"]) == (60000, 60000, 0), link
        assert means(told["drops"])[f"{link['name']}: refused"]["packets"] == 0
        [feed] = [feed for feed in ran["feeds"] if feed["feed"] == "hits" and feed["to"] == link["name"]]
        assert streams[link["name"]]["arrived_packets"] == sum(finder["hits"] for finder in feed["finders"])


def test_costs_change_times_only():
    """Of the example: the same frames and windows with costs and without."""
    plain, costs = simulate(EXAMPLE, "--duration", "1s"), simulate(EXAMPLE.with_name("readout-costs.yaml"), "--duration", "1s")
    [plain_asked], [asked] = means(plain["requests"]).values(), means(costs["requests"]).values()
    assert plain_asked["windows"] == 20 and plain_asked["partial"] > 0
    for answer in ("windows", "asked_fragments", "complete", "partial", "frames"):
        assert asked[answer] == plain_asked[answer]
    for name, stream in means(costs["streams"]).items():
        other = means(plain["streams"])[name]
        assert stream["arrived_packets"] == other["arrived_packets"] == 30518  # 30,517.578 a second, the first one at 0
        assert 1e3 < stream["latency_mean_ns"] - other["latency_mean_ns"] < 60e3
    [worker] = means(costs["workers"]).values()
    [node] = means(costs["nodes"]).values()
    assert worker["utilisation"] * 2e9 == pytest.approx(
        node["packets"] * (250 + 0.4 * 7200) + node["vectors"] * (200 + 50 + 100), rel=1e-4)


def test_table():
    done = weir("sim", EXAMPLE)
    assert done.code == OK
    for words in ("link", "request", "wib-3", "triggers", "drops", "wib-0: fault drop"):
        assert f"\n  {words}" in done.stdout


def process(function, link, where, to):
    """One, with the link of what it makes, before the requests."""
    return f"    tp: {{format: hit, buffer: {{history: 1s, rate: 1MHz}}}}\n  processes:\n" \
        f"    p: {{function: {function}, threshold: 60, links: [{link}], where: {where}, to: {to}}}\n  requests:\n"


WRONG = {
    "stream key that does not fit": ("format: wibeth           #", "format: wibeth\n      stream: @268435455 #", "does not fit in frames"),
    "amount that means nothing": ("{fault: drop, first: 1540,", "{fault: drop, amount: @5, first: 1540,", "'amount' means nothing"),
    "no amount": ("{fault: drop, first: 1540,", "@{fault: jump, first: 1540,", "expected a key 'amount'"),
    "more in a row than there are": ("period: 15260, length: 2", "period: 3, length: @4", "expected at most all"),
    "chance beside a period": ("{fault: drop, first: 1540, period: 15260, length: 2}", "{fault: drop, random: @0.5, period: 7}", "one or the other"),
    "replayed, too": ("traffic:\n", f"traffic:\n  replayed: {{@wib: {{pcap: {ROOT}/tests/data/srs-vmm3a-gem.pcap}}}}\n", "frames come to link 'wib' already"),
    "neither received nor emulated": ("  emulated:\n    wib:", "  emulated:\n    wab:", "no frames come to link 'wib'"),
    "unknown link": ("  emulated:\n    wib:", "  emulated:\n    @wab:", "unknown link 'wab'"),
    "hits that go nowhere": ("buffer: {history: 200ms}", "buffer: {history: 200ms}\n      hits: {threshold: 60, to: @tp}", "unknown link 'tp'"),
    "hits beside other frames": ("  requests:\n", process("hits", "wib-0", "inline", "@wib").replace("    tp: {format: hit, buffer: {history: 1s, rate: 1MHz}}\n", ""), "'wib' is 4 links of format 'wibeth'; expected one link of format 'hit'"),
    "jobs at a time": ("  requests:\n", process("hits", "wib", "jobs, jobs: @2", "tp"), "2 jobs at a time have no order"),
    "how jobs run without any": ("  requests:\n", process("hits", "wib", "thread, frames: @2", "tp"), "'frames' means nothing for process 'p'"),
    "process of one's own": ("  requests:\n", process("p.so:p", "wib", "inline", "tp").replace("    p: {", "    @p: {").replace("threshold: 60, ", ""),
                             "process 'p' has no costs; expected a key 'p' in 'processes' of platform.costs, such as"),
    "process of no link": ("  requests:\n", process("hits", "@wob", "inline", "tp"), "unknown link 'wob'"),
    "process of what it makes": ("  requests:\n", process("hits", "tp", "inline", "@tp"), "what becomes of frames of link 'tp' would come back to it"),
    "process without a place": ("  requests:\n", process("hits", "wib", "@here", "tp"), "expected one of"),
    "rate that nobody says": ("format: wibeth           #", "format: srs-vmm3a\n      #", "expected a key 'rate'"),
    "links asked twice": ("links: [wib]", "links: [wib, @wib-2]", "asked already"),
    "links asked that are not there": ("links: [wib]", "links: [@wob]", "unknown link 'wob'"),
    "amount beyond all bounds": ("amount: 3", "amount: @1001", "reorder by 1001; expected 1 to 1000"),
}


WRONG_FUNCTIONS = {
    "link twice": ("links: [wib-1]", "links: [wib, @wib-1]", "process 'p' has link 'wib-1' already"),
    "no links": ("links: [wib-1]", "links: @[]", "no links"),
    "no costs": ("p: {packet: 300cycles", "q: {packet: 300cycles", "process 'p' has no costs"),
    "no hits' costs": (", hits: {packet: 200cycles}", "", "process 'hits' has no costs"),
    "unknown costs": ("hits: {packet", "q: @{}, hits: {packet", "unknown process 'q'"),
    "frames of a file beside those that are made": ("where: inline, to: tp}\ntraffic:\n", f"where: inline, to: tp}}\ntraffic:\n  replayed: {{@tp: {{frames: {ROOT}/examples/data/pulse.wibeth}}}}\n", "frames come to link 'tp' already"),
    "jobs that nobody does": ("where: inline, to: tp}", "where: jobs, group: @others, to: tp}", "group 'others' has no workers"),
    "jobs that are asked for in no time": ("where: inline, to: tp}", "where: jobs, to: tp}", "expected 'dispatch'"),
    "threads without cores": ("where: inline, to: tp}", "where: jobs, to: tp}", "process.p has no core to run on"),
    "hits in frames of another format": ("tp: {format: hit,", "tp: {format: srs-vmm3a,", "'tp' is 1 links of format 'srs-vmm3a'; expected one link of format 'hit'"),
    "windows of what is made": ("  processes:\n    p", "  requests: {r: {links: [@tp], every: 1ms, window: 1us}}\n  processes:\n    p", "how many hits come to link 'tp' is not said"),
    "drops of the search for hits": ("p: {packet: 300cycles", "p: {drops: @0.5, packet: 300cycles", "the search for hits drops no frames"),
    "more drops than frames": ("p: {packet: 300cycles", "p: {drops: @1.5, packet: 300cycles", "out of range"),
    "no hits in them": ("format: wibeth, count: 2, buffer: {history: 1s}", "format: srs-vmm3a, count: 2, buffer: {history: 1s, rate: 1kHz}", "no hits are found in frames of format 'srs-vmm3a'"),
}


HITS = FUNCTIONS.replace("p: {packet: 300", "p: {hits: {value: 1}, packet: 300").replace("hits: {packet: 200", "hits: {hits: {value: 1}, packet: 200")
WRONG_HITS = {
    "nothing is said of others": ("p: {hits: {value: 1}, ", "p: {", "how many hits of process 'p' come to link 'tp' is not said"),
    "no number": ("p: {hits: {value: 1}, ", "p: {hits: @{}, ", "no value; expected a key 'value' or 'weights'"),
    "no rate": ("buffer: {history: 1s, rate: 250kHz}", "@buffer: {history: 1s}", "format 'hit' has no step; expected a key 'rate'"),
    "in what was found": ("links: [wib-1]", "links: [@tp]", "no hits are found in frames of format 'hit'"),
}


@pytest.mark.parametrize("what", WRONG_HITS)
def test_hits_refused(tmp_path, what):
    refused(tmp_path / "wrong.yaml", HITS.replace("      payload: PULSES\n", ""), *WRONG_HITS[what])


@pytest.mark.parametrize("what", WRONG_FUNCTIONS)
def test_functions_refused(tmp_path, what):
    old, new, words = WRONG_FUNCTIONS[what]
    refused(tmp_path / "wrong.yaml", FUNCTIONS.replace("      payload: PULSES\n", ""), old, new, words)


@pytest.mark.parametrize("what", WRONG)
def test_refused(tmp_path, what):
    refused(tmp_path / "wrong.yaml", EXAMPLE.read_text(), *WRONG[what])


# What weir run would refuse, at the same place.
KEYS = """
application:
  formats:
    f: {size: 100B, clock: 1MHz, step: 100, stream: {offset: 0, width: 8}, timestamp: {offset: 64, width: 64}}
    g: {size: 100B, clock: 1MHz, step: 100, timestamp: {offset: 64, width: 64}}
  links:
    one: {format: f, count: 4, stream: 7, buffer: {history: 1ms}}
    other: {format: f, stream: 11, buffer: {history: 1ms}}
    alone: {format: g, buffer: {history: 1ms}}
traffic:
  emulated: {one: {}, other: {}, alone: {}}
run:
  duration: 100ms
  simulation: {duration: 10ms}
"""
WRONG_KEYS = {
    "of another link": ("stream: 11", "stream: @10", "stream key 10 of format 'f' is link 'one' already"),
    "that does not fit": ("stream: 11", "stream: @256", "stream key 256 does not fit in frames of format 'f'; expected up to 255"),
    "of the last one": ("count: 4, stream: 7", "count: 4, stream: @253", "stream key 256 does not fit"),
    "beyond all": ("count: 4, stream: 7", "count: 4, stream: @18446744073709551615", ""),
    "that nothing says": ("{format: g, buffer", "{format: g, count: @2, buffer", "nothing tells 2 links apart"),
    "that means nothing": ("{format: g, buffer", "{format: g, stream: @0, buffer", "'stream' means nothing"),
}


def test_keys_that_links_may_have(tmp_path):
    """A key is of one link of a format, wherever its frames come from; formats have keys of their own."""
    path = tmp_path / "keys.yaml"
    path.write_text(KEYS.replace("other: {format: f, stream: 11", "other: {format: wibeth, stream: 7"))
    for command in ("run", "sim"):
        done = weir(command, path)
        assert done.code == OK, done.text


@pytest.mark.parametrize("what", WRONG_KEYS)
def test_keys_refused(tmp_path, what):
    path = tmp_path / "wrong.yaml"
    refused(path, KEYS, *WRONG_KEYS[what])
    ran, told = weir("run", path), weir("sim", path)
    assert ran.code == USAGE and ran.stderr == told.stderr


def refused(path, text, old, new, words):
    """At the place of the @, where there is one."""
    assert text.count(old) == 1
    changed = text.replace(old, new)
    path.write_text(changed.replace("@", ""))
    done = weir("sim", path)
    assert done.code == USAGE and words in done.stderr, done.text
    if "@" in new:
        before = changed[:changed.index("@")]
        assert re.search(rf"^{path}:{before.count(chr(10)) + 1}:", done.stderr, re.M), done.stderr
