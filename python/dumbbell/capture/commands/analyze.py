"""``dumbbell analyze``: analyzes capture files."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dumbbell.capture.commands.follow import following, stopping
from dumbbell.cli import front, output
from dumbbell.common.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from dumbbell.capture import Capture

__all__ = ["analyze"]


@front.command(
    "analyze",
    "dumbbell analyze trace.pcapng",
    "dumbbell analyze trace.pcap.gz --rules wireshark-4.0 --flow 1 --out results/trace",
    "dumbbell analyze trace.pcap --json | jq '.flows[] | select(.retransmission > 0) | .src'",
    "dumbbell analyze run-*.pcap --compare",
    "dumbbell analyze --pair sender.pcap receiver.pcap    # one-way delays and losses between the two",
    "dumbbell analyze trace.pcap --classify               # which congestion control?",
    'tcpdump -w - -c 10000 | dumbbell analyze - --where "dst_port = 443"',
)
@click.argument(
    "files",
    nargs=-1,
    type=click.Path(),
    metavar="[FILE]...",
    help="Files in pcap or pcapng format, also compressed; patterns; or - for stdin.",
)
@click.option(
    "--rules", metavar="NAME", help="Rules of the labels: wireshark-4.4 (default), wireshark-4.0 or dumbbell."
)
@click.option("--flow", multiple=True, type=int, metavar="N", help="Only this TCP connection. Repeatable.")
@click.option("--host", multiple=True, metavar="ADDRESS", help="Only this address or network. Repeatable.")
@click.option(
    "--port", multiple=True, type=click.IntRange(0, 65_535), metavar="N", help="Only this port. Repeatable."
)
@click.option(
    "--where",
    metavar="CONDITION",
    help="Only connections that meet this condition: SQL over the table of flows, such as "
    "'goodput_bps > 1e6 AND retransmission > 0'.",
)
@click.option("--from", "begin", metavar="TIME", help="From this time after the first packet, such as '10 s'.")
@click.option("--to", "end", metavar="TIME", help="Up to this time.")
@click.option(
    "--interval", metavar="TIME", help="Length of the intervals of series, such as '100 ms'. Default: chosen."
)
@click.option("--no-tunnels", is_flag=True, help="Read the outer headers of tunnels only.")
@front.tables()
@front.json()
@click.option(
    "--csv", type=front.directory(), metavar="DIR", help="Write every table, packets too, as CSV into this directory."
)
@click.option("--parquet", type=front.directory(), metavar="DIR", help="The same as Parquet.")
@click.option(
    "--out",
    type=front.directory(),
    metavar="DIR",
    help="Write tables, figures and the report into this directory.",
)
@click.option("--xplot", type=front.directory(), metavar="DIR", help="Write time-sequence graphs for xplot into it.")
@click.option(
    "--conn-log", is_flag=True, help="Print one line of JSON for each connection as it ends, and no report."
)
@click.option(
    "--compare", is_flag=True, help="Analyze each file separately, and print them side by side, with medians."
)
@click.option(
    "--classify",
    is_flag=True,
    help="Estimate the congestion control of each long transfer, with the evidence.",
)
@click.option(
    "--pair",
    nargs=2,
    type=click.Path(),
    metavar="A B",
    help="Two captures of one path, the sender's first: match them packet by packet.",
)
@click.option("--same-clock", is_flag=True, help="With --pair: one clock stamped both files, so delays are absolute.")
@front.jobs("Threads")
def analyze(
    files: tuple[str, ...],
    rules: str | None,
    flow: tuple[int, ...],
    host: tuple[str, ...],
    port: tuple[int, ...],
    where: str | None,
    begin: str | None,
    end: str | None,
    interval: str | None,
    no_tunnels: bool,
    as_json: bool,
    csv: Path | None,
    parquet: Path | None,
    out: Path | None,
    xplot: Path | None,
    conn_log: bool,
    compare: bool,
    classify: bool,
    pair: tuple[str, str] | None,
    same_clock: bool,
    jobs: int | None,
) -> None:
    """Analyze capture files: connections, labels as in Wireshark, RTTs, losses, series.

    From stdin (`tcpdump -w - | dumbbell analyze -`) the flows of each second are printed on stderr while the capture
    is written, and the report at the end or after Ctrl-C.

    The exit code is 1 if a file is damaged or truncated, or if reading fails. The results then contain everything
    that could be read, and a message names the place of the damage.
    """
    from dumbbell.capture import Selection
    from dumbbell.capture import analyze as analyze_files
    from dumbbell.capture.capture import files_of
    from dumbbell.common.extras import require
    from dumbbell.exceptions import CaptureError

    if pair is not None:
        _only_pair(files, rules, flow, host, port, where, begin, end, no_tunnels, compare, classify)
        from dumbbell.capture.commands.analyze_pair import analyze_pair

        interval_s = _seconds("--interval", interval)
        analyze_pair(
            pair, interval_s=interval_s, same_clock=same_clock, as_json=as_json, csv=csv, parquet=parquet, out=out
        )
        return
    if same_clock:
        raise CaptureError("--same-clock: only with --pair")
    if out is not None:
        require("jinja2")
    select = Selection(flow, host, port, where)
    options: dict[str, Any] = {
        "rules": rules,
        "interval_s": _seconds("--interval", interval),
        "enter_tunnels": not no_tunnels,
        "from_s": _seconds("--from", begin),
        "to_s": _seconds("--to", end),
        "select": select,
        "threads": jobs,
    }
    names = files_of(list(files))
    if conn_log:
        _log(names, options, as_json=as_json or compare or classify or bool(select))
        return
    parts = [[name] for name in names] if compare else [names]
    captures = _analyze_together(names, options) if len(parts) > 1 and "-" not in names else []
    for part in [] if captures else parts:
        if "-" in part:
            with following(part) as (state, live):
                read = partial(analyze_files, part, progress=state.go_on, live=live, **options)
                captures.append(state.analyze(read))
            continue
        with _progress(part) as moved:
            captures.append(analyze_files(part, progress=moved, **options))
    _show(captures, compare=compare, classify=classify, as_json=as_json)
    places = [""]
    if len(captures) > 1:
        from dumbbell.capture.compared import short_names

        places = short_names(captures)
    for capture, place in zip(captures, places, strict=True):
        _keep(capture, place, csv, parquet, out)
        if xplot is not None:
            from dumbbell.capture.xplot import write_xplot

            output.note(f"{counted(len(write_xplot(capture, xplot / place)), 'graph')} in {xplot / place}")
    if compare:
        _keep_comparison(captures, csv, parquet, out)
    if any(capture.damage for capture in captures):
        raise click.exceptions.Exit(1)


def _log(names: list[str], options: dict[str, Any], *, as_json: bool) -> None:
    """Print the connection log while the files are read."""
    from dumbbell.capture import analyze as analyze_files
    from dumbbell.exceptions import CaptureError

    if as_json:
        raise CaptureError(
            "--conn-log: can't be combined with --json, --compare, --classify, --flow, --host, --port or --where"
        )
    stream = sys.stdout.buffer

    def log(lines: bytes) -> None:
        stream.write(lines + b"\n")
        stream.flush()

    with stopping(names) as state:
        capture = state.analyze(partial(analyze_files, names, log=log, progress=state.go_on, **options))
    for damage in capture.damage:
        output.note(f"damage: {damage['file']}, byte {damage['offset']}: {damage['text']}")
    if capture.damage:
        raise click.exceptions.Exit(1)


def _only_pair(*others: object) -> None:
    """Refuse options that have no meaning for a pair."""
    from dumbbell.exceptions import CaptureError

    names = ("FILE", "--rules", "--flow", "--host", "--port", "--where", "--from", "--to", "--no-tunnels",
             "--compare", "--classify")  # fmt: skip
    given = [name for name, value in zip(names, others, strict=True) if value]
    if given:
        raise CaptureError(f"--pair: can't be combined with {', '.join(given)}")


def _seconds(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    from dumbbell.exceptions import CaptureError
    from dumbbell.scenario.units import Duration

    try:
        return Duration(text).seconds
    except ValueError as e:
        raise CaptureError(f"{option}: {e}") from None


@contextmanager
def _progress(files: list[str]) -> Iterator[Callable[[int, int, int | None], None]]:
    """Show a progress bar of the bytes read, over all files."""
    whole = sum(Path(f).stat().st_size if Path(f).is_file() else 0 for f in files)
    read = [0] * len(files)
    with output.progress("reading", unit="bytes") as moved:

        def show(file: int, done: int, _size: int | None) -> None:
            read[file] = done
            moved(sum(read), whole)

        yield show


def _analyze_together(names: list[str], options: dict[str, Any]) -> list[Capture]:
    """Analyze each file on its own: one thread for each, as many files at a time as there are threads."""
    from concurrent.futures import ThreadPoolExecutor

    from dumbbell.capture import analyze as analyze_files
    from dumbbell.common.processors import cores

    stopped = False
    with _progress(names) as moved:

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


def _show(captures: list[Capture], *, compare: bool, classify: bool, as_json: bool) -> None:
    from dumbbell.capture.output import document

    if as_json:
        output.parts([document(c) for c in captures], as_list=compare)
        return
    if compare or classify:
        for capture in captures:
            _warn(capture)
    if classify:
        for capture in captures:
            _print_classes(capture)
    if compare:
        from dumbbell.capture.compared import medians

        output.print_frame(f"{counted(len(captures), 'capture')} side by side", medians(captures))
    if not (compare or classify):
        _print(captures[0])


def _print_classes(capture: Capture) -> None:
    """Print the likely congestion control of each transfer, with the evidence."""
    from dumbbell.capture.output import guesses

    table = guesses(capture)
    if not table:
        output.line(f"{', '.join(capture.files)}: no transfer is long enough to classify its congestion control.")
        return
    output.print_rows(f"Congestion control, {', '.join(capture.files)}", _without(table, "evidence"))
    for row in table:
        output.line(f"{row['connection']}: {row['evidence']}")


def _warn(capture: Capture) -> None:
    for damage in capture.damage:
        where = f"{damage['file']}, byte {damage['offset']}, after {counted(damage['frames'], 'packet')}"
        output.note(f"damage: {where}: {damage['text']}")
    for warning in capture.warnings:
        output.note(f"warning: {warning['text']}")


def _print(capture: Capture) -> None:
    from dumbbell.capture.output import conversations, datagrams, guesses, properties, summary

    _warn(capture)
    for sentence in summary(capture):
        output.line(sentence)
    output.line("")
    width = max(len(name) for name, _ in properties(capture))
    for name, value in properties(capture):
        output.line(f"{name:<{width}}  {value}")
    output.line("")
    output.line(capture.lengths_text.strip("\n"))
    output.line("")
    output.print_rows(f"Top talkers, labels by {capture.rules}", conversations(capture))
    output.print_rows("UDP conversations", datagrams(capture))
    for name, title in (("ip", "IP conversations"), ("endpoints", "Endpoints")):
        if not capture.chosen:
            output.print_rows(title, _without(capture.tables.records(name, most=10), "start_ns", "end_ns"))
    columns = ["conversation", "version", "sni", "alpn", "original_cid", "handshake_rtt_ms"]
    quic = capture.tables.records("quic", most=10)
    output.print_rows("QUIC", [{name: row[name] for name in columns} for row in quic])
    found = [row for row in guesses(capture) if row["family"] != "unknown"]
    output.print_rows("Congestion control (--classify lists the evidence)", _without(found[:10], "evidence"))


def _without(rows: list[dict[str, Any]], *columns: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in columns} for row in rows]


def _keep_comparison(captures: list[Capture], csv: Path | None, parquet: Path | None, out: Path | None) -> None:
    from dumbbell.capture.compared import medians
    from dumbbell.capture.files import write_frames

    table = {"comparison": medians(captures)}
    if csv is not None:
        write_frames(table, csv, "csv")
    if parquet is not None:
        write_frames(table, parquet, "parquet")
    if out is not None:
        write_frames(table, out, "csv")
        output.note(f"side by side in {out / 'comparison.csv'}")


def _keep(capture: Capture, part: str, csv: Path | None, parquet: Path | None, out: Path | None) -> None:
    if csv is None and parquet is None and out is None:
        return
    from dumbbell.capture.files import write_tables

    if csv is not None:
        write_tables(capture, csv / part, "csv")
        output.note(f"tables in {csv / part}")
    if parquet is not None:
        write_tables(capture, parquet / part, "parquet")
        output.note(f"tables in {parquet / part}")
    if out is not None:
        from dumbbell.capture.report import write_capture_report

        write_tables(capture, out / part / "data", "parquet")
        with output.progress("figures") as moved:
            page = write_capture_report(capture, out / part, shlex.join(["dumbbell", *sys.argv[1:]]), progress=moved)
        output.note(f"report {page}")
