# SPDX-License-Identifier: BSD-3-Clause
"""Emulated links of one process as UDP datagrams to a receiver of `weir run`: through the kernel, over a wire between two
namespaces and over a tap; and over shared memory.

The kernel drops what the receiver has no time for, and tells nobody. The links find it: what did not come is missing.
"""
import contextlib

import pytest

import test_receiver as receivers
from examples import Example, counts, link_counts
from program import OK, Instance, weir, write_description
from running import stats, unique_name
from test_readout_receivers import check_sums

pytestmark = pytest.mark.xdist_group("interfaces")

LINKS, LEAST = 2, 500
STEP = 2048  # of WIBEth: ticks from frame to frame
ENDLESS = 0
# Frames of 7,242 bytes: a packet socket's ring has room for so much in each of its own.
SOCKET = "framesz=9216,blocksz=36864,framecnt=512"


def description(device):
    # However long the receiver had no CPU, what it missed meanwhile is a gap and no jump of the clock, and what came is believed.
    link = {"format": "wibeth", "count": LINKS, "port": "detector", "jump": "1000s",
            "buffer": {"history": "20ms", "jump": "10ms", "confirm": 1}}
    receiver = {"device": device, "ip_addr": receivers.ADDRESS, "num_mbufs": 8192}
    return {"application": {"links": {"wib": link}}, "platform": {"receivers": {"detector": receiver}}}


@contextlib.contextmanager
def wire():
    """The receiver's device, its namespace, what is to be done when it is there, and the sender's device and namespace."""
    with receivers.cable(9000) as (host, readout):
        yield (f"net_af_packet0,iface=to_a,{SOCKET}", readout, lambda: None, f"net_af_packet0,iface=eth0,{SOCKET}", host)


@contextlib.contextmanager
def tap():
    """The receiver's own device is an interface of its namespace, where the sender finds it."""
    with receivers.namespace("t") as both:
        yield ("net_tap0,iface=eth0", both, lambda: receivers.set_up(both, "eth0", 9000),
               f"net_af_packet0,iface=eth0,{SOCKET}", both)


def status(name):
    """The links of a running instance, by name."""
    done = weir("readout", "status", "--instance", name, "--json")
    assert done.code == OK, done.text
    return {link["link"]: link for link in done.json()["links"]}


def has_come(name, sender):
    assert sender.process.poll() is None, sender.end()
    return min(link["received"] for link in status(name).values()) >= LEAST


def accounted(link):
    """Are all frames up to where the newest one ends received or missing?"""
    return link["received"] + link["checks"]["missing"] == int(link["buffer"]["newest"]) // STEP


@pytest.mark.parametrize("cable", [wire, tap])
def test_each_frame_came_or_is_missing(cable, tmp_path):
    name = unique_name()
    with cable() as (device, readout, set_up, sending_device, host):
        path = write_description(tmp_path / "receiver.yaml", description(device))
        with Instance("run", path, "--name", name, "--json", cwd=tmp_path, prefix=readout.prefix) as instance:
            instance.until(lambda: stats(name), "start")
            set_up()
            with Example("send", sending_device, "net_af_packet0", "10.1.0.2", receivers.ADDRESS, LINKS, ENDLESS,
                         "drop@100/50", prefix=host.prefix) as sender:
                instance.until(lambda: has_come(name, sender), f"{LEAST} frames")
                sent, _ = sender.interrupt()
            links = instance.until(lambda: (now := status(name)) and all(map(accounted, now.values())) and now,
                                   "frames that are all accounted for")
            done = instance.stop()
    assert done.code == OK, done.text
    report = done.json()["readout"]
    check_sums(report)
    feed, = report["feeds"]
    assert feed["packets"]["truncated"] == feed["packets"]["unknown_stream"] == 0
    account, made = counts(sent.splitlines()[0]), link_counts(sent)
    assert account["taken"] == account["sent"] + account["dropped"] + account["held"] and account["dropped"] == 0, sent
    assert account["taken"] == sum(link["sent"] for link in made.values()), sent
    for number, link in enumerate(report["links"]):
        assert link["received"] == links[link["name"]]["received"] >= LEAST and set(link["faults"]) == {"gap"}
        assert link["received"] == link["buffered"] + link["delivered"] and not link["dropped"]
        assert link["missing"] >= (LEAST - 100) // 50  # those that were not even sent
        assert link["received"] + link["missing"] <= made[f"link{number}"]["made"]


def test_over_shared_memory_each_frame_comes(tmp_path):
    """As many as were sent; of those that the schedule dropped, each is missing. The sender waits where there is no room."""
    name, frames, dropped = unique_name(), 3000, 6  # of each link
    cable = f"net_memif0,socket={tmp_path}/cable.sock,socket-abstract=no,bsize=9216,role="
    what = description(cable + "server")
    what["platform"]["receivers"]["detector"]["promiscuous_mode"] = True  # as the device always is
    path = write_description(tmp_path / "receiver.yaml", what)
    with Instance("run", path, "--name", name, "--json", cwd=tmp_path) as instance:
        instance.until(lambda: stats(name), "start")
        with Example("send", cable + "client", "net_memif0", "10.1.0.2", receivers.ADDRESS, LINKS, frames, "drop@100/500") as sender:
            instance.until(lambda: all(link["received"] >= frames - dropped for link in status(name).values()), "all frames")
            asked = weir("readout", "request", "--instance", name, "--link", "wib-0", "--last", "1ms", "--json")
            sent, _ = sender.interrupt()
        done = instance.stop()
    assert done.code == OK and asked.code == OK, done.text + asked.text
    report = done.json()["readout"]
    check_sums(report)
    account, made = counts(sent.splitlines()[0]), link_counts(sent)
    assert account == {"taken": LINKS * (frames - dropped), "sent": LINKS * (frames - dropped), "dropped": 0, "held": 0}, sent
    for number, link in enumerate(report["links"]):
        assert (link["received"], link["missing"], link["dropped"]) == (frames - dropped, dropped, {}), done.text
        assert made[f"link{number}"]["sent"] == link["received"]
    feed, = report["feeds"]
    assert feed["packets"]["received"] == account["sent"], feed
