"""Results directories in bad circumstances: several processes, kills, damage, edited files, long names."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_results import Dying, KilledError

import dumbbell
from dumbbell import DumbbellError, Results, ResultsError, Scenario
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.results import Run
from dumbbell.results.running.repair_and_merge import merge, missing, repair
from dumbbell.results.runs.run_list import Runs
from dumbbell.results.store.directory import Store
from dumbbell.results.store.run_folder import RunFolder
from dumbbell.scenario.sweep import cells
from scenario_mutants import mutant_text

DOCUMENT = {
    "name": "faults",
    "duration": "50 ms",
    "repetitions": 2,
    "start_jitter": "5 ms",
    "network": {"bottleneck": {"rate": "10 Mbit/s", "delay": "1 ms"}, "access": {"rate": "1 Gbit/s", "delay": "1 ms"}},
    "flows": [{"name": "a", "variant": "cubic"}],
    "sweep": {"network.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"]},
}


def scenario(**changes: Any) -> Scenario:
    return Scenario.from_dict({**DOCUMENT, **changes})


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    dumbbell.run(scenario(), out=tmp_path / "whole")
    return tmp_path / "whole"


def runs_of(directory: Path) -> list[dict[str, Any]]:
    return [run.stored() for run in Results.load(directory).runs]


def broken(place: Path, after: int = 4) -> Path:
    """Make a directory with some runs in the journal."""
    with pytest.raises(KilledError):
        dumbbell.run(scenario(), out=place, jobs=1, backend=Dying(after))
    return place


# ---------------------------------------------------------------- several processes


def test_a_reader_misses_no_run_that_moves_into_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer completes a part after the reader has looked at one of the two places."""
    place = broken(tmp_path / "out")
    expected = runs_of(place)
    assert len(expected) == 4
    writer = RunFolder(LinkFreeFolder(place))
    writer.read(scenario(), Store(place).manifest()["cells_per_part"])
    read_journal = RunFolder._journal_lines

    def then_written(self: RunFolder) -> list[str]:
        lines = read_journal(self)
        if self is not writer:
            writer.finish()
        return lines

    monkeypatch.setattr(RunFolder, "_journal_lines", then_written)
    assert runs_of(place) == expected
    assert not (place / "runs" / "journal.jsonl").exists()


