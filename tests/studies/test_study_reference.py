"""The report's numbers in pictures: points, lines and bands, from the data of a study."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from dumbbell import DumbbellError
from dumbbell.plots import Curve, Panel, Picture, look
from dumbbell.studies import reference
from dumbbell.studies.paper import Printed

LINE = Panel("rates", "x", "y", [Curve("a", "reno", np.array([1.0, 4.0, 10.0]), np.array([3.0, 2.0, 1.0]))])
WORDS = Panel(
    "queues", "", "y", [Curve("a", "reno", np.arange(2.0), np.ones(2), kind="bars")], categories=["small", "large"]
)
PICTURE = Picture("fig01", "title", "Reading.", [LINE, WORDS])


def drawn(**printed: object) -> list[Panel]:
    number = Printed(**{"picture": "fig01", "place": "3", "label": "two", **printed})
    return list(reference.with_printed([PICTURE], [number])[0].panels)


def test_points_at_a_number_or_a_category() -> None:
    curve = drawn(panel="rates", x=[4.0], y=[2.0])[0].curves[-1]
    assert (curve.label, curve.look, curve.kind) == ("report: two (3)", "report", "events")
    assert (curve.x.tolist(), curve.y.tolist()) == ([4.0], [2.0])
    assert drawn(panel="queues", x=["large"], y=[2.0])[1].curves[-1].x.tolist() == [1.0]


def test_a_line_across_all_panels() -> None:
    rates, queues = drawn(level=2.0)
    assert (rates.curves[-1].x.tolist(), rates.curves[-1].y.tolist()) == ([1.0, 10.0], [2.0, 2.0])
    assert queues.curves[-1].x.tolist() == [0.0, 1.0]


def test_a_band_to_the_right_end() -> None:
    rates, queues = drawn(panel="rates", beyond=7.2)
    (span,) = rates.spans
    assert (span.begin, span.end, span.label) == (7.2, 10.0, "report: two (3)")
    assert not queues.spans
    assert queues is WORDS


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ({"picture": "fig02", "level": 1.0}, "no picture 'fig02' .there are fig01"),
        ({"panel": "rate", "level": 1.0}, "fig01 has no panel 'rate' .it has 'rates', 'queues'"),
        ({"panel": "queues", "x": ["huge"], "y": [1.0]}, "no category 'huge' .* small, large"),
    ],
)
def test_a_number_without_its_place_is_an_error(printed: dict[str, object], message: str) -> None:
    with pytest.raises(DumbbellError, match=message):
        drawn(**printed)


@pytest.mark.parametrize("printed", [{}, {"level": 1.0, "beyond": 2.0}, {"x": [1.0]}])
def test_a_number_is_of_one_kind(printed: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        drawn(**printed)


def test_the_look_differs_from_all_others() -> None:
    from dumbbell import registry

    own = look("report")
    others = [look(name) for name in (*registry.variants(), *registry.disciplines())]
    assert all((own.color, own.marker) != (o.color, o.marker) for o in others)
    assert look("report:2").hollow
