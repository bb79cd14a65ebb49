"""What the analyses of several studies share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dumbbell.studies.finding import Finding, Verdict

__all__ = ["LABELS", "counted"]

LABELS = {
    "tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK", "vegas": "Vegas", "cubic": "CUBIC",
    "bbr": "BBR", "bbr1": "BBR", "bbr3": "BBRv3", "veno": "Veno",
}  # fmt: skip
"""How variants are written in words."""


def counted(findings: Sequence[Finding], claims: Mapping[str, str]) -> list[str]:
    """Say how many claims agree and differ, and for each that differs what was measured instead.

    Parameters
    ----------
    findings : sequence of Finding
    claims : mapping of str to str
        The claims' sentences by their ids.
    """
    counts = Counter(f.verdict for f in findings)
    parts = [f"{counts[v]} {words}" for v, words in (
        (Verdict.AGREES, "agree with what was measured"), (Verdict.DIFFERS, "differ"),
        (Verdict.NOT_MEASURED, "were not measured")) if counts[v]]  # fmt: skip
    return [
        f"Of the report's {len(findings)} claims, {', '.join(parts)}.",
        *(f"Differs: “{claims[f.claim]}” Measured: {f.why}." for f in findings if f.verdict is Verdict.DIFFERS),
    ]
