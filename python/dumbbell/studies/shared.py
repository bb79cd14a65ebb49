"""Shared by the analyses of several studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dumbbell import registry
from dumbbell.backends import Table
from dumbbell.common import words
from dumbbell.report.finding import Finding, Verdict
from dumbbell.scenario import Scenario
from dumbbell.studies.rule_words import QUICK

if TYPE_CHECKING:
    from dumbbell.studies.paper import Paper

__all__ = ["LABELS", "Floats", "claims_text", "column", "counted", "endpoint", "quick_rules", "seconds"]

Floats = npt.NDArray[np.float64]

LABELS = {
    "tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK", "vegas": "Vegas", "bic": "BIC",
    "cubic": "CUBIC", "bbr": "BBR", "bbr1": "BBR", "bbr3": "BBRv3", "veno": "Veno",
}  # fmt: skip
"""Names of variants in texts."""


def column(table: Table, name: str) -> Floats:
    """Take a column out of a traced table; (n,) float64, the unit of the table."""
    return table[name].astype(np.float64)


def seconds(table: Table, name: str = "t_ns") -> Floats:
    """Take times or durations out of a traced table; (n,) float64, s."""
    return column(table, name) * 1e-9


def endpoint(scenario: Scenario) -> dict[str, Any]:
    """Return the parameters of the stack of a scenario's first TCP flow: those that it sets, and the defaults."""
    stack = next(stack for flow in scenario.flows if (stack := flow.endpoint_stack) is not None)
    return {p.name: p.default for p in registry.stack(stack.name).params} | dict(stack.params)


def claims_text(paper: Paper) -> str:
    """Return the number of a publication's claims, and of those that no run can decide."""
    total, judged = len(paper.claims), len(paper.judged)
    parts = [f"{judged} judged", f"{total - judged} not testable"] if judged < total else ["all judged"]
    return f"{words.counted(total, 'claim')}: {', '.join(parts)}"


def counted(paper: Paper, findings: Sequence[Finding]) -> str:
    """Count the claims by verdict in a sentence."""
    counts = Counter(f.verdict for f in findings)
    parts = [f"{n} {one if n == 1 else more}" for verdict, (one, more) in COUNTED.items() if (n := counts[verdict])]
    return f"{claims_text(paper)}. {', '.join(parts)}."


def quick_rules(findings: Sequence[Finding], names: Container[str]) -> list[Finding]:
    """Add the levels of a quick study to the rules of these claims."""
    return [replace(f, rule=f"{f.rule} {QUICK}") if f.claim in names else f for f in findings]


COUNTED = {
    Verdict.AGREES: ("agrees with the measurements", "agree with the measurements"),
    Verdict.DIFFERS: ("differs", "differ"),
    Verdict.DEPENDS: ("depends on the setting", "depend on the setting"),
    Verdict.UNDECIDED: ("is undecided at this budget", "are undecided at this budget"),
    Verdict.NOT_MODELED: ("can't be shown by the model", "can't be shown by the model"),
    Verdict.NOT_MEASURED: ("was not measured", "were not measured"),
}
