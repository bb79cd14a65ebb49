"""The 22 test cases of draft-ietf-ccwg-bbr-06, appendix A: scenarios (cases/aNN.toml) and checks of their traces.

python validation/bbr_cases/cases.py                 # the table on the terminal, exit code 1 if a case fails
python validation/bbr_cases/cases.py --write-docs    # and renew docs/bbr-cases.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import dumbbell
from dumbbell import registry

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "bbr-cases.md"
MSS = 1448
LAW_LEVEL = {18: "a_spurious_loss_is_taken_back", 19: "a_spurious_loss_is_taken_back, a_timeout_leaves_one_segment"}
"""Cases that need a stack which finds out that a recovery was spurious; on `rfc` the law's own tests cover them."""


@dataclass
class Case:
    """One case's trace and what was checked on it."""

    number: int
    title: str
    trace: dict[str, Any]
    flow: dict[str, Any]
    seen: list[tuple[str, bool]] = field(default_factory=list)

    @classmethod
    def run(cls, number: int) -> Case:
        """Run the scenario of a case."""
        path = HERE / "cases" / f"a{number:02d}.toml"
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        results = dumbbell.run(path)
        trace: dict[str, Any] = dict(results.arrays(0, "flow/flow"))
        trace["t"] = trace["t_ns"] * 1e-9
        return cls(number, title, trace, results.flows.row(0, named=True))

    def check(self, what: str, holds: bool) -> None:
        """Note a fact and whether it is as it should be."""
        self.seen.append((what, bool(holds)))

    @property
    def holds(self) -> bool:
        """Whether everything is as it should be."""
        return bool(self.seen) and all(ok for _, ok in self.seen)

    def spans(self) -> list[tuple[str, int, int]]:
        """The states in turn: name, first row, row after the last."""
        state = self.trace["state"]
        edges = [0, *(np.flatnonzero(np.diff(state)) + 1), len(state)]
        return [(registry.phases()[int(state[a])], a, b) for a, b in pairwise(edges)]

    def first(self, name: str, after: float = 0.0) -> tuple[str, int, int]:
        """The first span of that state which begins after a time; the state that follows it, its rows."""
        spans = self.spans()
        for n, (state, a, b) in enumerate(spans):
            if state == name and self.at("t", a) >= after:
                return (spans[n + 1][0] if n + 1 < len(spans) else "end"), a, b
        raise LookupError(f"A.{self.number}: no {name} after {after} s")

    def at(self, column: str, row: int) -> float:
        """A value."""
        return float(self.trace[column][min(row, len(self.trace["t"]) - 1)])

    def target(self, row: int) -> float:
        """Inflight(1.0) with the model of that row, bytes [§5.6.4.2]."""
        quanta = 3 * min(max(0.001 * self.at("pacing_rate", row), 2 * MSS), 65536)
        return max(self.at("bw", row) * self.at("min_rtt", row), quanta, 4 * MSS)

    def mbps(self, column: str, row: int) -> float:
        """A rate column in Mbit/s of payload."""
        return self.at(column, row) * 8e-6


def link(mbps: float) -> float:
    """What a link carries in payload: 1448 of 1500 bytes."""
    return mbps * MSS / 1500


def _a1(c: Case) -> None:
    after, _, end = c.first("startup")
    error = c.mbps("max_bw", end) / link(10) - 1
    c.check(f"max_bw {100 * error:+.2f} % off the link's rate (within 2 %)", abs(error) < 0.02)
    c.check(f"full_bw_count reaches {c.at('full_bw_count', end):.0f} (3)", c.at("full_bw_count", end) == 3)
    c.check("full_bw_now and full_bw_reached", c.at("full_bw_now", end) == c.at("full_bw_reached", end) == 1)
    c.check(
        f"startup → {after} at {c.at('t', end):.3f} s, round trip {c.at('round_count', end):.0f}", after == "drain"
    )


def _a2(c: Case) -> None:
    _, _, end = c.first("startup")
    c.check(
        f"startup left at {c.at('t', end):.3f} s with full_bw_count {c.at('full_bw_count', end):.0f} (less than 3)",
        c.at("full_bw_count", end) < 3,
    )
    c.check("full_bw_now and full_bw_reached", c.at("full_bw_now", end) == c.at("full_bw_reached", end) == 1)
    longterm = c.at("inflight_longterm", end) / MSS
    c.check(f"inflight_longterm {longterm:.0f} segments (the path's volume, 333)", abs(longterm - 333) < 7)


