"""Own variants and queue disciplines as libraries written in Rust."""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from own_code import DISCIPLINE, KINDS, VARIANT, Kind, alike, drops

import dumbbell
from dumbbell import Scenario, ScenarioError, registry
from plugin_crates import blocks, build, new_crate
from required import require, require_programs

pytestmark = pytest.mark.usefixtures("allow_code")

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGES = {kind: HOW_TO / f"own-{kind.name}.md" for kind in KINDS}
Cli = Callable[..., "subprocess.CompletedProcess[str]"]
Built = Callable[[str], Path]

BROKEN = """
use dumbbell_plugin::prelude::*;

const ROW: Variant = Variant {
    name: "broken",
    params: &[Spec { name: "mistake", kind: Kind::Choice(HOW), default: "endless", doc: "the mistake" }],
    build: |params, setup| {
        Ok(Box::new(Broken { window: setup.initial_window, how: params.choice("mistake"), acks: 0 }))
    },
    ..Variant::EMPTY
};
const HOW: &[&str] = &["nan", "infinite", "negative", "endless", "print", "exit"];

dumbbell_plugin::export_variant!(ROW);

#[derive(Debug)]
struct Broken {
    window: f64,
    how: &'static str,
    acks: u64,
}

impl CongestionControl for Broken {
    fn on_ack(&mut self, _ev: &AckEvent, _cx: &Cx) {
        self.acks += 1;
        if self.acks == 20 {
            self.window = match self.how {
                "nan" => f64::NAN,
                "infinite" => f64::INFINITY,
                "negative" => -1.0,
                "print" => {
                    println!("here");
                    self.window
                }
                "exit" => std::process::exit(0),
                _ => loop {
                    std::hint::spin_loop();
                },
            };
        }
    }

    fn on_congestion(&mut self, _ev: &CongestionEvent, _cx: &Cx) {}

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {}

    fn on_restart(&mut self, _idle: Dur, _cx: &Cx) {}

    fn control(&self) -> Control {
        Control { cwnd: self.window, ssthresh: f64::INFINITY, pacing: None, quantum: None }
    }

    fn phase(&self) -> Phase {
        Phase::SlowStart
    }

}
"""

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


def sources() -> dict[str, tuple[Kind, str]]:
    """Return the kind and the code of each library."""
    gentle, fresh = (blocks(PAGES[kind], "rust")["lib.rs"] for kind in KINDS)
    assert 30 <= len([line for line in gentle.splitlines() if line.strip()]) <= 70
    panic = 'panic!("no more than {}", self.most);'
    symbol = '#[unsafe(no_mangle)]\npub extern "C" fn {}() -> u32 {{ 999 }}\n'
    return {
        "gentle": (VARIANT, gentle),
        "panicking": (VARIANT, gentle.replace("self.last = Some(cx.now);", panic)),
        "broken": (VARIANT, BROKEN),
        "fresh": (DISCIPLINE, fresh),
        "every": (DISCIPLINE, EVERY),
        **{name: (VARIANT, symbol.format(name)) for name in SYMBOLS},
    }


