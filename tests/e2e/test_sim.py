# SPDX-License-Identifier: BSD-3-Clause
"""weir sim: models in, tables and JSON out; what is wrong with a model; the same run everywhere.

The program may be one that is built without DPDK.
"""
import csv
import json
import re
import resource
import signal
import subprocess

import pytest

from program import FAILED, OK, ROOT, USAGE, WEIR, Instance, environment, weir, write_description

EXAMPLES = sorted((ROOT / "examples" / "sim").glob("*.yaml"))

GOOD = """\
traffic:
  streams:
    calls: {to: work, rate: 700kpps, sizes: imix}
application:
  queues:
    work: {type: parallel}
  objects:
    server: {queues: [work], steps: [{cpu: 1000cycles, distribution: exponential}]}
platform:
  cores:
    cpu: {clock: 1GHz}
run:
  simulation: {duration: 50ms, warmup: 5ms, replications: 4, seed: 3}
"""

# What to replace by what; '@' stands before the place that the message must name. Then words of the message.
WRONG = {
    "unknown key": ("rate: 700kpps", "@rat: 700kpps", ["'rat'", "rate"]),
    "quantity without unit": ("1000cycles", "@1000", ["'1000'", "700cycles"]),
    "unit of another quantity": ("1GHz", "@1cycles", ["'1cycles'", "GHz"]),
    "unknown queue": ("to: work", "to: @wrk", ["'wrk'"]),
    "stream that is never served": ("    work: {type: parallel}", "    work: {type: parallel}\n    @lost: {}",
                                    ["'lost'", "never served"]),
    "dangling queue": ("    work: {type: parallel}", "    work: {type: parallel}\n    @lost: {}",
                       ["nothing is sent", "'lost'"]),
    "group without cores": ("{type: parallel}", "{type: parallel, group: @fast}", ["'fast'", "no cores"]),
    "step that does nothing": ("{cpu: 1000cycles, distribution: exponential}", "@{label: here}", ["does nothing"]),
    "unknown unit": ("distribution: exponential}", "distribution: exponential}, {use: @gpu}", ["'gpu'"]),
    "condition that is none": ("distribution: exponential}", "distribution: exponential, when: @often}", ["'often'"]),
    "circle": ("queues: [work], ", "queues: [work], to: @work, ", ["never leave"]),
    "unknown result": ("seed: 3", "seed: 3, precision: {of: @streams.calls.speed}", ["unknown result", "'streams.calls.speed'"]),
    "batches of no time": ("duration: 50ms, warmup: 5ms, replications: 4", "duration: 9ps, batches: @10", ["ps"]),
    "tag switch to where no core goes": ("    work: {type: parallel}\n  objects:\n    server: {queues: [work], steps: [",
                                         "    work: {type: parallel}\n    lost: {group: @none}\n  objects:\n"
                                         "    server: {queues: [work], steps: [{switch: lost}, ", ["'none'", "no cores"]),
    "trace over the model": ("seed: 3", "seed: 3, probes: {p: {queue: work, trace: @./bad.yaml}}", ["own"]),
    "trace over a trace": ("seed: 3", "seed: 3, probes: {p: {queue: work, trace: a.csv}, q: {queue: work, trace: @a.csv}}", ["'p'"]),
    "trace over a trace by another name": ("seed: 3", "seed: 3, probes: {p: {queue: work, trace: ./a.csv}, q: {queue: work, trace: @a.csv}}", ["'p'"]),
    "priority by nothing": ("cpu: {clock: 1GHz}", "cpu: {clock: 1GHz}\n  units:\n    nic: {discipline: @priority}", ["'by'"]),
    "unit that interrupts nothing": ("cpu: {clock: 1GHz}", "cpu: {clock: 1GHz}\n  units:\n    nic: {preemptive: @true}", ["lcfs"]),
    "two warm-ups": ("warmup: 5ms", "warmup: @5ms, find_warmup: true", ["find_warmup"]),
    "logarithm of what has none": ("exponential}", "exponential, mu: @3}", ["'mu'", "lognormal"]),
    "warm-up without an end": ("warmup: 5ms", "warmup: @50ms", ["duration"]),
}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(GOOD)
    return path


def run(path, *arguments):
    done = weir("sim", path, "--json", *arguments)
    assert done.code == OK, done.text
    report = done.json()
    assert report["ok"] is True
    return report


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path):
    report = run(path, "--replications", "2")
    assert all(stream["delivered_packets"]["mean"] > 0 for stream in report["streams"])


