# SPDX-License-Identifier: BSD-3-Clause
"""Functions on the frames of links: before their buffers, after these in threads, and in jobs; each frame is accounted for."""
import random
import re
import shutil
import struct
import subprocess

import pytest

from program import OK, ROOT, SLOW, USAGE, Instance, weir, write_description
from running import stats, unique_name
from test_bad_descriptions import refuse
from test_readout import STEP, check_process, check_sums, fragments, run, wibeth
from test_readout_ctl import status

HIT = {"format": "hit", "buffer": {"history": "100ms", "rate": "200kHz", "reorder": 40_000}}
MARK = {"size": "16B", "clock": "62.5MHz", "timestamp": {"offset": 0, "width": 64}}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """A plug-in, made as its author would: with the public headers, and without the library."""
    path = tmp_path_factory.mktemp("plugin") / "process.so"
    flags = subprocess.run(["pkg-config", "--cflags", "libdpdk"], capture_output=True, text=True, check=True).stdout.split()
    folders = [f"-I{folder}" for folder in sorted((ROOT / "lib").iterdir()) if folder.is_dir()]
    subprocess.run([shutil.which("cc"), "-shared", "-fPIC", "-O1", "-ftls-model=initial-exec", *flags, *folders, "-o", path,
                    ROOT / "tests/bridge/plugin_process.c"], check=True)
    return path


def description(folder, processes, frames, count=2, links=(), **buffer):
    """Links that get frames of a file, which all of them have room for if nothing else is said."""
    (folder / "raw").write_bytes(b"".join(frames))
    wib = {"format": "wibeth", "count": count, "buffer": {"history": "50ms", **buffer}}
    return {"application": {"formats": {"mark": MARK}, "links": {"in": wib, **dict(links)}, "processes": processes},
            "traffic": {"replayed": {"in": {"frames": "raw", "rate": "20kHz"}}}}


def numbered(nb, count=2):
    return [wibeth(number, key) for number in range(nb) for key in range(count)]


def by_name(readout, name):
    return {process["link"]: process for process in readout["processes"] if process["process"] == name}


def noise(nb, count=2):
    """Samples at random, of which some are above the baseline of some channels; the first hit is the same of all links."""
    generator, frames = random.Random(7), []
    for number in range(nb):
        for key in range(count):
            frame = bytearray(wibeth(number, key))
            frame[32:] = generator.randbytes(len(frame) - 32)
            if number == 0:  # channel 0: 0, the highest, 0
                for time, value in enumerate((0, 16383, 0)):
                    word = int.from_bytes(frame[32 + 112 * time:34 + 112 * time], "little")
                    frame[32 + 112 * time:34 + 112 * time] = (word & ~16383 | value).to_bytes(2, "little")
            frames.append(bytes(frame))
    return frames


def test_the_same_hits_wherever_they_are_found(tmp_path, plugin):
    """Before the buffer, after it in a thread, and in jobs; and of what is found after one, what comes after that."""
    hits = {"function": "hits", "threshold": 14000, "links": ["in"]}
    processes = {where: {**hits, "where": where, "to": f"tp_{where}"} for where in ("inline", "thread", "jobs")}
    processes["counts"] = {"function": f"{plugin}:counter", "links": ["tp_thread", "tp_jobs"], "where": "thread"}
    what = description(tmp_path, processes, noise(150), links={f"tp_{where}": HIT for where in ("inline", "thread", "jobs")})
    # From the first hit on, until nothing comes any more.
    what["application"]["requests"] = {name: {"links": [f"tp_{name}"], "every": "100ms", "window": "100ms", "timeout": "1h", "to": name}
                                       for name in ("inline", "thread", "jobs")}
    what["application"]["fragments"] = {"count": 6, "frames": 50_000}
    readout = run(tmp_path, what)
    found = {}
    for name in "inline", "thread", "jobs":
        [fragment] = fragments((tmp_path / name).read_bytes())
        found[name] = [struct.unpack("<QIIHHHH", frame) for _, frame in fragment["frames"]]
    assert 1000 < len(found["inline"]) < 20_000 and len(set(found["inline"])) == len(found["inline"])
    assert {hit[1] for hit in found["inline"]} == {0, 1}
    assert sorted(found["inline"]) == sorted(found["thread"]) == sorted(found["jobs"])
    for name in "thread", "jobs":
        for process in by_name(readout, name).values():
            assert process["received"] == process["passed"] == 150 and process["missed"] == process["waiting"] == 0
        assert by_name(readout, "counts")[f"tp_{name}"]["passed"] == len(found[name])


