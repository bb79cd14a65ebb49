"""Topologies in full: every node, both directions of every link, the ends of every flow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown
from dumbbell.scenario.directions import Settings, both
from dumbbell.scenario.flow import Flow
from dumbbell.scenario.link import Link, LinkOverride
from dumbbell.scenario.network import Custom, Network, ParkingLot, RouterNetwork
from dumbbell.scenario.paths import join

__all__ = ["Drawing", "Edge", "draw"]


@dataclass(frozen=True)
class Edge:
    """One direction of a link."""

    from_: str
    to: str
    settings: Settings

    @property
    def name(self) -> str:
        """Name of the direction in results."""
        return f"{self.from_}->{self.to}"


@dataclass
class Drawing:
    """A network in full.

    ``ends`` holds (sender, receiver) of each flow, ``bottlenecks`` the numbers of the edges between routers.
    """

    nodes: list[str] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    ends: list[tuple[str, str]] = field(default_factory=list)
    bottlenecks: list[int] = field(default_factory=list)

    def link(self, a: str, b: str, directions: tuple[Settings, Settings]) -> None:
        """Add both directions of a link whose forward direction leads from ``a`` to ``b``."""
        forward, reverse = directions
        self.edges += [Edge(a, b, forward), Edge(b, a, reverse)]


def draw(network: Network, flows: Sequence[Flow]) -> Drawing:
    """Draw a network with its flows; ScenarioError if they don't fit each other."""
    return _custom(network, flows) if isinstance(network, Custom) else _row(network, flows)


def _flow_place(flow: Flow, key: str) -> str:
    return f"{join(['flows', flow.name])}.{key}"


def _refuse(place: str, message: str) -> ScenarioError:
    return ScenarioError([Problem(place, message)])


def _known_end(flow: Flow, key: str, name: str | None, nodes: Sequence[str]) -> str:
    if name is None or name not in nodes:
        raise _refuse(_flow_place(flow, key), unknown("node", str(name), list(nodes)))
    return name


def _custom(network: Custom, flows: Sequence[Flow]) -> Drawing:
    drawing = Drawing(nodes=list(network.nodes))
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
        drawing.link(link.from_, link.to, both([(link, place)]))
    for flow in flows:
        for key in ("at", "enter", "leave", "direction", "access"):
            attribute = getattr(flow, key)
            if key in flow.model_fields_set and attribute is not None:
                why = "in a custom network a flow names its ends with 'from' and 'to'"
                raise _refuse(_flow_place(flow, key), why)
        if flow.from_ is None:
            raise _refuse(_flow_place(flow, "from"), f"needed in a custom network: one of {', '.join(network.nodes)}")
        drawing.ends.append(
            (
                _known_end(flow, "from", flow.from_, network.nodes),
                _known_end(flow, "to", flow.to, network.nodes),
            )
        )
    return drawing


@dataclass(frozen=True)
class _Pair:
    """A pair of hosts, with their routers and the flow that owns them."""

    number: int
    enter: str
    leave: str
    owner: Flow | None


def _row(network: RouterNetwork, flows: Sequence[Flow]) -> Drawing:
    hops = network.hop_links
    routers = [f"r{n + 1}" for n in range(len(hops) + 1)]
    pairs = _pairs(network, flows, routers)
    senders, receivers = [f"s{p.number}" for p in pairs], [f"d{p.number}" for p in pairs]
    drawing = Drawing(nodes=[*senders, *routers, *receivers])
    for number, hop in enumerate(hops):
        sections: list[tuple[LinkOverride, str]] = [(hop, f"network.{network.bottleneck_place(number)}")]
        drawing.link(routers[number], routers[number + 1], both(sections))
    drawing.bottlenecks = list(range(len(drawing.edges)))
    common: tuple[Settings, Settings] | None = None  # of the pairs whose flows have no sections of their own
    for pair in pairs:
        has_own = pair.owner is not None and pair.owner.access is not None
        directions = common if common is not None and not has_own else both(_access(network.access, pair))
        common = common if has_own else directions
        drawing.link(f"s{pair.number}", pair.enter, directions)
        drawing.link(pair.leave, f"d{pair.number}", directions)
    owned = {p.owner.name: p for p in pairs if p.owner is not None}
    for flow in flows:
        drawing.ends.append(_ends(flow, owned.get(flow.name), drawing.nodes, routers))
    return drawing


