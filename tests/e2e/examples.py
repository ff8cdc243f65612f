# SPDX-License-Identifier: BSD-3-Clause
"""The example programs of readout as processes, each with a virtual device of its own."""
import itertools
import os
import re
import shutil
import signal
import subprocess

from program import CRASH, RUNTIME, TIMEOUT_S, WEIR, environment

_numbers = itertools.count()


class Example:
    """A program that runs. Use it in a `with`: it does not outlive that."""

    def __init__(self, name, device, *arguments, prefix=()):
        self.file_prefix = f"example-{os.getpid()}-{next(_numbers)}"  # instances have others
        program = WEIR.resolve().parents[1] / "examples/readout" / f"example_{name}"
        command = [*prefix, program, "--no-huge", "--no-pci", "--no-shconf", "-m", "128", "--lcores", f"0@{min(os.sched_getaffinity(0))}",
                   "--file-prefix", self.file_prefix, "--vdev", device, "--", *arguments]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=environment())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.communicate()
        shutil.rmtree(RUNTIME / self.file_prefix, ignore_errors=True)  # of one that was killed

    def ready(self):
        said = self.process.stdout.readline()
        assert said == "ready\n", said + self.process.stderr.read()

    def end(self, code=0):
        """Waits for its end. Returns what it said."""
        out, err = self.process.communicate(timeout=TIMEOUT_S)
        assert self.process.returncode == code and not CRASH.search(err), out + err
        assert not (RUNTIME / self.file_prefix).exists(), err
        return out, err

    def interrupt(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()


def counts(line):
    """{"links": 3, "full bursts": 1} of "3 to links + 1 full bursts"."""
    return {name: int(number) for number, name in re.findall(r"(\d+) (?:to )?([a-zA-Z_]+(?: [a-zA-Z]+)*)", line)}


def link_counts(text):
    """What is counted of each link, by its name."""
    return {name: counts(rest) for name, rest in re.findall(r"^(link\d+): (.*)", text, re.M)}
