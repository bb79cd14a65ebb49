"""Repetitions that are copies of one run: found from the scenario and from the runs, and refused as evidence."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import dumbbell
from dumbbell import Results, Scenario, registry
from dumbbell.cli import app
from dumbbell.results.statistics.lint import lint_scenario
from dumbbell.results.statistics.shifted_copies import are_copies, copied, only_shifted

CASES = 15
DETERMINISTIC = [name for name, variant in registry.variants().items() if not variant.random]
QUEUES = ["droptail", "sfq", "drr", "prio"]
ONE: dict[str, Any] = {
    "name": "one",
    "duration": "3 s",
    "repetitions": 5,
    "start_jitter": "20 ms",
    "network": {
        "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"limit": "1 bdp"}},
        "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
    },
    "flows": [{"name": "a", "variant": "cubic"}],
}


def generated(kind: str, rng: random.Random) -> dict[str, Any]:
    """A scenario with one flow, with one flow and jitter, or with two flows."""
    pick = rng.choice
    application = pick([{"kind": "bulk"}, {"kind": "transfer", "size": pick(["200 kB", "1 MB"])}])
    flow: dict[str, Any] = {"name": "a", "variant": pick(DETERMINISTIC), "application": application}
    if kind == "one" and rng.random() < 0.2:
        flow = {"name": "a", "transport": "udp", "application": {"kind": "cbr", "rate": "2 Mbit/s"}}
    queue = {"discipline": pick(QUEUES), "limit": pick(["30 packets", "200 packets"])}
    bottleneck = {"rate": pick(["5 Mbit/s", "20 Mbit/s"]), "delay": pick(["5 ms", "20 ms"]), "queue": queue}
    jitter = {"jitter": pick(["0.3 ms", "1.2 ms"])} if kind == "jitter" else {}
    second = [{"name": "b", "variant": pick(DETERMINISTIC)}] if kind == "two" else []
    return {
        **ONE,
        "repetitions": 3,
        "seed": rng.randrange(1000),
        "start_jitter": pick(["1 ms", "20 ms"]) if kind == "two" else pick(["0 s", "1 ms", "20 ms"]),
        "network": {"bottleneck": bottleneck, "access": {**ONE["network"]["access"], **jitter}},
        "flows": [flow, *second],
        "trace": {"series": True},
    }


def same_events(results: Results) -> bool:
    """True if packets leave the bottleneck at the same times after the first one's start, after the same waits."""

    def events(run: dumbbell.Run) -> Any:
        table = results.table(run, "departures/r1->r2").select("t_ns", "sojourn_ns").to_numpy().T.astype(np.int64)
        begin = run.flows[0]["start_s"] + (run.flows[0]["phase_s"] or 0)
        return table - np.array([[round(begin * 1e9)], [0]])

    first, *others = [events(run) for run in results.runs]
    pairs = [(first[:, : other.shape[1]], other[:, : first.shape[1]]) for other in others]
    return all(a.size and np.abs(a - b).max() <= 3 for a, b in pairs)  # ns: starts are rounded


