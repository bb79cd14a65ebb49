"""Output of the command line: tables and documents on stdout, messages and progress on stderr.

Rich is imported only where it is needed, such as for a progress bar: it takes long to import.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Literal

import click

from dumbbell.cli.front import FORMAT
from dumbbell.cli.table_layout import Column, layout
from dumbbell.common.activity import heard
from dumbbell.exceptions import bounded

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from rich.console import Console

    from dumbbell.results.frames.summary import Summary

__all__ = [
    "document",
    "errors",
    "is_latex",
    "line",
    "note",
    "parts",
    "print_frame",
    "print_rows",
    "print_summary",
    "print_table",
    "progress",
    "reserved",
    "stderr",
    "stdout",
    "visible",
]


def stdout(width: int = 10_000) -> Console:
    """Return a console for data. Lines in a pipe or file may be ``width`` long."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else width, highlight=False)


def stderr() -> Console:
    """Return a console for messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def visible(text: str) -> str:
    """Replace characters that control a terminal, such as in a name, by their codes."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and newline, those that change the direction of text, and halves of surrogate pairs."""


def errors(message: str) -> None:
    """Print an error's lines."""
    for line in bounded(message).split("\n"):
        click.echo(click.style("error: ", fg="red", bold=True) + visible(line), err=True)


def note(message: str) -> None:
    """Print a message."""
    click.echo(visible(message), err=True)


def document(content: object) -> None:
    """Print one JSON document."""
    if is_latex():
        raise click.UsageError("--format latex: can't be combined with --json")
    json.dump(content, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def parts(documents: Iterable[Iterable[bytes]], *, as_list: bool) -> None:
    """Print JSON documents that come in parts: one, or a list of them."""
    if is_latex():
        raise click.UsageError("--format latex: can't be combined with --json")
    stream = sys.stdout.buffer
    for n, document in enumerate(documents):
        if as_list:
            stream.write(b", " if n else b"[")
        for part in document:
            stream.write(part)
    stream.write(b"]\n" if as_list else b"\n")
    stream.flush()


@contextmanager
def reserved(wanted: bool) -> Iterator[None]:
    """Send what code of a scenario prints to stderr, if that is wanted: stdout is for one document then."""
    if not wanted:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def is_latex() -> bool:
    """Return True if the command was called with ``--format latex``."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and ctx.meta.get(FORMAT) == "latex"


def line(text: str) -> None:
    """Print lines of text; between tables in LaTeX they are comments."""
    text = visible(text)
    lines = (f"% {part}" if part else "" for part in text.split("\n"))
    click.echo("\n".join(lines) if is_latex() else text)


def print_table(
    title: str, headings: Iterable[str], rows: Iterable[Iterable[object]], units: Mapping[str, str] | None = None
) -> None:
    """Print a table; numbers are aligned to the right. `layout` folds or divides it where the terminal is too narrow.

    Parameters
    ----------
    units : mapping of str to str, optional
        Units of columns that the title names: a table in LaTeX has them in its head.
    """
    if is_latex():
        from dumbbell.report import latex_table

        click.echo(latex_table((list(headings), [list(row) for row in rows]), caption=title, units=units))
        return
    cells = [list(row) for row in rows]
    names = [_one_line(name) for name in headings]
    title = _one_line(title)
    columns = [
        Column(name, tuple(_cell(row[n]) for row in cells), all(_is_number(row[n]) for row in cells))
        for n, name in enumerate(names)
    ]
    width = get_terminal_size().columns if sys.stdout.isatty() else None
    click.echo("\n".join([click.style(title, bold=True), "", *layout(columns, width), ""]))


def print_frame(title: str, frame: pl.DataFrame, units: Mapping[str, str] | None = None) -> None:
    """Print a polars frame as a table."""
    print_table(title, frame.columns, frame.iter_rows(), units)


def print_rows(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows with the same keys as a table; nothing if there is none."""
    if rows:
        print_table(title, rows[0], (row.values() for row in rows))


def print_summary(title: str, table: Summary, *, every_row: bool, units: Mapping[str, str] | None = None) -> None:
    """Print a summary: every row, or the extremes where the rows are too many to read."""
    from dumbbell.results.frames.extremes import READABLE, extremes

    if len(table.rows) > READABLE and not every_row:
        title += f": the extremes of {len(table.rows)} rows (--all prints every row)"
        table, units = extremes(table), None
    print_table(title, [*table.keys, *table.metrics], table.rows, units)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) or value is None


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    return _one_line(str(value))


def _one_line(text: str) -> str:
    """Replace control characters, tab and newline by their codes: they would break a table."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


@contextmanager
def progress(what: str, unit: Literal["", "bytes"] = "") -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on stderr if that is a terminal; gives the function that moves it."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.cells import cell_len
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    console = stderr()
    count = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    # The count, the time and the spaces need this; the name gets the rest, so that a long one hides no number.
    numbers = (18 if unit == "bytes" else 11) + len(" 0:00:00 left ")
    shortest = max(console.width // 6, 1)

    def title(text: str) -> str:
        shown = Text(text)
        shown.truncate(max(console.width - numbers - shortest, 1), overflow="ellipsis")
        return shown.plain

    name = title(what)
    bar_width = min(max(console.width - numbers - cell_len(name), shortest), 40)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width), count, TimeRemainingColumn())
    with Progress(*columns, TextColumn("left"), console=console, transient=True) as bar:
        task = bar.add_task(name, total=None)

        def show(text: str) -> None:
            bar.update(task, description=title(f"{what}: {text}" if text else what), refresh=True)

        with heard(show):
            yield lambda done, all_: bar.update(task, completed=done, total=all_)
