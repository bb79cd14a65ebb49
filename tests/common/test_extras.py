"""Optional libraries: one line names the extra that installs a missing one, on the command line and in Python."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import dumbbell
from dumbbell.common.extras import EXTRAS
from required import DISTRIBUTIONS, require_packages

ROOT = Path(__file__).parents[2]
Cli = Callable[..., "subprocess.CompletedProcess[str]"]
WITHOUT = "import sys; sys.modules[{module!r}] = None\n"
"""The first line of a program in which a library can't be imported."""


def line(module: str) -> str:
    return f"{module} is needed, but not installed: pip install 'dumbbell[{EXTRAS[module]}]'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("jinja2", "report kept --jobs 1"),
        ("jinja2", "study run quickstart --quick"),
        ("matplotlib", "study run quickstart --quick"),
        ("matplotlib", "plot kept --kind cwnd"),
        ("matplotlib", "plot kept --kind bars --out bars.pdf"),
        ("jinja2", "analyze nowhere.pcap --out analyzed"),
    ],
)
def test_a_command_without_its_extra_prints_one_line(
    cli: Cli, base_file: Path, tmp_path: Path, module: str, command: str
) -> None:
    if "kept" in command:
        assert cli("run", base_file, "--out", "kept", "--trace").returncode == 0
    program = WITHOUT.format(module=module) + "from dumbbell.cli import main\nmain()"
    call = [sys.executable, "-c", program, *command.split()]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"error: {line(module)}"]
    assert not (tmp_path / "results").exists()


def test_a_figure_in_python_without_its_extra_is_an_error_of_one_line(
    base_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = dumbbell.run(base_file, trace=True)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(dumbbell.DumbbellError, match=re.escape(line("matplotlib"))):
        results.plot.cwnd().figure()


def test_the_table_of_extras_is_that_of_the_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for module, extra in EXTRAS.items():
        assert any(text.startswith(module) for text in declared["optional-dependencies"][extra])
        assert not any(text.startswith(module) for text in declared["dependencies"])


def test_each_requirement_has_a_lower_and_an_upper_bound() -> None:
    """A new major version may change what Dumbbell uses."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = declared["project"]
    given = [*declared["build-system"]["requires"], *project["dependencies"]]
    given += [text for extra in project["optional-dependencies"].values() for text in extra]
    assert len(given) > 20 and not [text for text in given if not re.fullmatch(r"[\w-]+>=[\d.]+,<[\d.]+", text)]


def test_the_names_of_the_table_are_those_of_modules() -> None:
    require_packages(*EXTRAS)
    assert all(importlib.util.find_spec(module) is not None for module in EXTRAS)


def test_the_extras_of_make_bring_every_package_that_tests_require() -> None:
    """Tests of pandas and DuckDB frames skipped on each machine: no extra had these packages."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    installed = {
        re.split("[<>=]", text)[0]
        for extra in ("dev", "studies", "web", "ssh", "cluster", "validation")
        for text in declared[extra]
    }
    assert "'.[dev,studies,web,ssh,cluster,validation]'" in (ROOT / "Makefile").read_text(encoding="utf-8")
    required: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "pytest.importor" + "skip" not in text, f"{path.name}: required.require_packages fails where CI needs it"
        if path.name != "required.py":
            assert not re.search(r"pytest\.(mark\.)?skip", text), (
                f"{path.name}: required.require fails where CI needs it"
            )
        for call in re.findall(r"^ *require_packages\(([^)*]+)\)$", text, re.MULTILINE):
            required |= {DISTRIBUTIONS.get(name, name) for name in re.findall(r'"(\w+)"', call)}
    assert {"pandas", "duckdb", "pyarrow", "matplotlib", "jinja2"} <= required
    assert required <= installed


def test_ci_requires_the_packages() -> None:
    assert 'required="packages"' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
