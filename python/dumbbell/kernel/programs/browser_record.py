"""The record of a browser's player, as results and tables of the simulator's form.

Times of the record are since the navigation, so that the start of the browser itself isn't part of them.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import numpy as np

from dumbbell.backends import Table
from dumbbell.common.documents import read_json
from dumbbell.scenario.flow.browser import SEGMENT_S, bitrate

__all__ = ["PROTOCOLS", "PlayerError", "read"]

PROTOCOLS = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
"""ALPN names of the versions of HTTP, as the browser reports them [Resource Timing, nextHopProtocol]."""
EMPTY_S = 0.1
"""A browser waits at the start and with a busy processor, too: it stalls if less than this is buffered, s."""
STARTING, PLAYING, STALLED, ENDED = range(4)
"""Codes of the table `video/NAME`."""
PAGE, SEGMENT = "player.html", "segment.webm"


class PlayerError(Exception):
    """The video can't be played, or not as the scenario requests; the message is a reason."""


def read(
    flow: dict[str, Any],
    report: dict[str, Any],
    row: dict[str, Any],
    transfers: list[dict[str, Any]],
    tables: MutableMapping[str, Table],
) -> dict[str, Any]:
    """Read a record into the flow's row, transfers and table; return what only a browser has."""
    if not report["client"]["stdout"].strip():
        raise PlayerError("the browser was not done: it takes some seconds to start; give the flow more time")
    record = read_json(report["client"]["stdout"])
    if record["error"] is not None:
        raise PlayerError(f"the player: {record['error']}")
    http, length = _asked(flow)
    entries = [record["navigation"], *(e for e in record["resources"] if SEGMENT in e["name"])]
    used = sorted({e["protocol"] for e in entries if e["protocol"]})
    if used != [PROTOCOLS[http]]:
        raise PlayerError(f"the browser used {' and '.join(used) or 'no known protocol'}, not {PROTOCOLS[http]}")
    # The wall clock ticks alike in the run and in the browser.
    begin = record["navigated"] - report["zero_unix_ns"] * 1e-9
    events = [Event(begin, *event) for event in record["events"]]
    _transfers(record, begin, row, transfers)
    _metrics(record, events, row, length)
    tables[f"video/{row['name']}"] = _table(record, events, begin, length)
    return {
        "product": record["browser"],
        "protocol": used[0],
        "frames": record["frames"],
        "dropped_frames": record["dropped_frames"],
        "navigated_s": begin,
    }


class Event:
    """An event of the player: what, when (ms since the navigation), playback position, buffer and end of media, s."""

    def __init__(self, begin: float, at: float, what: str, position: float, buffer: float, end: float) -> None:
        self.at = at * 1e-3
        self.t = begin + self.at
        self.what, self.position, self.buffer, self.end = what, position, buffer, end


def _asked(flow: dict[str, Any]) -> tuple[str, float]:
    """Return version and length of the video from the client's command."""
    command = flow["application"]["client"]["command"]
    at = command.index("spki")
    http, segments, seconds = command[at + 3 : at + 6]
    return http, int(segments) * float(seconds)


def _transfers(record: dict[str, Any], begin: float, row: dict[str, Any], transfers: list[dict[str, Any]]) -> None:
    """Add a row for each segment."""
    for number, segment in enumerate(record["segments"]):
        times = {key: None if segment[key] is None else begin + segment[key] * 1e-3 for key in ("first", "end")}
        transfers.append(
            {
                "flow": row["name"],
                "number": number,
                "start_s": begin + segment["start"] * 1e-3,
                "end_s": times["end"],
                "bytes": segment["bytes"],
                "object": f"segment {number}",
                "first_byte_s": times["first"],
                "bitrate_bps": bitrate().bps,
            }
        )
    row["transfers_started"] = len(record["segments"])
    row["transfers_completed"] = sum(segment["end"] is not None for segment in record["segments"])


def _stalls(events: list[Event]) -> list[tuple[float, float]]:
    """Return begin and end of each stall, s since the navigation; of one that lasts, until the last event."""
    found, since, playing = [], None, False
    for event in events:
        if event.what in {"playing", "ended"}:
            if since is not None:
                found.append((since, event.at))
            playing, since = True, None
        elif event.what == "waiting" and playing and event.buffer < EMPTY_S and since is None:
            since = event.at
    if since is not None:
        found.append((since, events[-1].at))
    return found


def _metrics(record: dict[str, Any], events: list[Event], row: dict[str, Any], length: float) -> None:
    """Set the columns of videos."""
    done = [s for s in record["segments"] if s["end"] is not None]
    rate = bitrate().bps
    stalls = _stalls(events)
    stall_s, played_s = float(sum(b - a for a, b in stalls)), float(record["played_s"])
    startup = next((e.at for e in events if e.what == "playing"), None)
    whole = len(done) * SEGMENT_S >= length
    row.update(
        first_byte_s=record["navigation"]["first"] * 1e-3,
        load_time_s=done[-1]["end"] * 1e-3 if whole else None,
        startup_delay_s=startup,
        stalls=len(stalls),
        stall_s=stall_s,
        played_s=played_s,
        stall_ratio=None if startup is None else stall_s / max(stall_s + played_s, 1e-9),
        mean_bitrate_bps=rate if done else None,
        switches=0,
    )
    if whole:
        row["completion_time_s"] = row["load_time_s"]


def _table(record: dict[str, Any], events: list[Event], begin: float, length: float) -> Table:
    """Return the player's changes over time."""
    stalls = _stalls(events)
    startup = next((e.at for e in events if e.what == "playing"), None)
    over = next((e.at for e in events if e.what == "ended"), None)
    requested = [begin + s["start"] * 1e-3 for s in record["segments"]]

    def state(event: Event) -> int:
        if over is not None and event.at >= over:
            return ENDED
        if startup is None or event.at < startup:
            return STARTING
        return STALLED if any(a <= event.at < b for a, b in stalls) else PLAYING

    t = np.array([e.t for e in events])
    rates = np.where(t >= (requested or [np.inf])[0], float(bitrate().bps), np.nan)
    return {
        "t_ns": _ns(t),
        "buffer_ns": _ns(np.array([e.buffer for e in events])),
        "bitrate": rates,
        "downloaded_ns": _ns(np.minimum([e.end for e in events], length)),
        "played_ns": _ns(np.array([e.position for e in events])),
        "state": np.array([state(e) for e in events], np.uint8),
    }


def _ns(seconds: Any) -> Any:  # noqa: ANN401 - arrays
    return np.round(np.maximum(seconds, 0.0) * 1e9).astype(np.uint64)
