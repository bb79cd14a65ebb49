"""The benchmarks: goals, workloads, and the training of a profile-guided build."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from train import scenarios

from dumbbell import _core, registry
from dumbbell.results.runs.record import jobs_of
from parts_figure import COLORS
from speed import Row, lines, number
from workloads import SACK, TRANSFER, TWO, Workload, delivered, many

ROOT = Path(__file__).resolve().parents[2]


def test_goals() -> None:
    assert Row("w", "CPU time (s)", 0.5, goal=0.5).reached is True
    assert Row("w", "CPU time (s)", 0.51, goal=0.5).reached is False
    assert Row("w", "times ns-2", 9.9, goal=10, at_least=True).reached is False
    assert Row("w", "times ns-2", 10.0, goal=10, at_least=True).cells() == ["w", "times ns-2", "10", "≥ 10", "yes"]
    assert Row("w", "memory (MiB)", 404.25).cells() == ["w", "memory (MiB)", "404", "", ""]


def test_numbers_and_columns() -> None:
    assert [number(v) for v in (5308.9, 0.0812, 3.748)] == ["5309", "0.0812", "3.75"]
    assert lines([["a", "bb"], ["cccc", "d"]]) == ["a     bb", "cccc  d"]


def run(plan: str) -> float:
    output = _core.run(plan)
    return delivered(json.dumps({"flows": output.rows.flows}))


def test_lengths_differ_in_packets_only() -> None:
    for workload in (TWO["ns2"], TWO["linux"], SACK):
        short, long = (json.loads(workload.plan(seconds)) for seconds in (0.2, 0.4))
        assert 0 < run(json.dumps(short)) < run(json.dumps(long))
        assert short.pop("duration_ns") == 200_000_000
        assert long.pop("duration_ns") == 400_000_000
        assert short == long


def test_short_transfers_end() -> None:
    make = many(5, "1 Gbit/s", 1, variant="cubic", stack="linux", application=TRANSFER)
    plan = Workload("few", "few", make, 1, (0.5, 1)).plan(1)
    # 20 kB are 14 segments of 1448 bytes, the last one not full: 13.8.
    assert run(plan) == pytest.approx(5 * 20_000 / 1448)


def test_the_training_covers_the_registries() -> None:
    trained = list(scenarios())
    assert {flow.variant.name for s in trained for flow in s.flows if flow.variant} == set(registry.variants())
    queues = {jobs_of(s)[0].plan()["links"][0]["queue"]["name"] for s in trained}
    assert queues == set(registry.disciplines())


def test_a_source_distribution_has_the_training() -> None:
    maturin = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]
    program, script = maturin["pgo-command"].split()
    assert program == "python"
    patterns = [entry["path"] for entry in maturin["include"] if entry["format"] == "sdist"]
    for path in (script, "benches/workloads.py", "benches/two-newreno.toml"):
        assert (ROOT / path).is_file()
        assert any(Path(path).match(pattern) for pattern in patterns), path


def test_every_part_has_a_color() -> None:
    table = (ROOT / "docs" / "data" / "performance" / "instructions.csv").read_text(encoding="utf-8").splitlines()
    assert len(table[1].split(",")) - 2 == len(COLORS)
