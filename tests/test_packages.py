"""The map of the Python packages: every package is named, and its imports are those of the map."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "python" / "dumbbell"
UNLISTED = {"__init__", "__main__"}
"""The public names and ``python -m dumbbell``: they may import everything."""


def listed() -> dict[str, tuple[set[str], set[str]]]:
    """Return the imports of each package as the map has them: at the top, and inside functions."""
    found = {}
    for line in (PACKAGE / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            name, purpose, imports, late = line.strip("|").split("|")
            assert purpose.strip()
            found[name.strip(" `")] = (set(re.findall(r"`(\w+)`", imports)), set(re.findall(r"`(\w+)`", late)))
    return found


def imported(node: ast.AST, *, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Name each package that a syntax tree imports, and whether inside a function; imports for types do not count."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.ImportFrom) and child.module == "dumbbell":
            yield from ((alias.name, inside) for alias in child.names if not alias.name.startswith("__"))
        elif isinstance(child, ast.ImportFrom) and (child.module or "").startswith("dumbbell."):
            yield str(child.module).split(".")[1], inside
        elif isinstance(child, ast.Import):
            yield from ((a.name.split(".")[1], inside) for a in child.names if a.name.startswith("dumbbell."))
        yield from imported(child, inside=inside or isinstance(child, ast.FunctionDef))


def test_the_map_is_the_code() -> None:
    top: dict[str, set[str]] = defaultdict(set)
    late: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).parts
        name = parts[0] if len(parts) > 1 else path.stem
        top[name], late[name] = top[name], late[name]
        for other, inside in imported(ast.parse(path.read_text(encoding="utf-8"))):
            if other != name:
                (late if inside else top)[name].add(other)
    real = {name: (top[name], late[name] - top[name]) for name in top if name not in UNLISTED}
    assert listed() == real


def test_no_package_closes_a_circle_at_its_top() -> None:
    imports = {name: top for name, (top, _) in listed().items()}
    done: set[str] = {"_core"}
    while free := [name for name, needs in imports.items() if name not in done and needs <= done]:
        done |= set(free)
    assert set(imports) <= done
