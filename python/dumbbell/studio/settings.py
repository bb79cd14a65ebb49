"""The settings of the studio, and the scenario of a choice of settings.

Settings are a mapping: the names of `PATH` with numbers or choices, and ``flows``, a list of mappings with the names
of `FLOW`. The network is a dumbbell whose flows have hosts of their own. All flows begin up to `JITTER` later than
set, drawn from the seed, so that equal flows are not in step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dumbbell import registry
from dumbbell.scenario import Scenario, json_schema

__all__ = ["FLOW", "LINKS", "MOST_FLOWS", "PATH", "Choice", "Number", "document", "fields", "flow_name", "number"]

MOST_FLOWS = 8
"""Colors that readers can distinguish."""
LINKS = ("r1->r2", "r2->r1")
"""The bottleneck, forward and back: the page shows their packets."""
JITTER = "10 ms"
"""Like the default of scenarios for flows that begin together."""


@dataclass(frozen=True)
class Number:
    """A number with its unit.

    Attributes
    ----------
    name, label, unit : str
    least, most, step, default : float
        In the unit.
    logarithmic : bool
        True if its slider has a logarithmic scale.
    place : str
        Where the scenario has it: ``definition.field`` of the JSON Schema, or "" for text of its own.
    about : str
        Its meaning; the schema's description by default.
    """

    name: str
    label: str
    unit: str
    least: float
    most: float
    step: float
    default: float
    logarithmic: bool = False
    place: str = ""
    about: str = ""


@dataclass(frozen=True)
class Choice:
    """One of several names.

    Attributes
    ----------
    name, label : str
    options : tuple of (str, str)
        The names with their meaning.
    default : str
    place, about : str
        As those of a `Number`.
    """

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    default: str
    place: str = ""
    about: str = ""


def _path() -> tuple[Number | Choice, ...]:
    disciplines = tuple((name, row.title) for name, row in registry.disciplines().items())
    rtt, limit = "Propagation delay in both directions.", "Limit of the queue at the bottleneck."
    return (
        Number("rate", "Rate", "Mbit/s", 0.1, 100, 0.1, 10, logarithmic=True, place="Link.rate"),
        Number("rtt", "Base RTT", "ms", 1, 1000, 0.1, 40, logarithmic=True, about=rtt),
        Number("buffer", "Buffer", "packets", 1, 5000, 1, 50, logarithmic=True, about=limit),
        Choice("discipline", "Discipline", disciplines, "droptail", place="Link.queue"),
        Number("loss", "Random loss", "%", 0, 20, 0.01, 0, place="Link.loss"),
        Number("duration", "Duration", "s", 1, 60, 1, 20, logarithmic=True, place="Scenario.duration"),
        Number("seed", "Seed", "", 1, 100, 1, 1, place="Scenario.seed"),
    )  # fmt: skip


def _flow() -> tuple[Number | Choice, ...]:
    variants = tuple((name, row.title) for name, row in registry.variants().items())
    stacks = tuple((name, row.title) for name, row in registry.stacks("tcp").items())
    applications = (("bulk", "sends as much as it can"), ("transfer", "sends one object"))
    marks = (("default", "on for variants that need it"), ("on", "ECN is negotiated"))
    size = "Bytes of the object of a transfer."
    return (
        Choice("variant", "Variant", variants, "cubic", place="Flow.variant"),
        Number("start", "Start", "s", 0, 60, 0.1, 0, about="The flow begins then, or up to 10 ms later."),
        Number("extra", "Extra RTT", "ms", 0, 1000, 0.1, 0, about="Propagation delay of its own access links."),
        Choice("application", "Application", applications, "bulk", place="Flow.application"),
        Number("size", "Size", "kB", 1, 100_000, 1, 100, logarithmic=True, about=size),
        Choice("stack", "TCP stack", stacks, registry.default_stack(), place="Flow.stack"),
        Choice("ecn", "ECN", marks, "default", about="Explicit congestion notification [RFC 3168]."),
    )  # fmt: skip


PATH = _path()
"""Settings of the path and of the run."""
FLOW = _flow()
"""Settings of each flow."""


def number(value: float) -> str:
    """Write a number without an exponent and without ``.0``, as the page does."""
    return str(int(value)) if value == int(value) else repr(float(value))


def flow_name(place: int) -> str:
    """Return the name of a flow, from 0."""
    return f"flow{place + 1}"


def document(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scenario of settings, as a document that `Scenario.from_dict` reads.

    Parameters
    ----------
    settings : mapping
        All names of `PATH`, and ``flows`` with all names of `FLOW`.
    """
    flows = settings["flows"]
    return {
        "name": "studio",
        "duration": f"{number(settings['duration'])} s",
        "seed": int(settings["seed"]),
        "start_jitter": JITTER,
        "trace": {"series": True, "only": [*(flow_name(n) for n in range(len(flows))), *LINKS]},
        "network": {
            "bottleneck": {
                "rate": f"{number(settings['rate'])} Mbit/s",
                "delay": f"{number(settings['rtt'] / 2)} ms",
                "loss": f"{number(settings['loss'])} %",
                "queue": {"name": settings["discipline"], "limit": f"{number(settings['buffer'])} packets"},
            },
            "access": {"rate": "1 Gbit/s", "delay": "0 ms"},
        },
        "flows": [_flow_document(flow_name(n), flow) for n, flow in enumerate(flows)],
    }


def _flow_document(name: str, flow: Mapping[str, Any]) -> dict[str, Any]:
    size = {"size": f"{number(flow['size'])} kB"} if flow["application"] == "transfer" else {}
    return {
        "name": name,
        "variant": flow["variant"],
        "start": f"{number(flow['start'])} s",
        "access": {"delay": f"{number(flow['extra'] / 4)} ms"},
        "application": {"kind": flow["application"], **size},
        **stack_document(flow),
    }


def stack_document(flow: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a flow's stack; empty if all of it is by default."""
    preset = {} if flow["stack"] == registry.default_stack() else {"preset": flow["stack"]}
    ecn = {"ecn": True} if flow["ecn"] == "on" else {}
    return {"stack": {**preset, **ecn}} if preset or ecn else {}


def scenario(settings: Mapping[str, Any]) -> Scenario:
    """Return the scenario of settings.

    Raises
    ------
    ScenarioError
        As for a file.
    """
    return Scenario.from_dict(document(settings))


def fields(which: tuple[Number | Choice, ...]) -> list[dict[str, Any]]:
    """Return settings as plain values for the page; their help texts are those of the JSON Schema."""
    schema = json_schema()
    found = []
    for field in which:
        about = field.about
        if field.place:
            part, name = field.place.split(".")
            properties = schema["properties"] if part == "Scenario" else schema["$defs"][part]["properties"]
            about = properties[name]["description"]
        common = {"name": field.name, "label": field.label, "default": field.default, "about": about}
        if isinstance(field, Choice):
            found.append({**common, "options": [list(option) for option in field.options]})
        else:
            bounds = {"least": field.least, "most": field.most, "step": field.step}
            found.append({**common, **bounds, "unit": field.unit, "logarithmic": field.logarithmic})
    return found
