# SPDX-License-Identifier: BSD-3-Clause
"""Links of description files: frames that are emulated, kept, and asked for; each of them is accounted for."""
import copy
import signal
import socket
import struct
import threading

import pytest

from program import FAILED, OK, ROOT, USAGE, Instance, weir, write_description
from running import stats, unique_name

STEP, CLOCK = 2048, 62_500_000  # of WIBEth: ticks from frame to frame, ticks a second
FRAME_BYTES = 7200
FRAMES = 1000  # of each link: 32.768 ms of its clock


def description(nb=FRAMES, count=2, faults=(), requests=None, link=(), **run):
    """Links whose frames come to an end, with room for all of them: what becomes of them does not depend on time."""
    emulated = {"rate": "20kHz", **({"frames": nb} if nb else {}), **({"faults": list(faults)} if faults else {})}
    buffer = {"history": "50ms", "jump": "2ms", "spare": 8000}  # room for all fragments on their way, however slow that is
    wib = {"format": "wibeth", "count": count, "buffer": buffer, **dict(link)}
    return {"application": {"links": {"wib": wib}, **({"requests": requests} if requests else {})},
            "traffic": {"emulated": {"wib": emulated}}, **({"run": run} if run else {})}


def run(folder, what, *options, code=OK, errors=""):
    done = weir("run", write_description(folder / "readout.yaml", what), "--name", unique_name(), "--json", *options, cwd=folder)
    assert done.code == code and (errors in done.stderr if errors else not done.stderr), done.text
    report = done.json()
    check_sums(report["readout"])
    return report["readout"]


def check_sums(readout):
    """What a user can add up, added up here."""
    assert readout["adds_up"] is True
    for link in readout["links"]:
        assert link["received"] == link["buffered"] + link["held"] + link["delivered"] + sum(link["dropped"].values()), link
    for name in "received", "received_bytes", "buffered", "held", "delivered":
        assert readout["frames"][name] == sum(link[name] for link in readout["links"])
    for feed in readout["feeds"]:
        if feed["feed"] in ("hits", "messages"):
            [link] = [link for link in readout["links"] if link["name"] == feed["to"]]
            assert all(finder["hits"] == finder["delivered"] + finder["refused"] for finder in feed["finders"])
            assert all(source["sent"] == source["delivered"] + source["refused"] for source in feed["sources"])
            assert (sum(sender["delivered"] for sender in [*feed["finders"], *feed["sources"]])
                    == link["received"] + feed["queued"])
            continue
        packets, fed = feed["packets"], [link for link in readout["links"] if link["name"].rsplit("-", 1)[0] == feed["to"]]
        assert packets["received"] == packets["links"] + packets["not_udp"] + packets["truncated"] + packets["unknown_stream"]
        assert packets["links"] == sum(link["received"] for link in fed)
        for stream in feed.get("streams", []):
            faults = stream["faults"]
            assert stream["sent"] == (stream["made"] - faults.get("drop", 0) + faults.get("duplicate", 0) - stream["no_mbuf"]
                                      - stream["withheld"]), stream
            assert stream["late_ns"] >= 0
        assert packets["received"] == sum(stream["sent"] for stream in feed.get("streams", [feed]))
    for process in readout["processes"]:
        check_process(process)
    requests = readout["requests"]
    assert requests["asked"] == (requests["outstanding"] + sum(requests["answered"].values())
                                 + sum(requests["refused"].values())), requests
    latencies = requests["latency_ns"].values()
    assert sum(latency["count"] for latency in latencies) == sum(requests["answered"].values())
    assert all(0 <= latency["p50"] <= latency["p99"] <= latency["p99.9"] for latency in latencies)
    for request in requests["list"]:
        assert request["fragments"] == sum(request["answered"].values())
        if "to" in request:
            to = request["to"]
            assert request["fragments"] == to["taken"] == to["sent"] + to["queued"] + sum(to["failed"].values()), to


