"""Names of series and captures as file names: percent-encoded; long ones shortened, with a hash.

The folder of a run lists its shortened names in ``names.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote

__all__ = ["file_name", "files_in", "write_names"]

LONGEST = 180
"""Characters of a file name without its ending. File systems allow 255 bytes, of which temporary names need some."""
SHORTENED = "%~"
"""Ends the readable part of a shortened name. Percent-encoding never makes it."""
NAMES = "names.json"


def file_name(name: str) -> str:
    """Return the file name of a name, without ending."""
    quoted = quote(name, safe="")
    if len(quoted) <= LONGEST:
        return quoted
    return quoted[: LONGEST // 2] + SHORTENED + hashlib.sha256(name.encode()).hexdigest()[:24]


def write_names(folder: Path, names: Iterable[str]) -> None:
    """List the names in a folder whose file names are shortened."""
    if shortened := {file_name(name): name for name in names if SHORTENED in file_name(name)}:
        (folder / NAMES).write_text(json.dumps(shortened, ensure_ascii=False), encoding="utf-8")


def files_in(folder: Path, ending: str) -> dict[str, Path]:
    """Find the files of a folder by their names."""
    shortened: dict[str, str] = {}
    if (folder / NAMES).exists():
        try:
            shortened = dict(json.loads((folder / NAMES).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # damaged: the files keep their shortened names
            shortened = {}
    found = {}
    for file in sorted(folder.glob(f"*{ending}")):
        stem = file.name.removesuffix(ending)
        found[shortened.get(stem, unquote(stem))] = file
    return found
