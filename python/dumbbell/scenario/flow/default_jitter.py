"""Starts at one instant: a jitter by default, so that the seed and not the order of events decides.

Two bulk flows that start at the same instant are in step, and the first drops of a full queue then depend on the
order of events at one instant [Floyd and Jacobson 1991]: every repetition is the same special case. Programs that a
script starts together are some milliseconds apart. Wider jitters give the same distribution of shares, narrower ones
don't always (docs/explanations/paired.md).

Flows of other kinds start exactly: transfers and workloads that begin together are often the subject (incast), and
sources of datagrams have random phases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dumbbell.scenario.flow.application import Bulk

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

__all__ = ["DEFAULT_NS", "default_jitters", "sentence"]

DEFAULT_NS = 10_000_000
"""Width of the default, ns."""
SHARE = 100
"""It is at most this part of the shortest of the flows."""
MOST_NAMES = 3
"""Flows that the sentence names."""


def default_jitters(scenario: Scenario) -> list[int | None]:
    """Return, for each single flow, its default jitter in ns; None for a flow that has none.

    A flow has one if the scenario sets no ``start_jitter``, the flow is a bulk flow with congestion control and
    without a spread of its own, and another such flow starts at the same instant.
    """
    flows = scenario.single_flows
    found: list[int | None] = [None] * len(flows)
    if scenario.start_jitter is not None:
        return found
    groups: dict[int, list[int]] = {}
    for number, flow in enumerate(flows):
        if isinstance(flow.application, Bulk) and not flow.datagrams and flow.start_jitter is None:
            groups.setdefault(flow.start.ns, []).append(number)
    for start, group in groups.items():
        if len(group) > 1:
            shortest = min((flows[n].stop or scenario.duration).ns for n in group) - start
            for number in group:
                found[number] = min(DEFAULT_NS, shortest // SHARE)
    return found


def sentence(scenario: Scenario) -> str:
    """Return the sentence about the flows that start with a default jitter; empty if there are none."""
    jitters = default_jitters(scenario)
    names = [flow.name for flow, ns in zip(scenario.single_flows, jitters, strict=True) if ns is not None]
    if not names:
        return ""
    widest = max(ns for ns in jitters if ns is not None) / 1e6
    return (
        f"flows {_listed(names)} start together: each starts up to {widest:g} ms later, drawn from the seed "
        '(start_jitter = "0 s": at the same instant)'
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    quoted = [f"'{name}'" for name in names[:MOST_NAMES]] + ([f"{more} more"] if more > 0 else [])
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
