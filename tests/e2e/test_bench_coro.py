# SPDX-License-Identifier: BSD-3-Clause
"""weir bench coro: what it prints is what it did. How fast that is depends on the machine, and is not looked at."""
import json
import os
import subprocess

import pytest

from program import FAILED, OK, SLOW, TIMEOUT_S, USAGE, WEIR, preloaded, weir

ROWS = ["switch", "switch-fp", "create-destroy", "create-run-destroy"]
pytestmark = pytest.mark.exclusive  # what is measured is measured alone

CASES = [*ROWS, "maybe-yield", "pi"]


def bench(pattern, *arguments):
    done = weir("bench", "coro", "--case", pattern, "--rounds", 3, *arguments)
    told = [line for line in done.stderr.splitlines() if "ASan doesn't fully support makecontext" not in line]
    assert done.code == OK and not told, done.text
    return done


def look_at_row(row):
    """The form that all benchmarks have."""
    for side in row["ours"], row["peer"]:
        for unit in {key.split("_per_")[1].removesuffix("_p10").removesuffix("_p90") for key in side if "_per_" in key}:
            assert side[f"cycles_per_{unit}"] > 0 and side[f"ns_per_{unit}"] > 0
    work = next(key for key in row["ours"] if key.endswith("_p10")).removesuffix("_p10")
    assert row["ratio"] == pytest.approx(row["peer"][work] / row["ours"][work], rel=1e-3)
    assert ("reached" in row) == ("target" in row or "target_cycles" in row or "target_percent" in row)
    if row.get("reached") and "target" in row:
        assert row["ratio"] >= row["target"]


def test_list():
    assert weir("bench", "coro", "--list").stdout.split() == CASES
    assert "coro" in weir("bench", "--list").stdout


def test_unknown_case():
    done = weir("bench", "coro", "--case", "swatch")
    assert done.code == USAGE and "swatch" in done.stderr


def test_switches_and_creations():
    report = bench("*s[wt][ir]*", "--json").json()  # switches, and what ends in destroy
    assert report["bench"] == "coro" and report["machine"]["cycles_hz"] > 0
    tables = {"ucontext": report["ucontext"]}
    if "left_out" in report:
        assert report["left_out"] == [{"peer": "fcontext", "package": "libboost-context-dev"}]
        assert report["cases"] == []
    else:
        tables["fcontext"] = report["cases"]
    for peer, rows in tables.items():
        assert [row["name"] for row in rows] == ROWS
        for row in rows:
            look_at_row(row)
            assert row["peer"]["name"] == peer
        switch, _, create, run = rows
        assert switch["ours"]["cycles_per_round"] == pytest.approx(2 * switch["ours"]["cycles_per_switch"], rel=1e-3)
        # 50 ns in cycles of the time base.
        assert create["target_cycles"] == pytest.approx(50e-9 * report["machine"]["cycles_hz"], abs=1)
        assert "reached" not in run
    if "fcontext" in tables:
        assert [row.get("target") for row in tables["fcontext"]] == [2.0, 1.0, None, None]


def test_maybe_yield():
    report = bench("maybe-yield", "--json").json()
    rows = {row["name"]: row for row in report["maybe_yield"]}
    assert len(rows) == 8 and report["clock_read_ns"] > 0
    ticker = {row["name"]: row for row in report.get("maybe_yield_ticker", [])}
    assert set(ticker) == ({name for name in rows if not name.startswith("regular")}
                           if len(os.sched_getaffinity(0)) > 1 else set())
    for name, row in [*rows.items(), *ticker.items()]:
        look_at_row(row)
        assert row["peer"]["name"] == "clock read each time"
        assert ("target_cycles" in row) == name.startswith("regular")
        for ends in row["ends"], row["peer_ends"]:
            assert 0 <= ends["within_share"] <= 1 and 0 <= ends["first_share"] <= 1
            assert ends["over_ns_p99"] <= ends["over_ns_most"]
            assert ends["longest_share"] <= ends["within_share"]
            if ends["longest_share"] > 0.99:
                assert ends["over_ns_p99"] <= row["longest_spacing_ns"] + 50
        assert row["peer_time_percent"] == pytest.approx(
            row["peer"]["ns_per_check"] / row["spacing_ns"] * 100, rel=1e-3)
        assert row["off_percent"] == pytest.approx((row["actual_slice_us"] / row["slice_us"] - 1) * 100, abs=0.1)
        if row["reached"] and "target_cycles" not in row:
            assert row["time_percent"] <= 1 and row["ends"]["within_share"] >= 0.999
    assert rows["bimodal 50 ns, 2 us"]["longest_spacing_ns"] == 2000


