"""A web page: one response, or objects that depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from dumbbell.scenario.base import Part, Text, Whole, problem
from dumbbell.scenario.flow.page_presets import PRESETS, objects_of
from dumbbell.scenario.flow.web import Web
from dumbbell.scenario.units import Duration, Volume

__all__ = ["Page", "PageObject"]

ONLOAD = "onload"
"""The load event, as the name of what an object follows."""


class PageObject(Part):
    """An object of a page."""

    name: Annotated[Text, Field(min_length=1)]
    """Its name."""
    size: Volume
    """Bytes of its content."""
    after: Text | None = None
    """The object that must have arrived before it is requested, an earlier one of the list; or `"onload"`: the load
    event. Default: the first object."""
    delay: Duration = Duration("0 s")
    """From that to the request, such as the time that a script runs."""


class Page(Web):
    """A download by the flow's receiver over fresh connections: one response of a `size`, or several objects.

    The objects are those of a `preset`, or a list. The first one is the document. An object is requested when the one
    that it follows has arrived.
    """

    kind: Literal["page"]
    size: Volume | None = None
    """Bytes of the content, for a page that is one response."""
    preset: Literal["small", "median"] | None = None
    """A page of the package: `small` has 10 objects and 250 kB, `median` 71 objects and 2.65 MB."""
    objects: Annotated[list[PageObject], Field(min_length=1)] | None = None
    """The objects of an own page."""
    repeat: Annotated[Whole, Field(ge=0)] = 1
    """Number of times; 0: until the flow stops."""
    every: Duration = Duration("0 s")
    """One response: from one start to the next; a download still running delays the next."""
    think: Duration = Duration("0 s")
    """Objects: from the last object to the next load."""

    @model_validator(mode="after")
    def _one_form(self) -> Page:
        forms = [key for key in ("size", "preset", "objects") if getattr(self, key) is not None]
        if len(forms) != 1:
            what = "needed: one of 'size', 'preset' and 'objects'" if not forms else f"'{forms[0]}' is given already"
            raise problem(what, forms[1] if forms else "size")
        unused = ("http", "header", "server_delay", "think") if self.size is not None else ("every",)
        for key in unused:
            if key in self.model_fields_set:
                other = "'preset' or 'objects'" if self.size is not None else "'size'"
                raise problem(f"has an effect with {other} only", key)
        if self.objects is not None:
            _after(self.objects)
        return self

    def plan(self, transport: str = "tcp") -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        if self.size is not None:
            return {
                "kind": "page",
                "bytes": self.size.bytes,
                "request_bytes": self.request.bytes,
                "repeat": self.repeat,
                "every_ns": self.every.ns,
            }
        if self.preset is not None:
            objects = [PageObject(**entry) for entry in objects_of(PRESETS[self.preset])]
        else:
            objects = list(self.objects or [])
        return {
            "kind": "objects",
            "http": self.http_plan(transport),
            "objects": [
                {"name": o.name, "bytes": o.size.bytes, "after": after, "delay_ns": o.delay.ns}
                for o, after in zip(objects, _after(objects), strict=True)
            ],
            "repeat": self.repeat,
            "think_ns": self.think.ns,
        }


def _after(objects: Sequence[PageObject]) -> list[Any]:
    """Return what each object follows, as the plan writes it; `problem` at a name that isn't an earlier object's."""
    places: dict[str, int] = {}
    found: list[Any] = []
    for n, o in enumerate(objects):
        if o.name in places or o.name == ONLOAD:
            raise problem(f"'{o.name}' given: each object needs a name of its own", f"objects.{n}.name")
        if n == 0:
            if o.after is not None:
                raise problem("the first object is the document: it follows nothing", "objects.0.after")
            found.append("start")
        elif o.after == ONLOAD:
            found.append("onload")
        elif o.after is None or o.after in places:
            found.append({"object": places[o.after] if o.after is not None else 0})
        else:
            known = ", ".join([*places, ONLOAD])
            raise problem(f"'{o.after}' given: an earlier object is needed: {known}", f"objects.{n}.after")
        places[o.name] = n
    return found
