"""The content of a report as plain data: of a study, or of the results of any scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dumbbell.plots import Picture
from dumbbell.studies.finding import Finding, Note, Table

if TYPE_CHECKING:
    from dumbbell.results.lint import Warned

__all__ = ["Content", "Ran"]


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
        What was changed in it for this run.
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
class Content:
    """Everything that a report shows.

    Attributes
    ----------
    title, kind, what : str
        Heading, what it is a report of, what it is for.
    source : str
        The publication whose experiment it repeats; empty without one.
    notice : str
        What the reader must know first, such as that it was a quick run.
    summary : sequence of str
    findings : sequence of (Finding, str)
        Verdicts, each with the claim's text.
    pictures, tables, notes : sequences
    figure_note : str
        What holds for all figures.
    warnings : sequence of (str, Warned)
        What speaks against the results, with the scenario that it is about.
    facts : sequence of (str, str)
        About versions, host, publication.
    definitions : str
        How the metrics are defined.
    ran : sequence of Ran
    again : str
        Commands that make the same again.
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
    notice: str = ""
    summary: Sequence[str] = ()
    findings: Sequence[tuple[Finding, str]] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[Note] = ()
    figure_note: str = ""
    warnings: Sequence[tuple[str, Warned]] = ()
    facts: Sequence[tuple[str, str]] = ()
    definitions: str = field(default="")

    @property
    def runs(self) -> int:
        """Runs that it rests on."""
        return sum(r.runs for r in self.ran)

    @property
    def counts(self) -> list[tuple[str, int]]:
        """Number of claims with each verdict."""
        verdicts = [f.verdict.value for f, _ in self.findings]
        return sorted((v, verdicts.count(v)) for v in set(verdicts))
