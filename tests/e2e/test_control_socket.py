# SPDX-License-Identifier: BSD-3-Clause
"""What an instance says on its control socket, beside the commands of `weir`, and who gets its name."""
import pytest

from network import assert_report_adds_up
from program import FAILED, weir, write_description
from running import ask_socket, endless, mixture, start, unique_name, wait_for_packets


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """An instance that answers while the tests of this module ask."""
    folder, name = tmp_path_factory.mktemp("busy"), unique_name()
    with start(endless(folder, mixture()), name) as instance:
        wait_for_packets(instance, name)
        yield name
        assert_report_adds_up(instance.stop().json())


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_a_name_that_is_taken(busy, options, tmp_path):
    """Who asked for JSON is told of it there, too, and what to do; the other one goes on."""
    done = weir("run", write_description(tmp_path / "same.yaml", endless(tmp_path, mixture()).description()),
                "--name", busy, *options, cwd=tmp_path)
    assert done.code == FAILED, done.text
    told = done.json()["error"] if options else done.stderr
    assert f"an instance '{busy}' is running already" in told and "--name" in told, done.text
    assert ask_socket(busy, "run/status")["result"]["state"] == "running"


def test_unknown_arguments_of_commands(busy):
    """Every command of the socket tells which ones it knows: a misspelt one would do something else."""
    commands = [entry["name"] for entry in ask_socket(busy, "help")["result"]]
    there = [command for command in commands if command.split("/")[0] not in ("em", "job", "readout")]  # it has none of these
    assert {"help", "run/stop", "route/list", "punt/capture", "graph/stats", "coro/trim", "node/totals"} <= set(there)
    for command in there:
        answer = ask_socket(busy, command, fiel="misspelt.pcap")
        assert (answer["ok"], answer["errno"]) == (False, 22), (command, answer)
        assert answer["error"].startswith("unknown argument 'fiel'; expected "), (command, answer)
    assert ask_socket(busy, "punt/capture", fiel="x")["error"] == "unknown argument 'fiel'; expected one of: file"
    assert ask_socket(busy, "run/stop", when="never")["error"] == "unknown argument 'when'; expected none"
    assert ask_socket(busy, "run/status")["result"]["state"] == "running"
