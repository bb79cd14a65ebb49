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
    "packet": "400 bytes",
    "on": "300 ms",
    "off": "700 ms",
    "exponential": False,
}


@pytest.mark.parametrize("nagle", [True, False])
@pytest.mark.parametrize("variant", ["reno", "veno"])
@pytest.mark.parametrize("application", [BLOCKS, SMALL], ids=["blocks", "small"])
def test_every_figure_is_that_of_linux(application: Mapping[str, object], variant: str, nagle: bool) -> None:
    """Blocks of 96 kB overflow a queue of 16 packets; without Nagle's algorithm writes of 800 bytes are segments."""
    flow = {
        "name": "a",
        "variant": variant,
        "stack": {"preset": "linux-tuned", "nagle": nagle},
        "application": application,
    }
    given = scenario(
        duration="40 s", rate="1024 kbit/s", limit="16 packets", flows=[flow],
        network__bottleneck__delay="40 ms", network__access={"rate": "100 Mbit/s", "delay": "0.1 ms"},
        network__bottleneck__reverse={"rate": "512 kbit/s"},
    )  # fmt: skip
    ours, theirs = (results.runs[0].flows[0] for results in (run(given), once(given)))
    figures = ("sent_packets", "retransmitted_packets", "goodput_bps", "srtt_mean_ms", "cwnd_mean_packets")
    assert {name: ours[name] for name in figures} == {name: pytest.approx(theirs[name], rel=1e-3) for name in figures}
    assert ours["sent_packets"] == theirs["sent_packets"]
    assert ours["retransmitted_packets"] == theirs["retransmitted_packets"]
