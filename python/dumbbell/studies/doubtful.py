"""Runs of a study that their back end has marked as invalid: counted, with the reasons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from dumbbell.common.words import counted
from dumbbell.results import Results

__all__ = ["invalid_runs"]

_NUMBER = re.compile(r"\d[\d.,e+-]*\d|\d")


def invalid_runs(results: Mapping[str, Results]) -> str:
    """Return a sentence with the number of invalid runs by experiment and the most frequent reason, or nothing."""
    parts: list[str] = []
    reasons, example = Counter[str](), dict[str, str]()
    for name, each in results.items():
        invalid = [run.invalid for run in each.runs if run.invalid]
        if invalid:
            parts.append(f"{len(invalid)} of {counted(len(each), 'run')} of {name}")
        for reason in (reason for run in invalid for reason in run):
            kind = _NUMBER.sub("#", reason)  # the same sentence with other numbers
            reasons[kind] += 1
            example.setdefault(kind, reason)
    if not parts:
        return ""
    kind, count = reasons.most_common(1)[0]
    which = f"the most frequent of {len(reasons)} reasons" if len(reasons) > 1 else "the reason"
    return (
        f"The back end has marked as invalid {', '.join(parts)}; verdicts and figures contain them. This is {which}, "
        f"given {counted(count, 'time')}: {example[kind]}."
    )
