# SPDX-License-Identifier: BSD-3-Clause
"""weir bench sim: what it prints is what it did. How fast that is depends on the machine, and is not looked at."""
import stat

import pytest

from program import FAILED, OK, ROOT, USAGE, weir
from simpy_python import python_with

pytestmark = pytest.mark.exclusive  # what is measured is measured alone

PEERS = {"mm1-simpy": "SimPy", "mm1-ciw": "Ciw", "mm32-simpy": "SimPy", "npu-simpy": "SimPy"}
TARGETS = {"SimPy": 60, "Ciw": 80}
# Time inside in services, by theory (Erlang C; of two classes Cobham, 1954).
LATENCY = {"mm1-simpy": [1 / 0.3], "mm1-ciw": [1 / 0.3], "mm32-simpy": [1.143], "npu-simpy": [1.020, 1.205]}
ALONE = ["events", "queued"]


def bench(monkeypatch, python, *arguments):
    monkeypatch.setenv("WEIR_BENCH_PYTHON", str(python))
    return weir("bench", "sim", "--rounds", 1, *arguments)


def python_that_says(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_list():
    assert weir("bench", "sim", "--list").stdout.split() == [*PEERS, *ALONE]


def test_unknown_case():
    done = weir("bench", "sim", "--case", "mm2-simpy")
    assert done.code == USAGE and "mm2-simpy" in done.stderr


@pytest.mark.parametrize("case", PEERS)
def test_beside_a_peer(monkeypatch, case):
    python = python_with(PEERS[case].lower())
    if python is None:
        pytest.skip(f"no Python with {PEERS[case]}")
    done = bench(monkeypatch, python, "--case", case, "--json")
    assert done.code == OK and not done.stderr, done.text
    [row] = done.json()["cases"]
    ours, peer = row["ours"], row["peer"]
    assert row["name"] == case and peer["name"] == PEERS[case] and peer["version"] and peer["python"]
    assert row["ratio"] == pytest.approx(ours["customers_per_second"] / peer["customers_per_second"], rel=1e-3)
    assert row["ratio"] == pytest.approx(peer["ns_per_customer"] / ours["ns_per_customer"], rel=1e-3)
    assert row["target"] == TARGETS[PEERS[case]] and row["reached"] == (row["ratio"] >= row["target"])
    assert 2 <= ours["events_per_customer"] < 2.1  # each comes, and leaves or is still there
    for side in ours, peer:
        assert side["latency"] == pytest.approx(LATENCY[case], rel=0.15)


def test_without_a_python(monkeypatch):
    done = bench(monkeypatch, "/nowhere/python3", "--case", "mm1-simpy")
    assert done.code == FAILED and "/nowhere/python3" in done.stderr and "scripts/bench-peers" in done.stderr
    assert (ROOT / "scripts" / "bench-peers").exists()


def test_python_without_the_library(monkeypatch, tmp_path):
    python = python_that_says(tmp_path / "python3", """echo '{"python": "3.11.0", "simpy": null, "ciw": null}'; cat >/dev/null""")
    done = bench(monkeypatch, python, "--case", "mm1-*", "--json")
    rows = done.json()["cases"]
    assert done.code == FAILED and [row["name"] for row in rows] == ["mm1-simpy", "mm1-ciw"]
    assert all("scripts/bench-peers" in row["failed"] for row in rows)
    assert "no Python with SimPy" in done.stderr and "no Python with Ciw" in done.stderr


@pytest.mark.parametrize("answer", ["", "nonsense", '{"ns": 5000, "classes": []}',
                                    '{"ns": 5000, "classes": [{"customers": 9999, "latency": 3.33}]}',
                                    '{"ns": 5000, "classes": [{"customers": 10000, "latency": 9.9}]}'])
def test_peer_that_does_something_else(monkeypatch, tmp_path, answer):
    script = f"""echo '{{"python": "3.11.0", "simpy": "4", "ciw": null}}'; while read -r _; do echo '{answer}'; done"""
    done = bench(monkeypatch, python_that_says(tmp_path / "python3", script), "--case", "mm1-simpy")
    assert done.code == FAILED and "mm1-simpy: " in done.stderr


def test_peer_that_dies(monkeypatch, tmp_path):
    script = """echo '{"python": "3.11.0", "simpy": "4", "ciw": null}'; read -r _"""
    done = bench(monkeypatch, python_that_says(tmp_path / "python3", script), "--case", "mm1-simpy")
    assert done.code == FAILED and "the peer has failed" in done.stderr


def test_alone():
    report = weir("bench", "sim", "--rounds", 1, "--case", "[eq]*", "--json").json()
    events, queued = report["cases"]
    assert [row["name"] for row in (events, queued)] == ALONE
    assert events["reached"] == (events["ours"]["events_per_second"] >= events["target_events_per_second"] == 1e7)
    ours = events["ours"]
    assert ours["events_per_second_p10"] <= ours["events_per_second"] <= ours["events_per_second_p90"]
    assert queued["ours"]["queue_length"] == pytest.approx(1e6, rel=0.05)
    assert queued["peer"]["queue_length"] == pytest.approx(1000, rel=0.05)
    assert queued["ratio"] == pytest.approx(queued["peer"]["ns_per_event"] / queued["ours"]["ns_per_event"], rel=1e-3)


def test_table(monkeypatch):
    python = python_with("simpy")
    done = bench(monkeypatch, python or "/nowhere/python3", "--case", "[mn]*-simpy")
    assert done.code == (OK if python else FAILED)
    assert all((f"\n{case} " in done.stdout) == bool(python) for case, peer in PEERS.items() if peer == "SimPy")
