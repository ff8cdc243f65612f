# SPDX-License-Identifier: BSD-3-Clause
"""Queues of events: graphs hand packets to other workers, objects get them, and nothing is lost or out of order."""
import collections
import copy
import re
import shutil
import subprocess

import pytest

import pcapfile
from network import assert_report_adds_up
from networks import CAPTURES
from program import FAILED, OK, ROOT, USAGE, WEIR, weir, write_description
from running import FOREVER, stats, without_end

ISP, V6 = CAPTURES["isp-mix-vlan"], CAPTURES["ipv6-mix"]
ORDERED = {
    "queues": {"work": {"type": "ordered"}, "out": {"type": "atomic"}},
    "nodes": {"to_work": {"type": "sched_tx", "queue": "work"}, "to_out": {"type": "sched_tx", "queue": "out"},
              "from_work": {"type": "sched_rx", "queues": ["work"]}, "from_out": {"type": "sched_rx", "queues": ["out"]}},
    "edges": ["uplink.classify -> to_work", "uplink6.classify -> to_work", "from_work.work -> classify",
              "ip4_rewrite.north -> to_out", "ip6_rewrite.north -> to_out", "from_out.out -> north"],
}
ATOMIC = {
    "queues": {"work": {"flows": 16}},
    "nodes": {"to_work": {"type": "sched_tx", "queue": "work"}, "from_work": {"type": "sched_rx", "queues": ["work"]}},
    "edges": ["uplink.classify -> to_work", "uplink6.classify -> to_work", "from_work.work -> classify"],
}
READER_AND_TWO = [{"receive": ["uplink", "uplink6"], "groups": []}, {}, {}]
ALL_ALIKE = [{"receive": ["uplink"]}, {"receive": ["uplink6"]}, {}]


def description(application, workers, repeat=1, **scheduler):
    """Forward two captures, by way of queues."""
    return {
        "application": {**copy.deepcopy(application), "neighbours": [{"id": "0", "port": "north", "mac": "02:10:00:00:00:01"}],
                        "routes": [{"prefix": "0.0.0.0/0", "next_hop": 0}, {"prefix": "::/0", "next_hop": 0}]},
        "platform": {"ports": {"uplink": {"pcap_in": str(ISP), "accept": "any", "repeat": repeat},
                               "uplink6": {"pcap_in": str(V6), "accept": "any", "repeat": repeat},
                               "north": {"pcap_out": "out/north.pcap"}},
                     "workers": workers, "scheduler": scheduler},
    }


def run(folder, what, code=OK):
    done = weir("run", write_description(folder / "events.yaml", what), "--json", cwd=folder)
    assert done.code == code, done.text
    return done.json()


def flow_of(frame):
    """Addresses, protocol and ports, as far as a packet has them."""
    at, kind = 14, frame[12:14]
    while kind in (b"\x81\x00", b"\x88\xa8"):
        at, kind = at + 4, frame[at + 2:at + 4]
    if kind == b"\x08\x00":
        header, fragment = (frame[at] & 15) * 4, int.from_bytes(frame[at + 6:at + 8], "big") & 0x3fff
        ports = frame[at + header:at + header + 4] if not fragment and frame[at + 9] in (6, 17, 132) else b""
        return frame[at + 12:at + 20], frame[at + 9], ports
    if kind == b"\x86\xdd":
        return frame[at + 8:at + 40], frame[at + 6], frame[at + 40:at + 44] if frame[at + 6] in (6, 17, 132) else b""
    return (frame[:14],)


