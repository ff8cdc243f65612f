# SPDX-License-Identifier: BSD-3-Clause
"""weir readout: what became of frames in a running instance, and windows of them on request."""
import json
import re
import signal

import pytest

from program import FAILED, OK, ROOT, USAGE, Instance, weir, write_description
from running import endless, mixture, start, unique_name, wait_for_packets
from test_jobs import pretender
from test_readout import CLOCK, FRAME_BYTES, STEP, fragments, samples

FRAMES = 1000  # of each link that comes to its end
FAULTS = [{"fault": "drop", "first": 100, "length": 3}, {"fault": "drop", "first": 500}, {"fault": "truncate", "amount": 100, "first": 700}]
RECEIVED = FRAMES - 4
LIMITS = {"history": "60ms", "jump": "2ms"}  # room for all of them


def description():
    """Links "still" come to their end, so what is there of them is known; "going" goes on, and so does the run."""
    return {"application": {"links": {"still": {"format": "wibeth", "count": 2, "buffer": LIMITS},
                                      "going": {"format": "wibeth", "stream": 10, "buffer": LIMITS}}},
            "traffic": {"emulated": {"still": {"rate": "20kHz", "frames": FRAMES, "faults": FAULTS}, "going": {"rate": "100Hz"}}}}


def readout(name, *arguments):
    return weir("readout", *arguments, "--instance", name)


def status(name, *arguments):
    done = readout(name, "status", "--json", *arguments)
    assert done.code == OK and not done.stderr, done.text
    answer = done.json()
    assert answer["agree"] is True
    for link in answer["links"]:
        assert link["received"] == link["buffered"] + link["held"] + link["delivered"] + sum(link["dropped"].values()), link
    return answer


class Run(Instance):
    """A run of the above, when all frames of the links that come to their end are there."""

    def __init__(self, folder):
        self.name = unique_name()
        super().__init__("run", write_description(folder / "readout.yaml", description()), "--name", self.name, "--quiet", cwd=folder)

    def __enter__(self):
        self.until(self.answers, "answer")
        self.until(self.has_all, "all frames")
        return self

    def answers(self):
        return readout(self.name, "status").code == OK

    def has_all(self):
        *still, going = [link["buffered"] for link in status(self.name)["links"]]
        return still == [RECEIVED - 1] * 2 and going > 0


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    with Run(tmp_path_factory.mktemp("readout")) as running:
        yield running
        done = running.stop()
        assert done.code == OK and not done.stderr, done.text


# One instance for all tests that do not change it.
together = pytest.mark.xdist_group("readout-ctl")


@together
def test_status(instance):
    answer = status(instance.name)
    assert [link["link"] for link in answer["links"]] == ["still-0", "still-1", "going"]
    for link in answer["links"][:2]:
        assert link["format"] == "wibeth" and link["buffered"] == RECEIVED - 1
        assert {reason: nb for reason, nb in link["dropped"].items() if nb} == {"wrong_size": 1}
        checks, buffer = link["checks"], link["buffer"]
        assert checks["missing"] == 3 + 1 + 1 and checks["gap"]["count"] == 3 and checks["wrong_size"]["count"] == 1
        assert checks["gap"]["first"]["timestamp"] == str(103 * STEP) and checks["gap"]["last"]["timestamp"] == str(701 * STEP)
        assert checks["gap"]["interval_ns"] > 0 and set(checks) == {"missing", "gap", "wrong_size"}
        assert buffer["newest"] == str(FRAMES * STEP) and buffer["guaranteed_s"] >= 0.06
    [emulators] = [part for part in answer["emulators"] if len(part["streams"]) == 2]
    for stream in emulators["streams"]:
        assert stream["made"] == FRAMES and stream["sent"] == RECEIVED and stream["faults"]["drop"] == 4
    assert all("queues" in part for part in answer["dispatches"])
    assert answer["requests"]["control"]["max_fragments"] > 0


@together
def test_status_for_people(instance):
    done = readout(instance.name, "status")
    assert done.code == OK and not done.stderr, done.text
    [line] = [line for line in done.stdout.splitlines() if line.startswith("still-1 ")]
    assert line.split()[1:7] == [str(RECEIVED), str(RECEIVED - 1), "0", "0", "1", "5"]
    assert f".. {FRAMES * STEP}" in line
    assert "dropped: wrong_size 1" in done.stdout and f"gap 3 (last: frame 697, timestamp {701 * STEP}, after" in done.stdout, done.stdout
    assert "faults: drop 4" in done.stdout and "requests: " in done.stdout and "AGREE" not in done.stdout