def test_a_lock_that_has_no_name_any_more_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that had the lock removes it between this one's opening and locking it."""
    lock, calls = fcntl.flock, []

    def late(file: Any, how: int) -> None:
        calls.append(how)
        if len(calls) == 1:
            shutil.rmtree(tmp_path / "out" / ".partial")
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    store = Store(tmp_path / "out")
    with store.open(scenario(), "sim"):
        assert len(calls) == 2
        with (tmp_path / "out" / ".partial" / "lock").open() as named, pytest.raises(BlockingIOError):
            lock(named, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_second_writer_is_refused_and_a_reader_is_not(tmp_path: Path) -> None:
    seen = []

    def progress(done: int, _all: int) -> None:
        if done == 3:
            with pytest.raises(ResultsError, match="another process is writing results into it"):
                dumbbell.run(scenario(), out=tmp_path / "out")
            seen.append(len(Results.load(tmp_path / "out")))

    dumbbell.run(scenario(), out=tmp_path / "out", jobs=1, progress=progress)
    assert seen == [3]
    assert len(Results.load(tmp_path / "out")) == 6
    assert not (tmp_path / "out" / ".partial").exists()


KILLED = """
import os, random, signal, sys, threading, time
import dumbbell
from dumbbell import Scenario
document, place, (number, seed, most) = eval(sys.argv[1]), sys.argv[2], map(int, sys.argv[3:])
scenario = Scenario.from_dict(document)
draw, at = random.Random(seed), None
def progress(done, all):
    global at
    if at is None and done < all:  # before the first run
        at = done + 1 + draw.randrange(min(most, all - done))
    if done == at:
        threading.Timer(draw.random() / 200, os.kill, (os.getpid(), number)).start()
try:
    dumbbell.run(scenario, out=place, progress=progress, jobs=2)
except KeyboardInterrupt:
    os._exit(130)
"""
"""Runs a scenario and sends itself a signal up to 5 ms after one of the missing runs."""
KILLS = int(os.environ.get("KILLS", "3"))
"""Processes that get each signal in the middle of a sweep."""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_runs_of_killed_processes_are_those_of_an_undisturbed_one(tmp_path: Path, number: signal.Signals) -> None:
    # Parts of 512 // 40 = 12 cells: three parts, so that kills meet batches and the journal.
    document = {
        **DOCUMENT, "duration": "2 ms", "start_jitter": "1 ms", "repetitions": 40,
        "sweep": {"network.bottleneck.rate": [f"{n} Mbit/s" for n in range(1, 37)]},
    }  # fmt: skip
    dumbbell.run(Scenario.from_dict(document), out=tmp_path / "whole")
    ended = seed = 0
    while ended < KILLS:
        place = tmp_path / f"out-{seed}"
        finished = False
        while not finished and ended < KILLS:
            args = [repr(document), str(place), str(int(number)), str(seed), "700"]
            done = subprocess.run([sys.executable, "-c", KILLED, *args], capture_output=True, text=True, check=False)
            assert done.returncode in {0, -number, 130}, done.stderr
            assert Results.load(place).damaged == 0
            # A sweep that ended before the signal doesn't count.
            finished = json.loads((place / "manifest.json").read_text())["finished"] is not None
            assert finished or done.returncode != 0
            ended += not finished
            seed += 1
        dumbbell.run(Scenario.from_dict(document), out=place)
        for kind in ("runs/*.parquet", "*.parquet"):
            names = sorted(file.relative_to(place) for file in place.glob(kind))
            assert names == sorted(file.relative_to(tmp_path / "whole") for file in (tmp_path / "whole").glob(kind))
            assert all((place / name).read_bytes() == (tmp_path / "whole" / name).read_bytes() for name in names)


def test_an_interrupted_repair_is_continued(whole: Path) -> None:
    expected = runs_of(whole)
    [batch] = (whole / "runs").iterdir()
    batch.write_bytes(batch.read_bytes()[:200])

    def interrupt(done: int, _all: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        repair(whole, jobs=1, progress=interrupt)
    read = Results.load(whole)
    assert (len(read), missing(read)) == (2, 4)
    repair(whole)
    assert runs_of(whole) == expected
    assert [file.name for file in (whole / "runs").iterdir()] == [batch.name]


# ---------------------------------------------------------------- damage


def test_a_line_that_a_kill_cut_off_is_no_run(tmp_path: Path) -> None:
    place = broken(tmp_path / "out")
    journal = place / "runs" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    read = Results.load(place)
    assert (len(read), read.damaged) == (3, 0)
    dumbbell.run(scenario(), out=tmp_path / "whole")
    dumbbell.run(scenario(), out=place)
    assert runs_of(place) == runs_of(tmp_path / "whole")


def test_an_edited_line_of_the_journal_is_no_run(tmp_path: Path) -> None:
    place = broken(tmp_path / "out")
    journal = place / "runs" / "journal.jsonl"
    header, first, *rest = journal.read_text().splitlines(keepends=True)
    moved = first.replace("0 ", "1 ", 1)  # the run as one of another cell
    journal.write_text("".join([header, moved, first.replace('"goodput_bps": ', '"goodput_bps": 1'), *rest]))
    read = Results.load(place)
    assert (len(read), read.damaged) == (3, 2)


@pytest.mark.parametrize("header", ["", "{", "null", "[" * 100_000, '{"format": 3}', "\0"])
def test_a_damaged_header_of_the_journal_loses_nothing(tmp_path: Path, header: str) -> None:
    place = broken(tmp_path / "out")
    journal = place / "runs" / "journal.jsonl"
    journal.write_text("\n".join([header, *journal.read_text().splitlines()[1:]]) + "\n")
    assert len(Results.load(place)) == 4
    (place / "manifest.json").unlink()
    with pytest.raises(ResultsError, match="no results here"):
        Results.load(place)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, '{"format": 3, "scenario": {}}', "\0" * 100])
def test_a_damaged_manifest_is_made_again(whole: Path, text: str) -> None:
    expected = runs_of(whole)
    (whole / "manifest.json").write_text(text)
    assert runs_of(whole) == expected
    repair(whole)
    assert json.loads((whole / "manifest.json").read_text())["runs"] == 6


