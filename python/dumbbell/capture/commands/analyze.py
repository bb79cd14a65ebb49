"""``dumbbell analyze``: analyzes capture files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.capture.commands import options
from dumbbell.capture.commands.compare import compare
from dumbbell.capture.commands.follow import following
from dumbbell.capture.commands.log import log
from dumbbell.capture.commands.output import Places, leave, print_classes, progress, warn, without
from dumbbell.capture.commands.pair import pair
from dumbbell.cli import front, output

if TYPE_CHECKING:
    from dumbbell.capture import Capture

__all__ = ["analyze"]


@front.command(
    "analyze",
    "dumbbell analyze trace.pcapng",
    "dumbbell analyze trace.pcap.gz --rules wireshark-4.0 --flow 1 --out results/trace",
    "dumbbell analyze trace.pcap --json | jq '.flows[] | select(.retransmission > 0) | .src'",
    "dumbbell analyze trace.pcap --classify               # which congestion control?",
    'tcpdump -w - -c 10000 | dumbbell analyze - --where "dst_port = 443"',
    modes=[compare, pair, log],
    removed={
        "--compare": "`dumbbell analyze compare FILE...`",
        "--pair": "`dumbbell analyze pair A B`",
        "--same-clock": "`dumbbell analyze pair A B --same-clock`",
        "--conn-log": "`dumbbell analyze log FILE...`",
    },
)
@options.files_argument
@options.reading()
@options.classified
@options.selection()
@options.outputs(graphs=True)
def analyze(
    files: tuple[str, ...],
    classify: bool,
    as_json: bool,
    out: Path | None,
    csv: Path | None,
    parquet: Path | None,
    xplot: Path | None,
    **given: Any,  # noqa: ANN401
) -> None:
    """Analyze capture files: connections, labels as in Wireshark, RTTs, losses, series.

    From stdin (`tcpdump -w - | dumbbell analyze -`) the flows of each second are printed on stderr while the capture
    is written, and the report at the end or after Ctrl-C.

    The exit code is 1 if a file is damaged or truncated, or if reading fails. The results then contain everything
    that could be read, and a message names the place of the damage.
    """
    from dumbbell.capture import analyze as analyze_files
    from dumbbell.capture.output import document
    from dumbbell.capture.read import files_of

    places = Places(csv, parquet, out, xplot)
    names = files_of(list(files))
    read = partial(analyze_files, names, **options.analysis(**given))
    if "-" in names:
        with following(names) as (state, live):
            capture = state.analyze(partial(read, progress=state.go_on, live=live))
    else:
        with progress(names) as moved:
            capture = read(progress=moved)
    if as_json:
        output.parts([document(capture)], as_list=False)
    else:
        warn(capture)
        if classify:
            print_classes(capture)
        else:
            _print(capture)
    places.keep(capture)
    leave(damaged=bool(capture.damage))


def _print(capture: Capture) -> None:
    from dumbbell.capture.output import conversations, datagrams, guesses, properties, summary

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
            output.print_rows(title, without(capture.tables.records(name, most=10), "start_ns", "end_ns"))
    columns = ["conversation", "version", "sni", "alpn", "original_cid", "handshake_rtt_ms"]
    quic = capture.tables.records("quic", most=10)
    output.print_rows("QUIC", [{name: row[name] for name in columns} for row in quic])
    found = [row for row in guesses(capture) if row["family"] != "unknown"]
    output.print_rows("Congestion control (--classify lists the evidence)", without(found[:10], "evidence"))
