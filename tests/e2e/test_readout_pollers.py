# SPDX-License-Identifier: BSD-3-Clause
"""Receivers that threads of their own poll, each its queues: what the threads count adds up at each look."""
import os
import pathlib
import re

import pytest
from scapy.layers.inet import UDP
from scapy.packet import Raw

import pcapfile
import test_readout_receivers as receivers
from packets import ether, ip4
from program import OK, USAGE, Instance, weir, write_description
from running import stats, unique_name
from test_readout import wibeth

CPUS = sorted(os.sched_getaffinity(0))
NUMBERS = [number for number in range(120) if number not in (20, 21)]  # of each link's frames
UDP_PORTS = 7000, 7001  # that frames of link 0 and of link 1 are sent to


def write_capture(path, key):
    frames = [bytes(ether() / ip4() / UDP(dport=UDP_PORTS[key]) / Raw(wibeth(number, key))) for number in NUMBERS]
    path.write_bytes(pcapfile.compose(pcapfile.numbered(frames)))


def device(folder, number, keys):
    """One whose queues have frames of a link each."""
    for key in keys:
        write_capture(folder / f"{key}.pcap", key)
    return f"net_pcap{number}," + ",".join(f"rx_pcap={folder / f'{key}.pcap'}" for key in keys)


def receiver(folder, number=0, keys=(0, 1), **more):
    return {"device": device(folder, number, keys), "promiscuous_mode": True, "num_mbufs": 8192, "nb_queues": len(keys), **more}


def link(key, port="detector", queue=None):
    return {"format": "wibeth", "stream": key, "port": port, "queue": key if queue is None else queue, "buffer": {"history": "50ms"}}


def description(folder, **more):
    return {"application": {"links": {f"wib{key}": link(key) for key in (0, 1)}},
            "platform": {"receivers": {"detector": receiver(folder, **more)}}}


def check(readout):
    for one in readout["links"]:
        assert one["received"] == one["buffered"] == len(NUMBERS) and one["missing"] == 2 and one["faults"] == {"gap": 1}, one


@pytest.mark.parametrize("cpus", [CPUS[:1], [CPUS[0], CPUS[-1]]], ids=["a thread", "a thread for each queue"])
def test_each_its_queues(cpus, tmp_path):
    readout = receivers.run(tmp_path, description(tmp_path, cpus=cpus), 2 * len(NUMBERS))
    check(readout)
    assert [queue["received"] for queue in readout["feeds"][0]["queues"]] == [len(NUMBERS)] * 2


def test_handed_from_thread_to_thread(tmp_path):
    """Each queue gets the frames of the other one's link."""
    what = description(tmp_path, keys=(1, 0), cpus=[CPUS[0], CPUS[-1]],
                       sources=[{"udp_port": port, "queue": queue} for queue, port in enumerate(UDP_PORTS)])
    readout = receivers.run(tmp_path, what, 2 * len(NUMBERS))
    check(readout)
    [feed] = readout["feeds"]
    assert feed["steering"] == "software"
    assert [(queue["received"], queue["handed_over"], queue["taken_over"]) for queue in feed["queues"]] == [(len(NUMBERS),) * 3] * 2


def test_looks_while_they_poll(tmp_path):
    """Captures that are given out over and over: what a queue has given to its link is what the link has got, at each look."""
    what = description(tmp_path, cpus=[CPUS[0], CPUS[-1]])
    what["platform"]["receivers"]["detector"]["device"] += ",infinite_rx=1"
    name = unique_name()
    with Instance("run", write_description(tmp_path / "endless.yaml", what), "--name", name, "--json", cwd=tmp_path) as instance:
        instance.until(lambda: (now := stats(name)) and all(one["received"] > 0 for one in now["readout"]["links"]), "frames of both links")
        looks = [stats(name)["readout"] for _ in range(30)]
        done = instance.stop()
    assert done.code == OK, done.text
    for readout in looks + [done.json()["readout"]]:
        receivers.check_sums(readout)
        [feed] = readout["feeds"]
        for one, queue in zip(readout["links"], feed["queues"]):
            assert one["received"] == queue["to_dispatch"]


def test_stopped_while_they_hand_over(tmp_path):
    """Nothing stays between queues, and counters are of when the last thread has stopped."""
    what = description(tmp_path, keys=(1, 0), cpus=[CPUS[0], CPUS[-1]],
                       sources=[{"udp_port": port, "queue": queue} for queue, port in enumerate(UDP_PORTS)])
    what["platform"]["receivers"]["detector"]["device"] += ",infinite_rx=1"
    name = unique_name()
    with Instance("run", write_description(tmp_path / "endless.yaml", what), "--name", name, "--json", cwd=tmp_path) as instance:
        instance.until(lambda: (now := stats(name)) and all(one["received"] > 0 for one in now["readout"]["links"]), "frames of both links")
        done = instance.stop()
    assert done.code == OK, done.text
    readout = done.json()["readout"]
    receivers.check_sums(readout)
    [feed] = readout["feeds"]
    for one, queue, other in zip(readout["links"], feed["queues"], reversed(feed["queues"])):
        assert one["received"] == queue["taken_over"] == other["handed_over"] > 0


