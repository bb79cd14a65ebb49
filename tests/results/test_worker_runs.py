"""Large sweeps are checked and run by worker processes: the results are those of one process, byte for byte."""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import DumbbellError, Results, Scenario, ScenarioError, workers
from dumbbell.common import long_series
from dumbbell.results.running import worker_runs, worker_task
from dumbbell.results.running.repair_and_merge import merge, repair
from dumbbell.results.store import directory
from dumbbell.results.store.build_hash import build_hash
from dumbbell.results.store.run_files import MovedFiles, PackedFiles
from dumbbell.scenario import worker_copy
from dumbbell.scenario.own.sections import may_have_code
from dumbbell.scenario.sweep import cell_checks
from dumbbell.workers import Pool

WORKLOAD = {"kind": "workload", "arrivals": {"rate": "120 /s"}, "sizes": "5 kB"}
DOCUMENT = {
    "name": "workers",
    "duration": "100 ms",
    "repetitions": 2,
    "start_jitter": "5 ms",
    "network": {
        "bottleneck": {"rate": "10 Mbit/s", "delay": "1 ms", "loss": "0.5 %"},
        "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
    },
    "flows": [
        {"name": "a", "variant": "cubic"},
        {"name": "w", "variant": "reno", "application": WORKLOAD},
    ],
    "sweep": {
        "network.bottleneck.rate": [f"{n} Mbit/s" for n in range(1, 21)],
        "flows.a.variant": ["cubic", {"name": "vegas", "alpha": 2}],
    },
}  # fmt: skip


