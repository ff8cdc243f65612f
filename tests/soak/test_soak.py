# SPDX-License-Identifier: BSD-3-Clause
"""Long runs: two workers forward without end while routes change and counters
are read, and another one with packets in jobs, of which some are cancelled; jobs
that do anything. Nothing is lost, nothing grows, and it stops when it is told to.

WEIR_TEST_SOAK_S says how long (60 seconds), WEIR which program (build/weir).
Part of `make check`, which runs it on the sanitized build as well.
"""
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

# pylint: disable=wrong-import-position
from program import OK, SLOW, WEIR, Instance, weir, write_description

SECONDS = float(os.environ.get("WEIR_TEST_SOAK_S", "60"))
GROWTH_MAX_KB = 8 * 1024
PATIENCE_S = 30 * SLOW  # for a thread that has lost its CPU to others
# One after the other: each has more busy threads than small machines have CPUs, and what is stopped has a second for what is in jobs.
pytestmark = pytest.mark.xdist_group("soak")
DATA = ROOT / "examples/data"
NAME = f"soak-{os.getpid()}"
# What the address sanitizer keeps of freed memory would look like growth.
os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=1:thread_local_quarantine_size_kb=64"]))


def description():
    endless = {"accept": "any", "repeat": 4_000_000_000}
    return {
        "application": {
            "routes": [{"file": str(DATA / "ipv4-bgp.txt.gz")}, {"prefix": "2000::/3", "next_hop": 1}],
            "neighbours": [{"id": "0-7", "port": "left", "mac": "02:10:00:00:00:01"},
                           {"id": "8-15", "port": "right", "mac": "02:20:00:00:00:01"}],
        },
        "platform": {
            "ports": {
                "in4": {"pcap_in": str(DATA / "isp-mix-vlan.pcap"), **endless},
                "in6": {"pcap_in": str(DATA / "ipv6-mix.pcap"), **endless},
                "left": {"device": "net_null0"},
                "right": {"device": "net_null1"},
            },
            "workers": [{"receive": ["in4"]}, {"receive": ["in6"]}],
        },
        "run": {"name": NAME, "until": "signal"},
    }


def resident_kb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def ask(*arguments):
    done = weir(*arguments, "--instance", NAME)
    assert done.code == OK, done.text
    return done


def packets_in():
    return json.loads(ask("stats", "--json").stdout)["packets"]["in"]


def churn(number):
    """One change of each kind, and back."""
    prefix = f"198.{18 + number % 2}.{number % 256}.0/24"
    ask("route", "add", prefix, str(number % 16))
    ask("neighbour", "add", "3", "right" if number % 2 else "left", f"02:10:00:00:00:{number % 256:02x}")
    ask("route", "delete", prefix)


def test_soak(tmp_path):
    path = write_description(tmp_path / "soak.yaml", description())
    with Instance("run", path, "--json", cwd=tmp_path) as instance:
        instance.until(lambda: weir("stats", "--instance", NAME).code == OK, "answer")
        begin, before, early_kb = time.monotonic(), packets_in(), None
        for number in itertools.count():
            churn(number)
            now = packets_in()
            assert now > before, "no packets came in between two looks"
            before = now
            passed = time.monotonic() - begin
            if early_kb is None and passed > SECONDS / 4:
                early_kb = resident_kb(instance.process.pid)
            if passed > SECONDS:
                break
        late_kb = resident_kb(instance.process.pid)
        done = instance.stop()
    assert done.code == OK, done.text
    packets = done.json()["packets"]
    assert packets["adds_up"] is True and packets["difference"] == 0, packets
    assert packets["in"] >= before and packets["out"] > 0, packets
    assert number > SECONDS / 10, "hardly any change was made"
    assert late_kb - early_kb < GROWTH_MAX_KB, f"grew from {early_kb} kB to {late_kb} kB"


