"""The ns-2 report's four claims on experiment 2: two TCP flows share a link with constant-bit-rate (CBR) traffic.

The claims are those of `paper.toml`; the rules that decide them are our own, see each function.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dumbbell.metrics import jain, paired, shares, summarize
from dumbbell.studies import rules
from dumbbell.studies.finding import Finding, Measured, Verdict
from dumbbell.studies.ns2_cbr.data import CONSTANT, Experiment2, report_rates

__all__ = ["claims"]

Floats = npt.NDArray[np.float64]

LOW_JAIN = 0.99
"""Two flows count as equal if Jain's index is at least this: a split of 55 to 45. Our own threshold."""


def claims(data: Experiment2) -> list[Finding]:
    """Compare the report's four claims on experiment 2 with the runs."""
    return [
        _reno_reno(data),
        _vegas_vegas(data),
        _newreno_reno(data),
        _newreno_vegas(data),
    ]


def _words(rates: Floats) -> list[str]:
    return [f"CBR {r:g} Mbit/s" for r in rates]


def _span(rates: Floats) -> str:
    return f"CBR {rates[0]:g} to {rates[-1]:g} Mbit/s" if len(rates) else "no CBR rate"


def _extremes(first: Floats, second: Floats) -> str:
    share = 100 * shares(np.stack([first, second], axis=-1))[..., 0]
    return f"{share.min():.0f} to {share.max():.0f} %"


def _reno_reno(data: Experiment2) -> Finding:
    first, second = data.both("reno", "reno")
    ruling = rules.equal(first, second, _words(data.rates))
    hot = data.contested("reno", "reno")
    verdict = rules.verdict(ruling)
    return Finding(
        "exp2-reno-reno-fair",
        verdict,
        f"At no CBR rate is Jain's index shown to be below {rules.FAIR} (61 to 39, what ten seconds with few "
        "losses leave to chance; 95 % for all rates together), and over all rates neither flow is shown to be "
        f"ahead by more than {100 * rules.EQUAL:.0f} % of their sum (less is hardly seen in a figure).",
        ruling.measured,
        (
            "over the seeds neither Reno flow is favored"
            if verdict is Verdict.AGREES
            else "the two Reno flows are shown to share unequally"
        )
        + f"; in single runs under contention ({_span(data.rates[hot])}) the first flow's share still ranges over "
        + _extremes(first[hot], second[hot]),
        (_constant(data, "reno", "reno"),),
    )


def _constant(data: Experiment2, a: str, b: str) -> Measured:
    first, second = data.both(a, b, CONSTANT)
    hot = data.contested(a, b)
    what = f"with constant CBR intervals, share of the first flow in single runs, {_span(data.rates[hot])}"
    return Measured(what, _extremes(first[hot], second[hot]))


def upper_hand(first: Floats, second: Floats) -> tuple[list[int], list[int]]:
    """Find the points at which the first flow is shown to be ahead of the second, and those at which the second is.

    The confidence level allows for the number of points (Bonferroni).
    """
    level = 1 - 0.05 / max(len(first), 1)
    sides = [paired(a, b, level=level).direction for a, b in zip(first, second, strict=True)]
    return [k for k, s in enumerate(sides) if s == "higher"], [k for k, s in enumerate(sides) if s == "lower"]


def _vegas_vegas(data: Experiment2) -> Finding:
    first, second = data.both("vegas", "vegas")
    hot = data.contested("vegas", "vegas")
    calm = ~hot
    index = np.median(jain(np.stack([first, second], axis=-1)), axis=1)
    low = rules.Ruling(
        bool((index[calm] >= LOW_JAIN).all()) if calm.any() else None,
        (
            Measured.number(
                f"lowest median Jain index, {_span(data.rates[calm])}", float(index[calm].min()), digits=4
            ),
        ),
    )
    a, b = upper_hand(first[hot], second[hot])
    names = [f"{r:g}" for r in data.rates[hot]]
    ranges = rules.Ruling(
        bool(a and b) if hot.any() else None, (_ahead("first", a, names), _ahead("second", b, names))
    )
    verdict = rules.verdict(low, ranges)
    single = data.both("vegas", "vegas", CONSTANT)
    leads = np.sign(single[0][hot, 0] - single[1][hot, 0])
    return Finding(
        "exp2-vegas-vegas-fair",
        verdict,
        f"Where the link isn't contested the median Jain index is at least {LOW_JAIN} (55 to 45), and among the "
        "contested rates one exists where the first flow is shown to be ahead over the seeds, and one where the "
        "second is (95 % for all rates together).",
        (*low.measured, *ranges.measured),
        ("" if low.holds else "not even at low rates are they equal; ")
        + (
            "each flow is ahead over some range for all seeds together"
            if ranges.holds
            else f"who is ahead under contention depends on the seed, not on the CBR rate (shares of single runs: "
            f"{_extremes(first[hot], second[hot])})"
        )
        + ("; a single run, as in the report, shows such ranges all the same" if len(set(leads)) > 1 else ""),
        (
            Measured(
                "one run with constant intervals, as the report has: rates at which the first leads / the second "
                "leads",
                f"{_list(names, leads > 0)} / {_list(names, leads < 0)} Mbit/s",
            ),
            _constant(data, "vegas", "vegas"),
        ),
    )


