"""Workloads: transfers that arrive by a process, with sizes from a distribution."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from dumbbell.common.reading import read_text
from dumbbell.scenario import files
from dumbbell.scenario.base import Flag, Part, Text, Whole, problem
from dumbbell.scenario.flow.sizes import Sizes, numbers_of
from dumbbell.scenario.units import Frequency

__all__ = ["Arrivals", "Workload"]

MOST_TRANSFERS = 2_000_000
"""Most transfers of a flow: each has a row in the results."""


class Arrivals(Part):
    """The times at which transfers begin."""

    rate: Frequency | None = None
    """Mean number of transfers per time, such as "200 /s"; of a flow with `count`, of all its copies together."""
    load: Annotated[float, Field(gt=0, le=10)] | None = None
    """Instead of a rate: the share of the slowest link on the path that the data take, such as 0.6. The rate follows
    from the mean size with its headers; of a flow with `count`, all its copies together offer the load."""
    process: Literal["poisson", "constant"] = "poisson"
    """"poisson": independent, exponentially distributed intervals. "constant": constant intervals, the first transfer
    after a uniform share of one."""
    file: Text | None = None
    """Instead of a rate or a load: a text file with a line for each transfer, its time in seconds after the flow's
    start, and its size in bytes where `sizes` is not given, separated by spaces or a comma; # begins a comment."""
    together: Flag = False
    """True: all copies of a flow with `count` begin their transfers at the same times (incast); `rate` counts each
    time once."""

    @model_validator(mode="after")
    def _one_form(self) -> Arrivals:
        given = [key for key in ("rate", "load", "file") if getattr(self, key) is not None]
        if not given:
            raise problem("needed: a rate, a load, or a file with times", "rate")
        if len(given) > 1:
            raise problem(f"'{given[0]}' and '{given[1]}' exclude each other", given[1])
        if self.file is not None:
            if "process" in self.model_fields_set:
                raise problem("the file has the times: remove it", "process")
            try:
                _ = self.listed
            except (OSError, ValueError) as e:
                why = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
                raise problem(f"'{self.file}' can't be read: {why}", "file") from None
        return self

    @cached_property
    def listed(self) -> tuple[list[int], list[int] | None]:
        """The times of the file in ns, and the sizes in bytes if it has them."""
        times, sizes = [], []
        for number, line in enumerate(read_text(files.resolve(self.file or "")).splitlines(), 1):
            try:
                values = numbers_of(line)
            except ValueError:
                raise ValueError(f"line {number} is no list of numbers") from None
            if not values:
                continue
            if len(values) > 2 or not 0 <= values[0] <= 1e9 or not all(1 <= v <= 1e15 for v in values[1:]):
                raise ValueError(f"line {number}: a time in seconds, and a size of at least 1 byte, are needed")
            times.append(round(values[0] * 1e9))
            sizes += [round(value) for value in values[1:]]
        if not times:
            raise ValueError("it has no times")
        if len(times) > MOST_TRANSFERS:
            raise ValueError(f"it has {len(times)} times: at most {MOST_TRANSFERS} are possible")
        if any(b < a for a, b in pairwise(times)):
            raise ValueError("times must ascend")
        if sizes and len(sizes) != len(times):
            raise ValueError("either every line has a size, or none")
        return times, sizes or None


class Workload(Part):
    """Transfers that arrive by a process: many are under way at a time."""

    transports: ClassVar[tuple[str, ...]] = ("tcp", "quic")

    kind: Literal["workload"]
    arrivals: Arrivals
    """Times: `{ rate = "200 /s" }`, `{ load = 0.6 }` or `{ file = "times.csv" }`."""
    sizes: Sizes | None = None
    """Payload bytes: a size such as "10 kB"; "web-search", "data-mining" or "imc10"; or a table such as
    `{ distribution = "pareto", mean = "50 kB", shape = 1.2 }`. Not needed where the arrivals' file has sizes."""
    count: Annotated[Whole, Field(ge=1, le=MOST_TRANSFERS)] | None = None
    """Number of transfers (of each copy of a flow with `count`). Default: until the flow stops."""
    connections: Literal["new", "reuse"] = "new"
    """"new": each transfer has a connection of its own. "reuse": over TCP, a transfer takes the idle connection that
    was used last, and opens one only if none is idle; over QUIC, the transfers are streams of one connection."""

    @model_validator(mode="after")
    def _sized(self) -> Workload:
        listed = self.arrivals.listed[1] if self.arrivals.file is not None else None
        if self.sizes is None and listed is None:
            raise problem('needed: the sizes, such as "10 kB" or "web-search"', "sizes")
        if self.sizes is not None and listed is not None:
            raise problem(f"the file '{self.arrivals.file}' has sizes already: remove it", "sizes")
        return self

    @property
    def mean_bytes(self) -> float:
        """Mean payload of a transfer, bytes; infinite where there is none."""
        if self.sizes is not None:
            return self.sizes.mean
        sizes = self.arrivals.listed[1] or [0]
        return sum(sizes) / len(sizes)

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values, without the rate and its stream."""
        if self.arrivals.file is not None:
            times, listed = self.arrivals.listed
            arrivals: dict[str, Any] = {"kind": "listed", "at_ns": times}
        else:
            arrivals, listed = {"kind": self.arrivals.process}, None
        sizes = self.sizes.plan() if self.sizes is not None else {"kind": "listed", "bytes": listed}
        count, connections = self.count or 0, self.connections
        return {"kind": "workload", "arrivals": arrivals, "sizes": sizes, "count": count, "connections": connections}
