# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in description files: long work on packets is spread, in order by flow, within bounds; weir jobs tells what goes on."""
import contextlib
import json
import re
import shutil
import socket
import threading

import pytest

from network import assert_report_adds_up
from program import FAILED, OK, ROOT, USAGE, weir, write_description
from running import FOREVER, control_socket, stats, unique_name, without_end
# alone and plugin are fixtures
from test_events import ISP, READER_AND_TWO, alone, assert_as_alone, description, plugin, run  # noqa: F401

ALL_ALIKE = [{"receive": ["uplink"]}, {"receive": ["uplink6"]}, {}]


def with_jobs(**keys):
    """Every packet goes through a job before it is looked at."""
    keys = {"work": "compute", "time": "2us", **keys}
    return {
        "queues": {"worked": {"flows": 16}},
        "nodes": {"work": {"type": "job", "queue": "worked", "flow": "five_tuple",
                           **{key: value for key, value in keys.items() if value is not None}},
                  "from_work": {"type": "sched_rx", "queues": ["worked"]}},
        "edges": ["uplink.classify -> work", "uplink6.classify -> work", "from_work.worked -> classify"],
    }


def node_of(report):
    [node] = report["jobs"]
    assert node["packets"] == node["passed"] + node["blocked"] + node["lost"] + node["inside"]
    return node


KEYS = [{}, {"time": "60us", "slice": "10us"}, {"work": "wait", "time": "100us"}, {"packets": 3}, {"flows": 1, "time": "100ns"},
        {"priority": 0}, {"flow": "source", "packets": 100}]


@pytest.mark.parametrize("keys, workers", [*((keys, READER_AND_TWO) for keys in KEYS), ({}, ALL_ALIKE), ({"packets": 3}, ALL_ALIKE),
                                           ({"packets": 3}, [{"receive": ["uplink", "uplink6"]}])], ids=str)
def test_order_and_sums(tmp_path, alone, keys, workers):
    """What comes out is what comes out without jobs, flow by flow in order; although packets take turns."""
    repeat = 1 if keys.get("time", "2us") != "2us" else 5
    report = run(tmp_path, description(with_jobs(**keys), workers, repeat))
    assert_as_alone(report, tmp_path, alone(repeat))
    node = node_of(report)
    assert node["passed"] == report["packets"]["in"] and node["refused"] == node["inside"] == 0


@pytest.mark.parametrize("backend", ["eventdev:event_sw0", "eventdev:event_dsw0"])
def test_event_devices(tmp_path, alone, backend):
    report = run(tmp_path, description(with_jobs(), READER_AND_TWO, 2, backend=backend))
    assert_as_alone(report, tmp_path, alone(2))


@pytest.mark.parametrize("keys", [{"packets": 30}, {"packets": 30, "work": "wait", "time": "20us"}], ids=str)
def test_who_waits_for_room_holds_up_no_flows(tmp_path, alone, keys):
    """event_dsw moves flows when the ports of all are called, and that of the worker that receives sends nothing: jobs do."""
    report = run(tmp_path, description(with_jobs(**keys), READER_AND_TWO, 5, backend="eventdev:event_dsw0"))
    assert_as_alone(report, tmp_path, alone(5))


def test_a_full_scheduler_is_waited_for(tmp_path, alone):
    report = run(tmp_path, description(with_jobs(), READER_AND_TWO, 3, events=64))
    assert_as_alone(report, tmp_path, alone(3))


@pytest.mark.parametrize("work", ["compute", "wait"])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("threshold", [1, 2, 3, 64])
def test_more_jobs_than_credits(tmp_path, alone, threshold, workers, work):
    """Jobs that want an event take each credit that is given back. What they are done with goes on by theirs."""
    platform = [{"receive": ["uplink", "uplink6"], "groups": []}, *[{}] * workers]
    report = run(tmp_path, description(with_jobs(work=work, time="1us"), platform, 1, threshold=threshold))
    assert_as_alone(report, tmp_path, alone(1))


def test_what_is_too_much_is_refused_by_name(tmp_path):
    report = run(tmp_path, description(with_jobs(packets=20, on_full="drop", time="50us"), READER_AND_TWO, 3))
    assert_report_adds_up(report)
    dropped = {reason["reason"]: reason["packets"] for reason in report["dropped"]}
    node = node_of(report)
    assert dropped["jobs_full"] == node["refused"] > 0
    assert report["packets"]["in"] == node["packets"] + node["refused"]
    assert node["passed"] == node["packets"] == report["queues"][0]["received"] > 0


