"""Links: rate, delay, queue, policer and wire of each direction."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from dumbbell.scenario.base import Flag, Part, Text, Whole, problem
from dumbbell.scenario.network.impairments import Corruption, Duplication, Jitter, Loss, Policer, Reordering
from dumbbell.scenario.network.schedules import LinkDelay, LinkRate, Outage
from dumbbell.scenario.network.wifi import Wifi
from dumbbell.scenario.registry_choice import Queue
from dumbbell.scenario.units import Duration, Overhead, PositiveDuration

__all__ = ["Direction", "DropRule", "Link", "LinkOverride", "NamedLink"]


class DropRule(Part):
    """Scripted drops at a link's entrance: packets by their number, or everything within a span of time."""

    flow: Text | None = None
    """Only packets of this flow from sender to receiver; default: every packet."""
    packets: Annotated[list[Annotated[Whole, Field(ge=1)]], Field(min_length=1)] | None = None
    """Numbers of the packets to drop, the first that counts being 1."""
    count: Literal["data", "all"] = "data"
    """Packets that count and are dropped: those with payload, or all."""
    from_: Annotated[Duration | None, Field(alias="from")] = None
    """Begin of a span of time in which every packet is dropped; needs `to`."""
    to: PositiveDuration | None = None
    """End of that span (not included)."""

    @model_validator(mode="after")
    def _consistent(self) -> DropRule:
        if self.packets is None and self.from_ is None and self.to is None:
            raise problem("a drop rule needs 'packets', or 'from' and 'to'")
        if (self.from_ is None) != (self.to is None):
            raise problem("needed: a span has both 'from' and 'to'", "from" if self.from_ is None else "to")
        if self.from_ is not None and self.to is not None and self.to.ns <= self.from_.ns:
            raise problem(f"'{self.to}' given: must be later than 'from', which is '{self.from_}'", "to")
        if self.packets is not None and len(set(self.packets)) < len(self.packets):
            raise problem(f"{self.packets} given: a number is given twice", "packets")
        return self


class Direction(Part):
    """Values that one direction of a link may set; values that are left out are inherited."""

    rate: LinkRate | None = None
    """Bit rate; steps and ramps, { steps = [...] }; a delivery trace, { trace = "file" } or { cellular = "lte" }."""
    delay: LinkDelay | None = None
    """One-way propagation delay; or steps and ramps, { steps = [...] }."""
    outages: list[Outage] | None = None
    """Times at which the link is down. Default: none."""
    queue: Queue | None = None
    """Queue discipline: a name, or { discipline = ..., its parameters }. Default: droptail, 1000 packets."""
    overhead: Overhead | None = None
    """Framing added to each IP packet; "14 bytes" is Ethernet as Linux's tbf counts it. Default: none."""
    policer: Policer | None = None
    """A token bucket at the entrance that drops packets above its rate. Default: none."""
    loss: Loss | None = None
    """Packets lost on the wire: a share, or bursts, { model = "gilbert", ... }. Default: none."""
    corruption: Corruption | None = None
    """Packets that arrive corrupted and are discarded: a share, or { bit_error_rate = ... }. Default: none."""
    jitter: Jitter | None = None
    """Time added to each packet's delay: a uniform share of a time, or { distribution = ... }. Default: none."""
    jitter_reorders: Flag | None = None
    """True: jitter may reorder packets. Default: false."""
    reordering: Reordering | None = None
    """Packets held back so that others pass them. Default: none."""
    duplication: Duplication | None = None
    """Packets that arrive twice: a share, or { share = ..., delay = ... }. Default: none."""
    drops: list[DropRule] | None = None
    """Scripted drops."""

    @model_validator(mode="after")
    def _jitter(self) -> Direction:
        if self.jitter_reorders and self.jitter is None:
            raise problem("it needs 'jitter': set that too", "jitter_reorders")
        return self


class LinkOverride(Direction):
    """Values that differ from another link section.

    The reverse direction follows the forward one in rate, delay, outages, queue and overhead; everything else belongs
    to the forward direction alone unless `reverse` gives it.
    """

    elsewhere: ClassVar[dict[str, str]] = {
        "rtt": "a link has a one-way 'delay': the RTT is twice the sum of the delays on the path",
        "buffer": "a buffer is queue = { discipline = ..., limit = ... }",
        "limit": "belongs into queue = { discipline = ..., limit = ... }",
        "trace": "a packet-delivery trace is rate = { trace = ... }",
        "schedule": "rates and delays that change are rate = { steps = [...] } and delay = { steps = [...] }",
    }

    reverse: Direction | None = None
    """Values that differ in the other direction."""


class Link(LinkOverride):
    """A link in both directions.

    The reverse direction has the forward one's rate, delay, outages, queue and overhead; everything else belongs to
    the forward direction alone unless `reverse` gives it. Forward is the direction from the s hosts to the d hosts.
    """

    rate: LinkRate | None = None
    """Bit rate; steps and ramps, { steps = [...] }; or a delivery trace, { trace = "file" } or
    { cellular = "lte" }. Needed without `wifi`."""
    delay: LinkDelay | None = None
    """One-way propagation delay; or steps and ramps, { steps = [...] }. Needed without `wifi`."""
    wifi: Wifi | None = None
    """A Wi-Fi medium in place of a rate; forward is from the access point to the stations. The link then has queues,
    a constant delay and scripted drops, and nothing else."""

    @model_validator(mode="after")
    def _rate_or_wifi(self) -> Link:
        if self.wifi is None:
            for key in ("rate", "delay"):
                if getattr(self, key) is None:
                    raise problem("needed, but not given", key)
            return self
        for direction, within in ((self, ""), (self.reverse, "reverse.")):
            for key in Direction.model_fields if direction is not None else ():
                kept = key in {"queue", "drops"} or (key == "delay" and isinstance(self.delay, Duration) and not within)
                if getattr(direction, key) is not None and not kept:
                    raise problem("a link with 'wifi' has a queue, a constant delay and drops only", f"{within}{key}")
        return self


class NamedLink(Link):
    """A link of a custom network; its directions are named "a->b" and "b->a"."""

    from_: Annotated[Text, Field(alias="from")]
    """The node that its forward direction leaves."""
    to: Text
    """The node that its forward direction enters."""

    @model_validator(mode="after")
    def _ends(self) -> NamedLink:
        if self.from_ == self.to:
            raise problem(f"'{self.to}' given: a link from a node to itself", "to")
        return self
