# SPDX-License-Identifier: BSD-3-Clause
"""Frames that a capture seldom holds: each way of being wrong, and of being right but odd.

cases() gives (name, frame, missing bytes); what must become of each is the reference's business.
"""
import random
import struct

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_RR, IPOption_Router_Alert
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6ND_NS, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                                IPv6ExtHdrHopByHop, IPv6ExtHdrRouting)
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

HOST = "02:aa:00:00:00:01"    # who sends
ROUTER = "02:00:00:00:00:00"  # the first port of files

IP4_SOURCES = ["0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.255", "128.0.0.1", "126.255.255.255", "1.0.0.0",
               "169.254.0.1", "169.254.255.255", "169.253.255.255", "169.255.0.0", "223.255.255.255", "224.0.0.1",
               "239.255.255.255", "240.0.0.1", "255.255.255.254", "255.255.255.255", "10.0.0.1", "192.0.2.1",
               "100.64.0.1", "198.18.0.1"]
IP4_DESTINATIONS = IP4_SOURCES + ["224.0.0.251", "224.1.2.3", "10.255.255.255", "10.0.0.0"]
IP6_SOURCES = ["::", "::1", "::2", "::ffff:10.0.0.1", "::fffe:10.0.0.1", "::10.0.0.1", "fe80::1", "fe7f::1",
               "febf::1", "fec0::1", "fc00::1", "ff02::1", "ff0e::1", "feff::1", "2001:db8::1", "64:ff9b::a00:1",
               "100::1", "2002:7f00:1::1", "::1:0:0:0", "0:0:0:1::1"]
IP6_DESTINATIONS = IP6_SOURCES + ["ff02::2", "ff05::1:3", "ff01::1", "2001:db8:1::1"]


def ether(dst=ROUTER):
    return Ether(src=HOST, dst=dst)


def ip4(**fields):
    return IP(**{"src": "192.0.2.10", "dst": "10.1.0.1", "ttl": 64, **fields})


def ip6(**fields):
    return IPv6(**{"src": "2001:db8::10", "dst": "2001:db8:1::1", "hlim": 64, **fields})


def edit(packet, offset, replacement):
    """Bytes of a packet with some of them replaced."""
    data = bytearray(bytes(packet))
    data[offset:offset + len(replacement)] = replacement
    return bytes(data)


def with_checksum(frame, l3=14):
    """A frame with the IPv4 checksum that its header should have."""
    length = (frame[l3] & 15) * 4
    head = frame[l3:l3 + 10] + b"\0\0" + frame[l3 + 12:l3 + length]
    total = sum(struct.unpack(f">{len(head) // 2}H", head))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return edit(frame, l3 + 10, struct.pack(">H", total ^ 0xffff))


def zero_checksum_frame():
    """A frame whose right IPv4 checksum is 0x0000, of which 0xffff is the other spelling."""
    frame = bytes(ether() / ip4(id=0) / UDP() / b"zero")
    identification = int.from_bytes(frame[24:26], "big")
    return with_checksum(edit(frame, 18, struct.pack(">H", identification)))


def ip4_addresses():
    for source in IP4_SOURCES:
        yield f"source {source}", ether() / ip4(src=source) / UDP()
        yield f"source {source} to all", ether("ff:ff:ff:ff:ff:ff") / ip4(src=source, dst="255.255.255.255") / UDP()
        yield f"source {source} to a group", ether("01:00:5e:00:00:01") / ip4(src=source, dst="224.0.0.1") / UDP()
    for destination in IP4_DESTINATIONS:
        yield f"destination {destination}", ether() / ip4(dst=destination) / UDP()
        yield f"destination {destination} to all", ether("ff:ff:ff:ff:ff:ff") / ip4(dst=destination) / UDP()
        yield f"destination {destination} to a group", ether("01:00:5e:01:02:03") / ip4(dst=destination) / UDP()
    yield "no route", ether() / ip4(dst="11.0.0.1") / UDP()
    yield "blackhole", ether() / ip4(dst="10.5.0.1") / UDP()
    yield "own", ether() / ip4(dst="10.6.0.1") / UDP()
    yield "own address", ether() / ip4(dst="10.1.0.254") / UDP()
    yield "own address, TTL 1", ether() / ip4(dst="10.1.0.254", ttl=1) / UDP()
    yield "no neighbour", ether() / ip4(dst="10.4.0.1") / UDP()
    yield "no neighbour, TTL 1", ether() / ip4(dst="10.4.0.1", ttl=1) / UDP()
    yield "longest prefix", ether() / ip4(dst="10.1.2.3") / UDP()
    yield "longer prefix's neighbour", ether() / ip4(dst="10.1.2.4") / UDP()
    yield "not for us", ether("02:00:00:00:00:77") / ip4() / UDP()
    yield "not for us, by one bit", ether("02:00:00:00:01:00") / ip4() / UDP()