@pytest.mark.skipif("WEIR_TEST_SLOW_BUILD" in os.environ, reason="instrumented code takes the time of a spacing by itself")
def test_spacings():
    """As they were measured: a machine that is busy at times makes some of them longer, but not each time."""
    for _ in range(20):
        rows = {row["name"]: row for row in bench("maybe-yield", "--json").json()["maybe_yield"]}
        spacings = [rows[f"regular {text}"]["spacing_ns"] for text in ("10 ns", "100 ns", "1 us", "3.2 us")]
        if spacings == sorted(spacings):
            return
    pytest.fail(f"spacings that are to grow do not in 20 runs: {spacings}")


@pytest.mark.skipif("WEIR_TEST_SLOW_BUILD" in os.environ, reason="instrumented code is late by itself")
def test_looking_each_time_is_in_time():
    """Only what happens to the machine makes the peer late: in some run nothing does."""
    for _ in range(20):
        report = bench("maybe-yield", "--json").json()
        if all(row["peer_ends"]["first_share"] > 0.8 for row in report["maybe_yield"] if not row["name"].startswith("regular")):
            return
    pytest.fail("a slice that looks at the clock at each check ends late in 20 runs")


def test_pi(monkeypatch):
    # Slices are measured: nothing else makes the coroutines yield.
    monkeypatch.setenv("WEIR_CORO_ALWAYS_YIELD", "1")
    [row] = bench("pi", "--json").json()["cases"]
    look_at_row(row)
    assert row["calls"] == 3 and row["considerations_per_call"] == 300
    assert 1 < row["switches_per_call"] < 290
    assert row["overhead_ns_per_switch"] == pytest.approx(
        row["overhead_us_per_call"] * 1000 / row["switches_per_call"], rel=1e-3)
    assert row["actual_slice_us"] == pytest.approx(
        row["ours"]["ns_per_call"] / 1000 / row["switches_per_call"], rel=1e-3)
    assert row["target_ns_per_switch"] == pytest.approx(row["clock_read_ns"] + 12, rel=1e-3)
    assert 0 < row["clock_read_ns"] < 10000 and "clock_read_between_ns" in row  # a difference: noise may exceed it
    assert row["reached"] == (row["overhead_ns_per_switch"] < row["target_ns_per_switch"] and
                              row["overhead_percent"] < row["target_percent"])


def test_pi_for_people():
    text = bench("pi").stdout
    for line in ("Calls: 3", "Without coroutines:", "  Total latency: ", "  Latency per call: ", "Coroutines:",
                 "  Latency per call (coroutine): ", "  Coroutine overhead per call: ", "  Switches per call: ",
                 "  Overhead per switch: ", "  Switch considerations per call: 300.0",
                 "  Configured time slice: 10.000 us", "  Actual time slice: ", "  Coroutine overhead: "):
        assert f"\n{line}" in text, line


@pytest.mark.skipif(SLOW > 1, reason="a sanitizer's runtime wants to be loaded first")
def test_side_that_does_less_than_it_says_fails(tmp_path):
    """A switch that does not happen takes no time: that is no result."""
    lazy = "int swapcontext(void *from, const void *to) { (void)from; (void)to; return 0; }\n"
    done = subprocess.run([WEIR, "bench", "coro", "--case", "switch", "--rounds", "3", "--json"], text=True,
                          capture_output=True, timeout=TIMEOUT_S, env=preloaded(tmp_path, lazy))
    assert done.returncode == FAILED and "ucontext 0" in done.stderr, done.stderr
    [row] = json.loads(done.stdout)["ucontext"]
    assert row["name"] == "switch" and "failed" in row and "ratio" not in row
