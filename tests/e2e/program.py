# SPDX-License-Identifier: BSD-3-Clause
"""The weir program as the tests use it: descriptions to run, runs, and what they left behind."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIR = pathlib.Path(os.environ.get("WEIR") or os.environ.get("WEIR_PROGRAM") or ROOT / "build/weir").absolute()
SLOW = 5 if os.environ.get("WEIR_TEST_SLOW_BUILD") else 1  # sanitizers take their time
TIMEOUT_S = 120 * SLOW
# Where DPDK has a folder for each program that runs.
RUNTIME = pathlib.Path("/var/run/dpdk" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/tmp") + "/dpdk")

# What a crash, or a sanitizer's finding, looks like.
CRASH = re.compile(r"AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:|Segmentation fault|Assertion .* failed")
# Exit codes, as `weir help run` tells them.
OK, FAILED, USAGE = 0, 1, 2


def environment():
    """As the caller's, without what would change messages."""
    return {**os.environ, "LC_ALL": "C.UTF-8"}


def preloaded(folder, source):
    """Where functions of the C library are replaced by those of @source. (Not with a sanitizer's runtime, which wants to be loaded first.)"""
    text, library = pathlib.Path(folder) / "instead.c", pathlib.Path(folder) / "instead.so"
    text.write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, text], check=True)
    return {**environment(), "LD_PRELOAD": str(library)}


class Done:
    """A run of the program to its end. It is always an error to die of a signal."""

    def __init__(self, arguments, code, stdout, stderr):
        self.code, self.stdout, self.stderr = code, stdout, stderr
        what = f"weir {' '.join(map(str, arguments))}\nexit code {code}\n{stdout}\n{stderr}"
        assert code >= 0, f"died of signal {-code}: {what}"
        assert not CRASH.search(stderr), what

    @property
    def text(self):
        return self.stdout + self.stderr

    def json(self):
        return json.loads(self.stdout)


def weir(*arguments, cwd=None, timeout_s=TIMEOUT_S):
    done = subprocess.run([WEIR, *map(str, arguments)], cwd=cwd, capture_output=True, timeout=timeout_s,
                          env=environment(), stdin=subprocess.DEVNULL)
    return Done(arguments, done.returncode, done.stdout.decode("utf-8", "replace"),
                done.stderr.decode("utf-8", "replace"))


class Instance:
    """A program that is running. Use it in a `with`: it does not outlive that."""

    def __init__(self, *arguments, cwd, prefix=()):
        self.arguments = arguments
        self.out = open(pathlib.Path(cwd) / f"stdout-{id(self)}", "w+b")
        self.err = open(pathlib.Path(cwd) / f"stderr-{id(self)}", "w+b")
        self.process = subprocess.Popen([*prefix, WEIR, *map(str, arguments)], cwd=cwd, stdout=self.out, stderr=self.err,
                                        stdin=subprocess.DEVNULL, env=environment())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        try:
            if self.process.poll() is None:  # killed, it would leave its sockets
                self.process.terminate()
                self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.out.close()
        self.err.close()

    def _text(self, file):
        file.seek(0)
        return file.read().decode("utf-8", "replace")

    def wait(self, timeout_s=TIMEOUT_S):
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {timeout_s} s:\n{self._text(self.out)}{self._text(self.err)}")
        return Done(self.arguments, self.process.returncode, self._text(self.out), self._text(self.err))

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.wait()

    def until(self, condition, what, timeout_s=TIMEOUT_S):
        """Wait until condition() gives something; that is returned."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            assert self.process.poll() is None, f"ended while waiting for {what}:\n{self.wait().text}"
            result = condition()
            if result:
                return result
            time.sleep(0.02)
        raise AssertionError(f"no {what} after {timeout_s} s:\n{self._text(self.out)}{self._text(self.err)}")


def write_description(path, description):
    """JSON is YAML too."""
    path.write_text(json.dumps(description, indent=2) + "\n")
    return path