def flows(path):
    """Each flow's packets, in order."""
    found = collections.defaultdict(list)
    for record in pcapfile.read(path):
        found[flow_of(record.data)].append(record)
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one worker makes of it, without queues."""
    results = {}

    def expected(repeat):
        if repeat not in results:
            folder = tmp_path_factory.mktemp("alone")
            what = description({}, [{"receive": ["uplink", "uplink6"]}], repeat)
            results[repeat] = run(folder, what), flows(folder / "out/north.pcap")
        return results[repeat]
    return expected


def assert_as_alone(report, folder, expected):
    """Everything is accounted for, as if nobody had shared the work; and each flow is in order."""
    before, its_flows = expected
    assert_report_adds_up(report)
    for key in ("in", "out", "dropped", "punted", "discarded"):
        assert report["packets"][key] == before["packets"][key], key
    assert report["packets"]["queued"] == report["packets"]["taken"] == report["packets"]["difference"] == 0
    assert {r["reason"]: r["packets"] for r in report["dropped"]} == {r["reason"]: r["packets"] for r in before["dropped"]}
    assert len(its_flows) > 100
    assert flows(folder / "out/north.pcap") == its_flows


@pytest.mark.exclusive  # who has no CPU of its own because of others has hardly a part in the work
@pytest.mark.parametrize("application", [ORDERED, ATOMIC], ids=["ordered", "atomic"])
@pytest.mark.parametrize("workers", [READER_AND_TWO, ALL_ALIKE], ids=["reader", "alike"])
@pytest.mark.parametrize("burst", [7, 256])
def test_work_is_spread_and_in_order(tmp_path, alone, application, workers, burst):
    for repeat in (20, 60, 200, 600):  # until even a busy machine has let all of them take part
        what = description(application, workers, repeat)
        what["platform"]["burst"] = burst
        report = run(tmp_path, what)
        assert_as_alone(report, tmp_path, alone(repeat))
        packets = [core["received"] for core in report["cores"]]
        if min(packets) > sum(packets) / 100:
            break
    else:
        pytest.fail(f"somebody had nothing to do: {packets}")
    assert len(packets) == (2 if workers is READER_AND_TWO else 3)
    assert sum(packets) == sum(queue["received"] for queue in report["queues"])


@pytest.mark.parametrize("workers", [[{"receive": ["uplink", "uplink6"]}], None], ids=["named", "default"])
@pytest.mark.parametrize("events", [64, 4096])
def test_one_worker_alone_does_all(tmp_path, alone, workers, events):
    """It waits for room that only it can make."""
    what = description(ORDERED, workers, 20, events=events)
    if workers is None:
        del what["platform"]["workers"]
    assert_as_alone(run(tmp_path, what), tmp_path, alone(20))


@pytest.mark.parametrize("scheduler", [
    {"backend": "eventdev:event_sw0"}, {"threshold": 100}, {"starvation_bound": 4, "reserved": 64}, {"idle_sleep": "50us"},
    {"priority_slack": "5us"},
    {"flows": 100, "events": 256}], ids=str)
def test_schedulers(tmp_path, alone, scheduler):
    assert_as_alone(run(tmp_path, description(ORDERED, READER_AND_TWO, 20, **scheduler)), tmp_path, alone(20))


def test_event_dsw(tmp_path, alone):
    report = run(tmp_path, description(ATOMIC, READER_AND_TWO, 20, backend="eventdev:event_dsw0"))
    assert_as_alone(report, tmp_path, alone(20))


def test_what_does_not_fit_is_dropped_by_name(tmp_path):
    application = copy.deepcopy(ATOMIC)
    application["nodes"]["to_work"]["on_full"] = "drop"
    report = run(tmp_path, description(application, READER_AND_TWO, 50, events=64))
    assert_report_adds_up(report)
    dropped = {reason["reason"]: reason["packets"] for reason in report["dropped"]}
    assert dropped["sched_full"] > 0
    assert report["packets"]["in"] == report["queues"][0]["sent"] + dropped["sched_full"]


def test_groups(tmp_path, alone):
    """A queue's packets come to the workers of its group, and to nobody else."""
    application = copy.deepcopy(ORDERED)
    application["queues"]["work"]["group"] = "workers"
    application["queues"]["out"]["group"] = "writers"
    workers = [{"receive": ["uplink", "uplink6"], "groups": ["writers"]}, {"groups": ["workers"]}, {"groups": ["workers"]}]
    report = run(tmp_path, description(application, workers, 20))
    assert_as_alone(report, tmp_path, alone(20))
    queues = {queue["name"]: queue for queue in report["queues"]}
    received = {core["worker"]: core["received"] for core in report["cores"]}
    assert received[0] == queues["out"]["received"] > 0
    assert received[1] + received[2] == queues["work"]["received"] > 0