@pytest.mark.parametrize(
    "entry",
    [
        {"cells_per_part": 0},
        {"cells_per_part": "x"},
        {"files": []},
        {"files": {"x": "../../etc/passwd"}},
        {"files": {"x": "/etc/passwd"}},
        {"files": {"x": 1}},
        {"registered": 1},
        {"tables": 1},
        {"scenario": 1},
        {"format": "3"},
        {"format": 99},
    ],
)
def test_a_wrong_entry_of_the_manifest_is_an_error(whole: Path, entry: dict[str, Any]) -> None:
    for batch in (whole / "runs").iterdir():
        batch.unlink()
    content = json.loads((whole / "manifest.json").read_text())
    (whole / "manifest.json").write_text(json.dumps({**content, **entry}))
    with pytest.raises(ResultsError, match=f"no readable manifest.json: .*{next(iter(entry))}"):
        Results.load(whole)


def test_a_stray_file_is_reported_once(whole: Path) -> None:
    (whole / "runs" / "copy.parquet").write_bytes(b"PAR1")
    assert Results.load(whole).damaged == 1
    repair(whole)
    assert Results.load(whole).damaged == 0
    assert len(list((whole / "runs").iterdir())) == 1


def test_mutants_of_stored_files_never_change_a_run(whole: Path, tmp_path: Path) -> None:
    """Loading gives runs that were stored, or an error of Dumbbell; the next call makes the lost ones again."""
    journal = broken(tmp_path / "journal")
    stored = runs_of(whole)
    draw = random.Random(7)
    for n in range(120):
        origin = draw.choice([whole, journal])
        place = tmp_path / "mutant"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(origin, place)
        victim = draw.choice([*(place / "runs").iterdir()] * 3 + [place / "manifest.json", place / "flows.parquet"])
        if not victim.exists():
            continue
        victim.write_bytes(mutant_text(victim.read_bytes(), draw))
        try:
            read = Results.load(place)
            assert all(run.stored() in stored for run in read.runs)
            assert read.flows.height == len(read)
        except DumbbellError:
            continue
        if n % 10 == 0:
            dumbbell.run(read.scenario, out=place)
            assert [run.stored() in stored for run in Results.load(place).runs] == [True] * 6


def test_values_that_json_changes_are_those_of_their_cell(tmp_path: Path) -> None:
    """A tuple of Python is a list in the stored run."""
    swept = scenario(sweep={"network.bottleneck.outages": [({"at": "5 ms", "for": "2 ms"},), ()]})
    dumbbell.run(swept, out=tmp_path / "out")
    again = dumbbell.run(swept, out=tmp_path / "out")
    assert [run.cell for run in again.runs] == [run.cell for run in Results.load(tmp_path / "out").runs]


def test_a_damaged_series_is_an_error_that_names_it(tmp_path: Path) -> None:
    dumbbell.run(scenario(trace={"series": True}), out=tmp_path / "out")
    read = Results.load(tmp_path / "out")
    [file] = (tmp_path / "out" / "series" / read.runs[0].key).glob("flow*")
    file.write_bytes(b"PAR1")
    with pytest.raises(ResultsError, match=r"flow%2Fa\.parquet: a series that can't be read"):
        read.table(0, "flow/a")


# ---------------------------------------------------------------- parts of a sweep


def test_merge_of_parts_with_more_repetitions_keeps_every_run(tmp_path: Path) -> None:
    few, many = scenario(), scenario(repetitions=5)
    dumbbell.run(few, out=tmp_path / "few", only=lambda cell: cell.number != 1)
    dumbbell.run(many, out=tmp_path / "many", only=lambda cell: cell.number != 0)
    merged = merge(tmp_path / "all", [tmp_path / "few", tmp_path / "many"])
    assert list(merged.runs.places) == [(0, 0), (0, 1), *((n, r) for n in (1, 2) for r in range(5))]
    assert missing(merged) == 3
    # Into a directory that has more repetitions, too.
    again = merge(tmp_path / "many", [tmp_path / "few"])
    assert again.runs.places == merged.runs.places
    dumbbell.run(many, out=tmp_path / "whole")
    repair(tmp_path / "all")
    assert runs_of(tmp_path / "all") == runs_of(tmp_path / "whole")


