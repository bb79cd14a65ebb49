"""Figures over cells: their curves for given runs; any runs give a figure with curves or an error of one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dumbbell import DumbbellError, Results, Scenario
from dumbbell.cli.plot import OVER_RUNS, OVER_TIME
from dumbbell.plots import Curve, Panel, Picture
from dumbbell.plots.axis_values import AxisValues
from dumbbell.plots.catalog import KINDS, make
from dumbbell.plots.ellipse import ellipse_of, is_slit
from dumbbell.plots.interactive import page
from dumbbell.plots.layout import Layout
from dumbbell.plots.size import SCREEN
from dumbbell.plots.style import look
from dumbbell.report.reading import extremes
from dumbbell.results import Run
from figures_drawn import drawn
from scenario_texts import BASE

SCENARIO = Scenario.from_toml(BASE, {"name": "made up", "seed": 1, "flows": [{"name": "a", "variant": "reno"}]})
AXES = {"variant": "flows.a.variant", **{key: f"network.bottleneck.{key}" for key in ("rate", "delay", "queue")}}
CELLS = [kind for kind, of in KINDS.items() if "where" in of.options and "window_s" not in of.options]


def flow(name: str, goodput: float | None, **more: Any) -> dict[str, Any]:
    return {"name": name, "variant": "reno", "application": "bulk", "goodput_bps": goodput, **more}


def queue(sojourn: float | None, utilization: float = 0.9) -> dict[str, Any]:
    return {
        "name": "r1->r2", "discipline": "droptail", "mean_sojourn_ms": sojourn, "utilization": utilization,
        "mean_backlog_bytes": 5.0,
    }  # fmt: skip


def results_of(runs: list[tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]]) -> Results:
    """Make results of (cell, flows, queues); runs of one cell are its repetitions."""
    made: list[Run] = []
    for index, (cell, flows, queues) in enumerate(runs):
        repetition = sum(run.cell == cell for run in made)
        made.append(Run(index, f"{index:024}", cell, repetition, repetition + 1, flows, queues, []))
    return Results(SCENARIO, made)


def sweep(cells: list[dict[str, Any]], repetitions: int, seed: int = 1) -> Results:
    """Make a sweep with a flow 'a', goodput 1 to 9 Mbit/s and delays of 1 to 30 ms."""
    random = np.random.default_rng(seed)
    runs = []
    for cell in cells:
        for _ in range(repetitions):
            variant = str(cell.get("flows.a.variant", "reno"))
            row = flow("a", float(random.uniform(1e6, 9e6))) | {"variant": {"bbr": "bbr1"}.get(variant, variant)}
            runs.append((cell, [row], [queue(float(random.uniform(1, 30)))]))
    return results_of(runs)


def cells_of(**values: Iterable[str]) -> list[dict[str, Any]]:
    """Return each combination of the values on some axes; those of the last axis change first."""
    return [dict(zip([AXES[key] for key in values], chosen, strict=True)) for chosen in product(*values.values())]


def labels(picture: Picture, panel: int = 0) -> list[str]:
    return list(dict.fromkeys(curve.label for curve in picture.panels[panel].curves))


# ------------------------------------------------------------ axes


def test_numbers_are_ordered_by_size_and_converted() -> None:
    axis = AxisValues.of(["12 Mbit/s", "2 Mbit/s", "500 kbit/s"])
    assert list(axis.words) == ["500 kbit/s", "2 Mbit/s", "12 Mbit/s"]
    assert axis.places == pytest.approx({"500 kbit/s": 0.5, "2 Mbit/s": 2.0, "12 Mbit/s": 12.0})
    assert (axis.numeric, axis.unit, axis.label("rate")) == (True, "Mbit/s", "rate, Mbit/s")


@pytest.mark.parametrize(
    ("words", "log"),
    [
        (["1 ms", "10 ms", "100 ms"], True),
        (["2 Mbit/s", "4 Mbit/s", "12 Mbit/s", "40 Mbit/s"], True),
        (["1", "2", "5", "10", "20", "50"], True),
        (["10", "20", "30", "40", "50", "60"], False),
        (["1", "100"], False),
        (["0", "10", "100"], False),
        (["10 ms", "11 ms", "12.1 ms"], False),
    ],
)
def test_an_axis_is_logarithmic_where_values_grow_by_a_factor(words: list[str], log: bool) -> None:
    assert AxisValues.of(words).log is log


MIXED = [["cubic", "2 Mbit/s"], ["1 bdp", "20 packets"], ["1 s", "1 Mbit/s"], ["nan", "1"]]


@pytest.mark.parametrize("words", [*MIXED, ["1 s", "1000 ms"]])
def test_words_and_mixed_units_keep_the_order_of_the_sweep(words: list[str]) -> None:
    axis = AxisValues.of(words)
    assert not axis.numeric
    assert list(axis.words) == words


# ------------------------------------------------------------ lines


def test_lines_join_numbers_by_size() -> None:
    cells = cells_of(rate=("12 Mbit/s", "2 Mbit/s", "40 Mbit/s", "4 Mbit/s"))
    (panel,) = make(sweep(cells, 5), "lines").panels
    (curve,) = panel.curves
    assert curve.kind == "line"
    assert curve.x.tolist() == [2, 4, 12, 40]
    assert panel.x_log
    assert list(panel.x_ticks) == [2, 4, 12, 40]
    assert panel.x_label == "bottleneck.rate, Mbit/s"


def test_nothing_joins_words() -> None:
    cells = cells_of(queue=("droptail", "codel", "pie"))
    (panel,) = make(sweep(cells, 5), "lines").panels
    assert list(panel.categories) == ["droptail", "codel", "pie"]
    assert {curve.kind for curve in panel.curves} == {"points"}
    assert all(curve.low is not None and not np.isnan(curve.low).any() for curve in panel.curves)


def test_the_number_is_across_and_the_variant_has_the_curves() -> None:
    cells = cells_of(variant=("reno", "vegas"), rate=("9 Mbit/s", "4 Mbit/s"))
    picture = make(sweep(cells, 3), "lines")
    assert picture.panels[0].x_label == "bottleneck.rate, Mbit/s"
    assert labels(picture) == ["reno", "vegas"]


def test_the_title_names_the_interval_and_n() -> None:
    cells = cells_of(rate=("1 Mbit/s", "2 Mbit/s"))
    assert make(sweep(cells, 5), "lines").title.endswith(
        "median and its 93.75 % interval, n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}5"
    )
    assert make(sweep(cells, 1), "lines").title.endswith("one run each (n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}1)")


def test_cells_are_never_pooled() -> None:
    # Three swept paths: two in each panel, the third has panels of its own.
    cells = cells_of(variant=("reno", "vegas"), rate=("1 Mbit/s", "2 Mbit/s"), delay=("30 ms", "4 ms"))
    results = sweep(cells, 3)
    for kind in ("lines", "bars", "box", "heatmap", "cdf", "plane"):
        picture = make(results, kind)
        if kind == "heatmap":
            count = sum(panel.grid.values.size for panel in picture.panels if panel.grid is not None)
        elif kind == "cdf":
            count = sum(len(labels(picture, n)) for n in range(len(picture.panels)))
            assert count == 8
            continue
        else:
            shown = {"lines": "line", "plane": "line", "bars": "bars", "box": "box"}[kind]
            count = sum(curve.x.size for panel in picture.panels for curve in panel.curves if curve.kind == shown)
        assert count == 8, kind
        assert "n = 3" in picture.title.replace("\N{NO-BREAK SPACE}", " "), kind


def test_too_many_panels_name_the_option_that_helps() -> None:
    delays = [f"{n} ms" for n in range(1, 14)]
    cells = cells_of(variant=("reno", "vegas"), rate=("1 Mbit/s", "2 Mbit/s"), delay=delays)
    results = sweep(cells, 1)
    with pytest.raises(DumbbellError, match=r"13 panels would be needed, for each value of 'bottleneck\.delay'"):
        make(results, "lines", x="rate", by="variant")
    assert len(make(results, "lines", x="rate", by="variant", where={"delay": "3 ms"}).panels) == 1
    with pytest.raises(DumbbellError, match="did you mean '13 ms'"):
        make(results, "lines", where={"delay": "133 ms"})


# ------------------------------------------------------------ boxes


def test_a_box_is_at_the_label_of_its_name() -> None:
    # The alias bbr and the variant bbr1: a column of variants is determined by the swept path and adds nothing.
    cells = cells_of(variant=("bbr", "bbr1"))
    (panel,) = make(sweep(cells, 5), "box").panels
    assert list(panel.categories) == ["bbr", "bbr1"]
    (curve,) = panel.curves
    assert curve.x.tolist() == [0, 1]


def test_bbr_and_bbr1_look_different_where_both_are_curves() -> None:
    cells = cells_of(variant=("bbr", "bbr1"))
    for kind in ("cdf", "ellipse"):
        picture = make(sweep(cells, 6), kind)
        shown = {curve.label: look(curve.look) for curve in picture.panels[0].curves}
        assert set(shown) == {"bbr", "bbr1"}
        assert shown["bbr"].marker != shown["bbr1"].marker


def test_few_runs_are_explained() -> None:
    cells = cells_of(variant=("reno", "vegas"))
    assert "no box" in make(sweep(cells, 3), "box").note
    assert "no box" not in make(sweep(cells, 30), "box").note


# ------------------------------------------------------------ distributions


def test_few_values_are_marked_and_every_curve_has_its_dash() -> None:
    cells = cells_of(variant=("tahoe", "reno", "newreno", "sack", "vegas", "cubic", "bbr", "bbr1"))
    curves = make(sweep(cells, 5), "cdf").panels[0].curves
    steps, points = ([c for c in curves if c.kind == kind] for kind in ("steps", "points"))
    assert len({look(c.look).dash for c in steps}) == 8
    assert [c.x.size for c in points] == [5] * 8
    assert all(c.y[0] == 0 and c.y[-1] == 1 for c in steps)
    many = make(sweep(cells, 30), "cdf").panels[0].curves
    assert {c.kind for c in many} == {"steps"}


def test_single_transfers_have_a_distribution() -> None:
    results = sweep([{}], 2)
    for run in results.runs:
        run.transfers.extend({"flow": "a", "kind": "transfer", "took_s": float(k)} for k in range(1, 4))
    picture = make(results, "cdf", metric="took_s")
    (panel,) = picture.panels
    assert (panel.x_label, panel.y_label) == ("took, s", "share of transfers")
    assert panel.curves[0].x.tolist() == [1, 1, 1, 2, 2, 3, 3]
    # Means per run where runs are compared: transfers of one run are not repetitions.
    (bar,) = make(results, "bars", metric="took_s").panels[0].curves
    assert bar.dots is not None
    assert bar.dots.tolist() == [[2, 2]]


@pytest.mark.parametrize("metric", ["application", "variant", "seed", "nonsense"])
def test_what_is_no_metric_is_refused(metric: str) -> None:
    with pytest.raises(DumbbellError, match="metric"):
        make(sweep([{}], 2), "cdf", metric=metric)


# ------------------------------------------------------------ the plane of throughput and delay


def clouds(points: dict[str, list[tuple[float, float]]]) -> Results:
    """Make runs with given delays (ms) and goodputs (Mbit/s) by variant."""
    return results_of([({"flows.a.variant": v}, [flow("a", y * 1e6)], [queue(x)]) for v, ps in points.items() for x, y in ps])  # noqa: E501 # fmt: skip


def outlines(picture: Picture) -> dict[str, bool]:
    """Return by label if the outline is an ellipse (True) or a cross."""
    return {c.label: not bool(np.isnan(c.x).any()) for c in picture.panels[0].curves if c.kind == "outline"}


def test_an_ellipse_needs_a_cloud() -> None:
    cloud = [(10.0, 5.0), (12, 5.5), (11, 6), (9, 5.2), (10.5, 4.6), (11.5, 5.1)]
    picture = make(
        clouds({
            "reno": cloud,
            "vegas": cloud[:4],
            "cubic": [(x, 3.0) for x, _ in cloud],
            "tahoe": [(1.0, 1.0)] * 6,
            "sack": [(x, x / 2) for x, _ in cloud],
            "bbr1": [(20.0, 8.0)],
        }),
        "ellipse",
    )  # fmt: skip
    assert outlines(picture) == {"reno": True, "vegas": False, "cubic": False, "tahoe": False, "sack": False}
    assert set(labels(picture)) == {"reno", "vegas", "cubic", "tahoe", "sack", "bbr1"}
    assert "cross" in picture.note
    assert "39 %" in picture.note


def test_the_plane_has_its_better_corner_at_the_upper_right() -> None:
    (panel,) = make(clouds({"reno": [(10, 5), (20, 3)]}), "ellipse").panels
    assert panel.x_reversed
    assert panel.better
    assert not make(results_of([({}, [flow("a", 1e6, rtt_p95_ms=9.0)], [queue(2.0)])]), "ellipse", metric="rtt_p95_ms").panels[0].better  # noqa: E501 # fmt: skip


def test_flows_of_a_single_cell_have_their_names_on_the_axis() -> None:
    results = results_of([({}, [flow("a", 2e6), flow("b", 8e6)], [queue(5.0)])])
    for by in (None, "name"):
        picture = make(results, "bars", by=by)
        (panel,) = picture.panels
        assert panel.categories == ["a", "b"]
        assert panel.x_label == "flow"
        assert [v for curve in panel.curves for v in curve.y] == [2.0, 8.0]
        assert extremes(picture) in {"", "Highest: 8.00 Mbit/s (b); lowest: 2.00 Mbit/s (a)."}
        assert not picture.note  # a single run has neither dots nor an interval


def test_a_total_of_staggered_flows_is_the_rate_of_all_their_bytes() -> None:
    # 8 Mbit/s for 10 s and 6 Mbit/s for the last 5 s: 110 Mbit in 10 s. The plain sum is 14 Mbit/s.
    rows = [flow("a", 8e6, start_s=0.0, stop_s=10.0), flow("b", 6e6, start_s=5.0, stop_s=10.0)]
    runs = [({"flows.a.variant": v}, rows, [queue(5.0)]) for v in ("reno", "vegas")]
    for kind in ("ellipse", "plane"):
        (panel,) = make(results_of(runs), kind).panels
        assert panel.y_label == "total goodput, Mbit/s"
        assert all(curve.y == pytest.approx(11.0) for curve in panel.curves)


def test_a_title_of_the_lower_panel_leaves_no_empty_band_above() -> None:
    line = Curve("a", look("reno"), np.arange(3.0), np.arange(3.0))
    upper, lower = (Panel(title, "time, s", "y", [line]) for title in ("", "Phases"))
    one, both = (
        Layout.of(Picture("p", "title", "", panels), SCREEN, ["a", "b"], bare=False)
        for panels in ([upper], [upper, lower])
    )
    assert both.top == one.top
    assert both.down > 0.8


def test_the_arrow_to_the_better_corner_covers_no_cell() -> None:
    (ax,) = drawn(make(clouds({"reno": [(30, 5), (29, 6)], "bbr": [(1, 9), (2, 8)]}), "ellipse")).axes
    assert ax.get_title(loc="right").startswith("better")
    assert not ax.texts  # no words within the axes


def test_an_ellipse_of_half_the_runs_holds_half_of_them() -> None:
    random = np.random.default_rng(3)
    x, y = random.multivariate_normal([10, 5e6], [[4, 1e6], [1e6, 9e11]], 101).T
    line = ellipse_of(x, y, share=0.5)
    assert line is not None
    # The ellipse in the frame in which it is a circle: by the affine map of its own points.
    points = np.stack(line)[:, :-1]
    center = points.mean(axis=1, keepdims=True)
    whiten = np.linalg.inv(np.linalg.cholesky(np.cov(points - center)))
    radius = np.hypot(*(whiten @ (points - center))).max()
    inside = np.hypot(*(whiten @ (np.stack([x, y]) - center))) <= radius * (1 + 1e-9)
    assert inside.sum() == 51


def test_a_slit_is_relative_to_the_panel() -> None:
    circle = ellipse_of([1, 2, 1, 2, 1.5, 1.4], [1, 1, 2, 2, 1.5, 1.6])
    assert circle is not None
    assert not is_slit(circle, 2, 2)
    assert is_slit(circle, 2, 2000)
    assert is_slit(circle, 0, 1)


def test_a_sweep_is_a_path_with_its_parameters() -> None:
    cells = cells_of(variant=("reno", "vegas"), rate=("12 Mbit/s", "3 Mbit/s", "6 Mbit/s"))
    picture = make(sweep(cells, 6), "plane")
    paths = [c for c in picture.panels[0].curves if c.kind == "line"]
    assert [(c.label, list(c.texts)) for c in paths] == [("reno", ["3", "6", "12"]), ("vegas", ["3", "6", "12"])]
    assert len([c for c in picture.panels[0].curves if c.kind == "outline"]) == 6
    assert "bottleneck.rate, Mbit/s" in picture.note
    words = cells_of(queue=("droptail", "codel"))
    (panel,) = make(sweep(words, 6), "plane").panels
    assert "line" not in {c.kind for c in panel.curves}  # words have no path


def test_flows_add_up_to_the_total() -> None:
    runs = [({"flows.a.variant": v}, [flow("a", 2e6), flow("b", 3e6)], [queue(5.0)]) for v in ("reno", "vegas")]
    results = results_of(runs)
    (panel,) = make(results, "ellipse").panels
    assert panel.y_label == "total goodput, Mbit/s"
    assert {float(y) for c in panel.curves for y in c.y} == {5.0}
    (each,) = make(results, "ellipse", by="name", where={"a.variant": "reno"}).panels
    assert {float(y) for c in each.curves for y in c.y} == {2.0, 3.0}


# ------------------------------------------------------------ anything


def test_words_in_cells_have_contrast() -> None:
    from dumbbell.plots.bars_and_boxes import MIDDLE
    from dumbbell.plots.web.colors import luminance

    for gray in np.linspace(0, 1, 21):
        light = luminance(gray, gray, gray)
        contrast = 1.05 / (light + 0.05) if light < MIDDLE else (light + 0.05) / 0.05
        assert contrast >= 4.5  # WCAG 2 AA, with black on light cells


def test_the_command_line_lists_every_kind() -> None:
    assert {*OVER_TIME, *OVER_RUNS} == set(KINDS)


def test_every_figure_names_its_data() -> None:
    cells = cells_of(variant=("reno", "vegas"), rate=("1 Mbit/s", "9 Mbit/s"))
    for kind in set(CELLS) - {"matrix"}:
        assert make(sweep(cells, 2), kind).source.startswith("made up · seed 1 · 8 runs in 4 cells · Dumbbell "), kind


NAMES = st.sampled_from(["a", "b_1", "<b>&'\"", "$x$ #1", "ü 漢", "a.b", " ", "-", "%s{0}", "x" * 60])
VALUES = (
    st.none()
    | st.floats(-1e12, 1e12, allow_subnormal=False)
    | st.sampled_from([0.0, 1e6, math.nan, math.inf, -math.inf])
)
WORDS: list[list[Any]] = [
    ["1 Mbit/s", "500 kbit/s", "12 Mbit/s"], ["reno", "<vegas>", "bbr", "bbr1"], [1, 2.5, 0], [True, False],
    [None, "1 ms"], ["1 ms", "1 s"], ["0 s", "1000 ms", "1 s"], ["-3", "4", "1e309"], ["", "漢字 $_{"],
]  # fmt: skip
SWEPT = st.sampled_from(WORDS)


@st.composite
def anything(draw: st.DrawFn) -> Results:
    parts = st.tuples(st.sampled_from("abc"), st.sampled_from(["variant", "rate"]))
    axes = {f"flows.{p}.{q}": draw(SWEPT) for p, q in draw(st.lists(parts, max_size=3, unique=True))}
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    fixed = draw(st.booleans())
    runs = []
    for _ in range(draw(st.integers(1, 12))):
        cell = {path: draw(st.sampled_from(values)) for path, values in axes.items()}
        flows = [flow(n, 3e6 if fixed else draw(VALUES), drop_rate=draw(VALUES), hits=draw(st.none() | st.booleans())) for n in names]  # noqa: E501 # fmt: skip
        runs.append((cell, flows, [queue(4.0 if fixed else draw(VALUES), draw(st.sampled_from([0.0, 0.9])))]))
    return results_of(runs)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    anything(), st.sampled_from(CELLS), st.sampled_from(["goodput_bps", "drop_rate", "hits", "utilization", "variant"])
)
def test_no_results_make_a_figure_fail_or_show_nothing(results: Results, kind: str, metric: str) -> None:
    try:
        picture = make(results, kind, metric=metric)
    except DumbbellError as e:
        assert len(str(e)) > 10  # a sentence, not a name
        return
    rows = picture.rows()
    assert rows["value"].drop_nulls().len() > 0
    assert all(panel.curves or panel.grid for panel in picture.panels)
    for panel in picture.panels:
        for curve in panel.curves:
            assert curve.label
            assert np.isfinite(curve.x[~np.isnan(curve.x)]).all()
    place = Layout.of(picture, SCREEN, [c.label for p in picture.panels for c in p.curves], bare=False)
    assert all(math.isfinite(v) and v > 0 for v in (place.width, place.height, place.panel_width, place.panel_height))
    assert "<b>&" not in page([picture])  # names are texts


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(anything(), st.sampled_from(CELLS))
def test_every_figure_can_be_drawn(results: Results, kind: str) -> None:
    try:
        picture = make(results, kind)
    except DumbbellError:
        return
    drawn(picture).canvas.draw()
