# SPDX-License-Identifier: BSD-3-Clause
"""What a forwarder does to each packet, said a second time and independently: from the RFCs
(791, 1812, 3927, 4291, 6890, 8200) and from doc/forwarding.md, which fixes the order of the checks.

Nothing here is fast or clever: prefixes are looked up in a dictionary per length, checksums are
computed from scratch, frames are put together from their parts.
"""
import collections
import gzip
import socket
import struct
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

from pcapfile import Record

TYPE_IP4, TYPE_ARP, TYPE_IP6 = 0x0800, 0x0806, 0x86dd
TAGS = (0x8100, 0x88a8)

PUNTED = {
    "ip4_no_neighbour", "ip4_options", "ip4_own", "ip4_multicast", "ip4_broadcast", "ip4_ttl", "ip4_too_big_df",
    "ip6_no_neighbour", "ip6_hop_by_hop", "ip6_link_local", "ip6_own", "ip6_multicast", "ip6_hop_limit",
    "ip6_too_big", "arp",
}


@dataclass
class Port:
    name: str
    mac: bytes
    mtu: int = 1500
    vlan: int = 0
    accept_any: bool = False


@dataclass
class Hop:
    kind: str = "forward"  # or incomplete, blackhole, local
    port: Optional[Port] = None
    mac: bytes = b""


class Sent(NamedTuple):
    port: str
    record: Record
    path: str  # "ip4", "ip4_frag" or "ip6": packets of one path keep their order


class Refused(NamedTuple):
    reason: str
    record: Record  # as it came


class Rejection(Exception):
    """Why a packet goes no further."""


def check(condition, reason):
    if not condition:
        raise Rejection(reason)


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def address(text):
    """An address as (version, integer)."""
    packed = socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)
    return (6 if len(packed) == 16 else 4), int.from_bytes(packed, "big")


