# SPDX-License-Identifier: BSD-3-Clause
"""weir check of models, which nobody can run."""
import json

import pytest

from program import OK, ROOT, USAGE, weir

EXAMPLES = sorted((ROOT / "examples" / "sim").glob("*.yaml"))


def check(path, *arguments):
    return weir("check", path, *arguments)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_in_order(path):
    done = check(path)
    assert done.code == OK, done.stderr
    assert "a model for weir sim" in done.stdout


def test_what_a_model_has_as_json():
    done = check(ROOT / "examples" / "sim" / "gateway.yaml", "--json")
    told = json.loads(done.stdout)
    assert (done.code, told["ok"], told["errors"]) == (OK, True, [])
    assert told["model"] == {"streams": 1, "queues": 2, "objects": 2, "cores": 1, "units": 3, "memories": 0}


def test_it_says_what_weir_sim_says(tmp_path):
    text = (ROOT / "examples" / "sim" / "gateway.yaml").read_text()
    path = tmp_path / "wrong.yaml"
    path.write_text(text.replace("queues: [slow]", "queues: []"))
    checked, simulated = check(path), weir("sim", path)
    assert checked.code == simulated.code == USAGE
    assert "never served" in checked.stderr
    assert checked.stderr == simulated.stderr
    told = json.loads(check(path, "--json").stdout)
    assert not told["ok"] and told["errors"]


def test_what_can_be_run_is_checked_as_that(tmp_path):
    """Though an object has steps: weir sim could not make a model of the other queues."""
    text = (ROOT / "examples" / "events.yaml").read_text().replace("data/", f"{ROOT}/examples/data/")
    path = tmp_path / "both.yaml"
    path.write_text(text.replace("receive: count}", "receive: count, steps: [{cpu: 10cycles}]}"))
    done = check(path)
    assert done.code == OK, done.stderr
    assert "2 ports, 3 workers" in done.stdout


def test_parts_are_checked_and_not_run(tmp_path):
    """All that instances consist of is counted, what is wrong in one is told where it stands."""
    examples = ROOT / "examples" / "sim"
    done = check(examples / "blades.yaml")
    assert done.code == OK, done.text
    assert "1 streams, 10 queues, 10 objects, 9 cores, 9 units, 8 memories" in done.stdout
    done = weir("run", examples / "blades.yaml")
    assert done.code == USAGE and "`weir sim` only" in done.stderr
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "blade.yaml").write_text((examples / "parts" / "blade.yaml").read_text().replace("work: {", "wrk: {"))
    (tmp_path / "blades.yaml").write_text((examples / "blades.yaml").read_text())
    done = check(tmp_path / "blades.yaml")
    assert done.code == USAGE
    assert "/parts/blade.yaml:" in done.stderr and "unknown queue 'work'" in done.stderr and "(in blade.0: " in done.stderr