@pytest.mark.parametrize("what", WRONG)
def test_refused(tmp_path, what):
    """With file, line and column, and nothing is run."""
    old, new, words = WRONG[what]
    assert GOOD.count(old) == 1
    before, after = GOOD.replace(old, new).split("@")
    (tmp_path / "bad.yaml").write_text(before + after)
    place = f"bad.yaml:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: "
    done = weir("sim", "bad.yaml", cwd=tmp_path)
    assert done.code == USAGE and not done.stdout
    lines = [line for line in done.stderr.splitlines() if line.startswith(place)]
    assert any(all(word in line for word in words) and "expected" in line for line in lines), done.text
    errors = weir("sim", "bad.yaml", "--json", cwd=tmp_path).json()
    assert errors["ok"] is False
    assert any(f"{e['file']}:{e['line']}:{e['column']}: " == place for e in errors["errors"])


def test_refused_tables(tmp_path):
    """What is wrong with a table is told at its line; a file that is not there, where the model names it."""
    (tmp_path / "sizes.csv").write_text("size_B,weight\n64,1\n-3,1\n")
    (tmp_path / "bad.yaml").write_text(GOOD.replace("sizes: imix", "sizes: empirical, size_table: sizes.csv"))
    done = weir("sim", "bad.yaml", cwd=tmp_path)
    assert done.code == USAGE and re.search(r"^sizes.csv:3:1: .*expected a number", done.stderr, re.M), done.text
    for content, words in ((b"size_B\n" + bytes(9999), r"sizes.csv:2:1: .*no line"), (bytes(9999), r"sizes.csv:1:1: .*no line")):
        (tmp_path / "sizes.csv").write_bytes(content)
        done = weir("sim", "bad.yaml", cwd=tmp_path)
        assert done.code == USAGE and re.search(rf"^{words}.*expected", done.stderr, re.M), done.text
    (tmp_path / "sizes.csv").unlink()
    (tmp_path / "sizes.csv").mkdir()
    done = weir("sim", "bad.yaml", cwd=tmp_path)
    assert done.code == USAGE and re.search(r"^sizes.csv:1:1: .*directory.*expected", done.stderr, re.M), done.text
    (tmp_path / "sizes.csv").rmdir()
    done = weir("sim", "bad.yaml", cwd=tmp_path)
    assert done.code == USAGE and re.search(r"^bad.yaml:3:.*cannot read 'sizes.csv'.*expected", done.stderr, re.M), done.text


def test_longest_line_of_a_table(tmp_path):
    """255 bytes, with and without an end of line; one more is too many."""
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("sizes: imix", "sizes: empirical, size_table: sizes.csv"))
    for length, end, code in ((255, "", OK), (255, "\n", OK), (256, "", USAGE), (256, "\n", USAGE)):
        (tmp_path / "sizes.csv").write_text("size_B\n" + "64".zfill(length) + end)
        assert weir("sim", path, "--duration", "6ms").code == code, (length, end)


def test_numbers_add_up(model):
    """Sums and means of one replication, by the laws of queues."""
    report = run(model, "--replications", "1")
    stream, queue, cores = report["streams"][0], report["queues"][0], report["cores"][0]
    value = {name: entry["mean"] for name, entry in stream.items() if name != "name"}
    assert (stream["name"], queue["name"], cores["name"]) == ("calls", "work", "cpu")
    assert stream["latency_mean_ns"]["half_width"] is None
    assert value["latency_mean_ns"] == pytest.approx(value["wait_mean_ns"] + value["service_mean_ns"])
    assert value["arrived_packets"] == pytest.approx(700e3 * 45e-3, rel=0.03)
    assert value["offered_pps"] == pytest.approx(value["arrived_packets"] / 45e-3)
    assert value["delivered_bps"] / value["delivered_pps"] / 8 == pytest.approx((7 * 64 + 4 * 570 + 1518) / 12, rel=0.02)
    assert cores["utilisation"]["mean"] == pytest.approx(0.7, rel=0.03)
    ordered = ["min", "p50", "p90", "p99", "p999", "p9999", "max"]
    assert [value[f"latency_{name}_ns"] for name in ordered] == sorted(value[f"latency_{name}_ns"] for name in ordered)
    assert report["replications"][0]["end_s"] == 0.05 and report["replications"][0]["broken"] is None