def jobs_description():
    """Jobs that wait, of some flows, with a bound; what is too much is refused."""
    return {
        "application": {
            "queues": {"worked": {"flows": 16}},
            "nodes": {"work": {"type": "job", "work": "wait", "time": "200us", "queue": "worked", "flow": "five_tuple",
                               "packets": 512, "on_full": "drop"},
                      "from_work": {"type": "sched_rx", "queues": ["worked"]}},
            "edges": ["in4.classify -> work", "from_work.worked -> classify"],
            "routes": [{"prefix": "0.0.0.0/0", "next_hop": 0}],
            "neighbours": [{"id": 0, "port": "left", "mac": "02:10:00:00:00:01"}],
        },
        "platform": {
            "ports": {"in4": {"pcap_in": str(DATA / "isp-mix-vlan.pcap"), "accept": "any", "repeat": 4_000_000_000},
                      "left": {"device": "net_null0"}},
            "workers": [{"receive": ["in4"], "groups": []}, {}, {}],
        },
        "run": {"name": NAME, "until": "signal"},
    }


def cancel_some():
    """Some jobs that are alive; they may have ended before. What was spawned is accounted for, whenever one looks; none is left behind."""
    jobs = json.loads(ask("jobs", "--json").stdout)["jobs"]
    stuck = [job for job in jobs if job["state_ns"] > PATIENCE_S * 1e9]
    assert not stuck, stuck  # they wait for 200 us, and then for a core
    for job in jobs[:2]:
        weir("jobs", "cancel", job["job"], "--instance", NAME)
    stats = json.loads(ask("jobs", "stats", "--json").stdout)
    assert stats["spawned"] == stats["finished"] + stats["cancelled"] + stats["live"] and stats["live"] <= stats["max"], stats
    return stats


def cpu_ticks(pid):
    """Of each thread, in hundredths of a second: what it ran."""
    ticks = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        ticks[task.name] = int(fields[11]) + int(fields[12])
    return ticks


def jobs_go_on(pid, before):
    """Some more have ended before each worker, of which one brings the packets, has had a CPU for a tenth of a second."""
    until, begin = time.monotonic() + PATIENCE_S, cpu_ticks(pid)
    workers = sorted(begin, key=begin.get)[-3:]  # they are never idle
    while True:
        time.sleep(0.1)
        ran, now = cpu_ticks(pid), cancel_some()
        if now["finished"] > before["finished"]:
            return now
        told = f"no job ended in between two looks: {now}\n{ask('jobs').stdout}"
        assert min(ran[thread] - begin[thread] for thread in workers) < 10 * SLOW, told
        assert time.monotonic() < until, told


def test_soak_jobs(tmp_path):
    path = write_description(tmp_path / "jobs.yaml", jobs_description())
    with Instance("run", path, "--json", cwd=tmp_path) as instance:
        instance.until(lambda: weir("jobs", "--instance", NAME).code == OK, "answer")
        begin, before, early_kb = time.monotonic(), cancel_some(), None
        while (passed := time.monotonic() - begin) < SECONDS:
            before = jobs_go_on(instance.process.pid, before)
            if early_kb is None and passed > SECONDS / 4:
                early_kb = resident_kb(instance.process.pid)
        late_kb = resident_kb(instance.process.pid)
        done = instance.stop()
    assert done.code == OK, done.text
    report = done.json()
    packets, [node] = report["packets"], report["jobs"]
    assert packets["adds_up"] is True and packets["difference"] == 0, packets
    assert node["packets"] == node["passed"] + node["blocked"] + node["lost"] and node["inside"] == 0, node
    assert before["cancelled"] > 0 and node["passed"] > 0 and node["refused"] > 0, (before, node)
    assert late_kb - early_kb < GROWTH_MAX_KB, f"grew from {early_kb} kB to {late_kb} kB"


@pytest.mark.parametrize("backend", ["builtin", "eventdev:event_dsw0"])
def test_soak_random_jobs(backend):
    """Spawn, sleep, wait, cancel, migrate, at random: tests/job/test_random.c, for so long."""
    program = WEIR.resolve().parents[1] / "tests/job/job_random"
    if not program.exists():
        pytest.skip(f"{program} was not built")
    environment = {**os.environ, "WEIR_SCHED_BACKEND": backend}
    done = subprocess.run([program, str(SECONDS)], env=environment, capture_output=True, text=True, timeout=SLOW * (SECONDS + 120), check=False)
    print(done.stdout + done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