def check_process(process):
    """After a buffer; of what is before one, what it dropped is all that is counted."""
    if process["where"] != "inline":
        jobs = [process[name] for name in ("cancelled", "exited", "inside")] if process["where"] == "jobs" else []
        assert process["received"] == (process["passed"] + process["missed"] + process["waiting"] + sum(process["dropped"].values())
                                       + sum(process.get("refused", {}).values()) + sum(jobs)), process


def fragments(data):
    """A file of fragments, as weir_readout_fragment.h says that they lie there."""
    found, at = [], 0
    while at < len(data):
        magic, version, header, total, run_number, trigger, begin, end, key, payload = struct.unpack_from("<4sHHQQQQQQQ", data, at)
        number, answer, parts, nb_missing, nb_frames, name_bytes = struct.unpack_from("<6I", data, at + 64)
        assert magic == b"WFRG" and version == 1 and header == 88 and total <= len(data) - at
        place = at + header
        missing = [struct.unpack_from("<QQ", data, place + 16 * i) for i in range(nb_missing)]
        place += 16 * nb_missing
        table = [struct.unpack_from("<QII", data, place + 16 * i) for i in range(nb_frames)]
        place += 16 * nb_frames
        name = data[place:place + name_bytes].decode()
        place += (name_bytes + 7) // 8 * 8
        frames = []
        for timestamp, size, zero in table:
            assert zero == 0
            frames.append((timestamp, data[place:place + size]))
            place += size
        assert place == at + total and payload == sum(len(frame) for _, frame in frames)
        found.append({"run": run_number, "trigger": trigger, "begin": begin, "end": end, "key": key, "link": number,
                      "answer": answer, "parts": parts, "missing": missing, "frames": frames, "name": name})
        at += total
    return found


def test_example(tmp_path):
    """As a user runs it: it ends by itself, and says what became of each frame."""
    done = weir("run", ROOT / "examples/readout.yaml", "--name", unique_name(), "--duration", "200ms", cwd=tmp_path)
    assert done.code == OK and not done.stderr, done.text
    assert (ROOT / "examples/readout.yaml").read_text().split("\n", 5)[5].strip() in (ROOT / "doc/readout.md").read_text()
    assert "frames of 4 links" in done.stdout and "do NOT" not in done.stdout and "is NOT" not in done.stdout
    assert "Written: out/fragments.bin" in done.stdout
    done = weir("run", ROOT / "examples/readout.yaml", "--name", unique_name(), "--json", cwd=tmp_path)
    assert done.code == OK and not done.stderr, done.text
    report = done.json()
    check_sums(report["readout"])
    assert report["elapsed_s"] >= 2 and report["written"] == ["out/fragments.bin"]
    assert all(link["received"] > 0 for link in report["readout"]["links"])
    [request] = report["readout"]["requests"]["list"]
    found = fragments((tmp_path / "out/fragments.bin").read_bytes())  # made anew: nothing of the first run is in it
    assert len(found) == request["to"]["sent"]


def test_without_faults(tmp_path):
    readout = run(tmp_path, description(count=3))
    assert [link["name"] for link in readout["links"]] == ["wib-0", "wib-1", "wib-2"]
    for link in readout["links"]:
        assert link["received"] == link["buffered"] == FRAMES and link["received_bytes"] == FRAMES * FRAME_BYTES
        assert not link["dropped"] and not link["faults"] and link["missing"] == link["late"] == link["jumps"] == 0
    assert readout["requests"]["asked"] == 0


