# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share; run them with a Python that has pytest and scapy.

The program is that of the environment variable WEIR, or build/weir.
"""
import pytest

pytest.register_assert_rewrite("network", "pcapfile", "program")

# pylint: disable=wrong-import-position
import program
import reference
from networks import EXAMPLES


def pytest_report_header(config):
    return f"weir: {program.WEIR}"


@pytest.fixture(scope="session")
def internet():
    """The full routing tables, for the reference."""
    table = reference.Routes()
    return table.read(EXAMPLES / "ipv4-bgp.txt.gz").read(EXAMPLES / "ipv6-bgp.txt.gz")
