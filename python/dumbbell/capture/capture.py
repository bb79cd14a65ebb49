"""An analyzed capture: tables as polars frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.capture.select import Selection
from dumbbell.capture.tables import Tables, frame_of, read_files
from dumbbell.common.run_folders import CAPTURE_PREFIX, Folder, clean_once
from dumbbell.common.words import counted
from dumbbell.exceptions import CaptureError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Capture"]


@dataclass
class Capture:
    """The analysis of one or several files, read as one.

    Attributes
    ----------
    files : list of str
    rules : str
        The rules that the labels follow.
    interval_s : float
        Length of the intervals of `series` and `total`, s.
    origin_ns : int
        Time of the first frame, ns since 1970; all ``t_ns`` count from it.
    properties : list of dict
        Of each file, as Wireshark shows them: format, encapsulation, times, sizes, rates, interfaces.
    length_rows : list of dict
        The rows of the packet-length table, `lengths`.
    tables : Tables
        Frames by name: ``flows`` (a row for each direction of each TCP connection), ``udp``, ``quic``, ``series``,
        ``total``, ``phases`` ... Each is made when it is first used. ``tables.pages("flows")`` makes it page by page,
        for captures with so many connections that a whole table is too large.
    warnings : list of dict
        Traps that may invalidate the rest: ``kind``, ``flow`` (or None), ``text``.
    damage : list of dict
        Places where files end early or are damaged: ``file``, ``offset`` (bytes), ``frames`` (read before), ``text``.
    contents : dict of int
        Number of frames by content, such as ``TCP``, ``ARP`` or ``in ESP not entered``; they add up to all frames.
    tunnels : dict of int
        Number of frames in each tunnel that was decapsulated.
    """

    files: list[str]
    rules: str
    interval_s: float
    origin_ns: int
    properties: list[dict[str, Any]]
    length_rows: list[dict[str, Any]]
    lengths_text: str
    properties_text: list[str]
    tables: Tables
    warnings: list[dict[str, Any]]
    damage: list[dict[str, Any]]
    contents: dict[str, int] = field(default_factory=dict)
    tunnels: dict[str, int] = field(default_factory=dict)
    options: dict[str, Any] = field(repr=False, default_factory=dict)
    chosen: Selection = field(default_factory=Selection)
    _page: Callable[[Capture], str] = field(repr=False, default=repr)
    """Writes the page for notebooks; `read_capture` knows how."""
    _packets: dict[str, Path] | None = field(repr=False, default=None)

    @property
    def lengths(self) -> pl.DataFrame:
        """The packet-length table: a row for each range of lengths, the first one for all packets."""
        import polars as pl  # slow to import

        return pl.DataFrame(self.length_rows, infer_schema_length=None)

    @property
    def flows(self) -> pl.DataFrame:
        """One row for each direction of each TCP connection: addresses, counts of each label, RTT, throughput."""
        return self.tables["flows"]

    @property
    def udp(self) -> pl.DataFrame:
        """One row for each direction of each UDP conversation."""
        return self.tables["udp"]

    @property
    def quic(self) -> pl.DataFrame:
        """One row for each QUIC connection: version, connection IDs, handshake, spin-bit RTT."""
        return self.tables["quic"]

    @property
    def series(self) -> pl.DataFrame:
        """One row for each interval and direction of a TCP connection: packets, bytes, labels; times in ns."""
        return self.tables["series"]

    @property
    def total(self) -> pl.DataFrame:
        """One row for each interval: packets and bytes of the whole capture; times in ns."""
        return self.tables["total"]

    @property
    def phases(self) -> pl.DataFrame:
        """One row for each phase of a sender, such as slow start or recovery; times in ns."""
        return self.tables["phases"]

    @property
    def rounds(self) -> pl.DataFrame:
        """One row for each round trip of a sender: its flight, new bytes and losses; times in ns, sizes in bytes."""
        return self.tables["rounds"]

    @property
    def classify(self) -> pl.DataFrame:
        """One row for each direction: the family of its congestion control, with the confidence from 0 to 1."""
        return self.tables["classify"]

    @property
    def ip(self) -> pl.DataFrame:
        """One row for each pair of addresses: packets and bytes of both directions; times in ns."""
        return self.tables["ip"]

    @property
    def endpoints(self) -> pl.DataFrame:
        """One row for each address: packets and bytes, sent and received."""
        return self.tables["endpoints"]

    @property
    def names(self) -> pl.DataFrame:
        """One row for each address with a name in the capture: of answers of DNS, of TLS and of QUIC."""
        return self.tables["names"]

    @property
    def host_names(self) -> dict[str, str]:
        """The names of `names` by address."""
        return {row["address"]: row["name"] for row in self.tables.records("names")}

    @property
    def labels(self) -> list[str]:
        """Names of the labels, each a column of `flows` and `series` that counts it."""
        return list(_core.capture_labels())

    @property
    def packets(self) -> pl.LazyFrame:
        """Every TCP segment with its labels, lazily: filter before you `collect`.

        The files are read once more for it, and its rows lie in a temporary directory until the program ends.
        """
        return self._segments("packets")

    @property
    def sacks(self) -> pl.LazyFrame:
        """Every SACK block, with the frame that carried it; ``duplicate`` marks D-SACKs [RFC 2883]."""
        return self._segments("sacks")

    def _segments(self, table: str) -> pl.LazyFrame:
        if self._packets is None:
            if "-" in self.files:
                raise CaptureError("stdin can't be read twice: save the capture to a file for its packets")
            self._packets = self._read_packets()
        import polars as pl  # slow to import

        rows = pl.scan_parquet(self._packets[table] / "*.parquet")
        if self.chosen and "flow" in rows.collect_schema():
            rows = rows.filter(pl.col("flow").is_in(list(self.tables.flows)))
        return rows

    def _read_packets(self) -> dict[str, Path]:
        clean_once()  # what killed programs have left
        folder = Folder(CAPTURE_PREFIX).keep()
        places = {name: folder / name for name in ("packets", "sacks", "spurious")}
        for place in places.values():
            place.mkdir()
        count = 0

        def keep(tables: dict[str, Any]) -> None:
            nonlocal count
            for name, place in places.items():
                frame = frame_of(tables[name])
                if name == "packets":
                    frame = frame.with_columns(_flags(self.labels))
                frame.write_parquet(place / f"{count:06}.parquet")
            count += 1

        read_files(self.files, packets=keep, **self.options)
        return places

    def select(self, chosen: Selection) -> Capture:
        """Return the part that belongs to some connections (capture-wide tables stay as they are).

        Raises
        ------
        CaptureError
            For the number of a connection that does not exist, an address or an expression that can't be read.
        """
        if not chosen:
            return self
        known = self.tables.flows
        if missing := sorted(set(chosen.flow) - set(known)):
            existing = f"its connections are {known[0]} to {known[-1]}" if known else "it has none"
            raise CaptureError(f"--flow: {', '.join(self.files)} has no TCP connection {missing[0]}: {existing}")
        wanted = [n for page in self.tables.pages("flows") for n in chosen.numbers(page).to_list()]
        conversations: list[int] = []
        if not (chosen.flow or chosen.where):
            pages = self.tables.pages("udp")
            conversations = [n for page in pages for n in chosen.numbers(page, "conversation").to_list()]
        of = set(wanted)
        warnings = [w for w in self.warnings if w["flow"] is None or w["flow"] in of]
        tables = self.tables.only(wanted, conversations)
        return replace(self, tables=tables, warnings=warnings, chosen=chosen, _packets=None)

    @property
    def totals(self) -> dict[str, int]:
        """Totals of the chosen TCP connections, or of all, listed or not.

        ``connections``, ``data_packets``, ``retransmitted_packets``, ``timeouts``.
        """
        if not self.chosen:
            return self.tables.totals
        import polars as pl  # slow to import

        names = ["data_packets", "retransmitted_packets", "timeouts"]
        sums = pl.concat([page.select(pl.col(names).sum()) for page in self.tables.pages("flows")]).sum()
        return {"connections": len(self.tables.flows), **{name: int(sums[name].item()) for name in names}}

    @property
    def errors(self) -> pl.DataFrame:
        """Packets with an error label in each interval, of the chosen connections: ``t_ns``, ``errors``."""
        if not self.chosen:
            return self.total.select("t_ns", "errors")
        import polars as pl  # slow to import

        pages = [page.group_by("t_ns").agg(pl.col("errors").sum()) for page in self.tables.pages("series")]
        return pl.concat(pages).group_by("t_ns").agg(pl.col("errors").sum()).sort("t_ns")

    @property
    def seconds(self) -> float:
        """From the first to the last frame, s."""
        first = [p["first_ns"] for p in self.properties if p["first_ns"] is not None]
        last = [p["last_ns"] for p in self.properties if p["last_ns"] is not None]
        return (max(last) - min(first)) * 1e-9 if first else 0.0

    def _repr_html_(self) -> str:
        """Show the largest connections and one figure, for notebooks."""
        return self._page(self)

    def __repr__(self) -> str:
        frames = sum(p["packets"] for p in self.properties)
        held = f"{counted(frames, 'frame')}, {counted(self.totals['connections'], 'TCP connection')}"
        return f"<Capture of {', '.join(self.files)}: {held}, rules {self.rules}>"


def _flags(labels: Sequence[str]) -> list[pl.Expr]:
    """Make a Boolean column of each label's bit."""
    import polars as pl  # slow to import

    bits = pl.col("labels").cast(pl.Int64)
    return [(bits // 2**n % 2 == 1).alias(name) for n, name in enumerate(labels)]