@pytest.mark.parametrize("keys", [{"where": "thread"}, {"where": "jobs", "frames": 4}, {"where": "jobs", "frames": 4, "on_full": "drop"}],
                         ids=["thread", "jobs", "jobs that are full"])
def test_one_that_stalls_in_a_frame_while_the_writer_laps_it(tmp_path, plugin, keys):
    """It looks on when all that the buffer has room for was overwritten many times: its frame is whole; what it missed is counted."""
    nb, history = 2000, 100
    processes = {"counter": {"function": f"{plugin}:counter", "links": ["in"], "where": "inline"},
                 "slow": {"function": f"{plugin}:staller", "argument": str(nb), "links": ["in"], **keys}}
    what = description(tmp_path, processes, numbered(nb, 1), count=1, history=f"{history * STEP / 62.5:.0f}us", spare=64)
    readout = run(tmp_path, what)
    [slow] = by_name(readout, "slow").values()
    assert readout["links"][0]["received"] == slow["received"] == nb and not readout["links"][0]["dropped"]
    assert not slow["dropped"] and slow["waiting"] == 0 and slow["passed"] > 0
    lost = slow["missed"] + sum(slow.get("refused", {}).values())
    assert set(slow.get("refused", {})) <= {"jobs_full"} and (keys.get("on_full") == "drop" or not slow.get("refused"))
    assert lost > nb / 2 and lost + slow["passed"] == nb


@pytest.mark.parametrize("keys", [{"where": "inline"}, {"where": "thread"}, {"where": "jobs"}], ids=lambda keys: keys["where"])
def test_plugin(tmp_path, plugin, keys):
    """It drops every third frame, and sends a message of each of the others."""
    shutil.copy(plugin, tmp_path / "beside.so")
    processes = {"marks": {"function": "beside.so:marker", "links": ["in-0", "in-1"], "to": "marks", **keys}}
    links = {"marks": {"format": "mark", "buffer": {"history": "1s", "rate": "100kHz"}}}
    readout = run(tmp_path, description(tmp_path, processes, numbered(300, 3), count=3, links=links))
    [feed] = [feed for feed in readout["feeds"] if feed["feed"] == "messages"]
    assert feed["sources"] == [{"link": f"in-{number}", "process": "marks", "sent": 200, "delivered": 200, "refused": 0} for number in range(2)]
    assert [link["received"] for link in readout["links"]] == [300, 300, 300, 400]
    marks = by_name(readout, "marks")
    assert set(marks) == {"in-0", "in-1"} and all(process["function"] == "marker" for process in marks.values())
    dropped = {"marks.even": 50, "marks.odd": 50}
    assert all(process["dropped"] == dropped for process in marks.values())
    if keys["where"] == "inline":
        assert [link["dropped"] for link in readout["links"]] == [{"processed": 100}, {"processed": 100}, {}, {}]
    else:
        assert all(process["passed"] == 200 and process["missed"] == 0 for process in marks.values())
        assert not any(link["dropped"] for link in readout["links"])


