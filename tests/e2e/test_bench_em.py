# SPDX-License-Identifier: BSD-3-Clause
"""weir bench em: what it prints is what it did. How fast that is depends on the machine, and is not looked at."""
import pytest

from program import OK, USAGE, weir

pytestmark = pytest.mark.exclusive  # what is measured is measured alone

CASES = [f"dispatch-{queues}{batch}" for batch in ("", "-batch") for queues in (1, 8, 64)]


def bench(*arguments):
    done = weir("bench", "em", "--rounds", 3, *arguments)
    assert done.code == OK and not done.stderr, done.text
    return done


def test_list():
    assert weir("bench", "em", "--list").stdout.split() == CASES


def test_unknown_case():
    done = weir("bench", "em", "--case", "dispatch-2")
    assert done.code == USAGE and "dispatch-2" in done.stderr


def test_figures():
    report = bench("--json").json()
    assert [row["name"] for row in report["cases"]] == CASES
    for row in report["cases"]:
        ours, peer = row["ours"]["ns_per_event"], row["peer"]["ns_per_event"]
        assert row["peer"]["name"] == "lib/sched" and ours > 0 and peer > 0
        assert row["added_ns"] == pytest.approx(ours - peer, rel=1e-3, abs=1e-2)
        assert row["reached"] == (row["added_ns"] <= row["target_ns"])
    # batches are what the scheduler hands out at a time: all of one queue, or their share of eight queues'
    calls = {row["name"]: row["ours"]["events_per_call"] for row in report["cases"]}
    assert all(calls[f"dispatch-{queues}"] == 1 for queues in (1, 8, 64))
    assert calls["dispatch-1-batch"] > 16 and calls["dispatch-8-batch"] > 2


def test_table():
    table = bench().stdout
    assert all(f"\n{case} " in table for case in CASES) and "em adds" in table
