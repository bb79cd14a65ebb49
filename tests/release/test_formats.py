"""Formats have versions: a newer one is refused with one line, and the page of the formats has each number."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import dumbbell
from dumbbell import DumbbellError, Scenario
from dumbbell.capture import output as capture
from dumbbell.common.formats import newer
from dumbbell.kernel.ssh import hosts
from dumbbell.kernel.validate import stored_cases
from dumbbell.results.store import directory
from dumbbell.scenario import model
from dumbbell.studies import json_document, redraw
from dumbbell.studies.labs import hand_in, starting
from dumbbell.studies.labs.definition import labs
from scenario_texts import BASE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")


def constant(file: str, name: str) -> int:
    text = (ROOT / "crates" / file).read_text(encoding="utf-8")
    return int(re.findall(rf"pub const {name}: u32 = (\d+);", text)[0])


def test_the_page_has_the_numbers() -> None:
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| [")]
    listed = {re.sub(r"\| \[(.*?)\].*", r"\1", row[0]): row[1] for row in rows}
    assert listed == {
        "results directory": str(directory.FORMAT),
        "scenario": str(model.FORMAT),
        "plan": str(constant("plan/src/plan.rs", "FORMAT")),
        "results of a study": str(json_document.FORMAT),
        "capture as JSON": str(capture.FORMAT),
        "hand-in of a lab": str(hand_in.FORMAT),
        "hosts file": str(hosts.FORMAT),
        "stored kernel cases": str(stored_cases.FORMAT),
        "own variant in a library": str(constant("plugin/src/abi.rs", "INTERFACE")),
        "own discipline in a library": str(constant("plugin/src/discipline/mod.rs", "INTERFACE")),
    }


@pytest.mark.parametrize("given", [None, "2", 2.0, True, 1, 0, -1])
def test_what_is_not_a_newer_number_is_left_to_the_reader(given: object) -> None:
    assert newer(given, 1) is None


def scenario(_: Path) -> None:
    Scenario.from_toml(f"format = 2\nunknown = 1\n{BASE}")


def results(folder: Path) -> None:
    dumbbell.run(Scenario.from_toml(BASE), out=folder)
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format": 3', '"format": 4'))
    for file in (folder / "runs").iterdir():
        file.unlink()
    dumbbell.read_results(folder)


def study(folder: Path) -> None:
    (folder / "study.json").write_text(json.dumps({"format": 2, "study": "quickstart", "quick": True}))
    redraw.redraw(folder, None, "html", None)


def hosts_file(folder: Path) -> None:
    (folder / "hosts.toml").write_text("format = 2\n[machines]\n")
    hosts.read(folder / "hosts.toml")


def lab(folder: Path) -> None:
    answers = starting.start(next(iter(labs().values())), "ann", folder / "lab").answers
    answers.write_text(f"format = 2\n{answers.read_text()}")
    hand_in.read(folder / "lab")


def cases(folder: Path) -> None:
    (folder / stored_cases.NAME).write_text('{"case": "a", "format": 2}\n')
    stored_cases.load(folder)


@pytest.mark.parametrize("read", [scenario, results, study, hosts_file, lab, cases])
def test_a_newer_format_is_refused_with_one_line(read: Callable[[Path], None], tmp_path: Path) -> None:
    with pytest.raises(DumbbellError, match=r"format: \d given: .* known to this version of Dumbbell") as refused:
        read(tmp_path)
    assert "\n" not in str(refused.value)


def test_the_known_format_may_be_named() -> None:
    named = Scenario.from_toml(f"format = 1\n{BASE}")
    assert named == Scenario.from_toml(BASE)
    assert named.to_toml() == Scenario.from_toml(BASE).to_toml()  # manifests stay as they are
