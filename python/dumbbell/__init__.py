"""Dumbbell: a laboratory for TCP congestion control.

Describe an experiment, run it, and read its frames, figures and statistics:

>>> import polars as pl
>>> import dumbbell
>>> results = dumbbell.run({
...     "name": "one flow",
...     "duration": "5 s",
...     "network": {
...         "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"},
...         "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
...     },
...     "flows": [{"name": "tcp", "variant": "cubic"}],
... })
>>> results.flows.select("name", "variant", pl.col("goodput_bps") > 5e6).rows()
[('tcp', 'cubic', True)]

Experiments: `load`, `Scenario`, `run`, `study`, `studies`, `json_schema`. Results: `Results`, `Run`, `read_results`,
`compare`. Captures: `Capture`, `read_capture`. Names: `variants`, `disciplines`, `stacks`, `backends`,
`register_variant`. Code of scenarios: `allow_code`. Traces of mahimahi: `mahimahi`. Every error is a `DumbbellError`.

The attributes are imported when they are used first, so that ``import dumbbell`` is fast.
"""

from importlib import import_module as _import_module

from dumbbell.common.accessors import register as _register
from dumbbell.common.lazy import lazy as _lazy

# As typing has it, whose import takes half of the time of this one.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from dumbbell import backends, mahimahi, studies
    from dumbbell._core import version as __version__
    from dumbbell.capture import Capture, read_capture
    from dumbbell.exceptions import BackendError, CaptureError, DumbbellError, ResultsError, ScenarioError
    from dumbbell.registry import disciplines, stacks, variants
    from dumbbell.results.results import Results, read_results
    from dumbbell.results.running.runner import run
    from dumbbell.results.runs.record import Run
    from dumbbell.results.statistics.changes import compare
    from dumbbell.scenario import Scenario, json_schema, load
    from dumbbell.scenario.gate import allow_code
    from dumbbell.scenario.own.disciplines import register as register_discipline
    from dumbbell.scenario.own.variants import register as register_variant
    from dumbbell.studies.catalog import study

__all__ = [
    "BackendError",
    "Capture",
    "CaptureError",
    "DumbbellError",
    "Results",
    "ResultsError",
    "Run",
    "Scenario",
    "ScenarioError",
    "__version__",
    "allow_code",
    "backends",
    "compare",
    "disciplines",
    "json_schema",
    "load",
    "mahimahi",
    "read_capture",
    "read_results",
    "register_discipline",
    "register_variant",
    "run",
    "stacks",
    "studies",
    "study",
    "variants",
]

_HOMES = {
    "dumbbell.capture": ("Capture", "read_capture"),
    "dumbbell.exceptions": ("BackendError", "CaptureError", "DumbbellError", "ResultsError", "ScenarioError"),
    "dumbbell.registry": ("disciplines", "stacks", "variants"),
    "dumbbell.results": ("Results", "Run", "compare", "read_results", "run"),
    "dumbbell.scenario": ("Scenario", "json_schema", "load"),
    "dumbbell.scenario.gate": ("allow_code",),
    "dumbbell.studies": ("study",),
}
"""The module of each public name."""
_RENAMED = {
    "__version__": "dumbbell._core:version",
    "register_discipline": "dumbbell.scenario.own.disciplines:register",
    "register_variant": "dumbbell.scenario.own.variants:register",
}
_imported = _lazy(__name__, {**{name: home for home, names in _HOMES.items() for name in names}, **_RENAMED})


_register({"results.plot": "dumbbell.plots.accessor:Plots", "results.notebook": "dumbbell.plots.notebook:of_results"})


def __getattr__(name: str) -> object:
    """Import a public name when it is used first; a module may be one, too."""
    return _import_module(f"dumbbell.{name}") if name in {"backends", "mahimahi", "studies"} else _imported(name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
