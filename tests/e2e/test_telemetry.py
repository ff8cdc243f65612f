# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's telemetry shows the graphs of a running instance: by the stock client, and by its protocol."""
import json
import os
import shutil
import socket
import subprocess
import time

import pytest

from program import TIMEOUT_S
from running import endless, edges_of_dot, mixture, start, stats, unique_name, wait_for_packets

pytestmark = pytest.mark.xdist_group("telemetry")  # one instance for all

FOLDERS = ["/var/run/dpdk", "/run/user"]


class Client:
    """Speaks the protocol of DPDK's telemetry, version 2: a message asks, a message answers."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(path)
        self.info = json.loads(self.socket.recv(1024))

    def ask(self, question):
        self.socket.send(question.encode())
        answer = json.loads(self.socket.recv(self.info["max_output_len"] + 1))
        (key, value), = answer.items()
        assert key == question.split(",")[0]
        return value

    def close(self):
        self.socket.close()


@pytest.fixture(scope="module")
def name(tmp_path_factory):
    folder, name = tmp_path_factory.mktemp("telemetry"), unique_name()
    network = endless(folder, mixture())
    network.inputs["second"] = network.inputs["in"]
    network.platform = {"workers": [{"receive": ["in"]}, {"receive": ["second"]}]}
    with start(network, name) as instance:
        wait_for_packets(instance, name)
        yield name
        assert instance.stop().code == 0


@pytest.fixture(scope="module")
def client(name):
    # Not rglob: it fails when a folder of another instance goes away meanwhile.
    found = [f"{folder}/dpdk_telemetry.v2" for top in FOLDERS for folder, _, files in os.walk(top)
             if name in folder and "dpdk_telemetry.v2" in files]
    assert found, "no telemetry socket"
    client = Client(found[0])
    yield client
    client.close()


def graphs(client):
    """Names of all graphs. (Telemetry's keys cannot hold every sign, so a key is not the name.)"""
    return [graph["name"] for graph in client.ask("/weir/graph/list").values()]


def test_list_of_graphs(client):
    assert len(set(graphs(client))) == 2


def test_stats_of_a_graph(client):
    for graph in graphs(client):
        first = client.ask(f"/weir/graph/stats,{graph}")["nodes"]
        assert {"classify", "ip4_lookup", "ip6_rewrite", "punt", "drop"} <= set(first)
        assert any(node.startswith("pcap_rx") for node in first)
        end = time.monotonic() + TIMEOUT_S  # its worker may not have a CPU just now
        while client.ask(f"/weir/graph/stats,{graph}")["nodes"]["classify"]["objs"] == first["classify"]["objs"]:
            assert time.monotonic() < end, "nothing is counted"
        assert client.ask(f"/weir/graph/stats,{graph}")["nodes"]["classify"]["objs"] > first["classify"]["objs"] > 0


def test_a_graph_as_it_is_shown(client):
    """The keys of the list, which telemetry spells with other signs, can be asked for as well."""
    shown = client.ask("/weir/graph/list")
    assert any(key != graph["name"] for key, graph in shown.items())
    for key, graph in shown.items():
        by_key, by_name = (client.ask(f"/weir/graph/stats,{name}") for name in (key, graph["name"]))
        assert by_key["graphs"] == by_name["graphs"] == 1
        assert set(by_key["nodes"]) == set(by_name["nodes"])
        assert f'"{graph["name"]}"' in client.ask(f"/weir/graph/dot,{key}")


def test_stats_agree_with_the_report(client, name):
    """What the graphs' classify nodes have seen lies between two looks at the report."""
    before = stats(name)["packets"]["in"]
    seen = sum(client.ask(f"/weir/graph/stats,{graph}")["nodes"]["classify"]["objs"] for graph in graphs(client))
    assert before <= seen <= stats(name)["packets"]["in"]


@pytest.mark.exclusive
def test_rates_are_of_the_time_that_they_are_of(client, name):
    """Packets per second of all graphs as telemetry has them, at the first look (0: too soon to tell) and at the
    next, beside those counted over about the same while here: a machine that does other things meanwhile lets the
    two differ, but not each time."""
    def rate():
        return float(client.ask("/weir/graph/stats,*")["nodes"]["classify"]["objs_per_sec"])
    first, most, agreed = rate(), 0, False
    for _ in range(20):
        before = stats(name)
        time.sleep(0.3)
        now, after = rate(), stats(name)
        counted = (after["packets"]["in"] - before["packets"]["in"]) / (after["elapsed_s"] - before["elapsed_s"])
        most, agreed = max(most, counted), counted / 4 < now < counted * 4
        if agreed:
            break
    assert agreed, (now, counted)
    assert 0 <= first < most * 4, "since the start, which was slow"


def test_dot_of_a_graph(client):
    """Whole, with counts on its edges."""
    for graph in graphs(client):
        text = client.ask(f"/weir/graph/dot,{graph}")
        assert text.startswith("digraph") and text.rstrip().endswith("}")
        nodes, edges = edges_of_dot(text)
        assert "ip4_lookup" in nodes and edges["classify", "ip4_lookup"] > 0


@pytest.mark.parametrize("question", ["/weir/graph/stats,nothing", "/weir/graph/stats", "/weir/graph/dot,nothing",
                                      "/weir/graph/dot", "/weir/graph/stats," + "x" * 900, "/weir/nothing",
                                      "/weir/graph/list,unasked"])
def test_odd_questions(client, question):
    """They are answered with something, and the next good one still is."""
    client.ask(question)
    assert len(graphs(client)) == 2


def test_nothing_can_be_changed(client):
    """Telemetry is a mirror: commands that change something are not offered."""
    commands = client.ask("/")
    assert "/weir/graph/stats" in commands
    assert not [c for c in commands if c.startswith("/weir/") and any(w in c for w in ("add", "delete", "stop"))]


def test_stock_client(name, client):
    tool = shutil.which("dpdk-telemetry.py") or shutil.which("dpdk-telemetry.py", path="/usr/bin:/usr/local/bin")
    if not tool:
        pytest.skip("dpdk-telemetry.py is not installed")
    graph = graphs(client)[0]
    questions = f"/weir/graph/list\n/weir/graph/stats,{graph}\n/weir/graph/dot,{graph}\nquit\n"
    done = subprocess.run(["/usr/bin/python3", tool, "-f", f"weir-{name}"], input=questions, capture_output=True,
                          text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    assert f'"{graph}"' in done.stdout and "ip4_rewrite" in done.stdout and "digraph" in done.stdout
