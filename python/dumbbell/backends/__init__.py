"""Back ends: what turns a scenario's cells into runs. One file each."""

from __future__ import annotations

from dumbbell.backends.base import Backend, Finished, Job, Table
from dumbbell.backends.sim import Simulator
from dumbbell.backends.uml import Uml

__all__ = ["BACKENDS", "Backend", "Finished", "Job", "Simulator", "Table", "Uml", "backend"]

BACKENDS: dict[str, type[Backend]] = {Simulator.name: Simulator, Uml.name: Uml}
"""Every back end by name."""


def backend(name: str) -> Backend:
    """Give the back end of that name; BackendError with the nearest name if there is none."""
    from dumbbell.exceptions import BackendError  # noqa: PLC0415
    from dumbbell.registry import unknown  # noqa: PLC0415

    if name not in BACKENDS:
        raise BackendError(unknown("back end", name, list(BACKENDS)))
    return BACKENDS[name]()
