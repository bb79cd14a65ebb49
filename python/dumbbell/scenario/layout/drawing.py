"""Topologies in full: every node, both directions of every link, the ends of every flow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dumbbell.scenario.layout.graph import Graph, Pair, flow_place
from dumbbell.scenario.network.directions import Settings, both
from dumbbell.scenario.network.link import Link, LinkOverride
from dumbbell.scenario.network.model import Custom, Network, RouterNetwork
from dumbbell.scenario.paths import join

__all__ = ["Drawing", "Edge", "draw"]


class Edge(NamedTuple):
    """One direction of a link."""

    from_: str
    to: str
    settings: Settings

    @property
    def name(self) -> str:
        """Name of the direction in results."""
        return f"{self.from_}->{self.to}"


@dataclass(frozen=True)
class Drawing:
    """A network in full.

    ``ends`` holds (sender, receiver) of each flow, ``bottlenecks`` the numbers of the edges between routers.
    """

    nodes: list[str]
    edges: list[Edge]
    ends: list[tuple[str, str]]
    bottlenecks: range


def draw(network: Network, graph: Graph) -> Drawing:
    """Draw a network on its graph, with the settings of its links."""
    edges = []
    for (a, b), (forward, reverse) in zip(graph.links, _directions(network, graph), strict=True):
        edges += [Edge(a, b, forward), Edge(b, a, reverse)]
    return Drawing(graph.nodes, edges, graph.ends, range(2 * graph.bottlenecks))


def _directions(network: Network, graph: Graph) -> Iterator[tuple[Settings, Settings]]:
    """Yield the settings of both directions of each link."""
    if isinstance(network, Custom):
        for link in network.links:
            yield both([(link, join(["network", "links", f"{link.from_}->{link.to}"]))])
    else:
        yield from _row(network, graph.pairs)


def _row(network: RouterNetwork, pairs: Sequence[Pair]) -> Iterator[tuple[Settings, Settings]]:
    for number, hop in enumerate(network.hop_links):
        yield both([(hop, f"network.{network.bottleneck_place(number)}")])
    common: tuple[Settings, Settings] | None = None  # of the pairs whose flows have no sections of their own
    for pair in pairs:
        has_own = pair.owner is not None and pair.owner.access is not None
        directions = common if common is not None and not has_own else both(_access(network.access, pair))
        common = common if has_own else directions
        yield directions
        yield directions


def _access(access: Link | None, pair: Pair) -> list[tuple[LinkOverride, str]]:
    """Put the sections of a pair's access links together, the flow's own first."""
    sections: list[tuple[LinkOverride, str]] = []
    if pair.owner is not None and pair.owner.access is not None:
        sections.append((pair.owner.access, flow_place(pair.owner, "access")))
    if access is not None:
        sections.append((access, "network.access"))
    return sections
