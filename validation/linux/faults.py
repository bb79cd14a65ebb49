#!/usr/bin/env python3
"""Runs on a kernel that are killed or interrupted at any moment leave the host as it was.

python validation/linux/faults.py                 # 50 kill -9 and 50 Ctrl-C, over all kinds of runs (5 minutes)
python validation/linux/faults.py --write-docs    # and renew docs/data/link/ended.csv
python validation/linux/faults.py --each 7        # fewer
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell import Scenario
from dumbbell.common.run_folders import HOST_PREFIX, UML_PREFIX, clean
from dumbbell.report.tables import Table, write_tables
from host_state import settles, state

__all__ = ["WAYS", "end_once", "table"]

KINDS = {
    "link": "link emulation",
    "tc": "the kernel's own qdiscs",
    "uml": "virtual time",
    "capture": "link emulation with captures",
    "programs": "link emulation with programs",
    "programs-uml": "virtual time with programs",
    "hold": "link emulation with --hold",
}
WAYS = tuple(KINDS)
"""Kinds of runs."""
DATA = Path(__file__).resolve().parents[2] / "docs" / "data" / "link"
NAME = "ended"
LEFT = "left"
LATEST_S = 2.0
"""Longest time between the start of a run and its end, s."""


def scenario(way: str) -> Scenario:
    """Return a scenario whose run lasts longer than any test."""
    client = ["sh", "-c", "setsid sleep 1000 & sleep 1000"]
    programs = {"kind": "command", "client": client}
    document: dict[str, Any] = {
        "name": way,
        "duration": "1 s" if way == "hold" else "1000 s",
        "network": {
            "bottleneck": {
                "rate": "20 Mbit/s",
                "delay": "0 ms",
                "queue": {"discipline": "droptail", "limit": "50 packets"},
            },
            "access": {"rate": "100 Mbit/s", "delay": "0 ms"},
        },
        "flows": [{"name": "a", "variant": "reno"}, {"name": "b", "variant": "cubic"}],
    }
    if way == "capture":
        document["capture"] = ["sender", "receiver"]
    if way.startswith("programs"):
        document["flows"][0]["application"] = programs
    return Scenario.from_dict(document)


def command(way: str, place: Path) -> list[str]:
    """Return the command that makes such a run."""
    file = place / "scenario.toml"
    file.write_text(scenario(way).to_toml(), encoding="utf-8")
    line = [sys.executable, "-m", "dumbbell", "run", str(file), "--allow-programs"]
    if way.endswith("uml"):
        return [*line, "--backend", "uml", "-j", "1"]
    line += ["--backend", "kernel", "-o", f"emulation={'tc' if way == 'tc' else 'link'}"]
    line += ["-o", "calibration=off"] if way != "tc" else []
    line += ["--hold"] if way == "hold" else []
    return [*line, "--out", str(place / "out")] if way == "capture" else line


def begun(process: subprocess.Popen[bytes]) -> bool:
    """Return True if a run has its folder."""
    base = Path(tempfile.gettempdir())
    return any(any(base.glob(f"{prefix}{process.pid}-*")) for prefix in (HOST_PREFIX, UML_PREFIX))


def end_once(way: str, which: signal.Signals, after_s: float) -> list[str]:
    """Start such a run and end it by a signal some time after its beginning; returns the changes that stay.

    A run that was killed may leave its folder, which `dumbbell clean` removes. One that was interrupted may not.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        before = state(set())
        # Children of a background job inherit its ignored SIGINT.
        line = ["env", "--default-signal=INT", *command(way, place)]
        # The input of --hold stays open.
        process = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=place
        )
        try:
            while not begun(process) and process.poll() is None:
                time.sleep(0.002)
            if process.poll() is not None:
                return [f"{way}: the run has ended by itself with {process.returncode}"]
            time.sleep(after_s)
            process.send_signal(which)
            code = process.wait()
        finally:
            process.kill()
            process.communicate()
        expected = {signal.SIGKILL: -9, signal.SIGINT: 130}[which]
        found = [] if code == expected else [f"{way}: exit code {code}, not {expected}"]
        if which == signal.SIGKILL:
            clean()
        return found + settles(before, {process.pid})


def table(counts: Mapping[tuple[str, str], int]) -> Table:
    """Return the table of the ended runs, by their kind and the signal, and of those that left something."""
    columns = {"kill -9": signal.SIGKILL.name, "Ctrl-C": signal.SIGINT.name, "left something": LEFT}
    rows = [[KINDS[way], *(f"{counts.get((way, kind), 0)}" for kind in columns.values())] for way in WAYS]
    return Table(["kind of run", *columns], rows)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--each", type=int, default=50, help="number of kills, and of interrupts")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--write-docs", action="store_true", help="renew docs/data/link/ended.csv")
    given = arguments.parse_args()
    times = random.Random(given.seed)
    failed = 0
    counts: Counter[tuple[str, str]] = Counter()
    for which in (signal.SIGKILL, signal.SIGINT):
        for n in range(given.each):
            way, after = WAYS[n % len(WAYS)], LATEST_S * times.random() ** 2
            found = end_once(way, which, after)
            failed += bool(found)
            counts.update([(way, which.name)] + [(way, LEFT)] * bool(found))
            print(
                f"{which.name} {n + 1:3d} {way:12} after {after:.3f} s: {'; '.join(found) or 'as before'}", flush=True
            )
    print(f"{2 * given.each} runs, {failed} left something")
    if given.write_docs:
        write_tables(DATA, {NAME: table(counts)})
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
