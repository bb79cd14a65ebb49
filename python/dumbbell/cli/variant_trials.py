"""Tries an own variant in short simulated runs under random conditions.

The endpoint calls the variant as in any run, so that every sequence of events is one that occurs. A case has a random
path and each of the conditions below with a chance of a third: losses, marks, reordering, outages (timeouts), pauses.
The cases follow from the seed. A case that fails is made smaller: conditions are left out while it still fails.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dumbbell.backends import Finished, Job, Simulator
from dumbbell.exceptions import BackendError
from dumbbell.scenario import Scenario

__all__ = ["Finding", "Report", "trials"]

FLOW = "own"
BUILT_IN = "newreno"
"""The variant that must deliver something too where an own one delivers nothing: an outage may last to the end."""
CHANCE = 1 / 3
"""Chance of each condition."""
PACKETS = 1000
"""Full packets that the bottleneck carries in a run, unless that is too short: bounds the length of fast runs."""
LEAST_S, MOST_S, ROUNDS = 0.5, 15.0, 20
"""Length of a run: from this time to that one, and about this many round trips."""
REPEATED = 10
"""Every so many cases are made twice."""
HUGE = 100
"""A window of so many times what path and queue hold is noted."""

Changes = Mapping[str, Any]


@dataclass
class _Draw:
    """Draws from one case's stream."""

    random: random.Random
    length_s: float = 0.0
    rate_mbps: float = 0.0

    def log(self, low: float, high: float) -> float:
        """Draw a number that is uniform in the logarithm."""
        return float(f"{math.exp(self.random.uniform(math.log(low), math.log(high))):.3g}")


BOTTLENECK = "network.bottleneck"
CONDITIONS: dict[str, Callable[[_Draw], Changes]] = {
    "losses": lambda draw: {f"{BOTTLENECK}.loss": f"{draw.log(0.01, 10)} %"},
    "lost ACKs": lambda draw: {f"{BOTTLENECK}.reverse": {"loss": f"{draw.log(0.1, 30)} %"}},
    "reordering": lambda draw: {f"{BOTTLENECK}.jitter": f"{draw.log(1, 30)} ms", f"{BOTTLENECK}.jitter_reorders": True},
    "duplicates": lambda draw: {f"{BOTTLENECK}.duplication": f"{draw.log(0.1, 5)} %"},
    "outage": lambda draw: {
        f"{BOTTLENECK}.outages": [
            {
                "at": f"{draw.length_s * draw.random.uniform(0.2, 0.6):.3f} s",
                "for": f"{draw.length_s * draw.random.uniform(0.05, 0.3):.3f} s",
                "packets": draw.random.choice(["hold", "drop"]),
            }
        ]
    },
    "marks": lambda _draw: {
        f"{BOTTLENECK}.queue": {"discipline": "codel", "ecn": True, "limit": "1000 packets"},
        f"flows.{FLOW}.stack.ecn": True,
    },
    "small receive buffer": lambda draw: {f"flows.{FLOW}.stack.window": f"{draw.random.randint(8, 64)} kB"},
    "pauses": lambda draw: {
        f"flows.{FLOW}.application": {"kind": "cbr", "rate": f"{draw.log(10, 500 * draw.rate_mbps)} kbit/s"}
    },
    "stack rfc": lambda _draw: {f"flows.{FLOW}.stack.preset": "rfc"},
    "late start": lambda draw: {f"flows.{FLOW}.start": f"{draw.length_s * draw.random.uniform(0.1, 0.5):.3f} s"},
    "competitor": lambda _draw: {},
}
"""The conditions, with the changes of the scenario that each makes; `_scenario` adds the competitor's flow."""


@dataclass(frozen=True)
class Finding:
    """A property that a variant lacks: an error, or one that most variants have and some rightly lack."""

    error: bool
    message: str
    scenario: str
    """A scenario file that shows it."""

    def document(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"error": self.error, "message": self.message, "scenario": self.scenario}


