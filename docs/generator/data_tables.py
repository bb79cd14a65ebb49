"""Tables from CSV files: a line of a page that is only a link to a ``.csv`` file is shown as that table.

In the plain Markdown on a forge the line is a link to the file. ``[text](file.csv "{a} / {b}")`` shows a matrix
instead: the first column down, the second across, and in each cell the title of the link as a format.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection
from pathlib import Path

from dumbbell import registry
from dumbbell.report.tables import read_table

DOCS = Path(__file__).resolve().parents[1]
LINE = re.compile(r'^\[([^\]\n]+)\]\(([\w./-]+\.csv)(?: "([^"\n]*)")?\)$', re.MULTILINE)
REGISTRIES: dict[str, tuple[Callable[[], Collection[str]], str]] = {
    "variant": (registry.variants, "reference/variants"),
    "discipline": (registry.disciplines, "reference/disciplines"),
}


def replace(markdown: str, page: str) -> str:
    """Show every table of a page; ``page`` is its path in the documentation."""

    def shown(match: re.Match[str]) -> str:
        text, path, form = match.groups()
        table = read_table(DOCS / posixpath.dirname(page) / path)
        body = table.matrix(form) if form else table.markdown(lambda column, cell: _linked(column, cell, page))
        note = f"{table.note}.\n\n" if table.note else ""
        return f"**{text}** ([CSV]({path}))\n\n{note}{body}"

    return LINE.sub(shown, markdown)


def _linked(column: str, cell: str, page: str) -> str:
    """Link a name of a registry to its page."""
    if column not in REGISTRIES:
        return cell
    names, folder = REGISTRIES[column]
    if cell not in names():
        return cell
    return f"[`{cell}`]({posixpath.relpath(f'{folder}/{cell}.md', posixpath.dirname(page) or '.')})"
