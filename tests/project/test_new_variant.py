"""CONTRIBUTING's steps for a variant and a discipline, carried out on a copy of the crates: nothing else changes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from required import require_programs

ROOT = Path(__file__).parents[2]
COPY = ROOT / "target" / "new-rows"
"""Kept between runs, so that cargo compiles only what has changed."""
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
HEADINGS = {"cc": "## Add a variant\n", "qdisc": "## Add a queue discipline\n"}

VARIANT = """//! Still: the window never changes.

use crate::common::{LossDriven, Window};
use crate::{AckEvent, CongestionEvent, Cx, Variant};

pub(crate) const ROW: Variant = Variant {
    name: "still",
    title: "a window that never changes",
    year: 2026,
    source: "a test of the steps in CONTRIBUTING",
    on_loss: "the window stays",
    build: |_params, setup| Ok(Box::new(Still(Window::new(setup)))),
    ..Variant::EMPTY
};

#[derive(Debug)]
struct Still(Window);

impl LossDriven for Still {
    fn window(&self) -> &Window {
        &self.0
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.0
    }

    fn on_ack_slow_start(&mut self, _ev: &AckEvent, _cx: &Cx) -> u64 {
        0
    }

    fn on_ack_avoidance(&mut self, _ev: &AckEvent, _cx: &Cx) {}

    fn on_congestion_ssthresh(&mut self, _ev: &CongestionEvent, _cx: &Cx) -> f64 {
        self.0.cwnd
    }
}
"""
VARIANT_TEST = """//! Still keeps its window.

use dumbbell_testkit::CcFixture;

#[test]
fn neither_an_ack_nor_a_loss_changes_the_window() {
    assert_eq!(CcFixture::new("still", &[], 10.0, 10.0).ack(1).lose().cwnd(), 10.0);
    assert!(dumbbell_cc::registry().iter().any(|row| row.name == "still" && row.default_stack == "linux"));
}
"""
DISCIPLINE = """//! Endless: a first-in first-out queue without a limit.

use crate::fifo::Fifo;
use crate::{Backlog, Discipline, Packet, Qdisc, QdiscContext};

pub(crate) const ROW: Discipline = Discipline {
    name: "endless",
    title: "one queue without a limit",
    year: 2026,
    source: "a test of the steps in CONTRIBUTING",
    doc: "No packet is dropped.",
    build: |_params, _link| Ok(Box::new(Endless(Fifo::default()))),
    ..Discipline::EMPTY
};

#[derive(Debug)]
struct Endless(Fifo);

impl Qdisc for Endless {
    fn enqueue(&mut self, packet: Packet, _cx: &mut QdiscContext) {
        self.0.push(packet);
    }

    fn dequeue(&mut self, _cx: &mut QdiscContext) -> Option<Packet> {
        self.0.pop()
    }

    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }
}
"""
DISCIPLINE_TEST = """//! Endless drops nothing.

use dumbbell_testkit::{Fate, QdiscFixture};

#[test]
fn no_packet_is_dropped() {
    let mut q = QdiscFixture::new("endless", &[]);
    assert!((0..2000).all(|_| q.arrive(0, 1000) == Fate::Queued));
}
"""
DOCS = """---
columns: {}
---
## Model

{{ model: SOURCE }}

## Left out

