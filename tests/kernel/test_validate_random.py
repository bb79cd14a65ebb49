"""`dumbbell validate random`: the draws, the verdicts and the shrinking; the kernel itself isn't needed here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from dumbbell.cli import app
from dumbbell.kernel.validate import Case, Measured
from dumbbell.kernel.validate.measurements import FlowMeasured
from dumbbell.kernel.validate.random_cases import AtRandom, keep_worst
from dumbbell.kernel.validate.scenario_draws import drawn
from dumbbell.kernel.validate.shrink import shrunk
from dumbbell.kernel.validate.verdicts import Judged, Outcome, distribution, groups, judge, short_transfers, worst
from dumbbell.scenario import Scenario
from dumbbell.scenario.flow.application import Transfer


def measured(goodput: list[float], resent: list[float]) -> Measured:
    figures: dict[str, list[float | None]] = {"goodput_bps": [*goodput], "retransmitted_packets": [*resent]}
    figures |= {"cwnd_mean_packets": [], "srtt_mean_ms": []}
    return Measured([FlowMeasured("f", "cubic", figures, np.array([]), np.array([]))])


def test_a_case_depends_on_the_seed_and_its_number_only() -> None:
    ten, three = list(drawn(10, 7)), list(drawn(3, 7))
    assert [c.scenario.to_dict() for c in ten[:3]] == [c.scenario.to_dict() for c in three]
    assert ten[0].scenario.to_dict() != next(iter(drawn(1, 8))).scenario.to_dict()
    for case in ten:
        # A scenario that is written to a file is the same scenario.
        assert Scenario.from_toml(case.scenario.to_toml()).to_dict() == case.scenario.to_dict()
        assert case.scenario.repetitions == 3


def test_the_verdict_has_a_tolerance_and_a_standard_error() -> None:
    # Goodput: means 10 and 9, 11 % apart. Variance 0.01 on both sides over 3 runs: error sqrt(0.01 * 2 / 3) = 0.082.
    # Retransmissions: 4 apart of 10; the variances 28 and 4 together 16: error sqrt(16 * 2 / 3) = 3.27. With four
    # degrees of freedom "two standard errors" are 2.87.
    of = judge("c", measured([9.9, 10.0, 10.1], [8, 16, 18]), measured([8.9, 9.0, 9.1], [8, 10, 12]))
    assert [(j.figure, j.outcome) for j in of] == [
        ("goodput_bps", Outcome.DIFFERENT),
        ("retransmitted_packets", Outcome.CHANCE),
    ]
    assert of[0].error == pytest.approx(0.0816, abs=1e-3)
    assert of[0].freedom == 4
    assert of[1].most_by_chance == pytest.approx(2.869 * 3.266, rel=1e-3)
    # 1/9 in parts of the kernel's, 2.2 times the tolerance of 5 %.
    assert of[0].relative == pytest.approx(1 / 9)
    assert of[0].excess == pytest.approx(1 / 9 / 0.05)
    # The variance comes from the runs of both sides together: six of variance 0 and three of variance 1 give 2 / 7,
    # and the error is sqrt(2 / 7 * (1 / 6 + 1 / 3)) = 0.378.
    unequal = judge("c", measured([10.0] * 6, []), measured([8.0, 9.0, 10.0], []))[0]
    assert unequal.freedom == 7
    assert unequal.error == pytest.approx(0.378, abs=1e-3)
    # Three packets are always the same, even of none.
    few = judge("c", measured([9.0], [3]), measured([9.0], [0]))
    assert {j.outcome for j in few} == {Outcome.SAME}
    assert [j.case for j in worst([*of, *few])] == ["c"]
    shares = distribution(of).to_dicts()
    assert [row["different %"] for row in shares] == [100.0, 0.0]


def test_means_of_a_transfer_need_fifty_readings() -> None:
    """Fifty readings every 10 ms take 0.5 s."""
    case = next(c for c in drawn(65, 8191) if isinstance(c.scenario.flows[-1].application, Transfer))
    application = case.scenario.flows[-1].application
    assert isinstance(application, Transfer)
    size = application.size.bytes
    cases: list[tuple[float, set[str]]] = [(0.501, set()), (0.499, {"transfer"})]
    for seconds, short in cases:
        flows = [replace(measured([8 * size / seconds], [0.0]).flows[0], name=f.name) for f in case.scenario.flows]
        kernel = Measured([replace(f, figures=f.figures | {"cwnd_mean_packets": [9.0]}) for f in flows])
        assert short_transfers(case, kernel) == short
        judged = judge("c", kernel, kernel, short)
        assert {j.flow for j in judged if j.figure == "cwnd_mean_packets"} == {f.name for f in flows} - short
        assert "transfer" in {j.flow for j in judged if j.figure == "goodput_bps"}


def test_the_simulators_first_runs_are_those_of_the_kernel() -> None:
    case = next(iter(drawn(1, 7)))
    more = case.repeated(4)
    assert (more.name, more.scenario.repetitions) == (case.name, 12)
    seeds = [[c.scenario.repetition_seed(r) for r in range(3)] for c in (case, more)]
    assert seeds[0] == seeds[1]


def test_differences_are_grouped_by_properties_of_the_case() -> None:
    cases = list(drawn(12, 3))
    judged = [Judged(case.name, "f1", "reno", "goodput_bps", 2.0, 1.0, 0.01, 4) for case in cases]
    rows = groups(cases, judged).to_dicts()
    counts = {row["group"]: row["flows"] for row in rows if row["by"] == "buffers"}
    assert set(counts) == {"linux", "linux-tuned"} and sum(counts.values()) == 12
    assert {row["group"] for row in rows if row["by"] == "ECN"} == {"ECN", "no ECN"}


def test_a_case_is_made_smaller_while_it_still_differs() -> None:
    case = next(c for c in drawn(60, 3) if len(c.scenario.flows) == 4)

    def compared(trial: Case) -> list[Judged]:
        # Differs as long as f2 and f3 both run.
        names = {f.name for f in trial.scenario.flows}
        apart = 2.0 if {"f2", "f3"} <= names else 1.0
        return [Judged(trial.name, "f2", "cubic", "goodput_bps", apart, 1.0, 0.01)]

    found = compared(case)[0]
    small, still = shrunk(case, found, compared, trials=1000)
    document = small.scenario.to_dict()
    assert [f["name"] for f in document["flows"]] == ["f2", "f3"]
    assert document["network"]["bottleneck"]["queue"]["discipline"] == "droptail"
    assert "loss" not in document["network"]["bottleneck"]
    assert still.outcome is Outcome.DIFFERENT


def test_the_worst_cases_are_kept_as_scenario_files(tmp_path: Path) -> None:
    cases = list(drawn(2, 5))
    bad = Judged(cases[1].name, "f1", "reno", "goodput_bps", 2.0, 1.0, 0.01)
    good = Judged(cases[0].name, "f1", "reno", "goodput_bps", 1.0, 1.0, 0.01)
    keep_worst(AtRandom(cases, [good, bad], smallest=[(cases[1], bad)]), tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["random-5-1-small.toml", "random-5-1.toml"]
    assert Scenario.load(tmp_path / "random-5-1.toml").to_dict() == cases[1].scenario.to_dict()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--seed", "4"], "--seed: use `dumbbell validate random N --seed S`"),
        (["random", "2", "--only", "single/*"], "unknown option '--only'"),
    ],
)
def test_options_that_have_no_effect_are_refused(given: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["validate", *given])
    assert done.exit_code != 0
    assert message in str(done.exception) + done.output
