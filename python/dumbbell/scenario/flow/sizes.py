"""Sizes of generated transfers, payload bytes: their distributions, with mean and packets for the offered load."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from dumbbell.common.numbers import whole
from dumbbell.common.reading import read_text
from dumbbell.registry import unknown
from dumbbell.scenario import files
from dumbbell.scenario.base import Part, Text, problem
from dumbbell.scenario.flow.published_sizes import PACKET, POINTS
from dumbbell.scenario.units import Volume

__all__ = ["Sizes", "SizesPart"]

EXACT = 2000
"""Packets up to which the probability of each is added; beyond, the sum over packets is an integral."""
MOST_POINTS = 100_000
"""Most points of a user's distribution function."""


class SizesPart(Part):
    """A distribution of sizes."""

    @abstractmethod
    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""

    @abstractmethod
    def survival(self, size: float) -> float:
        """Return the probability of a larger size."""

    @abstractmethod
    def excess(self, size: float) -> float:
        """Return the mean of the bytes above a size, 0 for smaller transfers; infinite without a mean."""

    @property
    def mean(self) -> float:
        """The mean, bytes; infinite where there is none."""
        return self.excess(0.0)

    def mean_packets(self, payload: int) -> float:
        """Return the mean number of packets of that payload: the sum over k of P(S > k payload).

        Terms from `EXACT` on are added as an integral, by the trapezoidal rule [Euler and Maclaurin].
        """
        first = sum(self.survival(k * payload) for k in range(EXACT))
        rest = EXACT * payload
        return first + self.excess(rest) / payload + self.survival(rest) / 2


class FixedSize(SizesPart):
    """All transfers have the same size; short: `sizes = "10 kB"`."""

    distribution: Literal["fixed"]
    """The distribution."""
    size: Volume
    """Size."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"kind": "fixed", "bytes": self.size.bytes}

    def survival(self, size: float) -> float:
        """Return the probability of a larger size."""
        return 1.0 if size < self.size.bytes else 0.0

    def excess(self, size: float) -> float:
        """Return the mean of the bytes above a size."""
        return max(self.size.bytes - size, 0.0)


class ExponentialSizes(SizesPart):
    """Exponentially distributed sizes."""

    distribution: Literal["exponential"]
    """The distribution."""
    mean_size: Annotated[Volume, Field(alias="mean")]
    """Mean."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"kind": "exponential", "mean": float(self.mean_size.bytes)}

    def survival(self, size: float) -> float:
        """Return the probability of a larger size."""
        return math.exp(-size / self.mean_size.bytes)

    def excess(self, size: float) -> float:
        """Return the mean of the bytes above a size."""
        return self.mean_size.bytes * self.survival(size)


class UniformSizes(SizesPart):
    """Uniformly distributed sizes."""

    distribution: Literal["uniform"]
    """The distribution."""
    min: Volume
    """Smallest size."""
    max: Volume
    """Largest size."""

    @model_validator(mode="after")
    def _in_order(self) -> UniformSizes:
        if self.max.bytes <= self.min.bytes:
            raise problem(f"'{self.max}' given: must be more than min, '{self.min}'", "max")
        return self

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"kind": "uniform", "least": float(self.min.bytes), "most": float(self.max.bytes)}

    def survival(self, size: float) -> float:
        """Return the probability of a larger size."""
        a, b = self.min.bytes, self.max.bytes
        return min(max((b - size) / (b - a), 0.0), 1.0)

    def excess(self, size: float) -> float:
        """Return the mean of the bytes above a size."""
        a, b = self.min.bytes, self.max.bytes
        return (a + b) / 2 - size if size <= a else max(b - size, 0.0) ** 2 / (2 * (b - a))


