# SPDX-License-Identifier: BSD-3-Clause
"""Is the reference itself right? Held against scapy, Python's ipaddress, and numbers from RFCs."""
import ipaddress
import pathlib
import random
import re

import pytest
from scapy.layers.inet import IP, fragment
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import packets
import pcapfile
import reference
from networks import CAPTURES, captures, laboratory
from program import ROOT


def test_checksum_of_rfc_1071():
    assert reference.internet_sum(bytes.fromhex("0001f203f4f5f6f7")) == 0xffff ^ 0xddf2


def test_checksum_of_odd_length():
    assert reference.internet_sum(b"\x12\x34\x56") == reference.internet_sum(b"\x12\x34\x56\x00")


@pytest.mark.parametrize("version", [4, 6])
def test_longest_prefix(version):
    chance = random.Random(version)
    bits = 32 if version == 4 else 128
    make = ipaddress.IPv4Network if version == 4 else ipaddress.IPv6Network
    kind = ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address
    networks, routes = {}, reference.Routes()
    centres = [chance.getrandbits(bits) for _ in range(5)]
    for hop in range(300):
        length = chance.randint(0, bits)
        network = make((chance.choice(centres) >> (bits - length) << (bits - length), length))
        networks[network] = hop
        routes.add(str(network), hop)
    for _ in range(2000):
        value = chance.choice(centres) ^ (chance.getrandbits(bits) >> chance.randint(0, bits))
        matching = [network for network in networks if kind(value) in network]
        best = networks[max(matching, key=lambda network: network.prefixlen)] if matching else None
        assert routes.lookup(version, value) == best


def test_deleted_route_uncovers_the_shorter():
    routes = reference.Routes()
    routes.add("10.0.0.0/8", 1)
    routes.add("10.1.0.0/16", 2)
    routes.delete("10.1.0.0/16")
    assert routes.lookup(4, reference.address("10.1.0.1")[1]) == 1


def test_special_prefixes_are_the_special_addresses_of_ipaddress():
    """Where Python's ipaddress has an opinion, it is the same."""
    for text in packets.IP4_SOURCES:
        value, known = reference.address(text)[1], ipaddress.ip_address(text)
        special = known.is_multicast or known.is_loopback or known.is_link_local or known.is_reserved or \
            known in ipaddress.ip_network("0.0.0.0/8")
        assert reference.is_in(value, 32, reference.IP4_MARTIAN_SOURCE) == special, text
    for text in packets.IP6_SOURCES:
        value, known = reference.address(text)[1], ipaddress.ip_address(text)
        assert reference.is_in(value, 128, reference.IP6_LINK_LOCAL) == known.is_link_local, text
        special = known.is_multicast or known.is_loopback or known.is_unspecified or known.ipv4_mapped is not None
        assert reference.is_in(value, 128, reference.IP6_MARTIAN_SOURCE) == special, text


def forwarded(name):
    """Records of a capture that the reference forwards whole, with what it sends."""
    network = captures(pathlib.Path(), {"in": CAPTURES[name]})
    forwarder = network.forwarder()
    for record in pcapfile.read(CAPTURES[name]):
        outcome = forwarder.forward("in", record)
        if isinstance(outcome[0], reference.Sent):
            yield record, outcome


@pytest.mark.parametrize("name", ["isp-mix-vlan", "ipv6-mix", "sctp", "qinq"])
def test_scapy_builds_the_same_packets(name):
    for number, (record, outcome) in enumerate(forwarded(name)):
        if number % 17 and name == "isp-mix-vlan":
            continue
        packet = Ether(record.data)
        if packet.haslayer(IP):
            inner = packet[IP]
            inner.ttl -= 1
            del inner.chksum
            size = packet[IP].len
        else:
            inner = packet[IPv6]
            inner.hlim -= 1
            size = 40 + packet[IPv6].plen
        inner.remove_payload()
        header = len(packet) - len(packet[type(inner)])
        payload = record.data[header + len(inner):header + size]
        assert outcome[0].record.data[14:] == bytes(inner / Raw(payload))[:size]
        assert outcome[0].record.time_ns == record.time_ns


@pytest.mark.parametrize("size,mtu", [(557, "10.2.0.1"), (1000, "10.2.0.1"), (8000, "10.2.0.1"), (100, "10.7.0.1")])
def test_scapy_cuts_the_same_fragments(size, mtu):
    step = {"10.2.0.1": 552, "10.7.0.1": 48}[mtu]
    packet = IP(src="192.0.2.1", dst=mtu, id=77, ttl=9, proto=17) / Raw(random.Random(size).randbytes(size))
    forwarder = laboratory(pathlib.Path(), {"in": ""}).forwarder()
    outcome = forwarder.forward("in", pcapfile.record(bytes(Ether(dst=packets.ROUTER) / packet)))
    packet.ttl -= 1
    assert [o.record.data[14:] for o in outcome] == [bytes(piece) for piece in fragment(packet, step)]
    assert forwarder.totals.fragmented == 1 and forwarder.totals.fragments == len(outcome)


def test_every_reason_but_those_of_devices_occurs():
    """The generated frames are of every kind that there is a name for."""
    names = set(reference_reasons())
    forwarder = laboratory(pathlib.Path(), {"in": ""}).forwarder()
    for _, frame, missing in packets.cases():
        forwarder.forward("in", pcapfile.record(frame, missing=missing))
    assert names - set(forwarder.totals.reasons) == \
        {"none", "no_memory", "tx_full", "tx_closed", "sched_full", "sched_closed", "jobs_full"}
    assert not set(forwarder.totals.reasons) - names


def reference_reasons():
    """Names and kinds of reasons, as the program's header has them."""
    header = (ROOT / "lib/node/weir_node_reason.h").read_text()
    return dict(re.findall(r'X\(\w+, "(\w+)", \'([dp])\'', header))


def test_punted_and_dropped_are_told_apart_as_in_the_program():
    assert {name for name, kind in reference_reasons().items() if kind == "p"} == reference.PUNTED