@together
def test_one_link(instance):
    assert [link["link"] for link in status(instance.name, "--link", "still-1")["links"]] == ["still-1"]
    assert "still-0" not in readout(instance.name, "status", "--link=still-1").stdout
    done = readout(instance.name, "status", "--link", "wib-7")
    assert done.code == FAILED and "no link 'wib-7'; there are still-0, still-1, going" in done.stderr


@together
def test_a_family_of_links(instance):
    """As in a description file, "still" stands for all of them."""
    assert [link["link"] for link in status(instance.name, "--link", "still")["links"]] == ["still-0", "still-1"]
    for names in ["still"], ["still", "still-1"]:
        window = [word for name in names for word in ("--link", name)]
        found = readout(instance.name, "request", "--begin", 0, "--end", STEP, *window, "--json").json()["fragments"]
        assert [fragment["link"] for fragment in found] == ["still-0", "still-1"]
    done = readout(instance.name, "request", "--last", "1ms", "--link", "stil")
    assert done.code == FAILED and "no link 'stil'; there are still-0, still-1, going" in done.stderr, done.text


@together
def test_request(instance, tmp_path):
    """All frames of a window, and what is missing of it; as JSON, as a table, and as bytes."""
    window = ["--begin", 90 * STEP, "--end", hex(110 * STEP), "--link", "still-1", "--link", "still-0", "--trigger", 7, "--run", 3]
    expected = [[str(100 * STEP), str(103 * STEP)]]
    answer = readout(instance.name, "request", *window, "--json").json()
    assert answer["trigger"] == "7" and answer["run"] == "3" and len(answer["fragments"]) == 2
    for number, fragment in enumerate(answer["fragments"]):
        assert fragment["link"] == f"still-{number}" and fragment["answer"] == "partial" and fragment["missing"] == expected
        assert fragment["frames"] == 17 and fragment["bytes"] == 17 * FRAME_BYTES and "data" not in fragment
    done = readout(instance.name, "request", *window, "--out", tmp_path / "out.bin")
    assert done.code == OK and not done.stderr and f"missing: {100 * STEP} .. {103 * STEP}" in done.stdout, done.text
    for number, fragment in enumerate(fragments((tmp_path / "out.bin").read_bytes())):
        assert fragment["name"] == f"still-{number}" and fragment["trigger"] == 7 and fragment["run"] == 3
        assert fragment["begin"] == 90 * STEP and fragment["end"] == 110 * STEP and fragment["missing"] == [(100 * STEP, 103 * STEP)]
        assert [timestamp for timestamp, _ in fragment["frames"]] == [STEP * n for n in range(90, 110) if n not in (100, 101, 102)]
        assert all(int.from_bytes(frame[8:16], "little") == timestamp for timestamp, frame in fragment["frames"])
    with_out = readout(instance.name, "request", *window, "--out", tmp_path / "out.bin", "--json").json()
    assert all("data" not in fragment for fragment in with_out["fragments"])


@together
def test_requests_of_what_is_not_there(instance):
    end = FRAMES * STEP
    for window, answer, frames in [((0, end), "partial", FRAMES - 5), ((0, 0), "complete", 0), ((end - STEP, end + 1), "not_yet", 1),
                                   ((100 * STEP, 103 * STEP), "partial", 0), ((10 * STEP, 20 * STEP), "complete", 10)]:
        done = readout(instance.name, "request", "--begin", window[0], "--end", window[1], "--link", "still-0", "--json")
        [fragment] = done.json()["fragments"]
        assert done.code == OK and (fragment["answer"], fragment["frames"]) == (answer, frames), (window, fragment)
    waited = ["request", "--begin", 0, "--end", end + 1, "--timeout", "1ms", "--link", "still-0", "--json"]
    assert readout(instance.name, *waited).json()["fragments"][0]["answer"] == "timed_out"


@together
def test_the_last(instance):
    [fragment] = readout(instance.name, "request", "--last", "2ms", "--link", "still-0", "--json").json()["fragments"]
    assert fragment["answer"] == "complete" and int(fragment["end"]) == FRAMES * STEP
    assert int(fragment["begin"]) == FRAMES * STEP - CLOCK // 500
    done = readout(instance.name, "request", "--last", "1s")
    assert done.code == OK and len(done.stdout.splitlines()) >= 4, done.text


