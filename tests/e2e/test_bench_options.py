# SPDX-License-Identifier: BSD-3-Clause
"""weir bench: each option of each benchmark does something, or is refused with a reason."""
import json
import re
import time

import pytest

from program import FAILED, OK, USAGE, weir

# A case that is over soon, and the options that only some benchmarks take.
QUICK = {"graph": "diamond", "forward": "full-table", "coro": "switch", "sched": "stages-4", "em": "dispatch-1", "job": "spawn",
         "readout": "callback-1", "sim": "events"}
TAKEN = {"graph": {"--burst"}, "forward": {"--burst", "--routes"}, "coro": set(), "sched": {"--ours", "--workers"}, "em": set(),
         "job": {"--ours"}, "readout": {"--burst"}, "sim": set()}
SOME = {"--burst": ["17"], "--routes": ["/nowhere/routes"], "--ours": [], "--workers": ["2"]}


def test_all_benchmarks_and_options_are_looked_at():
    assert {line.split()[0] for line in weir("bench", "--list").stdout.splitlines()} == set(QUICK)
    for name in QUICK:
        options = set(re.findall(r"^  (--[a-z]+)", weir("bench", name, "--help").stdout, re.M))
        assert options == {"--case", "--seconds", "--rounds", "--cpu", "--json", "--list", *SOME}


@pytest.mark.parametrize("name", QUICK)
def test_refused(name):
    for option in set(SOME) - TAKEN[name]:
        done = weir("bench", name, option, *SOME[option])
        assert done.code == USAGE and not done.stdout and f"weir bench {name}: no {option}: " in done.stderr
    for wrong in ["--burst", "0"], ["--seconds", "x"], ["--rounds", "0"], ["--cpu", "-1"], ["--what"], ["word"]:
        done = weir("bench", name, *wrong)
        assert done.code == USAGE and not done.stdout and wrong[0].strip("-") in done.stderr


@pytest.mark.parametrize("number", ["0", "9", "-1", "two", ""])
def test_so_many_workers_cannot_be(number):
    done = weir("bench", "sched", "--workers", number)
    assert done.code == USAGE and not done.stdout and f"--workers takes 1 to 8, not '{number}'" in done.stderr


@pytest.mark.parametrize("option", ["--case", *SOME])
def test_refused_of_all(option):
    arguments = SOME.get(option, ["*"])
    done = weir("bench", option, *arguments)
    assert done.code == USAGE and not done.stdout and f"{option} wants the benchmark's name before it" in done.stderr


@pytest.mark.parametrize("name", QUICK)
def test_a_cpu_that_is_not_there(name):
    done = weir("bench", name, "--cpu", 12345)
    assert done.code == FAILED and "cannot run on CPU 12345" in done.stderr


def test_bursts_are_those_that_were_asked_for():
    done = weir("bench", "graph", "--case", "diamond", "--burst", 17, "--rounds", 1, "--json")
    assert [row["burst"] for row in done.json()["cases"]] == [17]
    done = weir("bench", "forward", "--burst", 17)  # loops are made for some
    assert done.code == USAGE and "32, 64, 128 or 256, not '17'" in done.stderr


@pytest.mark.long
def test_routes_are_those_that_were_named(tmp_path):
    done = weir("bench", "forward", "--routes", "/nowhere/routes")
    assert done.code == FAILED and "/nowhere/routes" in done.stderr
    (tmp_path / "routes.txt").write_text("".join(f"10.{i}.0.0/16 {i % 16}\n" for i in range(64)))
    done = weir("bench", "forward", "--routes", tmp_path / "routes.txt", "--case", "full-table", "--burst", 64, "--rounds", 1,
                "--json")
    assert [row["ours"]["burst"] for row in done.json()["cases"]] == [64]


@pytest.mark.parametrize("name", sorted(set(QUICK) - {"forward"}))
def test_time_and_form(name):
    arguments = ["bench", name, "--case", QUICK[name], *(["--ours"] if "--ours" in TAKEN[name] else [])]
    began = time.monotonic()
    done = weir(*arguments, "--rounds", 1, "--seconds", 3600, "--json")
    assert done.code == OK, done.text
    [row] = json.loads(done.stdout)["cases"]  # of one case, long before an hour is over
    assert row["name"] == QUICK[name]
    short = time.monotonic() - began
    began = time.monotonic()
    assert weir(*arguments, "--seconds", 1.5).code == OK
    assert time.monotonic() - began >= 1.4 or short >= 1.4
