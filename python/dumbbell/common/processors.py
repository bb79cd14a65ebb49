"""The processors that this process may use, on every operating system."""

from __future__ import annotations

import os

__all__ = ["cores"]


def cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux: fewer than the machine has, with taskset or in a container
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