@pytest.mark.parametrize("kind", ["one", "jitter", "two"])
def test_every_generated_scenario_is_judged_rightly(kind: str) -> None:
    rng = random.Random(2307)
    found = 0
    for _ in range(CASES):
        document = generated(kind, rng)
        results = dumbbell.run(Scenario.from_dict(document))
        cell, runs = results.scenario.cells[0], list(results.runs)
        assert only_shifted(cell) == (kind == "one"), document
        assert copied(cell, runs) == (kind == "one"), document
        same = same_events(results)
        if kind == "one":
            # Not all are exact copies: the clock of TCP timestamps has ticks, which the shift does not move.
            assert are_copies(runs) or not same, document
            found += same
        else:
            assert not same and not are_copies(runs), document
    assert found >= (CASES // 3 if kind == "one" else 0)


@pytest.mark.parametrize(
    ("changes", "shifted"),
    [
        ({}, True),
        ({"start_jitter": "0 s"}, True),
        ({"start_jitter": "0 s", "flows": [{"name": n, "variant": "cubic"} for n in "ab"]}, True),
        ({"flows": [{"name": n, "variant": "cubic"} for n in "ab"]}, False),
        ({"start_jitter": None, "flows": [{"name": n, "variant": "cubic"} for n in "ab"]}, False),
        ({"network.bottleneck.loss": "0 %"}, True),
        ({"network.bottleneck.loss": "1 %"}, False),
        ({"network.bottleneck.duplication": "1 %"}, False),
        ({"network.bottleneck.reordering": {"share": "0 %", "delay": "5 ms"}}, True),
        ({"network.bottleneck.jitter": "0 ms"}, True),
        ({"network.access.jitter": {"distribution": "normal", "mean": "1 ms", "sd": "0.1 ms"}}, False),
        ({"network.bottleneck.outages": [{"at": "1 s", "for": "50 ms"}]}, False),
        ({"start_jitter": "0 s", "network.bottleneck.outages": [{"at": "1 s", "for": "50 ms"}]}, True),
        ({"network.bottleneck.queue": {"discipline": "tbf", "rate": "5 Mbit/s", "inner": "pie"}}, False),
        ({"flows": [{"name": "a", "variant": "bbr3"}]}, False),
        ({"flows": [{"name": "a", "variant": "cubic", "transport": "quic"}]}, True),
        ({"flows": [{"name": "a", "variant": "cubic", "transport": "quic", "stack": "quinn"}]}, False),
    ],
)
def test_the_scenario_states_it(changes: dict[str, Any], shifted: bool) -> None:
    scenario = Scenario.from_dict(ONE).with_changes({k: v for k, v in changes.items() if v is not None})
    if changes.get("start_jitter", "") is None:
        scenario = Scenario.from_dict({**{k: v for k, v in ONE.items() if k != "start_jitter"}, **changes})
    assert only_shifted(scenario.cells[0]) == shifted


@pytest.mark.parametrize("name", [n for n in registry.disciplines() if n != "tbf"])
def test_disciplines_declare_random_numbers(name: str) -> None:
    """A discipline without random numbers gives the same result for every seed to a flow that starts at one instant."""
    scenario = Scenario.from_dict({**ONE, "start_jitter": "0 s"}).with_changes({"network.bottleneck.queue": name})
    runs = list(dumbbell.run(scenario).runs)
    if not registry.discipline(name).random:
        assert all(run.flows == runs[0].flows for run in runs)
    assert only_shifted(scenario.cells[0]) != registry.discipline(name).random


@pytest.mark.parametrize("name", list(registry.variants()))
def test_variants_declare_random_numbers(name: str) -> None:
    scenario = Scenario.from_dict({**ONE, "start_jitter": "0 s", "flows": [{"name": "a", "variant": name}]})
    runs = list(dumbbell.run(scenario).runs)
    if not registry.variant(name).random:
        assert all(run.flows == runs[0].flows for run in runs)


SWEPT = {**ONE, "sweep": {"flows.a.variant": ["cubic", "vegas"]}}


def test_copies_are_refused_everywhere(tmp_path: Path) -> None:
    """One flow that starts later had p-values of 1e-12 from copies of one run."""
    results = dumbbell.run(Scenario.from_dict(SWEPT), out=tmp_path / "copies")
    table = results.statistics("goodput_bps", interval="student")
    assert table["low"].null_count() == table.height == 2
    assert all("copies of one run" in why for why in table["refused"])
    ((_, compared),) = results.comparisons("goodput_bps", "variant")
    assert compared.verdict == "refused" and not compared.significant
    assert np.isnan([compared.p, compared.adjusted, compared.difference.low, compared.times.low]).all()
    assert 'set jitter = "1.2 ms" on the access link' in compared.sentence()
    slower = Scenario.from_dict(SWEPT).with_changes({"network.bottleneck.rate": "5 Mbit/s"})
    changes = dumbbell.compare(results, dumbbell.run(slower), ["goodput_bps"])
    assert [change.verdict for change in changes] == ["refused"] * 2
    assert np.isnan([(c.p, c.low) for c in changes]).all() and not any(c.worse for c in changes)
    printed = CliRunner().invoke(app, ["stats", str(tmp_path / "copies"), "--by", "variant"]).stdout
    place = str(tmp_path / "copies")
    gate = CliRunner().invoke(app, ["compare", place, place, "--gate"])
    assert gate.exit_code != 0 and "nothing can be judged" in str(gate.exception) + gate.output
    assert "no verdict on cubic and vegas" in printed and "no interval: repetitions are copies" in printed


def test_jitter_makes_them_evidence() -> None:
    jittered = Scenario.from_dict(SWEPT).with_changes({"network.access.jitter": "1.2 ms"})
    results = dumbbell.run(jittered)
    assert results.statistics("rtt_mean_ms")["low"].null_count() == 0
    ((_, compared),) = results.comparisons("rtt_mean_ms", "variant")
    assert compared.significant and not compared.refused


def test_the_warning_comes_before_the_run_and_after_it() -> None:
    scenario = Scenario.from_dict(ONE)
    (before,) = [w for w in lint_scenario(scenario) if w.name == "identical-repetitions"]
    results = dumbbell.run(scenario)
    (after,) = [w for w in results.warnings if w.name == "identical-repetitions"]
    assert before == after and before.text.endswith('set jitter = "1.2 ms" on the access link')
    assert after.text in results._repr_html_().replace("&quot;", '"')
    assert "warning" in repr(results)
    mixed = Scenario.from_dict({**ONE, "sweep": {"network.access.jitter": ["0 ms", "1.2 ms"]}})
    assert [w.cells for w in lint_scenario(mixed)] == [("access.jitter 0 ms",)]