@together
def test_refused(instance, tmp_path):
    for arguments, why in [(["--begin", 5, "--end", 4], "before"), (["--begin", 0, "--end", 2 ** 64 - 1], "half of what"),
                           (["--begin", 1, "--end", 2, "--link", "wib"], "no link 'wib'"),
                           (["--begin", 2 ** 64, "--end", 2], "2^64")]:
        done = readout(instance.name, "request", *arguments)
        assert done.code == FAILED and why in done.stderr, done.text
    done = readout(instance.name, "request", "--last", "2ms", "--out", tmp_path)
    assert done.code == FAILED and "cannot write" in done.stderr, done.text


@pytest.mark.parametrize("arguments, why", [
    ([], "something is missing"), (["nonsense"], "'status' or 'request'"), (["status", "--last", "1ms"], "--last is of 'request'"),
    (["request", "--watch", "--last", "1ms"], "--watch is of 'status'"), (["request"], "which window?"), (["request", "--begin", "1"], "which window?"),
    (["request", "--begin", "1", "--end", "2", "--last", "1ms"], "either"), (["request", "--last", "1"], "such as 10ms"),
    (["request", "--last", "100us"], "whole milliseconds"), (["request", "--begin", "x", "--end", "2"], "expected a number"),
    (["request", "--begin", "1", "--end", "-2"], "expected a number"), (["request", "--last", "1ms", "--timeout", "11s"], "up to 10s"),
    (["request", "--last", "1ms", "--trigger", ""], "expected a number"), (["status", "--link", "a", "--link", "b"], "one link, or all"),
])
def test_wrong_use(arguments, why):
    done = weir("readout", *arguments)
    assert done.code == USAGE and why in done.stderr, done.text


def test_help():
    done = weir("readout", "--help")
    assert done.code == OK and all(word in done.stdout for word in ("--watch", "--begin T --end T", "--last TIME", "--out FILE", "held"))
    assert re.search(r"^ *readout ", weir("help").stdout, re.M)


def test_watched_until_it_ends(tmp_path):
    """One object a line; a request that waits is answered, too, when the run ends."""
    with Run(tmp_path) as running:
        watcher = Instance("readout", "status", "--watch", "--json", "--instance", running.name, cwd=tmp_path)
        table = Instance("readout", "status", "--watch", "--instance", running.name, cwd=tmp_path)
        waits = Instance("readout", "request", "--begin", 0, "--end", 2 ** 40, "--timeout", "10s", "--link", "still-0", "--json",
                         "--instance", running.name, cwd=tmp_path)
        with watcher, table, waits:
            running.until(lambda: (tmp_path / f"stdout-{id(watcher)}").read_text().count("\n") >= 2, "two looks")
            running.until(lambda: "frames/s" in (tmp_path / f"stdout-{id(table)}").read_text(), "a look with rates")
            running.until(lambda: status(running.name)["requests"]["asked"] >= 1, "question")
            assert running.stop().code == OK
            done = watcher.wait()
            looks = [json.loads(line) for line in done.stdout.splitlines()]
            assert done.code == OK and len(looks) >= 2 and all(look["agree"] for look in looks)
            assert looks[0]["time_ns"] < looks[1]["time_ns"]
            done = table.wait()
            assert done.code == OK and f"{running.name} has ended" in done.stdout
            done = waits.wait()
            assert done.code == OK and done.json()["fragments"][0]["answer"] == "stopped", done.text


@pytest.mark.parametrize("agree", [True, False])
def test_watched_sums(agree, tmp_path):
    """That they did not agree is told to the end."""
    with pretender({"readout/status": {"agree": agree, "links": []}}) as name:
        with Instance("readout", "status", "--watch", "--json", "--instance", name, cwd=tmp_path) as watcher:
            watcher.until(lambda: (tmp_path / f"stdout-{id(watcher)}").read_text().count("\n") >= 1, "a look")
            assert watcher.stop().code == (OK if agree else FAILED)


def test_watched_without_an_answer(tmp_path):
    """A run that stands still has not ended."""
    with Run(tmp_path) as running:
        with Instance("readout", "status", "--watch", "--instance", running.name, cwd=tmp_path) as watcher:
            running.until(lambda: "going" in (tmp_path / f"stdout-{id(watcher)}").read_text(), "a look")
            running.process.send_signal(signal.SIGSTOP)
            done = watcher.wait()
            running.process.send_signal(signal.SIGCONT)
        assert done.code == FAILED and "watched no longer: no answer within" in done.stderr and "has ended" not in done.stdout, done.text
        assert running.stop().code == OK