def test_groups(tmp_path, alone):
    application = with_jobs(group="work")
    workers = [{"receive": ["uplink", "uplink6"], "groups": []}, {"groups": ["work"]}, {}]
    report = run(tmp_path, description(application, workers, 2))
    assert_as_alone(report, tmp_path, alone(2))
    received = {core["worker"]: core["received"] for core in report["cores"]}
    # what jobs are done with is put in order before it comes to the queue
    assert received[1] > 0 and received[2] == 2 * report["queues"][0]["received"]


def test_plugin(tmp_path, plugin):
    shutil.copy(plugin, tmp_path / "beside.so")
    report = run(tmp_path, description(with_jobs(work="beside.so:job_thin_out", time=None), READER_AND_TWO, 2))
    assert_report_adds_up(report)
    dropped = {reason["reason"]: reason["packets"] for reason in report["dropped"]}
    node = node_of(report)
    assert node["blocked"] == dropped["job_blocked"] == report["packets"]["in"] // 3 > 0
    assert node["work"] == "job_thin_out"


def test_work_that_ends_its_job(tmp_path, plugin):
    """It loses that packet, by a name of its own, and no other one."""
    what = description(with_jobs(work=f"{plugin}:job_exits", time=None), READER_AND_TWO, 2)
    report = run(tmp_path, what)
    assert_report_adds_up(report)
    dropped = {reason["reason"]: reason["packets"] for reason in report["dropped"]}
    node = node_of(report)
    assert node["lost"] == dropped["job_exited"] == report["packets"]["in"] // 5 > 0
    assert node["inside"] == node["refused"] == node["blocked"] == 0


@pytest.mark.parametrize("symbol, keys, expected", [
    ("nothing", {}, "has no symbol 'nothing'"), ("job_old_abi", {}, "version"), ("job_no_process", {}, "no process function"),
    ("job_thin_out", {"argument": "refuse"}, "could not be"),
])
def test_bad_plugins(tmp_path, plugin, symbol, keys, expected):
    what = description(with_jobs(work=f"{plugin}:{symbol}", time=None, **keys), READER_AND_TWO)
    done = weir("run", write_description(tmp_path / "bad.yaml", what), cwd=tmp_path)
    assert done.code == USAGE and re.search(r"bad\.yaml:\d+:\d+: .*" + expected, done.stderr), done.text


GOOD = """\
application:
  queues:
    q: {type: atomic}
  nodes:
    j: {type: job, queue: q, work: compute, time: 1us}
    r: {type: sched_rx, queues: [q]}
  edges:
    - "uplink.classify -> j"
    - "r.q -> classify"
platform:
  ports:
    uplink: {pcap_in: in.pcap, accept: any}
  workers:
    - {receive: [uplink]}
    - {groups: [default, g]}
"""
BAD = [
    ("work: compute", "work: ponder", "5:36: .*expected compute, wait, or PLUGIN.so:SYMBOL"),
    (", work: compute, time: 1us", "", "5:5: node 'j' has nothing to do with packets; expected a key 'work'"),
    (", time: 1us", "", "5:36: 'compute' of node 'j' takes no time; expected a key 'time'"),
    (", queue: q", "", "5:5: node 'j' has nowhere to send to; expected a key 'queue'"),
    ("queue: q,", "queue: z,", "5:27: unknown queue 'z'; expected q"),
    ("time: 1us", "time: 1us, argument: x", "'argument' means nothing for 'compute'"),
    ("compute, time: 1us", "no.so:x, time: 1us", "'time' means nothing for a plug-in"),
    ("compute, time: 1us", "no.so:x", "cannot read '.*no.so'"),
    ("time: 1us", "time: 1us, flows: 0", "expected"),
    ("time: 1us", "time: 1us, packets: 0", "expected"),
    ("time: 1us", "time: 1us, slice: 2s", "expected"),
    ("time: 1us", "time: 1us, priority: 8", "expected"),
    ("time: 1us", "time: 1us, group: h", "5:\\d+: no worker is in group 'h'"),
    ("time: 1us", "time: 1us, queues: [q]", "'queues' means nothing for job"),
    ("queues: [q]}", "queues: [q], slice: 1us}", "'slice' means nothing for nodes of type 'sched_rx'; expected it with job only"),
    ("g]", "h]", "group 'h' serves no queue"),
    ("g]", "g]", "group 'g' serves no queue"),
    ("r.q -> classify", "r.q -> j", "packets would go round for ever"),
    ('    - "uplink.classify -> j"\n', "", "nothing leads to node 'j'"),
    ("type: job, queue: q, work: compute, time: 1us", "type: 'null', work: compute",
     "'work' means nothing for nodes of type 'null'; expected it with job only"),
]


