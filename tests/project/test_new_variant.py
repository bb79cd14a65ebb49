"""CONTRIBUTING's steps for a new variant, carried out on a copy of the crates: nothing else has to change."""

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
COPY = ROOT / "target" / "new-variant"
"""Kept between runs, so that cargo compiles only what has changed."""
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEPS = PAGE.split("## Add a variant\n", 1)[1].split("\n## ", 1)[0]

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
TEST = """//! Still keeps its window.

use dumbbell_testkit::CcFixture;

#[test]
fn neither_an_ack_nor_a_loss_changes_the_window() {
    assert_eq!(CcFixture::new("still", &[], 10.0, 10.0).ack(1).lose().cwnd(), 10.0);
    assert!(dumbbell_cc::registry().iter().any(|row| row.name == "still" && row.default_stack == "linux"));
}
"""
DOCS = """---
columns: {}
---
## Model

{{ model: crates/cc/src/variants/still.rs }}

## Left out

Nothing.
"""


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


def write(place: str, text: str) -> None:
    """Write a file of the copy, unless it exists with this content."""
    path = COPY / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copied() -> None:
    require_programs("cargo")
    kept = {COPY / name for name in ("Cargo.toml", "Cargo.lock", "clippy.toml")}
    for name in kept:
        if (ROOT / name.name).exists():
            copy_file(ROOT / name.name, name)
    for crate in closure("cc"):
        for file in (ROOT / "crates" / crate).rglob("*"):
            if file.is_file() and file.relative_to(ROOT).as_posix() != "crates/cc/src/variants/mod.rs":
                copy_file(file, COPY / file.relative_to(ROOT))
                kept.add(COPY / file.relative_to(ROOT))
    # The steps: a file, a row, a test, a page.
    rows = (ROOT / "crates/cc/src/variants/mod.rs").read_text(encoding="utf-8")
    last = re.findall(r"^ +\w+ \{ [A-Z, ]+ \}$", rows, re.MULTILINE)[-1]
    row = last.replace(last.split()[0], "still")
    steps = {
        "crates/cc/src/variants/still.rs": VARIANT,
        "crates/cc/src/variants/mod.rs": rows.replace(last, f"{last}\n{row}"),
        "crates/cc/tests/variants/still.rs": TEST,
        "docs/reference/variants/still.md": DOCS,
    }
    for place, text in steps.items():
        write(place, text)
    kept |= {COPY / place for place in steps}
    for file in (COPY / "crates").rglob("*"):
        if file.is_file() and file not in kept:
            file.unlink()


def cargo(*arguments: str) -> str:
    environment = os.environ | {"CARGO_PROFILE_TEST_OPT_LEVEL": "0", "CARGO_TARGET_DIR": str(COPY / "target")}
    command = ["cargo", "test", "--offline", "-p", "dumbbell-cc", *arguments]
    done = subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_steps_name_the_four_places() -> None:
    places = ("crates/cc/src/variants/NAME.rs", "crates/cc/src/variants/mod.rs", "crates/cc/tests/variants/NAME.rs",
              "docs/reference/variants/NAME.md")  # fmt: skip
    for place in places:
        assert place in STEPS, place


@pytest.mark.usefixtures("copied")
def test_a_file_a_row_a_test_and_a_page_make_a_variant() -> None:
    assert "test result: ok. 1 passed" in cargo("--test", "variants", "still::")
    # The properties that hold for each row of the registry hold for the new one, too.
    assert "rows_are_complete ... ok" in cargo("--test", "registry", "rows_are_complete")
