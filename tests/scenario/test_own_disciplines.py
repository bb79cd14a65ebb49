"""Own queue disciplines in Python: the same results as built-in ones, objects, times, columns, `discipline check`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from own_code import DISCIPLINE, alike, drops

import dumbbell
from dumbbell import BackendError, DumbbellError, Results, Scenario, ScenarioError
from dumbbell.scenario.own import disciplines as own_disciplines
from python_disciplines import CODEL, DROPTAIL, RED
from required import require_packages

pytestmark = pytest.mark.usefixtures("allow_code")

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    yield DISCIPLINE.written_to(tmp_path).parent
    own_disciplines.KIND.registered.clear()


# ---------------------------------------------------------------- the same as built-in disciplines


@pytest.mark.parametrize(
    ("code", "own", "builtin", "changes"),
    [
        (DROPTAIL, {"python": "mine.py:Tail"}, {"discipline": "droptail", "limit": "20 packets"}, {}),
        (CODEL, {"python": "mine.py:CoDel"}, {"discipline": "codel", "follows": "rfc"}, {}),
        (
            CODEL,
            {"python": "mine.py:CoDel", "ecn": True, "limit": 30},
            {"discipline": "codel", "ecn": True, "limit": "30 packets", "follows": "rfc"},
            {"flows.0.stack": {"ecn": True}, "flows.1.variant": "dctcp"},
        ),
        (
            RED,
            {"python": "mine.py:Red"},
            {
                "discipline": "red", "limit": "50 packets", "min_th": "5 packets", "max_th": "15 packets",
                "weight": 0.02, "ecn": True,
            },
            {"flows.0.stack": {"ecn": True}},
        ),
    ],
    ids=["droptail", "codel", "codel with marks", "red"],
)  # fmt: skip
def test_the_same_algorithm_in_python_gives_the_same_results(
    place: Path, code: str, own: dict[str, Any], builtin: dict[str, Any], changes: dict[str, Any]
) -> None:
    (place / "mine.py").write_text(code)
    trace = {"series": True, "only": ["b", "r1->r2"]}
    mine, ours = (
        dumbbell.run(place / "own.toml", changes={**changes, "network.bottleneck.queue": queue, "trace": trace})
        for queue in (own, builtin)
    )
    assert drops(ours) + int(ours.queues["marks"].sum()) > 10
    assert alike(mine) == alike(ours)
    # Every row of the series: windows, backlog, departures and drops, and the private columns.
    shared = [name for name in ours.tables(0) if name in mine.tables(0)]
    assert {"flow/b", "queue/r1->r2", "drops/r1->r2"} <= set(shared)
    for name in shared:
        theirs, own_table = ours.table(0, name), mine.table(0, name)
        common = [column for column in theirs.columns if column in own_table.columns]
        assert own_table.select(common).equals(theirs.select(common), null_equal=True), name
    if "codel" in builtin["discipline"]:
        assert "qdelay_ns" in mine.table(0, "queue/r1->r2").columns


def test_random_numbers_repeat(place: Path) -> None:
    (place / "mine.py").write_text(RED)
    change = {"network.bottleneck.queue": {"python": "mine.py:Red"}}
    results = dumbbell.run(place / "own.toml", changes=change)
    assert results.document() == dumbbell.run(place / "own.toml", changes=change).document()
    # Repetitions draw other numbers.
    assert results.queues["drops_early"].n_unique() > 1


# ---------------------------------------------------------------- in scenarios


def test_names_parameters_and_sweeps(place: Path) -> None:
    text = DISCIPLINE.tabled("mine", DISCIPLINE.own, '"mine"') + (
        '\n[sweep]\n"network.bottleneck.queue" = [{ discipline = "droptail", limit = "20 packets" }, "mine", '
        '{ discipline = "mine", limit = 5 }]\n'
    )
    (place / "own.toml").write_text(text)
    results = dumbbell.run(place / "own.toml")
    queues = results.queues.filter(pl.col("name") == "r1->r2")
    by_cell = queues.group_by("network.bottleneck.queue", maintain_order=True).agg(
        pl.col("discipline").first(), pl.col("drops", "mean_backlog_packets").mean()
    )
    assert by_cell["network.bottleneck.queue"].to_list() == ["droptail(limit=20 packets)", "mine", "mine(limit=5)"]
    assert by_cell["discipline"].to_list() == ["droptail", "mine", "mine"]
    assert by_cell["drops"][0] == by_cell["drops"][1]
    assert by_cell["mean_backlog_packets"][2] < 5 < by_cell["mean_backlog_packets"][1]
    scenario = Scenario.load(place / "own.toml")
    again = Scenario.from_toml(scenario.to_toml().replace("mine.py", str(place / "mine.py")))
    assert again.cells[2].scenario.network.bottleneck.queue.params == {"limit": 5}  # type: ignore[union-attr]


def test_a_class_of_the_program(place: Path) -> None:
    @dumbbell.register_discipline
    class Five:
        """five packets"""

        def __init__(self, link: Any, limit: int = 5) -> None:
            self.link, self.limit, self.queue = link, limit, []  # type: ignore[var-annotated]

        def enqueue(self, packet: Any, _now: float) -> None:
            if len(self.queue) < self.limit:
                self.queue.append(packet)
            else:
                self.link.drop(packet, "full")

        def dequeue(self, _now: float) -> Any:
            return self.queue.pop(0) if self.queue else None

    change = {"network.bottleneck.queue": "Five"}
    kept = dumbbell.run(place / "own.toml", changes=change, out=place / "kept").document()
    same = {"network.bottleneck.queue": {"discipline": "droptail", "limit": "5 packets"}}
    assert drops(dumbbell.run(place / "own.toml", changes=change)) == drops(
        dumbbell.run(place / "own.toml", changes=same)
    )
    with pytest.raises(DumbbellError, match="'codel' is the name of a queue discipline of Dumbbell"):
        dumbbell.register_discipline(Five, "codel")
    with pytest.raises(DumbbellError, match="has no method dequeue"):
        dumbbell.register_discipline(type("Half", (), {"enqueue": print}))
    with pytest.raises(ScenarioError, match=r"unknown queue discipline 'five': did you mean 'Five'"):
        Scenario.load(place / "own.toml", {"network.bottleneck.queue": "five"})
    # Results are read without the class.
    own_disciplines.KIND.registered.clear()
    assert Results.load(place / "kept").document() == kept


def test_each_direction_and_each_queue_has_an_object(place: Path) -> None:
    (place / "mine.py").write_text(
        DROPTAIL.replace("    def enqueue", "    made = {}\n\n    def enqueue", 1)
        .replace("        if len", "        self.made[id(self)] = self.link.seed\n        if len", 1)
        .replace(
            "        return self",
            "        assert len(set(self.made.values())) == len(self.made)\n        return self",
            1,
        )
    )
    results = dumbbell.run(place / "own.toml", changes={"repetitions": 1})
    assert results.queues.filter(pl.col("discipline") == "mine.py:Tail")["name"].to_list() == ["r1->r2", "r2->r1"]


# ---------------------------------------------------------------- objects


def test_every_attribute_of_link_and_packet(place: Path, cli: Cli) -> None:
    seen = """
        state = f"{link.rate} {link.base_rtt} {link.busy} {link.backlog_packets} {link.backlog_bytes}"
        fields = f"{packet.number} {packet.bytes} {packet.flow} {packet.backward} {packet.class_} {packet.arrived} "
        print("seen", state, fields + f"{packet.ecn} {packet.ecn_capable}")
