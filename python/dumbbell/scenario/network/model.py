"""Networks: the topologies by name, and custom ones.

``dumbbell``
    Hosts s1..sn, routers r1 and r2, hosts d1..dn. Each flow gets its own pair of hosts unless it gives `at` or
    `from`/`to`. The bottleneck is the link r1->r2.
``chain``
    The same with `hops` bottlenecks in a row, r1->r2->...->r(hops+1).
``parking-lot``
    A chain whose flows may enter and leave at any router (`enter`, `leave`); a flow that gives neither crosses all
    hops.
``custom``
    Nodes and links listed; each flow names its ends.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from dumbbell.scenario.base import LONGEST_NAME, Part, Text, Whole, problem
from dumbbell.scenario.network.link import Link, NamedLink

__all__ = ["Chain", "Custom", "Dumbbell", "Network", "ParkingLot", "RouterNetwork"]


class RouterNetwork(Part):
    """The common part of networks with routers in a row."""

    access: Link | None = None
    """The access links of the flows' hosts; forward is the direction from the s hosts to the d hosts."""
    pairs: Annotated[Whole, Field(ge=1, le=100_000)] | None = None
    """Number of host pairs (s1, d1) ... (sn, dn). Default: as many as the flows need."""

    @model_validator(mode="after")
    def _access_by_wire(self) -> RouterNetwork:
        if self.access is not None and self.access.wifi is not None:
            raise problem("Wi-Fi belongs into the bottleneck: the hosts behind it are the stations", "access.wifi")
        return self

    @property
    @abstractmethod
    def hop_links(self) -> list[Link]:
        """The bottlenecks from left to right."""

    @abstractmethod
    def bottleneck_place(self, hop: int) -> str:
        """Return the place of the bottleneck of a hop (from 0) in the scenario."""


class Dumbbell(RouterNetwork):
    """Senders, two routers, receivers."""

    elsewhere: ClassVar[dict[str, str]] = {
        "bottlenecks": 'a dumbbell has one \'bottleneck\'; topology = "chain" or "parking-lot" has several',
        "hops": 'a dumbbell has one hop; topology = "chain" or "parking-lot" has several',
        "nodes": 'only topology = "custom" lists nodes',
        "links": 'only topology = "custom" lists links',
    }

    topology: Literal["dumbbell"] = "dumbbell"
    bottleneck: Link
    """The link between the routers; forward is r1->r2."""

    @property
    def hop_links(self) -> list[Link]:
        """The bottleneck."""
        return [self.bottleneck]

    def bottleneck_place(self, hop: int) -> str:  # noqa: ARG002
        """Return the place of the bottleneck."""
        return "bottleneck"


class _Row(RouterNetwork):
    elsewhere: ClassVar[dict[str, str]] = {
        "nodes": 'only topology = "custom" lists nodes',
        "links": 'only topology = "custom" lists links',
    }

    hops: Annotated[Whole, Field(ge=1, le=10_000)] | None = None
    """Number of bottlenecks in a row; not needed where `bottlenecks` lists them."""
    bottleneck: Link | None = None
    """The links between neighboring routers, all alike; forward is r1->r2."""
    bottlenecks: Annotated[list[Link], Field(min_length=1)] | None = None
    """The links between neighboring routers one by one, from left to right."""

    @model_validator(mode="after")
    def _one_form(self) -> _Row:
        if self.bottleneck is not None and self.bottlenecks is not None:
            raise problem("'bottleneck' (all alike) and 'bottlenecks' (one by one) exclude each other", "bottlenecks")
        if self.bottleneck is None and self.bottlenecks is None:
            raise problem("needed: the links between the routers (or 'bottlenecks', one by one)", "bottleneck")
        if self.bottlenecks is not None and self.hops not in (None, len(self.bottlenecks)):
            raise problem(f"{self.hops} given, but 'bottlenecks' lists {len(self.bottlenecks)}", "hops")
        if self.bottlenecks is None and self.hops is None:
            raise problem("needed: the number of bottlenecks in a row", "hops")
        return self

    @property
    def hop_links(self) -> list[Link]:
        """The bottlenecks from left to right."""
        if self.bottlenecks is not None:
            return self.bottlenecks
        return [self.bottleneck] * (self.hops or 0) if self.bottleneck is not None else []

    def bottleneck_place(self, hop: int) -> str:
        """Return the place of the bottleneck of a hop."""
        return "bottleneck" if self.bottlenecks is None else f"bottlenecks.{hop}"


class Chain(_Row):
    """Senders, several routers in a row, receivers."""

    topology: Literal["chain"]


class ParkingLot(_Row):
    """Several routers in a row; flows enter and leave at any of them."""

    topology: Literal["parking-lot"]


class Custom(Part):
    """Nodes and links listed."""

    elsewhere: ClassVar[dict[str, str]] = {
        key: f"a custom network has no '{key}': list its 'links'"
        for key in ("bottleneck", "bottlenecks", "access", "hops", "pairs")
    }

    topology: Literal["custom"]
    nodes: Annotated[list[Annotated[Text, Field(min_length=1, max_length=LONGEST_NAME)]], Field(min_length=2)]
    """The names of the nodes."""
    links: Annotated[list[NamedLink], Field(min_length=1)]
    """The links between them."""


def _topology(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return value.get("topology", "dumbbell")
    return getattr(value, "topology", None)


Network = Annotated[
    Annotated[Dumbbell, Tag("dumbbell")]
    | Annotated[Chain, Tag("chain")]
    | Annotated[ParkingLot, Tag("parking-lot")]
    | Annotated[Custom, Tag("custom")],
    Discriminator(_topology),
]
