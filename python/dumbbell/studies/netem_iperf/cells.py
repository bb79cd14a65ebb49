"""Each cell's comparison of CUBIC with Reno, and the remarks and further numbers of the page."""

from __future__ import annotations

from dumbbell.metrics import compare_all, rtt_slope, summarize
from dumbbell.report.finding import Measured
from dumbbell.studies.judge import Remark
from dumbbell.studies.netem_iperf.data import DELAYS, LOSSES, VARIANTS, Grid, cubic, mathis
from dumbbell.studies.rules import EQUAL
from dumbbell.studies.shared import LABELS

__all__ = ["remarks", "sides"]


def sides(grid: Grid) -> dict[tuple[float, float], tuple[str | None, Measured]]:
    """Return for each cell (delay, loss) whether CUBIC is shown to be ``lower`` or ``higher`` than Reno, or neither.

    All nine comparisons together hold at 95 % (Holm). As in the claims, a difference counts from `EQUAL` on.
    """
    cells = [(d, p) for p in LOSSES for d in DELAYS]
    samples = {f"{v} {d:g} {p:g}": grid.get(v, d, p) for v in VARIANTS for d, p in cells}
    found = compare_all(samples, pairs=[(f"cubic {d:g} {p:g}", f"reno {d:g} {p:g}") for d, p in cells])
    outcomes = {}
    for (d, p), one in zip(cells, found, strict=True):
        larger = max(float(grid.get(v, d, p).mean()) for v in VARIANTS)
        side = one.direction if abs(one.difference.mean) >= EQUAL * larger else None
        measured = Measured.of(f"CUBIC less Reno, {d:g} ms, {p:g} %", one.difference, "Mbit/s")
        outcomes[d, p] = (side, measured)
    return outcomes


def _formulas(delay: float, loss: float) -> float:
    """Return CUBIC's throughput over Reno's by their formulas."""
    return float(cubic(delay, loss) / mathis(delay, loss))


def remarks(grid: Grid, long: Grid) -> dict[str, Remark]:
    """Return the remarks by claim."""
    steady = {(v, p): rtt_slope(DELAYS, [long.median(v, d, p) for d in DELAYS]) for v in VARIANTS for p in LOSSES}
    powers = {(v, d): rtt_slope(LOSSES, [grid.median(v, d, p) for p in LOSSES]) for v in VARIANTS for d in DELAYS}
    (near_reno, near_cubic), (far_reno, far_cubic) = (
        tuple(float(grid.get(v, d, p).mean()) for v in VARIANTS) for d, p in ((10.0, 1.0), (100.0, 0.1))
    )
    return {
        "delay-inverse": Remark(
            f"CUBIC's own power is -0.25 where its growth is the cubic one [RFC 9438 §5.1]: it grows by time, not by "
            f"round trips. In long transfers the powers are {min(steady.values()):.2f} to {max(steady.values()):.2f}",
            tuple(
                Measured.number(f"long transfers: power, {LABELS[v]}, {p:g} %", s) for (v, p), s in steady.items()
            ),
        ),
        "loss-falls": Remark(
            f"It is proportional to the loss to the power of {min(powers.values()):.2f} to "
            f"{max(powers.values()):.2f} (Mathis: -0.5, CUBIC: -0.75)",
            tuple(
                Measured.number(f"power of the loss, {LABELS[v]}, {d:g} ms", s) for (v, d), s in powers.items()
            ),
        ),
        "cubic-below-reno": Remark(
            f"At 10 ms and 1 % CUBIC has {near_cubic / near_reno:.2f} times Reno's throughput, at 100 ms and 0.1 % "
            f"{far_cubic / far_reno:.2f} times. There the formula of CUBIC's own growth [RFC 9438 §5.1] has "
            f"{_formulas(10.0, 1.0):.2f} and {_formulas(100.0, 0.1):.2f} times that of Reno. At each "
            "moment CUBIC takes the larger of this growth's window and its estimate of Reno's [RFC 9438 §4.3]",
            (
                *(Measured.of(f"{LABELS[v]}, {d:g} ms, {p:g} %", summarize(grid.get(v, d, p)), "Mbit/s")
                  for p in LOSSES for d in DELAYS for v in VARIANTS),
                *(measured for _, measured in sides(long).values()),
            ),
        ),
    }  # fmt: skip
