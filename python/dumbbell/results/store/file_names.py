"""Names of series and captures as file names: percent-encoded; long ones shortened, with a hash.

The folder of a run lists its shortened names in ``names.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from dumbbell.common.documents import read_json
from dumbbell.common.link_free_folder import LinkFreeFolder

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


def write_names(folder: LinkFreeFolder, place: str, names: Iterable[str]) -> None:
    """List the names in a folder of the directory whose file names are shortened."""
    if shortened := {file_name(name): name for name in names if SHORTENED in file_name(name)}:
        folder.write_text(f"{place}/{NAMES}", json.dumps(shortened, ensure_ascii=False))


def files_in(folder: LinkFreeFolder, place: str, ending: str) -> dict[str, Path]:
    """Find the files of a folder of the directory by their names."""
    try:
        shortened = read_json(folder.read(f"{place}/{NAMES}"))
    except (OSError, ValueError):  # none, or damaged: the files keep their shortened names
        shortened = {}
    found = {}
    for file in folder.entries(place, ending):
        stem = PurePosixPath(file).name.removesuffix(ending)
        name = shortened.get(stem) if isinstance(shortened, dict) else None
        found[name if isinstance(name, str) else unquote(stem)] = folder.path / file
    return found