def test_units_and_drops(tmp_path):
    """Steps that use a unit and that drop; both are told of, in JSON and in the table."""
    path = tmp_path / "model.yaml"
    text = GOOD.replace("distribution: exponential}", "distribution: exponential}, {use: nic, when: size == 64}, "
                        "{drop: policed, probability: 0.25}")
    path.write_text(text.replace("cpu: {clock: 1GHz}", "cpu: {clock: 1GHz}\n  units:\n    nic: {delay: 10ns}"))
    report = run(path)
    stream, unit = report["streams"][0], report["units"][0]
    assert unit["name"] == "nic"
    assert unit["served_packets"]["mean"] / stream["arrived_packets"]["mean"] == pytest.approx(7 / 12, rel=0.02)
    drops = {entry["name"]: entry["packets"]["mean"] for entry in report["drops"]}
    assert drops == {"calls: policed": stream["dropped_packets"]["mean"]}
    assert stream["loss"]["mean"] == pytest.approx(0.25, rel=0.03)
    done = weir("sim", path)
    assert re.search(r"^  nic +[\d,]+ .*%", done.stdout, re.M) and re.search(r"^  calls: policed +\d+", done.stdout, re.M)


def test_many_drops(tmp_path):
    """A page of them in the table, and how many more; all of them in JSON. Those of which there are none are left out."""
    path = tmp_path / "model.yaml"
    names = [f"s{i}" for i in range(30)]
    streams = "".join(f"    {name}: {{to: work, rate: 700kpps}}\n" for name in names)
    path.write_text(GOOD.replace("    calls: {to: work, rate: 700kpps, sizes: imix}\n", streams + "    none: {to: work, rate: 1pps, start: 1s}\n")
                    .replace("{type: parallel}", "{type: parallel, capacity: 0}"))
    done, drops = weir("sim", path), run(path)["drops"]
    lines = re.findall(r"^  (\w+): queue work is full +\d", done.stdout, re.M)
    assert [entry["name"] for entry in drops] == [f"{name}: queue work is full" for name in [*names, "none"]]
    assert lines == names[:20] and re.search(r"^  and 10 more, which have [\d.e+]+ packets", done.stdout, re.M), done.stdout


def test_seeds(model):
    """The same seed gives the same run, from the file or from an option; another one another."""
    first, again = run(model), run(model, "--seed", "3")
    other = run(model, "--seed", "4")
    del first["seconds"], first["events_per_second"], again["seconds"], again["events_per_second"]
    assert first == again
    assert other["fingerprint"] != first["fingerprint"]
    assert len({one["fingerprint"] for one in first["replications"]}) == 4


def test_more_replications_begin_with_the_same(model):
    few, many = run(model, "--replications", "3"), run(model, "--replications", "9")
    assert many["replications"][:3] == few["replications"]
    assert len(many["replications"]) == 9
    assert many["streams"][0]["latency_mean_ns"]["half_width"] < few["streams"][0]["latency_mean_ns"]["half_width"]


def test_threads(model):
    """Whoever runs which replication, the result is the same."""
    one, four = run(model, "--threads", "1"), run(model, "--threads", "4")
    for report in (one, four):
        del report["seconds"], report["events_per_second"]
    assert one == four


def test_duration(model):
    report = run(model, "--duration", "6ms")
    assert {one["end_s"] for one in report["replications"]} == {0.006}


def test_table(model):
    """The numbers of the JSON, for people."""
    done = weir("sim", model)
    report = run(model)
    assert done.code == OK and f"fingerprint {report['fingerprint']}" in done.stdout
    assert re.search(rf"^  calls +{report['streams'][0]['arrived_packets']['mean']:,.0f} ", done.stdout, re.M)
    assert re.search(r"^  work .*\+-", done.stdout, re.M) and re.search(r"^  cpu .*%", done.stdout, re.M)
    assert "hold in each replication" in done.stdout
    # Of one queue all is one stage, and of one core all is its.
    assert re.search(r"^  stage .*\n  work +" + f"{report['streams'][0]['delivered_packets']['mean']:,.0f} ", done.stdout, re.M)
    parts = r" wait \+ service .*\n  %s +\S+s \+ \S+s +(\S+s \+ \S+s *){4}$"
    assert re.search("^  stream:" + parts % "calls", done.stdout, re.M) and re.search("^  stage:" + parts % "work", done.stdout, re.M)
    assert re.search(r"^  cpu\.0 .*%", done.stdout, re.M)
    assert report["each_core"][0]["utilisation"] == report["cores"][0]["utilisation"]
    assert done.stderr == ""


