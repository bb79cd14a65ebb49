"""Tables in a page, between markers."""

from __future__ import annotations

from pathlib import Path

import pytest

from dumbbell import DumbbellError
from dumbbell.report.markdown_tables import put_tables

PAGE = "before\n<!-- table: a -->\nold\n<!-- end -->\nbetween\n<!-- table: b -->\n\nold\n\n<!-- end -->\nafter\n"


def test_each_table_goes_between_its_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    put_tables(page, {"b": "| new |", "a": "| first |"})
    expected = PAGE.replace("old\n<!-- end -->\nbetween", "\n| first |\n\n<!-- end -->\nbetween").replace(
        "old", "| new |"
    )
    assert page.read_text() == expected
    put_tables(page, {"b": "| new |", "a": "| first |"})
    assert page.read_text() == expected, "renewed once more it stays"


@pytest.mark.parametrize("text", [PAGE.replace("table: b", "table: c"), "<!-- table: b -->\n no end"])
def test_a_page_without_the_place_is_left_alone(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(DumbbellError, match="no place for the table 'b'"):
        put_tables(page, {"b": "| new |"})
    assert page.read_text() == text
