"""A comparison in words: a sentence for each flow that is outside, and the tolerances."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.kernel.validate.deviations import Comparison, Difference
from dumbbell.kernel.validate.figures import FEW, FIGURES

__all__ = ["sentences", "tolerances"]

TIMES = 2.0
"""Ratio from which a difference is given as a ratio instead of a percentage."""


def tolerances() -> str:
    """Return the rule for a flow that is within, in one sentence."""
    limits = ", ".join(f"{f.name} by at most {100 * f.tolerance:.0f} %" for f in FIGURES.values())
    return (
        f"A flow is within if both sides differ in {limits}, or by {FEW} packets, or by two standard deviations of a "
        "single run."
    )


def sentences(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the count of flows within, then a sentence for each flow outside."""
    outside = [c for c in comparisons if c.outside]
    count = f"{len(comparisons) - len(outside)} of {len(comparisons)} flows are within in every figure."
    return [count, *(_flow(c) for c in outside)]


def _flow(c: Comparison) -> str:
    parts = "; ".join(_figure(c.differences[name]) for name in c.outside)
    return f"{c.case}, flow {c.flow} ({c.variant}): {parts}."


def _figure(d: Difference) -> str:
    f = FIGURES[d.figure]
    return f"{f.name} is {_apart(d)} ({f.text(d.sim)}{f.unit} in the simulator, {f.text(d.kernel)} on the kernel)"


def _apart(d: Difference) -> str:
    """Return the difference in words."""
    if min(d.sim, d.kernel) <= 0:
        return "different"
    ratio = d.sim / d.kernel
    if ratio >= TIMES:
        return f"{ratio:.3g} times as large in the simulator as on the kernel"
    if ratio <= 1 / TIMES:
        return f"{1 / ratio:.3g} times as large on the kernel as in the simulator"
    word = "larger" if ratio > 1 else "smaller"
    return f"{100 * abs(ratio - 1):.3g} % {word} in the simulator"
