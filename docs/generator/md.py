"""Small pieces of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cell(text: object) -> str:
    """Make a text safe within a table; long texts of the sources hold line breaks."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table."""
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def fenced(text: str, language: str = "text") -> str:
    """Write a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def escaped(text: str) -> str:
    """Keep brackets that hold references, as the sources write them, from being links."""
    return text.replace("[", "\\[").replace("]", "\\]").replace("_", "\\_").replace("*", "\\*").replace("<", "&lt;")