class ParetoSizes(SizesPart):
    """Pareto distributed sizes: P(S > s) = (min / s) ^ shape; with `max`, given that S is at most that."""

    distribution: Literal["pareto"]
    """The distribution."""
    shape: Annotated[float, Field(gt=0, le=100)]
    """The exponent: the smaller, the heavier the tail. Without `max`, the mean is finite above 1 only."""
    mean_size: Annotated[Volume | None, Field(alias="mean")] = None
    """Mean; the smallest size follows from it. Give it or `min`."""
    min: Volume | None = None
    """Smallest size."""
    max: Volume | None = None
    """Largest size. Default: none."""

    @model_validator(mode="after")
    def _one_form(self) -> ParetoSizes:
        if (self.min is None) == (self.mean_size is None):
            raise problem("needed: either the mean or the smallest size (min)", "mean")
        if self.mean_size is not None and self.max is None and self.shape <= 1:
            raise problem(f"{self.shape:g} given: without max, the mean is infinite at a shape up to 1", "shape")
        below = self.min or self.mean_size
        if self.max is not None and below is not None and self.max.bytes <= below.bytes:
            raise problem(f"'{self.max}' given: must be more than '{below}'", "max")
        return self

    @cached_property
    def least(self) -> float:
        """The smallest size, bytes."""
        if self.min is not None:
            return float(self.min.bytes)
        wanted = float(self.mean_size.bytes) if self.mean_size is not None else 0.0
        if self.max is None:
            return wanted * (self.shape - 1) / self.shape
        low, high = 0.0, wanted  # the mean grows with the smallest size, and is larger than it
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if self._mean_above(middle) < wanted else (low, middle)
        return high

    def _mean_above(self, least: float) -> float:
        return least + self._area(least, least) if least > 0 else 0.0

    def _area(self, size: float, least: float) -> float:
        """The integral of the survival function from ``size``, at least ``least``, to the end."""
        a, most = self.shape, self.max.bytes if self.max is not None else math.inf
        if size >= most:
            return 0.0
        if math.isinf(most):
            return math.inf if a <= 1 else float(least * (least / size) ** (a - 1) / (a - 1))
        cut = (least / most) ** a
        whole = (
            least * math.log(most / size)
            if a == 1
            else least * ((least / size) ** (a - 1) - (least / most) ** (a - 1)) / (a - 1)
        )
        return float((whole - cut * (most - size)) / (1 - cut))

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        most = None if self.max is None else float(self.max.bytes)
        return {"kind": "pareto", "shape": float(self.shape), "least": self.least, "most": most}

    def survival(self, size: float) -> float:
        """Return the probability of a larger size."""
        if size <= self.least:
            return 1.0
        cut = 0.0 if self.max is None else (self.least / self.max.bytes) ** self.shape
        return float(max(((self.least / size) ** self.shape - cut) / (1 - cut), 0.0))

    def excess(self, size: float) -> float:
        """Return the mean of the bytes above a size."""
        return max(self.least - size, 0.0) + self._area(max(size, self.least), self.least)


class LognormalSizes(SizesPart):
    """Lognormally distributed sizes: their logarithm is normal."""

    distribution: Literal["lognormal"]
    """The distribution."""
    sigma: Annotated[float, Field(gt=0, le=20)]
    """Standard deviation of the natural logarithm."""
    mean_size: Annotated[Volume | None, Field(alias="mean")] = None
    """Mean. Give it or `median`."""
    median: Volume | None = None
    """Median."""

    @model_validator(mode="after")
    def _one_form(self) -> LognormalSizes:
        if (self.mean_size is None) == (self.median is None):
            raise problem("needed: either the mean or the median", "mean")
        return self

    @property
    def mu(self) -> float:
        """The mean of the logarithm."""
        if self.median is not None:
            return math.log(self.median.bytes)
        return math.log(self.mean_size.bytes if self.mean_size is not None else 1) - self.sigma**2 / 2

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"kind": "lognormal", "mu": self.mu, "sigma": float(self.sigma)}

    def survival(self, size: float) -> float:
        """Return the probability of a larger size."""
        return 1.0 if size <= 0 else _above((math.log(size) - self.mu) / self.sigma)

    def excess(self, size: float) -> float:
        """Return the mean of the bytes above a size."""
        mean = math.exp(self.mu + self.sigma**2 / 2)
        if size <= 0:
            return mean - size
        z = (math.log(size) - self.mu) / self.sigma
        return mean * _above(z - self.sigma) - size * _above(z)


def _above(z: float) -> float:
    """The probability that a standard normal number is larger."""
    return math.erfc(z / math.sqrt(2)) / 2


