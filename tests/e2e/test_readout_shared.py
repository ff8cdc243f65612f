# SPDX-License-Identifier: BSD-3-Clause
"""Ports that a graph shares with links: each packet is a link's, or goes on through the graph, or is dropped by name."""
import collections

import pytest
from scapy.layers.inet import TCP, UDP
from scapy.layers.l2 import ARP
from scapy.packet import Raw

import pcapfile
from network import assert_report_adds_up, counts
from packets import ether, ip4
from program import OK, ROOT, Instance, weir, write_description
from running import stats, unique_name
from test_bad_descriptions import refuse
from test_readout import wibeth

NUMBERS = [number for number in range(60) if number not in (20, 21)]  # of each link's frames
FORWARDED = [bytes(ether() / ip4(dst="10.1.0.1", id=n) / TCP() / Raw(bytes([n]) * 20)) for n in range(30)]
FORWARDED += [bytes(ether() / ip4(dst="10.1.0.2", id=n) / UDP(dport=9) / Raw(b"\xff" * 64)) for n in range(30)]  # no link's key
OTHERS = [bytes(ether() / ARP()), bytes(ether() / ip4(dst="10.1.0.1", ttl=1) / TCP()), bytes(ether() / ip4(dst="10.2.0.1") / TCP()),
          bytes(ether() / ip4(dst="10.1.0.1", ttl=1) / UDP(dport=9) / Raw(wibeth(5, key=9)))]


def mixed():
    """Frames of links, one of a stream that no link has, and other packets between them."""
    frames = [bytes(ether() / ip4() / UDP(dport=7000) / Raw(wibeth(number, key))) for number in NUMBERS for key in (0, 1)]
    rest = FORWARDED + OTHERS
    for i, frame in enumerate(rest):
        frames.insert(i * 3 % len(frames), frame)
    return frames


def description(link=(), **node):
    return {"application": {"links": {"wib": {"format": "wibeth", "count": 2, "buffer": {"history": "50ms"}, **dict(link)}},
                            "nodes": {"shared": {"type": "link_rx", "port": "cable", "links": ["wib"], **node}},
                            "neighbours": [{"id": 1, "port": "north", "mac": "02:bb:00:00:00:01"}],
                            "routes": [{"prefix": "10.1.0.0/16", "next_hop": 1}]},
            "platform": {"ports": {"cable": {"device": "net_pcap0,rx_pcap=in.pcap", "accept": "any"}, "north": {"pcap_out": "north.pcap"}},
                         "workers": [{"receive": ["cable"]}]}}


def write_capture(path, frames):
    path.write_bytes(pcapfile.compose(pcapfile.numbered(frames)))


def run(folder, what, nb):
    """Until the port has been emptied; then all has its place."""
    name = unique_name()
    with Instance("run", write_description(folder / "shared.yaml", what), "--name", name, "--json", cwd=folder) as instance:
        report = instance.until(lambda: (now := stats(name)) and now["packets"]["in"] >= nb and now, f"{nb} packets")
        assert report["readout"]["adds_up"] and report["packets"]["adds_up"]
        status = weir("readout", "status", "--instance", name, "--json").json()
        done = instance.stop()
    assert done.code == OK and not done.stderr, done.text
    report = done.json()
    assert_report_adds_up(report)
    assert report["readout"]["adds_up"] is True
    for link in report["readout"]["links"]:
        assert link["received"] == link["buffered"] + link["held"] + link["delivered"] + sum(link["dropped"].values()), link
    return report, status


@pytest.mark.parametrize("delivery, node", [({}, {}), ({"by": "queue", "capacity": 500}, {}), ({}, {"burst": 7})],
                         ids=["callback", "queue", "small bursts"])
def test_each_packet_has_its_place(delivery, node, tmp_path):
    write_capture(tmp_path / "in.pcap", mixed())
    nb, nb_links = len(mixed()), 2 * len(NUMBERS)
    report, status = run(tmp_path, description({"delivery": delivery} if delivery else {}, **node), nb)
    packets = report["packets"]
    assert (packets["in"], packets["links"], packets["out"]) == (nb, nb_links, len(FORWARDED))
    assert packets["dropped"] + packets["punted"] == len(OTHERS)
    assert {**counts(report["dropped"]), **counts(report["punted"])} == {"arp": 1, "ip4_ttl": 2, "ip4_no_route": 1}
    for link in report["readout"]["links"]:
        assert link["received"] == link["buffered"] == len(NUMBERS) and link["missing"] == 2 and link["faults"] == {"gap": 1}
    [feed] = report["readout"]["feeds"]
    assert (feed["feed"], feed["node"], feed["port"], feed["to_graph"]) == ("link_rx", "shared", "cable", nb - nb_links)
    assert feed["packets"] == {"received": nb, "links": nb_links, "not_udp": 33, "truncated": 0, "unknown_stream": 31}
    [cable] = [port for port in report["ports"] if port["name"] == "cable"]
    assert (cable["rx_packets"], cable["rx_bytes"]) == (nb, sum(len(frame) for frame in mixed()))
    sent = [record.data[14:] for record in pcapfile.parse((tmp_path / "north.pcap").read_bytes())]
    def payloads(frames):
        return collections.Counter(frame[20:] for frame in frames)
    assert payloads(sent) == payloads(frame[14:] for frame in FORWARDED)
    [dispatch] = status["dispatches"]
    assert dispatch["name"] == "shared"


