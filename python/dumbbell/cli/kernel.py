"""``dumbbell kernel``: the virtual-time kernel of the back end ``uml``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli import output

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    kernel = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    kernel.command(name="build", epilog=EXAMPLES)(build)
    kernel.command(name="list")(list_)
    app.add_typer(kernel, name="kernel", help="The real Linux kernel in virtual time, for `run --backend uml`.")


EXAMPLES = """
[bold]Examples[/bold]

dumbbell kernel build

dumbbell kernel build --source linux-6.12.63.tar.xz

dumbbell kernel build --cache /var/cache/dumbbell    (as root: for every user)
"""


def build(
    source: Annotated[
        Path | None,
        typer.Option(
            help="Archive of the source (kernel.org's or Debian's). Default: Debian's package, by apt.",
            show_default=False,
        ),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="Keep it here. Default: the user's cache directory.", show_default=False)
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Compilers at a time (default: one a core).", show_default=False),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Build it again even if it exists.")] = False,
) -> None:
    """Build the kernel: once, in a few minutes, as an ordinary user."""
    from dumbbell.kernel import build as build_kernel  # noqa: PLC0415

    began = time.monotonic()
    with _watching() as watch:
        kernel = build_kernel(given=source, cache=cache, jobs=jobs, again=again, watch=watch)
    took = time.monotonic() - began
    output.note(
        f"Linux {kernel.version}, ready after {took:.0f} s"
        if took > 1
        else f"Linux {kernel.version} is already built"
    )
    typer.echo(str(kernel.path))


def list_(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the kernels that are built."""
    from dumbbell.kernel import installed  # noqa: PLC0415

    rows = [(k.version, k.key, str(k.path)) for k in installed()]
    if as_json:
        output.document([dict(zip(("version", "key", "path"), row, strict=True)) for row in rows])
    else:
        output.print_table("Kernels", ["version", "configuration and edits", "file"], rows)


@contextmanager
def _watching() -> Iterator[Callable[[str, int, int], None]]:
    """Show the progress: a bar on a terminal, else a line for each step."""
    if sys.stderr.isatty():
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
        with Progress(*columns, TimeElapsedColumn(), console=output.stderr(), transient=True) as bar:
            task = bar.add_task("source", total=None)
            yield lambda what, done, all_: bar.update(task, description=what, completed=done, total=all_ or None)
        return
    printed: set[str] = set()

    def line(what: str, done: int, all_: int) -> None:
        quarter = 4 * done // all_ if all_ else 0
        text = f"{what} {25 * quarter} %" if all_ else what
        if text not in printed:
            printed.add(text)
            output.note(text)

    yield line
