# SPDX-License-Identifier: BSD-3-Clause
"""The simulator is built where there is no DPDK, and gives the same run as everywhere."""
import json
import os
import shutil

import pytest

from conftest import ROOT, meson, run

pytestmark = pytest.mark.xdist_group("sim_only")  # one build for all

MODEL = ROOT / "examples" / "sim" / "four-cores.yaml"
# Of `weir sim examples/sim/four-cores.yaml --replications 1`.
FINGERPRINT = "bc87aa7b29d5dbed"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """A folder from which pkg-config knows what the simulator needs, and nothing else."""
    folder = tmp_path_factory.mktemp("pkgconfig")
    for name in ("yaml-0.1", "jansson"):
        found = run("pkg-config", "--variable=pcfiledir", name).stdout.strip()
        shutil.copy(os.path.join(found, f"{name}.pc"), folder)
    return folder


@pytest.fixture(scope="module")
def program(tmp_path_factory, libraries):
    """Built by another compiler than usual, with flags that would change what floating point gives."""
    folder = tmp_path_factory.mktemp("build")
    environment = {"CC": "clang", "CFLAGS": "-march=native -ffast-math -ffp-contract=fast",
                   "PKG_CONFIG_LIBDIR": str(libraries), "PKG_CONFIG_PATH": ""}
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        done = meson("setup", folder, ROOT, "-Dsim_only=true", "-Dtests=false", "-Doptimization=1")
        assert done.returncode == 0, done.stdout
        done = meson("compile", "-C", folder, "app/weir:executable")
        assert done.returncode == 0, done.stdout
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return folder


def test_nothing_of_dpdk(program):
    commands = (program / "compile_commands.json").read_text()
    assert "dpdk" not in commands.lower() and "lib/sim/engine.c" in commands
    assert "librte" not in run("ldd", program / "app" / "weir").stdout


def test_fingerprint(program):
    done = run(program / "app" / "weir", "sim", MODEL, "--replications", "1", "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["fingerprint"] == FINGERPRINT


def test_what_is_not_known(program):
    """One replication has no confidence interval, which is told whatever the compiler was told of numbers that are none."""
    arguments = [program / "app" / "weir", "sim", MODEL, "--replications", "1"]
    latency = json.loads(run(*arguments, "--json").stdout)["streams"][0]["latency_mean_ns"]
    assert latency["mean"] > 0 and latency["half_width"] is None
    assert "+-" not in run(*arguments).stdout


def test_files_that_are_run_too(program):
    """A description has keys of those who run it, which are left aside here."""
    done = run(program / "app" / "weir", "sim", ROOT / "examples" / "graph.yaml", "--replications", "1", "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["workers"][0]["name"] == "worker-0"


def test_other_commands(program):
    weir = program / "app" / "weir"
    assert "sim" in run(weir, "help").stdout
    assert json.loads(run(weir, "version", "--json").stdout)["dpdk"] is None
    assert "streams" in json.loads(run(weir, "schema").stdout)["$defs"]["simulated traffic"]["properties"]
    assert run(weir, "run", MODEL).returncode == 2
