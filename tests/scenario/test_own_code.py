"""Own variants and queue disciplines in Python: what holds for both kinds. Errors, refusals, results, announcements."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from own_code import DISCIPLINE, KINDS, LOUD, NEWRENO, VARIANT, Kind

import dumbbell
from dumbbell import Results, Scenario, ScenarioError
from python_disciplines import DROPTAIL
from waiting import DEADLINE_S

pytestmark = pytest.mark.usefixtures("allow_code")

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
def place(tmp_path: Path, kind: Kind) -> Path:
    return kind.written_to(tmp_path).parent


def refusal(file: Path) -> str:
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(file)
    return str(caught.value)


def test_runs_repeat(place: Path) -> None:
    first, second = (dumbbell.run(place / "own.toml").document() for _ in range(2))
    assert first == second


# The kind, a text of its code, another one for it, and what the error has.
ERRORS = [
    *(
        (VARIANT, *row)
        for row in [
            (
                "self.cwnd += self.increase",
                "self.cwnd += 1 / 0 * self.increase",
                r"mine\.py, line 17, in Mine\.on_ack: ZeroDivisionError: division by zero \(at \d\.\d+ s of simulated",
            ),
            ("if event.kind != ", "if event.kin != ", r"mine\.py, line 20, in Mine\.on_congestion: Attrib.*'kin'"),
            ("self.cwnd = self.mss\n", "self.cwnd = 'big'\n", r"mine\.py: after Mine\.on_congestion: cwnd is 'big'"),
            ("max(0.5 * event.window", "max(float('nan') * event.window", r"after Mine\.on_congestion: cwnd is NaN"),
            ("self.cwnd += min(", "self.cwnd = float('inf') + min(", r"after Mine\.on_ack: cwnd is inf"),
            ("def on_ack(self, ack):", "def on_ack(self):", r"TypeError: .*on_ack\(\) takes 1 positional argument"),
            (
                "        if ack.in_recovery or",
                "        raise SystemError\n        if ack.in_recovery or",
                "SystemError",
            ),
        ]
    ),
    *(
        (DISCIPLINE, *row)
        for row in [
            ("self.queue.append(packet)", "self.queue.append(1 / 0)", r"line 13, in Tail\.enqueue: ZeroDivisionError"),
            ("return self.queue.popleft()", "return self.quue.popleft()", r"line 18, in Tail\.dequeue: AttributeErr"),
            ("self.queue.append(packet)", "return False", r"mine\.py: TypeError: enqueue returned False: link"),
            ("return self.queue.popleft()", "return 7", "TypeError: dequeue returned 7: a packet or None is needed"),
            (
                "return self.queue.popleft()",
                "return self.queue[0]",
                r"mine\.py: Tail: dequeue returned a packet that isn't in the queue",
            ),
            (
                'self.link.drop(packet, "full")',
                "pass",
                r"\d+ packets? waits? \(numbers? [\d, .]+\), and next_ready gives no time: a packet was lost without",
            ),
            (
                'self.link.drop(packet, "full")',
                'self.link.drop(packet, "full"); self.link.drop(packet, "full")',
                r"ValueError: link\.drop: <packet \d+ of flow \d.*> isn't in the queue",
            ),
            ('"full"', '"ful"', r"ValueError: unknown reason 'ful': did you mean 'full'\?"),
            ('"full"', '"loss"', r"unknown reason 'loss' \(known: full, early, forced\)"),
            ("return self.queue.popleft() if self.queue else None", "return None", "and next_ready gives no time"),
            ("self.queue.append(packet)", "raise SystemError", r"line 13, in Tail\.enqueue: SystemError"),
            ("def enqueue(self, packet, now):", "def enqueue(self, packet):", r"TypeError: .*enqueue\(\) takes 2 pos"),
            ("self.queue.append(packet)", "self.link.mark(7)", "TypeError"),
        ]
    ),
]


@pytest.mark.parametrize(("kind", "old", "new", "message"), ERRORS)
def test_errors_name_the_place_and_the_time(
    place: Path, cli: Cli, kind: Kind, old: str, new: str, message: str
) -> None:
    assert old in kind.code
    (place / "mine.py").write_text(kind.code.replace(old, new))
    done = cli("run", "own.toml", *(word for option in kind.options for word in ("--set", option)))
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    assert re.search(r"flows\.a\.variant: |links\.r\d->r\d\.queue: ", done.stderr), done.stderr
    assert re.search(message, done.stderr), done.stderr
    assert re.search(r"\(at \d+\.\d+ s of simulated time\)", done.stderr)


WITHOUT_LINK = DROPTAIL.replace("(self, link, limit=20)", "(self)").replace("link, limit, ", "1, 2, ")
RAISING = "raise ValueError('too much')"
# The kinds, the code instead of the example's, the words of the scenario instead of the usual ones, and the message.
REFUSED: list[tuple[list[Kind], str | None, str | None, str]] = [
    (KINDS, None, 'python = "mine.py"', "a file and a class are needed"),
    (KINDS, None, 'python = "mne.py:EXAMPLE"', "PLACE.python: 'mne.py' can't be read: No such file"),
    (KINDS, None, 'python = "mine.py:EXAMPLEE"', "unknown class 'EXAMPLEE': did you mean 'EXAMPLE'?"),
    (KINDS, None, 'library = "mine.py"', "'mine.py' is not NOUN: not a library"),
    (KINDS, "x = = 1", None, "mine.py, line 1: SyntaxError"),
    ([VARIANT], "\nimport nowhere_at_all", None, "mine.py, line 2: ModuleNotFoundError"),
    ([VARIANT], None, 'python = "mine.py:Mine", increse = 2', "flows.a.variant.increse: unknown parameter 'increse'"),
    ([VARIANT], None, 'python = "mine.py:Mine", name = "reno"', "already gives the variant"),
    ([VARIANT], None, 'python = "mine.py:Mine", library = "x.so"', "already gives the variant"),
    ([VARIANT], None, "python = 3", "3 given: a text is needed"),
    ([VARIANT], NEWRENO.replace("def on_congestion", "def on_loss"), None, "has no method on_cong"),
    ([VARIANT], NEWRENO.replace('("increase",)', '"increase"'), None, "a tuple of names is needed"),
    ([VARIANT], NEWRENO.replace("increase=1.0", "**all"), None, "name each parameter"),
    ([VARIANT], NEWRENO.replace("self.increase = increase", RAISING), None, "flows.a.variant: "),
    ([VARIANT], NEWRENO.replace("self.cwnd, ", "self.nothing, "), None, "the attribute cwnd is missing"),
    ([DISCIPLINE], None, 'python = "mine.py:Tail", limt = 2', "queue.limt: unknown parameter 'limt': did you mean"),
    ([DISCIPLINE], None, 'python = "mine.py:Tail", discipline = "red"', "'python' already gives the discipline"),
    ([DISCIPLINE], None, 'python = "mine.py:Tail", limit = nan', "a single finite value is needed"),
    ([DISCIPLINE], DROPTAIL.replace("def enqueue", "def put"), None, "class Tail has no method enqueue"),
    ([DISCIPLINE], WITHOUT_LINK, None, "__init__(self, link, ...)"),
    ([DISCIPLINE], DROPTAIL.replace("limit=20", "**all"), None, "name each parameter"),
    (
        [DISCIPLINE],
        DROPTAIL.replace("self.link, self.limit", f"{RAISING}\n        self.link, self.limit"),
        None,
        "mine.py, line 9, in Tail.__init__: ValueError: too much",
    ),
    ([DISCIPLINE], None, 'discipline = "tbf", rate = "1 Mbit/s", inner = { python = "mine.py:Tail" }', "queue.inner"),
]


@pytest.mark.parametrize(
    ("kind", "code", "given", "message"), [(kind, *row) for kinds, *row in REFUSED for kind in kinds]
)
def test_classes_that_are_refused(
    tmp_path: Path, kind: Kind, code: str | None, given: str | None, message: str
) -> None:
    for word, text in (("EXAMPLE", kind.example), ("PLACE", kind.place), ("NOUN", kind.noun)):
        given, message = given and given.replace(word, text), message.replace(word, text)
    scenario = kind.written(f"{{ {given} }}") if given else None
    assert message in refusal(kind.written_to(tmp_path, code, scenario))


def test_the_table_of_a_scenario_is_checked(place: Path, kind: Kind) -> None:
    def refused(name: str, table: str) -> str:
        (place / "own.toml").write_text(kind.tabled(name, table, kind.own))
        return refusal(place / "own.toml")

    table = f"{kind.name}s"
    assert f"{table}.{kind.builtin}.python: '{kind.builtin}' is the name of {kind.noun}" in refused(
        kind.builtin, kind.own
    )
    assert f"{table}.mine.python: needed: one of" in refused("mine", "{}")
    assert f"{table}.mine.pyton: unknown key" in refused("mine", '{ pyton = "mine.py:Mine" }')
    assert f"{table}.mine.python: mine.py: unknown class" in refused("mine", '{ python = "mine.py:Main" }')
    assert f"{table}.mine.library: 'x.so' can't be read" in refused("mine", '{ library = "x.so" }')


# ---------------------------------------------------------------- code that runs, results


def test_code_is_announced_and_can_be_refused(place: Path, kind: Kind, cli: Cli) -> None:
    (place / "mine.py").write_text(LOUD + kind.with_lines('print("here")'))
    done = cli("run", "own.toml", "--no-code")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: --no-code: the scenario runs mine.py:{kind.example} (Python)\n"
    assert not (place / "ran").exists()
    done = cli("run", "own.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["runs"]) == 2
    before, _, after = done.stderr.partition(f"the scenario runs mine.py:{kind.example} (Python)\n")
    assert "loaded" not in before
    assert "loaded" in after and "loaded too" in after and "here" in after


def test_results_know_the_content(place: Path, kind: Kind, cli: Cli) -> None:
    assert cli("run", "own.toml", "--out", "kept").returncode == 0
    first = Results.load(place / "kept").document()
    # A stored run is not repeated, and its code is not called.
    (place / "mine.py").write_text(kind.code)
    assert cli("run", "own.toml", "--out", "kept").returncode == 0
    (place / "mine.py").write_text(kind.with_lines("assert True"))
    done = cli("run", "own.toml", "--out", "kept")
    assert done.returncode == 2
    assert "another scenario" in done.stderr
    # The results can be read without the file, and after they were moved.
    (place / "mine.py").unlink()
    shutil.move(place / "kept", place / "moved")
    assert Results.load(place / "moved").document() == first
    (copy,) = (place / "moved" / "files").iterdir()
    assert copy.read_text() == kind.code


def test_ctrl_c_ends_a_call_that_never_returns(place: Path, kind: Kind) -> None:
    (place / "mine.py").write_text(kind.with_lines("print('here', flush=True)", "while True: pass"))
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "dumbbell", "run", "own.toml", "--jobs", "2"]
    process = subprocess.Popen(command, cwd=place, text=True, **pipes)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
