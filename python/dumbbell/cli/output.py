"""Output of the command line: tables and documents on stdout, messages and progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

__all__ = ["document", "errors", "note", "print_frame", "print_table", "progress", "stderr", "stdout"]


def stdout(width: int = 10_000) -> Console:
    """A console for data. Into a pipe or file, lines may be ``width`` long."""
    return Console(width=None if sys.stdout.isatty() else width, highlight=False)


def stderr() -> Console:
    """A console for messages."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def errors(message: str) -> None:
    """Print an error's lines."""
    console = stderr()
    for line in message.splitlines():
        console.print(Text("error: ", style="bold red").append(line, style="default not bold"))


def note(message: str) -> None:
    """Print a message."""
    stderr().print(Text(message))


def document(content: object) -> None:
    """Print one JSON document."""
    json.dump(content, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def print_table(title: str, headings: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table; numbers are aligned to the right."""
    cells = [list(row) for row in rows]
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for n, heading in enumerate(headings):
        numeric = all(isinstance(row[n], int | float) or row[n] is None for row in cells)
        table.add_column(heading, justify="right" if numeric else "left")
    for row in cells:
        table.add_row(*(Text(_cell(value)) for value in row))
    stdout().print(table)


def print_frame(title: str, frame: pl.DataFrame) -> None:
    """Print a polars frame as a table."""
    print_table(title, frame.columns, frame.iter_rows())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)


@contextmanager
def progress(what: str, unit: Literal["", "bytes"] = "") -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on stderr if that is a terminal; gives the function that moves it."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    count = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=stderr(), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, all_: bar.update(task, completed=done, total=all_)
