"""Code of a scenario on the command line: it is named before it runs, and ``--no-code`` refuses it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.scenario import Scenario

__all__ = ["announced", "option", "refuse_commands"]

F = TypeVar("F", bound=Callable[..., Any])


def option() -> Callable[[F], F]:
    """Return the option ``--no-code`` of commands that may run code of a scenario."""
    text = (
        "Refuse scenarios that run code of their author's: own variants, disciplines and rules, applications of kind "
        "command, args of iperf3."
    )
    return click.option("--no-code", is_flag=True, help=text)


def announced(*, refuse: bool = False) -> AbstractContextManager[None]:
    """Name code within the block before it is loaded; DumbbellError instead if it is refused."""
    from dumbbell.scenario import gate

    return gate.guarded(_Gate(refuse=refuse))


class _Gate:
    """Prints the code that a scenario runs before it is loaded, or refuses it."""

    def __init__(self, *, refuse: bool) -> None:
        self._refuse = refuse
        self._shown: set[str] = set()

    def __call__(self, what: str) -> None:
        from dumbbell.exceptions import DumbbellError

        if self._refuse:
            raise DumbbellError(f"--no-code: the scenario runs {what}")
        if what not in self._shown:
            self._shown.add(what)
            output.note(f"the scenario runs {what}")


def refuse_commands(scenario: Scenario) -> None:
    """Refuse programs of the author's choice."""
    from dumbbell.exceptions import DumbbellError
    from dumbbell.scenario.flow.programs import own_commands

    for cell in scenario.cells:
        for place, command in own_commands(cell.scenario).items():
            raise DumbbellError(f"--no-code: {place} starts a program: {command}")
