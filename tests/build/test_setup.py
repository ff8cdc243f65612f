# SPDX-License-Identifier: BSD-3-Clause
"""scripts/setup: over in a moment when nothing is missing; else asks apt for
exactly what is, or names it. Played on a machine of stand-ins: a PATH whose
pkg-config, apt-get, sudo and id do what a test wants."""
import os

import pytest

from conftest import ROOT, run

SETUP = ROOT / "scripts/setup"
DEBIAN = "ID=debian\nVERSION_ID=12\n"
FEDORA = "ID=fedora\nVERSION_ID=40\n"


class Machine:
    """Stand-ins come first in PATH; each notes how it was called."""

    def __init__(self, folder):
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.calls = folder / "calls"
        self.installed = folder / "installed"
        self.os_release = folder / "os-release"
        self.os_release.write_text(DEBIAN)
        self.path = os.environ["PATH"]
        # apt-get works when asked with up-to-date lists, and then installs what is missing.
        self.command("apt-get", f'touch "{self.installed}"')
        self.command("sudo", 'exec "$@"')

    def command(self, name, body):
        path = self.bin / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.calls}"\n{body}\n')
        path.chmod(0o755)

    def lacks_pkg_config(self, module):
        """pkg-config does not know the module until something was installed."""
        self.command("pkg-config", f'case " $* " in *" {module} "*) [ -e "{self.installed}" ]; exit;; esac\n'
                     f'PATH="{self.path}" exec pkg-config "$@"')

    def user(self, uid):
        self.command("id", f"echo {uid}")

    def setup(self, *groups):
        env = dict(os.environ, PATH=f"{self.bin}:{self.path}", OS_RELEASE=str(self.os_release))
        return run(SETUP, *groups, env=env)

    def called(self, name):
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line for line in lines if line.startswith(name + " ")]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_nothing_missing_is_quick(machine):
    best = 9
    for _ in range(3):
        before = sum(os.times()[2:4])  # of processes that have ended
        done = machine.setup("build")
        best = min(best, sum(os.times()[2:4]) - before)
        assert done.returncode == 0 and done.stdout == ""
    assert machine.called("apt-get") == [] and machine.called("sudo") == []
    assert best < 1


def test_nothing_missing_elsewhere(machine):
    machine.os_release.write_text(FEDORA)
    assert machine.setup("build").returncode == 0


@pytest.mark.parametrize("module, package", [("yaml-0.1", "libyaml-dev"), ("libfyaml", "libfyaml-dev")])
def test_installs_what_is_missing(machine, module, package):
    machine.lacks_pkg_config(module)
    machine.user(0)
    done = machine.setup("build")
    assert done.returncode == 0, done.stdout
    [call] = machine.called("apt-get")
    assert " install " in call and "--no-install-recommends" in call and " -y " in call
    assert call.endswith(" " + package)
    assert machine.called("sudo") == []


def test_library_without_a_pkg_config_file(machine):
    """The compiler that does not know a library's path answers with the name it was asked for."""
    path = machine.path
    machine.command("cc", f'case "$*" in *=libboost_context.a) [ -e "{machine.installed}" ] || '
                    f'{{ echo libboost_context.a; exit; }};; esac\nPATH="{path}" exec cc "$@"')
    machine.user(0)
    done = machine.setup("build")
    assert done.returncode == 0, done.stdout
    [call] = machine.called("apt-get")
    assert call.endswith(" libboost-context-dev")


def test_sudo_when_not_root(machine):
    machine.lacks_pkg_config("jansson")
    machine.user(1000)
    assert machine.setup("build").returncode == 0
    [call] = machine.called("sudo")
    assert "DEBIAN_FRONTEND=noninteractive apt-get" in call and call.endswith(" libjansson-dev")


def test_updates_lists_only_when_needed(machine):
    machine.lacks_pkg_config("libpcap")
    machine.user(0)
    updated = machine.bin / "updated"
    machine.command("apt-get", f'case "$*" in *update*) touch "{updated}"; exit 0;; esac\n'
                    f'[ -e "{updated}" ] || exit 100\ntouch "{machine.installed}"')
    assert machine.setup("build").returncode == 0
    verbs = [("update" if " update" in call else "install") for call in machine.called("apt-get")]
    assert verbs == ["install", "update", "install"]


def test_no_network(machine):
    machine.lacks_pkg_config("libpcap")
    machine.user(0)
    machine.command("apt-get", "exit 100")
    done = machine.setup("build")
    assert done.returncode != 0 and "could not install: libpcap-dev" in done.stdout


def test_installed_but_not_found(machine):
    machine.lacks_pkg_config("libpcap")
    machine.user(0)
    machine.command("apt-get", "exit 0")
    done = machine.setup("build")
    assert done.returncode != 0 and "still not found" in done.stdout


def test_other_distribution_names_packages(machine):
    machine.os_release.write_text(FEDORA)
    machine.lacks_pkg_config("yaml-0.1")
    done = machine.setup("build")
    assert done.returncode != 0
    assert "yaml-0.1 (libyaml-dev)" in done.stdout and "libpcap" not in done.stdout
    assert machine.called("apt-get") == []


def test_unknown_group(machine):
    done = machine.setup("nonsense")
    assert done.returncode != 0 and "unknown group 'nonsense'" in done.stdout


def test_broken_wrapper_is_passed_over(machine):
    """A meson that exists, but fails, is not one."""
    machine.command("meson", "echo 'meson: command not found' >&2; exit 127")
    done = machine.setup("build")
    assert done.returncode == 0, done.stdout
