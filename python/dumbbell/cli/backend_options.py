"""The options of commands that have a back end: ``--backend``, ``--option``, and those that satellites register."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dumbbell.cli import front
from dumbbell.cli.settings import settings
from dumbbell.satellites import Flag, load, satellites

if TYPE_CHECKING:
    from dumbbell.scenario import Scenario

__all__ = ["KERNEL", "backend", "flags", "names", "options", "options_of"]

KERNEL = "Real kernel"
"""Heading of the options that only kernels have."""
GIVEN = "dumbbell.cli.backend_options"
"""Key of the options that satellites have registered, in the context of a command."""
F = TypeVar("F", bound=Callable[..., Any])


def backend() -> Callable[[F], F]:
    """Return the option ``--backend``."""
    texts = _texts()
    return click.option(
        "--backend",
        metavar="NAME",
        default="sim",
        show_default=True,
        shell_complete=front.names(names),
        help=" ".join(["The back end.", *(f"{name}: {text}." for name, text in texts.items())]),
    )


def names() -> list[str]:
    """Return the names of the back ends, without importing any."""
    return list(_texts())


def _texts() -> dict[str, str]:
    return {"sim": "the simulator", **{k: v for one in satellites().values() for k, v in one.backend_texts.items()}}


def options() -> Callable[[F], F]:
    """Return the option ``--option``."""
    text = "An option of the back end, such as sample_ms=1, calibration=mark, emulation=tc, offloads=on. Repeatable."
    return front.option("--option", "-o", "options", multiple=True, metavar="NAME=VALUE", help=text, heading=KERNEL)


def flags(*names: str) -> Callable[[F], F]:
    """Return options of back ends that satellites have registered: those of these names, or all."""
    known = _registered()
    return front.joined(*(_option(name, known[name]) for name in names or known))


def _registered() -> Mapping[str, Flag]:
    return {name: flag for one in satellites().values() for name, flag in one.flags.items()}


def _option(name: str, flag: Flag) -> Callable[[F], F]:
    """Return the option that stands for a back end's option; its value is kept in the context."""

    def keep(ctx: click.Context, _param: click.Parameter, value: str | bool | None) -> None:
        if value:
            ctx.meta.setdefault(GIVEN, {})[name] = "on" if value is True else value

    kind: dict[str, Any] = (
        {"is_flag": True} if flag.metavar is None else {"type": click.Path(), "metavar": flag.metavar}
    )
    return front.option(_spelled(name), help=flag.text, heading=KERNEL, expose_value=False, callback=keep, **kind)


def _spelled(name: str) -> str:
    return "--" + name.replace("_", "-")


def options_of(backend: str, given: tuple[str, ...], scenario: Scenario | None = None) -> dict[str, Any]:
    """Return the options of a back end that the command's options give.

    Parameters
    ----------
    given : tuple of str
        The values of ``--option``.
    scenario : Scenario, optional
        What is run: satellites may ask about it.
    """
    from dumbbell.exceptions import DumbbellError

    found = _read(given)
    wanted: dict[str, str] = click.get_current_context().meta.get(GIVEN, {})
    for name, flag in _registered().items():
        if name in wanted and backend not in flag.backends:
            allowed = " or ".join(flag.backends)
            raise DumbbellError(f"{_spelled(name)}: only with --backend {allowed}: '{backend}' {flag.elsewhere}")
        if name in wanted:
            found[name] = wanted[name]
        elif backend in flag.backends and flag.ask is not None and scenario is not None and name not in found:
            found |= {name: "on"} if load(flag.ask)(scenario) else {}
    return found


def _read(given: tuple[str, ...]) -> dict[str, Any]:
    """Read the values of ``--option``."""
    from dumbbell.scenario import toml

    found = settings(given, "sample_ms=1", option="--option")
    return {name: toml.value(value) for name, value in found.items()}
