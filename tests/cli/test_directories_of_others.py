"""Results directories of others: whatever they hold, nothing outside of them changes, and a refusal is one line."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest
from click.testing import CliRunner

import dumbbell
from dumbbell import DumbbellError, Results, Scenario
from dumbbell.cli import app
from dumbbell.kernel.validate import stored_cases
from dumbbell.results.runs.run_text import check_of

pytestmark = pytest.mark.slow

DOCUMENT = {
    "name": "received",
    "duration": "50 ms",
    "repetitions": 2,
    "capture": {"at": ["sender"]},
    "trace": {"series": True},
    "network": {"bottleneck": {"rate": "10 Mbit/s", "delay": "1 ms"}, "access": {"rate": "1 Gbit/s", "delay": "1 ms"}},
    "flows": [
        {"name": "a", "variant": "cubic"},
        {"name": "b", "variant": "reno", "application": {"kind": "transfer", "size": "9 kB"}},
    ],
    "sweep": {"network.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"]},
}
COMMANDS = [
    "results {dir}",
    "results {dir} --json",
    "results query {dir} 'SELECT * FROM flows'",
    "results export {dir} --table transfers",
    "results verify {dir}",
    "results verify {dir} --repair",
    "results merge {fresh} {dir}",
    "results merge {dir} {other}",
    "stats {dir}",
    "compare {other} {dir}",
    "plot {dir} --kind lines --metric goodput_bps",
    "plot {dir} --kind queue",
    "mahimahi {dir} r1->r2 --out {fresh}.trace",
    "report {dir} --format md",
    "run {scenario} --out {dir}",
]
FAST = [command for command in COMMANDS if not command.startswith(("report", "plot {dir} --kind lines"))]
"""Those that draw nothing from whole results."""
WRITES = ("results verify {dir} --repair", "results merge", "run")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("received")
    scenario = Scenario.from_dict(DOCUMENT)
    (place / "scenario.toml").write_text(scenario.to_toml())
    dumbbell.run(scenario, out=place / "dir")
    with chdir(place):
        call("report dir --format md", place)
    shutil.copytree(place / "dir", place / "other")
    return place


@pytest.fixture
def received(whole: Path, tmp_path: Path) -> Path:
    """A copy of a results directory beside one that must not change."""
    shutil.copytree(whole / "dir", tmp_path / "dir")
    (tmp_path / "other").symlink_to(whole / "other")
    (tmp_path / "outside" / "folder").mkdir(parents=True)
    (tmp_path / "outside" / "file").write_text("kept")
    (tmp_path / "outside" / "folder" / "manifest.json").write_text("{}")
    shutil.copy(whole / "scenario.toml", tmp_path)
    return tmp_path


def call(command: str, place: Path) -> BaseException | None:
    """Run a command; return the refusal, None if there is none. Anything but a line is a failure of the test."""
    names = {
        "dir": place / "dir",
        "other": place / "other",
        "fresh": place / "fresh",
        "scenario": place / "scenario.toml",
    }
    args = [word.format(**names) for word in split(command)]
    done = CliRunner().invoke(app, args)
    if done.exception is None or done.exit_code == 0:
        return None
    if isinstance(done.exception, SystemExit):
        assert done.exit_code in (1, 2), (command, done.output)
    elif not isinstance(done.exception, DumbbellError | click.ClickException):
        raise AssertionError(f"{command}: {done.exception!r}") from done.exception
    assert len(str(done.exception).splitlines()) <= 1, (command, str(done.exception))
    return done.exception


def split(command: str) -> list[str]:
    before, quote, rest = command.partition("'")
    return [*before.split(), rest[:-1]] if quote else before.split()


def content(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = {str(p.relative_to(folder)): p for p in sorted(folder.rglob("*"))}
    return {n: (p.stat().st_mode, beginning(p) if p.is_file() else b"") for n, p in files.items()}


def beginning(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(1 << 20)


def entries(whole: Path) -> Iterator[str]:
    """Yield the entries, of those with the same ending in a folder the first."""
    places = {(p.parent, p.suffix): p for p in sorted((whole / "dir").rglob("*"), reverse=True)}
    for place in places.values():
        yield str(place.relative_to(whole / "dir"))
    yield from (".partial", ".partial/lock", "report.html", "lines.png")


def emptied(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(exist_ok=True)


def a_link(to: str, place: Path, outside: Path) -> None:
    place.symlink_to(outside / to)


def a_device(place: Path, _outside: Path) -> None:
    try:
        os.mknod(place, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero
    except PermissionError:  # only root makes devices
        os.mkfifo(place)


def a_socket(place: Path, _outside: Path) -> None:
    with chdir(place.parent), socket.socket(socket.AF_UNIX) as bound:  # its path may be too long
        bound.bind(place.name)


REPLACED: dict[str, Callable[[Path, Path], object]] = {
    "file": partial(a_link, "file"),
    "folder": partial(a_link, "folder"),
    "nothing": partial(a_link, "nothing"),
    "pipe": lambda place, _outside: os.mkfifo(place),
    "device": a_device,
    "socket": a_socket,
}


@pytest.mark.parametrize("kind", list(REPLACED))
def test_an_entry_that_is_no_file_and_no_folder_is_refused(whole: Path, received: Path, kind: str) -> None:
    before = content(received / "outside"), content(whole / "other")
    for entry in entries(whole):
        place = received / "dir" / entry
        emptied(place)
        REPLACED[kind](place, received / "outside")
        for command in COMMANDS:
            assert call(command, received) is not None, (entry, command)
        assert (content(received / "outside"), content(whole / "other")) == before
        assert not (received / "fresh").exists() or not any((received / "fresh").rglob("*.pcapng")), entry
        shutil.rmtree(received / "dir")
        shutil.rmtree(received / "fresh", ignore_errors=True)
        shutil.copytree(whole / "dir", received / "dir")


@pytest.mark.parametrize("size", [0, 1 << 42], ids=["empty", "huge"])
def test_an_empty_or_huge_file_is_a_line_at_most(whole: Path, received: Path, size: int) -> None:
    for entry in entries(whole):
        if (whole / "dir" / entry).is_dir() or entry == ".partial":
            continue
        place = received / "dir" / entry
        emptied(place)
        with place.open("wb") as file:
            file.truncate(size)
        tried(received, whole)
        shutil.rmtree(received / "dir")
        shutil.rmtree(received / "fresh", ignore_errors=True)
        shutil.copytree(whole / "dir", received / "dir")


@pytest.mark.parametrize(
    "entry", ["runs", "runs/reno.build", "figures", "tables/flows.csv", "study.json", "report.html"]
)
@pytest.mark.parametrize("command", ["study run quickstart --out {dir}", "report {dir}"])
def test_a_studys_directory_with_a_link_is_refused(tmp_path: Path, entry: str, command: str) -> None:
    place = tmp_path / "dir" / entry
    place.parent.mkdir(parents=True)
    if entry != "study.json":
        (tmp_path / "dir" / "study.json").write_text('{"study": "quickstart", "quick": true}')
    (tmp_path / "outside" / "folder").mkdir(parents=True)
    (tmp_path / "outside" / "folder" / "file").write_text("kept")
    place.symlink_to(tmp_path / "outside" / ("folder" if entry in ("runs", "figures") else "folder/file"))
    before = content(tmp_path / "outside")
    assert "a link" in str(call(command, tmp_path))
    assert content(tmp_path / "outside") == before


def test_stored_cases_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("kept")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "cases.jsonl").symlink_to(tmp_path / "outside")
    with pytest.raises(DumbbellError, match="a link"):
        stored_cases.store(tmp_path / "dir", [], {}, "6.12")
    with pytest.raises(DumbbellError, match="a link"):
        stored_cases.load(tmp_path / "dir")
    assert (tmp_path / "outside").read_text() == "kept"


# ---------------------------------------------------------------- documents with other values

VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    5,
    2**70,
    1e308,
    "",
    "x" * 300,
    "../../outside",
    "\ud800",
    [],
    [[]],
    {},
    {"a": 1},
    [None],
]


def places_of(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value of a document."""
    yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places_of(each, (*place, key))