@dataclass
class Report:
    """The sums over all cases, and the properties that the variant lacks; at most one error."""

    sent_packets: int = 0
    retransmitted_packets: int = 0
    timeouts: int = 0
    marks: int = 0
    largest_packets: float = 0.0
    findings: list[Finding] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Return it as plain values."""
        sums = {name: value for name, value in vars(self).items() if name != "findings"}
        return {**sums, "findings": [finding.document() for finding in self.findings]}


@dataclass(frozen=True)
class _Case:
    """The path of a case, what it holds in packets, and its conditions with the changes that they make."""

    path: Mapping[str, str]
    held: float
    conditions: Mapping[str, Changes]


def trials(variant: Mapping[str, Any], cases: int, seed: int, progress: Callable[[int, int], None]) -> Report:
    """Run a variant in random cases, until one fails.

    Parameters
    ----------
    variant : mapping
        The variant as a scenario gives it: its source and its parameters.
    """
    report = Report()
    for number in range(cases):
        case = _case(seed, number)
        scenario = _scenario(variant, case)
        made = _course(scenario)
        if not isinstance(made, str) and number % REPEATED == 0 and _run(scenario).rows.flows != made.rows.flows:
            text = "two runs with the same seed differ: results would not repeat"
            report.findings.append(Finding(True, text, scenario.to_toml()))
            return report
        if isinstance(made, str):
            report.findings.append(_smallest(variant, case, made))
            return report
        _add(report, made, case, scenario)
        progress(number + 1, cases)
    return report


def _case(seed: int, number: int) -> _Case:
    draw = _Draw(random.Random(f"{seed}/{number}"))
    draw.rate_mbps, delay_ms = draw.log(1, 50), draw.log(1, 100)
    carried_s = PACKETS * 12e-3 / draw.rate_mbps
    draw.length_s = min(max(LEAST_S, carried_s, ROUNDS * 2e-3 * delay_ms), MOST_S)
    product = draw.rate_mbps * 2 * delay_ms / 12  # in full packets
    limit = max(4, round(product * draw.log(0.1, 3)))
    path = {
        "duration": f"{draw.length_s:.3f} s",
        "rate": f"{draw.rate_mbps} Mbit/s",
        "delay": f"{delay_ms} ms",
        "limit": f"{limit} packets",
    }
    chosen = [name for name in CONDITIONS if draw.random.random() < CHANCE]
    return _Case(path, product + limit, {name: CONDITIONS[name](draw) for name in chosen})


def _scenario(variant: Mapping[str, Any], case: _Case) -> Scenario:
    flows = [{"name": FLOW, "variant": dict(variant), "stack": {"preset": "linux"}}]
    if "competitor" in case.conditions:
        flows.append({"name": "competitor", "variant": "cubic"})
    path = case.path
    document = {
        "name": "trial",
        "duration": path["duration"],
        "start_jitter": "1 ms",
        "network": {
            "bottleneck": {"rate": path["rate"], "delay": path["delay"], "queue": {"limit": path["limit"]}},
            "access": {"rate": "1 Gbit/s", "delay": "100 us"},
        },
        "flows": flows,
        "trace": {"series": ["flows"]},
    }
    return Scenario.from_dict(document, {k: v for one in case.conditions.values() for k, v in one.items()})


def _course(scenario: Scenario) -> Finished | str:
    """Make the run; return the rule that it breaks instead of its results, if any."""
    try:
        made = _run(scenario)
    except BackendError as e:
        return str(e).removeprefix("the simulator refuses repetition 0: ").removeprefix(f"flows.{FLOW}.variant: ")
    if not _delivered(made) and _delivered(_run(scenario.with_changes({f"flows.{FLOW}.variant": BUILT_IN}))):
        return f"nothing was delivered in {scenario.duration}, and {BUILT_IN} delivers something"
    return made


def _delivered(made: Finished) -> bool:
    return bool(made.rows.flows[0]["delivered_bytes"])


def _run(scenario: Scenario) -> Finished:
    return next(iter(Simulator().run([Job(scenario.cells[0], 0, 1)], 1)))


def _add(report: Report, made: Finished, case: _Case, scenario: Scenario) -> None:
    flow = made.rows.flows[0]
    for name in ("sent_packets", "retransmitted_packets", "timeouts"):
        setattr(report, name, getattr(report, name) + flow[name])
    report.marks += sum(queue["marks"] for queue in made.rows.queues)
    window = made.tables[f"flow/{FLOW}"]["cwnd"]
    largest = float(window.max()) / flow["snd_mss_bytes"] if len(window) and flow["snd_mss_bytes"] else 0.0
    report.largest_packets = max(report.largest_packets, largest)
    # The queue that marks has another limit.
    if largest > HUGE * case.held and "marks" not in case.conditions and not report.findings:
        message = f"a window of {largest:.3g} packets, and path and queue hold {case.held:.3g}: is there a limit?"
        report.findings.append(Finding(False, message, scenario.to_toml()))


def _smallest(variant: Mapping[str, Any], case: _Case, message: str) -> Finding:
    """Leave conditions out while the case still fails; return the finding."""
    for name in list(case.conditions):
        fewer = replace(case, conditions={k: v for k, v in case.conditions.items() if k != name})
        found = _course(_scenario(variant, fewer))
        if isinstance(found, str):
            case, message = fewer, found
    return Finding(True, message, _scenario(variant, case).to_toml())
