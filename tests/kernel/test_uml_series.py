"""Long series of runs in virtual time are written in parts: the same values, and less memory of the guest."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dumbbell.kernel import outcome
from dumbbell.kernel.uml import backend, virtual_machine
from dumbbell.results import Results
from machines import once, scenario
from waiting import wait_until

pytestmark = pytest.mark.usefixtures("require_uml")

GIVEN = scenario(
    duration="12 s", rate="100 Mbit/s", limit="100 packets", trace={"series": True},
    network__bottleneck__delay="2 ms", network__access={"rate": "1 Gbit/s", "delay": "0 ms"},
)  # fmt: skip
"""Some 100,000 packets of data; the bottleneck drops some."""


def memory_of(process: subprocess.Popen[bytes]) -> int | None:
    """Open the file that is the guest's memory: it has no name, and its blocks never become fewer."""
    with suppress(OSError):
        for entry in Path(f"/proc/{process.pid}/fd").iterdir():
            if "(deleted)" in str(entry.readlink()) and entry.stat().st_size > 32 << 20:
                return os.open(entry, os.O_RDONLY)
    return None


def run_with_memory(monkeypatch: pytest.MonkeyPatch) -> tuple[Results, int, dict[str, int]]:
    """Run the scenario; returns the results, the MiB that the guest has touched, and the parts of each table."""
    opened: list[int] = []
    parts: dict[str, int] = {}
    run_guest, tables = virtual_machine.run_guest, outcome.tables

    def watched(*args: Any, on_start: Any, **options: Any) -> Any:
        def started(process: subprocess.Popen[bytes]) -> None:
            on_start(process)
            found: list[int | None] = []

            def is_there() -> bool:
                found.append(memory_of(process))
                return found[-1] is not None

            wait_until(is_there, process)
            opened.extend(file for file in found if file is not None)

        return run_guest(*args, on_start=started, **options)

    def counted(sources: Any) -> Any:
        for contents, _ in (sources := list(sources)):
            for table in contents:
                parts[table["name"]] = parts.get(table["name"], 0) + 1
        return tables(sources)

    monkeypatch.setattr(backend, "run_guest", watched)
    monkeypatch.setattr(outcome, "tables", counted)
    results = once(GIVEN)
    (file,) = opened
    touched = os.fstat(file).st_blocks * 512 >> 20
    os.close(file)
    return results, touched, parts


def test_series_in_parts_have_the_values_of_whole_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        results, touched, parts = run_with_memory(patch)
    with monkeypatch.context() as patch:
        patch.setattr(backend, "part_bytes", lambda _plan: 1 << 62)
        whole, more, single = run_with_memory(patch)
    assert set(single.values()) == {1}
    long = {"departures/r1->r2", "queue/r1->r2"}
    assert min(parts[name] for name in long) > 1 and parts["drops/d1->r2"] == 1
    assert results.runs[0].flows == whole.runs[0].flows and results.runs[0].queues == whole.runs[0].queues
    assert results.tables(0) == whole.tables(0)
    for name in whole.tables(0):
        expected, found = whole.arrays(0, name), results.arrays(0, name)
        assert list(found) == list(expected)
        for column, values in expected.items():
            assert found[column].dtype == values.dtype
            assert np.array_equal(found[column], values, equal_nan=values.dtype.kind == "f"), (name, column)
    assert len(whole.arrays(0, "departures/r1->r2")["t_ns"]) > 65_536
    assert len(whole.arrays(0, "drops/r1->r2")["t_ns"]) > 0
    # The series take some 110 MB, and as much again while they are written; in parts, 16 MB. A guest without series
    # takes about 60.
    assert touched < 0.8 * more, (touched, more)
