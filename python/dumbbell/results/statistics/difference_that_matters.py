"""The difference that matters for a metric: the one that is asked for, or the default that its column declares."""

from __future__ import annotations

from collections.abc import Callable

from dumbbell.exceptions import ResultsError
from dumbbell.metrics.margins import Margin
from dumbbell.results.columns import column
from dumbbell.scenario.units import ByteCount, Duration, MeanPackets, Percentage, Rate

__all__ = ["NONE", "margin_of"]

NONE = "none"
"""The margin with which a comparison has none."""

_READ: dict[str, tuple[Callable[[str], float], str]] = {
    "bit/s": (lambda text: Rate(text).bps, "0.1 Mbit/s"),
    "ms": (lambda text: 1e-6 * Duration(text).ns, "2 ms"),
    "s": (lambda text: 1e-9 * Duration(text).ns, "50 ms"),
    "bytes": (lambda text: ByteCount(text).bytes, "10 kB"),
    "packets": (lambda text: MeanPackets(text).packets, "2 packets"),
}
"""By unit of a column: the reader of a margin in it, and an example."""


def margin_of(metric: str, given: str | None) -> Margin | None:
    """Return the difference that matters for a metric; None without one.

    Parameters
    ----------
    metric : str
    given : str, optional
        A part of the larger mean such as "1 %", a value in the metric's unit such as "2 ms" (a number for metrics
        without one), or "none"; default: the one that the column declares.

    Raises
    ------
    ResultsError
        If it can't be read, or isn't above zero.

    Examples
    --------
    >>> margin_of("goodput_bps", None), margin_of("rtt_mean_ms", "2 ms")
    (Margin(size=0.01, relative=True), Margin(size=2.0, relative=False))
    """
    known = column(metric)
    text = given if given is not None else NONE if known is None else known.margin or NONE
    if text.strip() == NONE:
        return None
    read, example = _READ.get(known.unit if known is not None else "", (float, "0.1"))
    relative = text.strip().endswith("%")
    try:
        size = Percentage(text).share if relative else read(text)
    except ValueError:
        size = 0.0
    if not 0 < size < float("inf"):
        raise ResultsError(f"margin: '{text}' given: '{NONE}', a part such as '1 %', or '{example}' is needed")
    return Margin(size, relative)
