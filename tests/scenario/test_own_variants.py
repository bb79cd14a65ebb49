"""Own variants: Python classes, and libraries written in Rust."""

from __future__ import annotations

import json
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell
from dumbbell import BackendError, DumbbellError, Results, Scenario, ScenarioError
from dumbbell.plan import build as plan
from dumbbell.scenario.own import variants as own_variants
from plugin_crates import blocks, build, new_crate
from required import require, require_programs
from waiting import DEADLINE_S

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-variant.md"
Cli = Callable[..., subprocess.CompletedProcess[str]]

SCENARIO = """
name = "own"
duration = "3 s"
repetitions = 2
start_jitter = "50 ms"

[network]
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { limit = "20 packets" } }
access = { rate = "100 Mbit/s", delay = "1 ms" }

[[flows]]
name = "a"
variant = { python = "mine.py:Mine" }
stack = "rfc"
"""

# NewReno as crates/cc has it: with the same window after each event, the same bytes follow.
NEWRENO = '''
class Mine:
    """Reno"""

    columns = ("increase",)

    def __init__(self, setup, increase=1.0):
        self.mss, self.cwnd, self.ssthresh = setup.mss, setup.initial_window, setup.ssthresh
        self.increase = increase

    def on_ack(self, ack):
        if ack.in_recovery or ack.acked == 0 or not ack.cwnd_limited:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += min(ack.acked, self.mss)
        else:
            self.cwnd += self.increase * self.mss * ack.acked / self.cwnd

    def on_congestion(self, event):
        if event.kind != "timeout" or event.backoffs == 0:
            self.cwnd = self.ssthresh = max(0.5 * event.window, 2 * self.mss)
        if event.kind in ("timeout", "collapse"):
            self.cwnd = self.mss
'''


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(NEWRENO)
    (tmp_path / "own.toml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_registered() -> Iterator[None]:
    yield
    own_variants.KIND.registered.clear()


# ---------------------------------------------------------------- in Python


def test_the_same_algorithm_in_python_gives_the_same_bytes(place: Path) -> None:
    mine = dumbbell.run(place / "own.toml")
    ours = dumbbell.run(place / "own.toml", changes={"flows.a.variant": "newreno"})
    sack = dumbbell.run(place / "own.toml", changes={"flows.a.variant": "sack"})
    # The stack's loss recovery is SACK: "sack" is the same algorithm with the same recovery.
    columns = [c for c in mine.flows.columns if c != "variant"]
    assert mine.flows.select(columns).equals(sack.flows.select(columns))
    assert not mine.flows.select(columns).equals(ours.flows.select(columns))
    assert mine.flows["variant"].to_list() == ["mine.py:Mine"] * 2
    assert min(mine.flows["fast_retransmits"].to_list()) > 0


def test_runs_repeat(place: Path) -> None:
    first, second = (dumbbell.run(place / "own.toml").document() for _ in range(2))
    assert first == second


def test_parameters_sweeps_and_names(place: Path) -> None:
    text = SCENARIO.replace('variant = { python = "mine.py:Mine" }', 'variant = "mine"')
    text = text.replace("[[flows]]", '[variants]\nmine = { python = "mine.py:Mine" }\n\n[[flows]]')
    text += '\n[sweep]\n"flows.a.variant" = ["sack", "mine", { name = "mine", increase = 3.0 }]\n'
    (place / "own.toml").write_text(text)
    results = dumbbell.run(place / "own.toml", trace=True)
    by_variant = results.flows.group_by("flows.a.variant", maintain_order=True)
    flows = by_variant.agg(pl.col("goodput_bps", "dropped_packets").mean())
    assert flows["flows.a.variant"].to_list() == ["sack", "mine", "mine(increase=3.0)"]
    goodput, lost = flows["goodput_bps"], flows["dropped_packets"]
    assert goodput[0] == goodput[1]
    assert lost[2] > lost[1]
    assert set(results.series(4, "increase", flow="a")["increase"]) == {3.0}
    scenario = Scenario.load(place / "own.toml")
    again = Scenario.from_toml(scenario.to_toml().replace("mine.py", str(place / "mine.py")))
    assert plan.build(again.cells[1].scenario)


def test_names_of_version_0_1_are_accepted(place: Path) -> None:
    """The table [laws] is now [variants], and the method on_unused is now on_cwnd_validation."""
    text = SCENARIO.replace('variant = { python = "mine.py:Mine" }', 'variant = "mine"')
    table = f'[{{}}]\nmine = {{{{ python = "{place / "mine.py"}:Mine" }}}}\n\n[[flows]]'
    old, new = (Scenario.from_toml(text.replace("[[flows]]", table.format(key))) for key in ("laws", "variants"))
    assert old.to_toml() == new.to_toml()
    # After a pause the window is validated.
    pauses = 'application = { kind = "onoff", rate = "2 Mbit/s", on = "500 ms", off = "1 s", exponential = false }\n'
    (place / "own.toml").write_text(SCENARIO + pauses)
    for method in ("on_unused", "on_cwnd_validation"):
        (place / "mine.py").write_text(f"{NEWRENO}\n    def {method}(self, event):\n        self.cwnd = 1 / 0\n")
        with pytest.raises(BackendError, match=rf"in Mine\.{method}: ZeroDivisionError"):
            dumbbell.run(place / "own.toml", changes={"flows.a.stack": "linux"})


def test_a_class_of_the_program(place: Path) -> None:
    @dumbbell.register_variant
    class Still:
        def __init__(self, setup: Any, segments: int = 4) -> None:
            self.cwnd = segments * setup.mss

        def on_ack(self, ack: Any) -> None: ...

        def on_congestion(self, event: Any) -> None: ...

    for variant, segments in [("Still", 4), ({"name": "Still", "segments": 7}, 7)]:
        results = dumbbell.run(place / "own.toml", changes={"flows.a.variant": variant}, trace=True)
        assert set(results.series(0, "cwnd", flow="a")["cwnd"] / 1448) == {segments}
    dumbbell.register_variant(Still, "other")
    assert dumbbell.run(place / "own.toml", changes={"flows.a.variant": "other"}).flows["variant"][0] == "other"
    with pytest.raises(DumbbellError, match="'cubic' is the name of a variant of Dumbbell"):
        dumbbell.register_variant(Still, "cubic")
    with pytest.raises(ScenarioError, match=r"flows\.a\.variant: unknown variant 'stil': did you mean 'Still'"):
        dumbbell.run(place / "own.toml", changes={"flows.a.variant": "stil"})


def test_every_event_and_its_fields(place: Path) -> None:
    first = "    def __init__(self, setup, increase=1.0):\n"
    facts = "setup.mss > 0 and setup.initial_window >= setup.mss and setup.preset == 'rfc' and setup.seed >= 0"
    (place / "mine.py").write_text(
        NEWRENO.replace(first, f"{first}        assert {facts}\n")
        + """
    def seen(self, what, *fields):
        print(what, *fields)

    def on_established(self, event):
        self.seen("established", event.now, event.rtt)

    def on_sent(self, sent):
        fields = sent.now, sent.bytes, sent.flight, sent.snd_nxt, sent.retransmission, sent.app_limited
        self.seen("sent", *fields)

    def on_lost(self, lost):
        self.seen("lost", lost.now, lost.start, lost.bytes, lost.sent_in_flight, lost.lost_since)

    def on_recovery_exit(self, event):
        self.seen("exit", event.now, event.bound)

    def on_restart(self, event):
        self.seen("restart", event.now, event.idle)

    def on_undo(self, event):
        self.seen("undo", event.now)

    def on_cwnd_validation(self, event):
        self.seen("cwnd_validation", event.now, event.cwnd, event.ssthresh)
"""
    )
    command = [sys.executable, "-m", "dumbbell", "run", "own.toml", "--repetitions", "1"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    seen = {kind: [r[1:] for r in rows if r and r[0] == kind] for kind in ("established", "sent", "lost", "exit")}
    # The handshake takes 4 x 1 + 2 x 10 ms and the transmissions of SYN and SYN-ACK.
    assert 0.024 < float(seen["established"][0][1]) < 0.026
    assert all(seen.values())
    assert {row[4] for row in seen["sent"]} == {"True", "False"}
    assert all(float(row[1]) >= 0 for row in seen["exit"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "self.cwnd += self.increase",
            "self.cwnd += 1 / 0 * self.increase",
            r"mine\.py, line 17, in Mine\.on_ack: ZeroDivisionError: division by zero \(at \d\.\d+ s of simulated",
        ),
        (
            "if event.kind != ",
            "if event.kin != ",
            r"mine\.py, line 20, in Mine\.on_congestion: AttributeError: .*'kin'",
        ),
        ("self.cwnd = self.mss\n", "self.cwnd = 'big'\n", r"mine\.py: after Mine\.on_congestion: cwnd is 'big'"),
        ("max(0.5 * event.window", "max(float('nan') * event.window", r"after Mine\.on_congestion: cwnd is NaN"),
        ("self.cwnd += min(", "self.cwnd = float('inf') + min(", r"after Mine\.on_ack: cwnd is inf"),
        ("def on_ack(self, ack):", "def on_ack(self):", r"TypeError: .*on_ack\(\) takes 1 positional argument"),
        ("        if ack.in_recovery or", "        raise SystemError\n        if ack.in_recovery or", "SystemError"),
    ],
)
def test_errors_name_the_place_and_the_time(place: Path, cli: Cli, old: str, new: str, message: str) -> None:
    assert old in NEWRENO
    (place / "mine.py").write_text(NEWRENO.replace(old, new))
    text = SCENARIO.replace('limit = "20 packets"', 'limit = "5 packets"').replace("3 s", "20 s")
    (place / "own.toml").write_text(text)
    done = cli("run", "own.toml", "--set", 'network.bottleneck.loss="5 %"')
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    assert re.search(r"flows\.a\.variant: ", done.stderr)
    assert re.search(message, done.stderr), done.stderr
    assert re.search(r"at \d+\.\d+ s of simulated time", done.stderr)


@pytest.mark.parametrize(
    ("code", "variant", "message"),
    [
        (NEWRENO, '{ python = "mine.py" }', "a file and a class are needed"),
        (NEWRENO, '{ python = "mne.py:Mine" }', "flows.a.variant.python: 'mne.py' can't be read: No such file"),
        (NEWRENO, '{ python = "mine.py:Mone" }', "unknown class 'Mone': did you mean 'Mine'?"),
        (NEWRENO, '{ python = "mine.py:Mine", increse = 2 }', "flows.a.variant.increse: unknown parameter 'increse'"),
        (NEWRENO, '{ python = "mine.py:Mine", name = "reno" }', "already gives the variant"),
        (NEWRENO, '{ python = "mine.py:Mine", library = "x.so" }', "already gives the variant"),
        (NEWRENO, "{ python = 3 }", "3 given: a text is needed"),
        (NEWRENO, '{ library = "mine.py" }', "'mine.py' is not a variant: not a library"),
        ("x = = 1", '{ python = "mine.py:Mine" }', "mine.py, line 1: SyntaxError"),
        ("\nimport nowhere_at_all", '{ python = "mine.py:Mine" }', "mine.py, line 2: ModuleNotFoundError"),
        (NEWRENO.replace("def on_congestion", "def on_loss"), '{ python = "mine.py:Mine" }', "has no method on_cong"),
        (NEWRENO.replace('("increase",)', '"increase"'), '{ python = "mine.py:Mine" }', "a tuple of names is needed"),
        (NEWRENO.replace("increase=1.0", "**all"), '{ python = "mine.py:Mine" }', "name each parameter"),
        (
            NEWRENO.replace("        self.increase = increase", "        raise ValueError('too much')"),
            '{ python = "mine.py:Mine" }',
            "flows.a.variant: ",
        ),
        (
            NEWRENO.replace("self.cwnd, ", "self.nothing, "),
            '{ python = "mine.py:Mine" }',
            "the attribute cwnd is missing",
        ),
    ],
)
def test_classes_that_are_refused(place: Path, code: str, variant: str, message: str) -> None:
    (place / "mine.py").write_text(code)
    (place / "own.toml").write_text(SCENARIO.replace('{ python = "mine.py:Mine" }', variant))
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(place / "own.toml")
    assert message in str(caught.value)


def test_the_variants_of_a_scenario_are_checked(place: Path) -> None:
    def refusal(table: str) -> str:
        (place / "own.toml").write_text(SCENARIO + "\n[variants]\n" + table)
        with pytest.raises(ScenarioError) as caught:
            Scenario.load(place / "own.toml")
        return str(caught.value)

    assert "variants.cubic.python: 'cubic' is the name of a variant" in refusal('cubic = { python = "mine.py:Mine" }')
    assert "variants.mine.python: needed: one of" in refusal("mine = {}")
    assert "variants.mine.pyton: unknown key" in refusal('mine = { pyton = "mine.py:Mine" }')
    assert "variants.mine.python: mine.py: unknown class" in refusal('mine = { python = "mine.py:Main" }')
    assert "variants.mine.library: 'x.so' can't be read" in refusal('mine = { library = "x.so" }')


def test_observe_and_broken_columns(place: Path) -> None:
    own = NEWRENO + "\n    def observe(self):\n        return {'increase': self.cwnd / self.mss}\n"
    (place / "mine.py").write_text(own)
    results = dumbbell.run(place / "own.toml", trace=True)
    table = results.table(0, "flow/a")
    off = table["increase"].to_numpy() - table["cwnd"].to_numpy() / 1448
    assert abs(off).max() < 4  # inflation of recovery apart
    (place / "mine.py").write_text(own.replace("'increase':", "'inc':"))
    with pytest.raises(BackendError, match=r"in its columns: .*KeyError: 'increase'"):
        dumbbell.run(place / "own.toml", trace=True)
    dumbbell.run(place / "own.toml")  # without a trace the columns are not read


def test_pacing_is_kept(place: Path) -> None:
    paced = NEWRENO.replace("        self.increase = increase", "        self.pacing_rate = 1e6")
    (place / "mine.py").write_text(paced.replace('columns = ("increase",)', ""))
    results = dumbbell.run(place / "own.toml")
    # 1 Mbit/s of payload (one ACK clock's worth more at the start).
    assert results.flows["goodput_bps"][0] == pytest.approx(1e6, rel=0.05)


def test_results_know_the_content(place: Path, cli: Cli) -> None:
    assert cli("run", "own.toml", "--out", "kept").returncode == 0
    first = Results.load(place / "kept").document()
    # A stored run is not repeated, and the variant is not called.
    (place / "mine.py").write_text(NEWRENO)
    assert cli("run", "own.toml", "--out", "kept").returncode == 0
    (place / "mine.py").write_text(NEWRENO.replace("0.5 *", "0.7 *"))
    done = cli("run", "own.toml", "--out", "kept")
    assert done.returncode == 2
    assert "another scenario" in done.stderr
    # The results can be read without the variant's file, and after they were moved.
    (place / "mine.py").unlink()
    shutil.move(place / "kept", place / "moved")
    assert Results.load(place / "moved").document() == first
    (copy,) = (place / "moved" / "files").iterdir()
    assert copy.read_text() == NEWRENO


def test_results_of_a_registered_class(tmp_path: Path, place: Path) -> None:
    class Still:
        def __init__(self, setup: Any) -> None:
            self.cwnd = 4 * setup.mss

        def on_ack(self, ack: Any) -> None: ...

        def on_congestion(self, event: Any) -> None: ...

    dumbbell.register_variant(Still)
    kept = dumbbell.run(place / "own.toml", changes={"flows.a.variant": "Still"}, out=tmp_path / "kept").document()
    own_variants.KIND.registered.clear()
    assert Results.load(tmp_path / "kept").document() == kept


def test_a_variant_may_import_files_of_its_folder(place: Path) -> None:
    (place / "helper.py").write_text("HALF = 0.5\n")
    (place / "mine.py").write_text("import helper\n" + NEWRENO.replace("0.5 *", "helper.HALF *"))
    assert len(dumbbell.run(place / "own.toml")) == 2


def test_ctrl_c_ends_a_variant_that_never_returns(place: Path) -> None:
    before = "        if ack.in_recovery or"
    endless = f"        print('here', flush=True)\n        while True: pass\n{before}"
    (place / "mine.py").write_text(NEWRENO.replace(before, endless))
    command = [sys.executable, "-m", "dumbbell", "run", "own.toml", "--jobs", "2"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=place, text=True, **pipes)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors


def test_the_example_in_python(tmp_path: Path, cli: Cli) -> None:
    code = blocks(PAGE, "python")["mine.py"]
    assert 30 <= len([line for line in code.splitlines() if line.strip()]) <= 60
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "mine.toml").write_text(blocks(PAGE, "toml")["mine.toml"])
    done = cli("run", "mine.toml", "--json")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    newreno, mine, slow = (run["flows"][0] for run in runs)
    # It backs off before the queue is full: nearly no losses, shorter round trips, little less goodput.
    assert mine["rtt_mean_ms"] < newreno["rtt_mean_ms"]
    assert mine["dropped_packets"] < newreno["dropped_packets"]
    assert mine["goodput_bps"] > 0.8 * newreno["goodput_bps"]
    assert slow["goodput_bps"] > mine["goodput_bps"]


