"""A cluster of dask, batch systems whose jobs are sessions of this machine, and runs on them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Scenario
from dumbbell.results.running import worker_runs
from required import require_packages
from waiting import DEADLINE_S

__all__ = ["batch_system", "check_same_bytes", "cluster_scenario", "started"]

DOCUMENT = {
    "name": "dask",
    "duration": "50 ms",
    "repetitions": 3,
    "start_jitter": "5 ms",
    "network": {
        "bottleneck": {"rate": {"trace": "rates.trace"}, "delay": "1 ms"},
        "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
    },
    "flows": [{"name": "a", "variant": "cubic"}],
    "sweep": {"network.bottleneck.delay": [f"{n} ms" for n in range(1, 21)]},
}
SUBMIT = 'cat "$1" >> "$0.scripts"\njob=$(cat "$1")\nsetsid bash -c "$job" > /dev/null 2>&1 &\n'
COMMANDS = {
    "slurm": {
        "sbatch": SUBMIT + 'echo "Submitted batch job $!"',
        "scancel": 'kill -KILL -- "-$1" 2> /dev/null || { echo "Invalid job id $1" >&2; exit 1; }',
    },
    "pbs": {
        "qsub": SUBMIT + 'echo "$!.head.example.org"',
        "qdel": 'kill -KILL -- "-${1%%.*}" 2> /dev/null || { echo "qdel: Unknown Job Id $1" >&2; exit 153; }',
    },
}
"""Commands of batch systems, whose jobs are sessions of this machine."""

PROGRAM = Path(__file__).with_name("dask_cluster.py")


@contextmanager
def started(**environment: str) -> Iterator[tuple[str, list[int], subprocess.Popen[str]]]:
    """Start a scheduler with two workers: its address for ``--cluster``, the workers' process IDs, its process."""
    require_packages("distributed", "dask_jobqueue")
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), "2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    assert process.stdout is not None and process.stdin is not None
    address, *pids = process.stdout.readline().split()
    yield address, [int(pid) for pid in pids], process
    process.stdin.close()
    process.wait(timeout=DEADLINE_S)
    process.stdout.close()


def check_same_bytes(scenario: Scenario, place: Path, cluster: str, **more: Any) -> None:
    """Make the runs on a cluster and on this machine, and compare the files."""
    dumbbell.run(scenario, out=place / "a", cluster=cluster, **more)
    dumbbell.run(scenario, out=place / "b", jobs=1)
    theirs, ours = (
        {str(file.relative_to(place / name)): file.read_bytes() for file in (place / name).rglob("*.parquet")}
        for name in ("a", "b")
    )
    assert theirs == ours


@pytest.fixture
def cluster_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scenario:
    """Make a scenario that names a file, which the workers don't have."""
    monkeypatch.setattr(worker_runs, "MOST_RUNS", {True: 7, False: 7})
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "rates.trace").write_text("".join(f"{n}\n" for n in range(1, 50)))
    monkeypatch.chdir(tmp_path / "here")
    return Scenario.from_dict(DOCUMENT)


@pytest.fixture
def batch_system(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Put the commands of a batch system into the path, and make a home directory: the system's name."""
    require_packages("distributed", "dask_jobqueue")
    import dask

    # Its import adds defaults to the configuration, which `dask.config.set` would forget, and handles SIGINT.
    at_interrupt = signal.getsignal(signal.SIGINT)
    import_module("dask_jobqueue")
    signal.signal(signal.SIGINT, at_interrupt)
    name_of_system: str = request.param
    commands = COMMANDS[name_of_system]
    (tmp_path / "bin").mkdir()
    for name, text in commands.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    size = {"cores": 2, "processes": 2, "memory": "2GB", "local-directory": str(tmp_path / "scratch")}
    with dask.config.set({f"jobqueue.{name_of_system}.{key}": value for key, value in size.items()}):
        yield name_of_system