def ip4_headers():
    plain = bytes(ether() / ip4() / UDP() / b"payload")
    for version in (0, 5, 6, 15):
        yield f"version {version}", with_checksum(edit(plain, 14, bytes([version << 4 | 5])))
    for words in range(5):
        yield f"header of {words} words", edit(plain, 14, bytes([0x40 | words]))
    yield "header past the frame", edit(plain, 14, b"\x4f")
    for length in (0, 19, 20, 27, 34, 35, 36, 1500, 65535):
        yield f"total length {length}", with_checksum(edit(plain, 16, struct.pack(">H", length)))
    for checksum in (b"\0\0", b"\xff\xff", b"\x12\x34"):
        yield f"checksum {checksum.hex()}", edit(plain, 24, checksum)
    yield "checksum off by one", edit(plain, 25, bytes([plain[25] ^ 1]))
    yield "checksum 0x0000", zero_checksum_frame()
    yield "checksum 0xffff for 0x0000", edit(zero_checksum_frame(), 24, b"\xff\xff")
    yield "checksum becomes 0x0000", with_checksum(edit(zero_checksum_frame(), 22, bytes([65])))
    for ttl in (0, 1, 2, 128, 255):
        yield f"TTL {ttl}", ether() / ip4(ttl=ttl) / UDP()
    yield "TTL 1 without route", ether() / ip4(ttl=1, dst="11.0.0.1") / UDP()
    yield "TTL 1, checksum wrong", edit(ether() / ip4(ttl=1) / UDP(), 24, b"\x12\x34")
    for name, options in (("NOP", [IPOption_NOP()]), ("router alert", [IPOption_Router_Alert()]),
                          ("record route", [IPOption_RR(routers=["0.0.0.0"] * 9)])):
        yield f"option {name}", ether() / ip4(options=options) / UDP()
        yield f"option {name}, without route", ether() / ip4(options=options, dst="11.0.0.1") / UDP()
        yield f"option {name}, TTL 1", ether() / ip4(options=options, ttl=1) / UDP()
        yield f"option {name}, large", ether() / ip4(options=options, dst="10.2.0.1") / UDP() / (b"x" * 1200)
    yield "options with a wrong checksum", edit(ether() / ip4(options=[IPOption_NOP()]) / UDP(), 24, b"\x12\x34")
    for tos in (0x01, 0xb8, 0xff):
        yield f"TOS {tos:#x}", ether() / ip4(tos=tos) / TCP()
    for flags in ("DF", "MF", "evil", "DF+MF"):
        yield f"flags {flags}", ether() / ip4(flags=flags, frag=5) / UDP()


def ip4_sizes():
    """Around the egress MTU of 576 and 68: whole, cut, or punted."""
    pattern = bytes(random.Random(1).randbytes(9000))
    for destination in ("10.2.0.1", "10.7.0.1", "10.1.0.1", "10.3.0.1"):
        for size in (0, 48, 49, 552, 555, 556, 557, 560, 1108, 1480, 1481, 1482, 8980):
            for flags in (0, "DF", "MF"):
                yield f"{size} bytes to {destination}, {flags}", \
                    ether() / ip4(dst=destination, flags=flags, proto=17, id=size) / Raw(pattern[:size])
    for offset in (1, 185, 8000, 8100, 8101, 8102, 8120, 8121, 8122, 8123, 8150, 8191):
        yield f"fragment at {offset}", \
            ether() / ip4(dst="10.2.0.1", frag=offset, flags=offset & 1, proto=17) / Raw(pattern[:700])
    yield "evil bit, cut", ether() / ip4(dst="10.2.0.1", flags="evil", proto=17) / Raw(pattern[:1000])


def ip6_addresses():
    for source in IP6_SOURCES:
        yield f"source {source}", ether() / ip6(src=source) / UDP()
        yield f"source {source} to a group", ether("33:33:00:00:00:01") / ip6(src=source, dst="ff02::1") / UDP()
    for destination in IP6_DESTINATIONS:
        yield f"destination {destination}", ether() / ip6(dst=destination) / UDP()
        yield f"destination {destination} to a group", ether("33:33:00:00:00:01") / ip6(dst=destination) / UDP()
        yield f"destination {destination} to all", ether("ff:ff:ff:ff:ff:ff") / ip6(dst=destination) / UDP()
    for third in range(1, 8):
        yield f"route {third}", ether() / ip6(dst=f"2001:db8:{third}::1") / UDP()
        yield f"route {third}, hop limit 1", ether() / ip6(dst=f"2001:db8:{third}::1", hlim=1) / UDP()
    yield "no route", ether() / ip6(dst="2001:dead::1") / UDP()
    yield "own address", ether() / ip6(dst="2001:db8:1::fe") / UDP()
    yield "longest prefix", ether() / ip6(dst="2001:db8:1:2::3") / UDP()
    yield "beside the longest prefix", ether() / ip6(dst="2001:db8:1:2::4") / UDP()
    yield "link local to link local", ether() / ip6(src="fe80::1", dst="fe80::2") / UDP()


