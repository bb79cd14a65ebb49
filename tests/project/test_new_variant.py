"""CONTRIBUTING's steps for a variant and a discipline, carried out on a copy of the crates: nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crate_copy import CrateCopy
from required import require_programs

ROOT = Path(__file__).parents[2]
COPY = CrateCopy("new-rows", "cc", "qdisc")
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
    assert!(dumbbell_cc::registry().iter().any(|row| row.name == "still"));
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


@pytest.fixture(scope="module")
def copied() -> None:
    require_programs("cargo")
    changes = {place: text for files in STEPS.values() for place, text in files.items()}
    # The property of each row that it has its page.
    COPY.write(changes, pages=(ROOT / "docs/reference/disciplines").glob("*.md"))


def cargo(*arguments: str) -> str:
    done = COPY.cargo("test", *arguments)
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
