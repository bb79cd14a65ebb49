"""The video study: captures read by hand-made numbers, the error of a fit, the report's own tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from dumbbell.exceptions import ResultsError
from dumbbell.studies import study
from dumbbell.studies.video_real_traffic.data import VARIANTS, fast_keys, per_second, shaped_keys
from dumbbell.studies.video_real_traffic.fits import Fit, Setting, error_of
from dumbbell.studies.video_real_traffic.player import ACCESSES, played_keys, slug
from dumbbell.studies.video_real_traffic.reported import medians_of_report, rank_sum, wifi_of_report

SECOND = 1_000_000_000


def test_error_is_the_mean_factor() -> None:
    # (1 + 1) / (3 + 1) and (7 + 1) / (3 + 1): half and twice, so a factor of 2 in the mean.
    assert error_of({"a": 1, "b": 7}, {"a": 3, "b": 3}) == pytest.approx(2)
    # The root of 4 x 1.
    assert error_of({"a": 15, "b": 3}, {"a": 3, "b": 3}) == pytest.approx(2)
    assert error_of({"a": 0}, {"a": 0}) == pytest.approx(1)


def test_seconds_without_packets_count_as_zero() -> None:
    capture: Any = SimpleNamespace(
        total=pl.DataFrame({"t_ns": [0, 3 * SECOND], "packets": [5, 60]}),
        series=pl.DataFrame(
            {"t_ns": [0, 3 * SECOND, 3 * SECOND], "duplicate_ack": [0, 2, 3], "out_of_order": [0, 1, 0]}
        ),
    )
    t, counts = per_second(capture)
    assert t.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert counts.tolist() == [5, 0, 0, 60]
    assert per_second(capture, ("duplicate_ack", "out_of_order"))[1].tolist() == [0, 0, 0, 6]


def test_cells_are_named_by_their_settings() -> None:
    data, requests = "flows.video.variant", "flows.requests.variant"
    assert shaped_keys({data: "cubic", requests: "cubic"}) == [("server", "cubic"), ("client", "cubic")]
    assert shaped_keys({data: "cubic", requests: "vegas"}) == [("client", "vegas")]
    assert shaped_keys({data: "vegas", requests: "vegas"}) == [("server", "vegas")]
    cell = {"network.bottleneck.rate": "100 Mbit/s", "flows.video.stack.mss": "1460 bytes", data: "veno"}
    assert fast_keys(cell) == [("Ethernet", "1460 bytes", "veno")]


def test_accesses_of_the_player_are_named() -> None:
    hall = {"preset": "lecture-hall"}
    links = {
        "Ethernet": {"rate": "100 Mbit/s"},
        "Wi-Fi": {"wifi": {"preset": "strong"}},
        "weak signal": {"wifi": {"preset": "weak"}},
        "shaped": {"rate": "1024 kbit/s", "loss": "0.2 %"},
        "hall": {"wifi": hall},
        "hall with weak uplink": {"wifi": {**hall, "uplink_signal": "-81.4 dBm"}},
        "hall as rates": {"rate": "1.89 Mbit/s"},
    }
    assert tuple(links) == ACCESSES
    for access, link in links.items():
        cell = {"network.bottleneck": link, "flows.video.variant": "veno"}
        assert played_keys(cell) == [(access, "veno")]
    assert slug("hall with weak uplink") == "hall-with-weak-uplink"
    quic = {"network.bottleneck": {"wifi": hall}, "flows.video.transport": "quic"}
    assert played_keys(quic) == [("hall", "quic")]


def test_a_setting_is_found_in_a_scenario() -> None:
    cell = {
        "network.bottleneck.loss": "0.3 %",
        "flows.video.application.on": "40 ms",
        "flows.video.application.off": "2460 ms",
    }
    setting = Setting(cell, {}, 1.0)
    assert setting.player == "a block every 2.5 s"
    application = {"kind": "onoff", "on": "40 ms", "off": "2460 ms"}
    document = {"network": {"bottleneck": {"loss": "0.3 %"}}, "flows": [{"name": "video", "application": application}]}
    assert setting.is_of(document)
    document["flows"][0]["stop"] = "122 s"  # type: ignore[index]
    assert not setting.is_of(document)
    assert Setting({**cell, "flows.video.stop": "122 s"}, {}, 1.0).is_of(document)


def test_a_fit_without_the_used_setting_names_its_values() -> None:
    document = {"network": {"bottleneck": {"loss": "0.3 %"}}, "flows": [{"name": "video", "stop": "122 s"}]}
    cell = SimpleNamespace(scenario=SimpleNamespace(to_dict=lambda: document))
    headline: Any = SimpleNamespace(scenario=SimpleNamespace(cells=[cell]))
    empty: Any = SimpleNamespace(scenario=SimpleNamespace(repetitions=5), by_cell=list)
    with pytest.raises(ResultsError) as caught:
        Fit("fit-wifi", "the fast access", empty, {}, headline)
    assert "fit-wifi: none of its 0 settings" in str(caught.value)
    assert "network.bottleneck.loss = '0.3 %', flows.video.stop = '122 s'" in str(caught.value)


def test_the_reports_numbers() -> None:
    reported = study("video-real-traffic").paper.figures
    assert medians_of_report(reported, "cubic") == {
        "throughput": 41,
        "retransmitted": pytest.approx(49.587),
        "duplicate ACKs": 249,
        "out of order": 0,
    }
    found = wifi_of_report(reported, "veno")
    # 10,943,092 bytes in 3389 packets and 274.333 s: the report prints 3229 bytes and 39 k.
    assert found["packet size"] == pytest.approx(3229, abs=0.5)
    assert int(found["throughput"]) == 39
    # Five runs against five without overlap: 2 of the 252 choices of five from ten.
    assert rank_sum([6, 7, 8, 9, 10], [1, 2, 3, 4, 5]) == pytest.approx(2 / 252)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("protocol", ["tcp", "quic"])
def test_the_reports_tables_of_lengths_add_up(protocol: str, variant: str) -> None:
    reported = study("video-real-traffic").paper.figures
    table = reported["lengths"][protocol][variant]
    count, average, percent = (np.array(table[c], dtype=np.float64) for c in ("count", "average", "percent"))
    assert count[1:].sum() == count[0]
    assert (count[1:] * average[1:]).sum() / count[0] == pytest.approx(average[0], rel=1e-4)
    assert 100 * count[1:] / count[0] == pytest.approx(percent[1:], abs=0.006)
    if protocol == "tcp":
        assert count[0] == reported["tcp_packets"][variant]
        assert average[0] == pytest.approx(reported["tcp_bytes"][variant] / count[0], abs=0.01)
