"""The content of a report as plain data: of a study, or of the results of any scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dumbbell.plots import Picture
from dumbbell.report.finding import Finding, Note, Table, Verdict

if TYPE_CHECKING:
    from dumbbell.results.statistics.lint import LintWarning

__all__ = ["Content", "Lesson", "Ran"]


@dataclass(frozen=True)
class Ran:
    """One scenario that was run.

    Attributes
    ----------
    name, what : str
    cells, runs : int
    repetitions, duration, seeds : str
        In words.
    text : str
        The scenario as TOML.
    changes : sequence of str
        Changes made to it for this run.
    """

    name: str
    what: str
    cells: int
    runs: int
    repetitions: str
    duration: str
    seeds: str
    text: str
    changes: Sequence[str] = ()


@dataclass(frozen=True)
class Lesson:
    """What the runs teach, in a sentence and a figure.

    Attributes
    ----------
    question : str
        May be empty.
    sentence : str
        What the runs show.
    figure : str
        Name of a picture; empty without one.
    claims : sequence of (str, Verdict)
        The claims that it rests on, by their ids.
    text : str
        The reasons; may be empty.
    """

    question: str
    sentence: str
    figure: str
    claims: Sequence[tuple[str, Verdict]] = ()
    text: str = ""


@dataclass(frozen=True)
class Content:
    """Everything that a report shows.

    Attributes
    ----------
    title, kind, what : str
        The heading, the kind of report, the purpose.
    source : str
        The publication whose experiment it repeats; empty without one.
    setting : sequence of (str, str)
        The conditions of the runs, shown first: bottleneck, flows, swept values.
    notice : str
        A notice shown first, for instance that it was a quick run.
    lessons : sequence of Lesson
        What the runs teach, the first part of the page.
    summary : sequence of str
    findings : sequence of (Finding, str)
        Verdicts, each with the claim's text.
    sure : mapping of str to str
        By the id of a claim: how sure its verdict is.
    untestable : sequence of (str, str, str)
        Claims that no run can decide: id, text, reason.
    disclosed : sequence of str
        When the rules were written, and which of them changed after numbers were seen.
    revised : mapping of str to str
        By the id of a claim: what changed in its rule after numbers were seen.
    pictures, tables, notes : sequences
    figure_note : str
        A note on all figures.
    figure_bytes : int or None
        Most bytes of figures on the page: the first ones that fit; it links the files of others. None: no limit.
    warnings : sequence of (str, LintWarning)
        Weaknesses of the results, each with the scenario concerned.
    facts : sequence of (str, str)
        About versions, host, publication.
    definitions : str
        How the metrics are defined.
    ran : sequence of Ran
    again : str
        Commands that repeat the runs and the report.
    """

    title: str
    kind: str
    what: str
    version: str
    begun: str
    ran: Sequence[Ran]
    pictures: Sequence[Picture]
    again: str
    source: str = ""
    setting: Sequence[tuple[str, str]] = ()
    notice: str = ""
    lessons: Sequence[Lesson] = ()
    summary: Sequence[str] = ()
    findings: Sequence[tuple[Finding, str]] = ()
    sure: Mapping[str, str] = field(default_factory=dict)
    untestable: Sequence[tuple[str, str, str]] = ()
    disclosed: Sequence[str] = ()
    revised: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[Table] = ()
    notes: Sequence[Note] = ()
    figure_note: str = ""
    figure_bytes: int | None = None
    warnings: Sequence[tuple[str, LintWarning]] = ()
    facts: Sequence[tuple[str, str]] = ()
    definitions: str = field(default="")

    @property
    def runs(self) -> int:
        """Number of runs behind the report."""
        return sum(r.runs for r in self.ran)

    @property
    def by_verdict(self) -> dict[Verdict, list[tuple[Finding, str]]]:
        """The findings by their verdicts, decided ones first."""
        found = {v: [(f, text) for f, text in self.findings if f.verdict is v] for v in Verdict}
        return {verdict: each for verdict, each in found.items() if each}
