# SPDX-License-Identifier: BSD-3-Clause
"""weir sim of links whose frames are a file's: what weir run makes of the very same file, frame by frame; and what is refused."""
import random
import struct

import pytest

from pcapfile import record, write
from program import ROOT, weir
from test_sim_graph import means, simulate
from test_sim_links import compare_windows, refused

BYTES = 100
FAULTS = ("gap", "duplicate", "reordered", "sequence_jump", "early", "late", "timestamp_jump")
REASONS = ("duplicate", "wrong_size", "too_late", "slot_taken", "far_off", "no_memory")


def frame(key, number, timestamp, size=BYTES, big=False):
    """A stream key, a sequence number and a length, and a timestamp of 32 bits."""
    return struct.pack(">HHHxxI" if big else "<HHHxxI", key, number % 65536, size, timestamp % 2**32).ljust(size, b"\0")[:size]


def datagram(payload, vlan=b"", protocol=17, ip6=False, lie=0):
    udp = struct.pack(">HHHH", 1, 2, 8 + len(payload) + lie, 0) + payload
    if ip6:
        ip, kind = struct.pack(">IHBB", 0x60000000, len(udp), protocol, 64) + bytes(32), b"\x86\xdd"
    else:
        ip, kind = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, protocol, 0) + bytes(8), b"\x08\x00"
    return bytes(12) + vlan + kind + ip + udp


OTHERS = [bytes(12) + b"\x08\x06" + bytes(28), bytes(10), datagram(b"", protocol=6), datagram(bytes(100), lie=1),
          datagram(frame(999, 0, 0)), datagram(frame(0, 0, 0)), datagram(bytes(7)), datagram(b"", vlan=b"\x81\x00\x00\x01")]


def write_capture(path, packets, intervals_ns):
    """Packets, each so long after the one before it; it may be earlier, too."""
    records, time_ns = [], 1_700_000_000_000_000_000
    for packet, interval_ns in zip(packets, intervals_ns):
        time_ns += interval_ns
        records.append(record(packet, time_ns))
    write(path, records)


def describe(path, step, count=3, big=False, buffer="", rate="", links="", more="", source="pcap"):
    """Links 5, 6 and 7 of a file beside it."""
    return f"""
application:
  formats:
    f:
      size: {BYTES}B
      endianness: {"big" if big else "little"}
      clock: 1MHz
      {"step: " + str(step) if step else ""}
      stream: {{offset: 0, width: 16}}
      sequence: {{offset: 16, width: 16}}
      timestamp: {{offset: 64, width: 32}}
  links:
    in: {{format: f, count: {count}, stream: 5, buffer: {{{buffer}{"" if step else ", rate: 10kHz"}}}{links}}}
{more}
traffic:
  replayed:
    in: {{{source}: {path}{rate}}}
run:
  simulation: {{duration: 20s}}
"""


def compare_links(ran, told):
    links, drops = means(told["links"]), means(told["drops"])
    assert set(links) == {link["name"] for link in ran["links"]}
    for link in ran["links"]:
        one, dropped = links[link["name"]], dict(link["dropped"])
        assert one["evicted_frames"] == dropped.pop("evicted", 0), link
        assert (one["received_frames"], one["buffered_frames"], one["expired_frames"], one["late_frames"]) \
            == (link["received"], link["buffered"], link["delivered"], link["late"]), link
        assert one["missing_frames"] == link["missing"], link
        assert {fault: one[f"fault_{fault}"] for fault in FAULTS} == {fault: link["faults"].get(fault, 0) for fault in FAULTS}, link
        assert {reason: drops[f"{link['name']}: {reason}"]["packets"] for reason in REASONS
                if drops[f"{link['name']}: {reason}"]["packets"]} == {reason: nb for reason, nb in dropped.items() if nb}, link


