"""The reference of the scenario file, read from the model that checks it."""

from __future__ import annotations

import inspect
import json
import re
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic.fields import FieldInfo

from dumbbell.scenario.base import Part
from dumbbell.scenario.capture import Capture
from dumbbell.scenario.descriptions import descriptions
from dumbbell.scenario.flow.abr import Bola, Dynamic, FixedRate, OwnRule, RateBased
from dumbbell.scenario.flow.application import Bulk, Cbr, OnOff, Page, Ping, Transfer, Video
from dumbbell.scenario.flow.flow_copies import Spread
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.flow.page import PageObject
from dumbbell.scenario.flow.presets import TESTS, Preset, Test
from dumbbell.scenario.flow.programs import Commands, Http, Iperf3
from dumbbell.scenario.flow.sizes import (
    ExponentialSizes,
    FileSizes,
    FixedSize,
    LognormalSizes,
    NamedSizes,
    ParetoSizes,
    UniformSizes,
)
from dumbbell.scenario.flow.video import Qoe, Throttle
from dumbbell.scenario.flow.voice import Voice
from dumbbell.scenario.flow.workload import Arrivals, Workload
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.network.cellular import Cellular
from dumbbell.scenario.network.impairments import (
    BitErrors,
    Copies,
    ExponentialJitter,
    GilbertElliottLoss,
    GilbertLoss,
    IndependentLoss,
    NormalJitter,
    ParetoJitter,
    Policer,
    Reordering,
    UniformJitter,
)
from dumbbell.scenario.network.link import Direction, DropRule, Link, LinkOverride, NamedLink
from dumbbell.scenario.network.model import Chain, Custom, Dumbbell, ParkingLot
from dumbbell.scenario.network.schedules import DelayStep, DelaySteps, Outage, RateStep, RateSteps, RateTrace, TraceFile
from dumbbell.scenario.network.wifi import Background, Fading, Station, Wifi, WifiRate
from dumbbell.scenario.own.disciplines import DisciplineSource
from dumbbell.scenario.own.variants import VariantSource
from dumbbell.scenario.registry_choice import Named, Queue, Stack, Tls, Variant
from dumbbell.scenario.sweep.model import Sweep
from dumbbell.scenario.sweep.until import Until
from dumbbell.scenario.trace import Trace
from dumbbell.scenario.units import Quantity
from md import escaped, table

