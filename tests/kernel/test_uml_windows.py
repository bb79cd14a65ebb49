"""Windows of sources that pause, and of a slow start that the send buffer limits, are those of Linux."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dumbbell import Scenario, run
from machines import once, scenario

pytestmark = pytest.mark.usefixtures("require_uml")

BLOCKS = {"kind": "onoff", "rate": "20 Mbit/s", "on": "38.4 ms", "off": "2461.6 ms", "exponential": False}
SMALL = {**BLOCKS, "rate": "3 Mbit/s", "packet": "800 bytes", "on": "300 ms", "off": "700 ms"}


CONSTANT = {"kind": "cbr", "rate": "600 kbit/s", "packet": "500 bytes"}


def check_equal(given: Scenario, *counts: str, **tolerances: float) -> None:
    """Compare columns of the first flow: counts exactly, others within relative tolerances."""
    ours, theirs = (results.runs[0].flows[0] for results in (run(given), once(given)))
    assert [ours[name] for name in counts] == [theirs[name] for name in counts]
    for name, tolerance in tolerances.items():
        assert ours[name] == pytest.approx(theirs[name], rel=tolerance), name


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
    means = dict.fromkeys(("goodput_bps", "srtt_mean_ms", "cwnd_mean_packets"), 1e-3)
    check_equal(given, "sent_packets", "retransmitted_packets", **means)


@pytest.mark.parametrize("variant", ["reno", "bic"])
def test_a_slow_start_with_stock_buffers_is_that_of_linux(variant: str) -> None:
    """The buffer, at first 16 KiB, is filled six times or more; the bursts after each wait decide the losses."""
    given = scenario(
        duration="2.2 s", rate="171 Mbit/s", limit="600 packets",
        flows=[{"name": "a", "variant": variant, "stack": "linux"}],
        network__bottleneck__delay="32.2 ms", network__access={"rate": "1710 Mbit/s", "delay": "0 ms"},
        network__bottleneck__reverse={"rate": "37.8 Mbit/s"},
    )  # fmt: skip
    tolerances = {"goodput_bps": 0.001, "cwnd_mean_packets": 0.002, "srtt_mean_ms": 0.003}
    check_equal(given, "retransmitted_packets", **tolerances)