SYMBOLS = ("dumbbell_plugin_interface", "dumbbell_discipline_interface", "something_else")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build a library by its name, once, with the crate of its page."""
    require_programs("cargo")
    place = tmp_path_factory.mktemp("crates")
    crates = {kind: new_crate(place / kind.name, page) for kind, page in PAGES.items()}
    other = place / "other"
    (other / "src").mkdir(parents=True)
    (other / "Cargo.toml").write_text(
        '[package]\nname = "other"\nversion = "0.1.0"\nedition = "2024"\n[lib]\ncrate-type = ["cdylib"]\n[workspace]\n'
    )

    @cache
    def made(name: str) -> Path:
        kind, code = sources()[name]
        return build(other if name in SYMBOLS else crates[kind], code, place / f"{name}.so")

    return made


def with_library(place: Path, kind: Kind, library: Path, more: str = "") -> Path:
    """Write a scenario: a variant is in its table, a discipline where it is used."""
    table = f'{{ library = "{library}" }}'
    if kind is VARIANT:
        text = kind.tabled("gentle", table, f'{{ name = "gentle"{more} }}')
    else:
        text = kind.written(f'{{ library = "{library}"{more} }}')
    return kind.written_to(place, scenario=text)


def test_the_example_of_a_variant(tmp_path: Path, built: Built) -> None:
    file = with_library(tmp_path, VARIANT, built("gentle"))
    results = dumbbell.run(file, trace=True)
    sack = dumbbell.run(file, changes={"flows.a.variant": "sack"})
    assert results.flows["variant"].to_list() == ["gentle"] * 2
    assert results.flows["dropped_packets"].sum() > sack.flows["dropped_packets"].sum()
    shares = set(results.series(0, "share", flow="a")["share"].round(6))
    assert 0.0 in shares
    assert all(0 <= s <= 0.5 for s in shares)
    assert 0.5 in shares  # the first loss
    assert dumbbell.run(file, jobs=2).document() == dumbbell.run(file, jobs=1).document()


def test_the_example_of_a_discipline_does_the_same_as_that_in_python(tmp_path: Path, built: Built) -> None:
    (tmp_path / "fresh.py").write_text(blocks(PAGES[DISCIPLINE], "python")["fresh.py"])
    pairs = [("", ""), (', longest = "8 ms", ecn = true', ", longest = 0.008, ecn = true")]
    for rust, python in pairs:
        changes = {"flows.0.stack": {"ecn": True}}
        file = with_library(tmp_path, DISCIPLINE, built("fresh"), rust)
        library = dumbbell.run(file, changes=changes, trace=True, jobs=2)
        file.write_text(DISCIPLINE.written(f'{{ python = "fresh.py:Fresh"{python} }}'))
        python_class = dumbbell.run(file, changes=changes, trace=True)
        assert drops(library) > 10
        assert alike(library) == alike(python_class)
        table = "queue/r1->r2"
        assert library.table(0, table).equals(python_class.table(0, table))
        assert library.table(0, table)["late"].max() > 10  # type: ignore[operator]
        assert library.queues["discipline"][0] == "fresh.so"


def test_every_discipline_gives_the_same_results_through_the_interface(tmp_path: Path, built: Built) -> None:
    for name in registry.disciplines():
        file = with_library(tmp_path, DISCIPLINE, built("every"), f', of = "{name}"')
        theirs = dumbbell.run(file, changes={"repetitions": 1})
        ours = dumbbell.run(file, changes={"repetitions": 1, "network.bottleneck.queue": name})
        assert alike(theirs) == alike(ours), name


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("gentle", ", most = 3", "flows.a.variant.most: 3 given"),
        ("gentle", ", mst = 0.3", "flows.a.variant.mst: unknown parameter 'mst': did you mean 'most'?"),
        ("gentle", ', most = "x"', "flows.a.variant.most"),
        ("fresh", ', longest = "soon"', "network.bottleneck.queue.longest: 'soon' does not start with a number"),
        ("fresh", ', longst = "3 ms"', "queue.longst: unknown parameter 'longst': did you mean 'longest'?"),
        ("fresh", ", longest = 3", "queue.longest"),
    ],
)
def test_a_library_checks_its_parameters(tmp_path: Path, built: Built, name: str, more: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(message)):
        Scenario.load(with_library(tmp_path, sources()[name][0], built(name), more))


def test_a_library_has_its_parameters(tmp_path: Path, built: Built) -> None:
    assert len(dumbbell.run(with_library(tmp_path, VARIANT, built("gentle"), ", most = 0.3"))) == 2


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "error"),
    [
        ("variant", ["gentle", "most=0.3"], ["panicking"], r"src/lib\.rs:.*panic: no more than 0\.5"),
        (
            "discipline",
            ["every", "of=red"],
            ["every", "mistake=lose"],
            r"every\.so: after enqueue, backlog\(\) returns",
        ),
    ],
)
def test_check_tries_a_library(
    built: Built, cli: Cli, kind: str, right: list[str], wrong: list[str], error: str
) -> None:
    done = cli(kind, "check", built(right[0]), *right[1:], "--cases", "50")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no error in 50 cases" in done.stdout
    done = cli(kind, "check", built(wrong[0]), *wrong[1:], "--cases", "50")
    assert done.returncode == 2
    assert re.search(f"error: {error}", done.stdout)


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("panicking", "", r"flows\.a\.variant: src/lib\.rs:\d+:\d+: panic: no more than 0\.5"),
        ("broken", "nan", r"flows\.a\.variant: cwnd is NaN: a number of bytes is needed"),
        ("broken", "infinite", r"flows\.a\.variant: cwnd is inf: a number of bytes is needed"),
        ("broken", "negative", r"flows\.a\.variant: cwnd is -1: a number of bytes is needed"),
        ("every", "panic", r"links\.r1->r2\.queue: src/lib\.rs:\d+:\d+: panic: not packet 100"),
        ("every", "lose", r"r1->r2\.queue: every\.so: after enqueue, backlog\(\) returns \d+ packets .* must hold"),
    ],
)
def test_mistakes_are_errors_with_their_place(
    tmp_path: Path, built: Built, cli: Cli, name: str, more: str, message: str
) -> None:
    with_library(tmp_path, sources()[name][0], built(name), f', mistake = "{more}"' if more else "")
    done = cli("run", "own.toml")
    assert done.returncode == 2
    assert re.search(rf"{message} \(at \d\.\d+ s of simulated time\)", done.stderr), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["broken", "every"])
def test_a_library_that_prints_leaves_json_whole(tmp_path: Path, built: Built, cli: Cli, name: str) -> None:
    with_library(tmp_path, sources()[name][0], built(name), ', mistake = "print"')
    done = cli("run", "own.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"]
    assert "here" not in done.stdout and "here" in done.stderr
    assert "(Rust library)" in done.stderr
    assert cli("run", "own.toml", "--no-code").returncode == 2


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_library_that_ends_the_process_is_an_error(tmp_path: Path, built: Built, cli: Cli, jobs: str) -> None:
    """Its exit code was the command's: 0 without results."""
    libc = platform.libc_ver()[0]
    require("linux", None if libc == "glibc" else "other C libraries keep the variables of a thread in exit()")
    with_library(tmp_path, VARIANT, built("broken"), ', mistake = "exit"')
    done = cli("run", "own.toml", "--json", "--jobs", jobs)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "error: the library of 'gentle' has ended the process"


