# SPDX-License-Identifier: BSD-3-Clause
"""A wrong description file is refused with file:line:column, what is wrong, and what was expected."""
import gzip
import random

import pytest

import pcapfile
from program import OK, USAGE, weir

GOOD = """\
application:
  graph: forwarder
  neighbours:
    - {id: 0-3, port: north, mac: "02:10:00:00:00:01"}
    - {id: 4, blackhole: true}
  routes:
    - {prefix: 10.0.0.0/8, next_hop: 0}
    - {file: routes.txt}
  addresses: [192.0.2.1]
platform:
  ports:
    uplink: {pcap_in: in.pcap, accept: any}
    north: {pcap_out: out/north.pcap, mtu: 1500B}
  workers:
    - {receive: [uplink]}
run:
  until: input_end
  punt_pcap: out/punt.pcap
"""

# What to replace by what; '@' stands before the place that the message must name. Then words of the message.
WRONG = {
    "unknown key at the top": ("run:\n", "@runs:\n", ["'runs'", "application", "platform", "run"]),
    "unknown key of a section": ("  graph: f", "  @colour: red\n  graph: f", ["'colour'", "neighbours"]),
    "unknown key of an item": ("{id: 4, ", "{id: 4, @id2: 5, ", ["'id2'", "port"]),
    "unknown key of a port": ("accept: any", "@acept: any", ["'acept'", "accept"]),
    "text for a number": ("next_hop: 0}", "next_hop: @first}", ["'first'", "integer"]),
    "fraction for an integer": ("next_hop: 0}", "next_hop: @1.5}", ["'1.5'", "integer"]),
    "negative number": ("next_hop: 0}", "next_hop: @-1}", ["-1", "0"]),
    "number out of range": ("mtu: 1500B", "mtu: 1500B, vlan: @4095", ["4095", "4094"]),
    "receive burst above what nodes take": ("accept: any", "accept: any, rx_burst: @1025", ["1025", "1024"]),
    "queues of a file": ("mtu: 1500B", "mtu: 1500B, tx_queues: @2", ["'tx_queues'", "device"]),
    "huge number": ("next_hop: 0}", "next_hop: @99999999999999999999}", ["99999999999999999999"]),
    "quantity without unit": ("mtu: 1500B", "mtu: @1500", ["'1500'", "unit", "9000B"]),
    "quantity with the wrong unit": ("mtu: 1500B", "mtu: @1500s", ["'1500s'", "B"]),
    "MTU below the least": ("mtu: 1500B", "mtu: @67B", ["67", "68"]),
    "list for a map": ("platform:\n  ports:\n", "platform:\n  @ports: [a, b]\n  other:\n", ["ports", "map"]),
    "map for a list": ("  addresses: [192.0.2.1]", "  @addresses: {a: 1}", ["list"]),
    "map for a text": ("graph: forwarder", "@graph: {a: 1}", ["forwarder"]),
    "text for a truth value": ("blackhole: true", "blackhole: @perhaps", ["'perhaps'", "true"]),
    "unknown choice": ("accept: any", "accept: @all", ["'all'", "own", "any"]),
    "unknown graph": ("graph: forwarder", "graph: @switch", ["'switch'", "forwarder"]),
    "missing capture": ("pcap_in: in.pcap", "pcap_in: @none.pcap", ["none.pcap", "No such file"]),
    "missing route file": ("file: routes.txt", "file: @none.txt", ["none.txt", "No such file"]),
    "a directory for a capture": ("pcap_in: in.pcap", "pcap_in: @.", ["file"]),
    "no capture at all": ("pcap_in: in.pcap", "pcap_in: @routes.txt", ["format", "capture"]),
    "unknown port of a neighbour": ("port: north", "port: @nord", ["'nord'", "uplink", "north"]),
    "unknown port of a worker": ("receive: [uplink]", "receive: [@downlink]", ["'downlink'", "uplink"]),
    "a port that cannot send": ("port: north", "port: @uplink", ["'uplink'", "pcap_out"]),
    "a port that cannot receive": ("receive: [uplink]", "receive: [uplink, @north]", ["'north'", "pcap_in"]),
    "a queue that is not there": ("receive: [uplink]", "receive: [@uplink.1]", ["one queue"]),
    "a queue twice": ("receive: [uplink]", "receive: [uplink, @uplink]", ["'uplink'", "already"]),
    "duplicate port": ("    north:", "    north: {pcap_out: out/n.pcap}\n    @north:", ["'north'", "twice"]),
    "duplicate key": ("accept: any", "accept: any, @accept: own", ["'accept'", "twice"]),
    "duplicate neighbour": ("{id: 4, ", "{id: @2-4, ", ["2", "already"]),
    "port without use": ("north: {pcap_out: out/north.pcap, mtu: 1500B}", "@north: {mtu: 1500B}", ["pcap_out", "device"]),
    "port name with a space": ("    north:", "    @\"no rth\": {pcap_out: out/n.pcap}\n    north:", ["'no rth'", "letters"]),
    "prefix without length": ("prefix: 10.0.0.0/8", "prefix: @10.0.0.0", ["10.0.0.0", "/"]),
    "prefix too long": ("prefix: 10.0.0.0/8", "prefix: @10.0.0.0/33", ["33", "32"]),
    "prefix with a length that begins with a zero": ("prefix: 10.0.0.0/8", "prefix: @10.0.0.0/08", ["10.0.0.0/08", "zeros"]),
    "prefix with bits beyond its length": ("prefix: 10.0.0.0/8", "prefix: @10.1.0.0/8", ["10.1.0.0/8", "10.0.0.0/8"]),
    "prefix that is none": ("prefix: 10.0.0.0/8", "prefix: @ten/8", ["ten/8", "prefix"]),
    "IPv6 prefix too long": ("prefix: 10.0.0.0/8", "prefix: @\"2001:db8::/129\"", ["129", "128"]),
    "address out of range": ("[192.0.2.1]", "[@192.0.2.256]", ["192.0.2.256"]),
    "route to nobody": ("next_hop: 0}", "next_hop: @9}", ["9", "neighbours"]),
    "route without next hop": ("{prefix: 10.0.0.0/8, next_hop: 0}", "{prefix: @10.0.0.0/8}", ["next_hop"]),
    "route with nothing": ("{file: routes.txt}", "@{first_next_hop: 1}", ["prefix", "file"]),
    "MAC too short": ('"02:10:00:00:00:01"', '@"02:10:00:00:00"', ["02:10:00:00:00", "six"]),
    "MAC of a group": ('"02:10:00:00:00:01"', '@"03:10:00:00:00:01"', ["group"]),
    "bad neighbour id": ("id: 0-3", "id: @3-0", ["3-0", "range"]),
    "neighbour that is two things": ("blackhole: true}", "blackhole: true, local: true}", ["one of"]),
    "neighbour id over the limit": ("{id: 4, ", "{id: @4095, ", ["4095", "4094"]),
    "unknown end": ("until: input_end", "until: @never", ["'never'", "input_end", "signal", "duration"]),
    "duration without a time": ("until: input_end", "until: @duration", ["duration"]),
    "output onto the input": ("out/punt.pcap", "@in.pcap", ["in.pcap", "already"]),
    "output twice": ("out/punt.pcap", "@./out/north.pcap", ["already"]),
    "output twice, by a detour": ("out/punt.pcap", "@out/../out/north.pcap", ["already"]),
    "output below a file": ("out/punt.pcap", "@in.pcap/punt.pcap", ["in.pcap"]),
    "unknown edge": ("  graph: f", "  edges: [@\"classify.ip5 -> null\"]\n  graph: f", ["ip5", "ip4_lookup"]),
    "unknown node": ("  graph: f", "  edges: [@\"clasify.ip4 -> null\"]\n  graph: f", ["'clasify'"]),
    "unknown node type": ("  graph: f", "  nodes: {mine: {type: @nul}}\n  graph: f", ["'nul'"]),
    "edge without arrow": ("  graph: f", "  edges: [@\"classify.ip4 null\"]\n  graph: f", ["->"]),
}


