"""The QUIC endpoint beside quinn and aioquic (validation/quic): the stored runs, and one that is repeated."""

from __future__ import annotations

import subprocess

import pytest

import quic_beside
import quic_page
from dumbbell.report.tables import read_table
from quic_page import SHOWN, Cell
from required import require, require_programs


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    return quic_beside.stored()[0]


def test_beside_quinn_every_variant_is_within_the_rule_on_the_first_condition(cells: list[Cell]) -> None:
    base = {c.variant: c for c in cells if c.peer == "quinn" and c.condition == SHOWN}
    assert set(base) == {"reno", "veno", "vegas", "cubic"}
    for cell in base.values():
        assert not cell.outside, cell
    assert base["vegas"].drops == base["vegas"].peer_drops == 0
    assert all(base[v].drops > 100 for v in ("reno", "veno", "cubic"))


def test_every_other_cell_is_within_the_rule_or_has_a_reason(cells: list[Cell]) -> None:
    reasons = {(r["peer"], r["condition"], v) for r in quic_beside.settings()["reason"] for v in r["variants"]}
    outside = {(c.peer, c.condition, c.variant) for c in cells if c.outside}
    assert outside == reasons
    given = quic_beside.settings()["condition"]
    assert {c.condition for c in cells if c.peer == "quinn"} == {c["name"] for c in given}
    assert len(given) > 20


def test_handshakes_take_the_time_of_quinns() -> None:
    handshakes = {(h["peer"], h["rtt_ms"]): h for h in quic_beside.stored()[1]}
    for rtt in quic_beside.RTTS:
        own, quinn = handshakes["own", rtt], handshakes["quinn", rtt]
        # Established after one round trip, the response after two. One datagram of 1228 bytes takes 0.98 ms.
        for times in (own, quinn):
            assert times["established_ms"][0] == pytest.approx(rtt, abs=0.01 * rtt + 1.1)
            assert times["response_ms"] == pytest.approx(2 * rtt, abs=0.01 * rtt + 2.1)
        for name in ("request_ms", "response_ms"):
            assert own[name] == pytest.approx(quinn[name], abs=0.1)
        assert own["end_ms"] == pytest.approx(quinn["end_ms"], rel=0.02)


def test_the_tables_of_the_page_are_those_of_the_stored_runs() -> None:
    cells, handshakes = quic_beside.stored()
    for name, table in quic_page.tables(cells, handshakes, quic_beside.settings()["reason"]).items():
        assert read_table(quic_page.DOCS / "data" / "quic" / f"{name}.csv").rows == table.rows, name


def test_a_run_repeats_the_stored_one(cells: list[Cell]) -> None:
    """About 20 s where peers/ was not built before."""
    require_programs("cargo")
    fetch = ["cargo", "fetch", "--locked", "--quiet", "--manifest-path", str(quic_beside.PEERS / "Cargo.toml")]
    fetched = subprocess.run(fetch, check=False, capture_output=True, text=True)
    require("packages", f"cargo can't fetch quinn-proto: {fetched.stderr[-200:]}" if fetched.returncode else None)
    folder = quic_beside.build()
    (given,) = [c for c in quic_beside.settings()["condition"] if c["name"] == SHOWN]
    (cell,) = [c for c in cells if (c.peer, c.condition, c.variant) == ("quinn", SHOWN, "cubic")]
    first, _ = quic_beside.cell(folder, "quinn", given, "cubic")
    assert first == cell

    refused = subprocess.run([folder / "dumbbell-quic-peers", "quinn", "variant=bbr"], check=False, capture_output=True)
    assert (refused.returncode, b"pacing rate" in refused.stderr) == (2, True)
