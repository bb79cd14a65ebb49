"""The report's five claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dumbbell.metrics import summarize
from dumbbell.studies import rules
from dumbbell.studies.bufferbloat.data import QUEUES, VARIANTS, Curves, Load
from dumbbell.studies.finding import Finding, Measured
from dumbbell.studies.shared import LABELS

__all__ = ["CUBIC_BEND", "claims"]

Floats = npt.NDArray[np.float64]

UNCHANGED = 8.0
"""By how much a round trip may rise and be called unchanged, ms: a request may find a packet of the long transfer
being sent, which takes this long."""
PAGE, NEAR = 2.0, 0.2
"""The page beside a second queue in the report, s, and how far a measured one may lie from it."""
STRAIGHT = 0.15
"""Bend up to which a tooth counts as straight."""
CUBIC_BEND = 0.15
"""Bend from which a tooth counts as concave, and as convex."""
WHOLE = 1 / 3
"""Share of the teeth that must have both: fast convergence cuts every second one short."""


def claims(load: Load, curves: Curves, reported: Mapping[str, Any]) -> list[Finding]:
    """Compare the claims with the runs."""
    return [_sawtooth(curves), _cubic(curves), _bloat(load, reported), _small(load), _fair(load, reported)]


def _sawtooth(curves: Curves) -> Finding:
    large, small = (
        {what: curves.each(q, "reno", what) for what in ("length", "height", "concave", "convex")}
        for q in ("large", "small")
    )
    straight = rules.Ruling(
        all(abs(np.nanmedian(cell[b])) <= STRAIGHT for cell in (large, small) for b in ("concave", "convex")),
        tuple(
            Measured.of(f"{b} bend of a tooth, {QUEUES[q]}", summarize(cell[b]))
            for q, cell in (("large", large), ("small", small))
            for b in ("concave", "convex")
        ),
    )
    higher = rules.higher(large["height"], small["height"], "height of a tooth, large less small", "segments")
    longer = rules.higher(large["length"], small["length"], "length of a tooth, large less small", "s")
    return Finding(
        "reno-sawtooth",
        rules.verdict(straight, higher, longer),
        "Reno's teeth are straight (growth in their first and last third differs from that in the middle by at "
        f"most {STRAIGHT} of the whole), and with the small queue they are shown to be lower and shorter.",
        (*straight.measured, *higher.measured, *longer.measured),
        f"a tooth lasts {np.nanmedian(large['length']):.1f} s and rises by {np.nanmedian(large['height']):.0f} "
        f"segments with 100 packets, {np.nanmedian(small['length']):.1f} s and "
        f"{np.nanmedian(small['height']):.0f} with 20: one segment for each round trip, and the queue makes the "
        "round trip",
    )


def _cubic(curves: Curves) -> Finding:
    shares = {q: curves.whole(q, "cubic", CUBIC_BEND) for q in ("large", "small")}
    shape = rules.Ruling(
        bool(np.nanmedian(shares["large"]) >= WHOLE),
        tuple(Measured.of(f"teeth of both bends, {QUEUES[q]}", summarize(x)) for q, x in shares.items()),
    )
    clearer = rules.higher(shares["large"], shares["small"], "share of teeth of both bends, large less small")
    large, small = (100 * float(np.nanmedian(shares[q])) for q in ("large", "small"))
    bends = tuple(
        Measured.of(f"{bend} bend of a tooth, {QUEUES[q]}", summarize(curves.each(q, "cubic", bend)))
        for q in shares
        for bend in ("concave", "convex")
    )
    return Finding(
        "cubic-shape",
        rules.verdict(shape, clearer),
        "With the large queue at least a third of CUBIC's teeth are concave and then convex (growth in their "
        f"first and in their last third exceeds that in the middle by at least {CUBIC_BEND} of the whole), and "
        "with the small queue fewer are shown to be. Not all can be: after a loss below W_max fast convergence "
        "takes W_max down, and the next tooth ends before its convex part [RFC 9438 §4.7].",
        (*shape.measured, *clearer.measured),
        f"{large:.0f} % of the teeth have the whole shape with 100 packets, {small:.0f} % with 20, where round "
        "trips are short, and CUBIC grows no slower than Reno would [RFC 9438 §4.3]",
        bends,
    )


def _bloat(load: Load, reported: Mapping[str, Any]) -> Finding:
    rulings, parts = [], []
    for v in VARIANTS:
        report = reported[f"{v}_large_queue"]
        ping, pages = load.ping("large", v), load.pages("large", v)
        idle, alone = load.ping("large", v, loaded=False), load.page("large", v, loaded=False)
        for what, values, one, unit in (
            ("RTT alone", idle, report["rtt_ms"][0], "ms"),
            ("RTT beside the transfer", ping, report["rtt_ms"][1], "ms"),
            ("page alone", alone, report["page_s"][0], "s"),
            ("page beside the transfer", pages, report["page_s"][1], "s"),
        ):
            rulings.append(_covers(f"{what}, {LABELS[v]}", values, one, unit))
        parts.append(
            f"{LABELS[v]}: RTT {np.median(idle):.1f} to {np.median(ping):.0f} ms (report {report['rtt_ms'][1]}), "
            f"page {np.median(alone):.2f} to {np.median(pages):.1f} s (report {report['page_s'][1]})"
        )
    total = rules.Ruling(True)
    for ruling in rulings:
        total &= ruling
    outside = [r.measured[0].what for r in rulings if not r.holds]
    end = f"; outside: {', '.join(outside)}" if outside else ""
    return Finding(
        "bloat",
        rules.verdict(total),
        "The report's single measurements lie within the range of ours: of the means of ten pings, and of single "
        "downloads (5 % of slack for what mininet adds).",
        total.measured,
        f"{'; '.join(parts)}{end}",
        tuple(
            Measured.of(f"page, {LABELS[v]}, median of five downloads", summarize(load.page("large", v)), "s")
            for v in VARIANTS
        ),
    )


def _covers(what: str, values: Floats, one: float, unit: str) -> rules.Ruling:
    """Hold if a single published measurement lies within the range of ours, widened by 5 %."""
    low, high = float(values.min()), float(values.max())
    text = f"{np.median(values):.3g} {unit}, from {low:.3g} to {high:.3g} (report {one:g})"
    measured = Measured(what, text, float(np.median(values)), low, high, unit, len(values))
    return rules.Ruling(0.95 * low <= one <= 1.05 * high, (measured,))


def _small(load: Load) -> Finding:
    total = rules.Ruling(True)
    for v in VARIANTS:
        total &= rules.higher(
            load.page("large", v), load.page("small", v), f"page, {LABELS[v]}, large less small", "s"
        )
    words = ", ".join(
        f"{LABELS[v]} {np.median(load.page('large', v)):.1f} s with 100 packets and "
        f"{np.median(load.page('small', v)):.1f} s with 20"
        for v in VARIANTS
    )
    goodput = {v: [float(np.median(load.goodput(q, v))) for q in ("small", "large")] for v in VARIANTS}
    cost = ", ".join(
        f"{LABELS[v]} {small:.2f} instead of {large:.2f} Mbit/s" for v, (small, large) in goodput.items()
    )
    return Finding(
        "small-queue-helps",
        rules.verdict(total),
        "On the same seeds the page is shown to take longer with the large queue, for both variants (median of "
        "five downloads).",
        total.measured,
        f"{words}; the long transfer's price: {cost}",
    )


def _fair(load: Load, reported: Mapping[str, Any]) -> Finding:
    rulings = []
    for v in VARIANTS:
        idle, loaded = (summarize(load.ping("two", v, loaded=yes)) for yes in (False, True))
        page = summarize(load.page("two", v))
        rulings.append(
            rules.Ruling(
                loaded.value <= idle.value + UNCHANGED,
                (
                    Measured.of(f"RTT alone, {LABELS[v]}", idle, "ms"),
                    Measured.of(f"RTT beside, {LABELS[v]}", loaded, "ms"),
                ),
            )
            & rules.Ruling(abs(page.value - PAGE) <= NEAR, (Measured.of(f"page, {LABELS[v]}", page, "s"),))
        )
    total = rulings[0] & rulings[1]
    report = reported["reno_two_queues"]
    alone, took = np.median(load.ping("two", "reno")), np.median(load.page("two", "reno"))
    return Finding(
        "fair-queueing-helps",
        rules.verdict(total),
        f"With two queues the RTT beside the transfer exceeds that alone by at most {UNCHANGED:g} ms (the packet "
        f"that is being sent when a request arrives), and the page takes {PAGE:g} ± {NEAR:g} s: half the link.",
        total.measured,
        f"Reno: RTT {alone:.1f} ms (report {report['rtt_ms'][1]}), page {took:.2f} s (report "
        f"{report['page_s'][1]:g}): it has half of the link to itself",
        tuple(
            Measured.of(f"{what}, {QUEUES[q]}, {LABELS[v]}", summarize(values(q, v)), unit)
            for q in ("codel", "fq_codel")
            for v in VARIANTS
            for what, values, unit in (("RTT beside", load.ping, "ms"), ("page beside", load.page, "s"))
        ),
    )
