"""Tables on a terminal: folded or divided where it is too narrow, and no number is cut."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.cli import output
from dumbbell.cli.table_layout import Column, layout

FLOWS = [
    Column("name", ("near", "far"), numeric=False),
    Column("stack", ("linux-tuned(ecn=False)", "linux"), numeric=False),
    Column("goodput Mbit/s", ("15.74", "6.962"), numeric=True),
    Column("drops %", ("0.05859", "0.08406"), numeric=True),
    Column("timeouts", ("0", "-"), numeric=True),
]


def test_a_table_that_fits_has_a_line_for_each_row() -> None:
    assert layout(FLOWS, None) == [
        " name   stack                    goodput Mbit/s   drops %   timeouts",
        " ────────────────────────────────────────────────────────────────────",
        " near   linux-tuned(ecn=False)            15.74   0.05859          0",
        " far    linux                             6.962   0.08406          -",
    ]
    assert layout(FLOWS, 70) == layout(FLOWS, None)


def test_headings_are_folded_at_spaces_and_end_above_the_rule() -> None:
    assert layout(FLOWS, 65) == [
        "                                    goodput",
        " name   stack                        Mbit/s   drops %   timeouts",
        " ────────────────────────────────────────────────────────────────",
        " near   linux-tuned(ecn=False)        15.74   0.05859          0",
        " far    linux                         6.962   0.08406          -",
    ]


def test_a_table_that_can_not_be_folded_enough_is_divided() -> None:
    lines = layout(FLOWS, 44)
    assert lines == [
        "                                    goodput",
        " name   stack                        Mbit/s",
        " ───────────────────────────────────────────",
        " near   linux-tuned(ecn=False)        15.74",
        " far    linux                         6.962",
        "",
        " name   drops %   timeouts",
        " ──────────────────────────",
        " near   0.05859          0",
        " far    0.08406          -",
    ]


def test_each_block_begins_with_all_columns_that_identify_a_row() -> None:
    sweep = [
        Column("rate", ("1", "1", "2", "2"), numeric=True),
        Column("name", ("a", "b", "a", "b"), numeric=False),
        *(Column(f"metric {n}", (str(1000 + n),) * 4, numeric=True) for n in range(3)),
    ]
    headings = [line for line in layout(sweep, 26) if "metric" in line or "rate" in line]
    assert len(headings) > 1
    assert all(line.startswith(" rate   name   ") for line in headings)


def test_long_texts_are_folded_and_equal_rows_kept() -> None:
    text = "Reno whose decrease is smaller when its queue is short"
    lines = layout([Column("name", ("a", "a"), numeric=False), Column("about", (text, "-"), numeric=False)], 30)
    assert max(map(len, lines)) <= 30
    assert " ".join(line[8:].strip() for line in lines[2:-1]) == text


CELLS = st.one_of(st.floats(-1e9, 1e9).map(lambda x: f"{x:.4g}"), st.text("ab c", max_size=40))


@given(cells=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12), width=st.integers(1, 200))
def test_every_number_is_whole_in_any_width(cells: list[tuple[str, str]], width: int) -> None:
    columns = [Column(f"column {n}", texts, numeric=all(map(_is_number, texts))) for n, texts in enumerate(cells)]
    shown = "\n".join(layout(columns, width)).split()
    for column in columns:
        if column.numeric:
            assert all(text in shown for text in column.texts)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[\d.]+(e[+-]\d+)?", text) is not None


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_command_line_uses_the_width_of_its_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    output.print_table("Flows", [c.name for c in FLOWS], [["a", "linux", 15.74, 0.05859, 12345678]] * 2)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()
    assert max(map(len, lines)) <= 50
    assert lines[0] == "Flows"
    assert [line.split() for line in lines[2:]] == [
        ["goodput"],
        ["name", "stack", "Mbit/s", "drops", "%", "timeouts"],
        ["─" * 49],
        *[["a", "linux", "15.74", "0.05859", "12345678"]] * 2,
        [],
    ]