def test_a_call_that_never_returns_ends_the_command(tmp_path: Path, built: Built) -> None:
    with_library(tmp_path, VARIANT, built("broken"))
    program = "import dumbbell.backends.sim as sim, sys; from dumbbell.__main__ import main; sim.MOST_WAITS = 3; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "run", "own.toml", "--jobs", "1"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "the library of 'gentle': a call has not returned for 0.3 s" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (VARIANT, "dumbbell_plugin_interface", "built for plugin interface 999, this is interface 3: build it again"),
        (VARIANT, "something_else", "exports no variant"),
        (VARIANT, "fresh", "is not a variant: it exports a queue discipline, no variant"),
        (
            DISCIPLINE,
            "dumbbell_discipline_interface",
            "built for discipline interface 999, this is interface 2: build it again",
        ),
        (DISCIPLINE, "dumbbell_plugin_interface", "it exports a variant, no queue discipline"),
        (
            DISCIPLINE,
            "something_else",
            "it exports no queue discipline: dumbbell_plugin::export_discipline! is missing",
        ),
    ],
)
def test_other_libraries_are_refused(tmp_path: Path, built: Built, kind: Kind, name: str, message: str) -> None:
    """Libraries for another interface, without a variant or discipline, and of the other kind."""
    place = {VARIANT: "variants.gentle.library", DISCIPLINE: "network.bottleneck.queue.library"}[kind]
    with pytest.raises(ScenarioError, match=rf"{re.escape(place)}: .*{re.escape(message)}"):
        Scenario.load(with_library(tmp_path, kind, built(name)))
