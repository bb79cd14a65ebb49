"""The layout of a table on a terminal: a table that is too wide is folded, or divided into blocks of columns.

A number is never cut or broken. Where it is enough, headings and texts are folded. Otherwise the columns are divided
into blocks, and each block begins with the columns that identify a row.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from functools import cached_property

__all__ = ["Column", "layout"]

GAP = "   "
LONGEST_WORD = 24
"""Words of texts are kept whole up to this width, in characters: most names have less."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, its cells, and True if its cells are numbers.

    ``narrowed`` is the width in characters if it has less than it needs.
    """

    name: str
    texts: tuple[str, ...]
    numeric: bool
    narrowed: int | None = None

    @cached_property
    def full(self) -> int:
        """Width in characters that needs no folding."""
        return max(map(len, [self.name, *self.texts]))

    @cached_property
    def least(self) -> int:
        """The smallest width in characters: whole words and numbers."""
        words = [word for text in self.texts for word in ([text] if self.numeric else text.split())]
        cells = max(map(len, words), default=0)
        heading = max(map(len, self.name.split()), default=0)
        return max(heading, cells if self.numeric else min(cells, LONGEST_WORD))

    @property
    def width(self) -> int:
        """Width in characters."""
        return self.full if self.narrowed is None else self.narrowed

    def lines(self, text: str) -> list[str]:
        """Fold a cell or the heading to the width."""
        if len(text) <= self.width:
            return [text]
        return textwrap.wrap(text, self.width, break_on_hyphens=False)

    def aligned(self, text: str) -> str:
        """Return a cell with spaces: numbers are aligned to the right."""
        return text.rjust(self.width) if self.numeric else text.ljust(self.width)


def layout(columns: list[Column], width: int | None) -> list[str]:
    """Return a table's lines.

    Parameters
    ----------
    columns : list of Column
    width : int or None
        Characters in a line of the terminal; None: as many as the table needs.
    """
    if width is None or _width(columns) <= width or not columns:
        return _lines(columns)
    lines: list[str] = []
    for block in _blocks(columns, width):
        lines += [*([""] if lines else []), *_lines(_fitted(block, width))]
    return lines


def _width(columns: list[Column], least: bool = False) -> int:
    """Return the characters of a line: a space before and after the columns, and the gaps between them."""
    return 2 + sum(c.least if least else c.width for c in columns) + len(GAP) * (len(columns) - 1)


def _blocks(columns: list[Column], width: int) -> list[list[Column]]:
    """Divide columns into as few blocks as fit when they are folded; each has a column that identifies no row."""
    if _width(columns, least=True) <= width:
        return [columns]
    keys = columns[: _identifying(columns)]
    blocks: list[list[Column]] = []
    for column in columns[len(keys) :]:
        if blocks and _width([*blocks[-1], column], least=True) <= width:
            blocks[-1].append(column)
        else:
            blocks.append([*keys, column])
    return blocks or [columns]


def _identifying(columns: list[Column]) -> int:
    """Return the number of leading columns that differ from row to row; 1 if rows are equal."""
    for n in range(1, len(columns)):
        rows = list(zip(*(column.texts for column in columns[:n]), strict=True))
        if len(set(rows)) == len(rows):
            return n
    return 1


def _fitted(columns: list[Column], width: int) -> list[Column]:
    """Narrow the columns of a block to the terminal; the one that lacks most gets the next character."""
    widths = [column.least for column in columns]
    for _ in range(width - _width(columns, least=True)):
        lacking = [column.full - given for column, given in zip(columns, widths, strict=True)]
        if max(lacking) <= 0:
            break
        widths[lacking.index(max(lacking))] += 1
    return [replace(column, narrowed=given) for column, given in zip(columns, widths, strict=True)]


def _lines(columns: list[Column]) -> list[str]:
    rule = " " + "─" * (_width(columns) - 1)
    lines = [*_row(columns, [column.name for column in columns], from_below=True), rule]
    for texts in zip(*(column.texts for column in columns), strict=True):
        lines += _row(columns, list(texts))
    return lines


def _row(columns: list[Column], texts: list[str], *, from_below: bool = False) -> list[str]:
    """Return a row's lines; a heading of few lines is beside the last ones of the others."""
    cells = [column.lines(text) for column, text in zip(columns, texts, strict=True)]
    height = max(map(len, cells))
    padded = [[""] * (height - len(c)) + c if from_below else c + [""] * (height - len(c)) for c in cells]
    return [
        " " + GAP.join(c.aligned(part) for c, part in zip(columns, parts, strict=True)).rstrip()
        for parts in zip(*padded, strict=True)
    ]