def test_objects(tmp_path):
    """forward, count and drop, one after the other; beside a graph."""
    application = {
        "queues": {"a": {"type": "ordered"}, "b": {"flows": 8}, "c": {"type": "parallel", "priority": 3}, "d": {}},
        "objects": {"first": {"queues": ["a"], "receive": "forward", "to": "b", "flow": "destination"},
                    "second": {"queues": ["b"], "receive": "count", "to": "c"},
                    "last": {"queues": ["c"], "receive": "drop"}, "ends": {"queues": ["d"], "receive": "count"}},
        "nodes": {"to_a": {"type": "sched_tx", "queue": "a"}, "to_d": {"type": "sched_tx", "queue": "d"}},
        "edges": ["uplink.classify -> to_a", "uplink6.classify -> to_d"],
    }
    report = run(tmp_path, description(application, READER_AND_TWO, 5))
    assert_report_adds_up(report)
    objects = {each["name"]: each for each in report["objects"]}
    ports = {port["name"]: port for port in report["ports"]}
    assert objects["first"]["forwarded"] == objects["second"]["packets"] == objects["last"]["taken"] \
        == ports["uplink"]["rx_packets"] > 1000
    assert objects["second"]["bytes"] == ports["uplink"]["rx_bytes"]
    assert objects["ends"]["bytes"] == ports["uplink6"]["rx_bytes"]
    assert report["packets"]["taken"] == report["packets"]["in"]


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """A plug-in, made as its author would: with the public headers, and without the library."""
    path = tmp_path_factory.mktemp("plugin") / "plugin.so"
    flags = subprocess.run(["pkg-config", "--cflags", "libdpdk"], capture_output=True, text=True, check=True).stdout.split()
    folders = [f"-I{folder}" for folder in sorted((ROOT / "lib").iterdir()) if folder.is_dir()]
    subprocess.run([shutil.which("cc"), "-shared", "-fPIC", "-O1", "-ftls-model=initial-exec", *flags, *folders, "-o", path,
                    ROOT / "tests/bridge/plugin.c"], check=True)
    return path


def with_plugin(receive, **keys):
    application = copy.deepcopy(ATOMIC)
    application["queues"]["thin"] = {}
    application["objects"] = {"thinner": {"queues": ["thin"], "receive": receive, "to": "work", **keys}}
    application["nodes"]["to_work"]["queue"] = "thin"
    return application


def test_plugin(tmp_path, plugin):
    shutil.copy(plugin, tmp_path / "beside.so")
    report = run(tmp_path, description(with_plugin("beside.so:thin_out"), READER_AND_TWO, 5))
    assert_report_adds_up(report)
    packets = report["packets"]
    assert report["objects"][0]["packets"] == packets["in"]
    assert packets["taken"] == packets["in"] // 3
    text = weir("run", tmp_path / "events.yaml", cwd=tmp_path).stdout
    assert re.search(rf"^  thinner +thin_out +{packets['in']:,} +- +-$", text, re.M), text  # what it did with them is not known
    assert packets["out"] + packets["dropped"] + packets["punted"] == packets["in"] - packets["in"] // 3


@pytest.mark.parametrize("symbol, keys, expected", [
    ("nothing", {}, "has no symbol 'nothing'"), ("old_abi", {}, "version"), ("short_struct", {}, "bytes"),
    ("no_receive", {}, "no receive function"), ("thin_out", {"argument": "refuse"}, "could not be started"),
])
def test_bad_plugins(tmp_path, plugin, symbol, keys, expected):
    what = description(with_plugin(f"{plugin}:{symbol}", **keys), READER_AND_TWO)
    done = weir("run", write_description(tmp_path / "bad.yaml", what), cwd=tmp_path)
    assert done.code == USAGE and re.search(r"bad\.yaml:\d+:\d+: .*" + expected, done.stderr), done.text


def test_no_plugin(tmp_path):
    path = tmp_path / "junk.so"
    path.write_text("no shared object\n")
    done = weir("run", write_description(tmp_path / "bad.yaml", description(with_plugin("junk.so:x"), READER_AND_TWO)), cwd=tmp_path)
    assert done.code == USAGE and re.search(r"bad\.yaml:\d+:\d+: plug-in '.*junk\.so' cannot be used", done.stderr), done.text


