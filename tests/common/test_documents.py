"""TOML and JSON of others: read, or refused with one reason, in memory that follows their size."""

from __future__ import annotations

import re
import tomllib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.common.documents import MOST_DOTS, read_json, read_toml

TEXTS = [*"\"'\\\n# =,[]{}.a", '""', '"""', "''", "'''", "1.5", "0x1", "b.c"]


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".x" * 20_000 + " = 1",
        "[a" + ".x" * 32_000 + "]",
        "[[ a" + ' . "x"' * 20_000 + "]]",
        'x = {a = """s"""", b' + ".c" * 30_000 + ' = 1, e = "z"}',
        "x = {a = '''s'''', b" + ".c" * 30_000 + " = 1, e = 'z'}",
        "x = '''\n'''\ny = {a = \"\\\"\", b" + ".c" * 30_000 + " = 1}",
        "a = " + "[" * 100_000,
        "a = " + "{b = " * 30_000,
    ],
)
def test_depth_is_refused_before_memory_is_used(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="nested too deeply: at most 64"):
            read_toml(text)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_many_dots_are_refused() -> None:
    line = "k{}" + ".x" * 30 + " = 1\n"
    with pytest.raises(ValueError, match=f"more than {MOST_DOTS} dots"):
        read_toml("".join(line.format(n) for n in range(MOST_DOTS // 30 + 1)))


def test_dots_in_values_do_not_count() -> None:
    lines = [f"k{n} = {n}.5\nt{n} = 'a.b.c.d' # e.f\n" for n in range(1000)]
    values = "x = [" + "1.5, " * 1000 + "]\n" + 's = """' + "a.b" * 1000 + '"""\n'
    assert len(read_toml("".join(lines) + values)) == 2002


def test_numbers_that_python_cannot_write_are_refused() -> None:
    for prefix in ("0x", "0o", "0b"):
        with pytest.raises(ValueError, match="a number of 9002 characters: at most 200"):
            read_toml(f"seed = {prefix}{'1' * 9000}")
    assert read_toml(f"seed = '0x{'1' * 9000}'")


@given(st.lists(st.sampled_from(TEXTS), max_size=30).map("".join))
def test_the_check_refuses_nothing_that_is_shallow(text: str) -> None:
    """It reads each text to its end, as the reader does: no quote turns content into signs."""
    try:
        expected = tomllib.loads(text)
    except ValueError as e:
        with pytest.raises(ValueError, match=re.escape(str(e))):
            read_toml(text)
    else:
        assert read_toml(text) == expected


@given(st.lists(st.sampled_from(TEXTS), max_size=12).map("".join))
def test_no_text_hides_a_deep_key(text: str) -> None:
    """Whatever stands before a deep key: where the reader would read it, the check sees it."""
    deep = f"{text}\nkey{'.x' * 80} = 1\n"
    try:
        document = tomllib.loads(deep)
    except ValueError:
        return
    if _depth(document) > 80:
        with pytest.raises(ValueError, match="nested too deeply"):
            read_toml(deep)


def _depth(value: object) -> int:
    return 1 + max(map(_depth, value.values()), default=0) if isinstance(value, dict) else 0


def test_json_is_bounded() -> None:
    assert read_json('{"a": [1]}') == {"a": [1]}
    for text in ("[" * 200_000, b"\xff", "9" * 5000, "{"):
        with pytest.raises(ValueError, match=r"."):
            read_json(text)
