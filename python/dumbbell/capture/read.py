"""Reads capture files: a pass through the files gives a `Capture`."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.capture.capture import Capture
from dumbbell.capture.select import Selection
from dumbbell.capture.tables import Tables, frame_of, read_files
from dumbbell.common.processors import cores
from dumbbell.exceptions import CaptureError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Name", "Progress", "analyze", "files_of", "read_capture"]

Progress = Callable[[int, int, int | None], object]
"""Called with the file's number, the bytes read of it and its size (None where unknown, as of stdin)."""
Name = str | os.PathLike[str]


def files_of(paths: Name | Iterable[Name]) -> list[str]:
    """List the files that names and patterns (``*.pcap``) match; ``-`` is stdin.

    Raises
    ------
    CaptureError
        If a pattern matches nothing.
    """
    given: list[Name] = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files: list[str] = []
    for name in [os.fspath(name) for name in given]:
        if name == "-" or Path(name).exists() or not glob.has_magic(name):
            files.append(name)
            continue
        found = sorted(glob.glob(name))  # noqa: PTH207 - patterns may be absolute
        if not found:
            raise CaptureError(f"{name}: matches no file")
        files += found
    if not files:
        raise CaptureError("no capture file given")
    return files


def _lengths(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the rows of the packet-length table; the ends of a range are columns."""
    parts = []
    for row in rows:
        low, high = row["range"] or (None, None)
        numbers = {name: value for name, value in row.items() if name not in {"cells", "range", "title"}}
        parts.append({"title": row["title"], "low": low, "high": high, **numbers})
    return parts


def read_capture(
    paths: Name | Iterable[Name],
    *,
    rules: str | None = None,
    interval_s: float | None = None,
    enter_tunnels: bool = True,
    from_s: float | None = None,
    to_s: float | None = None,
    select: Selection | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    log: Callable[[bytes], object] | None = None,
    live: Callable[[pl.DataFrame], object] | None = None,
) -> Capture:
    """Read and analyze capture files; several are read as one, in the order given.

    Parameters
    ----------
    paths : path or list of paths
        Files, patterns (``*.pcap``) or ``-`` for stdin: pcap or pcapng, plain or compressed.
    rules : {"wireshark-4.4", "wireshark-4.0", "dumbbell"}, optional
        The rules that the labels follow; default: Wireshark 4.4's.
    interval_s : float, optional
        Length of the intervals of series, s; default: at most 2000 of them.
    enter_tunnels : bool
        Decapsulate tunnels, as Wireshark does. The UDP conversations that carry them are listed in both cases.
    from_s, to_s : float, optional
        Only this part of the time, s from the first frame.
    select : Selection, optional
        Only some connections.
    threads : int, optional
        Default: one for each core.
    progress : callable, optional
        If it returns False, reading ends there.
    log : callable, optional
        Called with lines of JSON, one for each connection that has ended, while the files are read.
    live : callable, optional
        Called with the flows of each second of the capture: rates, retransmissions, mean RTT. Not with ``log``.

    Returns
    -------
    Capture

    Raises
    ------
    CaptureError
        If a file can't be read at all. Damage inside a file is reported in `Capture.damage`.

    Examples
    --------
    >>> import dumbbell
    >>> capture = dumbbell.read_capture("trace.pcapng")
    >>> capture.flows.select("flow", "direction", "retransmission").rows()
    [(0, 0, 1), (0, 1, 0)]
    """
    files = files_of(paths)
    known = list(_core.capture_rules())
    if rules is not None and rules not in known:
        from dumbbell.registry import unknown

        raise CaptureError(unknown("rules", rules, known))
    if interval_s is not None and interval_s <= 0:
        raise CaptureError(f"interval: {interval_s} s given: must be above zero")
    if from_s is not None and to_s is not None and to_s <= from_s:
        raise CaptureError(f"to: {to_s} s given: must be after from, which is {from_s} s")
    options: dict[str, Any] = {
        "rules": rules,
        "interval_ns": None if interval_s is None else max(1, round(interval_s * 1e9)),
        "enter_tunnels": enter_tunnels,
        "from_ns": None if from_s is None else round(from_s * 1e9),
        "to_ns": None if to_s is None else round(to_s * 1e9),
        "threads": threads or cores(),
    }
    moved = None if progress is None else (lambda file, done, size, _frames: progress(file, done, size))
    following: dict[str, Any] = {}
    if log is not None:
        following = {"log": True, "packets": lambda tables: log(tables["log"]) if tables["log"] else None}
    elif live is not None:
        following = {"live": True, "packets": lambda tables: live(frame_of(tables["live"])) if tables["live"] else None}
    found = read_files(files, progress=moved, **options, **following)
    capture = Capture(
        files=files,
        rules=rules or known[0],
        interval_s=found.interval_ns * 1e-9,
        origin_ns=found.origin_ns,
        properties=found.properties(),
        length_rows=_lengths(found.lengths()),
        lengths_text=found.lengths_text(),
        properties_text=found.properties_text(),
        tables=Tables(found),
        warnings=found.warnings,
        damage=found.damage,
        contents=dict(found.contents),
        tunnels=dict(found.tunnels),
        options=options,
        _page=_page,
    )
    return capture.select(select) if select is not None else capture


def _page(capture: Capture) -> str:
    from dumbbell.capture.notebook import page  # slow to import

    return page(capture)


analyze = read_capture
"""The name of `read_capture` within this package, where nothing else is read."""
