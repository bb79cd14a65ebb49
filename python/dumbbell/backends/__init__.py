"""Back ends: what turns a scenario's cells into runs. One file each."""

from dumbbell.backends.base import Backend, Finished, Job, Table
from dumbbell.backends.sim import Simulator

__all__ = ["Backend", "Finished", "Job", "Simulator", "Table"]
