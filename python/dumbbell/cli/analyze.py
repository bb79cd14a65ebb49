"""``dumbbell analyze``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable

    from dumbbell.capture import Capture

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="analyze", epilog=EXAMPLES)(analyze)


EXAMPLES = """
[bold]Examples[/bold]

dumbbell analyze trace.pcapng

dumbbell analyze trace.pcap.gz --rules wireshark-4.0 --flow 3 --out results/trace    (plots and report)

dumbbell analyze trace.pcap --json | jq '.flows\\[] | select(.retransmission > 0) | .src'

dumbbell analyze run-*.pcap --compare

tcpdump -w - -c 10000 | dumbbell analyze - --where "dst_port = 443"
"""


def analyze(
    files: Annotated[
        list[str],
        typer.Argument(help="pcap or pcapng files, patterns, or - for stdin.", show_default=False, metavar="FILE..."),
    ],
    rules: Annotated[
        str | None,
        typer.Option(help="Whose labels: wireshark-4.4 (default), wireshark-4.0 or dumbbell.", show_default=False),
    ] = None,
    flow: Annotated[
        list[int] | None, typer.Option(help="Only this TCP connection (may be repeated).", show_default=False)
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option(help="Only this address or network (may be repeated).", show_default=False)
    ] = None,
    port: Annotated[
        list[int] | None, typer.Option(help="Only this port (may be repeated).", show_default=False)
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            help="Only connections for which this holds: an SQL condition over the table of flows, such as "
            "'goodput_bps > 1e6 AND retransmission > 0'.",
            show_default=False,
        ),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option("--from", help="From this time after the first packet, such as '10 s'.", show_default=False),
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="Up to this time.", show_default=False)] = None,
    interval: Annotated[
        str | None, typer.Option(help="Intervals of series, such as '100 ms' (default: chosen).", show_default=False)
    ] = None,
    tunnels: Annotated[bool, typer.Option("--tunnels", help="Look into GRE, IP in IP and VXLAN.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")] = False,
    csv: Annotated[
        Path | None,
        typer.Option(help="Write every table, packets too, as CSV into this directory.", show_default=False),
    ] = None,
    parquet: Annotated[Path | None, typer.Option(help="Likewise as Parquet.", show_default=False)] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write tables, plots and the report into this directory.", show_default=False)
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Put the files side by side, each for itself, with medians.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Threads (default: one for each core).", show_default=False),
    ] = None,
) -> None:
    """Analyse capture files: connections, labels as in Wireshark, round trips, losses, series.

    Exit code 1 if a file is damaged or cut off: what could be read is in the results, and where it ended is told.
    """
    from dumbbell.capture import Selection  # noqa: PLC0415
    from dumbbell.capture import analyze as analyse  # noqa: PLC0415
    from dumbbell.capture.capture import files_of  # noqa: PLC0415

    select = Selection(flow or (), host or (), port or (), where)
    options: dict[str, Any] = {
        "rules": rules,
        "interval_s": _seconds("--interval", interval),
        "enter_tunnels": tunnels,
        "from_s": _seconds("--from", begin),
        "to_s": _seconds("--to", end),
        "select": select,
        "threads": jobs,
    }
    names = files_of(files)
    captures = []
    for part in [[name] for name in names] if compare else [names]:
        with _progress(part) as moved:
            captures.append(analyse(part, progress=moved, **options))
    _show(captures, compare=compare, as_json=as_json)
    for capture in captures:
        _keep(capture, csv, parquet, out, several=len(captures) > 1)
    if any(capture.damage for capture in captures):
        raise typer.Exit(1)


def _seconds(option: str, text: str | None) -> float | None:
    from dumbbell.exceptions import CaptureError  # noqa: PLC0415
    from dumbbell.scenario.units import Duration  # noqa: PLC0415

    if text is None:
        return None
    try:
        return Duration(text).seconds
    except ValueError as e:
        raise CaptureError(f"{option}: {e}") from None


@contextmanager
def _progress(files: list[str]) -> Iterator[Callable[[int, int, int | None], None]]:
    """Show a bar of the bytes read, of all files together."""
    sizes = [Path(f).stat().st_size if Path(f).is_file() else 0 for f in files]
    before = [sum(sizes[:n]) for n in range(len(sizes))]
    with output.progress("reading", unit="bytes") as moved:
        yield lambda file, done, _size: moved(before[file] + done, sum(sizes))


def _show(captures: list[Capture], *, compare: bool, as_json: bool) -> None:
    from dumbbell.capture.words import document, medians  # noqa: PLC0415

    if as_json:
        documents = [document(c) for c in captures]
        output.document(documents if compare else documents[0])
        return
    if compare:
        for capture in captures:
            _warn(capture)
        output.print_frame(f"{len(captures)} captures side by side", medians(captures))
        return
    _print(captures[0])


def _warn(capture: Capture) -> None:
    for damage in capture.damage:
        where = f"{damage['file']}, byte {damage['offset']}, after {damage['frames']} packets"
        output.note(f"damage: {where}: {damage['text']}")
    for warning in capture.warnings:
        output.note(f"warning: {warning['text']}")


def _print(capture: Capture) -> None:
    from dumbbell.capture.words import conversations, properties, summary  # noqa: PLC0415

    _warn(capture)
    for sentence in summary(capture):
        typer.echo(sentence)
    typer.echo("")
    width = max(len(name) for name, _ in properties(capture))
    for name, value in properties(capture):
        typer.echo(f"{name:<{width}}  {value}")
    typer.echo("")
    typer.echo(capture.lengths_text.strip("\n"))
    typer.echo("")
    table = conversations(capture)
    if table.height:
        output.print_frame(f"Top talkers, labels by {capture.rules}", table)
    for name in ("quic", "classify"):
        more = capture.tables.get(name)
        if more is not None and more.height:
            output.print_frame(name, more.head(20))


def _keep(capture: Capture, csv: Path | None, parquet: Path | None, out: Path | None, *, several: bool) -> None:
    from dumbbell.capture.words import write_tables  # noqa: PLC0415

    part = Path(capture.files[0]).name if several else ""
    if csv is not None:
        write_tables(capture, csv / part, "csv")
        output.note(f"tables in {csv / part}")
    if parquet is not None:
        write_tables(capture, parquet / part, "parquet")
        output.note(f"tables in {parquet / part}")
    if out is not None:
        from dumbbell.report import write_capture_report  # noqa: PLC0415

        write_tables(capture, out / part / "data", "parquet")
        with output.progress("figures") as moved:
            page = write_capture_report(capture, out / part, shlex.join(["dumbbell", *sys.argv[1:]]), progress=moved)
        output.note(f"report {page}")
