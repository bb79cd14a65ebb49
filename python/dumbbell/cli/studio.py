"""``dumbbell studio``: writes the simulator as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from dumbbell.cli import front, output

__all__ = ["studio"]


@front.command("studio", "dumbbell studio", "dumbbell studio --out lecture.html")
@click.option(
    "--out", "path", type=front.file(), default=Path("dumbbell-studio.html"), show_default=True, metavar="FILE",
    help="The file that is written.",
)  # fmt: skip
@click.option("--open", "opened", is_flag=True, help="Open it in the browser too.")
def studio(path: Path, opened: bool) -> None:
    """Write the simulator as one HTML page, for browsers.

    The page needs no server, no network and no installation. It has sliders for the path and the flows, plots,
    figures, explanations of events, and examples. "Scenario file" saves the settings for `dumbbell run`, which has
    the same results.
    """
    from dumbbell.studio import page  # noqa: PLC0415

    path.write_text(page(), encoding="utf-8")
    output.note(f"{path}: open it in a browser")
    if opened:
        import webbrowser  # noqa: PLC0415

        webbrowser.open(path.resolve().as_uri())
