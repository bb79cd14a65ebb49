"""Warnings about weak results: too few repetitions, identical runs, scenarios prone to artifacts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell import registry
from dumbbell.plan.build import build
from dumbbell.results.frames import label
from dumbbell.results.record import Run
from dumbbell.results.results import Results
from dumbbell.results.summary import short_names
from dumbbell.scenario import Scenario

__all__ = ["LIMITED", "Warned", "lint"]

LIMITED = 0.75
"""Mean bytes in flight over the mean cwnd below which a flow counts as not cwnd-limited. A flow that is always
cwnd-limited has more than 0.9: only recoveries leave part of the window unused."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning: its name, the sentence, and the cells that it is about (all of them if empty)."""

    name: str
    text: str
    cells: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The sentence, with up to three cells."""
        if not self.cells:
            return self.text
        more = f" and {len(self.cells) - 3} more" if len(self.cells) > 3 else ""
        return f"{self.text} ({'; '.join(self.cells[:3])}{more})"

    def document(self) -> dict[str, Any]:
        """Return the warning as plain values."""
        return {"name": self.name, "text": self.text, "cells": list(self.cells)}


def lint(results: Results) -> list[Warned]:
    """Return warnings about weak results: one for each kind of weakness."""
    cells = results.by_cell()
    if not cells:
        return []
    found = [
        *_facts(cells),
        *_repetitions(results.scenario, cells),
        *_flows(cells),
        *_losses(cells),
        *_intervals(results.scenario, cells),
    ]
    return found + list(_phases(results.scenario))


def _facts(cells: list[list[Run]]) -> Iterator[Warned]:
    """Collect the warnings that the runs themselves carry."""
    for key, name in (("invalid", "invalid-run"), ("warnings", "doubtful-run")):
        found: dict[str, list[Run]] = {}
        for run in (run for runs in cells for run in runs):
            for sentence in run.facts.get(key, []):
                found.setdefault(sentence, []).append(run)
        for sentence, runs in found.items():
            text = f"{'invalid: ' if key == 'invalid' else ''}{sentence}"
            yield Warned(name, text, tuple(dict.fromkeys(_named(runs))))


def _name(run: Run) -> str:
    short = short_names(list(run.cell))
    return ", ".join(f"{short[path]} {label(value)}" for path, value in run.cell.items())


def _named(runs: Sequence[Run]) -> list[str]:
    return [name for run in runs if (name := _name(run))]


def _repetitions(scenario: Scenario, cells: list[list[Run]]) -> Iterator[Warned]:
    once = [runs[0] for runs in cells if len(runs) == 1]
    if once:
        every = len(once) == len(cells)
        yield Warned(
            "one-repetition",
            "a single repetition doesn't show random variation: set repetitions = 10 or more",
            () if every else tuple(_named(once)),
        )
    same = [runs[0] for runs in cells if len(runs) > 1 and all(run.flows == runs[0].flows for run in runs)]
    if same:
        every = len(same) == len(cells)
        why = (
            " (nothing varies with the seed: set start_jitter, or jitter on a link)" if not _varies(scenario) else ""
        )
        yield Warned(
            "identical-repetitions",
            f"the repetitions are all identical, so their interval doesn't measure random variation{why}",
            () if every else tuple(_named(same)),
        )
    if scenario.until is not None:
        most = [runs[0] for runs in cells if len(runs) >= scenario.until.at_most]
        if most:
            yield Warned(
                "until-not-reached",
                f"the interval may still be wider than {scenario.until.half_width}: the scenario allows no more than "
                f"{scenario.until.at_most} repetitions",
                tuple(_named(most)),
            )


def _varies(scenario: Scenario) -> bool:
    """True if the start of flows or the time of packets has jitter."""
    return scenario.start_jitter.ns > 0 or _jittered(scenario)


def _flows(cells: list[list[Run]]) -> Iterator[Warned]:
    limited: dict[str, list[Run]] = {}
    unsettled: dict[str, list[Run]] = {}
    known = registry.variants()
    for runs in cells:
        for number, flow in enumerate(runs[0].flows):
            rows = [run.flows[number] for run in runs]
            used = _mean(rows, "mean_inflight_packets") / (_mean(rows, "cwnd_mean_packets") or math.nan)
            variant = known.get(flow["variant"])
            # Such a variant sends at a rate; its window is only an upper bound.
            paced = variant is not None and "pacing_rate" in variant.columns
            if used < LIMITED and not paced:
                limited.setdefault(flow["name"], []).append(runs[0])
                continue
            calm = all(row["fast_retransmits"] + row["timeouts"] == 0 for row in rows)
            loss_based = variant is not None and variant.on_delay == "none" and variant.on_loss != "none"
            if loss_based and flow["application"] == "bulk" and calm:
                unsettled.setdefault(flow["name"], []).append(runs[0])
    for name, where in limited.items():
        yield Warned(
            "not-window-limited",
            f"flow '{name}' used less than {LIMITED:.0%} of its congestion window: its application or the receive "
            "window limited it, so its rate doesn't show its congestion control",
            tuple(_named(where)),
        )
    for name, where in unsettled.items():
        yield Warned(
            "no-loss",
            f"flow '{name}' saw no loss in any repetition: it may never have left slow start (run longer), or its "
            "receive window limits it",
            tuple(_named(where)),
        )


def _mean(rows: Sequence[dict[str, Any]], metric: str) -> float:
    values = [row[metric] for row in rows if row.get(metric) is not None]
    return sum(values) / len(values) if values else math.nan


def _losses(cells: list[list[Run]]) -> Iterator[Warned]:
    rare = []
    for runs in cells:
        drops = sum(flow["dropped_packets"] for run in runs for flow in run.flows)
        if 0 < drops < len(runs):
            rare.append(runs[0])
    if rare:
        yield Warned(
            "rare-losses",
            "less than one loss a run: figures that depend on losses are decided by a handful of packets",
            tuple(_named(rare)),
        )


def _intervals(scenario: Scenario, cells: list[list[Run]]) -> Iterator[Warned]:
    apart, begin = [], scenario.measure_from.seconds
    for runs in cells:
        spans = [
            (max(flow["start_s"], begin), flow["stop_s"])
            for flow in runs[0].flows
            if flow["application"] == "bulk" and flow["stop_s"] > flow["start_s"]
        ]
        longest = max((b - a for a, b in spans), default=0.0)
        common = min((b for _, b in spans), default=0.0) - max((a for a, _ in spans), default=0.0)
        if len(spans) > 1 and common < 0.9 * longest:
            apart.append(runs[0])
    if apart:
        yield Warned(
            "different-intervals",
            "the flows' rates are measured over different intervals (each over its own): compare shares over the "
            "time that they have in common (measure_from)",
            tuple(_named(apart)) if len(apart) < len(cells) else (),
        )


def _phases(scenario: Scenario) -> Iterator[Warned]:
    """Warn of scenarios in which phase effects may decide which flow loses packets [Floyd and Jacobson 1991]."""
    if len(scenario.flows) > 1 and not _varies(scenario):
        yield Warned(
            "phase-effects",
            "nothing varies the timing of packets: with drop-tail queues phase effects may decide which flow loses "
            "packets; set start_jitter, and jitter of a packet's transmission time on the access links",
        )


def _jittered(scenario: Scenario) -> bool:
    """True if, in the first cell, a link has jitter or a CBR flow's intervals have."""
    plan = build(scenario.cells[0].scenario)
    links = any(_spread_ns(link.get("jitter")) > 0 for link in plan["links"])
    return links or any(flow["application"].get("jitter", 0) > 0 for flow in plan["flows"])


def _spread_ns(jitter: dict[str, Any] | None) -> int:
    """Return a measure of a link's jitter, ns; 0 if all packets have the same delay."""
    if jitter is None:
        return 0
    spread: int = jitter[{"uniform": "max_ns", "normal": "sd_ns"}.get(jitter["distribution"], "mean_ns")]
    return spread
