"""Shares of two flows, beside a published matrix (validation/fairness)."""

from __future__ import annotations

import pytest

import fairness
from fairness import EVEN, STARVED, Shares


@pytest.fixture(scope="module")
def shares() -> Shares:
    return fairness.measure(repetitions=2)


def test_vegas_starves_beside_loss_based_variants(shares: Shares) -> None:
    for buffer in {b for b, _, _ in shares}:
        for other in ("cubic", "reno"):
            if other == "reno" and buffer == "0.5 bdp":
                continue  # too short for Reno to have a persistent queue
            mean = (
                fairness.share(shares, buffer, "vegas", other) + 1 - fairness.share(shares, buffer, other, "vegas")
            ) / 2
            assert mean < STARVED, (buffer, other, mean)


def test_each_is_even_with_itself(shares: Shares) -> None:
    for variant in ("reno", "vegas", "bbr"):
        mean = fairness.share(shares, "1 bdp", variant, variant)
        assert EVEN[0] < mean < EVEN[1], (variant, mean)


def test_bbr_takes_less_the_deeper_the_buffer(shares: Shares) -> None:
    for other in ("cubic", "reno"):
        deep, short = (fairness.share(shares, b, "bbr", other) for b in ("5 bdp", "0.5 bdp"))
        assert deep < short - 0.2, (other, deep, short)