@pytest.mark.parametrize("old, new, expected", [("[default, g]", "[default]", None), ("time: 1us", "time: 1us, group: g", None), *BAD])
def test_checks(tmp_path, old, new, expected):
    shutil.copy(ISP, tmp_path / "in.pcap")
    assert old in GOOD
    text = GOOD if "g]" in (old, new) or "group: g" in new else GOOD.replace("[default, g]", "[default]")
    (tmp_path / "d.yaml").write_text(text.replace(old, new, 1))
    done = weir("check", tmp_path / "d.yaml", cwd=tmp_path)
    if expected is None:
        assert done.code == OK, done.text
        return
    assert done.code == USAGE, done.text
    where = expected if re.match(r"\d", expected) else r"\d+:\d+: .*(" + expected + ")"
    assert re.search(r"d\.yaml:" + where, done.stderr), done.text


def test_graph(tmp_path):
    done = weir("graph", write_description(tmp_path / "jobs.yaml", description(with_jobs(), READER_AND_TWO)), cwd=tmp_path)
    assert done.code == OK and "job-work" in done.stdout, done.text


@pytest.fixture
def running(tmp_path):
    """A run whose packets are long in jobs, until it is stopped."""
    what = description(with_jobs(work="wait", time="30ms", on_full="drop", packets=2000), READER_AND_TWO, FOREVER)
    with without_end(tmp_path, what, "out", 100) as both:
        yield both


def jobs(name, *arguments):
    done = weir("jobs", *arguments, "--instance", name)
    assert done.code == OK, done.text
    return done


def test_weir_jobs(running):
    name, instance = running
    answer = jobs(name, "--json").json()
    assert answer["left"] == 0 and len(answer["jobs"]) > 10
    states = set()
    for job in answer["jobs"]:
        states.add(job["state"])
        assert job["name"] == "work" and job["priority"] == 7 and job["state"] in ("ready", "running", "waiting", "delivering")
        assert job["state"] != "waiting" or (job["waits_for"] == "sleep" and 0 <= job["left_ns"] <= 30_000_000 and "which" not in job)
        assert job["slices"] >= len(job["cores"]) and set(job["cores"]) <= {0, 1}
        assert job["age_ns"] >= job["state_ns"] and not job["cancelled"] and not job["late"]
    assert "waiting" in states
    assert jobs(name, "list", "nobody", "--json").json()["jobs"] == []

    totals = jobs(name, "stats", "--json").json()
    assert totals["spawned"] == totals["finished"] + totals["cancelled"] + totals["live"] and totals["finished"] > 0
    assert totals["slices"] >= totals["waits"] > 0 and totals["max"] >= totals["live"]
    life = totals["histograms"]["life"]
    assert life["count"] > 0 and 30_000_000 <= life["p50_ns"] <= life["p99_ns"] <= life["max_ns"]
    assert totals["histograms"]["slice"]["count"] > 0

    one = next(job["job"] for job in jobs(name, "--json").json()["jobs"] if job["state"] == "waiting")
    done = weir("jobs", "cancel", one, "--instance", name)
    assert done.code == OK or "has ended" in done.stderr, done.text
    assert weir("jobs", "cancel", "soon", "--instance", name).code == FAILED

    table = jobs(name).stdout
    assert "sleep" in table and "waits for" in table and "at most" in table and len(table.splitlines()) > 10
    table = jobs(name, "stats").stdout
    assert all(word in table for word in ("spawned", "overruns", "slice", "life", "p99.9"))
    report = instance.stop().json()
    assert_report_adds_up(report)
    node = node_of(report)
    assert node["refused"] > 0 and report["packets"]["queued"] >= node["inside"]  # a stop does not wait for ever


def test_sums_while_it_runs(running):
    name, instance = running
    for _ in range(20):
        report = stats(name)
        assert report["packets"]["adds_up"], report["packets"]
    assert instance.stop().code == OK


