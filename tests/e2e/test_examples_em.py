# SPDX-License-Identifier: BSD-3-Clause
"""The programs of examples/em: each checks itself what it promises, and says so by its exit status; here, that it says it, and what it prints."""
import random
import re
import subprocess

import pytest

from program import CRASH, ROOT, RUNTIME, SLOW, TIMEOUT_S, WEIR, environment

PROGRAMS = sorted(path.stem for path in (ROOT / "examples/em").glob("*.c") if path.stem != "example")
BACKENDS = ["builtin", "event_dsw", "event_sw"]
# What is said where README.md says no, or what a program does without.
SAID = {"no: it has no ordered queues": "there are no ordered queues",
        "without ordered queues": "there are no ordered queues",
        "no: its groups are as they were at the start": "cannot change links while it runs",
        "no: likewise": "cannot change links while it runs",
        "no: cores that were taken out get what it had for them before": "is not in the group"}
# Devices tell what they have room for.
ROOM = re.compile(r"^weir: sched: \w+: event_sw has no room for more: NEW is refused from \d+ events on\n", re.M)


def what_runs_where():
    """The table of README.md: of each program and backend, yes or why not."""
    table = re.search(r"\| program \| builtin .*\n\|[-|]+\n((?:\|.*\n)+)", (ROOT / "examples/em/README.md").read_text())
    found = {}
    for line in table.group(1).splitlines():
        names, *words = [cell.strip() for cell in line.strip("|").split("|")]
        for name in names.split(", "):
            found.update({(name, backend): word for backend, word in zip(BACKENDS, words, strict=True)})
    return found


RUNS = what_runs_where()


def run(name, folder, *arguments, seconds=1, code=0):
    """A run to its end; its output and its messages."""
    program = WEIR.resolve().parents[1] / f"examples/em/example_em_{name}"
    assert program.exists(), "compile all, not the program only: `meson compile -C build`"
    with subprocess.Popen([program, "--seconds", str(seconds), *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=environment()) as process:
        try:
            out, err = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
    text = f"{name} {arguments}: exit code {process.returncode}\n{out}\n{err}"
    assert not CRASH.search(err), text
    assert process.returncode == code, text
    assert not (RUNTIME / f"example-{process.pid}").exists(), text
    return out, err


def only(pattern, text):
    """Numbers in the one place that matches."""
    [found] = re.findall(pattern, text)
    return [int(number) for number in ([found] if isinstance(found, str) else found)]


def look_at_hello(out):
    ping, pong = only(r"(\d+) letters to ping, (\d+) to pong", out)
    assert 0 <= ping - pong <= 1 and pong >= 3
    assert re.findall(r"(\w+): hello, letter (\d)", out) == [(name, str(number)) for number, name in enumerate(3 * ["ping", "pong"])]


def steps(number):
    nb = 0
    while number > 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        nb += 1
    return nb


def look_at_ordered(out):
    blocks, _ = only(r"(\d+) blocks, all in order, though (\d+)", out)
    limit, number, nb_steps = only(r"longest chain up to (\d+): from (\d+), (\d+) steps", out)
    assert limit == 64 * blocks and number <= limit and steps(number) == nb_steps
    part = min(limit, 20000)
    best = max(range(1, part + 1), key=lambda n: (steps(n), -n))
    assert steps(best) <= nb_steps
    assert number > part or number == best


def look_at_queue_types(out, ordered=True):
    nb = {name: int(number) for name, number in re.findall(r"^(\w+) +(\d+) events$", out, re.M)}
    [full] = only(r"(\d+) found the ring full", out)
    assert nb["local"] > 0 and nb["atomic"] in range(2 * nb["local"], 2 * nb["local"] + 65)
    assert nb["parallel"] == nb["output"] == nb["local"] == nb["unscheduled"] + full
    assert nb["ordered"] == (nb["local"] if ordered else 0)


def look_at_group_change(out):
    assert sum(int(number) for number in re.findall(r"core \d+: (\d+) events", out)) > 0
    assert only(r"(\d+) changes, all in order", out)[0] > 100


def look_at_event_group_chain(out):
    sorts, links = only(r"(\d+) times 1048576 numbers sorted, in (\d+) links", out)
    assert sorts > 0 and links == 7 * sorts


def look_at_fractal(out):
    assert only(r"fractal.pgm: (\d+) pieces", out) == [1365]  # 1, 4 ... 1024
    assert only(r"painted (\d+) times", out)[0] > 0


def look_at_timer_hello(out):
    ticks, missed, periods = only(r"(\d+) ticks, (\d+) missed, in (\d+) periods", out)
    assert 0 < ticks and ticks + missed + 1 >= periods
    assert periods >= 19 and out.count("tick ") >= ticks
    assert out.count("hello, once") == 1


def look_at_error_handler(out):
    assert dict(re.findall(r"^(\w[\w ]*\w) +(\d)$", out, re.M)) == {
        "invalid handle": "2", "not held": "1", "dropped": "2", "application": "2"}
    assert only(r"(\d+) errors, (\d+) of them told to the object, (\d+) events rescued", out) == [9, 7, 2]


def rates(out):
    """Labels, of rates that agree with the cycles beside them: their product is cycles a second, of all cores."""
    rows = re.findall(r"^(.+?) +([\d.]+) Mev/s +([\d.]+) cycles per event and core$", out, re.M)
    assert all(float(cycles) > 0 for _, _, cycles in rows)
    # On a machine that has other things to do there may be next to none.
    products = [float(rate) * float(cycles) for _, rate, cycles in rows if float(rate) >= 0.1]
    assert not products or max(products) < 1.2 * min(products)
    return [label for label, _, _ in rows]


def look_at_pairs(out):
    assert [label[-6:] for label in rates(out)] == [f"{i} of 4" for i in range(1, 5)]


def look_at_loop(out, ordered=True):
    assert rates(out) == ["atomic", "parallel"] + ordered * ["ordered"] + ["local"]


def look_at_queue_groups(out):
    assert rates(out) == ["one group", "a group for each core"]


def test_all_programs_are_in_the_table():
    assert set(RUNS) == {(name, backend) for name in PROGRAMS for backend in BACKENDS}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, backend, tmp_path):
    word = RUNS[name, backend]
    device = [] if backend == "builtin" else ["--backend", f"eventdev:{backend}0"]
    if word.startswith("no"):
        _, messages = run(name, tmp_path, *device, code=1)
        assert SAID[word] in messages
        return
    out, messages = run(name, tmp_path, *device)
    look = globals()[f"look_at_{name}"]
    if word == "yes":
        assert not ROOM.sub("", messages), messages
        look(out)
    else:
        assert SAID[word] in messages
        look(out, ordered=False)


