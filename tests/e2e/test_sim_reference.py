# SPDX-License-Identifier: BSD-3-Clause
"""weir sim beside SimPy: small models, written for both apart, agree.

The difference of their means over 20 replications, of the same span and from an empty system on, must be within what chance explains in
99 of 100 cases (Welch); seeds are pinned. And that must be narrow enough to tell anything.
"""
import json
import math
import statistics
import subprocess

import pytest

from program import OK, ROOT, weir
from simpy_python import python_with

REPLICATIONS = 20
STUDENT = 2.861  # |T| is below it with probability 0.99, for 19 degrees of freedom: fewer than there are
NARROW = 0.25

ONE_QUEUE = """\
traffic: {{streams: {{s: {{to: q, rate: {rate}Mpps}}}}}}
application:
  queues: {{q: {{type: {type}{room}}}}}
  objects: {{o: {{queues: [q], steps: [{{cpu: 1000cycles, distribution: {service}}}]}}}}
platform: {{cores: {{c: {{count: {servers}, clock: 1GHz}}}}}}
"""


def one_queue(servers, rate, service="exponential", room="", kind="parallel"):
    return ONE_QUEUE.format(servers=servers, rate=rate, service=service, room=room, type=kind)


GRAPH = """\
traffic: {{streams: {{s: {{to: a, rate: {}Mpps}}, t: {{to: b, rate: {}Mpps}}}}}}
application: {{nodes: {{sink: {{type: "null"}}}}, edges: ["a.classify -> sink", "b.classify -> sink"]}}
platform:
  ports: {{a: {{device: one, rx_burst: 4, rx_ring: 32}}, b: {{device: two, rx_burst: 4, rx_ring: 32}}}}
  workers: [{{receive: [a, b]}}]
  burst: 4
  cores: {{c: {{clock: 1GHz}}}}
  costs:
    walk: 100cycles
    poll: 50cycles
    nodes: {{ethdev_rx: {{vector: 200cycles, packet: 200cycles}}, sink: {{vector: 150cycles, packet: 250cycles}}}}
"""


def graph(*rates):
    return GRAPH.format(*rates)


# What is spoken of is called the same in simpy_models.py. Span in microseconds.
MODELS = {
    "mm1": (2000, one_queue(1, 0.7)),
    "mm4": (1000, one_queue(4, 3.2)),
    "mm8": (500, one_queue(8, 6.4)),
    "mm32": (900, one_queue(32, 28)),
    "md1": (1000, one_queue(1, 0.7, service="constant")),
    "md4": (500, one_queue(4, 3.2, service="constant")),
    "mg1": (1500, one_queue(1, 0.7, service="uniform")),
    "erlang_b": (500, one_queue(4, 3.2, room=", capacity: 0")),
    "mm1k": (1500, one_queue(1, 0.9, room=", capacity: 4")),
    "ordered": (1200, one_queue(4, 2.8, kind="ordered")),
    "priorities": (1300, """\
traffic: {streams: {s: {to: q, rate: 1.2Mpps}, t: {to: r, rate: 2Mpps}}}
application:
  queues: {q: {type: parallel, priority: 0}, r: {type: parallel, priority: 1}}
  objects: {o: {queues: [q, r], steps: [{cpu: 1000cycles, distribution: uniform}]}}
platform: {cores: {c: {count: 4, clock: 1GHz}}}
"""),
    "preemptive": (1000, """\
traffic: {streams: {s: {to: q, rate: 0.6Mpps}, t: {to: r, rate: 0.8Mpps}}}
application:
  queues: {q: {type: parallel, priority: 0}, r: {type: parallel, priority: 1}}
  objects: {o: {queues: [q, r], steps: [{cpu: 1000cycles, distribution: exponential}]}}
platform: {cores: {c: {count: 2, clock: 1GHz}}, dispatch: {preemptive: true}}
"""),
    "graph": (3000, graph(0.6, 0.9)),
    "graph_overflows": (1000, graph(1.2, 1.1)),
    "network": (8000, """\
traffic: {streams: {s: {to: q, rate: 0.4Mpps}}}
application:
  queues: {q: {type: parallel, group: one}, r: {type: parallel, group: two}}
  objects:
    o: {queues: [q], steps: [{cpu: 1000cycles, distribution: exponential}, {send: r, probability: 0.25}]}
    p: {queues: [r], to: q, steps: [{cpu: 4000cycles, distribution: exponential}]}
platform: {cores: {c: {clock: 1GHz, groups: [one]}, d: {clock: 1GHz, groups: [two]}}}
"""),
    "polling": (2000, """\
traffic: {streams: {s: {to: q, rate: 0.2Mpps}, t: {to: r, rate: 0.2Mpps}, u: {to: w, rate: 0.2Mpps}}}
application:
  queues: {q: {type: parallel}, r: {type: parallel}, w: {type: parallel}}
  objects: {o: {queues: [q, r, w], steps: [{cpu: 1000cycles, distribution: exponential}]}}
platform: {cores: {c: {clock: 1GHz, polling: {switch: 100cycles}}}}
"""),
    "tandem": (1000, """\
traffic: {streams: {s: {to: q, rate: 1.3Mpps}}}
application:
  queues: {q: {type: parallel, group: first}, r: {type: parallel, group: second}}
  objects:
    o: {queues: [q], to: r, steps: [{cpu: 1000cycles, distribution: exponential}]}
    p: {queues: [r], steps: [{cpu: 600cycles, distribution: uniform}]}
platform: {cores: {c: {count: 2, clock: 1GHz, groups: [first]}, d: {clock: 1GHz, groups: [second]}}}
"""),
}

# A quantity there: the list and the quantity here, and what one there is here.
HERE = {"wait": ("queues", "wait_mean_ns", 1000), "latency": ("streams", "latency_mean_ns", 1000), "loss": ("streams", "loss", 1),
        "utilisation": ("cores", "utilisation", 1), "ring": ("rings", "wait_mean_ns", 1000),
        "full": ("rings", "loss", 1)}


def by_simpy(model, span_us):
    python = python_with("simpy")
    if python is None:
        pytest.skip("no Python with SimPy")
    done = subprocess.run([python, ROOT / "tests" / "e2e" / "simpy_models.py", model, str(REPLICATIONS), str(span_us)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=True)
    return json.loads(done.stdout)


def by_ours(path, model, span_us):
    path.write_text(f"{model}run: {{simulation: {{seed: 1, duration: {span_us}us, replications: {REPLICATIONS}}}}}\n")
    done = weir("sim", path, "--json")
    assert done.code == OK, done.text
    return done.json()


@pytest.mark.parametrize("name", MODELS)
def test_same_as_simpy(tmp_path, name):
    span_us, model = MODELS[name]
    theirs, ours = by_simpy(name, span_us), by_ours(tmp_path / "model.yaml", model, span_us)
    assert len(theirs) >= 3
    for quantity, values in theirs.items():
        what, thing = quantity.split()
        kind, metric, scale = HERE[what]
        [found] = [row[metric] for row in ours[kind] if row["name"] == thing]
        mean = statistics.mean(values) * scale
        half_width = STUDENT * math.hypot(statistics.stdev(values) * scale, found["sd"]) / math.sqrt(REPLICATIONS)
        assert abs(found["mean"] - mean) <= half_width, f"{quantity}: {found['mean']} here, {mean} +- {half_width} there"
        assert half_width <= NARROW * mean, f"{quantity}: {mean} +- {half_width} tells nothing"
