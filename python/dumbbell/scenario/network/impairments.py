"""Impairments of a link: losses, corruption, jitter, reordering, duplication; and the policer at its entrance."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from dumbbell.scenario.base import Fraction, Part, problem
from dumbbell.scenario.units import Duration, MeanPackets, PacketCount, Percentage, PositiveDuration, Rate, Volume

__all__ = [
    "BitErrors",
    "Copies",
    "Corruption",
    "Duplication",
    "ExponentialJitter",
    "GilbertElliottLoss",
    "GilbertLoss",
    "IndependentLoss",
    "Jitter",
    "Loss",
    "NormalJitter",
    "ParetoJitter",
    "Policer",
    "Reordering",
    "UniformJitter",
    "corruption_plan",
    "duplication_plan",
    "jitter_plan",
    "loss_plan",
]

PLAIN, TABLE = "<plain>", "<table>"
"""Tags of a plain value, and of the only table: a scenario cannot hold these words."""


# ---------------------------------------------------------------- losses


class IndependentLoss(Part):
    """Each packet is lost with the same probability, independently of the others; short: `loss = "1 %"`."""

    model: Literal["bernoulli"]
    """The model."""
    mean: Percentage
    """Share of packets lost."""

    def plan(self) -> float | dict[str, float]:
        """Return its part of the plan, as plain values."""
        return self.mean.share


class GilbertLoss(Part):
    """Losses in bursts: everything is lost in the bad state, nothing in the good one.

    Given by the transition probabilities (`p`, `r`), or by their result (`mean`, `burst`): r = 1 / burst,
    p = r mean / (1 - mean).
    """

    model: Literal["gilbert"]
    """The model."""
    p: Percentage | None = None
    """Probability of turning bad after a packet in the good state."""
    r: Percentage | None = None
    """Probability of turning good after a packet in the bad state."""
    mean: Percentage | None = None
    """Share of packets lost in the long run: p / (p + r)."""
    burst: MeanPackets | None = None
    """Mean number of packets lost in a row: 1 / r."""

    @model_validator(mode="after")
    def _one_form(self) -> GilbertLoss:
        given = {k: getattr(self, k) is not None for k in ("p", "r", "mean", "burst")}
        turns, means = given["p"] or given["r"], given["mean"] or given["burst"]
        if turns and means:
            raise problem("'p' and 'r' mean the same as 'mean' and 'burst': give one pair", "mean")
        for first, second in (("p", "r"), ("mean", "burst")):
            for key, other in ((first, second), (second, first)):
                if given[other] and not given[key]:
                    raise problem(f"needed: '{other}' is given, so '{key}' is needed too", key)
        if not turns and not means:
            raise problem("needed: 'p' and 'r', or 'mean' and 'burst'", "p")
        if self.turns[0] > 1:
            most = self.burst.packets / (1 + self.burst.packets) if self.burst else 1.0
            raise problem(
                f"'{self.mean}' given: with bursts of {self.burst}, each followed by a good packet, "
                f"at most {100 * most:.4g} %",
                "mean",
            )
        return self

    @property
    def turns(self) -> tuple[float, float]:
        """The probabilities of turning bad and good."""
        if self.p is not None and self.r is not None:
            return self.p.share, self.r.share
        if self.mean is None or self.burst is None:
            return 0.0, 0.0
        r, mean = 1 / self.burst.packets, self.mean.share
        return (r * mean / (1 - mean) if mean < 1 else 2.0), r

    def plan(self) -> float | dict[str, float]:
        """Return its part of the plan, as plain values."""
        p, r = self.turns
        return {"p": p, "r": r, "loss_bad": 1.0, "loss_good": 0.0}


class GilbertElliottLoss(Part):
    """Losses in bursts, with a probability of loss in either state: the four numbers of netem's gemodel."""

    elsewhere: ClassVar[dict[str, str]] = {
        "1-h": "the probability of loss in the bad state is called 'loss_bad'",
        "h": "give the probability of loss in the bad state, 'loss_bad' (1 - h)",
        "1-k": "the probability of loss in the good state is called 'loss_good'",
        "k": "give the probability of loss in the good state, 'loss_good' (1 - k)",
    }

    model: Literal["gilbert-elliott"]
    """The model."""
    p: Percentage
    """Probability of turning bad after a packet in the good state."""
    r: Percentage
    """Probability of turning good after a packet in the bad state."""
    loss_bad: Percentage = Percentage("100 %")
    """Probability of loss in the bad state (netem's 1-h)."""
    loss_good: Percentage = Percentage("0 %")
    """Probability of loss in the good state (netem's 1-k)."""

    def plan(self) -> float | dict[str, float]:
        """Return its part of the plan, as plain values."""
        return {k: getattr(self, k).share for k in ("p", "r", "loss_bad", "loss_good")}


