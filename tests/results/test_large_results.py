"""Results of many runs: summaries over whole columns equal those over runs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.results.frames import summary

DOCUMENT = {
    "name": "large",
    "duration": "1 s",
    "repetitions": 3,
    "start_jitter": "5 ms",
    "network": {
        "bottleneck": {"rate": "2 Mbit/s", "delay": "5 ms", "loss": "1 %"},
        "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
    },
    "flows": [
        {"name": "a", "variant": "cubic"},
        {"name": "late", "variant": "reno", "start": "990 ms"},
        {"name": "u", "transport": "udp", "application": {"kind": "cbr", "rate": "1 Mbit/s", "packet": "500 bytes"}},
    ],
    "sweep": {
        "network.bottleneck.rate": ["12 Mbit/s", "2 Mbit/s"],
        "flows.a.variant": ["cubic", {"name": "vegas", "alpha": 1}],
    },
}


@pytest.mark.parametrize("kept", [True, False])
def test_means_over_columns_are_those_over_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    made = dumbbell.run(Scenario.from_dict(DOCUMENT), out=tmp_path / "out" if kept else None)
    results = Results.load(tmp_path / "out") if kept else made
    over_runs = summary.flow_summary(results), summary.queue_summary(results)
    assert len(over_runs[0].rows) == 4 * 3
    monkeypatch.setattr(summary, "LARGE", 0)
    over_columns = summary.flow_summary(results), summary.queue_summary(results)
    for a, b in zip(over_runs, over_columns, strict=True):
        assert (a.keys, a.metrics, len(a.rows)) == (b.keys, b.metrics, len(b.rows))
        for left, right in zip(a.rows, b.rows, strict=True):
            for one, other in zip(left, right, strict=True):
                # The order of a sum decides its last digits.
                assert one == other if not isinstance(one, float) else math.isclose(one, other, rel_tol=1e-12)
