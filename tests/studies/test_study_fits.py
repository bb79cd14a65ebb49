"""The fit of the GENI report's open settings, with made-up goodputs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dumbbell.studies import study
from dumbbell.studies.geni_fairness.data import VARIANTS
from dumbbell.studies.geni_fairness.fits import (
    ALL,
    CELLS,
    PARTS,
    READINGS,
    cell_error,
    error,
    fit,
    fit_all,
    region,
    reported_of,
)
from dumbbell.studies.geni_fairness.paths import Path, short
from dumbbell.studies.geni_fairness.predictions import predict

REPORTED = study("geni-fairness").paper.figures["throughput_mbps"]
NEAR = Path("100 Mbit/s", "1 ms", "200 packets", "0.5 ms")


def made(off: dict[tuple[str, str], float]) -> Any:
    """Return pairs whose first flow is off the report's table by a number of Mbit/s for each cell."""

    def medians(*pair: str) -> tuple[float, float]:
        one = reported_of(REPORTED, pair) + off.get(pair, 0.0)  # type: ignore[arg-type]
        return one, 95.0 - one

    return SimpleNamespace(n=3, medians=medians, both=lambda *pair: np.tile(medians(*pair), (3, 1)))


def everywhere(off: float) -> Any:
    return made(dict.fromkeys(CELLS, off))


def test_the_table_is_read_by_row() -> None:
    assert reported_of(REPORTED, ("vegas", "cubic")) == 2.52
    assert reported_of(REPORTED, ("cubic", "vegas")) == 92.4111


def test_best_fit_and_settings_that_are_not_distinguished() -> None:
    # Four settings fitted to 16 cells: the 95 % quantile of F with 4 and 12 degrees of freedom is 3.26, and
    # 1 + 4/12 x 3.26 = 2.09. So errors up to sqrt(2.09) x 2 = 2.89 Mbit/s are not distinguished from 2.
    assert region(16) == pytest.approx(2.086, abs=0.002)
    depths = {
        NEAR: everywhere(2.0),
        NEAR._replace(jitter="0.25 ms"): everywhere(-2.85),
        NEAR._replace(buffer="400 packets"): everywhere(2.92),
        NEAR._replace(buffer="50 packets"): everywhere(9.0),
    }
    found = fit(depths, REPORTED)
    assert found.best == NEAR
    assert found.errors[NEAR] == pytest.approx(2.0)
    assert found.errors[NEAR._replace(buffer="50 packets")] == pytest.approx(9.0)
    assert found.alike == (NEAR, NEAR._replace(jitter="0.25 ms"))
    assert short(NEAR._replace(delay="20 ms"), NEAR) == "RTT 40 ms"


def test_the_other_reading_takes_a_mirrored_cell_from_the_same_run() -> None:
    # The first flows have the numbers of the report, the second ones the rest of 95 Mbit/s. A has no error; under B
    # Vegas beside CUBIC has 95 - 92.4111 = 2.5889 instead of 2.52.
    as_reported = everywhere(0.0)
    assert error(as_reported, REPORTED) == pytest.approx(0.0)
    mirrored = cell_error(as_reported, REPORTED, ("vegas", "cubic"), "B")
    assert mirrored == pytest.approx(0.0689)
    # A pair of the same variant: the mean of both flows, 47.5 instead of 49.5778.
    assert cell_error(as_reported, REPORTED, ("cubic", "cubic"), "B") == pytest.approx(2.0778)


def test_settings_of_both_readings_are_joined() -> None:
    fits = fit_all({NEAR: everywhere(1.0), NEAR._replace(buffer="400 packets"): everywhere(1.2)}, REPORTED)
    assert set(fits.alike()) == {*fits.of("A").alike, *fits.of("B").alike}
    both = {path: sum(fits.of(r).errors[path] for r in READINGS) for path in fits.alike()}
    assert fits.best() == min(both, key=lambda path: both[path])


def test_a_fit_to_a_part_ignores_the_other_cells() -> None:
    with_vegas = {c: 30.0 for c in CELLS if "vegas" in c}
    depths = {NEAR: everywhere(3.0), NEAR._replace(buffer="400 packets"): made(with_vegas)}
    assert fit(depths, REPORTED).best == NEAR
    # (7 x 30 + 9 x 0) / 16 = 13.1 over all cells, and 0 over the nine without Vegas.
    assert error(depths[NEAR._replace(buffer="400 packets")], REPORTED) == pytest.approx(13.125)
    part = fit(depths, REPORTED, PARTS["the cells without Vegas"])
    assert part.best == NEAR._replace(buffer="400 packets")


def test_no_claim_is_judged_at_a_fit_to_its_own_cells() -> None:
    """The cells that a claim's metric reads are not among those that its setting is fitted to."""
    judged = 0
    for claim in study("geni-fairness").paper.judged:
        rule = claim.rule
        at = getattr(rule, "at", {})
        if "fit" not in at:
            continue
        fitted = PARTS[str(at["fit"])]
        judged += 1
        if "vegas" in rule.metric:  # type: ignore[union-attr]
            assert not [c for c in fitted if "vegas" in c], claim.id
        elif pairs := [*rule.each.get("pair", []), *getattr(rule, "numbers", {})]:  # type: ignore[union-attr]
            for pair in pairs:
                assert tuple(str(pair).split("/")) not in fitted, claim.id
        else:
            who = rule.who if rule.kind in {"highest", "lowest"} else rule.values[0]  # type: ignore[union-attr]
            assert not [c for c in fitted if who in c], claim.id
    assert judged >= 12


def test_each_cell_is_predicted_without_its_own_pair() -> None:
    # One setting is right but for CUBIC beside Vegas, the other one only there.
    wrong = {("cubic", "vegas"): 40.0, ("vegas", "cubic"): 40.0}
    depths = {NEAR: made(wrong), NEAR._replace(buffer="50 packets"): made({c: 20.0 for c in CELLS if c not in wrong})}
    found = {p.cell: p for p in predict(depths, REPORTED) if p.reading == "A"}
    assert found["cubic", "vegas"].best == NEAR
    assert found["cubic", "vegas"].value.value == pytest.approx(132.4111)
    assert not found["cubic", "vegas"].covered
    assert found["reno", "reno"].value.value == pytest.approx(49.48889)
    assert len(found) == len(VARIANTS) ** 2
    assert set(PARTS[ALL]) == set(found)
