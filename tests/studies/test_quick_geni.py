"""The quick study geni-fairness from beginning to end, and its physics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dumbbell.studies import Done, Verdict
from quick import check_quick, verdicts
from required import require_packages

require_packages("matplotlib", "jinja2")


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("geni-fairness"))


def test_geni_fairness(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.geni_fairness.data import Alone
    from dumbbell.studies.geni_fairness.paths import by_path

    ran = done("geni-fairness")
    part1, (path, pairs) = (
        Alone(ran.results["part1"], "network.hops"),
        next(iter(by_path(ran.results["pairs"]).items())),
    )
    for variant in ("reno", "cubic"):
        # 1448 of 1500 bytes are payload: 96.5 Mbit/s.
        assert part1.get("goodput_bps", variant, 2) == pytest.approx(96.5, rel=0.01)
    # 200 packets of 1500 bytes at 100 Mbit/s are 24 ms on top of 2 ms and of two jitters up to 0.375 ms.
    assert 12 < np.median(part1.get("rtt_mean_ms", "reno", 2, flow="ping")) < 26.9
    # Vegas takes the jitter for a queue.
    assert (part1.get("goodput_bps", "vegas", 2) < 80).all()
    assert (part1.get("goodput_bps", "vegas", 2) < part1.get("goodput_bps", "vegas", 1)).all()
    assert path.rtt == "2 ms"
    for other in ("cubic", "reno"):
        assert (pairs.share("vegas", other) < 0.15).all()
    # Each over its own time, the second one's up to 0.1 s shorter.
    assert (pairs.both("cubic", "cubic").sum(axis=1) <= 96.6 * 1.01).all()


def test_a_quick_run_decides_part_1(done: Callable[[str], Done]) -> None:
    """Part 1 needs no fit, of which a quick run has too few settings."""
    found = verdicts(done("geni-fairness"))
    decided = {claim for claim, verdict in found.items() if verdict != Verdict.UNDECIDED}
    assert decided == {"part1-delay-alike", "part1-full", "part1-vegas-slower", "part1-hops", "part1-conjecture"}