def _list(names: list[str], which: npt.NDArray[np.bool_]) -> str:
    return ", ".join(n for n, w in zip(names, which, strict=True) if w) or "none"


def _ahead(who: str, where: list[int], names: list[str]) -> Measured:
    listed = ", ".join(names[k] for k in where)
    return Measured(f"CBR rates where the {who} is shown to be ahead", f"{listed} Mbit/s" if where else "none")


def _newreno_reno(data: Experiment2) -> Finding:
    first, second = data.both("newreno", "reno")
    hot = data.contested("newreno", "reno")
    if not hot.any() or hot.all():
        return Finding("exp2-newreno-reno-unfair", Verdict.NOT_MEASURED, "", (), "no calm or no contested CBR rates")
    ahead = rules.advantage(first[hot].mean(axis=0), second[hot].mean(axis=0))
    unfair = rules.Ruling(
        ahead.direction == "higher" and ahead.mean > rules.EQUAL,
        (Measured.of(f"NewReno's share less Reno's, {_span(data.rates[hot])}", ahead),),
    )
    grows = rules.higher(
        _gap(first[hot], second[hot]), _gap(first[~hot], second[~hot]), "that less the same before contention"
    )
    verdict = rules.verdict(unfair, grows)
    late = [float(x[hot].mean()) for x in data.both("newreno", "reno", metric="timeouts")]
    same = rules.advantage(*(x[hot].mean(axis=0) for x in data.both("reno", "reno")))
    gap = 50 * (1 + ahead.mean)
    why = f"under contention NewReno gets {gap:.0f} % of the pair's sum"
    return Finding(
        "exp2-newreno-reno-unfair",
        verdict,
        f"Over the contested CBR rates NewReno is shown to be ahead, by more than {100 * rules.EQUAL:.0f} % of "
        "the pair's sum (less would count as equal), and by more than at the rates before.",
        (*unfair.measured, *grows.measured),
        f"{why}{'' if verdict is Verdict.AGREES else ', which is not shown to be unfair and growing'}, with "
        f"{late[0]:.1f} timeouts a run against {late[1]:.1f}: it repairs several losses in one window, where Reno "
        "waits for its timer",
        (
            Measured.of("Reno/Reno for comparison, first less second", same),
            *(
                Measured.of(f"NewReno's share at CBR {r:g} Mbit/s", summarize(100 * _share(first[k], second[k])), "%")
                for k, r in enumerate(data.rates)
                if hot[k] and r in report_rates(list(data.rates))
            ),
        ),
    )


def _share(first: Floats, second: Floats) -> Floats:
    return shares(np.stack([first, second], axis=-1))[..., 0]


def _gap(first: Floats, second: Floats) -> Floats:
    """The difference of the shares over several rates together, by repetition."""
    return 2 * _share(first.mean(axis=0), second.mean(axis=0)) - 1


def _newreno_vegas(data: Experiment2) -> Finding:
    first, second = data.both("newreno", "vegas")
    hot = data.contested("newreno", "vegas")
    ruling = rules.higher(
        first[hot].mean(axis=0), second[hot].mean(axis=0), f"NewReno less Vegas, {_span(data.rates[hot])}", "Mbit/s"
    )
    verdict = rules.verdict(ruling)
    medians = np.median(first[hot], axis=1), np.median(second[hot], axis=1)
    wins = int((medians[0] > medians[1]).sum())
    share = 100 * float(np.median(_share(first[hot].mean(axis=0), second[hot].mean(axis=0))))
    return Finding(
        "exp2-newreno-vegas-unfair",
        verdict,
        "Over the contested CBR rates NewReno's mean throughput is shown to be higher than Vegas' in the same "
        "runs (95 % interval of the mean difference above zero).",
        ruling.measured,
        f"NewReno gets {share:.0f} % of the pair's sum under contention, and more than Vegas at {wins} of "
        f"{int(hot.sum())} contested rates",
        (
            *(
                Measured.of(f"NewReno's share at CBR {r:g} Mbit/s", summarize(100 * _share(first[k], second[k])), "%")
                for k, r in enumerate(data.rates)
                if hot[k]
            ),
            _constant(data, "newreno", "vegas"),
        ),
    )
