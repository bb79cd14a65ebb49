"""Tables that programs measure: their CSV files and their form on a page."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from dumbbell import DumbbellError
from dumbbell.report.tables import Table, read_table, write_tables

ROOT = Path(__file__).parents[2]
TABLE = Table(
    ["variant", "goodput", "goodput ±", "drops", "outside"],
    [["reno", "2.49", "0.01", "4", ""], ["cubic", "2.31", "", "11", "goodput; drops"]],
    "Measured on a day",
)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_tables(tmp_path / "new", {"flows": TABLE})
    assert read_table(tmp_path / "new" / "flows.csv") == TABLE
    frame = pl.read_csv(tmp_path / "new" / "flows.csv", comment_prefix="#")
    assert frame["goodput"].to_list() == [2.49, 2.31]


def test_markdown_joins_spreads_and_marks_cells_that_are_outside() -> None:
    shown = TABLE.markdown(lambda column, text: f"`{text}`" if column == "variant" else text)
    assert shown.splitlines() == [
        "| variant | goodput | drops |",
        "| --- | --: | --: |",
        "| `reno` | 2.49 ± 0.01 | 4 |",
        "| `cubic` | **2.31** | **11** |",
    ]


def test_a_matrix_has_the_second_column_across() -> None:
    table = Table(["first", "second", "mbps"], [["a", "a", "1"], ["a", "b", "2"], ["b", "b", "3"]])
    assert table.matrix("({mbps})").splitlines() == [
        "| first \\ second | a | b |",
        "| --- | --: | --: |",
        "| a | (1) | (2) |",
        "| b |  | (3) |",
    ]


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DumbbellError, match="twice"):
        Table(["a", "a"], [])
    with pytest.raises(DumbbellError, match="1 cell in a table of 2 columns"):
        Table(["a", "b"], [["1"]])
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DumbbellError, match="line of titles"):
        read_table(tmp_path / "empty.csv")
    with pytest.raises(DumbbellError, match=r"no\.csv"):
        read_table(tmp_path / "no.csv")


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "data").rglob("*.csv")), ids=lambda p: p.stem)
def test_stored_tables_are_data(path: Path) -> None:
    table = read_table(path)
    assert table.csv() == path.read_text(encoding="utf-8"), "written anew it is the same"
    assert table.rows
    for cell in (cell for row in table.rows for cell in row):
        assert "**" not in cell and "](" not in cell, "no Markdown in data"
