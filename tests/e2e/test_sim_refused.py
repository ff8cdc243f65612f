# SPDX-License-Identifier: BSD-3-Clause
"""What weir run refuses of a file weir sim refuses, too, at the same place and in the same words; but for what it tells that it leaves aside."""
import re

import pytest

import pcapfile
import test_bad_descriptions
import test_events
import test_jobs
import test_readout_processes
import test_readout_wrong
from program import OK, USAGE, weir

SIMULATION = ("run:\n", "run:\n  simulation: {duration: 1ms}\n")
COSTS = """\
  cores: {c: {clock: 1GHz, count: 9}}
  costs:
    walk: 100cycles
    poll: 50cycles
    dispatch: 50cycles
    nodes:
      link_rx: {packet: 9cycles}
      pcap_rx: {packet: 9cycles}
      classify: {packet: 9cycles, next: {NEXT: 1}}
      ip4_lookup: {packet: 9cycles}
      ip4_rewrite: {packet: 9cycles, next: {north: 1}}
      pcap_tx: {packet: 9cycles}
      sched_tx: {packet: 9cycles}
      sched_rx: {packet: 9cycles}
      job: {packet: 9cycles}
      drop: {packet: 9cycles}
      punt: {packet: 9cycles}
"""
FUNCTIONS = """\
    processes:
      finder: {packet: 9cycles}
      hits: {packet: 9cycles}
"""
STREAM = "traffic:\n  streams: {s: {to: uplink, rate: 1kpps}}\n"


def readout(text):
    """Frames of format udp do not say their time, by which buffers are simulated: these do."""
    return (text.replace(*SIMULATION).replace("  formats:\n", "  formats:\n    timed: {size_max: 65507B, clock: 1GHz, timestamp: {offset: 0, width: 64}}\n")
            .replace("{format: udp, ", "{format: timed, "))


def processes(text):
    """A function of one's own has costs of its own."""
    text = text.replace(*SIMULATION).replace("{format: udp, ", "{format: srs-vmm3a, ")
    own = "".join(f"      {name}: {{packet: 9cycles}}\n" for name in ["yours", "other", "third", "more", *(f"p{n}" for n in range(8))] if f"    {name}: {{" in text)
    return text.replace("platform:\n", f"platform:\n{COSTS}{FUNCTIONS}{own}").replace("NEXT", "drop")


def graph(text):
    return text.replace(*SIMULATION).replace("platform:\n", "platform:\n" + COSTS.replace("NEXT", "ip4")) + STREAM


def events(text):
    """What objects do with packets costs something."""
    text = re.sub(r"receive: (?!\[)", "steps: [{cpu: 9cycles}], receive: ", text)
    return text.replace("platform:\n", "platform:\n" + COSTS.replace("NEXT", "punt")) + STREAM + SIMULATION[1]


ROOM = test_readout_wrong.GOOD.replace("traffic:\n", "  fragments: {count: 8, frames: 40}\ntraffic:\n")
WRONG_ROOM = {
    "too few fragments": ("count: 8, f", "count: 7, f", []),
    "too short ones": ("frames: 40", "frames: 32", []),
}
RECEIVERS = """\
application:
  links:
    a: {format: srs-vmm3a, count: 2, stream: 1, port: d, queue: 1, buffer: {history: 1s, rate: 7kHz, frame_size: 8968B}}
platform:
  receivers:
    d: {device: net_null0, nb_queues: 2, cpus: [0, 1]}
run:
  duration: 1s
"""
WRONG_RECEIVERS = {
    "no device": ("device: net_null0, ", "", []),
    "two devices": ("device: net_null0,", "device: net_null0, pci_addr: '0000:01:00.0',", []),
    "more threads than queues": ("cpus: [0, 1]", "cpus: [0, 1, 2]", []),
    "a queue that is not there": ("queue: 1,", "queue: 2,", []),
    "no link of it": ("    d: {", "    e: {device: net_null1}\n    d: {", []),
    "two formats": ("platform:\n", "    b: {format: wibeth, port: d, queue: 1, buffer: {history: 1s}}\nplatform:\n", []),
    "no such receiver": ("port: d,", "port: e,", []),
}


def receivers(text):
    return text.replace(*SIMULATION).replace("platform:\n", "platform:\n" + COSTS.replace("NEXT", "drop"))


