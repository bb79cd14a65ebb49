"""Warnings about endpoints: stacks that lack a feature, and missing congestion marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from dumbbell import _core, registry
from dumbbell.plan.text import plan_values
from dumbbell.registry import Requirement
from dumbbell.results.runs.record import Run
from dumbbell.results.statistics.warning import FlowsByGroup, LintWarning, cell_names
from dumbbell.scenario import Cell
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.network.routes import Routes

__all__ = ["Marks", "no_marks", "same_variants", "stacks"]

Cells = Sequence[tuple[Cell, Sequence[Run]]]
"""The cells that have runs."""


def stacks(cells: Cells) -> Iterator[LintWarning]:
    """Warn of variants on a stack without a feature on which their document relies. A kernel has its own stack."""
    found: dict[tuple[str, str, tuple[str, ...]], tuple[dict[str, None], list[Run]]] = {}
    for cell, runs in cells:
        if runs[0].facts:
            continue
        for flow in cell.scenario.single_flows:
            missing = _missing(flow)
            stack = flow.endpoint_stack
            if missing and stack is not None and flow.variant is not None:
                key = registry.variant(flow.variant.name).name, stack.label, tuple(r.feature for r in missing)
                names, where = found.setdefault(key, ({}, []))
                names[flow.name] = None
                where.append(runs[0])
    for (name, label, features), (flows, where) in found.items():
        variant = registry.variant(name)
        missing = [r for r in variant.requires if r.feature in features]
        preset = registry.stack(label.partition("(")[0])
        instead = "" if preset.transport == "quic" else f'write stack = "{registry.default_stack()}", or '
        reasons = "; ".join(f"{r.source}: {r.why}" for r in missing)
        settings = ", ".join(dict.fromkeys(part for r in missing for part in r.settings.split(", ")))
        yield LintWarning(
            "stack",
            f"{_listed(list(flows))}: {name} is on stack '{label}', which lacks {' and '.join(features)} "
            f"({reasons}): {instead}add {settings} to the stack",
            cell_names(where) if len(where) < len(cells) * len(flows) else (),
        )


def _missing(flow: Flow) -> list[Requirement]:
    """Return the features on which a flow's variant relies and which its stack lacks."""
    stack = flow.endpoint_stack
    if stack is None or flow.variant is None or flow.variant.own is not None:
        return []
    lacking = _core.lacking(flow.variant.name, stack.name, dict(stack.params))
    settable = {p.name for p in registry.stack(stack.name).params}
    # A QUIC endpoint has neither timestamps nor undo, and no setting adds them.
    return [
        r
        for r in registry.variant(flow.variant.name).requires
        if r.feature in lacking and all(s.split(" = ")[0] in settable for s in r.settings.split(", "))
    ]


def _listed(flows: list[str]) -> str:
    """Name up to three flows."""
    if len(flows) == 1:
        return f"flow '{flows[0]}'"
    more = f" and {len(flows) - 3} more" if len(flows) > 3 else ""
    return f"flows {', '.join(repr(name) for name in flows[:3])}{more}"


def same_variants(cells: Cells) -> Iterator[LintWarning]:
    """Warn of variants that differ only in their loss recovery, on a stack that has its own: they are the same."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for cell, runs in cells:
        if runs[0].facts:
            continue
        for flow in cell.scenario.single_flows:
            stack = flow.endpoint_stack
            if stack is None or flow.variant is None or flow.variant.own is not None:
                continue
            variant = registry.variant(flow.variant.name)
            if variant.loss_recovery and variant.name not in registry.stack(stack.name).implied_recovery:
                key = stack.label, repr(sorted(flow.variant.params.items()))
                found.setdefault(key, {})[variant.name] = None
    for (label, _), names in found.items():
        if len(names) > 1:
            preset = registry.stack(label.partition("(")[0])
            others = [
                s.name for s in registry.stacks(preset.transport).values() if names.keys() <= {*s.implied_recovery}
            ]
            remedy = f": name stack {' or '.join(others)} to compare their loss recoveries" if others else ""
            yield LintWarning(
                "same-variants",
                f"{_words(list(names))} are the same on stack '{label}', which has a loss recovery of its own{remedy}",
            )


def _words(names: list[str]) -> str:
    """Join names: ``a``, ``a and b``, ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def no_marks(cells: Cells) -> Iterator[LintWarning]:
    """Warn of flows whose main signal is congestion marks, and that received none."""
    found = FlowsByGroup()
    for cell, runs in cells:
        marks = Marks(cell, runs)
        for flow in cell.scenario.single_flows:
            if _needs_marks(flow) and flow.application.kind == "bulk" and not marks.of(flow.name):
                found.add(cell, runs[0], flow.name)
    for flows, their, where in found:
        yield LintWarning(
            "no-marks",
            f"{flows} saw no congestion mark in any repetition, but marks are {their} variant's main signal: give "
            "the bottleneck a queue that marks, such as codel with ecn = true, or dualpi2",
            cell_names(where),
        )


class Marks:
    """The congestion marks at the queues of a cell, over all repetitions. The plan is made once for all flows."""

    def __init__(self, cell: Cell, runs: Sequence[Run]) -> None:
        self._cell = cell
        self._at: dict[str, int] = {}
        for queue in (queue for run in runs for queue in run.queues):
            self._at[queue["name"]] = self._at.get(queue["name"], 0) + queue["marks"]

    def of(self, name: str) -> int:
        """Count the marks on a flow's path; 0 if the flow doesn't use ECN."""
        number = self._numbers.get(name)
        if number is None:
            return 0
        flow = self._cell.scenario.single_flows[number]
        stack = flow.endpoint_stack
        if stack is None or not (_needs_marks(flow) or stack.params.get("ecn")):
            return 0
        return sum(self._at.get(link, 0) for link in self._paths[number])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {flow.name: n for n, flow in enumerate(self._cell.scenario.single_flows)}

    @cached_property
    def _paths(self) -> list[list[str]]:
        """The names of the links on each flow's path."""
        plan = plan_values(self._cell)
        links = plan["links"]
        routes = Routes(len(plan["nodes"]), [(link["from"], link["to"]) for link in links])
        paths = (routes.path(flow["from"], flow["to"]) or [] for flow in plan["flows"])
        return [list(dict.fromkeys(links[n]["name"] for n in path)) for path in paths]


def _needs_marks(flow: Flow) -> bool:
    variant = flow.variant
    if flow.endpoint_stack is None or variant is None or variant.own is not None:
        return False
    return registry.variant(variant.name).needs_marks