SECTIONS: list[tuple[type[Part], str, str]] = [
    (Scenario, "Top level", "scenario"),
    (Dumbbell, '[network], topology = "dumbbell"', "dumbbell"),
    (Chain, '[network], topology = "chain"', "chain"),
    (ParkingLot, '[network], topology = "parking-lot"', "parking-lot"),
    (Custom, '[network], topology = "custom"', "custom"),
    (Link, "Links: bottleneck, bottlenecks, access", "link"),
    (NamedLink, "Links of a custom network", "named-link"),
    (LinkOverride, "A flow's own access links", "link-override"),
    (Direction, "reverse: the other direction of a link", "direction"),
    (RateSteps, "rate: steps and ramps", "rate-steps"),
    (RateStep, "steps of a rate", "rate-step"),
    (RateTrace, "rate: a packet-delivery trace", "rate-trace"),
    (Cellular, "rate: a generated trace of a cellular link", "cellular"),
    (DelaySteps, "delay: steps and ramps", "delay-steps"),
    (DelayStep, "steps of a delay", "delay-step"),
    (Wifi, "wifi: a Wi-Fi medium", "wifi"),
    (Station, "stations of a Wi-Fi medium", "wifi-station"),
    (Background, "background of a Wi-Fi medium", "wifi-background"),
    (Fading, "fading of a Wi-Fi medium", "wifi-fading"),
    (WifiRate, "rate_control of a Wi-Fi medium: a given rate", "wifi-fixed-rate"),
    (Outage, "outages", "outage"),
    (Policer, "policer", "policer"),
    (IndependentLoss, 'loss, model = "bernoulli"', "bernoulli"),
    (GilbertLoss, 'loss, model = "gilbert"', "gilbert"),
    (GilbertElliottLoss, 'loss, model = "gilbert-elliott"', "gilbert-elliott"),
    (BitErrors, "corruption: bit errors", "bit-errors"),
    (UniformJitter, 'jitter, distribution = "uniform"', "uniform-jitter"),
    (NormalJitter, 'jitter, distribution = "normal"', "normal-jitter"),
    (ExponentialJitter, 'jitter, distribution = "exponential"', "exponential-jitter"),
    (ParetoJitter, 'jitter, distribution = "pareto"', "pareto-jitter"),
    (Reordering, "reordering", "reordering"),
    (Copies, "duplication: with a delay", "copies"),
    (DropRule, "drops: scripted drops", "drop-rule"),
    (VariantSource, "[variants], each", "own-variant"),
    (DisciplineSource, "[disciplines], each", "own-discipline"),
    (Flow, "[[flows]]", "flow"),
    (Spread, "spread of the copies of a flow", "spread"),
    (Bulk, 'application, kind = "bulk"', "bulk"),
    (Transfer, 'application, kind = "transfer"', "transfer"),
    (Workload, 'application, kind = "workload"', "workload"),
    (Arrivals, "arrivals of a workload", "arrivals"),
    (FixedSize, 'sizes, distribution = "fixed"', "fixed-size"),
    (ExponentialSizes, 'sizes, distribution = "exponential"', "exponential-sizes"),
    (UniformSizes, 'sizes, distribution = "uniform"', "uniform-sizes"),
    (ParetoSizes, 'sizes, distribution = "pareto"', "pareto-sizes"),
    (LognormalSizes, 'sizes, distribution = "lognormal"', "lognormal-sizes"),
    (NamedSizes, "sizes of the literature", "named-sizes"),
    (FileSizes, 'sizes, distribution = "file"', "file-sizes"),
    (Page, 'application, kind = "page"', "page"),
    (PageObject, "objects of a page", "page-object"),
    (Video, 'application, kind = "video"', "video"),
    (FixedRate, 'abr, kind = "fixed"', "fixed"),
    (RateBased, 'abr, kind = "rate"', "rate"),
    (Bola, 'abr, kind = "bola"', "bola"),
    (Dynamic, 'abr, kind = "dynamic"', "dynamic"),
    (OwnRule, "abr: an own rule", "own-rule"),
    (Throttle, "throttle of a video", "throttle"),
    (Qoe, "qoe of a video", "qoe"),
    (Cbr, 'application, kind = "cbr"', "cbr"),
    (OnOff, 'application, kind = "onoff"', "onoff"),
    (Voice, 'application, kind = "voice"', "voice"),
    (Ping, 'application, kind = "ping"', "ping"),
    (Iperf3, 'application, kind = "iperf3"', "iperf3"),
    (Http, 'application, kind = "http"', "http"),
    (Commands, 'application, kind = "command"', "command"),
    (Preset, "preset: the flows of a test", "preset"),
    (Trace, "[trace]", "trace"),
    (Capture, "[capture]", "capture"),
    (Until, "[until]", "until"),
]
ANCHORS: dict[type, str] = {model: anchor for model, _, anchor in SECTIONS}
TABLES: dict[type, str] = {
    Variant: "a [variant](../index.md#variants) or an [own variant](../how-to/own-variant.md): "
    "its name, or `{ name = ..., parameters }`",
    Stack: "a [stack](stacks.md): a preset's name, or `{ preset = ..., parameters }`",
    Tls: 'a [version of TLS](tls.md): `"1.2"`, `"1.3"`, or `{ version = ..., parameters }`',
    Queue: "a [queue discipline](../index.md#queue-disciplines) or an [own discipline](../how-to/own-discipline.md): "
    "its name, or `{ discipline = ..., parameters }`",
    Sweep: "a table, see [Sweeps](../how-to/sweeps.md)",
}
LIKE_LINK: dict[type, str] = {
    NamedLink: "All keys of [a link](#link), and its ends:",
    LinkOverride: "The keys are those of [a link](#link); none is needed.",
    Direction: "The keys are those of [a link](#link) without `reverse`; none is needed.",
}
"""Sections that would repeat the keys of a link."""


def reference() -> str:
    """Return every table of a scenario with every key."""
    return "\n\n".join(_section(*section) for section in SECTIONS)


def presets() -> str:
    """Return the tests of flent that are presets."""
    rows = [
        [f"`{name}`", escaped(test.title), *(_flows(test, marks) for marks in (test.up, test.down)), _probes(test)]
        for name, test in TESTS.items()
        if not test.rpm
    ]
    return table(["preset", "what it is", "uploads", "downloads", "probes"], rows)


def _flows(test: Test, marks: tuple[str, ...]) -> str:
    return "`streams`" if test.streams and marks else _marks(marks)


def _marks(marks: tuple[str, ...]) -> str:
    return ", ".join(marks) if set(marks) - {"BE"} else str(len(marks) or "")


def _probes(test: Test) -> str:
    udp = f"UDP {_marks(test.udp)}" if set(test.udp) - {"BE"} else f"{len(test.udp)} x UDP" if test.udp else ""
    ping = ("a ping to each server" if test.hosts else "ping") if test.ping else ""
    call = "a voice call" if test.calls else ""
    return "; ".join(part for part in (udp, ping, call) if part)


def _section(model: type[Part], title: str, anchor: str) -> str:
    paragraphs = inspect.cleandoc(model.__doc__ or "").split("\n\n")
    intro = "\n\n".join(p for p in paragraphs[:2] if "::" not in p and "---" not in p and not p.startswith("    "))
    if model is Scenario:
        intro = paragraphs[0]
    if model in LIKE_LINK:
        intro += "\n\n" + LIKE_LINK[model]
    known = Link.model_fields if model in LIKE_LINK else {}
    rows = [_row(model, name, field) for name, field in model.model_fields.items() if name not in known]
    keys = table(["key", "values", "default", "meaning"], rows) if rows else ""
    return f"## {title} {{ #{anchor} }}\n\n{intro}\n\n{keys}"