def mutated(document: Any, draw: random.Random) -> Any:
    """Return a document with a value that is changed, removed, or added."""
    document = json.loads(json.dumps(document))
    place = draw.choice(list(places_of(document)))
    if not place:
        return draw.choice(VALUES)
    within = document
    for key in place[:-1]:
        within = within[key]
    what = draw.randrange(4)
    if what == 0:
        del within[place[-1]]
    elif what == 1 and isinstance(within, dict):
        within["added"] = draw.choice(VALUES)
    elif what == 2 and isinstance(within, list):
        within.append(within[place[-1]])
    else:
        within[place[-1]] = draw.choice(VALUES)
    return document


def batch(rows: list[dict[str, Any]], folder: Path) -> None:
    """Store rows as a batch with a right hash."""
    made = BytesIO()
    names = dict.fromkeys(name for row in rows for name in row)
    pl.DataFrame([column(name, [row.get(name) for row in rows]) for name in names]).write_parquet(made)
    for old in folder.glob("*.parquet"):
        old.unlink()
    (folder / f"000000-{sha256(made.getvalue()).hexdigest()[:24]}.parquet").write_bytes(made.getvalue())


def column(name: str, values: list[Any]) -> pl.Series:
    try:
        made = pl.Series(name, values, strict=False)
        made.to_frame().write_parquet(BytesIO())
        return made
    except (pl.exceptions.PolarsError, TypeError, OverflowError, UnicodeEncodeError):
        return pl.Series(name, list(map(json.dumps, values)))


def rows_of(whole: Path) -> list[dict[str, Any]]:
    [file] = (whole / "dir" / "runs").glob("*.parquet")
    return pl.read_parquet(file).to_dicts()


