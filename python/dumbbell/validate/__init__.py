"""Comparison of the simulator with the real kernel: the same scenarios on both, and their differences."""

from dumbbell.validate.cases import Case, built_in, of_file
from dumbbell.validate.deviations import Comparison, compare
from dumbbell.validate.measured import Measured
from dumbbell.validate.run import measure
from dumbbell.validate.stored import load, store

__all__ = ["Case", "Comparison", "Measured", "built_in", "compare", "load", "measure", "of_file", "store"]