@pytest.fixture
def folder(tmp_path):
    pcapfile.write(tmp_path / "in.pcap", [pcapfile.record(bytes(60))])
    (tmp_path / "routes.txt").write_text("192.0.2.0/24 0\n2001:db8::/32 1\n")
    return tmp_path


def refuse(folder, text, words, command="check", name="bad.yaml", expected="expected"):
    """The program must refuse the text, and name the place that '@' marks, if any does."""
    place = f"{name}:"
    if "@" in text:
        before, after = text.split("@")
        text = before + after
        place += f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: "
    (folder / name).write_text(text)
    files = sorted(folder.rglob("*"))
    done = weir(command, name, cwd=folder)
    assert done.code == USAGE, done.text
    lines = [line for line in done.stderr.splitlines() if line.startswith(place)]
    assert lines, f"nothing begins with {place}\n{done.text}"
    assert any(all(word in line for word in words) for line in lines), f"{words} expected in\n{done.text}"
    assert any(expected in line for line in lines), done.text
    assert sorted(folder.rglob("*")) == files, "something was written"
    return done


def test_the_good_one_is_good(folder):
    (folder / "good.yaml").write_text(GOOD)
    assert weir("check", "good.yaml", cwd=folder).code == OK
    assert weir("run", "good.yaml", cwd=folder).code == OK