def test_not_on_event_opdl(tmp_path):
    _, messages = run("hello", tmp_path, "--backend", "eventdev:event_opdl0", code=1)
    assert "cannot be had on event_opdl" in messages


def mandelbrot(x, y):
    """As the program has it: 28 bits behind the point, and C's division."""
    one = 1 << 28

    def divide(a, b):
        return abs(a) // b if a >= 0 else -(abs(a) // b)
    cx, cy = x * one // 200 - one * 22 // 10, y * one // 200 - one * 12 // 10
    zx = zy = n = 0
    while n < 255 and zx * zx + zy * zy <= 4 * one * one:
        zx, zy = divide(zx * zx - zy * zy, one) + cx, divide(2 * zx * zy, one) + cy
        n += 1
    return n


def test_the_picture_is_right(tmp_path):
    hashes = set()
    for cores in 1, 3:
        path = tmp_path / f"{cores}.pgm"
        out, _ = run("fractal", tmp_path, "--cores", cores, path, seconds=0.1)
        hashes.update(re.findall(r"hash (\w+)", out))
    header, pixels = path.read_bytes().split(b"\n255\n", 1)
    assert header == b"P5\n640 480" and len(pixels) == 640 * 480
    assert pixels == (tmp_path / "1.pgm").read_bytes().split(b"\n255\n", 1)[1]
    value = 0xcbf29ce484222325
    for pixel in pixels:
        value = (value ^ pixel) * 0x100000001b3 % 2**64
    assert hashes == {f"{value:016x}"}
    places = random.Random(1)
    for _ in range(2000):
        x, y = places.randrange(640), places.randrange(480)
        assert pixels[y * 640 + x] == mandelbrot(x, y), (x, y)


@pytest.mark.parametrize("name", ["hello", "ordered", "group_change"])
@pytest.mark.parametrize("cores", [1, 6])
def test_other_numbers_of_cores(name, cores, tmp_path):
    run(name, tmp_path, "--cores", cores, seconds=0.3)


def test_options_of_eal(tmp_path):
    out, _ = run("pairs", tmp_path, "--", "--no-huge", "--no-pci", "--no-shconf", "-m", "128", seconds=0.4 * SLOW)
    assert "4 of 4" in out


BAD = {"--seconds 0": "--seconds: '0' is not a number from 0.01 to 1e+06", "--seconds": "--seconds: '' is not a number",
       "--seconds nan": "'nan' is not a number", "--cores x": "--cores: 'x' is not a number from 1 to 32", "--cores 33": "'33' is not a number",
       "--backend": "--backend: builtin or eventdev:DEVICE is expected", "--what": "'--what' was not expected", "a": "'a' was not expected"}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_arguments(arguments, tmp_path):
    out, messages = run("hello", tmp_path, *arguments.split(), code=2)
    assert messages.startswith("example_em_hello: ") and BAD[arguments] in messages and "--help" in messages and not out


def test_one_file_at_most(tmp_path):
    assert "'b' was not expected" in run("fractal", tmp_path, "a", "b", code=2)[1]
    assert "there/none.pgm" in run("fractal", tmp_path, "there/none.pgm", seconds=0.1, code=1)[1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_help(name, tmp_path):
    out, messages = run(name, tmp_path, "--help")
    assert re.match(rf"example_em_{name}: .{{20,}}[.?]\n\nusage: ", out) and not messages
    assert all(option in out for option in ("--seconds", "--cores", "--backend", "-- OPTIONS"))
    assert ("FILE" in out) == (name == "fractal")


def test_no_such_backend(tmp_path):
    _, messages = run("hello", tmp_path, "--backend", "centralised", code=1)
    assert "centralised" in messages
