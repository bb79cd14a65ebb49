"""The congestion control of a QUIC server of real programs: its record as columns and series of the simulator's form.

aioquic's server writes a row per RTT sample and loss (`web_server`). A flow may have several
connections: means are over the time of each, and the series has the rows of all.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.backends import Table

__all__ = ["read", "records"]

FILE = "recovery.csv"
COLUMNS: dict[str, type[pl.DataType]] = {
    "connection": pl.Int64, "datagram": pl.Int64, "event": pl.String, "time": pl.Float64, "rtt": pl.Float64,
    "cwnd": pl.Int64, "ssthresh": pl.Int64, "inflight": pl.Int64, "acked": pl.Int64,
}  # fmt: skip
SLOW_START, AVOIDANCE = 0, 1
"""Codes of phases [crates/cc Phase]."""
Floats = npt.NDArray[np.float64]


def records(folder: Path, plan: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """Return what the servers of QUIC flows have written into the folder of a run, by flow."""
    found = {}
    for number, flow in enumerate(plan["flows"]):
        file = folder / f"flow-{number}-server" / FILE
        if flow["transport"]["kind"] == "quic" and file.exists():
            # The last line is cut if the server was killed while it wrote.
            whole = file.read_bytes().rpartition(b"\n")[0]
            if whole:
                found[flow["name"]] = pl.read_csv(whole, has_header=False, schema=COLUMNS)
    return found


def read(
    record: pl.DataFrame, zero_s: float, row: dict[str, Any], plan: dict[str, Any], tables: MutableMapping[str, Table]
) -> None:
    """Fill in the sender's columns of a flow's row, and add its series if they are kept.

    Parameters
    ----------
    record : DataFrame
    zero_s : float
        Unix time at time 0 of the run, s.
    row : dict
        The flow's row.
    plan : dict
        The run's plan.
    tables : dict of str to Table
    """
    record = record.sort("connection", maintain_order=True).with_columns(pl.col("time") - zero_s)
    record = record.with_columns(srtt=pl.Series(_smoothed(record)))
    begin, end = plan["measure_from_ns"] * 1e-9, row["stop_s"]
    size = float(record["datagram"][0])
    inside = record.filter(pl.col("time").is_between(begin, end))
    samples = inside.filter(pl.col("event") == "rtt")["rtt"].to_numpy() * 1e3
    row["snd_mss_bytes"] = int(size)
    row["cwnd_mean_packets"] = _mean(record, "cwnd", begin, end, 1 / size)
    row["mean_inflight_packets"] = _mean(record, "inflight", begin, end, 1 / size)
    row["srtt_mean_ms"] = _mean(record, "srtt", begin, end, 1e3)
    row["fast_retransmits"] = _recoveries(record.filter(pl.col("time") <= end), begin)
    row["timeouts"] = int((inside["event"] == "persistent").sum())
    if samples.size:
        row["rtt_mean_ms"], row["rtt_min_ms"], row["rtt_max_ms"] = (
            float(x) for x in (samples.mean(), samples.min(), samples.max())
        )
        ordered = np.sort(samples)
        for q in (50, 95, 99):
            row[f"rtt_p{q}_ms"] = float(ordered[max(0, -(-q * len(ordered) // 100) - 1)])
    trace = plan["trace"]
    if "flows" in trace["series"] and (trace.get("only") is None or row["name"] in trace["only"]):
        tables[f"flow/{row['name']}"] = _series(record)


def _smoothed(record: pl.DataFrame) -> Floats:
    """Return the smoothed round-trip time at each row, s; NaN before a connection's first sample [RFC 6298 §2]."""
    smoothed, found, last = np.nan, [], None
    for connection, event, rtt in record.select("connection", "event", "rtt").iter_rows():
        if connection != last:
            smoothed, last = np.nan, connection
        if event == "rtt":
            smoothed = rtt if np.isnan(smoothed) else 7 / 8 * smoothed + 1 / 8 * rtt
        found.append(smoothed)
    return np.array(found, dtype=np.float64)


def _recoveries(record: pl.DataFrame, begin: float) -> int:
    """Count the losses that reduced a window: the first one of each recovery [RFC 9002 §7.3.2]."""
    less = pl.col("cwnd") < pl.col("cwnd").shift().over("connection")
    return record.filter(less & (pl.col("event") == "lost")).filter(pl.col("time") >= begin).height


def _mean(record: pl.DataFrame, column: str, begin: float, end: float, factor: float) -> float | None:
    """Return the mean over time of a column whose values hold until the connection's next row; None without any."""
    until = pl.col("time").shift(-1).over("connection").fill_null(pl.col("time"))
    spans = (until.clip(begin, end) - pl.col("time").clip(begin, end)).alias("span")
    known = record.select(pl.col(column).cast(pl.Float64), spans).filter(pl.col(column).is_not_nan())
    value, span = known[column].to_numpy(), known["span"].to_numpy()
    return float(factor * (value * span).sum() / span.sum()) if span.sum() > 0 else None


def _series(record: pl.DataFrame) -> Table:
    """Return the series of the sender, as a TCP flow has it; bytes are those of QUIC packets."""
    newly = pl.col("acked").diff().over("connection").fill_null(pl.col("acked"))
    record = record.with_columns(newly=newly).sort("time", maintain_order=True)
    threshold = record["ssthresh"].to_numpy().astype(np.float64)
    threshold[threshold < 0] = np.inf
    cwnd = record["cwnd"].to_numpy().astype(np.float64)
    acked, inflight = (record[name].to_numpy().astype(np.uint64) for name in ("acked", "inflight"))
    delivered = record["newly"].cum_sum().to_numpy().astype(np.uint64)
    return {
        "t_ns": np.round(np.maximum(record["time"].to_numpy(), 0.0) * 1e9).astype(np.uint64),
        "cwnd": cwnd,
        "ssthresh": threshold,
        "srtt_ns": record["srtt"].to_numpy() * 1e9,
        "rto_ns": np.full(record.height, np.nan),
        "inflight": inflight,
        "snd_una": acked,
        "snd_nxt": acked + inflight,
        "delivered": delivered,
        "delivered_in_order": delivered,
        "phase": np.where(cwnd < threshold, SLOW_START, AVOIDANCE).astype(np.uint8),
        "timeouts": np.cumsum((record["event"] == "persistent").to_numpy()).astype(np.uint64),
    }