@pytest.mark.parametrize("what", WRONG)
def test_refused(folder, what):
    old, new, words = WRONG[what]
    assert GOOD.count(old) == 1
    refuse(folder, GOOD.replace(old, new), words)


@pytest.mark.parametrize("what", ["unknown key of a port", "missing capture", "bad neighbour id", "duplicate port"])
def test_run_refuses_what_check_refuses(folder, what):
    old, new, words = WRONG[what]
    refuse(folder, GOOD.replace(old, new), words, command="run")


def test_all_errors_are_told_at_once(folder):
    text = GOOD.replace("accept: any", "@acept: any")
    done = refuse(folder, text.replace("port: north", "port: 7").replace("/8", "/99"), ["'acept'"])
    assert "/99" in done.stderr and len(done.stderr.splitlines()) >= 2


def test_errors_as_json(folder):
    (folder / "bad.yaml").write_text(GOOD.replace("accept: any", "acept: any"))
    done = weir("check", "bad.yaml", "--json", cwd=folder)
    assert done.code == USAGE
    answer = done.json()
    assert answer["ok"] is False
    assert (answer["errors"][0]["line"], answer["errors"][0]["column"]) == (12, 32)
    assert "acept" in answer["errors"][0]["message"]


@pytest.mark.parametrize("line,column", [
    ("10.0.0.0/8", 11), ("10.0.0.0 1", 9), ("10.0.0.0/33 1", 10), ("10.0.0.0/08 1", 10), ("10.0.0.0/8 x", 12),
    ("10.0.0.0/8 1 2", 14), ("10.0.0.1/8 1", 1), ("10.0.0.0/8 -1", 12), ("2001:db8::/129 1", 12),
    ("10.0.0.0/8 99999999999", 12), ("garbage", 1), ("10.0.0.0/8 5000", 12),
])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_bad_route_file(folder, line, column, packed):
    content = f"# routes\n192.0.2.0/24 0\n  \n{line}\n198.51.100.0/24 1\n".encode()
    name = "routes.txt.gz" if packed else "routes.txt"
    (folder / name).write_bytes(gzip.compress(content) if packed else content)
    (folder / "bad.yaml").write_text(GOOD.replace("routes.txt", name))
    done = weir("run", "bad.yaml", cwd=folder)
    assert done.code == USAGE, done.text
    assert f"{name}:4:{column}: " in done.stderr and "expected" in done.stderr, done.text


def test_route_file_names_an_unknown_next_hop(folder):
    """A route to nobody in a file is refused like one in the description."""
    (folder / "routes.txt").write_text("192.0.2.0/24 0\n198.51.100.0/24 77\n")
    (folder / "bad.yaml").write_text(GOOD)
    done = weir("run", "bad.yaml", cwd=folder)
    assert done.code == USAGE, done.text
    assert "routes.txt:2:17: " in done.stderr and "77" in done.stderr and "expected" in done.stderr, done.text


def test_truncated_gzip(folder):
    lines = "".join(f"10.{random.Random(i).randrange(256)}.{i % 256}.0/24 1\n" for i in range(20000)).encode()
    (folder / "routes.txt.gz").write_bytes(gzip.compress(lines)[:-2000])
    (folder / "bad.yaml").write_text(GOOD.replace("routes.txt", "routes.txt.gz"))
    done = weir("run", "bad.yaml", cwd=folder)
    assert done.code == USAGE and "routes.txt.gz" in done.stderr, done.text


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "just text\n", "[1, 2]\n", "a: b: c\n", "{", "\t- x\n",
                                  "a: &x [*x, *x]\n", "%YAML 9.9\n---\n", "--- a\n--- b\n", "\0\0\0", "a: \"\n",
                                  "application: null\nplatform: ~\n", "? [a, b]\n: c\n", "a: !!binary x\n",
                                  "[" * 5000, "{a: " * 5000, "a: " + "x" * 1000000], ids=range(19))
