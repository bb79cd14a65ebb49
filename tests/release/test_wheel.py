"""The wheel of `make wheel` in a clean environment: everything works without Rust and without the sources."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.kernel.uml.store import cache_of_user
from machines import require_uml
from required import require

__all__ = ["require_uml"]  # a fixture

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "dumbbell"
WHEELS = sorted((ROOT / "build" / "wheels").glob(f"dumbbell-{dumbbell.__version__}-*.whl"))
GUEST = "dumbbell/kernel/dumbbell-guest"
WASM = "dumbbell/studio/dumbbell.wasm"
SCENARIO = """
name = "first"
duration = "5 s"
repetitions = 2
seed = 3
[network]
bottleneck = { rate = "10 Mbit/s", delay = "18 ms", queue = { discipline = "droptail", limit = "1 bdp" } }
access = { rate = "100 Mbit/s", delay = "1 ms" }
[[flows]]
name = "a"
variant = "cubic"
[sweep]
"flows.a.variant" = ["cubic", "vegas"]
"""

pytestmark = pytest.mark.slow
require("wheel", None if WHEELS else "needs a wheel: `make wheel`")


def sources() -> dict[str, Path]:
    """Return the files of the package by their names in a wheel."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {f"dumbbell/{path.relative_to(PACKAGE).as_posix()}": path for path in files if path.suffix != ".so"}


class Clean:
    """An environment that has the wheel with the extra ``studies``, and no other program in its path."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.bin = folder / "venv" / "bin"
        self.variables = {"PATH": str(self.bin), "HOME": str(folder), "TMPDIR": str(folder)}
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, timeout=600)
        # With the user's settings of pip and its cache, which a clean environment would lack.
        install = [str(self.bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command = [*install, f"{wheel}[studies]"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
        failure = (done.stderr.strip() or "no message").splitlines()[-1]
        require("wheel", f"can't install {wheel.name}: {failure}" if done.returncode else None)

    def run(self, *arguments: str, cwd: Path) -> str:
        """Run `dumbbell`; return what it prints."""
        command = [str(self.bin / "dumbbell"), *arguments]
        done = subprocess.run(
            command, cwd=cwd, env=self.variables, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def wheel() -> Path:
    (found,) = WHEELS
    with zipfile.ZipFile(found) as content:
        names = set(content.namelist())
        same = all(content.read(name) == path.read_bytes() for name, path in sources().items() if name in names)
    require("wheel", None if same else "needs a wheel of these sources: `make wheel`")
    return found


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    return Clean(wheel, tmp_path_factory.mktemp("clean"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first.toml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


def test_it_has_every_file_of_the_package(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("dumbbell/")}
    assert names - {"dumbbell/_core.abi3.so"} == set(sources())


def test_the_guest_program_is_executable(clean: Clean) -> None:
    here = (sys.platform, os.uname().machine) == ("linux", "x86_64")
    require("wheel", None if here else "the guest program is for Linux on x86-64")
    (guest,) = clean.bin.parent.glob(f"lib/python*/site-packages/{GUEST}")
    assert guest.read_bytes()[:4] == b"\x7fELF"
    assert guest.stat().st_mode & 0o111 == 0o111


def test_nothing_comes_from_rust_or_from_the_sources(clean: Clean, folder: Path) -> None:
    assert not any(shutil.which(program, path=clean.variables["PATH"]) for program in ("cargo", "rustc", "cc", "make"))
    assert clean.run("--version", cwd=folder) == f"dumbbell {dumbbell.__version__}\n"
    place = subprocess.run(
        [clean.bin / "python", "-c", "import dumbbell; print(dumbbell.__file__)"],
        cwd=folder, env=clean.variables, capture_output=True, text=True, check=True, timeout=600,
    ).stdout  # fmt: skip
    assert Path(place).is_relative_to(clean.bin.parent)


def test_the_simulator_has_the_same_results(clean: Clean, folder: Path) -> None:
    def rows(runs: list[Any]) -> list[Any]:
        return [flow for run in runs for flow in run["flows"]]

    found = rows(json.loads(clean.run("run", "first.toml", "--json", cwd=folder))["runs"])
    expected = dumbbell.run(folder / "first.toml").flows
    assert [row["goodput_bps"] for row in found] == expected["goodput_bps"].to_list()
    assert len(found) == 4


def test_a_report(clean: Clean, folder: Path) -> None:
    clean.run("run", "first.toml", "--out", "results", cwd=folder)
    clean.run("report", "results", cwd=folder)
    report = (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert "vegas" in report
    assert "<svg" in report


def test_the_studio(clean: Clean, folder: Path) -> None:
    require("studio", None if (ROOT / "python" / WASM).exists() else "needs dumbbell.wasm: `make studio`")
    clean.run("studio", "first.toml", "--out", "page.html", cwd=folder)
    page = folder / "page.html"
    assert "first" in page.read_text(encoding="utf-8")
    assert page.stat().st_size > 1_000_000  # the engine alone, compressed, is larger


@pytest.mark.usefixtures("require_uml")
def test_linux_in_virtual_time(clean: Clean, folder: Path) -> None:
    clean.variables["DUMBBELL_CACHE"] = str(cache_of_user())
    clean.run("run", "first.toml", "--backend", "uml", "--set", "repetitions=1", cwd=folder)
