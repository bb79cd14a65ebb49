"""Series and captures of long runs are on disk: the same content, and memory that doesn't grow with the run."""

from __future__ import annotations

import errno
import gc
import json
import os
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell import BackendError, Results, Scenario, _core
from dumbbell.common import long_series
from dumbbell.kernel.outcome import outcome
from dumbbell.plan.text import plan_text
from memory import growth_kib, peak_kib

DOCUMENT: dict[str, Any] = {
    "name": "long",
    "duration": "20 s",
    "network": {
        "bottleneck": {"rate": "100 Mbit/s", "delay": "5 ms", "loss": "0.01 %"},
        "access": {"rate": "1 Gbit/s", "delay": "0 ms"},
    },
    "flows": [{"name": "a", "variant": "cubic"}, {"name": "short", "variant": "reno", "stop": "1 s"}],
    "trace": {"series": ["flows", "departures", "drops"], "packets": True, "only": ["a", "short", "r1->r2"]},
}
"""Some 160,000 packets: several tables have parts on disk, and some have none."""


def test_the_values_are_those_of_a_run_that_keeps_them_in_memory(tmp_path: Path) -> None:
    scenario = Scenario.from_dict(DOCUMENT)
    stored = dumbbell.run(scenario, out=tmp_path / "out")
    kept = dumbbell.run(scenario)
    (cell,) = scenario.cells
    whole = _core.run(plan_text(cell).with_seed(scenario.repetition_seed(0)))
    assert sorted(whole.tables()) == stored.tables(0) == sorted(kept.tables(0))
    rows = {}
    for name in whole.tables():
        expected = whole.table(name)
        for results in (stored, kept, Results.load(tmp_path / "out")):
            found = results.arrays(0, name)
            assert list(found) == list(expected)
            for column, values in expected.items():
                assert found[column].dtype == values.dtype
                assert np.array_equal(found[column], values, equal_nan=values.dtype.kind == "f"), (name, column)
        rows[name] = len(expected["t_ns"])
    assert rows["packets"] > 4 * 65_536 and rows["departures/r1->r2"] > 2 * 65_536 and rows["flow/a"] > 65_536
    assert 0 < rows["drops/r1->r2"] < 65_536 and 0 < rows["flow/short"] < 65_536
    # A second request reads the same values again.
    assert np.array_equal(kept.arrays(0, "packets")["t_ns"], whole.table("packets")["t_ns"])


def test_the_captures_are_those_of_a_run_that_keeps_them_in_memory(tmp_path: Path) -> None:
    capture = {"at": ["sender", "bottleneck"], "snaplen": "80 bytes"}
    scenario = Scenario.from_dict({**DOCUMENT, "trace": {}, "capture": capture})
    results = dumbbell.run(scenario, out=tmp_path / "out")
    (cell,) = scenario.cells
    whole = _core.run(plan_text(cell).with_seed(scenario.repetition_seed(0)))
    stored = results.captures(0)
    assert sorted(stored) == sorted(whole.captures())
    for name, path in stored.items():
        whole.write_capture(name, tmp_path / "whole")
        expected = (tmp_path / "whole").read_bytes()
        assert len(expected) > 20_000_000, "more than one part"
        assert path.read_bytes() == expected, name
    # The second run of the process appends to the file of the first.
    again = dumbbell.run(scenario, out=tmp_path / "again").captures(0)
    assert all(again[name].read_bytes() == path.read_bytes() for name, path in stored.items())


def test_packets_alone_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[str] = []
    add_rows = long_series.LongSeries.add_rows

    def add(self: long_series.LongSeries, name: str, table: Any) -> None:
        passed.append(name)
        add_rows(self, name, table)

    monkeypatch.setattr(long_series.LongSeries, "add_rows", add)
    dumbbell.run(Scenario.from_dict({**DOCUMENT, "duration": "5 s", "trace": {"packets": True}}))
    assert passed and set(passed) == {"packets"}


def test_a_file_is_closed_with_its_last_user() -> None:
    file = long_series._File()
    opened = file._file
    del file
    gc.collect()
    assert opened.closed


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(long_series, "_FILES", long_series._Files())
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    monkeypatch.setenv("TMPDIR", "/some/where")
    monkeypatch.setattr(tempfile, "tempdir", "/some/where")
    with pytest.raises(BackendError, match=r"^series: /some/where: No space left on device: set \$TMPDIR to another"):
        dumbbell.run(Scenario.from_dict(DOCUMENT))