def named(entries):
    """Of tables without names: how one is changed is its name."""
    return {f"{old} > {new}": (old, new, words) for old, new, words in entries if words}


# Good files of others' tests, what is wrong with them there, and how they are simulated.
TABLES = {
    "links": (test_readout_wrong.GOOD, test_readout_wrong.WRONG, readout),
    "processes": (test_readout_processes.GOOD, test_readout_processes.WRONG, processes),
    "graph": (test_bad_descriptions.GOOD, test_bad_descriptions.WRONG, graph),
    "events": (test_events.GOOD, named(test_events.BAD), events),
    "room": (ROOM, WRONG_ROOM, readout),
    "receivers": (RECEIVERS, WRONG_RECEIVERS, receivers),
    "jobs": (test_jobs.GOOD.replace("[default, g]", "[default]"), named(entry for entry in test_jobs.BAD if "g]" not in entry[0]), events),
}

# What is left aside, and told so: what is written, when a run ends, what only the machine that runs the file can say, where routes lead, and
# the graph where there are only links.
ASIDE = {
    "links": ["history without memory", "output twice", "windows twice to one file", "output in a file", "input that has no end",
              "routes without ports", "addresses without ports", "a picture without a graph"],
    "processes": ["a plug-in that is not there"],
    "graph": ["no capture at all", "unknown port of a neighbour", "a port that cannot send", "duplicate neighbour", "route to nobody",
              "route without next hop", "route with nothing", "MAC of a group", "neighbour that is two things", "neighbour id over the limit",
              "duration without a time", "output onto the input", "output twice", "output twice, by a detour", "output below a file"],
    "events": ["receive: count > receive: no.so:x", "{events: 1024} > {flows: 1}"],
}
# Where that is part of what is wrong, the rest is refused.
PARTLY = {
    "processes": ["workers that serve nothing"],
    "graph": ["port without use"],
    "events": ["{group: g} > {group: h}"],
    "jobs": ["compute, time: 1us > no.so:x, time: 1us"],
}
# Refused at the same place, in words of its own: captures that are read, what has to have costs, and queues that other cores could serve.
OWN_WORDS = {
    "links": ["replayed from no capture", "replayed from two files"],
    "processes": ["a group without workers"],
    "events": [", receive: count > ", "{groups: [g, default]} > {groups: []}"],
    "jobs": ["compute, time: 1us > no.so:x", "time: 1us > time: 1us, group: h"],
}


@pytest.fixture
def folder(tmp_path):
    pcapfile.write(tmp_path / "in.pcap", [pcapfile.record(bytes(60))])
    (tmp_path / "routes.txt").write_text("192.0.2.0/24 0\n2001:db8::/32 1\n")
    return tmp_path


def both(folder, text):
    """What the file is told by weir check and by weir sim, a line each."""
    (folder / "bad.yaml").write_text(text)
    done = {command: weir(command, "bad.yaml", *arguments, cwd=folder) for command, arguments in (("check", []), ("sim", ["--json"]))}
    for one in done.values():
        assert one.code in (OK, USAGE), one.text
    errors = done["sim"].json().get("errors", [])
    return done["check"].stderr.splitlines(), [f"{error['file']}:{error['line']}:{error['column']}: {error['message']}" for error in errors]


@pytest.mark.parametrize("table", TABLES)
def test_good_ones(folder, table):
    good, _, simulated = TABLES[table]
    checked, told = both(folder, simulated(good))
    assert [line for line in checked if "cannot read" not in line and ": warning: " not in line] == [] and told == []


@pytest.mark.parametrize("table, what", [(table, what) for table, (_, wrong, _) in TABLES.items() for what in wrong])
def test_refused_alike(folder, table, what):
    good, wrong, simulated = TABLES[table]
    old, new, _ = wrong[what]
    text = simulated(good.replace(old, new.replace("@", ""), 1))
    checked, told = both(folder, text)
    assert checked
    if what in ASIDE.get(table, []):
        assert told == []
    elif what in PARTLY.get(table, []):
        assert told and set(told) < set(checked)
    elif what in OWN_WORDS.get(table, []):
        assert told and {line.split(": ")[0] for line in told} <= {line.split(": ")[0] for line in checked}
    else:
        assert told == checked