def test_several_jobs_of_a_link_on_several_workers(tmp_path, plugin):
    processes = {"all": {"function": f"{plugin}:staller", "argument": "0", "links": ["in"], "where": "jobs", "jobs": 3, "frames": 5,
                         "group": "some", "priority": 2, "slice": "100us"}}
    what = {**description(tmp_path, processes, numbered(500)), "platform": {"workers": [{"groups": ["some"]}, {"groups": ["some"]}]}}
    readout = run(tmp_path, what)
    for process in by_name(readout, "all").values():
        assert process["passed"] == 500 and not process["dropped"] and process["jobs"] >= 100


def test_status_and_an_end_while_jobs_keep_frames(tmp_path, plugin):
    """A run that is stopped does not wait for them for ever, and says where each frame is."""
    processes = {"stuck": {"function": f"{plugin}:staller", "argument": "1000000000", "links": ["in"], "where": "jobs", "frames": 4},
                 "finder": {"function": "hits", "threshold": 100, "links": ["in"], "where": "thread", "to": "tp"}}
    what = {**description(tmp_path, processes, numbered(100), links={"tp": HIT}), "run": {"until": "signal"}}
    name = unique_name()
    with Instance("run", write_description(tmp_path / "stuck.yaml", what), "--name", name, "--json", cwd=tmp_path) as running:
        def looked():
            done = weir("readout", "status", "--instance", name, "--json")
            now = {part["name"]: part for part in done.json()["followers"]} if done.code == OK else {}
            return (now if now and all(now[f"in-{link} stuck"]["inside"] > 0 and now[f"in-{link} finder"]["passed"] == 100 for link in (0, 1))
                    else None)
        now = running.until(looked, "jobs with frames")
        assert set(now) == {f"in-{link} {process}" for link in (0, 1) for process in ("stuck", "finder")}
        for part in now.values():
            check_process(part)
        assert status(name)["agree"] is True
        printed = weir("readout", "status", "--instance", name)
        assert re.search(r"follower in-1 finder: received 100, passed 100", printed.stdout), printed.text
        assert re.search(r"follower in-0 stuck: received 100, waiting \d+, inside \d", printed.stdout), printed.text
        done = running.stop()
    assert done.code == OK and not done.stderr, done.text
    readout = done.json()["readout"]
    check_sums(readout)
    for process in by_name(readout, "stuck").values():
        assert 0 < process["inside"] <= 4 and process["inside"] + process["waiting"] == 100 and process["passed"] == 0


@pytest.mark.skipif(SLOW > 1, reason="what a job has that never ends is never freed")
def test_jobs_that_never_end(tmp_path, plugin):
    """They are given up once: nobody resumes them when the frames they look at, and their contexts, are gone."""
    processes = {"deaf": {"function": f"{plugin}:deaf", "links": ["in"], "where": "jobs", "frames": 4}}
    what = {**description(tmp_path, processes, numbered(100)), "run": {"until": "signal"}}
    name = unique_name()
    with Instance("run", write_description(tmp_path / "deaf.yaml", what), "--name", name, "--json", cwd=tmp_path) as running:
        def looked():
            done = weir("readout", "status", "--instance", name, "--json")
            parts = done.json()["followers"] if done.code == OK else []
            return parts and all(part["inside"] > 0 for part in parts)
        running.until(looked, "jobs with frames")
        done = running.stop()
    assert done.code == OK and done.stderr.count("some jobs did not end") == 1 and "ended\n" not in done.stderr, done.text
    check_sums(done.json()["readout"])


