# SPDX-License-Identifier: BSD-3-Clause
"""The same packets, whatever the number of workers, the bursts, the buffers and the form of the files."""
import itertools
import json

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import packets
import pcapfile
from network import Expected, assert_forwarded, assert_report_adds_up, check
from networks import CAPTURES, DATA, LABORATORY_OUTPUTS, SAMPLE_ROUTES, VARIED, captures, laboratory

ISP, WEB, V6, JUMBO = (CAPTURES[n] for n in ("isp-mix-vlan", "arp-web-mix", "ipv6-mix", "icmp-types-jumbo"))


@pytest.mark.parametrize("burst", [1, 7, 32, 256, 4096])
def test_bursts(tmp_path, burst):
    check(captures(tmp_path, {"in": ISP, "in6": V6}, VARIED, platform={"burst": burst}))


@pytest.mark.parametrize("rx_burst", [1, 7, 1024])
def test_receive_bursts(tmp_path, rx_burst):
    check(captures(tmp_path, {"in": (ISP, {"accept": "any", "rx_burst": rx_burst})}, VARIED))


def test_small_vectors_cut_to_many_fragments(tmp_path):
    """Every packet becomes dozens: a vector that grows within a node."""
    outputs = {name: {"mtu": 68} for name in ("north", "east", "south", "west")}
    report = check(captures(tmp_path, {"in": ISP}, outputs, platform={"burst": 7, "mbufs": {"count": 32768}}))
    assert report["packets"]["fragments"] > 10 * report["packets"]["fragmented"] > 0


@pytest.mark.parametrize("workers", [
    [["a", "b", "c"]], [["a"], ["b"], ["c"]], [["a", "c"], ["b"]], [["b.0"], ["a"], ["c.0"]],
])
def test_workers(tmp_path, workers):
    platform = {"workers": [{"receive": ports} for ports in workers]}
    check(captures(tmp_path, {"a": ISP, "b": V6, "c": WEB}, VARIED, platform=platform))


def test_more_workers_than_cpus(tmp_path):
    inputs = {f"in{i}": path for i, path in enumerate(itertools.islice(itertools.cycle([WEB, V6, JUMBO]), 9))}
    platform = {"workers": [{"receive": [name], "lcore": i % 2} if i < 2 else {"receive": [name]}
                            for i, name in enumerate(inputs)]}
    check(captures(tmp_path, inputs, platform=platform))


@pytest.mark.parametrize("mbufs", [{"count": 512}, {"count": 512, "cache": 0}, {"size": "512B"}, {"size": "9216B"}],
                         ids=str)
def test_buffers(tmp_path, mbufs):
    """Few or small buffers make it slow, not lossy; frames of 8 KB span many of the small ones."""
    check(captures(tmp_path, {"in": WEB, "jumbo": JUMBO}, {n: {"mtu": 9000} for n in VARIED},
                   platform={"mbufs": mbufs}))


def test_too_few_buffers_for_fragments_are_a_counted_loss(tmp_path):
    """What cannot be had is refused under a name; what is sent is right."""
    frames = [bytes(packets.ether() / packets.ip4(dst="10.7.0.1", id=i, proto=17) / Raw(bytes([i % 256]) * 1480))
              for i in range(1, 400)]
    path = pcapfile.write(tmp_path / "in.pcap", pcapfile.numbered(frames))
    network = laboratory(tmp_path, {"in": path}, platform={"mbufs": {"count": 512}, "burst": 256})
    report = network.run().json()
    assert_report_adds_up(report)
    assert {r["reason"] for r in report["dropped"]} <= {"no_memory"} and not report["punted"]
    expected = Expected(network)
    allowed = {r for sequence in expected.sent["tiny"].values() for r in sequence}
    sent = pcapfile.read(tmp_path / "tiny.pcap")
    assert len(sent) == report["packets"]["out"] and set(sent) <= allowed and len(set(sent)) == len(sent)


@pytest.mark.parametrize("idle", ["poll", "pause", "sleep"])
def test_idle(tmp_path, idle):
    """One input that ends early leaves its worker with nothing to do."""
    platform = {"idle": idle, "workers": [{"receive": ["a"]}, {"receive": ["b"]}]}
    check(captures(tmp_path, {"a": JUMBO, "b": (ISP, {"accept": "any", "repeat": 5})}, platform=platform))