def threads(pid):
    """Names of a process's threads, and the CPUs each may run on."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
        found.append((status["Name"], status["Cpus_allowed_list"]))
    return found


def test_beside_others(tmp_path):
    """A receiver without threads of its own, frames that are made, and hits that are found in all of them, with a queue between or without."""
    hits = {"hits": {"threshold": 1, "to": "tp"}}
    what = description(tmp_path, cpus=[CPUS[0], CPUS[-1]])
    links = what["application"]["links"]
    (tmp_path / "other").mkdir()
    what["platform"]["receivers"]["other"] = receiver(tmp_path / "other", 1, keys=(0,))
    links["other"] = link(0, "other", 0)
    links["made"] = {"format": "wibeth", "stream": 7, "buffer": {"history": "50ms"}, **hits}
    links["tp"] = {"format": "hit", "buffer": {"history": "50ms", "rate": "100kHz"}}
    links["wib0"].update(hits)
    links["wib1"].update(hits, delivery={"by": "queue", "capacity": 512})
    what["traffic"] = {"emulated": {"made": {"frames": 400}}}
    name, nb = unique_name(), 3 * len(NUMBERS) + 400
    with Instance("run", write_description(tmp_path / "all.yaml", what), "--name", name, "--json", cwd=tmp_path) as instance:
        def all_came():
            readout = (stats(name) or {}).get("readout")
            assert readout is None or readout["adds_up"], readout
            return readout and sum(one["received"] for one in readout["links"] if one["name"] != "tp") >= nb
        instance.until(all_came, f"{nb} frames")
        found = threads(instance.process.pid)
        done = instance.stop()
    assert sorted(cpus for thread, cpus in found if thread == "weir-receiver") == sorted(map(str, (CPUS[0], CPUS[-1])))
    assert [thread for thread, _ in found].count("weir-links") == 1
    assert done.code == OK, done.text
    readout = done.json()["readout"]
    assert readout["adds_up"] and all(feed["adds_up"] for feed in readout["feeds"])
    by_name = {one["name"]: one for one in readout["links"]}
    check({"links": [by_name[one] for one in ("wib0", "wib1", "other")]})
    assert by_name["made"]["received"] == 400
    [collected] = [feed for feed in readout["feeds"] if feed["feed"] == "hits"]
    assert [finder["frames"] for finder in collected["finders"]] == [len(NUMBERS), len(NUMBERS), 400]
    assert collected["received"] + collected["queued"] == sum(finder["delivered"] for finder in collected["finders"]) > 0


def emulated(**more):
    return {"application": {"links": {"wib": {"format": "wibeth", "count": 5, "buffer": {"history": "50ms"}}}},
            "traffic": {"emulated": {"wib": {"frames": 1000, "seed": 7, "faults": [{"fault": "drop", "random": 0.05}], **more}}},
            "run": {"until": "input_end"}}


def test_emulated_by_several(tmp_path):
    """The same frames, whoever makes them; the run ends when the last thread has no more."""
    seen = []
    for number, more in enumerate(({}, {"cpus": [CPUS[-1]]}, {"cpus": [CPUS[0], CPUS[-1]]})):
        done = weir("run", write_description(tmp_path / f"{number}.yaml", emulated(**more)), "--name", unique_name(), "--json", cwd=tmp_path)
        assert done.code == OK, done.text
        readout = done.json()["readout"]
        [feed] = readout["feeds"]
        assert readout["adds_up"] and feed["packets"]["received"] == readout["frames"]["received"]
        assert [stream["made"] for stream in feed["streams"]] == [1000] * 5
        seen.append([(link["received"], link["missing"]) for link in readout["links"]])
    assert seen[0] == seen[1] == seen[2] and all(0 < received < 1000 for received, _ in seen[0])


def test_looks_while_several_emulate(tmp_path):
    what = emulated(cpus=[CPUS[0], CPUS[-1]], rate="2kHz")
    del what["traffic"]["emulated"]["wib"]["frames"], what["run"]
    name = unique_name()
    with Instance("run", write_description(tmp_path / "endless.yaml", what), "--name", name, "--json", cwd=tmp_path) as instance:
        instance.until(lambda: (now := stats(name)) and all(one["received"] > 0 for one in now["readout"]["links"]), "frames of all links")
        looks = [stats(name)["readout"] for _ in range(30)]
        done = instance.stop()
    assert done.code == OK, done.text
    for readout in looks + [done.json()["readout"]]:
        [feed] = readout["feeds"]
        assert readout["adds_up"] and feed["adds_up"], readout
        assert [one["received"] for one in readout["links"]] == [stream["sent"] for stream in feed["streams"]]


def test_wrong_emulated(tmp_path):
    receivers.refused(tmp_path, emulated(cpus=[0] * 6), ["6 threads for 5 links"], '"cpus"')
    path = write_description(tmp_path / "far.yaml", emulated(cpus=[1023]))
    done = weir("run", path, "--name", unique_name(), cwd=tmp_path)
    line = 1 + path.read_text().split("1023")[0].count("\n")
    assert done.code == USAGE and re.search(rf"far\.yaml:{line}:\d+: emulated link 'wib' cannot run on CPU 1023", done.stderr), done.text


def test_wrong(tmp_path):
    receivers.refused(tmp_path, description(tmp_path, cpus=[0, 0, 0]), ["3 threads for 2 queues"], '"cpus"')
    receivers.refused(tmp_path, description(tmp_path, cpus=[-1]), ["-1", "0 to 1023"])
    path = write_description(tmp_path / "far.yaml", description(tmp_path, cpus=[1023]))
    done = weir("run", path, "--name", unique_name(), cwd=tmp_path)
    line = 1 + path.read_text().split("1023")[0].count("\n")
    assert done.code == USAGE and re.search(rf"far\.yaml:{line}:\d+: receiver 'detector' cannot run on CPU 1023", done.stderr), done.text
