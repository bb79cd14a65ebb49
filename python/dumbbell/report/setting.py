"""The conditions of runs in a few lines: network, flows, swept values, repetitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dumbbell.common.words import counted
from dumbbell.scenario.network.model import Custom

if TYPE_CHECKING:
    from dumbbell.results.results import Results
    from dumbbell.scenario import Scenario

__all__ = ["setting_of"]

MANY = 8
"""Flows, and values of a swept path, that are listed at most."""
IMPAIRMENTS = ("outages", "policer", "loss", "corruption", "jitter", "reordering", "duplication", "drops")


def setting_of(results: Results) -> Iterator[tuple[str, str]]:
    """List the conditions of the runs, by heading."""
    scenario = results.scenario
    swept = set(scenario.cells[0].values) if scenario.cells else set()
    yield from _network(scenario, swept)
    yield "flows", "; ".join(_some([_flow(flow, swept) for flow in scenario.flows], "flows"))
    for path in scenario.cells[0].values if scenario.cells else ():
        values = list(dict.fromkeys(_words(cell.values.get(path)) for cell in scenario.cells))
        yield f"swept: {path}", ", ".join(_some(values, "values"))
    cells, runs = len(scenario.cells), len(results)
    times = scenario.repetitions
    text = f"{counted(cells, 'cell')} x {counted(times, 'repetition')}"
    text += f" of {scenario.duration}"
    text += "" if runs == cells * scenario.repetitions else f", {counted(runs, 'run')} in all"
    yield "runs", text + (f", measured from {scenario.measure_from}" if _is_set(scenario.measure_from) else "")


def _network(scenario: Scenario, swept: set[str]) -> Iterator[tuple[str, str]]:
    network = scenario.network
    if isinstance(network, Custom):
        yield "network", f"{len(network.nodes)} nodes, {len(network.links)} links"
        return
    places = {network.bottleneck_place(hop): hop for hop in range(len(network.hop_links))}
    for place, hop in places.items():
        link, path = network.hop_links[hop], f"network.{place}"
        heading = "bottleneck" if len(places) == 1 else f"bottleneck {hop + 1}"
        heading += f" ({hop + 1}, all alike)" if len(places) == 1 and hop else ""
        parts = [_one(f"{path}.{key}", key, getattr(link, key), swept) for key in ("rate", "delay")]
        queue = link.queue
        if any(p.startswith(f"{path}.queue") for p in swept):
            parts.append("queue swept")
        elif queue is not None:
            given = ", ".join(f"{key} {_words(value)}" for key, value in queue.params.items())
            parts.append(f"{queue.name}{f' ({given})' if given else ''}")
        parts += [name for name in IMPAIRMENTS if getattr(link, name) is not None]
        yield heading, ", ".join(parts)


def _flow(flow: Any, swept: set[str]) -> str:  # noqa: ANN401 - the model's class of flows of one name is not public
    base = f"flows.{flow.name}"
    variant = "variant swept" if any(p.startswith(f"{base}.variant") for p in swept) else flow.variant
    text = f"{flow.name}: {variant if isinstance(variant, str) else getattr(variant, 'name', flow.transport)}"
    text += f", {flow.transport}" if flow.transport != "tcp" and flow.variant is not None else ""
    kind = getattr(flow.application, "kind", "")
    text += f", {kind}" if kind and kind != "bulk" else ""
    return text + (f", from {flow.start}" if isinstance(flow.start, str) and _is_set(flow.start) else "")


def _one(path: str, key: str, value: object, swept: set[str]) -> str:
    if path in swept:
        return f"{key} swept"
    return _words(value) if isinstance(value, str | int | float) else f"{key} varies over time"


def _words(value: object) -> str:
    """Return a value of a scenario in words; a table is named by its name or its kind."""
    if isinstance(value, dict):
        names = [str(value[key]) for key in ("name", "discipline", "variant", "kind") if key in value]
        return names[0] if names else ", ".join(f"{k} {v}" for k, v in value.items())
    return str(value)


def _some(values: list[str], what: str) -> list[str]:
    more = len(values) - MANY
    return values if more <= 1 else [*values[:MANY], f"and {more} more {what}"]


def _is_set(time: str) -> bool:
    """Return True for a time other than zero."""
    return not str(time).strip().startswith(("0 ", "0s")) and str(time).strip() != "0"
