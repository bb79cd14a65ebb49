"""Flows: sender, receiver, transport, application, start and end."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, model_validator

from dumbbell import _core, registry
from dumbbell.scenario.base import LONGEST_NAME, Part, Text, Whole, problem
from dumbbell.scenario.flow.application import UDP_HEADERS, Application, Bulk, Cbr, OnOff, Ping, Voice
from dumbbell.scenario.flow.flow_copies import MOST_COPIES, Spread
from dumbbell.scenario.flow.programs import Http
from dumbbell.scenario.flow.video import Video
from dumbbell.scenario.flow.web import Web
from dumbbell.scenario.flow.workload import Workload
from dumbbell.scenario.network.link import LinkOverride
from dumbbell.scenario.registry_choice import Stack, Tls, Variant
from dumbbell.scenario.units import Duration, PositiveDuration

__all__ = ["Flow"]


class Flow(Part):
    """A flow. Its sender sends data to its receiver, which returns acknowledgments and replies."""

    elsewhere: ClassVar[dict[str, str]] = {
        "kind": "belongs into application = { kind = ... }",
        "rate": "belongs into application = { kind = ..., rate = ... }",
        "delay": "belongs into access = { delay = ... }",
    }

    name: Annotated[Text, Field(min_length=1, max_length=LONGEST_NAME)]
    """Its name: results, sweeps and drop rules refer to it."""
    transport: Literal["tcp", "udp", "quic"] = "tcp"
    """TCP, plain datagrams, or QUIC (simulator only); a ping and a voice call are always datagrams."""
    variant: Variant | None = None
    """Congestion control (TCP and QUIC only, where it is needed): a name, or { name = ..., its parameters }."""
    ip: Literal[4, 6] = 4
    """Version of IP. Headers of IPv6 are 20 bytes longer: the MSS is at most 1440 bytes if `stack` sets none."""
    stack: Stack = Stack(name="")
    """The endpoint: a preset's name, or { preset = ..., parameters that differ from it }. By default `linux` with TCP
    and `rfc9002` with QUIC, whatever the variant."""
    tls: Tls | None = None
    """TLS over TCP (simulator only): its version, "1.2" or "1.3", or { version = ..., parameters that differ }; by
    default none. QUIC contains TLS 1.3."""
    application: Application = Bulk()
    """Its traffic."""
    start: Duration = Duration("0 s")
    """Its start; the start jitter is added."""
    start_jitter: Duration | None = None
    """It starts later by a uniform share of this, drawn per repetition. Default: the scenario's start_jitter."""
    stop: PositiveDuration | None = None
    """Its end; by default the end of the run."""
    at: Literal["routers"] | None = None
    """"routers": attached to the first and last router themselves. Default: own hosts with own access links."""
    from_: Annotated[Text | None, Field(alias="from")] = None
    """The node that sends data, where it is not the flow's own host; needs `to`."""
    to: Text | None = None
    """The node that receives data; needs `from`."""
    enter: Text | None = None
    """In a parking lot: the router of its sender's access link. Default: the first."""
    leave: Text | None = None
    """In a parking lot: the router of its receiver's access link. Default: the last."""
    direction: Literal["forward", "reverse"] = "forward"
    """"reverse": data go from the right (d hosts) to the left (s hosts)."""
    access: LinkOverride | None = None
    """Values of its own access links that differ from network.access."""
    class_: Annotated[Whole, Field(alias="class", ge=0, le=65535)] = 0
    """The class that its packets carry, for disciplines with classes."""
    count: Annotated[Whole, Field(ge=1, le=MOST_COPIES)] | None = None
    """Number of copies: it then stands for the flows NAME-1, NAME-2 and so on. Default: one flow, of this name."""
    spread: Spread | None = None
    """How the copies differ: starts, delays, variants; needs `count`."""
    _group: tuple[str, int] | None = PrivateAttr(default=None)

    def belongs_to(self, group: str, copies: int) -> None:
        """Make this flow one of the copies of another."""
        self._group = (group, copies)

    @property
    def group(self) -> str | None:
        """Name of the flow of which it is a copy; None for another flow."""
        return None if self._group is None else self._group[0]

    @property
    def copies(self) -> int:
        """Number of copies of the flow that it is a copy of, itself included."""
        return 1 if self._group is None else self._group[1]

    @property
    def datagrams(self) -> bool:
        """True if it runs without TCP and QUIC."""
        return self.transport == "udp" or isinstance(self.application, Ping | Voice)

    @cached_property
    def endpoint_stack(self) -> Stack | None:
        """Its endpoint: the stack that it names, or the default; None for datagrams."""
        return None if self.datagrams or self.variant is None else self.stack.of(self.transport)

    @property
    def has_series(self) -> bool:
        """True if series of it exist."""
        has_none = self.datagrams or isinstance(self.application, Workload)
        return not has_none or isinstance(self.application, Ping | Voice)

    @property
    def _runs_programs(self) -> bool:
        application = self.application
        if isinstance(application, Video):
            return application.client == "browser"
        return application.kind in {"http", "iperf3", "command"}

    @property
    def own_hosts(self) -> bool:
        """True if it has its own pair of hosts and access links."""
        return self.at is None and self.from_ is None and self.to is None

    @model_validator(mode="before")
    @classmethod
    def _preset_of_quic(cls, data: Any) -> Any:  # noqa: ANN401
        """Name the preset of a QUIC stack that has parameters only: they are those of QUIC, not of TCP."""
        if isinstance(data, dict) and data.get("transport") == "quic":
            stack = data.get("stack")
            if isinstance(stack, dict) and not {Stack.key, "name"} & stack.keys():
                return {**data, "stack": {Stack.key: registry.default_stack("quic"), **stack}}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Flow:
        if self.spread is not None:
            self._check_spread(self.spread)
        self._check_transport()
        self._check_place()
        if self.stop is not None and self.stop.ns <= self.start.ns:
            raise problem(f"'{self.stop}' given: must be later than the start at '{self.start}'", "stop")
        return self

    def _check_spread(self, spread: Spread) -> None:
        if self.count is None:
            raise problem("a spread needs several copies: set count", "spread")
        if spread.delay is not None and not self.own_hosts:
            raise problem("the flow has no access links of its own, because of 'at' or 'from'/'to'", "spread.delay")
        if spread.variants is not None and self.variant is not None:
            raise problem("'variant' and 'spread.variants' exclude each other", "spread.variants")

    def _check_transport(self) -> None:
        kind = self.application.kind
        given = self.model_fields_set
        if self.transport == "udp" and "udp" not in self.application.transports:
            if "application" not in given:
                raise problem("needed: a udp flow carries cbr, onoff, ping or voice", "application")
            raise problem(f"'{kind}' needs tcp: a udp flow carries cbr, onoff, ping or voice", "application.kind")
        if isinstance(self.application, Ping | Voice) and "transport" in given and self.transport != "udp":
            raise problem(f"'{self.transport}' given: {_named(self.application)} is always datagrams", "transport")
        if self.transport == "quic" and "quic" not in self.application.transports:
            carries = "bulk, transfer, cbr, onoff, page, video or workload"
            raise problem(f"'{kind}' runs real programs: a quic flow carries {carries}", "application.kind")
        if isinstance(self.application, Web | Http):
            self.application.check_transport(self.transport)
        if self.transport == "quic" and self.tls is not None:
            raise problem("a quic flow has TLS 1.3 already: remove it (stack.handshake sets its handshake)", "tls")
        if not self.datagrams:
            if self.tls is not None and self._runs_programs:
                raise problem(f"'{self.application.kind}' runs real programs: remove it", "tls")
            self._check_variants()
            return
        what = _named(self.application)
        for key in ("variant", "stack", "tls"):
            if key in given and getattr(self, key) is not None:
                raise problem(f"{what} has none: remove it, or make the flow tcp", key)
        least = UDP_HEADERS[self.ip]
        if isinstance(self.application, Cbr | OnOff | Ping) and self.application.packet.bytes < least:
            raise problem(
                f"'{self.application.packet}' given: a datagram has at least {least} bytes (its headers)",
                "application.packet",
            )

    def _check_variants(self) -> None:
        """Check its variant, or those of its copies."""
        of_copies = None if self.spread is None else self.spread.variants
        variants = of_copies or ([] if self.variant is None else [self.variant])
        if not variants:
            raise problem(f"needed: the congestion control variant of a {self.transport} flow", "variant")
        for variant in variants:
            self._check_variant_and_stack(variant)

    def _check_variant_and_stack(self, variant: Variant) -> None:
        """Check the parameters of each against those of the other, and among themselves."""
        own = variant.own
        handle = None if own is None else own.handle
        stack = self.stack.of(self.transport)
        of_transport = registry.stacks(self.transport)
        if stack.name not in of_transport:
            known = ", ".join(of_transport)
            raise problem(f"'{stack.name}' given: the presets of a {self.transport} flow are {known}", "stack")
        for family, part, beside in (("stack", stack, variant), ("variant", variant, stack)):
            try:
                if own is None or (family == "stack" and handle is not None):
                    _core.check(family, part.name, dict(part.params), beside.name, handle)
                elif family == "variant":
                    own.check(dict(part.params), beside.name)
            except _core.ParamError as e:
                where, message = e.args
                whole = own is not None and where == "name" and where not in part.params
                raise problem(message, family if whole else f"{family}.{where}") from None

    def _check_place(self) -> None:
        given: dict[str, Any] = {"from": self.from_, "to": self.to}
        named = [k for k, v in given.items() if v is not None]
        if len(named) == 1:
            other = "to" if named == ["from"] else "from"
            raise problem(f"needed: '{named[0]}' is given, so '{other}' is needed too", other)
        if self.at is not None and named:
            raise problem("'at' and 'from'/'to' exclude each other", "at")
        if named and self.from_ == self.to:
            raise problem(f"'{self.to}' given: a flow to itself", "to")
        if self.access is not None and not self.own_hosts:
            raise problem("the flow has no access links of its own, because of 'at' or 'from'/'to'", "access")
        if named:
            for key in ("direction", "enter", "leave"):
                if key in self.model_fields_set:
                    raise problem("'from' and 'to' determine it already", key)


def _named(application: Any) -> str:  # noqa: ANN401 - any application
    """Name the kind of a flow of datagrams, for messages."""
    return {"ping": "a ping", "voice": "a voice call"}.get(application.kind, "a udp flow")
