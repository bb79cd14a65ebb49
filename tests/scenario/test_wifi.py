"""Wi-Fi in scenarios: presets, stations, refusals, and the figures of the model through the simulator."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from one_link import one_link, refused

import dumbbell
from dumbbell import Scenario
from dumbbell.plan.build import build

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def scenario(**wifi: Any) -> Scenario:
    """A download and an upload over 11g, with other values of the medium."""
    medium = {"standard": "11g", "signal": "-45 dBm", **wifi}
    return one_link(
        {"name": "a", "variant": "cubic"},
        {"name": "b", "variant": "cubic", "direction": "reverse"},
        duration="4 s",
        measure_from="1 s",
        network={"access": {"rate": "1 Gbit/s", "delay": "5 ms"}, "bottleneck": {"wifi": medium}},
    )


def medium(**wifi: Any) -> dict[str, Any]:
    """The plan's entry for the medium."""
    entry: dict[str, Any] = build(scenario(**wifi).cells[0].scenario)["media"][0]
    return entry


def test_hosts_behind_the_link_are_stations() -> None:
    plan = build(scenario().cells[0].scenario)
    entry = plan["media"][0]
    assert [plan["nodes"][n] for n in entry["nodes"]] == ["d1", "d2"]  # of both flows, whatever their direction
    assert [plan["links"][entry[side]]["name"] for side in ("down", "up")] == ["r1->r2", "r2->r1"]
    assert plan["links"][entry["down"]]["rate_bps"] == 54_000_000
    assert entry["wifi"]["stations"][1] == {"name": "d2", "signal_dbm": -45.0, "uplink_dbm": -45.0}


def test_signals_of_stations_and_background() -> None:
    entry = medium(
        uplink_signal="-50 dBm",
        stations={"d1": {"signal": "-80 dBm"}, "d2": {"uplink_signal": "-88 dBm"}},
        background=[{"stations": 2, "traffic": "both"}, {"signal": "-60 dBm", "packet": "500 bytes"}],
    )
    signals = [(s["name"], s["signal_dbm"], s["uplink_dbm"]) for s in entry["wifi"]["stations"]]
    assert signals == [("d1", -80.0, -80.0), ("d2", -45.0, -88.0)]
    background = [
        (b["name"], b["uplink_dbm"], b["up"], b["down"], b["packet_bytes"]) for b in entry["wifi"]["background"]
    ]
    assert background == [
        ("background1", -50.0, True, True, 1500),
        ("background2", -50.0, True, True, 1500),
        ("background3", -60.0, True, False, 500),
    ]


def test_defaults_follow_the_standard() -> None:
    keys = ("width_mhz", "ampdu_ns", "cw_min", "aifsn")
    values = {s: tuple(medium(standard=s)["wifi"][k] for k in keys) for s in ("11b", "11g", "11n", "11ac")}
    assert values == {
        "11b": (22, 0, 31, 2),
        "11g": (20, 0, 15, 2),
        "11n": (20, 4_000_000, 15, 3),
        "11ac": (20, 4_000_000, 15, 3),
    }
    assert medium(standard="11n", aggregation="0 s")["wifi"]["ampdu_ns"] == 0


