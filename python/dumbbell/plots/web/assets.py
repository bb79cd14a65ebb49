"""The scripts and the style sheet of figures, as texts for a page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["CHARTS", "bundle", "script", "style"]

FOLDER = files(__package__)
CHARTS = tuple(FOLDER / f"{name}.mjs" for name in ("dom", "scales", "marks", "grid", "interact", "panel", "panels"))
"""The modules that draw, which reports and the studio share, in the order of their imports."""


def script(*more: Traversable) -> str:
    """Return the JavaScript that draws every figure of a page; a page has it once, after its figures.

    `more` are further modules of the page.
    """
    return f'(() => {{\n"use strict";\n{bundle([*CHARTS, FOLDER / "figure.mjs", *more])}drawFigures();\n}})();\n'


@cache
def style() -> str:
    """Return the CSS of figures, with the page's colors in light and dark."""
    return (FOLDER / "figure.css").read_text(encoding="utf-8")


def bundle(modules: Iterable[Traversable]) -> str:
    """Join ES modules to one script: imports vanish, and what they import stands before.

    Parameters
    ----------
    modules : iterable of Traversable
        Files. Their top-level names differ, and their imports keep the names.
    """
    texts = [module.read_text(encoding="utf-8") for module in modules]
    if any(re.search(r"^import [^;]* as ", text, flags=re.MULTILINE) for text in texts):
        raise AssertionError("an import with another name would be lost")
    joined = "\n".join(re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE) for text in texts)
    return re.sub(r"^export ", "", joined, flags=re.MULTILINE)
