#!/usr/bin/env python3
"""Instructions per packet of two wheels, an ordinary and a profile-guided build, and whether their results agree.

    pip wheel . --no-deps --wheel-dir plain
    MATURIN_PGO=1 pip wheel . --no-deps --wheel-dir guided
    python benches/guided.py plain/*.whl guided/*.whl
    python benches/guided.py --write-docs plain/*.whl guided/*.whl

The counts are those of benches/instructions.py, with the extension module of the wheel in a Python process. The
results of all scenarios of the training (packaging/train.py) are compared; exit code 1 if one differs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dumbbell.report.tables import Table, write_tables
from dumbbell.results.runs.record import jobs_of
from measuring import DATA, ROOT, counted, measured_on, timed
from workloads import BUDGETED, Workload, delivered

sys.path.insert(0, str(ROOT / "packaging"))
from train import scenarios

RUN = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("dumbbell._core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
for line in sys.stdin:
    output = core.run(line)
    print(json.dumps({"flows": output.rows.flows, "queues": output.rows.queues}))
"""
"""Runs plans with the extension module alone."""


def module(wheel: Path, folder: Path) -> Path:
    """Unpack the extension module of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.startswith("dumbbell/_core") and not n.endswith(".pyi")]
        return Path(archive.extract(name, folder))


def instructions(core: Path, workload: Workload) -> float:
    """Count the instructions of a delivered packet."""
    command: list[str | Path] = [sys.executable, "-I", "-c", RUN, core]
    runs = [counted(command, workload.plan(seconds)) for seconds in workload.count_s]
    (first, few), (second, many) = ((total, delivered(output)) for total, output in runs)
    return (second - first) / (many - few)


def results(core: Path) -> str:
    """Run all plans of the training; return their results."""
    plans = [job.plan() for scenario in scenarios() for job in jobs_of(scenario)]
    return timed([sys.executable, "-I", "-c", RUN, core], "".join(json.dumps(plan) + "\n" for plan in plans)).output


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plain", type=Path, help="wheel of an ordinary build")
    parser.add_argument("guided", type=Path, help="wheel of a profile-guided build")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/performance")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        cores = [module(wheel, Path(place) / str(k)) for k, wheel in enumerate([options.plain, options.guided])]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            plain, guided = (list(pool.map(lambda w, c=core: instructions(c, w), BUDGETED)) for core in cores)
        same = results(cores[0]) == results(cores[1])
    rows = [
        [workload.title, f"{a:.0f}", f"{b:.0f}", f"{b / a:.2f}"]
        for workload, a, b in zip(BUDGETED, plain, guided, strict=True)
    ]
    for row in rows:
        print(f"{row[0]:<52}{row[1]:>8}{row[2]:>8}{row[3]:>6}")
    print("the results are the same" if same else "the results differ")
    if options.write_docs:
        titles = ["workload", "plain build", "profile-guided build", "ratio"]
        note = measured_on("python benches/guided.py --write-docs") + ": instructions per packet"
        write_tables(DATA, {"guided": Table(titles, rows, note)})
    if not same:
        sys.exit(1)


if __name__ == "__main__":
    main()