def test_odd_files(folder, text):
    refuse(folder, text, [], expected="")


@pytest.mark.parametrize("seed", range(8))
def test_damaged_descriptions_never_crash(folder, seed):
    """Bytes changed at random: anything but a crash; and what check accepts is a good file."""
    chance = random.Random(seed)
    for _ in range(12):
        content = bytearray(GOOD.encode())
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(content))
            how = chance.randrange(3)
            if how == 0:
                content[at] = chance.randrange(256)
            elif how == 1:
                del content[at:at + chance.randint(1, 30)]
            else:
                content[at:at] = chance.choice([b"{", b"]", b"\n", b": ", b"- ", b"*", b"&a ", b"\xff", b"\0", b"\t"])
        (folder / "bad.yaml").write_bytes(content)
        done = weir("check", "bad.yaml", cwd=folder)
        assert done.code in (OK, USAGE), bytes(content)
        assert done.code == OK or "bad.yaml:" in done.stderr or "routes.txt:" in done.stderr, done.text


def test_missing_description(folder):
    done = weir("run", "none.yaml", cwd=folder)
    assert done.code == USAGE and "none.yaml" in done.stderr and "No such file" in done.stderr


def test_description_is_a_directory(folder):
    done = weir("run", ".", cwd=folder)
    assert done.code == USAGE and "directory" in done.stderr.lower()


@pytest.mark.parametrize("first, second, edge", [
    ("classify.ip4_lookup -> null", "classify.ip4_lookup -> drop", "classify.ip4_lookup"),
    ("classify.ip4_lookup -> null", "classify.ip4 -> null", "classify.ip4_lookup"),  # the same by a shorter name
    ("uplink.classify -> drop", "uplink.cl -> null", "uplink.classify"),
    ("ip4_rewrite.north -> drop", "ip4_rewrite.north -> punt", "ip4_rewrite.north"),
    ("mine.drop -> null", "mine.drop -> punt", "mine.drop"),
])
@pytest.mark.parametrize("command", ["check", "run", "graph"])
def test_an_edge_changed_twice(folder, first, second, edge, command):
    """Neither would silently win: the second is refused, and says where the first stands."""
    text = GOOD.replace("  graph: f", "  nodes: {mine: {type: classify}}\n  edges:\n    - classify.ip6 -> mine\n"
                        f"    - {first}\n    - mine.ip4 -> drop\n    - @{second}\n  graph: f")
    done = refuse(folder, text, [f"'{edge}'", "already", "bad.yaml:5:7;"], command=command, expected="expected each edge once")
    assert done.stderr.count("already") == 1, done.text


def test_an_edge_changed_in_an_included_file_too(folder):
    """Where the first stands is said with the name of its file."""
    (folder / "other.yaml").write_text("application:\n  edges: [classify.ip6 -> null]\n")
    (folder / "bad.yaml").write_text(GOOD.replace("  graph: f", "  edges: [classify.ip6 -> drop]\n  graph: f")
                                     + "include: [other.yaml]\n")
    done = weir("check", "bad.yaml", cwd=folder)
    assert done.code == USAGE and "bad.yaml:2:11: " in done.stderr and "at other.yaml:2:11;" in done.stderr, done.text


def test_edges_of_the_same_name_are_many(folder):
    """Of several nodes, or to several ports: each is another one."""
    (folder / "good.yaml").write_text(GOOD.replace("  graph: f", """  nodes: {mine: {type: classify}}
  edges: [uplink.classify -> mine, mine.ip4 -> drop, classify.ip4 -> drop, mine.ip6 -> drop, mine.drop -> null]
  graph: f"""))
    assert weir("check", "good.yaml", cwd=folder).code == OK


def test_include_of_a_missing_file(folder):
    refuse(folder, GOOD + "include: [@other.yaml]\n", ["other.yaml"])


def test_error_in_an_included_file_names_that_file(folder):
    (folder / "other.yaml").write_text("run:\n  until: never\n")
    (folder / "bad.yaml").write_text(GOOD.split("run:")[0] + "include: [other.yaml]\n")
    done = weir("check", "bad.yaml", cwd=folder)
    assert done.code == USAGE and "other.yaml:2:10: " in done.stderr, done.text