def test_merge_reports_damage_and_writes_nothing_when_it_refuses(whole: Path, tmp_path: Path) -> None:
    [batch] = (whole / "runs").iterdir()
    rows = pl.read_parquet(batch)
    first = rows["run"][0].replace('"goodput_bps": ', '"goodput_bps": 1')
    rows.with_columns(run=pl.Series([first, *rows["run"][1:]])).write_parquet(batch)
    merged = merge(tmp_path / "all", [whole])
    assert (len(merged), merged.damaged) == (5, 1)
    dumbbell.run(scenario(seed=5), out=tmp_path / "other")
    with pytest.raises(ResultsError, match="another scenario"):
        merge(tmp_path / "new", [whole, tmp_path / "other"])
    assert not (tmp_path / "new").exists()


def test_more_repetitions_are_added_to_cells_that_have_some(tmp_path: Path) -> None:
    place = tmp_path / "out"
    dumbbell.run(scenario(repetitions=1), out=place, only=lambda cell: cell.number == 2)
    dumbbell.run(scenario(repetitions=3), out=place, only=lambda cell: cell.number == 0)
    dumbbell.run(scenario(repetitions=2), out=place)
    dumbbell.run(scenario(repetitions=3), out=place)
    dumbbell.run(scenario(repetitions=3), out=tmp_path / "whole")
    assert runs_of(place) == runs_of(tmp_path / "whole")
    flows = Results.load(place).flows
    assert flows.equals(Results.load(tmp_path / "whole").flows)


def test_missing_runs_are_counted_by_cell(tmp_path: Path) -> None:
    varied = scenario(until={"half_width": "0.1 %", "at_most": 6}, start_jitter="40 ms", duration="100 ms")
    read = dumbbell.run(varied, out=tmp_path / "out", only=lambda cell: cell.number == 0)
    assert len(read) > 4  # more than two repetitions of one cell must not hide that others have none
    assert missing(Results.load(tmp_path / "out")) == 4


def test_equal_runs_are_refused() -> None:
    run = Run(0, "k", {}, 0, 1, [], [], [])
    with pytest.raises(ResultsError, match=r"two runs are repetition 0 of the cell \{\}"):
        Runs.of([run, run])


def test_scenarios_of_cells_are_the_same_from_any_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "KEPT", 3)
    swept = scenario(sweep={"network.bottleneck.rate": [f"{n} Mbit/s" for n in range(1, 41)]})
    wrong: list[object] = []

    def ask(seed: int) -> None:
        draw = random.Random(seed)
        try:
            for _ in range(150):
                n = draw.randrange(40)
                rate = swept.cells[n].scenario.to_dict()["network"]["bottleneck"]["rate"]
                if rate != f"{n + 1} Mbit/s":
                    wrong.append((n, rate))
        except Exception as e:
            wrong.append(e)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---------------------------------------------------------------- names


LONG = "\N{PARTY POPPER}" * 80
"""Percent-encoded, it has 960 characters. File names may have 255 bytes."""


def test_long_names_are_kept(tmp_path: Path) -> None:
    flows = [{"name": LONG, "variant": "cubic"}, {"name": LONG[:-1], "variant": "reno"}]
    document = {**DOCUMENT, "flows": flows, "trace": {"series": True}}
    made = dumbbell.run(Scenario.from_dict(document), out=tmp_path / "out")
    read = Results.load(tmp_path / "out")
    assert read.tables(0) == made.tables(0)
    assert {f"flow/{LONG}", f"flow/{LONG[:-1]}"} <= set(read.tables(0))
    assert read.table(0, f"flow/{LONG}").height > 1


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    """The limit of file sizes stands for the disk: writing fails likewise."""
    limited = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))\n"
        "from dumbbell.__main__ import main\nmain()\n"
    )
    file = tmp_path / "s.toml"
    file.write_text(scenario().to_toml())
    command = [sys.executable, "-c", limited, "run", str(file), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "can't be written: File too large" in done.stderr and "Traceback" not in done.stderr
    dumbbell.run(scenario(), out=tmp_path / "whole")
    dumbbell.run(scenario(), out=tmp_path / "out")
    assert runs_of(tmp_path / "out") == runs_of(tmp_path / "whole")
