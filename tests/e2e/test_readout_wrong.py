# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of links that are wrong: refused, with the place and what was expected."""
import pytest

from program import OK, weir
from test_bad_descriptions import refuse

GOOD = """\
application:
  formats:
    mine: {size: 64B, clock: 1MHz, step: 100, stream: {offset: 0, width: 8}, timestamp: {offset: 32, width: 32}}
  links:
    wib: {format: wibeth, count: 8, stream: 16, buffer: {history: 50ms}}
    own: {format: mine, buffer: {history: 1s}}
    any: {format: udp, buffer: {history: 1s, rate: 100Hz, frame_size: 100B}}
  requests:
    triggers: {links: [wib], every: 10ms, window: 1ms, timeout: 50ms, to: out/f.bin}
traffic:
  emulated:
    wib: {faults: [{fault: drop, period: 10}]}
    own: {frames: 100}
    any: {rate: 100Hz, size: 100B}
run:
  duration: 1s
  stats_json: out/stats.json
"""

STEP = "step: 100, stream: {offset: 0, width: 8}, timestamp: {offset: 32, width: 32}}\n"
WIB = "  links:\n    wib: {format: wibeth, count: 8, stream: 16, buffer: {history: 50ms}}\n"

# As in test_bad_descriptions.py: what to replace by what, '@' before the place; words of the message.
WRONG = {
    "unknown key of a link": ("count: 8", "@cuont: 8", ["'cuont'", "count"]),
    "unknown key of a buffer": ("{history: 50ms}", "{history: 50ms, @size: 1}", ["'size'", "frame_size"]),
    "unknown key of traffic": ("  emulated:", "  @emulate:", ["'emulate'", "emulated"]),
    "unknown format": ("format: wibeth", "format: @wibet", ["'wibet'", "wibeth", "srs-vmm3a", "mine"]),
    "format that is built in": ("    mine: {", "    @udp: {", ["'udp'", "built in"]),
    "format that contradicts itself": ("timestamp: {offset: 32, width: 32}", "@timestamp: {offset: 36, width: 61}", ["within 8"]),
    "format without a clock": ("clock: 1MHz, " + STEP + WIB + "    own: {format: mine", STEP + WIB + "    own: {format: @mine", ["'mine'", "'clock'"]),
    "format whose field is not in its frames": ("timestamp: {offset: 32, width: 32}", "@timestamp: {offset: 512, width: 32}", ["68 bytes", "64"]),
    "format whose frames have no length": ("timestamp: {offset: 32, width: 32}", "timestamp: {offset: 32, width: 32}, @length: {offset: 8, width: 8, plus: 65B}",
                                           ["8 bits", "65", "64 bytes"]),
    "format with a step and no timestamp": (STEP, "step: @100, stream: {offset: 0, width: 8}}\n", ["timestamp"]),
    "link without a format": ("    own: {format: mine, buffer", "    @own: {buffer", ["'format'"]),
    "link without a buffer": ("any: {format: udp, buffer: {history: 1s, rate: 100Hz, frame_size: 100B}}", "@any: {format: udp}", ["'buffer'"]),
    "link name with a dash": ("    own: {f", "    @o-n: {f", ["'o-n'", "letters"]),
    "no links": ("count: 8", "count: @0", ["0", "1"]),
    "too many links": ("count: 8", "count: @5000", ["5000", "4096"]),
    "duplicate stream key": ("    own: {f", "    two: {format: wibeth, stream: @23, buffer: {history: 1ms}}\n    own: {f", ["23", "'wib'"]),
    "duplicate stream key of one before": ("    own: {f", "    two: {format: wibeth, count: 99, stream: @0, buffer: {history: 1ms}}\n    own: {f",
                                           ["16", "'wib'"]),
    "stream key out of range": ("format: mine, ", "format: mine, stream: @256, ", ["256", "255"]),
    "last stream key out of range": ("format: mine, ", "format: mine, count: 3, stream: @254, ", ["256", "255"]),
    "stream key without a field": ("format: udp, ", "format: udp, stream: @1, ", ["'stream'", "udp"]),
    "several without a field": ("format: udp, ", "format: udp, count: @2, ", ["2", "udp"]),
    "history that is no time": ("history: 50ms", "history: @50", ["'50'", "unit"]),
    "no history": ("buffer: {history: 50ms}", "@buffer: {confirm: 3}", ["'history'"]),
    "history without memory": ("history: 50ms", "history: @20000s", ["memory", "MiB", "'wib'"]),
    "history longer than timestamps": ("own: {format: mine, buffer: {history: 1s}", "own: {format: mine, @buffer: {history: 2000s}", ["quarter", "32"]),
    "rate beside a step": ("{history: 50ms}", "{history: 50ms, rate: @1kHz}", ["'rate'", "wibeth"]),
    "reordering beside a step": ("{history: 50ms}", "{history: 50ms, reorder: @9}", ["'reorder'", "wibeth"]),
    "jumps within a frame": ("{history: 50ms}", "{history: 50ms, jump: @1ns}", ["1e-09 s", "'wib'", "3.2768e-05 s"]),
    "jumps of a link within a frame": ("stream: 16,", "stream: 16, jump: @32us,", ["3.2e-05 s", "'wib'", "3.2768e-05 s"]),
    "jumps within a mean frame": ("rate: 100Hz, frame_size", "rate: 100Hz, jump: @1ms, frame_size", ["0.001 s", "'any'", "0.01 s"]),
    "jumps within a tick": ("    any: {f", "    srs: {format: srs-vmm3a, jump: @1ns, buffer: {history: 1s, rate: 1kHz}}\n    any: {f",
                             ["1e-09 s", "a tick of links 'srs'"]),
    "no rate": ("buffer: {history: 1s, rate: 100Hz, frame_size", "@buffer: {history: 1s, frame_size", ["'rate'", "udp"]),
    "no largest frame": ("    own: {f", "    eth: {format: ethernet, @buffer: {history: 1s, rate: 100Hz}}\n    own: {f", ["'ethernet'", "'frame_size'"]),
    "frame size below the format's": ("{history: 50ms}", "{history: 50ms, frame_size: 100B}", ["100", "7200"]),
    "unknown choice when full": ("{history: 50ms}", "{history: 50ms, when_full: @panic}", ["'panic'", "evict_oldest"]),
    "emulated link that is not there": ("    own: {frames", "    @owl: {frames", ["'owl'", "wib", "own"]),
    "one of several emulated": ("    own: {frames", "    @wib-1: {frames: 1}\n    own: {frames", ["'wib-1'", "wib"]),
    "a link that nothing feeds": ("    own: {format", "    @lone: {format: ethernet, buffer: {history: 1s, rate: 1Hz, frame_size: 1500B}}\n    own: {format",
                                  ["'lone'", "traffic.emulated"]),
    "no rate to emulate": ("    any: {rate: 100Hz, size", "    @any: {size", ["'rate'", "udp"]),
    "emulated frames of a wrong size": ("own: {frames: 100}", "own: {frames: 100, size: @63B}", ["63", "64"]),
    "replayed link that is not there": ("run:\n", "  replayed:\n    @owl: {frames: bad.yaml}\nrun:\n", ["'owl'", "own"]),
    "emulated and replayed": ("run:\n", "  replayed:\n    @own: {frames: bad.yaml}\nrun:\n", ["'own'", "bad.yaml:13:5"]),
    "replayed from nothing": ("    own: {frames: 100}\n    any: {rate: 100Hz, size: 100B}\n",
                              "    any: {rate: 100Hz, size: 100B}\n  replayed:\n    @own: {rate: 1Hz}\n", ["nothing", "'pcap'", "'frames'"]),
    "replayed from two files": ("    any: {rate: 100Hz, size: 100B}", "  replayed:\n    any: {frames: @bad.yaml, pcap: bad.yaml}", ["two", "'pcap'"]),
    "replayed from no file": ("    any: {rate: 100Hz, size: 100B}", "  replayed:\n    any: {pcap: @none.pcap}", ["none.pcap", "No such"]),
    "replayed from no capture": ("    any: {rate: 100Hz, size: 100B}", "  replayed:\n    any: {pcap: @bad.yaml}", ["capture"]),
    "frames without an end": ("    any: {rate: 100Hz, size: 100B}", "  replayed:\n    any: {frames: @bad.yaml}", ["'udp'", "length"]),
    "hits to a link that is not there": ("stream: 16,", "stream: 16, hits: {threshold: 1, to: @tp},", ["'tp'", "wib"]),
    "hits to a link of something else": ("stream: 16,", "stream: 16, hits: {threshold: 1, to: @any},", ["'any'", "'udp'", "'hit'"]),
    "hits of something else": ("own: {format: mine,", "tp: {format: hit, buffer: {history: 1s, rate: 1Hz}}\n"
                               "    own: {format: mine, @hits: {threshold: 1, to: tp},", ["'mine'", "'wibeth'"]),
    "a threshold that no sample reaches": ("stream: 16,", "stream: 16, hits: {threshold: @16384, to: any},", ["16384", "16383"]),
    "unknown delivery": ("stream: 16,", "stream: 16, delivery: {by: @post},", ["'post'", "callback", "queue"]),
    "delivery by nothing": ("stream: 16,", "stream: 16, @delivery: {capacity: 5},", ["'by'"]),
    "a queue of nothing": ("stream: 16,", "stream: 16, delivery: {by: queue, capacity: @0},", ["0", "1"]),
    "capacity without a queue": ("stream: 16,", "stream: 16, delivery: {by: callback, capacity: @5},", ["'capacity'", "by: queue"]),
    "consumer without a queue": ("stream: 16,", "stream: 16, delivery: {by: callback, cpu: @1},", ["'cpu'", "by: queue"]),
    "hits by a queue": ("stream: 16, buffer: {history: 50ms}}",
                        "stream: 16, hits: {threshold: 1, to: tp}, buffer: {history: 50ms}}\n"
                        "    tp: {format: hit, buffer: {history: 1s, rate: 1Hz}, delivery: {by: @queue}}", ["'tp'", "callback"]),
    "payload of another size": ("wib: {faults", "wib: {payload: @bad.yaml, faults", ["7200"]),
    "unknown fault": ("fault: drop", "fault: @droop", ["'droop'", "drop"]),
    "fault without an amount": ("{fault: drop, period: 10}", "@{fault: reorder, period: 10}", ["'amount'", "reorder"]),
    "fault with an amount too many": ("{fault: drop,", "{fault: drop, amount: @1,", ["'amount'", "drop"]),
    "reordered too far": ("{fault: drop,", "{fault: reorder, amount: @1001,", ["1001", "1000"]),
    "truncated to more than there is": ("{fault: drop,", "{fault: truncate, amount: @7201,", ["7201", "7200"]),
    "a chance above 1": ("fault: drop, period: 10", "fault: drop, random: @2", ["2", "1"]),
    "by chance and by period": ("fault: drop,", "fault: drop, random: @0.5,", ["'random'", "period"]),
    "by chance and so many": ("fault: drop, period: 10", "fault: drop, random: @0.5, length: 2", ["'random'", "length"]),
    "more in a row than there are": ("fault: drop, period: 10", "fault: drop, period: 10, length: @11", ["11", "10"]),
    "request of an unknown link": ("links: [wib]", "links: [wib, @wob]", ["'wob'", "wib"]),
    "request of a link beyond the last": ("links: [wib]", "links: [@wib-8]", ["'wib-8'", "wib"]),
    "request of a link twice": ("links: [wib]", "links: [wib, @wib-3]", ["'wib-3'", "already"]),
    "request of no links": ("links: [wib]", "@links: []", ["no links", "wib"]),
    "request of two clocks": ("links: [wib]", "links: [wib, @own]", ["'own'", "clock"]),
    "window longer than the history": ("window: 1ms", "window: @51ms", ["0.051 s", "0.05 s", "'wib'", "history"]),
    "asked when all is gone": ("window: 1ms,", "window: 1ms, delay: @51ms,", ["delay", "0.05 s", "'wib'", "history"]),
    "every so long that timestamps have wrapped": ("[wib], every: 10ms", "[own], every: @2148s", ["2148", "'own'", "wrap"]),
    "window below a tick": ("window: 1ms", "window: @15ns", ["15 ns", "62500000"]),
    "request without a window": ("    triggers: {links: [wib], every: 10ms, window: 1ms,", "    @triggers: {links: [wib], every: 10ms,", ["'window'"]),
    "output twice": ("stats_json: out/stats.json", "stats_json: @out/f.bin", ["out/f.bin", "already"]),
    "windows twice to one file": ("out/f.bin}", "out/f.bin}\n    more: {links: [wib], every: 10ms, window: 1ms, to: @./out/f.bin}",
                                  ["./out/f.bin", "already", "bad.yaml:9:"]),
    "output in a file": ("to: out/f.bin", "to: @bad.yaml/f.bin", ["bad.yaml"]),
    "input that has no end": ("duration: 1s", "until: @input_end", ["without an end", "duration"]),
    "routes without ports": ("  requests:\n", "  @routes: [{prefix: 10.0.0.0/8, next_hop: 0}]\n  requests:\n", ["'routes'", "ports"]),
    "addresses without ports": ("  requests:\n", "  @addresses: [192.0.2.1]\n  requests:\n", ["'addresses'", "ports"]),
    "a picture without a graph": ("stats_json: out/stats.json", "graph_svg: @out/g.svg", ["'graph_svg'", "ports"]),
}


def test_the_good_one_is_good(tmp_path):
    (tmp_path / "good.yaml").write_text(GOOD)
    done = weir("check", "good.yaml", cwd=tmp_path)
    assert done.code == OK and "10 links, 1 requests" in done.stdout, done.text
    answer = weir("check", "good.yaml", "--json", cwd=tmp_path).json()
    assert (answer["ok"], answer["links"], answer["requests"]) == (True, 10, 1)
    assert weir("graph", "good.yaml", cwd=tmp_path).stdout.count("->") == 5


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name, tmp_path):
    old, new, words = WRONG[name]
    assert old in GOOD
    refuse(tmp_path, GOOD.replace(old, new, 1), words)


@pytest.mark.parametrize("text", ["traffic: {emulated: {@wib: {frames: 1}}}",
                                  "application: {requests: {r: {links: [@wib], every: 1s, window: 1s}}}"])
def test_without_links(text, tmp_path):
    refuse(tmp_path, text + "\n", ["'wib'", "application.links"])
