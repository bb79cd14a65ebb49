"""The path between the machines, measured before a run: a ping on the idle path, then a train of full packets.

The measurement is a run of a plan of its own with the same network. The simulator makes it too, so that both have the
same definitions; they differ where the path does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dumbbell import _core
from dumbbell.kernel.ssh.orders import Pair

__all__ = ["TOLERANCES", "differences", "measuring", "simulated"]

PINGS = 20
PING_NS = 10_000_000
PING_BYTES = 100
SETTLE_NS = 200_000_000
TRAIN_NS = 400_000_000
"""Length of a train, ns; its second half is measured, when a shallow queue in front of the bottleneck has filled."""
OVER_RATE = 1.5
PACKET_BYTES = 1500
MS = 1_000_000
TOLERANCES = {"rate": 0.02, "rtt": 0.05, "rtt_ms": 0.5}
"""Allowed differences of the rate, of the round-trip time, and of that in ms if it is more."""


def measuring(plan: dict[str, Any], chosen: Sequence[Pair]) -> tuple[dict[str, Any], list[Pair]]:
    """Return the plan of the measurement, and the machines of its flows: every pair of machines once."""
    rate = min(link["rate_bps"] for link in plan["links"])
    rtt = 2 * sum(link["delay_ns"] for link in plan["links"])
    flows: list[dict[str, Any]] = []
    pairs: list[Pair] = []
    at = 0
    for flow, pair in zip(plan["flows"], chosen, strict=True):
        if pair in pairs:
            continue
        ping = {"kind": "ping", "interval_ns": PING_NS, "packet_bytes": PING_BYTES, "count": PINGS}
        train_at = at + PINGS * PING_NS + rtt + SETTLE_NS
        flows.append(_flow(f"ping {len(pairs)}", flow, at, train_at, {**ping, "timeout_ns": rtt + 1000 * MS}))
        stop = train_at + rtt + TRAIN_NS
        train = {"kind": "cbr", "rate_bps": round(OVER_RATE * rate), "packet_bytes": PACKET_BYTES}
        application = {**train, "jitter": 0.0, "phase_ns": 0}
        flows.append(_flow(f"train {len(pairs) // 2}", flow, train_at, stop, application))
        pairs += [pair, pair]
        at = stop + rtt + SETTLE_NS
    measured = {
        **plan,
        "flows": flows,
        "duration_ns": at,
        "measure_from_ns": 0,
        "start_jitter_ns": 0,
        "trace": {"series": [], "only": None, "interval_ns": 0, "packets": False},
    }
    measured.pop("capture", None)
    return measured, pairs


def _flow(name: str, like: dict[str, Any], start: int, stop: int, application: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "from": like["from"],
        "to": like["to"],
        "start_ns": start,
        "stop_ns": stop,
        "class": like["class"],
        "application": application,
        "transport": {"kind": "udp"},
    }


def simulated(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the simulator's rows of flows of a plan."""
    return list(_core.run(json.dumps(plan, allow_nan=False)).rows.flows)


def differences(
    plan: dict[str, Any], pairs: Sequence[Pair], measured: Sequence[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Compare a measurement with the scenario.

    Returns
    -------
    list of dict, list of str
        The measured and the expected values of each path, and a sentence for each difference beyond `TOLERANCES`.
    """
    expected = simulated(plan)
    values, sentences = [], []
    for n in range(0, len(pairs), 2):
        (ping, train), (wanted_ping, wanted_train) = measured[n : n + 2], expected[n : n + 2]
        path = f"{pairs[n].client.machine.name} -> {pairs[n].server.machine.name}"
        value = {
            "path": path,
            "rtt_ms": ping["rtt_min_ms"],
            "expected_rtt_ms": wanted_ping["rtt_min_ms"],
            "rate_bps": train["throughput_bps"],
            "expected_rate_bps": wanted_train["throughput_bps"],
            "answered": ping["pings_sent"] - ping["pings_lost"],
        }
        values.append(value)
        sentences += _sentences(value)
    return values, sentences


def _sentences(value: dict[str, Any]) -> list[str]:
    path, rtt, wanted = value["path"], value["rtt_ms"], value["expected_rtt_ms"]
    if rtt is None:
        return [f"{path}: no packet of UDP has come back: a firewall, or no route between the machines"]
    found = []
    if wanted is not None and abs(rtt - wanted) > max(TOLERANCES["rtt"] * wanted, TOLERANCES["rtt_ms"]):
        found.append(f"{path}: the idle round-trip time is {rtt:.3g} ms, in the scenario {wanted:.3g} ms")
    rate, wanted = value["rate_bps"], value["expected_rate_bps"]
    if abs(rate - wanted) > TOLERANCES["rate"] * wanted:
        more = " or more" if rate > wanted else ""
        found.append(f"{path}: the rate is {rate * 1e-6:.4g} Mbit/s{more}, in the scenario {wanted * 1e-6:.4g} Mbit/s")
    return found
