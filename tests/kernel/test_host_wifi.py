"""The Wi-Fi medium as a link of the host's own kernel, in real time: its throughput is the simulator's."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from dumbbell import Scenario, run
from dumbbell.kernel.host.link_emulation import LinkEmulation

pytestmark = pytest.mark.usefixtures("require_link_emulation")

DATAGRAMS = {"transport": "udp", "application": {"kind": "cbr", "rate": "12 Mbit/s", "packet": "1500 bytes"}}


def scenario(bottleneck: dict[str, Any], *flows: dict[str, Any], **changes: Any) -> Scenario:
    network = {
        "bottleneck": {"queue": {"discipline": "droptail", "limit": "200 packets"}, **bottleneck},
        "access": {"rate": "1 Gbit/s", "delay": "10 ms"},
    }
    named = [{"name": name, **flow} for name, flow in zip("ab", flows, strict=False)]
    document = {"name": "wifi", "duration": "4 s", "measure_from": "1 s", "network": network, "flows": named}
    return Scenario.from_dict({**document, "trace": {"series": ["queues"]}, **changes})


def beside(given: Scenario) -> tuple[list[float], list[float], pl.DataFrame]:
    """Return each flow's throughput in the simulator and on the kernel, bit/s, and the medium's table there."""
    real = run(given, backend=LinkEmulation(calibration="off"))
    table = real.table(0, "wifi/r1->r2")
    return run(given).flows["throughput_bps"].to_list(), real.flows["throughput_bps"].to_list(), table


def test_saturated_stations_have_the_simulators_throughput() -> None:
    # Packets always wait, so the medium alone decides: a late host changes nothing.
    model, real, table = beside(scenario({"wifi": {"preset": "lecture-hall"}}, DATAGRAMS))
    assert real == pytest.approx(model, rel=0.05)
    # The row of the download's station, and of seven that always send.
    last = table.filter(table["t_ns"] == table["t_ns"].max())
    assert last["station"].to_list() == list(range(8))
    assert (last["up_frames"][1:] > 100).all()
    assert last["down_bytes"][0] == pytest.approx(3 * real[0] / 8, rel=0.02)


def test_airtime_is_shared_as_in_the_simulator() -> None:
    wifi: dict[str, Any] = {"standard": "11g", "signal": "-45 dBm", "rate_control": "ideal", "airtime_fairness": True}
    wifi["stations"] = {"d2": {"signal": "-84 dBm"}}
    model, real, _ = beside(scenario({"wifi": wifi}, DATAGRAMS, DATAGRAMS))
    assert real == pytest.approx(model, rel=0.05)
    assert real[0] > 1.5 * real[1]


def test_the_kernels_tcp_crosses_the_medium() -> None:
    # The queue always has packets, so that the throughput is the medium's; a busy host makes it less, never more.
    (model,), (real,), _ = beside(scenario({"wifi": {"standard": "11g", "signal": "-45 dBm"}}, {"variant": "cubic"}))
    assert 0.7 * model < real < 1.05 * model
