"""Size distributions of the literature, as points of their distribution functions.

All three are figures of measurements that later papers read off as points, and use with straight lines between them.
Sizes are in packets of 1460 bytes, as in those papers' simulations.

References
----------
``web-search``
    Queries and background traffic of a web search cluster: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010,
    figure 4.
``data-mining``
    A cluster for data mining: Greenberg et al., "VL2: A Scalable and Flexible Data Center Network", SIGCOMM 2009,
    figure 2.
``imc10``
    Ten data centers, among them servers of web applications: Benson, Akella and Maltz, "Network Traffic
    Characteristics of Data Centers in the Wild", IMC 2010, figure 8; bounded at 3 MB as in Gao et al., "pHost",
    CoNEXT 2015.

The points of the first two are those of Alizadeh et al., "pFabric", SIGCOMM 2013, figure 4.
"""

from __future__ import annotations

from typing import Final

__all__ = ["PACKET", "POINTS"]

PACKET = 1460
"""Bytes of a packet of the tables."""

POINTS: Final[dict[str, tuple[tuple[int, float], ...]]] = {
    "web-search": (
        (6, 0.15), (13, 0.2), (19, 0.3), (33, 0.4), (53, 0.53), (133, 0.6), (667, 0.7), (1333, 0.8), (3333, 0.9),
        (6667, 0.97), (20_000, 1.0),
    ),
    "data-mining": (
        (1, 0.5), (2, 0.6), (3, 0.7), (7, 0.8), (267, 0.9), (2107, 0.95), (66_667, 0.99), (666_667, 1.0),
    ),
    "imc10": (
        (1, 0.5), (2, 0.6), (3, 0.7), (5, 0.75), (7, 0.8), (40, 0.8125), (72, 0.825), (137, 0.85), (267, 0.9),
        (1187, 0.95), (2107, 1.0),
    ),
}  # fmt: skip
"""Size in packets, and the share of transfers of at most that size."""