def with_run(rows: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    return [{**rows[0], "run": text, "check": check_of(rows[0]["cell"], text)}, *rows[1:]]


def tried(received: Path, whole: Path) -> int:
    """Run every command on the directory as it is; return the number of refusals."""
    before = content(received / "outside"), content(whole / "other")
    kept = content(received / "dir")
    refused = 0
    for command in FAST:
        refused += call(command, received) is not None
        if command.startswith(WRITES) and content(received / "dir") != kept:
            return refused  # it was mended
    assert (content(received / "outside"), content(whole / "other")) == before
    return refused


@pytest.mark.parametrize("text", ["[]", "{}", "null", "[" * 100_000, '{"flows": 5}', "NaN"])
def test_a_batch_with_a_right_hash_and_other_runs_is_refused(whole: Path, received: Path, text: str) -> None:
    batch(with_run(rows_of(whole), text), received / "dir" / "runs")
    for command in COMMANDS[:1]:
        assert "can't be read" in str(call(command, received))
    tried(received, whole)


@pytest.mark.parametrize("without", ["cell", "repetition", "key", "check", "run", "experiment", "rows"])
def test_a_batch_that_lacks_a_column_or_its_rows_is_a_line(whole: Path, received: Path, without: str) -> None:
    rows = [] if without == "rows" else [{k: v for k, v in row.items() if k != without} for row in rows_of(whole)]
    batch(rows, received / "dir" / "runs")
    tried(received, whole)


@pytest.mark.parametrize("seed", range(int(os.environ.get("MUTANTS", "4"))))
@pytest.mark.parametrize("kind", ["manifest", "experiment", "run", "row", "table", "names", "journal"])
def test_documents_with_other_values_are_a_line_at_most(whole: Path, received: Path, kind: str, seed: int) -> None:
    draw = random.Random(f"{kind} {seed}")
    folder, rows = received / "dir", rows_of(whole)
    if kind == "manifest":
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(mutated(manifest, draw)))
    elif kind == "experiment":
        (folder / "manifest.json").unlink()
        batch(
            [{**rows[0], "experiment": json.dumps(mutated(json.loads(rows[0]["experiment"]), draw))}, *rows[1:]],
            folder / "runs",
        )
    elif kind == "run":
        batch(with_run(rows, json.dumps(mutated(json.loads(rows[0]["run"]), draw))), folder / "runs")
    elif kind == "row":
        changed = mutated(rows, draw)
        batch(
            changed if isinstance(changed, list) and all(isinstance(r, dict) for r in changed) else [], folder / "runs"
        )
    elif kind == "table":
        name = draw.choice(["flows", "queues", "transfers"])
        table = pl.read_parquet(folder / f"{name}.parquet")
        column = draw.choice(table.columns)
        if draw.random() < 0.5:
            table = table.drop(column)
        else:
            table = table.with_columns(pl.Series(column, [draw.choice(["x", "", "<b>"])] * len(table)))
        table.write_parquet(folder / f"{name}.parquet")
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["tables"][name] = sha256((folder / f"{name}.parquet").read_bytes()).hexdigest()[:24]
        (folder / "manifest.json").write_text(json.dumps(manifest))
    elif kind == "names":
        [run, *_] = (folder / "captures").iterdir()
        (run / "names.json").write_text(json.dumps(mutated({"a": "b", "c": ["d"]}, draw)))
    else:
        for file in (folder / "runs").iterdir():
            file.unlink()
        text = json.dumps(mutated(json.loads(rows[0]["run"]), draw))
        lines = [
            rows[0]["experiment"],
            f"0 {check_of(0, text)} {text}",
            *(f"{r['cell']} {r['check']} {r['run']}" for r in rows[1:]),
        ]
        (folder / "runs" / "journal.jsonl").write_text("".join(f"{line}\n" for line in lines))
    tried(received, whole)


@pytest.mark.parametrize("table", ["flows", "queues", "transfers"])
@pytest.mark.parametrize("other", ["another", "<b>x</b>", "none at all"])
def test_runs_with_other_flows_and_queues_than_the_scenarios_are_a_line_at_most(
    whole: Path, received: Path, table: str, other: str
) -> None:
    rows = rows_of(whole)
    run = json.loads(rows[0]["run"])
    who = "flow" if table == "transfers" else "name"
    run[table] = [] if other == "none at all" else [{**row, who: other} for row in run[table]]
    batch(with_run(rows, json.dumps(run)), received / "dir" / "runs")
    call("report {dir} --format md", received)
    tried(received, whole)


def test_a_run_with_a_column_of_another_version_is_read(whole: Path, received: Path) -> None:
    rows = rows_of(whole)
    run = json.loads(rows[0]["run"])
    run["flows"][0]["added"] = 0.5
    del run["flows"][0]["power"]
    batch(with_run(rows, json.dumps(run)), received / "dir" / "runs")
    read = Results.load(received / "dir").runs[0]
    assert (read.flows[0]["added"], read.flows[0]["power"]) == (0.5, None)