def _model(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return value.get("model")
    return getattr(value, "model", PLAIN)


Loss = Annotated[
    Annotated[Percentage, Tag(PLAIN)]
    | Annotated[IndependentLoss, Tag("bernoulli")]
    | Annotated[GilbertLoss, Tag("gilbert")]
    | Annotated[GilbertElliottLoss, Tag("gilbert-elliott")],
    Discriminator(_model),
]


def loss_plan(loss: Loss) -> float | dict[str, float]:
    """Return the plan's entry for a loss."""
    return loss.share if isinstance(loss, Percentage) else loss.plan()


# ---------------------------------------------------------------- damage


class BitErrors(Part):
    """Each bit is flipped with the same probability: the longer a packet, the likelier it is damaged."""

    bit_error_rate: Annotated[Fraction, Field(ge=0, le=1)]
    """Probability for a bit, such as 1e-6."""


def _table(value: Any) -> str:  # noqa: ANN401
    return PLAIN if isinstance(value, str) or not isinstance(value, dict | Part) else TABLE


Corruption = Annotated[Annotated[Percentage, Tag(PLAIN)] | Annotated[BitErrors, Tag(TABLE)], Discriminator(_table)]


def corruption_plan(corruption: Corruption) -> dict[str, float]:
    """Return the plan's entry for a corruption."""
    if isinstance(corruption, BitErrors):
        return {"bits": corruption.bit_error_rate}
    return {"packets": corruption.share}


# ---------------------------------------------------------------- jitter


class UniformJitter(Part):
    """Uniform from 0 to `max`; short: `jitter = "2 ms"`."""

    distribution: Literal["uniform"]
    """The distribution."""
    max: Duration
    """The largest."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"distribution": "uniform", "max_ns": self.max.ns}


class NormalJitter(Part):
    """Normal; a draw below zero counts as zero."""

    distribution: Literal["normal"]
    """The distribution."""
    mean: Duration
    """Mean (before the cut at zero)."""
    sd: Duration
    """Standard deviation (before the cut at zero)."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"distribution": "normal", "mean_ns": self.mean.ns, "sd_ns": self.sd.ns}


class ExponentialJitter(Part):
    """Exponential."""

    distribution: Literal["exponential"]
    """The distribution."""
    mean: Duration
    """Mean."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"distribution": "exponential", "mean_ns": self.mean.ns}


class ParetoJitter(Part):
    """A power-law tail: P(x > t) = (1 + t / scale)^-shape with scale = mean (shape - 1)."""

    distribution: Literal["pareto"]
    """The distribution."""
    mean: Duration
    """Mean."""
    shape: Annotated[Fraction, Field(gt=1, le=1000)]
    """Exponent of the tail: the smaller, the more of the delay falls on few packets. The variance exists above 2."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"distribution": "pareto", "mean_ns": self.mean.ns, "shape": float(self.shape)}


def _distribution(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return value.get("distribution")
    return getattr(value, "distribution", PLAIN)


Jitter = Annotated[
    Annotated[Duration, Tag(PLAIN)]
    | Annotated[UniformJitter, Tag("uniform")]
    | Annotated[NormalJitter, Tag("normal")]
    | Annotated[ExponentialJitter, Tag("exponential")]
    | Annotated[ParetoJitter, Tag("pareto")],
    Discriminator(_distribution),
]


def jitter_plan(jitter: Jitter) -> dict[str, Any] | None:
    """Return the plan's entry for a jitter; None for a jitter of 0 s."""
    if not isinstance(jitter, Duration):
        return jitter.plan()
    return {"distribution": "uniform", "max_ns": jitter.ns} if jitter.ns > 0 else None


# ---------------------------------------------------------------- reordering and copies


class Reordering(Part):
    """Some packets are held back so that others pass them."""

    share: Percentage
    """Probability that a packet is picked."""
    delay: PositiveDuration
    """Additional delay of a picked packet; with `extent`, at most."""
    extent: PacketCount | None = None
    """Number of packets that overtake a picked one before its release. Default: all that arrive within the delay."""
    gap: PacketCount = PacketCount("1 packet")
    """Distance between picked packets, at least: after a picked one, gap - 1 are spared."""
    correlation: Percentage = Percentage("0 %")
    """Correlation of one packet's being picked with the next one's; it changes nothing in the share."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {
            "share": self.share.share,
            "gap": self.gap.packets,
            "correlation": self.correlation.share,
            "delay_ns": self.delay.ns,
            "extent": None if self.extent is None else self.extent.packets,
        }


class Copies(Part):
    """Some packets arrive twice; short, for copies right behind their originals: `duplication = "1 %"`."""

    share: Percentage
    """Probability that a packet is copied."""
    delay: Duration = Duration("0 s")
    """Delay of the copy after its original."""


Duplication = Annotated[Annotated[Percentage, Tag(PLAIN)] | Annotated[Copies, Tag(TABLE)], Discriminator(_table)]


def duplication_plan(duplication: Duplication) -> dict[str, Any]:
    """Return the plan's entry for a duplication."""
    if isinstance(duplication, Copies):
        return {"share": duplication.share.share, "delay_ns": duplication.delay.ns}
    return {"share": duplication.share, "delay_ns": 0}


# ---------------------------------------------------------------- policer


class Policer(Part):
    """A token bucket at the link's entrance: packets that find too few tokens are dropped; no packet waits."""

    rate: Rate
    """Rate at which the bucket fills."""
    burst: Volume
    """Size of the bucket, wire bytes; full at first. A packet larger than this never passes."""
    exceed: Literal["drop", "mark"] = "drop"
    """Action on packets above the rate: "drop", or "mark" those that are ECN-capable and drop the others."""

    def plan(self) -> dict[str, Any]:
        """Return its part of the plan, as plain values."""
        return {"rate_bps": self.rate.bps, "burst_bytes": self.burst.bytes, "marks": self.exceed == "mark"}
