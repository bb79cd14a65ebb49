"""Repetitions that repeat: copies of one run, shifted in time, which are no evidence of a difference.

A seed that changes only the start of a single flow shifts all events of the run alike: each repetition is the same
run again. Their spread is that of the cut at the end of the run and of the ticks of a stack's clock, and a test
of it is significant at any difference.
`only_shifted` finds such cells from the scenario, before any run; `are_copies` from the runs. Either is refused as
evidence: no interval and no p-value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dumbbell import registry
from dumbbell.common.numbers import ROUNDING
from dumbbell.plan.text import plan_values
from dumbbell.results.runs.column import measured
from dumbbell.results.runs.record import Run
from dumbbell.scenario import Cell
from dumbbell.scenario.flow.default_jitter import default_jitters
from dumbbell.scenario.network.model import Custom

if TYPE_CHECKING:
    from dumbbell.results.results import Results

__all__ = ["are_copies", "copied", "copied_cells", "has_jitter", "only_shifted", "refusal", "remedy"]

TIMES = frozenset({"start_s", "stop_s", "phase_s"})
"""Columns that are times of the run: a shift changes them."""
STEPS = ("_p50_", "_p95_", "_p99_", "_max_")
"""Parts of the names of columns that change in steps, by a few packets at the end."""
PER_PART = 8.0
"""The largest change of a quantity, relative to the part of the run that the shift cuts off at its end. That part of a
copy has about as much of everything as the rest, and at most a few times as much."""
LARGEST_CHANGE = 0.1
"""The largest change of a copy, however much is cut off."""
COURSES = ("rate_course", "delay_course", "opportunities", "outages")
"""Entries of a link's plan that change it at fixed times, so that a shifted run is another one."""


def copied(cell: Cell, runs: Sequence[Run]) -> bool:
    """Return True if a cell's repetitions are copies of one run, up to a shift in time.

    A kernel has variation of its own, so that its runs are only measured.
    """
    if len(runs) < 2:
        return False
    if not any(run.facts for run in runs) and only_shifted(cell):
        return True
    if all(run.flows == runs[0].flows for run in runs):
        return True
    # Jitter can change datagrams by less than the cut at the end does.
    return are_copies(runs) and not has_jitter(plan_values(cell)["links"])


def copied_cells(results: Results) -> list[Cell]:
    """Return the cells whose repetitions are copies."""
    cells = {json.dumps(cell.values, sort_keys=True): cell for cell in results.scenario.cells}
    pairs = ((cells.get(json.dumps(runs[0].cell, sort_keys=True)), runs) for runs in results.by_cell())
    return [cell for cell, runs in pairs if cell is not None and copied(cell, runs)]


# ------------------------------------------------------------ from the scenario


def only_shifted(cell: Cell) -> bool:
    """Return True if the seed can't change anything in the simulator but the time of all events together."""
    scenario = cell.scenario
    flows = scenario.single_flows
    common = 0 if scenario.start_jitter is None else scenario.start_jitter.ns
    widths = (
        own.ns if (own := flow.start_jitter) is not None else default or common
        for flow, default in zip(flows, default_jitters(scenario), strict=True)
    )
    if len(flows) > 1 and any(widths):  # before the plan, which many flows make large
        return False
    plan = plan_values(cell)
    links = plan["links"]
    moves = any(widths) or any(_moves(flow["application"]) for flow in plan["flows"])
    if moves and (len(flows) > 1 or any(_is_timed(link) for link in links)):
        return False
    return not (
        plan.get("media")
        or any(_is_random_link(link) for link in links)
        or any(_is_random_source(flow["application"]) for flow in plan["flows"])
        or any(_is_random_endpoint(flow["transport"]) for flow in plan["flows"])
    )


