"""Presets: the flows of flent's tests, under flent's names, and those of a responsiveness test.

Sources: flent 2.x, ``flent/tests/NAME.conf`` of each name (flows, directions, marks, probes),
``netperf_definitions.inc`` (the TCP flows begin 5 s after the probes), ``runners.py`` (``VoipRunner``: a call is 172
bytes of RTP every 20 ms).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.registry import unknown
from dumbbell.scenario.base import Flag, Part, Text, Whole, problem
from dumbbell.scenario.errors import translate
from dumbbell.scenario.flow import responsiveness
from dumbbell.scenario.units import Duration, PositiveDuration, Rate

__all__ = ["NAMES", "TESTS", "Preset", "Test", "add_preset"]

MARKS = ("EF", "CS5", "BE", "BK")
"""The marks of flent's flows, the most urgent first; their places are the classes. BK is CS1."""
JITTER = "100 ms"
"""Default start jitter of scenarios with a preset: repetitions then differ."""
MOST_STREAMS = 1000
"""Most TCP flows of a preset in one direction."""


@dataclass(frozen=True)
class Test:
    """A test of flent.

    Attributes
    ----------
    title : str
        What it is, in a few words.
    up, down : tuple of str
        Marks of the TCP flows from the client and from the server.
    streams : bool
        True if `Preset.streams` multiplies the TCP flows.
    udp : tuple of str
        Marks of the UDP probes of the round-trip time.
    ping : bool
        True if it has a ping.
    calls : int
        Voice calls from the client.
    hosts : bool
        True if each pair of TCP flows has a server of its own (`Preset.delays`), with its own ping.
    flood : bool
        True for a UDP stream of `Preset.rate`.
    rpm : bool
        True for the responsiveness test, whose flows are those of `dumbbell.scenario.flow.responsiveness`.
    """

    title: str
    up: tuple[str, ...] = ()
    down: tuple[str, ...] = ()
    streams: bool = False
    udp: tuple[str, ...] = ()
    ping: bool = True
    calls: int = 0
    hosts: bool = False
    flood: bool = False
    rpm: bool = False
    keys: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        """Name the keys of `Preset` that have an effect."""
        tcp = {"variant", "stack"} if self.up or self.down or self.rpm else set()
        udp = {"streams"} if self.streams else set()
        marks = {"classes"} if {*self.up, *self.down, *self.udp} - {"BE"} or self.calls else set()
        hosts = {"delays"} if self.hosts else {"client", "server"}
        flood = {"rate"} if self.flood else set()
        probes = {"interval"} if self.udp or self.ping or self.rpm else set()
        rpm = {"direction", "connections"} if self.rpm else set()
        object.__setattr__(self, "keys", frozenset(tcp | udp | marks | hosts | flood | probes | rpm))


BE = ("BE",)
RRUL = ("BE", "BK", "CS5", "EF")

TESTS: dict[str, Test] = {
    "rrul": Test("Realtime response under load", up=RRUL, down=RRUL, udp=("EF", "BK", "BE")),
    "rrul_be": Test("The same without marks", up=4 * BE, down=4 * BE, udp=3 * BE),
    "rrul_be_nflows": Test(
        "The same without marks, `streams` flows in each direction", up=BE, down=BE, udp=BE, streams=True
    ),
    "tcp_upload": Test("One upload", up=BE),
    "tcp_download": Test("One download", down=BE),
    "tcp_bidirectional": Test("One upload and one download", up=BE, down=BE),
    **{f"tcp_{n}up": Test(f"{n} uploads" if n > 1 else "One upload", up=n * BE) for n in (1, 2, 4, 6, 8, 12)},
    **{f"tcp_{n}down": Test(f"{n} downloads" if n > 1 else "One download", down=n * BE) for n in (1, 2, 4, 6, 8, 12)},
    "tcp_nup": Test("`streams` uploads", up=BE, streams=True),
    "tcp_ndown": Test("`streams` downloads", down=BE, streams=True),
    "rtt_fair": Test(
        "An upload and a download with each of four servers, two pairs of them background",
        up=("BE", "BE", "BK", "BK"), down=("BE", "BE", "BK", "BK"), hosts=True,
    ),
    "rtt_fair4be": Test("The same without marks", up=4 * BE, down=4 * BE, hosts=True),
    "rtt_fair_up": Test("The uploads of `rtt_fair` without marks", up=4 * BE, hosts=True),
    "ping": Test("A ping alone"),
    "udp_flood": Test("A stream of UDP at `rate`", flood=True),
    "voip": Test("A voice call alone", ping=False, calls=1),
    "voip-1up": Test("A voice call beside one upload", up=BE, calls=1),
    "voip-rrul": Test("A voice call beside `rrul`", up=RRUL, down=RRUL, udp=("EF", "BK", "BE"), calls=1),
    "responsiveness": Test("Round trips per minute under load (RPM)", ping=False, rpm=True),
}  # fmt: skip
"""The tests, by name. The last one isn't flent's."""
NAMES = tuple(TESTS)

