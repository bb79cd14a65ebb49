"""Figures: from data to files."""

from __future__ import annotations

import re
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell import DumbbellError, Results, Scenario, registry
from dumbbell.metrics import summarize_all
from dumbbell.plots import Curve, Mark, Panel, Picture, curve_of, look, save, save_all, style
from dumbbell.plots.catalog import KINDS, make
from dumbbell.plots.downsample import distinct
from dumbbell.plots.spec import Span
from figures_drawn import drawn
from required import require_packages
from scenario_texts import PAIR

require_packages("matplotlib")


def picture(name: str = "test", panels: int = 1, **settings: Any) -> Picture:
    x = np.arange(5.0)
    rows = np.random.default_rng(1).normal(5, 1, size=(5, 8))
    curves = [
        curve_of("Reno", "reno", x, summarize_all(list(rows)), dots=rows),
        Curve("Vegas", "vegas", x, np.array([1, 2, np.nan, 4, 5.0]), kind="steps"),
    ]
    panel = Panel("panel", "x (s)", "y (Mbit/s)", curves, marks=[Mark(2.0, "here", "top")])
    return Picture(name, "A title", "What is seen.", [panel] * panels, columns=2, **settings)


def test_each_variant_and_discipline_has_a_look_of_its_own() -> None:
    names = [*registry.variants(), *registry.disciplines()]
    looks = [(look(n).color, look(n).marker) for n in names]
    assert len(set(looks)) == len(names)


def test_a_table_of_distinct_colors() -> None:
    variants = [look(n) for n in ("tahoe", "reno", "newreno", "sack", "vegas", "cubic", "bbr")]
    assert len({v.color for v in variants}) == len({v.marker for v in variants}) == 7


def test_variants_of_one_color_differ_in_marker_and_dash() -> None:
    # By the line alone, as in a window over time, and by the marker alone, as in a scatter.
    looks = [look(n) for n in registry.variants()]
    assert len({(v.color, v.dash) for v in looks}) == len({(v.color, v.marker) for v in looks}) == len(looks)
    # A dashed line is a second flow of the same variant.
    assert all(v.dash != "--" and not v.hollow and v.marker for v in looks)


def test_colors_are_distinct_with_color_blindness() -> None:
    okabe_ito = {"#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#000000"}
    tol_muted = {"#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255", "#AA4499"}
    further = {"#661100", "#6699CC", "#888888"}  # that Tol names for the muted scheme where more are needed
    assert {look(n).color for n in registry.variants()} <= okabe_ito | tol_muted | further


def test_a_new_variant_has_a_look_that_changes_no_other() -> None:
    names = list(registry.variants())
    before = style._derived(names, set())
    after = style._derived([*names, "brand-new"], set())
    assert {name: after[name] for name in names} == before
    new = after["brand-new"]
    assert all((new.color, new.dash) != (old.color, old.dash) for old in before.values())
    assert all((new.color, new.marker) != (old.color, old.marker) for old in before.values())


def test_no_file_but_the_registry_lists_the_variants() -> None:
    # A study or a validation case selects some; only the registry (Rust) may name them all.
    root = Path(__file__).parents[2]
    files = [f for folder in ("python/dumbbell", "docs/generator") for f in (root / folder).rglob("*.py")]
    assert len(files) > 100
    for file in [*files, root / "mkdocs.yml"]:
        words = set(re.findall(r"[\w+]+", file.read_text(encoding="utf-8")))
        listed = sorted(words & set(registry.variants()))
        assert len(listed) <= len(registry.variants()) // 2, (file, listed)


def test_unknown_names_look_the_same_each_time() -> None:
    assert look("something-new") == look("something-new")
    assert look("reno:2").color == look("reno").color
    assert look("reno:2") != look("reno")


def test_rows_hold_everything_drawn() -> None:
    rows = picture(panels=2).rows()
    assert rows.columns == ["panel", "curve", "x", "value", "low", "high"]
    assert rows.height == 2 * 10
    assert rows.filter(curve="Reno")["low"].null_count() == 0
    assert rows.filter(curve="Vegas")["low"].null_count() == 10
    words = Panel("", "", "y", [Curve("a", "reno", np.arange(2.0), np.ones(2), kind="points")], categories=["p", "q"])
    assert Picture("n", "t", "r", [words]).rows()["x"].to_list() == ["p", "q"]


@pytest.mark.parametrize("panels", [1, 3, 4])
def test_files(tmp_path: Path, panels: int) -> None:
    drawn = save(picture(panels=panels), tmp_path)
    assert drawn.png.read_bytes().startswith(b"\x89PNG")
    text = drawn.svg.read_text()
    for words in ("A title", "Reno", "Vegas", "x (s)", "y (Mbit/s)", "here"):
        assert words in text
    assert drawn.inline.startswith("<svg ")
    assert "<metadata" not in drawn.inline


