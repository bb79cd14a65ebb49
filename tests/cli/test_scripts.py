"""Scripts of users: without ``if __name__ == "__main__"``, each line runs once, whatever the library starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BASE

from required import require_packages

pytestmark = pytest.mark.slow

BEGIN = """
import dumbbell
from pathlib import Path

with Path("runs").open("a") as file:
    file.write("once\\n")
"""
SCRIPTS = {
    "run": """
results = dumbbell.run("base.toml", repetitions=4, jobs=2, out="kept")
assert len(results) == 4
""",
    "report": """
from dumbbell.report import write_results_report
dumbbell.run("base.toml", repetitions=3, out="kept")
print(write_results_report(Path("kept"), jobs=2))
""",
    "figures": """
from dumbbell.plots import save_all
results = dumbbell.run("base.toml", repetitions=3, trace=True)
pictures = [results.plot.cwnd().picture, results.plot.rtt().picture]
assert len(save_all(pictures, "figures", jobs=2)) == 2
""",
    "study": """
from dumbbell.studies import run_study, study
run_study(study("quickstart"), out="study", quick=True, jobs=2)
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_once(tmp_path: Path, name: str) -> None:
    require_packages("matplotlib", "jinja2")
    (tmp_path / "base.toml").write_text(BASE, encoding="utf-8")
    (tmp_path / "script.py").write_text(BEGIN + SCRIPTS[name], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs").read_text(encoding="utf-8") == "once\n"
