"""The flows of a responsiveness test [draft-ietf-ippm-responsiveness]: load-generating connections and probes.

The draft begins with one load-generating connection in each loaded direction (INP) and adds one at each interval of a
second (INC, ID), 16 at most (MNP). The client of the test is on the left.

Foreign probes are downloads of a small object, each over a new connection. The draft launches up to 100 a second
(MPS), fewer on slow links: probes may take 5 % of the capacity (PTC). A probe of ours takes about 1000 bytes, so that
10 a second are 5 % of 1.6 Mbit/s. Several flows take turns, so that a slow probe delays few others.

Self probes have no flows: requests aren't multiplexed on the load-generating connections, and TCP's own estimate of
the round-trip time takes the place of `http_l`, as the draft provides for such connections.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["CONNECTIONS", "INTERVAL_S", "LOAD", "PROBE", "PROBERS", "flows", "trace"]

INTERVAL_S = 1.0
"""Interval duration (ID), s."""
CONNECTIONS = 16
"""Default number of load-generating connections (MNP)."""
PROBERS = 8
"""Flows that take turns to probe."""
LOAD = "load_"
"""Beginning of the names of load-generating connections."""
PROBE = "probe"
"""Beginning of the names of probing flows."""
RESPONSE = "200 bytes"
"""The response to a probe: one byte and its header."""

Ends = Callable[[bool], dict[str, Any]]


def flows(
    *, tcp: dict[str, Any], ways: tuple[str, ...], connections: int, lead_ns: int, interval_ns: int, ends: Ends
) -> list[dict[str, Any]]:
    """Return the flows, as a scenario writes them.

    Parameters
    ----------
    tcp : dict
        Variant and stack of each flow.
    ways : tuple of str
        The loaded directions: ``download``, ``upload``.
    connections : int
        Load-generating connections in all directions together.
    lead_ns, interval_ns : int
        Start of the load, and time from one probe to the next, ns.
    ends : callable
        True (data to the client) or False -> the place of a flow.
    """
    made: list[dict[str, Any]] = []
    for n in range(connections):
        way = ways[n % len(ways)]
        start = lead_ns + int(n // len(ways) * INTERVAL_S * 1e9)
        name = f"{LOAD}{way}{n // len(ways) + 1}"
        made.append({"name": name, **tcp, "start": f"{start} ns", **ends(way == "download")})
    for n in range(PROBERS):
        probe = {"kind": "page", "size": RESPONSE, "repeat": 0, "every": f"{PROBERS * interval_ns} ns"}
        entry = {"name": f"{PROBE}{n + 1}", **tcp, "application": probe, "start": f"{n * interval_ns} ns"}
        made.append({**entry, **ends(True)})
    return made


def trace(made: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the series that the evaluation needs."""
    loads = [flow["name"] for flow in made if flow["name"].startswith(LOAD)]
    return {"series": ["flows"], "only": loads, "interval": "20 ms"}