def test_a_plugin_that_has_the_library_too(tmp_path):
    """One that was linked with it would end the program, before anything of its own."""
    library = WEIR.resolve().parents[1] / "libweir.so"
    if not library.exists():
        pytest.skip("there is no shared library")
    (tmp_path / "empty.c").write_text("")
    subprocess.run([shutil.which("cc"), "-shared", "-o", tmp_path / "linked.so", tmp_path / "empty.c", "-Wl,--no-as-needed", library], check=True)
    for name in ("linked.so", library):
        done = weir("run", write_description(tmp_path / "bad.yaml", description(with_plugin(f"{name}:x"), READER_AND_TWO)), cwd=tmp_path)
        assert done.code == USAGE, done.text
        assert re.search(r"bad\.yaml:\d+:\d+: plug-in .* linked with libweir, .*; expected it without", done.stderr), done.text


# A description that is good; and what makes it bad, with where and what is said.
GOOD = """\
application:
  queues:
    q: {type: ordered}
    p: {group: g}
  objects:
    o: {queues: [p], receive: count}
  nodes:
    t: {type: sched_tx, queue: q}
    u: {type: sched_tx, queue: p}
    r: {type: sched_rx, queues: [q]}
  edges:
    - "uplink.classify -> t"
    - "r.q -> classify"
    - "classify.punt -> u"
platform:
  ports:
    uplink: {pcap_in: in.pcap, accept: any}
  workers:
    - {receive: [uplink]}
    - {groups: [g, default]}
  scheduler: {events: 1024}
"""
BAD = [
    ("queue: q}", "queue: z}", "8:32: unknown queue 'z'; expected q or p"),
    ("queues: [q]", "queues: [z]", "unknown queue 'z'"),
    ("queues: [q]", "queues: [q, p]", "queue 'p' belongs to object 'o' already"),
    (", queues: [q]", "", "10:5: node 'r' has nothing to bring in"),
    (", queue: q", "", "8:5: node 't' has nowhere to send to"),
    ("type: sched_tx, queue: q", "type: 'null', queue: q", "'queue' means nothing for nodes of type 'null'"),
    ("type: sched_tx, queue: q", "type: sched_tx, queue: q, queues: [p]", "'queues' means nothing for sched_tx"),
    ("queues: [q]}", "queues: [q], flow: rss}", "'flow' means nothing for sched_rx"),
    ("queue: p}", "queue: p, flow: colour}", "expected one of: rss"),
    ("queue: p}", "queue: p, on_full: panic}", "expected one of"),
    ("{type: ordered}", "{type: sorted}", "expected one of"),
    ("{type: ordered}", "{flows: 0}", "expected"),
    ("{type: ordered}", "{flows: 70000}", "expected"),
    ("{type: ordered}", "{priority: 8}", "expected"),
    ("{type: ordered}", "{colour: 8}", "unknown key 'colour'"),
    ("{group: g}", "{group: h}", "4:16: no worker is in group 'h'"),
    ("[g, default]", "[g, h]", "group 'h' serves no queue"),
    ("[g, default]", "[g, default, g]", "20:29: the worker is in group 'g' already; expected each group once"),
    ("queues: [p], ", "", "nobody gets the packets of queue 'p'"),
    ("queues: [p], ", "", "object 'o' never gets anything"),
    (", receive: count", "", "6:5: object 'o' does not say what it does with events; expected a key 'receive'"),
    ("receive: count", "receive: eat", "forward, count, drop, or PLUGIN.so:SYMBOL"),
    ("receive: count", "receive: forward", "object 'o' forwards to nowhere"),
    ("receive: count", "receive: drop, to: q", "'to' means nothing"),
    ("receive: count", "receive: count, argument: x", "'argument' means nothing"),
    ("receive: count", "receive: no.so:x", "cannot read '.*no.so'"),
    ("receive: count", "receive: count, to: p", "6:\\d+: packets would go round for ever: p -> p"),
    ("    o: {", "    r: {", "is the name of a node"),
    ("    o: {", "    o-o: {", "object name 'o-o' cannot be used"),
    ("r.q -> classify", "r.p -> classify", "unknown edge 'p' of node 'r'"),
    ("r.q -> classify", "r.q -> ip4_lookup", "needs IPv4 packets"),
    ("r.q -> classify", "r.q -> t", "13:7: packets would go round for ever: "),
    ("uplink.classify -> t", "uplink.classify -> r", "'r' gets its packets from queues"),
    ("uplink.classify -> t", "uplink.classify -> sched_tx", "unknown node 'sched_tx'"),
    ('    - "uplink.classify -> t"\n', "", "nothing leads to node 't'"),
    ('    - "uplink.classify -> t"\n', "", "no packet comes to queue 'q'"),
    ("[uplink]}", "[uplink], groups: []}", None),
    ("{groups: [g, default]}", "{groups: []}", "this worker polls nothing and serves no queue"),
    ("{events: 1024}", "{events: 1000}", "a power of two"),
    ("{events: 1024}", "{backend: magic}", "builtin, or eventdev:NAME"),
    ("{events: 1024}", "{events: 1024, reserved: 1024}", "leave none"),
    ("{events: 1024}", "{events: 1024, threshold: 2000}", "threshold 2000 is more than there is room for"),
    ("{events: 1024}", "{flows: 1}", "the queues have 2 flows together; expected at most 1"),
    ("{events: 1024}", "{backend: 'eventdev:event_sw0', idle_sleep: 50us}", "'idle_sleep' means nothing"),
    ("{events: 1024}", "{backend: 'eventdev:event_sw0', priority_slack: 5us}", "'priority_slack' means nothing"),
    ("{events: 1024}", "{speed: 7}", "unknown key 'speed'"),
]


