"""The curves of figures of captures, compared with the tables of the same capture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell.capture import Capture
from dumbbell.capture.figures import WINDOWS, pictures, talkers
from dumbbell.capture.sequence import sequence
from dumbbell.plots.flows_over_time import AFTER_TIMEOUT
from kernels import one_flow


def captured(folder: Path, duration: str, **changes: Any) -> Capture:
    """Capture at the sender of one flow over a path of 40 ms."""
    given: dict[str, Any] = {
        "capture": ["sender"],
        "flows": [{"name": "tcp", "variant": "cubic"}],
        "network__bottleneck__delay": "18 ms",
        "network__access__delay": "1 ms",
    }
    scenario = one_flow("captured", duration, rate="10 Mbit/s", limit="1 bdp", **given | changes)
    return dumbbell.read_capture(dumbbell.run(scenario, out=folder / "out").captures(0)["sender"])


def test_the_time_sequence_graph_of_a_capture_has_every_segment(tmp_path: Path) -> None:
    capture = captured(tmp_path, "4 s")
    row = talkers(capture).row(0, named=True)
    picture = next(p for p in pictures(capture) if p.name.startswith("sequence"))
    whole, zoomed = picture.panels
    strokes = {c.label: c for c in whole.curves if c.kind == "segments"}
    assert len(strokes["segment sent"].x) + len(strokes["retransmission"].x) == row["data_packets"]
    assert len(strokes["retransmission"].x) == row["retransmission"] > 0
    assert {"SACKed", "acknowledged"} <= {c.label for c in zoomed.curves}
    begin, end = zoomed.x_range or (0.0, 0.0)
    assert begin <= strokes["retransmission"].x[0] <= end
    (acked,) = [c for c in whole.curves if c.label == "acknowledged"]
    assert np.all(np.diff(acked.y) >= 0)


def test_rates_of_a_capture_are_drawn_over_few_windows_without_loss_of_packets(tmp_path: Path) -> None:
    capture = captured(tmp_path, "4 s")
    io, goodput = (next(p for p in pictures(capture) if p.name == name) for name in ("io-graph", "goodput"))
    row = talkers(capture).row(0, named=True)
    mine = (pl.col("flow") == row["flow"]) & (pl.col("direction") == row["direction"])
    new = capture.series.filter(mine)["new_bytes"]
    assert capture.total.height > WINDOWS
    for picture, sums in (
        (io, [capture.total["packets"].sum(), capture.series["errors"].sum()]),
        (goodput, [float(new.sum()) * 8e-6]),
    ):
        (panel,) = picture.panels
        for curve, total in zip(panel.curves, sums, strict=True):
            (step,) = {round(d, 9) for d in np.diff(curve.x)}
            assert len(curve.x) <= WINDOWS
            assert curve.y.sum() * step == pytest.approx(total)
            assert f"windows of {step:.3g} s" in picture.small_print
    # On this link of 10 Mbit/s a window of single packets showed more than 20 Mbit/s. It carries 17 segments
    # in 20 ms; 19 may leave, on Linux too.
    assert goodput.panels[0].curves[0].y[20:].max() < 12


def test_every_timeout_of_a_capture_is_drawn(tmp_path: Path) -> None:
    link = {"rate": "5 Mbit/s", "delay": "18 ms", "outages": [{"at": "3 s", "for": "5 s"}]}
    capture = captured(
        tmp_path, "10 s", flows=[{"name": "tcp", "variant": "reno", "stack": "rfc"}], network__bottleneck=link
    )
    row = talkers(capture).row(0, named=True)
    picture = next(p for p in pictures(capture) if p.name.startswith("inflight"))
    (panel,) = picture.panels
    drawn = [c for c in panel.curves if c.label == "timeout"]
    assert sum(len(c.x) for c in drawn) == row["timeouts"] >= 2
    assert AFTER_TIMEOUT in {span.label for span in panel.spans}
    assert capture.series["timeouts"].sum() == row["timeouts"]


def test_the_receive_window_bounds_the_segments(tmp_path: Path) -> None:
    flow = {"name": "tcp", "variant": "cubic", "stack": {"preset": "linux", "window": "20 packets"}}
    link = {"rate": "10 Mbit/s", "delay": "18 ms"}
    capture = captured(tmp_path, "2 s", flows=[flow], network__bottleneck=link)
    row = talkers(capture).row(0, named=True)
    whole, _ = sequence(capture, row, "window").panels
    (edge,) = [c for c in whole.curves if c.label == "end of the receive window"]
    (sent,) = [c for c in whole.curves if c.label == "segment sent"]
    assert sent.high is not None
    place = np.searchsorted(edge.x, sent.x, side="right") - 1
    known = place >= 0
    assert np.all(sent.high[known] <= edge.y[place[known]] + 1e-9)
    # The flow is limited by the receiver: its segments reach the edge.
    assert np.min(edge.y[place[known]] - sent.high[known]) < 1.5


def test_a_large_capture_is_drawn_from_its_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.capture.sequence.MOST", 10)
    capture = captured(tmp_path, "2 s")
    row = talkers(capture).row(0, named=True)
    picture = sequence(capture, row, "large")
    assert "new data of" in picture.reading
    (sent,) = [c for c in picture.panels[0].curves if c.label == "segment sent"]
    assert sent.high is not None
    assert sent.high.max() * 1e3 == capture.series.filter(direction=row["direction"])["seq_high"].max()
    assert capture._packets is None, "the files are not read again"
