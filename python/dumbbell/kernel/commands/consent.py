"""The question whether a scenario may start programs of its own choice."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.scenario import Scenario

__all__ = ["consents"]


def consents(scenario: Scenario) -> bool:
    """Ask at the terminal whether the scenario may start programs of its own choice; without one, False."""
    from dumbbell.scenario.flow.programs import own_commands

    asked = {place: command for cell in scenario.cells for place, command in own_commands(cell.scenario).items()}
    if not asked or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    output.note("the scenario starts programs on this host, isolated and without rights:")
    for place, command in asked.items():
        output.note(f"  {place}: {command}")
    return click.confirm("Start them?", err=True)