@pytest.mark.parametrize("delivery", [{}, {"delivery": {"by": "queue", "capacity": 4096}}], ids=["callback", "queue"])
def test_sums_at_every_look(tmp_path, plugin, delivery):
    """While frames come, go, and are looked at; and when all that is over."""
    processes = {"drops": {"function": f"{plugin}:marker", "links": ["in"], "where": "inline"},
                 "thread": {"function": "hits", "threshold": 60, "links": ["in"], "where": "thread", "to": "tp"},
                 "jobs": {"function": f"{plugin}:marker", "links": ["in"], "where": "jobs", "frames": 8, "on_full": "drop"},
                 "next": {"function": f"{plugin}:counter", "links": ["tp"], "where": "thread"}}
    what = description(tmp_path, processes, [], history="5ms", links={"tp": HIT})
    what["application"]["links"]["in"].update(delivery)
    what["traffic"] = {"emulated": {"in": {"rate": "20kHz", "payload": str(ROOT / "examples/data/pulse.wibeth")}}}
    name = unique_name()
    with Instance("run", write_description(tmp_path / "endless.yaml", what), "--name", name, "--json", cwd=tmp_path) as running:
        for least in range(1000, 20_000, 1000):
            check_sums(running.until(lambda: (now := stats(name)) and now["readout"]["frames"]["received"] >= least and now, "frames")["readout"])
            assert status(name)["agree"] is True
        done = running.stop()
    assert done.code == OK and not done.stderr, done.text
    readout = done.json()["readout"]
    check_sums(readout)
    came = {link["name"]: link["received"] - sum(link["dropped"].values()) for link in readout["links"]}
    for name in ("in-0", "in-1"):
        assert by_name(readout, "thread")[name]["received"] == by_name(readout, "jobs")[name]["received"] == came[name]
    assert by_name(readout, "next")["tp"]["received"] == came["tp"]


def test_links_of_a_graphs_port(tmp_path, plugin):
    """What a graph's workers hand to links is looked at by jobs on the same ones."""
    text = (ROOT / "examples/shared.yaml").read_text().replace("tests/data", str(ROOT / "tests/data"))
    text = text.replace("\n  nodes:\n", f'\n  processes:\n    all: {{function: "{plugin}:counter", links: [turns], where: jobs}}\n  nodes:\n')
    (tmp_path / "shared.yaml").write_text(text)
    done = weir("run", tmp_path / "shared.yaml", "--name", unique_name(), "--json", cwd=tmp_path)
    assert done.code == OK and not done.stderr, done.text
    readout = done.json()["readout"]
    assert readout["adds_up"] is True
    [process] = readout["processes"]
    check_process(process)
    assert process["received"] == 64


def test_example(tmp_path):
    path = ROOT / "examples/processes.yaml"
    assert path.read_text().split("\n", 5)[5].strip() in (ROOT / "doc/readout.md").read_text()
    done = weir("run", path, "--name", unique_name(), "--json", cwd=tmp_path)
    assert done.code == OK and not done.stderr, done.text
    readout = done.json()["readout"]
    check_sums(readout)
    received = {link["name"]: link["received"] for link in readout["links"]}
    assert received["tp_inline"] == sum(received[f"wib-{number}"] for number in range(4)) > 0
    for name, link in ("after", "tp_thread"), ("in_jobs", "tp_jobs"):
        lost = sum(process["missed"] for process in by_name(readout, name).values())
        # A hit in each frame.
        assert received[link] == received["tp_inline"] - lost
    done = weir("run", path, "--name", unique_name(), cwd=tmp_path)
    assert done.code == OK and "in_jobs" in done.stdout and "NOT" not in done.stdout, done.text


@pytest.mark.parametrize("symbol, keys, expected", [
    ("nothing", {}, "has no symbol 'nothing'"), ("old_abi", {}, "version 2"), ("no_run", {}, "no run function"),
    ("marker", {"argument": "refuse"}, "could not be made for link 'in-0'"), ("counter", {"to": "marks"}, "'counter' sends nothing"),
    ("marker", {"to": "tp"}, "cannot go where those of 'finder' do"), ("marker", {"to": "small"}, "16 bytes are no frames of link 'small'"),
])
def test_bad_plugins(tmp_path, plugin, symbol, keys, expected):
    processes = {"finder": {"function": "hits", "threshold": 100, "links": ["in"], "where": "inline", "to": "tp"},
                 "bad": {"function": f"{plugin}:{symbol}", "links": ["in"], "where": "thread", **keys}}
    others = {"marks": {"format": "mark", "buffer": HIT["buffer"]}, "small": HIT}
    what = description(tmp_path, processes, numbered(1),
                       links={"tp": HIT, **{name: link for name, link in others.items() if name == keys.get("to")}})
    done = weir("run", write_description(tmp_path / "bad.yaml", what), "--name", unique_name(), cwd=tmp_path)
    assert done.code == USAGE and re.search(r"bad\.yaml:\d+:\d+: .*" + expected, done.stderr), done.text


