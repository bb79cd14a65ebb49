"""The quality of speech by the E-model."""

from __future__ import annotations

import math

from dumbbell import _core
from dumbbell.exceptions import DumbbellError

__all__ = ["BPL", "mos", "r_factor"]

BPL = {True: 25.1, False: 4.3}
"""Robustness of G.711 against losses, with and without concealment [ITU-T G.113 Appendix I]."""


def r_factor(
    delay_ms: float,
    loss: float = 0.0,
    *,
    burst_ratio: float = 1.0,
    ie: float = 0.0,
    bpl: float = BPL[True],
    talker_echo_db: float = 65.0,
) -> float:
    """Rate a voice connection with the E-model: R = Ro - Is - Id - Ie-eff, everything else at its default value.

    Parameters
    ----------
    delay_ms : float, ms
        One-way delay from mouth to ear (T and Ta of the E-model).
    loss : float, no unit
        Share of the packets that are not played, 0 to 1.
    burst_ratio : float, no unit
        Mean length of the loss bursts / their mean length if losses were random, 1 to 8.
    ie, bpl : float, no unit
        Equipment impairment of the codec and its robustness against losses. Default: G.711 with concealment, 0 and
        25.1; without concealment `bpl` is 4.3.
    talker_echo_db : float, dB
        Talker echo loudness rating (TELR); infinite for perfect echo control.

    Returns
    -------
    float, no unit
        93.2 without delay and losses; above 80 most users are satisfied, below 60 nearly all are dissatisfied.

    Raises
    ------
    DumbbellError
        If an amount is out of its range.

    References
    ----------
    ITU-T G.107 (06/2015) §7; ITU-T G.113 Appendix I; ITU-T G.109 for the categories.

    Examples
    --------
    >>> from dumbbell.metrics import mos, r_factor
    >>> round(r_factor(0), 1), round(mos(r_factor(0)), 2)
    (93.2, 4.41)
    >>> round(r_factor(150, 0.01), 1), round(mos(r_factor(150, 0.01)), 2)
    (85.9, 4.23)
    """
    ranges = {
        "delay_ms": (delay_ms, 0.0, 10_000.0),
        "loss": (loss, 0.0, 1.0),
        "burst_ratio": (burst_ratio, 1.0, 8.0),
        "ie": (ie, 0.0, 95.0),
        "bpl": (bpl, 1.0, 100.0),
        "talker_echo_db": (talker_echo_db, 5.0, math.inf),
    }
    for name, (value, least, most) in ranges.items():
        if not least <= value <= most:
            raise DumbbellError(f"{name}: {value:g} given: from {least:g} to {most:g} is possible")
    return _core.r_factor(delay_ms, loss, burst_ratio, ie, bpl, talker_echo_db)


def mos(r: float) -> float:
    """Return the mean opinion score that belongs to a rating factor R.

    Parameters
    ----------
    r : float, no unit
        Rating factor, see `r_factor`.

    Returns
    -------
    float, no unit
        1 (bad) to 4.5 (the highest that telephone speech reaches).

    References
    ----------
    ITU-T G.107 (06/2015) Annex B.

    Examples
    --------
    >>> from dumbbell.metrics import mos
    >>> [round(mos(r), 2) for r in (90, 70, 50)]
    [4.34, 3.6, 2.58]
    """
    return _core.mos(r)
