"""Selection of connections of a capture."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.exceptions import CaptureError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Selection"]


def _reason(error: Exception, columns: Sequence[str]) -> str:
    """Explain an error in a condition; for an unknown column with the nearest one."""
    import polars as pl  # slow to import

    text = str(error).splitlines()[0]
    if isinstance(error, pl.exceptions.ColumnNotFoundError):
        quoted = re.search(r'["\'`]([^"\'`]+)["\'`]', text)
        if quoted and quoted[1] not in columns:
            from dumbbell.registry import unknown

            return unknown("column", quoted[1], list(columns))
    return f"{text} (columns: {', '.join(columns[:12])} ...)"


@dataclass(frozen=True)
class Selection:
    """A choice of connections; a connection is wanted if it meets every condition given.

    Attributes
    ----------
    flow : sequence of int
        Numbers of connections.
    host : sequence of str
        Addresses or networks (``10.0.0.0/8``), either end.
    port : sequence of int
        Either end.
    where : str or None
        An expression over the columns of the table of flows, as in an SQL ``WHERE`` (Polars reads it), such as
        ``dst_port = 443 AND goodput_bps > 1e6``. A connection is wanted if it holds for one of its directions.
    """

    flow: Sequence[int] = ()
    host: Sequence[str] = ()
    port: Sequence[int] = ()
    where: str | None = None

    def __bool__(self) -> bool:
        """Return True if anything is selected."""
        return bool(self.flow or self.host or self.port or self.where)

    def numbers(self, rows: pl.DataFrame, number: str = "flow") -> pl.Series:
        """Return the numbers of the selected connections (or UDP conversations).

        Raises
        ------
        CaptureError
            For an address, or an expression, that can't be read.
        """
        import polars as pl  # slow to import

        chosen = rows
        if self.flow:
            chosen = chosen.filter(pl.col(number).is_in(list(self.flow)))
        if self.port:
            ports = list(self.port)
            chosen = chosen.filter(pl.col("src_port").is_in(ports) | pl.col("dst_port").is_in(ports))
        if self.host:
            chosen = chosen.filter(self._hosts(rows))
        if self.where:
            try:
                chosen = chosen.filter(pl.sql_expr(self.where))
            except (pl.exceptions.PolarsError, BaseException) as e:
                if not isinstance(e, Exception):
                    raise
                raise CaptureError(f"--where: '{self.where}': {_reason(e, rows.columns)}") from None
        return chosen[number].unique().sort()

    def _hosts(self, rows: pl.DataFrame) -> pl.Expr:
        import polars as pl  # slow to import

        networks = []
        for text in self.host:
            try:
                networks.append(ipaddress.ip_network(text, strict=False))
            except ValueError:
                message = f"--host: '{text}' given: an address or network such as 10.0.0.1 or 10.0.0.0/8 is needed"
                raise CaptureError(message) from None
        known = set(rows["src"].to_list()) | set(rows["dst"].to_list())
        inside = [
            name for name in known if any(ipaddress.ip_address(name.split("%")[0]) in network for network in networks)
        ]
        return pl.col("src").is_in(inside) | pl.col("dst").is_in(inside)
