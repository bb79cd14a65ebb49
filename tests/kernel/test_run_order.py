"""The order of runs on a kernel: cell by cell or random, the same for the same seed, recorded in each run's facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.backends import Finished, Job, Simulator
from dumbbell.exceptions import DumbbellError


class OneByOne(Simulator):
    """A back end with facts that makes its runs in the order given, as a kernel does."""

    name = "recorded"

    def __init__(self) -> None:
        self.made: list[tuple[int, int]] = []

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        for job in jobs:
            self.made.append((job.cell.number, job.repetition))
            for finished in super().run([job], parallel):
                yield replace(finished, facts={"emulation": "none"})


def made(scenario: Scenario, order: str) -> tuple[list[tuple[int, int]], Results]:
    backend = OneByOne()
    results = dumbbell.run(scenario, backend=backend, order=order)  # type: ignore[arg-type]
    return backend.made, results


@pytest.fixture
def scenario(base: Scenario) -> Scenario:
    """Three cells with four repetitions each."""
    changes = {"repetitions": 4, "sweep": {"network.bottleneck.rate": ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"]}}
    return base.with_changes(changes)


def test_a_random_order_is_recorded_and_repeatable(scenario: Scenario) -> None:
    order, results = made(scenario, "random")
    cells, _ = made(scenario, "cells")
    assert cells == sorted(cells) == sorted(order) != order
    assert order == made(scenario, "random")[0]
    assert order != made(scenario.with_changes({"seed": 8}), "random")[0]
    for run in results.runs:
        number = [cell.values for cell in scenario.cells].index(run.cell)
        assert run.facts["order"] == {"by": "random", "place": order.index((number, run.repetition))}


def test_the_order_changes_no_result(scenario: Scenario) -> None:
    first, second = made(scenario, "random")[1], made(scenario, "cells")[1]
    assert first.flows.equals(second.flows)
    assert [run.facts["order"]["place"] for run in second.runs] == list(range(12))


def test_a_wrong_order_is_refused(base: Scenario) -> None:
    with pytest.raises(DumbbellError, match="order: the simulator's results don't depend on it"):
        dumbbell.run(base, order="random")
    with pytest.raises(DumbbellError, match="unknown order 'radnom': did you mean 'random'"):
        dumbbell.run(base, order="radnom", backend=OneByOne())  # type: ignore[arg-type]
