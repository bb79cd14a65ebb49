"""Sizes of figures, their small print, and the places of bars and points that share a category."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dumbbell import DumbbellError
from dumbbell.plots import Curve, Panel, Picture, save
from dumbbell.plots.accessor import write
from dumbbell.plots.dodge import dodged
from dumbbell.plots.size import NAMED, SCREEN, size_of
from dumbbell.plots.style import distinct, ranked
from figures_drawn import drawn
from required import require_packages

require_packages("matplotlib")


def picture(title: str = "A title", panels: int = 1, **settings: str) -> Picture:
    x = np.arange(4.0)
    curves = [Curve(name, name, x, x + n) for n, name in enumerate(("reno", "vegas"))]
    return Picture("test", title, "", [Panel("", "x, s", "y, Mbit/s", curves)] * panels, columns=3, **settings)  # type: ignore[arg-type]


def test_a_length_or_a_name_gives_the_width() -> None:
    assert size_of(None) == SCREEN
    assert size_of("column") == NAMED["column"]
    assert size_of("85 mm").width == pytest.approx(85 / 25.4)
    assert size_of("8.5cm").width == pytest.approx(85 / 25.4)
    assert size_of("241.14749 pt").width == pytest.approx(3.33675, rel=1e-4)  # \columnwidth of ACM's template


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colum", "did you mean 'column'"),
        ("85", "a unit is needed"),
        ("85 px", "a unit is needed"),
        ("nan mm", "unknown size"),
        ("1 in", "must be 2 to 48 in"),
        ("-85 mm", "must be 2 to 48 in"),
        ("", "unknown size"),
    ],
)
def test_other_widths_are_refused(text: str, message: str) -> None:
    with pytest.raises(DumbbellError, match=message):
        size_of(text)


@pytest.mark.parametrize("width", ["column", "two-column", "slide", "120 mm"])
@pytest.mark.parametrize("panels", [1, 3])
def test_a_figure_has_the_width_that_is_printed(tmp_path: Path, width: str, panels: int) -> None:
    from PIL import Image

    place = write(picture(panels=panels), tmp_path / "p.png", width=width)
    wanted = size_of(width).width
    assert wanted is not None
    with Image.open(place) as image:
        assert image.width == pytest.approx(300 * wanted, abs=1)


def test_text_is_legible_at_the_printed_width() -> None:
    for size in NAMED.values():
        figure = drawn(picture(source="small print"), size)
        figure.canvas.draw()
        sizes = [float(label.get_fontsize()) for ax in figure.axes for label in ax.get_xticklabels()]
        assert min(sizes) >= 7


def test_a_slide_keeps_its_ratio() -> None:
    width, height = drawn(picture(), NAMED["slide"]).get_size_inches()
    assert height / width == pytest.approx(9 / 16)


def test_panels_move_below_each_other_where_they_would_be_too_narrow() -> None:
    assert len({round(ax.get_position().x0, 3) for ax in drawn(picture(panels=3), NAMED["column"]).axes}) == 1
    assert len({round(ax.get_position().x0, 3) for ax in drawn(picture(panels=3)).axes}) == 3


def test_no_empty_band_above_the_panels() -> None:
    figure = drawn(Picture("n", "A title", "", [Panel("", "x", "y", [Curve("a", "reno", np.arange(2.0), np.ones(2))])]))
    height = figure.get_size_inches()[1]
    assert (1 - figure.axes[0].get_position().y1) * height < 0.5  # inches: the title's line and a gap


def test_the_small_print_is_in_the_figure_and_in_the_file(tmp_path: Path) -> None:
    from PIL import Image

    source = "cbr · seed 7 · Dumbbell 9.8"
    drawn = save(picture(source=source), tmp_path)
    assert source in drawn.svg.read_text()
    with Image.open(drawn.png) as image:
        assert image.info["Description"] == source
    assert source in write(picture(source=source), tmp_path / "a.html").read_text()
    # A pdf's text is compressed; its metadata is UTF-16.
    pdf = write(picture(source=source), tmp_path / "a.pdf", bare=True).read_bytes()
    assert "seed 7".encode("utf-16-be") in pdf


def test_a_bare_figure_has_neither_title_nor_small_print(tmp_path: Path) -> None:
    text = write(picture(source="seed 7"), tmp_path / "a.svg", bare=True).read_text()
    drawn = text[text.index("</metadata>") :]
    assert "A title" not in drawn
    assert "seed 7" not in drawn
    assert "x, s" in drawn


def test_a_page_has_no_printed_width(tmp_path: Path) -> None:
    with pytest.raises(DumbbellError, match="an html page fits its window"):
        write(picture(), tmp_path / "a.html", width="column")


def test_what_is_alone_in_a_category_is_at_its_label() -> None:
    # A curve for each category, as where x and the curves are the same quantity.
    alone = [Curve(n, n, np.array([float(k)]), np.ones(1), kind="box") for k, n in enumerate(("bbr", "bbr1"))]
    places, width = dodged(Panel("", "", "y", alone, categories=["bbr", "bbr1"]))
    assert [p.tolist() for p in places] == [[0.0], [1.0]]
    assert width == pytest.approx(0.8)


def test_what_shares_a_category_lies_side_by_side() -> None:
    both = [Curve(n, n, np.array([0.0, 1.0]), np.ones(2), kind="bars") for n in ("reno", "vegas")]
    one = Curve("cubic", "cubic", np.array([1.0]), np.ones(1), kind="bars")
    places, width = dodged(Panel("", "", "y", [*both, one], categories=["p", "q"]))
    assert np.allclose(places[0], [-width / 2, 1 - width])
    assert np.allclose(places[1], [width / 2, 1.0])
    assert np.allclose(places[2], [1 + width])


def test_names_that_one_figure_compares_look_different() -> None:
    names = ["bbr", "bbr1", "vegas", "vegas(alpha=2)", *(f"{n} Mbit/s" for n in range(1, 20))]
    looks = distinct(names)
    assert len({(one.color, one.marker) for one in looks}) == len(names)
    assert len({(one.color, one.dash) for one in looks}) == len(names)
    assert len({one.dash for one in distinct(names[:8], dashes=True)}) == 8


def test_ordered_values_get_lighter_in_order() -> None:
    def gray(color: str) -> float:
        r, g, b = (int(color[k : k + 2], 16) for k in (1, 3, 5))
        return 0.299 * r + 0.587 * g + 0.114 * b

    grays = [gray(one.color) for one in ranked(6)]
    assert grays == sorted(grays)
    assert len(set(grays)) == 6
    assert grays[-1] < 150  # legible on white


def test_few_values_are_not_a_box() -> None:
    from dumbbell.plots.interactive import figure

    def boxes(n: int) -> tuple[int, int]:
        dots = np.random.default_rng(n).normal(5, 1, (1, n))
        curve = Curve("a", "reno", np.zeros(1), np.median(dots, axis=1), dots=dots, kind="box")
        one = Picture("n", "t", "", [Panel("", "", "y", [curve], categories=["p"])])
        (mark,) = [mark for mark in figure(one)["panels"][0]["marks"] if mark["kind"] == "boxes"]
        return len(drawn(one).axes[0].patches), sum(quartile is not None for quartile in mark["q1"])

    assert [boxes(n) for n in (1, 3, 4)] == [(0, 0)] * 3
    assert [boxes(n) for n in (5, 30)] == [(1, 1)] * 2