@pytest.mark.parametrize("where", ["process", "consumer"])
def test_a_cpu_that_is_not_there(where, tmp_path):
    """Threads that cannot begin end the run, for whose links jobs wait."""
    text = GOOD.replace('    yours: {function: "bad.yaml:look", links: [wib-1], where: thread, cpu: 1}',
                        "    other: {function: hits, threshold: 60, links: [wib], where: thread, to: tp}")
    text = (text.replace("where: thread", "where: thread, cpu: 1023") if where == "process"
            else text.replace("count: 4,", "count: 4, delivery: {by: queue, cpu: 1023},"))
    (tmp_path / "far.yaml").write_text(text)
    done = weir("run", "far.yaml", "--name", unique_name(), cwd=tmp_path)
    line = 1 + text.split("cpu: 1023")[0].count("\n")
    who = "process 'other'" if where == "process" else "consumer of link 'wib'"
    assert done.code == USAGE and re.search(rf"far\.yaml:{line}:\d+: {who} cannot run on CPU 1023", done.stderr), done.text
    told = weir("run", "far.yaml", "--name", unique_name(), "--json", cwd=tmp_path).json()
    assert [error["line"] for error in told["errors"]] == [line]


GOOD = """\
application:
  links:
    wib: {format: wibeth, count: 4, buffer: {history: 50ms}}
    raw: {format: udp, buffer: {history: 1s, rate: 100Hz, frame_size: 100B}}
    tp: {format: hit, buffer: {history: 1s, rate: 1kHz}}
  processes:
    finder: {function: hits, threshold: 60, links: [wib], where: jobs, to: tp, jobs: 1}
    yours: {function: "bad.yaml:look", links: [wib-1], where: thread, cpu: 1}
traffic:
  emulated:
    wib: {}
    raw: {rate: 100Hz, size: 100B}
platform:
  workers: [{}]
run:
  duration: 1s
  stats_json: out/stats.json
"""

