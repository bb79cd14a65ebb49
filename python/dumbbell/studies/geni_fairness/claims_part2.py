"""The report's claims on part 2: pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dumbbell.metrics import Summary, summarize, summarize_all
from dumbbell.metrics.summary import FEWEST
from dumbbell.studies import rules
from dumbbell.studies.finding import Finding, Measured, Verdict
from dumbbell.studies.geni_fairness.data import VARIANTS, Over, Pairs, pair_name
from dumbbell.studies.shared import LABELS

__all__ = ["BESIDE_BBR", "STARVED", "WITHOUT_BBR", "claims"]

STARVED = 0.1
"""Share below which a flow is called starved: the report's 2 of 95, with a margin for another path."""
CLAIMED = 25.8 / (25.8 + 71.7)
"""Vegas' share beside BBR in the report, over both orders."""
FACTOR = 1.5
"""By which a share may differ from the report's."""
BESIDE_BBR = [(a, b) for a in VARIANTS for b in VARIANTS if "bbr" in (a, b)]
WITHOUT_BBR = [(a, b) for a in VARIANTS for b in VARIANTS if "bbr" not in (a, b)]


def claims(pairs: Pairs, others: Mapping[str, Pairs], over: Over) -> list[Finding]:
    """Compare the claims on part 2 with the runs; `others` are the other buffers and round trips, by words."""
    return [_self_fair(pairs, others, over), _even(pairs, others), _starved(pairs, others), _dynamic(over)]


def _jains(pairs: Pairs, cells: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Summary]:
    """Return Jain's index of some pairs, the intervals at 95 % together."""
    found = summarize_all([pairs.jain(a, b) for a, b in cells], level=1 - 0.05 / len(cells))
    return dict(zip(cells, found, strict=True))


def _fair(pairs: Pairs, index: Mapping[tuple[str, str], Summary]) -> rules.Ruling:
    """Hold unless a pair's Jain index is shown to be below `rules.FAIR`."""
    if pairs.n < FEWEST:
        return rules.Ruling(None)
    measured = [Measured.of(f"Jain's index, {pair_name(*pair)}", s) for pair, s in index.items()]
    return rules.Ruling(not any(s.high < rules.FAIR for s in index.values()), tuple(measured))


def _self_fair(pairs: Pairs, others: Mapping[str, Pairs], over: Over) -> Finding:
    index = _jains(pairs, [(v, v) for v in VARIANTS])
    ruling = _fair(pairs, index)
    found = {v: summarize(pairs.share(v, v)) for v in VARIANTS}
    listed = ", ".join(f"{LABELS[v]} {100 * s.value:.0f} %" for v, s in found.items())
    base = [summarize(over.last("vegas", "vegas", flow, "base_rtt")) for flow in ("first", "second")]
    end = ""
    if index["vegas", "vegas"].high < rules.FAIR:
        end = (
            ". The second Vegas never sees the path without the first one's packets: it takes the base round trip "
            f"for {1000 * base[1].value:.2f} ms, the first one for {1000 * base[0].value:.2f} ms, and keeps its "
            "own packets in the queue on top"
        )
    return Finding(
        "part2-self-fair",
        rules.verdict(ruling),
        f"For none of the four Jain's index with itself is shown to be below {rules.FAIR} (61 to 39); 95 % "
        "intervals, all four together.",
        ruling.measured,
        f"share of the flow that starts first: {listed}{end}",
        (
            *(
                Measured.of(f"base RTT of the {w} Vegas", b, "s")
                for w, b in zip(("first", "second"), base, strict=True)
            ),
            *(
                Measured.of(f"first's share, {LABELS[v]} with itself, {words}", summarize(p.share(v, v)))
                for words, p in others.items()
                for v in VARIANTS
            ),
        ),
    )


