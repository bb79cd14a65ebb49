"""A line for labs that use the real kernel, where it isn't there."""

from __future__ import annotations

from dumbbell.studies.kernel_column import why_no_kernel
from dumbbell.studies.labs.definition import Lab

__all__ = ["kernel_hint"]


def kernel_hint(lab: Lab) -> str:
    """Return how to get the virtual-time kernel, if the lab uses it and it isn't there."""
    if not lab.kernel or not why_no_kernel():
        return ""
    return (
        "no virtual-time kernel here: `dumbbell kernel build` makes one, on Linux on x86-64, without root; "
        "the simulator answers the numeric questions too"
    )