def _row(model: type[Part], name: str, field: FieldInfo) -> list[str]:
    what = descriptions(model).get(name) or {"kind": "Which application.", "topology": "Which topology."}.get(name)
    if what is None:
        raise ValueError(f"{model.__name__}.{name} has no description")
    stated = re.search(r"(?:^|; | )[Dd]efault: ([^.]*(?:\.{3}[^.]*)?)\.$", what)
    default = stated[1] if stated and field.default is None else _default(field)
    if stated and default == stated[1]:
        what = what[: stated.start()].rstrip(" ;,").rstrip(".") + "."
    return [f"`{field.alias or name}`", takes(field.annotation, tuple(field.metadata)), default, escaped(what)]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True)
    if value is None or value == {}:
        return "none"
    if isinstance(value, Named):
        return f'`"{value.name}"`'
    if isinstance(value, RateBased):
        return '`"rate"`'
    if isinstance(value, Part):
        return '`{ kind = "bulk" }`' if isinstance(value, Bulk) else "all at their defaults"
    return f"`{json.dumps(value)}`"


def takes(kind: Any, meta: tuple[Any, ...] = ()) -> str:
    """Describe the values of a key."""
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *more = get_args(kind)
        return takes(inner, (*more, *meta))
    if origin in (Union, UnionType):
        kinds = [k for k in get_args(kind) if k is not NoneType]
        parts = [takes(k, meta) for k in kinds]
        if len(parts) < 3 or not all(part.startswith("[") for part in parts):
            return " or ".join(dict.fromkeys(parts))
        return "one of the tables " + ", ".join(parts)
    if origin is Literal:
        return " or ".join(f"`{json.dumps(word)}`" for word in get_args(kind))
    if origin is list:
        least = next((m.min_length for m in _flat(meta) if isinstance(m, MinLen)), 0)
        each = takes(get_args(kind)[0])
        return f"a list of at least {least}, each {each}" if least else f"a list, each {each}"
    if origin is dict:
        return f"a table of names, each {takes(get_args(kind)[1])}"
    for model, words in TABLES.items():
        if kind is model:
            return words
    if isinstance(kind, type) and issubclass(kind, Quantity):
        bound = "".join(f", {b[1]}" for b in (kind.minimum, kind.maximum) if b)
        return f"{kind.what} such as `{kind.example}`{bound}"
    if kind in ANCHORS:
        return f"[{_label(kind)}](#{ANCHORS[kind]})"
    if kind is Any:
        return "any value"
    if kind is TraceFile:
        return "the path of a file, from the folder of the scenario's file"
    plain: dict[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return plain[kind] + _bounds(meta)


def _label(model: type) -> str:
    labels: dict[type, str] = {
        Link: "a link",
        NamedLink: "a link with its ends",
        LinkOverride: "a link's keys",
        Direction: "a direction",
        DropRule: "a drop rule",
        Outage: "an outage",
        Policer: "a table",
        RateStep: "a step",
        DelayStep: "a step",
        Reordering: "a table",
        VariantSource: "a table",
        DisciplineSource: "a table",
        Flow: "a flow",
        Trace: "a table",
    }
    return labels.get(model, ANCHORS[model])


def _flat(meta: tuple[Any, ...]) -> list[Any]:
    flat: list[Any] = []
    for m in meta:
        flat += _flat(tuple(m.metadata)) if isinstance(m, FieldInfo) else [m]
    return flat


def _bounds(meta: tuple[Any, ...]) -> str:
    words = {Ge: "from {}", Gt: "above {}", Le: "to {}", Lt: "below {}"}
    found = []
    for m in _flat(meta):
        for bound, form in words.items():
            if isinstance(m, bound):
                value = (
                    next(v for v in vars(m).values()) if hasattr(m, "__dict__") else getattr(m, bound.__name__.lower())
                )
                found.append(form.format("2^63" if value == 2**63 else value))
        if isinstance(m, MinLen):
            found.append("not empty")
    return (", " + " ".join(found)) if found else ""


UNITS = [
    ("time", "`ns`, `us`, `ms`, `s`, `min`, `h`", '`"40 ms"`'),
    ("rate", "`bit/s`, `kbit/s`, `Mbit/s`, `Gbit/s` (or `bps`, `kbps`, `Mbps`, `Gbps`)", '`"10 Mbit/s"`'),
    ("size", "`bytes` (or `B`), `kB`, `MB`, `GB`; `KiB`, `MiB`, `GiB`", '`"64 KiB"`'),
    ("size of a window", "the same, or `packets`", '`"20 packets"`'),
    ("length of a queue", "`packets`, a size, a time at the link's rate, or `bdp`", '`"1 bdp"`'),
    ("signal", "`dBm`", '`"-70 dBm"`'),
    ("ratio", "`dB`", '`"7 dB"`'),
    ("width of a channel", "`MHz`, `GHz`", '`"20 MHz"`'),
    ("percentage", "`%`", '`"0.1 %"`'),
]


def units() -> str:
    """Return the units of each quantity, with an example."""
    return table(["quantity", "units", "example"], UNITS)
