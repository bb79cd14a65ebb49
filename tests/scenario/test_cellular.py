"""Generated traces of cellular links."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from one_link import network, one_link, refused

import dumbbell
from dumbbell import Scenario
from dumbbell.plan.build import build
from dumbbell.scenario.network.cellular import Cellular

STEADY = {"shadowing": "0 dB", "fading": "0 dB", "handover": "0 s", "length": "20 s"}


def cell(**values: Any) -> Cellular:
    return Cellular.model_validate({"cellular": "lte", **values})


def test_the_rate_is_that_of_the_signal() -> None:
    # 15 dB: 0.6 log2(1 + 31.62) = 3.017 bit/s/Hz. 20 MHz: 60.3 Mbit/s, all intervals; 30 % of them: 18.1 Mbit/s, with
    # 20 000 draws within 5 sqrt(0.7 / (0.3 x 20000)) = 5.4 %.
    assert cell(**STEADY, share="100 %").trace.mean_bps == pytest.approx(60.34e6, rel=1e-3)
    assert cell(**STEADY).trace.mean_bps == pytest.approx(18.1e6, rel=0.054)
    # Above 22 dB the limit holds: 4.4 x 20 MHz; with 5G 4.4 x 8 / 6 x 100 MHz.
    assert cell(**STEADY, share="100 %", snr="40 dB").trace.mean_bps == pytest.approx(88e6, rel=1e-3)
    wide = Cellular.model_validate({"cellular": "5g", **STEADY, "share": "100 %", "snr": "40 dB"})
    assert wide.trace.mean_bps == pytest.approx(586.7e6, rel=1e-3)


def test_the_edge_of_a_cell() -> None:
    # -5 dB: 0.6 log2(1 + 0.316) = 0.238 bit/s/Hz.
    assert cell(**STEADY, share="100 %", snr="-5 dB").trace.mean_bps == pytest.approx(4.755e6, rel=1e-2)


def test_links_with_one_seed_fade_together() -> None:
    def seconds(**values: Any) -> Any:
        trace = cell(length="60 s", share="100 %", **values).trace
        return np.bincount((trace.times - 1) // 1000, trace.counts, minlength=60)

    first = seconds(handover="0 s")
    assert np.corrcoef(first, seconds(handover="0 s", snr="10 dB"))[0, 1] > 0.9
    assert abs(np.corrcoef(first, seconds(handover="0 s", seed=2))[0, 1]) < 0.5


def test_handovers_are_pauses() -> None:
    trace = cell(**STEADY | {"handover": "200 ms", "handover_every": "2 s"}, share="100 %").trace
    gaps = np.diff(trace.times)
    assert 3 <= (gaps >= 200).sum() <= 20  # about 20 s / 2.2 s
    assert gaps[gaps < 200].max() <= 2
    assert trace.period == 20_000


def test_a_seed_gives_one_trace() -> None:
    first, again, other = (cell(length="10 s", seed=seed).trace for seed in (1, 1, 2))
    assert np.array_equal(first.times, again.times) and np.array_equal(first.counts, again.counts)
    assert not np.array_equal(first.times, other.times)
    # Fading moves the rate: means of 1 s differ by more than a tenth.
    seconds = np.bincount(first.times // 1001, first.counts, minlength=10)
    assert seconds.std() > 0.1 * seconds.mean()


def over(**rate: Any) -> Scenario:
    return one_link({"name": "f", "variant": "cubic"}, network=network(rate, near="1 ms"))


def test_a_scenario_runs_over_it() -> None:
    scenario = over(cellular="lte", length="10 s")
    link = build(scenario.cells[0].scenario)["links"][0]
    assert link["opportunities"]["period_ms"] == 10_000
    goodput = dumbbell.run(scenario).flows["goodput_bps"][0]
    assert 0.5 * link["rate_bps"] < goodput < link["rate_bps"]


@pytest.mark.parametrize(
    ("rate", "place", "message"),
    [
        ({"cellular": "6g"}, "cellular", "6g"),
        ({"cellular": "lte", "snr": "15"}, "snr", "no unit"),
        ({"cellular": "lte", "share": "0 %"}, "share", "above zero"),
        ({"cellular": "lte", "length": "1 ms"}, "length", "at least 1 s"),
        ({"cellular": "lte", "sn": "15 dB"}, "sn", "did you mean 'snr'"),
        ({"cellular": "lte", "snr": "-11 dB"}, "snr", "'-11 dB' given: must be at least -10 dB"),
        ({"cellular": "lte", "snr": "3000 dB"}, "snr", "at most 60 dB"),
        ({"cellular": "lte", "shadowing": "4000 dB"}, "shadowing", "at most 40 dB"),
        ({"cellular": "lte", "bandwidth": "0 MHz"}, "bandwidth", "at least 1 MHz"),
        ({"cellular": "5g", "bandwidth": "100000 MHz"}, "bandwidth", "at most 400 MHz"),
        ({"cellular": "lte", "handover_every": "10 us"}, "handover_every", "at least 100 ms"),
        ({"cellular": "lte", "handover_every": "1 s", "handover": "60 s"}, "handover", "'60 s' given: at most"),
    ],
)
def test_refusals(rate: dict[str, Any], place: str, message: str) -> None:
    with refused(message, place=f"network.bottleneck.rate.{place}"):
        over(**rate)