def test_nothing_measured(tmp_path):
    """What nobody has measured is no 0: null, a field that is empty, a dash."""
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("sizes: imix", "start: 1s"))
    stream = run(path)["streams"][0]
    assert stream["latency_mean_ns"]["mean"] is None and stream["arrived_packets"]["mean"] == 0
    rows = list(csv.DictReader(weir("sim", path, "--csv").stdout.splitlines()))
    assert {row["mean"] for row in rows if row["quantity"].startswith("latency")} == {""}
    assert re.search(r"^  calls +0 +- +0pps .* - ", weir("sim", path).stdout, re.M)


def test_csv(model):
    """The numbers of the JSON, a line each."""
    done = weir("sim", model, "--csv")
    report = run(model)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert done.code == OK and {row["samples"] for row in rows} == {"4"}
    for row in rows:
        thing = next(thing for thing in report[row["scope"]] if thing["name"] == row["name"])
        expected = thing[row["quantity"]]
        assert [float(row[name]) for name in ("mean", "sd", "half_width")] == \
            pytest.approx([expected[name] for name in ("mean", "sd", "half_width")], rel=1e-10), row
    assert len(rows) == sum(len(thing) - 1 for scope in ("streams", "queues", "cores", "units", "drops", "each_core") for thing in report[scope])
    one = list(csv.DictReader(weir("sim", model, "--csv", "--replications", "1").stdout.splitlines()))
    assert {row["half_width"] for row in one} == {""}


def test_probes(model, tmp_path):
    """What a probe tells is what the report has anyway; its trace has all of it; the run is the same."""
    (tmp_path / "probes.yaml").write_text(GOOD.replace(
        "seed: 3", "seed: 3, probes: {backlog: {queue: work, trace: backlog.csv}, out: {from: server}}"))
    plain, report = run(model), run(tmp_path / "probes.yaml")
    assert report["fingerprint"] == plain["fingerprint"] and plain["probes"] == []
    backlog, out = report["probes"]
    assert backlog["mean"]["mean"] == pytest.approx(report["queues"][0]["length_mean"]["mean"])
    assert out["n"] == report["streams"][0]["delivered_packets"]
    trace = list(csv.DictReader((tmp_path / "backlog.csv").read_text().splitlines()))
    times = [int(row["time_ps"]) for row in trace]
    assert times == sorted(times) and max(times) <= 50e9
    assert all(abs(int(a["level"]) - int(b["level"])) == 1 for a, b in zip(trace, trace[1:]))
    assert re.search(r"^  backlog +[\d,]+ ", weir("sim", tmp_path / "probes.yaml").stdout, re.M)


