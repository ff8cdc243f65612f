# SPDX-License-Identifier: BSD-3-Clause
"""What weir sim does with each key of a file: it uses it, refuses it, or tells that it leaves it aside."""
import copy
import json

import pytest

from program import OK, ROOT, USAGE, weir

OBJECTS = {
    "traffic": {"streams": {
        "calls": {"to": "work", "arrivals": "deterministic", "rate": "900kpps", "size": "200B", "flows": 12, "popularity": "zipf",
                  "skew": 1.5, "attributes": {"class": {"weights": [3, 1]}}, "start": "7us", "stop": "900us"},
        "bursts": {"to": "work", "rate": "3Mpps", "sizes": "uniform", "size": "80B", "size_max": "160B", "on": "9us", "off": "30us",
                   "phases": "constant", "count": 500}}},
    "application": {
        "queues": {"work": {"type": "ordered", "flows": 8, "priority": 2, "capacity": 40, "group": "io", "discipline": "lcfs"},
                   "parts": {"type": "parallel", "group": "io"}, "late": {"type": "ordered", "group": "io", "capacity": 20}},
        "objects": {
            "serve": {"queues": ["work"], "to": "late", "steps": [
                {"cpu": "300cycles", "distribution": "lognormal", "sigma": 0.3, "per_byte": "0.6cycles/B"},
                {"use": "crypto", "deschedule": True, "when": "class == 1"},
                {"memory": "ram", "accesses": 3, "times": "class"}, {"memory": "ram", "bytes": "64B"},
                {"fork": "parts", "count": 2, "probability": 0.2}, {"join": True}, {"drop": "policed", "probability": 0.05}]},
            "part": {"queues": ["parts"], "steps": [{"cpu": "200cycles"}]},
            "end": {"queues": ["late"], "steps": [{"set": "path", "weights": [1, 2]}, {"jump": "last", "when": "path == 0"},
                                                  {"cpu": "90cycles"}, {"label": "last", "cpu": "9cycles"},
                                                  {"output": True, "through": "line"}]}}},
    "platform": {
        "cores": {"fast": {"count": 2, "clock": "1.5GHz", "groups": ["io"]}},
        "units": {"crypto": {"servers": 2, "delay": "6us", "distribution": "exponential", "discipline": "lcfs"},
                  "line": {"bandwidth": "2Gb/s", "delay": "40ns", "capacity": 5, "outlier": "9us", "outliers": 0.03}},
        "memories": {"ram": {"header": "64B", "write_back": "always", "levels": {
            "cache": {"capacity": "256B", "latency": "60ns", "contention": 0.5}, "dram": {"latency": "90ns", "bandwidth": "9Gb/s"}}}},
        "dispatch": {"latency": "30ns", "interval": "50ns"}},
    "run": {"simulation": {"duration": "1ms", "warmup": "50us", "replications": 2, "seed": 5, "confidence": 0.9}},
}

COSTS = {
    "application": {"queues": {"q": {"type": "ordered", "flows": 3}},
                    "nodes": {"to_q": {"type": "sched_tx", "queue": "q"}, "of_q": {"type": "sched_rx", "queues": ["q"]}},
                    "edges": ["classify.ip6 -> to_q", "of_q.q -> north"],
                    "neighbours": [{"id": 0, "port": "north", "mac": "02:10:00:00:00:01"}],
                    "routes": [{"prefix": "0.0.0.0/0", "next_hop": 0}]},
    "platform": {"scheduler": {"events": 128, "reserved": 118},
                 "ports": {"uplink": {"device": "net_null0", "rx_ring": 32, "rx_burst": 16},
                           "north": {"device": "net_null1", "tx_ring": 32, "bandwidth": "1Gb/s", "overhead": "24B"}},
                 "workers": [{"receive": ["uplink.0"], "lcore": 0}, {"receive": ["uplink.1"], "cores": "slow"}],
                 "cores": {"fast": {"clock": "2GHz"}, "slow": {"clock": "1GHz"}}, "burst": 8, "mbufs": {"count": 4096},
                 "costs": {"walk": "50cycles", "poll": "20cycles", "dispatch": "30cycles", "nodes": {
                     "ethdev_rx": {"vector": "60cycles", "packet": "20cycles"},
                     "classify": {"packet": "30cycles", "next": {"ip4": 3, "ip6": 1}},
                     "ip4_lookup": {"packet": "25cycles"}, "ip4_rewrite": {"packet": "18cycles", "next": {"north": 1}},
                     "sched_tx": {"packet": "9cycles"}, "sched_rx": {"packet": "9cycles"},
                     "ethdev_tx": {"packet": "20cycles", "per_byte": "0.05cycles/B"}, "drop": {"packet": "10cycles"}}}},
    "traffic": {"streams": {"users": {"to": "uplink", "rate": "30Mpps", "flows": 99, "size": "90B"}}},
    "run": {"until": "input_end", "simulation": {"duration": "1ms"}},
}


