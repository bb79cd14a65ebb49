"""The report as Markdown, for a repository, with its figures as files beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.common.words import counted
from dumbbell.report.content import Content

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.plots import Drawn

__all__ = ["markdown"]

ROWS = 60


def markdown(content: Content, drawn: Sequence[Drawn], place: Path) -> str:
    """Write the report; links to figures are relative to `place`."""
    after = f", {content.source}" if content.source else ""
    made = f"{counted(content.runs, 'run')} in Dumbbell {content.version}, {content.begun} UTC"
    parts = [f"# {_text(content.title)}", f"{content.kind}{after}. {made}."]
    parts += [f"> {content.notice}"] if content.notice else []
    parts += [content.what.strip()] if content.what.strip() else []
    if content.summary:
        parts += ["## Summary", "\n".join(f"- {sentence}" for sentence in content.summary)]
    if content.findings:
        rows = [
            f"| {f.verdict.value} | {_cell(text)} | {_cell(f.why + _revised(content.revised.get(f.claim)))} |"
            for f, text in content.findings
        ]
        parts += ["## Claims", "\n".join(["| verdict | claim | result |", "|---|---|---|", *rows])]
        parts += ["\n".join(f"- {sentence}" for sentence in content.disclosed)] if content.disclosed else []
    if content.warnings:
        lines = [f"- {f'{name}: ' if name else ''}{warned}" for name, warned in content.warnings]
        parts += ["## Warnings", "\n".join(lines)]
    if drawn:
        parts.append("## Figures")
        for d in drawn:
            title = _text(d.picture.title)
            parts += [f"### {title}", f"![{title}]({_relative(d.png, place)})"]
            parts += [d.picture.reading] if d.picture.reading else []
    for table in content.tables:
        parts += [f"## {_text(table.title)}", _table(table.frame)]
    for note in content.notes:
        parts += [f"## {note.headline}", note.text]
    parts += ["## Runs", "\n".join(f"- {_text(name)}: {_text(fact)}" for name, fact in content.facts)]
    for ran in content.ran:
        times = f"{counted(ran.cells, 'cell')} x {counted(ran.repetitions, 'repetition')} of {ran.duration}"
        parts += [f"### {ran.name}", f"{ran.what}. {times}, seed {ran.seeds}."]
        parts += ["Changed:", "\n".join(f"- `{c}`" for c in ran.changes)] if ran.changes else []
        parts += [f"```toml\n{ran.text.strip()}\n```"]
    parts += ["## Run it again", f"```\n{content.again}\n```"]
    return "\n\n".join(parts) + "\n"


def _revised(revision: str | None) -> str:
    return f". Rule revised after numbers were seen: {revision}" if revision else ""


def _relative(path: Path, place: Path) -> str:
    import os  # pathlib can't walk up before Python 3.12

    return Path(os.path.relpath(path, place)).as_posix()


def _table(frame: pl.DataFrame) -> str:
    lines = [f"| {' | '.join(_cell(c) for c in frame.columns)} |", f"|{'---|' * frame.width}"]
    lines += [f"| {' | '.join(_cell(v) for v in row)} |" for row in frame.head(ROWS).iter_rows()]
    more = frame.height - ROWS
    return "\n".join(lines) + (f"\n\n{more} more rows are in the CSV file." if more > 0 else "")


def _cell(value: object) -> str:
    text = "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return _text(text).replace("|", "\\|")


def _text(text: str) -> str:
    """Write a name in a line of its own: without line breaks and control characters, and without tags of HTML."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", line)
