"""``dumbbell check``: what a scenario will run, and its warnings, before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dumbbell.cli import backend_options, code, front, output, scenario_file

if TYPE_CHECKING:
    from dumbbell.cli.scenario_summary import Checked

__all__ = ["check"]

LIBRARIES = (".so", ".dylib", ".dll")
MOST_ROWS = 12
"""Flows that the text names."""


def _refuse_code(_ctx: click.Context, _param: click.Parameter, file: Path) -> Path:
    """Name the commands for own code, if that was given."""
    if ".py" in (file.suffix, file.suffix.partition(":")[0]) or file.suffix in LIBRARIES:
        raise click.UsageError(
            f"{file}: not a scenario: `dumbbell discipline check {file}` tries a queue discipline, `dumbbell variant "
            f"check {file}` a variant"
        )
    return file


@front.command(
    "check",
    "dumbbell check first.toml",
    "dumbbell check first.toml --set flows.a.variant=prague --set repetitions=10",
    "dumbbell check first.toml --backend uml",
    "dumbbell check first.toml --json | jq '.warnings[].text'",
    removed=dict.fromkeys(("--cases", "--seed"), "`dumbbell discipline check SOURCE`, which tries a queue discipline"),
)
@click.argument("file", type=front.file(), metavar="FILE", callback=_refuse_code, help="The scenario, a TOML file.")
@scenario_file.changes()
@click.option(
    "--backend",
    metavar="NAME",
    shell_complete=front.names(backend_options.names),
    help="Check for this back end, and refuse what it can't run. Default: all, with the reasons against each.",
)
@code.option()
@front.json("Print one JSON document instead of text.")
@backend_options.options()
@backend_options.flags()
def check(
    file: Path, changes: tuple[str, ...], backend: str | None, no_code: bool, as_json: bool, options: tuple[str, ...]
) -> None:
    """Check a scenario: what will run, how long it takes, where it can run, and its warnings.

    Every cell of the sweep is checked. For the time, up to 16 cells are simulated in part, and nothing is kept. Own
    variants, disciplines and rules are only loaded, to check their parameters.
    """
    from dumbbell.cli.scenario_summary import backends, checked
    from dumbbell.scenario import Scenario

    with output.reserved(as_json), code.announced(refuse=no_code):
        scenario = Scenario.load(file, scenario_file.changes_of(changes))
        if no_code:
            code.refuse_commands(scenario)
        given = backend_options.options_of(backend or "sim", options)
        found = checked(scenario, str(file), backends(scenario, backend, given))
    if as_json:
        output.document(found.document)
    else:
        _print(found)


def _print(found: Checked) -> None:
    facts = dict(found.facts)
    width = max(map(len, facts)) + 2
    for name, lines in facts.items():
        for number, text in enumerate(lines[:MOST_ROWS]):
            output.line(f"{name if number == 0 else '':{width}}{text}")
        if len(lines) > MOST_ROWS:
            output.line(f"{'':{width}}and {len(lines) - MOST_ROWS} more")
    for warned in found.warnings:
        output.line(f"warning: {warned}")
    for text in found.notes:
        output.line(f"note: {text}")
