"""``dumbbell analyze log``: prints the connections of a capture as they end."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from dumbbell.capture.commands import options
from dumbbell.capture.commands.follow import stopping
from dumbbell.capture.commands.output import leave
from dumbbell.cli import front, output

__all__ = ["log"]


@front.command("log", "dumbbell analyze log trace.pcap", "tcpdump -w - -c 10000 | dumbbell analyze log -")
@options.files_argument
@options.reading()
def log(files: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Print one line of JSON for each connection as it ends, and no report.

    The exit code is 1 if a file is damaged or truncated.
    """
    from dumbbell.capture import analyze as analyze_files
    from dumbbell.capture.read import files_of

    names = files_of(list(files))
    read = partial(analyze_files, names, **options.analysis(**given))
    stream = sys.stdout.buffer

    def write(lines: bytes) -> None:
        stream.write(lines + b"\n")
        stream.flush()

    with stopping(names) as state:
        capture = state.analyze(partial(read, log=write, progress=state.go_on))
    for damage in capture.damage:
        output.note(f"damage: {damage['file']}, byte {damage['offset']}: {damage['text']}")
    leave(damaged=bool(capture.damage))
