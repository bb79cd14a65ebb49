"""Texts in tables that a spreadsheet program would take for formulas, which could run commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import polars as pl

__all__ = ["without_formulas"]

FORMULA = r"^[=+\-@\t\r\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]"
"""Beginnings of a formula; the last four are the wide forms of the first four."""
NUMBER = r"^[+\-]([\d.,]+ ?%?)?$"
"""Texts with such a beginning that are numbers, and a sign alone."""

AnyFrame = TypeVar("AnyFrame", "pl.DataFrame", "pl.LazyFrame")


def without_formulas(frame: AnyFrame) -> AnyFrame:
    """Put an apostrophe before each text, and each name of a column, that a spreadsheet would take for a formula."""
    import polars as pl  # slow to import

    schema = frame.collect_schema()

    def harmless(name: str) -> pl.Expr:
        text = pl.col(name)
        formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
        return pl.when(formula).then("'" + text).otherwise(text).alias(name)

    names = pl.DataFrame({"name": list(schema)}, schema={"name": pl.String}).with_columns(harmless("name"))["name"]
    changed: dict[str, str] = {}
    for old, guarded in zip(schema, names, strict=True):
        new = guarded
        while new != old and new in schema:  # another column has this name
            new = f"'{new}"
        changed[old] = new
    texts = [harmless(name) for name, kind in schema.items() if kind == pl.String]
    return frame.with_columns(texts).rename(changed)
