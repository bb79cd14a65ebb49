"""The part of a layout that does not depend on the links' settings: nodes, links, ends and paths of the flows.

The cells of a sweep over rates, delays or queues share it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.network.directions import Settings
from dumbbell.scenario.network.link import Link
from dumbbell.scenario.network.model import Custom, Network, ParkingLot, RouterNetwork
from dumbbell.scenario.network.routes import routes_of
from dumbbell.scenario.paths import join

__all__ = ["Crossing", "Edge", "Graph", "Pair", "flow_place", "graph_of", "shape_of"]


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
class Pair:
    """A pair of hosts, with their routers and the flow that owns them."""

    number: int
    enter: str
    leave: str
    owner: Flow | None


@dataclass(frozen=True)
class Crossing:
    """The paths of the flows, as numbers of edges.

    Attributes
    ----------
    forward : list of sets of int
        By flow: the edges that its data cross.
    round_trips : list of lists of int
        By flow: its path and then the way back.
    crossed : list of lists of int
        By flow: the edges of both, each once, in ascending order.
    flows : list of lists of int
        By edge: the flows that cross it, in either direction.
    """

    forward: list[set[int]]
    round_trips: list[list[int]]
    crossed: list[list[int]]
    flows: list[list[int]]


@dataclass
class Graph:
    """A network and its flows, without the settings of the links.

    Attributes
    ----------
    nodes : list of str
    links : list of (str, str)
        The forward direction of each link. Edge 2n is that of link n, edge 2n + 1 the reverse one.
    ends : list of (str, str)
        Sender and receiver of each flow.
    names : list of str
        Names of the flows.
    bottlenecks : int
        Number of links between routers in a row, which come first.
    pairs : list of Pair
        Hosts behind routers in a row.
    access_edges : tuple of Link and list of Edge, or None
        The edges of the hosts that were drawn last, for this section of access links.
    """

    nodes: list[str]
    links: list[tuple[str, str]]
    ends: list[tuple[str, str]]
    names: list[str]
    bottlenecks: int
    pairs: list[Pair]
    access_edges: tuple[Link | None, list[Edge]] | None = None

    @cached_property
    def crossing(self) -> Crossing:
        """The paths of the flows; ScenarioError if one has none."""
        numbers = {name: n for n, name in enumerate(self.nodes)}
        edges = [(numbers[a], numbers[b]) for link in self.links for a, b in (link, link[::-1])]
        routes = routes_of(len(self.nodes), tuple(edges))
        found = Crossing([], [], [], [[] for _ in edges])
        for n, (name, (sender, receiver)) in enumerate(zip(self.names, self.ends, strict=True)):
            data = routes.path(numbers[sender], numbers[receiver])
            acks = routes.path(numbers[receiver], numbers[sender])
            if data is None or acks is None:
                why = f"no path leads from '{sender}' to '{receiver}'"
                raise ScenarioError([Problem(f"{join(['flows', name])}.to", why)])
            found.forward.append(set(data))
            found.round_trips.append([*data, *acks])
            found.crossed.append(sorted({*data, *acks}))  # a path and its reverse may share a link
            for edge in found.round_trips[-1]:
                found.flows[edge].append(n)
        return found


def shape_of(network: Network) -> Hashable:
    """Return all that the graph depends on in a network."""
    if isinstance(network, Custom):
        return tuple(network.nodes), tuple((link.from_, link.to) for link in network.links)
    return type(network), len(network.hop_links), network.pairs, network.access is None


def graph_of(network: Network, flows: Sequence[Flow]) -> Graph:
    """Lay a network with its flows out; ScenarioError if they don't fit each other."""
    return _custom(network, flows) if isinstance(network, Custom) else _row(network, flows)


def flow_place(flow: Flow, key: str) -> str:
    """Return the place of a key of a flow."""
    return f"{join(['flows', flow.name])}.{key}"


def _refuse(place: str, message: str) -> ScenarioError:
    return ScenarioError([Problem(place, message)])


def _known_end(flow: Flow, key: str, name: str | None, nodes: Sequence[str]) -> str:
    if name is None or name not in nodes:
        raise _refuse(flow_place(flow, key), unknown("node", str(name), list(nodes)))
    return name


def _custom(network: Custom, flows: Sequence[Flow]) -> Graph:
    for number, node in enumerate(network.nodes):
        if node in network.nodes[:number]:
            raise _refuse(f"network.nodes.{number}", f"'{node}' is given twice")
    taken: set[str] = set()
    for link in network.links:
        place = join(["network", "links", f"{link.from_}->{link.to}"])
        for key, end in (("from", link.from_), ("to", link.to)):
            if end not in network.nodes:
                raise _refuse(f"{place}.{key}", unknown("node", end, network.nodes))
        if f"{link.from_}->{link.to}" in taken:
            raise _refuse(place, f"'{link.from_}' and '{link.to}' are linked already (a link has both directions)")
        taken |= {f"{link.from_}->{link.to}", f"{link.to}->{link.from_}"}
    ends = []
    for flow in flows:
        for key in ("at", "enter", "leave", "direction", "access"):
            attribute = getattr(flow, key)
            if key in flow.model_fields_set and attribute is not None:
                why = "in a custom network a flow names its ends with 'from' and 'to'"
                raise _refuse(flow_place(flow, key), why)
        if flow.from_ is None:
            raise _refuse(flow_place(flow, "from"), f"needed in a custom network: one of {', '.join(network.nodes)}")
        sender = _known_end(flow, "from", flow.from_, network.nodes)
        ends.append((sender, _known_end(flow, "to", flow.to, network.nodes)))
    links = [(link.from_, link.to) for link in network.links]
    return Graph(list(network.nodes), links, ends, [flow.name for flow in flows], 0, [])


