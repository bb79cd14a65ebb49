"""The public API: its names, its examples, the cost of importing it, and results in a notebook."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

import dumbbell
from dumbbell.plots import notebook

ROOT = Path(__file__).parents[2]
HEAVY = ("matplotlib", "numpy", "polars", "pydantic", "rich", "scipy", "click")
CBR = """
name = "TCP against CBR"
duration = "5 s"
start_jitter = "100 ms"

[network]
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }
access = { rate = "100 Mbit/s", delay = "1 ms" }

[[flows]]
name = "tcp"
variant = "reno"
stack = "rfc"

[[flows]]
name = "cbr"
transport = "udp"
application = { kind = "cbr", rate = "1 Mbit/s" }

[sweep]
"flows.cbr.application.rate" = ["1 Mbit/s", "8 Mbit/s"]
"""


def modules() -> list[str]:
    """Name every module of the package but the one that runs the command line."""
    found = [m.name for m in pkgutil.walk_packages(dumbbell.__path__, "dumbbell.")]
    return ["dumbbell", *(name for name in found if name != "dumbbell.__main__")]


def fresh(code: str) -> str:
    """Run code in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def with_examples() -> list[str]:
    found = []
    for name in modules():
        spec = importlib.util.find_spec(name)
        if spec and str(spec.origin).endswith(".py") and ">>> " in Path(str(spec.origin)).read_text(encoding="utf-8"):
            found.append(name)
    return found


def test_modules_can_be_imported_whatever_the_command_line() -> None:
    names = [name for name in modules() if name != "dumbbell"]
    fresh(f"import importlib, sys\nsys.argv = ['python']\nfor name in {names!r}:\n    importlib.import_module(name)")


@pytest.mark.parametrize("name", with_examples())
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cbr.toml").write_text(CBR, encoding="utf-8")
    changes = {"capture.at": ["sender"], "repetitions": 1, "flows.cbr.application.rate": "8 Mbit/s"}
    run = dumbbell.run("cbr.toml", changes=changes, out=tmp_path / "captured")
    shutil.copy(run.captures(0)["sender"], tmp_path / "trace.pcapng")
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).failed == 0


def test_public_functions_have_examples() -> None:
    for name in dumbbell.__all__:
        value = getattr(dumbbell, name)
        assert isinstance(value, str) or value.__doc__, name
    for name in ("load", "run", "compare", "read_results", "read_capture", "study", "variants", "disciplines"):
        doc = getattr(dumbbell, name).__doc__
        for section in ("Returns\n", "Examples\n", ">>> "):
            assert section in doc, (name, section)


def test_nothing_internal_is_listed() -> None:
    listed = json.loads(fresh("import dumbbell, json; print(json.dumps(dir(dumbbell)))"))
    assert listed == sorted(dumbbell.__all__) == dir(dumbbell)
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        dumbbell.rum  # noqa: B018


def test_importing_is_cheap() -> None:
    code = f"import dumbbell, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert fresh(code).strip() == "[]"
    # Packages whose names are also attributes stay callable, whoever imports them first.
    code = "import dumbbell.studies, dumbbell.results, dumbbell; print(len(dumbbell.studies()), *dumbbell.backends())"
    count = len(dumbbell.studies())  # type: ignore[operator]  # a package that can be called
    assert fresh(code).split() == [str(count), "sim", "kernel", "uml", "ssh"]


@pytest.mark.parametrize("name", [m for m in modules() if m != "dumbbell"])
def test_no_name_shadows_a_module(name: str) -> None:
    package = importlib.import_module(name)
    if hasattr(package, "__path__"):
        inner = {m.name for m in pkgutil.iter_modules(package.__path__)}
        assert not inner & set(getattr(package, "__all__", ()))
        assert all(isinstance(vars(package)[n], ModuleType) for n in inner & set(vars(package)))


def test_a_back_end_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "cbr.toml").write_text(CBR, encoding="utf-8")
    named = dumbbell.run(tmp_path / "cbr.toml", backend="sim")
    assert named.flows.equals(dumbbell.run(dumbbell.load(tmp_path / "cbr.toml")).flows)
    with pytest.raises(dumbbell.BackendError, match="did you mean 'sim'"):
        dumbbell.run(tmp_path / "cbr.toml", backend="sin")


# ------------------------------------------------------------ notebooks


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Results:
    place = tmp_path_factory.mktemp("notebook")
    text = CBR.replace("TCP against CBR", "<b>TCP & CBR</b>")
    scenario = dumbbell.Scenario.from_toml(text, {"capture.at": ["sender"], "repetitions": 2})
    return dumbbell.run(scenario, out=place / "out")


def images(page: str) -> list[str]:
    return re.findall(r'<img src="data:image/png;base64,[\w+/=]{1000,}" alt="([^"]+)">', page)


def test_results_in_a_notebook(results: dumbbell.Results) -> None:
    page = results._repr_html_()
    assert "&lt;b&gt;TCP &amp; CBR&lt;/b&gt;" in page
    assert "<b>TCP" not in page
    assert "goodput Mbit/s" in page
    assert len(images(page)) == 1
    traced = dumbbell.run(results.scenario.with_changes({"capture.at": [], "repetitions": 1}), trace=True)
    assert "cwnd" in images(traced._repr_html_())[0].lower() or "window" in images(traced._repr_html_())[0].lower()


def test_results_in_a_notebook_without_the_extra(results: dumbbell.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "find_spec", lambda _name: None)
    page = results._repr_html_()
    assert "dumbbell[plots]" in page
    assert "goodput Mbit/s" in page
    assert not images(page)


def test_a_capture_in_a_notebook(results: dumbbell.Results) -> None:
    capture = dumbbell.read_capture(results.captures(0)["sender"])
    page = capture._repr_html_()
    assert len(images(page)) == 1
    assert "retransmission" in page
    assert "__getattr__" not in vars(dumbbell.Capture)
    assert "__getattr__" not in vars(dumbbell.Results)
    for name, table in capture.tables.items():
        assert isinstance(vars(dumbbell.Capture)[name], property), name
        assert getattr(capture, name) is table
    empty = capture.select(dumbbell.capture.Selection(where="packets > 1e9"))
    assert isinstance(empty._repr_html_(), str)
    assert isinstance(capture.packets.collect(), pl.DataFrame)
