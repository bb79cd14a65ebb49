"""No command states "no difference" beside an interval that excludes zero: random results, every verdict."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell import Results, Scenario, compare
from dumbbell.report.results_report import comparison_sentences
from dumbbell.results.runs.record import Run

LINK = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"limit": "1 bdp"}}
VARIANTS = ["cubic", "vegas", "bbr"]
SCENARIO = Scenario.from_dict(
    {
        "name": "verdicts",
        "duration": "5 s",
        "repetitions": 10,
        "network": {"bottleneck": LINK, "access": {"rate": "100 Mbit/s", "delay": "1 ms", "jitter": "1.2 ms"}},
        "flows": [{"name": "a", "variant": "cubic"}],
        "sweep": {"flows.a.variant": VARIANTS},
    }
)
# Few different values, so that ties and identical repetitions occur; large and small ones.
GOODPUT = st.one_of(st.sampled_from([1e6, 2e6, 9.4e6]), st.floats(1e3, 1e8))
SAMPLES = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.lists(GOODPUT, min_size=n, max_size=n), min_size=len(VARIANTS), max_size=len(VARIANTS))
)
TIMES = {"start_s": 0.0, "stop_s": 5.0, "sent_packets": 100}
NUMBER = r"([+-]?[\d.]+(?:e[+-]?\d+)?)"


def results(samples: list[list[float]], *, shift: int = 0) -> Results:
    """Results with these goodputs, bit/s, by variant and repetition; other seeds with a shift."""
    runs: list[Run] = []
    for variant, values in zip(VARIANTS, samples, strict=True):
        for repetition, value in enumerate(values):
            flow: dict[str, Any] = {"name": "a", "variant": variant, "stack": "linux", "goodput_bps": value, **TIMES}
            cell = {"flows.a.variant": variant}
            seed = SCENARIO.repetition_seed(repetition) + shift
            runs.append(Run(len(runs), f"{variant}{repetition}", cell, repetition, seed, [flow], [], []))
    return Results(SCENARIO, runs)


def excludes_zero(sentence: str) -> bool:
    """True if the first interval of a sentence excludes zero; False without an interval."""
    found = re.search(rf"\[{NUMBER}, {NUMBER}\]", sentence)
    return found is not None and (float(found[1]) > 0 or float(found[2]) < 0)


def agrees(sentence: str) -> None:
    """Check a sentence against its interval; equal within a margin doesn't depend on zero."""
    if "no verdict on" in sentence:
        assert "[" not in sentence and "copies of one run" in sentence, sentence
    elif "are equal within" not in sentence:
        assert ("no difference shown" in sentence) != excludes_zero(sentence), sentence


@given(SAMPLES)
@settings(max_examples=150, deadline=None)
def test_sentences_of_statistics_and_reports(samples: list[list[float]]) -> None:
    found = results(samples)
    for sentence in comparison_sentences(found):
        agrees(sentence)
    for _, compared in found.comparisons("goodput_bps", "variant"):
        sentence = compared.scaled(1e-6).sentence("Mbit/s")
        agrees(sentence)


@given(SAMPLES, SAMPLES, st.booleans())
@settings(max_examples=150, deadline=None)
def test_verdicts_of_compare(a: list[list[float]], b: list[list[float]], same_seeds: bool) -> None:
    changes = compare(results(a), results(b, shift=0 if same_seeds else 1), ["goodput_bps"])
    assert len(changes) == len(VARIANTS)
    for change in changes:
        excluded = change.low > 0 or change.high < 0
        assert change.significant == excluded, change
        if change.verdict in ("refused", "not shown"):
            assert not excluded, change