def test_blocking_calls(tmp_path, plugin, alone):
    """Packets of jobs that hand calls to helper threads: in order, all of them; and weir jobs tells of those, and of channels."""
    shutil.copy(plugin, tmp_path / "beside.so")
    look_up = with_jobs(work="beside.so:job_look_up", time=None)
    assert_as_alone(run(tmp_path, description(look_up, READER_AND_TWO, 1)), tmp_path, alone(1))
    with without_end(tmp_path, description(look_up, READER_AND_TWO, FOREVER), "out", 100) as (name, instance):
        totals = jobs(name, "stats", "--json").json()
        [pool], [channel] = totals["offload"], totals["channels"]
        assert pool["name"] == "lookups" and pool["threads"] == 4 and pool["done"] > 100 and pool["refused"] == 0
        assert pool["accepted"] == sum(pool[what] for what in ("done", "abandoned", "withdrawn", "returned", "queued", "running"))
        assert channel["name"] == "answers" and channel["sent"] == channel["messages"] == 0
        table = jobs(name, "stats").stdout
        assert re.search(r"^offload +threads +queued .*\nlookups +4 ", table, re.M) and re.search(r"^answers +0 ", table, re.M), table
        report = instance.stop().json()
    assert_report_adds_up(report)


@contextlib.contextmanager
def pretender(answers):
    """A control socket that answers commands so; its name."""
    name = unique_name()
    path = control_socket(name)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve():
            while True:
                connection, _ = listener.accept()
                with connection, connection.makefile("r") as lines:
                    command = json.loads(lines.readline() or '{"command": null}')["command"]
                    if command is None:
                        return
                    answer = {"ok": True, "result": answers[command]}
                    connection.sendall(json.dumps(answer, ensure_ascii=False).encode() + b"\n")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield name
        finally:
            with socket.socket(socket.AF_UNIX) as last:
                last.connect(str(path))
            thread.join()
            path.unlink()


def test_weir_jobs_prints_what_a_terminal_can_take():
    """Names are the application's: nothing in them reaches the terminal as a command, and none is cut within a character."""
    evil = "\x1b[2J\rred\u009b31m\x7f\tend"
    nasty = {"job": "0x1000001", "name": evil, "state": "waiting", "waits_for": evil, "which": "caf\u00e9", "left_ns": 1500, "cores": [0, 1, 2, 5]}
    listed = [nasty, *({**nasty, "name": f"long-{n}", "waits_for": "w" * n + "\u20ac" * 200, "which": "x" * 5000} for n in range(4))]
    stats_answer = {"spawned": 3, "histograms": {}, "channels": [{"name": evil}], "offload": [{"name": evil, "threads": 1}]}
    with pretender({"job/list": {"jobs": listed, "left": 0}, "job/stats": stats_answer}) as name:
        for arguments in ([], ["stats"]):
            done = jobs(name, *arguments)
            assert "\ufffd" not in done.stdout  # what is no UTF-8 would be that
            assert not re.search(r"[^\n\x20-\x7e\u00a0-\U0010ffff]", done.stdout), repr(done.stdout)
            assert "?[2J?red?31m??end" in done.stdout, done.stdout
        table = jobs(name).stdout
        assert "?[2J?red?31m??end: caf\u00e9" in table and "1.5us" in table and "0-2,5" in table, table
        for n in range(4):  # as much as there is room for: 159 bytes
            [line] = [line for line in table.splitlines() if f"long-{n}" in line]
            wait = line.split()[3]
            assert re.fullmatch(f"w{{{n}}}\u20ac+", wait) and 156 - 3 <= len(wait.encode()) <= 159, wait
        assert jobs(name, "--json").json()["jobs"][0]["name"] == evil  # programs get what it is


def test_weir_jobs_usage():
    assert weir("jobs", "nonsense").code == USAGE
    done = weir("jobs", "--help")
    assert done.code == OK and all(word in done.stdout for word in ("list", "stats", "waits for", "cores"))
    assert weir("jobs", "--instance", "nobody-at-all").code == FAILED


def test_weir_jobs_without_jobs(tmp_path):
    with without_end(tmp_path, description({}, [{"receive": ["uplink", "uplink6"]}], FOREVER)) as (name, instance):
        done = weir("jobs", "--instance", name)
        assert done.code == FAILED and "no node of type job" in done.stderr
        assert instance.stop().code == OK


def test_example(tmp_path):
    done = weir("run", ROOT / "examples/jobs.yaml", "--json", cwd=tmp_path)
    assert done.code == OK and not done.stderr, done.text
    report = done.json()
    assert_report_adds_up(report)
    node = node_of(report)
    assert node["refused"] == 0 and node["passed"] > 3000
    assert (tmp_path / "out/jobs.pcap").stat().st_size > 0
    section = (ROOT / "doc/event-machine.md").read_text()
    assert (ROOT / "examples/jobs.yaml").read_text().split("\n", 5)[5].strip() in section