def ip6_headers():
    plain = bytes(ether() / ip6() / UDP() / b"payload")
    for version in (0, 4, 5, 7, 15):
        yield f"version {version}", edit(plain, 14, bytes([version << 4]))
    for length in (0, 1, 14, 15, 16, 17, 1460, 65535):
        yield f"payload length {length}", edit(plain, 18, struct.pack(">H", length))
    for limit in (0, 1, 2, 255):
        yield f"hop limit {limit}", ether() / ip6(hlim=limit) / UDP()
    yield "hop limit 1, no route", ether() / ip6(hlim=1, dst="2001:dead::1") / UDP()
    yield "traffic class and flow label", ether() / ip6(tc=0xff, fl=0xfffff) / UDP()
    yield "hop by hop", ether() / ip6() / IPv6ExtHdrHopByHop() / UDP()
    yield "hop by hop, no route", ether() / ip6(dst="2001:dead::1") / IPv6ExtHdrHopByHop() / UDP()
    yield "hop by hop, hop limit 1", ether() / ip6(hlim=1) / IPv6ExtHdrHopByHop() / UDP()
    yield "hop by hop, to a group", ether("33:33:00:00:00:01") / ip6(dst="ff02::1") / IPv6ExtHdrHopByHop() / UDP()
    yield "hop by hop, own", ether() / ip6(dst="2001:db8:1::fe") / IPv6ExtHdrHopByHop() / UDP()
    yield "destination options", ether() / ip6() / IPv6ExtHdrDestOpt() / UDP()
    yield "routing header", ether() / ip6() / IPv6ExtHdrRouting(addresses=["2001:db8::9"]) / UDP()
    yield "fragment header", ether() / ip6() / IPv6ExtHdrFragment(m=1) / Raw(b"x" * 64)
    yield "no next header", ether() / ip6(nh=59)
    yield "echo request", ether() / ip6() / ICMPv6EchoRequest()
    yield "neighbour solicitation", ether("33:33:ff:00:00:01") / ip6(src="::", dst="ff02::1:ff00:1") / ICMPv6ND_NS()
    for size in (1240, 1241, 1460, 1461, 8960):
        for third in (1, 2, 3):
            yield f"{size} bytes, route {third}", ether() / ip6(dst=f"2001:db8:{third}::1", nh=59) / Raw(b"x" * size)


def layer2():
    v4, v6 = ip4() / UDP() / b"four", ip6() / UDP() / b"six"
    for name, inner in (("IPv4", v4), ("IPv6", v6)):
        yield f"{name}, 802.1Q", ether() / Dot1Q(vlan=5) / inner
        yield f"{name}, priority tag", ether() / Dot1Q(vlan=0, prio=7) / inner
        yield f"{name}, 802.1ad", ether() / Dot1AD(vlan=5) / inner
        yield f"{name}, 802.1ad and 802.1Q", ether() / Dot1AD(vlan=5) / Dot1Q(vlan=6) / inner
        yield f"{name}, QinQ", ether() / Dot1Q(vlan=5) / Dot1Q(vlan=6) / inner
        yield f"{name}, three tags", ether() / Dot1AD(vlan=5) / Dot1Q(vlan=6) / Dot1Q(vlan=7) / inner
        yield f"{name}, eight tags", ether() / Dot1Q() / Dot1Q() / Dot1Q() / Dot1Q() / Dot1Q() / Dot1Q() / Dot1Q() / \
            Dot1Q() / inner
        yield f"{name}, not for us, tagged", ether("02:00:00:00:00:99") / Dot1Q(vlan=5) / inner
        for padding in (1, 14, 40):
            yield f"{name}, padded by {padding}", bytes(ether() / inner) + b"\xee" * padding
        yield f"{name}, tagged and padded", bytes(ether() / Dot1Q(vlan=5) / inner) + b"\xee" * 30
        yield f"{name} in the other's type", bytes(ether())[:12] + (b"\x86\xdd" if inner is v4 else b"\x08\x00") + \
            bytes(inner)
    yield "IPv4 at the least, padded to 60", (bytes(ether() / ip4(proto=59))).ljust(60, b"\xdd")
    # What the slow path gets is what came, padding included.
    for hops in (0, 1, 2):
        yield f"IPv4 with TTL {hops}, padded to 60", bytes(ether() / ip4(ttl=hops, proto=59)).ljust(60, b"\xdd")
        yield f"IPv6 with hop limit {hops}, padded", bytes(ether() / ip6(hlim=hops)).ljust(80, b"\xdd")
    yield "too big with DF, padded", bytes(ether() / ip4(dst="10.2.0.1", flags="DF", proto=17) / Raw(b"y" * 1400)) + \
        b"\xdd" * 20
    yield "ARP", ether("ff:ff:ff:ff:ff:ff") / ARP()
    yield "ARP, tagged", ether("ff:ff:ff:ff:ff:ff") / Dot1Q(vlan=5) / ARP()
    yield "ARP, to us", ether() / ARP()
    yield "ARP, to another", ether("02:00:00:00:00:99") / ARP()
    for kind in (0x0000, 0x0026, 0x05dc, 0x0600, 0x0801, 0x8847, 0x8863, 0x88cc, 0x9100, 0x9200, 0xffff):
        yield f"type {kind:#06x}", Ether(src=HOST, dst=ROUTER, type=kind) / Raw(bytes(v4))
        yield f"type {kind:#06x}, tagged", ether() / Dot1Q(type=kind) / Raw(bytes(v4))


