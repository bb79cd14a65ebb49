"""Figures written as PNG and SVG files, several at a time."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from threading import Thread
from types import ModuleType

from dumbbell.plots.draw import draw, settings
from dumbbell.plots.inline_svg import inline
from dumbbell.plots.spec import Picture

__all__ = ["Drawn", "save", "save_all"]

DPI = 130
"""Resolution of the PNG: about 960 pixels across for one panel."""
WAIT_S = 0.1
"""Longest wait for a figure, s: Python handles Ctrl-C between two waits."""


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
    facts = {"Title": picture.title, "Description": picture.small_print}
    text = io.StringIO()
    # The salt makes the ids of the SVG the same each time, and different from those of other figures on a page.
    with settings(more={"svg.hashsalt": picture.name}):
        figure.savefig(png, dpi=DPI, metadata={**facts, "Software": None}, pil_kwargs={"compress_level": 3})
        figure.savefig(text, format="svg", metadata={**facts, "Date": None, "Creator": None})
    svg.write_text(text.getvalue(), encoding="utf-8")
    return Drawn(picture, png, svg, inline(text.getvalue(), picture.name, picture.title))


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
    # Not "fork": the simulator's threads may hold locks that a child would wait for. Not "forkserver": a process that
    # the server is about to start can't be ended.
    others = set(active_children())
    with ProcessPoolExecutor(
        min(jobs, len(pictures)), mp_context=get_context("spawn"), initializer=_end_with_parent
    ) as pool:
        try:
            with _without_main(), _without_interrupts():  # the first call starts all processes
                futures = [pool.submit(save, picture, folder) for picture in pictures]
            for future in futures:
                # With a timeout: a library's signal handler may keep Ctrl-C from interrupting a wait without one.
                while not future.done():
                    wait([future], timeout=WAIT_S)
                done.append(future.result())
                moved(len(done), len(pictures))
        except BaseException:
            # The end of the pool would wait for every figure.
            for process in set(active_children()) - others:
                process.terminate()
            raise
    return done


def _end_with_parent() -> None:
    """End this process as soon as the one that has started it ends.

    A process of a pool waits for its next task on a pipe whose other end it holds too, so that it would wait forever
    after the other process was killed.
    """
    parent = parent_process()
    if parent is not None:
        Thread(target=_wait_and_end, args=(parent.sentinel,), daemon=True).start()


def _wait_and_end(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT for this time and in new processes.

    Ctrl-C reaches every process of the terminal: this one ends the others, which would print tracebacks.
    """
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker  # not on Windows

    resource_tracker.ensure_running()  # its start unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the program from new processes.

    They import the module ``__main__`` of their parent first, so a script without ``if __name__ == "__main__"`` would
    run again in each, and fail. The drawing needs nothing of it: figures are data.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
