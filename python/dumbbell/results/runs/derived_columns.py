"""Columns computed from others and from the path; the record of a run adds them to its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from dumbbell import _core
from dumbbell.plan.text import plan_values
from dumbbell.results.runs.column import Column, Frame, measured
from dumbbell.scenario import Cell
from dumbbell.scenario.flow.packet_sizes import (
    QUIC_HEADERS,
    UDP_IP,
    datagram_bytes,
    segment_bytes,
    segment_headers,
    stack_values,
)
from dumbbell.scenario.network.routes import routes_of

__all__ = ["IdlePath", "columns", "flow_metrics", "idle_paths", "stacks", "transfer_metrics"]

ACK = 52
"""IP packet of an ACK with timestamps, and headers of a segment, bytes."""
ICMP_IP = 28
"""Headers of an echo request, bytes."""
VOICE_HEADERS = 40
"""RTP, UDP and IP headers of a voice packet, bytes."""
SAMPLE_NS = 125_000
"""Speech in one byte of G.711, ns."""
VARYING = frozenset({"rate_course", "opportunities", "delay_course"})
"""Keys of links whose rate or delay changes over time, so that no single idle round trip exists."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class IdlePath:
    """Properties of a flow's idle path.

    Attributes
    ----------
    rate_bps : float
        The smallest rate on the path from its sender to its receiver.
    packet_bytes : int
        IP packet of a full segment, or of a datagram.
    header_bytes : int
        The part of it that isn't payload.
    handshake_rtts : int
        Round trips before the first data: of the transport, and of TLS.
    rtt_ms : float
        Time from sending a full packet to its ACK without other traffic: propagation and transmission in both
        directions.
    small_rtt_ms : float
        The same for a packet without payload.
    """

    rate_bps: float
    packet_bytes: int
    header_bytes: int
    handshake_rtts: int
    rtt_ms: float
    small_rtt_ms: float


@lru_cache(maxsize=64)
def idle_paths(cell: Cell) -> dict[str, IdlePath]:
    """Return each flow's idle path by name, without flows that cross a link whose rate or delay is not fixed."""
    plan = plan_values(cell)
    links = plan["links"]
    routes = routes_of(len(plan["nodes"]), tuple((link["from"], link["to"]) for link in links))
    unset = {n for n, link in enumerate(links) if not VARYING.isdisjoint(link)}
    unset.update(n for medium in plan.get("media", []) for n in (medium["down"], medium["up"]))
    found = {}
    for flow in plan["flows"]:
        there, back = routes.path(flow["from"], flow["to"]), routes.path(flow["to"], flow["from"])
        if not there or not back or not unset.isdisjoint([*there, *back]):
            continue
        values = _stack_values(flow["transport"])
        size = _packet(flow, values)
        if size is None:
            continue
        data, acks = [links[n] for n in there], [links[n] for n in back]
        ack_ms = _ms(acks, ACK)
        is_ping = "ping" in (flow["application"]["kind"], flow["application"].get("name"))
        reply_ms = _ms(acks, size) if is_ping else ack_ms
        found[flow["name"]] = IdlePath(
            rate_bps=min([_rate(link) for link in data]),
            packet_bytes=size,
            header_bytes=_headers(flow["transport"], values),
            handshake_rtts=_handshake_rtts(flow["transport"], values),
            rtt_ms=_ms(data, size) + reply_ms,
            small_rtt_ms=_ms(data, ACK) + ack_ms,
        )
    return found


def _packet(flow: Mapping[str, Any], values: Mapping[str, str]) -> int | None:
    """The IP packet of a full segment, or of a datagram, bytes; None for a real program, whose sizes are unknown."""
    application = flow["application"]
    if flow["transport"]["kind"] == "udp" and application["kind"] == "program":
        if application["name"] != "ping":
            return None
        command = application["client"]["command"]
        return int(command[command.index("-s") + 1]) + ICMP_IP
    if flow["transport"]["kind"] == "udp":
        if application["kind"] == "voice":
            return VOICE_HEADERS + int(application["packetization_ns"]) // SAMPLE_NS
        return int(application["packet_bytes"])
    if flow["transport"]["kind"] == "quic":
        return datagram_bytes(values) + UDP_IP
    return segment_bytes(values)


