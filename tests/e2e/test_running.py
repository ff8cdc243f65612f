# SPDX-License-Identifier: BSD-3-Clause
"""Instances that run: how they are stopped, what they tell meanwhile, two at a time."""
import array
import concurrent.futures
import contextlib
import fcntl
import glob
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import termios
import time

import pytest
from scapy.layers.inet import UDP

import packets
import pcapfile
from network import Expected, assert_forwarded, assert_report_adds_up
from networks import CAPTURES, captures
from program import FAILED, OK, TIMEOUT_S, USAGE, WEIR, environment, weir, write_description
from running import FOREVER, ask_socket, control_socket, endless, mixture, start, stats, unique_name, wait_for_packets


NOT_BELOW_NOHUP = ["env", "--default-signal=HUP"]  # also where the tests run below it


def expected_of_first(network, count):
    """What the reference makes of the first packets of an input that is repeated for ever."""
    (path, _), = network.inputs.values()
    records = list(itertools.islice(itertools.cycle(pcapfile.read(path)), count))
    network.inputs = {"in": (path, {})}
    return Expected(network, {"in": records})


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_cleanly(tmp_path, how):
    """All that was received is forwarded; the files are whole, and are what the report says."""
    network, name = endless(tmp_path, mixture(), files=True), unique_name()
    with start(network, name, prefix=NOT_BELOW_NOHUP) as instance:
        wait_for_packets(instance, name)
        done = instance.stop(how)
    assert done.code == OK, done.text
    report = done.json()
    assert report["state"] == "finished"
    assert_report_adds_up(report)
    expected = expected_of_first(network, report["packets"]["in"])
    assert {r["reason"]: r["packets"] for r in report["dropped"] + report["punted"]} == dict(expected.totals.reasons)
    for port in network.outputs:
        sent = pcapfile.read(tmp_path / f"{port}.pcap")
        assert sorted(sent) == sorted(r for s in expected.sent[port].values() for r in s)
    assert len(pcapfile.read(tmp_path / "punt.pcap")) == report["packets"]["punted"]


def test_hangup_that_is_ignored(tmp_path):
    """As below nohup: the run goes on."""
    network, name = endless(tmp_path, mixture()), unique_name()
    with start(network, name, prefix=["env", "--ignore-signal=HUP"]) as instance:
        before = wait_for_packets(instance, name)["packets"]["in"]
        instance.process.send_signal(signal.SIGHUP)
        wait_for_packets(instance, name, before + 100_000)
        assert instance.stop().code == OK