def _a3(c: Case) -> None:
    after, a, b = c.first("drain")
    c.check(f"pacing_gain {c.at('pacing_gain', a):.2f} (0.5)", c.at("pacing_gain", a) == 0.5)
    c.check(
        f"{after} with {c.at('inflight', b) / MSS:.0f} outstanding, {c.target(b) / MSS:.1f} allowed",
        c.at("inflight", b) <= c.target(b) < c.at("inflight", b - 2),
    )


def _a4(c: Case) -> None:
    after, a, b = c.first("drain")
    rounds = c.at("round_count", b) - c.at("round_count", a)
    c.check(f"{rounds:.0f} round trips in drain (more than 3)", rounds == 4)
    c.check(
        f"then {after}, with {c.at('inflight', b) / MSS:.0f} outstanding, {c.target(b) / MSS:.1f} aimed at",
        after == "probe down" and c.at("inflight", b) > c.target(b),
    )


def _a5(c: Case) -> None:
    after, a, b = c.first("probe up")
    rounds = c.at("round_count", b) - c.at("round_count", a)
    c.check(
        f"full_bw_count {c.at('full_bw_count', b):.0f}, full_bw_now {c.at('full_bw_now', b):.0f} after {rounds:.0f} "
        "round trips (3, 1)",
        c.at("full_bw_count", b) == 3 and c.at("full_bw_now", b) == 1,
    )
    c.check(
        f"→ {after}, {c.flow['dropped_packets']} packets lost",
        after == "probe down" and not c.flow["dropped_packets"],
    )


def _a6(c: Case) -> None:
    after, a, b = c.first("probe up", 2.0)
    c.check(
        f"in probe up from {c.at('t', a):.2f} s until the losses of 6 s are seen at {c.at('t', b):.3f} s",
        6.0 < c.at("t", b) < 6.1,
    )
    c.check("full_bw_now 0: not for a plateau", c.at("full_bw_now", b) == 0)
    c.check(
        f"→ {after}; inflight_longterm unset, since the application limits",
        after in ("probe down", "cruise") and np.isnan(c.at("inflight_longterm", b)),
    )


def _a7(c: Case) -> None:
    after, a, _ = c.first("probe up", 2.0)
    c.check(f"in probe up from {c.at('t', a):.2f} s to the end at 20 s", after == "end")
    other = Case.run(20)
    names = {name for name, _, _ in other.spans()}
    c.check("A.20's startup, application-limited, is left for dips only", names == {"startup", "probe RTT"})


def _a8(c: Case) -> None:
    after, a, b = c.first("probe down", 3.0)
    c.check(f"pacing_gain {c.at('pacing_gain', a):.2f} (0.90)", c.at("pacing_gain", a) == 0.9)
    longterm = c.at("inflight_longterm", b)
    headroom = longterm - max(MSS, 0.15 * longterm)
    c.check(
        f"{after} with {c.at('inflight', b) / MSS:.0f} outstanding: {headroom / MSS:.1f} leave headroom, "
        f"{c.target(b) / MSS:.1f} fill the path",
        after == "cruise" and c.at("inflight", b) <= min(headroom, c.target(b)) < c.at("inflight", b - 2),
    )


def _a9(c: Case) -> None:
    after, a, b = c.first("probe down")
    took, wait = c.at("t", b) - c.at("t", a), c.at("bw_probe_wait", a)
    c.check(f"→ {after} after {took:.3f} s, bw_probe_wait {wait:.3f} s", after == "refill" and 0 < took - wait < 0.05)


def _a10(c: Case) -> None:
    dips = [(a, b) for name, a, b in c.spans() if name == "probe RTT"]
    begins = np.array([c.at("t", a) for a, _ in dips])
    lengths = [c.at("t", b) - c.at("t", a) for a, b in dips]
    c.check(
        f"dips at {', '.join(f'{t:.2f}' for t in begins)} s (5 s after the last)",
        len(dips) == 3 and all(5.0 < g < 5.4 for g in np.diff(begins)),
    )
    c.check(f"cwnd_gain {c.at('cwnd_gain', dips[0][0]):.1f} (0.5)", c.at("cwnd_gain", dips[0][0]) == 0.5)
    c.check(f"lasting {1000 * min(lengths):.0f} to {1000 * max(lengths):.0f} ms (at least 200)", min(lengths) >= 0.2)
    c.check(f"→ {c.first('probe RTT')[0]}", c.first("probe RTT")[0] == "cruise")


