# SPDX-License-Identifier: BSD-3-Clause
"""What weir run refuses of a file weir sim refuses, too, at the same place and in the same words; but for what it tells that it leaves aside."""
import pytest

import pcapfile
import test_readout_processes
import test_readout_wrong
from program import OK, USAGE, weir

SIMULATION = ("run:\n", "run:\n  simulation: {duration: 1ms}\n")
COSTS = """\
  costs:
    walk: 100cycles
    poll: 50cycles
    dispatch: 50cycles
    nodes: {link_rx: {packet: 9cycles}}
    processes:
      finder: {packet: 9cycles}
      hits: {packet: 9cycles}
"""


def readout(text):
    """Frames of format udp do not say their time, by which buffers are simulated: these do."""
    return (text.replace(*SIMULATION).replace("  formats:\n", "  formats:\n    timed: {size_max: 65507B, clock: 1GHz, timestamp: {offset: 0, width: 64}}\n")
            .replace("{format: udp, ", "{format: timed, "))


def processes(text):
    """A function of one's own has costs of its own."""
    text = text.replace(*SIMULATION).replace("{format: udp, ", "{format: srs-vmm3a, ")
    own = "".join(f"      {name}: {{packet: 9cycles}}\n" for name in ["yours", "other", "third", "more", *(f"p{n}" for n in range(8))] if f"    {name}: {{" in text)
    return text.replace("platform:\n", f"platform:\n  cores: {{c: {{clock: 1GHz, count: 9}}}}\n{COSTS}{own}")


# Good files of others' tests, what is wrong with them there, and how they are simulated.
TABLES = {
    "links": (test_readout_wrong.GOOD, test_readout_wrong.WRONG, readout),
    "processes": (test_readout_processes.GOOD, test_readout_processes.WRONG, processes),
}

# What is left aside, and told so: outputs, what only the machine that runs the file can say, and the graph where there are only links.
ASIDE = {
    "links": ["history without memory", "output twice", "windows twice to one file", "output in a file", "input that has no end",
              "routes without ports", "addresses without ports", "a picture without a graph"],
    "processes": ["a plug-in that is not there"],
}
# Refused at the same place, in other words: those of who reads the capture itself.
OTHER_WORDS = {"links": ["replayed from no capture", "replayed from two files"], "processes": []}
# Refused by another rule, before: of what stands between a worker and its queues.
LATER = {"links": [], "processes": ["a group without workers", "workers that serve nothing"]}


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
    assert [line for line in checked if "cannot read" not in line] == [] and told == []


@pytest.mark.parametrize("table, what", [(table, what) for table, (_, wrong, _) in TABLES.items() for what in wrong])
def test_refused_alike(folder, table, what):
    good, wrong, simulated = TABLES[table]
    old, new, _ = wrong[what]
    text = simulated(good.replace(old, new.replace("@", ""), 1))
    checked, told = both(folder, text)
    assert checked
    if what in ASIDE[table]:
        assert told == []
    elif what in OTHER_WORDS[table]:
        places = [line.split(": ")[0] for line in checked]
        assert told and all(line.split(": ")[0] in places for line in told)
    elif what in LATER[table]:
        assert told
    else:
        assert told == checked
