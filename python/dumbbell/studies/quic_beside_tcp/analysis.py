"""The three experiments, compared with statements about QUIC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.report.finding import Analysis, Note, Table
from dumbbell.results import Results
from dumbbell.studies.quic_beside_tcp import claims, figures
from dumbbell.studies.quic_beside_tcp.data import STREAMS, TRANSPORTS, Pages, Shares, Streams, label
from dumbbell.studies.shared import LABELS, counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the statements; see `dumbbell.studies`."""
    pages, shares, streams = Pages(results["pages"]), Shares(results["shares"]), Streams(results["streams"])
    findings = [*claims.pages(pages), *claims.shares(shares), *claims.streams(streams)]
    return Analysis(
        findings=findings,
        pictures=figures.pictures(pages, shares, streams),
        tables=[_pages(pages), _shares(shares), _streams(streams)],
        summary=[counted(study.paper, findings)],
        notes=[
            Note(
                "A window's worth can cost the round trip that the handshake saves",
                "In slow start, a first window of 14,480 bytes carries 43 kB in two and 101 kB in three round trips "
                "with TCP. QUIC counts its headers and tags in the window, and carries about 99 kB. A page of 100 kB "
                "is just between: it takes one round trip more over QUIC, which then saves nothing. Pages of 60 kB "
                "are far from such a step.",
            ),
            Note(
                "Behind a lost packet",
                "RFC 9002 reduces the window at once when it finds a loss, so that the lost data wait until enough "
                "is acknowledged. TCP sends them again first [RFC 9002 §7.3.2; RFC 6675 §5].",
            ),
            Note(
                "0-RTT with an address token",
                "A server that hasn't validated the client's address sends at most three times the bytes received "
                "[RFC 9000 §8.1]. The flow with 0-RTT has a token of an earlier connection; without one, its page "
                "takes up to one round trip longer.",
            ),
        ],
    )


def _pages(data: Pages) -> Table:
    rows = [
        {
            "RTT (ms)": f"{rtt:g}",
            "loss (%)": f"{loss:g}",
            **{f"{words}, ms": summarize(data.took(rtt, loss, flow)).text() for flow, words in TRANSPORTS.items()},
        }
        for rtt in data.rtts
        for loss in data.losses
    ]
    return Table("pages", "Load time of a page of 60 kB: median over runs [95 % interval]", pl.DataFrame(rows))


def _shares(data: Shares) -> Table:
    rows = []
    for variant in data.variants:
        for limit in data.limits:
            both, rtt = data.throughput(variant, limit), data.rtt(variant, limit)
            rows.append(
                {
                    "variant": LABELS[variant],
                    "queue": limit,
                    "TCP, Mbit/s": summarize(both[:, 0]).text(),
                    "QUIC, Mbit/s": summarize(both[:, 1]).text(),
                    "QUIC over TCP, means": f"{np.divide(*both.mean(axis=0)[::-1]):.2f}",
                    "RTT of TCP, ms": summarize(rtt[:, 0]).text(),
                    "RTT of QUIC, ms": summarize(rtt[:, 1]).text(),
                }
            )
    return Table("shares", "TCP and QUIC at one bottleneck: median [95 % interval]", pl.DataFrame(rows))


def _streams(data: Streams) -> Table:
    rows = [
        {
            "download": label(n),
            "mean wait of a byte, ms": summarize(data.wait(n)).text(),
            "goodput, Mbit/s": summarize(data.goodput(n)).text(),
        }
        for n in STREAMS
    ]
    return Table("streams", "Data behind a lost packet: median [95 % interval]", pl.DataFrame(rows))