def has_jitter(links: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if packets on one of the links, given as in the plan, have different delays at random."""
    return any(_spread_ns(link.get("jitter")) > 0 for link in links)


def _spread_ns(jitter: Mapping[str, Any] | None) -> int:
    """Return a measure of a link's jitter, ns; 0 if all packets have the same delay."""
    if jitter is None:
        return 0
    spread: int = jitter[{"uniform": "max_ns", "normal": "sd_ns"}.get(jitter["distribution"], "mean_ns")]
    return spread


def _is_timed(link: Mapping[str, Any]) -> bool:
    return any(link.get(course) for course in COURSES) or any(drop["spans_ns"] for drop in link["drops"])


def _is_random_link(link: Mapping[str, Any]) -> bool:
    impairments = (link.get(key) for key in ("loss", "corruption", "duplication", "reordering"))
    return has_jitter([link]) or any(map(_happens, impairments)) or _is_random_queue(link["queue"])


def _happens(impairment: float | Mapping[str, Any] | None) -> bool:
    """Return True for an impairment whose probabilities aren't all zero."""
    if isinstance(impairment, Mapping):
        return _happens(impairment["share"]) if "share" in impairment else any(map(bool, impairment.values()))
    return bool(impairment)


def _is_random_queue(queue: Mapping[str, Any]) -> bool:
    """Return True if a queue may draw random numbers: own code, a discipline, or one within it."""
    disciplines = registry.disciplines()
    inner = [value for value in queue["params"].values() if isinstance(value, Mapping) and "discipline" in value]
    names = [queue["name"], *(part["discipline"] for part in inner), *queue["params"].values()]
    known = [disciplines[name] for name in names if isinstance(name, str) and name in disciplines]
    return "content" in queue or any(discipline.random for discipline in known)


def _moves(application: Mapping[str, Any]) -> bool:
    """Return True if the seed moves the first packet of an application, and with it all others."""
    if application["kind"] == "cbr":
        return application["phase_ns"] is None
    constant: bool = application.get("arrivals", {}).get("kind") == "constant"
    return constant or application["kind"] == "voice"


def _is_random_source(application: Mapping[str, Any]) -> bool:
    """Return True if times or sizes are drawn, or follow from a real program or own code."""
    return bool(
        application["kind"] == "program"
        or any(isinstance(part, Mapping) and "content" in part for part in application.values())
        or application.get("jitter", 0) > 0
        or application.get("exponential")
        or application.get("arrivals", {}).get("kind") == "poisson"
        or application.get("sizes", {"kind": "fixed"})["kind"] not in {"fixed", "listed"}
    )


def _is_random_endpoint(transport: Mapping[str, Any]) -> bool:
    if transport["kind"] == "udp":
        return False
    variant, stack = transport["variant"], transport["stack"]
    if "content" in variant or registry.variant(variant["name"]).random:
        return True
    params = {p.name: p.default for p in registry.stack(stack["name"]).params} | stack["params"]
    return str(params.get("skip_numbers", "false")).lower() == "true"


def refusal(cell: Cell) -> str:
    """Return why the repetitions of such a cell are no evidence, with the remedy."""
    return f"repetitions are copies of one run: {remedy(cell)}"


def remedy(cell: Cell) -> str:
    """Return the setting that makes repetitions differ, as a line for the scenario: jitter of one packet's time."""
    from dumbbell.metrics.intervals import number  # imports NumPy

    rate = min(link["rate_bps"] for link in plan_values(cell)["links"])
    where = "a link" if isinstance(cell.scenario.network, Custom) else "the access link"
    return f'set jitter = "{number(12e6 / rate, 2)} ms" on {where}'


# ------------------------------------------------------------ from the runs


def are_copies(runs: Sequence[Run]) -> bool:
    """Return True if runs differ by no more than a common shift of all their flows explains.

    A run that starts later is cut off earlier, so that it has less of everything. Neighbors in the order of their
    starts are compared. Without a shift they have to be equal.
    """
    ordered = sorted(runs, key=lambda run: _begin(run.flows[0]) if run.flows else 0.0)
    return len(runs) > 1 and bool(runs[0].flows) and all(_is_copy(a, b) for a, b in pairwise(ordered))


def _begin(flow: Mapping[str, Any]) -> float:
    """Return the time of a flow's first packet, s."""
    return float(flow["start_s"] + (flow.get("phase_s") or 0.0))


def _is_copy(earlier: Run, later: Run) -> bool:
    pairs = list(zip(earlier.flows, later.flows, strict=False))
    if len(earlier.flows) != len(later.flows) or any(a["name"] != b["name"] for a, b in pairs):
        return False
    shifts = [_begin(b) - _begin(a) for a, b in pairs]
    if max(shifts) - min(shifts) > 1e-8:  # the clock of the simulator is exact to 1e-9 s
        return False
    shift = shifts[0] if shifts[0] > 1e-8 else 0.0
    return all(_alike(a, b, _change(a, b, shift)) for a, b in pairs)


def _change(a: Mapping[str, Any], b: Mapping[str, Any], shift: float) -> float:
    """Return the largest relative change of a flow's quantities that a shift explains, with one packet of rounding."""
    lasted = min(row["stop_s"] - _begin(row) for row in (a, b))
    if shift == 0.0 or lasted <= 0:
        return ROUNDING
    part: float = shift / lasted + 1 / max(a["sent_packets"], 1)
    return min(PER_PART * part, LARGEST_CHANGE)


def _alike(a: Mapping[str, Any], b: Mapping[str, Any], change: float) -> bool:
    """Return True if the values of two rows differ by at most this part. Minima, of the idle beginning, are equal."""
    for column in measured("flows"):
        x, y = a.get(column.name), b.get(column.name)
        step = change > ROUNDING and any(part in column.name for part in STEPS)
        if column.kind == "text" or column.name in TIMES or step or x == y:
            continue
        if x is None or y is None:
            return False
        if abs(x - y) > max(abs(x), abs(y)) * (ROUNDING if "_min_" in column.name else change):
            return False
    return True