Nothing.
"""


def add_name(rows: str, name: str) -> str:
    """Add an entry with another name to the list of a registry, after the last one."""
    last = re.findall(r"^ {12}\w+(?: \{ [A-Z, ]+ \})?$", rows, re.MULTILINE)[-1]
    return rows.replace(last, f"{last}\n{last.replace(last.split()[0], name)}")


def steps(crate: str, folder: str, name: str, texts: tuple[str, str]) -> dict[str, str]:
    """Return the files of the steps: the source, the row, the test, the page."""
    source = f"crates/{crate}/src/{folder}/{name}.rs"
    rows = f"crates/{crate}/src/{folder}/mod.rs"
    return {
        source: texts[0],
        rows: add_name((ROOT / rows).read_text(encoding="utf-8"), name),
        f"crates/{crate}/tests/{folder}/{name}.rs": texts[1],
        f"docs/reference/{folder}/{name}.md": DOCS.replace("SOURCE", source),
    }


STEPS = {
    "cc": steps("cc", "variants", "still", (VARIANT, VARIANT_TEST)),
    "qdisc": steps("qdisc", "disciplines", "endless", (DISCIPLINE, DISCIPLINE_TEST)),
}


def closure(crate: str) -> set[str]:
    """Return the crates of the project that one needs, itself and those of its tests included."""
    needed, todo = set[str](), [crate]
    while todo:
        name = todo.pop()
        if name in needed:
            continue
        needed.add(name)
        manifest = tomllib.loads((ROOT / "crates" / name / "Cargo.toml").read_text(encoding="utf-8"))
        for section in ("dependencies", "dev-dependencies"):
            todo += [n.removeprefix("dumbbell-") for n in manifest.get(section, {}) if n.startswith("dumbbell-")]
    return needed


def copy_file(source: Path, target: Path) -> None:
    """Copy a file with its time, unless the copy is up to date."""
    if not target.exists() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def write(path: Path, text: str) -> None:
    """Write a file of the copy, unless it exists with this content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copied() -> None:
    require_programs("cargo")
    written = {COPY / place: text for files in STEPS.values() for place, text in files.items()}
    kept = {COPY / name for name in ("Cargo.toml", "Cargo.lock", "clippy.toml")}
    for name in kept:
        if (ROOT / name.name).exists():
            copy_file(ROOT / name.name, name)
    for crate in closure("cc") | closure("qdisc"):
        for file in (ROOT / "crates" / crate).rglob("*"):
            copy = COPY / file.relative_to(ROOT)
            if file.is_file() and copy not in written:
                copy_file(file, copy)
                kept.add(copy)
    # The property of each row that it has its page.
    for page in (ROOT / "docs/reference/disciplines").glob("*.md"):
        copy_file(page, COPY / page.relative_to(ROOT))
    for path, text in written.items():
        write(path, text)
    for file in (COPY / "crates").rglob("*"):
        if file.is_file() and file not in kept | written.keys():
            file.unlink()


def cargo(*arguments: str) -> str:
    """Run tests of both crates: the same packages each time, so that nothing is compiled twice."""
    environment = os.environ | {
        "CARGO_PROFILE_TEST_OPT_LEVEL": "0",
        "CARGO_PROFILE_TEST_DEBUG": "0",
        "CARGO_TARGET_DIR": str(COPY / "target"),
    }
    command = ["cargo", "test", "--offline", "-p", "dumbbell-cc", "-p", "dumbbell-qdisc", *arguments]
    done = subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("crate", STEPS)
def test_the_steps_name_the_four_places(crate: str) -> None:
    section = PAGE.split(HEADINGS[crate], 1)[1].split("\n## ", 1)[0]
    for place in STEPS[crate]:
        named = re.sub(r"\b(still|endless)\b", "NAME", place)
        assert named in section, named


@pytest.mark.usefixtures("copied")
def test_a_file_a_row_a_test_and_a_page_make_a_variant_and_a_discipline() -> None:
    done = cargo("--test", "variants", "--test", "disciplines", "--", "still::", "endless::")
    assert "test still::neither_an_ack_nor_a_loss_changes_the_window ... ok" in done
    assert "test endless::no_packet_is_dropped ... ok" in done
    # The properties that hold for each row of the registry hold for the new ones, too.
    done = cargo("--test", "registry", "--", "rows_are_complete", "every_row_has_a_page")
    assert done.count("test rows_are_complete ... ok") == 2
    assert "test every_row_has_a_page ... ok" in done