def _row(network: RouterNetwork, flows: Sequence[Flow]) -> Graph:
    hops = len(network.hop_links)
    routers = [f"r{n + 1}" for n in range(hops + 1)]
    pairs = _pairs(network, flows, routers)
    links = [(routers[n], routers[n + 1]) for n in range(hops)]
    for pair in pairs:
        _check_access(network.access, pair)
        links += [(f"s{pair.number}", pair.enter), (pair.leave, f"d{pair.number}")]
    senders, receivers = [f"s{p.number}" for p in pairs], [f"d{p.number}" for p in pairs]
    nodes = [*senders, *routers, *receivers]
    owned = {p.owner.name: p for p in pairs if p.owner is not None}
    ends = [_ends(flow, owned.get(flow.name), nodes, routers) for flow in flows]
    return Graph(nodes, links, ends, [flow.name for flow in flows], hops, pairs)


def _pairs(network: RouterNetwork, flows: Sequence[Flow], routers: list[str]) -> list[Pair]:
    """Return each flow without ends its own pair: the lowest number that no flow names."""
    named = {int(m[1]) for f in flows for end in (f.from_, f.to) if end and (m := re.fullmatch(r"[sd]([1-9]\d*)", end))}
    limit = network.pairs if network.pairs is not None else len(flows)
    named = {n for n in named if n <= limit}
    numbers = (n for n in range(1, 2 * len(flows) + 2) if n not in named)
    pairs = {}
    for flow in flows:
        enter, leave = _routers_of(network, flow, routers)
        if flow.own_hosts:
            number = next(numbers)
            pairs[number] = Pair(number, enter, leave, flow)
    needed = max([*pairs, *named], default=0)
    if network.pairs is not None and needed > network.pairs:
        raise _refuse("network.pairs", f"{network.pairs} given, but the flows need {needed}")
    for number in range(1, (network.pairs or needed) + 1):
        pairs.setdefault(number, Pair(number, routers[0], routers[-1], None))
    return [pairs[n] for n in sorted(pairs)]


def _routers_of(network: RouterNetwork, flow: Flow, routers: list[str]) -> tuple[str, str]:
    """Find the routers of a flow's hosts."""
    if not isinstance(network, ParkingLot):
        for key, given in (("enter", flow.enter), ("leave", flow.leave)):
            if given is not None:
                raise _refuse(flow_place(flow, key), 'only topology = "parking-lot" lets flows enter and leave')
        return routers[0], routers[-1]
    enter, leave = flow.enter or routers[0], flow.leave or routers[-1]
    for key, router in (("enter", enter), ("leave", leave)):
        if router not in routers:
            raise _refuse(flow_place(flow, key), unknown("router", router, routers))
    if routers.index(enter) >= routers.index(leave):
        why = f"'{leave}' given: must be to the right of '{enter}', where the flow enters"
        key = "leave" if flow.leave is not None else "enter"
        if key == "enter":
            why = f"'{enter}' given: must be to the left of '{leave}', where the flow leaves"
        raise _refuse(flow_place(flow, key), f'{why} (direction = "reverse" sends from right to left)')
    return enter, leave


def _check_access(access: Link | None, pair: Pair) -> None:
    """Refuse a pair whose access links have no rate or no delay."""
    own = pair.owner.access if pair.owner is not None else None
    if access is None and (own is None or own.rate is None or own.delay is None):
        who = (
            f"flow '{pair.owner.name}' has" if pair.owner is not None else f"hosts s{pair.number}, d{pair.number} have"
        )
        hint = ' (a flow with at = "routers" has none)' if pair.owner is not None else ""
        raise _refuse("network.access", f"needed: {who} access links{hint}")


def _ends(flow: Flow, pair: Pair | None, nodes: list[str], routers: list[str]) -> tuple[str, str]:
    """Find a flow's sender and receiver."""
    if flow.from_ is not None:
        return _known_end(flow, "from", flow.from_, nodes), _known_end(flow, "to", flow.to, nodes)
    if pair is not None:
        left, right = f"s{pair.number}", f"d{pair.number}"
    else:
        left, right = flow.enter or routers[0], flow.leave or routers[-1]
    return (left, right) if flow.direction == "forward" else (right, left)