DELAYS = tuple(map(Duration, ("5 ms", "25 ms", "45 ms", "95 ms")))
"""Default delays of the servers of `rtt_fair`."""
OPTIONS = (
    *("variant", "stack", "streams", "delays", "rate", "interval", "classes", "client", "server"),
    *("direction", "connections"),
)
"""Keys that have an effect with some presets only."""


class Preset(Part):
    """Flows of a test of flent, or of a responsiveness test, after those of `flows`. A bare name has all defaults.

    Probes run from the start, TCP flows, calls and floods begin after `lead` and last `length`. Uploads go from the
    left (s hosts) to the right (d hosts), downloads the other way.
    """

    name: Text
    """The test, such as "rrul"."""
    variant: Text | dict[str, Any] = "cubic"
    """Congestion control of its TCP flows, as in a flow."""
    stack: Text | dict[str, Any] | None = None
    """The endpoint of its TCP flows, as in a flow."""
    streams: Annotated[Whole, Field(ge=1, le=MOST_STREAMS)] = 4
    """TCP flows in each direction, for the tests with a free number."""
    delays: Annotated[list[Duration], Field(min_length=1, max_length=100)] = Field(default_factory=lambda: [*DELAYS])
    """Delay from the client to each server without the bottleneck, for `rtt_fair` and its kin. Both access links
    of a server's flows have half of it."""
    rate: Rate = Rate("20 Mbit/s")
    """Rate of a flood."""
    interval: PositiveDuration | None = None
    """From one probe to the next. Default: "200 ms" (flent's step size), with `responsiveness` "100 ms"."""
    lead: Duration = Duration("5 s")
    """From the start of the probes to that of the load."""
    length: PositiveDuration | None = None
    """Length of the load, by default "60 s", with `responsiveness` "30 s". Without a tail, the scenario's `duration`
    can end it at another time."""
    tail: Duration = Duration("0 s")
    """From the end of the load to the end of the run; flent has 5 s. With 0 s the metrics of the probes are those
    under load, because the default of `measure_from` is `lead`."""
    classes: Flag = False
    """True: the flows have the classes 0 (EF), 1 (CS5), 2 (BE) and 3 (BK), for queues with classes. No queue reads
    DSCP, so without classes the marks have no effect."""
    direction: Literal["both", "upload", "download"] = "both"
    """Directions that a `responsiveness` test loads."""
    connections: Annotated[Whole, Field(ge=1, le=MOST_STREAMS)] = responsiveness.CONNECTIONS
    """Load-generating connections of a `responsiveness` test, in both directions together (MNP)."""
    client: Text | None = None
    """The node of the client, in a custom network; needs `server`."""
    server: Text | None = None
    """The node of the server; needs `client`."""

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, data: Any) -> Any:  # noqa: ANN401
        """Read the bare name."""
        return {"name": data} if isinstance(data, str) else data

    @field_validator("name")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in TESTS:
            numbered = re.fullmatch(r"tcp_(\d+)(up|down)", value)
            if numbered:
                other = f"tcp_n{numbered.group(2)}"
                raise problem(f"'{value}' given: use '{other}' with streams = {numbered.group(1)}")
            raise problem(unknown("preset", value, list(TESTS)))
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Preset:
        keys = TESTS[self.name].keys
        for key in OPTIONS:
            if key in self.model_fields_set and key not in keys:
                raise problem(f"given, but the preset '{self.name}' doesn't use it", key)
        if (self.client is None) != (self.server is None):
            missing = "client" if self.client is None else "server"
            raise problem("needed: 'client' and 'server' belong together", missing)
        return self

    @property
    def is_evaluated(self) -> bool:
        """True for a responsiveness test, whose result is computed from series."""
        return TESTS[self.name].rpm

    @property
    def end(self) -> Duration:
        """The end of the load."""
        rpm = TESTS[self.name].rpm
        length = self.length or PositiveDuration("30 s" if rpm else "60 s")
        return _text(self.lead.ns + length.ns)

    def defaults(self) -> dict[str, Any]:
        """Return defaults of the scenario's keys. Programs don't begin at one instant: hence the start jitter."""
        duration = _text(self.end.ns + self.tail.ns)
        times = {"duration": str(duration), "measure_from": str(self.lead), "start_jitter": JITTER}
        return times | ({"trace": responsiveness.trace(self.flows())} if TESTS[self.name].rpm else {})

    def flows(self) -> list[dict[str, Any]]:
        """Return the flows, as a scenario writes them."""
        test = TESTS[self.name]
        if test.rpm:
            return responsiveness.flows(
                tcp=self._tcp(),
                ways=("download", "upload") if self.direction == "both" else (self.direction,),
                connections=self.connections,
                lead_ns=self.lead.ns,
                interval_ns=(self.interval or PositiveDuration("100 ms")).ns,
                ends=self._ends,
            )
        return [*self._load(test), *self._probes(test)]

    def _tcp(self) -> dict[str, Any]:
        return {"variant": self.variant, **({"stack": self.stack} if self.stack is not None else {})}

    def _load(self, test: Test) -> Iterator[dict[str, Any]]:
        when = {"start": str(self.lead), **({"stop": str(self.end)} if self.tail.ns else {})}
        for direction, marks in (("upload", test.up), ("download", test.down)):
            each = self._pairs(marks) if test.hosts else list(marks) * (self.streams if test.streams else 1)
            for n, (name, mark) in enumerate(_named(each)):
                yield {
                    "name": f"{direction}_{name}",
                    **self._tcp(),
                    **when,
                    **self._ends(direction == "download"),
                    **self._class(mark),
                    **(self._server(n) if test.hosts else {}),
                }
        if test.flood:
            flood = {"kind": "cbr", "rate": str(self.rate), "packet": "1498 bytes"}  # iperf's datagram of 1470 bytes
            yield {"name": "flood", "transport": "udp", "application": flood, **when, **self._ends(False)}
        for _ in range(test.calls):
            yield {"name": "call", "application": {"kind": "voice"}, **when, **self._ends(False), **self._class("EF")}

    def _pairs(self, marks: tuple[str, ...]) -> list[str]:
        """Return the marks of a flow for each server."""
        if not marks:
            return []
        return [marks[n * len(marks) // len(self.delays)] for n in range(len(self.delays))]

    def _probes(self, test: Test) -> Iterator[dict[str, Any]]:
        ping = {
            "kind": "ping",
            "interval": str(self.interval or "200 ms"),
            "packet": "84 bytes",
        }  # 56 bytes of data [ping(8)]
        for name, mark in _named(list(test.udp)):
            probe = {**ping, "packet": "88 bytes"}  # 60 bytes of payload: times of both ends
            yield {"name": f"ping_udp_{name}", "application": probe, **self._ends(False), **self._class(mark)}
        if test.ping and test.hosts:
            for n in range(len(self.delays)):
                yield {"name": f"ping_icmp{n + 1}", "application": ping, **self._server(n), **self._class("BE")}
        elif test.ping:
            yield {"name": "ping_icmp", "application": ping, **self._ends(False), **self._class("BE")}

    def _ends(self, to_client: bool) -> dict[str, Any]:
        """Return the place of a flow."""
        if self.client is None or self.server is None:
            return {"direction": "reverse"} if to_client else {}
        client, server = self.client, self.server
        return {"from": server, "to": client} if to_client else {"from": client, "to": server}

    def _server(self, number: int) -> dict[str, Any]:
        """Return the access links of a flow with a server of its own; both ends have the half of its delay."""
        return {"access": {"delay": str(_text(self.delays[number].ns // 2))}}

    def _class(self, mark: str) -> dict[str, Any]:
        return {"class": MARKS.index(mark)} if self.classes else {}


def _named(marks: list[str]) -> Iterator[tuple[str, str]]:
    """Name flows by their marks, with a number where several have the same: be, be2, be3."""
    seen: dict[str, int] = {}
    for mark in marks:
        seen[mark] = seen.get(mark, 0) + 1
        yield mark.lower() + (str(seen[mark]) if seen[mark] > 1 else ""), mark


def _text(ns: int) -> Duration:
    """Write a time."""
    unit, size = next((u, size) for u, size in (("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1)) if ns % size == 0)
    return Duration(f"{ns // size} {unit}")


def add_preset(data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Add the flows and defaults of a preset to a raw document; also return the added ones."""
    if data.get("preset") is None:
        return data, {}
    try:
        preset = Preset.model_validate(data["preset"])
    except ValidationError as e:
        problems = translate(e, data["preset"]).problems
        raise ScenarioError(
            [Problem(f"preset.{p.place}" if p.place else "preset", p.message) for p in problems]
        ) from None
    added: dict[str, Any] = {"flows": preset.flows()}
    added |= {key: value for key, value in preset.defaults().items() if key not in data}
    flows = data.get("flows", [])
    return {**data, **added, "flows": [*flows, *added["flows"]] if isinstance(flows, list) else flows}, added
