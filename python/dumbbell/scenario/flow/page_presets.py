"""Pages of the package. They are synthetic: numbers and total sizes are published means, the structure is ours.

``median``: HTTP Archive, Web Almanac 2024, chapter Page Weight: the median desktop home page has 71 requests and 2652
kB; 18 images of 1054 kB, 24 scripts of 613 kB, fonts of 131 kB, style sheets of 78 kB and a document of 18 kB in all.
We chose eight style sheets and four fonts; the 16 other requests share the remaining 758 kB. ``small`` is a page of
ours.

Sizes within a kind are the quantiles of a log-normal distribution with sigma = 1, scaled to the kind's total. The
structure: fonts follow the first style sheet, a quarter of the images and half of the other requests follow the
first script after 50 ms, a quarter of the scripts follow the load event.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

__all__ = ["PRESETS", "Group", "Preset", "objects_of"]


@dataclass(frozen=True)
class Group:
    """Objects of one kind: their number and their size in all, bytes."""

    number: int
    size: int


@dataclass(frozen=True)
class Preset:
    """A page: its document, bytes, and its other objects by kind."""

    document: int
    groups: dict[str, Group]


PRESETS = {
    "small": Preset(
        20_000,
        {"style": Group(1, 15_000), "script": Group(2, 60_000), "font": Group(1, 25_000), "image": Group(5, 130_000)},
    ),
    "median": Preset(
        18_000,
        {
            "style": Group(8, 78_000),
            "script": Group(24, 613_000),
            "font": Group(4, 131_000),
            "image": Group(18, 1_054_000),
            "other": Group(16, 758_000),
        },
    ),
}


def _sizes(group: Group) -> list[int]:
    """Return the sizes of a group's objects, the largest first."""
    normal = NormalDist()
    shares = [math.exp(normal.inv_cdf((k + 0.5) / group.number)) for k in range(group.number)]
    sizes = [int(group.size * share / sum(shares)) for share in reversed(shares)]
    sizes[0] += group.size - sum(sizes)
    return sizes


def objects_of(preset: Preset) -> Iterator[dict[str, Any]]:
    """Return the objects of a page, as a scenario writes them."""
    yield {"name": "document", "size": f"{preset.document} bytes"}
    for kind, group in preset.groups.items():
        for n, size in enumerate(_sizes(group)):
            entry = {"name": f"{kind} {n + 1}", "size": f"{size} bytes"}
            yield entry | _follows(kind, n, group.number)


def _follows(kind: str, n: int, number: int) -> dict[str, str]:
    if kind == "font":
        return {"after": "style 1"}
    if kind == "script" and n >= number - number // 4:
        return {"after": "onload"}
    if (kind == "image" and n >= number - number // 4) or (kind == "other" and n >= number // 2):
        return {"after": "script 1", "delay": "50 ms"}
    return {}
