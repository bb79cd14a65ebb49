"""Simulator, analysis, plots and reports run on macOS and Windows; their kernel back ends fail with one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BASE

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
CAPTURE = TESTS.parent / "crates" / "capture" / "tests" / "data" / "times.pcap"
REAL = ["--set", "flows.tcp.variant=cubic", "--set", "flows.tcp.stack=linux"]
"""Changes that make the scenario one that a kernel could run."""
COMMANDS = {
    "run": ["run", "base.toml", "--out", "results", "-j", "4", "--trace"],
    "continue": ["run", "base.toml", "--out", "results", "-j", "2", "--trace"],
    "plot": ["plot", "results", "-k", "cwnd", "--out", "cwnd.png"],
    "report": ["report", "results"],
    "stats": ["stats", "results", "--metric", "goodput_bps"],
    "compare": ["compare", "results", "results"],
    "analyze": ["analyze", str(CAPTURE)],
    "doctor": ["doctor"],
    "doctor --json": ["doctor", "--json"],
    "variants": ["variants"],
    "kernel": ["run", "base.toml", *REAL, "--backend", "kernel"],
    "uml": ["run", "base.toml", *REAL, "--backend", "uml"],
    "kernel build": ["kernel", "build"],
}
System = tuple[str, dict[str, list[Any]]]
"""Name of an emulated system; by command, exit code, stdout and stderr."""
REFUSED = {"kernel", "uml", "kernel build"}


@pytest.fixture(scope="module", params=["darwin", "win32"])
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> System:
    """Run all commands on an emulated system: its name; for each command its exit code and output."""
    place = tmp_path_factory.mktemp(request.param)
    (place / "base.toml").write_text(BASE, encoding="utf-8")
    (place / "commands.json").write_text(json.dumps(list(COMMANDS.values())), encoding="utf-8")
    command = [sys.executable, str(TESTS / "support" / "other_system.py"), request.param, "commands.json"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return request.param, dict(zip(COMMANDS, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - REFUSED))
def test_what_is_portable_runs(system: System, command: str) -> None:
    code, out, err = system[1][command]
    assert code == 0, err
    assert out or err


@pytest.mark.parametrize("command", sorted(REFUSED))
def test_a_kernel_back_end_is_refused_in_one_line(system: System, command: str) -> None:
    name, found = system
    code, out, err = found[command]
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    assert "Linux" in line
    assert {"darwin": "Darwin", "win32": "Windows"}[name] in line


def test_the_report_of_features_names_the_system(system: System) -> None:
    name, found = system
    assert {"darwin": "Darwin 24.0", "win32": "Windows 11"}[name] in found["doctor"][1]