def _stack_values(transport: Mapping[str, Any]) -> Mapping[str, str]:
    """The parameters of a flow's stack, as texts; none without one."""
    stack = transport.get("stack")
    return {} if stack is None else stack_values(stack["name"], stack["params"])


def _headers(transport: Mapping[str, Any], values: Mapping[str, str]) -> int:
    """The headers of a full packet, bytes."""
    if transport["kind"] == "udp":
        return UDP_IP
    if transport["kind"] == "quic":
        return UDP_IP + QUIC_HEADERS
    return segment_headers(values)


def _handshake_rtts(transport: Mapping[str, Any], values: Mapping[str, str]) -> int:
    """Round trips before a flow's first data."""
    if transport["kind"] == "udp":
        return 0
    of_transport = {"0-rtt": 0, "none": 0, "false": 0}.get(values["handshake"], 1)
    tls = transport.get("tls")
    if tls is None:
        return of_transport
    resumed = tls["params"].get("handshake", "full")
    return of_transport + {"1.2": {"full": 2}, "1.3": {"early-data": 0}}[tls["name"]].get(resumed, 1)


def _rate(link: Mapping[str, Any]) -> float:
    """The rate that a link lets through for long: its own, or less if its policer or its queue shapes, bit/s."""
    rate = float(link["rate_bps"])
    if link.get("policer"):
        rate = min(rate, float(link["policer"]["rate_bps"]))
    queue = link["queue"]
    shaped = queue["params"].get({"tbf": "rate", "cake": "bandwidth"}.get(queue["name"]))
    if shaped not in {None, "unlimited", "link"}:
        rate = min(rate, float(_core.parse("rate", str(shaped))))
    return rate


def _ms(path: list[Mapping[str, Any]], size: int) -> float:
    """Return the time that a packet of that size needs along a path, ms."""
    return float(
        sum([1e-6 * link["delay_ns"] + 8e3 * (size + link["overhead_bytes"]) / link["rate_bps"] for link in path])
    )


@lru_cache(maxsize=64)
def stacks(cell: Cell, *, on_kernel: bool) -> dict[str, str | None]:
    """Return each flow's TCP endpoint by name, as `Stack.label`; None without one.

    A kernel's own is ``linux`` or ``linux-tuned``.
    """
    found: dict[str, str | None] = {}
    for flow in cell.scenario.single_flows:
        stack = flow.endpoint_stack
        if stack is not None and on_kernel:
            kernels = stack.name if stack.name == "linux-tuned" else "linux"
            stack = stack.model_copy(update={"name": "aioquic" if flow.transport == "quic" else kernels})
        found[flow.name] = None if stack is None else stack.label
    return found


def _rtt_excess(row: Row, path: IdlePath | None, _stack: str | None) -> float | None:
    rtt = row.get("rtt_mean_ms")
    return rtt - path.rtt_ms if rtt is not None and path is not None else None


def _retransmission_overhead(row: Row, _path: IdlePath | None, _stack: str | None) -> float | None:
    sent, again = row.get("sent_bytes"), row.get("retransmitted_bytes")
    return again / sent if sent and again is not None else None


def _power(row: Row, _path: IdlePath | None, _stack: str | None) -> float | None:
    rtt, goodput = row.get("rtt_mean_ms"), row.get("goodput_bps")
    return goodput / (rtt / 1e3) if rtt and goodput is not None else None


def _took(row: Row, _path: IdlePath | None = None, _opens: object = None) -> float | None:
    end, start = row.get("end_s"), row["start_s"]
    return None if end is None else float(end - start)