RUN = """
import dumbbell

dumbbell.run(sys.argv[1], changes={"duration": sys.argv[2]}, out=sys.argv[3], jobs=1)
"""


@pytest.mark.slow
def test_memory_stays_flat_over_simulated_time(tmp_path: Path) -> None:
    scenario = Scenario.from_dict({**DOCUMENT, "trace": {"series": ["flows"]}, "capture": ["bottleneck"]})
    (tmp_path / "s.toml").write_text(scenario.to_toml())

    def peak(duration: str) -> int:
        return peak_kib(RUN, str(tmp_path / "s.toml"), duration, str(tmp_path / str(next(number))))

    number = count()
    # 150 s more are some 600,000 rows of 14 columns and 1.2 million samples of the RTT: 87 MB, more while a vector
    # grows. Their 1.8 million packets in the capture are 300 MB. Parts are of some 10 MB; polars has a few in memory.
    limit = 45 * 1024
    assert growth_kib(lambda: peak("50 s"), lambda: peak("200 s"), limit) < limit


def write_tables(folder: Path, *tables: tuple[str, dict[str, Any]]) -> bytes:
    """Write the result of a kernel run with these tables; returns their file."""
    contents, raw = [], b""
    for name, table in tables:
        described = []
        for column, values in table.items():
            raw += bytes(-len(raw) % 8)
            described.append({"name": column, "offset": len(raw), "rows": len(values), "type": values.dtype.str})
            raw += values.tobytes()
        contents.append({"name": name, "columns": described})
    (folder / "tables.bin").write_bytes(raw)
    (folder / "result.json").write_text(json.dumps({"flows": [], "tables": contents}))
    return raw


def test_long_tables_of_a_kernel_run_stay_on_disk(tmp_path: Path) -> None:
    rows = 2 * long_series.PART_ROWS + 100
    columns = {"t_ns": np.arange(rows, dtype="<u8"), "flow": np.arange(rows, dtype="<u4")}
    short = {"t_ns": np.arange(3, dtype="<u8")}
    raw = write_tables(
        tmp_path, ("departures/l", columns), ("drops/l", short), ("drops/m", {"t_ns": short["t_ns"][:0]})
    )
    made = outcome(tmp_path, "", "the run")
    assert made.result == {"flows": []} and list(made.tables) == ["departures/l", "drops/l", "drops/m"]
    found = long_series.parts_of(made.tables, "departures/l")
    assert found is not None and [len(part["flow"]) for part in found] == [65_536, 65_536, 100]
    for column, values in columns.items():
        assert np.array_equal(made.tables["departures/l"][column], values)
    assert [list(made.tables[name]["t_ns"]) for name in ("drops/l", "drops/m")] == [[0, 1, 2], []]
    # Programs add tables, and replace some.
    made.tables["departures/l"] = short
    made.tables["ping/p"] = short
    assert long_series.parts_of(made.tables, "departures/l") is None
    assert made.tables["departures/l"] is made.tables["ping/p"] and len(made.tables) == 4
    del made.tables["ping/p"]
    assert "ping/p" not in made.tables
    # A file that was cut off is no result.
    (tmp_path / "tables.bin").write_bytes(raw[:-30])
    with pytest.raises(BackendError, match="the run has left no result"):
        outcome(tmp_path, "", "the run")


def test_parts_of_a_table_in_one_file_are_its_rows(tmp_path: Path) -> None:
    # The first part was written before the congestion control had a state; the second one is longer than two on disk.
    counts, parts = [3, 2 * long_series.PART_ROWS, 1], []
    times = np.arange(sum(counts), dtype="<u8")
    state = np.where(times < 3, np.nan, times / 2)
    for n, end in enumerate(np.cumsum(counts)):
        columns = {"t_ns": times[end - counts[n] : end]} | ({"bw": state[end - counts[n] : end]} if n else {})
        parts.append(("flow/f", columns))
        if n == 0:
            parts.append(("drops/l", {"t_ns": times[:0]}))
    write_tables(tmp_path, *parts)
    made = outcome(tmp_path, "", "the run").tables
    assert list(made) == ["drops/l", "flow/f"]
    found = long_series.parts_of(made, "flow/f")
    assert found is not None and [len(part["bw"]) for part in found] == [65_536, 65_536, 4]
    assert np.array_equal(made["flow/f"]["t_ns"], times)
    assert np.array_equal(made["flow/f"]["bw"], state, equal_nan=True)
