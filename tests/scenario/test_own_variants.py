"""Own variants in Python: the same results as built-in ones, sweeps, every event, columns, pacing, the example."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from own_code import NEWRENO, VARIANT

import dumbbell
from dumbbell import BackendError, DumbbellError, Results, Scenario, ScenarioError
from dumbbell.plan import build as plan
from dumbbell.scenario.own import variants as own_variants
from plugin_crates import blocks

pytestmark = pytest.mark.usefixtures("allow_code")

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-variant.md"
Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    yield VARIANT.written_to(tmp_path).parent
    own_variants.KIND.registered.clear()


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


def test_parameters_sweeps_and_names(place: Path) -> None:
    text = VARIANT.tabled("mine", VARIANT.own, '"mine"')
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
    text = VARIANT.tabled("mine", f'{{ python = "{place / "mine.py"}:Mine" }}', '"mine"')
    old, new = (Scenario.from_toml(text.replace("[variants]", table)) for table in ("[laws]", "[variants]"))
    assert old.to_toml() == new.to_toml()
    # After a pause the window is validated.
    pauses = 'application = { kind = "onoff", rate = "2 Mbit/s", on = "500 ms", off = "1 s", exponential = false }\n'
    (place / "own.toml").write_text(VARIANT.scenario + pauses)
    for method in ("on_unused", "on_cwnd_validation"):
        (place / "mine.py").write_text(f"{NEWRENO}\n    def {method}(self, event):\n        self.cwnd = 1 / 0\n")
        with pytest.raises(BackendError, match=rf"in Mine\.{method}: ZeroDivisionError"):
            dumbbell.run(place / "own.toml", changes={"flows.a.stack": "linux"})


class Still:
    """A constant window"""

    def __init__(self, setup: Any, segments: int = 4) -> None:
        self.cwnd = segments * setup.mss

    def on_ack(self, ack: Any) -> None: ...

    def on_congestion(self, event: Any) -> None: ...


def test_a_class_of_the_program(place: Path) -> None:
    dumbbell.register_variant(Still)
    for variant, segments in [("Still", 4), ({"name": "Still", "segments": 7}, 7)]:
        results = dumbbell.run(place / "own.toml", changes={"flows.a.variant": variant}, trace=True)
        assert set(results.series(0, "cwnd", flow="a")["cwnd"] / 1448) == {segments}
    dumbbell.register_variant(Still, "other")
    assert dumbbell.run(place / "own.toml", changes={"flows.a.variant": "other"}).flows["variant"][0] == "other"
    with pytest.raises(DumbbellError, match="'cubic' is the name of a variant of Dumbbell"):
        dumbbell.register_variant(Still, "cubic")
    with pytest.raises(ScenarioError, match=r"flows\.a\.variant: unknown variant 'stil': did you mean 'Still'"):
        dumbbell.run(place / "own.toml", changes={"flows.a.variant": "stil"})


def test_every_event_and_its_fields(place: Path, cli: Cli) -> None:
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
    done = cli("run", "own.toml", "--repetitions", "1")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    seen = {kind: [r[1:] for r in rows if r and r[0] == kind] for kind in ("established", "sent", "lost", "exit")}
    # The handshake takes 4 x 1 + 2 x 10 ms and the transmissions of SYN and SYN-ACK.
    assert 0.024 < float(seen["established"][0][1]) < 0.026
    assert all(seen.values())
    assert {row[4] for row in seen["sent"]} == {"True", "False"}
    assert all(float(row[1]) >= 0 for row in seen["exit"])


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


def test_results_of_a_registered_class(place: Path) -> None:
    dumbbell.register_variant(Still)
    kept = dumbbell.run(place / "own.toml", changes={"flows.a.variant": "Still"}, out=place / "kept").document()
    own_variants.KIND.registered.clear()
    assert Results.load(place / "kept").document() == kept


def test_a_variant_may_import_files_of_its_folder(place: Path) -> None:
    (place / "helper.py").write_text("HALF = 0.5\n")
    (place / "mine.py").write_text("import helper\n" + NEWRENO.replace("0.5 *", "helper.HALF *"))
    assert len(dumbbell.run(place / "own.toml")) == 2


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
