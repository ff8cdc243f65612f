# SPDX-License-Identifier: BSD-3-Clause
"""check, graph, schema, help, version; the picture that a run draws; wrong use."""
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

import network
import pcapfile
from networks import CAPTURES, VARIED, captures
from program import FAILED, OK, ROOT, USAGE, WEIR, weir, write_description
from running import edges_of_dot


@pytest.fixture
def description(tmp_path):
    inputs = {"in": CAPTURES["sctp"], "in6": CAPTURES["ipv6-mix"]}
    net = captures(tmp_path, inputs, platform={"workers": [{"receive": ["in"]}, {"receive": ["in6"]}]})
    return write_description(tmp_path / "two.yaml", net.description())


def test_check_writes_nothing(tmp_path, description):
    before = sorted(tmp_path.rglob("*"))
    done = weir("check", description, cwd=tmp_path)
    assert done.code == OK and "two.yaml" in done.stdout
    assert sorted(tmp_path.rglob("*")) == before


def test_check_as_json(tmp_path, description):
    assert weir("check", description, "--json", cwd=tmp_path).json()["ok"] is True


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_are_good(path):
    done = weir("check", path)
    assert done.code == OK, done.text


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.stem)
def test_graphs_of_examples(path):
    done = weir("graph", path)
    assert done.code == OK and done.stdout.startswith("digraph"), done.text
    assert done.stderr == ""


def test_graph(tmp_path, description):
    """DOT that Graphviz reads, with the nodes of both workers in one picture; nothing is written."""
    before = sorted(tmp_path.rglob("*"))
    done = weir("graph", description, cwd=tmp_path)
    assert done.code == OK, done.text
    assert done.stdout.count("digraph") == 1
    for node in ("classify", "ip4_lookup", "ip6_rewrite", "ip4_frag", "punt", "drop"):
        assert f'"{node}"' in done.stdout
    assert sorted(tmp_path.rglob("*")) == before
    drawn = subprocess.run([shutil.which("dot"), "-Tsvg"], input=done.stdout, capture_output=True, text=True, timeout=60)
    assert drawn.returncode == 0, drawn.stderr


def test_graph_where_nothing_can_be_written(tmp_path, description):
    """As of a file in a folder that is only to be read. Running it there is refused."""
    network = json.loads(description.read_text())
    network["run"]["graph_svg"] = f"{description}/picture.svg"
    write_description(description, network)
    assert weir("graph", description, cwd=tmp_path).stdout.startswith("digraph")
    for command in ("check", "run"):
        done = weir(command, description, cwd=tmp_path)
        assert done.code == USAGE and "cannot write" in done.stderr, done.text


def test_graph_of_one_worker(tmp_path, description):
    done = weir("graph", description, "--worker", "1", cwd=tmp_path)
    assert done.code == OK and done.stdout.count("digraph") == 1
    assert weir("graph", description, "--worker", "2", cwd=tmp_path).code != OK


def test_graph_as_json(tmp_path, description):
    done = weir("graph", description, "--json", cwd=tmp_path)
    assert done.code == OK and "classify" in json.dumps(done.json())


def test_schema_is_json_schema():
    schema = weir("schema").json()
    assert "json-schema.org" in schema["$schema"]
    assert {"application", "platform", "run"} <= set(schema["properties"])
    assert schema.get("additionalProperties") is False


def test_schema_accepts_the_example():
    """When a validator is at hand."""
    validator = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    validator.validate(yaml.safe_load((ROOT / "examples/forward.yaml").read_text()), weir("schema").json())


def test_version():
    done = weir("version")
    assert done.code == OK and re.search(r"\d+\.\d+", done.stdout)
    assert "DPDK" in done.stdout


@pytest.mark.parametrize("command", ["run", "check", "graph", "stats", "route", "neighbour", "sim", "bench", "schema"])
def test_help(command):
    listed = weir("help")
    assert listed.code == OK and command in listed.stdout
    done = weir(command, "--help")
    assert done.code == OK and f"Usage: weir {command}" in done.stdout


@pytest.mark.parametrize("arguments", [
    [], ["fly"], ["run"], ["run", "a", "b"], ["run", "--fast", "a"], ["run", "a", "--duration"], ["check"],
    ["run", str(ROOT / "examples/forward.yaml"), "--duration", "soon"], ["stats", "x"], ["schema", "x"],
    ["run", str(ROOT / "examples/forward.yaml"), "--name", "../x"], ["run", "-j", "a"],
], ids=" ".join)
def test_wrong_use(tmp_path, arguments):
    done = weir(*arguments, cwd=tmp_path)
    assert done.code == USAGE and done.stderr and not done.stdout, done.text
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [
    ["stats", "x"], ["route", "fly"], ["check", "none.yaml"], ["graph", "none.yaml"], ["run", "none.yaml"],
    ["run", "none.yaml", "--duration", "soon"], ["stats", "--instance", "nosuch"],
    ["route", "list", "--instance", "nosuch"], ["neighbour", "list", "--instance", "nosuch"],
], ids=" ".join)
def test_failures_as_json(tmp_path, arguments):
    """Who asked for JSON gets one object, whatever goes wrong."""
    done = weir(*arguments, "--json", cwd=tmp_path)
    assert done.code in (FAILED, USAGE)
    answer = done.json()
    assert answer["ok"] is False and (answer.get("error") or answer["errors"][0]["message"]), done.text


