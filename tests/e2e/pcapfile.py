# SPDX-License-Identifier: BSD-3-Clause
"""Capture files, read and written without libpcap, so that every byte of them is seen.

A record is a Record: time in ns, the bytes captured, and the frame's length on the wire.
"""
import struct
from typing import NamedTuple

ETHERNET = 1
MAGICS = {  # as its bytes stand in the file: (byte order, ns per unit of the fraction)
    b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1), b"\xa1\xb2\x3c\x4d": (">", 1),
}


class Record(NamedTuple):
    time_ns: int
    data: bytes
    wire: int  # more than len(data) when the capture cut the frame short


def record(data, time_ns=0, missing=0):
    return Record(time_ns, bytes(data), len(data) + missing)


def numbered(frames, start_ns=1_600_000_000_123_456_789, step_ns=1_001):
    """Frames as records whose times are all different, in ns."""
    return [record(frame, start_ns + i * step_ns) for i, frame in enumerate(frames)]


def parse(content):
    """All records of a file that must be complete."""
    order, unit = MAGICS[content[:4]]
    major, minor, _, _, _, link = struct.unpack_from(order + "HHiIII", content, 4)
    assert (major, minor, link) == (2, 4, ETHERNET), "not a capture of Ethernet frames"
    at, records = 24, []
    while at < len(content):
        assert at + 16 <= len(content), "the file ends within a record's header"
        seconds, fraction, captured, wire = struct.unpack_from(order + "IIII", content, at)
        at += 16
        assert at + captured <= len(content), "the file ends within a record"
        assert captured <= wire and fraction * unit < 10**9
        records.append(Record(seconds * 10**9 + fraction * unit, content[at:at + captured], wire))
        at += captured
    return records


def read(path):
    with open(path, "rb") as file:
        return parse(file.read())


def file_header(magic=b"\x4d\x3c\xb2\xa1", snap=262144, link=ETHERNET):
    order, _ = MAGICS[magic]
    return magic + struct.pack(order + "HHiIII", 2, 4, 0, 0, snap, link)


def record_bytes(r, magic=b"\x4d\x3c\xb2\xa1"):
    order, unit = MAGICS[magic]
    seconds, ns = divmod(r.time_ns, 10**9)
    return struct.pack(order + "IIII", seconds, ns // unit, len(r.data), r.wire) + r.data


def compose(records, magic=b"\x4d\x3c\xb2\xa1", **header):
    return file_header(magic, **header) + b"".join(record_bytes(r, magic) for r in records)


def write(path, records, **how):
    with open(path, "wb") as file:
        file.write(compose(records, **how))
    return path


def compose_pcapng(records):
    """The same as pcapng, with times in ns: section header, interface description, enhanced packets."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    resolution = struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)
    content = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    content += block(1, struct.pack("<HHI", ETHERNET, 0, 0) + resolution)
    for r in records:
        content += block(6, struct.pack("<IIIII", 0, r.time_ns >> 32, r.time_ns & 0xffffffff, len(r.data), r.wire) + r.data)
    return content