def test_traces_larger_than_files_may_be(tmp_path):
    """As a full disk, and no end by a signal: what is wrong is told, and with which file."""
    (tmp_path / "probes.yaml").write_text(GOOD.replace("seed: 3", "seed: 3, probes: {backlog: {queue: work, trace: backlog.csv}}"))
    done = subprocess.run([WEIR, "sim", tmp_path / "probes.yaml"], env=environment(), capture_output=True, text=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    assert done.returncode == FAILED and "cannot write all of" in done.stderr and "backlog.csv" in done.stderr, done.stderr
    assert (tmp_path / "backlog.csv").stat().st_size <= 1000


def test_interrupted_later(tmp_path):
    """What replications that are done have found is told, and that it is not what was asked for."""
    (tmp_path / "many.yaml").write_text(GOOD.replace("replications: 4", "replications: 100000"))
    with Instance("sim", "many.yaml", "--json", "--progress", "--threads", "1", cwd=tmp_path) as instance:
        instance.until(lambda: re.search(r"sim: [1-9]\d* of 100000", instance._text(instance.err)), "progress")
        done = instance.stop(signal.SIGTERM)
    report = done.json()
    nb = len(report["replications"])
    assert done.code == FAILED and report["ok"] is False and report["error"] == f"interrupted: {nb} replications were run to their end"
    assert nb > 0 and report["fingerprint"] and report["streams"][0]["latency_mean_ns"]["mean"] > 0


@pytest.mark.parametrize("trace", ["nowhere/backlog.csv", "/tmp"])
def test_traces_that_cannot_be_written(tmp_path, trace):
    """Told with the place, before anything runs; in JSON too."""
    text = GOOD.replace("seed: 3", f"seed: 3, probes: {{backlog: {{queue: work, trace: {trace}}}}}").replace("duration: 50ms, warmup: 5ms", "duration: 1000000s, find_warmup: true")
    (tmp_path / "bad.yaml").write_text(text)
    column = text.splitlines()[-1].index(trace) + 1
    done = weir("sim", "bad.yaml", cwd=tmp_path)
    assert done.code == FAILED and re.search(rf"^bad.yaml:13:{column}: cannot write .*{trace}.*expected", done.stderr, re.M), done.text
    done = weir("sim", "bad.yaml", "--json", cwd=tmp_path)
    error, = done.json()["errors"]
    assert done.code == FAILED and done.json()["ok"] is False
    assert (error["file"], error["line"], error["column"]) == ("bad.yaml", 13, column) and trace in error["message"]


def test_warm_up(model, tmp_path):
    """One that is found is told, and in the table whether it is over."""
    path = tmp_path / "found.yaml"
    path.write_text(GOOD.replace("warmup: 5ms", "find_warmup: true"))
    report = run(path)
    assert report["steady"] is True and 0 <= report["warmup_s"] < 0.025
    assert re.search(r"^  warm-up of \S+ s found$", weir("sim", path).stdout, re.M)
    path.write_text(GOOD.replace("warmup: 5ms", "find_warmup: true").replace("700kpps", "2Mpps"))
    assert run(path)["steady"] is False
    assert "it may not be over" in weir("sim", path).stdout
    assert run(model)["warmup_s"] == 0.005


def test_reordering(tmp_path):
    """Who was overtaken within its flow, counted again from a trace of all that left: 600 flows on cores of two speeds."""
    text = GOOD.replace("sizes: imix", "flows: 600, popularity: zipf")
    text = text.replace("cpu: {clock: 1GHz}", "cpu: {clock: 1GHz}\n    old: {clock: 200MHz}")
    (tmp_path / "model.yaml").write_text(text.replace("replications: 4", "probes: {out: {from: server, trace: out.csv}}"))
    report = run(tmp_path / "model.yaml")
    latest, reordered = {}, 0
    for row in csv.DictReader((tmp_path / "out.csv").read_text().splitlines()):
        time, came = int(row["time_ps"]), int(row["time_ps"]) - int(row["age_ps"])
        overtaken = came < latest.get(row["flow"], 0)
        latest[row["flow"]] = max(came, latest.get(row["flow"], 0))
        reordered += overtaken and time >= 5e9
    assert len(latest) == 600 and reordered > 100
    assert report["streams"][0]["reordered_packets"]["mean"] == reordered


def test_batches(tmp_path):
    """One replication has confidence intervals too."""
    (tmp_path / "model.yaml").write_text(GOOD.replace("replications: 4", "batches: 9"))
    report = run(tmp_path / "model.yaml")
    assert report["samples"] == 9 and len(report["replications"]) == 1 and report["precise"] is None
    assert report["streams"][0]["latency_mean_ns"]["half_width"] > 0
    assert "9 batches" in weir("sim", tmp_path / "model.yaml").stdout


def test_precision(tmp_path):
    """As many replications as it takes, and no more."""
    precision = "precision: {of: streams.calls.latency_mean_ns, relative: 0.02, replications: %s}"
    (tmp_path / "model.yaml").write_text(GOOD.replace("replications: 4", precision % 500))
    report = run(tmp_path / "model.yaml")
    latency = report["streams"][0]["latency_mean_ns"]
    assert report["precise"] is True and 10 < len(report["replications"]) < 500
    assert latency["half_width"] <= 0.02 * latency["mean"]
    assert run(tmp_path / "model.yaml", "--threads", "1")["replications"] == report["replications"]
    (tmp_path / "model.yaml").write_text(GOOD.replace("replications: 4", precision % 12))
    report = run(tmp_path / "model.yaml")
    assert report["precise"] is False and len(report["replications"]) == 12
    assert "not reached" in weir("sim", tmp_path / "model.yaml").stdout


def test_progress(model):
    done = weir("sim", model, "--progress", "--replications", "1", "--duration", "1s")
    assert done.code == OK
    assert re.search(r"\d+ of 1 replications, one at .* million events/s, .* s left", done.stderr)


@pytest.mark.parametrize("form", ["--csv", "--json", ""])
def test_interrupted(model, tmp_path, form):
    """What is done is told, and that it is not all; a trace that is cut has whole lines, and that is told too."""
    (tmp_path / "long.yaml").write_text(GOOD.replace(
        "seed: 3", "seed: 3, probes: {backlog: {queue: work, trace: backlog.csv}}").replace("duration: 50ms", "duration: 1000000s"))
    with Instance("sim", "long.yaml", "--progress", *filter(None, [form]), cwd=tmp_path) as instance:
        instance.until(lambda: "replications" in instance._text(instance.err), "progress")
        done = instance.stop(signal.SIGINT)
    assert done.code == FAILED and "interrupted: 0 replications" in done.stderr, done.text
    end = float(re.search(r"'.*backlog.csv' ends at (\S+) s", done.stderr).group(1))
    trace = (tmp_path / "backlog.csv").read_text()
    assert trace.endswith("\n") and float(trace.splitlines()[-1].split(",")[0]) / 1e12 <= end
    if form == "--json":
        report = done.json()
        assert report["interrupted"] is True and report["ok"] is False and "interrupted: 0 replications" in report["error"]
        assert report["fingerprint"] is None and report["streams"][0]["latency_mean_ns"]["mean"] is None
    assert "0000000000000000" not in done.stdout
    assert "hold in each" not in done.stdout


def test_too_many_inside(tmp_path):
    """Forks without an end come to one."""
    path = tmp_path / "model.yaml"
    path.write_text(GOOD.replace("seed: 3", "packets_inside: 5000").replace("distribution: exponential}", "distribution: exponential}, {fork: work, count: 2}"))
    done = weir("sim", path)
    assert done.code == FAILED and "5000 packets inside" in done.stderr and not done.stdout, done.text


def test_parts_of_parts(tmp_path):
    """A million packets that each wait for a part: it takes no hours to find that the last one of them can go on."""
    path = tmp_path / "model.yaml"
    path.write_text("""
traffic: {streams: {s: {to: q, rate: 1Mpps}}}
application:
  queues: {q: {type: parallel}}
  objects: {o: {queues: [q], steps: [{fork: q}, {join: true}]}}
platform: {cores: {c: {clock: 1GHz}}}
run: {simulation: {duration: 1ms, packets_inside: 1000000}}
""")
    done = weir("sim", path)
    assert done.code == FAILED and "1000000 packets inside" in done.stderr, done.text


@pytest.mark.parametrize("arguments", [
    ["--seed", "x"], ["--seed", "-1"], ["--seed", "9000000000000001"], ["--replications", "0"], ["--replications", "1e3"], ["--duration", "soon"],
    ["--duration", "5ms"], ["--threads", "0"], ["--fast"],
], ids=" ".join)
def test_wrong_use(model, arguments):
    done = weir("sim", model, *arguments)
    assert done.code == USAGE and done.stderr and not done.stdout


def test_one_form(model):
    done = weir("sim", model, "--json", "--csv")
    assert done.code == USAGE and "--csv" in done.stderr


@pytest.mark.parametrize("form", ["--csv", "--json", ""])
def test_full_disk(model, form):
    """Nothing is lost silently, and why is told."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([WEIR, "sim", model, *filter(None, [form])], env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == FAILED and "cannot write to standard output: No space left on device" in done.stderr


def test_files_that_are_none(tmp_path):
    assert weir("sim", "none.yaml", cwd=tmp_path).code == USAGE
    assert weir("sim", write_description(tmp_path / "empty.yaml", {})).code == USAGE


def test_includes(tmp_path):
    """One platform and application, several kinds of traffic."""
    (tmp_path / "rest.yaml").write_text(GOOD.split("\n", 3)[3])
    traffic = {"streams": {"calls": {"to": "work", "arrivals": "deterministic", "interval": "2us"}}}
    path = write_description(tmp_path / "two.yaml", {"include": "rest.yaml", "traffic": traffic})
    assert run(path)["streams"][0]["offered_pps"]["mean"] == pytest.approx(500e3, rel=1e-4)


def test_vocabulary():
    """What the simulator reads is part of what description files may hold."""
    schema = json.dumps(weir("schema").json())
    for key in ("streams", "steps", "simulation", "per_byte", "capacity", "clock", "units", "deschedule", "weights"):
        assert f'"{key}"' in schema
