"""Warnings about weak results: too few repetitions, identical runs, scenarios prone to artifacts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from dumbbell import registry
from dumbbell.plan.build import build
from dumbbell.plan.text import plan_values
from dumbbell.results.results import Results
from dumbbell.results.runs.record import Run
from dumbbell.results.statistics import lint_transport
from dumbbell.results.statistics.shifted_copies import copied, has_jitter, only_shifted, remedy
from dumbbell.results.statistics.warning import FlowsByGroup, LintWarning, cell_names
from dumbbell.scenario import Cell, Scenario
from dumbbell.scenario.flow.application import Ping
from dumbbell.scenario.flow.default_jitter import default_jitters

__all__ = ["LIMITED", "LintWarning", "lint", "lint_scenario"]

LIMITED = 0.75
"""Mean bytes in flight over the mean cwnd below which a flow counts as not cwnd-limited. A flow that is always
cwnd-limited has more than 0.9: only recoveries leave part of the window unused."""

MOST_NAMES = 3
"""Flows that a warning names."""

MOST_CELLS = 2000
"""Cells that are looked at."""


def lint(results: Results) -> list[LintWarning]:
    """Return warnings about weak results: one for each kind of weakness."""
    pairs = _pairs(results)
    if not pairs:
        return []
    cells = [runs for _, runs in pairs]
    return [
        *_facts(cells),
        *_variants(results.scenario),
        *lint_transport.stacks(pairs),
        *lint_transport.same_variants(pairs),
        *_repetitions(results.scenario, pairs),
        *_nothing_delivered(pairs),
        *_flows(pairs),
        *lint_transport.no_marks(pairs),
        *_losses(cells),
        *_intervals(results.scenario, cells),
        *_phases(pairs),
    ]


def lint_scenario(scenario: Scenario) -> list[LintWarning]:
    """Return the warnings that are known before any run, in the simulator."""
    step = -(-len(scenario.cells) // MOST_CELLS)
    pairs = [(cell, [Run(0, "", cell.values, 0, scenario.seed, [], [], [])]) for cell in scenario.cells[::step]]
    return [
        *_variants(scenario),
        *lint_transport.stacks(pairs),
        *lint_transport.same_variants(pairs),
        *_planned_repetitions(scenario, pairs),
        *_phases(pairs),
    ]


Pairs = Sequence[tuple[Cell, list[Run]]]


def _planned_repetitions(scenario: Scenario, pairs: Pairs) -> Iterator[LintWarning]:
    """Warn of a single repetition, and of cells whose seed can only shift the run in time."""
    if scenario.repetitions == 1 and scenario.until is None:
        yield from _repetitions(scenario, pairs)
    elif copies := [(cell, runs[0]) for cell, runs in pairs if only_shifted(cell)]:
        yield _copies(copies, len(pairs))


def _pairs(results: Results) -> Pairs:
    """Return the cells with their runs; of a very large sweep, cells at equal distances."""
    cells = results.scenario.cells
    step = -(-len(cells) // MOST_CELLS)
    of = {json.dumps(cell.values, sort_keys=True): cell for cell in cells[::step]}
    groups: dict[str, list[Run]] = {}
    for index, (number, _) in enumerate(results.runs.places):
        if step == 1 or number % step == 0:
            run = results.runs[index]
            groups.setdefault(json.dumps(run.cell, sort_keys=True), []).append(run)
    return [(of[key], runs) for key, runs in groups.items() if key in of]


def _facts(cells: list[list[Run]]) -> Iterator[LintWarning]:
    """Collect the warnings that the runs themselves carry."""
    for key, name in (("invalid", "invalid-run"), ("warnings", "doubtful-run")):
        found: dict[str, list[Run]] = {}
        for run in (run for runs in cells for run in runs):
            for sentence in run.facts.get(key, []):
                found.setdefault(sentence, []).append(run)
        for sentence, runs in found.items():
            text = f"{'invalid: ' if key == 'invalid' else ''}{sentence}"
            yield LintWarning(name, text, cell_names(runs))


def _variants(scenario: Scenario) -> Iterator[LintWarning]:
    """Name the own variants that no flow of any cell uses: no error, because a change may choose another variant."""
    if not scenario.variants:
        return
    flows = (flow for cell in scenario.cells for flow in cell.scenario.single_flows)
    used = {flow.variant.name for flow in flows if flow.variant is not None}
    unused = [f"'{name}'" for name in scenario.variants if name not in used]
    if unused:
        yield LintWarning("unused-variant", f"no flow uses {', '.join(unused)} of [variants]")


def _repetitions(scenario: Scenario, pairs: Pairs) -> Iterator[LintWarning]:
    cells = [runs for _, runs in pairs]
    once = [runs[0] for runs in cells if len(runs) == 1]
    if once:
        compared = f" and is too few to compare cells (at least {_least()})" if len(cells) > 1 else ""
        yield LintWarning(
            "one-repetition",
            f"a single repetition doesn't show random variation{compared}: set repetitions = 10 or more",
            () if len(once) == len(cells) else cell_names(once),
        )
    copies = [(cell, runs[0]) for cell, runs in pairs if copied(cell, runs)]
    if copies:
        yield _copies(copies, len(pairs))
    if scenario.until is not None:
        most = [runs[0] for runs in cells if len(runs) >= scenario.until.at_most]
        if most:
            yield LintWarning(
                "until-not-reached",
                f"the interval may still be wider than {scenario.until.half_width}: the scenario allows no more than "
                f"{scenario.until.at_most} repetitions",
                cell_names(most),
            )


def _copies(copies: Sequence[tuple[Cell, Run]], cells: int) -> LintWarning:
    """Warn of cells whose repetitions repeat one run."""
    return LintWarning(
        "identical-repetitions",
        "the repetitions are copies of one run, the same or shifted in time, and no evidence: they get no interval and "
        f"no p-value; {remedy(copies[0][0])}",
        () if len(copies) == cells else cell_names([run for _, run in copies]),
    )


def _least() -> int:
    """Return the number of repetitions from which a comparison of cells is possible."""
    from dumbbell.metrics.needed_repetitions import least_repetitions  # imports NumPy

    return least_repetitions()


def _varies(scenario: Scenario) -> bool:
    """True if the start of flows or the time of packets has jitter."""
    if scenario.start_jitter is not None:
        return scenario.start_jitter.ns > 0 or _jittered(scenario)
    return any(default_jitters(scenario)) or _jittered(scenario)


def _rows_by_name(runs: Sequence[Run]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each flow over the repetitions of a cell."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in (row for run in runs for row in run.flows):
        rows.setdefault(row["name"], []).append(row)
    return rows


def _nothing_delivered(pairs: Pairs) -> Iterator[LintWarning]:
    """Name the flows that have sent and delivered nothing, with the time that one packet takes."""
    found = FlowsByGroup()
    packet_s: dict[str, float] = {}
    for cell, runs in pairs:
        by_name = _rows_by_name(runs)
        for flow in runs[0].flows:
            rows = by_name[flow["name"]]
            if flow["application"] != "ping" and not any(row["delivered_bytes"] for row in rows):
                found.add(cell, runs[0], flow["name"])
                packet_s[runs[0].key] = 12_000 / min(
                    (link["rate_bps"] for link in plan_values(cell)["links"]), default=1
                )
    for flows, _, where in found:
        times = sorted(packet_s[run.key] for run in where)
        takes = " to ".join(dict.fromkeys(f"{time:.3g}" for time in (times[0], times[-1])))
        text = f"{flows} delivered nothing: a packet of 1500 bytes takes {takes} s on the slowest link"
        yield LintWarning("nothing-delivered", text, () if len(where) == len(pairs) else cell_names(where))


def _flows(pairs: Pairs) -> Iterator[LintWarning]:
    limited, unsettled = FlowsByGroup(), FlowsByGroup()
    variants = registry.variants()
    # Results of a kernel have its names, such as bbr for bbr1.
    known = {**variants, **{alias: v for v in variants.values() for alias in v.aliases}}
    for cell, runs in pairs:
        by_name = _rows_by_name(runs)
        marks = lint_transport.Marks(cell, runs)
        for flow in runs[0].flows:
            rows = by_name[flow["name"]]
            used = _mean(rows, "mean_inflight_packets") / (_mean(rows, "cwnd_mean_packets") or math.nan)
            variant = known.get(flow["variant"])
            # Such a variant sends at a rate; its window is only an upper bound.
            paced = variant is not None and "pacing_rate" in variant.columns
            if used < LIMITED and not paced:
                limited.add(cell, runs[0], flow["name"])
                continue
            calm = all(row["fast_retransmits"] + row["timeouts"] == 0 for row in rows)
            by_loss = variant is not None and variant.on_delay == "none" and variant.on_loss != "none"
            loss_based = by_loss and variant is not None and not variant.needs_marks
            # A mark is a congestion signal, too.
            if loss_based and flow["application"] == "bulk" and calm and not marks.of(flow["name"]):
                unsettled.add(cell, runs[0], flow["name"])
    for flows, their, where in limited:
        yield LintWarning(
            "not-window-limited",
            f"{flows} used less than {100 * LIMITED:.0f} % of {their} congestion window: {their} application or "
            f"receive window is the limit, so {their} rate doesn't show {their} congestion control",
            cell_names(where),
        )
    for flows, their, where in unsettled:
        yield LintWarning(
            "no-loss",
            f"{flows} detected no loss in any repetition: slow start may never have ended (run longer), or "
            f"{their} receive window is the limit",
            cell_names(where),
        )


def _mean(rows: Sequence[dict[str, Any]], metric: str) -> float:
    values = [row[metric] for row in rows if row.get(metric) is not None]
    return sum(values) / len(values) if values else math.nan


def _losses(cells: list[list[Run]]) -> Iterator[LintWarning]:
    rare = []
    for runs in cells:
        drops = sum(flow["dropped_packets"] for run in runs for flow in run.flows)
        marks = sum(queue["marks"] for run in runs for queue in run.queues)
        if 0 < drops < len(runs) and marks < len(runs):
            rare.append(runs[0])
    if rare:
        yield LintWarning(
            "rare-losses",
            "less than one loss a run: figures that depend on losses are decided by a handful of packets",
            cell_names(rare),
        )


def _intervals(scenario: Scenario, cells: list[list[Run]]) -> Iterator[LintWarning]:
    differing, begin = [], scenario.measure_from.seconds
    for runs in cells:
        spans = [
            (max(flow["start_s"], begin), flow["stop_s"])
            for flow in runs[0].flows
            if flow["application"] == "bulk" and flow["stop_s"] > flow["start_s"]
        ]
        longest = max((b - a for a, b in spans), default=0.0)
        common = min((b for _, b in spans), default=0.0) - max((a for a, _ in spans), default=0.0)
        if len(spans) > 1 and common < 0.9 * longest:
            differing.append(runs[0])
    if differing:
        yield LintWarning(
            "different-intervals",
            "the flows' rates are measured over different intervals (each over its own): compare shares over the "
            "time that they have in common (measure_from)",
            cell_names(differing) if len(differing) < len(cells) else (),
        )


def _phases(pairs: Pairs) -> Iterator[LintWarning]:
    """Warn of cells in which phase effects may decide which flow loses packets [Floyd and Jacobson 1991]."""
    found: dict[str, list[Run]] = {}
    for cell, runs in pairs:
        if len(cell.scenario.single_flows) > 1 and not _varies(cell.scenario):
            found.setdefault(_together(cell.scenario), []).append(runs[0])
    for together, runs in found.items():
        yield LintWarning(
            "phase-effects",
            f"nothing varies the timing of packets{together}: with drop-tail queues phase effects may decide which "
            "flow loses packets, and a real network may share the rate otherwise; set start_jitter, and jitter of a "
            "packet's transmission time on the access links",
            () if len(runs) == len(pairs) else cell_names(runs),
        )


def _together(scenario: Scenario) -> str:
    """Return a clause with the flows that start at the same instant; empty without any."""
    names: dict[int, list[str]] = {}
    for flow in scenario.single_flows:
        if not isinstance(flow.application, Ping):
            names.setdefault(flow.start.ns, []).append(f"'{flow.group or flow.name}'")
    most = max(names.values(), key=len, default=[])
    if len(most) < 2:
        return ""
    most = list(dict.fromkeys(most))
    if len(most) == 1:
        return f", and the copies of flow {most[0]} start at the same instant"
    more = len(most) - MOST_NAMES
    listed = [*most[:MOST_NAMES], *([f"{more} more"] if more > 0 else [])]
    return f", and flows {', '.join(listed[:-1])} and {listed[-1]} start at the same instant"


def _jittered(scenario: Scenario) -> bool:
    """True if a link has jitter, the intervals of a CBR flow have, or transfers arrive at random times."""
    plan = build(scenario)
    if any(flow["application"].get("arrivals", {}).get("kind") == "poisson" for flow in plan["flows"]):
        return True
    return has_jitter(plan["links"]) or any(flow["application"].get("jitter", 0) > 0 for flow in plan["flows"])
