"""Tables that programs measure: stored as CSV files, written as Markdown where people read them.

The benchmarks and the comparisons under ``validation`` write their tables into ``docs/data``; the pages of the
documentation render them when they are built. A file can be loaded as it is (``polars.read_csv(path,
comment_prefix="#")``): one number per cell, its unit in the title, no Markdown. Three titles have a meaning:

- ``NAME ±`` follows the column ``NAME`` and holds its standard deviation or error; both are shown as one cell;
- ``outside`` holds the titles of the row's cells that are outside of their tolerance (separated by ``; ``); these
  cells are shown in bold, and the column itself isn't shown;
- ``variant`` and ``discipline`` hold names of the registries; a page links them.

A line ``# ...`` before the titles describes how and when the table was measured.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.common.words import counted
from dumbbell.exceptions import DumbbellError

__all__ = ["Table", "read_table", "write_tables"]

NOTE = "# "
SPREAD = " ±"
OUTSIDE = "outside"
NUMBER = re.compile(r"\**[-+]?[\d.]")


@dataclass(frozen=True)
class Table:
    """A table of texts, as its CSV file has it.

    Attributes
    ----------
    columns : sequence of str
        Titles, each once.
    rows : sequence of sequence of str
        One text per column.
    note : str
        How and when it was measured; may be empty.

    Raises
    ------
    DumbbellError
        If a title occurs twice, or if a row hasn't one cell per column.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns):
            raise DumbbellError(f"a title occurs twice: {', '.join(self.columns)}")
        for row in self.rows:
            if len(row) != len(self.columns):
                found, columns = counted(len(row), "cell"), counted(len(self.columns), "column")
                raise DumbbellError(f"{found} in a table of {columns}: {', '.join(row)}")

    def csv(self) -> str:
        """Return the content of the CSV file."""
        out = io.StringIO()
        if self.note:
            out.write(f"{NOTE}{self.note}\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()

    def markdown(self, link: Callable[[str, str], str] = lambda _column, text: text) -> str:
        """Return the table in Markdown; numbers are aligned to the right.

        Parameters
        ----------
        link : callable
            Gives the Markdown of a cell from its title and its text.
        """
        shown = [c for c in self.columns if c != OUTSIDE and not self._is_spread(c)]
        cells = [[self._cell(column, row, link) for column in shown] for row in self.records()]
        right = [all(not row[n] or NUMBER.match(row[n]) for row in cells) for n in range(len(shown))]
        rule = ["--:" if numbers else "---" for numbers in right]
        return "\n".join("| " + " | ".join(line) + " |" for line in [shown, rule, *cells])

    def matrix(self, form: str) -> str:
        """Return a matrix in Markdown: rows by the first column, columns by the second, cells by a format.

        Parameters
        ----------
        form : str
            The cell's format, with titles in braces: ``{goodput} ({published})``.
        """
        down, across = self.columns[:2]
        records = self.records()
        by = {(r[down], r[across]): form.format_map(r) for r in records}
        names = list(dict.fromkeys(r[across] for r in records))
        lines = [[f"{down} \\ {across}", *names], ["---", *["--:"] * len(names)]]
        lines += [
            [row, *(by.get((row, name), "") for name in names)] for row in dict.fromkeys(r[down] for r in records)
        ]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def records(self) -> list[dict[str, str]]:
        """Return the rows by title."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def _is_spread(self, column: str) -> bool:
        return column.endswith(SPREAD) and column.removesuffix(SPREAD) in self.columns

    def _cell(self, column: str, row: Mapping[str, str], link: Callable[[str, str], str]) -> str:
        text = link(column, row[column].replace("|", "\\|"))
        if spread := row.get(column + SPREAD):
            text = f"{text} ± {spread}"
        return f"**{text}**" if column in row.get(OUTSIDE, "").split("; ") else text


def write_tables(folder: str | os.PathLike[str], tables: Mapping[str, Table]) -> None:
    """Write ``NAME.csv`` into a folder for each table."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        (place / f"{name}.csv").write_text(table.csv(), encoding="utf-8")


def read_table(path: str | os.PathLike[str]) -> Table:
    """Read a table that `write_tables` wrote.

    Raises
    ------
    DumbbellError
        If the file can't be read or isn't such a table.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as e:
        raise DumbbellError(f"{path}: {e.strerror}") from None
    note = lines.pop(0).removeprefix(NOTE) if lines and lines[0].startswith(NOTE) else ""
    rows = list(csv.reader(lines))
    if not rows:
        raise DumbbellError(f"{path}: a table needs a line of titles")
    return Table(rows[0], rows[1:], note)
