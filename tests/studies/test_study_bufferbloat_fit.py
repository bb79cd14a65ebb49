"""The fit of the bufferbloat report's open settings, with made-up measurements."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dumbbell.studies import study
from dumbbell.studies.bufferbloat.fits import WINDOWS, Setting, Singles, best_sentence, fit_table, prediction, printed

REPORTED = study("bufferbloat").paper.figures
LINUX = WINDOWS["linux-tuned"]
NEAR = Setting("100 packets", "20 to 36 s", LINUX)
FAR = Setting("100 packets", "110 to 126 s", LINUX)


def around(values: tuple[float, float], factor: float, spread: float = 0.1) -> Singles:
    """Return five measurements whose median is the printed numbers times a factor, `spread` to both sides."""
    steps = factor * (1 + spread * np.array([-1.0, -0.5, 0.0, 0.5, 1.0]))
    return Singles(values[0] * steps, values[1] * steps)


RENO, CUBIC = printed(REPORTED, "reno"), printed(REPORTED, "cubic")
FOUND = {
    (NEAR, "reno"): around(RENO, 1.05),
    (NEAR, "cubic"): around(CUBIC, 1.0),
    (FAR, "reno"): around(RENO, 1.02),
    (FAR, "cubic"): around(CUBIC, 2.0),
}


def test_the_printed_ping_is_the_mean_of_the_first_three() -> None:
    pings = REPORTED["cubic_large_queue"]["ping_ms"][1]
    assert len(pings) == 3
    assert CUBIC[0] == pytest.approx(sum(pings) / 3)


def test_error_is_the_mean_logarithm_of_the_factor() -> None:
    # Medians of 200 ms and 4 s for printed 100 ms and 8 s: ln 2 both times, up and down.
    assert Singles(np.array([100.0, 200.0, 900.0]), np.array([4.0])).error((100, 8)) == pytest.approx(math.log(2))
    # ln 1 and ln 2.
    assert Singles(np.array([100.0]), np.array([16.0])).error((100, 8)) == pytest.approx(math.log(2) / 2)


def test_a_printed_number_outside_the_range_excludes_a_setting() -> None:
    # From 90 to 110, widened by 5 %: 85.5 to 115.5.
    one = Singles(np.array([90.0, 110.0]), np.array([1.0, 2.0]))
    assert one.possible((85.6, 1.5))
    assert one.possible((115.4, 1.5))
    assert not one.possible((85.4, 1.5))
    assert not one.possible((100.0, 2.2))


def test_the_table_marks_the_best_fit_of_each_variant_and_of_both() -> None:
    rows = {row["page after the start"]: row for row in fit_table(FOUND, REPORTED).frame.iter_rows(named=True)}
    near, far = rows[NEAR.since], rows[FAR.since]
    # Reno: |ln 1.05| = 0.05 and |ln 1.02| = 0.02. CUBIC: 0 and ln 2 = 0.69. Both: 0.02 and 0.36.
    assert (near["Reno: error"], far["Reno: error"]) == ("0.05 ~", "0.02 * ~")
    assert (near["CUBIC: error"], far["CUBIC: error"]) == ("0.00 * ~", "0.69")
    assert (near["both: error"], far["both: error"]) == ("0.02 *", "0.36")


def test_each_variants_fit_predicts_the_other() -> None:
    note = prediction(FOUND, REPORTED)
    text = note.text
    assert note.headline == f"The best fit to all four printed numbers: {NEAR.words}"
    assert text.startswith("Its error is 0.02; the worst has 0.36.")
    assert f"{NEAR.words}: an error of 0.02" in best_sentence(FOUND, REPORTED)
    # Reno's numbers are best at FAR, which puts CUBIC's at twice the printed ones: outside their range.
    assert f"Fitted to Reno's numbers: {FAR.words} (error 0.02); it predicts CUBIC's with an error of 0.69" in text
    assert "Reno's numbers exclude 0 of 2 settings; CUBIC's lie within the range at 1 of the rest" in text
    # CUBIC's numbers exclude FAR; at NEAR Reno's lie within.
    assert "CUBIC's numbers exclude 1 of 2 settings; Reno's lie within the range at 1 of the rest" in text


def test_settings_that_were_not_run_are_marked() -> None:
    absent = [NEAR._replace(limit="151400 bytes")]
    last = fit_table(FOUND, REPORTED, absent).frame.row(-1, named=True)
    assert (last["queue"], last["CUBIC: error"], last["both: error"]) == ("151400 bytes", "not run", "not run")
    text = prediction(FOUND, REPORTED, absent, "the kernel has no setting for it").text
    assert text.endswith("1 of 3 settings are not run here (the kernel has no setting for it).")
    assert "not run" not in prediction(FOUND, REPORTED).text


def test_a_range_of_few_measurements_excludes_little() -> None:
    # A sixth measurement is the largest or smallest of six with a probability of 2/6.
    assert "Ranges of 5 measurements exclude little" in prediction(FOUND, REPORTED).text
    assert "a probability of 33 %" in prediction(FOUND, REPORTED).text
    many = {key: Singles(np.tile(one.ping, 8), np.tile(one.page, 8)) for key, one in FOUND.items()}
    assert "exclude little" not in prediction(many, REPORTED).text
