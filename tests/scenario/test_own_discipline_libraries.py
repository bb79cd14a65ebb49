"""Own queue disciplines as libraries written in Rust."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from test_own_disciplines import QUEUE, SCENARIO, alike, drops

import dumbbell
from dumbbell import BackendError, ScenarioError, registry
from plugin_crates import blocks, build, new_crate
from required import require_programs

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-discipline.md"
Cli = Callable[..., subprocess.CompletedProcess[str]]

EVERY = """
//! Every discipline of Dumbbell, through the interface of libraries, with mistakes on request.

use dumbbell_plugin::prelude::*;
use dumbbell_plugin::qdisc;

const MISTAKES: &[&str] = &["none", "panic", "lose", "print"];
const ROW: Discipline = Discipline {
    name: "every",
    title: "a discipline of the registry",
    params: &[
        Spec { name: "limit", kind: Kind::Length, default: "30 packets", doc: "maximum backlog" },
        Spec { name: "of", kind: Kind::Choice(&[NAMES]), default: "droptail", doc: "its name" },
        Spec { name: "mistake", kind: Kind::Choice(MISTAKES), default: "none", doc: "broken" },
    ],
    build: |params, link| {
        let name = params.choice("of");
        let row = qdisc::find(name)?;
        let given: &[(String, dumbbell_plugin::units::param::Raw)] = &[];
        let mistake = params.choice("mistake");
        let inner = (row.build)(&Params::read(row.params, given)?, link)?;
        Ok(Box::new(Every { inner, mistake, arrived: 0 }))
    },
    ..Discipline::EMPTY
};

dumbbell_plugin::export_discipline!(ROW);

#[derive(Debug)]
struct Every {
    inner: Box<dyn Qdisc>,
    mistake: &'static str,
    arrived: u64,
}

impl Qdisc for Every {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.arrived += 1;
        match (self.arrived, self.mistake) {
            (100, "panic") => panic!("not packet {}", self.arrived),
            (100, "lose") => return,
            (100, "print") => println!("here"),
            _ => {}
        }
        self.inner.enqueue(packet, cx);
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.inner.dequeue(cx)
    }

    fn next_ready(&self) -> Option<Time> {
        self.inner.next_ready()
    }

    fn classes(&self) -> Option<u32> {
        self.inner.classes()
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }
}
""".replace("NAMES", ", ".join(f'"{name}"' for name in registry.disciplines()))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "fresh.py").write_text(blocks(PAGE, "python")["fresh.py"])
    return tmp_path


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crate of the page; the tests build two disciplines with it."""
    require_programs("cargo")
    return new_crate(tmp_path_factory.mktemp("crates") / "fresh", PAGE)


@pytest.fixture(scope="module")
def fresh(crate: Path) -> Path:
    return build(crate, blocks(PAGE, "rust")["lib.rs"], crate / "fresh.so")


@pytest.fixture(scope="module")
def every(crate: Path) -> Path:
    return build(crate, EVERY, crate / "every.so")


def scenario(place: Path, queue: str) -> Path:
    (place / "own.toml").write_text(SCENARIO.replace(QUEUE, queue))
    return place / "own.toml"


def test_the_example_in_rust_does_the_same_as_that_in_python(place: Path, fresh: Path) -> None:
    pairs = [("", ""), (', longest = "8 ms", ecn = true', ", longest = 0.008, ecn = true")]
    for rust, python in pairs:
        changes = {"flows.0.stack": {"ecn": True}}
        library = dumbbell.run(scenario(place, f'{{ library = "{fresh}"{rust} }}'), changes=changes, trace=True, jobs=2)
        python_class = dumbbell.run(
            scenario(place, f'{{ python = "fresh.py:Fresh"{python} }}'), changes=changes, trace=True
        )
        assert drops(library) > 10
        assert alike(library) == alike(python_class)
        table = "queue/r1->r2"
        assert library.table(0, table).equals(python_class.table(0, table))
        assert library.table(0, table)["late"].max() > 10  # type: ignore[operator]
        assert library.queues["discipline"][0] == "fresh.so"


