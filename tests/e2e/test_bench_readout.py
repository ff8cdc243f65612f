# SPDX-License-Identifier: BSD-3-Clause
"""weir bench readout: what it prints is what it did. How fast that is depends on the machine, and is not looked at."""
import pytest

from program import OK, USAGE, weir

pytestmark = pytest.mark.exclusive  # what is measured is measured alone

# links, bytes of a frame, threads of ours
FRAMES = {"callback-1": (1, 7200, 1), "callback-8": (8, 7200, 1), "callback-32": (32, 7200, 1), "queue-8": (8, 7200, 2),
          "callback-8-small": (8, 512, 1), "queue-8-small": (8, 512, 2)}
COPIES = "copies-8"
LOOKUPS = {"lookup-1": 1, "lookup-32": 32}
ACCESSORS = {"accessors-wibeth": "wibeth", "accessors-srs": "srs-vmm3a"}  # formats


def bench(pattern, *arguments):
    done = weir("bench", "readout", "--case", pattern, "--rounds", 1, *arguments)
    assert done.code == OK and not done.stderr, done.text
    return done


def test_list():
    assert weir("bench", "readout", "--list").stdout.split() == [*FRAMES, COPIES, *LOOKUPS, *ACCESSORS]
    assert "readout" in weir("bench", "--list").stdout


def test_unknown_case():
    done = weir("bench", "readout", "--case", "callback-2")
    assert done.code == USAGE and "callback-2" in done.stderr


@pytest.mark.parametrize("case", FRAMES)
def test_frames(case):
    report = bench(case, "--json").json()
    [row] = report["cases"]
    links, size, threads = FRAMES[case]
    assert (row["name"], row["links"], row["frame_bytes"], row["burst"]) == (case, links, size, 256)
    assert row["ratio"] == pytest.approx(row["peer"]["cycles_per_frame"] / row["ours"]["cycles_per_frame"], rel=1e-3)
    assert row["reached"] == (row["ratio"] >= row["target"] == 1)
    ours, peer = row["ours"], row["peer"]
    assert peer["name"] == "copy and queue" and ours["threads"] == threads and peer["threads"] == 2
    # the claim under test: one full copy less
    assert ours["bytes_copied_per_frame"] == size and peer["bytes_copied_per_frame"] == 2 * size
    assert ours["frames"] == peer["frames"] >= 96 * 2 ** 20 / size  # the buffers were full
    assert (ours["consumer_cycles_per_frame"] > 0) == (threads == 2) and peer["consumer_cycles_per_frame"] > 0
    for side in ours, peer:
        assert side["frames_per_s"] > 0 and side["receiver_cycles_per_frame"] > 0 and side["waiting_share"] < 1
        assert side["cycles_per_frame"] == pytest.approx(size * side["cycles_per_byte"], rel=1e-3)
        assert side["ns_per_frame"] * report["machine"]["cycles_hz"] / 1e9 == pytest.approx(side["cycles_per_frame"], rel=1e-3)


def test_copies():
    [row] = bench(COPIES, "--json").json()["copies"]
    ways = {way["way"]: way for way in row["ways"]}
    assert {name: way["bytes_moved_per_frame"] for name, way in ways.items()} == {
        "callback, no copy": 0, "callback": 2 * 7200, "queue": 2 * 7200, "copy and queue": 4 * 7200, "memcpy alone": 2 * 7200}
    memcpy = ways["memcpy alone"]
    for way in ways.values():
        assert way["cycles_per_frame"] > 0
        assert way["bytes_moved_per_s"] == pytest.approx(way["bytes_moved_per_frame"] * way["frames_per_s"], rel=1e-3)
        assert way["share_of_memcpy"] == pytest.approx(way["bytes_moved_per_s"] / memcpy["bytes_moved_per_s"], rel=1e-3)
    # with what a NIC writes: 3 of 5
    assert row["bytes_saved_share"] == pytest.approx(0.4) and row["copy_share_of_cycles"] < 1
    text = bench(COPIES).stdout
    assert "\nmemcpy alone " in text and "callback moves 21600 bytes" in text and "copy and queue 36000: 40 % less" in text


def test_lookups():
    rows = bench("lookup-*", "--json").json()["lookup"]
    assert {row["name"]: row["frames_in_window"] for row in rows} == LOOKUPS
    for row in rows:
        assert row["peer"]["name"] == "binary search" and row["frames_in_buffer"] > 1000
        assert row["ratio"] == pytest.approx(row["peer"]["cycles_per_window"] / row["ours"]["cycles_per_window"], rel=1e-3)
        for side in row["ours"], row["peer"]:
            assert side["cycles_per_window"] == pytest.approx(row["frames_in_window"] * side["cycles_per_frame"], rel=1e-3)


def test_accessors():
    done = bench("accessors-*", "--json").json()
    rows = done["accessors"]
    assert {row["name"]: row["format"] for row in rows} == ACCESSORS and not done["cases"]
    for row in rows:
        ours, peer = row["ours"], row["peer"]
        assert peer["name"] == "by hand" and row["fields"] == 4
        assert row["ratio"] == pytest.approx(peer["cycles_per_frame"] / ours["cycles_per_frame"], rel=1e-3)
        assert row["more_cycles_per_frame"] == pytest.approx(ours["cycles_per_frame"] - peer["cycles_per_frame"], abs=1e-3)
        for side in ours, peer:
            assert side["cycles_per_frame"] == pytest.approx(row["fields"] * side["cycles_per_field"], rel=1e-3) and side["cycles_per_frame"] > 0
    text = bench("accessors-wibeth").stdout
    assert "\naccessors-wibeth " in text and "by hand" in text and "accessors-srs" not in text


def test_burst():
    [row] = bench("callback-8-small", "--burst", 17, "--json").json()["cases"]
    assert row["burst"] == 17


def test_for_people():
    text = bench("callback-8").stdout
    assert "\ncallback-8 " in text and "7200 bytes copied a frame" in text and "14400 bytes copied a frame" in text
    assert "waiting not counted" in text and "targets reached" in text