def test_equal_figures_give_equal_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = save(picture(), tmp_path / "a"), save(picture(), tmp_path / "b")
    assert first.svg.read_bytes() == second.svg.read_bytes()
    assert first.png.read_bytes() == second.png.read_bytes()


def test_other_kinds_of_panels(tmp_path: Path) -> None:
    x = np.arange(3.0)
    dots = np.ones((3, 2))
    points = Curve("a", "droptail", x, np.ones(3), np.ones(3), np.ones(3), dots, kind="points")
    words = Panel("", "", "y", [points, points], categories=["one long word or two", "two", "three"])
    log = Panel("", "x", "y", [Curve("b", "red", x, np.array([60.0, 100, 3000]))], y_log=True)
    drawn = save(Picture("kinds", "t", "r", [words, log], columns=2, markers=False), tmp_path)
    assert "one long" in drawn.svg.read_text()


def test_shared_axes_show_the_largest_value_of_any_panel(tmp_path: Path) -> None:
    small, large = (
        Panel("", "x", "y", [Curve("a", "reno", np.arange(2.0), np.array([0.0, top]))]) for top in (1.0, 9.0)
    )
    figure = drawn(Picture("shared", "t", "r", [small, large], columns=2, share_y=True))
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert figure.axes[0].get_ylim()[1] >= 9
    assert tmp_path.exists()


def test_several_at_a_time(tmp_path: Path) -> None:
    moves: list[tuple[int, int]] = []
    pictures = [picture(f"p{k}") for k in range(3)]
    drawn = save_all(pictures, tmp_path / "new", jobs=2, progress=lambda done, of: moves.append((done, of)))
    assert [d.picture.name for d in drawn] == ["p0", "p1", "p2"]
    assert moves == [(1, 3), (2, 3), (3, 3)]
    alone = save_all(pictures[:1], tmp_path / "alone")
    assert alone[0].svg.read_bytes() == drawn[0].svg.read_bytes()


def test_ids_of_figures_on_one_page_differ(tmp_path: Path) -> None:
    first, second = (set(re.findall(r'\bid="([^"]+)"', save(picture(n), tmp_path).inline)) for n in ("a", "b"))
    assert first
    assert not first & second


# ------------------------------------------------------------ figures of results


def test_thinning_keeps_peaks_and_ends() -> None:
    from dumbbell.plots.downsample import thin

    x = np.arange(100_000.0)
    y = np.sin(x / 1000)
    y[31_415], y[777], y[5] = 50, -9, np.nan
    across, up = thin(x, y, columns=200)
    assert len(across) <= 4 * 200
    assert [np.nanmax(up), np.nanmin(up)] == [50, -9]
    assert across[[0, -1]].tolist() == [0, 99_999]
    assert np.all(np.diff(across) > 0)
    few = thin(x[:50], y[:50], columns=200)
    assert few[0].size == 50


def test_marks_that_cover_each_other_are_one() -> None:
    x = np.repeat(np.arange(1000.0), 5)
    across, up = distinct(x, np.zeros(x.size), 100)
    assert across.size == 101  # the largest value has a cell of its own
    assert (across[0], across[-1]) == (0, 999)
    assert np.all(up == 0)
    few, _ = distinct([3.0, 1.0, 1.0], [0.0, 2.0, 2.0], 100)
    assert few.tolist() == [3, 1, 1]
    gaps, _ = distinct(np.where(x < 500, x, np.nan), x, 100)
    assert np.isnan(gaps).any()


def test_thousands_of_phases_and_marks_make_a_small_file(tmp_path: Path) -> None:
    spans = [Span(t, t + 1, "recovery", "recovery", strip=0) for t in np.arange(0.0, 3000, 2)]
    lost = np.linspace(0, 3000, 20_000)
    panel = Panel(
        "", "x", "y", [Curve("lost", "cubic", lost, np.zeros(lost.size), kind="events")], spans=spans, strips=("a",)
    )
    drawn = save(Picture("p", "A title", "", [panel]), tmp_path)
    text = drawn.svg.read_text(encoding="utf-8")
    assert text.count("<use") < 500
    assert len(text) < 250_000


def test_an_ellipse_holds_one_standard_deviation() -> None:
    from dumbbell.plots.ellipse import ellipse_of

    # Points (+-2, 0) and (0, +-1), twice: over n, the variances are 8/4 and 2/4, uncorrelated; the median is (0, 0).
    found = ellipse_of([2, -2, 0, 0] * 2, [0, 0, 1, -1] * 2)
    assert found is not None
    x, y = found
    assert (x.max(), y.max()) == pytest.approx((np.sqrt(2), np.sqrt(0.5)), rel=1e-3)
    assert np.allclose(x**2 / 2 + y**2 / 0.5, 1)
    # As few as three points lie on an ellipse always; points on a line have none.
    assert ellipse_of([1, 2, 4, 3], [1, 2, 1, 3]) is None
    assert ellipse_of([1] * 9, [2] * 9) is None
    assert ellipse_of(range(9), np.arange(9) * 1e6) is None


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Results:
    changes = {"duration": "3 s", "repetitions": 3, "flows.b.start": "0 s", "trace.series": True}
    return dumbbell.run(Scenario.from_toml(PAIR, changes), out=tmp_path_factory.mktemp("pairs") / "out")


