"""Harm of flows by each other: each is run alone on the same path, with the same seeds."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import harm
from dumbbell.registry import unknown
from dumbbell.results.columns import better as better_directions
from dumbbell.results.frames.run_frames import label
from dumbbell.results.running.runner import Progress, run
from dumbbell.results.runs.record import Run
from dumbbell.results.statistics.cell_statistics import sharing
from dumbbell.scenario import Scenario, files
from dumbbell.scenario.flow.default_jitter import default_jitters
from dumbbell.scenario.flow.flow_copies import copies_of
from dumbbell.scenario.flow.workload import Workload

if TYPE_CHECKING:
    from dumbbell.backends import Backend
    from dumbbell.results.results import Results

__all__ = ["harm_done", "solo"]

PLACE = ("name", "at", "from", "to", "enter", "leave", "direction", "access", "class")
"""Keys that determine a flow's place in the network."""


def solo(scenario: Scenario, name: str, others: Sequence[str]) -> Scenario:
    """Make the scenario in which a flow has the path without some others.

    The others keep their places, so that hosts, routes and random streams are the same, but each carries a single
    byte at the very end. Everything else (a CBR stream, a ping) continues. The flow starts as it does beside the
    others, with the same start jitter, also where only their company gives it one.
    """
    document = scenario.to_dict()
    document.pop("sweep", None)
    jitter_ns = 0 if scenario.start_jitter is None else scenario.start_jitter.ns
    last = scenario.duration.ns - jitter_ns - 1
    silent = {
        "variant": "reno", "application": {"kind": "transfer", "size": "1 bytes"}, "start": f"{max(last, 0)} ns",
    }  # fmt: skip
    own_ns = dict(zip((f.name for f in scenario.single_flows), default_jitters(scenario), strict=True)).get(name)
    own = {} if own_ns is None else {"start_jitter": f"{own_ns} ns"}
    document["flows"] = [
        {**{key: flow[key] for key in PLACE if key in flow}, **silent}
        if flow["name"] in others
        else {**flow, **(own if flow["name"] == name else {})}
        for flow in _flows(scenario, {name, *others})
    ]
    if document.pop("preset", None) is not None and scenario.preset is not None:
        document = {**scenario.preset.defaults(), **document}  # its flows are among these
    document.pop("capture", None)
    document.pop("until", None)
    document["trace"] = {}
    document["name"] = f"{scenario.name}: {name} alone"
    with files.beside(scenario.places):
        return Scenario.from_dict(document)


def _flows(scenario: Scenario, concerned: Collection[str]) -> list[dict[str, Any]]:
    """Return the flows as documents: those of presets too, and of flows with a count the copies if one is concerned.

    Raises
    ------
    ResultsError
        A workload has a share of its copies' load, which a single flow can't state.
    """
    found: list[dict[str, Any]] = []
    for flow in scenario.flows:
        copies = copies_of([flow])
        wanted = [copy for copy in copies if copy.name in concerned]
        if flow.count is not None and wanted and isinstance(flow.application, Workload):
            raise ResultsError(
                f"harm: flow '{wanted[0].name}' is a copy of the workload '{flow.name}': write its copies as flows"
            )
        single = copies if wanted else [flow]
        found += [each.model_dump(by_alias=True, exclude_unset=True, exclude_none=True) for each in single]
    return found


def harm_done(
    results: Results,
    metric: str = "goodput_bps",
    *,
    better: Literal["more", "less"] | None = None,
    flows: Sequence[str] | None = None,
    jobs: int | None = None,
    backend: Backend | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Run each flow alone and compute the harm that the others do to it: see `Results.harm`."""
    if results.loaded and (code := results.scenario.cells.properties.code):
        raise ResultsError(
            f"the scenario runs own code ('{code[0]}'), and code in a results directory never runs: "
            "harm() of the results that dumbbell.run returns computes it"
        )
    better = better or better_directions().get(metric)
    if metric not in results.flows.columns:
        raise ResultsError(unknown("metric of flows", metric, list(better_directions())))
    if better is None:
        raise ResultsError(f"metric '{metric}': state with better whether 'more' or 'less' of it is better")
    names = sharing(results, flows)
    scenarios = {_key(cell.values): cell.scenario for cell in results.scenario.cells}
    contested = [
        (runs, name, solo(scenarios[_key(runs[0].cell)], name, [n for n in names if n != name]))
        for runs in results.by_cell()
        for name in names
    ]
    # Cells that differ in the silent flows only have the same solo runs.
    wanted = {alone.to_toml(): (alone, name) for _, name, alone in contested}
    most = max(len(runs) for runs, _, _ in contested)
    done: dict[str, list[float | None]] = {}
    for number, (key, (alone, name)) in enumerate(wanted.items(), 1):
        found = run(alone, repetitions=most, jobs=jobs, backend=backend)
        done[key] = [_value(one, name, metric) for one in found.runs]
        if progress is not None:
            progress(number, len(wanted))
    rows = []
    for runs, name, scenario in contested:
        for one in runs:
            alone_value, beside = done[scenario.to_toml()][one.repetition], _value(one, name, metric)
            lost = None
            if alone_value is not None and beside is not None:
                lost = float(harm(alone_value, beside, better=better))
            rows.append(
                {
                    **{path: label(value) for path, value in one.cell.items()},
                    "run": one.index,
                    "repetition": one.repetition,
                    "name": name,
                    "alone": alone_value,
                    "contested": beside,
                    "harm": lost,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col("harm").fill_nan(None))


def _key(cell: dict[str, Any]) -> str:
    return json.dumps(cell, sort_keys=True)


def _value(run: Run, name: str, metric: str) -> float | None:
    value = next(row for row in run.flows if row["name"] == name).get(metric)
    return None if value is None else float(value)
