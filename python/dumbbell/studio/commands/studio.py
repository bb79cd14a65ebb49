"""``dumbbell studio``: writes the simulator as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from dumbbell.cli import front, output, scenario_file

__all__ = ["studio"]


@front.command(
    "studio",
    "dumbbell studio",
    "dumbbell studio --out lecture.html",
    "dumbbell studio first.toml --out first.html    # a page with this scenario",
    "dumbbell studio first.toml --set flows.a.variant=bbr3 --open",
)
@click.argument(
    "file",
    required=False,
    type=front.file(),
    metavar="[FILE]",
    help="A scenario that the page shows, of any topology. Default: a dumbbell with sliders.",
)
@scenario_file.changes()
@click.option(
    "--out", "path", type=front.file(), default=Path("dumbbell-studio.html"), show_default=True, metavar="FILE",
    help="The file that is written.",
)  # fmt: skip
@click.option("--open", "opened", is_flag=True, help="Open it in the browser too.")
def studio(file: Path | None, changes: tuple[str, ...], path: Path, opened: bool) -> None:
    """Write the simulator as one HTML page, for browsers.

    The page needs no server, no network and no installation. It has sliders for the path and the flows, plots,
    figures, explanations of events, and examples. "Scenario file" saves the settings for `dumbbell run`, which has
    the same results. With a FILE the page begins with the cells and repetitions of that scenario instead. The page
    also opens the series of results directories.
    """
    from dumbbell.exceptions import DumbbellError
    from dumbbell.studio import given, page

    if file is None and changes:
        raise DumbbellError("--set: changes a scenario: give its FILE too")
    shown = None
    if file is not None:
        from dumbbell.scenario import Scenario

        shown = given(Scenario.load(file, scenario_file.changes_of(changes)))
    path.write_text(page(shown), encoding="utf-8")
    output.note(f"{path}: open it in a browser")
    if opened:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
