"""Scenarios that extend a file: what is merged, what is refused, and where errors stand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BASE
from jsonschema import Draft202012Validator

import dumbbell
from dumbbell import Results, Scenario, ScenarioError, json_schema
from dumbbell.common import reading
from dumbbell.scenario import extends
from dumbbell.scenario.worker_copy import WorkerCopy

CHILD = 'extends = "base.toml"\nname = "child"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.toml").write_text(BASE, encoding="utf-8")
    return tmp_path


def load(folder: Path, text: str = CHILD, changes: dict[str, Any] | None = None) -> Scenario:
    (folder / "child.toml").write_text(text, encoding="utf-8")
    return Scenario.load(folder / "child.toml", changes)


def lines(folder: Path, text: str = CHILD, changes: dict[str, Any] | None = None) -> list[str]:
    """Return the lines of the error, without the folder."""
    with pytest.raises(ScenarioError) as error:
        load(folder, text, changes)
    return str(error.value).replace(f"{folder}/", "").splitlines()


def test_a_scenario_extends_a_file(folder: Path) -> None:
    text = """
extends = "base.toml"
repetitions = 3
[network.bottleneck]
delay = "20 ms"
queue = { limit = "30 packets" }
[[flows]]
name = "cbr"
application = { rate = "2 Mbit/s" }
[[flows]]
name = "more"
variant = "bbr"
"""
    whole = Scenario.from_toml(BASE).with_changes(
        {
            "repetitions": 3,
            "network.bottleneck.delay": "20 ms",
            "network.bottleneck.queue.limit": "30 packets",
            "flows.cbr.application.rate": "2 Mbit/s",
        }
    )
    document = whole.to_dict()
    document["flows"].append({"name": "more", "variant": "bbr"})
    assert load(folder, text) == Scenario.from_dict(document)


@pytest.mark.parametrize(
    ("base", "over", "merged"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3, "d": 4}}, {"a": {"b": 1, "c": 3, "d": 4}}),
        ({"name": "x", "a": [1, 2]}, {"name": "y", "a": [3]}, {"name": "y", "a": [3]}),
        ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": {"b": 1}}, {"a": 1}, {"a": 1}),
        ({"queue": "codel"}, {"queue": {"target": "9 ms"}}, {"queue": {"discipline": "codel", "target": "9 ms"}}),
        ({"queue": {"limit": 1}}, {"queue": "codel"}, {"queue": "codel"}),
        (
            {"queue": {"discipline": "codel", "target": "9 ms"}},
            {"queue": {"discipline": "red", "limit": 2}},
            {"queue": {"discipline": "red", "limit": 2}},
        ),
        ({"variant": {"name": "a", "x": 1}}, {"variant": {"python": "m.py:M"}}, {"variant": {"python": "m.py:M"}}),
        ({"sizes": {"kind": "a", "x": 1}}, {"sizes": {"kind": "a"}}, {"sizes": {"kind": "a", "x": 1}}),
        ({"sizes": {"kind": "a", "x": 1}}, {"sizes": {"kind": "b"}}, {"sizes": {"kind": "b"}}),
        ({"network": {"pairs": 1}}, {"network": {"topology": "x"}}, {"network": {"pairs": 1, "topology": "x"}}),
        ({"rate": {"trace": "x"}}, {"rate": {"cellular": "lte"}}, {"rate": {"cellular": "lte"}}),
        ({"a": {"flows": [{"name": "x"}]}}, {"a": {"flows": [{"name": "y"}]}}, {"a": {"flows": [{"name": "y"}]}}),
        (
            {"flows": [{"name": "x", "a": 1}, {"name": "y"}]},
            {"flows": [{"name": "z"}, {"name": "x", "b": 2}]},
            {"flows": [{"name": "x", "a": 1, "b": 2}, {"name": "y"}, {"name": "z"}]},
        ),
        ({"flows": [{"name": "x"}, {"name": "x"}]}, {"flows": [{"name": "x"}]}, {"flows": [{"name": "x"}]}),
        ({"flows": [{"a": 1}]}, {"flows": [{"name": "x"}]}, {"flows": [{"name": "x"}]}),
        (
            {"network": {"links": [{"from": "a", "to": "b", "rate": 1}]}},
            {"network": {"links": [{"from": "b", "to": "c"}, {"from": "a", "to": "b", "rate": 2}]}},
            {"network": {"links": [{"from": "a", "to": "b", "rate": 2}, {"from": "b", "to": "c"}]}},
        ),
        (
            {"sweep": {"flows.x.variant": [{"name": "vegas", "alpha": 1}], "cases": [{"a": 1}]}},
            {"sweep": {"flows.x.variant": [{"name": "vegas"}], "seed": [1]}},
            {"sweep": {"flows.x.variant": [{"name": "vegas"}], "cases": [{"a": 1}], "seed": [1]}},
        ),
    ],
)  # fmt: skip
def test_merged(base: dict[str, Any], over: dict[str, Any], merged: dict[str, Any]) -> None:
    assert extends._tables(base, over, ()) == merged


def test_a_chain_and_its_folders(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "middle.toml").write_text('extends = "../base.toml"\nseed = 9\n', encoding="utf-8")
    made = load(folder, 'extends = "deep/middle.toml"\nrepetitions = 4\n')
    assert (made.name, made.seed, made.repetitions) == ("base", 9, 4)
    assert [file.name for file in extends.files_of(folder / "child.toml")] == ["child.toml", "middle.toml", "base.toml"]
    assert made.external_files == {}


def test_changes_are_made_to_the_merged_scenario(folder: Path) -> None:
    change = {"flows.cbr.application.rate": "3 Mbit/s"}
    assert load(folder, CHILD, change) == load(folder).with_changes(change) != load(folder)


def test_results_and_workers_have_the_merged_scenario(folder: Path) -> None:
    made = load(folder, CHILD + 'duration = "100 ms"\nstart_jitter = "0 s"\n')
    assert "extends" not in made.to_dict()
    assert WorkerCopy.of(made).scenario() == made
    dumbbell.run(folder / "child.toml", out=folder / "out")
    (folder / "base.toml").unlink()
    assert Results.load(folder / "out").scenario == made
    assert Scenario.from_toml(made.to_toml()) == made


def test_an_error_names_the_file_of_its_value(folder: Path) -> None:
    (folder / "base.toml").write_text(BASE.replace('"2 Mbit/s"', '"2 Mbit"').replace("seed = 7", "sed = 7"))
    assert lines(folder) == ["base.toml: sed: unknown key 'sed': did you mean 'seed'?"]
    (folder / "base.toml").write_text(BASE.replace('"2 Mbit/s"', '"2 Mbit"'))
    wrong = CHILD + 'repetitions = 0\n[[flows]]\nname = "tcp"\nclass = -1\n'
    assert [": ".join(line.split(": ")[:2]) for line in lines(folder, wrong)] == [
        "child.toml: repetitions",
        "base.toml: network.bottleneck.rate",
        "child.toml: flows.tcp.class",
    ]
    (changed,) = lines(folder, CHILD, {"network.bottleneck.rate": "1 x"})
    assert changed.startswith("child.toml: network.bottleneck.rate")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("1", "extends: the path of a scenario file is needed"),
        ('""', "extends: the path of a scenario file is needed"),
        ('"\\u0000"', "extends: the path of a scenario file is needed"),
        ('["base.toml"]', "extends: the path of a scenario file is needed"),
        ('"none.toml"', "extends: 'none.toml' can't be read: No such file or directory"),
        ('"."', "extends: '.' can't be read: it is not a regular file"),
        ('"pipe"', "extends: 'pipe' can't be read: it is not a regular file"),
        ('"/dev/zero"', "extends: '/dev/zero' can't be read: it is not a regular file"),
        ('"large"', "extends: 'large' can't be read: it has 2 MB: at most 1 MB are possible"),
        ('"bytes"', "extends: 'bytes' can't be read: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),  # noqa: E501
        ('"child.toml"', "extends: 'child.toml' given: the files extend each other in a circle"),
        ('"' + "x" * 5000 + '"', "extends: '" + "x" * 200 + "...' can't be read: File name too long"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_extended(folder: Path, monkeypatch: pytest.MonkeyPatch, given: str, why: str) -> None:
    monkeypatch.setattr(reading, "LARGEST", 1_000_000)
    monkeypatch.setattr(reading.read_text, "__defaults__", (1_000_000,))
    os.mkfifo(folder / "pipe")
    (folder / "bytes").write_bytes(b"\xff")
    with (folder / "large").open("wb") as file:
        file.truncate(2_000_000)
    assert lines(folder, f"extends = {given}\n") == [f"child.toml: {why}"]


def test_wrong_toml_of_an_extended_file(folder: Path) -> None:
    (folder / "base.toml").write_text("x = [")
    assert lines(folder)[0].startswith("base.toml: not valid TOML")


def test_circles_and_long_chains_are_refused(folder: Path) -> None:
    (folder / "base.toml").write_text('extends = "link.toml"\n')
    (folder / "link.toml").symlink_to("child.toml")
    assert lines(folder) == ["base.toml: extends: 'link.toml' given: the files extend each other in a circle"]
    for n in range(1, 9):
        (folder / f"{n}.toml").write_text(f'extends = "{n + 1}.toml"\n' if n < 7 else BASE)
    assert load(folder, 'extends = "1.toml"\n').name == "base"
    (folder / "7.toml").write_text('extends = "8.toml"\n')
    assert lines(folder, 'extends = "1.toml"\n') == [
        "7.toml: extends: '8.toml' given: at most 8 files can extend each other"
    ]


def test_deep_tables_are_refused(folder: Path) -> None:
    deep = "seed" + ".x" * 2000 + " = 1\n"
    (folder / "base.toml").write_text(deep)
    assert lines(folder, 'extends = "base.toml"\n' + deep) == [
        "child.toml: not valid TOML: nested too deeply: at most 64 levels, and parts of a key, are possible"
    ]


def test_only_files_extend(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why = "extends: only a scenario file extends another one: read it with Scenario.load"
    with pytest.raises(ScenarioError, match=why):
        Scenario.from_dict({"extends": str(folder / "base.toml")})
    with pytest.raises(ScenarioError, match=why):
        Scenario.from_toml(BASE).with_changes({"extends": "base.toml"})
    monkeypatch.chdir(folder)
    assert Scenario.from_toml(CHILD).name == "child"


def test_the_command_line_prints_one_line(folder: Path) -> None:
    load(folder)
    (folder / "base.toml").write_text(CHILD.replace("base.toml", "child.toml"))
    done = subprocess.run(
        [sys.executable, "-m", "dumbbell", "run", "child.toml"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: base.toml: extends: 'child.toml' given: the files extend each other in a circle\n"


def test_the_json_schema_accepts_parts_of_a_scenario() -> None:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    valid = Draft202012Validator(schema).is_valid
    part = {"network": {"bottleneck": {"delay": "1 ms"}}}
    assert valid(Scenario.from_toml(BASE).to_dict())
    assert not valid(part)
    assert valid({"extends": "base.toml", **part})
    assert not valid({"extends": "base.toml", "nam": "x"})
    assert not valid({**Scenario.from_toml(BASE).to_dict(), "seed": "x"})
