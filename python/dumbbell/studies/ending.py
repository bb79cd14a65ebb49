"""The last lines that a study prints: what was run, the verdicts by number, the lessons, the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.common.words import counted
from dumbbell.studies.report import lessons_of

if TYPE_CHECKING:
    from dumbbell.studies.done import Done

__all__ = ["MOST", "ending"]

MOST = 10
"""Lines at most: a first look fits on any screen."""


def ending(done: Done, *, all_: bool = False) -> list[tuple[str, str]]:
    """Return the last lines, `MOST` at most, each with the word that heads it.

    Parameters
    ----------
    done : Done
    all_ : bool
        True if everything was printed before, so that no line names the option for it.
    """
    quick = " (quick: fewer repetitions and points)" if done.quick else ""
    first = [("study", f"{done.study.name}: {counted(done.runs, 'run')} in {done.seconds:.1f} s{quick}")]
    summary = done.analysis.summary
    if done.analysis.findings:
        first.append(("verdicts", summary[0]))
        middle = [("lesson", f"{x.question} {x.sentence}") for x in lessons_of(done) if x.question]
    else:
        middle = [("result", sentence) for sentence in summary]
    last = [("kernel", done.column.summary)] if done.column is not None else []
    last += [] if all_ else [("more", "--all prints every claim with its result, and every file")]
    last += [("numbers", f"{done.out / 'study.json'}, {done.out / 'tables'}/*.csv"), ("report", f"{done.report}")]
    return [*first, *middle[: MOST - len(first) - len(last)], *last]
