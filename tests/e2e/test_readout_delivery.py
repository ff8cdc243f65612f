# SPDX-License-Identifier: BSD-3-Clause
"""Links whose frames get to their buffers by a queue and a thread of its own: as by callback, and what is too much is told."""
import pytest

import test_readout_receivers as receivers
from program import OK, Instance, weir, write_description
from running import unique_name
from test_readout import FRAMES, description, run

QUEUE = {"delivery": {"by": "queue", "capacity": FRAMES}}  # room for all: what becomes of them does not depend on who runs when


@pytest.mark.parametrize("delivery", ["queue", "callback"])
def test_all_get_there(delivery, tmp_path):
    link = QUEUE if delivery == "queue" else {"delivery": {"by": "callback"}}
    readout = run(tmp_path, description(count=3, link=link, faults=[{"fault": "drop", "first": 5, "period": 400}]))
    for link in readout["links"]:
        assert link["delivery"] == delivery
        assert link["received"] == link["buffered"] == FRAMES - 3 and link["missing"] == 3
        assert not link["dropped"] and link["held"] == 0
        assert link.get("queue") == ({"size": FRAMES, "queued": 0} if delivery == "queue" else None)


def test_full(tmp_path):
    """Of each batch that comes at once, a queue has room for one frame: the others are dropped by name, and the link has seen them."""
    buffer = {"history": "50ms", "jump": "40ms"}  # no gap is a jump
    what = description(count=1, link={"delivery": {"by": "queue", "capacity": 1}, "buffer": buffer})
    what["traffic"]["emulated"]["wib"]["rate"] = "100MHz"  # all are due at once
    [link] = run(tmp_path, what)["links"]
    assert link["received"] == FRAMES and link["missing"] == 0
    assert set(link["dropped"]) == {"queue_full"} and 1 <= link["dropped"]["queue_full"] < FRAMES
    assert link["buffered"] == FRAMES - link["dropped"]["queue_full"]


def test_requests_and_hits(tmp_path):
    """What is asked for, and what is looked for, is so with queues, too."""
    what = description(count=2, link={**QUEUE, "hits": {"threshold": 1, "to": "tp"}},
                       requests={"triggers": {"links": ["wib"], "every": "10ms", "window": "1ms", "timeout": "60s"}})
    what["application"]["links"]["tp"] = {"format": "hit", "buffer": {"history": "50ms", "rate": "1kHz"}}
    readout = run(tmp_path, what)
    [request] = readout["requests"]["list"]
    assert request["windows"] > 0 and request["fragments"] == 2 * request["windows"] and not request["refused"]
    assert [link["delivery"] for link in readout["links"]] == ["queue", "queue", "callback"]
    [hits] = [feed for feed in readout["feeds"] if feed["feed"] == "hits"]
    assert [finder["frames"] for finder in hits["finders"]] == [FRAMES, FRAMES]


def test_status_and_stop(tmp_path):
    """Beside running consumers sums hold, and nothing is left in queues at the end."""
    name = unique_name()
    path = write_description(tmp_path / "readout.yaml", description(nb=0, link=QUEUE))
    with Instance("run", path, "--name", name, "--json", cwd=tmp_path) as instance:
        def status():
            done = weir("readout", "status", "--instance", name, "--json")
            links = done.json()["links"] if done.code == OK else []
            return links and all(link["buffered"] > 0 for link in links) and links
        for link in instance.until(status, "frames in all buffers"):
            assert link["queue"]["size"] == FRAMES and 0 <= link["queue"]["queued"] <= link["held"]
            assert link["received"] == link["buffered"] + link["held"] + link["delivered"] + sum(link["dropped"].values())
        text = weir("readout", "status", "--instance", name).stdout
        assert f" of {FRAMES} frames" in text and "AGREE" not in text
        done = instance.stop()
    assert done.code == OK, done.text
    readout = done.json()["readout"]
    assert readout["adds_up"] and all(link["held"] == link["queue"]["queued"] == 0 for link in readout["links"])


def test_for_people(tmp_path):
    done = weir("run", write_description(tmp_path / "readout.yaml", description(link=QUEUE)), "--name", unique_name(), cwd=tmp_path)
    assert done.code == OK and f"queue: 0 of {FRAMES:,}" in done.stdout, done.text


def test_from_a_device(tmp_path):
    link = {**receivers.LINK, "delivery": {"by": "queue", "capacity": 512}}
    readout = receivers.run(tmp_path, receivers.description(link=link), 100)
    assert [link["received"] for link in readout["links"]] == [50, 50]
    assert all(link["delivery"] == "queue" and link["held"] == 0 and not link["dropped"] for link in readout["links"])


def test_more_than_a_device_has_packets(tmp_path):
    """8,192 in the pool, 4,096 of these in the ring, 2,048 in a burst."""
    def link(capacity):
        return {**receivers.LINK, "delivery": {"by": "queue", "capacity": capacity}}
    path = write_description(tmp_path / "good.yaml", receivers.description(link=link(1024)))
    assert weir("check", path, cwd=tmp_path).code == OK
    receivers.refused(tmp_path, receivers.description(link=link(1025)),
                      ["hold up to 2050 packets of queue 0 of receiver 'detector', whose pool has 2048"], '"capacity"')
