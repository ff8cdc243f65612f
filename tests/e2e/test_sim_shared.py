# SPDX-License-Identifier: BSD-3-Clause
"""weir sim of ports that a graph shares with links: the same packets of the same capture go the same ways as when it is run."""
import pytest

import pcapfile
from packets import ether, ip4
from program import ROOT, write_description
from scapy.layers.inet import UDP
from scapy.packet import Raw
from test_bad_descriptions import refuse
from test_readout import wibeth
from test_readout_shared import BESIDE, GOOD, NUMBERS, WRONG, description, mixed, run
from test_sim_graph import means, simulate
from test_sim_links import compare_links

COSTS = {"cores": {"c": {"clock": "2GHz", "count": 2}},
         "costs": {"walk": "100cycles", "poll": "50cycles",
                   "nodes": {"link_rx": {"packet": "100cycles"}, "pcap_tx": {"packet": "100cycles"}}}}


def with_faults():
    """Two frames come again, one comes late, two are cut off: one in the midst of its fields, which is no link's."""
    def packet(frame):
        return bytes(ether() / ip4() / UDP(dport=7000) / Raw(frame))
    return mixed() + [packet(wibeth(30, 1)), packet(wibeth(31, 1)), packet(wibeth(20, 0)), packet(wibeth(60, 0)[:-8]), packet(wibeth(61, 0)[:6])]


def shared(folder, packets, link=(), node=(), **keys):
    (folder / "in.pcap").write_bytes(pcapfile.compose(pcapfile.numbered(packets)))
    what = description(dict(link), **dict(node))
    what["application"]["edges"] = ["shared.classify -> north"]
    what["platform"].update(COSTS)
    what["traffic"] = {"streams": {"else": {"to": "cable", "arrivals": "replay", "capture": "in.pcap", **keys}}}
    what["run"] = {"simulation": {"duration": "100s"}}
    return what


@pytest.mark.parametrize("delivery, node", [({}, {}), ({"delivery": {"by": "queue", "capacity": 500}}, {}), ({}, {"burst": 7})],
                         ids=["callback", "queue", "small bursts"])
def test_each_packet_goes_where_it_goes_when_it_is_run(delivery, node, tmp_path):
    packets = with_faults()
    what = shared(tmp_path, packets, delivery, node)
    told = simulate(write_description(tmp_path / "shared.yaml", what), cwd=tmp_path)
    ran, _ = run(tmp_path, what, len(packets))
    compare_links({**ran["readout"], "feeds": []}, told)
    links, nodes, streams = means(told["links"]), means(told["nodes"]), means(told["streams"])
    assert links["wib-0"]["dropped_wrong_size"] == 1 and links["wib-1"]["fault_duplicate"] + links["wib-1"]["fault_reordered"] > 0
    [feed] = ran["readout"]["feeds"]
    assert nodes["link_rx-shared"]["packets"] == ran["packets"]["in"] == len(packets)
    assert nodes["pcap_tx-north"]["packets"] == streams["else"]["delivered_packets"] == feed["to_graph"] == ran["packets"]["out"]
    assert links["wib-0"]["received_frames"] + links["wib-1"]["received_frames"] == ran["packets"]["links"] == feed["packets"]["links"]


def test_a_capture_that_begins_again(tmp_path):
    """Frames that come again are there already."""
    what = shared(tmp_path, mixed(), repeat=True)
    what["run"]["simulation"]["duration"] = "2s"
    told = simulate(write_description(tmp_path / "shared.yaml", what), cwd=tmp_path)
    link, streams = means(told["links"])["wib-0"], means(told["streams"])
    rounds = streams["else"]["arrived_packets"] // (len(mixed()) - 2 * len(NUMBERS))
    assert rounds > 20 and abs(link["received_frames"] / len(NUMBERS) - rounds) <= 1
    assert link["stored_frames"] == len(NUMBERS) and link["dropped_duplicate"] == link["received_frames"] - len(NUMBERS)


def test_example(tmp_path):
    """What weir run says of it: 74 in = 10 out + 64 to links."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    told = simulate(ROOT / "examples/shared.yaml", cwd=tmp_path)
    nodes, [link] = means(told["nodes"]), means(told["links"]).values()
    assert nodes["link_rx-readout"]["packets"] == 74 and nodes["pcap_tx-monitor"]["packets"] == 10
    assert link["received_frames"] == link["buffered_frames"] == 64 and not link["missing_frames"]


MODEL = GOOD.replace("  workers:", """  cores: {c: {clock: 2GHz, count: 3}}
  costs:
    walk: 50cycles
    nodes: {link_rx: {packet: 10cycles}, classify: {packet: 10cycles}, drop: {packet: 1cycles}, "null": {packet: 1cycles}}
  workers:""").replace("own: {format: srs-vmm3a, stream: 1, buffer: {", "own: {format: srs-vmm3a, stream: 1, buffer: {frame_size: 9kB, ") \
    .replace('"shared.classify -> hole"', '"shared.classify -> hole"\n    - "second.classify -> hole"')

# Of traffic, which is a model's only.
CAPTURES = {
    "two captures": ("  emulated:", f"  streams:\n    a: {{to: cable, arrivals: replay, capture: {ROOT}/examples/data/isp-mix-vlan.pcap}}\n"
                     f"    b: {{to: cable, arrivals: replay, capture: @{ROOT}/examples/data/isp-mix-vlan.pcap}}\n  emulated:", ["'cable'", "already"]),
    "so many packets": ("  emulated:", f"  streams:\n    a: {{to: cable, arrivals: replay, capture: {ROOT}/examples/data/isp-mix-vlan.pcap, count: @5}}\n  emulated:",
                        ["'stop'", "'count'"]),
}


def test_the_good_one_is_good(tmp_path):
    (tmp_path / "good.yaml").write_text(MODEL)
    assert simulate(tmp_path / "good.yaml")["links"]


@pytest.mark.parametrize("name", [*WRONG, *CAPTURES])
def test_wrong(name, tmp_path):
    """At the same place as weir run has it."""
    old, new, words = {**WRONG, **CAPTURES}[name]
    assert old in MODEL
    refuse(tmp_path, MODEL.replace(*BESIDE.get(name, ("", ""))).replace(old, new, 1), words, "sim")
