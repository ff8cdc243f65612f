# SPDX-License-Identifier: BSD-3-Clause
"""weir bench sched: what it prints is what it did. How fast that is depends on the machine, and is not looked at."""
import os

import pytest

from program import OK, USAGE, weir

pytestmark = pytest.mark.exclusive  # what is measured is measured alone

THROUGHPUT = [f"{kind}-{burst}{inside}" for kind in ("atomic", "parallel", "ordered") for burst in ("b1", "b16")
              for inside in ("", "-inside")] + ["stages-2-b1", "stages-2-b16", "stages-4", "stages-4-inside"]
LATENCY = ["hot-flow", "mixed-service", "latency-high"]
SCALING = ["scaling", "scaling-own", "scaling-bare", "scaling-own-bare"]
UNEVEN = ["uneven", "uneven-priorities", "uneven-strict"]
IDLE = [f"idle-ports{kind}-{burst}" for kind in ("", "-ordered", "-priorities", "-strict") for burst in ("b1", "b16")]
# event_dsw has no ordered queues; by event_opdl events pass each queue once.
PEERS = {"atomic-b16": {"event_dsw", "event_sw", "event_opdl"}, "ordered-b16": {"event_sw", "event_opdl"},
         "parallel-b1-inside": {"event_dsw", "event_sw"}}


def bench(pattern, *arguments):
    done = weir("bench", "sched", "--case", pattern, "--rounds", 1, *arguments)
    assert done.code == OK and not done.stderr, done.text
    return done


def test_list():
    assert weir("bench", "sched", "--list").stdout.split() == THROUGHPUT + LATENCY + SCALING + UNEVEN + IDLE
    assert "sched" in weir("bench", "--list").stdout


def test_one_worker():
    """What wants two workers is not there; the others are, by one, which has a CPU beside the producer's on nearly any machine."""
    there = weir("bench", "sched", "--workers", 1, "--list").stdout.split()
    assert there == THROUGHPUT + LATENCY + SCALING
    for case in UNEVEN[0], IDLE[0]:
        done = weir("bench", "sched", "--workers", 1, "--case", case)
        assert done.code == USAGE and f"no case matches '{case}'" in done.stderr
    report = bench("stages-4", "--workers", 1, "--json").json()
    cpus = len(os.sched_getaffinity(0))
    assert report["workers"] == 1 and report["crowded"] == (cpus < 2)
    assert all(row[side]["worker_cpus"] == 1 for row in report["cases"] for side in ("ours", "peer"))
    row = bench("latency-high", "--workers", 1, "--json").json()["latency"][0]
    assert row["offered_mev_per_s"] == pytest.approx(0.8)
    [row] = bench("scaling", "--ours", "--workers", 1, "--json").json()["scaling"]
    assert [len(side["mev_per_s"]) for side in row["sides"]] == [1, 1] and "target" not in row


def test_many_workers():
    report = bench("scaling-own", "--workers", 8, "--json").json()
    [row] = report["scaling"]
    assert report["workers"] == 8 and [len(side["mev_per_s"]) for side in row["sides"]] == [8] * 4
    assert all(rate > 0 for side in row["sides"] for rate in side["mev_per_s"])


def test_unknown_case():
    done = weir("bench", "sched", "--case", "automatic-b1")
    assert done.code == USAGE and "automatic-b1" in done.stderr


@pytest.mark.parametrize("case", PEERS)
def test_throughput(case):
    report = bench(case, "--json").json()
    [best] = report["cases"]
    rows = [best, *report.get("other_peers", [])]
    assert {row["peer"]["name"] for row in rows} == PEERS[case]
    for row in rows:
        hops = 2 if case == "ordered-b16" else 1
        assert row["name"] == case
        assert row["ratio"] == pytest.approx(row["peer"]["cycles_per_event"] / row["ours"]["cycles_per_event"], rel=1e-3)
        for side in row["ours"], row["peer"]:
            assert side["mev_per_s"] > 0 and 0 <= side["empty_share"] <= 1
            assert side["cycles_per_event"] == pytest.approx(hops * side["cycles_per_hop"], rel=1e-3)
            assert side["cycles_per_event"] * side["mev_per_s"] * 1e6 == pytest.approx(
                side["worker_cpus"] * report["machine"]["cycles_hz"], rel=1e-3)
        assert best["peer"]["cycles_per_event"] <= row["peer"]["cycles_per_event"]
    targets = {row["peer"]["name"]: row["target"] for row in rows if "target" in row}
    assert targets == ({"event_sw": 2} if case.startswith("ordered") else {"event_dsw": 1.2})
    assert len(report.get("ordered_beside_atomic", [])) == case.startswith("ordered")
    assert len(report.get("layer", [])) == case.startswith("atomic")


def test_ours_alone():
    report = bench("stages-4", "--ours", "--json").json()
    [row] = report["cases"]
    assert row["ours"]["cycles_per_event"] > 0 and "peer" not in row