# ---------------------------------------------------------------- in Rust


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crate of the page; the tests build variants with it."""
    require_programs("cargo")
    return new_crate(tmp_path_factory.mktemp("crates") / "gentle", PAGE)


@pytest.fixture(scope="module")
def gentle(crate: Path) -> Path:
    code = blocks(PAGE, "rust")["lib.rs"]
    assert 30 <= len([line for line in code.splitlines() if line.strip()]) <= 70
    return build(crate, code, crate / "gentle.so")


@pytest.fixture(scope="module")
def panicking(crate: Path) -> Path:
    code = blocks(PAGE, "rust")["lib.rs"]
    code = code.replace("self.last = Some(cx.now);", 'panic!("no more than {}", self.most);')
    return build(crate, code, crate / "panicking.so")


BROKEN = """
use dumbbell_plugin::prelude::*;

const ROW: Variant = Variant {
    name: "broken",
    params: &[Spec { name: "how", kind: Kind::Choice(HOW), default: "endless", doc: "the mistake" }],
    build: |params, setup| Ok(Box::new(Broken { window: setup.initial_window, how: params.choice("how"), acks: 0 })),
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

    fn observe(&self, _row: &mut Vec<f64>) {}
}
"""


@pytest.fixture(scope="module")
def broken(crate: Path) -> Path:
    return build(crate, BROKEN, crate / "broken.so")


def with_library(place: Path, library: Path, more: str = "") -> Path:
    text = SCENARIO.replace('{ python = "mine.py:Mine" }', f'{{ name = "gentle"{more} }}')
    text = text.replace("[[flows]]", f'[variants]\ngentle = {{ library = "{library}" }}\n\n[[flows]]')
    (place / "own.toml").write_text(text)
    return place / "own.toml"


def test_the_example_in_rust(place: Path, gentle: Path) -> None:
    results = dumbbell.run(with_library(place, gentle), trace=True)
    sack = dumbbell.run(place / "own.toml", changes={"flows.a.variant": "sack"})
    assert results.flows["variant"].to_list() == ["gentle"] * 2
    assert results.flows["dropped_packets"].sum() > sack.flows["dropped_packets"].sum()
    shares = set(results.series(0, "share", flow="a")["share"].round(6))
    assert 0.0 in shares
    assert all(0 <= s <= 0.5 for s in shares)
    assert 0.5 in shares  # the first loss
    assert dumbbell.run(place / "own.toml", jobs=2).document() == dumbbell.run(place / "own.toml", jobs=1).document()


def test_a_library_checks_its_parameters(place: Path, gentle: Path) -> None:
    assert len(dumbbell.run(with_library(place, gentle, ", most = 0.3"))) == 2
    for more, message in [
        (", most = 3", "flows.a.variant.most: 3 given"),
        (", mst = 0.3", "flows.a.variant.mst: unknown parameter 'mst': did you mean 'most'?"),
        (', most = "x"', "flows.a.variant.most"),
    ]:
        with pytest.raises(ScenarioError) as caught:
            Scenario.load(with_library(place, gentle, more))
        assert message in str(caught.value)


def test_variant_check_tries_a_library(gentle: Path, panicking: Path, cli: Cli) -> None:
    done = cli("variant", "check", str(gentle), "most=0.3", "--cases", "20")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no error in 20 cases" in done.stdout
    done = cli("variant", "check", str(panicking))
    assert done.returncode == 2
    assert "error: src/lib.rs:" in done.stdout and "panic: no more than 0.5" in done.stdout


def test_a_panic_is_an_error_with_its_place(place: Path, panicking: Path, cli: Cli) -> None:
    with_library(place, panicking)
    done = cli("run", "own.toml")
    assert done.returncode == 2
    assert re.search(
        r"flows\.a\.variant: src/lib\.rs:\d+:\d+: panic: no more than 0\.5 \(at \d\.\d+ s of simulated time\)",
        done.stderr,
    ), done.stderr
    assert "Traceback" not in done.stderr


def test_another_interface_is_refused(place: Path, crate: Path) -> None:
    """A library that was built for another interface."""
    other = crate / "other"
    (other / "src").mkdir(parents=True)
    (other / "Cargo.toml").write_text(
        '[package]\nname = "other"\nversion = "0.1.0"\nedition = "2024"\n[lib]\ncrate-type = ["cdylib"]\n[workspace]\n'
    )
    code = '#[unsafe(no_mangle)]\npub extern "C" fn {}() -> u32 {{ 999 }}\n'
    with_library(place, build(other, code.format("dumbbell_plugin_interface"), other / "one.so"))
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(place / "own.toml")
    assert "variants.gentle.library: " in str(caught.value)
    assert "built for plugin interface 999, this is interface 3: build it again" in str(caught.value)
    with_library(place, build(other, code.format("something_else"), other / "two.so"))
    with pytest.raises(ScenarioError, match="exports no variant"):
        Scenario.load(place / "own.toml")


@pytest.mark.parametrize(("how", "shown"), [("nan", "NaN"), ("infinite", "inf"), ("negative", "-1")])
def test_windows_that_are_no_amount_are_errors(place: Path, broken: Path, how: str, shown: str) -> None:
    with_library(place, broken, f', how = "{how}"')
    message = rf"flows\.a\.variant: cwnd is {shown}: a number of bytes is needed \(at 0\.\d+ s of simulated time\)"
    with pytest.raises(BackendError, match=message):
        dumbbell.run(place / "own.toml")


def test_a_library_that_prints_leaves_json_whole(place: Path, broken: Path, cli: Cli) -> None:
    done = cli("run", str(with_library(place, broken, ', how = "print"')), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"]
    assert "here" not in done.stdout and "here" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_library_that_ends_the_process_is_an_error(place: Path, broken: Path, cli: Cli, jobs: str) -> None:
    """Its exit code was the command's: 0 without results."""
    libc = platform.libc_ver()[0]
    require("linux", None if libc == "glibc" else "other C libraries keep the variables of a thread in exit()")
    done = cli("run", str(with_library(place, broken, ', how = "exit"')), "--json", "--jobs", jobs)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "error: the library of 'gentle' has ended the process"


def test_a_call_that_never_returns_ends_the_command(place: Path, broken: Path) -> None:
    with_library(place, broken)
    program = "import dumbbell.backends.sim as sim, sys; from dumbbell.__main__ import main; sim.MOST_WAITS = 3; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "run", "own.toml", "--jobs", "1"],
        cwd=place, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "the library of 'gentle': a call has not returned for 0.3 s" in done.stderr
    assert "Traceback" not in done.stderr