class _ByPoints(SizesPart):
    """A distribution function that is linear between its points."""

    scale: Annotated[float, Field(gt=0, le=1e9)] = 1.0
    """Every size is multiplied by this, such as 0.01 for a slower link."""

    @property
    @abstractmethod
    def points(self) -> list[tuple[float, float]]:
        """Sizes in bytes, with the share of transfers of at most that size."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        bytes_, share = zip(*self.points, strict=True)
        return {"kind": "empirical", "bytes": list(bytes_), "share": list(share)}

    def survival(self, size: float) -> float:
        """Return the probability of a larger size."""
        points = self.points
        if size < points[0][0]:
            return 1.0
        for (a, p), (b, q) in pairwise(points):
            if size < b:
                return 1 - p - (q - p) * (size - a) / (b - a)
        return 0.0

    def excess(self, size: float) -> float:
        """Return the mean of the bytes above a size."""
        points = self.points
        area = max(points[0][0] - size, 0.0)
        for (a, _), (b, q) in pairwise(points):
            if size < b:
                begin = max(a, size)
                area += (b - begin) * (self.survival(begin) + 1 - q) / 2
        return area


class NamedSizes(_ByPoints):
    """A measured distribution of the literature; short: `sizes = "web-search"`."""

    distribution: Literal["web-search", "data-mining", "imc10"]
    """The distribution: web search [Alizadeh et al. 2010], data mining [Greenberg et al. 2009], or ten data centers
    [Benson et al. 2010]; `dumbbell/scenario/flow/published_sizes.py` has the points."""

    @cached_property
    def points(self) -> list[tuple[float, float]]:
        """Sizes in bytes, with the share of transfers of at most that size."""
        return [(packets * PACKET * self.scale, share) for packets, share in POINTS[self.distribution]]


class FileSizes(_ByPoints):
    """A distribution function from a file."""

    distribution: Literal["file"]
    """The distribution."""
    file: Text
    """A text file, relative to the scenario's: a line for each point, with the size in bytes and the share of
    transfers of at most that size, 0 to 1 or 0 to 100, separated by spaces or a comma; # begins a comment. A line
    with three numbers has the share last."""

    @cached_property
    def points(self) -> list[tuple[float, float]]:
        """Sizes in bytes, with the share of transfers of at most that size."""
        return [(size * self.scale, share) for size, share in _read_points(self.file)]

    @model_validator(mode="after")
    def _readable(self) -> FileSizes:
        try:
            _ = self.points
        except (OSError, ValueError) as e:
            why = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
            raise problem(f"'{self.file}' can't be read: {why}", "file") from None
        return self


def numbers_of(line: str) -> list[float]:
    """Return the numbers of a line of a table, separated by spaces or commas; none for a comment."""
    return [float(part) for part in line.partition("#")[0].replace(",", " ").split()]


def _read_points(name: str) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    for number, line in enumerate(read_text(files.resolve(name)).splitlines(), 1):
        try:
            values = numbers_of(line)
        except ValueError:
            raise ValueError(f"line {number} is no list of numbers") from None
        if not values:
            continue
        if len(values) not in {2, 3}:
            raise ValueError(f"line {number} has {len(values)} numbers: a size and a share are needed")
        points.append((values[0], values[-1]))
    if len(points) > MOST_POINTS:
        raise ValueError(f"it has {len(points)} points: at most {MOST_POINTS} are possible")
    if not points or points[-1][1] not in {1.0, 100.0}:
        raise ValueError("the share of its last line must be 1 or 100")
    whole = points[-1][1]
    points = [(size, share / whole) for size, share in points]
    if not all(0 <= share <= 1 for _, share in points) or not all(math.isfinite(size) for size, _ in points):
        raise ValueError("shares must be 0 to 1, or 0 to 100, and sizes finite")
    if any(b < a or q < p for (a, p), (b, q) in pairwise(points)):
        raise ValueError("sizes and shares must ascend")
    while len(points) > 1 and points[1][1] == 0:  # several sizes with the share 0: the last one is the smallest size
        del points[0]
    if points[0][0] <= 0 < points[0][1] or points[-1][0] <= 0:
        raise ValueError("sizes must be above zero")
    return [(max(size, 1.0), share) for size, share in points]


def _short(value: Any) -> Any:  # noqa: ANN401
    """Read the short forms: a size, or the name of a distribution without parameters."""
    if not isinstance(value, str):
        return value
    if value in POINTS:
        return {"distribution": value}
    if whole(value[:1]) is not None:
        return {"distribution": "fixed", "size": value}
    raise problem(f'{unknown("distribution", value, list(POINTS))}; or a size such as "10 kB", or a table')


def _kind(value: Any) -> str | None:  # noqa: ANN401
    found = value.get("distribution") if isinstance(value, dict) else getattr(value, "distribution", None)
    if not isinstance(found, str):
        return None
    return "named" if found in POINTS else found


Sizes = Annotated[
    Annotated[FixedSize, Tag("fixed")]
    | Annotated[ExponentialSizes, Tag("exponential")]
    | Annotated[UniformSizes, Tag("uniform")]
    | Annotated[ParetoSizes, Tag("pareto")]
    | Annotated[LognormalSizes, Tag("lognormal")]
    | Annotated[NamedSizes, Tag("named")]
    | Annotated[FileSizes, Tag("file")],
    Discriminator(_kind),
    BeforeValidator(_short),
]
