# SPDX-License-Identifier: BSD-3-Clause
"""weir sim of models that are made of parts: arrays of them, their names in results, and what is wrong in a part."""
import csv
import io

import pytest

from program import ROOT, USAGE, weir

BLADES = ROOT / "examples" / "sim" / "blades.yaml"
PART = ROOT / "examples" / "sim" / "parts" / "blade.yaml"


@pytest.fixture
def blades(tmp_path):
    """A copy of the example that may be changed."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "blade.yaml").write_text(PART.read_text())
    path = tmp_path / "blades.yaml"
    path.write_text(BLADES.read_text())
    return path


def change(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))


def named(report, kind):
    return {thing["name"]: thing for thing in report[kind]}


def test_an_array_behind_a_switch():
    report = weir("sim", BLADES, "--replications", "1", "--json").json()
    queues, cores = named(report, "queues"), named(report, "cores")
    arrived = [queues[f"blade.{i}.work"]["arrived_packets"]["mean"] for i in range(8)]
    sent = queues["ingress"]["arrived_packets"]["mean"]
    assert abs(sum(arrived) - sent) < 10
    # Each gets about an eighth of the flows; two of them are slower.
    assert all(abs(one - sent / 8) < sent / 80 for one in arrived)
    assert all(cores[f"blade.{i}.cpu"]["utilisation"]["mean"] < cores["blade.7.cpu"]["utilisation"]["mean"] for i in range(6))
    assert named(report, "streams")["users"]["reordered_packets"]["mean"] == 0
    assert queues["blade.*.work"]["arrived_packets"]["mean"] == sum(arrived)
    assert abs(cores["blade.*.cpu"]["busy_mean"]["mean"] - sum(cores[f"blade.{i}.cpu"]["busy_mean"]["mean"] for i in range(8))) < 1e-6
    for kind, name in (("units", "blade.3.link"), ("memories", "blade.3.packets.cache"), ("probes", "blade.3.backlog")):
        assert name in named(report, kind)


def test_names_in_csv_and_precision(blades):
    change(blades, "replications: 4,", "precision: {of: queues.blade.*.work.length_mean, relative: 0.2, replications: 40},")
    rows = list(csv.DictReader(io.StringIO(weir("sim", blades, "--csv").stdout)))
    precise = [row for row in rows if (row["name"], row["quantity"]) == ("blade.*.work", "length_mean")]
    assert len(precise) == 1 and int(precise[0]["samples"]) >= 10
    assert float(precise[0]["half_width"]) <= 0.2 * float(precise[0]["mean"])


def test_what_is_wrong_in_a_part_is_told_there(blades):
    """Once, with an instance and its parameters."""
    change(blades.parent / "parts" / "blade.yaml", "{use: link, ", "{use: lnk, ")
    done = weir("sim", "blades.yaml", cwd=blades.parent)
    line = 1 + (PART.read_text().split("{use: link")[0]).count(chr(10))
    assert done.code == USAGE
    assert done.stderr.splitlines()[0] == (
        f"parts/blade.yaml:{line}:17: unknown unit 'lnk'; expected one of platform.units: "
        f"uplink, {', '.join(f'blade.{i}.link' for i in range(8))} "
        "(in blade.0: cores = 4, clock = 1.2GHz, work = 2kcycles, to = egress)")
    assert done.stderr.count("lnk") == 1


def test_values_that_a_part_cannot_use(blades):
    """The part's place is told, and which of the instances it is."""
    change(blades, "800MHz, 800MHz", "800MHz, 800")
    done = weir("sim", "blades.yaml", cwd=blades.parent)
    assert done.code == USAGE
    assert done.stderr.startswith("parts/blade.yaml:") and "'800'" in done.stderr and "(in blade.7: " in done.stderr


def test_a_trace_does_not_overwrite_a_part(blades):
    before = (blades.parent / "parts" / "blade.yaml").read_text()
    change(blades, "seed: 1", f"seed: 1, probes: {{p: {{queue: ingress, trace: {blades.parent}/parts/blade.yaml}}}}")
    done = weir("sim", blades)
    assert done.code == USAGE and "the model's own" in done.stderr
    assert (blades.parent / "parts" / "blade.yaml").read_text() == before
