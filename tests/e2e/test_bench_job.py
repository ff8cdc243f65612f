# SPDX-License-Identifier: BSD-3-Clause
"""weir bench job: what it prints is what it did. How fast that is depends on the machine, and is not looked at."""
import json
import subprocess
import sys

import pytest

from program import OK, ROOT, USAGE, weir

pytestmark = pytest.mark.exclusive  # what is measured is measured alone

CASES = ["spawn", "pitp", "packets-and-jobs", "short-events", "sleepers"]
PARTS = {"total", "scheduler", "idle", "coroutine", "application"}


def bench(pattern, *arguments):
    done = weir("bench", "job", "--case", pattern, "--rounds", 1, *arguments)
    assert done.code == OK and not done.stderr, done.text
    return done


def test_list():
    assert weir("bench", "job", "--list").stdout.split() == CASES
    assert "job" in weir("bench", "--list").stdout


def test_unknown_case():
    done = weir("bench", "job", "--case", "spawning")
    assert done.code == USAGE and "spawning" in done.stderr


def test_spawn():
    for _ in range(10):  # rounds that nothing else came into
        report = bench("spawn", "--json").json()
        [row], [call] = report["cases"], report["other_peers"]
        if row["ours"]["ns_per_job"] > row["peer"]["ns_per_job"] > call["peer"]["ns_per_job"] > 0:
            break
    assert row["ours"]["ns_per_job"] > row["peer"]["ns_per_job"] > call["peer"]["ns_per_job"] > 0
    assert row["name"] == "spawn" and row["peer"]["name"] == "coroutine" and call["peer"]["name"] == "plain call"
    assert row["target_cycles"] == pytest.approx(200e-9 * report["machine"]["cycles_hz"], rel=1e-2)
    assert row["reached"] == (row["ours"]["cycles_per_job"] <= row["target_cycles"])


@pytest.fixture(scope="module")
def pitp():
    return bench("pitp", "--json").json()


def test_pitp(pitp):
    points = pitp["pitp"]
    for backend in ("builtin", "event_dsw"):
        slices = [p for p in points if p["backend"] == backend and p["sweep"] == "slice"]
        numbers = [p for p in points if p["backend"] == backend and p["sweep"] == "jobs"]
        assert [p["slice_us"] for p in slices] == [1, 2, 5, 10, 25, 50, 100, 200] and {p["jobs"] for p in slices} == {32}
        assert [p["jobs"] for p in numbers] == [2 ** n for n in range(11)] and {p["slice_us"] for p in numbers} == {25}
    for point in points:
        percent = point["overhead_percent"]
        assert set(percent) == PARTS and point["slices"] > 0 and point["actual_slice_us"] > 0
        # one round: each part is that round's own
        assert percent["total"] == pytest.approx(sum(percent[part] for part in PARTS - {"total"}), rel=1e-3, abs=1e-2)
        assert percent["idle"] >= 0 and percent["application"] >= 0
    target, = pitp["pitp_targets"]
    [point] = [p for p in points if p["backend"] == "builtin" and p["sweep"] == "slice" and p["slice_us"] == 25]
    assert target["total_percent"] == point["overhead_percent"]["total"] and target["target_percent"] == 1
    assert target["reached"] == (target["total_percent"] <= 1)
    assert target["less_than_event_dsw"] == (target["total_percent"] < target["total_percent_event_dsw"])


@pytest.mark.parametrize("suffix, begins", [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_plot(pitp, tmp_path, suffix, begins):
    pytest.importorskip("matplotlib")
    path = tmp_path / "pitp.json"
    path.write_text(json.dumps(pitp))
    out = tmp_path / f"pitp.{suffix}"
    subprocess.run([sys.executable, ROOT / "bench/plot-job", path, out], check=True)
    assert out.read_bytes().startswith(begins)


@pytest.mark.parametrize("case", ["packets-and-jobs", "short-events"])
def test_latency(case):
    report = bench(case, "--json").json()
    [row] = report["latency"]
    alone, jobs, handlers = row["sides"]
    assert [side["name"] for side in row["sides"]] == ["without work", "with jobs", "with handlers"]
    for side in row["sides"]:
        assert 0 < side["p50_ns"] <= side["p99_ns"] <= side["p999_ns"] and 0 <= side["refused_share"] <= 1
        assert side["per_s"] > 0
    assert alone["work_share"] == 0 and jobs["work_share"] > 0 and handlers["work_share"] > 0
    if case == "short-events":
        assert row["offered_per_s"] == pytest.approx(0.5 * report["cores"] / 2e-6)
        assert row["p99_longer_us"] == pytest.approx((jobs["p99_ns"] - alone["p99_ns"]) / 1e3, rel=1e-3, abs=1e-2)
        assert row["target_us"] == 30 and row["reached"] == (not row["disturbed"] and row["p99_longer_us"] <= 30)
    else:
        assert row["offered_per_s"] == pytest.approx(row["most_pps"] / 4, rel=1e-4)


@pytest.mark.long
def test_sleepers():
    [row] = bench("sleepers", "--json").json()["sleepers"]
    assert row["ours"]["sleepers"] == row["target"] == 100000 and row["reached"]
    assert row["ours"]["bytes_each"] > 0 and row["ours"]["all_asleep_ms"] > 0
    for side in row["ours"], row["peer"]:
        assert side["late_p50_ns"] <= side["late_p99_ns"] <= side["late_p999_ns"] <= side["late_max_ns"]
    assert row["peer"]["name"] == "kernel threads" and row["peer"]["sleepers"] > 0


def test_for_people():
    text = bench("spawn").stdout
    assert "\nspawn " in text and "coroutine" in text and "targets reached" in text
