"""Texts become whole numbers by `dumbbell.common.numbers.whole` where others wrote them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dumbbell
from dumbbell.common.numbers import whole

PACKAGE = Path(dumbbell.__file__).parent
REFUSED = {"isdigit", "isnumeric", "isdecimal"}
"""Methods that don't answer whether `int` reads a text: it refuses '²', and more than 4,300 digits."""


@pytest.mark.parametrize("text", ["²", "", "-1", "+1", "1_0", " 1", "1\n", "٣", "9" * 19, "9" * 5000, "x"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert whole(text) is None


def test_numbers_are_read() -> None:
    assert [whole(text) for text in ("0", "007", "9" * 18)] == [0, 7, 10**18 - 1]


def test_no_code_asks_a_text_whether_it_is_a_number() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in REFUSED
    ]
    assert found == []
