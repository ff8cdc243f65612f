# SPDX-License-Identifier: BSD-3-Clause
"""Captures that are damaged are reported, and what could be read of them is forwarded."""
import json
import random
import resource
import struct
import subprocess

import pytest
from scapy.layers.inet import UDP

import packets
import pcapfile
from network import Expected, assert_forwarded
from networks import CAPTURES, captures, laboratory
from program import FAILED, OK, USAGE, WEIR, environment, weir, write_description

FRAMES = [bytes(packets.ether() / packets.ip4(id=i) / UDP() / (b"x" * i)) for i in range(100)]
GOOD = pcapfile.numbered(FRAMES)


def run_damaged(tmp_path, content, good):
    """Run over a file that can be read up to record `good`."""
    (tmp_path / "in.pcap").write_bytes(content)
    network = laboratory(tmp_path, {"in": tmp_path / "in.pcap"})
    done = network.run(expect=FAILED)
    assert "in.pcap" in done.stderr and "'in'" in done.stderr, done.stderr
    assert str(good) in done.stderr, "how far it could be read is not told\n" + done.stderr
    report = done.json()
    assert report["ports"][0]["input"] == "damaged"
    assert_forwarded(network, report, Expected(network, {"in": GOOD[:good]}))


def content_with(record, at=50):
    """A file whose record number `at` is replaced by other bytes."""
    return pcapfile.compose(GOOD[:at]) + record + b"".join(map(pcapfile.record_bytes, GOOD[at + 1:]))


@pytest.mark.parametrize("left", [1, 8, 15, 16, 17, 40])
def test_cut_within_a_record(tmp_path, left):
    """The file ends in the header or in the bytes of its 51st record."""
    run_damaged(tmp_path, pcapfile.compose(GOOD[:50]) + pcapfile.record_bytes(GOOD[50])[:left], 50)


def test_cut_within_the_first_record(tmp_path):
    run_damaged(tmp_path, pcapfile.compose(GOOD[:1])[:-1], 0)


@pytest.mark.parametrize("length", [262145, 0x7fffffff, 0xffffffff, 0x80000000])
def test_absurd_record_length(tmp_path, length):
    run_damaged(tmp_path, content_with(struct.pack("<IIII", 1, 0, length, length) + bytes(60)), 50)


