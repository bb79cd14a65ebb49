"""Rules for the bit rate that users write: a Python class in a file.

The class takes its parameters as keyword arguments. Its method ``choose(view)`` returns an index into
``view.ladder``; an optional ``on_download(download)`` learns of each segment that has arrived. One object is made
for each run.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

from dumbbell.registry import unknown
from dumbbell.scenario.own import code

__all__ = ["OwnAbr", "load"]


@dataclass(frozen=True)
class OwnAbr:
    """A rule of the user.

    Attributes
    ----------
    name : str
        Its source as the scenario writes it.
    content : str
        A hash of its code. Results of another content are results of another scenario.
    python_class : type or None
        The class; None if results are only read.
    file : str
        Its file, for messages.
    """

    name: str
    content: str
    python_class: type | None = field(default=None, compare=False, repr=False)
    file: str = field(default="", compare=False)

    def check(self, params: dict[str, Any]) -> None:
        """Check the parameters against the signature; raises ValueError."""
        if self.python_class is None:
            return
        known = list(inspect.signature(self.python_class).parameters.values())
        named = [p.name for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        for name in params:
            if name not in named:
                raise ValueError(unknown("parameter", name, named))
        for p in known:
            if p.name in named and p.default is p.empty and p.name not in params:
                raise ValueError(f"needed: parameter '{p.name}' of {self.python_class.__name__}, in `params`")


def load(text: str) -> OwnAbr:
    """Load a rule from ``file.py:Class``; raises ValueError with the reason if that fails."""
    place = code.find("python", text)
    if not place.loads:
        return OwnAbr(text, place.content)
    found = code.class_of(place, text)
    if not callable(getattr(found, "choose", None)):
        raise ValueError(f"class {place.class_name} has no method choose: a rule needs it")
    return OwnAbr(text, place.content, found, str(place.path))
