"""Files that a scenario names: found beside the scenario's own file, and remembered.

A path is relative to the folder of the scenario's file; of a scenario that was made in Python, to the working
directory. The files can be copied elsewhere with the results: `Files.stored` then maps each path to its copy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dumbbell.common.reading import read_bytes
from dumbbell.scenario import gate

__all__ = ["Files", "beside", "current", "digest", "resolve"]

Code = Literal["refused", "named", "loaded"]


@dataclass
class Files:
    """The places of a scenario's files; scenarios do not differ by them.

    Attributes
    ----------
    folder : Path
        The folder that relative paths start from.
    stored : mapping
        Paths as the scenario writes them whose file is a copy elsewhere.
    used : dict
        Every path that was looked up, as the scenario writes it, and its place.
    code : "refused", "named" or "loaded"
        What happens to code in files. By default it is refused outside of `gate.guarded`; named while results are only
        read: it is identified by its content.
    """

    folder: Path = field(default_factory=Path, compare=False)
    stored: Mapping[str, Path] = field(default_factory=dict, compare=False)
    used: dict[str, Path] = field(default_factory=dict, compare=False)
    code: Code = field(default_factory=lambda: "loaded" if gate.is_open() else "refused", compare=False)

    def fresh(self) -> Files:
        """Return the same places, with no path looked up yet."""
        return Files(self.folder, self.stored, code=self.code)


LARGEST = 1_000_000_000
"""Bytes of the largest file that a scenario may name."""
_FILES: ContextVar[Files | None] = ContextVar("files", default=None)


@contextmanager
def beside(files: Files) -> Iterator[Files]:
    """Look paths up in these places within the block."""
    token = _FILES.set(files)
    try:
        yield files
    finally:
        _FILES.reset(token)


def current() -> Files:
    """Return the places where paths are looked up now."""
    return _FILES.get() or Files()


def resolve(text: str) -> Path:
    """Look a path up."""
    files = current()
    path = files.stored.get(text, files.folder / text)
    files.used[text] = path
    return path


def digest(path: Path) -> str:
    """Name a file by its content."""
    return hashlib.sha256(read_bytes(path, LARGEST)).hexdigest()[:24]
