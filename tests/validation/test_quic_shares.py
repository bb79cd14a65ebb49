"""TCP beside QUIC with equal settings (validation/quic/shares.py): the table of the page, run again."""

from __future__ import annotations

import shares
from dumbbell.report.tables import read_table


def test_over_ten_repetitions_both_have_the_same_throughput_within_10_percent() -> None:
    table = shares.measure()
    assert table.rows == read_table(shares.DATA / "shares.csv").rows, "renew: validation/quic/shares.py --write-docs"
    assert [row[0] for row in table.rows] == ["reno", "cubic", "bbr"]
    for variant, tcp, _, quic, *_ in table.rows:
        assert abs(float(quic) / float(tcp) - 1) <= 0.1, variant