# As in test_bad_descriptions.py: what to replace by what, '@' before the place; words of the message.
WRONG = {
    "no function": ("function: hits, threshold: 60, links", "links", ["'function'"]),
    "a function that is none": ("function: hits", "function: @hit", ["'hit'", "PLUGIN.so:SYMBOL"]),
    "a plug-in that is not there": ('"bad.yaml:look"', '@"none.so:look"', ["none.so", "hits"]),
    "no place": (", where: jobs", "", ["'where'"]),
    "a place that is none": ("where: jobs", "where: @job", ["'job'", "inline", "thread", "jobs"]),
    "no links": ("links: [wib]", "@links: []", ["no links", "wib"]),
    "a link that is not there": ("links: [wib]", "links: [@wob]", ["'wob'", "wib"]),
    "a number that is not there": ("links: [wib-1]", "links: [@wib-4]", ["'wib-4'", "wib"]),
    "a link twice": ("links: [wib]", "links: [wib-2, @wib]", ["'wib'", "once"]),
    "hits of something else": ("links: [wib]", "links: [wib, @raw]", ["'udp'", "'wibeth'"]),
    "hits without a threshold": ("    finder: {function: hits, threshold: 60", "    @finder: {function: hits", ["'threshold'"]),
    "hits that go nowhere": ("    finder: {function: hits, threshold: 60, links: [wib], where: jobs, to: tp",
                             "    @finder: {function: hits, threshold: 60, links: [wib], where: jobs", ["'to'"]),
    "hits to a link of something else": ("to: tp", "to: @raw", ["'raw'", "'udp'", "'hit'"]),
    "hits to a link that is fed": ("    wib: {}\n", "    wib: {}\n    @tp: {rate: 1kHz}\n", ["'tp'", "bad.yaml:7:5"]),
    "messages to several links": ("cpu: 1", "to: @wib", ["'wib'", "4 links"]),
    "messages that come back": ("links: [wib-1], where: thread, cpu: 1", "links: [tp], where: thread, to: @tp", ["'tp'", "come back"]),
    "messages that come back by another": ("where: thread, cpu: 1}", "where: thread, to: raw}\n"
                                           '    third: {function: "bad.yaml:x", links: [raw, tp], where: inline, to: @tp}',
                                           ["'tp'", "come back"]),
    "hits by a name of their own": ("    yours:", "    @hits:", ["'hits'"]),
    "a long name": ("    yours:", "    @quite_a_long_name:", ["'quite_a_long_name'", "15"]),
    "a threshold of a plug-in": ("cpu: 1", "threshold: @5", ["'threshold'", "hits"]),
    "an argument of hits": ("jobs: 1", "argument: @text", ["'argument'", "PLUGIN.so:SYMBOL"]),
    "a CPU of jobs": ("jobs: 1", "cpu: @1", ["'cpu'", "thread"]),
    "jobs of a thread": ("cpu: 1", "jobs: @2", ["'jobs'", "where: jobs"]),
    "a group of a thread": ("cpu: 1", "group: @some", ["'group'", "where: jobs"]),
    "several jobs that find hits": ("jobs: 1", "jobs: @2", ["2 jobs", "hit finder"]),
    "a group without workers": ("jobs: 1", "group: @some", ["'some'", "platform.workers"]),
    "workers that serve nothing": ("workers: [{}]", "workers: [{}, {groups: [@idle]}]", ["'idle'"]),
    "more than there is to spare": ("history: 50ms}", "history: 50ms, spare: @30}", ["34", "'wib'", "30"]),
    "too many in a row": ("    yours: {", "".join(f'    p{number}: {{function: "bad.yaml:x", links: [wib], where: inline}}\n' for number in range(8))
                          + '    @more: {function: "bad.yaml:x", links: [wib-3], where: inline}\n    yours: {', ["8", "'wib'"]),
    "a queue of what is made": ("rate: 1kHz}}", "rate: 1kHz}, delivery: {by: @queue}}", ["'tp'", "callback"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong(case, tmp_path):
    old, new, words = WRONG[case]
    assert old in GOOD
    refuse(tmp_path, GOOD.replace(old, new, 1), words)


def test_a_group_without_a_platform(tmp_path):
    """The only worker that there is then is in none; ports have nothing to do with that."""
    text = GOOD.replace("platform:\n  workers: [{}]\n", "").replace("jobs: 1", "group: @some")
    done = refuse(tmp_path, text, ["'some'", "platform.workers"])
    assert done.stderr.count("bad.yaml:") == 1 and "port" not in done.stderr, done.text


def test_good(tmp_path):
    (tmp_path / "bad.yaml").write_text(GOOD)
    done = weir("check", tmp_path / "bad.yaml", cwd=tmp_path)
    assert done.code == OK and done.stdout.endswith("in order: 6 links, 0 requests\n") and not done.stderr, done.text
    # Two links that are made, hits of one of these, and what is looked at by a function.
    assert weir("graph", "bad.yaml", cwd=tmp_path).stdout.count("->") == 4


@pytest.mark.parametrize("part, line", [("application", '@edges: ["classify.ip4 -> ip4_lookup"]'), ("run", "graph_svg: @out/x.svg")])
def test_keys_of_graphs(part, line, tmp_path):
    """There are workers, for jobs, but there is no graph."""
    key = line.replace("@", "").split(":")[0]
    refuse(tmp_path, GOOD.replace(f"{part}:\n", f"{part}:\n  {line}\n", 1), [f"'{key}'", "links alone"])
