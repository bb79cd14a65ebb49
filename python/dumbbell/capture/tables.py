"""The tables of a capture, made on request: those of many connections are much larger than the analysis itself.

Frames need numpy and polars, which take longer to import than a small capture takes to analyze. They are imported
with the first frame; rows and JSON come from the core.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.exceptions import CaptureError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PAGE", "Tables", "frame_of", "read_files"]

PAGE = 8_192
"""Connections in a page of a table."""
JSON_PAGE = 128
"""Connections in a page of JSON: about half a megabyte, which stays in the processor's cache."""
FEW = 1 << 22
"""Bytes of JSON up to which rows are made of it: frames of more rows take less time and memory."""
WHOLE = ("total", "ip", "endpoints", "names")
"""Tables without connections."""
OF_UDP = ("udp", "quic")
"""Tables of UDP conversations."""
MISSING = -(2**63)
"""A missing value in a column of int64."""


def read_files(files: Sequence[str], **options: Any) -> _core.CaptureOutput:  # noqa: ANN401 - those of the core
    """Read capture files once, in the core."""
    try:
        return _core.analyze(files, **options)
    except _core.CaptureError as e:
        raise CaptureError(str(e)) from None


def frame_of(table: Mapping[str, Any]) -> pl.DataFrame:
    """Make a frame; missing values are null."""
    import numpy as np  # slow to import
    import polars as pl  # slow to import

    columns = []
    for name, values in table.items():
        series = pl.Series(name, values, dtype=pl.String if isinstance(values, list) else None)
        if isinstance(values, np.ndarray) and values.dtype.kind == "f":
            series = series.fill_nan(None)
        elif isinstance(values, np.ndarray) and values.dtype in (np.int32, np.int64):
            missing = values < 0 if values.dtype == np.int32 else values == MISSING
            if missing.any():
                series = series.set(pl.Series(missing), None)
        columns.append(series)
    return pl.DataFrame(columns)


class Tables(Mapping[str, "pl.DataFrame"]):
    """The tables by name; each is made when it is first used, and kept.

    Parameters
    ----------
    found : _core.CaptureOutput
    flows, conversations : sequence of int, optional
        Only these TCP connections, and these UDP conversations.
    """

    def __init__(
        self, found: _core.CaptureOutput, flows: Sequence[int] | None = None, conversations: Sequence[int] | None = None
    ) -> None:
        self._found = found
        self._flows = flows
        self._conversations = conversations
        self._made: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._made:
            if name not in self._found.tables():
                raise KeyError(name)
            numbers = None if name in WHOLE else self._chosen(name)
            self._made[name] = frame_of(self._found.table(name, numbers))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found.tables())

    def __len__(self) -> int:
        return len(self._found.tables())

    def _chosen(self, name: str) -> Sequence[int] | None:
        return self._conversations if name in OF_UDP else self._flows

    def _pages(self, name: str, length: int = PAGE) -> Iterator[Sequence[int] | None]:
        """Return the numbers of each page; None: the whole table."""
        if name in WHOLE:
            yield None
            return
        numbers = self.conversations if name in OF_UDP else self.flows
        for first in range(0, max(len(numbers), 1), length):
            yield numbers[first : first + length]

    @property
    def flows(self) -> Sequence[int]:
        """Numbers of the TCP connections, in order."""
        if self._flows is None:
            return self._found.numbers()
        return self._flows

    @property
    def conversations(self) -> Sequence[int]:
        """Numbers of the UDP conversations, in order."""
        return range(self._found.conversations) if self._conversations is None else self._conversations

    @property
    def totals(self) -> dict[str, int]:
        """Totals of all TCP connections, without regard to a choice of them."""
        return self._found.totals

    def pages(self, name: str) -> Iterator[pl.DataFrame]:
        """Make a table page by page: at least one page, of 8,192 connections at most."""
        for numbers in self._pages(name):
            yield frame_of(self._found.table(name, numbers))

    def json(self, name: str) -> Iterator[bytes]:
        """Make the rows of a table as JSON objects with commas between them, page by page."""
        written = False
        for numbers in self._pages(name, JSON_PAGE):
            page = self._found.json(name, numbers)
            if page and written:
                yield b","
            written |= bool(page)
            yield page

    def rows(self, name: str, numbers: Sequence[int]) -> pl.DataFrame:
        """Return the rows of some connections."""
        return frame_of(self._found.table(name, numbers))

    def records(self, name: str, numbers: Sequence[int] | None = None, most: int | None = None) -> list[dict[str, Any]]:
        """Return rows as dictionaries, the first ``most`` at most: of some connections, or of the chosen ones."""
        if numbers is None and name not in WHOLE:
            numbers = self._chosen(name)
        rows = self._found.json(name, numbers)
        if len(rows) <= FEW:
            found: list[dict[str, Any]] = json.loads(b"[" + rows + b"]")
            return found[:most]
        frame = frame_of(self._found.table(name, numbers))
        return (frame if most is None else frame.head(most)).to_dicts()

    def largest(self, most: int) -> list[int]:
        """Return the numbers of the TCP connections with the most payload in one direction, the largest first."""
        if self._flows is None:
            return self._found.largest(most)
        wanted = set(self._flows)
        return [n for n in self._found.largest(len(self._found.numbers())) if n in wanted][:most]

    def largest_conversations(self, most: int) -> list[int]:
        """Return the numbers of the UDP conversations with the most bytes, the largest first."""
        largest: list[tuple[int, int]] = []
        for numbers in self._pages("udp"):
            sums: dict[int, int] = {}
            for row in self.records("udp", numbers):
                sums[row["conversation"]] = sums.get(row["conversation"], 0) + row["bytes"]
            largest = sorted([*largest, *((-size, n) for n, size in sums.items())])[:most]
        return [n for _, n in largest]

    def only(self, flows: Sequence[int], conversations: Sequence[int]) -> Tables:
        """Return the tables of some connections and conversations."""
        return Tables(self._found, flows, conversations)
