"""Sources that pause: each segment takes one of the window, and idle times leave whole segments, as in Linux."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dumbbell import run
from machines import once, scenario

pytestmark = pytest.mark.usefixtures("require_uml")

BLOCKS = {"kind": "onoff", "rate": "20 Mbit/s", "on": "38.4 ms", "off": "2461.6 ms", "exponential": False}
SMALL = {
    "kind": "onoff",
    "rate": "3 Mbit/s",
    "packet": "800 bytes",
    "on": "300 ms",
    "off": "700 ms",
    "exponential": False,
}


CONSTANT = {"kind": "cbr", "rate": "600 kbit/s", "packet": "500 bytes"}


@pytest.mark.parametrize("nagle", [True, False])
@pytest.mark.parametrize("variant", ["reno", "veno", "vegas"])
@pytest.mark.parametrize("application", [BLOCKS, SMALL, CONSTANT], ids=["blocks", "small", "constant"])
def test_packets_and_windows_are_those_of_linux(application: Mapping[str, object], variant: str, nagle: bool) -> None:
    """Blocks of 96 kB overflow a queue of 16 packets; without Nagle's algorithm a write of 800 bytes is a segment."""
    stack = {"preset": "linux-tuned", "nagle": nagle}
    given = scenario(
        duration="40 s", rate="1024 kbit/s", limit="16 packets",
        flows=[{"name": "a", "variant": variant, "stack": stack, "application": application}],
        network__bottleneck__delay="40 ms", network__access={"rate": "100 Mbit/s", "delay": "0.1 ms"},
        network__bottleneck__reverse={"rate": "512 kbit/s"},
    )  # fmt: skip
    ours, theirs = (results.runs[0].flows[0] for results in (run(given), once(given)))
    for name in ("sent_packets", "retransmitted_packets"):
        assert ours[name] == theirs[name], name
    for name in ("goodput_bps", "srtt_mean_ms", "cwnd_mean_packets"):
        assert ours[name] == pytest.approx(theirs[name], rel=1e-3), name