@pytest.mark.parametrize("old, new, expected", [("", "", None), *BAD])
def test_checks(tmp_path, old, new, expected):
    shutil.copy(ISP, tmp_path / "in.pcap")
    (tmp_path / "d.yaml").write_text(GOOD.replace(old, new, 1) if old else GOOD)
    assert not old or old in GOOD
    done = weir("check", tmp_path / "d.yaml", cwd=tmp_path)
    if expected is None:
        assert done.code == OK, done.text
        return
    assert done.code == USAGE, done.text
    where = expected if re.match(r"\d", expected) else r"\d+:\d+: .*(" + expected + ")"
    assert re.search(r"d\.yaml:" + where, done.stderr), done.text


KEYS = {
    "{type: ordered}": ["type", "flows", "priority", "group"],
    "{queues: [p], receive: count}": ["queues", "receive", "to", "flow", "argument"],
    "{type: sched_tx, queue: q}": ["queue", "flow", "on_full"],
    "{type: sched_rx, queues: [q]}": ["queues"],
    "{groups: [g, default]}": ["groups"],
    "{events: 1024}": ["backend", "events", "reserved", "threshold", "starvation_bound", "flows", "idle_sleep", "priority_slack"],
}
NONSENSE = ["{a: 1}", "[[]]", "[1]", '[""]', "null", "-1", "-5us", "1e30s", "99999999999999999999", '"\\x00"', "x" * 300, ".nan", "&a [*a]"]


@pytest.mark.parametrize("old, key", [(old, key) for old, keys in KEYS.items() for key in keys])
def test_nonsense_is_refused_where_it_is(tmp_path, old, key):
    shutil.copy(ISP, tmp_path / "in.pcap")
    others = [part for part in re.split(r", (?![^\[]*\])", old[1:-1]) if not part.startswith(key + ":")]
    for value in NONSENSE:
        new = "{" + ", ".join([*others, f"{key}: {value}"]) + "}"
        (tmp_path / "d.yaml").write_text(GOOD.replace(old, new, 1))
        done = weir("check", tmp_path / "d.yaml", cwd=tmp_path)
        assert done.code == USAGE and re.search(r"d\.yaml:\d+:\d+: ", done.stderr), f"{new}\n{done.text}"


@pytest.mark.parametrize("backend, expected", [
    ("eventdev:event_none0", "event device 'event_none0' could not be made"),
    ("eventdev:event_dsw0", "ordered"),
    ("eventdev:event_opdl0", "event machine cannot be had on event_opdl"),
    ("eventdev:event_skeleton0", "no functions to enqueue"),
])
def test_what_a_device_cannot_do(tmp_path, backend, expected):
    what = description(ORDERED, READER_AND_TWO, backend=backend)
    done = weir("run", write_description(tmp_path / "bad.yaml", what), cwd=tmp_path)
    assert done.code == USAGE and re.search(r"bad\.yaml:\d+:\d+: .*" + expected, done.stderr), done.text


