"""docs/security.md: each section has a table of its promises with their tests, and each of these tests exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/security.md").read_text(encoding="utf-8")
HEAD = "| promise | test |\n|---|---|\n"


@cache
def defined_in(file: str) -> set[str]:
    """Return the names of the tests in a file below `tests`."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_section_has_promises_with_tests_that_exist() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    assert len(sections) > 6
    for section in sections:
        title, found = section.partition("\n")[0], section.partition(HEAD)[2].partition("\n\n")[0].splitlines()
        assert found, f"{title}: no table of promises"
        for row in found:
            assert re.fullmatch(r"\| [^|]+ \| `[^`|]+`\*?(, `[^`|]+`\*?)* \|", row), row
            for file, name in re.findall(r"`([\w/]+\.py)::(\w+)`", row):
                assert name in defined_in(file), f"{title}: {file} has no {name}"
            assert row.count("::") == len(re.findall(r"`[\w/]+\.py::\w+`", row)) > 0, row
