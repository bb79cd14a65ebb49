"""Metrics computed from others and from the path; `Results` adds them to the rows of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dumbbell import _core, registry
from dumbbell.plan.build import build
from dumbbell.scenario import Cell
from dumbbell.scenario.routes import Routes

__all__ = ["IdlePath", "flow_metrics", "idle_paths", "transfer_metrics"]

ACK = 52
"""IP packet of an ACK with timestamps, and headers of a segment, bytes."""
TCP_IP = 40
"""Headers of a segment without options, bytes."""
ICMP_IP = 28
"""Headers of an echo request, bytes."""


@dataclass(frozen=True, slots=True)
class IdlePath:
    """Properties of a flow's idle path.

    Attributes
    ----------
    rate_bps : float
        The smallest rate on the path from its sender to its receiver.
    packet_bytes : int
        IP packet of a full segment, or of a datagram.
    rtt_ms : float
        Time from sending a full packet to its ACK without other traffic: propagation and transmission in both
        directions.
    small_rtt_ms : float
        The same for a packet without payload.
    """

    rate_bps: float
    packet_bytes: int
    rtt_ms: float
    small_rtt_ms: float


@lru_cache(maxsize=64)
def idle_paths(cell: Cell) -> dict[str, IdlePath]:
    """Return each flow's idle path by name, without flows that cross a link whose rate or delay is not fixed."""
    plan = build(cell.scenario)
    links = plan["links"]
    routes = Routes(len(plan["nodes"]), [(link["from"], link["to"]) for link in links])
    found = {}
    for flow in plan["flows"]:
        there, back = (routes.path(*ends) for ends in ((flow["from"], flow["to"]), (flow["to"], flow["from"])))
        if there is None or back is None:
            continue
        data, acks = [links[n] for n in there], [links[n] for n in back]
        if not data or any(_varies(link) for link in (*data, *acks)):
            continue
        size = _packet(flow)
        if size is None:
            continue
        reply = size if "ping" in (flow["application"]["kind"], flow["application"].get("name")) else ACK
        small = _ms(data, ACK) + _ms(acks, ACK)
        rate = min(_rate(link) for link in data)
        found[flow["name"]] = IdlePath(rate, size, _ms(data, size) + _ms(acks, reply), small)
    return found


def _varies(link: Mapping[str, Any]) -> bool:
    """Return True if a link's rate or delay changes over time, so that no single idle round trip exists."""
    return any(key in link for key in ("rate_course", "opportunities", "delay_course"))


def _packet(flow: Mapping[str, Any]) -> int | None:
    """The IP packet of a full segment, or of a datagram, bytes; None for a real program, whose sizes are unknown."""
    application = flow["application"]
    if flow["transport"]["kind"] != "tcp" and application["kind"] == "program":
        if application["name"] != "ping":
            return None
        command = application["client"]["command"]
        return int(command[command.index("-s") + 1]) + ICMP_IP
    if flow["transport"]["kind"] != "tcp":
        return int(application["packet_bytes"])
    stack = flow["transport"]["stack"]
    default = next(p.default for p in registry.stack(stack["name"]).params if p.name == "mss")
    return int(_core.parse("bytes", str(stack["params"].get("mss", default)))) + TCP_IP


def _rate(link: Mapping[str, Any]) -> float:
    """The rate that a link lets through for long: its own, or less if its policer or its queue shapes, bit/s."""
    rates = [float(link["rate_bps"])]
    if link.get("policer"):
        rates.append(float(link["policer"]["rate_bps"]))
    params = link["queue"]["params"]
    for shaper, name in (("tbf", "rate"), ("cake", "bandwidth")):
        if link["queue"]["name"] == shaper and params.get(name) not in {None, "unlimited", "link"}:
            rates.append(float(_core.parse("rate", str(params[name]))))
    return min(rates)


def _ms(path: list[Mapping[str, Any]], size: int) -> float:
    """Return the time that a packet of that size needs along a path, ms."""
    each = (
        1e-6 * link["delay_ns"] + 8e3 * (size + link.get("overhead_bytes", 0)) / link["rate_bps"] for link in path
    )
    return float(sum(each))


def flow_metrics(row: Mapping[str, Any], path: IdlePath | None) -> dict[str, Any]:
    """Add the derived metrics to a flow's row.

    ``idle_rtt_ms``
        see `IdlePath.rtt_ms`; null where a link has no set rate or delay
    ``rtt_excess_ms``
        the mean round-trip time less the idle one
    ``retransmission_overhead``
        retransmitted over sent bytes, no unit
    ``power``
        goodput over mean round-trip time, bit/s per s [Kleinrock 1979]
    """
    rtt, sent, again = row.get("rtt_mean_ms"), row.get("sent_bytes"), row.get("retransmitted_bytes")
    idle = None if path is None else path.rtt_ms
    goodput = row.get("goodput_bps")
    return {
        **row,
        "idle_rtt_ms": idle,
        "rtt_excess_ms": rtt - idle if rtt is not None and idle is not None else None,
        "retransmission_overhead": again / sent if sent and again is not None else None,
        "power": goodput / (rtt / 1e3) if rtt and goodput is not None else None,
    }


def transfer_metrics(row: Mapping[str, Any], path: IdlePath | None) -> dict[str, Any]:
    """Add the derived metrics to a transfer's row.

    ``took_s``
        from its start to its last byte at the receiver
    ``slowdown``
        that divided by the time that it would take at the path's full rate: one idle round trip for the handshake,
        then all of its segments one behind the other; no unit, 1 at best
    """
    end = row.get("end_s")
    took = end - row["start_s"] if end is not None else None
    slowdown = None
    if took is not None and path is not None and row.get("bytes"):
        segments = -(-row["bytes"] // (path.packet_bytes - ACK))
        wire = row["bytes"] + segments * ACK
        slowdown = took / (path.small_rtt_ms / 1e3 + path.small_rtt_ms / 2e3 + 8 * wire / path.rate_bps)
    return {**row, "took_s": took, "slowdown": slowdown}
