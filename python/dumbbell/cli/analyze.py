"""``dumbbell analyze``: analyzes capture files."""

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

dumbbell analyze --pair sender.pcap receiver.pcap    (one-way delays, losses between)

dumbbell analyze trace.pcap --classify    (which congestion control?)

tcpdump -w - -c 10000 | dumbbell analyze - --where "dst_port = 443"
"""


def analyze(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="pcap or pcapng files, patterns, or - for stdin.", show_default=False, metavar="FILE..."),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            help="Rules of the labels: wireshark-4.4 (default), wireshark-4.0 or dumbbell.", show_default=False
        ),
    ] = None,
    flow: Annotated[
        list[int] | None, typer.Option(help="Only this TCP connection (may be repeated).", show_default=False)
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option(help="Only this address or network (may be repeated).", show_default=False)
    ] = None,
    port: Annotated[
        list[int] | None,
        typer.Option(help="Only this port (may be repeated).", show_default=False, min=0, max=65_535),
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
    tunnels: Annotated[bool, typer.Option("--tunnels", help="Decapsulate GRE, IP in IP and VXLAN.")] = False,
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
        bool, typer.Option("--compare", help="Analyze each file separately; print them side by side, with medians.")
    ] = False,
    classify: Annotated[
        bool,
        typer.Option("--classify", help="Estimate the congestion control of each long transfer, with the evidence."),
    ] = False,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help="Two captures of one path, the sender's first: match them packet by packet.",
            show_default=False,
            metavar="A B",
        ),
    ] = None,
    same_clock: Annotated[
        bool, typer.Option("--same-clock", help="With --pair: one clock stamped both, so delays are absolute.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Threads (default: one for each core).", show_default=False),
    ] = None,
) -> None:
    """Analyze capture files: connections, labels as in Wireshark, round trips, losses, series.

    Exit code 1 if a file is damaged or cut off: the results hold everything that could be read, and a message names
    the place of the damage.
    """
    from dumbbell.capture import Selection  # noqa: PLC0415
    from dumbbell.capture import analyze as analyze_files  # noqa: PLC0415
    from dumbbell.capture.capture import files_of  # noqa: PLC0415
    from dumbbell.capture.output import short_names  # noqa: PLC0415
    from dumbbell.exceptions import CaptureError  # noqa: PLC0415

    if pair is not None:
        _only_pair(files, rules, flow, host, port, where, begin, end, tunnels, compare, classify)
        from dumbbell.cli.analyze_pair import analyze_pair  # noqa: PLC0415

        interval_s = _seconds("--interval", interval)
        analyze_pair(
            pair, interval_s=interval_s, same_clock=same_clock, as_json=as_json, csv=csv, parquet=parquet, out=out
        )
        return
    if same_clock:
        raise CaptureError("--same-clock: only with --pair")
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
    names = files_of(files or [])
    captures = []
    for part in [[name] for name in names] if compare else [names]:
        with _progress(part) as moved:
            captures.append(analyze_files(part, progress=moved, **options))
    _show(captures, compare=compare, classify=classify, as_json=as_json)
    places = short_names(captures) if len(captures) > 1 else [""]
    for capture, place in zip(captures, places, strict=True):
        _keep(capture, place, csv, parquet, out)
    if compare:
        _keep_comparison(captures, csv, parquet, out)
    if any(capture.damage for capture in captures):
        raise typer.Exit(1)


def _only_pair(*others: object) -> None:
    """Refuse options that have no meaning for a pair."""
    from dumbbell.exceptions import CaptureError  # noqa: PLC0415

    names = ("FILE", "--rules", "--flow", "--host", "--port", "--where", "--from", "--to", "--tunnels", "--compare",
             "--classify")  # fmt: skip
    given = [name for name, value in zip(names, others, strict=True) if value]
    if given:
        raise CaptureError(f"--pair: can't be combined with {', '.join(given)}")


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
    """Show a progress bar of the bytes read, over all files."""
    sizes = [Path(f).stat().st_size if Path(f).is_file() else 0 for f in files]
    before = [sum(sizes[:n]) for n in range(len(sizes))]
    with output.progress("reading", unit="bytes") as moved:
        yield lambda file, done, _size: moved(before[file] + done, sum(sizes))


def _show(captures: list[Capture], *, compare: bool, classify: bool, as_json: bool) -> None:
    from dumbbell.capture.output import document, medians  # noqa: PLC0415

    if as_json:
        documents = [document(c) for c in captures]
        output.document(documents if compare else documents[0])
        return
    if compare or classify:
        for capture in captures:
            _warn(capture)
    if classify:
        for capture in captures:
            _print_classes(capture)
    if compare:
        output.print_frame(f"{len(captures)} captures side by side", medians(captures))
    if not (compare or classify):
        _print(captures[0])


def _print_classes(capture: Capture) -> None:
    """Print the likely congestion control of each transfer, with the evidence."""
    from dumbbell.capture.output import guesses  # noqa: PLC0415

    table = guesses(capture)
    if not table.height:
        typer.echo(f"{', '.join(capture.files)}: no transfer is long enough to classify its congestion control.")
        return
    output.print_frame(f"Congestion control, {', '.join(capture.files)}", table.drop("evidence"))
    for row in table.iter_rows(named=True):
        typer.echo(f"{row['connection']}: {row['evidence']}")


def _warn(capture: Capture) -> None:
    for damage in capture.damage:
        where = f"{damage['file']}, byte {damage['offset']}, after {damage['frames']} packets"
        output.note(f"damage: {where}: {damage['text']}")
    for warning in capture.warnings:
        output.note(f"warning: {warning['text']}")


def _print(capture: Capture) -> None:
    from dumbbell.capture.output import conversations, guesses, properties, summary  # noqa: PLC0415

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
    quic = capture.tables["quic"]
    if quic.height:
        columns = ["conversation", "version", "sni", "alpn", "original_cid", "handshake_rtt_ms"]
        output.print_frame("QUIC", quic.select(columns).head(10))
    found = guesses(capture)
    if found.height:
        found = found.filter(found["family"] != "unknown")
    if found.height:
        output.print_frame("Congestion control (--classify lists the evidence)", found.drop("evidence").head(10))


def _keep_comparison(captures: list[Capture], csv: Path | None, parquet: Path | None, out: Path | None) -> None:
    from dumbbell.capture.output import medians, write_frames  # noqa: PLC0415

    table = {"comparison": medians(captures)}
    if csv is not None:
        write_frames(table, csv, "csv")
    if parquet is not None:
        write_frames(table, parquet, "parquet")
    if out is not None:
        write_frames(table, out, "csv")
        output.note(f"side by side in {out / 'comparison.csv'}")


def _keep(capture: Capture, part: str, csv: Path | None, parquet: Path | None, out: Path | None) -> None:
    from dumbbell.capture.output import write_tables  # noqa: PLC0415

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
