"""Causes and further numbers for the claims on fairness in GENI, shown beside the verdicts."""

from __future__ import annotations

from dumbbell.metrics import summarize
from dumbbell.report.finding import Measured
from dumbbell.studies.geni_fairness.data import VARIANTS, Alone, Over, Pairs, pair_name
from dumbbell.studies.geni_fairness.paths import Path
from dumbbell.studies.geni_fairness.quantities import WITHOUT_BBR, settling
from dumbbell.studies.judge import Remark
from dumbbell.studies.shared import LABELS

__all__ = ["remarks"]


def remarks(part1: Alone, jitter: Alone, pairs: Pairs, over: Over, path: Path) -> dict[str, Remark]:
    """Return the remarks by claim; those on part 2 are about its runs at the setting `path`."""
    return {
        "part1-delay-alike": _delay(part1),
        "part1-vegas-slower": _jitters(jitter),
        "part2-self-fair": _self_fair(pairs, over, path),
        "part2-bbr-dynamic": Remark(
            "",
            tuple(
                Measured.of(f"movement of {pair_name(*pair)}", summarize(over.restless(*pair))) for pair in WITHOUT_BBR
            ),
        ),
        "part2-settles": Remark(
            "",
            tuple(
                Measured.of(f"settling time of {pair_name(a, b)}", summarize(settling(over, a, b)), "s")
                for a in VARIANTS
                for b in VARIANTS
                if "bbr" in (a, b)
            ),
        ),
    }


def _delay(part1: Alone) -> Remark:
    flows = {"before": "idle ping", "beside": "ping"}
    before = [summarize(part1.get("rtt_mean_ms", v, 2, flow="idle ping")).value for v in ("reno", "cubic", "vegas")]
    same = max(before) - min(before) < 0.01 * max(before)
    return Remark(
        f"Before the flow the path is empty: a ping of two hops has {min(before):.2f} ms with "
        f"{'every variant' if same else f'one variant and {max(before):.2f} ms with another'}",
        tuple(
            Measured.of(
                f"ping {when} {LABELS[v]}", summarize(part1.get("rtt_mean_ms", v, 2, flow=flow)), "ms"
            )
            for when, flow in flows.items()
            for v in ("reno", "cubic", "vegas")
        ),
    )  # fmt: skip


def _jitters(jitter: Alone) -> Remark:
    return Remark(
        "",
        tuple(
            Measured.of(f"Vegas over Reno and CUBIC, {h} hops, jitter {j} a hop", summarize(jitter.part(h, j)))
            for h, j in jitter.points
        ),
    )


def _self_fair(pairs: Pairs, over: Over, path: Path) -> Remark:
    last = [over.last("vegas", "vegas", flow, "base_rtt") for flow in ("first", "second")]
    first, second = (None if values is None else 1000 * summarize(values).value for values in last)
    takes = "" if first is None else f"; it takes the base RTT for {first:.2f} ms, the second one for {second:.2f} ms"
    share = summarize(pairs.share("vegas", "vegas"))
    return Remark(
        f"With {path.words}, of two Vegas flows the first has {100 * share.value:.0f} %{takes}",
        tuple(Measured.of(f"first's share, {LABELS[v]} with itself", summarize(pairs.share(v, v))) for v in VARIANTS),
    )
