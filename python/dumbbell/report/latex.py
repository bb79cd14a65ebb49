r"""Tables in LaTeX, for a paper: booktabs rules, units in the head, numbers aligned by equal decimals.

The text needs ``\usepackage{booktabs}`` and nothing else. Every special character of a name is escaped, so a table
compiles whatever flows and scenarios are called.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

__all__ = ["escaped", "latex_table"]

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "[": "{[}", "]": "{]}", "*": "{*}", "±": r"$\pm$", "→": r"$\rightarrow$",
    "·": r"$\cdot$", "≤": r"$\leq$", "≥": r"$\geq$",
    "\u2212": "$-$", "\u00d7": r"$\times$", "\u00b5": r"$\mu$", "\u03bc": r"$\mu$",
    "…": r"\dots{}", "\u200b": "{}", "\u00a0": "~", "\u2013": "--", "\u2014": "---",
}  # fmt: skip
"""Characters that LaTeX reads as commands, or that its fonts may lack.

Brackets and stars are options of a line break (two backslashes) that they follow, so they are in braces.
"""
UNIT = re.compile(r"(.+?),? (?:in )?(bit/s|kbit/s|Mbit/s|Gbit/s|ms|s|%|kB|bytes)")
"""A heading that ends in its unit."""
DIGITS = 4
"""Significant digits of the largest number of a column."""
LEAST_DIGITS = 2
"""Significant digits that the smallest number keeps."""
MOST_DECIMALS = 6
NOTHING = "--"


def escaped(text: str) -> str:
    """Write a text for LaTeX; control characters become spaces."""
    apart = re.sub("-(?=-)", "-\u200b", text)  # two hyphens in a row would become a dash
    parts = (SPECIAL.get(c, c if c.isprintable() else " ") for c in apart)
    return "".join(parts)


def latex_table(
    frame: pl.DataFrame | tuple[Sequence[str], Iterable[Sequence[object]]],
    *,
    caption: str = "",
    units: Mapping[str, str] | None = None,
) -> str:
    r"""Return a table as LaTeX.

    Parameters
    ----------
    frame : DataFrame, or headings with rows
        Numbers are aligned to the right, all of a column with the same number of decimals; null and NaN are "--".
    caption : str
        Plain text; without it the result is a bare ``tabular``.
    units : mapping of str to str, optional
        Units of columns, which follow their headings in parentheses. A heading that ends in its unit needs none.

    Returns
    -------
    str
        A ``table`` that needs ``\usepackage{booktabs}``.

    Examples
    --------
    >>> import polars as pl
    >>> from dumbbell.report import latex_table
    >>> print(latex_table(pl.DataFrame({"name": ["a_1", "b"], "goodput Mbit/s": [9.5, 11.25]})))
    \begin{tabular}{lr}
      \toprule
      name & goodput (Mbit/s) \\
      \midrule
      a\_1 & 9.50 \\
      b & 11.25 \\
      \bottomrule
    \end{tabular}
    """
    headings, rows = (frame.columns, frame.rows()) if isinstance(frame, pl.DataFrame) else frame
    cells = [list(row) for row in rows]
    columns = [[row[n] for row in cells] for n in range(len(headings))]
    numeric = [all(_is_number(v) or v is None for v in column) for column in columns]
    texts = [_numbers(c) if is_one else [_text(v) for v in c] for c, is_one in zip(columns, numeric, strict=True)]
    head = [escaped(_heading(h, (units or {}).get(h, ""))) for h in headings]
    form = "".join("r" if is_one else "l" for is_one in numeric)
    body = [list(row) for row in zip(*texts, strict=True)] if cells else []
    lines = [f"\\begin{{tabular}}{{{form}}}", "  \\toprule", _row(head), "  \\midrule", *map(_row, body),
             "  \\bottomrule", "\\end{tabular}"]  # fmt: skip
    if not caption:
        return "\n".join(lines)
    inside = "\n".join(f"  {line}" for line in lines)
    return f"\\begin{{table}}\n  \\centering\n  \\caption{{{escaped(caption)}}}\n{inside}\n\\end{{table}}"


def _row(cells: Sequence[str]) -> str:
    return f"  {' & '.join(cells)} \\\\"


def _heading(heading: str, unit: str) -> str:
    found = UNIT.fullmatch(heading)
    if unit:
        return f"{heading} ({unit})"
    return f"{found[1]} ({found[2]})" if found else heading


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: object) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return str(value).lower()
    return escaped(f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value))


def _numbers(column: Sequence[object]) -> list[str]:
    """Write numbers with the same decimals: enough for the largest and for the smallest that is not zero."""
    known = [float(v) for v in column if isinstance(v, int | float) and math.isfinite(v)]
    whole = all(isinstance(v, int) for v in column if v is not None)
    sizes = [abs(v) for v in known if v]
    decimals = 0
    if sizes and not whole:
        wanted = max(DIGITS - 1 - _power(max(sizes)), LEAST_DIGITS - 1 - _power(min(sizes)))
        decimals = min(MOST_DECIMALS, max(0, wanted))
    return [_number(v, decimals) for v in column]


def _power(value: float) -> int:
    return math.floor(math.log10(value))


def _number(value: object, decimals: int) -> str:
    if not isinstance(value, int | float) or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    text = str(value) if isinstance(value, int) else f"{value:.{decimals}f}"
    return f"${text}$" if text.startswith("-") else text
