"""The test cases of the BBR draft's appendix: each a simulation, all of them a study."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import dumbbell
from dumbbell.results import Results
from dumbbell.studies import Done, study
from dumbbell.studies.bbr_cases.analysis import CHECKS, examine
from dumbbell.studies.bbr_cases.case import MSS, Case
from quick import check_quick, table, verdicts

FOLDER = study("bbr-cases").folder


@cache
def results_of(name: str) -> Results:
    return dumbbell.run(FOLDER / f"{name}.toml")


class Each(dict[str, Results]):
    """Runs a case when it is asked for."""

    def __missing__(self, name: str) -> Results:
        return results_of(name)


def test_every_case_has_a_scenario() -> None:
    assert list(CHECKS) == list(range(1, 23))
    assert len(list(FOLDER.glob("a*.toml"))) == 22
    for claim, experiment in zip(study("bbr-cases").paper.claims, study("bbr-cases").experiments, strict=True):
        first = (FOLDER / experiment.file).read_text(encoding="utf-8").splitlines()[0]
        assert claim.id == experiment.name
        assert f"A.{int(claim.id[1:])} {first[2:]}" == claim.text.split(":")[0] == experiment.what


@pytest.mark.parametrize("number", sorted(CHECKS))
def test_case(number: int) -> None:
    case = examine(Case.of(number, Each()))
    assert case.holds, [what for what, holds in case.seen if not holds]


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (1, {"flows.flow.variant": {"name": "bbr3", "full_bw_rounds": 5}}),
        (3, {"flows.flow.variant": {"name": "bbr3", "drain_pacing_gain": 0.35}}),
        (8, {"flows.flow.variant": {"name": "bbr3", "down_pacing_gain": 0.75}}),
        (10, {"flows.flow.variant": {"name": "bbr3", "probe_rtt_cwnd_gain": 0.75}}),
        (10, {"flows.flow.variant": {"name": "bbr3", "probe_rtt_interval": "8 s"}}),
        (18, {"flows.flow.stack": "rfc"}),
        (19, {"flows.flow.stack": "rfc"}),
        (20, {"duration": "3 s"}),
    ],
)
def test_another_variant_fails(number: int, changes: dict[str, object]) -> None:
    name = f"a{number:02d}"
    case = examine(Case.of(number, {name: dumbbell.run(FOLDER / f"{name}.toml", changes=changes)}))
    assert not case.holds


def test_a_made_up_trace() -> None:
    # Startup for 5 rows, drain for 3, cruise: codes as the registry has them.
    codes = {name: n for n, name in enumerate(dumbbell.registry.phases())}
    state = np.array([codes["startup"]] * 5 + [codes["drain"]] * 3 + [codes["cruise"]] * 2)
    trace = {"state": state, "t": 0.1 * np.arange(10), "pacing_gain": np.where(state == codes["drain"], 0.5, 1.0),
             "inflight": np.array([10.0] * 5 + [60.0, 50.0, 40.0, 30.0, 30.0]) * MSS,
             "bw": np.full(10, 34.0 * MSS / 0.04), "min_rtt": np.full(10, 0.04),
             "pacing_rate": np.full(10, 34.0 * MSS / 0.04)}  # fmt: skip
    case = Case(3, trace, {})
    assert case.spans() == [("startup", 0, 5), ("drain", 5, 8), ("cruise", 8, 10)]
    assert case.first("drain") == ("cruise", 5, 8)
    assert case.target(0) == pytest.approx(34 * MSS)  # bw x min_rtt; three quanta of 2 segments are less
    assert examine(case).holds
    late = Case(3, {**trace, "inflight": np.full(10, 50.0 * MSS)}, {})
    assert not examine(late).holds  # left with more than one BDP in flight
    gone = examine(Case(5, {**trace}, {}))
    assert gone.seen == [("no probe up after 0 s", False)]


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("bbr-cases"))


def test_the_study(done: Callable[[str], Done]) -> None:
    assert set(verdicts(done("bbr-cases")).values()) == {"agrees"}
    assert len(done("bbr-cases").drawn) == 22
    assert all(row[""] == "holds" for row in table(done("bbr-cases"), "cases"))
