"""The templates of pages: HTML with every inserted text escaped."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from dumbbell.common.extras import require
from dumbbell.common.words import counted

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["CONTENTS", "template"]

CONTENTS = files("dumbbell.report") / "templates" / "contents.js"
"""The script that opens and closes a page's contents."""


def template(name: str) -> Template:
    """Load a template.

    Raises
    ------
    DumbbellError
        If jinja2 isn't installed.
    """
    require("jinja2")
    from jinja2 import Environment, PackageLoader, StrictUndefined  # an extra

    surroundings = Environment(
        loader=PackageLoader("dumbbell.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    surroundings.filters["counted"] = counted
    return surroundings.get_template(name)
