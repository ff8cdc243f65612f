# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's software devices: a cable of shared memory between two programs, one that ends in itself, one that ends in
nothing."""
import collections
import contextlib
import random

import pytest
from scapy.layers.inet import UDP

import packets
import pcapfile
import reference
from network import assert_report_adds_up, counts
from program import OK, USAGE, Instance, weir, write_description
from running import stats, unique_name

OUTSIDE = "02:ee:00:00:00:01"


def frames(net, sizes=range(0, 1400, 7)):
    """Both versions, to hosts of a network, of many sizes; every one another one."""
    chance = random.Random(net)
    return [bytes(packets.ether() / (packets.ip6(dst=f"2001:db8:{net}::{size + 1:x}") if size % 3 == 0 else
                                     packets.ip4(dst=f"10.{net}.{size >> 8}.{size & 255}", flags=0, ttl=20)) / UDP() /
                  chance.randbytes(size)) for size in sizes]


class Router:
    """Forwards a capture to its cable, and what comes from there to a file. Networks are called by their routers."""

    def __init__(self, folder, number, peer, device, cable_mtu=1500):
        self.name, self.number, self.mtu = unique_name(), number, cable_mtu
        self.mac, self.peer_mac = (f"02:00:00:00:0{n}:01" for n in (number, peer))
        self.routes = [(prefix.format(net), net) for net in (number, peer)
                       for prefix in ("10.{}.0.0/16", "2001:db8:{}::/48")]
        self.peer, self.folder = peer, folder
        self.records = pcapfile.numbered(frames(peer))
        pcapfile.write(folder / f"in{number}.pcap", self.records)
        self.path = write_description(folder / f"{self.name}.yaml", {
            "application": {
                "neighbours": [{"id": str(peer), "port": "cable", "mac": self.peer_mac},
                               {"id": str(number), "port": "out", "mac": OUTSIDE}],
                "routes": [{"prefix": prefix, "next_hop": hop} for prefix, hop in self.routes]},
            "platform": {"ports": {
                "cable": {"device": device, "mac": self.mac, "mtu": f"{cable_mtu}B", "on_full": "wait"},
                "in": {"pcap_in": f"in{number}.pcap", "accept": "any"},
                "out": {"pcap_out": f"out{number}.pcap"}}, "idle": "sleep"},
            "run": {"until": "signal"}})

    def start(self):
        return Instance("run", self.path, "--name", self.name, "--json", cwd=self.folder)

    def forwarder(self):
        """What it does, for the reference."""
        cable = reference.Port("cable", reference.mac_bytes(self.mac), self.mtu)
        out = reference.Port("out", bytes([2, 0, 0, 0, 0, 2]))
        table = reference.Routes()
        for prefix, hop in self.routes:
            table.add(prefix, hop)
        hops = {self.peer: reference.Hop("forward", cable, reference.mac_bytes(self.peer_mac)),
                self.number: reference.Hop("forward", out, reference.mac_bytes(OUTSIDE))}
        return reference.Forwarder([cable, out, reference.Port("in", b"", accept_any=True)], hops, table)

    def sent_to(self, port, arrived, records):
        outcomes = [outcome for record in records for outcome in self.forwarder().forward(arrived, record)]
        return [outcome.record for outcome in outcomes if isinstance(outcome, reference.Sent) and outcome.port == port]

    def stop(self, instance):
        done = instance.stop()
        assert done.code == OK, done.text
        report = done.json()
        assert_report_adds_up(report)
        return report


@contextlib.contextmanager
def connected(folder, **keys):
    """Two routers and the cable between them; the one that serves it is there first."""
    device = f"net_memif0,socket={folder}/cable.sock,socket-abstract=no,role="
    one, two = Router(folder, 1, 2, device + "server", **keys), Router(folder, 2, 1, device + "client", **keys)
    with one.start() as first:
        # Its packets wait for somebody at the other end, and so does its worker.
        first.until((folder / "cable.sock").exists, "socket of the cable")
        with two.start() as second:
            yield one, first, two, second


def wait_for_output(instance, router, count):
    def written():
        report = stats(router.name)
        sent = {port["name"]: port["tx_packets"] for port in report["ports"]} if report else {}
        return sent.get("out", 0) >= count
    instance.until(written, f"{count} packets from the cable")


@pytest.mark.parametrize("mtu", [1500, 600])
def test_two_instances_over_shared_memory(tmp_path, mtu):
    """Each forwards a capture to the other, which gets every packet as the reference says, cut where too long."""
    with connected(tmp_path, cable_mtu=mtu) as (one, first, two, second):
        expected = {}
        for sender, receiver in ((one, two), (two, one)):
            expected[receiver] = receiver.sent_to("out", "cable", sender.sent_to("cable", "in", sender.records))
        wait_for_output(second, two, len(expected[two]))
        wait_for_output(first, one, len(expected[one]))
        reports = {two: two.stop(second), one: one.stop(first)}
    for router, report in reports.items():
        assert (report["packets"]["fragmented"] > 10) == (mtu < 1500)
        assert "tx_full" not in counts(report["dropped"])
        written = pcapfile.read(tmp_path / f"out{router.number}.pcap")
        assert collections.Counter(r.data for r in written) == collections.Counter(r.data for r in expected[router])
        assert len(written) > 100


def received_from_cable(router):
    report = stats(router.name)
    return report and {port["name"]: port for port in report["ports"]}["cable"]["rx_packets"]


def test_the_other_end_of_the_cable_comes_back(tmp_path):
    """The client may end, well or badly, and another one takes its place."""
    with connected(tmp_path) as (one, first, two, second):
        count = len(two.records)
        first.until(lambda: received_from_cable(one) == count, "packets from the first client")
        two.stop(second)
        for nth, end in (2, lambda client: (client.process.kill(), client.process.wait())), (3, two.stop):
            with two.start() as client:
                first.until(lambda: received_from_cable(one) == nth * count, f"packets from client {nth}")
                end(client)
        report = one.stop(first)
    assert report["packets"]["in"] == len(one.records) + 3 * count


def test_why_there_is_no_cable(tmp_path):
    """What the driver says of it, not what it says of every one."""
    (tmp_path / "cable.sock").write_text("taken")
    router = Router(tmp_path, 1, 2, f"net_memif0,role=server,socket={tmp_path}/cable.sock,socket-abstract=no")
    done = weir("run", router.path, cwd=tmp_path)
    assert done.code == USAGE and f"{router.path.name}:" in done.stderr, done.text
    assert f"{tmp_path}/cable.sock: Address already in use" in done.stderr and "is then to be removed" in done.stderr, done.text


def test_nobody_at_the_other_end(tmp_path):
    """A client cannot begin alone. A server can, and its packets wait; that is told, and does not hold up its end."""
    device = f"net_memif0,socket={tmp_path}/cable.sock,socket-abstract=no,role="
    done = weir("run", Router(tmp_path, 2, 1, device + "client").path, cwd=tmp_path)
    assert done.code == USAGE and "port 'cable' could not be started" in done.stderr and "cable.sock" in done.stderr
    router = Router(tmp_path, 1, 2, device + "server")
    with router.start() as instance:
        instance.until(lambda: "on_full: wait" in weir("stats", "--instance", router.name).stderr, "a word of waiting")
        report = router.stop(instance)
    assert counts(report["dropped"]) == {"tx_full": report["packets"]["in"]} and report["packets"]["in"] > 0


def test_a_device_that_ends_in_itself(tmp_path):
    """What is sent into the ring comes back, until it has no time left to live: every hop is counted."""
    name, mac, lives = unique_name(), "02:00:00:00:00:01", range(1, 60)
    pcapfile.write(tmp_path / "in.pcap", pcapfile.numbered(
        bytes(packets.ether() / packets.ip4(dst="10.1.0.1", ttl=ttl) / UDP()) for ttl in lives))
    path = write_description(tmp_path / "ring.yaml", {
        "application": {"neighbours": [{"id": "0", "port": "ring", "mac": mac}],
                        "routes": [{"prefix": "10.0.0.0/8", "next_hop": 0}]},
        "platform": {"ports": {"in": {"pcap_in": "in.pcap", "accept": "any"},
                               "ring": {"device": "net_ring0", "mac": mac}}},
        "run": {"until": "signal"}})
    with Instance("run", path, "--name", name, "--json", cwd=tmp_path) as instance:
        instance.until(lambda: (stats(name) or {"packets": {"punted": 0}})["packets"]["punted"] == len(lives),
                       "end of all lives")
        report = instance.stop().json()
    assert_report_adds_up(report)
    assert counts(report["punted"]) == {"ip4_ttl": len(lives)}
    assert report["packets"]["out"] == sum(ttl - 1 for ttl in lives)
    assert report["packets"]["in"] == len(lives) + report["packets"]["out"]


def test_devices_that_end_in_nothing(tmp_path):
    """One takes all that is sent to it, another brings in frames of zeros for ever. (Without copy=1 it leaves in its
    mbufs what earlier packets left there.)"""
    name = unique_name()
    pcapfile.write(tmp_path / "in.pcap", pcapfile.numbered(frames(1)))
    path = write_description(tmp_path / "null.yaml", {
        "application": {"neighbours": [{"id": "0", "port": "sink", "mac": OUTSIDE}],
                        "routes": [{"prefix": "10.0.0.0/8", "next_hop": 0}, {"prefix": "2001:db8::/32", "next_hop": 0}]},
        "platform": {"ports": {"in": {"pcap_in": "in.pcap", "accept": "any"},
                               "sink": {"device": "net_null0,no-rx=1"},
                               "source": {"device": "net_null1,size=128,copy=1", "accept": "any"}}},
        "run": {"until": "signal"}})

    def ports_of(report):
        return {port["name"]: port for port in report["ports"]}

    def came():
        ports = ports_of(stats(name) or {"ports": []})
        return ports and ports["source"]["rx_packets"] > 0 and ports["in"]["rx_packets"] >= len(frames(1))
    with Instance("run", path, "--name", name, "--json", cwd=tmp_path) as instance:
        instance.until(came, "packets")
        done = instance.stop()
    assert done.code == OK, done.text
    report = done.json()
    assert_report_adds_up(report)
    ports = ports_of(report)
    assert ports["sink"]["tx_packets"] == ports["in"]["rx_packets"] == len(frames(1))
    assert ports["source"]["rx_bytes"] == 128 * ports["source"]["rx_packets"] > 0
    assert counts(report["dropped"]) == {"unknown_type": ports["source"]["rx_packets"]}
