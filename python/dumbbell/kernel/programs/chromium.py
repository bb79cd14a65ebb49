"""Finds Chromium, by the names of its packages."""

from __future__ import annotations

import shutil

__all__ = ["CHROMIUM", "find_chromium"]

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """Return the path of the first one in PATH; None without one."""
    return next((path for name in CHROMIUM if (path := shutil.which(name))), None)
