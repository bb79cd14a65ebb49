"""``dumbbell analyze compare``: analyzes captures one by one, and prints them side by side."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.capture.commands import options
from dumbbell.capture.commands.follow import following
from dumbbell.capture.commands.output import Places, leave, print_classes, progress, warn
from dumbbell.cli import front, output
from dumbbell.common.words import counted

if TYPE_CHECKING:
    from dumbbell.capture import Capture

__all__ = ["compare"]


@front.command("compare", "dumbbell analyze compare run-*.pcap")
@options.files_argument
@options.reading()
@options.classified
@options.selection()
@options.outputs(graphs=True)
def compare(
    files: tuple[str, ...],
    classify: bool,
    as_json: bool,
    out: Path | None,
    csv: Path | None,
    parquet: Path | None,
    xplot: Path | None,
    **given: Any,  # noqa: ANN401
) -> None:
    """Analyze each file separately, and print them side by side, with medians.

    The output for each file gets a folder of its own. The exit code is 1 if a file is damaged or truncated.
    """
    from dumbbell.capture.compared import medians, short_names
    from dumbbell.capture.output import document
    from dumbbell.capture.read import files_of

    places = Places(csv, parquet, out, xplot)
    names = files_of(list(files))
    captures = _analyze(names, options.analysis(**given))
    if as_json:
        output.parts([document(c) for c in captures], as_list=True)
    else:
        for capture in captures:
            warn(capture)
        for capture in captures if classify else ():
            print_classes(capture)
        output.print_frame(f"{counted(len(captures), 'capture')} side by side", medians(captures))
    for capture, part in zip(captures, short_names(captures) if len(captures) > 1 else [""], strict=True):
        places.keep(capture, part)
    _keep_comparison(captures, places)
    leave(damaged=any(capture.damage for capture in captures))


def _analyze(names: list[str], options: dict[str, Any]) -> list[Capture]:
    """Analyze each file on its own; stdin is followed."""
    if len(names) > 1 and "-" not in names:
        return _analyze_together(names, options)
    from dumbbell.capture import analyze as analyze_files

    captures = []
    for name in names:
        read = partial(analyze_files, [name], **options)
        if name == "-":
            with following([name]) as (state, live):
                captures.append(state.analyze(partial(read, progress=state.go_on, live=live)))
            continue
        with progress([name]) as moved:
            captures.append(read(progress=moved))
    return captures


def _analyze_together(names: list[str], options: dict[str, Any]) -> list[Capture]:
    """Analyze each file on its own: one thread for each, as many files at a time as there are threads."""
    from concurrent.futures import ThreadPoolExecutor

    from dumbbell.capture import analyze as analyze_files
    from dumbbell.common.processors import cores

    stopped = False
    with progress(names) as moved:

        def one(number: int, name: str) -> Capture:
            def progress(_file: int, done: int, size: int | None) -> bool:
                moved(number, done, size)
                return not stopped

            return analyze_files([name], progress=progress, **{**options, "threads": 1})

        pool = ThreadPoolExecutor(options["threads"] or cores())
        try:
            return list(pool.map(one, range(len(names)), names))
        except BaseException:
            stopped = True
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _keep_comparison(captures: list[Capture], places: Places) -> None:
    from dumbbell.capture.compared import medians
    from dumbbell.capture.files import write_frames

    table = {"comparison": medians(captures)}
    if places.csv is not None:
        write_frames(table, places.csv, "csv")
    if places.parquet is not None:
        write_frames(table, places.parquet, "parquet")
    if places.out is not None:
        write_frames(table, places.out, "csv")
        output.note(f"side by side in {places.out / 'comparison.csv'}")
