"""The record of a QUIC server's congestion control, by hand-worked numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dumbbell.kernel.programs import quic_sender

PLAN: dict[str, Any] = {
    "measure_from_ns": 0,
    "flows": [{"name": "tcp", "transport": {"kind": "tcp"}}, {"name": "q", "transport": {"kind": "quic"}}],
    "trace": {"series": ["flows"], "only": None},
}
# Time 0 of the run is 100 s. Two connections; the line that was being written when the server was killed is cut.
RECORD = """\
0,1000,rtt,101.0,0.040,10000,-1,4000,2000
0,1000,rtt,102.0,0.080,20000,-1,8000,5000
0,1000,lost,103.0,0.000,14000,14000,6000,5000
0,1000,lost,103.5,0.000,14000,14000,6000,5000
1,1000,rtt,106.0,0.060,12000,-1,2000,1000
1,1000,persistent,108.0,0.000,2000,1000,0,1000
1,1000,rtt,10"""


def row_and_tables(folder: Path, plan: dict[str, Any] = PLAN) -> tuple[dict[str, Any], dict[str, Any]]:
    (folder / "flow-1-server").mkdir()
    (folder / "flow-1-server" / "recovery.csv").write_text(RECORD)
    (record,) = quic_sender.records(folder, plan).values()
    row: dict[str, Any] = {"name": "q", "stop_s": 20.0}
    tables: dict[str, Any] = {}
    quic_sender.read(record, 100.0, row, plan, tables)
    return row, tables


def test_columns_of_the_sender(tmp_path: Path) -> None:
    row, _ = row_and_tables(tmp_path)
    # Each value holds until the next row of its connection: 1 s, 1 s, 0.5 s of the first, 2 s of the second.
    assert row["cwnd_mean_packets"] == pytest.approx((10 + 20 + 14 * 0.5 + 12 * 2) / 4.5)
    assert row["mean_inflight_packets"] == pytest.approx((4 + 8 + 6 * 0.5 + 2 * 2) / 4.5)
    # 40 ms, then 7/8 of it and 1/8 of 80 ms: 45 ms; the second connection begins anew.
    assert row["srtt_mean_ms"] == pytest.approx((40 + 45 + 45 * 0.5 + 60 * 2) / 4.5)
    rtts = [row[f"rtt_{name}_ms"] for name in ("mean", "min", "p50", "max")]
    assert rtts == pytest.approx([60, 40, 60, 80])
    assert (row["snd_mss_bytes"], row["fast_retransmits"], row["timeouts"]) == (1000, 1, 1)


def test_series_of_the_sender(tmp_path: Path) -> None:
    _, tables = row_and_tables(tmp_path)
    table = tables["flow/q"]
    assert table["t_ns"].tolist() == [10**9, 2 * 10**9, 3 * 10**9, 35 * 10**8, 6 * 10**9, 8 * 10**9]
    assert table["delivered"].tolist() == [2000, 5000, 5000, 5000, 6000, 6000]  # of both connections
    assert table["snd_nxt"].tolist() == [6000, 13000, 11000, 11000, 3000, 1000]
    assert np.isinf(table["ssthresh"][:2]).all()
    assert table["phase"].tolist() == [0, 0, 1, 1, 0, 1]
    assert table["timeouts"].tolist() == [0, 0, 0, 0, 0, 1]


def test_without_series_there_is_no_table(tmp_path: Path) -> None:
    _, tables = row_and_tables(tmp_path, {**PLAN, "trace": {"series": ["flows"], "only": ["tcp"]}})
    assert tables == {}


def test_an_empty_record_is_none(tmp_path: Path) -> None:
    (tmp_path / "flow-1-server").mkdir()
    (tmp_path / "flow-1-server" / "recovery.csv").write_text("0,10")
    assert quic_sender.records(tmp_path, PLAN) == {}
