"""Figures of runs over time: their curves and units; every event has a mark."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.exceptions import ResultsError
from dumbbell.plots import Curve, Picture, look
from dumbbell.plots.catalog import make
from dumbbell.plots.downsample import merged, summary_of_steps
from dumbbell.plots.flows_over_time import AFTER_TIMEOUT, flow_looks
from dumbbell.plots.phase_bands import HATCHES
from dumbbell.plots.time_sequence import unwrapped
from figures_drawn import drawn

NETWORK = """
name = "figures"
duration = "10 s"
[network]
topology = "dumbbell"
access = { rate = "100 Mbit/s", delay = "1 ms" }
"""
BOTTLENECK = 'rate = "10 Mbit/s", delay = "18 ms"'


def results_of(flows: str, more: str = "", queue: str = '{ discipline = "droptail", limit = "1 bdp" }') -> Results:
    text = f"{NETWORK}bottleneck = {{ {BOTTLENECK}, queue = {queue}{more} }}\n{flows}"
    return dumbbell.run(Scenario.from_toml(text))


def flow(name: str, variant: str, *, more: str = "") -> str:
    return f'[[flows]]\nname = "{name}"\nvariant = "{variant}"\n{more}\n'


SERIES = "[trace]\nseries = true\n"
PACKETS = "[trace]\nseries = true\npackets = true\n"


@pytest.fixture(scope="module")
def outage() -> Results:
    """A flow whose path is cut for seconds: several timeouts in a row, without an ACK between them."""
    return results_of(flow("tcp", "reno") + SERIES, more=', outages = [{ at = "3 s", for = "3 s" }]')


@pytest.fixture(scope="module")
def two() -> Results:
    return results_of(flow("a", "cubic") + flow("b", "bbr", more='start = "2 s"') + SERIES)


@pytest.fixture(scope="module")
def packets() -> Results:
    return results_of(flow("tcp", "cubic") + PACKETS, more=', loss = { model = "bernoulli", mean = "0.5 %" }')


def curves(picture: Picture, label: str) -> list[Curve]:
    return [c for panel in picture.panels for c in panel.curves if c.label == label]


def legend(picture: Picture) -> list[tuple[str, str]]:
    """Every entry of the legend, and its sort: the same words must not name two."""
    events = {(c.label, "curve") for panel in picture.panels for c in panel.curves}
    return sorted(events | {(s.label, "span") for panel in picture.panels for s in panel.spans})


# ------------------------------------------------------------ congestion window


def test_every_timeout_is_drawn(outage: Results) -> None:
    picture = outage.plot.cwnd().picture
    (drawn,) = curves(picture, "timeout")
    assert len(drawn.x) == outage.flows["timeouts"][0] >= 2
    inside = [span for span in picture.panels[0].spans if span.label == AFTER_TIMEOUT]
    # Timeouts in a row are one phase: marking the beginnings of phases loses some of them.
    assert len(inside) < len(drawn.x)
    assert all(any(s.begin <= t <= s.end for s in inside) for t in drawn.x)


def test_timeouts_and_losses_differ_and_the_band_is_in_the_legend(outage: Results) -> None:
    picture = outage.plot.cwnd().picture
    looks = {label: look(curves(picture, label)[0].look) for label in ("timeout", "packet lost")}
    assert looks["timeout"].marker != looks["packet lost"].marker
    assert looks["timeout"].color != looks["packet lost"].color
    entries = legend(picture)
    assert (AFTER_TIMEOUT, "span") in entries
    assert ("timeout", "curve") in entries
    words = [word for word, _ in entries]
    assert len(set(words)) == len(words)


def test_the_drawing_has_a_marker_for_each_event_and_a_hatch_for_each_phase(outage: Results) -> None:
    figure = drawn(outage.plot.cwnd().picture)
    (table,) = figure.legends
    shown = {text.get_text(): handle for text, handle in zip(table.get_texts(), table.legend_handles, strict=True)}
    assert shown["timeout"].get_marker() == "v"  # type: ignore[union-attr]
    assert shown["packet lost"].get_marker() == "x"  # type: ignore[union-attr]
    assert shown[AFTER_TIMEOUT].get_hatch() == HATCHES["timeout"]  # type: ignore[union-attr]


def test_windows_are_in_segments_in_every_form(outage: Results, two: Results) -> None:
    for results in (outage, two):
        picture = results.plot.cwnd().picture
        assert picture.panels[0].y_label == "cwnd, segments"
        for row in results.runs[0].flows:
            table = results.table(0, f"flow/{row['name']}")
            drawn = next(c for c in picture.panels[0].curves if c.label == "cwnd" or c.label.startswith(row["name"]))
            assert row["snd_mss_bytes"] == 1448
            assert drawn.y == pytest.approx(table["cwnd"].to_numpy() / 1448)
    assert two.plot.inflight().picture.panels[0].y_label == "in flight, segments"


def test_several_flows_have_a_strip_of_phases_each(two: Results) -> None:
    picture = two.plot.cwnd().picture
    above, strips = picture.panels
    assert len(above.curves) == 2
    assert strips.strips == ["a (cubic)", "b (bbr1)"]
    for row, name in enumerate("ab"):
        spans = [s for s in strips.spans if s.strip == row]
        assert all(first.end == then.begin for first, then in pairwise(spans))
        record = two.runs[0].flows[row]
        for label, column in (("packet lost", "dropped_packets"), ("timeout", "timeouts")):
            drawn = [int((c.y == row).sum()) for c in strips.curves if c.label == label]
            assert sum(drawn) == record[column], (name, label)
    assert {"slow start", "startup"} <= {s.label for s in strips.spans}


def test_losses_are_those_of_the_flow(two: Results) -> None:
    for row in two.runs[0].flows:
        drawn = curves(two.plot.cwnd(flow=[row["name"]]).picture, "packet lost")
        assert sum(len(c.x) for c in drawn) == row["dropped_packets"]


def test_flows_of_one_variant_have_looks_of_their_own() -> None:
    results = results_of("".join(flow(f"f{k}", "cubic") for k in range(6)) + SERIES)
    looks = flow_looks(results.runs[0], [f"f{k}" for k in range(6)])
    assert len({(one.color, one.dash) for one in looks.values()}) == 6
    assert looks["f0"] == look("cubic")


def test_many_flows_are_limited_and_the_figure_notes_it() -> None:
    results = results_of("".join(flow(f"f{k}", "reno") for k in range(15)) + SERIES)
    picture = results.plot.cwnd().picture
    assert len(picture.panels[0].curves) == 12
    assert "12 of 15 flows" in picture.reading
    assert len(results.plot.cwnd(flow=[f"f{k}" for k in range(15)]).picture.panels[0].curves) == 15


def test_results_without_the_size_of_a_segment_are_refused(two: Results) -> None:
    from dumbbell.plots.flows_over_time import in_segments

    run = two.runs[0]
    old = type(run)(**{**vars(run), "flows": [{k: v for k, v in run.flows[0].items() if k != "snd_mss_bytes"}]})
    with pytest.raises(ResultsError, match="earlier version"):
        in_segments(old, "a", [1448.0])


# ------------------------------------------------------------ rates and round trips


def test_titles_name_what_is_drawn(two: Results) -> None:
    samples, smoothed = two.plot.rtt().picture, two.plot.srtt().picture
    assert (samples.panels[0].y_label, smoothed.panels[0].y_label) == ("RTT, ms", "srtt, ms")
    assert samples.title.startswith("RTT of each packet")
    assert smoothed.title.startswith("Smoothed RTT (srtt)")
    for picture in (samples, smoothed):
        (idle,) = curves(picture, "RTT of the idle path")
        assert idle.y == pytest.approx(two.flows["idle_rtt_ms"][0], abs=0.01)


def test_goodput_over_time_stays_below_the_rate_of_the_link() -> None:
    # Head-of-line release: after each repair the bytes behind the hole become readable at one instant.
    flows = "".join(flow(f"f{k}", "cubic") for k in range(4))
    results = results_of(flows + SERIES, queue='{ discipline = "red", limit = "2 bdp", mean_packet = "1500 bytes" }')
    picture = results.plot.goodput(window_s=0.5).picture
    (total,) = curves(picture, "total")
    (limit,) = curves(picture, "mean rate of r1->r2")
    assert limit.y == pytest.approx(10.0)
    # Payload is 1448 of 1500 bytes. Rows are written when ACKs reach the sender, so a window may also count three
    # packets of each flow that arrived before it.
    assert total.y.max() <= 10.0 * 1448 / 1500 + 4 * 3 * 1448 * 8e-6 / 0.5 < 10.0
    assert total.y.max() > 9.0
    assert "no spike" in picture.reading
    # The bytes that are readable in order jump: the figure draws those that have arrived.
    table = results.table(0, "flow/f0")
    assert np.all(table["delivered"].to_numpy() >= table["delivered_in_order"].to_numpy())


# ------------------------------------------------------------ queues


def test_the_backlog_is_a_mean_between_its_extremes(two: Results) -> None:
    picture = two.plot.queue().picture
    above, below = picture.panels
    assert (above.y_label, above.title) == ("backlog, packets", "")
    (curve,) = above.curves
    assert curve.low is not None
    assert curve.high is not None
    assert np.all((curve.low <= curve.y) & (curve.y <= curve.high))
    table = two.table(0, "queue/r1->r2")
    assert np.nanmax(curve.high) == table["packets"].max()
    record = next(row for row in two.runs[0].queues if row["name"] == "r1->r2")
    assert np.nanmean(curve.y) == pytest.approx(record["mean_backlog_packets"], rel=0.01)
    # Drops are a rate with an axis of its own: its sum over time is the number of drops.
    (rate,) = below.curves
    assert "packets/s" in below.y_label
    assert rate.y.sum() * (rate.x[1] - rate.x[0]) == pytest.approx(record["drops"])
    assert record["drops"] > 0


def test_several_queues_and_the_average_of_red() -> None:
    results = results_of(flow("a", "cubic") + SERIES, queue='{ discipline = "red", limit = "2 bdp" }')
    picture = results.plot.queue(queue=["r1->r2"]).picture
    assert "avg of RED" in [c.label for c in picture.panels[0].curves]
    names = ["r1->r2", "r2->r1", "s1->r1"]
    panels = results.plot.queue(queue=names).picture.panels
    assert [p.title for p in panels] == [*names, "Drops"]
    looks = [look(p.curves[0].look).color for p in panels[:3]]
    assert len(set(looks)) == 3


def test_a_step_function_in_windows() -> None:
    # 2 from 1 s, 6 from 1.5 s, 4 from 3 s. Window 1..2: half 2, half 6; 2..3: 6; 3..4: 4.
    mean, low, high = summary_of_steps([1, 1.5, 3], [2, 6, 4], [0, 1, 2, 3, 4])
    assert np.isnan([mean[0], low[0], high[0]]).all()
    assert mean[1:].tolist() == [4, 6, 4]
    assert low[1:].tolist() == [2, 6, 4]
    assert high[1:].tolist() == [6, 6, 4]


# ------------------------------------------------------------ time-sequence graph


def test_every_segment_is_a_stroke(packets: Results) -> None:
    picture = packets.plot.sequence().picture
    record = packets.runs[0].flows[0]
    whole, zoomed = picture.panels
    sent = next(c for c in whole.curves if c.label == "segment sent")
    again = next(c for c in whole.curves if c.label == "retransmission" and c.kind == "segments")
    assert len(again.x) == record["retransmitted_packets"] > 0
    assert len(sent.x) + len(again.x) == record["sent_packets"]
    assert sent.low is not None
    assert sent.high is not None
    assert np.all(sent.high - sent.low <= 1.448 + 1e-9)
    (lost,) = [c for c in whole.curves if c.label == "packet lost"]
    assert len(lost.x) == record["dropped_packets"]
    # The second panel has the first loss and the retransmission that repairs it.
    begin, end = zoomed.x_range or (0.0, 0.0)
    assert begin <= lost.x[0] < again.x[0] <= end
    assert any(c.label == "received beyond a hole" for c in zoomed.curves)
    assert f"{min(lost.x[0], again.x[0]):.4g} s" in zoomed.title


def test_acks_stay_below_the_segments(packets: Results) -> None:
    (acked, *_) = curves(packets.plot.sequence().picture, "acknowledged")
    (sent, *_) = curves(packets.plot.sequence().picture, "segment sent")
    assert sent.high is not None
    place = np.searchsorted(sent.x, acked.x, side="right") - 1
    known = place >= 0
    assert np.all(acked.y[known] <= np.maximum.accumulate(sent.high)[place[known]] + 1e-9)


def test_a_run_without_packets_has_strokes_from_its_series(two: Results) -> None:
    picture = two.plot.sequence(flow=["a"]).picture
    assert "trace.packets" in picture.reading
    (sent, *_) = curves(picture, "segment sent")
    assert sent.high is not None
    assert sent.high[-1] == pytest.approx(two.table(0, "flow/a")["snd_nxt"].to_numpy().max() * 1e-3)
    assert "Around the first loss" in picture.panels[1].title


def test_strokes_of_a_column_are_merged() -> None:
    x = np.arange(10.0)
    across, low, high = merged(x, x, x + 2, columns=3)
    # Columns of 3 s: 0..2, 3..5, 6..9.
    assert across.tolist() == [0, 3, 6]
    assert low.tolist() == [0, 3, 6]
    assert high.tolist() == [4, 7, 11]
    few = merged(x, x, x + 2, columns=10)
    assert few[0].tolist() == x.tolist()


def test_sequence_numbers_continue_after_wrapping() -> None:
    assert unwrapped([2**32 - 1448, 0, 1448, 0]).tolist() == [2**32 - 1448, 2**32, 2**32 + 1448, 2**32]
    assert unwrapped(pl.Series([], dtype=pl.UInt32)).size == 0


# ------------------------------------------------------------ comparisons over time


@pytest.fixture(scope="module")
def swept() -> Results:
    sweep = '[sweep]\n"flows.tcp.variant" = ["reno", "cubic", "vegas"]\n'
    return results_of(flow("tcp", "reno") + SERIES + sweep)


def test_a_timelapse_has_a_row_for_each_cell_with_the_same_axes(swept: Results) -> None:
    picture = swept.plot.timelapse().picture
    assert picture.columns == 2
    left, right = picture.panels[0::2], picture.panels[1::2]
    assert [p.title for p in left] == ["tcp.variant reno", "tcp.variant cubic", "tcp.variant vegas"]
    assert "Repetition 0" in picture.small_print
    assert "Shaded" in picture.small_print
    assert {p.title for p in right} == {"r1->r2"}
    for column, label in ((left, "cwnd, segments"), (right, "backlog, packets")):
        assert {p.y_label for p in column} == {label}
        assert len({(p.y_top, p.x_range) for p in column}) == 1
    largest = max(float(swept.table(run, "flow/tcp")["cwnd"].to_numpy().max()) / 1448 for run in range(3))
    assert left[0].y_top == pytest.approx(1.05 * largest)
    assert len(swept.plot.timelapse(where={"variant": "cubic"}, metric="goodput").picture.panels) == 2
    with pytest.raises(ResultsError, match="did you mean 'cubic'"):
        swept.plot.timelapse(where={"variant": "cubik"})
    with pytest.raises(ResultsError, match="did you mean 'cwnd'"):
        swept.plot.timelapse(metric="cwdn")


def test_the_rows_of_a_timelapse_are_in_the_order_of_the_numbers() -> None:
    sweep = '[sweep]\n"network.bottleneck.delay" = ["5 ms", "20 ms", "10 ms"]\n'
    picture = results_of(flow("tcp", "reno") + SERIES + sweep).plot.timelapse().picture
    assert [p.title for p in picture.panels[0::2]] == [f"bottleneck.delay {n} ms" for n in (5, 10, 20)]


def test_the_time_axis_ends_with_the_last_transfer() -> None:
    transfer = 'application = { kind = "transfer", size = "500 kB" }'
    done = results_of(flow("tcp", "cubic", more=transfer) + SERIES)
    (end,) = done.flows["stop_s"]
    assert end < 0.5 * done.scenario.duration.seconds
    for kind in ("cwnd", "inflight", "rtt", "goodput", "queue", "timelapse"):
        picture = make(done, kind)
        assert {panel.x_range for panel in picture.panels} == {(0.0, end)}, kind


def test_the_small_print_explains_marks_and_windows(two: Results) -> None:
    queue, shares = two.plot.queue().picture, two.plot.fairness(window_s=1.0).picture
    assert "shaded" in queue.small_print
    assert queue.panels[-1].y_label == "packets/s"
    assert "Drops are counted in windows of" in queue.small_print
    assert "Windows of 1 s" in shares.small_print


def test_a_timelapse_of_one_cell_has_a_row_for_each_flow(two: Results) -> None:
    panels = two.plot.timelapse().picture.panels
    assert [p.title for p in panels[0::2]] == ["a: cubic", "b: bbr1"]
    assert all(p.y_label.startswith("goodput") for p in panels[1::2])


def test_fairness_over_time_is_that_of_the_active_flows(two: Results) -> None:
    shares, index = two.plot.fairness(window_s=1.0).picture.panels
    a, b, fair = (next(c for c in shares.curves if c.label.startswith(name)) for name in ("a", "b", "equal"))
    late = a.x > two.flows["start_s"][1] + 1.0
    # The second flow has no share before it is active, and no index exists for a single flow.
    assert np.isnan(b.y[~late]).all()
    assert np.isnan(index.curves[0].y[~late]).all()
    start = two.flows["start_s"][1]
    assert np.all(a.y[(a.x < start) & ~np.isnan(a.y)] == pytest.approx(100.0))
    # While the second flow starts, its bytes belong to the total, although it has no share of its own yet.
    begins = a.y[(a.x > start + 0.3) & ~late]
    assert begins.size > 2
    assert (begins < 100).all()
    both = late & ~np.isnan(a.y)
    assert (a.y + b.y)[both] == pytest.approx(100.0)
    assert fair.y[both] == pytest.approx(50.0)
    # Jain's index of two shares p and 1 - p is 1 / (2 (p^2 + (1 - p)^2)).
    p = a.y[both] / 100
    assert index.curves[0].y[both] == pytest.approx(1 / (2 * (p**2 + (1 - p) ** 2)))
    # The windows slide: they overlap.
    assert np.diff(a.x) == pytest.approx(0.1)


def test_fairness_needs_two_flows(outage: Results) -> None:
    with pytest.raises(ResultsError, match="at least two flows"):
        outage.plot.fairness()
