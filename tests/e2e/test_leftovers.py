# SPDX-License-Identifier: BSD-3-Clause
"""What a run leaves behind: nothing of its own, and what is others' as it was."""
import pathlib
import signal
import subprocess
import time

import pytest

from program import OK, RUNTIME, SLOW, USAGE, WEIR, Instance, environment, preloaded, weir, write_description
from running import endless, mixture, start, stats, unique_name, wait_for_packets
from test_readout import description

def folders_of(name):
    return [folder.name for folder in RUNTIME.glob(f"weir-{name}*")]


def test_after_runs(tmp_path):
    """Of links, of a graph, of a look at either; and of one that does not get as far as to run."""
    name = unique_name()
    network = endless(tmp_path, mixture())
    with start(network, name) as running:
        wait_for_packets(running, name)
        assert folders_of(name) == [f"weir-{name}"]
        assert running.stop().code == OK
    assert folders_of(name) == []
    links = write_description(tmp_path / f"{name}.yaml", description(nb=10))
    for arguments, code in [(["run", links, "--name", name], OK), (["graph", links], OK)]:
        assert weir(*arguments, cwd=tmp_path).code == code
        assert folders_of(name) == []
    what = description(nb=10)
    what["platform"] = {"eal": ["--no-such-argument"]}
    assert weir("run", write_description(tmp_path / "bad.yaml", what), "--name", name, cwd=tmp_path).code == USAGE
    assert folders_of(name) == []


def wait_until(what):
    end = time.monotonic() + 30 * SLOW
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


# Stands still after it made a directory, so that a signal comes between that and what follows.
SLOW_MKDIR = """
#include <sys/syscall.h>
#include <unistd.h>

int mkdir(const char *path, unsigned int mode)
{
	long code = syscall(SYS_mkdirat, -100, path, mode);

	for (int i = 0; i < 20; i++)
		usleep(10000);
	return (int)code;
}
"""


# Stands still before it takes a directory away, so that another signal comes meanwhile.
SLOW_RMDIR = """
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int rmdir(const char *path)
{
	close(creat("removing", 0600));
	for (int i = 0; i < 20; i++)
		usleep(10000);
	return (int)syscall(SYS_unlinkat, -100, path, AT_REMOVEDIR);
}
"""


@pytest.mark.skipif(SLOW > 1, reason="a sanitizer's runtime wants to be loaded first")
@pytest.mark.parametrize("first, second", [(signal.SIGHUP, signal.SIGHUP), (signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGHUP)])
def test_after_a_benchmark_that_was_ended_twice(first, second, tmp_path):
    """As by a terminal that is closed: its shell says so, and then the kernel."""
    def as_usual():
        signal.signal(first, signal.SIG_DFL)
        signal.signal(second, signal.SIG_DFL)
    with subprocess.Popen([WEIR, "bench", "graph", "--seconds", "1"], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=tmp_path,
                          env=preloaded(tmp_path, SLOW_RMDIR), preexec_fn=as_usual) as program:
        try:
            folder = RUNTIME / f"weir-bench-{program.pid}"
            wait_until(folder.exists)
            program.send_signal(first)
            wait_until((tmp_path / "removing").exists)
            program.send_signal(second)
            assert program.wait(30 * SLOW) in (-first, -second)
        finally:
            program.kill()
    assert not folder.exists()


@pytest.mark.parametrize("place", ["anywhere", pytest.param("as the directory is made", marks=pytest.mark.skipif(
    SLOW > 1, reason="a sanitizer's runtime wants to be loaded first"))])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_after_a_benchmark_that_was_ended(how, place, tmp_path):
    """By itself, and by what started it, which is all that the signal goes to. (These tests may have been started with it ignored.)"""
    where = environment() if place == "anywhere" else preloaded(tmp_path, SLOW_MKDIR)
    for all_of_them in False, True:
        names = [] if all_of_them else ["graph"]
        with subprocess.Popen([WEIR, "bench", *names, "--seconds", "1"], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                              env=where, preexec_fn=lambda: signal.signal(how, signal.SIG_DFL)) as outer:
            try:
                its = pathlib.Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
                if all_of_them:
                    wait_until(lambda: its.read_text())
                inner = int(its.read_text()) if all_of_them else outer.pid
                folder = RUNTIME / f"weir-bench-{inner}"
                wait_until(folder.exists)
                outer.send_signal(how)
                assert outer.wait(30 * SLOW) == -how
            finally:
                outer.kill()
        wait_until(lambda: not folder.exists())


@pytest.mark.parametrize("prefixed", [False, True], ids=["names of their own", "a prefix of the other"])
def test_beside_another(prefixed, tmp_path):
    """One that ends takes nothing away from another, which is asked still, and by telemetry too."""
    other = unique_name()
    name = f"{other}-2" if prefixed else unique_name()
    network = endless(tmp_path, mixture())
    with start(network, other) as running:
        wait_for_packets(running, other)
        there = sorted(path.name for path in (RUNTIME / f"weir-{other}").iterdir())
        done = weir("run", write_description(tmp_path / "links.yaml", description(nb=10)), "--name", name, cwd=tmp_path)
        assert done.code == OK, done.text
        assert not (RUNTIME / f"weir-{name}").exists()
        assert there and sorted(path.name for path in (RUNTIME / f"weir-{other}").iterdir()) == there
        assert stats(other)["state"] == "running"
        assert running.stop().code == OK
    assert folders_of(other) == []
