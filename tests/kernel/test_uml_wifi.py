"""Link emulation on the virtual-time kernel: the Wi-Fi medium under its TCP and UDP, the same in every run."""

from __future__ import annotations

from typing import Any

import pytest
from test_host_wifi import DATAGRAMS, scenario

from dumbbell import BackendError, Scenario, run
from dumbbell.kernel.uml.backend import Uml
from dumbbell.results.runs.record import jobs_of

pytestmark = pytest.mark.usefixtures("require_uml")
CUBIC = {"variant": "cubic", "stack": "linux-tuned"}


def virtual(bottleneck: dict[str, Any], *flows: dict[str, Any]) -> Scenario:
    return scenario(bottleneck, *flows, duration="2 s", measure_from="500 ms")


def test_stations_share_the_medium_as_in_the_simulator() -> None:
    # Packets always wait, so the medium alone decides, with the simulator's draws.
    wifi: dict[str, Any] = {"standard": "11g", "signal": "-45 dBm", "rate_control": "ideal", "airtime_fairness": True}
    wifi["stations"] = {"d2": {"signal": "-84 dBm"}}
    given = virtual({"wifi": wifi}, DATAGRAMS, DATAGRAMS)
    real = run(given, backend=Uml(emulation="link"))
    model = run(given).flows["throughput_bps"].to_list()
    assert real.flows["throughput_bps"].to_list() == pytest.approx(model, rel=0.02)
    table = real.table(0, "wifi/r1->r2")
    assert set(table["station"]) == {0, 1}


def test_the_kernels_tcp_over_wifi_is_repeatable() -> None:
    given = virtual({"wifi": {"preset": "lecture-hall"}}, CUBIC)
    first, second = (run(given, backend=Uml(emulation="link")) for _ in range(2))
    assert first.flows.equals(second.flows)
    # A new connection may take a share of up to 2 Mbit/s, less while its window opens.
    assert 0.5e6 < first.flows["throughput_bps"][0] < 2.1e6


def test_a_link_in_virtual_time_has_what_the_kernels_own_links_lack() -> None:
    link = {"rate": "10 Mbit/s", "delay": "5 ms", "outages": [{"at": "1 s", "for": "500 ms"}]}
    results = run(virtual(link, DATAGRAMS), backend=Uml(emulation="link"))
    # Offered: 12 Mbit/s from 0.5 to 2 s. Two thirds of this time the link transmits.
    assert results.flows["throughput_bps"][0] == pytest.approx(10e6 * 2 / 3, rel=0.05)


def test_without_it_wifi_is_refused_with_the_way_that_works() -> None:
    (job,) = jobs_of(virtual({"wifi": {"preset": "strong"}}, CUBIC))
    with pytest.raises(BackendError, match=r"don't have Wi-Fi: .*kernel or uml -o emulation=link do"):
        Uml().steps(job)
    steps = Uml(emulation="link").steps(job)
    assert any("type veth peer v11 netns links" in step for step in steps)
    assert any("11n" in step for step in steps)


def test_options_that_exclude_each_other() -> None:
    with pytest.raises(BackendError, match="only emulation=tc has them"):
        Uml(emulation="link", offloads="on")
    with pytest.raises(BackendError, match="did you mean 'link'"):
        Uml(emulation="lnk")  # type: ignore[arg-type]