OF_APPLICATIONS = {"video", "waterfall", "voice", "responsiveness", "slowdown"}
"""Kinds that need results of their applications: test_video, test_voice, test_responsiveness, test_workloads."""


@pytest.mark.parametrize("kind", sorted(set(KINDS) - OF_APPLICATIONS))
def test_every_kind_is_drawn_and_lists_its_rows(traced: Results, kind: str, tmp_path: Path) -> None:
    plot = getattr(traced.plot, kind)()
    rows = plot.picture.rows()
    assert rows.height > 0
    assert rows["value"].drop_nulls().len() > 0
    assert all(panel.y_label or panel.strips for panel in plot.picture.panels)
    for ending in ("png", "svg", "pdf"):
        assert plot.save(tmp_path / f"p.{ending}").stat().st_size > 3000
    page = plot.save(tmp_path / "p.html").read_text()
    assert 'class="figure-data"' in page
    assert "<script src" not in page
    assert not re.search(r'(?:src|href)="(?!data:,)', page)


def test_phases_losses_and_timeouts_are_marked(traced: Results) -> None:
    picture = traced.plot.inflight(flow=["a"]).picture
    (panel,) = picture.panels
    assert {"slow start", "congestion avoidance", "recovery"} <= {span.label for span in panel.spans}
    ends = [(span.begin, span.end) for span in panel.spans]
    assert all(a < b for a, b in ends)
    assert all(first[1] == then[0] for first, then in pairwise(ends))  # without gaps
    lost = next(c for c in panel.curves if c.label == "packet lost")
    dropped = traced.runs[0].flows[0]["dropped_packets"]
    assert len(lost.x) == dropped > 0


def test_a_matrix_shows_both_flows(traced: Results) -> None:
    (panel,) = traced.plot.matrix().picture.panels
    assert panel.grid is not None
    flows = traced.flows.filter((pl.col("flows.a.variant") == "newreno") & (pl.col("flows.b.variant") == "vegas"))
    a = flows.filter(pl.col("name") == "a")["goodput_bps"].median()
    b = flows.filter(pl.col("name") == "b")["goodput_bps"].median()
    assert isinstance(a, float)
    assert isinstance(b, float)
    cell = panel.grid.values[panel.grid.rows.index("newreno"), panel.grid.columns.index("vegas")]
    assert cell == pytest.approx(a / (a + b))
    assert "J " in panel.grid.texts[0][0]


def test_flows_are_not_mixed(traced: Results) -> None:
    # Two flows and nothing that distinguishes them: a panel for each.
    assert [p.title for p in traced.plot.bars().picture.panels] == ["a", "b"]
    assert len(traced.plot.bars(flow=["a"]).picture.panels) == 1
    (both,) = traced.plot.box(by="name", where={"b.variant": "vegas"}).picture.panels
    assert [curve.label for curve in both.curves] == ["a", "b"]
    # Nor are cells: each further swept quantity has panels of its own.
    titles = [p.title for p in traced.plot.box(by="name").picture.panels]
    assert titles == ["b.variant newreno", "b.variant vegas"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "cwdn"}, "did you mean 'cwnd'"),
        ({"kind": "cwnd", "metric": "goodput_bps"}, "--metric: a plot of kind 'cwnd' doesn't take it"),
        ({"kind": "bars", "metric": "godput_bps"}, "did you mean 'goodput_bps'"),
        ({"kind": "cwnd", "flow": ["c"]}, "unknown flow 'c'"),
        ({"kind": "cwnd", "run": 99}, "runs 0 to 11"),
        ({"kind": "heatmap", "x": "a.variannt"}, "did you mean 'a.variant'"),
    ],
)
def test_plots_refuse_by_name(traced: Results, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DumbbellError, match=message.replace("'", ".")):
        make(traced, options.pop("kind"), **options)


def test_each_kind_of_figure_is_a_method_with_its_options() -> None:
    from dumbbell.plots.accessor import Plots

    for kind, of in KINDS.items():
        options = {"run", *of.options} if of.over_time else set(of.options)
        assert set(signature(getattr(Plots, kind)).parameters) == {"self", *options}, kind


def test_an_axis_from_zero_has_room_above_close_values() -> None:
    # Of 40 to 42, matplotlib's margin is 5 % of 2; from zero it is 5 % of 42.
    panel = Panel("", "x", "y", [Curve("a", "reno", np.arange(2.0), np.array([40.0, 42.0]), kind="points")])
    bottom, top = drawn(Picture("close", "t", "r", [panel])).axes[0].get_ylim()
    assert bottom == 0
    assert top == pytest.approx(42 * 1.05)