def test_what_a_device_cannot_do_is_told_where_it_is_wanted(tmp_path):
    (tmp_path / "d.yaml").write_text(GOOD.replace("{events: 1024}", "{backend: 'eventdev:event_dsw0'}").replace("{type: ordered}", "{type: ordered, priority: 3}"))
    shutil.copy(ISP, tmp_path / "in.pcap")
    done = weir("run", tmp_path / "d.yaml", cwd=tmp_path)
    lines = (tmp_path / "d.yaml").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "ordered" in text)
    for what, value in (("ordered queues; expected atomic", "ordered"), ("priorities; expected 0", "3")):
        where = f"d.yaml:{line}:{lines[line - 1].index(': ' + value) + 3}: event_dsw has no {what}"
        assert done.code == USAGE and where in done.stderr, where + done.text
    assert "could not be made" not in done.stderr, done.text


@pytest.fixture
def running(tmp_path):
    """A run that goes on until it is stopped."""
    application = copy.deepcopy(ORDERED)
    application["queues"]["odd"] = {"flows": 4, "priority": 2}
    application["objects"] = {"strangers": {"queues": ["odd"], "receive": "count"}}
    application["nodes"]["to_odd"] = {"type": "sched_tx", "queue": "odd"}
    application["edges"].append("ip4_lookup.punt -> to_odd")
    with without_end(tmp_path, description(application, READER_AND_TWO, FOREVER), least=10000) as both:
        yield both


def em(name, *arguments):
    done = weir("em", *arguments, "--instance", name)
    assert done.code == OK, done.text
    return done


def test_weir_em(running):
    name, instance = running
    objects = {each["name"]: each for each in em(name, "objects", "--json").json()["objects"]}
    assert set(objects) == {"from_work", "from_out", "strangers"}
    assert all(each["state"] == "running" and each["received"] > 0 for each in objects.values())
    assert objects["strangers"]["queues"] == 4
    queues = {each["name"]: each for each in em(name, "queues", "--json").json()["queues"]}
    assert set(queues) == {"work", "out", "odd.0", "odd.1", "odd.2", "odd.3"}
    assert queues["work"]["type"] == "ordered" and queues["work"]["object"] == "from_work"
    assert queues["odd.1"]["priority"] == 2 and queues["odd.1"]["group"] == "default"
    only = em(name, "queues", "strangers", "--json").json()["queues"]
    assert [each["name"] for each in only] == ["odd.0", "odd.1", "odd.2", "odd.3"]
    assert em(name, "groups", "--json").json()["groups"][0]["cores"] == [0, 1]
    cores = em(name, "cores", "--json").json()["cores"]
    assert [core["state"] == "producer" for core in cores] == [False, False, True]
    assert sum(core["received"] for core in cores) > 0 and cores[2]["sent"] > 0
    def pool_in_use():  # what moves from the stock to a cache while it is counted counts twice: all may seem to be free
        pool, = em(name, "pools", "--json").json()["pools"]
        assert pool["adopted"] and pool["buffers"] >= pool["free"] > 0
        return pool["free"] < pool["buffers"]
    instance.until(pool_in_use, "packet in use")
    stats = em(name, "stats", "--json").json()
    assert stats["scheduler"]["new"] > 0
    [queue] = stats["scheduler_queues"]
    assert queue["group"] == "default" and queue["enqueued"] > 0 and queue["dequeued"] > 0

    for what, words in (("objects", ["strangers", "running"]), ("queues", ["odd.3", "ordered", "from_work"]),
                        ("groups", ["default", "0 1"]), ("cores", ["producer"]), ("pools", ["buffers"]),
                        ("stats", ["scheduler", "forwarded", "its queue 0", "waiting"])):
        table = em(name, what).stdout
        assert all(word in table for word in words), table
        assert len({len(line) for line in table.splitlines()}) <= 3  # columns
    done = weir("em", "queues", "nobody", "--instance", name)
    assert done.code == FAILED and "no object 'nobody'" in done.stderr

    report = instance.stop().json()
    assert_report_adds_up(report)
    assert report["packets"]["queued"] == 0 and report["packets"]["taken"] > 0


def test_too_many_workers(tmp_path):
    workers = [{"receive": ["uplink", "uplink6"]}, *[{}] * 63]
    for verb in "check", "run":
        done = weir(verb, write_description(tmp_path / "d.yaml", description(ORDERED, workers)), cwd=tmp_path)
        assert done.code == USAGE and "64 workers are too many; expected at most 63 where there are queues" in done.stderr, done.text


