"""``dumbbell kernel``: the virtual-time kernel of the back end ``uml``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click

from dumbbell.cli import backend_options, code, front, output, scenario_file

__all__ = ["kernel"]


@click.group("kernel", cls=front.Group)
def kernel() -> None:
    """Build kernels for virtual time (`run --backend uml`), and print the steps of a run."""


@kernel.command(
    "build",
    examples=(
        "dumbbell kernel build",
        "dumbbell kernel build --source linux-6.12.63.tar.xz",
        "dumbbell kernel build --cache /var/cache/dumbbell    # as root: for every user",
    ),
)
@click.option(
    "--source",
    type=front.file(),
    metavar="FILE",
    help="Archive of the source (kernel.org's or Debian's). Default: Debian's package, by apt.",
)
@click.option(
    "--cache",
    type=front.directory(),
    metavar="DIR",
    help="Keep the kernel here. Default: the cache directory of the user.",
)
@front.jobs("Compilers")
@click.option("--again", is_flag=True, help="Build it again even if it exists.")
def build(source: Path | None, cache: Path | None, jobs: int | None, again: bool) -> None:
    """Build the kernel: once, in a few minutes, as an ordinary user."""
    from dumbbell.kernel import build as build_kernel

    began = time.monotonic()
    with _watching() as watch:
        built = build_kernel(given=source, cache=cache, jobs=jobs, again=again, watch=watch)
    took = time.monotonic() - began
    output.note(
        f"Linux {built.version}, ready after {took:.0f} s" if took > 1 else f"Linux {built.version} is already built"
    )
    click.echo(str(built.path))


@kernel.command("list")
@front.json()
def list_(as_json: bool) -> None:
    """List the kernels that are built."""
    from dumbbell.kernel import installed

    rows = [(k.version, k.key, str(k.path)) for k in installed()]
    if as_json:
        output.document([dict(zip(("version", "key", "path"), row, strict=True)) for row in rows])
    else:
        output.print_table("Kernels", ["version", "configuration and edits", "file"], rows)


@kernel.command(
    "plan",
    examples=(
        "dumbbell kernel plan first.toml",
        "dumbbell kernel plan first.toml --backend uml    # as commands of ip, tc, sysctl and ethtool",
    ),
)
@scenario_file.file_argument
@scenario_file.changes()
@click.option(
    "--backend",
    type=click.Choice(["kernel", "uml"]),
    default="kernel",
    show_default=True,
    help="The back end, as with `dumbbell run`.",
)
@backend_options.options()
@code.option()
def plan(
    file: Path, changes: tuple[str, ...], backend: Literal["kernel", "uml"], options: tuple[str, ...], no_code: bool
) -> None:
    """Print the steps of a run on a kernel, for the first cell of a scenario, and run nothing."""
    from dumbbell.backends import Stepwise
    from dumbbell.backends import backend as find_backend
    from dumbbell.results.runs.record import jobs_of
    from dumbbell.scenario import Scenario

    with code.announced(refuse=no_code):
        scenario = Scenario.load(file, scenario_file.changes_of(changes))
    if no_code:
        code.refuse_commands(scenario)
    # Nothing is started, so that programs need no consent.
    chosen = find_backend(backend, {"allow_programs": "on", **backend_options.options_of(backend, options)})
    assert isinstance(chosen, Stepwise)
    for step in chosen.steps(jobs_of(scenario)[0]):
        click.echo(step)


@contextmanager
def _watching() -> Iterator[Callable[[str, int, int], None]]:
    """Show the progress: a bar on a terminal, else a line for each step."""
    if sys.stderr.isatty():
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

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