def test_closed_standard_streams(tmp_path):
    """Their numbers are not given to files, which what is printed would get into; what cannot be printed is a failure."""
    network, name = endless(tmp_path, mixture()), unique_name()
    with start(network, name, prefix=["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]) as instance:
        wait_for_packets(instance, name)
        assert [os.readlink(f"/proc/{instance.process.pid}/fd/{number}") for number in range(3)] == ["/dev/null"] * 3
        done = instance.stop()
    assert (done.code, done.text) == (FAILED, "")


def test_many_signals(tmp_path):
    """Impatience does no harm, unless a busy machine keeps the end from coming within a second: not each time."""
    network = endless(tmp_path, mixture())
    for _ in range(20):
        name = unique_name()
        with start(network, name) as instance:
            wait_for_packets(instance, name)
            for _ in range(5):
                instance.process.send_signal(signal.SIGINT)
            done = instance.wait()
        if "ended at once by a second signal" not in done.stderr:
            break
        clean_up_after(name, tmp_path)
    assert done.code == OK, done.text
    assert_report_adds_up(done.json())


def is_among(pid, kind, number):
    """Is the signal one of those that the kernel tells of the process, or the thread: SigCgt, those that it catches; SigBlk, that it blocks; ShdPnd, that
    wait for it."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            mask = next(line.split()[1] for line in status if line.startswith(f"{kind}:"))
    except (FileNotFoundError, ProcessLookupError):
        return False
    return bool(int(mask, 16) >> (number - 1) & 1)


def send_one(instance, how):
    """A signal, which the instance has taken afterwards: of two that wait for it the kernel makes one."""
    instance.process.send_signal(how)
    instance.until(lambda: not is_among(instance.process.pid, "ShdPnd", how), f"end of waiting signal {how}")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_second_signal_ends_a_hanging_worker(tmp_path, how):
    """A worker writes to a pipe that nobody reads, and never comes back from its walk."""
    name = unique_name()
    with hanging(tmp_path, name) as (instance, _):
        send_one(instance, how)
        time.sleep(0.5)
        assert instance.process.poll() is None  # one signal waits for the worker
        done = instance.stop(how)
    assert done.code == FAILED
    assert "totals are not known" in done.stderr and done.stdout == ""
    clean_up_after(name, tmp_path)


def test_signals_are_for_the_main_thread(tmp_path):
    """Others block them: DPDK's thread for telemetry would end with an error, and a worker would be held up."""
    name = unique_name()
    with start(endless(tmp_path, mixture()), name) as instance:
        wait_for_packets(instance, name)
        main = instance.process.pid
        others = [int(thread) for thread in os.listdir(f"/proc/{main}/task") if int(thread) != main]
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            assert len(others) > 2 and all(is_among(thread, "SigBlk", how) for thread in others)
            assert not is_among(main, "SigBlk", how)
        assert instance.stop().code == OK


def test_signal_at_any_time(tmp_path):
    """From the first moment on: an end without a crash, and with sums that add up if there was a run at all."""
    network = endless(tmp_path, mixture())
    for delay_ms in (0, 5, 20, 60, 120, 180, 250):
        with start(network, unique_name()) as instance:
            time.sleep(delay_ms / 1000)
            caught = is_among(instance.process.pid, "SigCgt", signal.SIGTERM)  # by now
            instance.process.send_signal(signal.SIGTERM)
            try:
                done = instance.wait()
            except AssertionError as error:
                # Before the program catches signals, one ends it, as it ends any program.
                assert "died of signal 15" in str(error) and not caught, (delay_ms, error)
                continue
        assert done.code in (OK, FAILED), done.text
        if done.stdout and "error" in done.json():
            assert done.code == FAILED  # it never began
        elif done.stdout:
            assert_report_adds_up(done.json())


@pytest.mark.parametrize("way", ["file", "option"])
def test_duration(tmp_path, way):
    network = endless(tmp_path, mixture())
    for _ in range(20):
        if way == "file":
            with start(network, unique_name(), duration="300ms") as instance:
                done = instance.wait()
        else:
            with start(network, unique_name(), "--duration", "0.3s") as instance:
                done = instance.wait()
        assert done.code == OK, done.text
        report = done.json()
        assert 0.29 < report["elapsed_s"] < 60
        assert_report_adds_up(report)
        if report["packets"]["in"] > 0:  # a worker may not have had a CPU
            return
    pytest.fail("nothing came in")


def test_end_of_input_comes_before_the_duration(tmp_path):
    network = captures(tmp_path, {"in": CAPTURES["sctp"]}, run={"duration": "60s", "until": "input_end"})
    assert network.run().json()["elapsed_s"] < 30


def test_snapshots_of_a_running_instance_add_up(tmp_path):
    """Whenever it is looked at, with two workers: all sums agree exactly, and nothing ever goes back."""
    name = unique_name()
    network = endless(tmp_path, mixture())
    network.inputs["in6"] = (CAPTURES["ipv6-mix"], {"accept": "any", "repeat": FOREVER})
    network.platform = {"workers": [{"receive": ["in"]}, {"receive": ["in6"]}]}
    with start(network, name) as instance:
        before = wait_for_packets(instance, name)
        for _ in range(15):
            report = stats(name)
            assert report["instance"] == name
            assert_report_adds_up(report)
            old_nodes = {n["name"]: n for n in before["nodes"]}
            for node in report["nodes"]:
                assert node["packets"] >= old_nodes[node["name"]]["packets"]
            received = sum(n["packets"] for n in report["nodes"] if n["name"].startswith("pcap_rx"))
            assert received == report["packets"]["in"] > before["packets"]["in"]
            classify, = (n for n in report["nodes"] if n["name"] == "classify")
            assert classify["packets"] == received
            before = report
        done = instance.stop()
    assert done.json()["packets"]["in"] >= before["packets"]["in"]


def test_stats_table(tmp_path):
    name = unique_name()
    with start(endless(tmp_path, mixture()), name) as instance:
        wait_for_packets(instance, name)
        done = weir("stats", "--instance", name)
        assert done.code == OK and name in done.stdout
        for words in ("north", "ip4_checksum", "classify", "cycles/packet", "6.7", "dropped", "punted"):
            assert words in done.stdout, words
        instance.stop()


def one_more_line(process):
    line = process.stdout.readline()
    assert line, "it has ended"
    return line


def test_stats_watch(tmp_path):
    """Once a second, with rates; it ends with the instance."""
    name = unique_name()
    with start(endless(tmp_path, mixture()), name) as instance:
        wait_for_packets(instance, name)
        watch = subprocess.Popen([WEIR, "stats", "--watch", "--instance", name], stdout=subprocess.PIPE, text=True,
                                 env=environment())
        watch_json = subprocess.Popen([WEIR, "stats", "--watch", "--json", "--instance", name], text=True,
                                      stdout=subprocess.PIPE, env=environment())
        try:
            text = ""
            while text.count(f"{name} (running)") < 2:
                text += one_more_line(watch)
            lines = [one_more_line(watch_json), one_more_line(watch_json)]
            instance.stop()
            text += watch.communicate(timeout=TIMEOUT_S)[0]
            lines += watch_json.communicate(timeout=TIMEOUT_S)[0].splitlines()
        finally:
            for process in (watch, watch_json):
                if process.poll() is None:
                    process.kill()
    assert watch.returncode == 0 and watch_json.returncode == 0
    assert "pps" in text and "has ended" in text
    reports = [json.loads(line) for line in lines]
    for report in reports:
        assert_report_adds_up(report)
    assert reports[-1]["packets"]["in"] > reports[0]["packets"]["in"]


def test_watch_ends_on_a_signal(tmp_path):
    name = unique_name()
    with start(endless(tmp_path, mixture()), name) as instance:
        wait_for_packets(instance, name)
        with subprocess.Popen([WEIR, "stats", "--watch", "--instance", name], stdout=subprocess.PIPE) as watch:
            assert watch.stdout.readline()  # it has begun
            watch.send_signal(signal.SIGINT)
            watch.communicate(timeout=TIMEOUT_S)
        assert watch.returncode == 0
        instance.stop()


def test_stats_without_an_instance():
    done = weir("stats", "--instance", unique_name())
    assert done.code == FAILED and "e2e-" in done.stderr


def test_two_instances_side_by_side(tmp_path):
    """Each with its own counters, files and tables; the end of one leaves the other alone."""
    names, networks = [unique_name(), unique_name()], []
    for name in names:
        (tmp_path / name).mkdir()
        networks.append(endless(tmp_path / name, mixture()))
    with start(networks[0], names[0]) as first, start(networks[1], names[1]) as second:
        wait_for_packets(first, names[0])
        wait_for_packets(second, names[1])
        ambiguous = weir("stats")
        assert ambiguous.code == FAILED and names[0] in ambiguous.stderr and names[1] in ambiguous.stderr
        assert weir("route", "delete", "10.1.0.0/16", "--instance", names[0]).code == OK
        prefixes = [{r["prefix"] for r in weir("route", "list", "--json", "--instance", name).json()["routes"]}
                    for name in names]
        assert prefixes[1] - prefixes[0] == {"10.1.0.0/16"}
        first.stop()
        count = stats(names[1])["packets"]["in"]
        wait_for_packets(second, names[1], count + 1)
        done = second.stop()
    assert done.code == OK
    assert_report_adds_up(done.json())


def test_two_instances_write_one_file(tmp_path):
    """The second one is refused before it has touched the file; when the first one has ended it may."""
    names = [unique_name(), unique_name()]
    networks = [endless(tmp_path, mixture(), files=True) for _ in names]
    with start(networks[0], names[0]) as first:
        wait_for_packets(first, names[0])
        with start(networks[1], names[1]) as second:
            done = second.wait()
        [error] = done.json()["errors"]
        assert done.code == USAGE and error["line"] > 1 and "this file is being written already" in error["message"], done.text
        report = first.stop().json()
    assert_report_adds_up(report)
    written = sum(len(pcapfile.read(tmp_path / keys.get("pcap_out", f"{name}.pcap")))
                  for name, keys in networks[0].outputs.items())
    assert written == report["packets"]["out"] > 0
    with start(networks[1], names[1]) as second:
        wait_for_packets(second, names[1])
        assert second.stop().code == OK


@pytest.mark.long
def test_name_is_taken(tmp_path):
    """A name that was asked for is not given twice; one made from the file's gets a number."""
    network, name = endless(tmp_path, mixture()), unique_name()
    with start(network, name) as instance:
        wait_for_packets(instance, name)
        with start(network, name) as other:
            done = other.wait()
        assert done.code == FAILED and name in done.stderr, done.text
        done = weir("run", tmp_path / f"{name}.yaml", "--json", "--duration", "50ms", cwd=tmp_path)
        assert done.code == OK and re.fullmatch(name + "-[0-9]+", done.json()["instance"]), done.text
        assert_report_adds_up(instance.stop().json())


@pytest.mark.long
def test_one_description_many_times_at_once(tmp_path):
    """Short runs of one file that begin while others end: each gets a name of its own, and its packets."""
    def runs(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        network = captures(folder, {"in": CAPTURES["sctp"]})
        path = write_description(folder / "same.yaml", network.description())
        for _ in range(5):
            done = weir("run", path, "--json", cwd=folder)
            assert done.code == OK, done.text
            assert_forwarded(network, done.json(), Expected(network))

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for finished in [pool.submit(runs, number) for number in range(6)]:
            finished.result()


def left_behind(name):
    """What an instance of that name keeps in shared places: its control socket, DPDK's folder."""
    return sorted(path for folder in ("/run/weir", "/tmp/weir-*", "/run/user/*/weir", "/run/dpdk", "/run/user/*/dpdk")
                  for path in glob.glob(f"{folder}/*{name}*"))


def clean_up_after(name, folder):
    """The next run of that name does."""
    done = weir("run", folder / f"{name}.yaml", "--name", name, "--duration", "50ms", cwd=folder)
    assert done.code == OK and left_behind(name) == [], done.text


@contextlib.contextmanager
def hanging(folder, name):
    """An instance whose worker writes to a pipe that nobody reads, and never comes back from its walk."""
    os.mkfifo(folder / "stuck")
    reader = os.open(folder / "stuck", os.O_RDONLY | os.O_NONBLOCK)  # opened, never read
    network = endless(folder, mixture())
    network.outputs = {port: {**keys, "pcap_out": "stuck"} if port == "north" else keys
                       for port, keys in network.outputs.items()}

    def full():
        waiting = array.array("i", [0])
        fcntl.ioctl(reader, termios.FIONREAD, waiting)
        return waiting[0] >= 4096
    try:
        with start(network, name, prefix=NOT_BELOW_NOHUP) as instance:
            instance.until(full, "full pipe")
            time.sleep(0.3)
            yield instance, reader
    finally:
        os.close(reader)
        os.remove(folder / "stuck")


def end_by_two_signals(folder, name):
    with hanging(folder, name) as (instance, _):
        send_one(instance, signal.SIGTERM)
        assert instance.stop().code == FAILED


def test_a_terminal_that_closes_says_so_twice(tmp_path):
    """Its shell hangs up, and the kernel does: that is one wish, and no impatience."""
    with hanging(tmp_path, unique_name()) as (instance, reader):
        for _ in range(2):
            send_one(instance, signal.SIGHUP)
        time.sleep(1.5)  # longer than the second signal would have left it
        os.set_blocking(reader, True)
        while os.read(reader, 65536):
            pass
        done = instance.wait()
    assert done.code == OK, done.text
    assert_report_adds_up(done.json())


def end_by_kill(folder, name):
    with start(endless(folder, mixture()), name) as instance:
        wait_for_packets(instance, name)
        instance.process.kill()
        instance.process.wait()


@pytest.mark.exclusive  # who looks for instances removes their sockets
@pytest.mark.parametrize("end", [end_by_kill, end_by_two_signals])
def test_name_of_an_instance_that_could_not_clean_up(tmp_path, end):
    """Its socket has nobody behind it: that is told clearly, whatever is asked, and the name is free again."""
    name = unique_name()
    end(tmp_path, name)
    left = left_behind(name)
    assert [path for path in left if path.endswith(".sock")] and [path for path in left if "dpdk" in path]
    for command in (["stats"], ["stats", "--watch"], ["route", "list", "10.0.0.0/8"], ["route", "delete", "10.0.0.0/8"],
                    ["neighbour", "list"]):
        done = weir(*command, "--instance", name)
        assert done.code == FAILED and done.stdout == "", done.text
        assert done.stderr == f"weir {command[0]}: no instance '{name}' is running\n"
    with start(endless(tmp_path, mixture()), name) as instance:
        wait_for_packets(instance, name)
        assert left_behind(name) == left
        assert instance.stop().code == OK
    assert left_behind(name) == []


@pytest.mark.exclusive
def test_looking_for_instances_removes_sockets_of_the_dead(tmp_path):
    name = unique_name()
    end_by_kill(tmp_path, name)
    socket, = (path for path in left_behind(name) if path.endswith(".sock"))
    assert name not in weir("stats").text
    assert not os.path.exists(socket)
    clean_up_after(name, tmp_path)


def test_no_control_socket_is_left(tmp_path):
    network, name = endless(tmp_path, mixture()), unique_name()
    with start(network, name) as instance:
        wait_for_packets(instance, name)
        assert left_behind(name)
        assert instance.stop().code == OK
    assert left_behind(name) == []


def test_every_packet_is_of_its_route_while_routes_change(tmp_path):
    """A route is moved between two neighbours, deleted and added, hundreds of times, while packets for it and for
    another one flow: each goes to a neighbour that its prefix had at some time, none is lost or goes astray."""
    frames = [bytes(packets.ether() / packets.ip4(dst=f"10.{net}.0.{host}") / UDP())
              for net in (1, 200) for host in range(1, 30)]
    network, name = endless(tmp_path, frames), unique_name()
    network.routes = [{"prefix": "10.0.0.0/8", "next_hop": 2}, {"prefix": "10.200.0.0/16", "next_hop": 3},
                      {"prefix": "10.1.0.0/16", "next_hop": 0}]
    with start(network, name) as instance:
        wait_for_packets(instance, name)
        for turn in range(12):
            for change in (["add", "10.1.0.0/16", turn % 2], ["delete", "10.1.0.0/16"], ["add", "10.1.0.0/24", 1],
                           ["add", "10.1.0.0/16", 0], ["delete", "10.1.0.0/24"]):
                done = weir("route", *change, "--instance", name)
                assert done.code == OK, done.text
        report = instance.stop().json()
    assert_report_adds_up(report)
    sent = {p["name"]: p["tx_packets"] for p in report["ports"]}
    assert report["packets"]["in"] == report["packets"]["out"], "packets were lost"
    assert sent["west"] == (report["packets"]["in"] // 58) * 29 + max(0, report["packets"]["in"] % 58 - 29)
    assert sent["north"] and sent["east"] and sent["south"] and not sent["tiny"]


def forwarded_after(instance, name, port, change):
    """Does a port send after a change, of many packets that come in?"""
    def sent(report):
        return next(p for p in report["ports"] if p["name"] == port)["tx_packets"]
    assert weir(*change, "--instance", name).code == OK
    before = stats(name)
    return sent(wait_for_packets(instance, name, before["packets"]["in"] + 1000)) > sent(before)


@pytest.mark.long
def test_routes_and_neighbours_take_effect(tmp_path):
    """IPv4 and IPv6: add, replace, delete a route; change a neighbour, and its routes follow."""
    frames = [bytes(packets.ether() / packets.ip4(dst="11.0.0.1") / UDP()),
              bytes(packets.ether() / packets.ip6(dst="2001:dead::1") / UDP())]
    network, name = endless(tmp_path, frames), unique_name()
    with start(network, name) as instance:
        wait_for_packets(instance, name)
        assert stats(name)["packets"]["out"] == 0
        for prefix in ("11.0.0.0/24", "2001:dead::/64"):
            assert forwarded_after(instance, name, "north", ["route", "add", prefix, "0"])
            assert forwarded_after(instance, name, "east", ["route", "add", prefix, "1"])
            assert not forwarded_after(instance, name, "north", ["route", "add", prefix, "1"])
            assert forwarded_after(instance, name, "west", ["neighbour", "add", "1", "west", "02:00:00:00:00:05"])
            assert not forwarded_after(instance, name, "west", ["neighbour", "add", "1", "blackhole"])
            assert forwarded_after(instance, name, "east", ["neighbour", "add", "1", "east", "02:20:00:00:00:01"])
            assert not forwarded_after(instance, name, "east", ["route", "delete", prefix])
        report = instance.stop().json()
    reasons = {r["reason"] for r in report["dropped"]}
    assert reasons == {"ip4_no_route", "ip6_no_route", "ip4_blackhole", "ip6_blackhole"}
    assert_report_adds_up(report)


@pytest.mark.parametrize("arguments,words", [
    (["route", "add", "10.0.0.0/33", "0"], ["length", "expected 0 to 32"]), (["route", "add", "10.0.0.1/8", "0"], ["bits", "expected"]),
    (["route", "add", "nonsense", "0"], ["prefix", "expected"]), (["route", "add", "10.0.0.0/8", "99"], ["next hop"]),
    (["route", "add", "10.0.0.0/8", "4000000000"], ["next hop"]), (["route", "delete", "99.0.0.0/8"], ["no such route"]),
    (["neighbour", "add", "1", "nowhere", "02:00:00:00:00:01"], ["port"]), (["neighbour", "delete", "0"], ["route"]),
    (["neighbour", "add", "1", "north", "02:00"], ["mac"]), (["neighbour", "delete", "77"], ["neighbour"]),
])
def test_refused_changes(arguments, words, busy):
    done = weir(*arguments, "--instance", busy)
    assert done.code == FAILED, done.text
    assert all(word in done.stderr for word in words), done.stderr


def test_next_hop_of_own_addresses(tmp_path):
    """It stands behind those that may be configured, and is nobody's to change or to route to."""
    network, name = endless(tmp_path, mixture(), addresses=["10.1.1.1"]), unique_name()
    with start(network, name) as instance:
        wait_for_packets(instance, name)
        hops = weir("neighbour", "list", "--json", "--instance", name).json()["neighbours"]
        [own] = [hop for hop in hops if hop["kind"] == "own"]
        assert own["id"] > max(hop["id"] for hop in hops if hop != own)
        for command in (["neighbour", "add", own["id"], "blackhole"], ["neighbour", "delete", own["id"]],
                        ["route", "add", "10.1.1.1/32", own["id"]], ["neighbour", "add", own["id"] + 1, "blackhole"]):
            done = weir(*command, "--instance", name)
            assert done.code == FAILED and f"limit of {own['id']}" in done.stderr, done.text
        assert weir("neighbour", "add", own["id"] - 1, "blackhole", "--instance", name).code == OK
        assert weir("neighbour", "list", "--json", "--instance", name).json()["neighbours"][-1] == own
        assert_report_adds_up(instance.stop().json())


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """An instance that answers while the tests of this module ask."""
    folder, name = tmp_path_factory.mktemp("busy"), unique_name()
    with start(endless(folder, mixture()), name) as instance:
        wait_for_packets(instance, name)
        yield name
        assert_report_adds_up(instance.stop().json())


@pytest.mark.parametrize("arguments, words", [
    (["route"], ["missing"]), (["route", "add", "10.0.0.0/8"], ["add PREFIX NEXT_HOP"]),
    (["route", "remove", "x"], ["'delete PREFIX'"]), (["route", "add", "a", "b", "c"], ["'c'"]),
    (["route", "add", "10.0.0.0/8", "x"], ["'x'", "number"]), (["route", "add", "10.0.0.0/8", "-1"], ["-1"]),
    (["route", "add", "10.0.0.0/8", "1x"], ["'1x'"]), (["route", "add", "10.0.0.0/8", "99999999999"], ["number"]),
    (["route", "delete"], ["'delete PREFIX'"]), (["route", "list", "\udcff"], ["UTF-8"]),
    (["neighbour"], ["missing"]), (["neighbour", "add", "1"], ["'add ID blackhole'"]),
    (["neighbour", "add", "one", "north"], ["'one'", "number"]), (["neighbour", "delete", "one"], ["'one'", "number"]),
    (["neighbour", "list", "1"], ["'list'"]), (["neighbour", "add", "1", "north", "m", "x"], ["'x'"]),
    (["neighbour", "add", "1", "\udcff"], ["UTF-8"]),
])
def test_wrong_use_of_route_and_neighbour(arguments, words, busy):
    """Told before anything is asked, with what was expected."""
    done = weir(*arguments, "--instance", busy)
    assert done.code == USAGE and done.stdout == "", done.text
    assert all(word in done.stderr for word in words) and "Usage: weir " + arguments[0] in done.stderr, done.text


def test_lists_for_people(busy):
    """What --json lists, line by line."""
    for command, key, first in ("route", "routes", "prefix"), ("neighbour", "neighbours", "id"):
        listed = weir(command, "list", "--json", "--instance", busy).json()[key]
        lines = weir(command, "list", "--instance", busy).stdout.splitlines()
        assert [line.split()[0] for line in lines] == [str(entry[first]) for entry in listed] != []
        assert all(str(value) in line.split() for line, entry in zip(lines, listed) for value in entry.values())
    within = weir("route", "list", "10.1.0.0/16", "--instance", busy).stdout.splitlines()
    assert within and all(line.startswith("10.1.") for line in within)


def ask_routes(name, **arguments):
    return ask_socket(name, "route/list", **arguments)


def test_a_list_of_any_number_of_routes(tmp_path):
    """All of them, in order, though they come in pieces of 50,000; of the control socket, as many as are asked for."""
    name, network = unique_name(), endless(tmp_path, mixture())
    prefixes = [f"{11 + i // 65536}.{i % 65536 // 256}.{i % 256}.0/24" for i in range(120003)]
    prefixes += ["2001:db8::/32"] + [f"2001:db8:{i:x}::/48" for i in range(1, 5)] + ["2001:db8:4::/64", "2001:db9::/32"]
    expected = [{"prefix": prefix, "next_hop": 0} for prefix in prefixes]
    network.routes, network.addresses = [{"file": str(tmp_path / "table.txt")}], []
    (tmp_path / "table.txt").write_text("".join(f"{prefix} 0\n" for prefix in reversed(prefixes)))
    with start(network, name) as instance:
        wait_for_packets(instance, name)
        listed = weir("route", "list", "--json", "--instance", name).json()
        lines = weir("route", "list", "--instance", name).stdout.splitlines()
        within = weir("route", "list", "12.0.0.0/9", "--json", "--instance", name).json()
        none = weir("route", "list", "10.0.0.0/8", "--json", "--instance", name).json()
        cut, whole = ask_routes(name), ask_routes(name, max=10**6)["result"]
        rest = ask_routes(name, after="2001:db8:4::/48", max=1)["result"]
        wrong = [ask_routes(name, max=0), ask_routes(name, after="2001:db8::/129")]
        assert instance.stop().code == OK
    assert listed == whole == {"routes": expected, "more": 0}
    assert [line.split() for line in lines] == [[prefix, "0"] for prefix in prefixes]
    assert within == {"routes": expected[65536:65536 + 32768], "more": 0} and none == {"routes": [], "more": 0}
    assert cut["result"] == {"routes": expected[:10000], "more": len(prefixes) - 10000}
    assert rest == {"routes": [{"prefix": "2001:db8:4::/64", "next_hop": 0}], "more": 1}
    assert [(answer["ok"], answer["errno"]) for answer in wrong] == [(False, 22)] * 2 and "'max'" in wrong[0]["error"], wrong
