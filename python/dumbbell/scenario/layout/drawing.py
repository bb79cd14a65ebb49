"""Topologies in full: every node, both directions of every link, the ends of every flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.scenario.layout.graph import Edge, Graph, Pair, flow_place
from dumbbell.scenario.network.directions import Settings, both
from dumbbell.scenario.network.link import Link, LinkOverride, NamedLink
from dumbbell.scenario.network.model import Custom, Network
from dumbbell.scenario.paths import join

__all__ = ["Drawing", "Edge", "draw"]


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
    if isinstance(network, Custom):
        directions = [both([(link, _place_of(link))]) for link in network.links]
        edges = _edges(graph.links, directions)
    else:
        hops = [both([(hop, f"network.{network.bottleneck_place(n)}")]) for n, hop in enumerate(network.hop_links)]
        edges = [*_edges(graph.links[: graph.bottlenecks], hops), *_access_edges(network.access, graph)]
    return Drawing(graph.nodes, edges, graph.ends, range(2 * graph.bottlenecks))


def _place_of(link: NamedLink) -> str:
    return join(["network", "links", f"{link.from_}->{link.to}"])


def _edges(links: Sequence[tuple[str, str]], directions: Sequence[tuple[Settings, Settings]]) -> list[Edge]:
    """Return both directions of links."""
    edges = []
    for (a, b), (forward, reverse) in zip(links, directions, strict=True):
        edges += [Edge(a, b, forward), Edge(b, a, reverse)]
    return edges


def _access_edges(access: Link | None, graph: Graph) -> list[Edge]:
    """Return the access links of all pairs; the cells of a sweep over the bottleneck have the same ones."""
    known = graph.access_edges
    if known is not None and known[0] is access:
        return known[1]
    directions = []
    common: tuple[Settings, Settings] | None = None  # of the pairs whose flows have no sections of their own
    for pair in graph.pairs:
        has_own = pair.owner is not None and pair.owner.access is not None
        of_pair = common if common is not None and not has_own else both(_access(access, pair))
        common = common if has_own else of_pair
        directions += [of_pair, of_pair]
    edges = _edges(graph.links[graph.bottlenecks :], directions)
    graph.access_edges = access, edges
    return edges


def _access(access: Link | None, pair: Pair) -> list[tuple[LinkOverride, str]]:
    """Put the sections of a pair's access links together, the flow's own first."""
    sections: list[tuple[LinkOverride, str]] = []
    if pair.owner is not None and pair.owner.access is not None:
        sections.append((pair.owner.access, flow_place(pair.owner, "access")))
    if access is not None:
        sections.append((access, "network.access"))
    return sections
