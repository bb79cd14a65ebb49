#!/usr/bin/env python3
"""The start of the command line: CPU time of `--help`, `--version` and the first run of the tutorial.

    python benches/start.py                  # a table
    python benches/start.py --write-docs     # and renew docs/data/performance

Each command runs several times in a process of its own. CPU time is user and system time; the least is taken, because
a busy machine only adds to it. The first call is not counted: Python compiles the modules then.
The goals: 0.15 s for the help and the version, 0.5 s for the first run.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import dumbbell
from dumbbell.common.processors import cores
from dumbbell.report.tables import Table, write_tables
from measuring import DATA, cpu_model

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorials" / "first-run.md"
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "dumbbell --help": ["-m", "dumbbell", "--help"],
    "dumbbell --version": ["-m", "dumbbell", "--version"],
    "dumbbell run --help": ["-m", "dumbbell", "run", "--help"],
    "dumbbell run first.toml": ["-m", "dumbbell", "run", "first.toml"],
}


def measure(rounds: int) -> dict[str, float]:
    """Return the least CPU time of each command, s; the commands run in turn."""
    least = dict.fromkeys(COMMANDS, float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        text = re.findall(r'^```toml title="first.toml"\n(.*?)^```', TUTORIAL.read_text("utf-8"), re.M | re.S)[0]
        (Path(folder) / "first.toml").write_text(text, encoding="utf-8")
        bytecode = {"PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
        for number in range(rounds + 1):
            for name, arguments in COMMANDS.items():
                before = _spent()
                subprocess.run(
                    [sys.executable, *arguments],
                    cwd=folder,
                    env={**os.environ, **bytecode},
                    capture_output=True,
                    check=True,
                )
                if number > 0:
                    least[name] = min(least[name], _spent() - before)
    return least


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="calls of each command")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/performance")
    options = parser.parse_args()
    found = measure(options.rounds)
    for name, seconds in found.items():
        print(f"{name:<26}{seconds:.3f} s")
    if options.write_docs:
        head = (
            f"Measured on {date.today().isoformat()} with version {dumbbell.__version__}, {cores()} cores of an "
            f"{cpu_model()} that others use too, by `python benches/start.py --write-docs`: least of {options.rounds}"
        )
        rows = [[f"`{name}`", f"{seconds:.3f}"] for name, seconds in found.items()]
        write_tables(DATA, {"start": Table(["command", "CPU time (s)"], rows, head)})


if __name__ == "__main__":
    main()
