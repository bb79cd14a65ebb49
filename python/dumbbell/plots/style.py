"""How things look, once for all figures: each variant and each discipline has its color, marker and dash.

Colors are Okabe and Ito's, told apart with any kind of color blindness (their yellow is left out: too pale for a
line on white). What they don't reach for comes from Tol's muted scheme. Markers and dashes say the same once more,
for print without color. Variants that share a color differ in both; a family (Vegas and Veno, Reno and Scalable)
shares one where there is a choice.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["INK", "MUTED", "RC", "SHADE", "Look", "look"]

INK = "#222222"
"""Text and axes."""
MUTED = "#767676"
"""Marks that explain, and grid labels: 4.5 : 1 against white."""


SHADE = 0.14
"""Opacity of shaded stretches: curves and grid stay legible on them."""


@dataclass(frozen=True, slots=True)
class Look:
    """Color (hex), marker and dash (Matplotlib's names); `hollow` markers are white inside."""

    color: str
    marker: str = "o"
    dash: str = "-"
    hollow: bool = False


LOOKS = {
    # variants
    "tahoe": Look("#E69F00", "s"),
    "reno": Look("#0072B2", "o"),
    "newreno": Look("#009E73", "^"),
    "sack": Look("#D55E00", "D"),
    "vegas": Look("#CC79A7", "v"),
    "cubic": Look("#332288", "P"),
    "bbr": Look("#882255", "X"),
    "bbr1": Look("#882255", "X"),
    "bic": Look("#117733", "<"),
    "westwood": Look("#44AA99", ">"),
    "htcp": Look("#661100", "*"),
    "compound": Look("#AA4499", "h"),
    "illinois": Look("#56B4E9", "p"),
    "yeah": Look("#999933", "d"),
    "hybla": Look("#E69F00", "o", "-."),
    "scalable": Look("#0072B2", "v", "-."),
    "prague": Look("#009E73", "s", "-."),
    "dctcp": Look("#D55E00", "o", "-."),
    "veno": Look("#CC79A7", "^", "-."),
    "highspeed": Look("#332288", "s", "-."),
    "bbr3": Look("#882255", "v", "-."),
    "copa": Look("#117733", "o", "-."),
    "cdg": Look("#44AA99", "P", "-."),
    "verus": Look("#661100", "o", "-."),
    "sprout": Look("#AA4499", "s", "-."),
    "ledbat": Look("#56B4E9", "^", "-."),
    "lp": Look("#999933", "X", "-."),
    "nv": Look("#CC79A7", "D", ":"),
    "ledbat++": Look("#56B4E9", "D", ":"),
    "fixed": Look("#888888", "*", "-."),
    # queue disciplines
    "droptail": Look("#000000", "o"),
    "red": Look("#56B4E9", "s"),
    "drr": Look("#999933", "^"),
    "sfq": Look("#999933", "o"),
    "prio": Look("#000000", "v"),
    "tbf": Look("#000000", "X"),
    "blue": Look("#56B4E9", "o"),
    "codel": Look("#0072B2", "s"),
    "fq_codel": Look("#0072B2", "D"),
    "pie": Look("#E69F00", "^"),
    "fq_pie": Look("#E69F00", "v"),
    "pi2": Look("#CC79A7", "o"),
    "dualpi2": Look("#CC79A7", "s"),
    "cake": Look("#009E73", "P"),
    # the other side of a comparison
    "kernel": Look("#000000", "o", "--"),
    # phases of a sender
    "slow start": Look("#009E73"),
    "congestion avoidance": Look("#56B4E9"),
    "recovery": Look("#E69F00"),
    "timeout": Look("#D55E00"),
    "receiver-limited": Look("#CC79A7"),
    "application-limited": Look("#999933"),
    "idle": Look(MUTED),
    "startup": Look("#009E73"),
    "drain": Look("#999933"),
    "probe bandwidth": Look("#56B4E9"),
    "probe down": Look("#CC79A7"),
    "cruise": Look("#56B4E9"),
    "refill": Look("#44AA99"),
    "probe up": Look("#0072B2"),
    "probe RTT": Look("#AA4499"),
    # what happens at a moment
    "drop": Look("#D55E00", "x"),
    "mark": Look("#E69F00", "+"),
    # what isn't any of these
    "cbr": Look(MUTED, "", ":"),
    "jittered": Look("#000000", "o"),
    "constant": Look("#D55E00", "s", hollow=True),
    "total": Look("#000000", "", "--"),
}
"""The one table of looks."""

_SPARE = ("#117733", "#44AA99", "#AA4499", "#661100", "#6699CC", "#888888")
_MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")


def look(name: str) -> Look:
    """Give the look of a name; a suffix sets a second one of the same kind apart.

    ``reno`` is the variant, ``reno:2`` the same color with hollow markers and a dashed line. A name that the table
    doesn't hold gets a look of its own, always the same.
    """
    base, _, suffix = name.partition(":")
    found = LOOKS.get(base)
    if found is None:
        number = zlib.crc32(base.encode())
        found = Look(_SPARE[number % len(_SPARE)], _MARKERS[number // len(_SPARE) % len(_MARKERS)])
    return replace(found, dash="--", hollow=True) if suffix else found


RC: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica", "sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.labelsize": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "none",  # text stays text: searchable, readable by machines, a third of the size
    "path.simplify_threshold": 0.3,
}
"""Settings of every figure."""
