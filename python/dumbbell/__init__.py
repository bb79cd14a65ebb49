"""Dumbbell: a laboratory for TCP congestion control.

import dumbbell

results = dumbbell.run("cbr.toml")
results.flows          # polars frame: one row per flow and run
results.series(0, "cwnd", flow="tcp")
"""

from dumbbell import mahimahi
from dumbbell._core import version as __version__
from dumbbell.exceptions import BackendError, CaptureError, DumbbellError, ResultsError, ScenarioError
from dumbbell.results import Results, Run, run
from dumbbell.scenario import Scenario, json_schema
from dumbbell.scenario.own_variants import register as register_variant

__all__ = [
    "BackendError",
    "CaptureError",
    "DumbbellError",
    "Results",
    "ResultsError",
    "Run",
    "Scenario",
    "ScenarioError",
    "__version__",
    "json_schema",
    "mahimahi",
    "register_variant",
    "run",
]