def scenario(**changes: Any) -> Scenario:
    return Scenario.from_dict({**DOCUMENT, **changes})


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes make sweeps of any size, in batches that cross the parts of the store."""
    monkeypatch.setattr(worker_runs, "FEWEST_RUNS", 1)
    monkeypatch.setattr(worker_runs, "MOST_RUNS", {True: 7, False: 7})


@pytest.fixture(scope="module", autouse=True)
def small_parts() -> Iterator[None]:
    """Let the store have several parts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(directory, "PART", 20)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the results with one process."""
    place = tmp_path_factory.mktemp("whole") / "out"
    dumbbell.run(scenario(), out=place, jobs=1)
    return place


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty directory for temporary files."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(long_series, "_FILES", long_series._Files())
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / "tmp"


def ends_after(number: int) -> Callable[[int, int], None]:
    """Return a progress that interrupts when more runs are made."""

    def end(done: int, _every: int) -> None:
        if done > number:
            raise KeyboardInterrupt

    return end


def content(place: Path) -> dict[str, bytes]:
    return {str(file.relative_to(place)): file.read_bytes() for file in place.rglob("*.parquet")}


@pytest.mark.usefixtures("small_batches")
def test_processes_make_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    counts: list[tuple[int, int]] = []

    def progress(done: int, every: int) -> None:
        counts.append((done, every))

    made = dumbbell.run(scenario(), out=tmp_path / "out", jobs=2, progress=progress)
    assert counts[0] == (0, 80) and counts[-1] == (80, 80) and len(counts) > 10
    assert content(tmp_path / "out") == content(whole)
    assert [run.stored() for run in made.runs] == [run.stored() for run in Results.load(whole).runs]
    assert not (tmp_path / "out" / "runs" / "journal.jsonl").exists()


@pytest.mark.usefixtures("small_batches")
def test_processes_make_the_same_frames_without_a_directory(whole: Path) -> None:
    made, kept = dumbbell.run(scenario(), jobs=2), Results.load(whole)
    for name, frame in made.frames().items():
        assert frame.equals(kept.frames()[name]), name
    assert made.document() == kept.document()


@pytest.mark.usefixtures("small_batches")
def test_a_lost_process_costs_no_run(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[Pool[Any]] = []
    enter = Pool.__enter__

    def noted(pool: Pool[Any]) -> Pool[Any]:
        pools.append(pool)
        return enter(pool)

    monkeypatch.setattr(Pool, "__enter__", noted)

    def kill(done: int, _every: int) -> None:
        if 0 < done < 15:
            os.kill(pools[0].pids[0], signal.SIGKILL)

    dumbbell.run(scenario(), out=tmp_path / "out", jobs=2, progress=kill)
    assert content(tmp_path / "out") == content(whole)


@pytest.mark.usefixtures("small_batches")
def test_a_sweep_that_was_ended_is_continued_by_processes(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        dumbbell.run(scenario(), out=tmp_path / "out", jobs=2, progress=ends_after(40))
    kept = Results.load(tmp_path / "out")
    assert 40 < len(kept) < 80 and kept.damaged == 0
    repair(tmp_path / "out", jobs=2)
    assert content(tmp_path / "out") == content(whole)


@pytest.mark.usefixtures("small_batches")
def test_more_repetitions_and_parts_of_sweeps(tmp_path: Path) -> None:
    few = scenario(repetitions=1)
    dumbbell.run(few, out=tmp_path / "a", jobs=2, only=lambda cell: cell.number < 11)
    dumbbell.run(few, out=tmp_path / "b", jobs=1, only=lambda cell: cell.number >= 11)
    merge(tmp_path / "all", [tmp_path / "a", tmp_path / "b"])
    dumbbell.run(few, out=tmp_path / "one", jobs=1)
    assert content(tmp_path / "all") == content(tmp_path / "one")


@pytest.mark.usefixtures("small_batches")
def test_repetitions_until_an_interval_is_narrow_by_processes() -> None:
    rule = {"half_width": "20 %", "at_most": 6, "flow": "a"}
    until = scenario(until=rule, sweep={"flows.a.variant": ["reno", "cubic"]})
    assert dumbbell.run(until, jobs=2).flows.equals(dumbbell.run(until, jobs=1).flows)


@pytest.mark.usefixtures("allow_code")
def test_own_code_stays_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    methods = "".join(f"    def {name}(self, event): pass\n" for name in ("on_ack", "on_congestion"))
    (tmp_path / "mine.py").write_text(f"class Mine:\n    def __init__(self, setup): self.cwnd = 15_000\n{methods}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(worker_runs, "FEWEST_RUNS", 1)
    changed = scenario(duration="20 ms", sweep={"flows.a.variant": ["reno", {"python": "mine.py:Mine"}]})
    with pytest.raises(DumbbellError, match=r"--cluster: own code \('mine\.py:Mine'\) runs"):
        dumbbell.run(changed, out=tmp_path / "out", cluster="local:2")
    assert worker_runs.faster_processes(changed, dumbbell.backends.backend("sim"), 100) is None


QUIC = {"name": "q", "variant": "cubic", "transport": "quic", "application": {"kind": "transfer", "size": "20 kB"}}
WITH_FILES = {
    "sweep": {"network.bottleneck.rate": ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"]},
    "flows": [*DOCUMENT["flows"], QUIC],  # type: ignore[misc]
    "trace": {"series": True},
}


def test_series_and_captures_come_from_workers(tmp_path: Path) -> None:
    changed = scenario(**WITH_FILES, capture={"at": ["sender"], "qlog": "draft"})
    dumbbell.run(changed, out=tmp_path / "a", cluster="local:2")
    dumbbell.run(changed, out=tmp_path / "b", jobs=1)
    assert worker_runs.faster_processes(changed, dumbbell.backends.backend("sim"), 10**6) is None
    found = [
        {str(file.relative_to(tmp_path / name)): file.read_bytes() for file in (tmp_path / name).rglob("*.*")}
        for name in ("a", "b")
    ]
    assert {Path(name).suffix for name in found[0]} == {".parquet", ".pcapng", ".sqlog", ".json"}
    for content_ in found:
        del content_["manifest.json"]
    assert found[0] == found[1]


def test_large_files_end_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_task, "MOST_BYTES", 1)
    make = worker_task.maker(worker_task.Setup(worker_copy.WorkerCopy.of(scenario(**WITH_FILES)), build_hash()))
    made = make(([(0, 0), (1, 0), (2, 0)], 1000.0))
    assert [run.cell for run in made.runs] == [0]
    assert [*made.files] == [made.runs[0].key]
    assert made.left == [(1, 0), (2, 0)]


def test_series_of_workers_without_a_directory() -> None:
    changed = scenario(**WITH_FILES)
    one, two = (dumbbell.run(changed, jobs=1), dumbbell.run(changed, cluster="local:2"))
    assert one.tables(5) == two.tables(5) != []
    for name in one.tables(5):
        assert one.table(5, name).equals(two.table(5, name))
        assert one.table(5, name).schema == two.table(5, name).schema


LONG = {
    "duration": "10 s",
    "network": {"bottleneck": {"rate": "10 Mbit/s", "delay": "1 ms"}, "access": {"rate": "1 Gbit/s", "delay": "1 ms"}},
    "sweep": {"network.bottleneck.rate": ["60 Mbit/s", "100 Mbit/s"]},
    "flows": [{"name": "a", "variant": "cubic"}],
    "repetitions": 1,
    "trace": {"series": ["departures", "drops"], "only": ["r1->r2"]},
}
"""Some tables have several parts."""


def test_files_of_runs_do_not_pass_through_memory(tmp_path: Path) -> None:
    """A worker on this machine writes them, and they move to their places."""
    read = scenario(**WITH_FILES, capture={"at": ["sender"]})
    setup = worker_task.Setup(worker_copy.WorkerCopy.of(read), build_hash(), tmp_path)
    made = worker_task.maker(setup)(([(0, 0), (1, 0)], 1000.0))
    files = made.files[made.runs[0].key]
    assert isinstance(files, MovedFiles) and files.folder.parent == tmp_path
    written = {place.name: place.stat().st_ino for place in files.folder.iterdir()}
    reply = pickle.dumps(made, protocol=5)
    contents = [place.read_bytes() for place in files.folder.iterdir()]
    assert files.size == sum(map(len, contents)) and not any(content_ in reply for content_ in contents)
    packed = worker_task.maker(worker_task.Setup(setup.scenario, setup.build))(([(0, 0)], 1000.0)).files[
        made.runs[0].key
    ]
    assert isinstance(packed, PackedFiles)
    for name, content_ in {**packed.series, **packed.captures}.items():
        mine = {**files.series, **files.captures}[name]
        assert mine.read_bytes() == content_
        of_files = files.files()
        {**of_files.series, **of_files.captures}[name](tmp_path / "moved")
        assert (tmp_path / "moved").stat().st_ino == written[mine.name]
    files.remove()
    [other] = [made.files[run.key] for run in made.runs[1:]]
    assert isinstance(other, MovedFiles) and set(tmp_path.iterdir()) == {other.folder, tmp_path / "moved"}


def test_long_series_of_workers_stay_on_disk(temporary: Path) -> None:
    changed = scenario(**LONG)
    two = dumbbell.run(changed, cluster="local:2")
    assert [*temporary.iterdir()] == []
    one = dumbbell.run(changed, jobs=1)
    for run in range(2):
        assert one.tables(run) == two.tables(run) == ["departures/r1->r2", "drops/r1->r2"]
        for name in one.tables(run):
            assert one.table(run, name).equals(two.table(run, name))
    found = long_series.parts_of(two._tables[two.runs[1].key], "departures/r1->r2")
    assert found is not None and [len(part["t_ns"]) for part in found][:-1] == [65_536]


@pytest.mark.parametrize("kept", [True, False])
def test_an_interrupt_leaves_no_file_of_workers(tmp_path: Path, temporary: Path, kept: bool) -> None:
    changed = scenario(**WITH_FILES, capture={"at": ["sender"]} if kept else {})
    with pytest.raises(KeyboardInterrupt):
        dumbbell.run(changed, out=tmp_path / "out" if kept else None, cluster="local:2", progress=ends_after(0))
    assert [*temporary.iterdir()] == []
    assert not (tmp_path / "out" / ".partial").exists()


def test_files_that_a_killed_process_left_are_removed(tmp_path: Path) -> None:
    dumbbell.run(scenario(**WITH_FILES), out=tmp_path / "out", only=lambda cell: cell.number == 0)
    (tmp_path / "out" / ".partial" / "dumbbell-runs-x" / "y").mkdir(parents=True)
    (tmp_path / "out" / ".partial" / "dumbbell-runs-x" / "y" / "0").write_bytes(b"PAR1")
    (tmp_path / "out" / ".partial" / "flow.new").write_bytes(b"PAR1")
    seen_: set[str] = set()

    def look(_done: int, _every: int) -> None:
        seen_.update(place.name for place in (tmp_path / "out" / ".partial").iterdir())

    dumbbell.run(scenario(**WITH_FILES), out=tmp_path / "out", progress=look)
    assert seen_ == {"lock"} and not (tmp_path / "out" / ".partial").exists()


@pytest.mark.parametrize("text", ["local", "local:0", "slurm:", "dask://x", "dask://x:99999", "tls://x", "ssh:3", ""])
def test_a_wrong_cluster_is_an_error(text: str) -> None:
    with pytest.raises(
        DumbbellError, match="given: must be one of local:N, dask://HOST:PORT, tls://HOST:PORT, slurm:N, pbs:N"
    ):
        dumbbell.run(scenario(), cluster=text)


# ---------------------------------------------------------------- the check of the cells


@pytest.fixture
def ranges(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Let processes check sweeps of any size; returns the ranges that they have checked."""
    checked: list[tuple[int, int]] = []
    run = Pool.run

    def noted(pool: Pool[Any], next_task: Callable[[], Any]) -> Any:
        for task, reply in run(pool, next_task):
            checked.append(task)
            yield task, reply

    monkeypatch.setattr(cell_checks, "PROCESSES_FROM", 1)
    monkeypatch.setattr(cell_checks, "RANGE", 4)
    monkeypatch.setattr(Pool, "run", noted)
    monkeypatch.setattr(workers, "allowed", lambda: 2)
    return checked


