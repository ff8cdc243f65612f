# SPDX-License-Identifier: BSD-3-Clause
"""Instances that keep running until they are told to stop."""
import contextlib
import itertools
import json
import os
import pathlib
import socket

import packets
import pcapfile
from networks import laboratory
from program import OK, Instance, weir, write_description

_numbers = itertools.count()
FOREVER = 4_000_000_000  # repetitions of a capture


def unique_name():
    return f"e2e-{os.getpid()}-{next(_numbers)}"


def control_socket(name):
    """Where an instance listens."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = "/run/weir" if os.geteuid() == 0 else f"{runtime}/weir" if runtime.startswith("/") else f"/tmp/weir-{os.geteuid()}"
    return pathlib.Path(folder) / f"{name}.sock"


def ask_socket(name, command, **arguments):
    """One answer of the control socket."""
    with socket.socket(socket.AF_UNIX) as client, client.makefile("rw") as lines:
        client.connect(str(control_socket(name)))
        lines.write(json.dumps({"command": command, "args": arguments}) + "\n")
        lines.flush()
        return json.loads(lines.readline())


def stats(name):
    """The report of a running instance, or None while there is none."""
    done = weir("stats", "--instance", name, "--json")
    return done.json() if done.code == OK else None


def start(network, name, *options, prefix=(), **run):
    """Run a network as instance `name`."""
    description = network.description()
    description["run"].update(run)
    path = write_description(network.folder / f"{name}.yaml", description)
    return Instance("run", path, "--name", name, "--json", *options, cwd=network.folder, prefix=prefix)


@contextlib.contextmanager
def without_end(folder, description, way="in", least=1):
    """The name and the instance of a network of test_events that repeats its captures for ever, once more than so many packets went this way."""
    description["platform"]["ports"]["north"] = {"pcap_out": "/dev/null"}
    name = unique_name()
    path = write_description(folder / "forever.yaml", description)
    with Instance("run", path, "--name", name, "--json", cwd=folder) as instance:
        instance.until(lambda: (stats(name) or {"packets": {way: -1}})["packets"][way] > least, "packets")
        yield name, instance


def wait_for_packets(instance, name, least=1):
    """Until so many have come in; the report that says so."""
    def report():
        now = stats(name)
        return now if now and now["packets"]["in"] >= least else None
    return instance.until(report, f"{least} packets")


def endless(folder, frames, files=False, **keys):
    """A laboratory whose input does not end; outputs go nowhere, or to files."""
    path = pcapfile.write(folder / "in.pcap", pcapfile.numbered(frames))
    network = laboratory(folder, {"in": (path, {"repeat": FOREVER})}, **keys)
    if not files:
        network.outputs = {name: {**keys, "pcap_out": "/dev/null"} for name, keys in network.outputs.items()}
        network.run_keys = {"punt_pcap": "/dev/null", **network.run_keys}
    return network


def mixture():
    """A little of everything, good and bad."""
    return [frame for name, frame, missing in packets.cases() if not missing][::9]


def edges_of_dot(text):
    """Counts on the edges of a graph, as {(from, to): count}, and objects of its nodes."""
    nodes, edges = {}, {}
    for line in text.splitlines():
        line = line.strip()
        if not line.startswith('"'):
            continue
        names, _, attributes = line.partition("[")
        label = json.loads(attributes[attributes.index("label=") + 6:].rsplit('"', 1)[0].split('", ')[0] + '"') \
            if "label=" in attributes else ""
        names = [name.strip().strip('"') for name in names.split("->")]
        if len(names) == 2:
            edges[tuple(names)] = int(label.replace(",", "") or 0)
        else:
            nodes[names[0]] = label
    return nodes, edges
