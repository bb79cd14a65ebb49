"""The study quic-beside-tcp: its measures with made-up numbers, and the quick study from beginning to end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dumbbell.studies import Done, Verdict
from dumbbell.studies.quic_beside_tcp import claims
from dumbbell.studies.quic_beside_tcp.data import Pages, Streams, waited
from quick import check_quick, table, verdicts


def test_a_byte_waits_from_its_arrival_until_it_can_be_read() -> None:
    # 10 bytes arrive at 1 s behind a hole of 10 bytes, which is filled at 3 s: 10 of 20 bytes wait 2 s.
    t = np.array([0.0, 1.0, 3.0, 4.0])
    assert waited(t, np.array([0.0, 10.0, 20.0, 20.0]), np.array([0.0, 0.0, 20.0, 20.0])) == pytest.approx(1.0)
    assert np.isnan(waited(t, np.zeros(4), np.zeros(4)))


class MadePages(Pages):
    """Load times in round trips, by flow, the same for each place; QUIC gains `lossy` where packets are lost."""

    def __init__(self, trips: dict[str, float], lossy: tuple[float, float] = (1.0, 1.0)) -> None:
        self.rtts, self.losses, self.unfinished = [10.0, 100.0], [0.0, 1.0], 0
        self._took = {}
        for rtt in self.rtts:
            for loss in self.losses:
                gain = lossy[self.rtts.index(rtt)] if loss else None
                took = {flow: rtt * n for flow, n in trips.items()}
                if gain is not None:
                    took["quic"] = took["tls"] - gain * rtt
                spread = np.array([-0.01, 0.0, 0.01, 0.005, -0.005]) * rtt
                self._took[rtt, loss] = [{f: v + (s if f == "tls" else 0.0) for f, v in took.items()} for s in spread]


IDEAL = {"tls": 5.0, "early": 4.0, "quic": 4.0, "zero": 3.0}


def test_savings_are_counted_in_round_trips() -> None:
    found = claims.pages(MadePages(IDEAL))
    assert [f.verdict for f in found] == [Verdict.AGREES] * 4
    slower = claims.pages(MadePages({**IDEAL, "quic": 4.9}))
    assert [f.verdict for f in slower[:3]] == [Verdict.DIFFERS, Verdict.AGREES, Verdict.DIFFERS]


def test_a_gain_at_some_round_trips_only_depends() -> None:
    assert claims.pages(MadePages(IDEAL, (1.0, -1.0)))[3].verdict is Verdict.DEPENDS
    assert claims.pages(MadePages(IDEAL, (-1.0, -1.0)))[3].verdict is Verdict.DIFFERS


class MadeStreams(Streams):
    def __init__(self, waits: dict[int, float]) -> None:
        spread = np.array([0.98, 1.0, 1.02, 1.01, 0.99])
        self._wait = {n: list(wait * spread) for n, wait in waits.items()}
        self._goodput = {n: [1.0] * 5 for n in waits}


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        ({0: 4.0, 1: 4.2, 4: 1.0, 16: 0.3}, [Verdict.AGREES, Verdict.AGREES]),
        ({0: 4.0, 1: 8.0, 4: 8.0, 16: 8.0}, [Verdict.DIFFERS, Verdict.DIFFERS]),
    ],
)
def test_streams(waits: dict[int, float], expected: list[Verdict]) -> None:
    assert [f.verdict for f in claims.streams(MadeStreams(waits))] == expected


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("quic-beside-tcp"))


def test_the_quick_study(done: Callable[[str], Done]) -> None:
    found = verdicts(done("quic-beside-tcp"))
    for claim in ("zero-rtt-saves-two", "quic-saves-one", "early-data-is-equal", "streams-wait-less"):
        assert found[claim] == "agrees", claim
    rows = table(done("quic-beside-tcp"), "pages")
    assert len(rows) == 16
    for row in rows:
        if row["loss (%)"] == "0":
            rtt = float(row["RTT (ms)"])
            # 3 round trips of data and requests after the handshakes' 2, and 25 ms of transmission at most.
            took = float(row["TCP + TLS 1.3, ms"].split()[0])
            assert 5 * rtt - 1 < took < 5 * rtt + 60
