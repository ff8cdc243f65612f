# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share; run them with a Python that has pytest and scapy.

The program is that of the environment variable WEIR, or build/weir. With pytest-xdist they may be run several at a
time (-n NUMBER --dist loadgroup), but for those that are marked "exclusive".
"""
import fcntl
import os
import pathlib

import pytest

pytest.register_assert_rewrite("network", "pcapfile", "program")

# pylint: disable=wrong-import-position
import program
import reference
from networks import EXAMPLES

# Fixtures that take their time, or a CPU as long as they are there: one process makes each, and runs its tests.
SHARED = ("internet", "busy", "alone", "pitp")


def pytest_configure(config):
    config.addinivalue_line("markers", "exclusive: no other test is run meanwhile")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for name in SHARED:
            if name in item.fixturenames:
                item.add_marker(pytest.mark.xdist_group(name))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Every test is in the room; an exclusive one waits until it is empty, and lets nobody through the gate meanwhile."""
    folder = pathlib.Path(__file__).parent
    gate, room = (os.open(path, os.O_RDONLY) for path in (__file__, folder))
    fcntl.flock(gate, fcntl.LOCK_EX)
    fcntl.flock(room, fcntl.LOCK_EX if item.get_closest_marker("exclusive") else fcntl.LOCK_SH)
    os.close(gate)
    yield
    os.close(room)


def pytest_report_header(config):
    return f"weir: {program.WEIR}"


@pytest.fixture(scope="session")
def internet():
    """The full routing tables, for the reference."""
    table = reference.Routes()
    return table.read(EXAMPLES / "ipv4-bgp.txt.gz").read(EXAMPLES / "ipv6-bgp.txt.gz")