def _even(pairs: Pairs, others: Mapping[str, Pairs]) -> Finding:
    ruling = _fair(pairs, _jains(pairs, [("cubic", "reno"), ("reno", "cubic")]))

    def share(of: Pairs) -> Summary:
        """Return CUBIC's share, over both orders."""
        return summarize((of.share("cubic", "reno") + 1 - of.share("reno", "cubic")) / 2)

    beside = {words: share(p) for words, p in others.items()}
    low, high = (f(beside, key=lambda w: beside[w].value) for f in (min, max))
    return Finding(
        "part2-cubic-reno",
        rules.verdict(ruling),
        f"In neither order Jain's index is shown to be below {rules.FAIR} (61 to 39); 95 % intervals, both together.",
        (*ruling.measured, Measured.of("CUBIC's share over both orders", share(pairs))),
        f"CUBIC gets {100 * share(pairs).value:.0f} % of both over the two orders. It depends on the path: from "
        f"{100 * beside[low].value:.0f} % ({low}) to {100 * beside[high].value:.0f} % ({high})",
        tuple(Measured.of(f"CUBIC's share over both orders, {words}", s) for words, s in beside.items()),
    )


def _vegas(pairs: Pairs, other: str) -> Summary:
    """Return Vegas' share beside another variant, over both orders."""
    return summarize((pairs.share("vegas", other) + 1 - pairs.share(other, "vegas")) / 2)


def _starved(pairs: Pairs, others: Mapping[str, Pairs]) -> Finding:
    if pairs.n < FEWEST:
        return Finding("part2-vegas-starved", Verdict.NOT_MEASURED, "", (), "too few repetitions")
    loss = {v: _vegas(pairs, v) for v in ("cubic", "reno")}
    beside = _vegas(pairs, "bbr")
    starved = all(s.high < STARVED for s in loss.values())
    near = CLAIMED / FACTOR <= beside.value <= CLAIMED * FACTOR
    everywhere = [_vegas(p, "bbr").value for p in (pairs, *others.values())]
    words = ", ".join(f"{100 * s.value:.1f} % beside {LABELS[v]}" for v, s in loss.items())
    return Finding(
        "part2-vegas-starved",
        Verdict.AGREES if starved and near else Verdict.DIFFERS,
        f"Over both orders Vegas' share beside CUBIC and beside Reno is shown to be below {100 * STARVED:.0f} %, "
        f"and beside BBR it lies within a factor of {FACTOR} of the report's {100 * CLAIMED:.0f} %.",
        (
            *(Measured.of(f"Vegas' share beside {LABELS[v]}", s) for v, s in loss.items()),
            Measured.of("Vegas' share beside BBR", beside),
        ),
        f"Vegas gets {words}, as the report has it. Beside BBR it gets {100 * beside.value:.0f} % and not "
        f"{100 * CLAIMED:.0f} %: BBR keeps a queue that Vegas backs off from; over all buffers and round trips "
        f"here it is {100 * min(everywhere):.0f} to {100 * max(everywhere):.0f} %",
        tuple(
            Measured.of(f"Vegas' share beside {LABELS[v]}, {w}", _vegas(p, v))
            for w, p in others.items()
            for v in ("cubic", "reno", "bbr")
        ),
    )


def _dynamic(over: Over) -> Finding:
    moved = over.all_restless([*WITHOUT_BBR, *BESIDE_BBR])
    found = {pair: summarize(values) for pair, values in moved.items()}
    calm = np.median([moved[p] for p in WITHOUT_BBR], axis=0)
    loud = np.median([moved[p] for p in BESIDE_BBR], axis=0)
    ruling = rules.higher(loud, calm, "movement of the share: median pair with BBR less median pair without")
    least, most = (f(found, key=lambda p: found[p].value) for f in (min, max))
    order = sorted(found, key=lambda p: found[p].value)
    with_bbr = sum(p in BESIDE_BBR for p in order[-len(BESIDE_BBR) :])
    return Finding(
        "part2-bbr-dynamic",
        rules.verdict(ruling),
        "The standard deviation of the first flow's share over seconds of the second half is shown to be higher "
        "for the median pair with BBR than for the median pair without, on the same seeds.",
        (*ruling.measured, *(Measured.of(pair_name(*p), s) for p, s in found.items())),
        f"with BBR the share moves by {np.median(loud):.3f} (median pair), without it by {np.median(calm):.3f}; "
        f"of the {len(BESIDE_BBR)} pairs that move most {with_bbr} have BBR. Least: {pair_name(*least)} "
        f"{found[least].value:.3f}, most: {pair_name(*most)} {found[most].value:.3f}",
    )
