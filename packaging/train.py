"""The training of a profile-guided build: `pgo-command` in pyproject.toml, run with the instrumented package.

The workloads are those whose instructions have a budget (benches/workloads.py), then every variant and every queue
discipline with losses, traces, and the analysis of captures: code that never runs in training would be compiled for
size.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benches"))

import dumbbell
from dumbbell import Scenario, _core, registry
from dumbbell.capture import analyze
from workloads import BUDGETED, TWO_NEWRENO

__all__ = ["main", "scenarios"]


def scenarios() -> Iterator[Scenario]:
    """Make the scenarios that cover the registries: every variant, and every discipline."""
    short: dict[str, Any] = {"duration": "3 s", "network.bottleneck.loss": "0.1 %", "trace.series": True}
    for variant in registry.variants():
        yield Scenario.load(TWO_NEWRENO, {**short, "flows.a.variant": variant, "flows.b.variant": variant})
        stack = {"flows.a.stack": "linux", "flows.b.stack": "linux"}
        yield Scenario.load(TWO_NEWRENO, {**short, **stack, "flows.a.variant": variant, "flows.b.variant": variant})
    for discipline in registry.disciplines():
        flows = {"flows.a.variant": "cubic", "flows.a.stack": "linux", "flows.b.variant": "sack"}
        yield Scenario.load(TWO_NEWRENO, {**short, **flows, "network.bottleneck.queue": discipline})


def main() -> None:
    """Run everything once."""
    for workload in BUDGETED:
        _core.run(workload.plan(workload.count_s[1]))
    for scenario in scenarios():
        dumbbell.run(scenario, jobs=1)
    with tempfile.TemporaryDirectory() as place:
        changes = {"duration": "10 s", "capture": ["sender", "bottleneck", "receiver"], "trace.packets": True}
        dumbbell.run(Scenario.load(TWO_NEWRENO, changes), out=place, jobs=1)
        for path in Path(place).rglob("*.pcapng"):
            analyze(path)


if __name__ == "__main__":
    main()