def test_weir_em_many_queues(tmp_path):
    """More than one answer tells of."""
    application = copy.deepcopy(ORDERED)
    application["queues"]["many"] = {"flows": 2048}
    application["objects"] = {"strangers": {"queues": ["many"], "receive": "count"}}
    application["nodes"]["to_many"] = {"type": "sched_tx", "queue": "many"}
    application["edges"].append("ip4_lookup.punt -> to_many")
    with without_end(tmp_path, description(application, READER_AND_TWO, FOREVER)) as (name, instance):
        told = em(name, "queues", "--json").json()
        many = [f"many.{number}" for number in range(2048)]
        assert [each["name"] for each in told["queues"]] == ["work", "out", *many] and told["left"] == 0
        assert [line.split()[0] for line in em(name, "queues", "strangers").stdout.splitlines()] == ["queue", *many]
        assert_report_adds_up(instance.stop().json())


def test_weir_em_event_groups_and_timers(tmp_path, plugin, running):
    name, _ = running
    assert em(name, "timers", "--json").json() == {"timers": []}
    assert em(name, "event-groups", "--json").json()["event_groups"] == []
    with without_end(tmp_path, description(with_plugin(f"{plugin}:timed"), READER_AND_TWO, FOREVER, reserved=8)) as (name, instance):
        timer, = em(name, "timers", "--json").json()["timers"]
        assert (timer["name"], timer["timeouts"], timer["armed_now"], timer["fired"]) == ("hourly", 1, 1, 0)
        group, = em(name, "event-groups", "--json").json()["event_groups"]
        assert (group["state"], group["count"]) == ("counting", 5)
        assert "hourly" in em(name, "timers").stdout
        assert re.search(r"^0x\w+ +counting +5 +0 ", em(name, "event-groups").stdout, re.M)
        report = instance.stop().json()
    assert_report_adds_up(report)


def test_weir_em_usage():
    assert weir("em").code == USAGE
    for wrong, told in ((["nonsense"], "'nonsense' is not known; expected 'objects'"), (["groups", "all"], "'all' is too much behind 'groups'"),
                        (["queues", "a", "b"], "'b' is too much")):
        done = weir("em", *wrong)
        assert done.code == USAGE and told in done.stderr, done.text
    done = weir("jobs", "cancel")
    assert done.code == USAGE and "something is missing behind 'cancel'; expected 'list" in done.stderr, done.text
    done = weir("em", "--help")
    assert done.code == OK and all(word in done.stdout for word in ("objects", "queues", "groups", "cores", "pools", "event-groups", "timers"))
    assert weir("em", "objects", "--instance", "nobody-at-all").code == FAILED


def test_weir_em_without_queues(tmp_path):
    with without_end(tmp_path, description({}, [{"receive": ["uplink", "uplink6"]}], FOREVER)) as (name, instance):
        done = weir("em", "queues", "--instance", name)
        assert done.code == FAILED and "no queues of events" in done.stderr
        assert instance.stop().code == OK


def test_sums_while_it_runs(running):
    name, instance = running
    for _ in range(20):
        report = stats(name)
        assert report["packets"]["adds_up"], report["packets"]
    assert instance.stop().code == OK


def test_graph_of_workers(tmp_path):
    path = write_description(tmp_path / "events.yaml", description(ORDERED, ALL_ALIKE))
    for worker in (0, 2):
        done = weir("graph", path, "--worker", worker, cwd=tmp_path)
        assert done.code == OK and "sched_rx-from_work" in done.stdout, done.text
        assert ("pcap_rx-0-0" in done.stdout) == (worker == 0)


def test_document(tmp_path):
    """The example prints what doc/event-machine.md shows."""
    text = (ROOT / "doc/event-machine.md").read_text()
    section = text[text.index("## In a graph, in a description file"):]
    assert (ROOT / "examples/events.yaml").read_text().split("\n", 4)[4].strip() in section
    done = weir("run", ROOT / "examples/events.yaml", cwd=tmp_path)
    assert done.code == OK, done.text
    shown = re.search(r"```text\n(.*?)```", section, re.S).group(1)
    assert len(shown.splitlines()) > 10
    for line in shown.splitlines():
        assert line in done.stdout.splitlines(), f"not printed: {line}\n{done.stdout}"