def test_repeat(tmp_path):
    report = check(captures(tmp_path, {"in": (WEB, {"accept": "any", "repeat": 7})}))
    assert report["packets"]["in"] == 7 * len(pcapfile.read(WEB))


def test_one_capture_on_two_ports(tmp_path):
    check(captures(tmp_path, {"a": WEB, "b": WEB}))


def test_accept_own(tmp_path):
    """Of a capture, only what was sent to one of its routers, and to groups."""
    macs = [record.data[:6] for record in pcapfile.read(WEB) if not record.data[0] & 1]
    own = max(set(macs), key=macs.count)
    report = check(captures(tmp_path, {"in": (WEB, {"mac": own.hex(":")})}))
    refused = {r["reason"]: r["packets"] for r in report["dropped"]}
    assert refused["not_for_us"] == len(macs) - macs.count(own) > 0
    assert report["packets"]["out"] > 0


@pytest.mark.parametrize("magic", pcapfile.MAGICS, ids=bytes.hex)
def test_forms_of_capture_files(tmp_path, magic):
    """Either byte order, us or ns: times are kept."""
    made = [pcapfile.Record(r.time_ns + 1000 * i, r.data, r.wire) for i, r in enumerate(pcapfile.read(V6))]
    if pcapfile.MAGICS[magic][1] == 1:
        made = [pcapfile.Record(r.time_ns + 123, r.data, r.wire) for r in made]
    check(captures(tmp_path, {"in": pcapfile.write(tmp_path / "in.pcap", made, magic=magic)}), inputs={"in": made})


def test_pcapng(tmp_path):
    made = [pcapfile.Record(r.time_ns + 7, r.data, r.wire) for r in pcapfile.read(WEB)]
    (tmp_path / "in.pcapng").write_bytes(pcapfile.compose_pcapng(made))
    check(captures(tmp_path, {"in": tmp_path / "in.pcapng"}), inputs={"in": made})


def test_empty_capture(tmp_path):
    """A header without records is a whole capture of nothing."""
    report = check(captures(tmp_path, {"in": pcapfile.write(tmp_path / "in.pcap", [])}))
    assert report["packets"]["in"] == 0


def test_largest_frames(tmp_path):
    """An IPv4 packet of 65,535 bytes: whole over a large MTU, cut over a small one."""
    frames = [bytes(Ether(src=packets.HOST, dst=packets.ROUTER) /
                    IP(src="192.0.2.1", dst=f"10.{net}.0.1", ttl=9, id=net, proto=17) /
                    Raw((bytes(range(256)) * 256)[:65515])) for net in (1, 2, 7, 3)]
    path = pcapfile.write(tmp_path / "in.pcap", pcapfile.numbered(frames))
    outputs = {**LABORATORY_OUTPUTS, "south": {"mtu": 65535}}
    report = check(laboratory(tmp_path, {"in": path}, outputs=outputs, platform={"mbufs": {"count": 16384}}))
    assert report["packets"]["fragmented"] == 3


def test_last_of_equal_routes_counts(tmp_path):
    routes = [*SAMPLE_ROUTES, {"prefix": "0.0.0.0/0", "next_hop": 14}, {"prefix": "::/0", "next_hop": 14}]
    check(captures(tmp_path, {"in": ISP}, routes=routes))


def test_first_next_hop(tmp_path):
    table = tmp_path / "table.txt"
    table.write_text("# a comment\n\n0.0.0.0/1 1\n128.0.0.0/1\t2   # and another\n  ::/0 3\n")
    routes = [{"file": str(table), "first_next_hop": 8}, {"file": str(DATA / "ipv4-sample.txt")}]
    check(captures(tmp_path, {"in": ISP}, routes=routes))


def test_report_file_is_the_report(tmp_path):
    network = captures(tmp_path, {"in": WEB}, run={"stats_json": "reports/of/the/run.json"})
    printed = network.run().json()
    written = json.loads((tmp_path / "reports/of/the/run.json").read_text())
    for part in ("packets", "dropped", "punted", "ports", "written"):
        assert written[part] == printed[part]
    assert_forwarded(network, printed, Expected(network))


def test_outputs_without_packets(tmp_path):
    """When nothing is sent, the files are there, whole and empty."""
    path = pcapfile.write(tmp_path / "in.pcap", pcapfile.numbered(
        [bytes(packets.ether() / packets.ip4(ttl=1) / UDP())] * 3))
    report = check(laboratory(tmp_path, {"in": path}))
    assert report["packets"]["punted"] == 3 and report["packets"]["out"] == 0
