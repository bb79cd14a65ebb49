"""The analysis of runs that have a study's decisive cells only: the claims for which these suffice.

A claim is judged if its rule compares decisive numbers, and all that it compares were measured. All others are
`not measured`: a part of a sweep decides no statement about all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module

import numpy as np
import numpy.typing as npt

from dumbbell.report.finding import Analysis, Finding, Verdict
from dumbbell.results import Results
from dumbbell.studies.declared import All, Setting
from dumbbell.studies.definition import Study
from dumbbell.studies.judge import Quantities, judge
from dumbbell.studies.listing import list_tables
from dumbbell.studies.partial import NotRunError
from dumbbell.studies.shared import counted

__all__ = ["analyze_decisive"]

NOT_COMPLETE = "the runs have a part of the values that it compares: the decisive cells only"


def analyze_decisive(study: Study, results: Mapping[str, Results], *, quick: bool) -> Analysis:
    """Judge the claims that the decisive cells suffice for; the figure of these cells is added by the caller."""
    measured: Quantities = import_module(f"dumbbell.studies.{study.folder.name}.measured").measured(results)
    metrics = {number.metric for number in study.kernel.decisive} if study.kernel is not None else set()
    found: dict[str, Finding] = {}
    for claim in study.paper.judged:
        values = _Values(measured, metrics)
        finding = judge(claim, replace(measured, get=values.get), found, quick=quick)
        if values.missing and not isinstance(claim.rule, All):
            finding = replace(finding, verdict=Verdict.NOT_MEASURED, measured=(), why=NOT_COMPLETE, needs=None)
        found[claim.id] = finding
    findings = list(found.values())
    return Analysis(findings, [], list_tables(study, findings), [counted(study.paper, findings)], [])


class _Values:
    """The decisive quantities, and whether others were asked for."""

    def __init__(self, measured: Quantities, metrics: set[str]) -> None:
        self._measured, self._metrics = measured, metrics
        self.missing = False

    def get(self, metric: str, at: Setting) -> npt.NDArray[np.float64]:
        """Return the values by repetition; none if one of the cells behind them was not run."""
        values: npt.NDArray[np.float64] = np.array([], dtype=np.float64)
        if metric in self._metrics:
            with suppress(NotRunError, LookupError, ValueError):  # such as a mean over cells, some of them not run
                values = self._measured.get(metric, at)
        self.missing = self.missing or not values.size
        return values
