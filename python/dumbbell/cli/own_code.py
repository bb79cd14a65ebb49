"""What the commands for own variants and own queue disciplines share: the source, its parameters, the cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import click

from dumbbell.cli.settings import settings

__all__ = ["cases", "kind", "parameters_argument", "parameters_of", "seed", "source_argument"]

F = TypeVar("F", bound=Callable[..., Any])

source_argument = click.argument("source", metavar="SOURCE", help="FILE.py:CLASS, or a library written in Rust.")
parameters_argument = click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...", help="Its parameters.")


def cases(default: int) -> Callable[[F], F]:
    """Return the option ``--cases``."""
    return click.option(
        "--cases", type=click.IntRange(1, 1_000_000), default=default, show_default=True, metavar="N", help="Cases."
    )


def seed() -> Callable[[F], F]:
    """Return the option ``--seed``."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**63 - 1),
        default=1,
        show_default=True,
        metavar="N",
        help="Makes other cases.",
    )


def kind(source: str) -> Literal["python", "library"]:
    """Return the key with which a scenario gives this source."""
    return "python" if ":" in source else "library"


def parameters_of(given: tuple[str, ...]) -> dict[str, Any]:
    """Read ``NAME=VALUE``."""
    from dumbbell.scenario import toml

    return {name: toml.value(value) for name, value in settings(given, "limit=20").items()}
