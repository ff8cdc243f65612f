# SPDX-License-Identifier: BSD-3-Clause
"""Results are counted right, and the absence of results is no success."""
import pytest

from conftest import ROOT, run

COUNT = ROOT / "scripts/count-tests"


def test_meson(tmp_path):
    log = tmp_path / "testlog.json"
    log.write_text("".join('{"name": "t", "result": "%s"}\n' % r for r in
                           ["OK", "OK", "EXPECTEDFAIL", "SKIP", "FAIL", "TIMEOUT", "ERROR", "UNEXPECTEDPASS"]))
    assert run(COUNT, log).stdout.split() == ["3", "4"]


def test_junit(tmp_path):
    log = tmp_path / "a.xml"
    log.write_text("<testsuites><testsuite><testcase/><testcase><failure/></testcase><testcase><error/></testcase>"
                   "<testcase><skipped/></testcase></testsuite></testsuites>")
    assert run(COUNT, log, log).stdout.split() == ["2", "4"]


@pytest.mark.parametrize("name,content", [("a.json", ""), ("a.json", "{"), ("a.json", "{}"), ("a.xml", "<a>")])
def test_no_results(tmp_path, name, content):
    log = tmp_path / name
    log.write_text(content)
    assert run(COUNT, log).returncode != 0
    assert run(COUNT, tmp_path / "absent.xml").returncode != 0


def closing(tmp_path, script):
    done = run("bash", "-c", f". {ROOT}/scripts/common.sh\nROOT={tmp_path}\nresults_begin\n{script}\nresults_end")
    return done.returncode, done.stdout.splitlines()


def test_closing_line(tmp_path):
    status, lines = closing(tmp_path, "step one true; step two echo fine")
    assert status == 0 and lines[-1] == "2 passed, 0 failed"


def test_closing_line_with_failure(tmp_path):
    status, lines = closing(tmp_path, "step one true; step two sh -c 'echo why; exit 1'; step three true")
    assert status != 0 and lines[-1] == "2 passed, 1 failed"
    assert "why" in lines and "FAILED: two" in lines


def test_nothing_run_is_a_failure(tmp_path):
    assert closing(tmp_path, ":")[0] != 0


@pytest.mark.parametrize("status,counts,expected", [
    (0, "3 0", "3 passed, 0 failed"),
    (1, "3 2", "3 passed, 2 failed"),
    (1, "0 0", "0 passed, 1 failed"),   # the runner itself broke
])
def test_count_or_fail(tmp_path, status, counts, expected):
    assert closing(tmp_path, f"count_or_fail a {status} '{counts}'")[1][-1] == expected