def compare_rest(ran, told):
    """What is of no link."""
    [feed] = ran["feeds"]
    drops = means(told["drops"])
    for reason in ("not_udp", "truncated", "unknown_stream"):
        assert drops.get(f"replayed.in: {reason}", {"packets": 0})["packets"] == feed["packets"][reason], reason
    arrived = {name: stream["arrived_packets"] for name, stream in means(told["streams"]).items()}
    assert sum(arrived.values()) == feed["sent"]
    assert arrived.get("replayed.in", 0) == feed["sent"] - feed["packets"]["links"]


def compare(tmp_path, text):
    path = tmp_path / "description.yaml"
    path.write_text(text)
    ran, told = weir("run", path, "--json").json()["readout"], simulate(path)
    compare_links(ran, told)
    compare_rest(ran, told)
    return ran, told


def anything(rng, step, big):
    """Packets of three streams in whose time anything happens, and others."""
    clocks = [rng.randrange(2**32) for _ in range(3)]
    packets = []
    for number in range(3000):
        which = rng.randrange(3)
        clocks[which] += step or rng.randrange(200)
        timestamp, what = clocks[which], rng.random()
        if what < 0.01:
            clocks[which] += rng.choice((3, 50, 700, -40, -2000, 2**30)) * 100
        elif what < 0.06:
            timestamp -= rng.randrange(1, rng.choice((40, 400))) * (step or 100)
        elif what < 0.09:
            timestamp += rng.choice((1, step // 2, 5000, 10**6))
        payload = frame(5 + which, number, timestamp, BYTES if what < 0.97 else rng.choice((8, 12, 99, 101, 300)), big) \
            if what < 0.98 else b"\0\5" + bytes(2)
        packets += [datagram(payload, vlan=rng.choice((b"", b"\x81\0\0\7", b"\x88\xa8\0\7\x81\0\0\7")), ip6=rng.random() < 0.5)] \
            * (2 if rng.random() < 0.02 else 1)
        if rng.random() < 0.05:
            packets.append(rng.choice(OTHERS))
    return packets


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("step", [100, 0], ids=["a step", "no step"])
def test_each_frame_becomes_the_same(tmp_path, step, seed):
    rng = random.Random(seed)
    write_capture(tmp_path / "in.pcap", anything(rng, step, seed % 2 == 1), iter(lambda: rng.randrange(-5000, 40_000), None))
    buffer = (f"history: {rng.choice(('2ms', '20ms'))}, jump: {rng.choice(('300us', '5ms'))}, confirm: {rng.choice((1, 2, 3, 16))}, "
              f"spare: {rng.choice((1, 30))}, when_full: {rng.choice(('evict_oldest', 'drop_newest'))}")
    if not step:
        buffer += f", reorder: {rng.choice((1, 7, 1024))}"
    ran, _ = compare(tmp_path, describe("in.pcap", step, buffer=buffer, rate=", rate: 200kHz", big=seed % 2 == 1,
                                   links=rng.choice(("", ", drop_duplicates: true"))))
    seen = {reason for link in ran["links"] for reason, nb in link["dropped"].items() if nb}
    assert {"duplicate", "wrong_size"} <= seen
    assert min(ran["feeds"][0]["packets"][what] for what in ("not_udp", "truncated", "unknown_stream")) > 0


@pytest.mark.parametrize("capture, rate", [("gem", ""), ("gem", ", rate: 10kHz"), ("triggered", ", rate: 10kHz")])
def test_captures_of_detectors(tmp_path, capture, rate):
    """One has those of two cards, at times of a few ms; the other one, which took long, frames whose clock is off."""
    compare(tmp_path, f"""
application:
  links:
    in: {{format: srs-vmm3a, count: 3, buffer: {{history: 1s, rate: 10kHz}}}}
traffic:
  replayed:
    in: {{pcap: {ROOT}/tests/data/srs-vmm3a-{capture}.pcap{rate}}}
run:
  simulation: {{duration: 20s}}
""")


@pytest.mark.parametrize("step", [100, 0], ids=["a step", "no step"])
def test_what_is_over_leaves(tmp_path, step):
    """In pieces, for each frame that comes: a file ends before all of it has."""
    times = [100 * i + (0 if i < 150 else 10**6) for i in range(152)]
    write_capture(tmp_path / "in.pcap", [datagram(frame(5, i, time)) for i, time in enumerate(times)], [1000] * 152)
    ran, _ = compare(tmp_path, describe("in.pcap", step, count=1, buffer="history: 20ms, confirm: 1"))
    assert 0 < ran["links"][0]["delivered"] < 100 < ran["links"][0]["received"]


REQUESTS = """  requests:
    often: {links: [in], every: 3ms, window: 1010us, delay: 10ms}
    once: {links: [in-1], every: 1s, window: 50ms, delay: 60ms}
"""


def lossy(rng, step, start):
    """Frames of three streams: some are lost, some late, some off the beginning of their step; numbers and all."""
    waiting, packets = [], []
    for number in range(2000):
        for key in range(3):
            timestamp = start + number * 100 + (rng.randrange(90) if not step or rng.random() < 0.1 else 0) * (number > 20)
            one = datagram(frame(5 + key, number, timestamp))
            if number > 20 and rng.random() < 0.05:
                continue
            if number > 20 and rng.random() < 0.03:
                waiting.append(one)
            else:
                packets.append(one)
        if number % 7 == 0:
            packets += waiting
            waiting = []
    return packets + waiting


@pytest.mark.parametrize("start", [1000, 2**32 - 77_700], ids=["", "wrapping"])
@pytest.mark.parametrize("step", [100, 0], ids=["a step", "no step"])
def test_windows_are_those_that_are_run(tmp_path, step, start):
    """Some frames are lost, some late; timestamps begin again at 0."""
    packets = lossy(random.Random(start), step, start)
    write_capture(tmp_path / "in.pcap", packets, [33_000] * len(packets))
    ran, told = compare(tmp_path, describe("in.pcap", step, buffer="history: 1s", more=REQUESTS))
    compare_windows(ran, told)
    [often, once] = ran["requests"]["list"]
    assert often["windows"] >= 60 and once["windows"] == 1
    assert (often["answered"].get("partial", 0) > 0) == (step > 0)


def wibeth(number, key):
    words = key << 6 | number % 4096 << 40 | (7200 - 16) // 8 << 52, 2048 * number
    return struct.pack("<QQ", *words) + bytes(7200 - 16)


@pytest.mark.parametrize("rate", ["", ", rate: 20kHz"], ids=["own times", "a rate"])
def test_frames_alone(tmp_path, rate):
    """Those of a third stream are of no link."""
    (tmp_path / "raw").write_bytes(b"".join(
        wibeth(number, key) for number in range(300) for key in (0, 1, 2) if number not in (17, 90, 91)))
    ran, told = compare(tmp_path, f"""
application:
  links:
    in: {{format: wibeth, count: 2, buffer: {{history: 50ms}}}}
  requests:
    r: {{links: [in], every: 1ms, window: 100us, delay: 1ms}}
traffic:
  replayed:
    in: {{frames: raw{rate}}}
run:
  simulation: {{duration: 1s}}
""")
    assert ran["links"][0]["received"] == 297 and ran["feeds"][0]["packets"]["unknown_stream"] == 297
    [request] = means(told["requests"]).values()
    assert request["windows"] == ran["requests"]["list"][0]["windows"] > 5


def test_links_of_costs_and_queues(tmp_path):
    """The same frames, whoever takes them; what is of no link costs as much as others until it is dropped."""
    rng = random.Random(1)
    packets = anything(rng, 100, False)
    write_capture(tmp_path / "in.pcap", packets, [10_000] * len(packets))
    text = describe("in.pcap", 100, buffer="history: 20ms", links=", delivery: {by: queue, capacity: 8192}")
    ran, _ = compare(tmp_path, text)
    path = tmp_path / "costs.yaml"
    path.write_text(text + """
platform:
  cores: {c: {clock: 2GHz, count: 2}}
  costs: {walk: 100cycles, nodes: {link_rx: {packet: 100cycles, vector: 30cycles}}}
""")
    told = simulate(path)
    compare_links(ran, told)
    compare_rest(ran, told)
    nodes = means(told["nodes"])
    assert nodes["link_rx-replayed.in"]["packets"] == len(packets)
    assert nodes["link_rx-delivery.in"]["packets"] == sum(link["received"] - link["dropped"]["wrong_size"] for link in ran["links"])
    assert max(ring["length_max"] for ring in means(told["rings"]).values()) <= 6 + 1  # in 50 us, of rest


WRONG = {
    "no such link": ("  replayed:\n    in:", "  replayed:\n    @on:", "unknown link 'on'"),
    "no file": ("{pcap: in.pcap}", "@{rate: 1Hz}", "is replayed from nothing"),
    "two files": ("{pcap: in.pcap}", "{pcap: in.pcap, frames: @in.raw}", "is replayed from two files"),
    "file that is not there": ("{pcap: in.pcap}", "{pcap: @none.pcap}", "No such file"),
    "no capture": ("{pcap: in.pcap}", "{pcap: @in.raw}", "is not a capture file"),
    "capture that is cut": ("{pcap: in.pcap}", "{pcap: @cut.pcap}", "damaged after packet 1"),
    "frames that are cut": ("{pcap: in.pcap}", "{frames: @cut.raw}", "ends within frame 1"),
    "frames without an end": ("size: 100B\n", "size_min: 100B\n      size_max: 200B\n", "nothing tells where frames of format 'f' end", "{pcap: in.pcap}", "{frames: @in.raw}"),
    "size that a frame says": ("size: 100B\n", "size_max: 300B\n      length: {offset: 0, width: 16}\n", "says that it has 5 bytes", "{pcap: in.pcap}",
                               "{frames: @in.raw}"),
    "other frames": ("traffic:\n", "traffic:\n  emulated: {in: {frames: 1}}\n", "frames come to link 'in' already", "in: {pcap", "in: @{pcap"),
    "no time": ("in: {format: f, count: 3, stream: 5, buffer: {history: 1s}", "in: {format: @udp, buffer: {history: 1s, rate: 10kHz}", "do not say their time"),
    "a step without time": ("timestamp: {offset: 64, width: 32}", "", "a step without a timestamp", "step: 100", "step: @100"),
    "no clock": ("clock: 1MHz", "", "format 'f' does not say how long its ticks are", "format: f,", "format: @f,"),
    "key that does not fit": ("stream: 5,", "stream: @65535,", "stream key 65537 does not fit"),
    "links that nothing tells apart": ("stream: {offset: 0, width: 16}", "", "nothing tells 3 links apart", "count: 3, stream: 5", "count: @3"),
    "no rate": ("step: 100", "", "expected a key 'rate'", "buffer: {", "buffer: @{"),
    "too long for its clock": ("history: 1s", "history: @1100s", "more than a quarter of a timestamp's 32 bits"),
    "more frames than can be": ("history: 1s", "history: @1000000s", "expected up to 1073741824", "offset: 64, width: 32", "offset: 64, width: 64"),
}


@pytest.mark.parametrize("what", WRONG)
def test_refused(tmp_path, what):
    old, new, words, *more = WRONG[what]
    write_capture(tmp_path / "in.pcap", [datagram(frame(5, 0, 0))] * 2, [0, 0])
    (tmp_path / "cut.pcap").write_bytes((tmp_path / "in.pcap").read_bytes()[:-1])
    (tmp_path / "in.raw").write_bytes(frame(5, 0, 0))
    (tmp_path / "cut.raw").write_bytes(frame(5, 0, 0) + frame(5, 1, 100)[:-1])
    text = describe("in.pcap", 100, buffer="history: 1s")
    if more:
        assert text.count(more[0]) == 1
        text = text.replace(*more)
    assert text.count(old) == 1
    text = text.replace(old, new)
    at = text.index("@")
    refused(tmp_path / "wrong.yaml", text.replace("@", ""), text[at + 1:at + 12], "@" + text[at + 1:at + 12], words)
