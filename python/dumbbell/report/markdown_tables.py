"""Tables in a Markdown page that a program renews: what stands between two markers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dumbbell.exceptions import DumbbellError

__all__ = ["put_tables"]

END = "<!-- end -->"


def put_tables(page: str | os.PathLike[str], tables: Mapping[str, str]) -> None:
    """Replace what stands between ``<!-- table: NAME -->`` and ``<!-- end -->``, for each name.

    Raises
    ------
    DumbbellError
        If the page has no place for a table; it is left as it was.
    """
    path = Path(page)
    text = path.read_text(encoding="utf-8")
    for name, body in tables.items():
        begin = f"<!-- table: {name} -->\n"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(END)
        if not found:
            raise DumbbellError(f"{path} has no place for the table '{name}' ({begin.strip()} ... {END})")
        text = f"{before}{begin}\n{body}\n\n{END}{after}"
    path.write_text(text, encoding="utf-8")