def _a11(c: Case) -> None:
    row = int(np.searchsorted(c.trace["t"], 10.0))
    window = c.trace["idle_restart"][row : row + 5]
    c.check("idle_restart when sending goes on at 10 s", bool(np.any(window == 1)))
    late = [name for name, a, b in c.spans() if c.at("t", b - 1) >= 9.9 and c.at("t", a) < 10.3]
    c.check(f"no dip then ({', '.join(late)})", "probe RTT" not in late)


def _a12(c: Case) -> None:
    _, _, end = c.first("startup")
    bdp = link(10) * 1e6 / 8 * 0.0401
    c.check(
        f"extra_acked up to {np.max(c.trace['extra_acked'][:end]) / MSS:.0f} segments",
        np.max(c.trace["extra_acked"][:end]) > 0.015 * link(10) * 1e6 / 8,
    )
    c.check(f"cwnd {c.at('cwnd', end - 1) / bdp:.1f} BDP (more than 2)", c.at("cwnd", end - 1) > 2 * bdp)
    over = c.mbps("max_bw", end) / link(10)
    c.check(
        f"max_bw {over:.2f} of the link's rate (at least 0.98; bunched ACKs overstate it, less than by 2.77)",
        0.98 < over < 2.77,
    )


def _a13(c: Case) -> None:
    t = c.trace["t"]
    cruise = (t > 6) & (c.trace["state"] == registry.phases().index("cruise"))
    extra, room = c.trace["extra_acked"][cruise], c.trace["cwnd"][cruise]
    model = 2 * c.trace["bw"][cruise] * c.trace["min_rtt"][cruise]
    c.check(
        f"extra_acked {np.median(extra) / MSS:.0f} segments (15 ms are {0.015 * link(10) * 1e6 / 8 / MSS:.0f})",
        np.median(extra) > 0.015 * link(10) * 1e6 / 8,
    )
    c.check("cwnd = 2 BDP + extra_acked", abs(float(np.median(room - model - extra))) < 2 * MSS)
    late = t > 6
    rate = (c.trace["delivered"][-1] - c.trace["delivered"][late][0]) * 8e-6 / (t[-1] - t[late][0])
    c.check(f"{100 * rate / link(10):.1f} % of the link's rate, dips included (at least 95)", rate > 0.95 * link(10))


def _a14(c: Case) -> None:
    t = c.trace["t"]
    least = np.min(c.trace["cwnd"][t > 1]) / MSS
    c.check(f"cwnd {least:.0f} segments or more (4)", least >= 4)
    c.check(f"bw {c.mbps('bw', len(t) - 1):.3f} Mbit/s (0.965)", abs(c.mbps("bw", len(t) - 1) / link(1) - 1) < 0.02)
    c.check(f"goodput {c.flow['goodput_bps'] * 1e-6:.3f} Mbit/s", c.flow["goodput_bps"] * 1e-6 > 0.95 * link(1))


def _a15(c: Case) -> None:
    _, a, _ = c.first("probe up", 3.0)
    full = int(np.flatnonzero(c.trace["max_bw"] * 8e-6 > 0.98 * link(100))[0])
    rounds = c.at("round_count", full) - c.at("round_count", a)
    c.check(
        f"full rate {rounds:.0f} round trips after the probe begins (log2 of 10 x 33 segments is 8.4; some 3 more)",
        rounds <= 24,
    )
    bounds, by_round = [], c.trace["round_count"][a:full]
    for r in np.unique(by_round):
        bounds.append(c.trace["inflight_longterm"][a:full][by_round == r][-1] / MSS)
    steps = np.diff(bounds)
    growing = [float(s) for s in steps if s >= 1]
    c.check(
        f"inflight_longterm grows by {', '.join(f'{s:.0f}' for s in growing)} segments a round trip",
        len(growing) >= 4 and growing[-1] > 3 * growing[0],
    )


def _a16(c: Case) -> None:
    t = c.trace["t"]
    low = np.flatnonzero((t > 3) & (c.trace["bw_shortterm"] * 8e-6 < 50))
    c.check(
        f"bw_shortterm below half at {t[low[0]]:.2f} s" if low.size else "bw_shortterm never halves", low.size > 0
    )
    adapted = np.flatnonzero((t > 3) & (c.trace["max_bw"] * 8e-6 < 1.1 * link(10)))
    c.check(
        f"max_bw at the new rate from {t[adapted[0]]:.1f} s on" if adapted.size else "max_bw never adapts",
        adapted.size > 0,
    )


