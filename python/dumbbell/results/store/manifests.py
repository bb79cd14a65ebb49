"""Manifests of results directories as they are read: every entry that the reader uses is checked first."""

from __future__ import annotations

from typing import Any

from dumbbell.common.formats import newer

__all__ = ["checked"]


def checked(content: object, newest: int) -> dict[str, Any]:
    """Return a manifest of format 1 to ``newest``; ValueError, with the entry, if it isn't one."""
    if not isinstance(content, dict):
        raise ValueError("it is not a table")
    form = content.get("format")
    if not isinstance(form, int) or form not in range(1, newest + 1):
        refused = newer(form, newest)
        raise ValueError(f"it is not of format {newest}" if refused is None else f"format: {refused}")
    if not isinstance(content.get("scenario"), dict):
        raise ValueError("scenario: a table is needed")
    names = content.get("files", {})
    if not isinstance(names, dict) or not all(isinstance(n, str) and _is_plain(n) for n in names.values()):
        raise ValueError("files: a table of file names is needed")
    for name in ("registered", "registered_disciplines"):
        if not isinstance(content.get(name, {}), dict):
            raise ValueError(f"{name}: a table is needed")
    if not isinstance(content.get("tables") or {}, dict):
        raise ValueError("tables: a table is needed")
    if form == newest:
        for name in ("cells_per_part", "repetitions"):
            value = content.get(name)
            if type(value) is not int or value < 1:
                raise ValueError(f"{name}: a number from 1 is needed")
        for name in ("files", "registered", "version", "backend"):
            if name not in content:
                raise ValueError(f"{name}: missing")
    return content


def _is_plain(name: str) -> bool:
    """Return True for the name of a file that lies in the directory itself."""
    return name not in {"", ".", ".."} and not set(name) & set("/\\\0")
