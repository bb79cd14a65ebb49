"""What the columns of the traced tables mean.

A run is made when the docs are built: if it has a column that is not described here, or lacks one that is, the build
fails.
"""

from __future__ import annotations

from functools import cache

import dumbbell
from dumbbell import registry

Columns = dict[str, tuple[str, str]]

TABLES: dict[str, Columns] = {
    "flow": {
        "t_ns": ("ns", "Time of the row, from the start of the run."),
        "cwnd": ("bytes", "Congestion window in force: in fast recovery with what duplicate ACKs inflate it by."),
        "ssthresh": ("bytes", "Slow start threshold."),
        "srtt_ns": ("ns", "Smoothed round-trip time of RFC 6298; NaN before the first sample."),
        "rto_ns": ("ns", "Retransmission timeout, backoff included."),
        "inflight": (
            "bytes",
            "Bytes outstanding: with SACK the pipe of RFC 6675, else from `snd_una` to the next to send.",
        ),
        "snd_una": ("bytes", "Payload acknowledged so far on the current connection."),
        "snd_nxt": (
            "bytes",
            "Offset of the next payload byte to send; goes back where a sender without SACK starts again at a hole.",
        ),
        "delivered": ("bytes", "Payload delivered in order to the receiver, over all connections of the flow."),
        "phase": ("code", "What the sender is doing, see below."),
    },
    "ping": {
        "t_ns": ("ns", "When the request was sent."),
        "rtt_ns": ("ns", "Time until its reply; NaN if it counts as lost."),
    },
    "queue": {
        "t_ns": ("ns", "Time of the row."),
        "packets": ("packets", "Packets waiting; the one in transmission is not counted."),
        "bytes": ("bytes", "Their wire bytes, framing included."),
        "marks": ("packets", "Packets marked so far."),
    },
    "departures": {
        "t_ns": ("ns", "When the transmission of a packet began."),
        "flow": (
            "code",
            "Flow and direction: 2 n for data of the scenario's flow n (from 0), 2 n + 1 for what comes back.",
        ),
        "bytes": ("bytes", "Wire bytes, framing included."),
        "sojourn_ns": ("ns", "Time from arrival to the start of transmission."),
        "end_ns": ("ns", "When the transmission ended: the packet was out."),
    },
    "drops": {
        "t_ns": ("ns", "When the packet was dropped."),
        "flow": ("code", "Flow and direction, as for departures."),
        "bytes": ("bytes", "Wire bytes."),
        "reason": ("code", "Why, see below."),
    },
    "packets": {
        "t_ns": ("ns", "Time of the row."),
        "event": ("code", "0: sent by its host, 1: received by its destination, 2: dropped anywhere."),
        "flow": ("code", "Flow and direction, as for departures."),
        "connection": ("count", "Which of the flow's connections, from 1; 0 for datagrams."),
        "number": ("bytes or count", "TCP: offset of the first payload byte; datagrams: their number, from 0."),
        "payload": ("bytes", "Payload bytes of a TCP segment; 0 for datagrams."),
        "bytes": ("bytes", "IP bytes."),
        "retransmission": ("0 or 1", "Whether the segment was sent before."),
    },
}

SAMPLE = """
name = "every kind of table"
duration = "1 s"
[network]
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = "red" }
access = { rate = "10 Mbit/s", delay = "1 ms" }
[trace]
series = true
packets = true
[[flows]]
name = "tcp"
variant = "vegas"
[[flows]]
name = "udp"
transport = "udp"
application = { kind = "cbr", rate = "1 Mbit/s" }
[[flows]]
name = "probe"
application = { kind = "ping", interval = "100 ms" }
"""


@cache
def check() -> None:
    """Compare with a run."""
    results = dumbbell.run(dumbbell.Scenario.from_toml(SAMPLE))
    private = {"flow": registry.variant("vegas").columns, "queue": registry.discipline("red").columns}
    seen = set()
    for name in results.tables(0):
        kind = name.partition("/")[0]
        seen.add(kind)
        found = list(results.arrays(0, name))
        routers = name.startswith("queue/") and "s" not in name and "d" not in name
        described = [*TABLES[kind], *(private[kind] if kind == "flow" or routers else ())]
        if found != described:
            raise ValueError(f"table {name} has columns {found}, but {described} are described")
    if seen != set(TABLES):
        raise ValueError(f"tables of kinds {sorted(seen)} were traced, but {sorted(TABLES)} are described")
