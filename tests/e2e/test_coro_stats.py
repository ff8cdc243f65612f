# SPDX-License-Identifier: BSD-3-Clause
"""What a program's coroutines do, asked over its control socket while it runs: examples/coro/watched.c, weir stats coro."""
import re
import subprocess
import time

import pytest

from program import FAILED, OK, SLOW, TIMEOUT_S, WEIR, environment, weir
from running import unique_name

WATCHED = WEIR.resolve().parents[1] / "examples/coro/example_watched"
SECONDS = 3 * SLOW
ALIVE = 16
SHALLOW, DEEP = 0, 1


class Over(Exception):
    """The program ended before it was looked at."""


def watched(look):
    """What look(process, name) gives, of the program while it runs. On a busy machine it may be over before that: then it is to run twice
    as long."""
    assert WATCHED.exists(), "compile all, not the program only: `meson compile -C build`"
    for seconds in (SECONDS * 2 ** tries for tries in range(6)):
        name = unique_name()
        with subprocess.Popen([WATCHED, name, str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment()) as process:
            try:
                return look(process, name)
            except Over:
                continue
            finally:
                process.kill()
    raise AssertionError("it was over each time before it was looked at")


def ask(name):
    done = weir("stats", "coro", "--instance", name, "--json")
    return done.json() if done.code == OK else None


def wait_for_coroutines(process, name):
    """Until some of each class have ended."""
    while process.poll() is None:
        now = ask(name)
        if now and len(now["classes"]) == 2 and all(c["exited"] > 20 and c["slices"]["count"] > 20 for c in now["classes"]):
            return now
        time.sleep(0.02)
    raise Over


def look_at_distribution(part, value=lambda number: number):
    counts = [count for low, high, count in part["buckets"] if low <= high]
    assert sum(counts) == part["count"] and all(counts)
    assert value(part["p50"]) <= value(part["p90"]) <= value(part["p99"]) <= value(part["max"])
    assert part["buckets"][-1][0] <= value(part["max"]) <= part["buckets"][-1][1]


def look_at(answer):
    for number, a_class in enumerate(answer["classes"]):
        assert a_class["class"] == number and a_class["max"] == 100
        # One may be between its end and the next one's beginning, and counters are not of one instant.
        assert ALIVE - 1 <= a_class["live"] <= a_class["peak"] == ALIVE
        assert a_class["created"] - a_class["destroyed"] == pytest.approx(ALIVE, abs=2)
        assert a_class["exited"] == pytest.approx(a_class["destroyed"], abs=2)
        assert a_class["switches"] > a_class["slices"]["count"]
        look_at_distribution(a_class["slices"], lambda length: length["cycles"])
        look_at_distribution(a_class["stack_bytes"])
        assert a_class["slices"]["configured"]["ns"] == pytest.approx([10000, 20000][number], abs=1)
        # They work all the time: none ends before it has had a slice's time, as a rule.
        assert a_class["slices"]["p50"]["ns"] > 0.8 * a_class["slices"]["configured"]["ns"]
        assert 0 < a_class["stack_bytes"]["high_water"] <= a_class["stack_bytes"]["size"]
        assert a_class["stack_bytes"]["resident"] >= ALIVE * 4096
        # Of all that were used, those that are in use now and those that wait for the next one.
        assert a_class["stack_bytes"]["count"] >= ALIVE
    assert not any(answer["misuse"].values())


def look_twice(process, name):
    """Two answers, one for people, and what the program says itself when it is over."""
    first = wait_for_coroutines(process, name)
    time.sleep(0.3)
    second = ask(name)
    table = weir("stats", "coro", "--instance", name)
    if second is None or table.code != OK:
        raise Over
    out, err = process.communicate(timeout=10 * TIMEOUT_S)
    assert process.returncode == 0 and "warning" not in err, err
    return first, second, table, out


@pytest.mark.long
def test_while_it_runs():
    first, second, table, out = watched(look_twice)
    look_at(first)
    look_at(second)
    ended = [int(number) for number in re.fullmatch(r"ended: (\d+) shallow, (\d+) deep\n", out).groups()]
    for before, after, at_the_end in zip(first["classes"], second["classes"], ended):
        assert before["exited"] < after["exited"] <= at_the_end + 1
        assert before["switches"] < after["switches"]
        assert before["slices"]["count"] < after["slices"]["count"]
        assert before["stack_bytes"]["high_water"] <= after["stack_bytes"]["high_water"]
    deep, shallow = (second["classes"][number]["stack_bytes"] for number in (DEEP, SHALLOW))
    assert deep["high_water"] > 300 * 64 and deep["high_water"] > shallow["high_water"]
    # The same for people.
    assert table.stderr == ""
    for number, a_class in enumerate(second["classes"]):
        [text] = re.findall(rf"class {number}: (?:.*\n  .*\n)(?:    .*\n|  .*\n)*", table.stdout)
        [created] = re.findall(r"created ([\d,]+),", text)
        assert a_class["created"] <= int(created.replace(",", ""))
        assert f"slices of {10 * (number + 1)}.0 us" in text and f"stacks of {a_class['stack_bytes']['size']:,} bytes" in text
        for unit, least in ("us", a_class["slices"]["count"]), ("bytes", a_class["stack_bytes"]["count"]):
            counts = [int(n.replace(",", "")) for n in re.findall(rf"below +[\d.]+ {unit} +([\d,]+)\n", text)]
            assert sum(counts) >= least
            [told] = re.findall(r"measured: ([\d,]+);" if unit == "us" else r"used: ([\d,]+),", text)
            assert sum(counts) == int(told.replace(",", ""))
    assert "refused" not in table.stdout


def watch(process, name):
    """To its end, which is when the program is over."""
    wait_for_coroutines(process, name)
    with subprocess.Popen([WEIR, "stats", "coro", "--watch", "--instance", name], stdout=subprocess.PIPE, text=True,
                          env=environment()) as watching:
        process.wait(10 * TIMEOUT_S)
        out, _ = watching.communicate(timeout=TIMEOUT_S)
    if len(re.findall(r"^class 1: ", out, re.M)) < 2:
        raise Over
    return watching.returncode, out, name


@pytest.mark.long
def test_watch():
    code, out, name = watched(watch)
    assert code == OK and out.endswith(f"{name} has ended\n")


def ask_for_a_run(process, name):
    wait_for_coroutines(process, name)
    done = weir("stats", "--instance", name)
    if process.poll() is not None:
        raise Over
    return done


def test_no_run_of_the_program():
    """It has coroutines only."""
    done = watched(ask_for_a_run)
    assert done.code == FAILED and "run/report" in done.stderr