@pytest.mark.parametrize(
    ("wifi", "place", "message"),
    [
        ({"standard": "11c"}, "wifi.standard", "11"),
        ({"signal": "-45"}, "wifi.signal", "no unit"),
        ({"signal": "-45 dB"}, "wifi.signal", "unknown unit 'dB'"),
        ({"width": "40 MHz"}, "wifi.width", "40 MHz given: 11g has 20 MHz"),
        ({"standard": "11n", "width": "80 MHz"}, "wifi.width", "80 MHz given: 11n has 20, 40 MHz"),
        ({"streams": 2}, "wifi.streams", "2 given: 11g has 1 to 1"),
        ({"guard_interval": "short"}, "wifi.guard_interval", "only 11n and 11ac"),
        ({"aggregation": "4 ms"}, "wifi.aggregation", "only 11n and 11ac"),
        (
            {"rate_control": {"fixed": "55 Mbit/s"}},
            "wifi.rate_control.fixed",
            "55 Mbit/s given: must be one of 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s",
        ),
        ({"standard": "11n", "rate_control": {"fixed": "7 Mbit/s"}}, "wifi.rate_control.fixed", "6.5, 13, 19.5"),
        ({"cw_min": 1023, "cw_max": 511}, "wifi.cw_min", "1023 given: at most 511"),
        ({"cw_min": 16}, "wifi.cw_min", "16 given: must be a power of 2 less 1"),
        ({"cw_max": 1000}, "wifi.cw_max", "1000 given: must be a power of 2 less 1"),
        ({"background": [{"packet": "20 kB"}]}, "wifi.background.0.packet", "'20 kB' given: must be at most 2304"),
        ({"standard": "11n", "aggregation": "1 s"}, "wifi.aggregation", "'1 s' given: must be at most 10 ms"),
        ({"margin": "500 dB"}, "wifi.margin", "'500 dB' given: must be at most 40 dB"),
        ({"margin": "-1 dB"}, "wifi.margin", "'-1 dB' given: must be at least 0 dB"),
        ({"fading": {"deviation": "100 dB"}}, "wifi.fading.deviation", "'100 dB' given: must be at most 40 dB"),
        ({"rate_control": "minstrel"}, "wifi.rate_control", "did you mean 'minstrel_ht'"),
        ({"preset": "strng"}, "wifi.preset", "did you mean 'strong'"),
        ({"stations": {"d3": {"signal": "-80 dBm"}}}, "wifi.stations.d3", "unknown station 'd3'"),
        ({"background": [{"traffic": "sideways"}]}, "wifi.background.0.traffic", "sideways"),
        ({"noise_figures": "7 dB"}, "wifi.noise_figures", "did you mean 'noise_figure'"),
    ],
)
def test_refusals(wifi: dict[str, Any], place: str, message: str) -> None:
    with refused(message, place=f"network.bottleneck.{place}"):
        _ = scenario(**wifi).layout


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rate", "10 Mbit/s"),
        ("loss", "1 %"),
        ("outages", [{"at": "1 s", "for": "1 s"}]),
        ("reverse", {"jitter": "1 ms"}),
    ],
)
def test_a_link_with_wifi_has_no_other_impairments(key: str, value: Any) -> None:
    with refused("has a queue, a constant delay and drops only"):
        scenario().with_changes({f"network.bottleneck.{key}": value})


def test_access_links_are_no_wifi() -> None:
    with refused("Wi-Fi belongs into the bottleneck"):
        scenario().with_changes({"network.access": {"wifi": {"preset": "strong"}}})


def test_the_lecture_hall_has_the_speed_of_the_report() -> None:
    # 1.89 Mbit/s were measured. An eighth of the transmissions at 24 Mbit/s, as UDP payload.
    flows = dumbbell.run(EXAMPLES / "lecture-hall.toml").flows
    payload = flows["throughput_bps"].to_numpy().mean() * 1472 / 1500
    assert payload == pytest.approx(1.9e6, rel=0.05)


def test_the_anomaly_and_airtime_fairness() -> None:
    document = tomllib.loads((EXAMPLES / "wifi.toml").read_text(encoding="utf-8"))
    document |= {"duration": "8 s", "measure_from": "2 s", "repetitions": 1}
    flows = dumbbell.run(Scenario.model_validate(document)).flows
    rates = flows["throughput_bps"].to_numpy().reshape(2, 2) / 1e6  # by fairness, station
    (near, far), (fair_near, fair_far) = rates
    # With one queue both have about the same; with airtime fairness the near one has most of its half of 53 Mbit/s.
    assert near < 3 * far
    assert fair_near > 20
    assert fair_near > 2 * fair_far
    assert fair_near > 1.5 * near
