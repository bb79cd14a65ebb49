"""One entry of a registry, shown with its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from dumbbell.cli import output
from dumbbell.registry import Parameter

__all__ = ["print_details"]


def print_details(name: str, title: str, facts: Mapping[str, object], params: Sequence[Parameter]) -> None:
    """Print name and title, the facts one by one, then a table of the parameters."""
    console = output.stdout(width=120)
    console.print(Text(name, style="bold").append(f": {title}", style="not bold"))
    grid = Table(box=None, show_header=False, pad_edge=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for key, value in facts.items():
        grid.add_row(key, Text(str(value)))
    console.print(grid)
    if not params:
        console.print("\nno parameters")
        return
    table = Table(title="\nParameters", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("name", "default", "takes", "description"):
        table.add_column(heading)
    for p in params:
        table.add_row(p.name, Text(p.default_shown), Text(p.kind), Text(p.doc))
    console.print(table)
