"""A declared rule in words: the sentence that the report shows beside a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dumbbell.metrics.intervals import UNBOUNDED, Bounds
from dumbbell.studies.declared import (
    Alike,
    All,
    Bound,
    Covers,
    Exchange,
    Extreme,
    Higher,
    Near,
    Order,
    Rule,
    Setting,
    Value,
)
from dumbbell.studies.rules import QUICK_LEVEL

__all__ = ["QUICK", "Words", "rule_text"]


QUICK = (
    f"In this quick study the intervals are of {100 * QUICK_LEVEL:g} %. Quantities that are zero in every run aren't "
    "shown to be equal."
)


BOUNDED: dict[str, Bounds] = {
    "share of": (0.0, 100.0),
    "drop rate": (0.0, 100.0),
    "Jain's index of the two flows": (0.5, 1.0),
}
"""First words of a metric's name -> its bounds, in its unit."""


@dataclass(frozen=True)
class Words:
    """Names of a study's metrics and settings.

    Attributes
    ----------
    metrics : mapping of str to (str, str)
        Metric -> its name in a sentence, its unit.
    keys : mapping of str to str
        Key of a setting -> a pattern with ``{}`` for the value, such as ``"CBR {} Mbit/s"``.
    values : mapping of str to str
        Value -> its name.
    """

    metrics: Mapping[str, tuple[str, str]]
    keys: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    def metric(self, name: str) -> str:
        """Return the name of a metric in a sentence."""
        return self.metrics[name][0]

    def unit(self, name: str) -> str:
        """Return the unit of a metric."""
        return self.metrics[name][1]

    def bounds(self, name: str) -> Bounds:
        """Return the smallest and the largest possible value of a metric."""
        words = self.metric(name)
        return next((bounds for begin, bounds in BOUNDED.items() if words.startswith(begin)), UNBOUNDED)

    def value(self, value: Value) -> str:
        """Return the name of a value."""
        return self.values.get(str(value), f"{value:g}" if isinstance(value, float) else str(value))

    def setting(self, setting: Setting) -> str:
        """Return the words for a setting."""
        return ", ".join(self.keys.get(k, "{}").format(self.value(v)) for k, v in setting.items())


def rule_text(rule: Rule, words: Words, *, quick: bool = False) -> str:
    """Write a rule as a sentence in the words of its study; with `quick`, as it applies in a quick study."""
    if isinstance(rule, All):
        condition = "if all of them hold" if len(rule.of) > 1 else "if that holds"
        return f"It sums up {', '.join(rule.of)}, and holds {condition}."
    name, unit = words.metric(rule.metric), words.unit(rule.metric)
    text = _statement(rule, name, f" {unit}" if unit else "", words)
    if rule.at:
        text += f" Setting: {words.setting(rule.at)}."
    if rule.each:
        listed = " and each of: ".join("; ".join(words.setting({k: v}) for v in vs) for k, vs in rule.each.items())
        text += f" For each of: {listed}. The intervals hold at 95 % together."
    if isinstance(rule, Higher | Extreme | Order) and rule.occurs:
        text += " A setting where it is zero in every run has nothing to compare, and isn't measured."
    text = f"{text} {rule.reason}".rstrip()
    return f"{text} {QUICK}" if quick and not isinstance(rule, Covers) else text


def _statement(rule: Rule, name: str, unit: str, words: Words) -> str:
    def part(x: float) -> str:
        return f"{100 * x:g} %"

    of = rule.of if isinstance(rule, Near) else "mean"
    mean = name if name.startswith(f"{of} ") else f"{of} {name}"
    match rule:
        case Higher():
            a, b = (words.value(v) for v in (rule.a, rule.b))
            return (
                f"On the same seeds the {name} is shown to be higher for {a} than for {b} (95 % interval of the mean "
                f"difference above zero, and from {part(rule.matter)} of the larger mean on)."
            )
        case Extreme():
            return (
                f"On the same seeds the {name} is shown to be the {rule.kind} for {words.value(rule.who)}, against "
                f"each of {_list(words.value(v) for v in rule.among)}, by at least {part(rule.matter)}."
            )
        case Order():
            return (
                f"On the same seeds the {name} is shown to decrease in the order "
                f"{_list(map(words.value, rule.values))}, by at least {part(rule.matter)} each."
            )
        case Alike():
            limit = part(rule.part) if rule.part is not None else f"{rule.off:g}{unit}"
            return (
                f"The {name} of {_list(map(words.value, rule.values))} is shown to differ by at most {limit} (95 % "
                "intervals of the mean differences)."
            )
        case Near():
            if rule.along:
                bands = {v: rule.ends({rule.along: v}) for v in rule.numbers}
                listed = "; ".join(
                    f"{words.value(v)} {low:.4g} to {high:.4g}{unit} (report {rule.numbers[v]:g})"
                    for v, (low, high) in bands.items()
                )
                return f"The {mean} is shown to lie in a band around the report's (95 % intervals together): {listed}."
            low, high = rule.ends(rule.at)
            return (
                f"The {mean} is shown to lie from {low:.4g} to {high:.4g}{unit} (95 % interval); the report has "
                f"{rule.value:g}."
            )
        case Bound():
            return f"The {mean} is shown to be {rule.kind} {rule.bound:g}{unit} (95 % interval)."
        case Covers():
            slack = f", widened by {part(rule.slack)}" if rule.slack else ""
            return (
                f"The report's single measurement of {rule.value:g}{unit} lies within the range of single "
                f"measurements of the {name} here{slack}. It fails only with 39 of them or more: then one more lies "
                "outside by chance in 5 % of all cases."
            )
        case Exchange():
            return (
                f"In {name} {words.value(rule.a)} is shown to be ahead at some of "
                f"{_list(map(words.value, rule.points))}, and {words.value(rule.b)} at others (95 % together)."
            )
        case _:
            raise TypeError(rule)


def _list(items: Iterable[str]) -> str:
    return ", ".join(items)
