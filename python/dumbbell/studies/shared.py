"""Shared by the analyses of several studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dumbbell.backends import Table
from dumbbell.studies.finding import Finding, Verdict

__all__ = ["LABELS", "column", "counted", "seconds"]

LABELS = {
    "tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK", "vegas": "Vegas", "cubic": "CUBIC",
    "bbr": "BBR", "bbr1": "BBR", "bbr3": "BBRv3", "veno": "Veno",
}  # fmt: skip
"""Names of variants in texts."""


def column(table: Table, name: str) -> npt.NDArray[np.float64]:
    """Take a column out of a traced table; (n,) float64, the unit of the table."""
    return table[name].astype(np.float64)


def seconds(table: Table, name: str = "t_ns") -> npt.NDArray[np.float64]:
    """Take times or durations out of a traced table; (n,) float64, s."""
    return column(table, name) * 1e-9


def counted(findings: Sequence[Finding], claims: Mapping[str, str]) -> list[str]:
    """Count the claims that agree and differ, and name the measurement of each that differs.

    Parameters
    ----------
    findings : sequence of Finding
    claims : mapping of str to str
        The claims' sentences by their ids.
    """
    counts = Counter(f.verdict for f in findings)
    parts = [f"{counts[v]} {words}" for v, words in (
        (Verdict.AGREES, "agree with the measurements"), (Verdict.DIFFERS, "differ"),
        (Verdict.NOT_MEASURED, "were not measured")) if counts[v]]  # fmt: skip
    return [
        f"Of {len(findings)} claims, {', '.join(parts)}.",
        *(f"Differs: “{claims[f.claim]}” Measured: {f.why}." for f in findings if f.verdict is Verdict.DIFFERS),
    ]
