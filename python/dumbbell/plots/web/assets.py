"""The scripts and the style sheet of figures, as texts for a page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["script", "style"]

SCRIPTS = ("scales", "marks", "panel", "grid", "interact", "figure")
"""In the order in which each uses the ones before it."""


@cache
def script() -> str:
    """Return the JavaScript that draws every figure of a page; a page has it once, after its figures."""
    texts = [_read(f"{name}.js").removeprefix('"use strict";\n') for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "".join(texts) + "})();\n"


@cache
def style() -> str:
    """Return the CSS of figures, with the page's colors in light and dark."""
    return _read("figure.css")


def _read(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