def test_every_discipline_gives_the_same_results_through_the_interface(place: Path, every: Path) -> None:
    for name in registry.disciplines():
        ours = dumbbell.run(scenario(place, f'"{name}"'), changes={"repetitions": 1})
        theirs = dumbbell.run(scenario(place, f'{{ library = "{every}", of = "{name}" }}'), changes={"repetitions": 1})
        assert alike(theirs) == alike(ours), name


def test_a_library_checks_its_parameters(place: Path, fresh: Path) -> None:
    for more, message in [
        (', longest = "soon"', "network.bottleneck.queue.longest: 'soon' does not start with a number"),
        (', longst = "3 ms"', "queue.longst: unknown parameter 'longst': did you mean 'longest'?"),
        (", longest = 3", "queue.longest"),
    ]:
        with pytest.raises(ScenarioError) as caught:
            dumbbell.load(scenario(place, f'{{ library = "{fresh}"{more} }}'))
        assert message in str(caught.value)


def test_mistakes_of_a_library_are_errors(place: Path, every: Path) -> None:
    for mistake, message in [
        ("panic", r"links\.r1->r2\.queue: src/lib\.rs:\d+:\d+: panic: not packet 100 \(at \d\.\d+ s of simulated"),
        ("lose", r"links\.r1->r2\.queue: every\.so: after enqueue, backlog\(\) returns \d+ packets .* must hold \(at"),
    ]:
        with pytest.raises(BackendError, match=message):
            dumbbell.run(scenario(place, f'{{ library = "{every}", mistake = "{mistake}" }}'))


def test_a_library_that_prints_leaves_json_whole(place: Path, every: Path, cli: Cli) -> None:
    scenario(place, f'{{ library = "{every}", mistake = "print" }}')
    done = cli("run", "own.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{") and "here" not in done.stdout and "here" in done.stderr
    assert "(Rust library)" in done.stderr
    assert cli("run", "own.toml", "--no-code").returncode == 2


def test_check_tries_a_library(every: Path, cli: Cli) -> None:
    done = cli("discipline", "check", str(every), "of=red", "--cases", "50")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no error in 50 cases" in done.stdout
    done = cli("discipline", "check", str(every), "mistake=lose", "--cases", "50")
    assert done.returncode == 2
    assert "error: every.so: after enqueue, backlog() returns" in done.stdout


def test_other_libraries_are_refused(place: Path, crate: Path, fresh: Path) -> None:
    """A library for another interface, one without a discipline, and one of the other kind."""
    other = crate / "other"
    (other / "src").mkdir(parents=True)
    (other / "Cargo.toml").write_text(
        '[package]\nname = "other_discipline"\nversion = "0.1.0"\nedition = "2024"\n'
        '[lib]\ncrate-type = ["cdylib"]\n[workspace]\n'
    )
    code = '#[unsafe(no_mangle)]\npub extern "C" fn {}() -> u32 {{ 999 }}\n'
    for symbol, message in [
        ("dumbbell_discipline_interface", "built for discipline interface 999, this is interface 2: build it again"),
        ("dumbbell_plugin_interface", "it exports a variant, no queue discipline"),
        ("something_else", "it exports no queue discipline: dumbbell_plugin::export_discipline! is missing"),
    ]:
        library = build(other, code.format(symbol), other / f"{symbol}.so")
        with pytest.raises(ScenarioError, match=re.escape(message)):
            dumbbell.load(scenario(place, f'{{ library = "{library}" }}'))
    text = scenario(place, '"droptail"').read_text()
    (place / "own.toml").write_text(text.replace('variant = "cubic"', f'variant = {{ library = "{fresh}" }}'))
    with pytest.raises(ScenarioError, match="is not a variant: it exports a queue discipline, no variant"):
        dumbbell.load(place / "own.toml")
