# SPDX-License-Identifier: BSD-3-Clause
"""A forwarder said once: for the program as a description file, for the reference as its objects."""
import collections

import pcapfile
import reference
from program import OK, weir, write_description


class Network:
    """Input files by port name, output ports, neighbours and routes."""

    def __init__(self, folder, inputs, outputs, neighbours, routes, addresses=(), platform=None, run=None, table=None):
        self.folder = folder
        self.inputs = inputs        # name: (path, {keys of the port})
        self.outputs = outputs      # name: {keys of the port}
        self.neighbours = neighbours
        self.routes = routes        # as in a description file
        self.addresses = list(addresses)
        self.platform = platform or {}
        self.run_keys = run or {}
        self.table = table          # the routes as reference.Routes, when they were read before

    def description(self):
        ports = {name: {"pcap_in": str(path), **keys} for name, (path, keys) in self.inputs.items()}
        ports.update({name: {"pcap_out": f"{name}.pcap", **keys} for name, keys in self.outputs.items()})
        for keys in ports.values():
            if "mtu" in keys:
                keys["mtu"] = f"{keys['mtu']}B"
        application = {"neighbours": self.neighbours, "routes": self.routes}
        if self.addresses:
            application["addresses"] = self.addresses
        return {"application": application, "platform": {"ports": ports, **self.platform},
                "run": {"punt_pcap": "punt.pcap", **self.run_keys}}

    def forwarder(self):
        ports = {}
        for number, (name, keys) in enumerate({**{n: k for n, (_, k) in self.inputs.items()}, **self.outputs}.items()):
            mac = reference.mac_bytes(keys["mac"]) if "mac" in keys else bytes([2, 0, 0, 0, 0, number])
            ports[name] = reference.Port(name, mac, keys.get("mtu", 1500), keys.get("vlan", 0),
                                         keys.get("accept") == "any")
        hops = {}
        for neighbour in self.neighbours:
            first, _, last = str(neighbour["id"]).partition("-")
            if neighbour.get("blackhole") or neighbour.get("local"):
                hop = reference.Hop("blackhole" if neighbour.get("blackhole") else "local")
            elif "mac" in neighbour:
                hop = reference.Hop("forward", ports[neighbour["port"]], reference.mac_bytes(neighbour["mac"]))
            else:
                hop = reference.Hop("incomplete", ports[neighbour["port"]])
            hops.update({number: hop for number in range(int(first), int(last or first) + 1)})
        hops["own"] = reference.Hop("local")
        table = self.table or reference.Routes()
        for route in self.routes if self.table is None else ():
            if "file" in route:
                table.read(route["file"], route.get("first_next_hop", 0))
            else:
                table.add(route["prefix"], route["next_hop"])
        for text in self.addresses:
            table.add(text + ("/128" if ":" in text else "/32"), "own")
        return reference.Forwarder(ports.values(), hops, table)

    def run(self, *options, expect=OK):
        description = write_description(self.folder / "description.yaml", self.description())
        done = weir("run", description, "--json", *options, cwd=self.folder)
        assert done.code == expect, done.text
        return done


class Expected:
    """What the reference makes of the inputs: per output port and path the records of each input, in order."""

    def __init__(self, network, inputs=None):
        self.forwarder = network.forwarder()
        self.sent = collections.defaultdict(lambda: collections.defaultdict(list))
        self.punted = collections.Counter()
        for name, (path, keys) in network.inputs.items():
            records = inputs[name] if inputs else pcapfile.read(path)
            for record in records * keys.get("repeat", 1):
                for outcome in self.forwarder.forward(name, record):
                    if isinstance(outcome, reference.Sent):
                        self.sent[outcome.port][name, outcome.path].append(outcome.record)
                    elif outcome.reason in reference.PUNTED:
                        self.punted[outcome.record] += 1

    @property
    def totals(self):
        return self.forwarder.totals


def describe(record):
    return f"{record.time_ns} {record.wire} bytes: {record.data[:80].hex()}"


def assert_same_records(actual, expected, what):
    """Byte for byte, in any order; tells the first differences."""
    missing, surplus = collections.Counter(expected), collections.Counter(actual)
    missing, surplus = missing - surplus, surplus - missing
    assert not missing and not surplus, "\n".join(
        [f"{what}: {sum(missing.values())} records are missing, {sum(surplus.values())} should not be there"] +
        [f"  missing {describe(r)}" for r in sorted(missing)[:5]] +
        [f"  surplus {describe(r)}" for r in sorted(surplus)[:5]])


def assert_order_kept(actual, sequences, what):
    """Packets that came in on one port and took the same path leave in the order they came in."""
    home = collections.defaultdict(set)
    for key, sequence in sequences.items():
        for record in sequence:
            home[record].add(key)
    arrived = collections.defaultdict(list)
    for record in actual:
        if len(home[record]) == 1:
            arrived[next(iter(home[record]))].append(record)
    for key, sequence in sequences.items():
        assert arrived[key] == [r for r in sequence if len(home[r]) == 1], f"{what}: order of {key} changed"


def counts(reasons):
    return {reason["reason"]: reason["packets"] for reason in reasons}


def assert_report_adds_up(report):
    packets = report["packets"]
    assert packets["in"] + packets["fragments"] - packets["fragmented"] == \
        packets["out"] + packets["dropped"] + packets["punted"] + packets["discarded"] + \
        packets.get("taken", 0) + packets.get("queued", 0) + packets["links"], packets
    assert packets["adds_up"] is True and packets["difference"] == 0
    assert sum(counts(report["dropped"]).values()) == packets["dropped"], report["dropped"]
    assert sum(counts(report["punted"]).values()) == packets["punted"], report["punted"]
    assert sum(p["rx_packets"] for p in report["ports"]) == packets["in"]
    assert sum(p["tx_packets"] for p in report["ports"]) == packets["out"]


def assert_totals(report, totals):
    packets = report["packets"]
    assert {**counts(report["dropped"]), **counts(report["punted"])} == dict(totals.reasons)
    assert (packets["in"], packets["out"], packets["dropped"], packets["punted"]) == \
        (totals.received, totals.sent, totals.dropped, totals.punted)
    assert (packets["fragmented"], packets["fragments"], packets["discarded"]) == \
        (totals.fragmented, totals.fragments, 0)


def assert_forwarded(network, report, expected):
    """Files and counters are what the reference computes."""
    for name in network.outputs:
        actual = pcapfile.read(network.folder / f"{name}.pcap")
        sequences = expected.sent[name]
        assert_same_records(actual, [r for s in sequences.values() for r in s], f"port {name}")
        assert_order_kept(actual, sequences, f"port {name}")
    assert_same_records(pcapfile.read(network.folder / "punt.pcap"), expected.punted.elements(), "punted")
    assert_totals(report, expected.totals)
    assert_report_adds_up(report)


def check(network, *options, inputs=None):
    """Run it, and compare everything with the reference. Returns the report."""
    expected = Expected(network, inputs)
    report = network.run(*options).json()
    assert_forwarded(network, report, expected)
    return report
