"""Tables over many runs, made piece by piece: the same rows in any order of the parts, and few of them in memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dumbbell.results.frames import table_rows
from dumbbell.results.frames.table_rows import Heads, Rows
from dumbbell.results.runs.column_parts import TablePart

RUNS = 300


def rows_of(run: int) -> list[dict[str, Any]]:
    """Return rows that differ in number, metrics and types; early runs have only whole numbers."""
    mixed = run if run < 100 else None if run < 200 else run / 3
    rows = [{"name": f"f{k}", "whole": run * 10 + k, "mixed": mixed} for k in range(run % 4)]
    return [row | ({"late": [float(run), 1.5]} if run > 250 else {}) for row in rows]


def cell_of(run: int) -> dict[str, Any]:
    return {"rate": f"{run + 1} kbit/s", "variant": {"name": "vegas", "alpha": run}} | (
        {"delay": "5 ms"} if run % 7 == 3 else {}
    )


def parts(sizes: list[int], order: random.Random | None = None) -> list[Any]:
    """Divide the runs into parts of these sizes, in their order or another one."""
    runs = list(range(RUNS))
    if order is not None:
        runs.sort(key=lambda run: run + order.uniform(-40, 40))
    found: list[Any] = []
    while runs:
        size = sizes[len(found) % len(sizes)]
        mine, runs = runs[:size], runs[size:]
        heads = Heads.of((run, cell_of(run), 0, 7) for run in mine)
        part = TablePart.of([rows_of(run) for run in mine])
        found.append((heads, part.packed() if len(found) % 2 else part))
    if order is not None:
        order.shuffle(found)
    return found


@pytest.fixture
def whole() -> pl.DataFrame:
    return Rows(parts([RUNS])).frame()


def test_a_table_has_the_columns_of_all_runs(whole: pl.DataFrame) -> None:
    assert whole.columns == [
        "rate", "rate_bps", "variant", "delay", "delay_s", "run", "repetition", "seed", "name", "whole", "mixed",
        "late",
    ]  # fmt: skip
    assert whole["run"].to_list() == [run for run in range(RUNS) for _ in range(run % 4)]
    assert whole.filter(pl.col("run") == 3).rows()[0] == (
        "4 kbit/s", 4000, "vegas(alpha=3)", "5 ms", 0.005, 3, 0, 7, "f0", 30, 3.0, None
    )  # fmt: skip
    assert whole.filter(pl.col("run") == 255)["late"].to_list() == [[255.0, 1.5]] * 3


@pytest.mark.parametrize("seed", range(5))
def test_the_parts_decide_nothing(
    whole: pl.DataFrame, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = random.Random(seed)
    monkeypatch.setattr(table_rows, "PIECE", order.choice([1, 10, 100]))
    made = Rows(parts([order.randrange(1, 30) for _ in range(5)], order))
    assert made.frame().equals(whole)
    made.write(tmp_path / "a.parquet")
    whole.write_parquet(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_few_rows_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece has the rows of one part more than the least, as parts follow each other."""
    monkeypatch.setattr(table_rows, "PIECE", 40)
    heights = [len(piece) for piece in Rows(parts([10])).pieces()]
    assert sum(heights) == sum(run % 4 for run in range(RUNS))
    assert max(heights) <= 40 + 10 * 3
    assert len(heights) >= 6


def test_a_table_without_rows_has_the_columns_of_runs(tmp_path: Path) -> None:
    empty = Rows([(Heads.of([(0, {"rate": "1 kbit/s"}, 0, 7)]), TablePart.of([[]]))])
    assert empty.frame().columns == ["run", "repetition", "seed"]
    empty.write(tmp_path / "a.parquet")
    assert pl.read_parquet(tmp_path / "a.parquet").equals(empty.frame())