# Ten times, a hundred frames apart.
TIMES = {"first": 50, "period": 100}
FAULTS = {
    "drop": ({"fault": "drop"}, {"received": -10, "faults": {"gap": 10}, "missing": 10}),
    "drop three": ({"fault": "drop", "length": 3}, {"received": -30, "faults": {"gap": 10}, "missing": 30}),
    "duplicate": ({"fault": "duplicate"}, {"received": 10, "faults": {"duplicate": 10}, "dropped": {"duplicate": 10}}),
    "reorder": ({"fault": "reorder", "amount": 3}, {"faults": {"gap": 10, "reordered": 10}, "missing": 10, "late": 10}),
    "sequence": ({"fault": "sequence", "amount": 5}, {"faults": {"sequence_jump": 10}}),
    "timestamp": ({"fault": "timestamp", "amount": 1_000_000}, {"faults": {"early": 10}, "dropped": {"far_off": 10}}),
    "truncate": ({"fault": "truncate", "amount": 100},
                 {"faults": {"gap": 10, "wrong_size": 10}, "missing": 10, "dropped": {"wrong_size": 10}}),
    "truncate to nothing": ({"fault": "truncate", "amount": 2},
                            {"received": -10, "faults": {"gap": 10}, "missing": 10, "packets": {"truncated": 10}}),
    "stream": ({"fault": "stream", "amount": 1000},
               {"received": -10, "faults": {"gap": 10}, "missing": 10, "packets": {"unknown_stream": 10}}),
    "stall": ({"fault": "stall", "amount": 20}, {"faults": {}}),  # nothing is lost, and nobody was to look for stalls
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name, tmp_path):
    """Each ends in exactly the counters that the schedule says, of each link."""
    fault, expected = FAULTS[name]
    readout = run(tmp_path, description(faults=[{**fault, **TIMES}]))
    for link in readout["links"]:
        assert link["received"] == FRAMES + expected.get("received", 0)
        assert link["faults"] == expected["faults"] and link["dropped"] == expected.get("dropped", {})
        assert link["missing"] == expected.get("missing", 0) and link["late"] == expected.get("late", 0)
        assert link["buffered"] == link["received"] - sum(link["dropped"].values())
    [feed] = readout["feeds"]
    for counter, count in expected.get("packets", {}).items():
        assert feed["packets"][counter] == count * len(readout["links"])
    for stream in feed["streams"]:
        assert stream["made"] == FRAMES and stream["faults"] == {fault["fault"]: 10 * fault.get("length", 1)}


def test_jump_of_the_clock(tmp_path):
    readout = run(tmp_path, description(faults=[{"fault": "jump", "amount": 10 * CLOCK, "first": 300}]))
    for link in readout["links"]:
        assert link["faults"] == {"timestamp_jump": 1} and link["jumps"] == 1
        assert link["received"] == FRAMES and link["delivered"] == 300 and link["buffered"] == FRAMES - 300


def test_stall(tmp_path):
    """A frame waits for the time of 8,000 others, 400 ms, and all behind it with it: one stall, and nothing is lost.

    How late frames were made besides is told; where that alone may look like a stall, or hide one, it is tried once more.
    """
    at, amount, rate, limit_s = 500, 8000, 20_000, 0.2
    what = description(faults=[{"fault": "stall", "amount": amount, "first": at}], link={"stall": f"{limit_s}s"})
    for _ in range(5):
        done = weir("run", write_description(tmp_path / "stall.yaml", what), "--name", unique_name(), "--json", cwd=tmp_path)
        assert done.code == OK and not done.stderr, done.text
        report = done.json()
        check_sums(report["readout"])
        [feed] = report["readout"]["feeds"]
        assert report["elapsed_s"] >= (at + amount) / rate  # it did wait
        for stream, link in zip(feed["streams"], report["readout"]["links"]):
            assert stream["made"] == stream["sent"] == FRAMES and stream["faults"] == {"stall": 1}
            assert link["received"] == link["buffered"] == FRAMES and not link["dropped"]
            assert link["missing"] == link["late"] == link["jumps"] == 0 and set(link["faults"]) <= {"stall"}
        if all(stream["late_ns"] < 1e9 * (limit_s - 1 / rate) for stream in feed["streams"]):
            assert all(link["faults"] == {"stall": 1} for link in report["readout"]["links"])
            break


