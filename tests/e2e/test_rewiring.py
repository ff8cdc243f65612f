# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions that lead edges elsewhere: refused at their place, or a run whose sums add up."""
import concurrent.futures
import re

import pytest

import network
import pcapfile
from networks import CAPTURES, DATA, captures
from program import OK, TIMEOUT_S, USAGE, weir, write_description

EDGES = {
    "in": ["classify"],
    "classify": ["drop", "punt", "ip4_lookup", "ip6_lookup"],
    "ip4_lookup": ["drop", "punt", "ip4_rewrite"],
    "ip6_lookup": ["drop", "punt", "ip6_rewrite"],
    "ip4_rewrite": ["drop", "punt", "ip4_frag", "north"],
    "ip6_rewrite": ["drop", "punt", "north"],
    "ip4_frag": ["drop", "punt", "north"],
}
NODES = ["classify", "ip4_lookup", "ip6_lookup", "ip4_rewrite", "ip6_rewrite", "ip4_frag", "drop", "punt", "null",
         "pcap_rx", "pcap_tx", "ethdev_rx", "ethdev_tx", "in", "east"]
ROUTES = [{"prefix": "0.0.0.0/0", "next_hop": 1}, {"prefix": "::/0", "next_hop": 9}]


def rewired(folder, edges, nodes=None, command="run", capture=DATA / "sctp.pcap", **keys):
    net = captures(folder, {"in": capture}, {name: {"mtu": 576} for name in ("north", "east", "south", "west")},
                   routes=ROUTES, **keys)
    description = net.description()
    description["application"].update(edges=edges, nodes=nodes or {})
    path = write_description(folder / "d.yaml", description)
    return weir(command, path, *(["--json"] if command == "run" else []), cwd=folder, timeout_s=TIMEOUT_S), path.read_text()


def refused(folder, words, edges, nodes=None):
    """Refused by `weir check`, where the last edge or the last node stands."""
    done, text = rewired(folder, edges, nodes, command="check")
    assert done.code == USAGE, done.text
    needle = f'"{edges[-1]}"' if edges else f'"{list(nodes)[-1]}"'
    line = text[:text.index(needle)].count("\n") + 1
    assert any(re.search(rf"d\.yaml:{line}:\d+: ", said) and all(word in said for word in words)
               for said in done.stderr.splitlines()), done.text


def redirect(folder, source, edge, target):
    """Whether one redirection is accepted; then the run's sums must add up."""
    folder.mkdir()
    done, _ = rewired(folder, [f"{source}.{edge} -> {target}"])
    if done.code == USAGE:
        assert all(error["line"] > 1 and error["column"] > 1 for error in done.json()["errors"]), done.text
        return False
    assert done.code == OK, done.text
    network.assert_report_adds_up(done.json())
    return True


@pytest.mark.parametrize("source", EDGES)
def test_every_redirection(tmp_path, source):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        tried = [pool.submit(redirect, tmp_path / f"{edge}-{target}", source, edge, target)
                 for edge in EDGES[source] for target in NODES]
    accepted = [trial.result() for trial in tried]
    assert sum(accepted) >= 4 and not all(accepted)


@pytest.mark.parametrize("edge, words", [
    ("in.classify -> ip4_rewrite", ["next hop", "ip4_lookup.ip4_rewrite", "classify"]),
    ("classify.ip4_l -> ip4_rewrite", ["next hop", "ip4_lookup"]),
    ("classify.ip4_l -> ip6_rewrite", ["next hop", "ip6_lookup"]),
    ("classify.ip4_l -> ip4_frag", ["length", "ip4_rewrite.ip4_frag"]),
    ("in.classify -> ip6_lookup", ["IPv6", "classify.ip6_lookup"]),
    ("classify.ip4_l -> nowhere", ["'nowhere'", "ip4_lookup", "null"]),
    ("classify.ip4 -> classify", ["for ever", "classify -> classify"]),
    ("ip4_rewrite.punt -> classify", ["for ever", "classify -> ip4_lookup -> ip4_rewrite"]),
])
def test_edges_refused(tmp_path, edge, words):
    refused(tmp_path, words, [edge])


def test_circles_of_own_nodes(tmp_path):
    refused(tmp_path, ["for ever", "again", "classify"], ["in.classify -> again", "again.drop -> classify",
                                                          "classify.punt -> again"], {"again": {"type": "classify"}})


def test_nodes_refused(tmp_path):
    refused(tmp_path, ["nothing leads", "'cl'"], [], {"cl": {"type": "classify"}})
    done, _ = rewired(tmp_path, [], {"cl": {"type": "nope"}}, command="check")
    assert done.code == USAGE and "expected one of: " in done.stderr and "ip4_rewrite" in done.stderr


@pytest.mark.parametrize("version", [4, 6])
def test_a_port_for_another(tmp_path, version):
    """What one port sent is sent by another, and nothing is lost."""
    capture = CAPTURES["sctp" if version == 4 else "ipv6-mix"]
    first = "north" if version == 4 else "south"
    plain = rewired(tmp_path, [], capture=capture)[0].json()
    north = pcapfile.read(tmp_path / f"{first}.pcap")
    chooser = [f"ip{version}_rewrite.{first} -> east"] + ([f"ip4_frag.{first} -> east"] if version == 4 else [])
    changed = rewired(tmp_path, chooser, capture=capture)[0].json()
    assert changed["packets"] == plain["packets"] and plain["packets"]["out"] > 0
    assert north and {r.data for r in north} <= {r.data for r in pcapfile.read(tmp_path / "east.pcap")}


def test_a_port_to_an_own_node(tmp_path):
    done, _ = rewired(tmp_path, ["ip4_rewrite.north -> sink", "ip4_frag.north -> sink"], {"sink": {"type": "null"}})
    packets = done.json()["packets"]
    assert packets["discarded"] > 0 and packets["dropped"] == 0
