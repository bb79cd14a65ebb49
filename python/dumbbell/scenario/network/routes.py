"""Static routes, as the simulator makes them: fewest hops; among equals the link that is listed first.

It has to agree with `crates/plan/src/route.rs`: limits in bdp depend on which flows cross a link.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["Routes", "routes_of"]


@lru_cache(maxsize=4)
def routes_of(nodes: int, edges: tuple[tuple[int, int], ...]) -> Routes:
    """Return the routes of a graph; the cells of a sweep have the same one."""
    return Routes(nodes, edges)


class Routes:
    """Shortest paths in a graph of directed edges, given as (from, to) pairs of node numbers."""

    def __init__(self, nodes: int, edges: Sequence[tuple[int, int]]) -> None:
        self._edges = edges
        self._into: list[list[int]] = [[] for _ in range(nodes)]
        for number, (_, end) in enumerate(edges):
            self._into[end].append(number)
        self._trees: dict[int, list[int | None]] = {}

    def path(self, start: int, end: int) -> list[int] | None:
        """Return the edges from ``start`` to ``end``; None if no path exists."""
        tail: list[int] = []
        # Only one path leads into a host with one link: it shares its neighbor's tree.
        while end != start and len(self._into[end]) == 1 and len(tail) < len(self._edges):
            tail.append(self._into[end][0])
            end = self._edges[tail[-1]][0]
        if end not in self._trees:
            self._trees[end] = self._towards(end)
        tree = self._trees[end]
        path: list[int] = []
        while start != end:
            edge = tree[start]
            if edge is None:
                return None
            path.append(edge)
            start = self._edges[edge][1]
        return path + tail[::-1]

    def _towards(self, end: int) -> list[int | None]:
        """Find, for every node, the first edge of its path to ``end``."""
        tree: list[int | None] = [None] * len(self._into)
        seen, waiting = {end}, deque([end])
        while waiting:
            for edge in self._into[waiting.popleft()]:
                node = self._edges[edge][0]
                if node not in seen:
                    seen.add(node)
                    tree[node] = edge
                    waiting.append(node)
        return tree