def test_random_faults_are_those_of_the_seed(tmp_path):
    what = description(faults=[{"fault": "drop", "random": 0.1}])
    results = []
    for seed in 1, 1, 2:
        what["traffic"]["emulated"]["wib"]["seed"] = seed
        results.append([link["received"] for link in run(tmp_path, what)["links"]])
    assert results[0] == results[1] != results[2]
    assert all(0 < FRAMES - received < FRAMES / 2 for received in results[0])


def test_duplicates_dropped_by_the_link(tmp_path):
    what = description(faults=[{"fault": "duplicate", **TIMES}], link={"drop_duplicates": True})
    assert all(link["dropped"] == {"duplicate": 10} for link in run(tmp_path, what)["links"])


def windows(nb_frames, every, window, delay):
    """Those that are asked for by the time that so many frames have come: (begin, end) in ticks."""
    found, number = [], 0
    while True:
        begin = number * every * CLOCK // 10**9
        if begin + delay * CLOCK // 10**9 > nb_frames * STEP:
            return found
        found.append((begin, begin + window * CLOCK // 10**9))
        number += 1


def check_fragments(found, nb, dropped=()):
    """Their frames, and what is missing, against what was emulated."""
    for fragment in found:
        begin, end = fragment["begin"], fragment["end"]
        expected = [number for number in range(begin // STEP, (end - 1) // STEP + 1) if number < nb and number not in dropped]
        assert [timestamp for timestamp, _ in fragment["frames"]] == [number * STEP for number in expected]
        for timestamp, frame in fragment["frames"]:
            assert len(frame) == FRAME_BYTES and struct.unpack_from("<Q", frame, 8)[0] == timestamp
            assert struct.unpack_from("<I", frame, 0)[0] >> 6 & (1 << 26) - 1 == fragment["key"]
        lost = {tick // STEP for first, last in fragment["missing"] for tick in range(first, last, STEP)}
        lost |= {(last - 1) // STEP for _, last in fragment["missing"]}
        absent = {number for number in range(begin // STEP, (end - 1) // STEP + 1)} - set(expected)
        assert lost == absent
        assert fragment["answer"] == (6 if end > nb * STEP else 1 if absent else 0)


def test_requests(tmp_path):
    """Windows by the frames' own clock: so many, with these frames, whatever time it takes."""
    requests = {"triggers": {"links": ["wib"], "every": "3ms", "window": "1ms", "delay": "500us", "timeout": "1h", "to": "out/f.bin"}}
    faults = [{"fault": "drop", "first": 100, "period": 250, "length": 2}]
    readout = run(tmp_path, description(requests=requests, faults=faults))
    expected = windows(FRAMES, 3_000_000, 1_000_000, 500_000)
    found = fragments((tmp_path / "out/f.bin").read_bytes())
    assert len(expected) == 11 and len(found) == 2 * len(expected)
    assert [(fragment["trigger"], fragment["begin"], fragment["end"]) for fragment in found if fragment["key"] == 1] == [
        (number, begin, end) for number, (begin, end) in enumerate(expected)]
    assert {(fragment["name"], fragment["key"], fragment["link"]) for fragment in found} == {("wib-0", 0, 0), ("wib-1", 1, 1)}
    check_fragments(found, FRAMES, dropped={100, 101, 350, 351, 600, 601, 850, 851})
    [request] = readout["requests"]["list"]
    assert request["windows"] == 11 and request["skipped"] == request["restarts"] == request["refused"] == 0
    names = ["complete", "partial", "too_old", "not_yet", "timed_out", "too_large", "stopped"]
    assert request["answered"] == {names[answer]: sum(fragment["answer"] == answer for fragment in found)
                                   for answer in {fragment["answer"] for fragment in found}}
    assert request["answered"]["partial"] >= 2


def test_the_last_window_does_not_wait_for_ever(tmp_path):
    """Its end never comes; when nothing can come any more it is answered with what is there."""
    requests = {"late": {"links": ["wib-1"], "every": "30ms", "window": "10ms", "timeout": "1h", "to": "late.bin"}}
    readout = run(tmp_path, description(requests=requests))
    assert readout["requests"]["list"][0]["answered"] == {"complete": 1, "stopped": 1}
    found = fragments((tmp_path / "late.bin").read_bytes())
    assert [fragment["key"] for fragment in found] == [1, 1]
    check_fragments(found, FRAMES)


def test_requests_that_do_not_wait(tmp_path):
    requests = {"hasty": {"links": ["wib"], "every": "1ms", "window": "40ms", "timeout": 0}}
    readout = run(tmp_path, description(requests=requests))
    assert readout["requests"]["answered"] == {"not_yet": 2 * len(windows(FRAMES, 1_000_000, 0, 0))}


def listen(path):
    """A reader of a Unix socket; what it read is there when the thread has ended."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    got = bytearray()

    def read():
        connection, _ = server.accept()
        while data := connection.recv(1 << 16):
            got.extend(data)
        connection.close()
        server.close()
    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread, got


def test_requests_to_a_socket(tmp_path):
    thread, got = listen(tmp_path / "s")
    requests = {"triggers": {"links": ["wib"], "every": "2ms", "window": "1ms", "delay": "1ms", "timeout": "1h", "to": "s"}}
    readout = run(tmp_path, description(requests=requests))
    thread.join(60)
    assert not thread.is_alive()
    found = fragments(bytes(got))
    assert len(found) == readout["requests"]["list"][0]["to"]["sent"] == 2 * len(windows(FRAMES, 2_000_000, 1_000_000, 1_000_000))
    check_fragments(found, FRAMES)


def leave(path):
    """A reader at this path that leaves when somebody comes. Returns its thread."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()

    def close():
        server.accept()[0].close()
        server.close()
    thread = threading.Thread(target=close, daemon=True)
    thread.start()
    return thread


def test_a_reader_that_leaves(tmp_path):
    """It costs its own fragments only."""
    leave(tmp_path / "s")
    requests = {"gone": {"links": ["wib"], "every": "1ms", "window": "1ms", "to": "s"},
                "there": {"links": ["wib"], "every": "1ms", "window": "1ms", "to": "f.bin"}}
    readout = run(tmp_path, description(requests=requests), code=FAILED, errors="fragments to 's': given up")
    gone, there = readout["requests"]["list"]
    assert gone["to"]["failed"].get("peer_gone", 0) > 0
    assert there["to"]["sent"] == there["fragments"] > 0 and not there["to"]["failed"]


def test_a_reader_that_reads_nothing(tmp_path):
    """Nor does this one, though it stays: frames are not dropped for it, and others have their windows."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "s"))
    server.listen()
    requests = {"stuck": {"links": ["wib"], "every": "4ms", "window": "4ms", "delay": "4ms", "to": "s"},
                "other": {"links": ["wib"], "every": "4ms", "window": "4ms", "delay": "8ms"}}
    what = description(nb=10 * FRAMES, requests=requests, link={"buffer": {"history": "50ms", "jump": "2ms", "spare": 2000}})
    what["traffic"]["emulated"]["wib"]["rate"] = "5kHz"
    done = weir("run", write_description(tmp_path / "readout.yaml", what), "--name", unique_name(), "--json", cwd=tmp_path)
    server.close()
    readout = done.json()["readout"]
    check_sums(readout)
    stuck, other = readout["requests"]["list"]
    assert stuck["to"]["failed"]["queue_full"] > 0 and stuck["to"]["sent"] < stuck["fragments"]
    assert done.code == FAILED and f"'s' has only {stuck['to']['sent']} of {stuck['fragments']} fragments" in done.stderr, done.text
    assert not any(link["dropped"] for link in readout["links"])
    assert other["answered"]["complete"] > 0


def test_a_file_that_takes_nothing(tmp_path):
    requests = {"full": {"links": ["wib"], "every": "5ms", "window": "1ms", "to": "/dev/full"}}
    readout = run(tmp_path, description(requests=requests), code=FAILED, errors="'/dev/full': the first one is lost: No space")
    [full] = readout["requests"]["list"]
    assert full["to"]["failed"]["write_failed"] == full["fragments"] > 0


def test_own_format(tmp_path):
    """A format of the file's, and two kinds of links side by side."""
    what = description(count=1)
    what["application"]["formats"] = {"mine": {"size": "256B", "clock": "1MHz", "step": 100, "endianness": "big", "stream": {
        "offset": 0, "width": 8}, "sequence": {"offset": 8, "width": 8}, "timestamp": {"offset": 32, "width": 32}}}
    what["application"]["links"]["mine"] = {"format": "mine", "count": 3, "stream": 7, "buffer": {"history": "1s"}}
    what["application"]["requests"] = {"all": {"links": ["mine-1"], "every": "50ms", "window": "50ms", "timeout": "1h", "to": "mine.bin"}}
    what["traffic"]["emulated"]["mine"] = {"rate": "20kHz", "frames": 1000}
    readout = run(tmp_path, what)
    assert [(link["name"], link["format"], link["stream"], link["received"]) for link in readout["links"]] == [
        ("wib-0", "wibeth", 0, FRAMES), ("mine-0", "mine", 7, 1000), ("mine-1", "mine", 8, 1000), ("mine-2", "mine", 9, 1000)]
    assert not any(link["faults"] or link["dropped"] for link in readout["links"])
    found = fragments((tmp_path / "mine.bin").read_bytes())
    frames = [frame for fragment in found[:2] for frame in fragment["frames"]]
    assert len(frames) == 1000
    for number, (timestamp, frame) in enumerate(frames):
        assert struct.unpack(">BBHI", frame[:8]) == (8, number % 256, 0, timestamp) and timestamp == 100 * number and len(frame) == 256


def test_formats_without_a_step(tmp_path):
    what = description(count=1)
    what["application"]["links"]["srs"] = {"format": "srs-vmm3a", "count": 2, "buffer": {"history": "1s", "rate": "20kHz"}}
    what["application"]["links"]["any"] = {"format": "udp", "buffer": {"history": "100ms", "rate": "20kHz", "frame_size": "100B"}}
    what["traffic"]["emulated"]["srs"] = {"rate": "20kHz", "frames": 1000, "size": "200B"}
    what["traffic"]["emulated"]["any"] = {"rate": "20kHz", "frames": 10, "size": "100B"}
    readout = run(tmp_path, what)
    assert [(link["name"], link["received"]) for link in readout["links"]] == [
        ("wib-0", FRAMES), ("srs-0", 1000), ("srs-1", 1000), ("any", 10)]


def replayed(link, **source):
    return {"application": {"links": {"in": link}}, "traffic": {"replayed": {"in": source}}}


SRS = {"format": "srs-vmm3a", "count": 2, "stream": 1, "buffer": {"history": "1s", "rate": "10kHz"}}


def test_replay_of_a_detector(tmp_path):
    """A real capture: of each of its cards a frame is missing."""
    readout = run(tmp_path, replayed(SRS, pcap=str(ROOT / "tests/data/srs-vmm3a-gem.pcap"), rate="10kHz"))
    assert [(link["stream"], link["received"], link["missing"], link["faults"]) for link in readout["links"]] == [
        (1, 50, 1, {"gap": 1}), (2, 50, 1, {"gap": 1})]
    [feed] = readout["feeds"]
    assert feed["sent"] == 100 and feed["input"] == "ended" and feed["feed"] == "replayed"


def test_replay_among_other_packets(tmp_path):
    """What is no frame of a link's is counted as what it is."""
    readout = run(tmp_path, replayed(SRS, pcap=str(ROOT / "tests/data/srs-vmm3a-triggered.pcap"), rate="10kHz"))
    assert [link["received"] for link in readout["links"]] == [0, 35] and not readout["links"][1]["faults"]
    packets = readout["feeds"][0]["packets"]
    assert packets["received"] == 82 and packets["links"] == 35


def wibeth(number, key=0):
    """A frame as weir_readout_format.h has it."""
    words = key << 6 | number % 4096 << 40 | (FRAME_BYTES - 16) // 8 << 52, STEP * number
    return struct.pack("<QQ", *words) + bytes([number % 256]) * (FRAME_BYTES - 16)


WIB = {"format": "wibeth", "count": 2, "buffer": {"history": "50ms"}}
NUMBERS = [(number, key) for number in range(200) for key in (0, 1) if number not in (17, 90, 91)]


@pytest.mark.parametrize("rate", [{}, {"rate": "20kHz"}], ids=["own times", "a rate"])
def test_replay_of_frames_alone(rate, tmp_path):
    (tmp_path / "raw").write_bytes(b"".join(wibeth(*which) for which in NUMBERS))
    what = replayed(WIB, frames="raw", **rate)
    what["application"]["requests"] = {"all": {"links": ["in"], "every": "1ms", "window": "1ms", "timeout": "1h", "to": "out.bin"}}
    readout = run(tmp_path, what)
    for link in readout["links"]:
        assert link["received"] == link["buffered"] == 197 and link["missing"] == 3 and link["faults"] == {"gap": 2}
    found = {(fragment["key"], frame) for fragment in fragments((tmp_path / "out.bin").read_bytes()) for _, frame in fragment["frames"]}
    assert found == {(key, wibeth(number, key)) for number, key in NUMBERS}


def test_replay_of_a_file_that_is_cut(tmp_path):
    (tmp_path / "raw").write_bytes(wibeth(0) + wibeth(1) + wibeth(2)[:-1])
    what = replayed({**WIB, "count": 1}, frames="raw")
    readout = run(tmp_path, what, code=FAILED, errors="in part only")
    assert readout["links"][0]["received"] == 2 and readout["feeds"][0]["input"] == "damaged"


def samples(pulse):
    """A frame of WIBEth: 64 times 64 channels of 14 bits, pulse(time, channel) of each."""
    times = [sum(pulse(time, channel) << 14 * channel for channel in range(64)).to_bytes(112, "little") for time in range(64)]
    return bytes(32) + b"".join(times)


def test_hits_of_several_links_in_one(tmp_path):
    """In each frame a pulse: six samples of channel 5, 400 above the rest."""
    (tmp_path / "pulse").write_bytes(samples(lambda time, channel: 500 if channel == 5 and 20 <= time < 26 else 100))
    what = description(link={"hits": {"threshold": 60, "to": "tp"}})
    what["application"]["links"]["tp"] = {"format": "hit", "buffer": {"history": "200ms", "jump": "50ms", "rate": "100kHz", "spare": 20000}}
    what["application"]["requests"] = {"hits": {"links": ["tp"], "every": "10ms", "window": "10ms", "delay": "20ms", "to": "tp.bin"}}
    what["traffic"]["emulated"]["wib"]["payload"] = "pulse"
    readout = run(tmp_path, what)
    assert [(link["name"], link["received"], link["dropped"]) for link in readout["links"]] == [
        ("wib-0", FRAMES, {}), ("wib-1", FRAMES, {}), ("tp", 2 * FRAMES, {})]
    [feed] = [feed for feed in readout["feeds"] if feed["feed"] == "hits"]
    assert feed["to"] == "tp" and feed["queued"] == 0 and feed["adds_up"] is True
    assert feed["finders"] == [{"link": f"wib-{i}", "process": "hits", "frames": FRAMES, "skipped": 0, "gaps": 0, "hits": FRAMES, "delivered": FRAMES,
                                "refused": 0} for i in range(2)]
    found = {struct.unpack("<QIIHHHH", frame)
             for fragment in fragments((tmp_path / "tp.bin").read_bytes()) for _, frame in fragment["frames"]}
    # Windows begin with the first hit, and two of them are asked for, when hits that lag behind by a burst of frames are there, too.
    first, both = 20 * 32, 2 * CLOCK // 100
    assert found == {(first + STEP * number, key, 6 * 400, 5, 6, 400, 0) for number in range(both // STEP + 1) for key in range(2)}


def endless(folder, **keys):
    requests = {"triggers": {"links": ["wib"], "every": "1ms", "window": "1ms", "to": "f.bin"}}
    return write_description(folder / "endless.yaml", description(nb=0, requests=requests, **keys))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_the_report(how, tmp_path):
    name = unique_name()
    faults = [{"fault": "drop", "random": 0.01}, {"fault": "reorder", "amount": 2, "random": 0.01}]
    with Instance("run", endless(tmp_path, faults=faults), "--name", name, "--json", cwd=tmp_path) as instance:
        for least in range(100, 1000, 100):  # the sums agree at every look
            report = instance.until(lambda: (now := stats(name)) and now["readout"]["frames"]["received"] >= least and now, "frames")
            check_sums(report["readout"])
        done = instance.stop(how)
    assert done.code == OK and not done.stderr, done.text
    readout = done.json()["readout"]
    check_sums(readout)
    assert readout["requests"]["outstanding"] == readout["requests"]["held"] == 0
    assert len(fragments((tmp_path / "f.bin").read_bytes())) == readout["requests"]["list"][0]["to"]["sent"] > 0


def test_weir_stats_prints_it(tmp_path):
    name = unique_name()
    with Instance("run", endless(tmp_path), "--name", name, "--quiet", cwd=tmp_path) as instance:
        instance.until(lambda: (now := stats(name)) and now["readout"]["frames"]["received"] > 0, "frames")
        done = weir("stats", "--instance", name)
        assert done.code == OK and "wib-1" in done.stdout and "frames of 2 links" in done.stdout
        assert weir("stats", "--instance", name, "--json").json()["state"] == "running"
        assert instance.stop().code == OK


def test_duration(tmp_path):
    done = weir("run", endless(tmp_path), "--duration", "100ms", "--name", unique_name(), "--json", cwd=tmp_path)
    assert done.code == OK and done.json()["elapsed_s"] >= 0.1, done.text
    check_sums(done.json()["readout"])


def test_beside_a_graph(tmp_path):
    """Packets of ports and frames of links in one run."""
    what = description()
    what["application"]["routes"] = [{"prefix": "0.0.0.0/0", "next_hop": 0}]
    what["application"]["neighbours"] = [{"id": 0, "blackhole": True}]
    what["platform"] = {"ports": {"uplink": {"pcap_in": str(ROOT / "examples/data/isp-mix-vlan.pcap"), "accept": "any"}}}
    done = weir("run", write_description(tmp_path / "both.yaml", what), "--name", unique_name(), "--json", cwd=tmp_path)
    assert done.code == OK and not done.stderr, done.text
    report = done.json()
    check_sums(report["readout"])
    assert report["packets"]["in"] > 0 and report["packets"]["adds_up"] is True
    assert report["readout"]["frames"]["received"] == 2 * FRAMES
    done = weir("run", tmp_path / "both.yaml", "--name", unique_name(), cwd=tmp_path)
    assert done.code == OK and "IPv4" in done.stdout and "frames of 2 links" in done.stdout


def test_a_socket_that_nobody_listens_on(tmp_path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "s"))
    server.close()
    what = copy.deepcopy(description(requests={"r": {"links": ["wib"], "every": "1ms", "window": "1ms", "to": "s"}}))
    done = weir("run", write_description(tmp_path / "deaf.yaml", what), "--name", unique_name(), cwd=tmp_path)
    assert done.code == USAGE and "deaf.yaml:" in done.stderr and "onnection refused" in done.stderr, done.text
