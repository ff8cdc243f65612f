# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's telemetry shows the graphs of a running instance: by the stock client, and by its protocol."""
import json
import pathlib
import shutil
import socket
import subprocess

import pytest

from running import endless, edges_of_dot, mixture, start, stats, unique_name, wait_for_packets

FOLDERS = [pathlib.Path("/var/run/dpdk"), pathlib.Path("/run/user")]


class Client:
    """Speaks the protocol of DPDK's telemetry, version 2: a message asks, a message answers."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(10)
        self.socket.connect(str(path))
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
    found = [path for folder in FOLDERS if folder.exists() for path in folder.rglob("dpdk_telemetry.v2")
             if name in path.parent.name]
    assert found, "no telemetry socket"
    client = Client(found[0])
    yield client
    client.close()


def test_list_of_graphs(client):
    graphs = client.ask("/weir/graph/list")
    assert isinstance(graphs, list) and len(graphs) == 2
    assert all(isinstance(graph, str) for graph in graphs)


def numbers(value):
    """All numbers of an answer, however it is nested."""
    if isinstance(value, dict):
        return [n for v in value.values() for n in numbers(v)]
    if isinstance(value, list):
        return [n for v in value for n in numbers(v)]
    return [value] if isinstance(value, int) else []


def test_stats_of_a_graph(client):
    for graph in client.ask("/weir/graph/list"):
        first = client.ask(f"/weir/graph/stats,{graph}")
        text = json.dumps(first)
        assert "classify" in text and "ip4_lookup" in text and "pcap_rx" in text
        second = client.ask(f"/weir/graph/stats,{graph}")
        assert sum(numbers(second)) > sum(numbers(first)), "nothing is counted"


def test_stats_agree_with_the_report(client, name):
    """What a graph's classify node has seen lies between two looks at the report."""
    before = stats(name)["packets"]["in"]
    seen = 0
    for graph in client.ask("/weir/graph/list"):
        answer = client.ask(f"/weir/graph/stats,{graph}")
        nodes = answer.get("nodes", answer)
        classify = nodes["classify"]
        seen += classify.get("objs", classify.get("packets")) if isinstance(classify, dict) else classify
    after = stats(name)["packets"]["in"]
    assert before <= seen <= after


def test_dot_of_a_graph(client):
    for graph in client.ask("/weir/graph/list"):
        answer = client.ask(f"/weir/graph/dot,{graph}")
        text = json.dumps(answer)
        assert "digraph" in text and "classify" in text and "->" in text


def test_dot_is_whole_or_says_that_it_was_cut(client):
    answer = client.ask("/weir/graph/dot," + client.ask("/weir/graph/list")[0])
    lines = answer if isinstance(answer, list) else answer.get("dot", answer)
    text = "\n".join(lines) if isinstance(lines, list) else lines if isinstance(lines, str) else json.dumps(lines)
    if "weir_cut" in json.dumps(answer):
        assert numbers(answer["weir_cut"])[0] > 0
    else:
        assert text.rstrip().endswith("}")
        assert ("classify", "ip4_lookup") in edges_of_dot(text)[1]


@pytest.mark.parametrize("question", ["/weir/graph/stats,nothing", "/weir/graph/stats", "/weir/graph/dot,nothing",
                                      "/weir/graph/dot", "/weir/graph/stats," + "x" * 900, "/weir/nothing",
                                      "/weir/graph/list,unasked"])
def test_odd_questions(client, question):
    """They are answered with something, and the next good one still is."""
    client.ask(question)
    assert len(client.ask("/weir/graph/list")) == 2


def test_nothing_can_be_changed(client):
    """Telemetry is a mirror: commands that change something are not offered."""
    commands = client.ask("/")
    assert "/weir/graph/stats" in commands
    assert not [c for c in commands if c.startswith("/weir/") and any(w in c for w in ("add", "delete", "stop"))]


def test_stock_client(name, client):
    tool = shutil.which("dpdk-telemetry.py") or shutil.which("dpdk-telemetry.py", path="/usr/bin:/usr/local/bin")
    if not tool:
        pytest.skip("dpdk-telemetry.py is not installed")
    graph = client.ask("/weir/graph/list")[0]
    questions = f"/weir/graph/list\n/weir/graph/stats,{graph}\n/weir/graph/dot,{graph}\nquit\n"
    done = subprocess.run(["/usr/bin/python3", tool, "-f", f"weir-{name}"], input=questions, capture_output=True,
                          text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert f'"{graph}"' in done.stdout and "ip4_rewrite" in done.stdout and "digraph" in done.stdout