def _a17(c: Case) -> None:
    bounded = ~np.isnan(c.trace["bw_shortterm"])
    c.check(
        "bw_shortterm and inflight_shortterm react",
        bool(np.any(bounded)) and bool(np.any(~np.isnan(c.trace["inflight_shortterm"]))),
    )
    share = c.flow["goodput_bps"] * 1e-6 / link(10)
    c.check(f"goodput {100 * share:.0f} % of the tokens' rate (at least 75)", share > 0.75)
    c.check(f"{100 * c.flow['drop_rate']:.1f} % lost, the start included (below 10)", c.flow["drop_rate"] < 0.1)


def _a20(c: Case) -> None:
    names = [name for name, _, _ in c.spans()]
    c.check(" → ".join(names), names[:3] == ["startup", "probe RTT", "startup"])
    c.check("full_bw_reached stays 0", not np.any(c.trace["full_bw_reached"]))


def _a21(c: Case) -> None:
    after, a, b = c.first("probe up", 2.0)
    before, bound = c.at("inflight_longterm", a) / MSS, c.at("inflight_longterm", b) / MSS
    floor = 0.7 * min(c.at("bw", b - 1) * c.at("min_rtt", b - 1), c.at("cwnd", b - 1)) / MSS
    spans = [(x, y) for name, x, y in c.spans() if name == "probe up" and np.isfinite(c.at("inflight_longterm", x))]
    lossy = [(x, y) for x, y in spans if c.at("full_bw_now", y) == 0]
    c.check(f"bound set before the probe: {before:.0f} segments", np.isfinite(before))
    c.check(f"{len(lossy)} of {len(spans)} probes end for losses, before a plateau", bool(lossy))
    c.check(f"→ {after}, the bound {bound:.1f} (at least 0.7 of the path: {floor:.1f})", bound >= floor - 0.1)


def _a22(c: Case) -> None:
    after, a, b = c.first("refill")
    rates, least = c.trace["max_bw"][a : b + 1], np.min(c.trace["inflight"][a : b + 1]) / MSS
    c.check(
        f"outstanding falls to {least:.0f} segments in the refill of {1000 * (c.at('t', b) - c.at('t', a)):.0f} ms",
        least <= 3,
    )
    c.check(f"max_bw unchanged at {c.mbps('max_bw', a):.2f} Mbit/s", float(np.ptp(rates)) == 0.0)
    c.check(f"→ {after}", after == "probe up")


CHECKS: dict[int, Callable[[Case], None]] = {
    1: _a1, 2: _a2, 3: _a3, 4: _a4, 5: _a5, 6: _a6, 7: _a7, 8: _a8, 9: _a9, 10: _a10, 11: _a11, 12: _a12, 13: _a13,
    14: _a14, 15: _a15, 16: _a16, 17: _a17, 20: _a20, 21: _a21, 22: _a22,
}  # fmt: skip
"""What to check of each case."""


def examine(number: int) -> Case:
    """Run a case and check it."""
    case = Case.run(number)
    CHECKS[number](case)
    return case


def table() -> tuple[str, list[int]]:
    """All cases as a Markdown table, and the numbers of those that fail."""
    lines, failed = ["| A. | case | seen | |", "| --: | --- | --- | --- |"], []
    for number in range(1, 23):
        if number in LAW_LEVEL:
            title = (HERE / "cases" / f"a{number:02d}.toml").read_text(encoding="utf-8").splitlines()[0][2:]
            lines.append(f"| {number} | {title} | law's own test `{LAW_LEVEL[number]}` | not end to end |")
            continue
        case = examine(number)
        if not case.holds:
            failed.append(number)
        seen = "; ".join(what if ok else f"**{what}**" for what, ok in case.seen)
        lines.append(f"| {number} | {case.title} | {seen} | {'holds' if case.holds else '**fails**'} |")
    return "\n".join(lines), failed


def main() -> int:
    """Print the table; renew the page."""
    text, failed = table()
    print(text)
    if "--write-docs" in sys.argv[1:]:
        page = PAGE.read_text(encoding="utf-8")
        page = re.sub(
            r"(<!-- table: cases -->\n).*?(\n<!-- end -->)",
            lambda m: f"{m[1]}\n{text}\n{m[2]}",
            page,
            flags=re.DOTALL,
        )
        PAGE.write_text(page, encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
