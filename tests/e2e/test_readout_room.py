# SPDX-License-Identifier: BSD-3-Clause
"""Room for what is asked for: who asks for more is told which key of the description file to raise, and how far."""
import pathlib
import re
import subprocess

import pytest

from program import FAILED, OK, USAGE, Instance, weir, write_description
from running import unique_name
from test_bad_descriptions import refuse
from test_readout import description

WINDOWS = {"all": {"links": ["wib"], "every": "1ms", "window": "500us"}}
LAST_MS, FRAMES_OF_LAST = 2, 61 + 2  # frames of WIBEth


def with_room(nb=0, **room):
    what = description(nb=nb, requests=WINDOWS)
    what["application"]["fragments"] = room
    return what


def ask(name, *arguments):
    return weir("readout", "request", "--instance", name, "--last", f"{LAST_MS}ms", *arguments)


def run_with(folder, name, **room):
    return Instance("run", write_description(folder / "room.yaml", with_room(**room)), "--name", name, "--quiet", cwd=folder)


def test_windows_that_are_too_large(tmp_path):
    """What the answer says is enough."""
    name = unique_name()
    with run_with(tmp_path, name, frames=20) as running:
        done = running.until(lambda: (now := ask(name)).stdout.count(f"up to {FRAMES_OF_LAST} frames") == 2 and now, "history")
        assert done.code == FAILED and "a fragment has room for 20: ask for a shorter window" in done.stdout, done.text
        assert f"or raise application.fragments.frames to {FRAMES_OF_LAST}\n" in done.stdout
        assert running.stop().code == OK
    with run_with(tmp_path, name, frames=FRAMES_OF_LAST) as running:
        running.until(lambda: (now := ask(name, "--json")).code == OK and all(
            fragment["frames"] > FRAMES_OF_LAST - 5 for fragment in now.json()["fragments"]), "history")
        assert running.stop().code == OK


def test_too_few_fragments(tmp_path):
    name = unique_name()
    with run_with(tmp_path, name, count=2) as running:
        running.until(lambda: weir("readout", "status", "--instance", name).code == OK, "answer")
        done = ask(name)
        assert done.code == FAILED and "of the service's 2 fragments" in done.stderr and "raise application.fragments.count" in done.stderr, done.text
        assert running.stop().code == OK


def test_more_memory_than_is_free(tmp_path):
    """Its buffers would be touched one page after the other, until the system ends some program."""
    real = pathlib.Path("/proc/meminfo").read_text()
    (tmp_path / "meminfo").write_text(re.sub(r"(?m)^MemAvailable:.*$", "MemAvailable: 9000 kB", real))
    pretend = ["unshare", "--mount", "sh", "-c", 'mount --bind meminfo /proc/meminfo && exec "$@"', "sh"]
    if subprocess.run([*pretend, "true"], cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("mounts are not permitted here")
    what = write_description(tmp_path / "large.yaml", with_room(nb=10))
    with Instance("run", what, "--name", unique_name(), cwd=tmp_path, prefix=pretend) as running:
        done = running.wait()
    assert done.code == USAGE and "large.yaml:" in done.stderr, done.text
    assert "MiB of memory" in done.stderr and "8 are available now; expected a shorter history" in done.stderr, done.text
    assert weir("run", what, "--name", unique_name(), cwd=tmp_path).code == OK


def test_ticks_of_different_clocks(tmp_path):
    """They are no window of time; the last milliseconds are."""
    what = with_room()
    what["application"]["links"]["srs"] = {"format": "srs-vmm3a", "buffer": {"history": "1s", "rate": "10kHz"}}
    what["traffic"]["emulated"]["srs"] = {"rate": "10kHz", "size": "200B"}
    name, window = unique_name(), ["--begin", 0, "--end", 2048]
    with Instance("run", write_description(tmp_path / "clocks.yaml", what), "--name", name, "--quiet", cwd=tmp_path) as running:
        running.until(lambda: ask(name).code == OK, "frames")
        done = weir("readout", "request", "--instance", name, *window)
        assert done.code == FAILED and "62500000 Hz of link 'wib-0', 44444444 Hz of 'srs'; name links of one clock" in done.stderr, done.text
        assert weir("readout", "request", "--instance", name, *window, "--link", "wib").code == OK
        assert running.stop().code == OK


@pytest.mark.parametrize("room, words", [
    ("fragments: {count: @1}", ["1 fragments", "'all'", "2 links"]), ("fragments: {count: 2, frames: @16}", ["16 frames", "'all'", "up to 17"]),
    ("fragments: {count: @0}", ["0", "1"]), ("@fragments: {count: 1000000, frames: 1000000000}", ["MiB", "machine"]),
    ("fragments: {@size: 1}", ["'size'", "count"]),
])
def test_wrong(room, words, tmp_path):
    refuse(tmp_path, f"""\
application:
  links: {{wib: {{format: wibeth, count: 2, buffer: {{history: 50ms}}}}}}
  requests: {{all: {{links: [wib], every: 1ms, window: 500us}}}}
  {room}
traffic: {{emulated: {{wib: {{}}}}}}
run: {{duration: 1s}}
""", words)
