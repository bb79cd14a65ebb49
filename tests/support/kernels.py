"""Shared by the tests of kernels: scenarios with changes, and rows of their results."""

from __future__ import annotations

from typing import Any

from dumbbell import Scenario
from dumbbell.results import Results

__all__ = ["PAYLOAD", "bottleneck", "changed", "flow", "one_flow"]

PAYLOAD = 1448 / 1500
"""Payload in a full packet: IP and TCP headers with timestamps are 52 bytes."""


def changed(document: dict[str, Any], changes: dict[str, Any]) -> Scenario:
    """Return a scenario made of a document, with other values at paths such as network__bottleneck__loss."""
    for path, value in changes.items():
        *parts, last = path.split("__")
        node = document
        for part in parts:
            node = node[part]
        node[last] = value
    return Scenario.from_dict(document)


def flow(results: Results, name: str = "f") -> dict[str, Any]:
    """Return the first run's row of a flow."""
    return next(f for f in results.runs[0].flows if f["name"] == name)


def bottleneck(results: Results) -> dict[str, Any]:
    """Return the first run's row of the bottleneck's queue."""
    return next(q for q in results.runs[0].queues if q["name"] == "r1->r2")


def one_flow(name: str, duration: str, /, *, rate: str, limit: str, **changes: Any) -> Scenario:
    """Return a Reno flow over a link of 20 ms, with other values at paths such as network__bottleneck__loss."""
    document: dict[str, Any] = {
        "name": name,
        "duration": duration,
        "network": {
            "bottleneck": {"rate": rate, "delay": "20 ms", "queue": {"discipline": "droptail", "limit": limit}},
            "access": {"rate": "100 Mbit/s", "delay": "0 ms"},
        },
        "flows": [{"name": "f", "variant": "reno"}],
    }
    return changed(document, changes)
