"""Comparison of the simulator with the real kernel: the same scenarios on both, and their differences."""

from dumbbell.kernel.validate.case_runs import measure
from dumbbell.kernel.validate.cases import Case, built_in, of_file
from dumbbell.kernel.validate.deviations import Comparison, compare
from dumbbell.kernel.validate.measurements import Measured
from dumbbell.kernel.validate.stored_cases import load, store

__all__ = ["Case", "Comparison", "Measured", "built_in", "compare", "load", "measure", "of_file", "store"]
