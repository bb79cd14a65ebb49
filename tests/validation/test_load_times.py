"""Stored measurements on a real kernel beside today's simulator: a browser's load times, throughput over Wi-Fi."""

from __future__ import annotations

import pytest

import load_times
import on_kernel
from dumbbell.report.tables import read_table

LOAD_TIMES = read_table(load_times.DATA / "load-times.csv").records()


def test_the_table_of_load_times_has_every_rate() -> None:
    assert [(r["HTTP"], r["rate"]) for r in LOAD_TIMES] == [
        (h, rate) for h in ("h2", "h3") for rate in load_times.RATES
    ]


@pytest.mark.parametrize("row", LOAD_TIMES, ids=lambda row: f"{row['HTTP']}-{row['rate']}")
def test_the_simulators_load_time_is_within_a_tenth_of_the_browsers(row: dict[str, str]) -> None:
    model = load_times.simulated(row["HTTP"], row["rate"])
    assert f"{model:.2f}" == row["simulator (s)"], "renew docs/data/browser"
    assert model == pytest.approx(float(row["browser (s)"]), rel=0.1)


@pytest.mark.parametrize("case", on_kernel.CASES)
def test_wifi_has_the_kernels_throughput(case: str) -> None:
    wifi, flows = on_kernel.CASES[case]
    stored = read_table(on_kernel.DATA / "on-kernel.csv").records()
    table = [row for row in stored if row["medium and traffic"] == case]
    assert [row["flow"] for row in table] == list(flows)
    models = on_kernel.simulated(on_kernel.scenario(wifi, flows, on_kernel.REPETITIONS))
    for row, model in zip(table, models, strict=True):
        assert on_kernel.shown(model) == row["simulator (Mbit/s)"], "renew docs/data/wifi"
        assert model.mean() == pytest.approx(float(row["kernel (Mbit/s)"].split()[0]), rel=0.05)
