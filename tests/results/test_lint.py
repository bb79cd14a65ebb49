"""Warnings about weak results: stacks, congestion marks, repetitions, and every cell of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell import Scenario
from dumbbell.plan.text import plan_values
from dumbbell.plots import Curve, Panel, Picture
from dumbbell.report.reading import extremes
from dumbbell.report.results_report import of_results
from dumbbell.results.statistics.lint import lint_scenario
from dumbbell.results.statistics.warning import LintWarning

LINK: dict[str, Any] = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"limit": "1 bdp"}}
BASE: dict[str, Any] = {
    "name": "lint",
    "duration": "5 s",
    "repetitions": 2,
    "start_jitter": "100 ms",
    "network": {"bottleneck": LINK, "access": {"rate": "100 Mbit/s", "delay": "1 ms"}},
    "flows": [{"name": "a", "variant": "cubic"}],
}
MINE = """
class Mine:
    def __init__(self, setup):
        self.cwnd = setup.initial_window
        self.ssthresh = setup.ssthresh

    def on_ack(self, ack):
        self.cwnd += ack.acked

    def on_congestion(self, event):
        self.cwnd = self.ssthresh = event.window / 2
"""
MARKING = {"discipline": "codel", "limit": "200 packets", "ecn": True}


def warned(document: dict[str, Any], **changes: Any) -> dict[str, LintWarning]:
    """The warnings about the runs of a changed document, by name."""
    return {w.name: w for w in dumbbell.run(Scenario.from_dict({**document, **changes})).lint()}


def network(queue: dict[str, Any]) -> dict[str, Any]:
    return {**BASE["network"], "bottleneck": {**LINK, "queue": queue}}


# ------------------------------------------------------------ variants


@pytest.mark.usefixtures("allow_code")
def test_an_own_variant_without_a_flow_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    own = {"python": f"{tmp_path / 'mine.py'}:Mine"}
    flows = [{"name": "a", "variant": "mine"}]
    changes: dict[str, Any] = {"duration": "1 s", "variants": {"mine": own, "other": own}, "flows": flows}
    assert warned(BASE, **changes)["unused-variant"].text == "no flow uses 'other' of [variants]"
    changes["sweep"] = {"flows.a.variant": ["mine", "other"]}
    assert "unused-variant" not in warned(BASE, **changes)


# ------------------------------------------------------------ stacks


@pytest.mark.parametrize("variant", ["cubic", "bbr", "bbr3", "prague", "ledbat", "reno", "newreno", "tahoe", "sack"])
def test_the_default_stack_gives_no_warning(variant: str) -> None:
    assert "stack" not in warned(BASE, duration="1 s", flows=[{"name": "a", "variant": variant}])


def test_bbr_of_the_kernel_is_paced_too(require_uml: None) -> None:  # noqa: ARG001
    scenario = {
        **BASE,
        "duration": "20 s",
        "repetitions": 1,
        "network": {
            "bottleneck": {"rate": "15.8 Mbit/s", "delay": "22 ms", "queue": {"limit": "95 packets"}},
            "access": {"rate": "1 Gbit/s", "delay": "0.5 ms"},
        },
        "flows": [{"name": "a", "variant": "bbr"}],
    }
    results = dumbbell.run(Scenario.from_dict(scenario), backend="uml")
    flow = results.flows.row(0, named=True)
    assert flow["mean_inflight_packets"] < 0.75 * flow["cwnd_mean_packets"]
    assert "not-window-limited" not in {w.name for w in results.lint()}


def test_a_stack_without_a_feature_is_named_with_the_document_and_the_remedy() -> None:
    flows = [{"name": name, "variant": "bbr", "stack": "rfc"} for name in ("a", "b")]
    text = warned(BASE, duration="1 s", flows=flows)["stack"].text
    assert text.startswith("flows 'a', 'b': bbr1 is on stack 'rfc', which lacks RACK (draft-ietf-ccwg-bbr-06 §3.1: ")
    assert text.endswith('write stack = "linux", or add recovery = "sack", rack = true to the stack')
    repaired = {"preset": "rfc", "recovery": "sack", "rack": True}
    assert "stack" not in warned(BASE, duration="1 s", flows=[{**flows[0], "stack": repaired}])


def same_variants(*variants: Any, **flow: Any) -> str | None:
    """The warning about variants that are the same, of a scenario that sweeps these."""
    scenario = {**BASE, "flows": [{**BASE["flows"][0], **flow}], "sweep": {"flows.a.variant": list(variants)}}
    found = {w.name: w.text for w in lint_scenario(Scenario.from_dict(scenario))}
    return found.get("same-variants")


def test_variants_that_are_the_same_on_their_stack_are_named() -> None:
    """Linux has one loss recovery for Reno, NewReno and SACK; so has QUIC."""
    text = same_variants("tahoe", "reno", "newreno", "sack", "cubic")
    remedy = ": name stack rfc or ns2 to compare their loss recoveries"
    assert text == f"reno, newreno and sack are the same on stack 'linux', which has a loss recovery of its own{remedy}"
    assert same_variants("reno", "cubic", "tahoe") is None
    assert same_variants("reno", {"name": "newreno", "decrease": 0.7}) is None
    for stack in ("rfc", "ns2"):
        assert same_variants("tahoe", "reno", "newreno", "sack", stack=stack) is None
    over_quic = same_variants("reno", "sack", transport="quic")
    assert over_quic == "reno and sack are the same on stack 'rfc9002', which has a loss recovery of its own"
    swept = {"flows.a.variant": ["reno", "newreno", "sack"]}
    results = dumbbell.run(Scenario.from_dict({**BASE, "duration": "1 s", "sweep": swept}))
    assert "same-variants" in {w.name for w in results.lint()}
    measured = [name for name in results.flows.columns if name not in {"run", *swept, "variant"}]
    reno, newreno, sack = (
        results.flows.filter(pl.col("flows.a.variant") == name).select(measured) for name in ("reno", "newreno", "sack")
    )
    assert reno.equals(newreno) and reno.equals(sack)


def test_the_warning_names_the_cells_whose_stack_lacks_something() -> None:
    found = warned(BASE, duration="1 s", sweep={"flows.a.stack": ["linux", "rfc"]})["stack"]
    assert found.cells == ("a.stack rfc",) and "RFC 9438 §4.10" in found.text


# ------------------------------------------------------------ marks


@pytest.mark.parametrize(
    "flow", [{"variant": "prague"}, {"variant": "dctcp"}, {"variant": "cubic", "stack": {"ecn": True}}]
)
def test_a_mark_is_a_congestion_signal(flow: dict[str, Any]) -> None:
    document = {**BASE, "network": network(MARKING), "flows": [{"name": "a", **flow}]}
    results = dumbbell.run(Scenario.from_dict(document))
    assert results.queues["marks"].sum() > 10
    assert results.flows["dropped_packets"].sum() == 0
    assert not {"no-loss", "no-marks"} & {w.name for w in results.lint()}


def test_the_marks_of_other_flows_are_no_signal_for_a_flow_without_ecn() -> None:
    long = {**MARKING, "limit": "5000 packets", "target": "100 ms"}
    ecn = {"name": "b", "variant": "cubic", "stack": {"ecn": True}}
    calm = {"name": "a", "variant": "cubic", "application": {"kind": "bulk"}, "stop": "0.2 s"}
    found = warned({**BASE, "network": network(long), "flows": [calm, ecn]})
    assert "flow 'a'" in found["no-loss"].text


def test_dctcp_over_a_queue_that_never_marks_is_warned_of() -> None:
    found = warned(BASE, flows=[{"name": "a", "variant": "dctcp"}])
    assert "flow 'a'" in found["no-marks"].text and "no-loss" not in found


# ------------------------------------------------------------ every cell, and repetitions


def test_jitter_is_looked_for_in_every_cell() -> None:
    flows = [{"name": "a", "variant": "cubic"}, {"name": "b", "variant": "cubic"}]
    sweep = {"network.bottleneck.jitter": ["1 ms", "0 ms"]}
    found = warned(BASE, duration="1 s", start_jitter="0 s", flows=flows, sweep=sweep)["phase-effects"]
    assert found.cells == ("bottleneck.jitter 0 ms",)


def test_flows_that_start_together_are_named() -> None:
    bulk: list[dict[str, object]] = [{"name": name, "variant": "cubic"} for name in "abcde"]
    ping = {"name": "p", "application": {"kind": "ping"}}

    def text(flows: list[dict[str, object]]) -> str:
        return warned(BASE, duration="1 s", start_jitter="0 s", flows=[*flows, ping])["phase-effects"].text

    assert "flows 'a', 'b', 'c' and 2 more start at the same instant" in text(bulk)
    assert "flows 'a' and 'b' start at the same instant" in text(bulk[:2])
    later = [bulk[0], {**bulk[1], "start": "0.5 s"}]
    assert "instant" not in text(later)
    assert "phase-effects" not in warned(BASE, duration="1 s", start_jitter="1 ms", flows=bulk[:2])


def test_repetitions_that_are_too_few_for_a_comparison_are_named() -> None:
    sweep = {"flows.a.variant": ["cubic", "vegas"]}
    assert "at least 2" in warned(BASE, duration="1 s", repetitions=1, sweep=sweep)["one-repetition"].text
    assert "one-repetition" not in warned(BASE, duration="1 s", sweep=sweep)


# ------------------------------------------------------------ the report's sentences


def test_a_report_never_pools_cells(tmp_path: Any) -> None:
    sweep = {"flows.a.variant": ["cubic", "bbr"], "network.bottleneck.rate": ["1 Mbit/s", "10 Mbit/s"]}
    content = of_results(
        dumbbell.run(Scenario.from_dict({**BASE, "sweep": sweep}), out=tmp_path / "few"), tmp_path / "few"
    )
    (goodput,) = [line for line in content.summary if line.startswith("Flow 'a'")]
    assert goodput.count("; ") == 3 and "over all runs" not in " ".join(content.summary)
    assert "a.variant bbr, bottleneck.rate 10 Mbit/s: 9." in goodput
    rates = [f"{n} Mbit/s" for n in range(1, 8)]
    many = dumbbell.run(
        Scenario.from_dict({**BASE, "sweep": {"network.bottleneck.rate": rates}}), out=tmp_path / "many"
    )
    (goodput,) = [line for line in of_results(many, tmp_path / "many").summary if line.startswith("Flow 'a'")]
    assert "in 7 cells from 0.9" in goodput and "(bottleneck.rate 7 Mbit/s)" in goodput


def test_a_figure_names_a_variant_once() -> None:
    goodput = {"bbr1": 18.6, "cubic": 3.0, "vegas": 4.0}
    curves = [Curve(name, name, np.array([float(n)]), np.array([y])) for n, (name, y) in enumerate(goodput.items())]
    panel = Panel("", "a.variant", "goodput", curves, categories=["bbr", "cubic", "vegas"])
    assert extremes(Picture("lines", "", "", [panel], 1)) == "Highest: 18.6 (bbr); lowest: 3.00 (cubic)."
    other = Panel("20 ms", "rate", "goodput", curves, categories=["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"])
    expected = "Highest: 18.6 (bbr1, 1 Mbit/s, 20 ms); lowest: 3.00 (cubic, 2 Mbit/s, 20 ms)."
    assert extremes(Picture("lines", "", "", [other], 1)) == expected


# ------------------------------------------------------------ many flows


def test_copies_of_a_flow_share_one_warning() -> None:
    """Each copy had a line of its own: 10 flows with count = 10000 printed 100,000 lines."""
    flows = [
        {"name": "p", "variant": "prague", "count": 30},
        {"name": "q", "variant": "cubic", "application": {"kind": "cbr", "rate": "10 kbit/s"}, "count": 20},
    ]
    results = dumbbell.run(Scenario.from_dict({**BASE, "duration": "1 s", "repetitions": 1, "flows": flows}))
    texts = {w.name: [x.text for x in results.lint() if x.name == w.name] for w in results.lint()}
    assert [text.partition(" saw")[0] for text in texts["no-marks"]] == ["30 copies of flow 'p'"]
    assert [text.partition(" used")[0] for text in texts["not-window-limited"]][-1] == "20 copies of flow 'q'"
    assert all(len(of_kind) <= len(flows) for of_kind in texts.values())


def test_one_plan_serves_the_marks_of_all_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each flow that uses marks had the plan of all flows built again."""
    made: list[Any] = []

    def counted(cell: Any) -> Any:
        made.append(cell)
        return plan_values(cell)

    monkeypatch.setattr("dumbbell.results.statistics.lint_transport.plan_values", counted)
    flows = [{"name": "p", "variant": "prague", "count": 40}]
    results = dumbbell.run(Scenario.from_dict({**BASE, "duration": "1 s", "repetitions": 1, "flows": flows}))
    assert "no-marks" in {w.name for w in results.lint()}
    assert len(made) <= 2
