"""Figures written as PNG and SVG files, several at a time."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from dumbbell.plots.draw import draw, settings
from dumbbell.plots.spec import Picture

__all__ = ["Drawn", "save", "save_all"]

DPI = 130
"""Resolution of the PNG: about 960 pixels across for one panel."""


@dataclass(frozen=True)
class Drawn:
    """A figure, its files, and its SVG for an HTML page."""

    picture: Picture
    png: Path
    svg: Path
    inline: str


def save(picture: Picture, folder: str | os.PathLike[str]) -> Drawn:
    """Draw a figure and write ``NAME.png`` and ``NAME.svg`` into a folder."""
    place = Path(folder)
    png, svg = place / f"{picture.name}.png", place / f"{picture.name}.svg"
    figure = draw(picture)
    text = io.StringIO()
    # The salt makes the ids of the SVG the same each time, and different from those of other figures on a page.
    with settings({"svg.hashsalt": picture.name}):
        figure.savefig(png, dpi=DPI, metadata={"Software": None}, pil_kwargs={"compress_level": 3})
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg.write_text(text.getvalue(), encoding="utf-8")
    return Drawn(picture, png, svg, _inline(text.getvalue(), picture))


def _inline(svg: str, picture: Picture) -> str:
    """Extract the drawing of an SVG file, with ids that are unique to the figure."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{picture.name}-\1"', body)
    body = re.sub(r'(href="#|url\(#)', rf"\g<1>{picture.name}-", body)
    return body.replace("<svg ", '<svg role="img" ', 1)


def save_all(
    pictures: Sequence[Picture],
    folder: str | os.PathLike[str],
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Drawn]:
    """Draw figures, ``jobs`` at a time, and write their files into a folder, which is created if missing."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    moved = progress or (lambda _done, _all: None)
    done: list[Drawn] = []
    if jobs == 1 or len(pictures) < 2:
        for picture in pictures:
            done.append(save(picture, folder))
            moved(len(done), len(pictures))
        return done
    # Not "fork": the simulator's threads may hold locks that a child would wait for.
    # The fork server imports the slow modules once.
    context = get_context("forkserver")
    context.set_forkserver_preload(["dumbbell.plots.preload"])
    with ProcessPoolExecutor(min(jobs, len(pictures)), mp_context=context) as pool:
        for drawn in pool.map(save, pictures, [folder] * len(pictures)):
            done.append(drawn)
            moved(len(done), len(pictures))
    return done