def test_another_edge(tmp_path):
    """What is no frame of a link's goes where the description says."""
    write_capture(tmp_path / "in.pcap", mixed())
    what = description()
    what["application"]["edges"] = ["shared.classify -> north"]
    report, _ = run(tmp_path, what, len(mixed()))
    sent = [record.data for record in pcapfile.parse((tmp_path / "north.pcap").read_bytes())]
    ours = {bytes(ether() / ip4() / UDP(dport=7000) / Raw(wibeth(number, key))) for number in NUMBERS for key in (0, 1)}
    assert sent == [frame for frame in mixed() if frame not in ours]
    assert report["packets"]["out"] == len(sent)


def test_example(tmp_path):
    """As from the top of the tree, from where its capture is named; what it writes is not left there."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    done = weir("run", ROOT / "examples/shared.yaml", "--name", unique_name(), "--duration", "200ms", cwd=tmp_path)
    assert done.code == OK and " to links" in done.stdout and "do NOT" not in done.stdout and "is NOT" not in done.stdout, done.text
    assert "Written: out/monitor.pcap" in done.stdout
    assert (ROOT / "examples/shared.yaml").read_text().split("\n", 7)[7].strip() in (ROOT / "doc/readout.md").read_text()


GOOD = """\
application:
  links:
    wib: {format: wibeth, count: 2, buffer: {history: 50ms}}
    own: {format: srs-vmm3a, stream: 1, buffer: {history: 1s, rate: 1kHz}}
    made: {format: wibeth, stream: 8, buffer: {history: 50ms}}
  nodes:
    shared: {type: link_rx, port: cable, links: [wib]}
    second: {type: link_rx, port: other, links: [own]}
    hole: {type: "null"}
  edges:
    - "shared.classify -> hole"
traffic:
  emulated:
    made: {frames: 10}
platform:
  ports:
    cable: {device: "net_null0"}
    other: {device: "net_null1"}
    north: {pcap_out: out/north.pcap}
  workers:
    - {receive: [cable, other]}
"""

# As in test_bad_descriptions.py: what to replace by what, '@' before the place; words of the message.
WRONG = {
    "a node without a port": ("    shared: {type: link_rx, port: cable, ", "    @shared: {type: link_rx, ", ["'shared'", "'port'"]),
    "a port that is not there": ("port: cable", "port: @cabel", ["'cabel'", "cable", "north"]),
    "a port of files": ("port: cable", "port: @north", ["'north'", "files", "'device'"]),
    "a port that two share": ("port: other", "port: @cable", ["'cable'", "'shared'"]),
    "a node without links": ("    shared: {type: link_rx, port: cable, links: [wib]}", "    @shared: {type: link_rx, port: cable}", ["'links'"]),
    "a node with no links": ("links: [wib]", "@links: []", ["'links'"]),
    "a link that is not there": ("links: [wib]", "links: [@wob]", ["'wob'", "wib"]),
    "a link that is fed": ("    made: {frames", "    @made: {frames", ["'made'", "already"]),
    "a link of two nodes": ("links: [own]", "links: [own, @wib]", ["'wib'", "already"]),
    "links of two formats": ("links: [wib]", "links: [wib, @own]", ["'own'", "'srs-vmm3a'", "'wibeth'"]),
    "no burst": ("links: [wib]", "links: [wib], burst: @0", ["0", "1"]),
    "links of another node": ('hole: {type: "null"}', 'hole: {type: "null", @links: [wib]}', ["'links'", "'null'", "link_rx"]),
    "a port of another node": ('hole: {type: "null"}', 'hole: {type: "null", port: @cable}', ["'port'", "'null'", "link_rx"]),
    "a queue of another node": ('hole: {type: "null"}', 'hole: {type: "null", queue: @a}', ["'queue'", "'null'", "sched_tx"]),
    "a slice of another node": ('hole: {type: "null"}', 'hole: {type: "null", slice: @1us}', ["'slice'", "'null'", "job"]),
    "a flow of link_rx": ("links: [wib]", "links: [wib], flow: @rss", ["'flow'", "'link_rx'", "sched_tx"]),
    "queues of link_rx": ("links: [wib]", "links: [wib], @queues: [a]", ["'queues'", "'link_rx'"]),
    "an edge of the port's own node": ('"shared.classify -> hole"', '@"cable.classify -> hole"', ["'shared'", "'cable'", "'shared.classify'"]),
    "an edge to what receives": ('"shared.classify -> hole"', '"shared.classify -> hole"\n    - @"classify.drop -> second"', ["'second'", "port"]),
    "two receive queues": ("port: cable, links", "port: @cable, links", ["2 receive queues", "'cable'"]),
    "a port that nobody polls": ("port: other, links", "port: @other, links", ["no worker", "'other'"]),
}
# What is wrong elsewhere than where it is told.
BESIDE = {"a link that is fed": ("links: [wib]", "links: [wib, made]"),
          "two receive queues": ("receive: [cable, other]", "receive: [cable.0, other]}\n    - {receive: [cable.1]"),
          "a port that nobody polls": ("receive: [cable, other]", "receive: [cable]")}


def test_the_good_one_is_good(tmp_path):
    (tmp_path / "good.yaml").write_text(GOOD)
    done = weir("check", "good.yaml", cwd=tmp_path)
    assert done.code == OK and not done.stderr, done.text


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name, tmp_path):
    old, new, words = WRONG[name]
    assert old in GOOD
    refuse(tmp_path, GOOD.replace(*BESIDE.get(name, ("", ""))).replace(old, new, 1), words)
