"""A scenario in short, before it runs: network, flows, sweep, size, back ends, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.backends import Chooser, Installed, Job, names
from dumbbell.backends import backend as find_backend
from dumbbell.cli.announce import needs_consent, sentence
from dumbbell.common.processors import cores
from dumbbell.common.words import counted
from dumbbell.exceptions import BackendError
from dumbbell.results.running.estimate import estimate
from dumbbell.results.runs.record import jobs_of
from dumbbell.results.statistics.lint import LintWarning, lint_scenario
from dumbbell.scenario import Scenario
from dumbbell.scenario.flow.default_jitter import sentence as jitter_sentence
from dumbbell.scenario.flow.model import Flow

__all__ = ["Answer", "Checked", "backends", "checked"]

MOST_VALUES = 8
"""Values of a swept path that the text names."""
MOST_JOBS = 200
"""Runs that are checked for each back end, where none is asked for."""


@dataclass(frozen=True)
class Answer:
    """True if a back end can run a scenario, and how or why not."""

    name: str
    runs: bool
    text: str

    def line(self) -> str:
        """Return it as a line."""
        return ": ".join(part for part in (self.name, "" if self.runs else "no", self.text) if part)


@dataclass(frozen=True)
class Checked:
    """What a scenario will run.

    Attributes
    ----------
    facts : dict of str to list of str
        Heading -> lines.
    document : dict
        The same as plain values.
    """

    facts: dict[str, list[str]]
    warnings: list[LintWarning]
    notes: list[str]
    document: dict[str, Any]


def backends(scenario: Scenario, name: str | None, options: Mapping[str, Any]) -> list[Answer]:
    """Return whether each back end can run a scenario.

    Parameters
    ----------
    name : str or None
        Only this back end.
    options : mapping
        Its options.

    Raises
    ------
    BackendError
        The back end of that name can't run the scenario.
    """
    if name is not None:
        return [Answer(name, runs=True, text=_runner(name, jobs_of(scenario), options))]
    jobs = _sampled(scenario)
    answers = []
    for each in names():
        try:
            answers.append(Answer(each, runs=True, text=_runner(each, jobs, {})))
        except BackendError as e:
            answers.append(Answer(each, runs=False, text=str(e).removeprefix(f"back end '{each}': ")))
    return answers


def _runner(name: str, jobs: Sequence[Job], options: Mapping[str, Any]) -> str:
    """Return a sentence about what will make these runs; BackendError if the back end can't."""
    found = find_backend(name, options)
    if isinstance(found, Chooser):
        return found.choose(jobs)[1].removeprefix(f"{name}: ")
    found.check(jobs)
    if isinstance(found, Installed):
        found.require_installed()
    return ""


def _sampled(scenario: Scenario) -> list[Job]:
    """Return the first run of cells at equal distances."""
    cells = scenario.cells
    return [Job(cell, 0, scenario.seed) for cell in cells[:: -(-len(cells) // MOST_JOBS)]]


def checked(scenario: Scenario, file: str, answers: Sequence[Answer]) -> Checked:
    """Describe a scenario."""
    jobs = cores()
    size = estimate(scenario, jobs)
    warnings = lint_scenario(scenario)
    first = scenario.cells[0].scenario
    notes = [text for text in (jitter_sentence(first),) if text]
    if needs_consent(size, keeps=True):
        notes.append("so large a sweep needs a confirmation: `dumbbell run` asks at the terminal, or give --yes")
    bottlenecks, flows = _bottlenecks(first), _flows(first)
    sweep = dict(scenario.sweep.axes) if scenario.sweep is not None else {}
    cases = scenario.sweep.cases if scenario.sweep is not None else []
    facts = {
        "scenario": [f"{scenario.name} ({file})", *([scenario.description] if scenario.description else [])],
        "network": [str(first.network.topology), *bottlenecks],
        "flows": _lines(flows),
        "sweep": [
            *(f"{path}: {_values(values)}" for path, values in sweep.items()),
            *([counted(len(cases), "case")] if cases else []),
        ],
        "runs": [
            f"{counted(len(scenario.cells), 'cell')} x {counted(scenario.repetitions, 'repetition')} of "
            f"{scenario.duration}",
            sentence(size, jobs, timed=True, keeps=True, more=scenario.until is not None),
        ],
        "back ends": [answer.line() for answer in answers],
    }
    document = {
        "scenario": scenario.name,
        "file": file,
        "topology": str(first.network.topology),
        "bottlenecks": bottlenecks,
        "flows": flows,
        "sweep": sweep,
        "cases": len(cases),
        "cells": size.cells,
        "repetitions": scenario.repetitions,
        "runs": size.runs,
        "duration_s": scenario.duration.seconds,
        "estimate": {"processors": jobs, "time_s": size.seconds, "size_bytes": size.size, "tried_cells": size.tried},
        "backends": {answer.name: {"runs": answer.runs, "text": answer.text} for answer in answers},
        "warnings": [warned.document() for warned in warnings],
        "notes": notes,
    }
    return Checked({name: lines for name, lines in facts.items() if lines}, warnings, notes, document)


def _bottlenecks(scenario: Scenario) -> list[str]:
    """Describe the slowest link of each flow's path."""
    layout = scenario.layout
    edges = layout.drawing.edges
    slowest = {
        min(crossed, key=lambda number: edges[number].settings.rate_bps): None for crossed in layout.crossed if crossed
    }
    found = []
    for number in slowest:
        edge, settings = edges[number], edges[number].settings
        limits = ", ".join(f"{name} {value}" for name, value in settings.queue.params.items())
        parts = [
            f"{settings.rate_bps / 1e6:g} Mbit/s", f"{settings.delay_ns / 1e6:g} ms", settings.queue.name,
        ]  # fmt: skip
        found.append(f"bottleneck {edge.from_}->{edge.to}: {', '.join(parts)}{f' ({limits})' if limits else ''}")
    return found


def _lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write each flow in a line, in columns."""
    cells = [
        (
            row["name"] + (f" x {row['count']}" if row["count"] > 1 else ""),
            _values(row["variants"]) or row["transport"],
            f"on {_values(row['stacks'])}" if row["stacks"] else "",
            row["application"],
            f"from {row['start']}" + (f" to {row['stop']}" if row["stop"] else ""),
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _flows(scenario: Scenario) -> list[dict[str, Any]]:
    """Describe each flow as plain values; copies are one."""
    groups: dict[str, list[Flow]] = {}
    for flow in scenario.single_flows:
        groups.setdefault(flow.group or flow.name, []).append(flow)
    return [
        {
            "name": name,
            "count": len(flows),
            "transport": "udp" if flows[0].datagrams else flows[0].transport,
            "variants": _each(f.variant.name for f in flows if f.variant is not None and not f.datagrams),
            "stacks": _each(f.endpoint_stack.label for f in flows if f.endpoint_stack is not None),
            "application": flows[0].application.kind,
            "start": str(min(flows, key=lambda f: f.start.ns).start),
            "stop": None if flows[0].stop is None else str(flows[0].stop),
        }
        for name, flows in groups.items()
    ]


def _each(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _values(values: Sequence[object]) -> str:
    """Name the values of a swept path."""
    from dumbbell.results.frames.run_frames import label

    more = f", and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else ""
    return ", ".join(str(label(value)) for value in values[:MOST_VALUES]) + more
