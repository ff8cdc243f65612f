# SPDX-License-Identifier: BSD-3-Clause
"""Whose frames say what time it is for requests: the first link's, but not for ever."""
from program import OK, USAGE, Instance, weir, write_description
from running import stats, unique_name
from test_readout import FRAMES, description, run, windows

EVERY = {"every": "3ms", "window": "1ms", "delay": "1ms", "timeout": "1h"}


def two_links(nb_first, nb_second, faults=(), timeout="1h"):
    """Each fed by itself; the first one may be silent, or cease."""
    what = description(requests={"both": {"links": ["first", "second"], **EVERY, "timeout": timeout}})
    link = what["application"]["links"].pop("wib")
    del link["count"]
    what["application"]["links"] = {"first": link, "second": {**link, "stream": 1}}
    feed = what["traffic"]["emulated"].pop("wib")
    del feed["frames"]
    what["traffic"]["emulated"] = {
        name: {**feed, **({"frames": nb} if nb else {}), **({"faults": lost} if lost else {})}
        for name, nb, lost in [("first", nb_first, faults), ("second", nb_second, ())]}
    return what


def test_a_first_link_that_never_had_a_frame(tmp_path):
    """Others are asked all the same."""
    readout = run(tmp_path, two_links(FRAMES, FRAMES, faults=[{"fault": "drop", "period": 1}]))
    assert [link["received"] for link in readout["links"]] == [0, FRAMES]
    [request] = readout["requests"]["list"]
    asked = len(windows(FRAMES, 3_000_000, 1_000_000, 1_000_000))
    assert (request["clock"], request["windows"]) == ("second", asked)
    assert request["answered"] == {"complete": asked, "stopped": asked}


def test_a_first_link_that_ceases(tmp_path):
    name = unique_name()
    with Instance("run", write_description(tmp_path / "ceases.yaml", two_links(FRAMES // 10, None, timeout="1ms")), "--name", name, "--quiet",
                  cwd=tmp_path) as running:
        def asked_of_the_second():
            now = stats(name)
            request = now["readout"]["requests"]["list"][0] if now else {"clock": ""}
            return request["clock"] == "second" and request["windows"] > 10 * FRAMES // 100 and request["answered"].get("timed_out", 0) > 5
        running.until(asked_of_the_second, "windows by the second link's time")
        assert running.stop().code == OK


def test_a_second_link_whose_clock_is_wrong(tmp_path):
    """Where the first one goes on, nobody else's frames count."""
    what = two_links(FRAMES, FRAMES)
    what["traffic"]["emulated"]["second"]["faults"] = [{"fault": "jump", "first": 100, "period": 100, "amount": 62_500}]
    [request] = run(tmp_path, what)["requests"]["list"]
    assert (request["clock"], request["windows"]) == ("first", len(windows(FRAMES, 3_000_000, 1_000_000, 1_000_000)))
    assert request["skipped"] == request["restarts"] == 0


def test_timestamps_that_wrap_at_another_time(tmp_path):
    """A window of the first link's is none of the second's, though their clocks have one rate."""
    what = two_links(FRAMES, FRAMES)
    what["application"]["formats"] = {"narrow": {
        "size": "7200B", "clock": "62.5MHz", "step": 2048, "stream": {"offset": 6, "width": 28}, "timestamp": {"offset": 64, "width": 28}}}
    what["application"]["links"]["second"]["format"] = "narrow"
    done = weir("check", write_description(tmp_path / "narrow.yaml", what))
    assert done.code == USAGE and "timestamps of link 'second' have 28 bits, those before it have 64" in done.stderr, done.text
