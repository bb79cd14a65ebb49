"""The report as Markdown, for a repository, with its figures as files beside it.

Names and texts come from scenarios: they are shown as they are, and none becomes markup, HTML or a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

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
    parts = [f"# {_text(content.title)}", _text(f"{content.kind}{after}. {made}.")]
    parts += [f"> {_text(content.notice)}"] if content.notice else []
    parts += [_text(paragraph) for paragraph in content.what.split("\n\n") if paragraph.strip()]
    figures = {d.picture.name: _figure(d, place) for d in drawn}
    if content.lessons:
        parts.append("## Lessons")
        for lesson in content.lessons:
            parts += [f"### {_text(lesson.question)}"] if lesson.question else []
            parts += [_text(lesson.sentence), *figures.pop(lesson.figure, ())]
    if content.summary:
        parts += ["## Summary", _list(content.summary)]
    if content.findings:
        rows = [
            f"| {f.verdict.value} | {_text(text)} | {_text(f.why + _revised(content.revised.get(f.claim)))} |"
            for found in content.by_verdict.values()
            for f, text in found
        ]
        rows += [f"| not testable | {_text(text)} | {_text(reason)} |" for _, text, reason in content.untestable]
        parts += ["## Claims", "\n".join(["| verdict | claim | result |", "|---|---|---|", *rows])]
        parts += [_list(content.disclosed)] if content.disclosed else []
    if content.warnings:
        parts += ["## Warnings", _list([f"{f'{name}: ' if name else ''}{warned}" for name, warned in content.warnings])]
    if figures:
        parts.append("## Figures")
        for d in drawn:
            if d.picture.name in figures:
                parts += [f"### {_text(d.picture.title)}", *figures[d.picture.name]]
    for table in content.tables:
        parts += [f"## {_text(table.title)}", _table(table.frame)]
    for note in content.notes:
        parts += [f"## {_text(note.headline)}", _text(note.text)]
    parts += ["## Runs", _list([f"{name}: {fact}" for name, fact in content.facts])]
    for ran in content.ran:
        times = f"{counted(ran.cells, 'cell')} x {counted(ran.repetitions, 'repetition')} of {ran.duration}"
        parts += [f"### {_text(ran.name)}", _text(f"{ran.what}. {times}, seed {ran.seeds}.")]
        parts += ["Changed:", _list(ran.changes)] if ran.changes else []
        parts += [_block(ran.text.strip(), "toml")]
    parts += ["## Run it again", _block(content.again)]
    return "\n\n".join(parts) + "\n"


def _figure(d: Drawn, place: Path) -> list[str]:
    """Return the link to a figure, and what it shows."""
    link = f"![{_text(d.picture.title)}]({_relative(d.png, place)})"
    return [link, _text(d.picture.reading)] if d.picture.reading else [link]


def _revised(revision: str | None) -> str:
    return f". {revision}" if revision else ""


def _relative(path: Path, place: Path) -> str:
    import os  # pathlib can't walk up before Python 3.12

    return quote(Path(os.path.relpath(path, place)).as_posix())


def _table(frame: pl.DataFrame) -> str:
    lines = [f"| {' | '.join(_cell(c) for c in frame.columns)} |", f"|{'---|' * frame.width}"]
    lines += [f"| {' | '.join(_cell(v) for v in row)} |" for row in frame.head(ROWS).iter_rows()]
    more = frame.height - ROWS
    return "\n".join(lines) + (f"\n\n{more} more rows are in the CSV file." if more > 0 else "")


def _cell(value: object) -> str:
    return _text("-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value))


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {_text(text)}" for text in texts)


def _block(text: str, language: str = "") -> str:
    """Write a block of code; its fence is longer than any in the text."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{language}\n{text}\n{fence}"


_MARKS = re.compile(r"""[\\`*\[\]|~$]|(?<!\w)_|_(?!\w)|(?<=[a-zA-Z]):(?=//)|(?<=www)\.|(?<=\w)@(?=\w)""")
"""Characters of marks, tables and links within a line, the links of GitHub too, which have no brackets."""
_BEGINS = re.compile(r"(?:[0-9]{1,9}(?=[.)](?: |$))|(?=[#+=-]+(?: |$)))")
"""What stands before the first sign of a list, a heading or a line below a heading."""


def _text(text: str) -> str:
    """Write a text as one line that shows it as it is: no marks, no tags or entities of HTML, no links."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    begins = _BEGINS.match(line)
    line = _MARKS.sub(r"\\\g<0>", line)
    if begins:
        line = f"{begins[0]}\\{line[begins.end() :]}"
    line = re.sub(r"&(?=#?\w+;)", "&amp;", line)
    return line.replace("<", "&lt;").replace(">", "&gt;")