"""
    (place / "mine.py").write_text(
        DROPTAIL.replace(
            "    def enqueue(self, packet, now):\n",
            f"    def enqueue(self, packet, now):\n        link = self.link{seen}",
        )
    )
    done = cli("run", "own.toml", "--repetitions", "1", "--set", "flows.a.stack={ ecn = true }")
    assert done.returncode == 0, done.stderr
    rows = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("seen")]
    assert {row[0] for row in rows} == {"5000000"}
    # 2 x (10 + 1 + 1) ms on both paths.
    assert {row[1] for row in rows} == {"0.024"}
    assert {row[2] for row in rows} == {"True", "False"}
    assert {row[7] for row in rows} == {"0", "1"} and {row[8] for row in rows} == {"True", "False"}
    assert {row[11] for row in rows} == {"not-ect", "ect(0)"}
    # The packet that arrives is counted.
    assert min(int(row[3]) for row in rows) == 1 and max(int(row[3]) for row in rows) == 21
    for row in rows:
        assert (row[12] == "True") == (row[11] != "not-ect")
        assert int(row[4]) >= int(row[6]) > 0


READY = """

    def next_ready(self, now):
        return {}
"""


@pytest.mark.parametrize(
    ("ready", "message"),
    [
        ("now", r"next_ready gives \d\.\d+ s: a later time is needed"),
        ("now - 1", r"next_ready (gives \d\.\d+ s: a later time is needed|returned -\d)"),
        ("None", r"next_ready gives no time"),
        ("float('nan')", r"next_ready returned nan: seconds of simulated time, or None, are needed"),
        ("'soon'", r"next_ready returned 'soon': seconds"),
        ("1e300", r"next_ready returned 1e\+300: seconds"),
        ("1 / 0", r"in Tail\.next_ready: ZeroDivisionError"),
    ],
)
def test_times_that_are_refused(place: Path, ready: str, message: str) -> None:
    (place / "mine.py").write_text(
        DROPTAIL.replace("self.queue.popleft() if self.queue else None", "None") + READY.format(ready)
    )
    with pytest.raises(BackendError, match=message):
        dumbbell.run(place / "own.toml")


def test_a_shaper_sends_at_its_own_rate(place: Path) -> None:
    (place / "mine.py").write_text(
        DROPTAIL.replace(
            "        return self.queue.popleft() if self.queue else None",
            """        if not self.queue or now < self.at:
            return None
        packet = self.queue.popleft()
        self.at = now + packet.bytes * 8 / 1e6
        return packet

    def next_ready(self, now):
        return self.at""",
        ).replace("limit, deque()", "limit, deque()\n        self.at = 0.0")
    )
    results = dumbbell.run(place / "own.toml", changes={"duration": "10 s"})
    bottleneck = results.queues.filter(pl.col("name") == "r1->r2")
    # 1 of 5 Mbit/s; the first packets come after the handshake, 0.1 s of 10 at most.
    assert bottleneck["utilization"].to_list() == pytest.approx([0.2, 0.2], rel=0.02)


def test_a_packet_that_is_forgotten_in_a_busy_queue_is_found_at_the_end(place: Path) -> None:
    (place / "mine.py").write_text(
        DROPTAIL.replace("self.queue.append(packet)", "packet.number == 100 or self.queue.append(packet)").replace(
            "self.queue else None", "self.queue else (self.link.rate if self.link.backlog_packets < 0 else None)"
        )
    )
    # An unresponsive sender above the rate: the queue is never empty after its begin.
    flow = {"name": "a", "transport": "udp", "application": {"kind": "cbr", "rate": "6 Mbit/s"}}
    with pytest.raises(BackendError, match=r"1 packet waits \(number 100\).*\(at 4\.0\d* s of simulated time\)"):
        dumbbell.run(place / "own.toml", changes={"flows": [flow], "repetitions": 1})


@pytest.mark.parametrize(
    ("observe", "message"),
    [
        ("{'y': 1}", "in its columns: .*KeyError: 'x'"),
        ("{'x': 'much'}", "TypeError"),
        ("{'x': float('inf')}", "column 'x' is inf: a finite number is needed"),
        (
            "self.link.drop(self.queue[0], 'full') if self.queue else {'x': 1}",
            r"link\.drop is called outside enqueue and",
        ),
    ],
)
def test_broken_columns_are_errors_of_traces(place: Path, observe: str, message: str) -> None:
    (place / "mine.py").write_text(
        DROPTAIL + f'\n    columns = ("x",)\n\n    def observe(self):\n        return {observe}\n'
    )
    with pytest.raises(BackendError, match=message):
        dumbbell.run(place / "own.toml", trace=True)
    dumbbell.run(place / "own.toml")  # without a trace the columns are not read


# ---------------------------------------------------------------- code that runs, results, other back ends


@pytest.mark.usefixtures("place")
def test_other_back_ends_refuse_them_in_one_line(cli: Cli) -> None:
    for backend in ("uml", "kernel"):
        done = cli("kernel", "plan", "own.toml", "--backend", backend)
        assert done.returncode == 2, (backend, done.stdout)
        (line,) = done.stderr.splitlines()[1:]  # after the line that names the code
        assert "'mine.py:Tail' is an own discipline: back end 'sim' runs it, no other" in line


@pytest.mark.slow
def test_figures_and_reports_name_them(place: Path, cli: Cli) -> None:
    require_packages("matplotlib")
    (place / "mine.py").write_text(CODEL)
    text = DISCIPLINE.tabled('"<b>mine"', '{ python = "mine.py:CoDel" }', '"codel"')
    text = text.replace("repetitions = 2", "repetitions = 1")
    text += '\n[sweep]\n"network.bottleneck.queue" = ["codel", "<b>mine"]\n'
    (place / "own.toml").write_text(text)
    assert cli("run", "own.toml", "--out", "kept", "--trace").returncode == 0
    for figure in ("queue", "cwnd"):
        done = cli("plot", "kept", "--kind", figure, "--out", f"{figure}.png")
        assert done.returncode == 0, done.stderr
        assert (place / f"{figure}.png").stat().st_size > 1000
    done = cli("report", "kept", "--out", "report.html")
    assert done.returncode == 0, done.stderr
    html = (place / "report.html").read_text()
    assert "&lt;b&gt;mine" in html and "<b>mine" not in html


# ---------------------------------------------------------------- dumbbell discipline check


def test_check_passes_a_discipline_without_mistakes(place: Path, cli: Cli) -> None:
    done = cli("discipline", "check", "mine.py:Tail", "limit=5", "--cases", "30", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["findings"], found["longest"], found["marked"]) == ([], 5, 0)
    assert found["arrived"] > 1000 and found["dropped"] > 0
    assert cli("discipline", "check", "mine.py:Tail", "limit=5", "--cases", "30", "--json").stdout == done.stdout
    (place / "mine.py").write_text(CODEL)
    done = cli("discipline", "check", "mine.py:CoDel", "ecn=true", "--cases", "30")
    assert (done.returncode, done.stdout[:24]) == (0, "no error in 30 cases: 2,"[:24]), done.stdout


def test_check_prints_the_steps_to_a_mistake(place: Path, cli: Cli) -> None:
    (place / "mine.py").write_text(DROPTAIL.replace('self.link.drop(packet, "full")', "pass"))
    done = cli("discipline", "check", "mine.py:Tail", "limit=1", "--cases", "30")
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    assert lines[0].startswith("error: mine.py: Tail: dequeue returned no packet")
    # The first packet leaves at once, the second waits, the third is forgotten.
    assert len(lines) == 4 and all("bytes arrives: flow" in line for line in lines[1:]), lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine.py:Tial"], "unknown class 'Tial': did you mean 'Tail'?"),
        (["mine.py:Tail", "limt=3"], "unknown parameter 'limt': did you mean 'limit'?"),
        (["mine.py:Tail", "limit"], "NAME=VALUE is needed"),
        (["nowhere.so"], "'nowhere.so' can't be read: No such file"),
        (["mine.py"], "not a library"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("place")
def test_check_refuses_what_it_cant_try(cli: Cli, arguments: list[str], message: str) -> None:
    done = cli("discipline", "check", *arguments)
    assert done.returncode == 2
    assert message in done.stderr and len(done.stderr.splitlines()) <= 2, done.stderr