def test_what_looks_for_hits(tmp_path):
    """Finders and where their hits come together, whose sums agree when nothing is on its way."""
    (tmp_path / "pulse").write_bytes(samples(lambda time, channel: 500 if channel == 5 and 20 <= time < 26 else 100))
    what = description()
    what["application"]["links"]["still"]["hits"] = {"threshold": 60, "to": "tp"}
    what["application"]["links"]["tp"] = {"format": "hit", "buffer": {"history": "200ms", "rate": "100kHz"}}
    what["traffic"]["emulated"]["still"].update(payload="pulse", faults=[])
    name = unique_name()
    with Instance("run", write_description(tmp_path / "hits.yaml", what), "--name", name, "--quiet", cwd=tmp_path) as running:
        running.until(lambda: readout(name, "status").code == OK, "answer")
        now = running.until(lambda: (now := status(name))["collectors"][0]["received"] == 2 * FRAMES and now, "all hits")
        counts = {"frames": FRAMES, "skipped": 0, "gaps": 0, "hits": FRAMES, "delivered": FRAMES, "refused": 0}
        assert now["finders"] == [{"name": f"still-{number} hits", **counts} for number in range(2)]
        assert now["collectors"] == [{"name": "tp", "received": 2 * FRAMES, "queued": 0, "sources": 2}]
        done = readout(name, "status")
        assert f"finder still-1 hits: frames {FRAMES}, hits {FRAMES}, delivered {FRAMES}" in done.stdout, done.text
        assert f"collector tp: received {2 * FRAMES}, sources 2" in done.stdout, done.text
        assert running.stop().code == OK


def test_runs_without_links(tmp_path):
    """Who asks for what is not there is told so."""
    assert weir("readout", "status", "--instance", "nobody-at-all").code == FAILED
    name = unique_name()
    with start(endless(tmp_path, mixture()), name) as running:
        wait_for_packets(running, name)
        for arguments in (["status"], ["request", "--last", "1ms"]):
            done = readout(name, *arguments)
            assert done.code == FAILED and "no application.links" in done.stderr, done.text
        assert running.stop().code == OK


def test_what_a_terminal_can_take():
    """Names are the application's; sums that do not agree are a failure."""
    evil = "\x1b[2J\rred"
    fault = {"count": 2, "last": {"number": 5, "timestamp": evil}, "interval_ns": 1500}
    link = {"link": evil, "received": 1, "dropped": {evil: 3}, "processed": {evil: 3}, "checks": {"missing": 0, evil: fault}}
    answers = {"readout/status": {"agree": False, "links": [link], "emulators": [{"name": evil, "streams": [{"faults": {"drop": 1}}]}]},
               "readout/request": {"fragments": [{"link": evil, "refused": evil}, {"link": "l", "answer": "too_large"},
                                                 {"link": evil, "answer": "partial", "missing": [["1", evil]] * 20}]}}
    with pretender(answers) as name:
        for arguments in (["status"], ["request", "--last", "1ms"]):
            done = readout(name, *arguments)
            assert done.code == FAILED and not re.search(r"[^\n\x20-\x7e]", done.stdout), repr(done.stdout)
            assert "?[2J?red" in done.stdout
        assert "DO NOT AGREE" in readout(name, "status").stdout and "1.5us" in readout(name, "status").stdout
        done = readout(name, "request", "--last", "1ms")
        assert "and 12 more" in done.stdout and "ask for a shorter window" in done.stdout
        assert readout(name, "status", "--json").code == FAILED


def test_too_large():
    """A window of more frames than a fragment has room for is none that was answered."""
    with pretender({"readout/request": {"fragments": [{"link": "wib", "answer": "too_large"}]}}) as name:
        assert readout(name, "request", "--last", "1ms").code == FAILED


def test_example(tmp_path):
    """As a user tries it."""
    name = unique_name()
    with Instance("run", ROOT / "examples/readout.yaml", "--name", name, "--duration", "1000s", "--quiet", cwd=tmp_path) as running:
        running.until(lambda: readout(name, "status").code == OK and all(link["buffered"] > 0 for link in status(name)["links"]), "frames")
        answer = readout(name, "request", "--last", "1ms", "--timeout", "1s", "--json").json()
        assert len(answer["fragments"]) == 4 and all(int(part["end"]) - int(part["begin"]) <= CLOCK // 1000 for part in answer["fragments"])
        status(name)
        assert running.stop().code == OK
