"""Closed forms beside the simulator (validation/closed_forms); the smallest shares of loss take too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import response
import standing

QUICK = 1e-4
POINTS = [(v, p) for v, form in response.FORMS.items() for p in form.shares if p >= QUICK]


@pytest.mark.parametrize(("variant", "p"), POINTS)
def test_the_mean_window_is_that_of_the_response_function(variant: str, p: float) -> None:
    form = response.FORMS[variant]
    assert response.measured(variant, p) == pytest.approx(form.expected(p), rel=form.tolerance(p))


@pytest.mark.parametrize("p", [1e-4, 3e-4, 1e-3, 3e-3])
def test_renos_window_is_within_a_tenth_of_the_plain_formula(p: float) -> None:
    assert response.measured("reno", p) == pytest.approx(response.reno(p), rel=0.1)


def test_losses_by_chance_leave_renos_constant() -> None:
    # Ten runs of 50 cycles, whose means scatter by a tenth: 3 % for the mean of all, and 3 % for whole segments.
    assert response.random_constant(1e-3) == pytest.approx(1.31, rel=0.1)


def test_published_numbers() -> None:
    # RFC 3649 §5, table of windows: 38 at 1e-3, 263 at 1e-4 (of a rounded exponent), 1795 at 1e-5; Reno 38 at 1e-3.
    assert response.highspeed(1e-4) == pytest.approx(263, rel=0.02)
    assert response.highspeed(1e-5) == pytest.approx(1795, rel=0.02)
    assert response.reno(1e-3) == pytest.approx(38, rel=0.02)
    # RFC 9438 §5: (0.4 * 3.7 / 1.2)^0.25 = 1.054; at 100 ms and 1e-5 1.054 * 0.1^0.75 * 1e5^0.75 = 1054.
    assert response.cubic(1e-5) == pytest.approx(1054, rel=1e-3)
    # Between two algorithms: where CUBIC's curve has less, it is Reno (the same at 1e-2 and 1e-3).
    assert response.cubic(1e-2) == response.reno(1e-2)


def test_cycles_without_recovery_are_the_published_formulas() -> None:
    # CUBIC's and Scalable's are exact. HighSpeed's a(w) takes p and b at the window itself, where the line is of the
    # mean of a cycle, over which the window grows from 2/3 of its top to the top: some per cent.
    for variant, top, tolerance in (("cubic", 500.0, 1e-9), ("scalable", 1000.0, 1e-9), ("highspeed", 1000.0, 0.05)):
        form = response.FORMS[variant]
        cycle = form.cycle(top)
        assert cycle.packets / cycle.rounds == pytest.approx(form.published(1 / cycle.packets), rel=tolerance)


@pytest.mark.parametrize("algorithm", standing.ALGORITHMS)
def test_persistent_queues(algorithm: Callable[[], Iterator[standing.Row]]) -> None:
    rows = list(algorithm())
    assert [row for row in rows if not row.holds] == []