def cut_short():
    """Frames that end early, on the wire or in the capture."""
    frames = {
        "IPv4": ether() / ip4() / UDP() / b"payload",
        "IPv4 with options": ether() / ip4(options=[IPOption_RR(routers=["0.0.0.0"] * 9)]) / UDP(),
        "IPv6": ether() / ip6() / UDP() / b"payload",
        "IPv6 with hop by hop": ether() / ip6() / IPv6ExtHdrHopByHop() / UDP(),
        "QinQ": ether() / Dot1AD(vlan=1) / Dot1Q(vlan=2) / ip4() / UDP(),
        "three tags": ether() / Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / ip4() / UDP(),
        "ARP": ether() / ARP(),
        "not for us": ether("02:00:00:00:00:99") / ip4() / UDP(),
    }
    for name, frame in frames.items():
        frame = bytes(frame)
        for length in sorted({*range(1, 24), 33, 34, 35, 37, 38, 41, 42, 53, 54, 55, 57, 58, 61, 62, len(frame) - 1}):
            if length < len(frame):
                yield f"{name}, {length} bytes on the wire", frame[:length], 0
                yield f"{name}, {length} bytes captured", frame[:length], len(frame) - length
    large = bytes(ether() / ip4(dst="10.2.0.1", proto=17) / Raw(b"y" * 1400))
    for captured in (34, 60, 590, 586, 1000, 1400):
        yield f"cut to fragments, {captured} bytes captured", large[:captured], len(large) - captured
    padded = bytes(ether() / ip4() / UDP()).ljust(60, b"\xcc")
    for captured in (34, 41, 42, 43, 59):
        yield f"padded, {captured} bytes captured", padded[:captured], 60 - captured
    padded6 = bytes(ether() / ip6() / UDP()).ljust(80, b"\xcc")
    for captured in (54, 61, 62, 63, 79):
        yield f"padded IPv6, {captured} bytes captured", padded6[:captured], 80 - captured


def noise(count, seed=7):
    """Good frames with bytes changed at random."""
    chance = random.Random(seed)
    models = [bytes(p) for p in (
        ether() / ip4() / UDP() / b"payload", ether() / ip6() / UDP() / b"payload", ether() / ip4() / ICMP(),
        ether() / Dot1Q(vlan=9) / ip4(dst="10.2.0.1") / TCP() / Raw(b"z" * 700),
        ether() / Dot1AD(vlan=9) / Dot1Q(vlan=8) / ip6(dst="2001:db8:3::1") / UDP(),
        ether() / ip4(options=[IPOption_NOP()]) / UDP())]
    for i in range(count):
        frame = bytearray(chance.choice(models))
        for _ in range(chance.randint(1, 3)):
            frame[chance.randrange(min(len(frame), 60))] = chance.randrange(256)
        frame = bytes(frame[:chance.randint(0, len(frame))] if chance.random() < 0.2 else frame)
        if chance.random() < 0.5 and len(frame) >= 34 and frame[12:14] == b"\x08\x00" and (frame[14] & 15) * 4 + 14 <= \
                len(frame):
            frame = with_checksum(frame) if frame[14] & 15 >= 5 else frame
        yield f"noise {i}", frame


def cases():
    for group in (ip4_addresses, ip4_headers, ip4_sizes, ip6_addresses, ip6_headers, layer2, cut_short,
                  lambda: noise(3000)):
        for name, frame, *missing in group():
            yield name, bytes(frame), (missing or [0])[0]