def _slowdown(row: Row, path: IdlePath | None, opens: bool) -> float | None:
    took = _took(row)
    if took is None or path is None or not row.get("bytes") or row.get("object") is not None:
        return None
    size: int = row["bytes"]
    packets = -(-size // (path.packet_bytes - path.header_bytes))
    wire = size + packets * path.header_bytes
    trips = 0.5 + (path.handshake_rtts if opens else 0)
    return took / (trips * path.small_rtt_ms / 1e3 + 8 * wire / path.rate_bps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived(Column):
    """A column that is computed from a row and its idle path.

    Attributes
    ----------
    formula : callable
        Called with the row, the idle path (None without one), and the TCP endpoint of a flow or True for the first
        transfer over its connection.
    """

    formula: Callable[[Row, IdlePath | None, Any], Any]


DERIVED: dict[Frame, tuple[Derived, ...]] = {
    "flows": (
        Derived(
            name="stack",
            kind="text",
            doc="TCP or QUIC endpoint: its preset and the parameters that differ from it. It follows the variant.",
            formula=lambda _row, _path, stack: stack,
        ),
        Derived(
            name="idle_rtt_ms",
            kind="number",
            unit="ms",
            doc="RTT of a full packet on an idle path: propagation and transmission of the packet, and of its ACK "
            "(or the reply to a ping); null if a link's rate or delay changes over time.",
            formula=lambda _row, path, _stack: None if path is None else path.rtt_ms,
        ),
        Derived(
            name="rtt_excess_ms",
            kind="number",
            unit="ms",
            doc="rtt_mean_ms - idle_rtt_ms.",
            bounds=(-math.inf, math.inf),  # packets smaller than a full one have a shorter round trip
            formula=_rtt_excess,
        ),
        Derived(
            name="retransmission_overhead",
            kind="number",
            doc="Retransmitted bytes / sent bytes.",
            bounds=(0.0, 1.0),
            formula=_retransmission_overhead,
        ),
        Derived(
            name="power",
            kind="number",
            unit="bit/s per s",
            doc="Goodput / rtt_mean_ms [Kleinrock 1979].",
            formula=_power,
        ),
    ),
    "queues": (),
    "transfers": (
        Derived(
            name="took_s",
            kind="number",
            unit="s",
            doc="Flow completion time: from its start to its last byte at the receiver.",
            formula=_took,
        ),
        Derived(
            name="slowdown",
            kind="number",
            doc="took_s divided by the shortest possible time: one idle RTT for each round trip of the handshakes, "
            "if the transfer opens its connection (TCP 1, QUIC 1, QUIC 0-RTT 0, TLS 1.3 1, TLS 1.2 2), half of one "
            "for the path, and all packets back to back at the smallest rate of the path (of a policer or shaper if "
            "that is lower). Null for segments of a video and objects of a page, which share connections.",
            bounds=(0.0, math.inf),
            formula=_slowdown,
        ),
    ),
}
"""The derived columns of each frame."""


@cache
def columns(frame: Frame) -> dict[str, Column]:
    """Return the columns of a frame by name: those that back ends measure, then the derived ones."""
    return {column.name: column for column in [*measured(frame), *DERIVED[frame]]}


def flow_metrics(row: Row, path: IdlePath | None, stack: str | None) -> dict[str, Any]:
    """Add the derived columns to a flow's row."""
    derived = {column.name: column.formula(row, path, stack) for column in DERIVED["flows"]}
    return {"name": row.get("name"), "variant": row.get("variant"), "stack": stack, **row, **derived}


def transfer_metrics(row: Row, path: IdlePath | None, *, opens: bool = True) -> dict[str, Any]:
    """Add the derived columns to a transfer's row; ``opens`` is True for the first transfer over its connection."""
    return {**row, **{column.name: column.formula(row, path, opens) for column in DERIVED["transfers"]}}
