"""Writes into the send buffer and its growth are Linux's: a slow start that it limits is the same on both."""

from __future__ import annotations

import pytest

from dumbbell import run
from machines import once, scenario

pytestmark = pytest.mark.usefixtures("require_uml")


@pytest.mark.parametrize("variant", ["reno", "bic"])
def test_a_slow_start_with_stock_buffers_is_that_of_linux(variant: str) -> None:
    """The buffer, at first 16 KiB, is filled six times or more; the bursts after each wait decide the losses."""
    given = scenario(
        duration="2.2 s", rate="171 Mbit/s", limit="600 packets",
        flows=[{"name": "a", "variant": variant, "stack": "linux"}],
        network__bottleneck__delay="32.2 ms", network__access={"rate": "1710 Mbit/s", "delay": "0 ms"},
        network__bottleneck__reverse={"rate": "37.8 Mbit/s"},
    )  # fmt: skip
    ours, theirs = (results.runs[0].flows[0] for results in (run(given), once(given)))
    assert ours["retransmitted_packets"] == theirs["retransmitted_packets"]
    assert ours["goodput_bps"] == pytest.approx(theirs["goodput_bps"], rel=0.001)
    assert ours["cwnd_mean_packets"] == pytest.approx(theirs["cwnd_mean_packets"], rel=0.002)
    assert ours["srtt_mean_ms"] == pytest.approx(theirs["srtt_mean_ms"], rel=0.003)