def _pairs(network: RouterNetwork, flows: Sequence[Flow], routers: list[str]) -> list[_Pair]:
    """Return each flow without ends its own pair: the lowest number that no flow names."""
    named = {
        int(m[1]) for f in flows for end in (f.from_, f.to) if end and (m := re.fullmatch(r"[sd]([1-9]\d*)", end))
    }
    limit = network.pairs if network.pairs is not None else len(flows)
    named = {n for n in named if n <= limit}
    numbers = (n for n in range(1, 2 * len(flows) + 2) if n not in named)
    pairs = {}
    for flow in flows:
        enter, leave = _routers_of(network, flow, routers)
        if flow.own_hosts:
            number = next(numbers)
            pairs[number] = _Pair(number, enter, leave, flow)
    needed = max([*pairs, *named], default=0)
    if network.pairs is not None and needed > network.pairs:
        raise _refuse("network.pairs", f"{network.pairs} given, but the flows need {needed}")
    for number in range(1, (network.pairs or needed) + 1):
        pairs.setdefault(number, _Pair(number, routers[0], routers[-1], None))
    return [pairs[n] for n in sorted(pairs)]


def _routers_of(network: RouterNetwork, flow: Flow, routers: list[str]) -> tuple[str, str]:
    """Find the routers of a flow's hosts."""
    if not isinstance(network, ParkingLot):
        for key, given in (("enter", flow.enter), ("leave", flow.leave)):
            if given is not None:
                raise _refuse(_flow_place(flow, key), 'only topology = "parking-lot" lets flows enter and leave')
        return routers[0], routers[-1]
    enter, leave = flow.enter or routers[0], flow.leave or routers[-1]
    for key, router in (("enter", enter), ("leave", leave)):
        if router not in routers:
            raise _refuse(_flow_place(flow, key), unknown("router", router, routers))
    if routers.index(enter) >= routers.index(leave):
        why = f"'{leave}' given: must be to the right of '{enter}', where the flow enters"
        key = "leave" if flow.leave is not None else "enter"
        if key == "enter":
            why = f"'{enter}' given: must be to the left of '{leave}', where the flow leaves"
        raise _refuse(_flow_place(flow, key), f'{why} (direction = "reverse" sends from right to left)')
    return enter, leave


def _access(access: Link | None, pair: _Pair) -> list[tuple[LinkOverride, str]]:
    """Put the sections of a pair's access links together, the flow's own first."""
    own = pair.owner.access if pair.owner is not None else None
    sections: list[tuple[LinkOverride, str]] = []
    if own is not None and pair.owner is not None:
        sections.append((own, _flow_place(pair.owner, "access")))
    if access is not None:
        sections.append((access, "network.access"))
    if not sections or (access is None and (own is None or own.rate is None or own.delay is None)):
        who = (
            f"flow '{pair.owner.name}' has"
            if pair.owner is not None
            else f"hosts s{pair.number}, d{pair.number} have"
        )
        hint = ' (a flow with at = "routers" has none)' if pair.owner is not None else ""
        raise _refuse("network.access", f"needed: {who} access links{hint}")
    return sections


def _ends(flow: Flow, pair: _Pair | None, nodes: list[str], routers: list[str]) -> tuple[str, str]:
    """Find a flow's sender and receiver."""
    if flow.from_ is not None:
        return _known_end(flow, "from", flow.from_, nodes), _known_end(flow, "to", flow.to, nodes)
    if pair is not None:
        left, right = f"s{pair.number}", f"d{pair.number}"
    else:
        left, right = flow.enter or routers[0], flow.leave or routers[-1]
    return (left, right) if flow.direction == "forward" else (right, left)
