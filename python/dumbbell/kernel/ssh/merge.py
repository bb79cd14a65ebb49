"""The answers of the agents as one run: rows of flows, transfers, series.

The data sender's machine knows its socket's state, the data receiver's machine which data arrived and when. A router
that carries the links knows every packet: where there is one, counts and times of packets are its. Without one
they come from `TCP_INFO`: packets that did not arrive are those sent less those received, and of the round-trip times
only the minimum and srtt are known.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import cache
from io import BytesIO
from typing import Any

from dumbbell.backends import Table
from dumbbell.kernel.outcome import tables
from dumbbell.kernel.ssh.agent import Answer
from dumbbell.results.columns import columns

__all__ = ["Merged", "merge"]

HEADERS = 52
"""Bytes of IP and TCP headers with timestamps, of each segment with payload [RFC 7323 §3.2]."""


class Merged:
    """Results of a run.

    Attributes
    ----------
    flows, transfers : list of dict
        Rows, as those of the other back ends.
    tables : mapping of str to Table
        Series by name; long ones are on disk.
    """

    def __init__(self) -> None:
        self.flows: list[dict[str, Any]] = []
        self.transfers: list[dict[str, Any]] = []
        self.tables: MutableMapping[str, Table] = {}


def merge(plan: dict[str, Any], answers: list[Answer], router: Answer | None) -> Merged:
    """Return the results of a run from the answers of clients and servers, and of the router if there is one."""
    merged = Merged()
    ends: dict[tuple[int, int], dict[str, Any]] = {}
    for answer in answers:
        for end in answer.document["ends"]:
            ends[end["flow"], end["side"]] = end
    measured = answers if router is None else [*answers, router]
    merged.tables = tables((answer.document["tables"], BytesIO(answer.payloads[0])) for answer in measured)
    merged.transfers = _transfers(plan, answers)
    for n, flow in enumerate(plan["flows"]):
        row = _row(flow, ends[n, 0], ends[n, 1])
        if router is not None:
            _by_router(row, router.document["flows"][n])
        _rates(row)
        mine = [t for t in merged.transfers if t["flow"] == flow["name"]]
        row |= _completion(flow["application"], mine)
        merged.flows.append(row)
    return merged


@cache
def _measured_by(machine: str) -> list[str]:
    """Name the columns of a flow whose value a machine has, by their declarations."""
    merges = ((column.name, column.merge) for column in columns("flows").values())
    return [name for name, merge in merges if merge is not None and merge[1] == machine]


def _row(flow: dict[str, Any], sender: dict[str, Any], receiver: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a flow as its two machines know it; ``seconds`` is its measured time."""
    row: dict[str, Any] = dict(sender["row"])
    sent, received = sender["counters"], receiver["counters"]
    kind = flow["application"]["kind"]
    tcp = flow["transport"]["kind"] == "tcp"
    if kind != "ping":  # data are counted where they arrive, echoes where they come back
        row |= {name: receiver["row"][name] for name in _measured_by("receiver")}
    stop = row["stop_s"]
    row["variant"] = flow["transport"]["variant"]["name"] if tcp else ("ping" if kind == "ping" else "udp")
    row["application"] = kind
    row["seconds"] = max(stop - max(sender["from_s"], receiver["from_s"]), 0.0)
    if kind == "ping":
        size = flow["application"]["packet_bytes"]
        row["sent_packets"] = row["pings_sent"]
        row["sent_bytes"] = row["pings_sent"] * size
        row["dropped_packets"] = row["pings_lost"]
        row["delivered_bytes"] = row["received_bytes"] = (row["pings_sent"] - row["pings_lost"]) * size
        return row
    row["sent_packets"] = sent["segments_sent"]
    row["sent_bytes"] = sent["bytes_sent"]
    row["delivered_bytes"] = received["bytes_read"]
    row["received_bytes"] = received["bytes_read"] + (HEADERS * received["segments_received"] if tcp else 0)
    row["dropped_packets"] = max(sent["segments_sent"] - received["segments_received"], 0)
    if tcp:
        row["retransmitted_packets"] = sent["segments_retransmitted"]
        row["retransmitted_bytes"] = sent["bytes_retransmitted"]
        row["timeouts"] = sent["timeouts"]
        row["rtt_min_ms"] = None if sent["min_rtt_us"] is None else sent["min_rtt_us"] * 1e-3
    return row


def _by_router(row: dict[str, Any], seen: dict[str, Any]) -> None:
    """Replace what a router knows better: it has seen every packet."""
    row |= {name: seen[name] for name in _measured_by("router")}
    if row["variant"] not in ("udp", "ping"):
        row |= {name: seen[name] for name in _measured_by("tcp-router")}
    # The router's measured time ends with the run; a flow that has ended by itself has a shorter one.
    began: float = row["stop_s"] - row["seconds"]
    row["received_bytes"] = seen["throughput_bps"] * max(seen["stop_s"] - began, 0.0) / 8


def _rates(row: dict[str, Any]) -> None:
    seconds = row.pop("seconds")
    received = row.pop("received_bytes")
    row["throughput_bps"] = received * 8 / seconds if seconds else 0.0
    payload = received if row["variant"] in ("udp", "ping") else row["delivered_bytes"]
    row["goodput_bps"] = payload * 8 / seconds if seconds else 0.0
    row["drop_rate"] = row["dropped_packets"] / row["sent_packets"] if row["sent_packets"] else None


def _transfers(plan: dict[str, Any], answers: list[Answer]) -> list[dict[str, Any]]:
    """Return the transfers of all flows: starts from the machines that connect, ends from the receivers."""
    starts: dict[tuple[str, int], dict[str, Any]] = {}
    done: dict[tuple[str, int], float] = {}
    connects = {f["name"]: int(f["application"]["kind"] == "page") for f in plan["flows"]}
    numbers = {f["name"]: n for n, f in enumerate(plan["flows"])}
    for answer in answers:
        here = {(end["flow"], end["side"]) for end in answer.document["ends"]}
        for transfer in answer.document["transfers"]:
            key = (transfer["flow"], transfer["number"])
            name = transfer["flow"]
            if (numbers[name], connects[name]) in here:
                starts[key] = dict(transfer)
            if transfer["end_s"] is not None:
                done[key] = transfer["end_s"]
    return [{**t, "end_s": done.get(key)} for key, t in sorted(starts.items(), key=lambda item: item[1]["start_s"])]


def _completion(application: dict[str, Any], mine: list[dict[str, Any]]) -> dict[str, Any]:
    if application["kind"] not in ("transfer", "page"):
        return {}
    ended = [t["end_s"] for t in mine if t["end_s"] is not None]
    whole = application["repeat"] > 0 and len(ended) == application["repeat"]
    return {
        "transfers_started": len(mine),
        "transfers_completed": len(ended),
        "completion_time_s": max(ended) - min(t["start_s"] for t in mine) if whole else None,
    }