def leaves(value, path=()):
    """Paths of all keys that hold no map, and of the items of lists of maps."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, path + (key,))]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [leaf for i, item in enumerate(value) for leaf in leaves(item, path + (i,))]
    return [path]


def without(model, path):
    model = copy.deepcopy(model)
    at = model
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return model


def told(tmp_path, model):
    """All that a run tells; None: it was refused."""
    path = tmp_path / "model.yaml"
    path.write_text(json.dumps(model, indent=1))
    done = weir("sim", path, "--json")
    if done.code == USAGE:
        assert done.stderr == "" and done.json()["errors"]
        return None
    assert done.code == OK, done.text
    report = done.json()
    return {key: value for key, value in report.items() if key not in ("seconds", "events_per_second")}


def names_of(left_aside):
    return {entry["key"] for entry in left_aside}


@pytest.mark.parametrize("model", [OBJECTS, COSTS], ids=["objects", "graph"])
def test_each_key_is_used_or_told(tmp_path, model):
    """Without a key the run is another one, or there is none; but for those that are told, without which it is the same."""
    whole = told(tmp_path, model)
    assert whole is not None
    for path in leaves(model):
        rest = told(tmp_path, without(model, path))
        key = ".".join(map(str, path))
        if any(key == name or key.startswith(f"{name}.") for name in names_of(whole["left_aside"])):
            assert rest is None or {**rest, "left_aside": 0} == {**whole, "left_aside": 0}, key
        else:
            assert rest is None or {**rest, "left_aside": 0} != {**whole, "left_aside": 0}, key


def test_left_aside_is_told_with_its_place(tmp_path):
    """In the table, in JSON, and beside CSV; nothing is told where all is used."""
    path = tmp_path / "graph.yaml"
    path.write_text((ROOT / "examples/graph.yaml").read_text().replace("data/", f"{ROOT}/examples/data/"))
    entries = weir("sim", path, "--json", "--replications", "1").json()["left_aside"]
    assert names_of(entries) == {"application.graph", "application.neighbours", "application.routes", "platform.ports.uplink.accept", "run.until"}
    lines = path.read_text().splitlines()
    for entry in entries:
        assert entry["file"] == str(path)
        key = entry["key"].split(".")[-1]
        assert lines[entry["line"] - 1][:entry["column"] - 1].rstrip().endswith(f"{key}:") or \
            lines[entry["line"] - 1][entry["column"] - 1:].startswith(f"{key}:")
    table = weir("sim", path, "--replications", "1").stdout
    row = next(entry for entry in entries if entry["key"] == "run.until")
    assert f"\n    run.until ({path}:{row['line']}:{row['column']})\n" in table
    csv = weir("sim", path, "--csv", "--replications", "1")
    assert "left aside" not in csv.stdout and f"run.until ({path}:" in csv.stderr
    for example in sorted((ROOT / "examples/sim").glob("*.yaml")):
        assert weir("sim", example, "--json", "--replications", "1").json()["left_aside"] == [], example


def test_left_aside_in_parts_is_told_once(tmp_path):
    path = tmp_path / "parts.yaml"
    path.write_text("""\
models:
  blade:
    application:
      queues: {work: {}}
      objects: {serve: {queues: [work], steps: [{cpu: 1kcycles}], argument: 7}}
    platform: {cores: {cpu: {clock: 1GHz}}}
instances: {blade: {count: 3}}
traffic: {streams: {s: {to: blade.0.work, rate: 1kpps}, t: {to: blade.1.work, rate: 1kpps}, u: {to: blade.2.work, rate: 1kpps}}}
run: {simulation: {duration: 1ms}}
""")
    [entry] = weir("sim", path, "--json").json()["left_aside"]
    assert entry["key"] == "application.objects.blade.0.serve.argument" and (entry["line"], entry["column"]) == (5, 77)
