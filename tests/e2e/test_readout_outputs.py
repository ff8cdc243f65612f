# SPDX-License-Identifier: BSD-3-Clause
"""Files and sockets that windows go to: each has one writer, and what it did not get is told."""
import re

from program import FAILED, OK, USAGE, Instance, weir, write_description
from running import stats, unique_name
from test_readout import description, fragments, leave

WINDOWS = {"links": ["wib"], "every": "1ms", "window": "1ms", "timeout": "1h"}


def test_a_file_has_one_writer(tmp_path):
    """Another run does not take it from the one that writes it, by whatever name; when that has ended it may."""
    endless = write_description(tmp_path / "endless.yaml", description(nb=0, requests={"triggers": {**WINDOWS, "every": "100ms", "to": "f.bin"}}))
    (tmp_path / "f.bin").write_bytes(b"")
    (tmp_path / "same.bin").hardlink_to(tmp_path / "f.bin")
    short = write_description(tmp_path / "short.yaml", description(requests={"triggers": {**WINDOWS, "to": "same.bin"}}))
    name = unique_name()
    with Instance("run", endless, "--name", name, "--json", cwd=tmp_path) as running:
        running.until(lambda: (now := stats(name)) and now["readout"]["requests"]["list"][0]["to"]["sent"] > 0, "fragments")
        for what in endless, short:
            done = weir("run", what, "--name", unique_name(), cwd=tmp_path)
            assert done.code == USAGE and re.search(rf"{what.name}:\d+:\d+: .*another one writes this file; expected", done.stderr), done.text
        done = running.stop()
    assert done.code == OK and not done.stderr, done.text
    assert len(fragments((tmp_path / "f.bin").read_bytes())) == done.json()["readout"]["requests"]["list"][0]["to"]["sent"]
    assert weir("run", short, "--name", unique_name(), cwd=tmp_path).code == OK


def test_what_was_not_written_is_told(tmp_path):
    """A reader that leaves: not among what was written, but told with its reason; the run fails."""
    thread = leave(tmp_path / "s")
    what = write_description(tmp_path / "gone.yaml", description(requests={"gone": {**WINDOWS, "to": "s"}, "kept": {**WINDOWS, "to": "f.bin"}}))
    done = weir("run", what, "--name", unique_name(), cwd=tmp_path)
    thread.join()
    assert done.code == FAILED and re.search(r"'s' has only \d+ of \d+ fragments: .*peer_gone \d+", done.stderr), done.text
    assert "Written: f.bin\n" in done.stdout
