# SPDX-License-Identifier: BSD-3-Clause
"""What all tests in Python have: --once, for when time is short."""
import pytest


def pytest_addoption(parser):
    parser.addoption("--once", action="store_true", help="one case of each test, and none that takes long")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: not with --once")
    config.addinivalue_line("markers", "xdist_group(name): run one after the other, by one process")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if config.getoption("once"):
        first = {(item.path, item.originalname): item for item in reversed(items) if not item.get_closest_marker("long")}
        items[:] = sorted(first.values(), key=items.index)
