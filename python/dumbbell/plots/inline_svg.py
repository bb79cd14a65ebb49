"""The drawing of an SVG file as a part of a page: ids of its own, and as few characters as its picture needs."""

from __future__ import annotations

import html
import re
from itertools import groupby

__all__ = ["inline"]

_PATH = re.compile(r'<path d="([^"]*)" ([^>]*fill: none[^>]*)/>\s*')
_NUMBER = re.compile(r"(-?\d+\.\d\d)\d+")


def inline(svg: str, name: str, title: str) -> str:
    """Extract the drawing of an SVG file.

    Coordinates are in hundredths of a point. Lines of one style that follow each other, such as the segments of a
    sequence diagram, become one path.

    Parameters
    ----------
    svg : str
        Content of the file, as Matplotlib writes it.
    name : str
        Makes the ids unique among those of a page.
    title : str
        The label for readers who don't see the drawing.
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", body)
    body = re.sub(r'\b(?:d|x|y)="[^"]*"', lambda given: _short(given[0]), body)
    body = re.sub(r"(?:<path [^>]*fill: none[^>]*/>\s*){2,}", lambda given: _joined(given[0]), body)
    return body.replace("<svg ", f'<svg role="img" aria-label="{html.escape(title, quote=True)}" ', 1)


def _short(attribute: str) -> str:
    """Round coordinates, and leave out white space that a path doesn't need."""
    return re.sub(r"\s*([MLCQZ\"])\s*", r"\1", _NUMBER.sub(r"\1", attribute))


def _joined(paths: str) -> str:
    found = _PATH.findall(paths)
    styles = groupby(found, key=lambda path: path[1])
    return "\n".join(f'<path d="{"".join(d for d, _ in group)}" {style}/>' for style, group in styles) + "\n"