def test_standard_output_that_is_full(tmp_path):
    """What could not be printed is a failure."""
    with open("/dev/full", "wb") as full:
        assert subprocess.run([WEIR, "schema"], stdout=full, stderr=subprocess.DEVNULL, timeout=30).returncode == 1


def test_quiet(tmp_path):
    net = captures(tmp_path, {"in": CAPTURES["sctp"]})
    done = weir("run", write_description(tmp_path / "d.yaml", net.description()), "--quiet", cwd=tmp_path)
    assert (done.code, done.stdout, done.stderr) == (OK, "", "")


def test_table(tmp_path):
    """What people see: the same numbers as in the report."""
    net = captures(tmp_path, {"in": CAPTURES["arp-web-mix"]}, VARIED)
    report = net.run().json()
    table = weir("run", tmp_path / "description.yaml", cwd=tmp_path).stdout
    for port in report["ports"]:
        label, key = ("in", "rx_packets") if port["receives"] else ("out", "tx_packets")
        assert re.search(rf"^ +{label} +{port['name']} +{port[key]:,} ", table, re.M), port
    for reason in report["dropped"] + report["punted"]:
        assert re.search(rf"{reason['reason']} +{reason['packets']:,} ", table), reason
    for node in report["nodes"]:
        assert re.search(rf"^ +{node['name']}(?: \w+)? +[\d,]+ +{node['packets']:,} ", table, re.M), node
    assert re.search(r"budget: 100 Gb/s of 64-byte frames +[\d.]+ +6\.72", table)
    packets = report["packets"]
    assert f"{packets['in']:,} in" in table and f"{packets['punted']:,} punted" in table


def test_counts_on_the_edges_of_the_picture(tmp_path):
    """What flows into a node on all its edges is what the node has seen; and the SVG shows the same numbers."""
    net = captures(tmp_path, {"in": CAPTURES["isp-mix-vlan"], "in6": CAPTURES["ipv6-mix"]}, VARIED,
                   run={"graph_dot": "pictures/graph.dot", "graph_svg": "pictures/graph.svg"})
    report = net.run().json()
    nodes, edges = edges_of_dot((tmp_path / "pictures/graph.dot").read_text())
    seen = {node["name"]: node["packets"] for node in report["nodes"]}
    assert set(nodes) == set(seen)
    for name, count in seen.items():
        if not name.startswith("pcap_rx"):
            assert sum(n for (_, to), n in edges.items() if to == name) == count, name
    assert edges["classify", "ip4_lookup"] > 3000 and edges["ip4_frag", "pcap_tx-2"] > 0
    svg = xml.etree.ElementTree.parse(tmp_path / "pictures/graph.svg")
    texts = {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {f"{count:,}" for count in edges.values() if count} <= texts
    assert any("classify" in text for text in texts)


def test_one_picture_of_several_workers(tmp_path):
    """What both have counted is added up on its edges."""
    net = captures(tmp_path, {"a": CAPTURES["sctp"], "b": CAPTURES["ipv6-mix"]}, 
                   run={"graph_svg": "g.svg", "graph_dot": "g.dot"},
                   platform={"workers": [{"receive": ["a"]}, {"receive": ["b"]}]})
    report = network.check(net)
    written = [name for name in report["written"] if name.endswith(".svg")]
    assert written == ["g.svg"]
    xml.etree.ElementTree.parse(tmp_path / "g.svg")
    nodes, edges = edges_of_dot((tmp_path / "g.dot").read_text())
    seen = {node["name"]: node["packets"] for node in report["nodes"]}
    assert set(nodes) == set(seen) and {"pcap_rx-0-0", "pcap_rx-1-0"} <= set(nodes)
    for name in set(seen) - {"pcap_rx-0-0", "pcap_rx-1-0"}:
        assert sum(n for (_, to), n in edges.items() if to == name) == seen[name], name


def test_without_graphviz(tmp_path):
    """No `dot`, no picture: that is told, the packets are forwarded all the same."""
    net = captures(tmp_path, {"in": CAPTURES["sctp"]}, run={"graph_svg": "g.svg"})
    path = write_description(tmp_path / "d.yaml", net.description())
    done = subprocess.run([WEIR, "run", path, "--json"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PATH": str(tmp_path)})
    report = json.loads(done.stdout)
    assert "dot" in done.stderr and done.returncode >= 0
    network.assert_forwarded(net, report, network.Expected(net))


def test_own_nodes_and_edges(tmp_path):
    """The description rewires the graph: IPv6 goes to a null node."""
    net = captures(tmp_path, {"in": CAPTURES["ipv6-mix"], "web": CAPTURES["arp-web-mix"]})
    description = net.description()
    description["application"].update(nodes={"hole": {"type": "null"}}, edges=["classify.ip6 -> hole"])
    done = weir("run", write_description(tmp_path / "d.yaml", description), "--json", cwd=tmp_path)
    assert done.code == OK, done.text
    report = done.json()
    network.assert_report_adds_up(report)
    counts = {node["name"]: node["packets"] for node in report["nodes"]}
    assert counts["null-hole"] == report["packets"]["discarded"] >= 100
    assert sum(len(pcapfile.read(tmp_path / f"{name}.pcap")) for name in net.outputs) == report["packets"]["out"] > 0
