"""The hash of this build: of everything that decides results. Results of two builds are never mixed silently."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from dumbbell import _core

__all__ = ["build_hash"]

PARTS = ("backends", "kernel", "plan", "results/runs/derived_columns.py", "results/runs/record.py", "scenario")
"""Parts of the package that results depend on, beside the Rust core."""


@cache
def build_hash() -> str:
    """Return the hash of the Rust core and of the Python code that makes plans, runs them and derives metrics."""
    package = Path(__file__).parents[2]
    files = [Path(str(_core.__file__))]
    for part in PARTS:
        place = package / part
        files += sorted(place.rglob("*.py")) if place.is_dir() else [place]
    total = hashlib.sha256()
    for file in files:
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:16]
