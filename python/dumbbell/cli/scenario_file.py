"""A scenario on the command line: its file, and ``--set``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dumbbell.cli import front
from dumbbell.cli.settings import settings

__all__ = ["changes", "changes_of", "file_argument"]

F = TypeVar("F", bound=Callable[..., Any])

file_argument = click.argument("file", type=front.file(), metavar="FILE", help="The scenario, a TOML file.")


def changes() -> Callable[[F], F]:
    """Return the option ``--set``; `changes_of` reads its values."""
    return click.option(
        "--set",
        "changes",
        multiple=True,
        metavar="PATH=VALUE",
        help="Change a value of the scenario: a dotted path (flows.*.variant: of every flow), and the value as in "
        "TOML (the quotes of a text may be left out). Repeatable. A swept path keeps only this value.",
    )


def changes_of(given: tuple[str, ...]) -> dict[str, Any]:
    """Read the changes of ``--set``."""
    from dumbbell.scenario import toml

    found = settings(given, "flows.tcp.variant=vegas", option="--set", form="PATH=VALUE")
    return {path: toml.value(value) for path, value in found.items()}
