"""The offered load of workloads: how many transfers per second a share of a link is.

A transfer takes, on the slowest link of its path, its payload, the headers of its packets with data, and the link's
framing of those packets. Handshakes, pure acknowledgments and retransmissions do not count, as in the literature of
data centers: they depend on the transport, not on the traffic that is asked for. Over QUIC, the packets of new
connections have the size before the discovery of the datagram size, those of reused ones the size after it. (A long
transfer over a new connection is in between: its headers take up to 1 % less.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.flow.packet_sizes import (
    QUIC_HEADERS,
    UDP_IP,
    datagram_bytes,
    segment_bytes,
    segment_headers,
    stack_values,
)
from dumbbell.scenario.flow.workload import MOST_TRANSFERS, Workload
from dumbbell.scenario.layout.graph import Edge
from dumbbell.scenario.paths import join

__all__ = ["rate_of", "wire_bytes"]


def wire_bytes(flow: Flow, overhead: int = 0) -> float:
    """Return the mean bytes of a transfer on a link: payload, headers of packets with data, and framing.

    Parameters
    ----------
    flow : Flow
        A flow with a workload.
    overhead : int
        Framing of each packet, bytes.
    """
    app, stack = flow.application, flow.endpoint_stack
    if not isinstance(app, Workload) or stack is None:
        raise TypeError(f"flow '{flow.name}' has no workload")
    values = stack_values(stack.name, stack.params)
    if flow.transport == "quic":
        headers = UDP_IP + QUIC_HEADERS
        payload = datagram_bytes(values, discovered=app.connections == "reuse") - QUIC_HEADERS
    else:
        headers = segment_headers(values)
        payload = segment_bytes(values) - headers
    if app.sizes is not None:
        packets = app.sizes.mean_packets(payload)
    else:
        sizes = app.arrivals.listed[1] or [0]
        packets = sum(-(-size // payload) for size in sizes) / len(sizes)
    return app.mean_bytes + packets * (headers + overhead)


def rate_of(flow: Flow, path: Iterable[int], edges: Sequence[Edge], end_ns: int) -> float | None:
    """Return the transfers per second of a flow with a workload; None where a file lists them.

    Parameters
    ----------
    flow : Flow
        One flow: of several copies, one.
    path : iterable of int
        The edges that its data cross.
    edges : list of Edge
        All edges.
    end_ns : int
        The end of the run, ns.

    Raises
    ------
    ScenarioError
        If a load has no rate, or more transfers would arrive than results can hold.
    """
    app = flow.application
    if not isinstance(app, Workload) or app.arrivals.file is not None:
        return None
    place = f"{join(['flows', flow.group or flow.name])}.application"
    if app.arrivals.rate is not None:
        copies = 1 if app.arrivals.together else flow.copies
        per_s = app.arrivals.rate.per_s / copies
    else:
        slowest = min((edges[n] for n in path), key=lambda edge: edge.settings.rate_bps)
        if slowest.settings.wifi is not None:
            why = "a load needs a link with a rate, and the path's is Wi-Fi: give a rate instead"
            raise ScenarioError([Problem(f"{place}.arrivals.load", why)])
        mean = wire_bytes(flow, slowest.settings.overhead.bytes)
        if not math.isfinite(mean):
            why = "the sizes have no finite mean: give them a largest size (max), or the arrivals a rate"
            raise ScenarioError([Problem(f"{place}.arrivals.load", why)])
        per_s = (app.arrivals.load or 0.0) * slowest.settings.rate_bps / (8 * mean * flow.copies)
    seconds = ((flow.stop.ns if flow.stop is not None else end_ns) - flow.start.ns) / 1e9
    if app.count is None and per_s * seconds > MOST_TRANSFERS:
        why = f"about {per_s * seconds:.3g} transfers would arrive: at most {MOST_TRANSFERS:,} are possible"
        raise ScenarioError([Problem(f"{place}.arrivals", why)])
    return min(max(per_s, 1e-9), 1e9)