def test_real_capture_cut_short(tmp_path):
    content = CAPTURES["arp-web-mix"].read_bytes()
    (tmp_path / "in.pcap").write_bytes(content[:len(content) // 2])
    good = []
    for record in pcapfile.read(CAPTURES["arp-web-mix"]):
        if len(pcapfile.compose(good + [record])) > len(content) // 2:
            break
        good.append(record)
    network = captures(tmp_path, {"in": tmp_path / "in.pcap"})
    report = network.run(expect=FAILED).json()
    assert_forwarded(network, report, Expected(network, {"in": good}))


def test_one_damaged_capture_does_not_hurt_the_other(tmp_path):
    (tmp_path / "bad.pcap").write_bytes(pcapfile.compose(GOOD[:20])[:-3])
    pcapfile.write(tmp_path / "good.pcap", GOOD)
    network = laboratory(tmp_path, {"bad": tmp_path / "bad.pcap", "good": (tmp_path / "good.pcap", {"accept": "any"})})
    report = network.run(expect=FAILED).json()
    assert [p["input"] for p in report["ports"][:2]] == ["damaged", "ended"]
    assert_forwarded(network, report, Expected(network, {"bad": GOOD[:19], "good": GOOD}))


def test_damage_ends_repetition(tmp_path):
    """A damaged file is not read again and again."""
    (tmp_path / "in.pcap").write_bytes(pcapfile.compose(GOOD[:10])[:-3])
    network = laboratory(tmp_path, {"in": (tmp_path / "in.pcap", {"repeat": 1000000})})
    report = network.run(expect=FAILED).json()
    assert report["packets"]["in"] == 9


def test_damage_is_told_in_the_table(tmp_path):
    (tmp_path / "in.pcap").write_bytes(pcapfile.compose(GOOD)[:-3])
    network = laboratory(tmp_path, {"in": tmp_path / "in.pcap"})
    done = weir("run", write_description(tmp_path / "d.yaml", network.description()), cwd=tmp_path)
    assert done.code == FAILED and "damaged" in done.stdout and "99" in done.stdout


def test_first_record_shorter_than_an_ethernet_header(tmp_path):
    """Not damage to the file, but to the frame: counted, and the rest goes on."""
    records = [pcapfile.record(b"\x02\x00\x00", 5), pcapfile.record(b"", 6)] + GOOD
    path = pcapfile.write(tmp_path / "in.pcap", records)
    network = laboratory(tmp_path, {"in": path})
    report = network.run(expect=OK).json()
    assert {r["reason"]: r["packets"] for r in report["dropped"]} == {"truncated": 2}
    assert_forwarded(network, report, Expected(network))


@pytest.mark.parametrize("content", [
    b"", b"\xd4", b"\xd4\xc3\xb2\xa1", pcapfile.file_header()[:23], b"\0" * 24, b"\x12\x34\x56\x78" + bytes(20),
    b"GIF89a" + bytes(100), pcapfile.file_header(link=101), pcapfile.file_header(link=147), b"\x0a\x0d\x0d\x0a" + bytes(4),
    b"\xd4\xc3\xb2\xa1\x09\x00\x09\x00" + bytes(16),
], ids=["empty", "one byte", "magic only", "header cut", "zeros", "wrong magic", "a picture", "raw IP", "user link type",
        "pcapng cut", "version 9"])
@pytest.mark.parametrize("command", ["check", "run"])
def test_not_a_capture_of_ethernet(tmp_path, content, command):
    (tmp_path / "in.pcap").write_bytes(content)
    network = laboratory(tmp_path, {"in": tmp_path / "in.pcap"})
    path = write_description(tmp_path / "d.yaml", network.description())
    done = weir(command, path, cwd=tmp_path)
    assert done.code == USAGE, done.text
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if "pcap_in" in text)
    assert f"d.yaml:{line}:" in done.stderr and "expected" in done.stderr, done.text
    assert not (tmp_path / "north.pcap").exists()


@pytest.mark.parametrize("seed", range(6))
def test_noise_in_the_file(tmp_path, seed):
    """Bytes changed at random anywhere: whatever is read is accounted for."""
    chance = random.Random(seed)
    content = bytearray(pcapfile.compose(GOOD))
    for _ in range(20):
        content[chance.randrange(24, len(content))] = chance.randrange(256)
    (tmp_path / "in.pcap").write_bytes(content)
    network = laboratory(tmp_path, {"in": (tmp_path / "in.pcap", {"accept": "any"})})
    done = weir("run", write_description(tmp_path / "d.yaml", network.description()), "--json", cwd=tmp_path)
    assert done.code in (OK, FAILED), done.text
    report = done.json()
    assert report["packets"]["adds_up"]
    assert sum(len(pcapfile.read(tmp_path / f"{name}.pcap")) for name in network.outputs) == report["packets"]["out"]
    assert len(pcapfile.read(tmp_path / "punt.pcap")) == report["packets"]["punted"]


def test_outputs_that_cannot_be_written(tmp_path):
    """A full disk is told, and what did not get there is not counted as sent."""
    path = pcapfile.write(tmp_path / "in.pcap", GOOD)
    network = laboratory(tmp_path, {"in": path})
    description = network.description()
    description["platform"]["ports"]["north"]["pcap_out"] = "/dev/full"
    done = weir("run", write_description(tmp_path / "d.yaml", description), "--json", cwd=tmp_path)
    assert done.code == FAILED or done.code == USAGE, done.text
    assert "/dev/full" in done.stderr + done.stdout and "space" in done.stderr + done.stdout


def test_outputs_larger_than_files_may_be(tmp_path):
    """As a full disk, and no end by a signal: the run goes on, and its totals add up."""
    path = pcapfile.write(tmp_path / "in.pcap", GOOD)
    network = laboratory(tmp_path, {"in": path})
    done = subprocess.run([WEIR, "run", write_description(tmp_path / "d.yaml", network.description()), "--json"], cwd=tmp_path,
                          env=environment(), capture_output=True, text=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    assert done.returncode == FAILED and "File too large" in done.stderr, done.stderr
    report = json.loads(done.stdout)
    assert report["packets"]["adds_up"] and report["packets"]["in"] == len(GOOD)
    assert all((tmp_path / f"{name}.pcap").stat().st_size <= 1000 for name in network.outputs)
