"""The rules behind the verdicts, with made-up numbers for and against each statement."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import TypeAdapter, ValidationError

from dumbbell.metrics import paired
from dumbbell.metrics.needed_repetitions import repetitions_for
from dumbbell.studies import Claim, Finding, Verdict, rules
from dumbbell.studies.declared import Rule, Setting
from dumbbell.studies.judge import Quantities, Remark, judge
from dumbbell.studies.paper import Paper
from dumbbell.studies.rule_words import Words

Floats = npt.NDArray[np.float64]
N = 10
NOISE = np.random.default_rng(7).normal(size=(20, N)) * 0.01


def around(value: float, row: int = 0, *, noise: float = 1.0, n: int = N) -> Floats:
    return np.asarray(value * (1 + noise * NOISE[row, :n]))


def test_the_interval_of_a_bounded_mean_stays_within_its_bounds() -> None:
    shares = np.array([95, 97, 99, 100, 100, 88, 100, 99.0])
    (free,) = rules.within(shares, "share", 95, 100, unit="%").measured
    (bounded,) = rules.within(shares, "share", 95, 100, unit="%", bounds=(0, 100)).measured
    assert bounded.value == free.value
    assert free.high is not None and free.high > 100
    assert bounded.high is not None and bounded.high < 100
    full = np.full(10, 100.0)
    assert rules.within(full, "share", 95, 100, bounds=(0, 100)).verdict is Verdict.AGREES
    words = Words({"share": ("share of early drops", "%"), "jain": ("Jain's index of the two flows of a run", "")})
    assert (words.bounds("share"), words.bounds("jain")) == ((0, 100), (0.5, 1))


def test_verdict_of_several_statements() -> None:
    yes, no, unknown, weak = rules.Ruling(True), rules.Ruling(False), rules.Ruling(None), rules.Ruling(None, (), 20)
    assert rules.verdict(yes, yes) is Verdict.AGREES
    assert rules.verdict(yes, no, unknown, weak) is Verdict.DIFFERS
    assert rules.verdict(yes, unknown, weak) is Verdict.NOT_MEASURED
    assert rules.verdict(yes, weak, yes) is Verdict.UNDECIDED
    assert rules.verdict() is Verdict.NOT_MEASURED
    assert (yes & no).holds is False
    assert (weak & rules.Ruling(None, (), 30)).needs == 30
    assert (weak & yes).needs == 20
    assert (yes & yes).holds is True
    assert rules.needed(yes, no) is None


def test_higher() -> None:
    assert rules.higher(around(2), around(1, 1), "a minus b").holds is True
    assert rules.higher(around(1), around(2, 1), "a minus b").holds is False
    # The same up to 1 %: it is shown that nothing of 5 % exists.
    assert rules.higher(around(1), around(1, 1), "no difference").holds is False
    assert rules.higher([], [], "nothing").verdict is Verdict.NOT_MEASURED
    (measured,) = rules.higher(around(2), around(1, 1), "a minus b", "Mbit/s").measured
    assert measured.value == pytest.approx(1, rel=0.05)
    assert measured.unit == "Mbit/s"


def test_lack_of_power_is_not_a_difference() -> None:
    # 30 % of noise at five repetitions: neither a tenth more nor a tenth less can be shown.
    a, b = around(1.1, noise=30, n=5), around(1.0, 1, noise=30, n=5)
    found = rules.higher(a, b, "a minus b")
    assert found.verdict is Verdict.UNDECIDED
    assert found.needs is not None
    assert found.needs > 5
    for n in (1, 2, 3):
        assert rules.higher(around(1.1, n=n), around(1, 1, n=n, noise=30), "a minus b").verdict is Verdict.UNDECIDED
    assert rules.higher([2.0], [1.0], "one pair").needs == 2
    # Three equal differences can't be significant (4 ** (1 - 3) = 0.0625), four can.
    assert rules.higher([2.0] * 3, [1.0] * 3, "tied").needs == 4
    assert rules.higher([2.0] * 4, [1.0] * 4, "tied").holds is True


def test_the_repetitions_that_it_needs_decide() -> None:
    rng = np.random.default_rng(3)
    sd, off = 1.0, 0.6
    n = repetitions_for(sd, off)
    shown = sum(paired(rng.normal(off, sd, n), np.zeros(n)).direction == "higher" for _ in range(400))
    # 80 % asked; the spread of 400 draws is 2 %.
    assert shown / 400 == pytest.approx(0.8, abs=0.06)
    assert repetitions_for(sd, -off) == n
    assert repetitions_for(sd, 0.0) == 1_000_000


def spread(kind: str, rng: np.random.Generator, trials: int, n: int) -> npt.NDArray[np.float64]:
    """Draw differences with mean 0 and standard deviation 1, shape (trials, n)."""
    if kind == "skewed":
        # A log-normal variable has mean e^(1/2) and variance (e - 1) e.
        return np.asarray((np.exp(rng.standard_normal((trials, n))) - np.exp(0.5)) / math.sqrt((math.e - 1) * math.e))
    if kind == "bimodal":
        return np.asarray((rng.choice([-1.0, 1.0], (trials, n)) + 0.2 * rng.standard_normal((trials, n))) / 1.04**0.5)
    return rng.standard_normal((trials, n))


@pytest.mark.parametrize("kind", ["normal", "skewed", "bimodal"])
def test_quick_verdicts_are_seldom_contrary_to_those_of_the_whole_study(kind: str) -> None:
    # Means of 100 and 105.3: 5 % of the larger one is 5.3, the smallest difference that counts.
    trials, least = 400, 100 / 0.95 - 100
    a = 100 + least + 3 * spread(kind, np.random.default_rng(4), trials, 10)
    b = np.full(10, 100.0)
    whole = [rules.higher(x, b, "").holds for x in a]

    def contrary(*, quick: bool) -> float:
        found = [rules.higher(x[:5], b[:5], "", quick=quick).holds for x in a]
        return float(np.mean([None not in pair and pair[0] is not pair[1] for pair in zip(found, whole, strict=True)]))

    # At most 0.4 % are expected (docs/explanations/significance.md), so 1.6 of 400; 4 or more of 1.6 in 8 % of cases.
    assert contrary(quick=True) < 0.01
    assert contrary(quick=True) <= contrary(quick=False)


def test_quick_verdicts_need_the_whole_interval() -> None:
    # 5 values of mean 1.10 and standard deviation 0.02 against 1: t = 8.61 at 99.9 %, the interval is 0.10 +- 0.077.
    # It excludes zero, and is partly below 5 % of 1.1 = 0.055: that suffices in the whole study only.
    a, b = 1.1 + 0.02 * np.array([-1.265, -0.632, 0, 0.632, 1.265]), np.ones(5)
    assert rules.higher(a, b, "").holds is True
    assert rules.higher(a, b, "", quick=True).verdict is Verdict.UNDECIDED
    assert rules.higher(a + 0.1, b, "", quick=True).holds is True
    # Five equal values are decided as they are in the whole study.
    assert rules.higher([2.0] * 5, b, "", quick=True).holds is True
    assert rules.within([5.0] * 5, "no spread", 4.5, 5.5, quick=True).holds is True
    # A value outside the range of 40 may lie within that of all repetitions.
    assert rules.covers(np.arange(40.0), "", 41.0).holds is False
    assert rules.covers(np.arange(40.0), "", 41.0, quick=True).verdict is Verdict.UNDECIDED
    # 1.10 +- 0.077 is within 1.02 to 1.18, and not within 1.05 to 1.15.
    assert rules.within(a, "", 1.02, 1.18, quick=True).holds is True
    assert rules.within(a, "", 1.05, 1.15).holds is True
    assert rules.within(a, "", 1.05, 1.15, quick=True).verdict is Verdict.UNDECIDED


def test_few_runs_without_an_event_decide_nothing() -> None:
    # No stall of either flow in five runs: a sixth could have one, and then no difference is too small.
    none, one = np.zeros(5), np.array([0, 0, 0, 0, 9.0])
    assert rules.higher(none, none, "").holds is False
    found = rules.higher(none, none, "", quick=True)
    assert (found.verdict, found.needs) == (Verdict.UNDECIDED, 10)
    assert rules.extreme({"a": none, "b": none, "c": none}, "a", highest=False, quick=True).holds is None
    assert rules.higher(none, one, "", quick=True).needs != 10
    alike = rules.alike({"a": none, "b": none}, 0.1, quick=True)
    assert (alike.verdict, alike.needs) == (Verdict.UNDECIDED, 10)
    assert rules.alike({"a": none, "b": none}, 0.1).holds is True
    # A bound that isn't zero is far enough from none.
    assert rules.alike({"a": none, "b": none}, 0.5, absolute=True, quick=True).holds is True
    assert rules.within(none, "", -np.inf, 0.5, quick=True).holds is True


def test_extreme() -> None:
    samples = {"a": around(3), "b": around(2, 1), "c": around(1, 2)}
    assert rules.extreme(samples, "a", highest=True).holds is True
    assert rules.extreme(samples, "b", highest=True).holds is False
    assert rules.extreme(samples, "c", highest=False).holds is True
    assert rules.extreme(samples, "a", highest=False).holds is False
    # First, but not shown against one of them.
    close = {"a": around(3.1, noise=20), "b": around(3, 1, noise=20), "c": around(1, 2)}
    assert rules.extreme(close, "a", highest=True).verdict is Verdict.UNDECIDED
    assert rules.extreme({"a": around(1)}, "a", highest=True).holds is None


def test_alike() -> None:
    assert rules.alike({"a": around(1), "b": around(1.05, 1)}, 0.1).holds is True
    far = rules.alike({"a": around(1), "b": around(1.5, 1), "c": around(1, 2)}, 0.1)
    assert far.holds is False
    assert abs(far.measured[0].value or 0.0) == pytest.approx(0.5, rel=0.1)
    assert rules.alike({"a": around(1, noise=20), "b": around(1, 1, noise=20)}, 0.1).verdict is Verdict.UNDECIDED
    assert rules.alike({"a": around(1), "b": around(1.3, 1)}, 0.5, absolute=True).holds is True
    assert rules.alike({"a": np.array([np.nan]), "b": around(1)}, 0.1).holds is None


def test_within() -> None:
    assert rules.within(around(5), "x", 4.5, 5.5).holds is True
    assert rules.within(around(6), "x", 4.5, 5.5).holds is False
    assert rules.within(around(5.5), "x", 4.5, 5.5).verdict is Verdict.UNDECIDED
    assert rules.within(around(5), "x", 4.5, np.inf).holds is True
    assert rules.within([5.0] * 4, "no spread", 4.5, 5.5).holds is True
    assert rules.within([5.0] * 3, "no spread, too few", 4.5, 5.5).needs == 4
    assert rules.within([], "x", 0, 1).verdict is Verdict.NOT_MEASURED


def test_median_within() -> None:
    # 10 values: P(at most one below the median) = 11 / 1024, so from the second to the ninth value at 97.85 %.
    x = np.array([9.0, 1, 2, 3, 4, 5, 6, 7, 8, 100])
    (measured,) = rules.median_within(x, "x", 0, 10, level=0.975).measured
    assert (measured.value, measured.low, measured.high) == (5.5, 2.0, 9.0)
    assert rules.median_within(x, "x", 2, 9, level=0.975).holds is True
    assert rules.median_within(x, "x", 10, 20, level=0.975).holds is False
    assert rules.median_within(x, "x", 5, 20, level=0.975).verdict is Verdict.UNDECIDED
    # At 95 % the interval of five values doesn't exist: 2 x 2^-5 = 0.0625. Of six it is their range.
    few = rules.median_within(x[:5], "x", 0, 200)
    assert (few.verdict, few.needs) == (Verdict.UNDECIDED, 6)
    assert rules.median_within(x[:6], "x", 1, 9).holds is True
    assert rules.median_within([], "x", 0, 1).verdict is Verdict.NOT_MEASURED
    assert rules.median_within([5.0] * 10, "no spread", 4, 6).holds is True


def test_covers() -> None:
    singles = np.linspace(5, 9, 40)
    assert rules.covers(singles, "page", 7.1).holds is True
    assert rules.covers(singles, "page", 4.1).holds is False
    assert rules.covers(singles, "page", 4.8, slack=0.05).holds is True
    # One more of 25 lies outside the range of 25 by chance in 2 of 26 cases.
    few = rules.covers(singles[:25], "page", 4.1)
    assert few.verdict is Verdict.UNDECIDED
    assert few.needs == 39


def test_exchange() -> None:
    ahead, behind = np.array([around(2), around(1, 1)]), np.array([around(1, 2), around(2, 3)])
    points = ["low", "high"]
    both = rules.exchange(ahead, behind, points)
    assert both.holds is True
    assert [m.text for m in both.measured] == ["low", "high"]
    assert rules.exchange(ahead, ahead, points).holds is False
    # Shares that differ by a hundredth in the mean can only show that no flow is ahead.
    first, second = around(0.505, noise=15), around(0.495, 1, noise=15)
    apart = (first - second) / (first + second)
    open_ = rules.exchange(np.array([first]), np.array([second]), ["one"])
    assert open_.verdict is Verdict.UNDECIDED
    assert open_.needs == repetitions_for(float(apart.std(ddof=1)), rules.EQUAL - abs(float(apart.mean())))
    one_sided = rules.exchange(ahead, np.array([around(1, 2), around(1, 3, noise=20)]), points)
    assert one_sided.verdict is Verdict.UNDECIDED


def test_equal() -> None:
    points = ["low", "high"]
    fair = np.array([around(1), around(2, 1)])
    assert rules.equal(fair, np.array([around(1, 2), around(2, 3)]), points).holds is True
    # One side ahead by a third of the sum.
    assert rules.equal(2 * fair, fair, points).holds is False
    # No side ahead over the seeds, but each run is lopsided.
    swings = np.where(np.arange(N) % 2 == 0, 3.0, 1.0) * fair
    assert rules.equal(swings, 4 * fair - swings, points).holds is False
    assert rules.equal(fair[:, :3], fair[:, :3], points).verdict is Verdict.UNDECIDED


NUMBERS = {
    ("rate", "vegas", "far"): 3.0,
    ("rate", "reno", "far"): 2.0,
    ("rate", "vegas", "near"): 1.0,
    ("rate", "reno", "near"): 2.0,
}
WORDS = Words({"rate": ("throughput", "Mbit/s")}, {"path": "the {} path"}, {"vegas": "Vegas", "reno": "Reno"})


def quantities(noise: float = 1.0, n: int = N) -> Quantities:
    def get(metric: str, at: Setting) -> Floats:
        key = (metric, str(at["variant"]), str(at["path"]))
        row = 1 + sorted(NUMBERS).index(key) if key in NUMBERS else 0
        return around(NUMBERS[key], row, noise=noise, n=n) if row else np.array([])

    return Quantities(get, WORDS)


def judged(rule: Mapping[str, object], found: Quantities | None = None, remark: Remark | None = None) -> Finding:
    claim = Claim(id="one", text="A sentence.", rule=TypeAdapter(Rule).validate_python(rule))
    return judge(claim, found or quantities(), {}, remark)


HIGHER = {"kind": "higher", "metric": "rate", "along": "variant", "a": "vegas", "b": "reno"}


def test_declared_rule_decides() -> None:
    far = judged({**HIGHER, "at": {"path": "far"}})
    assert far.verdict is Verdict.AGREES
    assert "Vegas minus Reno +0.998" in far.why
    assert "higher for Vegas than for Reno" in far.rule
    assert "Setting: the far path" in far.rule
    near = judged({**HIGHER, "at": {"path": "near"}})
    assert near.verdict is Verdict.DIFFERS
    assert near.why.startswith("throughput: shown not to hold")
    assert far.rule.replace("far", "near") == near.rule


def test_result_that_depends_has_both_results() -> None:
    found = judged({**HIGHER, "each": {"path": ["far", "near"]}})
    assert found.verdict is Verdict.DEPENDS
    assert "it holds for 1 of 2: the far path: Vegas minus Reno +0.998" in found.why
    assert "Shown not to hold for 1 of 2: the near path: Vegas minus Reno -0.987" in found.why
    assert [m.what for m in found.measured] == [f"Vegas minus Reno (the {p} path)" for p in ("far", "near")]


def test_result_without_power_states_what_it_needs() -> None:
    found = judged({**HIGHER, "at": {"path": "far"}}, quantities(noise=30, n=5))
    assert found.verdict is Verdict.UNDECIDED
    assert found.needs is not None
    assert found.why.endswith(f"With 5 repetitions the test can't decide; it would need about {found.needs}")
    nothing = judged({**HIGHER, "at": {"path": "nowhere"}})
    assert nothing.verdict is Verdict.NOT_MEASURED
    assert nothing.needs is None


def test_open_setting_keeps_the_claim_open() -> None:
    # One setting is decided, the other one has too much noise: more repetitions could make it "depends".
    def get(metric: str, at: Setting) -> Floats:
        noise = 60.0 if at["path"] == "far" else 1.0
        return quantities(noise=noise).get(metric, at)

    found = judged({**HIGHER, "each": {"path": ["far", "near"]}}, Quantities(get, WORDS))
    assert found.verdict is Verdict.UNDECIDED
    assert "shown not to hold for 1 of 2: the near path" in found.why


def test_remark_follows_the_numbers() -> None:
    found = judged({**HIGHER, "at": {"path": "far"}}, remark=Remark("Timeouts a run: 3"))
    assert found.why.endswith(". Timeouts a run: 3")


def test_every_kind_of_rule_decides() -> None:
    at = {"path": "far", "variant": "vegas"}
    rest = {"metric": "rate", "at": at}
    both = {"metric": "rate", "along": "variant", "at": {"path": "far"}}
    for rule in (
        {"kind": "highest", "who": "vegas", "among": ["reno"], **both},
        {"kind": "lowest", "who": "reno", "among": ["vegas"], **both},
        {"kind": "order", "values": ["vegas", "reno"], **both},
        {"kind": "alike", "values": ["vegas", "reno"], "off": 1.5, **both},
        {"kind": "near", "value": 2.9, "off": 0.5, **rest},
        {"kind": "near", "value": 2.0, "factor": 2.0, **rest},
        {"kind": "at least", "bound": 2.5, **rest},
        {"kind": "at most", "bound": 3.5, **rest},
        {"kind": "covers", "value": 3.0, **rest},
    ):
        found = judged(rule)
        assert found.verdict is Verdict.AGREES, rule
        assert found.rule
        assert found.measured
    for rule in (
        {"kind": "highest", "who": "reno", "among": ["vegas"], **both},
        {"kind": "order", "values": ["reno", "vegas"], **both},
        {"kind": "alike", "values": ["vegas", "reno"], "part": 0.1, **both},
        {"kind": "near", "value": 2.0, "part": 0.1, **rest},
        {"kind": "at least", "bound": 3.5, **rest},
        {"kind": "at most", "bound": 2.5, **rest},
    ):
        assert judged(rule).verdict is Verdict.DIFFERS, rule
    over = {"kind": "exchange", "metric": "rate", "along": "variant", "a": "vegas", "b": "reno", "over": "path"}
    assert judged({**over, "points": ["far", "near"]}).verdict is Verdict.AGREES
    assert judged({**over, "points": ["far"]}).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("first", "second", "sum_"),
    [
        (Verdict.AGREES, Verdict.AGREES, Verdict.AGREES),
        (Verdict.AGREES, Verdict.DIFFERS, Verdict.DIFFERS),
        (Verdict.DEPENDS, Verdict.UNDECIDED, Verdict.UNDECIDED),
        (Verdict.AGREES, Verdict.UNDECIDED, Verdict.UNDECIDED),
        (Verdict.AGREES, Verdict.NOT_MEASURED, Verdict.NOT_MEASURED),
    ],
)
def test_sentence_that_sums_up(first: Verdict, second: Verdict, sum_: Verdict) -> None:
    before = {n: Finding(n, v, "", (), "") for n, v in (("a", first), ("b", second))}
    claim = Claim(id="both", text="Both.", rule={"kind": "all", "of": ["a", "b"]})
    found = judge(claim, quantities(), before)
    assert found.verdict is sum_
    assert f"a {first.value}, b {second.value}" in found.why


LISTED = {
    "title": "t",
    "authors": ["a"],
    "method": "m",
    "rules_written": "Before any run.",
    "exhibits": [{"id": "Fig1", "title": "a figure", "here": ["fig01"]}],
    "claims": [{"id": "one", "words": {"4": "Vegas is higher"}, "rule": HIGHER}],
}


def test_a_listed_report_is_whole() -> None:
    assert Paper(**LISTED).claims[0].text == "Vegas is higher"
    for change, words in (
        ({"rules_written": ""}, "when the rules were written"),
        ({"claims": [{"id": "one", "words": {"4": "x"}}]}, "a rule or a reason"),
        ({"claims": [{"id": "one", "text": "x", "rule": HIGHER}]}, "the report's words"),
        ({"claims": [{"id": "one", "words": {"4": "x"}, "rule": HIGHER, "untestable": "no"}]}, "either a rule"),
        ({"claims": [{"id": "Fig1", "words": {"4": "x"}, "rule": HIGHER}]}, "given twice: Fig1"),
        ({"claims": [{"id": "one", "words": {"4": "x"}, "rule": {"kind": "all", "of": ["two"]}}]}, "before it"),
        ({"claims": [{"id": "one", "words": {"4": "x"}, "rule": {**HIGHER, "kind": "greatest"}}]}, "greatest"),
        ({"exhibits": [{"id": "Fig1", "title": "a figure"}]}, "its counterpart or the reason"),
    ):
        with pytest.raises(ValidationError, match=words):
            Paper(**{**LISTED, **change})
    near = {"kind": "near", "metric": "rate", "value": 1.0}
    for limits in ({}, {"part": 0.1, "off": 1.0}):
        with pytest.raises(ValidationError, match="one of part, factor, off"):
            TypeAdapter(Rule).validate_python({**near, **limits})