def internet_sum(data):
    """The Internet checksum of some bytes (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


class Table:
    """Routes of one version: a dictionary from prefix bits to next hop, for each length in use."""

    def __init__(self, version):
        self.bits = 32 if version == 4 else 128
        self.by_length = {}
        self.lengths = []

    def add(self, value, length, hop):
        if length not in self.by_length:
            self.by_length[length] = {}
            self.lengths = sorted(self.by_length, reverse=True)
        self.by_length[length][value >> (self.bits - length)] = hop

    def delete(self, value, length):
        del self.by_length[length][value >> (self.bits - length)]

    def lookup(self, value):
        for length in self.lengths:
            hop = self.by_length[length].get(value >> (self.bits - length))
            if hop is not None:
                return hop
        return None

    def __len__(self):
        return sum(len(prefixes) for prefixes in self.by_length.values())


class Routes:
    def __init__(self):
        self.tables = {4: Table(4), 6: Table(6)}

    def add(self, prefix, hop):
        text, length = prefix.split("/")
        version, value = address(text)
        self.tables[version].add(value, int(length), hop)

    def delete(self, prefix):
        text, length = prefix.split("/")
        version, value = address(text)
        self.tables[version].delete(value, int(length))

    def read(self, path, first_next_hop=0):
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as file:
            for line in file:
                words = line.split("#")[0].split()
                if words:
                    self.add(words[0], int(words[1]) + first_next_hop)
        return self

    def lookup(self, version, value):
        return self.tables[version].lookup(value)


# Special addresses, as (value, prefix length).

def prefixes(*texts):
    return [(address(t.split("/")[0])[1], int(t.split("/")[1])) for t in texts]


def is_in(value, bits, among):
    return any(value >> (bits - length) == prefix >> (bits - length) for prefix, length in among)


IP4_BROADCAST = 0xffffffff
IP4_MULTICAST = prefixes("224.0.0.0/4")
IP4_MARTIAN_SOURCE = prefixes("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4")
IP4_MARTIAN_DESTINATION = prefixes("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "240.0.0.0/4")
IP6_MULTICAST = prefixes("ff00::/8")
IP6_LINK_LOCAL = prefixes("fe80::/10")
IP6_MARTIAN_SOURCE = prefixes("::/128", "::1/128", "ff00::/8", "::ffff:0:0/96")
IP6_MARTIAN_DESTINATION = prefixes("::/128", "::1/128", "::ffff:0:0/96")


class Frame:
    """A frame on its way: layer 3 as captured, and its length on the wire."""

    def __init__(self, record):
        self.record = record
        self.data = record.data
        self.l3_offset = 14
        self.group = False

    @property
    def l3(self):
        return self.data[self.l3_offset:]

    @property
    def l3_wire(self):
        return self.record.wire - self.l3_offset


@dataclass
class Totals:
    received: int = 0
    sent: int = 0
    fragmented: int = 0
    fragments: int = 0
    reasons: collections.Counter = field(default_factory=collections.Counter)

    @property
    def dropped(self):
        return sum(n for reason, n in self.reasons.items() if reason not in PUNTED)

    @property
    def punted(self):
        return sum(n for reason, n in self.reasons.items() if reason in PUNTED)


class Forwarder:
    def __init__(self, ports, hops, routes):
        self.ports = {p.name: p for p in ports}
        self.hops = hops  # by number
        self.routes = routes
        self.totals = Totals()

    def forward(self, port_name, record):
        """What becomes of a packet: a list of Sent, or of one Refused."""
        self.totals.received += 1
        frame = Frame(record)
        try:
            version = self.classify(self.ports[port_name], frame)
            outcome = (self.forward_ip4 if version == 4 else self.forward_ip6)(frame)
        except Rejection as why:
            reason = why.args[0]
            self.totals.reasons[reason] += 1
            return [Refused(reason, record)]
        self.totals.sent += len(outcome)
        if len(outcome) > 1:
            self.totals.fragmented += 1
            self.totals.fragments += len(outcome)
        return outcome

    def classify(self, port, frame):
        check(len(frame.data) >= 14, "truncated")
        destination = frame.data[:6]
        frame.group = bool(destination[0] & 1)
        check(port.accept_any or frame.group or destination == port.mac, "not_for_us")
        at, tags = 12, 0
        while True:
            kind = int.from_bytes(frame.data[at:at + 2], "big")
            if kind not in TAGS:
                break
            tags += 1
            check(tags <= 2, "vlan_depth")
            at += 4
            check(len(frame.data) >= at + 2, "truncated")
        frame.l3_offset = at + 2
        check(kind != TYPE_ARP, "arp")
        check(kind in (TYPE_IP4, TYPE_IP6), "unknown_type")
        return 4 if kind == TYPE_IP4 else 6

    def route(self, version, destination):
        """The next hop of a destination, or the reason why there is none."""
        number = self.routes.lookup(version, destination)
        check(number is not None, f"ip{version}_no_route")
        hop = self.hops[number]
        check(hop.kind != "blackhole", f"ip{version}_blackhole")
        check(hop.kind != "local", f"ip{version}_own")
        return hop

    def forward_ip4(self, frame):
        l3 = frame.l3
        check(len(l3) >= 20, "truncated")
        check(l3[0] >> 4 == 4, "ip4_version")
        header_length = (l3[0] & 15) * 4
        check(20 <= header_length <= frame.l3_wire, "ip4_header_length")
        check(header_length <= len(l3), "truncated")
        total_length = int.from_bytes(l3[2:4], "big")
        check(header_length <= total_length <= frame.l3_wire, "ip4_total_length")
        check(internet_sum(l3[:header_length]) == 0, "ip4_checksum")
        source, destination = struct.unpack(">II", l3[12:20])
        # A host that has no address yet may ask all others, or a group.
        asking = source == 0 and (destination == IP4_BROADCAST or is_in(destination, 32, IP4_MULTICAST))
        check(asking or not is_in(source, 32, IP4_MARTIAN_SOURCE), "ip4_martian_source")
        check(destination == IP4_BROADCAST or not is_in(destination, 32, IP4_MARTIAN_DESTINATION),
              "ip4_martian_destination")
        check(not is_in(destination, 32, IP4_MULTICAST), "ip4_multicast")
        check(destination != IP4_BROADCAST and not frame.group, "ip4_broadcast")
        check(header_length == 20, "ip4_options")
        hop = self.route(4, destination)
        check(l3[8] > 1, "ip4_ttl")
        check(hop.kind != "incomplete", "ip4_no_neighbour")
        return self.send_ip4(frame, hop, total_length)

    def send_ip4(self, frame, hop, total_length):
        l3 = frame.l3
        flags_offset = int.from_bytes(l3[6:8], "big")
        payload = l3[20:total_length]

        def packet(flags_offset, begin, end):
            head = l3[:2] + struct.pack(">H", 20 + end - begin) + l3[4:6] + struct.pack(">H", flags_offset)
            head += bytes([l3[8] - 1]) + l3[9:10]
            head += struct.pack(">H", internet_sum(head + b"\0\0" + l3[12:20])) + l3[12:20]
            return head + payload[begin:end], 20 + end - begin

        if total_length <= hop.port.mtu:
            return [self.frame(frame, hop, TYPE_IP4, *packet(flags_offset, 0, total_length - 20), "ip4")]
        check(not flags_offset & 0x4000, "ip4_too_big_df")
        offset, more = flags_offset & 0x1fff, flags_offset & 0x2000
        size = total_length - 20
        check(offset * 8 + size <= 65535 - 20, "ip4_fragment")
        step = (hop.port.mtu - 20) // 8 * 8
        sent = []
        for begin in range(0, size, step):
            end = min(begin + step, size)
            flags = flags_offset & 0x8000 | (0x2000 if end < size else more) | offset + begin // 8
            sent.append(self.frame(frame, hop, TYPE_IP4, *packet(flags, begin, end), "ip4_frag"))
        return sent

    def forward_ip6(self, frame):
        l3 = frame.l3
        check(len(l3) >= 40, "truncated")
        check(l3[0] >> 4 == 6, "ip6_version")
        total_length = 40 + int.from_bytes(l3[4:6], "big")
        check(total_length <= frame.l3_wire, "ip6_length")
        source, destination = int.from_bytes(l3[8:24], "big"), int.from_bytes(l3[24:40], "big")
        asking = source == 0 and is_in(destination, 128, IP6_MULTICAST)
        check(asking or not is_in(source, 128, IP6_MARTIAN_SOURCE), "ip6_martian_source")
        check(not is_in(destination, 128, IP6_MARTIAN_DESTINATION), "ip6_martian_destination")
        check(not is_in(destination, 128, IP6_MULTICAST), "ip6_multicast")
        check(not is_in(source, 128, IP6_LINK_LOCAL), "ip6_link_local")
        check(not is_in(destination, 128, IP6_LINK_LOCAL), "ip6_link_local")
        check(not frame.group, "not_for_us")
        check(l3[6] != 0, "ip6_hop_by_hop")
        hop = self.route(6, destination)
        check(l3[7] > 1, "ip6_hop_limit")
        check(hop.kind != "incomplete", "ip6_no_neighbour")
        check(total_length <= hop.port.mtu, "ip6_too_big")
        packet = l3[:7] + bytes([l3[7] - 1]) + l3[8:total_length]
        return [self.frame(frame, hop, TYPE_IP6, packet, total_length, "ip6")]

    @staticmethod
    def frame(frame, hop, kind, packet, wire, path):
        ethernet = hop.mac + hop.port.mac
        if hop.port.vlan:
            ethernet += struct.pack(">HH", 0x8100, hop.port.vlan)
        ethernet += struct.pack(">H", kind)
        return Sent(hop.port.name, Record(frame.record.time_ns, ethernet + packet, len(ethernet) + wire), path)
