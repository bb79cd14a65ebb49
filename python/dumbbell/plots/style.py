"""The look of variants, disciplines and events, the same in all figures: color, marker and dash.

The looks of variants and queue disciplines are derived from the order of the registry, so a new one has a look
without any change here. `FAMOUS` overrides the derived look of those that most figures show.

Colors are from Okabe and Ito's palette, which readers with any kind of color blindness can distinguish (without its
yellow, which is too pale for a line on white), and from Tol's muted palette. Two variants of one color differ in
marker and in dash, so figures stay legible without color.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from dumbbell import registry

__all__ = ["DASHES", "INK", "MUTED", "RC", "SHADE", "Look", "distinct", "look", "ranked"]

INK = "#222222"
"""Text and axes."""
MUTED = "#767676"
"""Marks that explain, and grid labels: 4.5 : 1 against white."""


SHADE = 0.14
"""Opacity of shaded stretches: curves and grid stay legible on them."""


@dataclass(frozen=True, slots=True)
class Look:
    """Color (hex), marker (Matplotlib's name) and dash (a key of `DASHES`); `hollow` markers are white inside."""

    color: str
    marker: str = "o"
    dash: str = "-"
    hollow: bool = False


FAMOUS = {
    # variants
    "tahoe": Look("#E69F00", "s"),
    "reno": Look("#0072B2", "o"),
    "newreno": Look("#009E73", "^"),
    "sack": Look("#D55E00", "D"),
    "vegas": Look("#CC79A7", "v"),
    "cubic": Look("#332288", "P"),
    "bbr1": Look("#882255", "X"),
    # queue disciplines
    "droptail": Look("#000000", "o"),
    "red": Look("#56B4E9", "s"),
    "codel": Look("#0072B2", "s"),
    "fq_codel": Look("#0072B2", "D"),
    "pie": Look("#E69F00", "^"),
}
"""Looks that are not derived from the order of the registry."""

LOOKS = {
    # the other side of a comparison
    "kernel": Look("#000000", "o", "--"),
    "simulator": Look("#0072B2", "D", hollow=True),
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
    # events
    "timeout event": Look("#000000", "v"),
    "drop": Look("#D55E00", "x"),
    "mark": Look("#E69F00", "+"),
    # time-sequence figures
    "segment": Look("#0072B2", ""),
    "acknowledged": Look("#009E73", ""),
    "receive window": Look(MUTED, "", "--"),
    "SACK": Look("#CC79A7", ""),
    "retransmission": Look("#882255", "^"),
    "out of order": Look("#E69F00", "D"),
    # references beside the flows
    "ssthresh": Look(MUTED, "", "--"),
    "limit": Look(MUTED, "", ":"),
    # numbers of a publication
    "report": Look("#7A4A00", "*", "two dashes"),
    # everything else
    "cbr": Look(MUTED, "", ":"),
    "jittered": Look("#000000", "o"),
    "constant": Look("#D55E00", "s", hollow=True),
    "total": Look("#000000", "", "--"),
}
"""The looks of everything that is not in the registry."""

_COLORS = (
    "#117733", "#44AA99", "#661100", "#AA4499", "#56B4E9", "#999933",
    "#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#332288", "#882255",
)  # fmt: skip
_DASHES = ("-", "-.", ":")  # "--" is a second flow of the same variant
_MARKERS = ("<", ">", "*", "h", "p", "d", "o", "s", "^", "D", "v", "P", "X")


@cache
def _registered() -> dict[str, Look]:
    """Return the look of each variant and discipline, also by alias."""
    markers = {(famous.color, famous.marker) for famous in FAMOUS.values()}
    looks = _derived(registry.variants(), markers) | _derived(registry.disciplines(), markers)
    aliases = {alias: looks[v.name] for v in registry.variants().values() for alias in v.aliases}
    return looks | aliases


def _derived(names: Iterable[str], markers: set[tuple[str, str]]) -> dict[str, Look]:
    """Return each name the next free pair of color and dash, and a marker that is new for the color.

    `markers` holds the pairs of color and marker in use, and gets the new ones.
    """
    looks = {name: FAMOUS[name] for name in names if name in FAMOUS}
    lines = {(famous.color, famous.dash) for famous in looks.values()}
    free = [(color, dash) for dash, color in product(_DASHES, _COLORS) if (color, dash) not in lines]
    for number, name in enumerate(name for name in names if name not in FAMOUS):
        color, dash = free[number % len(free)]
        shift = _COLORS.index(color)
        rotated = _MARKERS[shift:] + _MARKERS[:shift]
        marker = next((m for m in rotated if (color, m) not in markers), rotated[0])
        markers.add((color, marker))
        looks[name] = Look(color, marker, dash)
    return looks


DASHES: dict[str, tuple[float, ...]] = {
    "-": (),
    "--": (4.0, 1.6),
    "-.": (6.0, 1.6, 1.0, 1.6),
    ":": (1.0, 1.6),
    "long": (9.0, 2.4),
    "dot dot": (4.0, 1.6, 1.0, 1.6, 1.0, 1.6),
    "wide dots": (1.0, 4.0),
    "two dashes": (9.0, 1.6, 4.0, 1.6),
}
"""Lengths of dashes and gaps, in line widths, by name: legible in gray and by readers with color blindness."""


def look(name: str | Look) -> Look:
    """Return the look of a name; a suffix gives a second look of the same kind.

    ``reno`` is the variant, ``reno:2`` has the same color with hollow markers and a dashed line. A name that is
    neither in the registry nor in `LOOKS` gets a look from its hash, which is always the same. A look is returned
    as it is.
    """
    if isinstance(name, Look):
        return name
    base, _, suffix = name.partition(":")
    found = LOOKS.get(base) or _registered().get(base)
    if found is None:
        number = zlib.crc32(base.encode())
        color = _COLORS[number % len(_COLORS)]
        found = Look(color, _MARKERS[number // len(_COLORS) % len(_MARKERS)])
    return replace(found, dash="--", hollow=True) if suffix else found


def distinct(names: Sequence[object], *, dashes: bool = False) -> list[Look]:
    """Return a look for each of the names that one figure compares; no two are equal.

    A variant or discipline keeps its usual look; an alias beside its variant gets another marker and dash. Other
    names get the colors of the palette in turn.

    Parameters
    ----------
    names : sequence
        Each once. Parameters in parentheses don't change the look: ``vegas(alpha=2)`` looks like ``vegas``, unless
        both are present.
    dashes : bool
        True for curves without markers: each of the first eight has its own dash.
    """
    found: list[Look] = []
    for number, name in enumerate(names):
        base = str(name).partition("(")[0].strip()
        known = base in LOOKS or base in _registered()
        usual = look(base) if known else _nth(number)
        if any(_alike(usual, other) for other in found):
            candidates = [replace(usual, marker=m, dash=d) for d in DASHES for m in _MARKERS]
            candidates = [c for c in candidates if not any(_alike(c, other) for other in found)]
            usual = candidates[0] if candidates else usual
        if dashes:
            usual = replace(usual, dash=list(DASHES)[number % len(DASHES)])
        found.append(usual)
    return found


def _nth(number: int) -> Look:
    turn = number // len(_COLORS)
    marker = _MARKERS[(number + 6 + 5 * turn) % len(_MARKERS)]
    return Look(_ORDER[number % len(_ORDER)], marker, list(DASHES)[turn % len(DASHES)])


def _alike(one: Look, other: Look) -> bool:
    """Return True if two looks have the same marker, or the same dash, in one color."""
    return one.color == other.color and (one.marker == other.marker or one.dash == other.dash)


def ranked(count: int) -> list[Look]:
    """Return looks for values that have an order, such as rates: colors from dark to light.

    The colors are those of Matplotlib's viridis up to the lightness that is legible on white. Their gray has the
    same order.
    """
    found = []
    for k in range(count):
        place = (len(_SCALE) - 1) * k / max(1, count - 1)
        low = min(int(place), len(_SCALE) - 2)
        parts = zip(_rgb(_SCALE[low]), _rgb(_SCALE[low + 1]), strict=True)
        color = "#" + "".join(f"{round(a + (place - low) * (b - a)):02X}" for a, b in parts)
        found.append(Look(color, _MARKERS[(k + 6) % len(_MARKERS)], list(DASHES)[k % len(DASHES)]))
    return found


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


_SCALE = ("#440154", "#414487", "#2A788E", "#22A884")
_ORDER = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#332288",
    "#E69F00",
    "#56B4E9",
    "#882255",
    *_COLORS[:4],
    "#999933",
)


RC: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica", "sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.labelsize": "medium",
    "axes.titlesize": "medium",
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
    "legend.fontsize": "medium",
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,  # TrueType: publishers refuse the fonts of type 3
    "svg.fonttype": "none",  # text stays text: searchable, readable by machines, a third of the size
    "path.simplify_threshold": 0.3,
}
"""Settings of every figure."""