def test_lines():
    """Each two of the four CPUs; where there are fewer, a line would wait for its thread's turn."""
    report = bench("stages-4", "--ours", "--json").json()
    lines = report.get("line_ns", [])
    assert len(lines) == (0 if report["crowded"] else 6)
    assert {line.get("producer_and_worker") for line in lines} <= {None, 0, 1, 2}
    assert all(0 < line["p10"] <= line["median"] <= line["p90"] for line in lines)


def test_latency():
    report = bench("latency-high", "--json").json()
    rows = [*report["latency"], *report.get("other_latency", [])]
    assert {row["peer"]["name"] for row in rows} == {"event_dsw", "event_sw"}
    # 80 % of what three workers can do in 1 us each
    assert all(row["offered_mev_per_s"] == pytest.approx(2.4) for row in rows)
    assert [row["target"] for row in rows if row["peer"]["name"] == "event_dsw"] == [10]
    for side in [rows[0]["ours"], *(row["peer"] for row in rows)]:
        assert len(side["classes"]) == 8
        for wait in [*side["classes"], side["all"]]:
            assert 0 < wait["p50_ns"] <= wait["p99_ns"] <= wait["p999_ns"]
        assert side["ns_per_p99"] == pytest.approx(side["classes"][0]["p99_ns"], rel=1e-3)
    # What takes 1 us waits for one of three workers, and only for what is not of lower priority.
    free = rows[0]["at_no_cost"]
    assert free["mev_per_s"] == pytest.approx(2.4, rel=0.05)
    p99 = [wait["p99_ns"] for wait in free["classes"]]
    assert 0 < p99[0] < 1100 and p99 == sorted(p99)
    assert all(p99[0] < side["classes"][0]["p99_ns"] for side in [rows[0]["ours"], *(row["peer"] for row in rows)])


def test_at_no_cost():
    """The hot flow is a queue of its own with one server (M/D/1 at 80 %): 1 of 50 of its events waits longer than some 8 services of 2 us."""
    [row] = bench("hot-flow", "--ours", "--json").json()["latency"]
    assert row["at_no_cost"]["all"]["p99_ns"] == pytest.approx(17000, rel=0.2)
    assert row["ours"]["all"]["p99_ns"] > row["at_no_cost"]["all"]["p99_ns"]


@pytest.mark.parametrize("case", SCALING)
def test_scaling(case):
    report = bench(case, "--json").json()
    [row] = report["scaling"]
    # What counts is what those workers add that have a CPU each: main only waits meanwhile, and its CPU is one of them where there are few.
    fitting = row["workers_with_cpu"]
    assert fitting == (min(len(os.sched_getaffinity(0)), 3) if report["crowded"] else 3)
    assert [side["name"] for side in row["sides"]] == ["ours", "ours, apart", "event_dsw", "event_sw"]
    for side in row["sides"]:
        one, two, three = side["mev_per_s"]
        added = [two - one, three - two][:fitting - 1] or [0]
        assert side["least_added"] == pytest.approx(min(added) / one, rel=1e-3, abs=1e-3)
    if case.endswith("-bare"):
        assert row["work_ns"] < 10 and "target" not in row
    else:
        # one worker alone does no more than its work lets it; CPUs do not all have the same speed
        assert all(1e3 / side["mev_per_s"][0] > row["work_ns"] / 2 > 10 for side in row["sides"])
        assert row["reached"] == (fitting == 3 and row["sides"][0]["least_added"] >= row["target"] == 0.85)


@pytest.mark.parametrize("case", UNEVEN)
def test_uneven(case):
    [row] = bench(case, "--json").json()["uneven"]
    assert [side["name"] for side in row["sides"]] == ["ours", "ours, apart", "event_dsw", "event_sw"]
    assert row["has_cpus"] == (len(os.sched_getaffinity(0)) >= 2)
    allowed = row["sides"][1]["mev_per_s"]
    for side in row["sides"]:
        assert side["share"] == pytest.approx(side["mev_per_s"] / allowed, rel=1e-3)
    # an event is computed for twice by either worker: half as often by the slower one
    if row["has_cpus"]:
        assert 0 < allowed * 1e6 < 2 * 1.5 * 1e9 / (2 * row["work_ns"])


def test_for_people():
    text = bench("atomic-b1").stdout
    assert "\natomic-b1 " in text and "event_dsw" in text and "targets reached" in text
    assert "Success" not in text  # event_opdl's own words


@pytest.mark.parametrize("case", IDLE)
def test_idle_ports(case):
    [row] = bench(case, "--ours", "--json").json()["idle_ports"]
    assert [side["idle_ports"] for side in row["sides"]] == [0, 2, 30]
    for side in row["sides"]:
        assert side["ratio"] == pytest.approx(side["mev_per_s"] / row["sides"][0]["mev_per_s"], rel=1e-3)
        assert side["longest_move_us"] >= 0
    assert row["reached"] == (row["least_ratio"] >= row["target"])