def problems(document: dict[str, Any]) -> list[str]:
    with pytest.raises(ScenarioError) as error:
        Scenario.from_dict(document)
    return [str(problem) for problem in error.value.problems]


def test_processes_check_every_cell(ranges: list[tuple[int, int]]) -> None:
    properties = scenario().cells.properties
    assert sorted(ranges) == [(n, n + 4) for n in range(0, 40, 4)]
    assert (properties.problems, properties.captures, properties.code) == ([], False, [])


WRONG = [
    {"sweep": {"network.bottleneck.rate": [*(f"{n} Mbit/s" for n in range(1, 20)), "x", "21 Mbit/s", "y"]}},
    {"sweep": {"flows.a.class": [*range(3, 25)]}},
    {"sweep": {"flows.a.start": [f"{n} ms" for n in range(85, 110)]}},
    {"capture": {"at": [], "snaplen": "100 bytes"}},
]
"""Changes with problems: values that can't be read, cells that can't be made, settings without an effect."""


@pytest.mark.parametrize("changes", WRONG)
def test_processes_find_the_same_problems(
    monkeypatch: pytest.MonkeyPatch, ranges: list[tuple[int, int]], changes: dict[str, Any]
) -> None:
    found = problems({**DOCUMENT, **changes})
    assert ranges
    monkeypatch.setattr(cell_checks, "PROCESSES_FROM", 10**9)
    assert problems({**DOCUMENT, **changes}) == found


def test_files_of_cells_are_known(tmp_path: Path, ranges: list[tuple[int, int]]) -> None:
    for n in (1, 2):
        (tmp_path / f"{n}.trace").write_text("1\n" * n)
    file = tmp_path / "s.toml"
    traces = [{"trace": f"{n}.trace"} for n in (1, 2)]
    file.write_text(scenario(sweep={"flows.a.variant": ["cubic"]}).to_toml())
    swept = Scenario.load(file, {"sweep": {"network.bottleneck.rate": [*traces, "3 Mbit/s"]}})
    assert ranges
    assert sorted(swept.external_files) == ["1.trace", "2.trace"]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, False),
        ({"variants": {"mine": {"python": "mine.py:Mine"}}}, True),
        ({"sweep": {"flows.a.variant": [{"library": "libmine.so"}]}}, True),
        ({"sweep": {"flows.a.variant.python": ["mine.py:Mine"]}}, True),
    ],
)
def test_own_code_is_noticed_without_making_a_cell(changes: dict[str, Any], found: bool) -> None:
    assert may_have_code({**DOCUMENT, **changes}) is found
